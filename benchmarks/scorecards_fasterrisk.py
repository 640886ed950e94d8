"""FasterRisk on one table, in an environment of its own: ``python -m benchmarks.scorecards_fasterrisk TABLE ANSWER``.

The table is an ``.npz`` file with X, y and the parts of the rows; it needs NumPy, pandas and fasterrisk alone. Columns
are cut at up to 100 of their values, as its own `BinBinarizer` does; all other settings are the defaults.
"""

import contextlib
import io
import json
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from fasterrisk.binarization_util import BinBinarizer
from fasterrisk.fasterrisk import RiskScoreOptimizer

N_RULES = 10
FILL = -1.0  # of missing values, which are few: all values are larger


def main(table: Path, answer: Path) -> None:
    """Write chances of the test rows and seconds for each part and class."""
    with np.load(table) as stored:
        X, y, parts, labels = (stored[name] for name in ("X", "y", "parts", "labels"))
    frame = pd.DataFrame(np.where(np.isnan(X), FILL, X), columns=[f"x{place}" for place in range(X.shape[1])])
    found = []
    for part in np.unique(parts):
        train, test = (frame[rows].reset_index(drop=True) for rows in (parts != part, parts == part))
        for label in labels:
            start = time.process_time()
            with contextlib.redirect_stdout(io.StringIO()):
                binarizer = BinBinarizer()
                binarizer.fit(train)
                held = binarizer.transform(train)[0].to_numpy(np.float64)
                card = RiskScoreOptimizer(held, np.where(y[parts != part] == label, 1.0, -1.0), k=N_RULES)
                card.optimize()
            multipliers, levels, points = card.get_models()
            seconds = time.process_time() - start
            scores = (levels[0] + binarizer.transform(test)[0].to_numpy(np.float64) @ points[0]) / multipliers[0]
            found.append(
                {
                    "part": int(part),
                    "label": int(label),
                    "chances": (1.0 / (1.0 + np.exp(-scores))).tolist(),
                    "rules": int(np.count_nonzero(points[0])),
                    "seconds": seconds,
                }
            )
    answer.write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
