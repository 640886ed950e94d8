"""The choice for classes that are solved together: the model of it, the ends of the walk and given points."""

import functools

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression, MultiTaskElasticNet
from sklearn.metrics import log_loss

from rulegrove import Glmnet, RuleEnsembleClassifier, walk
from rulegrove.datasets import make_waveform
from rulegrove.joint_selection import Grouped, Multinomial
from rulegrove.selection import follow_and_choose, select
from rulegrove.walk import FIRST_STRIDE, PATIENCE, SETTLED, STRIDE
from small_designs import make_classes

WAYS = [Grouped(), Multinomial()]
N_PENALTIES = 30
both_ways = pytest.mark.parametrize("joint", WAYS, ids=["grouped", "multinomial"])


def solver_of(joint, **options):
    loss = "squared" if isinstance(joint, Grouped) else "logistic"
    return Glmnet(**{"loss": loss, "n_penalties": N_PENALTIES, "penalty_ratio": 0.04, **options})


@functools.cache
def design_of(joint, seed=0, **options):
    return make_classes(seed, rows=isinstance(joint, Multinomial), **options)


def choose_jointly(joint, *, selection, design=None, fold_design=None, solver=None, **options):
    """Choose with the folds of a design, or of another one on the same rows: paths and choices of the classes."""
    design = design_of(joint)[0] if design is None else design
    folded = design if fold_design is None else fold_design
    folds = [folded.fold(fold) for fold in range(3)] if isinstance(selection, str) else []
    solver = solver_of(joint) if solver is None else solver
    chosen = select(solver, design.problems(), folds, together=joint, selection=selection, **options)
    return [one.path for one in chosen], [one.selection for one in chosen]


@functools.cache
def choose_freely(joint):
    """The choice of least error."""
    return choose_jointly(joint, selection="min")


def mean_loss(joint, dense, codes, coefs, intercepts):
    """The joint loss of a model on dense rows."""
    scores = dense @ np.transpose(coefs) + intercepts
    if isinstance(joint, Multinomial):
        return np.mean(logsumexp(scores, axis=1) - scores[np.arange(len(codes)), codes])
    targets = np.where(codes[:, None] == np.arange(scores.shape[1]), 1.0, -1.0)
    return ((targets - scores) ** 2).sum(axis=1).mean()


def test_the_chosen_grouped_model_is_that_of_scikit_learn():
    design, dense, codes, _ = make_classes(1)
    paths, choices = choose_jointly(Grouped(), design=design, solver=Glmnet(l1_ratio=0.9, tol=1e-12), selection="1se")
    index = choices[0].index
    targets = np.where(codes[:, None] == np.arange(3), 1.0, -1.0)
    penalty = paths[0].penalties[index]
    twin = MultiTaskElasticNet(alpha=penalty, l1_ratio=0.9, tol=1e-12, max_iter=100_000).fit(dense, targets)
    assert twin.coef_.any()
    np.testing.assert_allclose([path.coefs[index] for path in paths], twin.coef_, atol=1e-6)
    np.testing.assert_allclose([path.intercepts[index] for path in paths], twin.intercept_, atol=1e-6)


def test_the_chosen_multinomial_model_is_that_of_scikit_learn():
    design, dense, codes, _ = make_classes(1, rows=True, n_rows=120)
    paths, choices = choose_jointly(
        Multinomial(), design=design, solver=Glmnet(loss="logistic", l1_ratio=0.9, tol=1e-10), selection="1se"
    )
    index = choices[0].index
    strength = 1.0 / (len(codes) * paths[0].penalties[index])
    twin = LogisticRegression(l1_ratio=0.9, solver="saga", C=strength, tol=1e-8, max_iter=20_000).fit(dense, codes)
    coefs = np.array([path.coefs[index] for path in paths])
    intercepts = np.array([path.intercepts[index] for path in paths])
    assert twin.coef_.any()
    np.testing.assert_allclose(coefs, twin.coef_, atol=1e-4)
    np.testing.assert_allclose(intercepts - intercepts.mean(), twin.intercept_ - twin.intercept_.mean(), atol=1e-4)


@both_ways
@pytest.mark.parametrize("regrown", [False, True])
def test_fold_points_have_the_errors_that_were_chosen_by(joint, regrown):
    """In the terms of their own folds, which may be others than those of the whole data."""
    design, dense, codes, folds = design_of(joint)
    other, other_dense, *_ = design_of(joint, n_rules=13)
    fold_design, fold_dense = (other, other_dense) if regrown else (design, dense)
    _, choices = choose_jointly(joint, design=design, fold_design=fold_design, selection="min")
    for fold in range(3):
        coefs = np.array([choice.fold_points[fold][0] for choice in choices])
        intercepts = np.array([choice.fold_points[fold][1] for choice in choices])
        assert coefs.shape == (3, fold_dense.shape[1])
        here = folds == fold
        error = mean_loss(joint, fold_dense[here], codes[here], coefs, intercepts)
        assert choices[0].fold_errors[fold, choices[0].index] == pytest.approx(error)


