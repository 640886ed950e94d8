"""Shared rules against regrown rules in cross-validation: ``python -m benchmarks.honest_cv``.

Error on rows left out and number of terms, mean of five random splits: the table of docs/defaults.md.
"""

import numpy as np

from benchmarks.problems import candidates
from rulegrove import RuleEnsembleClassifier, datasets

N_SPLITS = 5
SETTINGS = [(False, "1se"), (False, "min"), (True, "1se"), (True, "min")]


def tables() -> dict[str, tuple[np.ndarray, np.ndarray, tuple[int, ...]]]:
    """Attributes, labels and numbers of training rows of each problem."""
    waveform_X, waveform_y = datasets.load("waveform")
    return {
        "pima": (*datasets.load("pima"), (384,)),
        "phoneme": (*datasets.load("phoneme"), (500, 2000)),
        "waveform, class 0 or not": (waveform_X, waveform_y == 0, (500, 2000)),
        "supernova candidates": (*candidates(6000), (500, 2000)),
    }


def main() -> None:
    """Print the table."""
    print("| data, training rows | shared, `1se` | shared, `min` | honest, `1se` | honest, `min` |")
    print("|---|---|---|---|---|")
    for name, (X, y, sizes) in tables().items():
        for size in sizes:
            cells = []
            for honest, selection in SETTINGS:
                seen = []
                for split in range(N_SPLITS):
                    rows = np.random.default_rng(split).permutation(len(y))
                    train, test = rows[:size], rows[size:]
                    model = RuleEnsembleClassifier(honest_cv=honest, selection=selection, random_state=split)
                    model.fit(X[train], y[train])
                    seen.append((100 * np.mean(model.predict(X[test]) != y[test]), len(model.rules_)))
                error, terms = np.mean(seen, axis=0)
                cells.append(f"{error:.1f}, {terms:.0f}")
            print(f"| {name}, {size:,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
