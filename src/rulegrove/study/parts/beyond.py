"""Beyond the paper: which penalty folds choose, where it says that it is not clear how to, and wrong labels.

With wrong labels the ramp loss is compared with the squared one, while a share of the training labels is flipped.
"""

import numpy as np

from rulegrove import Glmnet, RuleEnsembleClassifier
from rulegrove.estimators._base import fit_chosen
from rulegrove.study.config import Config
from rulegrove.study.ensembles import (
    balanced_errors,
    chosen_on_folds,
    default_ensemble,
    paper_ensemble,
    path_predictions,
)
from rulegrove.study.parts.base import Outcome, Task, candidate_part, rates
from rulegrove.study.parts.sweeps import fitted_outcomes
from rulegrove.study.splits import Split

CHOICES = ("1se", "min", "min, honest folds")
BEST = "best on the test rows"
_LEAST_PENALTY = 1e-3

LOSSES = ("ramp, Pathbuild", "squared, Pathbuild", "squared, Glmnet")
DEFAULT = "default settings"
MEAN_LEAVES = 6.0  # trees of our defaults: small ones fit fewer wrong labels


def _choose(task: Task, config: Config, rows: Split) -> list[Outcome]:
    """Penalty, terms and error rates of a choice; the best on the test rows is what no choice can know."""
    rule, _, honest = task.method.partition(", ")
    best = task.method == BEST
    selection = _LEAST_PENALTY if best else rule
    model = paper_ensemble(config, task.repetition, solver=Glmnet(), selection=selection, honest_cv=bool(honest))
    predicted = path_predictions(fit_chosen(model, rows.X, rows.y), rows.X_test)
    point = int(np.argmin(balanced_errors(rows.y_test, predicted))) if best else model.selection_.index
    return [
        *rates(rows.y_test, predicted[:, point], **model.get_params()),
        Outcome("penalty", float(model.path_.penalties[point])),
        Outcome("terms", int(model.path_.n_terms[point])),
    ]


def _learn_from_flipped(task: Task, config: Config, rows: Split) -> list[Outcome]:
    """Error rates after a fit to labels of which a share is flipped; those of the test rows stay right."""
    rng = np.random.default_rng([config.seed + task.repetition, 1])
    flipped = rng.permutation(len(rows.y))[: round(float(task.value) * len(rows.y))]
    y = rows.y.copy()
    y[flipped] *= -1
    return fitted_outcomes(fit_chosen(_make_model(task.method, config, task.repetition), rows.X, y), rows)


def _make_model(method: str, config: Config, repetition: int) -> RuleEnsembleClassifier:
    """Return the ensemble; its trees are the same for every loss, and folds of the flipped labels choose the point."""
    if method == DEFAULT:
        return default_ensemble(config, repetition)
    loss, _, name = method.partition(", ")
    solver = chosen_on_folds(name.lower(), config)
    if name == "Pathbuild":
        solver.set_params(loss=loss)
    return paper_ensemble(config, repetition, solver=solver, mean_leaves=MEAN_LEAVES, selection="min")


SELECTION = candidate_part("selection", _choose, 1.5, methods=(BEST, *CHOICES))
ROBUSTNESS = candidate_part("robustness", _learn_from_flipped, 2.5, lambda config: config.flipped, (*LOSSES, DEFAULT))