@both_ways
def test_no_terms_at_all(joint):
    """A penalty that leaves none gives the shares of the classes."""
    design, _, codes, _ = design_of(joint)
    largest = joint.grid(solver_of(joint), design.problems())[0]
    paths, choices = choose_jointly(joint, design=design, selection=1.001 * float(largest))
    intercepts = [path.intercepts[choices[0].index] for path in paths]
    assert not any(path.coefs.any() for path in paths)
    shares = np.bincount(codes) / len(codes)
    if isinstance(joint, Grouped):
        np.testing.assert_allclose(intercepts, 2 * shares - 1, atol=1e-12)
    else:
        np.testing.assert_allclose(np.exp(intercepts - logsumexp(intercepts)), shares, atol=1e-6)


@both_ways
def test_a_given_penalty_is_the_end_of_the_path(joint):
    paths, choices = choose_jointly(joint, selection=0.0123)
    assert [path.penalties[-1] for path in paths] == [0.0123] * 3
    assert {(choice.index, choice.rule) for choice in choices} == {(len(paths[0].penalties) - 1, "penalty 0.0123")}
    assert choices[0].errors is None
    assert choices[0].fold_points == ()
    assert any(path.coefs[-1].any() for path in paths)


@both_ways
def test_the_walk_ends_after_the_joint_error_has_turned(joint):
    """Classes drawn by lot: any term can only hurt."""
    design, *_ = design_of(joint, seed=3, n_rows=90, noise=1e6)
    _, choices = choose_jointly(joint, design=design, selection="min")
    errors = choices[0].errors
    assert errors.size == int(FIRST_STRIDE * N_PENALTIES)
    assert errors.size - 1 - np.argmin(errors) >= PATIENCE
    assert all(choice.index == np.argmin(errors) for choice in choices)


@both_ways
def test_the_walk_for_one_standard_error_ends_once_the_joint_error_has_settled(joint):
    solver = solver_of(joint, n_penalties=40, penalty_ratio=0.01)
    (_, (walked, *_)), (_, (whole, *_)) = (
        choose_jointly(joint, solver=solver, selection=rule) for rule in ("1se", "min")
    )
    n_points = walked.errors.size
    assert n_points < whole.errors.size
    np.testing.assert_array_equal(walked.fold_errors, whole.fold_errors[:, :n_points])
    assert walked.errors[-STRIDE - 1] - walked.errors[-1] < SETTLED * walked.standard_errors[-1]


def test_a_single_target_is_chosen_for_as_by_itself(monkeypatch):
    monkeypatch.setattr(walk, "FOLD_ACCURACY", 1e-12)  # to compare two solvers, not their patience with a fold
    design, *_ = make_classes(2)
    problems, folds = design.problems()[:1], [design.fold(fold)[:1] for fold in range(3)]
    solver = Glmnet(tol=1e-11, l1_ratio=0.9)
    (one,) = follow_and_choose(Grouped(), [solver], problems, folds, selection="min")
    (twin,) = select(solver, problems, folds, selection="min")
    assert one.selection.index == twin.selection.index
    np.testing.assert_allclose(one.path.coefs, twin.path.coefs, atol=1e-4)
    np.testing.assert_allclose(one.selection.errors, twin.selection.errors, rtol=1e-6)
    (left_alone,) = select(solver, problems, folds, together=Grouped(), selection="min")
    np.testing.assert_array_equal(left_alone.path.coefs, twin.path.coefs)


@both_ways
def test_penalties_and_mixes_of_norms_of_the_solver(joint):
    penalties = [0.2, 0.1, 0.05, 0.02]
    paths, _ = choose_jointly(joint, solver=solver_of(joint, penalties=penalties), selection="min")
    assert [path.penalties.tolist() for path in paths] == [penalties] * 3
    lasso, left_open = (
        choose_jointly(joint, solver=solver_of(joint, penalties=penalties, l1_ratio=ratio), selection=0.03)[0]
        for ratio in (1.0, "cv")
    )
    np.testing.assert_array_equal([path.coefs for path in lasso], [path.coefs for path in left_open])


@both_ways
def test_progress_and_threads(joint):
    seen = []
    one = choose_freely(joint)
    two = choose_jointly(joint, selection="min", n_threads=2, on_progress=lambda *counts: seen.append(counts))
    np.testing.assert_array_equal([path.coefs for path in one[0]], [path.coefs for path in two[0]])
    np.testing.assert_array_equal(one[1][0].fold_errors, two[1][0].fold_errors)
    assert seen[-1] == (len(one[0][0].penalties), N_PENALTIES)


@pytest.mark.parametrize(("multiclass", "loss"), [("grouped", "squared"), ("shared", "logistic")])
@pytest.mark.parametrize("honest", [False, True])
def test_ten_terms_know_more_than_the_shares_of_the_classes(multiclass, loss, honest):
    """A multinomial model of ten terms had a log loss of about log 3."""
    X, y = make_waveform(900, random_state=0)
    model = RuleEnsembleClassifier(
        multiclass=multiclass,
        solver=Glmnet(loss=loss, n_penalties=20, penalty_ratio=0.02),
        max_terms=10,
        honest_cv=honest,
        n_candidates=40,
        random_state=0,
        n_jobs=1,
    ).fit(X[:300], y[:300])
    assert 0 < np.count_nonzero(model.model_.coefs, axis=1).max() <= 10  # of each class
    assert log_loss(y[300:], model.predict_proba(X[300:])) < 0.75
