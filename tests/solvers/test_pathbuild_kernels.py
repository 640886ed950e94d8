"""The compiled loops of Pathbuild against plain twins; small enough to run without compilation too."""

import numpy as np
import pytest

from rulegrove.design.rows import Rows
from rulegrove.solvers import _pathbuild_kernels as kernels
from rulegrove.solvers._pathbuild_kernels import Prices, Steps

pytestmark = pytest.mark.kernel

# What makes the loops take one way only: a pass over all columns at each step, rows of the curved Gram made once and
# kept, the same made anew at each step, and whatever the default prices say.
WAYS = {
    "pass": Prices(counting=1.0, adding=1.0, scaling=1e9),
    "kept": Prices(counting=1.0, adding=1.0, scaling=1e-9),
    "anew": Prices(counting=1e-9, adding=1.0, scaling=1e-9),
    "default": Prices(),
}


def draw(seed, n_rules=12, n_linear=2, n_rows=100, equal=True):
    rng = np.random.default_rng(seed)
    rules = (rng.random((n_rows, n_rules)) < rng.uniform(0.1, 0.7, n_rules)).astype(float)
    linear = rng.normal(size=(n_rows, n_linear))
    signal = rules[:, :4].sum(axis=1) + linear.sum(axis=1) + rng.normal(size=n_rows)
    y = np.where(signal > np.median(signal), 1.0, -1.0)
    weights = np.where(rng.random(n_rows) < 0.2, 0.0, 1.0 if equal else rng.uniform(0.2, 2.0, n_rows))
    return Rows.from_dense(rules, linear, y, weights), np.hstack([rules, linear]), y, weights


def follow(rows, n_steps, way, threshold=0.5, refit=True, tail=0.0, step=0.05, done=0):
    lower, upper = (rows.y - tail, rows.y + tail) if tail else (np.full(rows.y.shape, -1.0), np.full(rows.y.shape, 1.0))
    steps = Steps(done, done + np.array([0, n_steps // 2, n_steps]), threshold, step, refit, 1e-14)
    return kernels.rows_path(rows, lower, upper, tail, steps, np.zeros(rows.n_terms), 0.1, WAYS[way])


def plain(X, y, weights, n_steps, threshold=0.5, refit=True, tail=0.0, step=0.05):
    """The gradient from all rows at each step."""
    total = weights.sum()
    coef, intercept = np.zeros(X.shape[1]), 0.1

    def pull():
        score = intercept + X @ coef
        if tail:
            return np.clip(y - score, -tail, tail), np.abs(y - score) < tail
        return (y - score) * (np.abs(score) < 1.0), np.abs(score) < 1.0

    for _ in range(n_steps):
        gradient = 2.0 / total * X.T @ (weights * pull()[0])
        size = np.abs(gradient)
        coef += step * gradient * (size >= threshold * size.max() * (1 - 1e-10))
        if refit:
            q, curved = pull()
            intercept += weights @ q / max(weights @ curved, total / 2)
    return coef, intercept, 2.0 / total * np.abs(X.T @ (weights * pull()[0])).max()


@pytest.mark.parametrize("tail", [0.0, 0.3])
@pytest.mark.parametrize("n_linear", [0, 2])
@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_all_ways_give_the_plain_path(way, equal, n_linear, tail):
    rows, X, y, weights = draw(0, equal=equal, n_linear=n_linear)
    (coefs, gradients, _, squares, iterations), intercepts = follow(rows, 60, way, tail=tail)
    for point, n_steps in enumerate([0, 30, 60]):
        coef, intercept, gradient = plain(X, y, weights, n_steps, tail=tail)
        np.testing.assert_allclose(coefs[point], coef, atol=1e-12)
        assert intercepts[point] == pytest.approx(intercept, abs=1e-12)
        assert gradients[point] == pytest.approx(gradient, abs=1e-12)
        assert squares[point] == pytest.approx(weights @ (y - intercept - X @ coef) ** 2)
    np.testing.assert_array_equal(iterations, [0, 30, 30])


@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_more_columns_than_a_word_and_more_words_than_a_vector(threshold):
    rows, X, y, weights = draw(1, n_rules=70, n_linear=0, n_rows=600)
    models, intercepts = follow(rows, 8, "default", threshold=threshold)
    coef, intercept, _ = plain(X, y, weights, 8, threshold=threshold)
    np.testing.assert_allclose(models.coefs[-1], coef, atol=1e-12)
    assert intercepts[-1] == pytest.approx(intercept, abs=1e-12)


def test_row_that_jumps_over_the_whole_parabola():
    """Its curvature is lost and found in one step, yet its pull changes sign."""
    rows, X, y, weights = draw(2)
    for way in WAYS:
        models, _ = follow(rows, 6, way, tail=0.02, step=3.0, threshold=0.2)
        np.testing.assert_allclose(models.coefs[-1], plain(X, y, weights, 6, 0.2, tail=0.02, step=3.0)[0], atol=1e-12)


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_refreshment_changes_nothing(way, equal):
    """Step 500 computes everything anew; the same steps counted from 1 do not."""
    rows, *_ = draw(3, equal=equal)
    never, never_intercepts = follow(rows, 20, way)
    once, once_intercepts = follow(rows, 20, way, done=490)
    for before, after in zip((*never, never_intercepts), (*once, once_intercepts), strict=True):
        np.testing.assert_allclose(after, before, atol=1e-13)


def test_transposed_bits_are_the_rows():
    rng = np.random.default_rng(4)
    words = rng.integers(0, 2**63, size=(128, 3), dtype=np.uint64) << np.uint64(1)
    row_words = np.empty((2, 192), dtype=np.uint64)
    kernels.transpose_bits(words, row_words)
    columns = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    np.testing.assert_array_equal(
        np.unpackbits(row_words.T.copy().view(np.uint8), axis=1, bitorder="little"), columns.T
    )


@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.0])
def test_gram_alone_gives_the_plain_path(threshold):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(40, 6))
    y = X @ np.array([1.0, -2.0, 0.5, 0.0, 0.0, 0.0]) + rng.normal(size=40)
    gram, x_y, y_y = X.T @ X / 40, X.T @ y / 40, float(y @ y / 40)
    points = np.array([0, 5, 30])
    steps = Steps(0, points, threshold, 0.05, True, 0.0)
    models = kernels.gram_path(gram, x_y, y_y, steps, np.zeros(6))
    coef = np.zeros(6)
    for done in range(31):
        if done in points:
            here = list(points).index(done)
            np.testing.assert_allclose(models.coefs[here], coef, atol=1e-13)
            assert models.risks[here] == pytest.approx(np.mean((y - X @ coef) ** 2))
            assert models.gradients[here] == pytest.approx(2.0 * np.abs(x_y - gram @ coef).max())
        gradient = 2.0 * (x_y - gram @ coef)
        coef = coef + 0.05 * gradient * (np.abs(gradient) >= threshold * np.abs(gradient).max() * (1 - 1e-10))
    np.testing.assert_array_equal(models.iterations, [0, 5, 25])
