"""Votes and shares of importance, by hand."""

import numpy as np

from rulegrove.estimators.voting import count_top, mean_shares


def test_importance_and_votes_by_hand():
    coefs = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, -3.0], [2.0, 0.5, 0.0]])
    shares = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    found = mean_shares([coefs], [np.array([1.0, 2.0, 1.0])], shares)
    np.testing.assert_allclose(found, [(1 / 4 + 2.5 / 3) / 2, (3 / 4 + 0.5 / 3) / 2], rtol=1e-14)
    assert count_top([coefs], 1) == {2: 1, 0: 1}
    assert count_top([coefs], 2) == {0: 2, 2: 1, 1: 1}
