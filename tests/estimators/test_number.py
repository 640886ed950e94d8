"""A number as a target; `test_regressor.py` has what a user sees of it."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

from rulegrove.estimators._sampling import Sampled, TargetSummary
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.number import Number
from rulegrove.losses import Huber, Squared


def test_values_near_their_mean_are_small_numbers():
    y = 1e9 + np.arange(4.0)
    summary = TargetSummary.of(y, None, values="numbers")
    target = Number().learn(Sampled(None, None, y, None, np.arange(4), None, summary), validates=True)
    encoded = target.code.read(y, None)
    np.testing.assert_array_equal(encoded.values[:, 0], [-1.5, -0.5, 0.5, 1.5])
    assert encoded.offsets[0] == 1e9 + 1.5


def test_nine_tenths_of_the_targets_lie_within_the_quadratic_part():
    targets = np.concatenate([np.arange(-45.0, 46.0), np.full(10, 1000.0)])
    loss = Number().tree_loss("huber", targets)
    assert isinstance(loss, Huber)
    assert np.mean(np.abs(targets - np.median(targets)) <= loss.delta) == pytest.approx(0.9, abs=0.01)
    assert isinstance(Number().tree_loss("huber", np.zeros(5)), Squared)
    assert isinstance(Number().tree_loss("auto", targets), Squared)


@pytest.mark.parametrize("weights", [np.ones(40), np.arange(40.0)])
def test_parts_agree_as_r_squared_of_all_rows_does(weights):
    rng = np.random.default_rng(0)
    y, predicted = 1e3 + rng.normal(size=(2, 40))
    parts = [Number().compare(y[rows], predicted[rows], weights[rows]) for rows in (slice(0, 7), slice(7, 40))]
    assert parts[0].merge(parts[1]).score == pytest.approx(r2_score(y, predicted, sample_weight=weights), rel=1e-9)


def test_drawn_numbers_are_predictions_with_the_residuals_of_other_rows():
    rng = np.random.default_rng(0)
    y, scores = rng.normal(size=(2, 50))
    drawn = Number().draw(RuleModel((), (), np.empty(0), 0.0), scores, y)(rng)
    assert not np.array_equal(drawn, y)
    np.testing.assert_allclose(np.sort(drawn - scores), np.sort(y - scores), rtol=0, atol=1e-12)
