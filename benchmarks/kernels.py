"""How near the kernels come to the machine's limits, and what little work costs: ``python -m benchmarks.kernels``.

Limits are measured in the same run. Of a rate the share is what is reached of the limit; of seconds it is what is used
of them, and 1 or less is wanted. ``--csv PATH`` writes the table.
"""

import argparse
import csv
import functools
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from benchmarks import problems
from benchmarks.timing import best_seconds, compare
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove._threads import run_tasks
from rulegrove.columns import Columns, Feature
from rulegrove.design.bits import BitMatrix, RuleProgram, compile_rules
from rulegrove.rules.rule import Rule

LANES = 8  # words a vector of 512 bits; LLVM splits it where registers are narrower
HELD = 8  # vectors that each one read from the cache meets: as many sums, so that none waits for another
CACHED_WORDS = 1024  # 8 KB, a part of a first-level cache
PASSES = 100_000  # over the cached words
BLOCK_ROWS = 16_384  # rows of a table that are read and evaluated at once, as a prediction does
CALLS = 500  # single rows whose median counts
ALLOWED_MS = 0.2  # what the prediction of a row may take beyond LogisticRegression
ALLOWED_IMPORT = 0.4  # seconds


@dataclass(frozen=True)
class Figure:
    """A measured figure beside its limit, if it has one."""

    name: str
    figure: float
    unit: str
    limit: float | None = None

    @property
    def share(self) -> float | None:
        """Figure over limit."""
        return None if self.limit is None else self.figure / self.limit


def thread_counts() -> list[int]:
    """One thread, and all of them."""
    return sorted({1, os.cpu_count() or 1})


def _threads(count: int) -> str:
    return f"{count} thread{'s' * (count > 1)}"


# --- pairs of rules ---------------------------------------------------------------------------------------------------


