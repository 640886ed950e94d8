"""Numbers as JSON has them."""

import json

import numpy as np

from rulegrove.report._numbers import shorten


def test_digits_and_what_is_not_finite():
    assert shorten([1.23456789, 1e20, -0.5, np.inf, np.nan]) == [1.23457, 1e20, -0.5, None, None]
    assert shorten(np.array([[1.0, 2.5], [np.nan, 3.0]])) == [[1, 2.5], [None, 3]]
    assert json.dumps(shorten([2.0, 1e15])) == "[2, 1000000000000000.0]"


def test_every_bit_is_kept_where_wanted():
    values = np.random.default_rng(0).normal(size=100)
    assert json.loads(json.dumps(shorten(values, None))) == values.tolist()
