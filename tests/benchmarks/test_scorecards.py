"""The benchmark of scorecards: its rounding, its figures, its table."""

import csv

import numpy as np
import pytest
from benchmarks.scorecards import METHODS, RESULTS, judge, round_off, tabulate


def test_rounded_points_are_whole_and_at_most_five():
    rng = np.random.default_rng(0)
    held = rng.integers(0, 2, (400, 4))
    truths = held @ [2.0, -1.0, 0.5, 0.0] + rng.normal(size=400) > 0.5
    points, chances = round_off(held, truths, held)
    assert np.abs(points).max() == 5.0
    np.testing.assert_array_equal(points, np.rint(points))
    assert judge("rounding", 0, 1, truths.astype(int), chances, 4)["auc"] > 0.8


def test_the_table_has_the_means_of_the_lines():
    lines = [
        {"set": "a", "method": method, "auc": auc, "log_loss": 0.5, "seconds": 2.0, "fit_seconds": 1.0}
        for method in METHODS
        for auc in (0.8, 0.9)
    ]
    assert tabulate(lines)[-1] == "| a | 0.850, 0.850, 0.850 | 0.500, 0.500, 0.500 | 2.000, 3.00, 2.00 |"


def test_the_stored_lines_are_whole():
    with RESULTS.open(newline="") as file:
        lines = list(csv.DictReader(file))
    counts = {method: sum(line["method"] == method for line in lines) for method in METHODS}
    assert len({line["set"] for line in lines}) == 10
    assert len(set(counts.values())) == 1
    assert all(float(line["auc"]) == pytest.approx(0.75, abs=0.25) and int(line["rules"]) <= 10 for line in lines)
