"""The compiled loops of fixed-point continuation against plain twins; small enough to run without compilation too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.solvers import Problem, _fpc_kernels
from rulegrove.solvers.certificates import duality_gap, objective
from solver_problems import draw

pytestmark = pytest.mark.kernel


def follow(problem, penalties, l1_ratio=1.0, spectral=True, tol=1e-10, max_iter=10_000, start=None):
    start = np.zeros(problem.n_terms) if start is None else start
    return _fpc_kernels.fixed_point_path(
        problem.gram,
        problem.x_y,
        problem.y_y,
        np.array(penalties),
        l1_ratio,
        4.0,
        problem.weight,
        spectral,
        tol,
        max_iter,
        start,
    )


def shrink(values, threshold):
    return np.sign(values) * np.maximum(np.abs(values) - threshold, 0.0)


def plain_fixed_point(problem, penalty, l1_ratio, coef, tol):
    """Shrinkage with the constant step over all terms, nothing clever."""
    l1, l2 = penalty * l1_ratio, penalty * (1 - l1_ratio)
    step = 1.0 / (np.linalg.eigvalsh(problem.gram)[-1] + l2)
    while duality_gap(problem, coef, penalty, l1_ratio) > tol:
        coef = shrink(coef + step * (problem.x_y - problem.gram @ coef - l2 * coef), step * l1)
    return coef


@pytest.mark.parametrize("l1_ratio", [1.0, 0.6])
@pytest.mark.parametrize("spectral", [True, False])
def test_path_equals_the_plain_iteration(spectral, l1_ratio):
    problem, _ = draw(0)
    penalties = [2.0, 0.5, 0.1, 0.05]
    coefs, _, gaps, iterations, ends = follow(problem, penalties, l1_ratio, spectral)
    assert gaps.max() <= 1e-10
    assert iterations[-1] > 1
    assert set(ends) == {_fpc_kernels.CONVERGED}
    expected = np.zeros(problem.n_terms)
    for penalty, coef in zip(penalties, coefs, strict=True):
        expected = plain_fixed_point(problem, penalty, l1_ratio, expected, 1e-10)
        np.testing.assert_allclose(coef, expected, atol=2e-4)
        np.testing.assert_array_equal(coef != 0, expected != 0)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 12),
    n_terms=st.integers(1, 12),
    binary=st.booleans(),
    common=st.floats(0.0, 3.0),
)
def test_ceiling_of_the_curvature_holds(seed, n_rows, n_terms, binary, common):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_terms)) + common * rng.normal(size=(n_rows, 1))
    X = (X > 0.0) - 0.5 if binary else X
    gram = X.T @ X / n_rows
    largest = np.linalg.eigvalsh(gram)[-1]
    vector = rng.normal(size=n_terms)
    estimate, ceiling = _fpc_kernels.bound_curvature(gram, vector, np.empty(n_terms), n_terms)
    assert ceiling >= (1.0 - 1e-12) * largest
    assert 0.5 * largest < estimate <= min(1.051 * largest, ceiling)


def test_curvature_of_correlated_columns_is_proved():
    """One eigenvalue stands out, as with rules: the ceiling is as good as the estimate."""
    problem, rng = draw(1)
    estimate, ceiling = _fpc_kernels.bound_curvature(problem.gram, rng.normal(size=9), np.empty(9), 9)
    largest = np.linalg.eigvalsh(problem.gram)[-1]
    assert largest <= estimate == ceiling <= 1.06 * largest


def test_curvature_looks_at_the_first_rows_only():
    gram = np.diag([1.0, 2.0, 50.0])
    estimate, _ = _fpc_kernels.bound_curvature(gram, np.ones(3), np.empty(3), 2)
    assert 2.0 <= estimate <= 2.1
    assert _fpc_kernels.bound_curvature(np.zeros((2, 2)), np.ones(2), np.empty(2), 2) == (0.0, 0.0)
    # The power method sees nothing when it begins where the Gram is zero.
    twins = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert _fpc_kernels.bound_curvature(twins, np.ones(2), np.empty(2), 2) == (2.0, 2.0)


def test_constant_step_is_clamped():
    """The paper's formula gives -5.7 for five times as many rows as terms."""
    assert _fpc_kernels.safe_factor(500.0, 100) == 1.0
    assert _fpc_kernels.safe_factor(161.0, 100) == 1.0
    assert _fpc_kernels.safe_factor(70.0, 100) == pytest.approx(2.665 - 1.665 * 0.7)
    assert _fpc_kernels.safe_factor(10.0, 100) == 1.999


