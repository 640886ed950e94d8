"""Tests given the other terms: against formulas written out row by row, and their level on tables without effect."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm, pearson3
from sklearn.linear_model import LogisticRegression

from rulegrove.estimators._given_others import OfNumbers, OfShares, TargetSums, weigh_beside

CLOSE = {"rtol": 1e-5, "atol": 1e-8}


def make_rows(n_rows=300, seed=0):
    """Return overlapping rules and a line, and what a target depends on: the first two rules and a product."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n_rows, 4))
    rules = [x[:, 0] > 0.3, x[:, 1] > 0.6, (x[:, 0] > 0.6) & (x[:, 2] > 0.4), x[:, 3] > 0.7]
    terms = np.column_stack([*rules, 100.0 * x[:, 1]])
    return rng, terms, terms[:, 0] + 0.8 * terms[:, 1] - (x[:, 0] > 0.5) * (x[:, 1] > 0.5)


def sum_rows(y, weights=None):
    """Return what single rows add up to."""
    w = np.ones(len(y)) if weights is None else weights
    return TargetSums(np.ones(len(y)), w, w**2, w**3, w * y, w * y**2, w * y**3, w**2 * y, w**2 * y**2)


def tail(total, variance, third):
    """Return the larger tail of the normal and the gamma distribution."""
    spread = np.sqrt(variance)
    return max(norm.sf(total / spread), pearson3.sf(total / spread, third / spread**3))


@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_have_the_score_test_written_out(weighted):
    rng, terms, signal = make_rows()
    y = signal + rng.normal(size=len(signal))
    w = rng.uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    found = weigh_beside(OfNumbers(), terms, sum_rows(y, w), np.arange(4), np.ones(4))
    ones = np.ones((len(y), 1))
    root = np.sqrt(w)[:, None]
    full = np.linalg.lstsq(root * np.hstack([ones, terms]), root[:, 0] * y)[0]
    np.testing.assert_allclose(found.coefs, full[1:5], **CLOSE)
    size = w.sum() ** 2 / (w**2).sum()
    grown = size / (size - 6)
    for k in range(4):
        others = np.hstack([ones, np.delete(terms, k, axis=1)])
        left = terms[:, k] - others @ np.linalg.lstsq(root * others, root[:, 0] * terms[:, k])[0]
        residual = y - others @ np.linalg.lstsq(root * others, root[:, 0] * y)[0]
        second, third = (np.average(residual**power, weights=w) for power in (2, 3))
        variance = max((left**2 * w**2).sum() * second, (left**2 * w**2 * residual**2).sum()) * grown
        expected = tail((left * w * residual).sum(), variance, third * (left**3 * w**3).sum())
        assert found.p_values[k] == pytest.approx(expected, rel=1e-6)


def test_shares_have_the_score_test_written_out():
    rng, terms, signal = make_rows()
    y = (rng.random(len(signal)) < expit(signal - 0.7)).astype(float)
    found = weigh_beside(OfShares(), terms, sum_rows(y), np.arange(4), -np.ones(4))

    def fit(columns):
        model = LogisticRegression(C=1e9, tol=1e-10, max_iter=10_000).fit(columns, y)
        return np.hstack([model.intercept_, model.coef_[0]])

    ones, scaled = np.ones((len(y), 1)), terms / terms.std(axis=0)
    full = fit(scaled)[1:] / terms.std(axis=0)
    np.testing.assert_allclose(found.coefs, full[:4], rtol=1e-3, atol=1e-4)
    for k in range(4):
        others = np.delete(scaled, k, axis=1)
        columns = np.hstack([ones, others])
        mean = expit(columns @ fit(others))
        bends = mean * (1 - mean)
        left = terms[:, k] - columns @ np.linalg.solve(
            columns.T @ (bends[:, None] * columns), columns.T @ (bends * terms[:, k])
        )
        variance = max((left**2 * bends).sum(), (left**2 * (y - mean) ** 2).sum()) * len(y) / (len(y) - 6)
        expected = tail(-(left * (y - mean)).sum(), variance, -(left**3 * bends * (1 - 2 * mean)).sum())
        assert found.p_values[k] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("family", [OfNumbers(), OfShares()])
def test_rows_of_one_pattern_may_be_one_line(family):
    rng, terms, signal = make_rows()
    terms = terms[:, :4]
    y = (rng.random(len(signal)) < expit(signal)).astype(float)
    rows = sum_rows(y, rng.uniform(0.5, 2.0, len(y)))
    patterns, places = np.unique(np.column_stack([terms, y]), axis=0, return_inverse=True)
    lines = TargetSums(*(np.bincount(places, weights=own) for own in rows))
    apart = weigh_beside(family, terms, rows, np.arange(4), np.ones(4))
    together = weigh_beside(family, patterns[:, :4], lines, np.arange(4), np.ones(4))
    for one, other in zip(apart, together, strict=True):
        np.testing.assert_allclose(one, other, **CLOSE)


@pytest.mark.parametrize("family", [OfNumbers(), OfShares()])
def test_the_unit_of_a_line_does_not_matter(family):
    rng, terms, signal = make_rows()
    y = (rng.random(len(signal)) < expit(signal)).astype(float)
    usual, huge = (
        weigh_beside(family, terms * [1, 1, 1, 1, unit], sum_rows(y), np.arange(4), np.ones(4)) for unit in (1.0, 1e180)
    )
    np.testing.assert_allclose(huge.p_values, usual.p_values, rtol=1e-6)
    np.testing.assert_allclose(huge.errors, usual.errors, rtol=1e-6)


def test_what_rows_cannot_tell_is_not_told():
    rng, terms, signal = make_rows()
    y = (rng.random(len(signal)) < expit(signal)).astype(float)
    nowhere, twice = np.zeros(len(y)), terms[:, 0]
    certain = (y > 0) & (terms[:, 3] > 0)
    columns = np.column_stack([terms[:, :2], nowhere, twice, certain])
    found = weigh_beside(OfShares(), columns, sum_rows(y), np.array([0, 2, 3, 4]), np.ones(4))
    assert (found.p_values[:3] == 1.0).all()
    assert np.isnan(found.coefs).all()
    assert np.isinf(found.reach(0.95)).all()
    assert found.p_values[3] < 1e-6


@pytest.mark.parametrize("kind", ["even", "skewed", "uneven", "classes", "rare class"])
def test_level_given_others(kind):
    """A rule on an attribute of its own has no coefficient, whether the list is right or wrong, as it is here."""
    p_values = []
    for seed in range(400):
        rng, terms, signal = make_rows(150, seed)
        noise = {"even": rng.normal(size=150), "skewed": rng.lognormal(size=150)}.get(kind, 0.0)
        if kind == "uneven":
            noise = rng.normal(size=150) * (0.3 + 2.0 * terms[:, 3])
        y = signal + noise
        if kind in ("classes", "rare class"):
            y = (rng.random(150) < expit(signal - (1.0 if kind == "classes" else 3.0))).astype(float)
        family = OfShares() if kind in ("classes", "rare class") else OfNumbers()
        p_values.append(
            weigh_beside(family, terms, sum_rows(y), np.array([3]), [1.0 if seed % 2 else -1.0]).p_values[0]
        )
    for level in (0.01, 0.05, 0.1):
        assert np.mean(np.array(p_values) <= level) <= level + 2.0 * np.sqrt(level * (1 - level) / len(p_values))
