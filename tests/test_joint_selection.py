"""The choice for classes that are solved together: the cap, the ends of the walk and given points."""

import functools

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression, MultiTaskElasticNet
from sklearn.metrics import log_loss

from dense_subsets import best_exchange, unexplained
from rulegrove import Glmnet, RuleEnsembleClassifier, walk
from rulegrove.datasets import make_waveform
from rulegrove.joint_selection import Grouped, Multinomial
from rulegrove.selection import follow_and_choose, select
from rulegrove.solvers.glmnet import FEW_L1_SHARE
from rulegrove.subset import RIDGE
from rulegrove.walk import FIRST_STRIDE, PATIENCE, SETTLED, STRIDE, count_terms
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
    """The choice of least error without a cap."""
    return choose_jointly(joint, selection="min")


def mean_loss(joint, dense, codes, coefs, intercepts):
    """The joint loss of a model on dense rows."""
    scores = dense @ np.transpose(coefs) + intercepts
    if isinstance(joint, Multinomial):
        return np.mean(logsumexp(scores, axis=1) - scores[np.arange(len(codes)), codes])
    targets = np.where(codes[:, None] == np.arange(scores.shape[1]), 1.0, -1.0)
    return ((targets - scores) ** 2).sum(axis=1).mean()


@both_ways
@pytest.mark.parametrize("rule", ["1se", "min"])
@pytest.mark.parametrize("max_terms", [2, 4])
def test_a_capped_model_is_not_as_shrunken_as_where_the_cap_was_reached(joint, rule, max_terms):
    """It used to be the last point with so few terms, whose log loss was nearly that of no model."""
    paths, choices = choose_jointly(joint, selection=rule, max_terms=max_terms)
    assert (count_terms(paths) <= max_terms).all()
    assert 0 < count_terms(paths)[choices[0].index] <= max_terms
    free, free_choices = choose_freely(joint)
    shrunken = np.flatnonzero(count_terms(free) <= max_terms)[-1]
    nothing = free_choices[0].errors[0]
    gained = nothing - choices[0].errors[choices[0].index]
    assert gained > 1.15 * (nothing - free_choices[0].errors[shrunken])


@both_ways
def test_the_terms_that_stay_come_nearest_to_the_model_of_all_classes(joint):
    """No exchange of one of them for another comes nearer to its scores, those of all classes added up."""
    design, dense, *_ = design_of(joint)
    solver = solver_of(joint, tol=1e-9)
    paths, _ = choose_jointly(joint, design=design, solver=solver, selection=0.02, max_terms=4)
    free, _ = choose_jointly(joint, design=design, solver=solver, selection=0.02)
    scores = dense @ np.array([path.coefs[-1] for path in free]).T
    kept = np.flatnonzero(np.any([path.coefs.any(axis=0) for path in paths], axis=0)).tolist()
    assert len(kept) == 4
    ridge = RIDGE * dense.var(axis=0).mean()
    assert unexplained(dense, scores, kept, ridge) <= best_exchange(dense, scores, kept, ridge)


def test_the_capped_grouped_model_is_that_of_its_terms_alone():
    design, dense, codes, _ = make_classes(1)
    paths, choices = choose_jointly(
        Grouped(), design=design, solver=Glmnet(l1_ratio=0.9, tol=1e-12), selection="1se", max_terms=3
    )
    index = choices[0].index
    used = np.flatnonzero(paths[0].coefs[index])
    targets = np.where(codes[:, None] == np.arange(3), 1.0, -1.0)
    share = FEW_L1_SHARE * np.sqrt(targets.var(axis=0).mean())
    penalty, ratio = paths[0].penalties[index], share / (1.0 + share)
    twin = MultiTaskElasticNet(alpha=penalty, l1_ratio=ratio, tol=1e-12, max_iter=100_000).fit(dense[:, used], targets)
    np.testing.assert_allclose([path.coefs[index, used] for path in paths], twin.coef_, atol=1e-6)
    np.testing.assert_allclose([path.intercepts[index] for path in paths], twin.intercept_, atol=1e-6)


