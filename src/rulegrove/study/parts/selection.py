"""Which penalty: what folds choose where the paper says that it is not clear how to."""

import numpy as np

from rulegrove import Glmnet
from rulegrove.study.config import Config
from rulegrove.study.ensembles import paper_ensemble, path_errors, path_predictions
from rulegrove.study.parts.base import Outcome, Part, Task, candidate_tasks, rates
from rulegrove.study.splits import split_candidates

CHOICES = ("1se", "min", "min, honest folds")
BEST = "best on the test rows"
_LEAST_PENALTY = 1e-3


def _list_tasks(config: Config) -> list[Task]:
    return candidate_tasks("selection", config, methods=(BEST, *CHOICES), cost=1.5)


def _measure(task: Task, config: Config) -> list[Outcome]:
    """Penalty, terms and error rates of a choice; the best on the test rows is what no choice can know."""
    rows = split_candidates(config, task.repetition)
    rule, _, honest = task.method.partition(", ")
    model = paper_ensemble(
        config,
        task.repetition,
        solver=Glmnet(),
        selection=_LEAST_PENALTY if task.method == BEST else rule,
        honest_cv=bool(honest),
    ).fit(rows.X, rows.y)
    point = int(np.argmin(path_errors(model, rows))) if task.method == BEST else model.selection_.index
    return [
        *rates(rows.y_test, path_predictions(model, rows.X_test)[:, point], **model.get_params()),
        Outcome("penalty", float(model.path_.penalties[point])),
        Outcome("terms", int(model.path_.n_terms[point])),
    ]


SELECTION = Part("selection", _list_tasks, _measure)
