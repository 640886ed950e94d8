"""The compiled loops of Spgl1 against plain twins; small enough to run without compilation too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.solvers import _spgl1_kernels
from solver_problems import draw

pytestmark = pytest.mark.kernel


def plain_projection(values, radius):
    """Nearest point of the l1 ball, by sorting (Duchi et al. 2008)."""
    sizes = np.abs(values)
    if sizes.sum() <= radius:
        return values.copy()
    ordered = np.sort(sizes)[::-1]
    thresholds = (np.cumsum(ordered) - radius) / np.arange(1, len(values) + 1)
    threshold = thresholds[np.flatnonzero(ordered > thresholds)[-1]] if radius > 0 else sizes.max()
    return np.sign(values) * np.maximum(sizes - threshold, 0.0)


def plain_gradient_projection(gram, x_y, radius, l2, n_steps):
    """Projected gradient with a fixed step, nothing clever."""
    matrix = gram + l2 * np.eye(len(x_y))
    step = 1.0 / np.linalg.eigvalsh(matrix).max()
    coef = np.zeros(len(x_y))
    for _ in range(n_steps):
        coef = plain_projection(coef + step * (x_y - matrix @ coef), radius)
    return coef


@settings(deadline=None, max_examples=200)
@given(
    values=st.lists(st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6), min_size=1, max_size=12),
    share=st.just(0.0) | st.floats(1e-6, 1.5),
)
def test_projection_equals_sorting(values, share):
    values = np.array(values)
    radius = share * np.abs(values).sum()
    ours = np.r_[values, 7.0]
    outside = _spgl1_kernels._project(ours, len(values), radius, np.empty(len(values)))
    tolerance = 1e-12 * np.abs(values).max()
    assert outside == (radius <= 0 or np.abs(values).sum() > radius)
    np.testing.assert_allclose(ours[:-1], plain_projection(values, radius), atol=tolerance)
    assert np.abs(ours[:-1]).sum() <= radius + 12 * tolerance
    assert ours[-1] == 7.0


def test_projection_on_a_point_leaves_exact_zeros():
    values = np.full(3, 0.1)
    _spgl1_kernels._project(values, 3, 0.0, np.empty(3))
    np.testing.assert_array_equal(values, 0.0)


@pytest.mark.parametrize("n_nonzero", [0, 1, 3, 4, 6, 9])
def test_product_comes_from_the_rows_of_the_nonzeros(n_nonzero):
    problem, rng = draw(1)
    gram, x_y = problem.gram, problem.x_y
    vector = np.zeros(9)
    vector[rng.permutation(9)[:n_nonzero]] = rng.normal(size=n_nonzero)
    out = x_y.copy()
    _spgl1_kernels._subtract_product(gram, 0.3, vector, out, 9, np.empty(9, dtype=np.int64), np.empty(9))
    np.testing.assert_allclose(out, x_y - gram @ vector - 0.3 * vector, atol=1e-13)


def working_set(gram, x_y, coef, l2):
    """Memory whose working set holds all terms."""
    memory = _spgl1_kernels.make_memory(coef)
    n = len(coef)
    memory.block[:, :n] = gram
    memory.deviations[:] = np.sqrt(gram.diagonal())
    memory.coef[:] = coef
    memory.grad[:] = x_y - gram @ coef - l2 * coef
    return memory


@pytest.mark.parametrize("l2", [0.0, 0.2])
def test_face_is_minimised_within_the_ball(l2):
    """On the surface, with no sign in the way: gradients on the face differ by sign only, others may be anything."""
    problem, _ = draw(2)
    gram, x_y, y_y = problem.gram, problem.x_y, problem.y_y
    coef = np.array([1.0, -1.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    memory = working_set(gram, x_y, coef, l2)
    objective = lambda a: 0.5 * (y_y - 2 * x_y @ a + a @ gram @ a + l2 * a @ a)  # noqa: E731
    steps, fall = _spgl1_kernels._minimise_on_face(memory, 9, 3.0, l2, 1e-12, 100)
    assert 0 < steps <= 10
    assert objective(coef) - objective(memory.coef) == pytest.approx(fall)
    np.testing.assert_array_equal(np.sign(memory.coef), np.sign(coef))
    assert np.abs(memory.coef).sum() == pytest.approx(3.0)
    on_face = memory.grad[:3] * np.sign(coef[:3])
    np.testing.assert_allclose(on_face, on_face.mean(), atol=1e-9)
    np.testing.assert_allclose(memory.grad, x_y - gram @ memory.coef - l2 * memory.coef, atol=1e-12)


def test_coefficient_that_reaches_zero_leaves_the_face():
    gram, x_y = np.eye(3), np.array([2.0, 1.0, 0.0])
    coef = np.array([0.5, 0.5, 1.0])
    memory = working_set(gram, x_y, coef, 0.0)
    _spgl1_kernels._minimise_on_face(memory, 3, 2.0, 0.0, 1e-12, 100)
    np.testing.assert_allclose(memory.coef, [1.5, 0.5, 0.0], atol=1e-12)
    assert memory.coef[2] == 0.0


def test_equal_coefficients_leave_the_face_together():
    """Rounding leaves 1e-17 of one of them unless each is set to zero."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        coef = np.r_[0.5, np.full(3, rng.uniform(0.1, 1.0))]
        memory = working_set(np.eye(4), np.array([9.0, 0.1, 0.1, 0.1]), coef, 0.0)
        _spgl1_kernels._minimise_on_face(memory, 4, coef.sum(), 0.0, 1e-12, 100)
        np.testing.assert_array_equal(memory.coef[1:], 0.0)
        assert memory.coef[0] == pytest.approx(coef.sum())


