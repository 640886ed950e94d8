"""The stages of a fit one by one, and what weights mean to them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, StratifiedKFold

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.columns import Columns, Feature
from rulegrove.estimators import _in_memory, autos
from rulegrove.estimators._growing import draw_pool
from rulegrove.estimators._training import NEVER_HELD_OUT, Encoded, TrainingData, assign_folds, make_rng, warn_constant
from rulegrove.estimators.autos import count_features, count_subsample
from rulegrove.exceptions import DroppedColumnWarning, InvalidInputError
from rulegrove.rules.rule import Rule
from small_pools import shrink_pool


def make_data(values, y, weights=None, codes=None):
    values = np.asarray(values, dtype=np.float64)
    columns = Columns([Feature(f"c{k}") for k in range(values.shape[1])], values)
    return TrainingData.of(columns, Encoded(np.asarray(y, dtype=np.float64)[:, None], 0.0, weights, codes))


@pytest.mark.parametrize(
    ("max_features", "expected"),
    [
        (None, 39),
        ("sqrt", 6),
        ("log2", 5),
        (7, 7),
        (100, 39),
        (0.5, 19),
        (0.001, 1),
        (1.0, 39),
        (1, 1),
        (np.int64(3), 3),
    ],
)
def test_attributes_tried_at_a_split(max_features, expected):
    assert count_features(max_features, 39) == expected


@pytest.mark.parametrize(("n_features", "expected"), [(1, 1), (4, 2), (9, 2), (10, 3), (39, 11)])
def test_a_third_of_the_attributes_but_two_at_least(n_features, expected):
    assert count_features("auto", n_features) == expected


@pytest.mark.parametrize(
    ("subsample", "n_rows", "expected"),
    [
        ("auto", 100, 50),
        ("auto", 2_000, 1000),
        ("auto", 10_000, 1500),
        ("auto", 1_000_000, 6100),
        ("auto", 2, 2),
        (30, 100, 30),
        (0.25, 100, 25),
        (1.0, 100, 100),
        (0.001, 100, 2),
    ],
)
def test_rows_a_tree_sees(subsample, n_rows, expected):
    """ "auto" is half, at most 1,500 or 100 + 6 sqrt(N) (Friedman and Popescu 2008), whichever is more."""
    assert count_subsample(subsample, n_rows) == expected


def test_the_pool_of_a_large_table_is_a_sorted_sample_without_repeats(monkeypatch):
    monkeypatch.setattr(autos, "POOL_ROWS", 100)
    rows = np.arange(1000) * 3
    pool = draw_pool(rows, 5, np.random.default_rng(0))
    assert pool.size == 100
    assert set(pool) <= set(rows)
    assert (np.diff(pool) > 0).all()
    assert draw_pool(rows, 50, np.random.default_rng(0)).size == 800  # sixteen times a tree's rows
    assert draw_pool(rows[:90], 5, np.random.default_rng(0)) is not None
    np.testing.assert_array_equal(draw_pool(rows[:90], 5, np.random.default_rng(0)), rows[:90])


def test_a_fit_from_a_pool_uses_all_rows_for_its_statistics(monkeypatch):
    monkeypatch.setattr(autos, "POOL_ROWS", 50)
    monkeypatch.setattr(autos, "POOL_SUBSAMPLES", 1)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] + (X[:, 1] > 0)
    fitted = RuleEnsembleRegressor(n_candidates=20, subsample=40, random_state=0, n_jobs=1).fit(X, y)
    for ranked in fitted.rules_:
        if ranked.kind == "rule":
            assert ranked.support == pytest.approx(ranked.term.holds(X.T).mean())


def test_generators_come_from_anything_that_scikit_learn_takes():
    draws = [make_rng(state).random() for state in (3, np.int64(3), np.int32(3))]
    assert len(set(draws)) == 1
    state = np.random.RandomState(0)
    assert make_rng(state).random() != make_rng(state).random()
    assert make_rng(np.random.RandomState(0)).random() == make_rng(np.random.RandomState(0)).random()
    assert make_rng(None).random() != make_rng(None).random()


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([2.0, 2.0, 2.0, 2.0], r"Column 1 \('c1'\) is constant"),
        ([np.nan] * 4, r"Column 1 \('c1'\) has no values"),
    ],
)
def test_columns_that_say_nothing_are_named(column, words):
    with pytest.warns(DroppedColumnWarning, match=words) as told:
        warn_constant(make_data(np.column_stack([np.arange(4.0), column]), np.arange(4)))
    assert len(told) == 1


def test_columns_that_say_something_are_not_named():
    """Known or missing is information."""
    values = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, np.nan], [0.0, 1.0]])
    warn_constant(make_data(values, np.arange(4)))
    warn_constant(make_data(values[::-1], np.arange(4)))


def test_a_column_that_varies_only_where_weights_are_zero_is_constant():
    values = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 6.0]])
    with pytest.warns(DroppedColumnWarning, match="'c1'"):
        warn_constant(make_data(values, np.arange(3), weights=np.array([1.0, 2.0, 0.0])))


def test_a_late_change_is_seen():
    values = np.zeros((3000, 1))
    values[-1] = 1.0
    warn_constant(make_data(values, np.arange(3000)))


def test_rows_without_weight_are_left_out_and_equal_weights_are_none():
    data = make_data(np.ones((4, 1)), np.arange(4), weights=np.array([2.0, 0.0, 2.0, 2.0]))
    assert data.rows.tolist() == [0, 2, 3]
    assert data.weights is None
    data = make_data(np.ones((4, 1)), np.arange(4), weights=np.array([2.0, 0.0, 1.0, 2.0]))
    assert data.weights_of(data.rows).tolist() == [2.0, 1.0, 2.0]


# Folds


@settings(max_examples=60, deadline=None)
@given(
    n_rows=st.integers(12, 80),
    n_folds=st.integers(2, 6),
    share=st.floats(0.2, 0.8),
    weighted=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_a_count_deals_rows_out_evenly_class_by_class(n_rows, n_folds, share, weighted, seed):
    rng = np.random.default_rng(seed)
    codes = (np.arange(n_rows) < share * n_rows).astype(np.int64)
    weights = rng.choice([0.0, 1.0, 2.0], n_rows, p=[0.1, 0.5, 0.4]) if weighted else None
    if weighted:
        weights[[0, 1, 2, -1, -2, -3]] = 1.0
    data = make_data(np.ones((n_rows, 1)), codes, weights, codes)
    folds, count = assign_folds(n_folds, data, codes, None, None, rng)
    assert count == n_folds
    counted = np.ones(n_rows, dtype=bool) if weights is None else weights > 0
    assert (folds[~counted] == NEVER_HELD_OUT).all()
    for rows in (counted, counted & (codes == 0), counted & (codes == 1)):
        sizes = np.bincount(folds[rows], minlength=n_folds)
        assert np.ptp(sizes) <= 1


def test_folds_are_shuffled_by_the_generator_alone():
    data = make_data(np.ones((50, 1)), np.arange(50))
    one, two, three = (assign_folds(5, data, None, None, None, np.random.default_rng(s))[0] for s in (0, 0, 1))
    np.testing.assert_array_equal(one, two)
    assert (one != three).any()
    assert (one != np.arange(50) % 5).any()


@pytest.mark.parametrize("cv", [KFold(4), StratifiedKFold(3), PredefinedSplit(np.arange(40) % 3 - 1)])
def test_splitters_are_followed(cv):
    codes = np.arange(40) % 2
    data = make_data(np.ones((40, 1)), codes, codes=codes)
    X = np.ones((40, 1))
    folds, count = assign_folds(cv, data, codes, X, codes, np.random.default_rng(0))
    splits = list(cv.split(X, codes))
    assert count == len(splits)
    for number, (train, test) in enumerate(splits):
        np.testing.assert_array_equal(np.flatnonzero(folds == number), test)
        np.testing.assert_array_equal(np.flatnonzero((folds >= 0) & (folds != number)), train)


def test_more_folds_than_rows_are_refused():
    data = make_data(np.ones((3, 1)), np.arange(3))
    with pytest.raises(InvalidInputError, match="cv=5 folds need at least 5 rows; got n_samples = 3"):
        assign_folds(5, data, None, None, None, np.random.default_rng(0))


ROWS, EVEN, ODD = np.arange(40), np.arange(0, 40, 2), np.arange(1, 40, 2)


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        ([(EVEN, EVEN), (ODD, ODD)], "Split 1 of `cv` both trains on row 0 and holds it out"),
        ([(ODD, EVEN), (ROWS, ODD)], "Split 2 of `cv` both trains on row 1 and holds it out"),
        ([(ODD, np.r_[EVEN, 4]), (EVEN, ODD)], "The test rows of split 1 of `cv` name row 4 more than once"),
        ([(np.r_[ODD, 7], EVEN), (EVEN, ODD)], "The training rows of split 1 of `cv` name row 7 more than once"),
        ([(ODD, EVEN), (EVEN, ODD + 2)], "test rows of split 2 of `cv` must be positions from 0 to 39; got 41"),
        ([(ODD, EVEN - 2), (EVEN, ODD)], "test rows of split 1 of `cv` must be positions from 0 to 39; got -2"),
        ([(ODD, EVEN + 0.5), (EVEN, ODD)], "positions from 0 to 39, or a mask of all rows; got float64"),
        ([(ROWS[:20] > 0, EVEN), (EVEN, ODD)], r"a mask of all rows; got bool of shape \(20,\)"),
        ([(ODD, EVEN), (EVEN[1:], ODD)], "split 2 trains on 19 and holds out 20 of 40 rows"),
        ([(ODD, EVEN), (ODD, EVEN)], "`cv` holds out some rows twice"),
        ([(ODD, EVEN)], "at least two splits; got 1"),
        ([ODD, EVEN], "pairs of training and test rows; split 1 is"),
        ([1, 2], "pairs of training and test rows; split 1 is 1"),
        (GroupKFold(3), "`cv`=GroupKFold.* cannot split the rows: .*Give `groups` to `fit`"),
        (KFold(50), "`cv`=KFold.* cannot split the rows: Cannot have number of splits n_splits=50"),
    ],
)
def test_splits_that_cannot_be_used(cv, words):
    """Rows trained on were held out, and the training rows that were given were not those that were used."""
    data = make_data(np.ones((40, 1)), ROWS)
    with pytest.raises(InvalidInputError, match=words):
        assign_folds(cv, data, None, np.ones((40, 1)), ROWS, np.random.default_rng(0))


def test_masks_are_positions():
    data = make_data(np.ones((40, 1)), ROWS)
    masks = [(ROWS % 2 == 1, ROWS % 2 == 0), ((ROWS % 2 == 0).tolist(), ODD)]
    folds, _ = assign_folds(masks, data, None, np.ones((40, 1)), ROWS, np.random.default_rng(0))
    np.testing.assert_array_equal(folds, ROWS % 2)


@pytest.mark.parametrize("way", ["splitter", "groups"])
def test_a_fold_with_all_rows_of_a_class_is_named(way):
    labels = np.where(ROWS < 10, "rare", np.where(ROWS < 25, "some", "many"))
    codes = np.unique(labels, return_inverse=True)[1]
    data = make_data(np.ones((40, 1)), codes, codes=codes)
    groups, cv = (ROWS // 10, 4) if way == "groups" else (None, KFold(4))
    with pytest.raises(InvalidInputError, match=r"Fold \d of `cv` holds out all rows of class 'rare'"):
        assign_folds(cv, data, codes, np.ones((40, 1)), labels, np.random.default_rng(0), groups)


@settings(deadline=None, max_examples=60)
@given(
    n_groups=st.integers(4, 40),
    n_folds=st.integers(2, 4),
    classes=st.booleans(),
    weighted=st.booleans(),
    seed=st.integers(0, 99),
)
def test_a_count_deals_whole_groups_out(n_groups, n_folds, classes, weighted, seed):
    rng = np.random.default_rng(seed)
    groups = np.r_[np.arange(n_groups), np.arange(n_groups), rng.integers(n_groups, size=6 * n_groups)]
    codes = np.r_[np.zeros(n_groups, int), np.ones(n_groups, int), rng.integers(2, size=6 * n_groups)]
    weights = np.r_[np.ones(2 * n_groups), rng.integers(2, size=6 * n_groups)] if weighted else None
    data = make_data(np.ones((groups.size, 1)), codes, weights, codes)
    folds, count = assign_folds(n_folds, data, codes if classes else None, None, codes, rng, groups)
    assert count == n_folds
    assert (np.bincount(folds[data.rows], minlength=n_folds) > 0).all()
    assert all(np.unique(folds[data.rows][groups[data.rows] == group]).size == 1 for group in range(n_groups))
    largest = np.bincount(groups[data.rows]).max()
    assert classes or np.ptp(np.bincount(folds[data.rows], minlength=n_folds)) <= largest


def test_groups_of_equal_classes_are_dealt_out_evenly():
    groups = np.arange(400) // 4
    codes = (groups % 5 == 0).astype(np.int64)  # twenty groups of one class, eighty of the other
    data = make_data(np.ones((400, 1)), codes, codes=codes)
    folds, _ = assign_folds(5, data, codes, None, codes, np.random.default_rng(0), groups)
    assert np.bincount(folds[codes == 1]).tolist() == [16] * 5
    assert np.bincount(folds[codes == 0]).tolist() == [64] * 5


def test_fewer_groups_than_folds_are_refused():
    data = make_data(np.ones((40, 1)), ROWS)
    with pytest.raises(InvalidInputError, match="cv=5 folds need at least 5 groups; `groups` has 4"):
        assign_folds(5, data, None, None, None, np.random.default_rng(0), ROWS % 4)


# Groups in a fit


@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
@pytest.mark.parametrize("cv", [4, GroupKFold(4)])
@pytest.mark.parametrize("pool", [None, 100])
def test_groups_are_held_out_whole(monkeypatch, kind, cv, pool):
    """Whatever the way: rows of a group are alike, and a row whose sisters are trained on is no test."""
    if pool is not None:
        shrink_pool(monkeypatch, pool)
    dealt = []

    def watch(*arguments):
        dealt.append(assign_folds(*arguments))
        return dealt[-1]

    monkeypatch.setattr(_in_memory, "assign_folds", watch)
    rng = np.random.default_rng(0)
    groups = rng.integers(30, size=300)
    X = np.column_stack([groups, rng.normal(size=300)])
    y = (groups % 2 + (X[:, 1] > 0) > 1).astype(int) if kind is RuleEnsembleClassifier else groups % 7 + X[:, 1]
    model = kind(n_candidates=30, cv=cv, random_state=0, n_jobs=1).fit(X, y, groups=[f"g{k}" for k in groups])
    [(folds, n_folds)] = dealt
    assert n_folds == len(model.selection_.fold_points) == 4
    assert all(np.unique(folds[groups == group]).size == 1 for group in range(30))
    plain = kind(n_candidates=30, cv=4, random_state=0, n_jobs=1).fit(X, y)
    assert (model.selection_.errors[:5] != plain.selection_.errors[:5]).any()


def test_groups_do_not_matter_without_cross_validation():
    X, y, _ = make_rows()
    one = RuleEnsembleRegressor(n_candidates=20, selection=0.1, random_state=0).fit(X, y, groups=np.arange(150) % 2)
    other = RuleEnsembleRegressor(n_candidates=20, selection=0.1, random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.coef_, other.coef_)


# Weights

LAWS = {"subsample": 1.0, "random_state": 0, "n_jobs": 1, "n_candidates": 30, "shrinkage": 0.1}


def make_rows(n_rows=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(2)
    return X, X[:, 0] + 2.0 * (X[:, 1] > 0.2) + 0.3 * rng.normal(size=n_rows), rng


@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
@pytest.mark.parametrize("weight", [1.0, 0.3, 7.0])
def test_equal_weights_are_no_weights(kind, weight):
    X, y, _ = make_rows()
    y = (y > 1).astype(int) if kind is RuleEnsembleClassifier else y
    plain = kind(n_candidates=40, random_state=0, n_jobs=1).fit(X, y)
    weighted = kind(n_candidates=40, random_state=0, n_jobs=1).fit(X, y, sample_weight=np.full(150, weight))
    assert plain.candidates_.rules == weighted.candidates_.rules
    np.testing.assert_allclose(weighted.coef_, plain.coef_, rtol=1e-6)
    assert weighted.intercept_ == pytest.approx(plain.intercept_, rel=1e-6)


@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
@pytest.mark.parametrize("selection", [0.05, "min"])
def test_rows_of_weight_zero_are_rows_left_out(kind, selection):
    """Whatever stands in those rows: rows are drawn by their place among those that count."""
    X, y, rng = make_rows()
    y = (y > 1).astype(int) if kind is RuleEnsembleClassifier else y
    weights = (rng.random(150) < 0.7).astype(np.float64)
    spoilt = np.where(weights[:, None] > 0, X, 99.0)
    options = {"n_candidates": 40, "selection": selection, "random_state": 0, "n_jobs": 1}
    zeros = kind(**options).fit(spoilt, y, sample_weight=weights)
    removed = kind(**options).fit(X[weights > 0], y[weights > 0])
    assert zeros.candidates_.rules == removed.candidates_.rules
    np.testing.assert_allclose(zeros.coef_, removed.coef_, rtol=1e-9)
    assert zeros.intercept_ == pytest.approx(removed.intercept_, rel=1e-9)


def test_the_same_holds_with_weights_on_the_other_rows():
    X, y, rng = make_rows()
    weights = rng.choice([0.0, 1.0, 2.5], 150)
    kept = weights > 0
    options = {"n_candidates": 40, "random_state": 0, "n_jobs": 1}
    zeros = RuleEnsembleRegressor(**options).fit(X, y, sample_weight=weights)
    removed = RuleEnsembleRegressor(**options).fit(X[kept], y[kept], sample_weight=weights[kept])
    assert zeros.candidates_.rules == removed.candidates_.rules
    np.testing.assert_allclose(zeros.coef_, removed.coef_, rtol=1e-9)


def test_a_whole_weight_is_a_repeated_row_where_no_row_is_drawn():
    """With every row in every tree, and a leaf's minimum in rows out of the way, weights and repeats are the same."""
    X, y, rng = make_rows()
    repeats = rng.integers(1, 4, 150)
    options = {**LAWS, "selection": 0.02, "min_samples_leaf": 1, "mean_leaves": 3.0}
    weighted = RuleEnsembleRegressor(**options).fit(X, y, sample_weight=repeats)
    repeated = RuleEnsembleRegressor(**options).fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-3)
    assert {r.text for r in weighted.rules_ if r.kind == "rule"} == {
        r.text for r in repeated.rules_ if r.kind == "rule"
    }


def test_only_the_proportions_of_weights_matter():
    X, y, rng = make_rows()
    weights = rng.random(150) + 0.5
    options = {"n_candidates": 40, "random_state": 0, "n_jobs": 1}
    one = RuleEnsembleRegressor(**options).fit(X, y, sample_weight=weights)
    two = RuleEnsembleRegressor(**options).fit(X, y, sample_weight=4.0 * weights)
    assert one.candidates_.rules == two.candidates_.rules
    np.testing.assert_allclose(one.predict(X), two.predict(X), rtol=1e-9)


def test_statistics_of_terms_are_weighted():
    X, y, rng = make_rows()
    weights = rng.random(150) + 0.5
    fitted = RuleEnsembleRegressor(n_candidates=40, random_state=0, n_jobs=1, terms="rules").fit(X, y, weights)
    for ranked in fitted.rules_:
        held = ranked.term.holds(X.T)
        assert isinstance(ranked.term, Rule)
        assert ranked.support == pytest.approx(np.average(held, weights=weights))
        assert ranked.mean_target == pytest.approx(np.average(y[held], weights=weights[held]))
    residual = np.average(y - fitted.predict(X), weights=weights)
    assert residual == pytest.approx(0.0, abs=1e-10)  # the intercept is never penalised
