"""The compiled loops, for one target and for several, against plain twins; small enough to run uncompiled too."""

from dataclasses import replace

import numpy as np
import pytest

from rulegrove.solvers import _kernels
from rulegrove.solvers._constraining import Limits
from rulegrove.solvers.certificates import duality_gap, objective
from solver_problems import draw

pytestmark = pytest.mark.kernel


def plain_descent(problem, penalty, l1_ratio, coef, tol):
    """Cyclic coordinate descent over all terms, nothing clever."""
    l1, l2 = penalty * l1_ratio, penalty * (1 - l1_ratio)
    coef = coef.copy()
    while duality_gap(problem, coef, penalty, l1_ratio) > tol:
        for j in range(problem.n_terms):
            goal = problem.x_y[j] - problem.gram[j] @ coef + problem.gram[j, j] * coef[j]
            coef[j] = np.sign(goal) * max(abs(goal) - l1, 0.0) / (problem.gram[j, j] + l2)
    return coef


@pytest.mark.parametrize("l1_ratio", [1.0, 0.6])
@pytest.mark.parametrize("seed", [0, 1])
def test_path_equals_plain_descent(seed, l1_ratio):
    problem, _ = draw(seed)
    penalties = np.array([2.0, 0.5, 0.1, 0.02])
    tol = 1e-10
    coefs, _, gaps, iterations = _kernels.elastic_net_path(
        problem.gram, problem.x_y, problem.y_y, penalties, l1_ratio, tol, 10_000, np.zeros(problem.n_terms)
    )
    assert gaps.max() <= tol
    assert iterations[-1] > 1
    expected = np.zeros(problem.n_terms)
    for penalty, coef in zip(penalties, coefs, strict=True):
        expected = plain_descent(problem, penalty, l1_ratio, expected, tol)
        np.testing.assert_allclose(coef, expected, atol=2e-4)
        np.testing.assert_array_equal(coef != 0, expected != 0)


def draw_limits(rng, n_terms):
    """Signs, terms without a penalty, and both as the kernels want them."""
    signs, spared = rng.integers(-1, 2, n_terms), rng.random(n_terms) < 0.2
    return Limits(signs, spared), Limits(signs, np.zeros(n_terms, dtype=bool))


def plain_limited_descent(problem, l1, l2, limits, n_passes):
    """Cyclic coordinate descent that goes nowhere a sign forbids."""
    coef = np.zeros(problem.n_terms)
    for _ in range(n_passes):
        for j in range(problem.n_terms):
            goal = problem.x_y[j] - problem.gram[j] @ coef + problem.gram[j, j] * coef[j]
            own_l1, own_l2 = (0.0, 0.0) if limits.spared[j] else (l1, l2)
            new = np.sign(goal) * max(abs(goal) - own_l1, 0.0) / (problem.gram[j, j] + own_l2)
            coef[j] = 0.0 if limits.signs[j] * new < 0 else new
    return coef


@pytest.mark.parametrize("l1_ratio", [1.0, 0.6])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_limited_path_equals_plain_descent(seed, l1_ratio):
    problem, rng = draw(seed)
    penalties = np.array([0.5, 0.1, 0.02])
    for limits in draw_limits(rng, problem.n_terms):
        coefs, objectives, _, _ = _kernels.elastic_net_path(
            problem.gram, problem.x_y, problem.y_y, penalties, l1_ratio, 1e-12, 10_000, np.zeros(problem.n_terms),
            limits.for_kernel(problem.gram),
        )  # fmt: skip
        limited = replace(problem, signs=limits.signs, unpenalised=limits.spared)
        for penalty, coef, value in zip(penalties, coefs, objectives, strict=True):
            expected = plain_limited_descent(problem, penalty * l1_ratio, penalty * (1 - l1_ratio), limits, 1000)
            np.testing.assert_allclose(coef, expected, atol=1e-4)
            assert value == pytest.approx(objective(limited, coef, penalty, l1_ratio))


