"""Fits and predictions from Parquet files larger than memory: seconds a million rows, peak memory, where time goes.

``python -m benchmarks.scale --dir /tmp/scale`` writes 20,000,000 rows of 20 float32 attributes (1.6 GB) in parts of a
million rows and measures at 1, 5 and 20 million; ``--rows 1000000`` makes a short trial of it. Each measurement runs in
a process of its own, whose peak memory the parent takes from the operating system.
"""

import argparse
import functools
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PART_ROWS = 1_000_000
GROUP_ROWS = 2**17
N_FEATURES = 20
N_CANDIDATES = 600
SIZES = (1_000_000, 5_000_000, 20_000_000)


def write_parts(folder: Path, n_rows: int) -> None:
    """Write the parts that are not there yet; each has a seed of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in range(-(-n_rows // PART_ROWS)):
        path = folder / f"part-{part:04}.parquet"
        if path.exists():
            continue
        rng = np.random.default_rng(part)
        X = rng.normal(size=(PART_ROWS, N_FEATURES)).astype(np.float32)
        score = X[:, 0] + 2.0 * (X[:, 1] > 0) - (X[:, 2] < 0.3) * (X[:, 3] > 0) + 0.5 * X[:, 4] * (X[:, 5] > 0.5)
        y = (score + 0.7 * rng.normal(size=PART_ROWS) > 1).astype(np.int8)
        table = pa.table({**{f"x{k}": X[:, k] for k in range(N_FEATURES)}, "y": y})
        pq.write_table(table, path.with_suffix(".draft"), row_group_size=GROUP_ROWS)
        path.with_suffix(".draft").rename(path)


def parts_of(folder: Path, n_rows: int) -> list[Path]:
    """Return the parts of the first so many rows."""
    return sorted(folder.glob("part-*.parquet"))[: -(-n_rows // PART_ROWS)]


class Clock:
    """Thread seconds by what they were spent on."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._lock = threading.Lock()

    def add(self, name: str, seconds: float) -> None:
        """Add some seconds."""
        with self._lock:
            self.seconds[name] += seconds

    def watch(self, owner: Any, method: str, name: str) -> None:
        """Count what a method takes; of one that yields, what its items take."""
        plain: Callable[..., Any] = getattr(owner, method)

        @functools.wraps(plain)
        def timed(*arguments: Any, **options: Any) -> Any:
            start = time.perf_counter()
            found = plain(*arguments, **options)
            self.add(name, time.perf_counter() - start)
            return self._watch_items(found, name) if isinstance(found, Iterator) else found

        setattr(owner, method, timed)

    def _watch_items(self, items: Iterator[Any], name: str) -> Iterator[Any]:
        while True:
            start = time.perf_counter()
            item = next(items, None)
            self.add(name, time.perf_counter() - start)
            if item is None:
                return
            yield item


def fit(folder: Path, n_rows: int, n_jobs: int) -> dict[str, Any]:
    """Fit out of core and tell where the time went."""
    from rulegrove import RuleEnsembleClassifier, engines
    from rulegrove.design.bits import BitMatrix, RuleProgram
    from rulegrove.engines import counting, sources

    paths = parts_of(folder, n_rows)
    warm = pq.ParquetFile(paths[0]).read_row_group(0).slice(0, 3000)
    engines.fit(RuleEnsembleClassifier(n_candidates=50, random_state=0, n_jobs=n_jobs), warm, "y")
    clock, states = Clock(), []
    clock.watch(sources.Source, "batches", "reading")
    clock.watch(RuleProgram, "evaluate", "evaluating")
    clock.watch(BitMatrix, "add_gram", "Gram")
    clock.watch(BitMatrix, "sums", "sums")
    clock.watch(counting.CountTask, "__call__", "counting pass")
    clock.watch(counting.Counts, "merge", "merging")
    keep = counting.Counts.merge

    def merge(self: Any, other: Any) -> Any:
        states.append(other)
        del states[:-1]
        return keep(self, other)

    counting.Counts.merge = merge  # type: ignore[method-assign]
    model = RuleEnsembleClassifier(n_candidates=N_CANDIDATES, random_state=0, n_jobs=n_jobs)
    start = time.perf_counter()
    engines.fit(model, paths, "y", n_threads=n_jobs)
    seconds = time.perf_counter() - start
    model.save(folder / "model.json")
    state = states[-1].statistics[0]
    words = n_rows * state.n_rules**2 / 128
    return {
        "rows": n_rows,
        "seconds": seconds,
        "seconds_per_million": seconds / n_rows * 1e6,
        "thread_seconds": dict(clock.seconds),
        "candidates": state.n_rules,
        "gram_words": words,
        "gram_seconds_per_word": clock.seconds["Gram"] / words,
        "state_bytes": len(pickle.dumps(states[-1])),
        "terms": len(model.rules_),
    }