@intrinsic
def _shared_bits(typingctx: Any, words: Any, held: Any) -> Any:
    """Bits that `words` share with each of HELD vectors, which stay in registers."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word, vector = ir.IntType(64), ir.VectorType(ir.IntType(64), LANES)
        numbers, fixed = (
            context.make_array(kind)(context, builder, side) for kind, side in zip(signature.args, args, strict=True)
        )
        popcount, add_lanes = (
            cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, [vector]), name)
            for name, result in ((f"llvm.ctpop.v{LANES}i64", vector), (f"llvm.vector.reduce.add.v{LANES}i64", word))
        )

        def load(side: Any, place: Any) -> Any:
            return builder.load(builder.bitcast(builder.gep(side.data, [place]), vector.as_pointer()), align=8)

        others = [load(fixed, ir.Constant(word, LANES * k)) for k in range(HELD)]
        sums = [cgutils.alloca_once(builder, vector) for _ in others]
        for total in sums:
            builder.store(ir.Constant(vector, [0] * LANES), total)
        zero, step = ir.Constant(word, 0), ir.Constant(word, LANES)
        with cgutils.for_range_slice(builder, zero, builder.extract_value(numbers.shape, 0), step) as (place, _):
            own = load(numbers, place)
            for other, total in zip(others, sums, strict=True):
                shared = builder.call(popcount, [builder.and_(own, other)])
                builder.store(builder.add(builder.load(total), shared), total)
        return functools.reduce(builder.add, [builder.call(add_lanes, [builder.load(total)]) for total in sums])

    return types.uint64(words, held), codegen


@njit(nogil=True)
def _count_cached(words: np.ndarray, held: np.ndarray, n_passes: int) -> int:
    """AND and popcount over words that stay in the first-level cache."""
    total = np.uint64(0)
    for _ in range(n_passes):
        total += _shared_bits(words, held)
    return total


def _aligned_words(n_words: int, seed: int) -> np.ndarray:
    """Random words that begin at a cache line."""
    words = np.random.default_rng(seed).integers(0, 2**63, n_words + LANES, dtype=np.uint64)
    first = -(words.ctypes.data // 8) % LANES
    return words[first : first + n_words]


def gram_figures(n_rules: int = 2000, n_rows: int = 100_000) -> list[Figure]:
    """Gram of rules, each pair of them counted once, beside the machine's peak of AND and popcount."""
    octets = np.packbits(problems.rule_columns(n_rules, n_rows), axis=0, bitorder="little").T
    words = np.zeros((n_rules, -(-n_rows // 64)), dtype=np.uint64)
    words.view(np.uint8)[:, : octets.shape[1]] = octets
    bits = BitMatrix(words, n_rows)
    cached, held = _aligned_words(CACHED_WORDS, 0), _aligned_words(LANES * HELD, 1)
    shared = held.reshape(HELD, 1, LANES) & cached.reshape(-1, LANES)
    assert _count_cached(cached, held, 1) == np.bitwise_count(shared).sum(dtype=np.int64)
    figures = []
    for n_threads in thread_counts():
        ours, peak = compare(
            functools.partial(bits.gram, n_threads),
            functools.partial(run_tasks, lambda _: _count_cached(cached, held, PASSES), range(n_threads), n_threads),
            repeats=5,
        )
        rate = n_rules * (n_rules + 1) // 2 * words.shape[1] / ours
        limit = n_threads * PASSES * CACHED_WORDS * HELD / peak
        name = f"Gram of {n_rules:,} rules x {n_rows:,} rows, {_threads(n_threads)}"
        figures.append(Figure(name, rate / 1e9, "G word pairs/s", limit / 1e9))
    return figures


# --- rules into bits --------------------------------------------------------------------------------------------------


def memory_bandwidth(numbers: np.ndarray, n_threads: int) -> float:
    """Return the bytes a second of a sum or a copy of a large array, whichever are more; a copy reads and writes."""
    parts = np.array_split(numbers.ravel(), n_threads)
    copies = [np.empty_like(part) for part in parts]
    added, copied = compare(
        lambda: run_tasks(np.sum, parts, n_threads),
        lambda: run_tasks(lambda pair: np.copyto(*pair), list(zip(copies, parts, strict=True)), n_threads),
        repeats=5,
    )
    return max(numbers.nbytes / added, 2 * numbers.nbytes / copied)


def evaluation_figures(n_rows: int = 1_000_000, n_terms: int = 100) -> list[Figure]:
    """Rules evaluated on a large table: bytes of the values read and of the bits written, beside memory's."""
    X, _ = problems.many_candidates(n_rows)
    program = compile_rules(_rules(n_terms), X.shape[1])
    block = np.ascontiguousarray(X.T[program.used_features], dtype=np.float64)
    bits_bytes = program.n_rules * -(-n_rows // 64) * 8
    figures = []
    for n_threads in thread_counts():
        limit = memory_bandwidth(block, n_threads) / 1e9
        seconds = best_seconds(functools.partial(program.evaluate, block, n_threads), repeats=5)
        moved = block.nbytes + bits_bytes
        name = f"{program.n_rules} rules on {n_rows:,} x {len(block)} {{}}, {_threads(n_threads)}"
        figures.append(Figure(name.format("float64 columns"), moved / seconds / 1e9, "GB/s", limit))
        for dtype in (np.float32, np.float64):
            table = X.astype(dtype, copy=False)
            seconds = best_seconds(functools.partial(_evaluate_table, table, program, n_threads), repeats=5)
            moved = table.nbytes + bits_bytes
            figures.append(Figure(name.format(f"{table.dtype} table"), moved / seconds / 1e9, "GB/s", limit))
    return figures


def _rules(n_terms: int) -> list[Rule]:
    """Return the rules of a model of supernova candidates."""
    chosen = {"n_candidates": 400, "terms": "rules", "selection": 1e-6, "max_terms": n_terms, "random_state": 0}
    model = RuleEnsembleClassifier(**chosen).fit(*problems.candidates(4000))
    return [row.term for row in model.rules_]


def _evaluate_table(X: np.ndarray, program: RuleProgram, n_threads: int) -> None:
    """Evaluate rules on the rows of a table as a prediction does, a block after the other."""
    columns = Columns([Feature(f"x{k}") for k in range(X.shape[1])], X)
    starts = range(0, len(X), BLOCK_ROWS)
    blocks = [slice(start, min(start + BLOCK_ROWS, len(X))) for start in starts]
    run_tasks(lambda rows: program.evaluate(columns.take(rows, program.used_features)), blocks, n_threads)


# --- a single row -----------------------------------------------------------------------------------------------------


def _median_ms(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the median milliseconds of each call, made in turn so that a busy moment hits all."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for name, call in itertools.chain.from_iterable(itertools.repeat(tuple(calls.items()), CALLS)):
        call()  # what the others pushed out of the caches comes back
        start = time.perf_counter()
        call()
        seconds[name].append(time.perf_counter() - start)
    return {name: 1e3 * float(np.median(each)) for name, each in seconds.items()}


def latency_figures(n_terms: int = 100, n_classes: int = 10) -> list[Figure]:
    """Single rows of a float32 array, ours beside scikit-learn's: median milliseconds."""
    return [*_latencies(2, n_terms), *_latencies(n_classes, n_terms)]


def _latencies(n_classes: int, n_terms: int) -> list[Figure]:
    X, y = make_classification(2000, 39, n_informative=20, n_classes=n_classes, n_clusters_per_class=1, random_state=0)
    X = X.astype(np.float32)
    row, kind = X[:1], f"one row, {n_classes} classes"
    chosen = {"n_candidates": 200, "selection": 1e-4, "max_terms": n_terms, "random_state": 0}
    ours, numbers = RuleEnsembleClassifier(**chosen).fit(X, y), RuleEnsembleRegressor(**chosen).fit(X, y)
    logistic, boosted = LogisticRegression(max_iter=1000).fit(X, y), HistGradientBoostingClassifier().fit(X, y)
    theirs = {
        f"{kind}: LogisticRegression.predict": lambda: logistic.predict(row),
        f"{kind}: HistGradientBoostingClassifier.predict": lambda: boosted.predict(row),
    }
    own = {
        f"{kind}, {len(ours.rules_)} terms: predict": lambda: ours.predict(row),
        f"{kind}, {len(ours.rules_)} terms: predict_proba": lambda: ours.predict_proba(row),
        f"{kind}, {len(ours.rules_)} terms: decision_function": lambda: ours.decision_function(row),
    }
    if n_classes == 2:
        own[f"one row, regression, {len(numbers.rules_)} terms: predict"] = lambda: numbers.predict(row)
    ms = _median_ms(theirs | own)
    limit = ms[next(iter(theirs))] + ALLOWED_MS
    return [Figure(name, figure, "ms", limit if name in own else None) for name, figure in ms.items()]


# --- imports ----------------------------------------------------------------------------------------------------------


def _import_seconds(work: str, before: str, repeats: int) -> float:
    """Seconds of an import after another one, with bytecode as an installation has it: the first run writes it."""
    code = f"import time; {before}; start = time.perf_counter(); {work}; print(time.perf_counter() - start)"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code]
    runs = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(1 + repeats)
    ]
    return min(float(run.stdout) for run in runs[1:])


def import_figures(repeats: int = 5) -> list[Figure]:
    """Seconds of imports in fresh processes, the best of several."""
    scikit = "import sklearn.base, sklearn.model_selection"
    ours = "from rulegrove import RuleEnsembleClassifier"
    return [
        Figure("import rulegrove", _import_seconds("import rulegrove", "pass", repeats), "s", ALLOWED_IMPORT),
        Figure("import of scikit-learn's base and model_selection", _import_seconds(scikit, "pass", repeats), "s"),
        Figure("  numba beyond these", _import_seconds("import numba", scikit, repeats), "s"),
        Figure(
            "  RuleEnsembleClassifier beyond these, numba included",
            _import_seconds(ours, scikit, repeats),
            "s",
            ALLOWED_IMPORT,
        ),
    ]


# --- the table --------------------------------------------------------------------------------------------------------


MEASUREMENTS: dict[str, Callable[[], list[Figure]]] = {
    "gram": gram_figures,
    "evaluation": evaluation_figures,
    "latency": latency_figures,
    "import": import_figures,
}


def write_csv(figures: Iterable[Figure], path: Path) -> None:
    """Write the columns name, figure, unit, limit and share."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "figure", "unit", "limit", "share"])
        writer.writerows([each.name.strip(), each.figure, each.unit, each.limit, each.share] for each in figures)


def show(figure: Figure) -> str:
    """One line of the table."""
    limit, share = ("", "") if figure.limit is None else (f"{figure.limit:.3f}", f"{figure.share:.0%}")
    return f"{figure.name:<62} {figure.figure:>8.3f} {figure.unit:<14} {limit:>8} {share:>6}"


def main() -> None:
    """Measure what is named, or everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to measure: {', '.join(MEASUREMENTS)}")
    parser.add_argument("--csv", type=Path, metavar="PATH", help="also write the table here")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(MEASUREMENTS))
    if unknown:
        parser.error(f"unknown measurement {unknown[0]!r}; there are {', '.join(MEASUREMENTS)}.")
    print(f"{'name':<62} {'figure':>8} {'unit':<14} {'limit':>8} {'share':>6}")
    figures: list[Figure] = []
    for name in arguments.names or MEASUREMENTS:
        measured = MEASUREMENTS[name]()
        print("\n".join(show(each) for each in measured), flush=True)
        figures += measured
    if arguments.csv:
        write_csv(figures, arguments.csv)


if __name__ == "__main__":
    main()
