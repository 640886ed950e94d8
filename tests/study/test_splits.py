"""Which rows train and which test."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from rulegrove.datasets import AUTOSCAN_FEATURES, load
from rulegrove.exceptions import InvalidInputError
from rulegrove.study import splits
from rulegrove.study.config import Config
from rulegrove.study.splits import check_candidates, error_rates, split_candidates, two_fold


@pytest.mark.parametrize("name", ["breast-w", "vehicle"])
def test_two_folds_are_the_halves_of_a_set(name):
    y = load(name).y
    first, second = (two_fold(name, 3, fold) for fold in (0, 1))
    np.testing.assert_array_equal(first.X, second.X_test)
    np.testing.assert_array_equal(first.y_test, second.y)
    assert len(first.y) + len(second.y) == len(y)
    for label in np.unique(y):
        assert abs((first.y == label).sum() - (second.y == label).sum()) <= 1


def test_candidates_train_on_as_many_of_each_class(tiny):
    rows = split_candidates(tiny, 0)
    assert (rows.y == 1).sum() == (rows.y == -1).sum() == tiny.n_training
    assert (rows.y_test == 1).sum() == tiny.n_positive - tiny.n_training
    assert (rows.y_test == -1).sum() == tiny.n_negative - tiny.n_training
    again, other = split_candidates(tiny, 0), split_candidates(tiny, 1)
    np.testing.assert_array_equal(rows.X, again.X)
    assert not np.array_equal(rows.X, other.X)
    both = np.concatenate([rows.X, rows.X_test])
    assert len(np.unique(both, axis=0)) == len(both), "a row is in both parts"


def test_error_rates_are_those_of_the_confusion_matrix():
    rng = np.random.default_rng(0)
    y, predicted = rng.choice([-1, 1], 200, p=[0.8, 0.2]), rng.choice([-1, 1], 200)
    (true_negative, false_positive), (false_negative, true_positive) = confusion_matrix(y, predicted)
    found = error_rates(y, predicted)
    assert found["error"] == pytest.approx((false_positive + false_negative) / 2)
    assert found["false positive"] == pytest.approx(100 * false_positive / (false_positive + true_negative))
    assert found["false negative"] == pytest.approx(100 * false_negative / (false_negative + true_positive))
    assert found["balanced error"] == pytest.approx((found["false positive"] + found["false negative"]) / 2)


def test_a_wrong_table_is_refused(tmp_path):
    header = ",".join(AUTOSCAN_FEATURES) + ",class\n"
    path = tmp_path / "table.csv"
    for content, words in (
        (b"a,b\n1,2\n", "header"),
        (b"\xff\xfe\x00binary", "cannot be read"),
        ((header + "1," * 38 + "1\n" + "1," * 38 + "-1\n").encode(), "more than 2,500 candidates"),
    ):
        path.write_bytes(content)
        with pytest.raises(InvalidInputError, match=words):
            check_candidates(Config(autoscan=str(path)))


def test_the_simulation_needs_no_check(monkeypatch):
    drawn = []
    monkeypatch.setattr(splits, "candidates", drawn.append)
    check_candidates(Config())
    assert drawn == []
