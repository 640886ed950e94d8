"""Plots: what they show, and that the same numbers make the same bytes."""

import numpy as np
from benchmarks.figures import as_png, draw_growth, list_curves, spread
from benchmarks.summaries import Results
from benchmarks.terms_figure import draw_error_against_terms, list_points
from hypothesis import given
from hypothesis import strategies as st

from benchmark_lines import folds, line


@given(st.lists(st.floats(0, 1), min_size=1, max_size=15).map(sorted))
def test_names_are_moved_apart_and_keep_their_order(places):
    moved = spread(places, 0.05)
    assert np.all(np.diff(moved) >= 0.05 - 1e-9)
    assert moved[-1] <= 1.0


def test_names_with_room_stay():
    assert spread([0.1, 0.5, 0.9], 0.05) == [0.1, 0.5, 0.9]


def test_a_curve_ends_where_time_ran_out():
    lines = [
        line("EBM", "1,000 rows", group="rows", fit_seconds=2),
        line("EBM", "10,000 rows", group="rows", status="time"),
        line("RUG", "1,000 rows", group="rows", fit_seconds=1),
    ]
    curves = {curve.method: curve for curve in list_curves(Results(lines), "rows")}
    assert (curves["EBM"].sizes, curves["EBM"].seconds, curves["EBM"].ended) == ([1000], [2], True)
    assert not curves["RUG"].ended


def test_a_point_has_error_and_terms_a_class():
    lines = [
        *folds("RUG", "vehicle", errors=[20, 30], n_classes=4, terms=40),
        *folds("EBM", "vehicle", errors=[1], n_classes=4),
    ]
    points = list_points(Results(lines), "vehicle", ("RUG", "EBM"))
    assert [(point.method, point.terms, point.error) for point in points] == [("RUG", 10, 25)]


def test_the_same_numbers_make_the_same_picture():
    lines = [
        *folds("rulegrove", errors=[20, 22], terms=100),
        *folds("rulegrove readable", errors=[23, 24], terms=20),
        *folds("imodels SkopeRules", errors=[90, 95], terms=20),
        *folds("RandomForest", errors=[19, 21], terms=9000),
    ]
    one, other = (as_png(draw_error_against_terms(Results(lines))) for _ in range(2))
    assert one == other


def test_no_picture_without_a_line():
    assert draw_growth(Results([]), ("rows",)) is None


def test_every_group_with_lines_has_a_panel():
    sizes = {"rows": "1,000 rows", "classes": "2 classes"}
    lines = [line("RUG", problem, group=group, fit_seconds=1) for group, problem in sizes.items()]
    assert len(draw_growth(Results(lines), ("rows", "rules", "classes")).axes) == 2
