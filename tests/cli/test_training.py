"""A table with a target: guesses agree with the selector's, and types that no rule can use are refused by name."""

import datetime as dt

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rulegrove import RuleAttributeSelector
from rulegrove.cli.training import MOST_CLASSES, guess_task
from rulegrove.estimators import attributes

TARGETS = st.one_of(
    arrays(np.int64, 30, elements=st.integers(-20, 20)),
    arrays(np.float64, 30, elements=st.sampled_from([0.0, 1.0, 2.0, 2.5])),
    arrays(np.bool_, 30),
    arrays("U3", 30, elements=st.sampled_from(["ja", "no"])),
)


@given(TARGETS.filter(lambda y: len(np.unique(y)) > 1))
def test_the_guess_is_the_selectors(y):
    expected = "classification" if RuleAttributeSelector()._is_classes(y) else "regression"
    assert guess_task(y) == expected
    assert attributes.MOST_CLASSES == MOST_CLASSES


def test_dates_and_identifiers_are_refused_by_name(run, write):
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=k) for k in range(300)]
    table = pa.table({"when": days, "id": [f"id{k}" for k in range(300)], "x": np.arange(300.0), "y": [0, 1] * 150})
    data = write(table)
    assert "'when'" in run("fit", data, "-t", "y", "--drop", "id", "-q", code=1).stderr
    assert "'id'" in run("fit", data, "-t", "y", "--drop", "when", "-q", code=1).stderr
    assert "must be numbers or text" in run("fit", data, "-t", "when", "-q", code=1).stderr
