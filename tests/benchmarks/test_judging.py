"""Errors beside those of scikit-learn."""

import numpy as np
import pytest
from benchmarks.judging import count_classes, judge_numbers
from sklearn.metrics import r2_score


def test_error_of_numbers_is_what_is_left_of_the_deviation():
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    predicted = y + rng.normal(size=50)
    assert judge_numbers(y, predicted) == pytest.approx(100 * np.sqrt(1 - r2_score(y, predicted)))
    assert judge_numbers(y, np.full(50, y.mean())) == pytest.approx(100)


def test_classes_are_whole_numbers():
    assert count_classes(np.array([0, 2, 1, 0])) == 3
    assert count_classes(np.array([0.0, 2.0])) == 0
