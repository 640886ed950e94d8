"""Conformal prediction around a rule ensemble, with MAPIE: sets of classes and intervals that hold as often as asked.

Needs MAPIE: pip install mapie.
"""

import numpy as np
from mapie.classification import SplitConformalClassifier
from mapie.regression import CrossConformalRegressor, SplitConformalRegressor
from mapie.utils import train_conformalize_test_split
from sklearn.datasets import make_friedman1

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, datasets

LEVELS = [0.8, 0.9, 0.95]


def coverage_line(level: float, covered: np.ndarray, size: str) -> str:
    """One level: how often the truth was inside, with its standard error."""
    share = covered.mean()
    error = np.sqrt(share * (1 - share) / covered.size)
    return f"  asked {level:.0%}: covered {share:.1%} ± {error:.1%}, {size}"


def prediction_sets() -> None:
    """Classes of waves: a set of classes for each row, small where the rules are sure."""
    data = datasets.make_waveform(6000, random_state=0)
    X, y = data.X, data.y
    X_train, X_held, X_test, y_train, y_held, y_test = train_conformalize_test_split(
        X, y, train_size=0.3, conformalize_size=0.3, test_size=0.4, random_state=0
    )
    model = RuleEnsembleClassifier(n_candidates=500, random_state=0).fit(X_train, y_train)
    print(f"waveform, {len(model.rules_)} terms, accuracy {model.score(X_test, y_test):.1%} on {len(y_test)} rows")
    print(" sets of classes")
    conformal = SplitConformalClassifier(model, confidence_level=LEVELS, prefit=True).conformalize(X_held, y_held)
    _, sets = conformal.predict_set(X_test)
    places = np.searchsorted(model.classes_, y_test)
    for number, level in enumerate(LEVELS):
        sizes = sets[:, :, number].sum(axis=1)
        alone = f"{sizes.mean():.2f} classes a row, one alone for {(sizes == 1).mean():.0%} of the rows"
        print(coverage_line(level, sets[np.arange(len(places)), places, number], alone))


def prediction_intervals() -> None:
    """Numbers with noise of standard deviation 1: an interval for each row."""
    X, y = make_friedman1(3000, noise=1.0, random_state=0)
    X_train, X_held, X_test, y_train, y_held, y_test = train_conformalize_test_split(
        X, y, train_size=0.3, conformalize_size=0.2, test_size=0.5, random_state=0
    )
    model = RuleEnsembleRegressor(n_candidates=500, random_state=0).fit(X_train, y_train)
    spread = np.std(y_test - model.predict(X_test))
    print(f"friedman1, {len(model.rules_)} terms, residuals of standard deviation {spread:.2f} on {len(y_test)} rows")
    print(" intervals from rows held out once")
    split = SplitConformalRegressor(model, confidence_level=LEVELS, prefit=True).conformalize(X_held, y_held)
    report_intervals(split.predict_interval(X_test)[1], y_test)
    print(" intervals from five folds of all rows (CV+)")
    cross = CrossConformalRegressor(
        RuleEnsembleRegressor(n_candidates=500, random_state=0), confidence_level=LEVELS, cv=5, random_state=0
    ).fit_conformalize(np.concatenate([X_train, X_held]), np.concatenate([y_train, y_held]))
    report_intervals(cross.predict_interval(X_test)[1], y_test)


def report_intervals(intervals: np.ndarray, y: np.ndarray) -> None:
    """Coverage and width at each level."""
    for number, level in enumerate(LEVELS):
        low, high = intervals[:, 0, number], intervals[:, 1, number]
        print(coverage_line(level, (low <= y) & (y <= high), f"{np.mean(high - low):.2f} wide"))


if __name__ == "__main__":
    prediction_sets()
    prediction_intervals()
