"""A number as a target; `test_regressor.py` has what a user sees of it."""

import numpy as np
import pytest

from rulegrove.estimators._sampling import Sampled, TargetSummary
from rulegrove.estimators.number import Number
from rulegrove.losses import Huber, Squared


def test_values_near_their_mean_are_small_numbers():
    y = 1e9 + np.arange(4.0)
    summary = TargetSummary.of(y, None, values="numbers")
    target = Number().learn(Sampled(None, None, y, None, np.arange(4), None, summary), validates=True)
    encoded = target.code.read(y, None)
    np.testing.assert_array_equal(encoded.values[:, 0], [-1.5, -0.5, 0.5, 1.5])
    assert encoded.offset == 1e9 + 1.5


def test_nine_tenths_of_the_targets_lie_within_the_quadratic_part():
    targets = np.concatenate([np.arange(-45.0, 46.0), np.full(10, 1000.0)])
    loss = Number().tree_loss("huber", targets)
    assert isinstance(loss, Huber)
    assert np.mean(np.abs(targets - np.median(targets)) <= loss.delta) == pytest.approx(0.9, abs=0.01)
    assert isinstance(Number().tree_loss("huber", np.zeros(5)), Squared)
    assert isinstance(Number().tree_loss("auto", targets), Squared)
