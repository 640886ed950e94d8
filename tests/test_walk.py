"""Walks down a path against refits and whole paths, and where they end against scripts."""

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet

from rulegrove import Glmnet, Pathbuild
from rulegrove.columns import Columns, Feature
from rulegrove.design.bits import compile_rules
from rulegrove.design.statistics import Moments, collect_statistics
from rulegrove.estimators._design import Design
from rulegrove.losses import Squared
from rulegrove.selection import Alone
from rulegrove.walk import STRIDE, Fold, Walk, end_at, walk_all, weighted_mean
from small_designs import first_problem, folds_of, make_design, path_of


def walk(solver, problem, folds, on_progress=None, **options):
    """Walk to the end with one target: the paths and the held-out errors."""
    done = walk_all([Walk(Alone(Squared()), solver, [problem], [[fold] for fold in folds], **options)], on_progress)
    return [path for (path,) in done.paths], done.errors[0]


def test_the_walk_scores_every_fold_at_every_penalty():
    """Fold errors against refits of scikit-learn; the folds are solved to a gap of 3e-4 only, hence the tolerance."""
    design, dense, y, folds = make_design(2)
    problem = first_problem(design.total)
    (path, *_), errors = walk(Glmnet(n_penalties=12, penalty_ratio=0.01), problem, folds_of(design))
    assert errors.shape == (3, len(path.penalties))
    np.testing.assert_allclose(
        path.penalties, Glmnet(n_penalties=12, penalty_ratio=0.01).grid(problem)[: errors.shape[1]]
    )
    for number in range(3):
        rows = folds != number
        for point, penalty in enumerate(path.penalties):
            twin = ElasticNet(alpha=penalty, l1_ratio=1.0, tol=1e-10, max_iter=100_000).fit(dense[rows], y[rows])
            expected = np.mean((y[~rows] - twin.predict(dense[~rows])) ** 2)
            assert errors[number, point] == pytest.approx(expected, rel=0.02)


def test_the_walk_is_the_path_taken_in_strides():
    """Warm starts carry over: every point is as good as on a path taken at once."""
    design, *_ = make_design(3)
    problem = first_problem(design.total)
    (walked,), errors = walk(Glmnet(tol=1e-10), problem, [])
    whole = Glmnet(tol=1e-10).path(problem)
    assert len(errors) == 0
    np.testing.assert_array_equal(walked.penalties, whole.penalties)
    np.testing.assert_allclose(walked.coefs, whole.coefs, atol=1e-4)
    assert walked.parameter.name == whole.parameter.name
    assert len(walked.status) == len(walked.gaps) == len(walked.iterations) == len(walked.parameter.values) == 100
    assert walked.gaps.max() <= 1e-10


def test_the_walk_ends_after_the_error_has_turned_and_not_before():
    rng = np.random.default_rng(0)
    design, *_ = make_design(0, n_rows=60, n_rules=40)
    noise = rng.normal(size=(60, 1))
    statistics = design.statistics
    # Noise for a target: any term can only hurt, so the error turns at once.
    columns = Columns([Feature(f"x{k}") for k in range(4)], rng.normal(size=(60, 4)))
    program = compile_rules(design.terms.rules, 4)
    statistics = collect_statistics(columns, program, design.terms.linear, noise, np.arange(60) % 3)
    noisy = Design(design.terms, statistics, statistics.moments())
    (path, *_), errors = walk(Glmnet(), first_problem(noisy.total), folds_of(noisy))
    mean = weighted_mean(errors, folds_of(noisy))
    assert len(path.penalties) < 100
    assert mean.size - 1 - np.argmin(mean) >= 8


@pytest.mark.parametrize("n_threads", [2, 4])
def test_the_walk_does_not_depend_on_threads(n_threads):
    design, *_ = make_design(4)
    one = walk(Glmnet(), first_problem(design.total), folds_of(design), n_threads=1)
    many = walk(Glmnet(), first_problem(design.total), folds_of(design), n_threads=n_threads)
    for path, twin in zip(one[0], many[0], strict=True):
        np.testing.assert_array_equal(path.coefs, twin.coefs)
    np.testing.assert_array_equal(one[1], many[1])


def test_the_walk_reports_its_progress():
    design, *_ = make_design(5)
    seen = []
    (path,), _ = walk(Glmnet(), first_problem(design.total), [], on_progress=lambda *counts: seen.append(counts))
    assert seen[-1] == (100, 100)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert len(path.penalties) == 100


@pytest.mark.parametrize("n_penalties", [1, 2, 3])
def test_the_walk_of_a_short_grid(n_penalties):
    """A grid of one point was cut into nothing and that point, and the solver refused to solve at no penalty."""
    design, *_ = make_design(6)
    (path, *_), errors = walk(Glmnet(n_penalties=n_penalties), first_problem(design.total), folds_of(design))
    assert len(path.penalties) == errors.shape[1] == n_penalties


