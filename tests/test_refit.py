"""Coefficients that are solved for once more, against SciPy and scikit-learn on dense columns, and their ridges."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.linear_model import Ridge as RidgeRegression
from sklearn.metrics import log_loss, mean_squared_error

from rulegrove._likelihood_kernels import minimise as minimise_classes
from rulegrove.design.rows import Rows
from rulegrove.likelihoods import OfShares
from rulegrove.refit import (
    FINE,
    FIRST_OF_LINES,
    FREE,
    RIDGES,
    ROUGH,
    WEAKEST,
    Kept,
    RefitOfNumbers,
    RefitOfRows,
    Ridge,
    choose_ridge,
)
from rulegrove.solvers import Problem

N_ROWS, N_RULES = 150, 4
RIDGE = Ridge(rules=0.02, lines=0.005)
TIGHT = 1e-8  # of the loss without terms, below what a fit asks for


@dataclass
class Dense:
    """Columns of each output on the rows to learn from, all of one objective in plain words."""

    columns: list
    members: np.ndarray
    weights: np.ndarray
    ridges: list

    def split(self, flat):
        """Return points from one long array: of each output its intercept, then its coefficients."""
        parts = np.split(flat, np.cumsum([1 + own.shape[1] for own in self.columns])[:-1])
        return [(part[1:], float(part[0])) for part in parts]

    def told(self, points):
        """Return the logarithms of the probabilities of all classes, the first of two among them."""
        scores = np.array([own @ coef + level for own, (coef, level) in zip(self.columns, points, strict=True)])
        return log_softmax(np.vstack([0.0 * scores, scores]) if len(scores) == 1 else scores, axis=0)

    def value(self, points):
        members = np.vstack([1.0 - self.members, self.members]) if len(self.members) == 1 else self.members
        fit = -self.weights @ np.sum(members * self.told(points), axis=0)
        return fit + sum(0.5 * own @ coef**2 for own, (coef, _) in zip(self.ridges, points, strict=True))

    def slopes(self, points):
        """Return the slope in the intercept and in the coefficients of each output."""
        pulls = self.weights * (np.exp(self.told(points))[-len(self.members) :] - self.members)
        parts = zip(self.columns, self.ridges, pulls, points, strict=True)
        return [(pull.sum(), own.T @ pull + ridges * coef) for own, ridges, pull, (coef, _) in parts]

    def find_least(self, *, keep=None, start=None):
        """Return the points of the least value; `keep` are places of one long array that may move."""
        start = np.zeros(sum(1 + own.shape[1] for own in self.columns)) if start is None else start
        keep = np.arange(len(start)) if keep is None else keep

        def widen(free):
            flat = start.copy()
            flat[keep] = free
            return self.split(flat)

        def slope(free):
            return np.concatenate([np.append(level, coefs) for level, coefs in self.slopes(widen(free))])[keep]

        options = {"maxiter": 10_000, "gtol": 1e-10}
        found = minimize(lambda free: self.value(widen(free)), start[keep], jac=slope, method="BFGS", options=options)
        return widen(found.x)


def join(points):
    return np.concatenate([np.append(level, coef) for coef, level in points])


def make_columns(rng, n_rules=N_RULES, n_lines=2):
    """Return rules and lines with means and spreads of their own."""
    X = rng.normal(size=(N_ROWS, n_rules + n_lines))
    return X[:, :n_rules] > rng.normal(size=n_rules) / 2, X[:, n_rules:] * 0.5 + 1.0


def make_classes(
    seed, n_outputs, *, weighted=False, signs=None, unpenalised=None, ridge=RIDGE, separable=False, order="C"
):
    """Return a refit of classes of which the last rows are held out, and its dense twin."""
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.5, 1.0, 3.0], N_ROWS) if weighted else np.ones(N_ROWS)
    learned = np.where(np.arange(N_ROWS) < 110, weights, 0.0)
    designs = [make_columns(rng) for _ in range(n_outputs)]
    scores = np.array([np.hstack(own) @ rng.normal(size=N_RULES + 2) for own in designs])
    scores = (scores - scores.mean(axis=1, keepdims=True)) + (0.0 if separable else 1.0) * rng.gumbel(size=scores.shape)
    members = (scores > 0.0 if n_outputs == 1 else scores == scores.max(axis=0)).astype(float)
    kept, rows = [], []
    for own, member in zip(designs, members, strict=True):
        found = Rows.from_dense(*own, 2.0 * member - 1.0, weights)
        problem = Problem.from_rows(Rows.from_dense(*own, 2.0 * member - 1.0, learned))
        problem = replace(problem, rows=None, signs=signs, unpenalised=unpenalised)
        rows.append(found)
        kept.append(Kept(np.arange(N_RULES + 2), N_RULES, problem, 0.1 * rng.normal(size=N_RULES + 2)))
    padding = ((0, 0), (0, -N_ROWS % 64))
    held_out = np.pad(weights - learned, padding[1])
    padded = np.asarray(np.pad(members, padding), order=order)
    refit = RefitOfRows(OfShares(), kept, rows, padded, np.pad(learned, padding[1]), held_out)
    shares, columns = learned / learned.sum(), [np.hstack(own).astype(float) for own in designs]
    relative = np.repeat([ridge.rules, ridge.lines], [N_RULES, 2])
    relative = relative if unpenalised is None else np.where(unpenalised, FREE, relative)
    ridges = [relative * (shares @ (own - shares @ own) ** 2) for own in columns]
    return refit, Dense(columns, members, shares, ridges), weights - learned


def null_of(dense):
    """Return the loss of the shares of the classes alone."""
    shares = dense.members @ dense.weights
    shares = np.append(shares, 1.0 - shares) if len(shares) == 1 else shares
    return float(-shares @ np.log(shares))


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("free", [False, True])
def test_classes_have_the_least_loss(n_outputs, weighted, free):
    """Of all coefficients, with terms of each class of its own; also where some of them have no penalty."""
    unpenalised = np.arange(N_RULES + 2) % 3 == 0 if free else None
    refit, dense, _ = make_classes(n_outputs, n_outputs, weighted=weighted, unpenalised=unpenalised)
    points, least = refit.solve(RIDGE, TIGHT), dense.find_least()
    assert dense.value(points) - dense.value(least) <= 1e-7 * null_of(dense)
    for (coef, _), (twin, _) in zip(points, least, strict=True):
        np.testing.assert_allclose(coef, twin, atol=0.01 if free else 2e-3)


def test_a_ridge_of_unit_variances_is_that_of_scikit_learn():
    """Both ridges the same, and lines alone, scaled to a variance of one."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(128, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    codes = np.argmax(X @ rng.normal(size=(3, 3)) + rng.gumbel(size=(128, 3)), axis=1)
    members = (codes == np.arange(3)[:, None]).astype(float)
    rows = [Rows.from_dense(np.empty((128, 0)), X, 2.0 * own - 1.0) for own in members]
    kept = [Kept(np.arange(3), 0, Problem.from_rows(own), np.zeros(3)) for own in rows]
    points = RefitOfRows(OfShares(), kept, rows, members, np.ones(128), np.zeros(128)).solve(Ridge(0.05, 0.05), TIGHT)
    twin = LogisticRegression(C=1.0 / (0.05 * 128), tol=1e-10, max_iter=1000).fit(X, codes)
    scores = np.array([X @ coef + level for coef, level in points])
    np.testing.assert_allclose(softmax(scores, axis=0).T, twin.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_slopes_bound_how_far_the_least_loss_can_be(n_outputs):
    """``f(b) - f* <= 1/2 sum g^2 / ridge`` once intercepts, which have no ridge, are at their best."""
    refit, dense, _ = make_classes(5, n_outputs, weighted=True)
    least, null = dense.value(dense.find_least()), null_of(dense)
    levels = np.cumsum([0, *(1 + own.shape[1] for own in dense.columns)])[:-1]
    for tol, most in ((ROUGH, 1e-2), (FINE, 1e-3), (1e-12, 1e-8)):
        points = dense.find_least(keep=levels, start=join(refit.solve(RIDGE, tol)))
        slopes = [own for _, own in dense.slopes(points)]
        bound = 0.5 * sum(np.sum(own**2 / ridges) for own, ridges in zip(slopes, dense.ridges, strict=True))
        assert dense.value(points) - least <= bound + 1e-12
        assert bound <= most * null


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_coefficient_has_a_wrong_sign_and_the_others_are_the_best(n_outputs, seed):
    signs = np.array([1, -1, 0, 1, -1, 1])
    refit, dense, _ = make_classes(seed, n_outputs, signs=signs)
    assert any((signs * coef < 0.0).any() for coef, _ in dense.find_least())
    points = refit.solve(RIDGE, TIGHT)
    assert all((signs * coef >= 0.0).all() for coef, _ in points)
    levels = np.cumsum([0, *(1 + own.shape[1] for own in dense.columns)])[:-1]
    keep = np.union1d(np.flatnonzero(join(points)), levels)
    assert dense.value(points) - dense.value(dense.find_least(keep=keep)) <= 1e-7 * null_of(dense)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_where_a_search_went_before_does_not_matter(n_outputs):
    """Each solution is where the next one begins."""
    refit, dense, _ = make_classes(3, n_outputs)
    for ridge in (Ridge(10.0, 0.01), Ridge(1e-4, 1e-4), Ridge(1.0, 10.0)):
        refit.solve(ridge, ROUGH)
    assert dense.value(refit.solve(RIDGE, TIGHT)) - dense.value(dense.find_least()) <= 1e-7 * null_of(dense)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_classes_that_terms_separate_have_finite_coefficients(n_outputs):
    ridge = Ridge(1e-3, 1e-3)
    refit, dense, _ = make_classes(4, n_outputs, ridge=ridge, separable=True)
    points = refit.solve(ridge, TIGHT)
    assert np.isfinite(join(points)).all()
    assert dense.value(points) - dense.value(dense.find_least()) <= 1e-6 * null_of(dense)


def test_how_arrays_lie_in_memory_needs_no_further_kernel():
    for n_outputs in (1, 3):
        one, turned = (make_classes(8, n_outputs, order=order)[0] for order in "CF")
        np.testing.assert_allclose(join(turned.solve(RIDGE, TIGHT)), join(one.solve(RIDGE, TIGHT)), rtol=1e-8)
    assert len(minimise_classes.signatures) == 1


def test_two_classes_may_change_places():
    """Also where one of them is rare: what the search may leave undone is a share of the same loss."""
    rng = np.random.default_rng(7)
    rules, lines = make_columns(rng)
    member = (np.arange(N_ROWS) % 15 == 0).astype(float)
    found = []
    for own in (member, 1.0 - member):
        rows = Rows.from_dense(rules, lines, 2.0 * own - 1.0)
        kept = Kept(np.arange(N_RULES + 2), N_RULES, Problem.from_rows(rows), np.zeros(N_RULES + 2))
        padded = np.pad(own, (0, -N_ROWS % 64))
        found.append(
            RefitOfRows(OfShares(), [kept], [rows], padded[None], rows.weights, rows.weights).solve(RIDGE, ROUGH)
        )
    np.testing.assert_allclose(join(found[0]), -join(found[1]), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_classes_are_judged_by_the_log_loss_of_held_out_rows(n_outputs):
    refit, dense, held_out = make_classes(6, n_outputs, weighted=True)
    points = refit.solve(Ridge(0.1, 0.1), ROUGH)
    codes = np.argmax(dense.members, axis=0) if n_outputs > 1 else dense.members[0].astype(int)
    expected = log_loss(codes, np.exp(dense.told(points)).T, sample_weight=held_out)
    assert refit.judge(points) == pytest.approx(expected, rel=1e-9)


def make_numbers(seed, *, signs=None, unpenalised=None):
    """Return a refit of numbers, its columns, targets and weights, and which rows are held out."""
    rng = np.random.default_rng(seed)
    rules, lines = make_columns(rng)
    columns = np.hstack([rules, lines]).astype(float)
    y, weights = columns @ rng.normal(size=N_RULES + 2) + rng.normal(size=N_ROWS) + 5.0, rng.choice([0.5, 2.0], N_ROWS)
    inside = np.arange(N_ROWS) < 110
    problem = Problem.from_rows(Rows.from_dense(rules, lines, y, np.where(inside, weights, 0.0)))
    held_out = Rows.from_dense(rules, lines, y, np.where(inside, 0.0, weights)).moments()
    problem = replace(problem, rows=None, signs=signs, unpenalised=unpenalised)
    kept = Kept(np.arange(N_RULES + 2), N_RULES, problem, np.zeros(N_RULES + 2), held_out)
    return RefitOfNumbers(kept), columns, y, weights, inside


def solve_dense(columns, y, weights, relative):
    """Return the coefficients and the intercept of scikit-learn's ridge regression, scaled to those ridges."""
    shares = weights / weights.sum()
    scales = np.sqrt(relative * (shares @ (columns - shares @ columns) ** 2))
    twin = RidgeRegression(alpha=1.0, tol=1e-12).fit(columns / scales, y, shares)
    return twin.coef_ / scales, twin.intercept_


@pytest.mark.parametrize("free", [False, True])
def test_numbers_are_solved_for_and_judged_as_by_scikit_learn(free):
    unpenalised = np.arange(N_RULES + 2) == 1 if free else None
    refit, columns, y, weights, inside = make_numbers(1, unpenalised=unpenalised)
    relative = np.repeat([RIDGE.rules, RIDGE.lines], [N_RULES, 2])
    relative = np.where(unpenalised, FREE, relative) if free else relative
    ((coef, intercept),) = points = refit.solve(RIDGE)
    twin, other = solve_dense(columns[inside], y[inside], weights[inside], relative)
    np.testing.assert_allclose(coef, twin, rtol=1e-8)
    assert intercept == pytest.approx(other, rel=1e-8)
    told, judged = columns @ coef + intercept, ~inside
    expected = mean_squared_error(y[judged], told[judged], sample_weight=weights[judged])
    assert refit.judge(points) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_numbers_keep_their_signs(seed):
    signs = np.array([1, -1, 0, 1, -1, 1])
    refit, columns, y, weights, inside = make_numbers(seed, signs=signs)
    relative = np.repeat([RIDGE.rules, RIDGE.lines], [N_RULES, 2])
    given = columns[inside], y[inside], weights[inside]
    assert (signs * solve_dense(*given, relative)[0] < 0.0).any()
    ((coef, intercept),) = refit.solve(RIDGE)
    assert (signs * coef >= 0.0).all()
    left = np.flatnonzero(coef)
    twin, other = solve_dense(columns[inside][:, left], *given[1:], relative[left])
    np.testing.assert_allclose(coef[left], twin, rtol=1e-6)
    assert intercept == pytest.approx(other, rel=1e-8)


class Surface:
    """A refit whose loss is a function of the ridges' places, counted in steps down from the strongest."""

    def __init__(self, loss):
        self.loss, self.seen = loss, []

    def solve(self, ridge, tol):
        assert tol == ROUGH
        self.seen.append(np.array([RIDGES.index(ridge.rules), RIDGES.index(ridge.lines)], dtype=float))
        return [(self.seen[-1], 0.0)]

    def judge(self, points):
        return self.loss(*points[0][0])


@pytest.mark.parametrize("n_rows", [1, 3, 20, 1000, 10**5])
@pytest.mark.parametrize("rules", [-3.0, 2.9, 5.2, 40.0])
@pytest.mark.parametrize("lines", [-4.0, 0.8, 6.3, 10.9, 40.0])
def test_the_best_ridges_that_may_be_visited_are_found(n_rows, rules, lines):
    """By looking at all: any step of rules, every other one of lines, from the strongest to the least."""
    surface = Surface(lambda own, other: (own - rules) ** 2 + abs(other - lines))
    ridge = choose_ridge([surface], [1.0], n_rows)
    least = WEAKEST / n_rows
    places = [place for place, size in enumerate(RIDGES) if size >= least]
    first = min(FIRST_OF_LINES, places[-1])
    expected = (
        min(places, key=lambda place: (place - rules) ** 2),
        min((place for place in places if place % 2 == first % 2), key=lambda place: abs(place - lines)),
    )
    assert (RIDGES.index(ridge.rules), RIDGES.index(ridge.lines)) == expected
    assert RIDGES[int(np.max(surface.seen))] >= least
    visited = {tuple(place) for place in np.array(surface.seen).tolist()}
    assert len(visited) == len(surface.seen)  # none is solved for twice


def test_folds_count_by_the_weight_they_hold_out():
    near, far = Surface(lambda own, _: (own - 2.0) ** 2), Surface(lambda own, _: (own - 6.0) ** 2)
    for weights, place in (((1.0, 0.0), 2), ((1.0, 1.0), 4), ((1.0, 3.0), 5), ((0.0, 2.0), 6)):
        ridge = choose_ridge([near, far], weights, 10_000)
        assert ridge.rules == RIDGES[place]


def test_a_tie_goes_to_the_stronger_ridge():
    ridge = choose_ridge([Surface(lambda *_: 1.0)], [1.0], 10_000)
    assert (ridge.rules, ridge.lines) == (RIDGES[0], RIDGES[FIRST_OF_LINES])


def test_a_ridge_for_more_rows_is_weaker():
    assert Ridge(0.1, 3e-5).scaled(5000 / 16_000) == Ridge(0.0312, 9.38e-6)
