"""Coefficients solved for once more by losses of rates, quantiles and Huber, against SciPy and scikit-learn."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.stats import uniform
from sklearn.linear_model import GammaRegressor, PoissonRegressor, QuantileRegressor, TweedieRegressor
from sklearn.metrics import mean_pinball_loss

from rulegrove.design.rows import Rows
from rulegrove.likelihoods import OfLevels, OfNumbers, OfRates
from rulegrove.refit import FINE, Kept, RefitOfRows, Ridge
from rulegrove.solvers import Problem

N_ROWS, N_RULES, N_LINES = 150, 3, 2
RIDGE = Ridge(rules=0.02, lines=0.005)
TIGHT = 1e-10
TWINS = {1.0: PoissonRegressor, 1.5: TweedieRegressor, 2.0: GammaRegressor}


def make(likelihood, seed, n_outputs=1, goals=None, signs=None):
    """Return a refit, its columns, goals and the weights of rows to learn from and of those held out."""
    rng = np.random.default_rng(seed)
    rules, lines = rng.random((N_ROWS, N_RULES)) < rng.uniform(0.2, 0.8, N_RULES), rng.normal(size=(N_ROWS, N_LINES))
    rules = rules.astype(float)
    columns, weights = np.hstack([rules, lines]), rng.choice([0.5, 1.0, 3.0], N_ROWS)
    scores = columns @ rng.normal(scale=0.7, size=N_RULES + N_LINES)
    if goals is None:
        rates = np.exp(scores - scores.mean())
        goals = rng.poisson(3.0 * rates) / 3.0 if likelihood.power == 1.0 else rates * rng.gamma(2.0, 0.5, N_ROWS)
        goals = goals * (rng.random(N_ROWS) < 0.8) if likelihood.power == 1.5 else goals
    elif callable(goals):
        goals = goals(scores, rng)
    learned = np.where(np.arange(N_ROWS) < 110, weights, 0.0)
    problem = Problem.from_rows(Rows.from_dense(rules, lines, goals, learned))
    problem = Problem(**{**vars(problem), "rows": None, "signs": signs})
    rows = Rows.from_dense(rules, lines, goals, weights)
    coefs = 0.1 * rng.normal(size=(n_outputs, N_RULES + N_LINES))
    kept = [Kept(np.arange(N_RULES + N_LINES), N_RULES, problem, own) for own in coefs]
    padding = (0, -N_ROWS % 64)
    padded = np.tile(np.pad(goals, padding), (n_outputs, 1))
    refit = RefitOfRows(
        likelihood, kept, [rows] * n_outputs, padded, np.pad(learned, padding), np.pad(weights - learned, padding)
    )
    return refit, columns, goals, learned, weights - learned


def find_ridges(columns, learned, ridge=RIDGE):
    """Return ridges in units of one, and the roots by which columns are divided so that all of them are one."""
    shares = learned / learned.sum()
    relative = np.repeat([ridge.rules, ridge.lines], [N_RULES, N_LINES])
    ridges = relative * (shares @ (columns - shares @ columns) ** 2)
    return ridges, np.sqrt(ridges)


@pytest.mark.parametrize("power", TWINS)
@pytest.mark.parametrize("seed", [1, 2])
def test_rates_are_those_of_scikit_learn(power, seed):
    """Columns over the roots of their ridges, which are then all one."""
    refit, columns, y, learned, _ = make(OfRates(power), seed)
    ((coef, intercept),) = refit.solve(RIDGE, TIGHT)
    _, roots = find_ridges(columns, learned)
    given = {"power": 1.5, "link": "log"} if power == 1.5 else {}
    twin = TWINS[power](alpha=1.0, tol=1e-9, max_iter=10_000, solver="newton-cholesky", **given)
    here = learned > 0
    twin.fit(columns[here] / roots, y[here], sample_weight=learned[here])
    np.testing.assert_allclose(coef, twin.coef_ / roots, atol=1e-4)
    assert intercept == pytest.approx(twin.intercept_, abs=1e-4)


def smooth_pinball(level, width, errors):
    """The pinball loss of an error that is shaken by as much as the width: an integral over an even law."""
    grid = uniform.ppf((np.arange(2000) + 0.5) / 2000, loc=-width, scale=2 * width)
    shaken = errors[:, None] + grid
    return np.mean(np.maximum(level * shaken, (level - 1.0) * shaken), axis=1)


def number_goals(scores, rng):
    return scores + rng.standard_t(3, N_ROWS)


@pytest.mark.parametrize("levels", [(0.5,), (0.1, 0.8)])
def test_levels_have_the_least_loss(levels):
    width = 0.2
    likelihood = OfLevels(levels, width)
    refit, columns, y, learned, _ = make(likelihood, 3, len(levels), number_goals)
    points, shares = refit.solve(RIDGE, TIGHT), learned / learned.sum()
    ridges, _ = find_ridges(columns, learned)
    for level, (coef, intercept) in zip(levels, points, strict=True):

        def value(flat, level=level):
            errors = y - flat[0] - columns @ flat[1:]
            return shares @ smooth_pinball(level, width, errors) + 0.5 * ridges @ flat[1:] ** 2

        here = np.append(intercept, coef)
        found = minimize(value, here, method="BFGS", options={"maxiter": 5})
        assert value(here) <= found.fun + 1e-6
        rng = np.random.default_rng(0)
        assert all(value(here) <= value(here + 0.05 * rng.normal(size=len(here))) for _ in range(10))


def test_quantiles_without_a_ridge_and_with_a_small_width_are_those_of_scikit_learn():
    """What is rounded off draws coefficients a little; the loss itself tells how little it matters."""
    level, width = 0.8, 0.01
    refit, columns, y, learned, _ = make(OfLevels((level,), width), 4, 1, number_goals)
    ((coef, intercept),) = refit.solve(Ridge(1e-6, 1e-6), 1e-9)
    here = learned > 0
    twin = QuantileRegressor(quantile=level, alpha=0.0).fit(columns[here], y[here], sample_weight=learned[here])
    own, other = (
        mean_pinball_loss(y[here], said, alpha=level, sample_weight=learned[here])
        for said in (columns[here] @ coef + intercept, twin.predict(columns[here]))
    )
    assert other <= own + 1e-12
    assert own <= other + 0.5 * width


@pytest.mark.parametrize("delta", [0.3, 2.0, 1e6])
def test_numbers_with_a_bound_have_the_least_loss(delta):
    refit, columns, y, learned, _ = make(OfNumbers(delta), 5, 1, number_goals)
    ((coef, intercept),) = refit.solve(RIDGE, TIGHT)
    ridges, shares = find_ridges(columns, learned)[0], learned / learned.sum()

    def value(flat):
        errors = np.abs(y - flat[0] - columns @ flat[1:])
        losses = np.where(errors <= delta, 0.5 * errors**2, delta * (errors - 0.5 * delta))
        return shares @ losses + 0.5 * ridges @ flat[1:] ** 2

    found = minimize(value, np.zeros(len(coef) + 1), method="BFGS", options={"gtol": 1e-8})
    assert value(np.append(intercept, coef)) <= found.fun + 1e-9
    np.testing.assert_allclose(np.append(intercept, coef), found.x, atol=2e-4)


@pytest.mark.parametrize(
    ("likelihood", "goals"),
    [(OfRates(1.0), None), (OfRates(2.0), None), (OfLevels((0.7,), 0.1), number_goals), (OfNumbers(0.5), number_goals)],
)
def test_signs_hold_and_the_others_are_at_their_best(likelihood, goals):
    """With the coefficients that are held at zero left out, no slope is left."""
    plain = make(likelihood, 6, 1, goals)[0].solve(RIDGE, TIGHT)[0][0]
    signs = -np.sign(plain).astype(np.int64)
    signs[1:3] *= -1
    refit, columns, y, learned, _ = make(likelihood, 6, 1, goals, signs)
    ((coef, intercept),) = refit.solve(RIDGE, TIGHT)
    assert (signs * coef >= 0.0).all()
    assert not coef[0]
    ridges, shares = find_ridges(columns, learned)[0], learned / learned.sum()
    free = np.flatnonzero(coef)

    def value(flat):
        scores = flat[0] + columns[:, free] @ flat[1:]
        if isinstance(likelihood, OfLevels):
            losses = smooth_pinball(0.7, 0.1, y - scores)
        else:
            losses = likelihood.losses(scores[None], y[None])
        return shares @ losses + 0.5 * ridges[free] @ flat[1:] ** 2

    here, h = np.append(intercept, coef[free]), 1e-5
    steps = h * np.eye(len(here))
    slopes = [(value(here + step) - value(here - step)) / (2 * h) for step in steps]
    np.testing.assert_allclose(slopes, 0.0, atol=1e-4)


@pytest.mark.parametrize("power", TWINS)
def test_rates_are_judged_by_the_loss_of_held_out_rows(power):
    refit, columns, y, _, held_out = make(OfRates(power), 7)
    ((coef, intercept),) = points = refit.solve(RIDGE, FINE)
    scores = columns @ coef + intercept
    shares = held_out / held_out.sum()
    expected = shares @ OfRates(power).losses(scores[None], y[None])
    assert refit.judge(points) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("power", TWINS)
def test_a_multiple_of_all_rates_moves_the_intercept_alone(power):
    """With next to no ridge: seven times the rates are as much as 7 to the power of 2 - p times the weight."""
    plain, _, y, *_ = make(OfRates(power), 8)
    ((coef, intercept),) = plain.solve(Ridge(1e-6, 1e-6), 1e-12)
    more, *_ = make(OfRates(power), 8, goals=lambda *_: 7.0 * y)
    ((other, moved),) = more.solve(Ridge(1e-6, 1e-6), 1e-12)
    np.testing.assert_allclose(other, coef, atol=1e-4)
    assert moved - intercept == pytest.approx(np.log(7.0), abs=1e-4)


def test_pinball_losses_are_those_of_the_linear_program():
    """One rule and an intercept, no ridge to speak of: the quantiles of both groups of rows."""
    refit, columns, y, learned, _ = make(OfLevels((0.75,), 1e-3), 9, 1, number_goals)
    ((coef, intercept),) = refit.solve(Ridge(1e-6, 1e-6), 1e-12)
    here = learned > 0
    n, X = here.sum(), np.column_stack([np.ones(here.sum()), columns[here]])
    cost = np.concatenate([np.zeros(X.shape[1]), 0.75 * learned[here], 0.25 * learned[here]])
    bounds = [(None, None)] * X.shape[1] + [(0, None)] * (2 * n)
    best = linprog(cost, A_eq=np.hstack([X, np.eye(n), -np.eye(n)]), b_eq=y[here], bounds=bounds).fun / learned.sum()
    own = mean_pinball_loss(y[here], columns[here] @ coef + intercept, alpha=0.75, sample_weight=learned[here])
    assert best - 1e-9 <= own <= best + 1e-3