@settings(max_examples=100, deadline=None)
@given(slope=st.floats(-1e3, -1e-9), bend=st.floats(0.0, 1e6), slack=st.floats(0.0, 10.0))
def test_fraction_is_the_first_with_enough_decrease(slope, bend, slack):
    def enough(fraction):
        return fraction * (1.0 - 1e-3) * slope + 0.5 * fraction * fraction * bend <= slack

    fraction = _fpc_kernels.find_fraction(slope, bend, slack)
    if fraction == 0.0:
        assert not enough(2.0**-30)
    else:
        assert fraction * slope + 0.5 * fraction**2 * bend <= slack
        assert fraction == 1.0 or not enough(2.0 * fraction)


@settings(max_examples=100, deadline=None)
@given(below=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30))
def test_reference_is_never_below_the_objective(below):
    value = reference = 5.0
    mass = 1.0
    values = [value]
    for share in below:
        value = share * reference
        values.append(value)
        reference, mass = _fpc_kernels.average(reference, mass, value)
        weights = 0.85 ** np.arange(len(values))[::-1]
        assert reference >= value
        assert reference == pytest.approx(weights @ values / weights.sum())
        assert mass == pytest.approx(weights.sum())


def begin(problem, coef, curvature, l1, l2):
    """The working set of all terms, at given coefficients."""
    n = problem.n_terms
    grad = problem.x_y - problem.gram @ coef
    memory = _fpc_kernels.Workspace(
        coef.copy(),
        grad.copy(),
        np.ones(n, dtype=np.uint8),
        np.arange(n),
        problem.gram.copy(),
        problem.x_y.copy(),
        coef.copy(),
        grad,
        *(np.empty(n) for _ in range(4)),
    )
    value, gap = _fpc_kernels.certify(coef, grad, problem.x_y, n, problem.y_y, l1, l2)
    ceiling = float(np.abs(problem.gram).sum(axis=1).max())
    return memory, _fpc_kernels.Search(0.0, curvature, ceiling, value, gap, value, 1.0, True, True)


@pytest.mark.parametrize(("l1", "l2"), [(0.05, 0.0), (0.05, 0.1)])
def test_search_keeps_below_its_reference(l1, l2):
    problem, rng = draw(4)
    largest = float(np.linalg.eigvalsh(problem.gram)[-1])
    memory, now = begin(problem, rng.normal(size=problem.n_terms), largest, l1, l2)
    risen = 0
    for _ in range(300):
        before, coef = now, memory.coef.copy()
        now = _fpc_kernels.iterate(memory, problem.n_terms, problem.y_y, l1, l2, 1.0, True, False, before)
        if not now.moved:
            break
        penalty = l1 + l2
        assert now.objective == pytest.approx(objective(problem, memory.coef, penalty, l1 / penalty))
        assert now.objective <= before.reference + 1e-13 * problem.y_y
        assert now.objective <= now.reference
        assert now.step >= (1.0 - 1e-9) / (largest + l2)
        np.testing.assert_allclose(memory.grad, problem.x_y - problem.gram @ memory.coef, atol=1e-12)
        if now.whole and now.objective != before.objective:
            step = before.step or 1.0 / (largest + l2)
            goal = coef + step * (problem.x_y - problem.gram @ coef - l2 * coef)
            np.testing.assert_allclose(memory.coef, shrink(goal, step * l1), atol=1e-9)
        risen += now.objective > before.objective
        if now.gap <= 1e-12:
            break
    assert now.gap <= 1e-12
    assert risen > 0  # or the search were monotone


