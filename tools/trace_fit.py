"""Print what a fit really calls: functions and modules of the package, and how many of them are the estimators' own.

    python tools/trace_fit.py

Run it with other sources in front (`PYTHONPATH`) to compare two checkouts. Compiled loops are not seen.
"""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import rulegrove
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, datasets

HOME = Path(rulegrove.__file__).parent
ESTIMATORS = {str(HOME / "estimators" / f"{name}.py") for name in ("_base", "classifier", "regressor", "presets")}
FITS = (("pima", RuleEnsembleClassifier), ("iris", RuleEnsembleClassifier), ("pima", RuleEnsembleRegressor))


def trace(work: Callable[[], object]) -> dict[str, int]:
    """Call something and count the functions and modules of ours that it used."""
    called: set[tuple[str, str]] = set()

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(HOME)):
            called.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    own = sum(file in ESTIMATORS for file, _ in called)
    return {"functions": len(called), "modules": len({file for file, _ in called}), "of the estimators": own}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name, kind in FITS:
        X, y = datasets.load(name, return_X_y=True)
        y = y if kind is RuleEnsembleClassifier else X[:, 0]
        model = kind(n_candidates=50, random_state=0, n_jobs=1)
        model.fit(X, y)  # compiles
        print(kind.__name__, name, trace(lambda model=model, X=X, y=y: model.fit(X, y)))
