"""Error against what each solver varies: threshold, penalty, radius, fit weight, and fit weight by size of trees."""

import functools
from typing import Any

from rulegrove import Pathbuild, RuleEnsembleClassifier
from rulegrove.study.config import Config
from rulegrove.study.ensembles import paper_ensemble, path_predictions, sweep
from rulegrove.study.parts.base import Outcome, Part, Task, candidate_tasks, fitted_outcomes, rates
from rulegrove.study.splits import Split, split_candidates


def _list_thresholds(config: Config) -> list[Task]:
    return candidate_tasks("threshold", config, config.thresholds, ("pathbuild",), cost=1.5)


def _measure_threshold(task: Task, config: Config) -> list[Outcome]:
    return measure_pathbuild(task, config, float(task.value))


def measure_pathbuild(task: Task, config: Config, threshold: float, **settings: Any) -> list[Outcome]:
    """Return error rates and terms of Pathbuild after all of the study's steps."""
    rows = split_candidates(config, task.repetition)
    solver = Pathbuild(threshold=threshold, n_steps=config.n_steps)
    model = paper_ensemble(config, task.repetition, solver=solver, selection=float(config.n_steps), **settings)
    return fitted_outcomes(model.fit(rows.X, rows.y), rows)


def _list_sweep(config: Config, *, part: str, solver: str) -> list[Task]:
    return candidate_tasks(part, config, methods=(solver,), cost=0.6)


def _measure_sweep(task: Task, config: Config) -> list[Outcome]:
    rows = split_candidates(config, task.repetition)
    return path_outcomes(fit_sweep(task.method, rows, config, task.repetition), rows)


def _list_tree_sizes(config: Config) -> list[Task]:
    return candidate_tasks(
        "fit-weight-tree-size", config, methods=[f"{size} leaves" for size in config.leaves], cost=0.6
    )


def _measure_tree_size(task: Task, config: Config) -> list[Outcome]:
    rows = split_candidates(config, task.repetition)
    leaves = float(task.method.removesuffix(" leaves"))
    return path_outcomes(fit_sweep("fpc", rows, config, task.repetition, mean_leaves=leaves), rows)


def fit_sweep(solver: str, rows: Split, config: Config, repetition: int, **settings: Any) -> RuleEnsembleClassifier:
    """Fit an ensemble whose path stops at every point of the study's grid.

    A repetition's rules are the same for every solver: they are grown before any of them comes in, from the same seed.
    """
    fixed = sweep(solver, config, len(rows.y))
    return paper_ensemble(config, repetition, **(fixed | settings)).fit(rows.X, rows.y)


def path_outcomes(model: RuleEnsembleClassifier, rows: Split, method: str | None = None) -> list[Outcome]:
    """Return error rates and terms at every point of a fitted path."""
    predicted = path_predictions(model, rows.X_test)
    path, settings = model.path_, model.get_params()
    outcomes: list[Outcome] = []
    for point, value in enumerate(path.parameter.values):
        place = f"{value:.6g}"
        outcomes += rates(rows.y_test, predicted[:, point], method, place, **(settings if point == 0 else {}))
        outcomes.append(Outcome("terms", int(path.n_terms[point]), method, place))
        outcomes.append(Outcome("candidates", len(model.candidates_[0]), method, place))
    return outcomes


THRESHOLD = Part("threshold", _list_thresholds, _measure_threshold)
PENALTY = Part("penalty", functools.partial(_list_sweep, part="penalty", solver="glmnet"), _measure_sweep)
RADIUS = Part("radius", functools.partial(_list_sweep, part="radius", solver="spgl1"), _measure_sweep)
FIT_WEIGHT = Part("fit-weight", functools.partial(_list_sweep, part="fit-weight", solver="fpc"), _measure_sweep)
FIT_WEIGHT_TREE_SIZE = Part("fit-weight-tree-size", _list_tree_sizes, _measure_tree_size)