@pytest.mark.parametrize(("l1", "l2"), [(0.3, 0.0), (0.3, 0.2), (0.0, 0.5), (5.0, 0.0)])
def test_limited_certificate_equals_the_certificates(l1, l2):
    problem, rng = draw(3)
    _, limits = draw_limits(rng, problem.n_terms)
    coef = limits.clip(rng.normal(size=problem.n_terms) * (rng.random(problem.n_terms) < 0.6))
    grad = problem.x_y - problem.gram @ coef
    primal, gap = _kernels.assess(
        coef, grad, problem.x_y, problem.n_terms, problem.y_y, l1, l2, limits.for_kernel(problem.gram)
    )
    signed, penalty, l1_ratio = replace(problem, signs=limits.signs), l1 + l2, l1 / (l1 + l2)
    assert primal == pytest.approx(objective(signed, coef, penalty, l1_ratio))
    assert gap == pytest.approx(duality_gap(signed, coef, penalty, l1_ratio))


def test_limits_that_forbid_nothing_change_nothing():
    """To the last bit, though another version of the kernels runs."""
    problem, _ = draw(4)
    arguments = (problem.gram, problem.x_y, problem.y_y, np.array([0.5, 0.05]), 0.7, 1e-9, 1000, np.zeros(9))
    free = np.ones((3, problem.n_terms))
    plain, limited = _kernels.elastic_net_path(*arguments), _kernels.elastic_net_path(*arguments, free)
    np.testing.assert_array_equal(plain[0], limited[0])
    np.testing.assert_array_equal(plain[3], limited[3])


@pytest.mark.parametrize(("l1", "l2"), [(0.3, 0.0), (0.3, 0.2), (0.0, 0.5), (5.0, 0.0)])
def test_certify_equals_the_certificates(l1, l2):
    problem, rng = draw(3)
    coef = rng.normal(size=problem.n_terms) * (rng.random(problem.n_terms) < 0.6)
    grad = problem.x_y - problem.gram @ coef
    primal, gap = _kernels.certify(coef, grad, problem.x_y, problem.n_terms, problem.y_y, l1, l2)
    penalty, l1_ratio = l1 + l2, l1 / (l1 + l2)
    assert primal == pytest.approx(objective(problem, coef, penalty, l1_ratio))
    assert gap == pytest.approx(duality_gap(problem, coef, penalty, l1_ratio))


