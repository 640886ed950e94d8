"""What is learned from: generators, rows that count, columns that say nothing, the fold of each row."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, StratifiedKFold

from rulegrove import RuleEnsembleRegressor
from rulegrove.columns import Columns, Feature
from rulegrove.estimators._training import (
    N_LEVELS,
    NEVER_HELD_OUT,
    Encoded,
    TrainingData,
    assign_folds,
    make_rng,
    warn_constant,
)
from rulegrove.estimators.autos import SEARCH_ROWS
from rulegrove.exceptions import DroppedColumnWarning, InvalidInputError


def make_data(values, y, weights=None, codes=None):
    values = np.asarray(values, dtype=np.float64)
    columns = Columns([Feature(f"c{k}") for k in range(values.shape[1])], values)
    return TrainingData.of(columns, Encoded(np.asarray(y, dtype=np.float64)[:, None], 0.0, weights, codes))


def find_constant(data):
    """What is said of columns that carry no information."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_constant(data)
    assert {warning.category for warning in caught} <= {DroppedColumnWarning}
    return [str(warning.message) for warning in caught]


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
        ([2.0, 2.0, 2.0, 2.0], "Column 1 ('c1') is constant"),
        ([np.nan] * 4, "Column 1 ('c1') has no values"),
    ],
)
def test_columns_that_say_nothing_are_named(column, words):
    [message] = find_constant(make_data(np.column_stack([np.arange(4.0), column]), np.arange(4)))
    assert message == f"{words}; no term uses it."


def test_columns_that_say_something_are_not_named():
    """Known or missing is information."""
    values = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, np.nan], [0.0, 1.0]])
    assert find_constant(make_data(values, np.arange(4))) == []
    assert find_constant(make_data(values[::-1], np.arange(4))) == []


def test_a_column_that_varies_only_where_weights_are_zero_is_constant():
    values = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 6.0]])
    weights = np.array([1.0, 2.0, 0.0])
    assert find_constant(make_data(values, np.arange(3), weights)) == ["Column 1 ('c1') is constant; no term uses it."]
    assert find_constant(make_data(values, np.arange(3))) == []


def test_a_late_change_is_seen():
    values = np.zeros((3000, 1))
    assert len(find_constant(make_data(values, np.arange(3000)))) == 1
    values[-1] = 1.0
    assert find_constant(make_data(values, np.arange(3000))) == []


def test_rows_without_weight_are_left_out_and_equal_weights_are_none():
    data = make_data(np.ones((4, 1)), np.arange(4), weights=np.array([2.0, 0.0, 2.0, 2.0]))
    assert data.rows.tolist() == [0, 2, 3]
    assert data.weights is None
    data = make_data(np.ones((4, 1)), np.arange(4), weights=np.array([2.0, 0.0, 1.0, 2.0]))
    assert data.weights_of(data.rows).tolist() == [2.0, 1.0, 2.0]


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


def weighted_data(weights):
    """Training data of these weights, with targets that differ in every row."""
    values = np.random.default_rng(0).normal(size=len(weights))
    return make_data(np.arange(2.0 * len(weights)).reshape(-1, 2), values, weights)


@settings(deadline=None)
@given(weights=st.lists(st.floats(1e-3, 1e6), min_size=30, max_size=200, unique=True).map(np.array))
def test_few_weights_stand_for_many_and_rows_pull_as_before(weights):
    weights[::7] = 0.0
    data = weighted_data(weights)
    levelled = data.level_weights()
    assert data.has_many_weights
    assert len(np.unique(levelled.weights[data.rows])) <= N_LEVELS
    assert not levelled.has_many_weights
    np.testing.assert_allclose(levelled.weights.sum(), weights.sum())
    pulls = weights[data.rows, None] * data.targets[data.rows]
    np.testing.assert_allclose(levelled.weights[data.rows, None] * levelled.targets[data.rows], pulls, rtol=1e-9)
    assert (np.diff(levelled.weights[np.argsort(weights)]) >= 0.0).all()
    np.testing.assert_array_equal(levelled.weights == 0.0, weights == 0.0)


@pytest.mark.parametrize("weights", [None, np.array([0.0, 1.0, 2.0, 3.0])])
def test_weights_that_are_few_stay_as_they_are(weights):
    data = make_data(np.arange(8.0).reshape(-1, 2), np.arange(4.0), weights)
    assert data.level_weights() is data


def test_what_is_told_of_rules_goes_by_the_weights_as_they_are():
    """Many weights are rounded while rules are chosen; supports and means are of the rows as they were given."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(SEARCH_ROWS + 500, 3)), rng.lognormal(size=SEARCH_ROWS + 500)
    y = np.where(X[:, 0] > 0.3, 2.0, 0.0) + X[:, 1] + rng.normal(size=len(X))
    model = RuleEnsembleRegressor(n_candidates=100, terms="rules", random_state=0).fit(X, y, sample_weight=weights)
    for row, holds in zip(model.rules_, np.asarray(model.transform_rules(X)).T, strict=True):
        own = weights * holds
        assert row.support == pytest.approx(own.sum() / weights.sum(), rel=1e-9)
        assert row.mean_target == pytest.approx(own @ y / own.sum(), rel=1e-6)
