"""Selection of attributes: what must be kept and dropped, both criteria, tables of every kind, bad input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from rulegrove import Glmnet, RuleAttributeSelector, RuleEnsembleClassifier
from rulegrove.datasets import load
from rulegrove.exceptions import DroppedColumnWarning, InvalidInputError
from target_kinds import draw


def make(**changes):
    return RuleAttributeSelector(**{"n_candidates": 150, "random_state": 0, "n_jobs": 1, **changes})


def make_data(n_rows=400, n_features=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    return X, np.where((X[:, 2] > 0) & (X[:, 5] > -0.5), "yes", "no")


@parametrize_with_checks([make(n_candidates=20, random_state=None)])
@pytest.mark.filterwarnings("ignore:No features were selected")  # of tiny random tables
def test_scikit_learn_is_content(estimator, check):
    check(estimator)


@pytest.mark.parametrize("solver", ["fpc", "glmnet", Glmnet(l1_ratio=0.5)])
def test_what_matters_is_kept_and_noise_is_dropped(solver):
    X, y = make_data()
    selector = make(solver=solver).fit(X, y)
    np.testing.assert_array_equal(selector.get_support(indices=True), [2, 5])
    assert (selector.votes_[[2, 5]] == 5).all()


def test_regression():
    X, y = make_friedman1(500, 15, random_state=0)
    kept = set(make(n_candidates=200).fit(X, y).get_support(indices=True).tolist())
    assert kept <= {0, 1, 2, 3, 4}
    assert kept >= {0, 1, 3}


@pytest.mark.parametrize("kind", ["poisson", "gamma", "quantile"])
def test_counts_and_amounts_are_numbers(kind):
    X, y = draw(kind, 500)
    X = np.column_stack([X, np.random.default_rng(1).normal(size=(500, 4))])
    kept = set(make(task="regression").fit(X, y).get_support(indices=True).tolist())
    assert {0, 1} <= kept
    assert len(kept) <= 3


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            draw("shared")[1],
            r"needs classes or one number as its target; got a y of the shape \(160, 2\). Select for each column",
        ),
        (draw("survival")[1], r"needs classes or one number as its target; got a y of the shape \(160, 2\)"),
        (np.zeros(160, dtype=[("died", "?"), ("time", "f8")]), "structured array .* use RuleEnsembleSurvival"),
    ],
)
def test_several_numbers_and_survival_times_are_refused(y, message):
    with pytest.raises(InvalidInputError, match=message):
        make().fit(draw("shared")[0], y)


def test_several_classes():
    iris = load("iris")
    X = np.column_stack([iris.X, np.random.default_rng(0).normal(size=(150, 4))])
    kept = set(make().fit(X, iris.y).get_support(indices=True).tolist())
    assert kept & {2, 3}
    assert kept <= {0, 1, 2, 3}


def test_votes_are_those_of_the_rules():
    """The paper's criterion by hand: attributes of any voted rule of a repetition, kept at `min_votes` repetitions."""
    X, y = make_data()
    selector = make(criterion="votes", n_top=3, n_repeats=4, min_votes=2, penalties=5).fit(X, y)
    by_hand = np.zeros(8, dtype=int)
    for repetition in range(4):
        rules = [one.rule for one in selector.rule_votes_ if one.repetition == repetition]
        by_hand[sorted({feature for rule in rules for feature in rule.features})] += 1
    np.testing.assert_array_equal(selector.votes_, by_hand)
    np.testing.assert_array_equal(selector.get_support(), by_hand >= 2)
    votes = [one.votes for one in selector.rule_votes_]
    assert votes == sorted(votes, reverse=True)
    assert 1 <= min(votes) <= max(votes) <= 5


def test_the_number_to_select():
    X, y = make_data()
    assert make(n_features_to_select=3).fit(X, y).get_support().sum() == 3
    assert make(n_features_to_select=0.25).fit(X, y).get_support().sum() == 2
    assert make(n_features_to_select=8).fit(X, y).get_support().all()


def test_nothing_is_selected_from_noise():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 10)), rng.integers(0, 2, 300)
    selector = make().fit(X, y)
    assert not selector.get_support().any()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(X).shape == (300, 0)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_stay_frames(kind):
    X, y = make_data()
    names = [f"a{k}" for k in range(8)]
    frame = kind({name: X[:, k] for k, name in enumerate(names)})
    kept = make().fit(frame, y).transform(frame)
    assert isinstance(kept, kind)
    assert list(kept.columns) == ["a2", "a5"]
    np.testing.assert_array_equal(kept.to_numpy(), X[:, [2, 5]])