def draw_targets(seed, n_rows=40, n_terms=9, n_targets=3):
    """Centred rows of correlated columns with a few shared terms, and the generator behind them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_terms)) + rng.normal(size=(n_rows, 1))
    Y = X[:, :3] @ rng.normal(size=(3, n_targets)) + 0.5 * rng.normal(size=(n_rows, n_targets))
    return X - X.mean(axis=0), Y - Y.mean(axis=0), rng


def sums(X, Y):
    """Gram, ``X'Y`` and ``Y'Y``, one row a target, over the number of rows."""
    return X.T @ X / len(X), np.ascontiguousarray(Y.T @ X) / len(X), (Y**2).sum(axis=0) / len(X)


def plain_group_objective(X, Y, coef, l1, l2):
    """Objective straight from the rows; ``coef`` has one row a target."""
    residual = Y - X @ coef.T
    norm_1, norm_2 = np.linalg.norm(coef, axis=0).sum(), (coef**2).sum()
    return 0.5 * (residual**2).sum() / len(X) + l1 * norm_1 + 0.5 * l2 * norm_2


def plain_group_gap(X, Y, coef, l1, l2):
    """Gap from dual points written out as rows: the scaled residual of the augmented problem, and the residual."""
    n_rows, n_terms = X.shape
    long_X = np.vstack([X, np.sqrt(n_rows * l2) * np.eye(n_terms)])
    long_Y = np.vstack([Y, np.zeros((n_terms, Y.shape[1]))])
    theta = long_Y - long_X @ coef.T
    scale = max((theta * long_Y).sum(), 0.0) / (theta**2).sum()
    theta *= min(scale, l1 * n_rows / np.linalg.norm(long_X.T @ theta, axis=1).max())
    assert np.linalg.norm(long_X.T @ theta, axis=1).max() <= l1 * n_rows * (1 + 1e-12)
    bound = ((theta * long_Y).sum() - 0.5 * (theta**2).sum()) / n_rows
    if l2 > 0:
        theta = Y - X @ coef.T
        excess = np.maximum(np.linalg.norm(X.T @ theta, axis=1) / n_rows - l1, 0.0)
        bound = max(bound, ((theta * Y).sum() - 0.5 * (theta**2).sum()) / n_rows - 0.5 * (excess**2).sum() / l2)
    return plain_group_objective(X, Y, coef, l1, l2) - bound


def plain_group_descent(X, Y, l1, l2, coef, tol):
    """Cyclic block coordinate descent over all terms, nothing clever."""
    gram, x_y, _ = sums(X, Y)
    coef = coef.copy()
    while plain_group_gap(X, Y, coef, l1, l2) > tol:
        for k in range(X.shape[1]):
            goal = x_y[:, k] - coef @ gram[k] + gram[k, k] * coef[:, k]
            coef[:, k] = max(1.0 - l1 / np.linalg.norm(goal), 0.0) * goal / (gram[k, k] + l2)
    return coef


@pytest.mark.parametrize("l1_ratio", [1.0, 0.6])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_path_of_several_targets_equals_plain_descent(n_targets, l1_ratio):
    X, Y, _ = draw_targets(0, n_targets=n_targets)
    gram, x_y, y_y = sums(X, Y)
    penalties = np.array([2.0, 0.5, 0.1, 0.02])
    tol = 1e-10
    start = np.zeros_like(x_y)
    coefs, errors, gaps, iterations = _kernels.grouped_net_path(gram, x_y, y_y, penalties, l1_ratio, tol, 10_000, start)
    assert gaps.max() <= tol
    assert iterations[-1] > 1
    assert not start.any()
    expected = start
    for point, penalty in enumerate(penalties):
        expected = plain_group_descent(X, Y, penalty * l1_ratio, penalty * (1 - l1_ratio), expected, tol)
        np.testing.assert_allclose(coefs[:, point], expected, atol=2e-4)
        np.testing.assert_array_equal(coefs[:, point] != 0, expected != 0)
        residual = Y - X @ coefs[:, point].T
        np.testing.assert_allclose(errors[:, point], (residual**2).mean(axis=0), rtol=1e-9)


@pytest.mark.parametrize(("l1", "l2"), [(0.3, 0.0), (0.3, 0.2), (0.0, 0.5), (5.0, 0.0)])
def test_certificate_of_several_targets_equals_rows_written_out(l1, l2):
    X, Y, rng = draw_targets(3)
    gram, x_y, y_y = sums(X, Y)
    coef = rng.normal(size=x_y.shape) * (rng.random(x_y.shape[1]) < 0.6)
    primal, gap = _kernels.certify(coef, x_y - coef @ gram, x_y, x_y.shape[1], y_y.sum(), l1, l2)
    assert primal == pytest.approx(plain_group_objective(X, Y, coef, l1, l2))
    assert gap == pytest.approx(plain_group_gap(X, Y, coef, l1, l2))


@pytest.mark.parametrize("n_terms", [3, 8, 21])
def test_a_pass_over_several_targets_minimises_over_one_term_after_the_other(n_terms):
    """Steps wait and are taken off the gradients eight at a time; nobody must notice, at whatever number of terms."""
    X, Y, rng = draw_targets(4, n_terms=n_terms)
    gram, x_y, _ = sums(X, Y)
    coef = rng.normal(size=x_y.shape)
    l1, l2 = 0.2, 0.1
    expected = coef.copy()
    for k in range(n_terms):
        goal = x_y[:, k] - expected @ gram[k] + gram[k, k] * expected[:, k]
        expected[:, k] = max(1.0 - l1 / np.linalg.norm(goal), 0.0) * goal / (gram[k, k] + l2)
    grad = x_y - coef @ gram
    memory = np.empty(8, dtype=np.int64), np.empty((3, 8))
    assert _kernels._descend(gram, coef, grad, *memory, n_terms, l1, l2, None)
    np.testing.assert_allclose(coef, expected, atol=1e-12)
    np.testing.assert_array_equal(coef == 0, expected == 0)
    np.testing.assert_allclose(grad, x_y - coef @ gram, atol=1e-12)
    fresh = np.empty_like(grad)
    _kernels._refresh(gram, x_y, coef, fresh, *memory, n_terms)
    np.testing.assert_allclose(fresh, x_y - coef @ gram, atol=1e-12)


@pytest.mark.parametrize(("l1", "l2"), [(0.3, 0.0), (0.3, 0.2), (0.0, 0.5), (5.0, 0.0)])
def test_certificates_of_one_target_are_the_same_as_a_row_and_as_a_vector(l1, l2):
    problem, rng = draw(3)
    coef = rng.normal(size=problem.n_terms) * (rng.random(problem.n_terms) < 0.6)
    vectors = coef, problem.x_y - problem.gram @ coef, problem.x_y
    rest = (problem.n_terms, problem.y_y, l1, l2, None)
    assert _kernels.assess(*vectors, *rest) == _kernels.assess(*(vector[np.newaxis] for vector in vectors), *rest)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.6])
def test_both_versions_of_the_loops_find_the_path_of_one_target(l1_ratio):
    """Each objective is above the minimum by no more than its gap; the steps differ in rounding only, so do passes."""
    problem, _ = draw(2)
    penalties, tol, start = np.array([0.5, 0.1, 0.02]), 1e-9, np.zeros(problem.n_terms)
    one = _kernels.elastic_net_path(problem.gram, problem.x_y, problem.y_y, penalties, l1_ratio, tol, 10_000, start)
    row = _kernels.grouped_net_path(
        problem.gram, problem.x_y[np.newaxis], np.array([problem.y_y]), penalties, l1_ratio, tol, 10_000,
        start[np.newaxis],
    )  # fmt: skip
    assert max(one[2].max(), row[2].max()) <= tol
    for penalty, a, b, value in zip(penalties, one[0], row[0][0], one[1], strict=True):
        assert value == pytest.approx(objective(problem, a, penalty, l1_ratio), rel=1e-12)
        assert objective(problem, b, penalty, l1_ratio) == pytest.approx(value, abs=tol)
        np.testing.assert_allclose(a, b, atol=1e-4)


@pytest.mark.parametrize("shape", [(8,), (1, 8), (2, 4)])
def test_mix_minimises_the_combined_step(shape):
    rng = np.random.default_rng(4)
    depth, n, n_targets = 5, shape[-1], int(np.prod(shape[:-1]))
    past = rng.normal(size=(depth + 1, n_targets, n + 2))
    mix = np.empty(depth)
    assert _kernels._mix(past, np.empty((depth, depth)), mix, n)
    steps = np.diff(past[:, :, :n], axis=0).reshape(depth, -1)
    expected = np.linalg.solve(steps @ steps.T, np.ones(depth))
    np.testing.assert_allclose(mix, expected / expected.sum(), rtol=1e-6)
    coef = np.zeros((*shape[:-1], n + 2))
    _kernels._combine(past, mix, coef, n)
    np.testing.assert_allclose(coef[..., :n], np.tensordot(mix, past[1:, :, :n], 1).reshape(shape))
    np.testing.assert_array_equal(coef[..., n:], 0.0)


def test_mix_gives_up_on_iterates_that_stand_still():
    assert not _kernels._mix(np.ones((6, 2, 4)), np.empty((5, 5)), np.empty(5), 4)


def test_extrapolation_shortens_the_tail(monkeypatch):
    """Without it nearly collinear terms take several times the passes."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 1)) + 0.1 * rng.normal(size=(60, 6))
    Y = X[:, :3] @ np.array([[1.0, 0.5], [-1.0, 1.0], [1.0, -1.0]]) + 0.1 * rng.normal(size=(60, 2))
    gram, x_y, y_y = sums(X - X.mean(axis=0), Y - Y.mean(axis=0))

    def passes():
        one = _kernels.elastic_net_path(
            gram, x_y[0], y_y[0], np.array([1e-3]), 1.0, 1e-9 * y_y[0], 5000, np.zeros_like(x_y[0])
        )
        tol = 1e-9 * y_y.sum()
        both = _kernels.grouped_net_path(gram, x_y, y_y, np.array([1e-3]), 1.0, tol, 5000, np.zeros_like(x_y))
        assert one[2][0] <= 1e-9 * y_y[0]
        assert both[2][0] <= tol
        return np.array([one[3][0], both[3][0]])

    fast = passes()
    monkeypatch.setattr(_kernels, "_DEPTH", 5000)
    assert (3 * fast < passes()).all()


