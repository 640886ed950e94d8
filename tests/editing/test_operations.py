"""What each edit does to the list."""

import contextlib

import numpy as np
import pytest

from edited_lists import draw, fit, freeze
from rulegrove import RuleEnsembleClassifier
from rulegrove.datasets import load
from rulegrove.exceptions import InvalidInputError


def test_forbidden_attributes_stay_away():
    model, (X, y) = fit("two"), draw("two")
    session = model.edit(X, y)
    edit = session.forbid("x1")
    assert not any("x1" in row.text for row in session.rules)
    assert edit.words.startswith("Forbade x1: dropped ")
    for do in (lambda: session.add("x1 > 1"), lambda: session.replace(session.rules[0].rank, "x1 > 1 and x0 > 0")):
        with pytest.raises(InvalidInputError, match="'x1' is forbidden"):
            do()


def test_directions_hold_for_all_that_follows():
    model, (X, y) = fit("two"), draw("two")
    session = model.edit(X, y)
    session.monotone("x0", "increasing")  # the second class is "well", of which there are fewer the larger x0 is
    session.add("x0 > -0.5")
    with pytest.raises(InvalidInputError, match="both rise and fall"):
        session.add("0 < x0 <= 1")
    with pytest.raises(InvalidInputError, match="must not be negative"):
        session.fix(session.rules[-1].rank, -0.3)
    edited = session.finish()
    assert "x0 > -0.5" not in {row.text for row in edited.rules_}
    along = np.repeat(X[:5], 30, axis=0)
    along[:, 0] = np.tile(np.linspace(-3, 3, 30), 5)
    assert (np.diff(edited.decision_function(along).reshape(5, 30), axis=1) >= 0.0).all()
    three, (X, y) = fit("three"), draw("three")
    with pytest.raises(InvalidInputError, match="needs a target of two classes"):
        three.edit(X, y).monotone("x0", "increasing")


def test_fixed_weights_are_exact_and_can_be_freed():
    for kind, weight in (("two", 0.3), ("number", -4.25), ("poisson", 0.125)):
        model, (X, y) = fit(kind), draw(kind)
        session = model.edit(X, y)
        session.drop(2)
        before = freeze(session)[0]
        session.fix(1, weight)
        session.add("x0 > 0.9")
        assert {row.rank: row.coefficient for row in session.rules}[1] == weight
        assert (
            session.finish().coef_[[row.text for row in session.finish().rules_].index(model.rules_[0].text)] == weight
        )
        session.undo()
        session.fix(1, None)
        for number, (_, coefs, *_) in freeze(session)[0].items():
            np.testing.assert_allclose(np.frombuffer(coefs), np.frombuffer(before[number][1]), atol=1e-7, rtol=1e-6)


def test_merged_rules_hold_where_either_does():
    X, y = load("pima", return_X_y=True)
    model = RuleEnsembleClassifier(terms="rules", n_candidates=100, max_terms=6, honest_cv=False, random_state=0).fit(
        X, y
    )
    n_merged = 0
    for first in range(1, len(model.rules_) + 1):
        for second in range(1, len(model.rules_) + 1):
            session = model.edit(X, y)
            with contextlib.suppress(InvalidInputError):  # rules that have nothing in common
                session.merge(first, second)
            if len(session.log) == 1:
                continue
            held = model.transform_rules(X)[:, [first - 1, second - 1]].any(axis=1)
            merged = session._states[-1].terms[first].term
            assert second not in session._states[-1].terms
            assert merged.holds(X.T)[held].all()
            assert set(merged.features) <= set(model.model_.terms[first - 1].features)
            n_merged += 1
    assert n_merged > 3


def test_rounded_thresholds_are_those_that_are_printed():
    model, (X, y) = fit("number"), draw("number")
    session = model.edit(X, y)
    session.replace(1, "x0 > 0.12345 and x1 <= 0.98765 and x2 >= -0.4321")
    session.round({1: 2})
    assert session.rules[0].text == "x0 > 0.12 and x1 <= 0.99 and x2 >= -0.43"
    assert session.round({1: 3}).words.startswith("Rounded nothing")
    assert session.rules[0].term.holds(np.array([[1.0], [0.0], [-0.43], [0.0]])).all()
