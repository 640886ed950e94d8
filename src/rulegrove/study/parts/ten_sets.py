"""The ten sets: what they are, and the error of rule ensembles, bagging and boosting on them."""

import time

import numpy as np

from rulegrove import datasets
from rulegrove.study.baselines import TreeEnsemble, bag, boost
from rulegrove.study.config import Config
from rulegrove.study.ensembles import SOLVERS, default_ensemble, set_ensemble
from rulegrove.study.paper import SETS as PAPER_SETS
from rulegrove.study.parts.base import Outcome, Part, Task
from rulegrove.study.splits import Split, two_fold

RULE_METHODS = (*SOLVERS, "shared", "default")
BASELINES = ("bagging", "boosting")
_SECONDS = {"pendigits": 30.0, "phoneme": 6.0, "waveform": 10.0}  # of a repetition; the others take less


def _list_sets(config: Config) -> list[Task]:
    return [Task("sets", name, 0, cost=0.05) for name in datasets.names()]


def _describe_set(task: Task, config: Config) -> list[Outcome]:
    X, y = datasets.load(task.data, return_X_y=True)
    return [
        Outcome("attributes", X.shape[1]),
        Outcome("observations", X.shape[0]),
        Outcome("classes", np.unique(y).size),
        Outcome("missing cells", int(np.isnan(X).sum())),
    ]


def _list_tasks(config: Config) -> list[Task]:
    tasks = []
    for name in datasets.names():
        # With two classes a pool of multi-class trees is the pool of that one problem.
        modes = [method for method in RULE_METHODS if method != "shared" or PAPER_SETS[name][2] > 2]
        tasks += [
            Task("ten-sets", name, repetition, method, cost=_SECONDS.get(name, 4.0))
            for method in (*modes, *BASELINES)
            for repetition in range(config.n_cross_validations)
        ]
    return tasks


def _measure(task: Task, config: Config) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for fold in (0, 1):
        rows = two_fold(task.data, task.repetition, fold)
        measure = _measure_trees if task.method in BASELINES else _measure_rules
        outcomes += measure(task, config, rows, fold)
    return outcomes


def _measure_rules(task: Task, config: Config, rows: Split, fold: int) -> list[Outcome]:
    """Error, terms and seconds of a rule ensemble."""
    if task.method == "default":
        model = default_ensemble(config, task.repetition)
    elif task.method == "shared":
        model = set_ensemble("glmnet", config, task.repetition, multiclass="shared")
    else:
        model = set_ensemble(task.method, config, task.repetition)
    start = time.perf_counter()
    model.fit(rows.X, rows.y)
    seconds = time.perf_counter() - start
    settings = model.get_params()
    return [
        Outcome(
            "error", 100.0 * float(np.mean(model.predict(rows.X_test) != rows.y_test)), fold=fold, settings=settings
        ),
        Outcome("terms", len(model.rules_), fold=fold),
        Outcome("fit seconds", seconds, fold=fold),
    ]


def _measure_trees(task: Task, config: Config, rows: Split, fold: int) -> list[Outcome]:
    """Error of each reading of bagging or boosting, and seconds."""
    start = time.perf_counter()
    ensemble, settings = grow_baseline(task.method, rows, config, task.repetition)
    seconds = time.perf_counter() - start
    outcomes = [
        Outcome("error", error, f"{task.method}, {reading}", fold=fold, settings=settings)
        for reading, error in ensemble.errors(rows.X_test, rows.y_test).items()
    ]
    return [*outcomes, Outcome("fit seconds", seconds, f"{task.method}, voting", fold=fold)]


def grow_baseline(method: str, rows: Split, config: Config, repetition: int) -> tuple[TreeEnsemble, dict[str, object]]:
    """Return bagging or boosting, grown on the training rows, and its settings."""
    seed = config.seed + repetition
    if method == "bagging":
        return bag(rows.X, rows.y, config.n_bagged, seed), {"n_trees": config.n_bagged, "max_features": "sqrt"}
    settings: dict[str, object] = {"n_trees": config.n_boosted, "max_features": "sqrt", "by": "weighted resampling"}
    return boost(rows.X, rows.y, config.n_boosted, seed), settings


SETS = Part("sets", _list_sets, _describe_set)
TEN_SETS = Part("ten-sets", _list_tasks, _measure)
