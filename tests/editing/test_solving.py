"""Weights given the terms are those of scikit-learn, and of constraints those that no other weights beat."""

import numpy as np
import pytest
from scipy.optimize import minimize

from edited_lists import FAMILIES, KINDS, FromScratch, draw, fit, make_problem
from rulegrove.editing.solving import Layout, solve


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "three"])
def test_weights_are_those_of_a_fit_from_scratch(kind, weighted):
    model, (X, y) = fit(kind), draw(kind)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None
    session = model.edit(X, y, sample_weight=weights)
    session.drop(2)
    edited = session.finish()
    scratch = FromScratch(edited, session.log[0].step["ridge"], X, y, weights)
    coefs, intercept, _ = scratch.fit(np.arange(len(y)))
    np.testing.assert_allclose(np.ravel(edited.coef_), np.ravel(coefs), atol=1e-6, rtol=1e-6)
    np.testing.assert_allclose(edited.intercept_, np.ravel(intercept)[0], atol=1e-6, rtol=1e-6)


def test_several_classes_are_those_of_a_fit_from_scratch():
    model, (X, y) = fit("three"), draw("three")
    session = model.edit(X, y)
    for number in range(1, len(model.rules_) + 1):
        session.drop(number)
    session.add("x0 > 0.1")
    session.add("x1 > 0.3 and x2 <= 0.5")
    edited = session.finish()
    scratch = FromScratch(edited, session.log[0].step["ridge"], X, y)
    *_, predict = scratch.fit(np.arange(len(y)))
    np.testing.assert_allclose(edited.predict_proba(X), predict(scratch.terms / scratch.spreads), atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_no_weights_lose_less(family):
    values, goals, weights = make_problem(family)
    free = np.ones((family.n_outputs, 5), dtype=bool)
    free[0, 2] = False  # and stays as it is
    layout = Layout(values, np.array([0, 1, 2, 3, 4]) * 1e-3, free, np.full(5, -np.inf), np.full(5, np.inf))
    start = np.zeros((family.n_outputs, 5))
    start[0, 2] = 0.4
    found = solve(family, layout, weights, goals, start)
    assert found[0, 2] == 0.4

    def lose(flat):
        coefs = start.copy()
        coefs[free] = flat
        own = weights @ family.lose(values @ coefs.T, goals) / weights.sum()
        return own + 0.5 * np.sum((layout.ridges * coefs**2)[free])

    best = minimize(lose, start[free], method="BFGS", options={"gtol": 1e-9}).fun
    assert lose(found[free]) <= best + 1e-12
    rng = np.random.default_rng(1)
    assert all(lose(found[free] + 1e-3 * rng.normal(size=free.sum())) >= lose(found[free]) for _ in range(20))


@pytest.mark.parametrize("family", [family for family in FAMILIES if family.n_outputs == 1], ids=repr)
@pytest.mark.parametrize("seed", range(5))
def test_weights_of_given_signs_are_the_best_of_these(family, seed):
    values, goals, weights = make_problem(family, seed)
    low, high = np.array([-np.inf, 0, 0, -np.inf, -np.inf]), np.array([np.inf, np.inf, np.inf, 0.0, np.inf])
    layout = Layout(values, np.full(5, 1e-3) * (np.arange(5) > 0), np.ones((1, 5), dtype=bool), low, high)
    found = solve(family, layout, weights, goals, np.zeros((1, 5)))[0]
    assert ((found >= low) & (found <= high)).all()
    slope = weights @ (family.slope(values @ found[:, None], goals) * values) / weights.sum() + layout.ridges * found
    inside = (found > low) & (found < high)
    np.testing.assert_allclose(slope[inside], 0.0, atol=1e-9)
    assert (slope[found == low] >= -1e-9).all()
    assert (slope[found == high] <= 1e-9).all()
