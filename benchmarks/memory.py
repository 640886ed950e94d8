"""In a new process: peak memory of a fit on a large float32 table, above the idle process. Prints JSON."""

import json
import sys

from benchmarks.problems import many_candidates
from benchmarks.timing import peak_bytes, reset_peak, resident_bytes
from rulegrove import RuleEnsembleClassifier


def main(n_rows: int) -> None:
    """Warm up on a small table, then watch the large one."""
    X, y = many_candidates(5000)
    model = RuleEnsembleClassifier(n_candidates=600, random_state=0)
    model.fit(X, y).predict(X)
    idle = resident_bytes()
    X, y = many_candidates(n_rows)
    reset_peak()
    model.fit(X, y)
    print(json.dumps({"table": X.nbytes, "peak": peak_bytes() - idle}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
