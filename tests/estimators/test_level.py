"""Quantiles and the mean of all but outliers: that levels never cross, and what scikit-learn says of them."""

from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import d2_absolute_error_score, d2_pinball_score, r2_score

from rulegrove import RuleEnsembleRegressor
from rulegrove.design.linear import LinearTerms
from rulegrove.design.terms import Terms
from rulegrove.estimators._coding import Bent
from rulegrove.estimators._sampling import TargetCode
from rulegrove.estimators.level import Level, check_levels
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Condition, Rule
from target_kinds import N_ROWS, draw, make

WEIGHTS = np.random.default_rng(2).uniform(0.5, 2.0, N_ROWS)


@cache
def fitted(kind, max_terms="auto"):
    return make(kind, max_terms=max_terms).fit(*draw(kind))


@settings(deadline=None, max_examples=60)
@given(X=arrays(np.float64, (6, 3), elements=st.floats(-1e9, 1e9)), max_terms=st.sampled_from(["auto", None, 3]))
@example(X=np.full((6, 3), np.nan), max_terms=None)
def test_quantiles_never_cross_however_far_out(X, max_terms):
    predicted = fitted("quantiles", max_terms).predict(X)
    assert (np.diff(predicted, axis=1) >= 0.0).all()


def test_no_list_of_the_front_crosses():
    model = fitted("quantiles", None)
    far = np.random.default_rng(0).standard_cauchy((300, 3)) * 10.0
    for line in range(len(model.front_)):
        short = model.shorten(max_terms=model.front_[line].terms)
        assert (np.diff(short.predict(far), axis=1) >= 0.0).all()
        np.testing.assert_allclose(short.explain(far).scores, short.predict(far), rtol=1e-12, atol=1e-12)


@settings(deadline=None, max_examples=100)
@given(seed=st.integers(0, 2**32), n_levels=st.integers(2, 5), size=st.sampled_from([0.01, 1.0, 1e6]))
def test_settled_points_keep_their_order_over_all_values(seed, n_levels, size):
    """The least step from one level to the next, found by trying all corners of what the terms can be."""
    rng = np.random.default_rng(seed)
    rules = (Rule((Condition(0, upper=0.0),)), Rule((Condition(1, lower=1.0),)))
    lines = LinearTerms(np.arange(2), np.array([-2.0, 0.0]), np.array([3.0, 5.0]), np.array([0.7, 2.0]), np.ones(2))
    terms = Terms(rules, lines, ((), ()))
    levels = tuple(np.linspace(0.1, 0.9, n_levels).tolist())
    quantiles = tuple(np.sort(rng.normal(size=n_levels)).tolist())
    target = Level(levels=levels, code=TargetCode(coding=Bent(levels, quantiles, 0.0, 1.0)))
    points = [(size * rng.normal(size=4), float(size * rng.normal())) for _ in levels]
    settled = target.settle_points(terms, points)
    values = [[0.0, 1.0], [0.0, 1.0], [-2.7, 2.3], [-2.0, 3.0]]
    corners = np.stack(np.meshgrid(*values), axis=-1).reshape(-1, 4)
    scores = np.column_stack([corners @ coef + intercept for coef, intercept in settled])
    assert (np.diff(scores, axis=1) >= 0.0).all()
    middle = n_levels // 2
    np.testing.assert_array_equal(settled[middle][0], points[middle][0])
    assert settled[middle][1] == points[middle][1]
    apart = 100.0 * (1.0 + size)
    wide = [(coef, intercept + apart * place) for place, (coef, intercept) in enumerate(points)]
    for one, other in zip(target.settle_points(terms, wide), wide, strict=True):
        np.testing.assert_allclose(one[0], other[0], rtol=0, atol=1e-12 * apart)  # what is far apart is left as it is
        assert one[1] == pytest.approx(other[1], abs=1e-12 * apart)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize(("kind", "levels"), [("absolute", [0.5]), ("quantile", [0.8]), ("quantiles", [0.1, 0.5, 0.9])])
def test_the_share_of_training_rows_below_a_list_is_its_level(kind, levels, weights):
    """But for the rows that lie on it."""
    X, y = draw(kind)
    model = make(kind).fit(X, y, sample_weight=weights)
    assert model.front_.chosen < len(model.front_) - 1
    predicted = model.predict(X).reshape(N_ROWS, -1)
    own = np.ones(N_ROWS) if weights is None else weights
    for level, said in zip(levels, predicted.T, strict=True):
        slack = 1e-9
        assert own @ (y < said - slack) <= level * own.sum() + slack
        assert own @ (y <= said + slack) >= level * own.sum() - slack


def test_the_score_is_that_of_scikit_learn():
    X, y = draw("absolute")
    median, high, several = fitted("absolute"), fitted("quantile"), fitted("quantiles")
    for weights in (None, WEIGHTS):
        expected = d2_absolute_error_score(y, median.predict(X), sample_weight=weights)
        assert median.score(X, y, weights) == pytest.approx(expected, rel=1e-9)
        expected = d2_pinball_score(y, high.predict(X), sample_weight=weights, alpha=0.8)
        assert high.score(X, y, weights) == pytest.approx(expected, abs=2e-3)  # a quantile between two rows is any
    explained = np.array([several.score(X, y)])
    each = [d2_pinball_score(y, said, alpha=a) for a, said in zip((0.1, 0.5, 0.9), several.predict(X).T, strict=True)]
    assert min(each) < explained < max(each)
    huber = fitted("huber")
    assert huber.score(X, y) == pytest.approx(r2_score(y, huber.predict(X)))