def test_term_that_no_screening_foresees_is_found():
    """Strong rules would discard term 0, which the solution holds; the check over all terms brings it in."""
    X = np.array([[0.0, 0.8, -0.6], [-0.2, -1.4, -0.8], [2.8, 1.0, -0.8]])
    y = np.array([-1.3, -1.0, 0.0])
    gram, x_y, y_y = X.T @ X / 3, X.T @ y / 3, float(y @ y / 3)
    penalties = np.array([0.9, 0.6]) * np.abs(x_y).max()
    coefs, _, gaps, _ = _kernels.elastic_net_path(gram, x_y, y_y, penalties, 1.0, 1e-13, 1000, np.zeros(3))
    before = np.abs(x_y - gram @ coefs[0])
    assert before[0] < 2 * penalties[1] - penalties[0]
    assert coefs[0, 0] == 0.0
    assert coefs[1, 0] == pytest.approx(0.0102, abs=1e-4)
    assert gaps.max() <= 1e-13


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_does_not_drift_from_its_coefficients(seed):
    """Extrapolated gradients were combined from old ones and not computed afresh; some paths then stalled.

    On such a block of nearly collinear terms the gradient was off by a thousand times rounding and more.
    """
    rng = np.random.default_rng(seed)
    n = 12
    X = rng.normal(size=(60, 1)) + 0.1 * rng.normal(size=(60, n))
    y = X @ rng.normal(size=n) + 0.1 * rng.normal(size=60)
    X -= X.mean(axis=0)
    y -= y.mean()
    block, linear, y_y = X.T @ X / 60, X.T @ y / 60, float(y @ y / 60)
    coef, grad = np.zeros(n), linear.copy()
    work = _kernels.Workspace(
        all_coef=coef.copy(),
        all_grad=grad.copy(),
        inside=np.ones(n, dtype=np.uint8),
        members=np.arange(n),
        block=block,
        linear=linear,
        coef=coef,
        grad=grad,
        limits=None,
        rows=np.empty(_kernels._AT_ONCE, dtype=np.int64),
        steps=np.empty((1, _kernels._AT_ONCE)),
        past=np.empty((6, 1, n)),
        system=np.empty((5, 5)),
        mix=np.empty(5),
    )
    passes, moved = _kernels._solve_block(work, n, y_y, 1e-3 * np.abs(linear).max(), 0.0, 0.0, 203)
    assert (passes, moved) == (203, True)  # 40 extrapolations, then three passes more
    rounding = np.finfo(np.float64).eps * (np.abs(linear).max() + block.max() * np.abs(coef).max())
    assert np.abs(grad - (linear - block @ coef)).max() < 20 * rounding