def test_face_inside_the_ball_ends_at_its_surface():
    memory = working_set(np.eye(2), np.array([3.0, 3.0]), np.array([0.5, 0.5]), 0.0)
    steps, _ = _spgl1_kernels._minimise_on_face(memory, 2, 2.0, 0.0, 1e-12, 100)
    assert steps == 1
    np.testing.assert_allclose(memory.coef, [1.0, 1.0])


@pytest.mark.parametrize("l2", [0.0, 0.2])
@pytest.mark.parametrize("seed", [0, 1])
def test_balls_equal_plain_gradient_projection(seed, l2):
    problem, _ = draw(seed)
    gram, x_y, y_y = problem.gram, problem.x_y, problem.y_y
    memory = _spgl1_kernels.make_memory(np.zeros(9))
    n = 0
    for radius in (0.0, 0.5, 2.0, 3.0):
        n, iterations, gap, penalty, status = _spgl1_kernels.solve_ball(
            gram, x_y, y_y, radius, l2, 1e-11, 10_000, memory, n
        )
        expected = plain_gradient_projection(gram, x_y, radius, l2, 3000)
        np.testing.assert_allclose(memory.all_coef, expected, atol=1e-5)
        np.testing.assert_array_equal(memory.all_coef != 0, np.abs(expected) > 1e-9)
        grad = x_y - gram @ memory.all_coef - l2 * memory.all_coef
        assert status == _spgl1_kernels.CONVERGED
        assert penalty == pytest.approx(np.abs(grad).max())
        assert gap == pytest.approx(max(radius * np.abs(grad).max() - memory.all_coef @ grad, 0.0), abs=1e-13)
        assert (iterations > 0) == (radius > 0)


def test_conjugate_gradients_shorten_the_tail(monkeypatch):
    """Without them nearly collinear terms take several times the steps."""
    if hasattr(_spgl1_kernels.solve_ball, "py_func"):
        pytest.skip("patches a constant, which compiled loops have inside; `make test` runs it without compilation")
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 1)) + 0.05 * rng.normal(size=(60, 8))
    y = X @ np.array([1.0, -1.0, 1.0, 0.5, -0.5, 0.0, 0.0, 0.0]) + 0.01 * rng.normal(size=60)
    X -= X.mean(axis=0)
    y -= y.mean()
    gram, x_y, y_y = X.T @ X / 60, X.T @ y / 60, float(y @ y / 60)
    steps = []
    for steady in (2, 10**9):
        monkeypatch.setattr(_spgl1_kernels, "_STEADY", steady)
        memory = _spgl1_kernels.make_memory(np.zeros(8))
        _, iterations, gap, _, _ = _spgl1_kernels.solve_ball(gram, x_y, y_y, 3.5, 0.0, 1e-8 * y_y, 5000, memory, 0)
        assert gap <= 1e-8 * y_y
        steps.append(iterations)
    assert 2 * steps[0] < steps[1]


def test_stalls_where_rounding_ends_progress():
    problem, _ = draw(3)
    gram, x_y, y_y = problem.gram, problem.x_y, problem.y_y
    memory = _spgl1_kernels.make_memory(np.zeros(9))
    _, iterations, gap, _, status = _spgl1_kernels.solve_ball(gram, x_y, y_y, 2.0, 0.0, 1e-30, 10_000, memory, 0)
    assert status == _spgl1_kernels.STALLED or gap == 0.0
    assert gap <= 1e-12 * y_y
    assert iterations < 10_000


def test_limit_ends_the_steps():
    problem, _ = draw(3)
    gram, x_y, y_y = problem.gram, problem.x_y, problem.y_y
    memory = _spgl1_kernels.make_memory(np.zeros(9))
    _, iterations, gap, _, status = _spgl1_kernels.solve_ball(gram, x_y, y_y, 2.0, 0.0, 1e-10, 2, memory, 0)
    assert (iterations, status) == (2, _spgl1_kernels.MAX_ITER)
    assert gap > 1e-10
    assert np.abs(memory.all_coef).sum() <= 2.0 + 1e-12


def test_terms_beyond_the_first_admitted_are_found():
    """At zero only 32 terms may enter; the check over all terms brings in the others that the solution holds."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 90))
    y = X[:, :70] @ np.ones(70)
    gram, x_y, y_y = X.T @ X / 300, X.T @ y / 300, float(y @ y / 300)
    memory = _spgl1_kernels.make_memory(np.zeros(90))
    n, _, gap, _, status = _spgl1_kernels.solve_ball(gram, x_y, y_y, 70.0, 0.0, 1e-6 * y_y, 10_000, memory, 0)
    assert status == _spgl1_kernels.CONVERGED
    assert np.count_nonzero(memory.all_coef[:70]) == 70 <= n
    grad = x_y - gram @ memory.all_coef
    assert 70.0 * np.abs(grad).max() - memory.all_coef @ grad == pytest.approx(gap, abs=1e-12 * y_y)
