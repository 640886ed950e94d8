"""One cell of the benchmark in a process of its own: a method on a problem, measured.

``python -m benchmarks.cell REQUEST.json`` runs in the environment of the method and needs NumPy and scikit-learn alone
beside it. The request names the method, the file of the problem and the rows; the answer is written beside it.
"""

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks.adapters import Method, Size, Task
from benchmarks.methods import METHODS

LATENCY_CALLS = 50


def main(request_path: Path) -> None:
    """Measure and write the answer, whole."""
    request = json.loads(request_path.read_text())
    method = METHODS[request["method"]]
    start = time.perf_counter()
    method.load()
    answer = {"import_seconds": time.perf_counter() - start, "version": version_of(method)}
    try:
        answer["lines"] = measure_all(method, request)
    finally:
        method.close()
    draft = request_path.with_suffix(".draft")
    draft.write_text(json.dumps(answer))
    draft.replace(request_path.with_suffix(".answer"))


def version_of(method: Method) -> str:
    """Return the version of the package behind a method."""
    from importlib.metadata import version

    return version(method.package)


def measure_all(method: Method, request: dict[str, Any]) -> list[dict[str, Any]]:
    """Fit once for each pair of training and test rows; or, for stability, once for each seed on the same rows."""
    import numpy as np

    from benchmarks.judging import count_classes

    warnings.simplefilter("ignore")
    with np.load(request["problem"]) as stored:
        X, y = stored["X"], stored["y"]
        rules, columns = (json.loads(str(stored[name])) for name in ("rules", "columns"))
    if columns:
        from benchmarks.frames import unpack

        X = unpack(X, columns)
    task = Task(count_classes(y), request["seed"], request["n_threads"], request["candidates"], bool(columns))
    if method.warm_up:  # compiled kernels are loaded outside the clock
        few = np.concatenate([np.flatnonzero(y == label)[:30] for label in range(task.n_classes)] or [np.arange(60)])
        model = method.fit(method.make(task), take(X, few), y[few])
        (method.predict_proba if task.n_classes else method.predict)(model, take(X, few))
    if request["stability"]:
        return [measure_stability(method, task, X, y, request["stability"])]
    parts = split(y, request)
    return [measure(method, task, X, y, train, test, rules) for train, test in parts]


def split(y: Any, request: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Return training and test rows: a 2-fold cross-validation, or the first rows against the others."""
    import numpy as np
    from sklearn.model_selection import KFold, StratifiedKFold

    from benchmarks.judging import count_classes

    if request["n_train"]:
        rows = np.arange(len(y))
        return [(rows[: request["n_train"]], rows[request["n_train"] :])]
    kind = StratifiedKFold if count_classes(y) else KFold
    folds = kind(2, shuffle=True, random_state=request["repetition"])
    return list(folds.split(np.zeros((len(y), 1)), y))


def take(X: Any, rows: Any) -> Any:
    """Return some rows of a table or of an array."""
    import numpy as np

    return np.ascontiguousarray(X[rows]) if isinstance(X, np.ndarray) else X.iloc[rows]


def measure(method: Method, task: Task, X: Any, y: Any, train: Any, test: Any, true_rules: list[Any]) -> dict[str, Any]:
    """Fit to some rows, judge by others."""
    import numpy as np

    from benchmarks.judging import judge, judge_numbers
    from benchmarks.known_rules import hit_rate
    from benchmarks.timing import peak_bytes, reset_peak, resident_bytes

    X_train, y_train = take(X, train), y[train]
    X_test, y_test = take(X, test), y[test]
    model = method.make(task)
    before = resident_bytes()
    reset_peak()
    wall, processor = time.perf_counter(), time.process_time()
    model = method.fit(model, X_train, y_train)
    line: dict[str, Any] = {
        "fit_seconds": time.perf_counter() - wall,
        "fit_processor_seconds": time.process_time() - processor,
        "peak_mb": (peak_bytes() - before) / 1e6,
    }
    start = time.perf_counter()
    predicted = np.asarray(method.predict(model, X_test))
    line["predict_seconds"] = time.perf_counter() - start
    if task.n_classes:
        line["error"] = 100 * float(np.mean(predicted != y_test))
        line |= judge(y_test, np.asarray(method.predict_proba(model, X_test), dtype=float), task.n_classes)
    else:
        line["error"] = judge_numbers(y_test, predicted)
    line["latency_ms"] = 1000 * latency(method, model, X_test[:1])
    size = method.measure(model)
    if size is not None:
        line |= {"terms": size.terms, "conditions": size.conditions}
        if size.rules is not None and true_rules:
            line["hit_rate"] = hit_rate(tuple(true_rules), list(size.rules), X_test)
    return line


def latency(method: Method, model: Any, row: Any) -> float:
    """Return the median seconds of predicting one row; few calls where a call is slow."""
    import statistics

    times: list[float] = []
    while len(times) < LATENCY_CALLS and sum(times) < 2:
        start = time.perf_counter()
        method.predict(model, row)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure_stability(method: Method, task: Task, X: Any, y: Any, seeds: list[int]) -> dict[str, Any]:
    """Fit the same half of the rows with several seeds: shared rules, and rows of the other half on which all agree."""
    import itertools
    from dataclasses import replace

    import numpy as np

    train, test = split(y, {"n_train": 0, "repetition": 0})[0]
    sets, answers = [], []
    for seed in seeds:
        model = method.fit(method.make(replace(task, seed=seed)), X[train], y[train])
        size: Size | None = method.measure(model)
        sets.append(None if size is None or size.rules is None else set(size.rules))
        answers.append(np.asarray(method.predict(model, X[test])))
    line = {"agreement": float(np.mean([np.mean(a == b) for a, b in itertools.combinations(answers, 2)]))}
    if all(rules is not None for rules in sets):
        line["jaccard"] = float(np.mean([len(a & b) / max(1, len(a | b)) for a, b in itertools.combinations(sets, 2)]))
    return line


if __name__ == "__main__":
    main(Path(sys.argv[1]))
