"""The compiled loops of the grouped elastic net against plain twins; small enough to run without compilation too."""

import numpy as np
import pytest

from rulegrove.solvers import _group_kernels as kernels

pytestmark = pytest.mark.kernel


def draw(seed, n_rows=40, n_terms=9, n_targets=3):
    """Centred rows of correlated columns with a few shared terms, and the generator behind them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_terms)) + rng.normal(size=(n_rows, 1))
    Y = X[:, :3] @ rng.normal(size=(3, n_targets)) + 0.5 * rng.normal(size=(n_rows, n_targets))
    return X - X.mean(axis=0), Y - Y.mean(axis=0), rng


def sums(X, Y):
    """Gram, ``X'Y`` and ``Y'Y``, one row a target, over the number of rows."""
    return X.T @ X / len(X), np.ascontiguousarray(Y.T @ X) / len(X), (Y**2).sum(axis=0) / len(X)


def plain_objective(X, Y, coef, l1, l2):
    """Objective straight from the rows; ``coef`` has one row a target."""
    residual = Y - X @ coef.T
    norm_1, norm_2 = np.linalg.norm(coef, axis=0).sum(), (coef**2).sum()
    return 0.5 * (residual**2).sum() / len(X) + l1 * norm_1 + 0.5 * l2 * norm_2


def plain_gap(X, Y, coef, l1, l2):
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
    return plain_objective(X, Y, coef, l1, l2) - bound


def plain_descent(X, Y, l1, l2, coef, tol):
    """Cyclic block coordinate descent over all terms, nothing clever."""
    gram, x_y, _ = sums(X, Y)
    coef = coef.copy()
    while plain_gap(X, Y, coef, l1, l2) > tol:
        for k in range(X.shape[1]):
            goal = x_y[:, k] - coef @ gram[k] + gram[k, k] * coef[:, k]
            coef[:, k] = max(1.0 - l1 / np.linalg.norm(goal), 0.0) * goal / (gram[k, k] + l2)
    return coef


@pytest.mark.parametrize("l1_ratio", [1.0, 0.6])
@pytest.mark.parametrize("n_targets", [1, 3])
def test_path_equals_plain_descent(n_targets, l1_ratio):
    X, Y, _ = draw(0, n_targets=n_targets)
    gram, x_y, y_y = sums(X, Y)
    penalties = np.array([2.0, 0.5, 0.1, 0.02])
    tol = 1e-10
    start = np.zeros_like(x_y)
    coefs, errors, gaps, iterations = kernels.grouped_net_path(gram, x_y, y_y, penalties, l1_ratio, tol, 10_000, start)
    assert gaps.max() <= tol
    assert iterations[-1] > 1
    assert not start.any()
    expected = start
    for point, penalty in enumerate(penalties):
        expected = plain_descent(X, Y, penalty * l1_ratio, penalty * (1 - l1_ratio), expected, tol)
        np.testing.assert_allclose(coefs[:, point], expected, atol=2e-4)
        np.testing.assert_array_equal(coefs[:, point] != 0, expected != 0)
        residual = Y - X @ coefs[:, point].T
        np.testing.assert_allclose(errors[:, point], (residual**2).mean(axis=0), rtol=1e-9)


@pytest.mark.parametrize(("l1", "l2"), [(0.3, 0.0), (0.3, 0.2), (0.0, 0.5), (5.0, 0.0)])
def test_certify_equals_rows_written_out(l1, l2):
    X, Y, rng = draw(3)
    gram, x_y, y_y = sums(X, Y)
    coef = rng.normal(size=x_y.shape) * (rng.random(x_y.shape[1]) < 0.6)
    primal, gap = kernels.certify(coef, x_y - coef @ gram, x_y, x_y.shape[1], y_y.sum(), l1, l2)
    assert primal == pytest.approx(plain_objective(X, Y, coef, l1, l2))
    assert gap == pytest.approx(plain_gap(X, Y, coef, l1, l2))


@pytest.mark.parametrize("n_terms", [3, 8, 21])
def test_a_pass_minimises_over_one_term_after_the_other(n_terms):
    """Steps wait and are taken off the gradients eight at a time; nobody must notice, at whatever number of terms."""
    X, Y, rng = draw(4, n_terms=n_terms)
    gram, x_y, _ = sums(X, Y)
    coef = rng.normal(size=x_y.shape)
    l1, l2 = 0.2, 0.1
    expected = coef.copy()
    for k in range(n_terms):
        goal = x_y[:, k] - expected @ gram[k] + gram[k, k] * expected[:, k]
        expected[:, k] = max(1.0 - l1 / np.linalg.norm(goal), 0.0) * goal / (gram[k, k] + l2)
    grad = x_y - coef @ gram
    memory = np.empty(8, dtype=np.int64), np.empty((3, 8)), np.empty(3)
    assert kernels._descend(gram, coef, grad, *memory, n_terms, l1, l2)
    np.testing.assert_allclose(coef, expected, atol=1e-12)
    np.testing.assert_array_equal(coef == 0, expected == 0)
    np.testing.assert_allclose(grad, x_y - coef @ gram, atol=1e-12)
    fresh = np.empty_like(grad)
    kernels.refresh(gram, x_y, coef, fresh, *memory[:2], n_terms)
    np.testing.assert_allclose(fresh, x_y - coef @ gram, atol=1e-12)


def test_mix_minimises_the_combined_step():
    rng = np.random.default_rng(4)
    depth, n = 5, 4
    past = rng.normal(size=(depth + 1, 2, n + 2))
    mix = np.empty(depth)
    assert kernels._mix(past, np.empty((depth, depth)), mix, n)
    steps = np.diff(past[:, :, :n], axis=0).reshape(depth, -1)
    expected = np.linalg.solve(steps @ steps.T, np.ones(depth))
    np.testing.assert_allclose(mix, expected / expected.sum(), rtol=1e-6)
    coef = np.zeros((2, n + 2))
    kernels._combine(past, mix, coef, n)
    np.testing.assert_allclose(coef[:, :n], np.tensordot(mix, past[1:, :, :n], 1))
    np.testing.assert_array_equal(coef[:, n:], 0.0)


def test_mix_gives_up_on_iterates_that_stand_still():
    assert not kernels._mix(np.ones((6, 2, 4)), np.empty((5, 5)), np.empty(5), 4)


def test_extrapolation_shortens_the_tail(monkeypatch):
    """Without it nearly collinear terms take several times the passes."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 1)) + 0.1 * rng.normal(size=(60, 6))
    Y = X[:, :3] @ np.array([[1.0, 0.5], [-1.0, 1.0], [1.0, -1.0]]) + 0.1 * rng.normal(size=(60, 2))
    gram, x_y, y_y = sums(X - X.mean(axis=0), Y - Y.mean(axis=0))
    tol = 1e-9 * y_y.sum()
    arguments = (gram, x_y, y_y, np.array([1e-3]), 1.0, tol, 5000, np.zeros_like(x_y))
    _, _, gaps, fast = kernels.grouped_net_path(*arguments)
    monkeypatch.setattr(kernels, "_DEPTH", 5000)
    _, _, slow_gaps, slow = kernels.grouped_net_path(*arguments)
    assert max(gaps[0], slow_gaps[0]) <= tol
    assert 3 * fast[0] < slow[0]