@pytest.mark.parametrize(("name", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output(name, kind):
    X, y = make_data()
    kept = make().set_output(transform=name).fit(X, y).transform(X)
    assert isinstance(kept, kind)
    assert list(kept.columns) == ["x2", "x5"]


def test_categories_and_missing_values_in_a_pipeline():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"noise": rng.normal(size=500), "colour": rng.choice(["red", "green", "blue"], 500)})
    frame["size"] = np.where(rng.random(500) < 0.2, np.nan, rng.normal(size=500))
    y = ((frame["colour"] == "red") | (frame["size"] > 0.5)).to_numpy()
    pipeline = make_pipeline(make(), RuleEnsembleClassifier(n_candidates=60, random_state=0, n_jobs=1)).fit(frame, y)
    assert list(pipeline[0].get_feature_names_out()) == ["colour", "size"]
    assert list(pipeline[-1].feature_names_in_) == ["colour", "size"]
    assert pipeline.score(frame, y) > 0.95


def test_weights_of_zero_leave_rows_out():
    X, y = make_data()
    spoilt = np.concatenate([y, y[::-1]])
    weights = np.repeat([1.0, 0.0], len(y))
    weighted = make().fit(np.concatenate([X, X]), spoilt, sample_weight=weights)
    np.testing.assert_array_equal(weighted.importances_, make().fit(X, y).importances_)


def test_threads_and_clones_do_not_matter():
    X, y = make_data()
    one = make().fit(X, y)
    for other in (make(n_jobs=2), clone(one)):
        np.testing.assert_array_equal(other.fit(X, y).importances_, one.importances_)


def test_what_a_target_is():
    X, _ = make_data(60)
    assert make()._is_classes(np.arange(60) % 3)
    assert not make()._is_classes(np.arange(60))
    assert not make()._is_classes(X[:, 0])
    assert make(task="classification")._is_classes(np.arange(60))
    assert not make(task="regression")._is_classes(np.arange(60) % 3)


def test_a_constant_attribute_is_never_kept():
    X, y = make_data()
    X[:, 0] = 7.0
    with pytest.warns(DroppedColumnWarning, match="constant"):
        selector = make(criterion="votes").fit(X, y)
    assert selector.votes_[0] == 0
    assert selector.importances_[0] == 0.0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"min_votes": 6}, "`min_votes`=6 repetitions cannot agree when there are only `n_repeats`=5"),
        ({"n_features_to_select": 9}, "asks for 9 attributes, but X has 8"),
        ({"criterion": "luck"}, "'criterion' parameter"),
        ({"min_loss": -1.0}, "'min_loss' parameter"),
    ],
)
def test_bad_parameters(changes, words):
    with pytest.raises(ValueError, match=words):
        make(**changes).fit(*make_data())


def test_more_votes_than_repetitions_is_our_own_error():
    with pytest.raises(InvalidInputError, match="lower the first or raise the second"):
        make(n_repeats=2).fit(*make_data())


def test_the_first_of_two_that_tell_the_same_is_missed_little():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    X[:, 1] = X[:, 0] + 1e-3 * rng.normal(size=600)
    y = (X[:, 0] + X[:, 2] > 0).astype(int)
    selector = make(n_candidates=300).fit(X, y)
    assert selector.losses_[:2].min() < 0.25 * selector.losses_[:2].max()
    assert selector.importances_[:2].min() > 0.5 * selector.importances_[:2].max()


def test_ranks_follow_the_elimination():
    X, y = make_data()
    selector = make().fit(X, y)
    assert sorted(selector.ranking_) == list(range(1, 9))
    assert set(np.flatnonzero(selector.ranking_ <= 2)) == {2, 5}
    by_rank = np.argsort(selector.ranking_)
    assert (np.diff(selector.votes_[by_rank]) <= 0).all()
    assert (selector.losses_[[2, 5]] > 0.05).all()
    for wanted in (1, 4):
        kept = make(n_features_to_select=wanted).fit(X, y).get_support(indices=True)
        assert set(kept) == set(by_rank[:wanted])


def test_a_higher_bar_keeps_fewer():
    X, y = make_friedman1(400, 8, random_state=0)
    kept = [make(min_loss=bar).fit(X, y).get_support() for bar in (0.0, 0.02, 0.2)]
    assert kept[0].sum() >= kept[1].sum() > kept[2].sum()
    assert (kept[2] <= kept[1]).all()
    assert (kept[1] <= kept[0]).all()