def test_folds_are_solved_less_finely_but_never_more():
    assert Glmnet(tol=1e-8).loosened(3e-4).tol == 3e-4
    coarse, without = Glmnet(tol=1e-2), Pathbuild()
    assert coarse.loosened(3e-4) is coarse
    assert without.loosened(3e-4) is without


def test_folds_on_the_way_to_a_given_point_are_solved_as_finely_as_the_whole():
    design, *_ = make_design(8)
    (_, *fold_paths), _ = walk(Glmnet(tol=1e-9), first_problem(design.total), folds_of(design), last=0.01)
    assert all(path.gaps.max() <= 1e-9 for path in fold_paths)
    (_, *fold_paths), _ = walk(Glmnet(tol=1e-9), first_problem(design.total), folds_of(design))
    assert all(path.gaps.max() > 1e-9 for path in fold_paths)


@pytest.mark.parametrize("grid", [np.array([8.0, 4.0, 2.0, 1.0]), np.array([0.0, 1.0, 3.0, 9.0])])
def test_a_grid_made_to_end_at_a_point(grid):
    """Whatever the direction; a grid of one point has none, and ends there at once."""
    rising = grid[-1] > grid[0]
    assert end_at(grid, 2.5).tolist() == [*(p for p in grid if (p < 2.5 if rising else p > 2.5)), 2.5]
    assert end_at(grid, grid[2]).tolist() == grid[:3].tolist()
    beyond = -1.0 if rising else 99.0
    assert end_at(grid, beyond).tolist() == [beyond]
    assert end_at(grid[:1], 2.5).tolist() == [2.5]


def test_a_walk_made_to_end_at_a_penalty():
    design, *_ = make_design(7)
    problem = first_problem(design.total)
    own = Glmnet().grid(problem)
    (path,), _ = walk(Glmnet(), problem, [], last=0.05)
    np.testing.assert_array_equal(path.penalties, [*own[own > 0.05], 0.05])


class Scripted:
    """A course of a hundred points whose held-out errors and terms are given."""

    mixes = (1.0,)

    def __init__(self, errors, coefs):
        self._errors, self._coefs = np.asarray(errors, dtype=float), coefs

    def grid(self, solver, problems):
        return np.arange(100.0)

    def path(self, solver, problems, points, start):
        here = points.astype(int)
        return [path_of(points, own[here], np.zeros(len(here))) for own in self._coefs]

    def errors(self, paths, held_out):
        return (self._errors[paths[0].parameter.values.astype(int)] + held_out[0].y_y)[None]


def walk_script(errors, coefs=None, n_targets=1, shift=0.0, **options):
    """Walk to the end of a script, with two folds whose errors are `shift` above and below it: the points walked."""
    coefs = np.zeros((n_targets, 100, 1)) if coefs is None else coefs
    folds = [[Fold(None, Moments(1.0, *[None] * 4, side * shift))] * len(coefs) for side in (-1, 1)]
    done = walk_all([Walk(Scripted(errors, coefs), Glmnet(), [None] * len(coefs), folds, **options)])
    np.testing.assert_allclose(done.errors[0].mean(axis=0), errors[: done.n_done])
    assert [len(path.coefs) for own in done.paths for path in own] == [done.n_done] * 3 * len(coefs)
    return done.n_done


ENDS = [50, *range(55, 101, 5)]


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("turn", [0, 41, 42, 46, 47, 60, 91, 92, 99])
def test_the_walk_is_patient_for_eight_points(n_targets, turn):
    errors = 1.0 + np.abs(np.arange(100) - turn) / 100
    expected = next((end for end in ENDS if end - 1 - turn >= 8), 100)
    assert walk_script(errors, n_targets=n_targets) == expected
    assert walk_script(errors, n_targets=n_targets, patient=True) == expected


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("shift", [0.0, 0.02, 0.1, 10.0])
def test_an_impatient_walk_ends_where_a_stride_gains_little(n_targets, shift):
    """Two folds of equal weight and errors e - s and e + s have a standard error of s; a stride must gain a quarter."""
    errors = 1.0 + np.exp(-np.arange(100) / 25.0)
    gains = {end: errors[end - STRIDE - 1] - errors[end - 1] for end in ENDS[1:]}
    expected = next((end for end, gain in gains.items() if gain < 0.25 * shift), 100)
    assert walk_script(errors, n_targets=n_targets, shift=shift, patient=False) == expected
    assert walk_script(errors, n_targets=n_targets, shift=shift) == 100
