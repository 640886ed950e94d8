"""Threshold gradient descent: its path, its losses, its limits."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from rulegrove.design.rows import Rows
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import LOSSES, Huber
from rulegrove.solvers import Glmnet, Problem, Status
from rulegrove.solvers.pathbuild import Pathbuild

LOSS_NAMES = ["ramp", "squared_hinge", "squared", "huber"]


def draw(seed=0, n_rows=300, n_rules=40, n_linear=2, weighted=False, numbers=False):
    """Tree-like rules and linear terms, with classes or numbers as targets; some rows of weight 0."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n_rows, 5))
    columns = []
    while len(columns) < n_rules:
        root = z[:, rng.integers(5)] <= rng.normal(scale=0.7)
        split = z[:, rng.integers(5)] <= rng.normal(scale=0.7)
        columns += [root, root & split, root & ~split, ~root & split]
    rules = np.column_stack(columns[:n_rules]).astype(float)
    signal = z[:, 0] + z[:, 1] * z[:, 2] + 0.5 * rng.normal(size=n_rows)
    y = signal + rng.standard_t(2, n_rows) if numbers else np.where(signal > 0.2, 1.0, -1.0)
    weights = rng.uniform(0.1, 3.0, n_rows) * (rng.random(n_rows) < 0.9) if weighted else np.ones(n_rows)
    return rules, 0.4 * z[:, :n_linear], y, weights


def make_problem(rules, linear, y, weights=None):
    return Problem.from_rows(Rows.from_dense(rules, linear, y, weights))


def draw_for(loss, seed=0, **options):
    return draw(seed, numbers=loss in {"squared", "huber"}, **options)


class Naive:
    """The same descent with the gradient from all rows at each step, and whatever there is to count."""

    def __init__(self, solver, problem, X, y, weights):
        self.X, self.y, self.weights, self.total = X, y, weights, weights.sum()
        self.solver, self.loss = solver, solver.training_loss(problem)
        means = weights @ X / self.total
        centred = X - means if solver.loss == "squared" and solver.intercept == "refit" else X
        largest = np.linalg.eigvalsh(2.0 / self.total * (centred.T * weights) @ centred)[-1]
        assert solver.step < 1.0 / largest  # else the two would differ by the estimate of the eigenvalue
        self.coef, self.intercept = np.zeros(X.shape[1]), float(self.loss.best_constant(y, weights))
        self.gained = self.lost = 0

    @property
    def score(self):
        return self.intercept + self.X @ self.coef

    @property
    def risk(self):
        return self.weights @ self.loss.value(self.y, self.score) / self.total

    @property
    def gradient(self):
        return self.X.T @ (self.weights * self.loss.negative_gradient(self.y, self.score)) / self.total

    def curved(self):
        return self.loss.curvature(self.y, self.score) > 0

    def step(self):
        before, gradient = self.curved(), self.gradient
        size = np.abs(gradient)
        chosen = size >= self.solver.threshold * size.max() * (1 - 1e-10)
        self.coef = self.coef + self.solver.step * gradient * chosen
        if self.solver.intercept == "refit":
            pull = 0.5 * self.weights @ self.loss.negative_gradient(self.y, self.score)
            self.intercept += pull / max(self.weights @ self.curved(), self.total / 2)
        after = self.curved()
        self.gained += int((after & ~before & (self.weights > 0)).sum())
        self.lost += int((before & ~after & (self.weights > 0)).sum())
        return chosen


