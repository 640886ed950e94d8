"""Curvatures of working sets that change, and of samples of the rows."""

import numpy as np
import pytest

from row_problems import KINDS, build, make_problem
from rulegrove.design.rows import Rows
from rulegrove.losses import Logistic
from rulegrove.solvers import Glmnet, Status
from rulegrove.solvers._curvature import Curvature


@pytest.mark.parametrize("kind", ["random", "weights", "few of one class"])
def test_curvature_from_a_sample_leads_to_the_same_minimum(kind, monkeypatch):
    problem, _ = make_problem(*build(kind))
    solver = Glmnet(loss="logistic", n_penalties=8, penalty_ratio=0.05, tol=1e-9)
    exact = solver.path(problem)
    monkeypatch.setattr("rulegrove.solvers._curvature._SAMPLE_WORDS", 1)
    sampled = solver.path(problem)
    assert set(sampled.status) == {Status.CONVERGED}
    np.testing.assert_allclose(sampled.coefs, exact.coefs, atol=1e-4)
    assert not np.array_equal(sampled.iterations, exact.iterations), "the sample must have been used"


@pytest.mark.parametrize("n_words", [4, 2], ids=["all rows", "a sample"])
@pytest.mark.parametrize("kind", KINDS)
def test_curvature_that_moves_is_the_one_counted_there(kind, n_words):
    """Terms that come and go cost the pairs that are new, and change nothing else."""
    rules, linear, y, weights = build(kind)
    rows = Rows.from_dense(rules, linear, y, weights)
    rng = np.random.default_rng(1)
    coef = rng.normal(size=rows.n_terms)
    row_weights = rows.weights * Logistic().model_curvature(rows.y, rows.scores(coef, 0.1))
    before, after = rng.random((2, rows.n_terms)) < 0.6
    members = rows.take(np.flatnonzero(after))
    moved = Curvature.count(rows.take(np.flatnonzero(before)), row_weights, np.arange(n_words)).move(
        members, before, after
    )
    counted = Curvature.count(members, row_weights, np.arange(n_words))
    np.testing.assert_allclose(moved.gram, counted.gram, atol=1e-14)
    np.testing.assert_allclose(moved.sums, counted.sums, atol=1e-12)
    assert moved.weight == pytest.approx(counted.weight)
