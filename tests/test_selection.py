"""Held-out errors against rows and refits, the choice against a plain one, and how far to trust the cheap mode."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, RepeatedKFold, ShuffleSplit, TimeSeriesSplit

from rulegrove import Fpc, Glmnet, RuleEnsembleRegressor, Spgl1, walk
from rulegrove.design.statistics import Moments
from rulegrove.exceptions import InvalidInputError
from rulegrove.joint_selection import Grouped
from rulegrove.selection import Selection, choose, select, squared_errors
from rulegrove.walk import FIRST_STRIDE, SETTLED, STRIDE, Fold
from small_designs import folds_of, make_classes, make_design, path_of


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), weighted=st.booleans())
def test_held_out_error_is_that_of_the_rows(seed, weighted):
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.0, 0.5, 2.0], 150) if weighted else None
    design, dense, y, folds = make_design(seed, weights=weights)
    counted = np.ones(150) if weights is None else weights
    coefs = rng.normal(size=(4, dense.shape[1])) * (rng.random((4, dense.shape[1])) < 0.5)
    path = path_of([4, 3, 2, 1], coefs, rng.normal(size=4))
    for number, fold in enumerate(folds_of(design)):
        rows = folds == number
        residuals = y[rows] - path.intercepts[:, None] - coefs @ dense[rows].T
        expected = np.average(residuals**2, axis=1, weights=counted[rows])
        np.testing.assert_allclose(squared_errors(path, fold.held_out), expected, rtol=1e-9)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_fold_subtracted_is_a_refit_without_its_rows(l1_ratio, weighted):
    """Coefficients from total minus fold against scikit-learn on the rows that are left."""
    weights = np.random.default_rng(1).choice([0.5, 1.0, 3.0], 150) if weighted else None
    design, dense, y, folds = make_design(1, weights=weights)
    penalties = [0.3, 0.1, 0.03]
    for number, fold in enumerate(folds_of(design)):
        path = Glmnet(l1_ratio=l1_ratio, tol=1e-13).path(fold.problem, penalties)
        rows = folds != number
        for point, penalty in enumerate(penalties):
            twin = ElasticNet(alpha=penalty, l1_ratio=l1_ratio, tol=1e-12, max_iter=100_000)
            twin.fit(dense[rows], y[rows], None if weights is None else weights[rows])
            np.testing.assert_allclose(path.coefs[point], twin.coef_, atol=1e-5)
            assert path.intercepts[point] == pytest.approx(twin.intercept_, abs=1e-5)
            error = np.average(
                (y[~rows] - twin.predict(dense[~rows])) ** 2, weights=None if weights is None else weights[~rows]
            )
            assert squared_errors(path, fold.held_out)[point] == pytest.approx(error, rel=1e-4)


def naive_choice(errors, weights, rule):
    """The definition in plain loops."""
    points = range(len(errors[0]))
    share = [weight / sum(weights) for weight in weights]
    mean = [sum(s * fold[p] for s, fold in zip(share, errors, strict=True)) for p in points]
    best = min(points, key=lambda p: (mean[p], p))
    if rule == "min":
        return best
    variance = sum(s * (fold[best] - mean[best]) ** 2 for s, fold in zip(share, errors, strict=True))
    limit = mean[best] + math.sqrt(variance / (len(errors) - 1))
    return min(p for p in points if mean[p] <= limit)


@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_folds=st.integers(2, 6),
    n_points=st.integers(1, 12),
    rule=st.sampled_from(["1se", "min"]),
)
def test_the_choice_is_the_plain_one(seed, n_folds, n_points, rule):
    rng = np.random.default_rng(seed)
    errors = 1.0 + 0.3 * rng.random((n_folds, n_points)) + 0.3 * rng.random(n_points)
    weights = rng.integers(1, 50, n_folds).astype(np.float64)
    folds = [Fold(None, Moments(weight, *[None] * 5)) for weight in weights]
    chosen = choose(errors[None], folds, rule)
    assert chosen.index == naive_choice(errors.tolist(), weights.tolist(), rule)
    assert chosen.rule == rule
    np.testing.assert_array_equal(chosen.fold_errors, errors)
    mean = np.average(errors, axis=0, weights=weights)
    np.testing.assert_allclose(chosen.errors, mean)
    spread = np.average((errors - mean) ** 2, axis=0, weights=weights)
    np.testing.assert_allclose(chosen.standard_errors, np.sqrt(spread / (n_folds - 1)))


# What the estimator makes of it.


def friedman_like(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 4))
    return X, 3.0 * (X[:, 0] > 0.5) * (X[:, 1] > 0.3) + 2.0 * X[:, 2] + 0.3 * rng.normal(size=n_rows)


def small_model(**changes):
    return RuleEnsembleRegressor(**{"n_candidates": 50, "random_state": 0, "n_jobs": 1, **changes})


def dense_candidates(fitted, X):
    """All candidate terms on all rows, as the solver meets them."""
    rules, linear = fitted.candidates_.rules, fitted.candidates_.linear
    bits = np.array([rule.holds(X.T) for rule in rules], dtype=np.float64).T
    return np.column_stack([bits, linear.evaluate(X.T[linear.features])])


@pytest.mark.parametrize("max_terms", [0, 1, 2, 5, 10])
@pytest.mark.parametrize("rule", ["1se", "min", 0.001])
def test_the_cap_on_terms_is_never_exceeded(max_terms, rule):
    """The path is that of the model without a cap."""
    X, y = friedman_like(150)
    fitted = small_model(max_terms=max_terms, selection=rule).fit(X, y)
    assert len(fitted.rules_) == fitted.coef_.size <= max_terms
    free = small_model(max_terms=None, selection=rule).fit(X, y)
    assert len(free.rules_) > 2
    np.testing.assert_array_equal(fitted.path_.coefs, free.path_.coefs)
    if rule == 0.001:
        assert fitted.path_.penalties[-1] == rule


@pytest.mark.parametrize(
    "solver", [Glmnet(l1_ratio=0.0), Glmnet(penalties=[0.01, 0.001]), Glmnet(l1_ratio=0.5), "spgl1"]
)
@pytest.mark.parametrize("max_terms", [0, 2])
@pytest.mark.parametrize("honest", [False, True])
def test_the_cap_holds_where_the_path_starts_above_it(solver, max_terms, honest):
    """A ridge path keeps every term everywhere; "argmin of an empty sequence" helped nobody."""
    X, y = friedman_like(150)
    fitted = small_model(max_terms=max_terms, solver=solver, honest_cv=honest).fit(X, y)
    assert len(fitted.rules_) <= max_terms
    if max_terms:
        assert fitted.score(X, y) > 0.4


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_the_unit_of_the_target_does_not_matter_to_a_capped_model(factor):
    X, y = friedman_like(150)
    one, other = (small_model(max_terms=4, solver=Glmnet(tol=1e-10)).fit(X, unit * y) for unit in (1.0, factor))
    assert [row.text for row in one.rules_] == [row.text for row in other.rules_]
    np.testing.assert_allclose(other.predict(X), factor * one.predict(X), rtol=1e-4)


@pytest.mark.parametrize("penalty", [0.2, 0.0123, 0.001])
def test_an_explicit_penalty_is_met_exactly(penalty):
    X, y = friedman_like(150)
    fitted = small_model(selection=penalty).fit(X, y)
    assert fitted.path_.penalties[-1] == penalty
    assert fitted.selection_.index == len(fitted.path_.penalties) - 1
    assert fitted.selection_.errors is None
    design = dense_candidates(fitted, X)
    twin = ElasticNet(alpha=penalty, l1_ratio=1.0, tol=1e-8, max_iter=100_000).fit(design, y)
    np.testing.assert_allclose(fitted.predict(X), twin.predict(design), atol=0.01)


def test_a_penalty_above_all_others_leaves_the_intercept():
    """The grid of such a penalty is that point alone."""
    X, y = friedman_like(100)
    fitted = small_model(selection=1000.0).fit(X, y)
    assert len(fitted.rules_) == 0
    np.testing.assert_allclose(fitted.predict(X), y.mean())


def test_one_standard_error_is_no_denser_than_the_least_error():
    X, y = friedman_like(200)
    sparse, least = (small_model(selection=rule, max_terms=None).fit(X, y) for rule in ("1se", "min"))
    walked = sparse.selection_.errors.size  # the walk for one standard error may end before the other
    np.testing.assert_array_equal(sparse.selection_.fold_errors, least.selection_.fold_errors[:, :walked])
    assert len(sparse.rules_) < len(least.rules_)
    assert sparse.selection_.index == naive_choice(sparse.selection_.fold_errors.tolist(), [40.0] * 5, "1se")
    errors = least.selection_.errors
    assert least.selection_.index == np.flatnonzero(errors <= errors.min() * (1.0 + 1e-12))[0]


def test_the_walk_for_one_standard_error_ends_once_the_error_has_settled():
    """What is left to gain is small beside the standard error, so the choice is nearly that of the whole walk."""
    X, y = friedman_like(200)
    walked = small_model(selection="1se", shrinkage=0.01).fit(X, y).selection_
    errors, last = walked.errors, walked.standard_errors[-1]
    assert errors[-STRIDE - 1] - errors[-1] < SETTLED * last
    earlier = np.arange(int(FIRST_STRIDE * 100) + STRIDE, errors.size - STRIDE, STRIDE)
    falls = errors[earlier - STRIDE - 1] - errors[earlier - 1]
    assert (falls >= SETTLED * walked.standard_errors[earlier - 1]).all()
    whole = small_model(selection="min", shrinkage=0.01).fit(X, y).selection_
    assert errors.size < whole.errors.size
    assert whole.errors.min() > errors.min() - last


def test_the_cheap_mode_is_optimistic_on_noise_and_the_honest_one_is_not():
    """Nothing can be learned from noise: the mean is the best prediction, and its error is the variance.

    Rules grown on all rows have seen the rows held out, so the cheap error falls below the variance. Regrown rules
    have not, and the honest error stays about it.
    """
    cheap, honest, unseen = [], [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 6)), rng.normal(size=100)
        y = (y - y.mean()) / y.std()
        fits = [
            small_model(
                selection="min", max_terms=None, honest_cv=mode, random_state=seed, min_samples_leaf=2, shrinkage=0.1
            ).fit(X, y)
            for mode in (False, True)
        ]
        cheap.append(fits[0].selection_.errors.min())
        honest.append(fits[1].selection_.errors.min())
        unseen.append(np.mean((rng.normal(size=2000) - fits[0].predict(rng.normal(size=(2000, 6)))) ** 2))
    assert np.mean(cheap) < 0.93  # looks like a find
    assert np.mean(unseen) > 1.0  # is none
    assert np.mean(honest) > 0.97
    assert all(a <= b + 1e-12 for a, b in zip(cheap, honest, strict=True))


def test_the_honest_mode_keeps_the_rules_of_the_whole_data():
    """It changes the errors and the choice, not what is chosen from."""
    X, y = friedman_like(150)
    cheap, honest = small_model(honest_cv=False).fit(X, y), small_model(honest_cv=True).fit(X, y)
    assert cheap.candidates_.rules == honest.candidates_.rules
    n_points = min(len(cheap.path_.penalties), len(honest.path_.penalties))
    np.testing.assert_array_equal(cheap.path_.penalties[:n_points], honest.path_.penalties[:n_points])
    assert not np.allclose(cheap.selection_.errors[:n_points], honest.selection_.errors[:n_points])


def test_the_honest_mode_takes_a_subsample_of_all_rows():
    """A fold has fewer rows than the whole; a count that fits the whole must not fail half way through the folds."""
    X, y = friedman_like(100)
    assert small_model(subsample=100, honest_cv=True).fit(X, y).selection_.errors.min() < y.var()


def held_out_by_hand(fitted, X, y, splits):
    """Fold errors at some of the path's penalties, by scikit-learn on the rows of each split.

    With an elastic net: rules that are equal on the training rows of a fold leave the lasso no unique answer, and
    solvers that pick different ones of them differ where the rules do, on the rows held out.
    """
    design = dense_candidates(fitted, X)
    errors = []
    for train, test in splits:
        twins = [ElasticNet(alpha=a, l1_ratio=0.9, tol=1e-8, max_iter=50_000) for a in fitted.path_.penalties[5::10]]
        errors.append([np.mean((y[test] - t.fit(design[train], y[train]).predict(design[test])) ** 2) for t in twins])
    return np.array(errors)


SPLITTERS = {
    "KFold": KFold(4),
    "shuffled KFold": KFold(3, shuffle=True, random_state=0),
    "groups": list(GroupKFold(3).split(np.ones(120), groups=np.arange(120) // 10)),
    "predefined": PredefinedSplit(np.repeat([0, 1, 2], 40)),
    "some rows never held out": PredefinedSplit(np.repeat([0, -1, 1], 40)),
}


@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize("honest", [False, True])
def test_splitters_of_others_hold_out_what_they_say(monkeypatch, name, honest):
    monkeypatch.setattr(walk, "FOLD_ACCURACY", 1e-12)  # to compare with refits, not with the patience of a fold
    X, y = friedman_like(120)
    cv = SPLITTERS[name]
    splits = cv if isinstance(cv, list) else list(cv.split(X))
    fitted = small_model(
        n_candidates=20, cv=cv, honest_cv=honest, solver=Glmnet(l1_ratio=0.9, n_penalties=30, tol=1e-12)
    ).fit(X, y)
    assert fitted.selection_.fold_errors.shape[0] == len(splits)
    if not honest:
        expected = held_out_by_hand(fitted, X, y, splits)
        np.testing.assert_allclose(fitted.selection_.fold_errors[:, 5::10], expected, rtol=1e-3)


def test_an_iterator_of_splits_will_do():
    X, y = friedman_like(60)
    listed = small_model(cv=list(KFold(3).split(X))).fit(X, y)
    running = small_model(cv=KFold(3).split(X)).fit(X, y)
    np.testing.assert_array_equal(listed.selection_.fold_errors, running.selection_.fold_errors)


@pytest.mark.parametrize("cv", [ShuffleSplit(3, random_state=0), RepeatedKFold(n_splits=2, n_repeats=2)])
def test_overlapping_splits_are_refused(cv):
    X, y = friedman_like(60)
    with pytest.raises(InvalidInputError, match="`cv` holds out some rows twice"):
        small_model(cv=cv).fit(X, y)


def test_a_single_split_is_refused():
    X, y = friedman_like(60)
    with pytest.raises(InvalidInputError, match="`cv` must give at least two splits; got 1"):
        small_model(cv=PredefinedSplit(np.repeat([0, -1], 30))).fit(X, y)


def test_splits_that_leave_rows_out_of_training_are_refused():
    """Training is the total minus the fold: a splitter that trains on less would be taken for one that does not."""
    X, y = friedman_like(60)
    with pytest.raises(InvalidInputError, match="`cv`"):
        small_model(cv=TimeSeriesSplit(3)).fit(X, y)


@pytest.mark.parametrize("honest", [False, True])
def test_a_fold_without_weight_is_said_clearly(honest):
    """Its mean error was 0 / 0, and the choice fell on nothing."""
    X, y = friedman_like(60)
    weights = (np.arange(60) % 3 > 0).astype(np.float64)
    with pytest.raises(InvalidInputError, match="`cv`"):
        small_model(cv=PredefinedSplit(np.arange(60) % 3), honest_cv=honest).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("rule", ["min", "1se", 0.05])
def test_constraints_reach_the_folds_and_the_choice(rule):
    """The weakest terms are not penalised: they would be the last to enter if the solver did not know."""
    design, _, _, _ = make_design(3)
    problem = design.problems()[0]
    weakest = np.argsort(np.abs(problem.x_y) / np.sqrt(problem.gram.diagonal()))[:2]
    signs = np.where(np.arange(problem.n_terms) % 2, 1, -1)
    unpenalised = np.isin(np.arange(problem.n_terms), weakest)
    limited = replace(design, signs=signs, unpenalised=unpenalised)
    for fold in folds_of(limited):
        np.testing.assert_array_equal(fold.problem.signs, signs)
        np.testing.assert_array_equal(fold.problem.unpenalised, unpenalised)
    for own in (limited, replace(limited, signs=None)):
        folds = [own.fold(fold) for fold in range(3)] if isinstance(rule, str) else []
        (chosen,) = select(Glmnet(), own.problems(), folds, selection=rule)
        path, choice = chosen.path, chosen.selection
        points = [path.point(choice.index, choice.mix)[0], *(coef for coef, _ in choice.fold_points)]
        assert own.signs is None or all((signs * coef >= 0).all() for coef in points)
        assert own.signs is not None or all(coef[weakest].all() for coef in points)


def test_the_record_of_a_choice_without_folds():
    chosen = Selection(3, "penalty 0.1")
    assert chosen.errors is chosen.standard_errors is chosen.fold_errors is None


@pytest.mark.parametrize("solver", [Glmnet(l1_ratio="cv", n_penalties=20), Spgl1(n_points=15), Fpc(n_penalties=15)])
@pytest.mark.parametrize("selection", ["min", 0.1])
def test_targets_side_by_side_are_chosen_for_as_one_by_one(solver, selection):
    """In any number of threads, exact or not."""
    if selection == 0.1 and solver.get_params().get("l1_ratio") == "cv":
        solver = Glmnet()
    design, *_ = make_classes(0)
    problems = design.problems()
    folds = [design.fold(fold) for fold in range(3)] if isinstance(selection, str) else []
    for exact in (False, True):
        chosen = select(solver, problems, folds, selection=selection, exact=exact, n_threads=2)
        for target, one in enumerate(chosen):
            own_folds = [[fold[target]] for fold in folds]
            (alone,) = select(solver, problems[target : target + 1], own_folds, selection=selection, exact=exact)
            np.testing.assert_array_equal(one.path.coefs, alone.path.coefs)
            assert one.selection.index == alone.selection.index
            assert repr(one.solver) == repr(alone.solver)


def test_solvers_for_one_target_refuse_several_together():
    design, *_ = make_classes(0)
    with pytest.raises(InvalidInputError, match="Fpc solves for one target at a time; take Glmnet"):
        select(Fpc(), design.problems(), [], together=Grouped(), selection=0.1)
