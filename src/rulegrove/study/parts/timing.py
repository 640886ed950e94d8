"""Seconds: the four solvers in one language, and the rule ensemble beside bagging and boosting."""

import time

from rulegrove import Fpc, RuleEnsembleClassifier
from rulegrove.study.baselines import TreeEnsemble
from rulegrove.study.config import Config
from rulegrove.study.ensembles import chosen_on_folds, default_ensemble, paper_ensemble, sweep
from rulegrove.study.parts.base import Outcome, Part, Task, on_candidates
from rulegrove.study.parts.ten_sets import BASELINES, grow_baseline, percent_wrong
from rulegrove.study.splits import Split

SOLVER_NAMES = ("glmnet", "spgl1", "fpc", "fpc, constant step", "pathbuild")
ENSEMBLE_NAMES = ("default", "glmnet", "pathbuild", *BASELINES)
N_REPETITIONS = 3


def _list_tasks(config: Config) -> list[Task]:
    return [
        Task("timing", config.table, repetition, f"{kind}: {name}", cost=6.0)
        for repetition in range(min(N_REPETITIONS, config.n_repetitions - 1))
        for kind, names in (("solver", SOLVER_NAMES), ("ensemble", ENSEMBLE_NAMES))
        for name in names
    ]


def _measure(task: Task, config: Config, rows: Split) -> list[Outcome]:
    kind, _, name = task.method.partition(": ")
    measure = _time_solver if kind == "solver" else _time_ensemble
    return measure(name, rows, config, task.repetition)


def _time_solver(name: str, rows: Split, config: Config, repetition: int) -> list[Outcome]:
    """Seconds of a path of thirteen points (Pathbuild: of its steps) after the statistics, to a gap of 1e-5."""
    fixed, n_runs = sweep(name.partition(",")[0], config, len(rows.y)), config.n_timings
    if name == "fpc, constant step":
        fixed["solver"] = Fpc(fit_weight=config.fit_weights, method="basic")
        n_runs = 1  # it takes seconds where the others take hundredths
    models = [paper_ensemble(config, repetition, **fixed).fit(rows.X, rows.y) for _ in range(n_runs)]
    return [
        Outcome("path seconds", min(model.path_.seconds for model in models), settings=models[0].get_params()),
        Outcome("candidates", len(models[0].candidates_[0])),
        Outcome("terms", int(models[0].path_.n_terms[-1])),
    ]


def _time_ensemble(name: str, rows: Split, config: Config, repetition: int) -> list[Outcome]:
    """Seconds to fit, the choice on folds included, and to predict all test rows; the error as well."""
    fits, predictions, error = [], [], 0.0
    for _ in range(config.n_timings):
        start = time.perf_counter()
        model = _fit_ensemble(name, rows, config, repetition)
        middle = time.perf_counter()
        predicted = model.predict(rows.X_test)
        fits.append(middle - start)
        predictions.append(time.perf_counter() - middle)
        error = percent_wrong(predicted, rows.y_test)
    return [
        Outcome("fit seconds", min(fits)),
        Outcome("predict seconds", min(predictions)),
        Outcome("error", error),
        Outcome("test rows", len(rows.y_test)),
    ]


def _fit_ensemble(name: str, rows: Split, config: Config, repetition: int) -> RuleEnsembleClassifier | TreeEnsemble:
    """Fit one of the ensembles."""
    if name in BASELINES:
        return grow_baseline(name, rows, config, repetition)[0]
    if name == "default":
        return default_ensemble(config, repetition).fit(rows.X, rows.y)
    return paper_ensemble(config, repetition, solver=chosen_on_folds(name, config), selection="1se").fit(rows.X, rows.y)


TIMING = Part("timing", _list_tasks, on_candidates(_measure), alone=True)