@pytest.mark.parametrize("intercept", ["refit", "fixed"])
@pytest.mark.parametrize("threshold", [1.0, 0.6, 0.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_equals_the_naive_gradient(loss, weighted, threshold, intercept):
    rules, linear, y, weights = draw_for(loss, weighted=weighted, n_rows=400)
    problem, X = make_problem(rules, linear, y, weights), np.hstack([rules, linear])
    solver = Pathbuild(loss=loss, threshold=threshold, intercept=intercept, step=0.04, huber_delta=0.8)
    points = np.arange(0, 2001, 200)
    path = solver.path(problem, points)
    naive = Naive(solver, problem, X, y, weights)
    for point, coef, a0, risk, penalty, residual in zip(
        points, path.coefs, path.intercepts, path.risks, path.penalties, path.residuals, strict=True
    ):
        np.testing.assert_allclose(coef, naive.coef, atol=1e-10)
        np.testing.assert_allclose(a0 + X @ coef, naive.score, atol=1e-10)
        assert risk == pytest.approx(naive.risk, abs=1e-10)
        assert penalty == pytest.approx(np.abs(naive.gradient).max() / 2, abs=1e-10)
        assert residual == pytest.approx(np.sqrt(weights @ (y - naive.score) ** 2))
        for _ in range(200 if point < points[-1] else 0):
            naive.step()
    assert set(path.status) == {Status.ON_THE_WAY}
    np.testing.assert_array_equal(path.iterations, np.r_[0, np.full(10, 200)])
    assert np.isnan(path.gaps).all()
    n_turned = naive.lost + naive.gained
    assert n_turned == 0 if loss == "squared" else n_turned > 90


@pytest.mark.parametrize("loss", ["ramp", "squared_hinge", "huber"])
def test_many_rows_turn_both_ways(loss):
    """Rows leave the curved part by the hundreds, and some come back; with Huber's loss most move in."""
    rules, linear, y, weights = draw_for(loss, seed=3, n_rows=2000, n_rules=60)
    problem, X = make_problem(rules, linear, y), np.hstack([rules, linear])
    solver = Pathbuild(loss=loss, threshold=1.0, step=0.025, huber_delta=0.5)
    path = solver.path(problem, [3000])
    naive = Naive(solver, problem, X, y, weights)
    for _ in range(3000):
        naive.step()
    assert naive.lost > 200
    assert naive.gained > 50
    np.testing.assert_allclose(path.coefs[0], naive.coef, atol=1e-10)
    np.testing.assert_allclose(path.intercepts[0] + X @ path.coefs[0], naive.score, atol=1e-10)
    assert path.risks[0] == pytest.approx(naive.risk, abs=1e-10)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_only_coefficients_above_the_threshold_move(loss):
    rules, linear, y, weights = draw_for(loss)
    problem, X = make_problem(rules, linear, y), np.hstack([rules, linear])
    solver = Pathbuild(loss=loss, threshold=0.7)
    path = solver.path(problem, np.arange(60))
    naive = Naive(solver, problem, X, y, weights)
    for before, after in zip(path.coefs[:-1], path.coefs[1:], strict=True):
        np.testing.assert_array_equal(after != before, naive.step())


@pytest.mark.parametrize("step", [0.01, 0.2, 1e3])
@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_training_risk_never_rises(loss, threshold, step):
    """Also where the step asked for is far too long."""
    for intercept in ("refit", "fixed"):
        rules, linear, y, weights = draw_for(loss, seed=1, weighted=threshold == 0.5)
        problem = make_problem(rules, linear, y, weights)
        path = Pathbuild(loss=loss, threshold=threshold, step=step, intercept=intercept).path(problem, np.arange(400))
        assert np.diff(path.risks).max() <= 1e-12 * path.risks[0]
        assert path.risks[-1] < 0.95 * path.risks[0]
        solved = solver_risks(loss, problem, path)
        np.testing.assert_allclose(path.risks[::50], solved[::50], rtol=1e-10)


def solver_risks(loss, problem, path):
    return problem.rows.risks(Pathbuild(loss=loss).training_loss(problem), path.coefs, path.intercepts)


@pytest.mark.parametrize("intercept", ["refit", "fixed"])
def test_threshold_of_zero_tends_to_least_squares(intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6)) + 0.5
    y = X @ np.arange(6.0) + 2.0 + rng.normal(size=80)
    problem = make_problem(np.empty((80, 0)), X, y)
    path = Pathbuild(loss="squared", threshold=0.0, step=1.0, intercept=intercept).path(problem, [20_000])
    design = np.column_stack([np.ones(80), X]) if intercept == "refit" else X
    target = y if intercept == "refit" else y - y.mean()
    expected = np.linalg.lstsq(design, target, rcond=None)[0]
    np.testing.assert_allclose(path.coefs[0], expected[-6:], atol=1e-8)
    assert path.status == (Status.STATIONARY,)
    assert path.iterations[0] < 20_000


def test_threshold_of_one_is_stagewise():
    rules, linear, y, _ = draw(n_linear=2)
    X = np.hstack([rules, linear])
    points = np.arange(101)
    path = Pathbuild(loss="squared", threshold=1.0, step=0.05).path(make_problem(rules, linear, y), points)
    coef = np.zeros(X.shape[1])
    centred, target = X - X.mean(axis=0), y - y.mean()
    for point in points:
        np.testing.assert_allclose(path.coefs[point], coef, atol=1e-12)
        gradient = 2.0 / len(y) * centred.T @ (target - centred @ coef)
        largest = np.argmax(np.abs(gradient))
        coef[largest] += 0.05 * gradient[largest]
    assert (np.diff(path.coefs, axis=0) != 0).sum(axis=1).max() == 1
    assert (path.n_terms <= points).all()
    assert 2 < path.n_terms[-1] < 20


def test_ramp_shrugs_off_labels_that_squared_error_follows():
    """A fifth of the labels are flipped far out, where a straight line has most leverage."""
    rng = np.random.default_rng(0)
    x, other = rng.uniform(-1, 3, size=6000), rng.uniform(-1, 1, size=6000)
    clean = np.where(x > 0, 1.0, -1.0)
    y = np.where((x > 2) & (rng.random(6000) < 0.2), -clean, clean)
    rules, linear = (other[:, None] > np.linspace(-0.8, 0.8, 9)).astype(float), x[:, None]
    X = np.hstack([rules, linear])
    problem = make_problem(rules[:3000], linear[:3000], y[:3000])
    wrong = {}
    for loss in ("ramp", "squared"):
        path = Pathbuild(loss=loss, step=0.05).path(problem, [3000])
        score = path.intercepts[0] + X[3000:] @ path.coefs[0]
        wrong[loss] = np.mean(np.sign(score) != clean[3000:])
    assert wrong["ramp"] < 0.005
    assert wrong["squared"] > 0.02


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_weights_equal_repeated_rows(loss):
    rules, linear, y, _ = draw_for(loss, n_rows=200)
    times = np.random.default_rng(1).integers(0, 4, 200)
    weighted = make_problem(rules, linear, y, times.astype(float))
    repeated = make_problem(*(np.repeat(part, times, axis=0) for part in (rules, linear, y)))
    points = [0, 10, 300]
    solver = Pathbuild(loss=loss)
    a, b = solver.path(weighted, points), solver.path(repeated, points)
    np.testing.assert_allclose(a.coefs, b.coefs, atol=1e-11)
    np.testing.assert_allclose(a.risks, b.risks, rtol=1e-11)
    np.testing.assert_allclose(a.residuals, b.residuals, rtol=1e-11)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_rows_held_out_count_nowhere(loss):
    rules, linear, y, _ = draw_for(loss, n_rows=640)
    rows = Rows.from_dense(rules, linear, y)
    rest, _ = rows.hold_out(128, 320)
    wild = replace(rest, y=np.where(rest.weights > 0, rest.y, 1e3))
    kept = np.r_[0:128, 320:640]
    solver = Pathbuild(loss=loss)
    a = solver.path(Problem.from_rows(wild), [0, 50, 200])
    b = solver.path(make_problem(rules[kept], linear[kept], y[kept]), [0, 50, 200])
    np.testing.assert_allclose(a.coefs, b.coefs, atol=1e-12)
    np.testing.assert_allclose(a.risks, b.risks, rtol=1e-12)
    assert a.weight == 448.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_chunks_equal_the_whole_path(loss, weighted):
    problem = make_problem(*draw_for(loss, weighted=weighted))
    solver = Pathbuild(loss=loss, n_steps=900, n_points=20, step=0.05)
    whole = solver.path(problem)
    points = whole.parameter.values
    first = solver.path(problem, points[:9])
    second = solver.path(problem, points[9:], start=first)
    np.testing.assert_array_equal(first.coefs, whole.coefs[:9])
    np.testing.assert_allclose(second.coefs, whole.coefs[9:], atol=1e-12)
    np.testing.assert_allclose(second.intercepts, whole.intercepts[9:], atol=1e-12)
    np.testing.assert_array_equal(second.iterations, whole.iterations[9:])
    again = solver.path(problem, points[-1:], start=whole)
    np.testing.assert_array_equal(again.coefs[0], whole.coefs[-1])
    assert again.iterations[0] == 0


def test_threads_share_nothing():
    problem = make_problem(*draw(seed=2))
    gram, y = problem.gram.copy(), problem.rows.y.copy()
    solver = Pathbuild(n_steps=300, n_points=5)
    alone = solver.path(problem)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: solver.path(problem), range(8)))
    for path in together:
        np.testing.assert_array_equal(path.coefs, alone.coefs)
    np.testing.assert_array_equal(problem.gram, gram)
    np.testing.assert_array_equal(problem.rows.y, y)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_single_class_gives_the_constant_model(loss):
    rules, linear, y, _ = draw()
    path = Pathbuild(loss=loss).path(make_problem(rules, linear, np.ones_like(y)), [0, 5, 10])
    assert not path.coefs.any()
    np.testing.assert_allclose(path.intercepts, 1.0)
    assert path.status == (Status.STATIONARY,) * 3
    np.testing.assert_array_equal(path.iterations, 0)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_no_terms_gives_the_constant_model(loss):
    path = Pathbuild(loss=loss).path(make_problem(np.empty((4, 0)), np.empty((4, 0)), np.array([1.0, -1.0, 1.0, 1.0])))
    assert path.coefs.shape == (len(path.risks), 0)
    assert set(path.status) == {Status.STATIONARY}


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_awkward_columns_are_fine(loss):
    """More terms than rows, repeated, complementary, empty and full columns: twins step together."""
    rules, linear, y, _ = draw_for(loss, n_rows=30)
    awkward = np.hstack([rules, rules[:, :3], 1.0 - rules[:, :3], np.zeros((30, 1)), np.ones((30, 1))])
    path = Pathbuild(loss=loss, threshold=1.0, step=0.02).path(make_problem(awkward, linear, y), np.arange(0, 600, 50))
    assert np.diff(path.risks).max() <= 1e-12
    np.testing.assert_allclose(path.coefs[:, :3], path.coefs[:, 40:43], atol=1e-12)
    assert not path.coefs[:, 46].any()


