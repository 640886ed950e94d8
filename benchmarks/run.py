"""The public benchmark: every method on every problem, each cell in a process of its own.

``make bench-peers``, or ``python -m benchmarks.run [--group G ...] [--problem P ...] [--method M ...] [--again]``

Writes ``benchmarks/results/peers.csv`` line by line; cells that are there already are left out, so that a run that was
stopped goes on where it was. With ``--again`` they are measured once more: the last line of a cell counts.
``python -m benchmarks.report`` makes the page of it.
"""

import argparse
import contextlib
import csv
import itertools
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks import methods
from benchmarks.adapters import Method
from benchmarks.methods import METHODS
from benchmarks.problems import PROBLEMS, Bench, Table

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results" / "peers.csv"
PEERS = ROOT / ".venv-peers" / "bin" / "python"
MACHINE = "machine.json"  # beside the results
REPETITIONS = 2
REPEATED = ("sets", "tables")  # groups whose cross-validation is repeated
SEEDS = (0, 1, 2)
GROUPS = tuple(dict.fromkeys(problem.group for problem in PROBLEMS))

KEY = ("group", "problem", "method", "repetition", "fold")
FIELDS = (
    *KEY,
    *("value", "n_rows", "n_features", "n_classes", "candidates", "version", "status", "message"),
    *("error", "auc", "log_loss", "calibration_error", "terms", "conditions", "hit_rate", "agreement", "jaccard"),
    *("fit_seconds", "fit_processor_seconds", "predict_seconds", "latency_ms", "peak_mb", "import_seconds"),
)

# Who takes part where only some can or need to.
_TIMED = [
    methods.DEFAULT,
    methods.FAST,
    "imodels RuleFit",
    "imodels FIGS",
    "EBM",
    "Boomer",
    "RUG",
    "H2O RuleFit",
    methods.FOREST,
    methods.BOOSTING,
    "LightGBM",
]
TAKE_PART: dict[str, list[str]] = {
    "sets": methods.named(lambda method: method.for_classes),
    "tables": [
        methods.DEFAULT,
        methods.ACCURATE,
        methods.SHORT,
        methods.SHORTER,
        "EBM",
        methods.CUBIST,
        methods.FOREST,
        methods.BOOSTING,
    ],
    "stability": methods.named(lambda method: method.kind in ("ours", "rules") and not method.name.startswith("H2O")),
    "rows": _TIMED,
    "attributes": _TIMED,
    "classes": _TIMED,
    "rules": [methods.DEFAULT, "imodels RuleFit", "Boomer"],
    "RuleFit": [methods.DEFAULT, methods.FAST, "imodels RuleFit"],
    "H2O": [methods.DEFAULT, methods.FAST, "H2O RuleFit", methods.BOOSTING],
}


def python_of(method: Method, peers: Path) -> Path:
    """Return the interpreter of a method's environment."""
    return Path(sys.executable) if method.environment == "own" else peers


def run_cell(method: Method, bench: Bench, stored: Path, repetition: int, peers: Path) -> list[dict[str, Any]]:
    """Measure one cell and return its lines: one a fold, or one that says why there is none."""
    timed = bench.group not in (*REPEATED, "stability")
    request = {
        "method": method.name,
        "problem": str(stored),
        "repetition": repetition,
        "seed": repetition,
        "n_train": bench.n_train,
        "candidates": bench.candidates,
        "n_threads": (os.cpu_count() or 1) if timed else 1,
        "stability": list(SEEDS) if bench.group == "stability" else [],
    }
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": str(request["n_threads"])}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cell.json"
        path.write_text(json.dumps(request))
        command = [str(python_of(method, peers)), "-m", "benchmarks.cell", str(path)]
        try:
            stderr = run_command(command, Path(folder), environment, bench.limit)
        except subprocess.TimeoutExpired:
            return [{"status": "time", "message": f"not done within {bench.limit:.0f} s"}]
        except FileNotFoundError:
            return [{"status": "skipped", "message": "the environment of the peers is missing: make bench-peers"}]
        answer = path.with_suffix(".answer")
        if not answer.exists():
            return [{"status": "failed", "message": last_words(stderr)}]
        found = json.loads(answer.read_text())
    own = {"status": "ok", "version": found["version"], "import_seconds": found["import_seconds"]}
    return [{**own, **line} for line in found["lines"]]


def run_command(command: list[str], folder: Path, environment: dict[str, str], limit: float) -> str:
    """Run a command and return what it said on standard error; whatever it has started ends with it.

    Workers and servers that a peer leaves behind would take the processor from the cells after it.

    Parameters
    ----------
    command : list of str
    folder : path
        To run it in.
    environment : dict
    limit : float
        Seconds until `subprocess.TimeoutExpired`.
    """
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            return process.communicate(timeout=limit)[1]
        finally:
            with contextlib.suppress(ProcessLookupError):  # all have ended
                os.killpg(process.pid, signal.SIGKILL)


def last_words(stderr: str) -> str:
    """Return the last line of an error that is no frame of a Java stack, at a readable length."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip() and not line.strip().startswith("at ")]
    return (lines[-1] if lines else "ended without a word")[:300]


def rounded(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line with as many digits as mean something."""
    return {name: float(f"{value:.6g}") if isinstance(value, float) else value for name, value in line.items()}


