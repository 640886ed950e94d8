"""Where the time of a default fit goes: seconds of each stage, one thread: ``python -m benchmarks.stages [ROWS ...]``.

The stages are those that ``verbose=1`` tells; what none of them counts is "the rest". Supernova candidates, 39 numeric
attributes, two classes.
"""

import contextlib
import io
import sys
import time

from benchmarks import problems
from rulegrove import RuleEnsembleClassifier

SIZES = (500, 5000, 20_000, 100_000, 1_000_000)


def measure(n_rows: int) -> dict[str, float]:
    """Return the seconds of each stage of a fit, after one that warms up, and of the whole."""
    X, y = problems.candidates(n_rows) if n_rows <= 50_000 else problems.many_candidates(n_rows)
    model = RuleEnsembleClassifier(random_state=0, n_jobs=1, verbose=1)
    for _ in range(2):
        told, start = io.StringIO(), time.perf_counter()
        with contextlib.redirect_stderr(told):
            model.fit(X, y)
        seconds = time.perf_counter() - start
    stages = {line[:22].strip(): float(line[22:].split()[0]) for line in told.getvalue().splitlines()}
    return {**stages, "the rest": seconds - sum(stages.values()), "all": seconds}


def main(sizes: list[int]) -> None:
    """Print a table, a column for each size."""
    columns = [measure(n_rows) for n_rows in sizes]
    names = list(dict.fromkeys(name for column in columns for name in column))
    names = [name for name in names if name not in ("the rest", "all")] + ["the rest", "all"]
    print("| stage | " + " | ".join(f"{n_rows:,} rows" for n_rows in sizes) + " |")
    print("|---" * (1 + len(sizes)) + "|")
    for name in names:
        cells = (f"{column[name]:.2f}" if name in column else "" for column in columns)
        print(f"| {name.lower()} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or list(SIZES))
