"""Tables beyond a pool in memory: who is drawn, what is learned from whom, what stays as it was."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove._hashing import hash_positions
from rulegrove.estimators import _training
from rulegrove.estimators._sampling import TargetCode, TargetSummary, draw_lowest, draw_positions
from rulegrove.exceptions import InvalidInputError
from small_pools import shrink_pool

N_ROWS = 2000


@pytest.fixture
def small_pool(monkeypatch):
    shrink_pool(monkeypatch, 500)


def make_data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 4))
    return X, X[:, 0] + 2 * (X[:, 1] > 0) + rng.normal(size=N_ROWS) / 2


@given(st.lists(st.integers(0, 2**64 - 1), unique=True, min_size=1, max_size=60), st.integers(1, 70))
def test_the_lowest_are_drawn_in_order_with_their_ranks(keys, size):
    keys = np.array(keys, dtype=np.uint64)
    places, ranks = draw_lowest(keys, size)
    order = np.argsort(keys)[:size]
    assert places.tolist() == sorted(order.tolist())
    assert places[np.argsort(ranks)].tolist() == order.tolist()


def test_smaller_samples_are_within_larger_ones():
    positions = np.arange(1000) * 7
    few, _ = draw_positions(3, positions, 100)
    many, ranks = draw_positions(3, positions, 400)
    np.testing.assert_array_equal(many[ranks < 100], few)
    assert few.tolist() == sorted(positions[np.argsort(hash_positions(3, positions))[:100]].tolist())


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([0.0, 0.5, 2.0])), max_size=30),
    st.integers(0, 30),
)
def test_summaries_of_parts_merge_to_that_of_all(rows, cut):
    y, weights = np.array([label for label, _ in rows], dtype="<U1"), np.array([weight for _, weight in rows])
    whole = TargetSummary.of(y, weights, classes=True)
    parts = [TargetSummary.of(y[here], weights[here], classes=True) for here in (slice(0, cut), slice(cut, None))]
    merged = parts[0].merge(parts[1])
    assert merged.labels.tolist() == whole.labels.tolist()
    for name in ("counts", "n_counted", "lightest", "heaviest"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name))


def test_weights_vary_after_those_of_the_classes():
    y, weights = np.array(["a", "a", "b"]), np.array([1.0, 1.0, 2.0])
    summary = TargetSummary.of(y, weights, classes=True)
    assert summary.varies(None)
    assert not summary.varies(np.array([2.0, 1.0]))
    assert not summary.varies(np.array([0.0, 1.0]))


def test_unknown_classes_are_named():
    code = TargetCode(np.array(["a", "c"]))
    assert code.read(np.array(["c", "a"]), None).values.tolist() == [[1.0], [-1.0]]
    for label in ("b", "d"):
        with pytest.raises(InvalidInputError, match=f"the class '{label}', which is none of"):
            code.read(np.array(["a", label]), None)


@pytest.mark.usefixtures("small_pool")
def test_statistics_are_of_all_rows_and_rules_of_the_drawn():
    X, y = make_data()
    model = RuleEnsembleRegressor(n_candidates=30, random_state=0, n_jobs=1).fit(X, y)
    for row in model.rules_:
        if row.kind == "rule":
            assert row.support == pytest.approx(row.term.holds(X.T).mean(), abs=1e-15)
    seed = int(_training.make_rng(0).spawn(3)[2].integers(2**63, size=2)[1])
    drawn, ranks = draw_positions(seed, np.arange(N_ROWS), 700)
    values = {float(value) for value in X[drawn[ranks < 500]].ravel()}
    for term in model.candidates_.linear.lower, model.candidates_.linear.upper:
        assert set(term.tolist()) <= values  # winsor points are values of rows in the pool


@pytest.mark.usefixtures("small_pool")
def test_the_fit_does_not_depend_on_threads_or_the_kind_of_table():
    X, y = make_data()
    models = [
        RuleEnsembleClassifier(n_candidates=40, random_state=1, n_jobs=n_jobs).fit(table, y > 1)
        for n_jobs, table in ((1, X), (2, X), (1, pd.DataFrame(X)))
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        assert [row.term for row in model.rules_] == [row.term for row in models[0].rules_]


@pytest.mark.usefixtures("small_pool")
def test_held_out_errors_are_those_of_folds_by_position():
    X, y = make_data()
    model = RuleEnsembleRegressor(n_candidates=30, random_state=0, n_jobs=1, cv=4, solver=Glmnet()).fit(X, y)
    assert len(model.selection_.fold_points) == 4
    assert model.score(X, y) > 0.8


@pytest.mark.usefixtures("small_pool")
def test_rows_of_weight_zero_do_not_count():
    X, y = make_data()
    weights = np.ones(N_ROWS)
    weights[::3] = 0.0
    spoiled = y.copy()
    spoiled[::3] = 1e6
    models = [
        RuleEnsembleRegressor(n_candidates=30, random_state=0, n_jobs=1).fit(X, target, weights)
        for target in (y, spoiled)
    ]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, atol=1e-9)


@pytest.mark.usefixtures("small_pool")
def test_a_class_too_rare_to_be_dealt_out_is_named():
    X, _ = make_data()
    labels = np.zeros(N_ROWS, dtype=int)
    labels[:3] = 1
    with pytest.raises(InvalidInputError, match="Class 1 has 3 of 2,000 rows"):
        RuleEnsembleClassifier(n_candidates=20).fit(X, labels)


@pytest.mark.usefixtures("small_pool")
def test_bad_input_is_told_as_ever():
    X, y = make_data()
    with pytest.raises(InvalidInputError, match="one target a row"):
        RuleEnsembleRegressor().fit(X, y[:-1])
    with pytest.raises(InvalidInputError, match="contains NaN"):
        RuleEnsembleRegressor().fit(X, np.where(np.arange(N_ROWS) == 7, np.nan, y))
    with pytest.raises(InvalidInputError, match="one class only"):
        RuleEnsembleClassifier().fit(X, np.ones(N_ROWS))
    with pytest.raises(InvalidInputError, match="must not be negative"):
        RuleEnsembleRegressor().fit(X, y, -np.ones(N_ROWS))
    with pytest.raises(InvalidInputError, match="must be finite"):
        RuleEnsembleRegressor().fit(np.where(X > 3, np.inf, X), y)
    with pytest.raises(InvalidInputError, match="`subsample` asks for"):
        RuleEnsembleRegressor(subsample=5000).fit(X, y)
