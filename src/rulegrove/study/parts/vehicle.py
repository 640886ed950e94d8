"""Each class of the vehicle set against the rest: rule ensembles beside bagging."""

import numpy as np

from rulegrove import datasets
from rulegrove.study.config import Config
from rulegrove.study.ensembles import default_ensemble, set_ensemble
from rulegrove.study.parts.base import Outcome, Part, Task
from rulegrove.study.parts.ten_sets import grow_baseline
from rulegrove.study.splits import two_fold

METHODS = ("pathbuild", "default", "bagging")


def _list_tasks(config: Config) -> list[Task]:
    classes = np.unique(datasets.load("vehicle", return_X_y=True)[1])
    return [
        Task("vehicle", "vehicle", repetition, method, str(label), cost=4.0)
        for repetition in range(config.n_cross_validations)
        for label in classes
        for method in METHODS
    ]


def _measure(task: Task, config: Config) -> list[Outcome]:
    """Error in telling one class from the rest, on both folds."""
    outcomes = []
    for fold in (0, 1):
        rows = two_fold("vehicle", task.repetition, fold)
        rows = rows._replace(y=rows.y == task.value, y_test=rows.y_test == task.value)
        if task.method == "bagging":
            model, settings = grow_baseline("bagging", rows, config, task.repetition)
        else:
            paper = task.method == "pathbuild"
            rules = (
                set_ensemble("pathbuild", config, task.repetition)
                if paper
                else default_ensemble(config, task.repetition)
            )
            model, settings = rules.fit(rows.X, rows.y), rules.get_params()
        error = 100.0 * float(np.mean(model.predict(rows.X_test) != rows.y_test))
        outcomes.append(Outcome("error", error, fold=fold, settings=settings))
    return outcomes


VEHICLE = Part("vehicle", _list_tasks, _measure)
