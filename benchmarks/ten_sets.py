"""Error and size of the default model on the paper's ten sets: ``python -m benchmarks.ten_sets [NAME ...]``.

Five 2-fold cross-validations, ``StratifiedKFold(2, shuffle=True, random_state=r)`` for r = 0..4. Sets of more than two
classes go through scikit-learn's one-versus-rest wrapper, so their terms are counted over all classes.
"""

import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier

from rulegrove import RuleEnsembleClassifier, datasets
from rulegrove.exceptions import DroppedColumnWarning

# Error in percent of the paper's Pathbuild column.
PATHBUILD = {
    "breast-w": 4.34,
    "glass": 37.99,
    "ion": 9.97,
    "iris": 4.80,
    "pendigits": 6.94,
    "phoneme": 14.97,
    "pima": 24.45,
    "sonar": 22.76,
    "vehicle": 28.35,
    "waveform": 15.50,
}


def one_repetition(name: str, repetition: int) -> list[tuple[float, int, float]]:
    """Error in percent, terms and seconds of both folds."""
    warnings.simplefilter("ignore", DroppedColumnWarning)
    X, y = datasets.load(name, return_X_y=True)
    results = []
    for train, test in StratifiedKFold(2, shuffle=True, random_state=repetition).split(X, y):
        model = RuleEnsembleClassifier(random_state=repetition, n_jobs=1)
        if len(np.unique(y)) > 2:
            model = OneVsRestClassifier(model)
        start = time.perf_counter()
        model.fit(X[train], y[train])
        seconds = time.perf_counter() - start
        parts = model.estimators_ if isinstance(model, OneVsRestClassifier) else [model]
        error = 100 * (1 - model.score(X[test], y[test]))
        results.append((error, sum(len(part.rules_) for part in parts), seconds))
    return results


def main(names: list[str]) -> None:
    """Print the table, a line a set."""
    print(f"{'set':<10} {'error %':>8} {'s.d.':>6} {'terms':>7} {'seconds':>8}   paper's Pathbuild")
    with ProcessPoolExecutor() as pool:
        for name in names or datasets.names():
            results = np.vstack(list(pool.map(one_repetition, [name] * 5, range(5))))
            mean, spread = results.mean(axis=0), results[:, 0].std(ddof=1)
            print(
                f"{name:<10} {mean[0]:8.2f} {spread:6.2f} {mean[1]:7.1f} {mean[2]:8.2f}   {PATHBUILD[name]:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
