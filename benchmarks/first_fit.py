"""In a new process: what the first fit costs beyond a warm one. Prints JSON."""

import json
import time

from sklearn.datasets import make_classification

from rulegrove import RuleEnsembleClassifier


def main() -> None:
    """Fit and predict twice."""
    X, y = make_classification(2000, 20, random_state=0)
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        RuleEnsembleClassifier(n_candidates=200, random_state=0).fit(X, y).predict(X)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"first": seconds[0], "warm": seconds[1], "extra": seconds[0] - seconds[1]}))


if __name__ == "__main__":
    main()
