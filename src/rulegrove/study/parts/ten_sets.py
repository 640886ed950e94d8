"""The ten sets: what they are, the error of rule ensembles, bagging and boosting, and each class of vehicle's alone."""

import time
from typing import Any

import numpy as np

from rulegrove import RuleEnsembleClassifier, datasets
from rulegrove._typing import AnyArray
from rulegrove.estimators._base import fit_chosen
from rulegrove.study.baselines import MAX_FEATURES, TreeEnsemble, bag, boost
from rulegrove.study.config import Config
from rulegrove.study.ensembles import SOLVERS, default_ensemble, set_ensemble
from rulegrove.study.paper import SETS as PAPER_SETS
from rulegrove.study.parts.base import Outcome, Part, Task
from rulegrove.study.splits import Split, two_fold

RULE_METHODS = (*SOLVERS, "shared", "default")
BASELINES = ("bagging", "boosting")
_SECONDS = {"pendigits": 30.0, "phoneme": 6.0, "waveform": 10.0}  # of a repetition; the others take less


def _describe_set(task: Task, config: Config) -> list[Outcome]:
    X, y = datasets.load(task.data, return_X_y=True)
    return [
        Outcome("attributes", X.shape[1]),
        Outcome("observations", X.shape[0]),
        Outcome("classes", np.unique(y).size),
        Outcome("missing cells", int(np.isnan(X).sum())),
    ]


def _list_tasks(config: Config) -> list[Task]:
    return [
        Task("ten-sets", name, repetition, method, cost=_SECONDS.get(name, 4.0))
        for name in datasets.names()
        for method in (*RULE_METHODS, *BASELINES)
        # With two classes a pool of multi-class trees is the pool of that one problem.
        if method != "shared" or PAPER_SETS[name][2] > 2
        for repetition in range(config.n_cross_validations)
    ]


def _measure(task: Task, config: Config) -> list[Outcome]:
    """Error, terms and seconds of a rule ensemble; of trees the error of each reading, and seconds."""
    outcomes: list[Outcome] = []
    for fold in (0, 1):
        rows = two_fold(task.data, task.repetition, fold)
        start = time.perf_counter()
        if task.method in BASELINES:
            trees, settings = grow_baseline(task.method, rows, config, task.repetition)
            seconds = time.perf_counter() - start
            outcomes += [
                Outcome("error", error, f"{task.method}, {reading}", fold=fold, settings=settings)
                for reading, error in trees.errors(rows.X_test, rows.y_test).items()
            ]
            outcomes.append(Outcome("fit seconds", seconds, f"{task.method}, voting", fold=fold))
        else:
            model = _make_rules(task.method, config, task.repetition).fit(rows.X, rows.y)
            seconds = time.perf_counter() - start
            error = percent_wrong(model.predict(rows.X_test), rows.y_test)
            outcomes += [
                Outcome("error", error, fold=fold, settings=model.get_params()),
                Outcome("terms", len(model.rules_), fold=fold),
                Outcome("fit seconds", seconds, fold=fold),
            ]
    return outcomes


def _make_rules(method: str, config: Config, repetition: int) -> RuleEnsembleClassifier:
    """Return a rule ensemble by the name of its solver, with multi-class trees, or with our default settings."""
    if method == "default":
        return default_ensemble(config, repetition)
    if method == "shared":
        return set_ensemble("glmnet", config, repetition, multiclass="shared")
    return set_ensemble(method, config, repetition)


def grow_baseline(method: str, rows: Split, config: Config, repetition: int) -> tuple[TreeEnsemble, dict[str, Any]]:
    """Return bagging or boosting, grown on the training rows, and its settings."""
    seed = config.seed + repetition
    if method == "bagging":
        return bag(rows.X, rows.y, config.n_bagged, seed), {"n_trees": config.n_bagged, "max_features": MAX_FEATURES}
    settings = {"n_trees": config.n_boosted, "max_features": MAX_FEATURES, "by": "weighted resampling"}
    return boost(rows.X, rows.y, config.n_boosted, seed), settings


def percent_wrong(predicted: AnyArray, y: AnyArray) -> float:
    """Return how many of the rows are misclassified, in percent."""
    return 100.0 * float(np.mean(predicted != y))


def _list_vehicle(config: Config) -> list[Task]:
    classes = np.unique(datasets.load("vehicle", return_X_y=True)[1])
    return [
        Task("vehicle", "vehicle", repetition, method, str(label), cost=4.0)
        for repetition in range(config.n_cross_validations)
        for label in classes
        for method in ("pathbuild", "default", "bagging")
    ]


def _measure_vehicle(task: Task, config: Config) -> list[Outcome]:
    """Error in telling one class of vehicle from the rest, on both folds."""
    outcomes = []
    for fold in (0, 1):
        rows = two_fold("vehicle", task.repetition, fold)
        rows = rows._replace(y=rows.y == task.value, y_test=rows.y_test == task.value)
        model: RuleEnsembleClassifier | TreeEnsemble
        if task.method == "bagging":
            model, settings = grow_baseline("bagging", rows, config, task.repetition)
        else:
            model = fit_chosen(_make_rules(task.method, config, task.repetition), rows.X, rows.y)
            settings = model.get_params()
        outcomes.append(
            Outcome("error", percent_wrong(model.predict(rows.X_test), rows.y_test), fold=fold, settings=settings)
        )
    return outcomes


TEN_SETS = (
    Part("sets", lambda config: [Task("sets", name, 0, cost=0.05) for name in datasets.names()], _describe_set),
    Part("ten-sets", _list_tasks, _measure),
    Part("vehicle", _list_vehicle, _measure_vehicle),
)
