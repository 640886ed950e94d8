"""Warnings point at the line of the user."""

import warnings

import pandas as pd
import pytest

from rulegrove import RuleEnsembleRegressor
from rulegrove._warn import warn_user
from rulegrove.exceptions import DroppedColumnWarning


def test_a_warning_points_at_the_line_of_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user("Something.", UserWarning)
    assert caught[0].filename == __file__


def test_a_warning_from_deep_inside_a_fit_points_at_the_fit():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 5, "b": [1.0] * 20})
    model = RuleEnsembleRegressor(n_candidates=10, random_state=0)
    with pytest.warns(DroppedColumnWarning, match=r"Column 1 \('b'\) is constant") as caught:
        model.fit(frame, frame["a"])
    assert caught[0].filename == __file__


def test_a_column_is_named_by_its_place_in_the_table():
    frame = pd.DataFrame({"id": range(20), "a": [1.0, 2.0, 3.0, 4.0] * 5, "b": [1.0] * 20})
    model = RuleEnsembleRegressor(n_candidates=10, random_state=0)
    with pytest.warns(DroppedColumnWarning) as caught:
        model.fit(frame, frame["a"])
    places = [str(warning.message).split(" (")[0] for warning in caught]
    assert places == ["Column 0", "Column 2"]
