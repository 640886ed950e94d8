"""How well chances are calibrated: the shift and the slope are found again, and a small table is measured whole."""

import numpy as np
import pytest
from benchmarks.recurrence import FIELDS, LEARNED, cross, learn, load, look_up, measure, read, say, tell_all
from scipy.special import expit, logit

from benchmarks import recurrence
from rulegrove.design.terms import Linear
from rulegrove.rules.rule import Condition, Rule


def make_lines(shift, slope, n_lines=4000):
    rng = np.random.default_rng(0)
    shares = rng.uniform(0.02, 0.98, n_lines)
    came = rng.random(n_lines) < expit(shift + slope * logit(shares))
    return [
        {"set": f"table {place % 4}", "list": "default", "share": share, "came_back": int(own)}
        for place, (share, own) in enumerate(zip(shares.tolist(), came.tolist(), strict=True))
    ]


def test_shift_and_slope_are_learned():
    lines = make_lines(-0.7, 0.6)
    np.testing.assert_allclose(learn(lines), (-0.7, 0.6), atol=0.1)
    np.testing.assert_allclose(cross(lines), say(lines, -0.7, 0.6), atol=0.06)


def test_the_shipped_shift_and_slope_are_those_of_the_stored_lines():
    found = learn(read(recurrence.RESULTS / "recurrence_learn.csv"))
    assert [round(own, 2) for own in found] == [recurrence.SHIFT, recurrence.SLOPE]


def test_calibration_is_told(capsys):
    lines = make_lines(0.0, 1.0)
    tell_all(lines, say(lines, 0.0, 1.0))
    told = capsys.readouterr().out
    assert "all: 4000 terms" in told
    assert "80 to 100 %" in told


def test_a_family_is_looked_up_on_all_rows():
    X = np.column_stack([np.arange(100.0), np.arange(100.0)[::-1]])
    rule, near, far = (Rule((Condition(0, lower=own),)) for own in (49.0, 40.0, 20.0))
    assert look_up(rule, [near, Linear(0, 0.0, 99.0, 0.0)], X)
    assert not look_up(rule, [far, Linear(0, 0.0, 99.0, 0.0)], X)
    assert look_up(Linear(0, 0.0, 99.0, 0.0), [Linear(0, 1.0, 98.0, 0.0)], X)
    assert not look_up(Linear(0, 0.0, 99.0, 0.0), [rule, Linear(1, 1.0, 98.0, 0.0)], X)


@pytest.mark.parametrize("name", [name for name in LEARNED if not name.startswith("supernova")])
def test_tables_are_as_their_names_say(name):
    X, y = load(name)
    assert len(X) == len(y)
    assert np.isfinite(X).all()


def test_lines_of_other_splits_stay(tmp_path):
    path = tmp_path / "lines.csv"
    for fits in (["default"], ["stable"], ["stable"]):
        measure([("iris", 0, fits)], path)
    lines = read(path)
    assert list(lines[0]) == list(FIELDS)
    assert {line["list"] for line in lines} == {"default", "10 terms", "25 terms", "stable"}
    assert len({tuple(line.values()) for line in lines}) <= len(lines)
    assert all(0.0 < line["share"] < 1.0 for line in lines)
