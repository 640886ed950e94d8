"""Bagged and boosted trees against a count of their votes by hand."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from rulegrove.datasets import load
from rulegrove.study.baselines import bag, boost
from rulegrove.study.splits import two_fold


def test_bagging_votes_are_counted_tree_by_tree():
    rows = two_fold("vehicle", 0, 0)
    ensemble = bag(rows.X, rows.y, 15, seed=0)
    forest = RandomForestClassifier(15, max_features="sqrt", random_state=0).fit(rows.X, rows.y)
    answers = np.array([tree.predict(rows.X_test).astype(int) for tree in forest.estimators_])
    counts = np.array([np.bincount(one, minlength=4) for one in answers.T])
    found = ensemble.errors(rows.X_test, rows.y_test)
    voted = ensemble.classes[counts.argmax(axis=1)]
    assert found["voting"] == pytest.approx(100 * np.mean(voted != rows.y_test))
    assert found["averaged probabilities"] == pytest.approx(100 * (1 - forest.score(rows.X_test, rows.y_test)))
    single = [np.mean(ensemble.classes[one] != rows.y_test) for one in answers]
    assert found["single trees"] == pytest.approx(100 * np.mean(single))
    np.testing.assert_array_equal(ensemble.predict(rows.X_test), voted)


@pytest.mark.parametrize("name", ["sonar", "glass", "breast-w"])
def test_boosting_goes_on(name):
    """AdaBoost with weights on fully grown trees stops after the first, which makes no error."""
    rows = two_fold(name, 0, 0)
    ensemble = boost(rows.X, rows.y, 25, seed=0)
    assert len(ensemble.trees) == len(ensemble.weights) == 25
    assert np.ptp(ensemble.weights) > 0
    found = ensemble.errors(rows.X_test, rows.y_test)
    assert found["voting"] < found["single trees"]


def test_boosting_looks_at_hard_rows():
    """Weights follow the errors: trees late in boosting are worse on all rows than bagged ones."""
    rows = two_fold("pima", 0, 0)
    boosted, bagged = boost(rows.X, rows.y, 40, seed=0), bag(rows.X, rows.y, 40, seed=0)
    late = type(boosted)(boosted.classes, boosted.trees[20:], boosted.weights[20:])
    assert (
        late.errors(rows.X_test, rows.y_test)["single trees"] > bagged.errors(rows.X_test, rows.y_test)["single trees"]
    )


def test_trees_no_better_than_guessing_have_no_vote():
    rng = np.random.default_rng(0)
    X, y = np.zeros((40, 1)), rng.permutation(np.repeat([0, 1], 20))
    assert boost(X, y, 5, seed=1).weights.tolist() == [0.0] * 5


def test_labels_may_be_words():
    X, y = load("iris", return_X_y=True)
    assert np.mean(boost(X, y, 3, seed=0).predict(X) == y) > 0.9
