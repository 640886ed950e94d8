"""The table of a report: what is taken and what is refused."""

import numpy as np
import pytest

from inspected_models import fit
from rulegrove.exceptions import InvalidInputError
from rulegrove.report._given import read_given


def test_targets_are_what_each_output_is_about():
    model, table, y, _ = fit("two classes")
    given = read_given(model, table, y)
    np.testing.assert_array_equal(given.targets[:, 0], y == "yes")
    model, table, y, _ = fit("three classes")
    given = read_given(model, table, y)
    np.testing.assert_array_equal(given.targets, y[:, None] == model.classes_)
    model, table, y, _ = fit("regression")
    np.testing.assert_array_equal(read_given(model, table, y).targets[:, 0], y)
    assert read_given(model, table, None).targets is None
    assert read_given(model, None, None) is None


def test_what_does_not_fit_is_refused():
    model, table, y, _ = fit("two classes")
    with pytest.raises(InvalidInputError, match="`y` was given without `X`"):
        read_given(model, None, y)
    with pytest.raises(InvalidInputError, match=r"one class for each of the 90 rows; got the shape \(3,\)"):
        read_given(model, table, y[:3])
    wrong = y.astype(object)
    wrong[7] = None
    with pytest.raises(InvalidInputError, match="`y` holds None in row 7, which is not a class"):
        read_given(model, table, wrong)
    model, table, y, _ = fit("regression")
    with pytest.raises(InvalidInputError, match="NaN or infinity"):
        read_given(model, table, np.where(np.arange(len(y)) == 2, np.nan, y))
