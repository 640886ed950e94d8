"""Candidates as problems for a solver, against dense columns of the rows."""

from dataclasses import replace

import numpy as np
import pytest

from rulegrove._progress import Progress
from rulegrove.columns import Columns, Feature
from rulegrove.design.linear import fit_linear_terms
from rulegrove.estimators._constraints import Constraints
from rulegrove.estimators._design import ALL_FOLDS, TRAINED, Request, build_design, count_candidates, find_strengths
from rulegrove.estimators._training import NEVER_HELD_OUT, Encoded, TrainingData
from rulegrove.losses import Squared
from rulegrove.rules.rule import Condition, Rule
from small_designs import make_classes, make_design
from solver_problems import make_problem

LOW, HIGH = Rule((Condition(0, upper=0.0),)), Rule((Condition(1, lower=0.5),))
SAME = Rule((Condition(0, upper=0.0), Condition(1, upper=99.0)))  # the rows of LOW, in more words
NEAR = Rule((Condition(0, upper=0.05),))


def assert_same_problem(found, expected):
    np.testing.assert_allclose(found.gram, expected.gram, atol=1e-12)
    np.testing.assert_allclose(found.x_y, expected.x_y, atol=1e-12)
    assert found.y_y == pytest.approx(expected.y_y)


def make_data(n_rows=200, weights=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 2))
    columns = Columns([Feature("a"), Feature("b")], X)
    targets = np.column_stack([X[:, 0] + rng.normal(size=n_rows), X[:, 1] ** 2])
    return TrainingData.of(columns, Encoded(targets, 0.0, weights)), np.arange(n_rows) % 4


def build(rules, *, max_correlation=1.0, needs_rows=False, weights=None, **options):
    """A design of two outputs, and its data, rows dense and folds."""
    data, folds = make_data(weights=weights)
    block = data.columns.take(slice(None))
    linear = fit_linear_terms(block, weights, np.zeros(2, dtype=np.int64))
    design = build_design(data, (rules, linear), folds, max_correlation, needs_rows, 1, Progress(), **options)
    dense = np.column_stack([*(rule.holds(block) for rule in design.terms.rules), linear.evaluate(block)])
    return design, data, dense.astype(np.float64), folds


@pytest.mark.parametrize("weighted", [False, True])
def test_problems_are_those_of_dense_columns(weighted):
    """Without weights rules are counted by their bits, with weights by sums: one problem an output, one a fold."""
    weights = np.random.default_rng(1).random(200) + 0.5 if weighted else np.ones(200)
    design, data, dense, folds = build((LOW, HIGH), weights=weights if weighted else None)
    for output, problem in enumerate(design.problems()):
        assert_same_problem(problem, make_problem(dense, data.targets[:, output], weights))
    for fold in range(4):
        kept = folds != fold
        for output, record in enumerate(design.fold(fold)):
            expected = make_problem(dense[kept], data.targets[kept, output], weights[kept])
            assert_same_problem(record.problem, expected)
            assert record.held_out.weight == pytest.approx(weights[~kept].sum())
            assert record.held_out.y_sum[0] == pytest.approx(weights[~kept] @ data.targets[~kept, output])


def test_statistics_given_by_hand_make_the_same_problems():
    design, dense, y, folds = make_design(0)
    assert_same_problem(design.problems()[0], make_problem(dense, y))
    assert_same_problem(design.fold(2)[0].problem, make_problem(dense[folds != 2], y[folds != 2]))


def test_rows_of_a_fold_are_held_out():
    """A solver that needs rows gets those of the other folds, and is judged by those of the fold."""
    design, dense, codes, folds = make_classes(0, rows=True)
    rng = np.random.default_rng(0)
    coefs, intercepts = rng.normal(size=(1, dense.shape[1])), rng.normal(size=1)
    for fold in range(3):
        for label, record in enumerate(design.fold(fold)):
            losses = (np.where(codes == label, 1.0, -1.0) - intercepts - dense @ coefs[0]) ** 2
            assert record.held_out.risks(Squared(), coefs, intercepts) == pytest.approx(losses[folds == fold].mean())
            trained = record.problem.rows.risks(Squared(), coefs, intercepts)
            assert trained == pytest.approx(losses[folds != fold].mean())


def test_repeats_and_near_repeats_are_one_term():
    design, *_ = build((LOW, SAME, HIGH, NEAR))
    assert design.terms.rules == (LOW, HIGH, NEAR)
    assert [alias.rule for alias in design.terms.aliases[0]] == [SAME]
    thinned, *_ = build((LOW, SAME, HIGH, NEAR), max_correlation=0.9)
    assert thinned.terms.rules in ((LOW, HIGH), (HIGH, NEAR))


def test_what_is_forced_stays_and_is_not_penalised():
    constraints = Constraints(np.array([0, 1]), frozenset([NEAR]))
    design, *_ = build((LOW, HIGH, NEAR), max_correlation=0.9, constraints=constraints)
    assert design.terms.rules == (HIGH, NEAR)
    for problem in [*design.problems(), *(record.problem for record in design.fold(0))]:
        assert problem.unpenalised.tolist() == [False, True, False, False]
        assert problem.signs.tolist() == [1, 0, 0, 1]


def test_a_request_tells_one_fold_or_all_apart():
    folds = np.array([0, 1, 2, NEVER_HELD_OUT, 1])
    request = Request((LOW,), fit_linear_terms(np.zeros((2, 3)), None, np.ones(2, dtype=np.int64)))
    assert request.sides(folds).tolist() == folds.tolist()
    assert request.outputs == slice(None)
    one = replace(request, output=2, held_out=1)
    assert one.sides(folds).tolist() == [0, 1, 0, NEVER_HELD_OUT, 1]
    assert one.outputs == slice(2, 3)


@pytest.mark.parametrize("folds_asked", [ALL_FOLDS, TRAINED])
@pytest.mark.parametrize("weighted", [False, True])
def test_strengths_are_correlations_with_the_target_in_the_folds_that_may_be_asked(weighted, folds_asked):
    weights = np.random.default_rng(1).integers(1, 4, 200).astype(np.float64) if weighted else None
    data, folds = make_data(weights=weights)
    sides = (folds == 0).astype(np.int64)
    linear = fit_linear_terms(np.empty((0, 200)), None, np.empty(0, dtype=np.int64))
    counted = count_candidates(data, ((LOW, HIGH, NEAR), linear), sides, 1, Progress())
    asked = np.ones(200, dtype=bool) if folds_asked == ALL_FOLDS else sides == 0
    X, y = data.columns.take(slice(None))[:, asked], data.targets[asked]
    own = np.ones(asked.sum()) if weights is None else weights[asked]
    expected = []
    for holds in (X[0] <= 0.0, X[1] > 0.5, X[0] <= 0.05):
        share = np.average(holds, weights=own)
        covariances = (own * (holds - share)) @ y
        expected.append(np.linalg.norm(covariances) / np.sqrt(own.sum() * share * (1.0 - share)))
    np.testing.assert_allclose(find_strengths(counted, folds_asked), expected, rtol=1e-6)
