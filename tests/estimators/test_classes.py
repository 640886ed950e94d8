"""Classes as a target; `test_classifier.py` has what a user sees of them."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from rulegrove.estimators._sampling import Sampled, TargetCode, TargetSummary
from rulegrove.estimators.classes import Classes, draw_labels
from rulegrove.estimators.settings import Settings
from rulegrove.exceptions import InvalidInputError


def sample(y, ranks=None, weights=None):
    y = np.asarray(y)
    return Sampled(None, None, y, weights, np.arange(len(y)), ranks, TargetSummary.of(y, weights, values="classes"))


def test_learning_returns_another_target():
    kind = Classes(class_weight="balanced")
    learned = kind.learn(sample(["b", "a", "b", "b"]), validates=False)
    assert kind.code.classes is None
    assert learned.labels.tolist() == ["a", "b"]
    np.testing.assert_allclose(learned.code.class_weights, [2.0, 2 / 3])


def test_a_class_of_one_row_cannot_be_validated():
    y = ["a"] * 5 + ["b"]
    assert Classes().learn(sample(y), validates=False).labels.tolist() == ["a", "b"]
    with pytest.raises(InvalidInputError, match="Class 'b' has only one row"):
        Classes().learn(sample(y), validates=True)


def test_a_rare_class_of_a_large_table_is_refused_with_its_count():
    y = ["a"] * 50 + ["b"] * 10
    with pytest.raises(InvalidInputError, match="Class 'b' has 10 of 60 rows that count, too few for folds"):
        Classes().learn(sample(y, ranks=np.arange(60)), validates=True)


@pytest.mark.parametrize(("given", "mode"), [({}, "ovr"), ({"rules": ["x0 > 0"], "n_candidates": 0}, "shared")])
def test_the_mode_is_settled_by_where_rules_come_from(given, mode):
    for n_rows in (100, 10_000):
        settled = Classes().settle(Settings(**given), n_rows)
        assert settled.mode == mode
        assert settled.settled["multiclass"] == mode
        assert "multiclass" not in Classes(multiclass="grouped").settle(Settings(**given), n_rows).settled


def test_recalled_pools_tell_the_mode():
    code = TargetCode(np.arange(3))
    assert [Classes().recall(code, n_pools=n).mode for n in (1, 3)] == ["shared", "ovr"]
    assert Classes(multiclass="grouped").recall(code, n_pools=1).mode == "grouped"


def test_labels_follow_their_probabilities():
    rng = np.random.default_rng(0)
    probabilities = np.tile([0.5, 0.2, 0.3], (20_000, 1))
    labels = draw_labels(np.array(["a", "b", "c"]), probabilities, rng)
    shares = [(labels == label).mean() for label in "abc"]
    np.testing.assert_allclose(shares, [0.5, 0.2, 0.3], atol=4 * np.sqrt(0.25 / 20_000))
    certain = draw_labels(np.array([0, 1]), np.repeat([[1.0, 0.0], [0.0, 1.0]], 2, axis=0), rng)
    assert certain.tolist() == [0, 0, 1, 1]


def test_a_class_that_is_hardly_drawn_is_an_error():
    probabilities = np.tile([1.0, 0.0], (10, 1))
    with pytest.raises(InvalidInputError, match="Class 'rare' is so rare"):
        draw_labels(np.array(["common", "rare"]), probabilities, np.random.default_rng(0))


@pytest.mark.parametrize("weights", [np.ones(40), np.arange(40.0)])
def test_parts_agree_as_the_accuracy_of_all_rows_does(weights):
    y, predicted = np.random.default_rng(0).choice(["a", "b", "c"], (2, 40))
    parts = [Classes().compare(y[rows], predicted[rows], weights[rows]) for rows in (slice(0, 7), slice(7, 40))]
    assert parts[0].merge(parts[1]).score == pytest.approx(accuracy_score(y, predicted, sample_weight=weights))


@pytest.mark.parametrize(("shares", "rates"), [([0.75, 0.25], [0.25]), ([0.5, 0.3, 0.2], [0.5, 0.3, 0.2])])
def test_base_rates_are_those_of_the_outputs(shares, rates):
    assert Classes(shares=np.array(shares)).base_rates.tolist() == rates
    assert Classes().base_rates is None