def test_curvature_too_low_is_raised():
    """With a twentieth of the curvature the plain iteration would diverge."""
    problem, _ = draw(5)
    largest = float(np.linalg.eigvalsh(problem.gram)[-1])
    memory, now = begin(problem, np.zeros(problem.n_terms), largest / 20.0, 0.05, 0.0)
    for _ in range(3000):
        before = now
        now = _fpc_kernels.iterate(memory, problem.n_terms, problem.y_y, 0.05, 0.0, 1.0, False, False, before)
        assert now.objective <= before.objective + 1e-13
        if now.gap <= 1e-6:
            break
    assert now.gap <= 1e-6
    assert largest / 20.0 < now.curvature <= 1.1 * largest


def test_ends_where_rounding_does():
    problem, _ = draw(6)
    _, _, gaps, iterations, ends = follow(problem, [0.5, 0.1], tol=0.0)
    assert set(ends) <= {_fpc_kernels.STALLED, _fpc_kernels.CONVERGED}
    assert iterations.max() < 5000
    assert gaps.max() < 1e-13 * problem.y_y


def test_careful_step_leaves_no_remains():
    """A step that was cut short leaves coefficients on their way to zero; the safe step after it is taken whole."""
    problem, rng = draw(7)
    largest = float(np.linalg.eigvalsh(problem.gram)[-1])
    memory, now = begin(problem, 1e-3 * rng.normal(size=9), largest, 1.0, 0.0)
    arguments = (memory, problem.n_terms, problem.y_y, 1.0, 0.0, 1.0, True)
    now = _fpc_kernels.iterate(*arguments, False, now._replace(step=50.0 / largest))
    assert not now.whole
    assert memory.coef.all()
    goal = memory.coef + (problem.x_y - problem.gram @ memory.coef) / largest
    now = _fpc_kernels.iterate(*arguments, True, now)
    assert now.whole
    assert not memory.coef.all()
    np.testing.assert_allclose(memory.coef, shrink(goal, 1.0 / largest), atol=1e-12)


@pytest.mark.parametrize("spectral", [True, False])
@pytest.mark.parametrize("max_iter", [1, 2, 5])
def test_limit_is_kept(max_iter, spectral):
    problem, _ = draw(7)
    _, _, gaps, iterations, ends = follow(problem, [0.1, 0.01], max_iter=max_iter, spectral=spectral)
    assert set(iterations) == {max_iter}
    assert set(ends) == {_fpc_kernels.LIMIT}
    assert gaps.min() > 1e-10


def test_columns_of_zeros_get_no_coefficient():
    problem, _ = draw(8)
    gram, x_y = problem.gram.copy(), problem.x_y.copy()
    gram[2], gram[:, 2], x_y[2] = 0.0, 0.0, 0.0
    empty = Problem(gram, x_y, problem.y_y, np.zeros(9), 0.0, 40.0)
    start = np.full(9, 100.0)
    coefs, _, gaps, _, _ = follow(empty, [0.1], start=start)
    assert coefs[0, 2] == 0.0
    assert gaps[0] <= 1e-10
    np.testing.assert_array_equal(start, 100.0)


def test_term_that_no_screening_foresees_is_found():
    """Strong rules would discard term 0, which the solution holds; the check over all terms brings it in."""
    X = np.array([[0.0, 0.8, -0.6], [-0.2, -1.4, -0.8], [2.8, 1.0, -0.8]])
    y = np.array([-1.3, -1.0, 0.0])
    problem = Problem(X.T @ X / 3, X.T @ y / 3, float(y @ y / 3), np.zeros(3), 0.0, 3.0)
    penalties = np.array([0.9, 0.6]) * np.abs(problem.x_y).max()
    coefs, _, gaps, _, _ = follow(problem, penalties, tol=1e-13)
    assert coefs[0, 0] == 0.0
    assert coefs[1, 0] == pytest.approx(0.0102, abs=1e-4)
    assert gaps.max() <= 1e-13
