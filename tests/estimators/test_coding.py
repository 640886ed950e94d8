"""Numbers as the fit has them, and back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.estimators._coding import BEND, Bent, Ratios, Scaled

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20).map(np.array)
LEVELS = st.lists(st.floats(0.02, 0.98), min_size=1, max_size=4, unique=True).map(lambda own: tuple(sorted(own)))


@given(y=NUMBERS, mean=st.floats(1e-6, 1e6))
def test_rates_are_multiples_whose_logarithm_is_the_score(y, mean):
    coding, rates = Ratios(mean), np.abs(y) + 1e-3
    values = coding.code(rates)
    assert values.shape == (len(y), 1)
    np.testing.assert_allclose(coding.offsets + coding.scales * np.log(values[:, 0]), np.log(rates), atol=1e-12)
    np.testing.assert_array_equal(coding.observe(values), values)
    assert (coding.n_outputs, coding.unit) == (1, 1.0)


@given(y=st.lists(st.tuples(*[st.floats(-1e3, 1e3)] * 2), min_size=1, max_size=10).map(np.array))
def test_several_numbers_come_back_in_their_units(y):
    coding = Scaled(np.array([1.0, -50.0]), np.array([2.0, 1e3]))
    values = coding.observe(coding.code(y))
    np.testing.assert_allclose(values * coding.scales + coding.offsets, y, rtol=1e-12, atol=1e-9)
    assert (coding.n_outputs, coding.unit) == (2, 1.0)


@settings(deadline=None)
@given(y=NUMBERS, levels=LEVELS, middle=st.floats(-1e3, 1e3), scale=st.floats(1e-2, 1e3))
def test_bent_numbers_come_back_and_keep_their_order(y, levels, middle, scale):
    """But for the last digit; far from the quantile few digits are left, for all of these lie near one bound."""
    coding = Bent(levels, tuple(np.linspace(-1.0, 1.0, len(levels)).tolist()), middle, scale)
    values = coding.code(y)
    assert ((values > -np.sqrt(1.0 - np.array(levels))) & (values < np.sqrt(levels))).all()
    assert (np.diff(values[np.argsort(y)], axis=0) >= -np.finfo(float).eps).all()
    numbers = (y - middle) / scale
    np.testing.assert_allclose(coding.observe(values), np.tile(numbers[:, None], len(levels)), rtol=1e-6, atol=1e-9)
    assert coding.unit == scale
    np.testing.assert_array_equal(coding.offsets, np.full(len(levels), middle))


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_pulls_far_away_are_roots_of_those_of_the_pinball_loss(level):
    values = Bent((level,), (0.0,), 0.0, 1.0).code(np.array([-1e12, 1e12]))[:, 0]
    pinball = np.array([level - 1.0, level])
    np.testing.assert_allclose(values, np.sign(pinball) * np.sqrt(np.abs(pinball)), atol=1e-9)
    near = Bent((level,), (0.0,), 0.0, 1.0).code(np.array([-BEND, BEND]))[:, 0]
    np.testing.assert_allclose(near, values / 2.0, atol=1e-9)
