"""The numbers that the paper prints agree with each other and with the bundled sets."""

import numpy as np
import pytest

from rulegrove.datasets import load, names
from rulegrove.study.paper import ERRORS, SETS, WINS


@pytest.mark.parametrize("name", names())
def test_sets_are_those_that_are_bundled(name):
    data = load(name)
    n_attributes, n_rows, n_classes = SETS[name]
    assert data.X.shape == (n_rows, n_attributes)
    found = len(np.unique(data.y)) + (name == "glass")  # no row of it has one of its seven classes
    assert found == n_classes


def test_wins_are_the_least_errors_of_each_set():
    table = np.array([[errors[name] for name in names()] for errors in ERRORS.values()])
    assert dict(zip(ERRORS, (table == table.min(axis=0)).sum(axis=1), strict=True)) == WINS
