"""Edits of a list of 25 rules at a million rows: ``python -m benchmarks.editing``.

The table is made up. Of each edit the least of three times is told, of the processor and by the clock, after one that
warms up.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rulegrove import RuleEnsembleClassifier

N_ROWS, N_RULES = 1_000_000, 25


def make_table(n_rows: int = N_ROWS, seed: int = 0) -> tuple[Any, Any]:
    """Return ten attributes and two classes that depend on six of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 10)).round(2)
    both = np.where(X[:, 1] > 0.3, 1.0, 0.0) * np.where(X[:, 2] < 0.5, 1.5, -0.5)
    score = X[:, 0] + both + 0.7 * (X[:, 3] > 0) + 0.5 * X[:, 4] * X[:, 5]
    return X, (score + rng.logistic(size=n_rows) > 0.5).astype(np.int64)


def measure(do: Callable[[], object]) -> tuple[float, float]:
    """Return milliseconds of the processor and by the clock."""
    cpu, wall = time.process_time(), time.perf_counter()
    do()
    return 1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - wall)


def find_pair(session: Any) -> tuple[int, int]:
    """Return two rules that a lower bound on the same attribute makes alike enough to be merged."""
    starts: dict[str, int] = {}
    for row in session.rules:
        if (start := row.text.split(" > ")[0]) in starts:
            return starts[start], row.rank
        starts[start] = row.rank
    raise ValueError("No two rules begin with the same attribute.")


def main() -> None:
    """Print the times."""
    X, y = make_table()
    model = RuleEnsembleClassifier(
        terms="rules", max_terms=N_RULES, n_candidates=500, random_state=0, honest_cv=False
    ).fit(X, y)
    sessions: list[Any] = []
    cpu, wall = measure(lambda: sessions.append(model.edit(X, y)))
    session = sessions[0]
    print(f"{len(model.rules_)} rules, {N_ROWS:,} rows; opening {cpu:.0f} ms ({wall:.0f} by the clock)")
    edits: dict[str, Callable[[], object]] = {
        "drop": lambda: session.drop(3),
        "replace": lambda: session.replace(2, "x1 > 0.25 and x2 <= 0.4"),
        "round": lambda: session.round(2),
        "add": lambda: session.add("x0 > 1.5 and x7 > 0"),
        "forbid": lambda: session.forbid("x5"),
        "fix": lambda: session.fix(1, -0.5),
        "monotone": lambda: session.monotone("x0", "increasing"),
    }
    pair = find_pair(session)
    edits["merge"] = lambda: session.merge(*pair)
    for name, edit in edits.items():
        times = []
        for _ in range(4):
            times.append(measure(edit))
            session.undo()
        cpu, wall = np.min(times[1:], axis=0)
        print(f"{name:>10} {cpu:6.1f} ms of the processor {wall:6.1f} ms by the clock")


if __name__ == "__main__":
    main()
