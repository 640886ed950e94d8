"""Processor seconds of fits with each loss beside those with the squared error, on one made table within one run.

``python -m benchmarks.every_target --speed [--only KIND ...] [--rows N] [--repeats N]``
"""

import csv
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "every_target_speed.csv"
FIELDS = ("loss", "rows", "columns", "threads", "seconds", "squared_seconds", "ratio")
N_COLUMNS = 39
LOSSES = ("squared", "huber", "absolute", "quantile", "poisson", "gamma", "tweedie", "survival")


def make_columns(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return 39 columns, and scores of lines, rules and a wave of eight of them."""
    X = np.random.default_rng(seed).normal(size=(n_rows, N_COLUMNS))
    rules = 0.6 * ((X[:, 1] > 0) & (X[:, 2] > 0.5)) - 0.4 * ((X[:, 3] > 0) & (X[:, 4] <= 0) & (X[:, 5] > -0.5))
    return X, 0.3 * X[:, 0] + rules + 0.3 * np.sin(2 * X[:, 6]) + 0.1 * X[:, 7] ** 2 - 0.5


def make_targets(scores: np.ndarray, seed: int = 1) -> dict[str, np.ndarray]:
    """Return a target for each loss, all from the same scores."""
    rng = np.random.default_rng(seed)
    mean = np.exp(scores)
    numbers = scores + rng.standard_t(4, size=scores.shape)
    claims = rng.poisson(mean)
    times, ends = rng.exponential(1 / mean), rng.exponential(2.0, size=scores.shape)
    return {
        **dict.fromkeys(("squared", "huber", "absolute", "quantile"), numbers),
        "poisson": claims.astype(np.float64),
        "gamma": rng.gamma(2.0, mean / 2.0),
        "tweedie": np.where(claims > 0, rng.gamma(2.0 * np.maximum(claims, 1), 0.5), 0.0),
        "survival": np.column_stack([np.minimum(times, ends), times <= ends]),
    }


def make_fit(loss: str, X: np.ndarray, y: np.ndarray, threads: int) -> Callable[[], Any]:
    """Return the call that is timed."""
    import rulegrove

    if loss == "survival":
        return lambda: rulegrove.RuleEnsembleSurvival(random_state=0, n_jobs=threads).fit(X, y)
    settings: dict[str, Any] = {"quantile": 0.9} if loss == "quantile" else {}
    return lambda: rulegrove.RuleEnsembleRegressor(loss=loss, random_state=0, n_jobs=threads, **settings).fit(X, y)


def measure(losses: list[str], n_rows: int, repeats: int, threads: int) -> list[dict[str, Any]]:
    """Return a line for each loss: the least processor seconds of some rounds, in which all losses take turns."""
    warnings.simplefilter("ignore")
    X, scores = make_columns(n_rows)
    targets = make_targets(scores)
    seconds: dict[str, float] = {}
    for round_ in range(repeats):
        for loss in ("squared", *(one for one in losses if one != "squared")):
            try:
                if round_ == 0:  # compiled kernels are loaded outside the clock
                    make_fit(loss, X[:2000], targets[loss][:2000], threads)()
                start = time.process_time()
                make_fit(loss, X, targets[loss], threads)()
            except Exception as error:
                print(f"{loss}: {type(error).__name__}: {error}", flush=True)
                continue
            own = time.process_time() - start
            seconds[loss] = min(own, seconds.get(loss, np.inf))
            print(f"round {round_}, {loss}: {own:.2f} s, {own / seconds['squared']:.2f} x squared", flush=True)
    base = seconds["squared"]
    known = {"rows": n_rows, "columns": N_COLUMNS, "threads": threads, "squared_seconds": round(base, 3)}
    return [
        {"loss": loss, **known, "seconds": round(own, 3), "ratio": round(own / base, 3)}
        for loss, own in seconds.items()
    ]


def write(lines: list[dict[str, Any]], path: Path = RESULTS) -> None:
    """Write the lines in place of those of an earlier run."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(lines)
