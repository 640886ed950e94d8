"""A path whose dense end is all but singular."""

import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold

from rulegrove import RuleEnsembleClassifier, datasets
from rulegrove.exceptions import NotConvergedWarning
from rulegrove.solvers import Status


def test_gradient_does_not_drift_from_its_coefficients():
    """Extrapolated gradients were never computed afresh; on this set some points then stalled at a gap of 6e-4."""
    X, y = datasets.load("pendigits", return_X_y=True)
    train, _ = next(StratifiedKFold(2, shuffle=True, random_state=0).split(X, y))
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotConvergedWarning)
        model = RuleEnsembleClassifier(random_state=0).fit(X[train], y[train] == np.unique(y)[8])
    assert set(model.path_.status) == {Status.CONVERGED}