def test_squared_error_needs_no_rows():
    problem = make_problem(*draw())
    solver = Pathbuild(loss="squared")
    assert not solver.needs_rows
    assert Pathbuild().needs_rows
    np.testing.assert_array_equal(solver.path(problem).coefs, solver.path(replace(problem, rows=None)).coefs)


def test_grid_is_the_null_model_then_even_in_logs():
    problem = make_problem(*draw())
    grid = Pathbuild(n_steps=1000, n_points=50).grid(problem)
    assert grid[0] == 0
    assert grid[-1] == 1000
    assert (np.diff(grid) > 0).all()
    assert 35 < len(grid) <= 50
    np.testing.assert_array_equal(Pathbuild(n_steps=7, n_points=1).grid(problem), [7])
    np.testing.assert_array_equal(Pathbuild(n_steps=1, n_points=9).grid(problem), [0, 1])
    path = Pathbuild(n_steps=20, n_points=4).path(problem)
    assert path.parameter.name == "steps"
    np.testing.assert_array_equal(path.parameter.values, Pathbuild(n_steps=20, n_points=4).grid(problem))


def test_default_delta_of_huber_leaves_a_tenth_outside():
    rules, linear, y, weights = draw_for("huber", weighted=True)
    solver = Pathbuild(loss="huber")
    loss = solver.training_loss(make_problem(rules, linear, y, weights))
    assert isinstance(loss, Huber)
    median = np.quantile(y, 0.5, weights=weights, method="inverted_cdf")
    outside = weights[np.abs(y - median) > loss.delta].sum() / weights.sum()
    assert outside == pytest.approx(0.1, abs=0.02)
    mostly_equal = np.r_[np.zeros(295), np.full(5, 3.0)]
    assert solver.training_loss(make_problem(rules, linear, mostly_equal)).delta == 3.0
    assert Pathbuild(loss="huber", huber_delta=0.5).training_loss(make_problem(rules, linear, y)).delta == 0.5
    assert isinstance(Pathbuild().training_loss(make_problem(*draw())), LOSSES["ramp"])


