"""A session: numbers stay, what is undone leaves no trace, scripts repeat, and what is refused changes nothing."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import target_kinds
from edited_lists import KINDS, draw, fit, freeze
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, load_model
from rulegrove.exceptions import InvalidInputError


def make_edits(session):
    session.add("x0 > 0.5 and x1 <= 1", note="known", author="A")
    session.drop(2)
    session.replace(1, "x1 > 0.2")
    session.round(2)
    session.fix(3, {"0": 0.25, "2": -0.5} if len(session.rules[0].coefficients or ()) > 2 else 0.25)
    session.forbid("x2", note="not measured any more")


@pytest.mark.parametrize("kind", KINDS)
def test_a_script_repeats_a_session(kind, tmp_path):
    model, (X, y) = fit(kind), draw(kind)
    session, other = model.edit(X, y), model.edit(X, y)
    make_edits(session)
    script = json.loads(json.dumps(session.script()))
    made = other.apply(script)
    assert freeze(other)[:4] == freeze(session)[:4]
    assert [edit.words for edit in made] == [edit.words for edit in session.log[1:]]
    assert other.script() == session.script() == script
    edited, again = session.finish(), other.finish()
    np.testing.assert_array_equal(edited.predict(X), again.predict(X))
    edited.save(tmp_path / "edited.json")
    loaded = load_model(tmp_path / "edited.json")
    np.testing.assert_array_equal(loaded.predict(X), edited.predict(X))
    assert loaded.edits_ == edited.edits_ == session.log
    assert repr(loaded.rules_) == repr(edited.rules_)
    assert repr(loaded.held_out_) == repr(edited.held_out_)
    assert repr(loaded.settings_) == repr(edited.settings_)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "edited.json").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_undo_restores_all_bit_for_bit(kind):
    model, (X, y) = fit(kind), draw(kind)
    session = model.edit(X, y)
    before = freeze(session)
    predicted, listed = model.predict(X), repr(model.rules_)
    make_edits(session)
    n_edits = len(session.log) - 1
    assert [session.undo().operation for _ in range(n_edits)][-1] == "add"
    assert freeze(session) == before
    with pytest.raises(InvalidInputError, match="no edit to undo"):
        session.undo()
    make_edits(session)
    assert (model.predict(X) == predicted).all()
    assert repr(model.rules_) == listed
    assert model.edits_ is None


def test_numbers_stay_and_are_not_given_again():
    model, (X, y) = fit("two"), draw("two")
    session, n_terms = model.edit(X, y), len(model.rules_)
    session.drop(2)
    session.add("x3 > 0.7")
    session.drop(n_terms + 1)
    session.add("x3 > 0.9")
    assert [row.rank for row in session.rules] == [1, *range(3, n_terms + 1), n_terms + 2]
    assert session.rules[-1].text == "x3 > 0.9"
    texts = {row.rank: row.text for row in session.rules}
    assert all(texts[number] == model.rules_[number - 1].text for number in texts if number <= n_terms)
    with pytest.raises(InvalidInputError, match=rf"no term 2 in the list; it has 1, 3, .*{n_terms + 2}"):
        session.drop(2)
    edited = session.finish()
    assert sorted(row.text for row in edited.rules_) == sorted(texts.values())
    assert [row.rank for row in edited.rules_] == list(range(1, len(texts) + 1))


REFUSED = [
    (lambda s: s.drop(99), "no term 99"),
    (lambda s: s.drop("one"), "number in the printed list; got 'one'"),
    (lambda s: s.drop(True), "number in the printed list; got True"),
    (lambda s: s.replace(1, "x9 > 3"), "'x9' is no column"),
    (lambda s: s.replace(1, 7), "`rule` must be a text"),
    (lambda s: s.add("x0 > 1e9"), "holds on no row"),
    (lambda s: s.add("x0 > -1e9"), "holds on every row"),
    (lambda s: s.add(s.rules[0].text), "would be the same rule"),
    (lambda s: s.round(0), "from 1 to 15"),
    (lambda s: s.round({1: 2.5}), "got 2.5"),
    (lambda s: s.round({99: 2}), "no term 99"),
    (lambda s: s.merge(1, 1), "cannot be merged with itself"),
    (lambda s: s.merge(1, 77), "no term 77"),
    (lambda s: s.forbid("height"), "names 'height', which is not an attribute"),
    (lambda s: s.fix(1, "much"), "must be a finite number"),
    (lambda s: s.fix(1, float("nan")), "must be a finite number"),
    (lambda s: s.monotone("x0", "up"), "'increasing' or 'decreasing'; got 'up'"),
    (lambda s: s.monotone("height", "increasing"), "not an attribute"),
    (lambda s: s.drop(1, note=3), "`note` must be text"),
    (lambda s: s.apply("drop"), "list of steps"),
    (lambda s: s.apply([{"operation": "drop", "number": 1}, {"operation": "drop", "number": 1}]), "Step 2 .* No step"),
    (lambda s: s.apply([{"operation": "undo"}]), "'undo' is not an operation"),
    (lambda s: s.apply([{"operation": "drop"}]), "'drop' lacks 'number'"),
    (lambda s: s.apply([{"operation": "drop", "number": 1, "why": "so"}]), "no argument 'why'"),
    (lambda s: s.apply([{"operation": "drop", "number": [1]}]), r"number in the printed list; got \[1\]"),
    (lambda s: s.apply([3]), "an object with an 'operation'"),
]


@pytest.mark.parametrize(("do", "says"), REFUSED)
def test_what_is_refused_changes_nothing(do, says):
    model, (X, y) = fit("two"), draw("two")
    session = model.edit(X, y)
    session.add("x3 > 0.7")
    before = freeze(session)
    with pytest.raises(InvalidInputError, match=says):
        do(session)
    assert freeze(session) == before


def test_a_session_without_edits_gives_the_model_as_it_is():
    model, (X, y) = fit("two"), draw("two")
    same = model.edit(X, y).finish()
    np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))
    assert same.front_ is model.front_
    assert [edit.operation for edit in same.edits_] == ["open"]
    assert model.edits_ is None


def test_the_log_of_a_second_session_follows_the_first(tmp_path):
    model, (X, y) = fit("two"), draw("two")
    first = model.edit(X, y)
    first.drop(1)
    once = first.finish()
    with pytest.raises(InvalidInputError, match="or from an edit"):
        once.shorten(max_terms=2)
    second = once.edit(X, y)
    second.add("x3 > 0.4")
    twice = second.finish()
    assert [edit.operation for edit in twice.edits_] == ["open", "drop", "open", "add"]
    assert twice.edits_[0].honest is not None
    assert twice.edits_[2].honest is None
    assert len(second.script()) == 1
    assert twice.explain(X[:3]).scores == pytest.approx(twice.decision_function(X[:3]))


@pytest.mark.parametrize("kind", [kind for kind in target_kinds.KINDS if kind not in target_kinds.RATES])
def test_other_targets_are_refused_in_a_sentence(kind):
    X, y = target_kinds.draw(kind)
    model = target_kinds.make(kind, max_terms=3).fit(X, y)
    for rows in ((), (X, y)):
        with pytest.raises(InvalidInputError, match="this model has another target or loss"):
            model.edit(*rows)


def test_open_sessions_say_what_is_wrong_with_rows():
    model, (X, y) = fit("two"), draw("two")
    for rows, says in (
        ((X,), "X without y"),
        ((None, y), "without X"),
        ((X, y[:-1]), "240 rows"),
        ((X[:, :2], y), "features"),
        ((X, np.where(y == "sick", "ill", y)), "'ill' in row"),
        ((X[y == "sick"], y[y == "sick"]), "one class"),
    ):
        with pytest.raises(ValueError, match=says):
            model.edit(*rows)
    with pytest.raises(ValueError, match="not fitted"):
        RuleEnsembleClassifier().edit(X, y)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_tables_with_text_and_gaps_are_edited(make):
    rng = np.random.default_rng(0)
    age, town = rng.integers(20, 80, 300).astype(float), rng.choice(["Rome", "Kiel", "<b>Bonn</b>"], 300)
    y = (age > 50) ^ (town == "Kiel") ^ (rng.random(300) < 0.1)
    age[::7] = np.nan
    table = make({"age": age, "town": town})
    model = RuleEnsembleClassifier(terms="rules", n_candidates=60, max_terms=4, honest_cv=False, random_state=0).fit(
        table, y
    )
    session = model.edit(table, y)
    session.add("town = '<b>Bonn</b>' and (age > 40 or missing)", note="<script>alert(1)</script>")
    edited = session.finish()
    held = (np.asarray(table["town"]) == "<b>Bonn</b>") & ~(age <= 40)
    place = [row.text for row in edited.rules_].index("(age > 40 or missing) and town = '<b>Bonn</b>'")
    np.testing.assert_array_equal(edited.transform_rules(table)[:, place], held)
    assert edited.rules_[place].support == pytest.approx(held.mean())
    page = session._repr_html_()
    assert "<script>" not in page
    assert "<b>" not in page


def test_rates_are_edited_by_their_exposure():
    rng = np.random.default_rng(0)
    X, years = rng.normal(size=(400, 3)), rng.uniform(0.1, 2.0, 400)
    claims = rng.poisson(years * np.exp(0.8 * (X[:, 0] > 0)))
    settings = {"loss": "poisson", "terms": "rules", "n_candidates": 50, "max_terms": 3, "random_state": 0}
    model = RuleEnsembleRegressor(**settings, honest_cv=False).fit(X, claims, exposure=years)
    session = model.edit(X, claims, exposure=years)
    for row in session.rules:
        session.drop(row.rank)
    session.add("x0 > 0")
    edited, here = session.finish(), X[:, 0] > 0
    rates = [claims[part].sum() / years[part].sum() for part in (~here, here)]
    np.testing.assert_allclose(np.sort(np.unique(edited.predict(X))), rates, rtol=0.05)
    assert edited.rules_[0].mean_target == pytest.approx(rates[1])
