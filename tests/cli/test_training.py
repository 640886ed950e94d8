"""A table with a target: types that no rule can use are refused by name."""

import datetime as dt

import numpy as np
import pyarrow as pa


def test_dates_and_identifiers_are_refused_by_name(run, write):
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=k) for k in range(300)]
    table = pa.table({"when": days, "id": [f"id{k}" for k in range(300)], "x": np.arange(300.0), "y": [0, 1] * 150})
    data = write(table)
    assert "'when'" in run("fit", data, "-t", "y", "--drop", "id", "-q", code=1).stderr
    assert "'id'" in run("fit", data, "-t", "y", "--drop", "when", "-q", code=1).stderr
    assert "must be numbers or text" in run("fit", data, "-t", "when", "-q", code=1).stderr
