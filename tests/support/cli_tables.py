"""Small tables whose columns have difficult names."""

import numpy as np
import pyarrow as pa

FAST = ("--n-candidates", "60", "--selection", "0.02", "--n-jobs", "1")
SETTINGS = {"n_candidates": 60, "selection": 0.02, "n_jobs": 1, "random_state": 0}  # the same for the estimators
NAMES = ('Größe "x"', "a,b", "emoji 😀", "[red]it's[/red]", "new\nline")
TARGET = "Ziel; 🎯"


def make_table(n_rows=300, target="classes"):
    """Numbers with missing values, a category, and a target: two classes, three classes or a number."""
    rng = np.random.default_rng(0)
    columns = dict(zip(NAMES, rng.normal(size=(5, n_rows)).round(3), strict=True))
    columns[NAMES[1]] = [None if value < -1.5 else value for value in columns[NAMES[1]].tolist()]
    colours = rng.choice(["rot", "grün", "blau"], n_rows)
    score = columns[NAMES[0]] + (colours == "grün") + (columns[NAMES[2]] > 0.5)
    columns["Farbe"] = colours
    columns[TARGET] = {
        "classes": np.where(score > 0.8, "ja", "nein"),
        "three": np.digitize(score, [0.0, 1.0]),
        "number": score + 0.01 * columns[NAMES[4]],
    }[target]
    return pa.table(columns)