def test_variants_are_the_thresholds_to_choose_from():
    solver = Pathbuild(threshold="cv", step=0.02)
    problem = make_problem(*draw())
    variants = solver.variants(problem)
    assert [variant.threshold for variant in variants] == [k / 10 for k in range(11)]
    assert {variant.step for variant in variants} == {0.02}
    assert solver.threshold == "cv"
    fixed = Pathbuild(threshold=0.3)
    assert [variant.get_params() for variant in fixed.variants(problem)] == [fixed.get_params()]
    huber = Pathbuild(loss="huber", threshold="cv")
    delta = huber.training_loss(problem).delta
    assert {variant.huber_delta for variant in huber.variants(problem)} == {delta}
    np.testing.assert_array_equal(solver.grid(problem), fixed.grid(problem))
    with pytest.raises(InvalidInputError, match="give it to an estimator, or give a number"):
        solver.path(problem)


def test_clone_keeps_parameters():
    solver = clone(Pathbuild(threshold=0.2, loss="huber", huber_delta=2.0, intercept="fixed"))
    assert solver.get_params() == {
        "threshold": 0.2,
        "step": 0.01,
        "loss": "huber",
        "intercept": "fixed",
        "n_steps": 5000,
        "n_points": 50,
        "huber_delta": 2.0,
    }


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"threshold": 1.5}, "`threshold` of Pathbuild must be between 0 and 1, or 'cv'; got 1.5"),
        ({"threshold": "best"}, "`threshold`"),
        ({"threshold": np.nan}, "`threshold`"),
        ({"step": 0.0}, "`step`"),
        ({"step": np.inf}, "`step`"),
        ({"loss": "hinge"}, "`loss` of Pathbuild must be one of"),
        ({"loss": "absolute"}, r"nor can any other solver; RuleEnsembleRegressor\(loss='absolute'\)"),
        ({"loss": "logistic"}, r"Glmnet\(loss='logistic'\) can"),
        ({"intercept": "none"}, "`intercept` of Pathbuild must be 'refit' or 'fixed'"),
        ({"n_steps": 0}, "`n_steps`"),
        ({"n_points": 0}, "`n_points`"),
        ({"huber_delta": 0.0}, "`huber_delta`"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    problem = make_problem(*draw())
    with pytest.raises(InvalidInputError, match=message):
        Pathbuild(**parameters).path(problem)
    with pytest.raises(InvalidInputError, match=message):
        Pathbuild(**parameters).variants(problem)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([5, 2], "must be increasing; got 5 before 2"),
        ([1.5], "whole numbers of steps; got 1.5"),
        ([-1], "zero or positive"),
        ([np.inf], "finite"),
        ([], "one row of numbers"),
    ],
)
def test_wrong_points_are_named(points, message):
    with pytest.raises(InvalidInputError, match=message):
        Pathbuild().path(make_problem(*draw()), points)


