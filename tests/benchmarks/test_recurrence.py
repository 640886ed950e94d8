"""How well chances are calibrated: the shift and the slope are found again, and a small table is measured whole."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from benchmarks.made_tables import LEAST_MEMBERS
from benchmarks.recurrence import (
    FIELDS,
    SHIPPED,
    cross,
    find_share,
    learn,
    load,
    look_up,
    measure,
    read,
    say,
    tell_all,
)

from benchmarks import recurrence
from rulegrove.design.terms import Linear
from rulegrove.estimators.recurrence import estimate_chance
from rulegrove.rules.rule import Condition, Rule

LEARNED = (-1.7, 0.6, 0.3, 0.5)


def make_lines(n_lines=30_000):
    rng = np.random.default_rng(0)
    lines = [
        {
            "set": f"table {place % 4}",
            "list": "stable" if place % 3 else "default",
            "rows_a_term": rows_a_term,
            "share": share,
            "terms": 1 + place % 2,
        }
        for place, (share, rows_a_term) in enumerate(rng.uniform((0.02, 2), (0.98, 200), (n_lines, 2)).tolist())
    ]
    came = rng.random(n_lines) < say(lines, LEARNED)
    return [line | {"came_back": int(own)} for line, own in zip(lines, came.tolist(), strict=True)]


def test_what_made_the_chances_is_learned():
    lines = make_lines()
    np.testing.assert_allclose(learn(lines), LEARNED, atol=0.25)
    np.testing.assert_allclose(cross(lines), say(lines, LEARNED), atol=0.08)


def test_what_is_shipped_is_what_the_stored_lines_say():
    found = learn(read(recurrence.RESULTS / "recurrence_learn.csv"))
    assert [round(own, 2) for own in found] == list(SHIPPED)


@pytest.mark.parametrize("steady", [False, True])
def test_shares_are_found_again(steady):
    chance = estimate_chance(0.42, 17.0, steady=steady)
    assert find_share(chance, 17.0, steady) == pytest.approx(0.42, abs=1e-4)


def test_calibration_is_told(capsys):
    lines = make_lines()
    tell_all(lines, say(lines, LEARNED))
    told = capsys.readouterr().out
    assert "all: 45000 terms" in told
    assert "80 to 100 %" in told


def test_a_family_is_looked_up_on_all_rows():
    X = np.column_stack([np.arange(100.0), np.arange(100.0)[::-1]])
    rule, near, far = (Rule((Condition(0, lower=own),)) for own in (49.0, 40.0, 20.0))
    assert look_up(rule, [near, Linear(0, 0.0, 99.0, 0.0)], X)
    assert not look_up(rule, [far, Linear(0, 0.0, 99.0, 0.0)], X)
    assert look_up(Linear(0, 0.0, 99.0, 0.0), [Linear(0, 1.0, 98.0, 0.0)], X)
    assert not look_up(Linear(0, 0.0, 99.0, 0.0), [rule, Linear(1, 1.0, 98.0, 0.0)], X)


@pytest.mark.parametrize("kind", ["made", "taken"])
@pytest.mark.parametrize("seed", range(12))
def test_tables_are_had_again_by_their_seeds(kind, seed):
    (X, y), (again, _) = (load(f"{kind} {seed}") for _ in range(2))
    assert len(X) == len(y)
    assert np.isfinite(X).all()
    assert (X.std(axis=0) > 0).all()
    np.testing.assert_array_equal(X, again)
    assert y.dtype.kind == "f" or np.unique(y, return_counts=True)[1].min() >= LEAST_MEMBERS


def test_lines_of_other_splits_stay(tmp_path, monkeypatch):
    path = tmp_path / "lines.csv"
    monkeypatch.setattr(recurrence, "N_RESAMPLES", 10)
    monkeypatch.setattr(recurrence, "ProcessPoolExecutor", lambda n_workers, mp_context: ThreadPoolExecutor(n_workers))
    for fits in (["default"], ["stable"]):
        measure([("iris", 0, fits)], path)
    lines = read(path)
    measure([("iris", 0, ["stable"])], path)
    assert list(lines[0]) == list(FIELDS)
    assert {line["list"] for line in lines} == {"default", "10 terms", "25 terms", "stable"}
    assert sorted(map(str, read(path))) == sorted(map(str, lines)), "lines of the same split stand once"
    assert all(0.0 < line["share"] < 1.0 for line in lines)