def predict(folder: Path, n_rows: int, n_jobs: int) -> dict[str, Any]:
    """Predict from Parquet to Parquet."""
    from rulegrove import engines, load_model

    model = load_model(folder / "model.json")
    paths = parts_of(folder, n_rows)
    warm = pq.ParquetFile(paths[0]).read_row_group(0).slice(0, 3000)
    engines.predict(model, warm, folder / "warm.parquet", n_threads=n_jobs)
    start = time.perf_counter()
    engines.predict(model, paths, folder / "predicted.parquet", columns=["prediction"], n_threads=n_jobs)
    seconds = time.perf_counter() - start
    (folder / "predicted.parquet").unlink()
    (folder / "warm.parquet").unlink()
    return {"rows": n_rows, "seconds": seconds, "rows_per_second": n_rows / seconds}


def predict_pandas(folder: Path, n_rows: int, n_jobs: int) -> dict[str, Any]:
    """Load into pandas and predict by histogram gradient boosting, fitted on 100,000 rows outside the clock."""
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingClassifier

    paths = parts_of(folder, n_rows)
    first = pd.read_parquet(paths[0]).head(100_000)
    model = HistGradientBoostingClassifier(random_state=0).fit(first.drop(columns="y"), first["y"])
    model.predict(first.drop(columns="y").head(1000))
    start = time.perf_counter()
    table = pd.read_parquet(paths, columns=[f"x{k}" for k in range(N_FEATURES)])
    model.predict(table)
    seconds = time.perf_counter() - start
    return {"rows": n_rows, "seconds": seconds, "rows_per_second": n_rows / seconds}


WORK = {"fit": fit, "predict": predict, "predict_pandas": predict_pandas}


def measure(work: str, folder: Path, n_rows: int, n_jobs: int) -> dict[str, Any]:
    """Run some work in a process of its own; add its peak memory, which the operating system tells when it ends."""
    words = [sys.executable, "-m", "benchmarks.scale", "--dir", str(folder), "--rows", str(n_rows)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(n_jobs)}
    words += ["--n-jobs", str(n_jobs), "--work", work]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as child:
        assert child.stdout is not None
        told = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{work} at {n_rows:,} rows ended with {child.returncode}.")
    return {**json.loads(told), "peak_bytes": 1024 * usage.ru_maxrss}


def report(fits: list[dict[str, Any]], ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Print what was measured."""
    print("      rows  seconds  s/million  peak MB  terms   of the counting pass: reading  evaluating  sums  Gram")
    for found in fits:
        spent = found["thread_seconds"]
        shares = [spent[name] / spent["counting pass"] for name in ("evaluating", "sums", "Gram")]
        # Both passes read; the first one reads as much as the second.
        reading = spent["reading"] / 2 / spent["counting pass"]
        print(
            f"{found['rows']:>10,}  {found['seconds']:7.1f}  {found['seconds_per_million']:9.2f}  "
            f"{found['peak_bytes'] / 2**20:7.0f}  {found['terms']:5}  {reading:30.0%}"
            + "".join(f"  {share:9.0%}" for share in shares)
        )
    last = fits[-1]
    print(
        f"Gram: {last['gram_seconds_per_word']:.3g} s a word ({1e-9 / last['gram_seconds_per_word']:.2f}e9 words/s a "
        f"thread) with {last['candidates']} candidates; a state has {last['state_bytes'] / 1e6:.1f} MB."
    )
    growth = last["seconds_per_million"] / fits[0]["seconds_per_million"]
    print(f"Seconds a million rows at {last['rows']:,} over those at {fits[0]['rows']:,} rows: {growth:.2f}")
    print(
        f"Parquet to Parquet {ours['rows_per_second']:,.0f} rows/s (peak {ours['peak_bytes'] / 2**20:.0f} MB), pandas "
        f"+ HistGradientBoosting {theirs['rows_per_second']:,.0f} rows/s (peak {theirs['peak_bytes'] / 2**20:.0f} MB): "
        f"{ours['rows_per_second'] / theirs['rows_per_second']:.1f} times"
    )


def main() -> None:
    """Generate, measure, report; or do one piece of work for the parent process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", type=Path, required=True, help="folder for the generated parts")
    parser.add_argument("--rows", type=int, default=max(SIZES), help="rows of the largest table")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, help="file for all figures")
    parser.add_argument("--work", choices=WORK, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.work:
        print(json.dumps(WORK[chosen.work](chosen.dir, chosen.rows, chosen.n_jobs)))
        return
    write_parts(chosen.dir, chosen.rows)
    sizes = [size for size in SIZES if size <= chosen.rows] or [chosen.rows]
    fits = [measure("fit", chosen.dir, size, chosen.n_jobs) for size in sizes]
    scored = min(chosen.rows, 5_000_000)  # more would not fit into the memory of a laptop as a pandas table
    ours, theirs = (measure(work, chosen.dir, scored, chosen.n_jobs) for work in ("predict", "predict_pandas"))
    report(fits, ours, theirs)
    if chosen.json:
        chosen.json.write_text(json.dumps({"fits": fits, "predict": ours, "predict_pandas": theirs}, indent=1))


if __name__ == "__main__":
    main()