def test_wrong_starts_are_named():
    problem = make_problem(*draw())
    solver = Pathbuild()
    with pytest.raises(InvalidInputError, match="knows its intercept and its steps; got ndarray"):
        solver.path(problem, start=np.zeros(problem.n_terms))
    with pytest.raises(InvalidInputError, match="a path of another solver"):
        solver.path(problem, start=Glmnet(n_penalties=2).path(problem))
    with pytest.raises(InvalidInputError, match="got 3 after 10 steps"):
        solver.path(problem, [3, 20], start=solver.path(problem, [10]))
    with pytest.raises(InvalidInputError, match="finite coefficients"):
        solver.path(problem.take(np.arange(5)), [20], start=solver.path(problem, [10]))


@pytest.mark.parametrize("loss", ["ramp", "squared_hinge", "huber"])
def test_rows_are_asked_for(loss):
    with pytest.raises(InvalidInputError, match="needs the rows"):
        Pathbuild(loss=loss).path(replace(make_problem(*draw()), rows=None))


@pytest.mark.parametrize("loss", ["ramp", "squared_hinge"])
def test_classes_are_asked_for(loss):
    rules, linear, y, _ = draw()
    with pytest.raises(InvalidInputError, match=r"needs targets -1 and \+1; got 0\.5"):
        Pathbuild(loss=loss).path(make_problem(rules, linear, 0.5 * np.abs(y)))
