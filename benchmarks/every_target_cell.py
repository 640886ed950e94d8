"""One cell of `benchmarks.every_target`, in a process of its own: a method on a problem, measured.

``python -m benchmarks.every_target_cell REQUEST.json`` runs in the environment of the method. The request names the
method, the file of the table, what is to be predicted and the folds; the answer is written beside it.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from benchmarks.every_target_measures import concordance, explained
from benchmarks.every_target_methods import METHODS, Method, Rows, Task, quiet
from benchmarks.frames import unpack


def main(request_path: Path) -> None:
    """Measure and write the answer, whole."""
    quiet()
    request = json.loads(request_path.read_text())
    method = METHODS[request["method"]]
    task = Task(request["kind"], request["level"], request["repetition"])
    rows = read(Path(request["table"]))
    method.prepare(task, rows)
    lines = []
    for fold, (train, test) in enumerate(split(rows, request["folds"], request["repetition"])):
        lines += [{"fold": fold, **line} for line in measure(method, task, rows.take(train), rows.take(test))]
    draft = request_path.with_suffix(".draft")
    draft.write_text(json.dumps({"version": version(method.package), "lines": lines}))
    draft.replace(request_path.with_suffix(".answer"))


def read(path: Path) -> Rows:
    """Return the rows of a table that `benchmarks.every_target_tables` has written."""
    with np.load(path) as stored:
        given = {name: stored[name] for name in stored.files}
    X = unpack(given.pop("X"), json.loads(str(given.pop("columns"))))
    return Rows(X, **given)


def split(rows: Rows, n_folds: int, repetition: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return training and test rows: whole groups where there are some, as many events in each fold."""
    X = np.zeros((len(rows.y), 1))
    if rows.group is not None:
        return list(GroupKFold(n_folds, shuffle=True, random_state=repetition).split(X, groups=rows.group))
    if rows.event is not None:
        return list(StratifiedKFold(n_folds, shuffle=True, random_state=repetition).split(X, rows.event))
    return list(KFold(n_folds, shuffle=True, random_state=repetition).split(X))


def measure(method: Method, task: Task, train: Rows, test: Rows) -> list[dict[str, Any]]:
    """Fit to some rows and judge by others; a line for each model that the fit gives."""
    start = time.process_time()
    model = method.fit(task, train)
    seconds = time.process_time() - start
    lines = []
    for name, (predict, terms) in method.lines(model).items():
        value = judge(task, train, test, predict(test.X))
        lines.append({"line": name, "value": value, "terms": terms, "fit_seconds": seconds, "n_train": len(train.y)})
    return lines


def judge(task: Task, train: Rows, test: Rows, predicted: np.ndarray) -> float:
    """Return the concordance of risks, or D² of all else."""
    if test.event is not None:
        return concordance(test.y, test.event, predicted)
    return explained(task.kind, task.level, (train.y, train.exposure), (test.y, test.exposure), predicted)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