def append(lines: list[dict[str, Any]], path: Path) -> None:
    """Add lines to the results."""
    path.parent.mkdir(exist_ok=True)
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if file.tell() == 0:
            writer.writeheader()
        writer.writerows(map(rounded, lines))


def read(path: Path) -> list[dict[str, str]]:
    """Return the lines measured so far; of a cell that was measured twice, the last."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    latest = {tuple(line[field] for field in KEY[:4]): line["fold"] for line in lines if line["fold"] in ("", "0")}
    found = {tuple(line[field] for field in KEY): line for line in lines}
    return [line for key, line in found.items() if (latest[key[:4]] == "") == (line["fold"] == "")]


def describe_machine() -> dict[str, Any]:
    """Return what the figures were measured on."""
    listing = Path("/proc/cpuinfo")
    lines = listing.read_text().splitlines() if listing.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30 if hasattr(os, "sysconf") else 0.0
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory),
        "python": platform.python_version(),
        "system": platform.system(),
        "date": date.today().isoformat(),
    }


def cells(bench: Bench, chosen: list[str], repetition: int) -> list[Method]:
    """Return the methods that take part in a repetition of a problem."""
    taking_part = [METHODS[name] for name in TAKE_PART[bench.group] if name in chosen]
    taking_part = [method for method in taking_part if method.for_classes or bench.of_numbers]
    if repetition == 0:
        return taking_part
    return [method for method in taking_part if bench.group in REPEATED and not method.slow]


def measure(
    benches: list[Bench], chosen: list[str], peers: Path, results: Path, again: bool, repetitions: int = REPETITIONS
) -> None:
    """Write down the machine; measure the first repetition of all problems, then the second, and so on.

    A method that ran out of time on a smaller problem of a kind is not tried further.
    """
    results.parent.mkdir(exist_ok=True)
    results.with_name(MACHINE).write_text(json.dumps(describe_machine(), indent=1) + "\n")
    known = set() if again else {tuple(line[field] for field in KEY[:4]) for line in read(results)}
    out_of_time: dict[tuple[str, str], str] = {}
    for repetition, bench in itertools.product(range(repetitions), benches):
        todo = [
            method
            for method in cells(bench, chosen, repetition)
            if (bench.group, bench.name, method.name, str(repetition)) not in known
        ]
        if not todo:
            continue
        with tempfile.TemporaryDirectory() as folder:
            stored = Path(folder) / "problem.npz"
            table = bench.load()
            table.save(stored)
            for method in todo:
                smaller = out_of_time.get((bench.group, method.name))
                if smaller is not None:
                    lines = [{"status": "time", "message": f"not tried: not done within the limit at {smaller}"}]
                else:
                    lines = run_cell(method, bench, stored, repetition, peers.absolute())
                if lines[0]["status"] == "time" and bench.value:
                    out_of_time.setdefault((bench.group, method.name), bench.name)
                known_about = about(bench, table, method, repetition)
                append([{**known_about, "fold": fold, **line} for fold, line in numbered(lines)], results)
                print(told(bench, method, repetition, lines), flush=True)


def about(bench: Bench, table: Table, method: Method, repetition: int) -> dict[str, Any]:
    """Return what a cell is of."""
    return {
        "group": bench.group,
        "problem": bench.name,
        "method": method.name,
        "repetition": repetition,
        "value": bench.value,
        "n_rows": bench.n_train or len(table.y),
        "n_features": table.X.shape[1],
        "n_classes": table.n_classes,
        "candidates": bench.candidates,
    }


def numbered(lines: list[dict[str, Any]]) -> list[tuple[int | str, dict[str, Any]]]:
    """Return lines with the number of their fold; a cell that came to nothing has none."""
    return [(fold if line["status"] == "ok" else "", line) for fold, line in enumerate(lines)]


def told(bench: Bench, method: Method, repetition: int, lines: list[dict[str, Any]]) -> str:
    """Return a line for the reader who waits."""
    name = f"{bench.group}: {bench.name}, {method.name}, repetition {repetition}"
    if lines[0]["status"] != "ok":
        return f"{name}: {lines[0]['status']}: {lines[0]['message']}"
    if bench.group == "stability":
        return f"{name}: agreement {lines[0]['agreement']:.3f}, shared rules {lines[0].get('jaccard', '-')}"
    error = sum(line["error"] for line in lines) / len(lines)
    seconds = sum(line["fit_seconds"] for line in lines) / len(lines)
    return f"{name}: error {error:.2f} %, fit {seconds:.2f} s, terms {lines[0].get('terms', '-')}"


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", nargs="+", choices=GROUPS, default=GROUPS)
    parser.add_argument("--problem", nargs="+", choices=sorted({one.name for one in PROBLEMS}), metavar="P")
    parser.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS), metavar="M")
    parser.add_argument("--again", action="store_true", help="measure also what is in the results already")
    parser.add_argument("--peers", type=Path, default=PEERS, help="interpreter of the peers")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where lines are added")
    chosen = parser.parse_args()
    benches = [
        one for one in PROBLEMS if one.group in chosen.group and (not chosen.problem or one.name in chosen.problem)
    ]
    measure(benches, chosen.method, chosen.peers, chosen.results, chosen.again)


if __name__ == "__main__":
    main()