def test_the_median_is_the_quantile_in_the_middle():
    X, y = draw("absolute")
    one = fitted("absolute")
    other = make("quantile", quantile=0.5).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    many = make("quantile", quantile=[0.5]).fit(X, y)
    np.testing.assert_array_equal(many.predict(X), one.predict(X))


def test_levels_are_told_in_rising_order_whatever_order_they_are_asked_in():
    X, y = draw("quantiles")
    asked = make("quantiles", quantile=np.array([0.9, 0.1, 0.5])).fit(X, y)
    np.testing.assert_array_equal(asked.predict(X), fitted("quantiles").predict(X))
    assert check_levels([0.9, 0.1]) == (0.1, 0.9)


@pytest.mark.parametrize("kind", ["huber", "absolute", "quantile", "quantiles"])
def test_the_unit_and_the_zero_of_a_target_are_those_of_predictions(kind):
    X, y = draw(kind)
    model = fitted(kind)
    for unit, shift in ((1e12, 0.0), (1e-12, 0.0), (3.0, 1e6)):
        other = make(kind).fit(X, unit * y + shift)
        assert [row.text for row in other.rules_] == [row.text for row in model.rules_]
        np.testing.assert_allclose((other.predict(X) - shift) / unit, model.predict(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", ["huber", "absolute", "quantile", "quantiles"])
def test_outliers_move_little(kind):
    """One row in fifty that is a million times too large moves a squared fit by 20,000."""
    X, y = draw(kind)
    wild = y.copy()
    wild[::50] *= 1e6
    model = make(kind).fit(X, wild)
    assert np.abs(model.predict(X) - fitted(kind).predict(X)).max() < 3.0
    squared = RuleEnsembleRegressor(n_candidates=50, cv=2, random_state=0).fit(X, wild)
    assert np.abs(squared.predict(X) - fitted(kind).predict(X).T).max() > 100.0


@pytest.mark.parametrize("kind", ["huber", "absolute", "quantile", "quantiles"])
def test_numbers_of_which_most_are_one(kind):
    """The scale, a multiple of the median distance from the median, was 0."""
    X, y = draw(kind)
    mostly = np.where(np.arange(N_ROWS) % 3 == 0, y, 7.0)
    model = make(kind, max_terms=None).fit(X, mostly)
    assert np.isfinite(model.predict(X)).all()
    flat = make(kind).fit(X, np.full(N_ROWS, 0.3))
    np.testing.assert_allclose(flat.predict(X), 0.3, rtol=1e-15)
    assert flat.score(X, np.full(N_ROWS, 0.3)) == 1.0


@pytest.mark.parametrize(
    ("quantile", "message"),
    [
        ([], r"must be a level between 0 and 1, or several of them; got \[\]"),
        ([0.0, 0.5], "must be a level between 0 and 1"),
        ([0.5, 1.0], "must be a level between 0 and 1"),
        ([0.5, np.nan], "must be a level between 0 and 1"),
        ([[0.1, 0.9]], "must be a level between 0 and 1"),
        (["low", "high"], r"must be a level between 0 and 1, or several of them; got \['low', 'high'\]"),
        ([0.1, 0.1], "must have each level once"),
        (1.0, "The 'quantile' parameter"),
        (-0.1, "The 'quantile' parameter"),
        ("median", "The 'quantile' parameter"),
    ],
)
def test_levels_that_are_none_are_refused(quantile, message):
    with pytest.raises(ValueError, match=message):
        make("quantile", quantile=quantile).fit(*draw("quantile"))


@pytest.mark.parametrize("kind", ["huber", "absolute", "quantile", "quantiles"])
@pytest.mark.parametrize("solver", ["glmnet", "fpc", "spgl1", "pathbuild"])
def test_a_named_solver_is_refused(kind, solver):
    with pytest.raises(InvalidInputError, match=f"has its own solver; leave out solver='{solver}'"):
        make(kind, solver=solver).fit(*draw(kind))


@pytest.mark.parametrize("kind", ["huber", "absolute", "quantile", "quantiles"])
def test_a_given_point_is_refused(kind):
    with pytest.raises(
        InvalidInputError, match="needs held-out rows to choose the model; set selection='1se' or 'min' in"
    ):
        make(kind, selection=0.05).fit(*draw(kind))


@pytest.mark.parametrize(
    ("parameters", "name"),
    [({"monotonic": {0: 1}}, "monotonic"), ({"rules": ["x0 > 0"], "force_rules": True}, "force_rules")],
)
def test_constraints_are_for_one_level(parameters, name):
    """The way out that was named is one of other targets."""
    X, y = draw("quantiles")
    with pytest.raises(
        InvalidInputError, match=f"`{name}` cannot be used with several quantiles.* fit one model for each level"
    ):
        make("quantiles", **parameters).fit(X, y)
    assert len(make("quantile", **parameters).fit(X, y).rules_)


@pytest.mark.parametrize("unit", [1e-100, 1e100])
@pytest.mark.parametrize("kind", ["huber", "absolute", "quantiles"])
def test_numbers_of_a_size_that_cannot_be_squared_are_refused(kind, unit):
    X, y = draw(kind)
    with pytest.raises(InvalidInputError, match="cannot add up numbers of the size of"):
        make(kind).fit(X, unit * y)