def test_the_capped_multinomial_model_is_that_of_its_terms_alone():
    design, dense, codes, _ = make_classes(1, rows=True, n_rows=120)
    paths, choices = choose_jointly(
        Multinomial(), design=design, solver=Glmnet(loss="logistic", tol=1e-10), selection="1se", max_terms=3
    )
    index = choices[0].index
    used = np.flatnonzero(np.any([path.coefs[index] for path in paths], axis=0))
    share = FEW_L1_SHARE * np.sqrt(np.where(codes[:, None] == np.arange(3), 1.0, -1.0).var(axis=0).mean())
    strength = 1.0 / (len(codes) * paths[0].penalties[index])
    twin = LogisticRegression(l1_ratio=share / (1.0 + share), solver="saga", C=strength, tol=1e-8, max_iter=20_000)
    twin.fit(dense[:, used], codes)
    coefs = np.array([path.coefs[index, used] for path in paths])
    intercepts = np.array([path.intercepts[index] for path in paths])
    np.testing.assert_allclose(coefs, twin.coef_, atol=1e-4)
    np.testing.assert_allclose(intercepts - intercepts.mean(), twin.intercept_ - twin.intercept_.mean(), atol=1e-4)


@both_ways
@pytest.mark.parametrize("max_terms", [None, 3])
@pytest.mark.parametrize("regrown", [False, True])
def test_fold_points_have_the_errors_that_were_chosen_by(joint, max_terms, regrown):
    """In the terms of their own folds, which may be others than those of the whole data, capped or not."""
    design, dense, codes, folds = design_of(joint)
    other, other_dense, *_ = design_of(joint, n_rules=13)
    fold_design, fold_dense = (other, other_dense) if regrown else (design, dense)
    _, choices = choose_jointly(joint, design=design, fold_design=fold_design, selection="min", max_terms=max_terms)
    for fold in range(3):
        coefs = np.array([choice.fold_points[fold][0] for choice in choices])
        intercepts = np.array([choice.fold_points[fold][1] for choice in choices])
        assert coefs.shape == (3, fold_dense.shape[1])
        if max_terms is not None:
            assert np.count_nonzero(coefs.any(axis=0)) <= max_terms
        here = folds == fold
        error = mean_loss(joint, fold_dense[here], codes[here], coefs, intercepts)
        assert choices[0].fold_errors[fold, choices[0].index] == pytest.approx(error)


@both_ways
@pytest.mark.parametrize("selection", ["1se", "min", 0.01])
def test_no_terms_at_all(joint, selection):
    design, _, codes, _ = design_of(joint)
    paths, choices = choose_jointly(joint, design=design, selection=selection, max_terms=0)
    intercepts = [path.intercepts[choices[0].index] for path in paths]
    assert not any(path.coefs.any() for path in paths)
    shares = np.bincount(codes) / len(codes)
    if isinstance(joint, Grouped):
        np.testing.assert_allclose(intercepts, 2 * shares - 1, atol=1e-12)
    else:
        np.testing.assert_allclose(np.exp(intercepts - logsumexp(intercepts)), shares, atol=1e-6)


@both_ways
@pytest.mark.parametrize("max_terms", [None, 3])
def test_a_given_penalty_is_the_end_of_the_path(joint, max_terms):
    paths, choices = choose_jointly(joint, selection=0.0123, max_terms=max_terms)
    assert [path.penalties[-1] for path in paths] == [0.0123] * 3
    assert {(choice.index, choice.rule) for choice in choices} == {(len(paths[0].penalties) - 1, "penalty 0.0123")}
    assert choices[0].errors is None
    assert choices[0].fold_points == ()
    if max_terms is None:
        assert count_terms(paths)[-1] > 3
    else:
        assert (count_terms(paths) <= max_terms).all()


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


@pytest.mark.parametrize("max_terms", [None, 4])
def test_a_single_target_is_chosen_for_as_by_itself(monkeypatch, max_terms):
    monkeypatch.setattr(walk, "FOLD_ACCURACY", 1e-12)  # to compare two solvers, not their patience with a fold
    design, *_ = make_classes(2)
    problems, folds = design.problems()[:1], [design.fold(fold)[:1] for fold in range(3)]
    solver = Glmnet(tol=1e-11, l1_ratio=0.9)
    options = {"selection": "min", "max_terms": max_terms}
    (one,) = follow_and_choose(Grouped(), [solver], problems, folds, **options)
    (twin,) = select(solver, problems, folds, **options)
    assert one.selection.index == twin.selection.index
    np.testing.assert_allclose(one.path.coefs, twin.path.coefs, atol=1e-4)
    np.testing.assert_allclose(one.selection.errors, twin.selection.errors, rtol=1e-6)
    (left_alone,) = select(solver, problems, folds, together=Grouped(), **options)
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
    assert len(model.rules_) <= 10
    assert log_loss(y[300:], model.predict_proba(X[300:])) < 0.75
