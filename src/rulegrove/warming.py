"""All kernels compiled at once, so that no fit has to wait for them."""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._kernel_cache import counting_compilations
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.estimators.regressor import RuleEnsembleRegressor
from rulegrove.exceptions import RulegroveWarning
from rulegrove.scorecards.making import scorecard
from rulegrove.solvers import SOLVERS, Glmnet


@dataclass(frozen=True)
class Warmed:
    """What was compiled.

    Attributes
    ----------
    n_compiled : int
        Kernels that were not on disk, each counted for every kind of arguments.
    seconds : float
        What that took in all.
    """

    n_compiled: int
    seconds: float

    def __str__(self) -> str:
        if not self.n_compiled:
            return "Everything was compiled already."
        return f"Compiled {self.n_compiled} kernels in {self.seconds:.0f} s."


def warm_up(on_progress: Callable[[int, int], None] | None = None) -> Warmed:
    """Compile the kernels of all kinds of fits and keep them on disk, as a step after installation.

    A first fit compiles what it needs by itself; other solvers, groups of classes, directions of attributes and stable
    rules have kernels of their own, and so have scorecards. Later processes load all of them in tenths of a second.

    Parameters
    ----------
    on_progress : callable, optional
        Called as ``on_progress(done, total)`` after each of a few small fits.

    Returns
    -------
    Warmed
        How many kernels were compiled, and how long it took; prints as a sentence.

    Examples
    --------
    >>> import rulegrove
    >>> _ = rulegrove.warm_up()
    >>> print(rulegrove.warm_up())
    Everything was compiled already.
    """
    start, models = time.perf_counter(), list(_list_models())
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    targets = {
        "two": (X[:, 0] + X[:, 1] > 0.0).astype(np.int64),
        "three": (X[:, 0] > 0.0).astype(np.int64) + (X[:, 1] > 0.5),
        "number": X[:, 0] + (X[:, 1] > 0.0),
    }
    with counting_compilations() as compiled, warnings.catch_warnings():
        warnings.simplefilter("ignore", RulegroveWarning)  # of fits that nobody will use
        for place, (target, model) in enumerate(models):
            model.fit(X, targets[target]).predict(X)
            if on_progress is not None:
                on_progress(place + 1, len(models))
        scorecard(models[0][1], X, targets["two"])
    return Warmed(compiled.number, time.perf_counter() - start)


def _list_models() -> Iterator[tuple[str, Any]]:
    """Return small models that need all kernels between them, each with the kind of its target."""
    small: dict[str, Any] = {"n_candidates": 30, "cv": 2, "random_state": 0, "n_jobs": 1}
    yield "two", RuleEnsembleClassifier(**small)
    for solver in SOLVERS:
        yield "two", RuleEnsembleClassifier(solver=solver, **small)
        yield "number", RuleEnsembleRegressor(solver=solver, **small)
    yield "three", RuleEnsembleClassifier(multiclass="grouped", solver=Glmnet(loss="squared"), **small)
    yield "two", RuleEnsembleClassifier(monotonic=[1, 0, 0], **small)
    yield "two", RuleEnsembleClassifier(stable=True, **small)
