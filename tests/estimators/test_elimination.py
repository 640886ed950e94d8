"""What a fit loses without an attribute: against a ridge fit that is made anew."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.estimators import elimination
from rulegrove.estimators.elimination import RIDGE, RidgeFit, eliminate
from rulegrove.solvers.base import Problem


def make_fit(n_rows=80, n_terms=12, n_features=5, n_outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, n_terms)).astype(float)
    Y = X @ rng.normal(size=(n_terms, n_outputs)) + rng.normal(size=(n_rows, n_outputs))
    uses = rng.random((n_terms, n_features)) < 0.3
    problems = [Problem.from_moments(float(n_rows), X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y) for y in Y.T]
    return X, Y, uses, RidgeFit.of(problems, uses)


def least_loss(X, Y, terms):
    """Penalised loss of the ridge fit of some terms, over that without any."""
    Y = Y - Y.mean(axis=0)
    null = 0.5 * np.mean(Y**2, axis=0).sum()
    if not len(terms):
        return 1.0
    Z = (X[:, terms] - X[:, terms].mean(axis=0)) / X[:, terms].std(axis=0)
    coefs = np.linalg.solve(Z.T @ Z / len(Z) + RIDGE * np.eye(len(terms)), Z.T @ Y / len(Z))
    return (0.5 * np.mean((Y - Z @ coefs) ** 2, axis=0).sum() + 0.5 * RIDGE * np.sum(coefs**2)) / null


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.permutations(range(5)), st.integers(1, 3))
def test_losses_are_those_of_fits_made_anew(seed, order, n_outputs):
    X, Y, uses, fit = make_fit(n_outputs=n_outputs, seed=seed)
    terms = np.arange(X.shape[1])
    for feature in order:
        left = terms[~uses[terms, feature]]
        rise = least_loss(X, Y, left) - least_loss(X, Y, terms)
        assert fit.loss_without(feature) == pytest.approx(rise, abs=1e-10)
        fit, terms = fit.without(feature), left
    assert fit.coefs.shape == (len(terms), n_outputs)


def test_the_cheapest_goes_first():
    fits = [make_fit(seed=seed)[-1] for seed in range(3)]
    found = eliminate(fits, 5)
    assert sorted(found.order) == list(range(5))
    for step, feature in enumerate(found.order):
        costs = np.array([[fit.loss_without(one) for one in found.order[step:]] for fit in fits])
        assert costs.mean(axis=0).argmin() == 0
        np.testing.assert_allclose(found.losses[:, feature], costs[:, 0], rtol=1e-12)
        fits = [fit.without(feature) for fit in fits]


def test_many_attributes_go_in_batches(monkeypatch):
    fits = [make_fit(n_terms=30, n_features=20)[-1]]
    alone = eliminate(fits, 20)
    monkeypatch.setattr(elimination, "BATCH", 5)
    together = eliminate(fits, 20)
    assert sorted(together.order) == sorted(alone.order)
    cheapest = np.argsort([fits[0].loss_without(feature) for feature in range(20)], kind="stable")[:4]
    np.testing.assert_array_equal(together.order[:4], cheapest)


def test_attributes_in_no_term_go_first_and_cost_nothing():
    *_, fit = make_fit()
    fit.uses[:, [1, 3]] = False
    found = eliminate([fit], 5)
    assert set(found.order[:2]) == {1, 3}
    assert not found.losses[:, [1, 3]].any()


def test_constant_terms_and_a_constant_target_lose_nothing():
    X = np.column_stack([np.ones(20), np.arange(20.0)])
    y = np.ones(20)
    problem = Problem.from_moments(20.0, X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y)
    found = eliminate([RidgeFit.of([problem], np.eye(2, dtype=bool))], 2)
    assert not found.losses.any()
