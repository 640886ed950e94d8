"""Wrong labels: ramp against squared loss while a share of the training labels is flipped."""

from typing import Any

import numpy as np

from rulegrove import Glmnet, Pathbuild, RuleEnsembleClassifier
from rulegrove.study.config import Config
from rulegrove.study.ensembles import THRESHOLD, default_ensemble, paper_ensemble
from rulegrove.study.parts.base import Outcome, Part, Task, candidate_tasks, fitted_outcomes
from rulegrove.study.splits import Split, split_candidates

MEAN_LEAVES = 6.0  # trees of our defaults: small ones fit fewer wrong labels
METHODS = ("ramp, Pathbuild", "squared, Pathbuild", "squared, Glmnet")
DEFAULT = "default settings"


def _list_tasks(config: Config) -> list[Task]:
    return candidate_tasks("robustness", config, config.flipped, (*METHODS, DEFAULT), cost=2.5)


def _measure(task: Task, config: Config) -> list[Outcome]:
    rows = _flip(split_candidates(config, task.repetition), float(task.value), config.seed + task.repetition)
    model = _make_model(task.method, config, task.repetition).fit(rows.X, rows.y)
    return fitted_outcomes(model, rows)


def _make_model(method: str, config: Config, repetition: int) -> RuleEnsembleClassifier:
    """Return the ensemble; its trees are the same for every loss, and folds of the flipped labels choose the point."""
    if method == DEFAULT:
        return default_ensemble(config, repetition)
    loss, _, name = method.partition(", ")
    pathbuild = Pathbuild(threshold=THRESHOLD, n_steps=config.n_steps).set_params(loss=loss)
    solver: Any = Glmnet() if name == "Glmnet" else pathbuild
    return paper_ensemble(config, repetition, solver=solver, mean_leaves=MEAN_LEAVES, selection="min")


def _flip(rows: Split, share: float, seed: int) -> Split:
    """Flip a share of the training labels; test labels stay right."""
    rng = np.random.default_rng([seed, 1])
    flipped = rng.permutation(len(rows.y))[: round(share * len(rows.y))]
    y = rows.y.copy()
    y[flipped] *= -1
    return rows._replace(y=y)


ROBUSTNESS = Part("robustness", _list_tasks, _measure)
