"""Cards of fitted models: what they count, how sure they are, every kind of model, bad input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import rulegrove
from inspected_models import fit
from rulegrove import RuleEnsembleClassifier, load_model
from rulegrove.datasets import load
from rulegrove.design.bits import compile_rules
from rulegrove.estimators.calibration import Sigmoid
from rulegrove.exceptions import DroppedRuleWarning, InvalidInputError
from rulegrove.scorecards import making


def make(**changes):
    return RuleEnsembleClassifier(**{"n_candidates": 100, "cv": 3, "random_state": 0, "n_jobs": 1, **changes})


@pytest.fixture(scope="module")
def pima():
    X, y = load("pima", return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y, random_state=0, stratify=y)
    model = make().fit(X, y)
    return model, (X, y), (X_new, y_new), rulegrove.scorecard(model, X, y, max_rules=6)


def find_held(card, X):
    """Where the rules of a card hold, one by one."""
    return np.array([rule.holds(X.T) for rule in card.rules]).T


def test_totals_are_sums_of_points(pima):
    _, (X, y), _, found = pima
    [card] = found.cards
    totals = find_held(card, X) @ card.points
    np.testing.assert_array_equal(found.totals(X), totals)
    chances = 1.0 / (1.0 + np.exp(-(card.curve.slope * totals + card.curve.shift)))
    np.testing.assert_allclose(found.predict_proba(X), np.column_stack([1.0 - chances, chances]), rtol=1e-12)
    np.testing.assert_array_equal(found.predict(X), np.where(chances > 0.5, *np.unique(y)[::-1]))
    assert found.score(X, y) == np.mean(found.predict(X) == y)


def test_the_table_counts_rows(pima):
    _, (X, y), _, found = pima
    [card] = found.cards
    totals, positive = found.totals(X), np.asarray(y) == card.label
    assert card.n_rows.sum() == len(X)
    for total, n_rows, n_of_class in zip(card.totals, card.n_rows, card.n_of_class, strict=True):
        assert n_rows == np.sum(totals == total)
        assert n_of_class == np.sum((totals == total) & positive)
    assert set(totals) <= set(card.totals)
    assert (np.diff(card.chances) > 0.0).all()


def test_all_rows_together_have_the_chance_that_came_true(pima):
    _, (X, y), _, found = pima
    share = (np.sum(np.asarray(y) == found.cards[0].label) + 1.0) / (len(y) + 2.0)
    assert found.predict_proba(X)[:, 1].mean() == pytest.approx(share, abs=1e-9)


def test_figures_are_those_of_folds_done_by_hand(pima, monkeypatch):
    """With points that are given, what is left to each fold is the curve."""
    model, (X, y), _, found = pima
    [card] = found.cards
    table = {}

    def remember(patterns, *limits):
        points = np.array([3, -2, 1, 0, 1, -1])[: patterns.held.shape[1]]
        table["points"] = points
        return type("Points", (), {"points": points, "slope": np.inf, "loss": 0.0})()

    monkeypatch.setattr(making, "find_points", remember)
    counted = making._Counted.read(model, X, y, None)
    rules = card.rules
    again = making._make_card(model, counted, 1, rules, (-5, 5))
    totals = np.array([rule.holds(X.T) for rule in rules]).T @ table["points"]
    positive, odds = np.asarray(y) == card.label, np.empty(len(y))
    for fold in range(counted.n_folds):
        learned = counted.folds != fold
        curve = Sigmoid.fit(totals[learned].astype(float), positive[learned], np.ones(learned.sum()))
        level = making._set_level(curve.slope, totals[learned], positive[learned], np.ones(learned.sum()))
        odds[~learned] = level.slope * totals[~learned] + level.shift
    chances = 1.0 / (1.0 + np.exp(-odds))
    assert again.figures.auc == pytest.approx(roc_auc_score(positive, odds), abs=1e-9)
    loss = -np.mean(np.log(np.where(positive, chances, 1.0 - chances)))
    assert again.figures.log_loss == pytest.approx(loss, rel=1e-6)


def test_a_card_is_good_on_new_rows(pima):
    model, _, (X_new, y_new), found = pima
    positive = np.asarray(y_new) == found.cards[0].label
    area = roc_auc_score(positive, found.totals(X_new))
    assert area > roc_auc_score(positive, model.predict_proba(X_new)[:, 1]) - 0.05
    chances = found.predict_proba(X_new)[:, 1]
    assert abs(chances.mean() - positive.mean()) < 0.06


def test_a_list_of_rules_keeps_them():
    X, y = load("pima", return_X_y=True)
    model = make(terms="rules", max_terms=5).fit(X, y)
    found = rulegrove.scorecard(model, X, y, points=(-9, 9))
    assert set(found.cards[0].rules) <= set(model.model_.terms)
    others = rulegrove.scorecard(model, X, y, max_rules=2)
    assert len(others.cards[0].rules) <= 2


def test_each_class_has_a_card():
    X, y = load("iris", return_X_y=True)
    found = rulegrove.scorecard(make().fit(X, y), X, y, max_rules=4)
    assert [card.label for card in found.cards] == list(np.unique(y))
    each = np.column_stack(
        [card.curve(totals.astype(float)) for card, totals in zip(found.cards, found.totals(X).T, strict=True)]
    )
    np.testing.assert_allclose(found.predict_proba(X), each / each.sum(axis=1, keepdims=True), rtol=1e-12)
    assert found.score(X, y) > 0.9


def test_weights_count_as_rows():
    X, y = load("pima", return_X_y=True)
    model = make(terms="rules", max_terms=4).fit(X, y)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = rulegrove.scorecard(model, X, y, sample_weight=weights).cards[0]
    repeated = rulegrove.scorecard(model, np.repeat(X, weights, axis=0), np.repeat(y, weights)).cards[0]
    np.testing.assert_array_equal(weighted.points, repeated.points)
    np.testing.assert_array_equal(weighted.n_rows, repeated.n_rows)
    np.testing.assert_array_equal(weighted.n_of_class, repeated.n_of_class)
    assert rulegrove.scorecard(model, X, y, sample_weight=weights).n_rows == np.count_nonzero(weights)


def test_a_model_from_a_file_has_the_same_card(pima, tmp_path):
    model, (X, y), _, found = pima
    model.save(tmp_path / "model.json")
    assert repr(rulegrove.scorecard(load_model(tmp_path / "model.json"), X, y, max_rules=6)) == repr(found)


def test_large_tables_choose_by_some_rows(pima, monkeypatch):
    model, (X, y), _, _ = pima
    monkeypatch.setattr(making, "MOST_CHOOSING", 200)
    card = rulegrove.scorecard(model, X, y, max_rules=4).cards[0]
    assert card.n_rows.sum() == len(y)


@pytest.mark.parametrize("points", [(0, 5), (-5, 0), (-1, 1)])
def test_points_stay_within_their_limits(pima, points):
    model, (X, y), _, _ = pima
    card = rulegrove.scorecard(model, X, y, points=points).cards[0]
    assert card.points.size > 2
    assert points[0] <= card.points.min() <= card.points.max() <= points[1]
    assert (card.points != 0).all()


@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_tables_with_categories_and_missing_values(kind):
    model, table, y, weights = fit(kind)
    found = rulegrove.scorecard(model, table, y, sample_weight=weights)
    program = compile_rules(found.cards[0].rules, len(model.model_.features))
    held = program.evaluate(model.read_columns(table).take(slice(None), program.used_features)).to_dense()
    totals = found.totals(table)
    np.testing.assert_array_equal(held @ found.cards[0].points, totals if totals.ndim == 1 else totals[:, 0])
    assert np.isfinite(found.predict_proba(table)).all()


def test_a_model_without_terms_has_an_empty_card():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), np.tile([0, 1], 40)
    with pytest.warns(DroppedRuleWarning, match="holds on no rows"):
        model = make(n_candidates=0, terms="rules", max_terms=0, rules=["x0 > 99"]).fit(X, y)
    found = rulegrove.scorecard(model, X, y)
    assert found.cards[0].rules == ()
    np.testing.assert_allclose(found.predict_proba(X), 0.5)
    assert "No rule is about this class" in repr(found)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"points": (1, 5)}, "`points` must be two whole numbers"),
        ({"points": (0, 0)}, "`points` must be two whole numbers"),
        ({"points": 5}, "`points` must be two whole numbers"),
        ({"points": (-2.5, 5)}, "`points` must be two whole numbers"),
        ({"max_rules": 0}, "`max_rules` must be a whole number from 1 to 64; got 0."),
        ({"max_rules": True}, "`max_rules` must be a whole number"),
        ({"sample_weight": [1.0]}, "`sample_weight` must hold one weight"),
    ],
)
def test_bad_parameters_are_refused(pima, changes, says):
    model, (X, y), _, _ = pima
    with pytest.raises(InvalidInputError, match=says):
        rulegrove.scorecard(model, X, y, **changes)


def test_what_is_no_classifier_is_refused(pima):
    model, (X, y), _, _ = pima
    regressor, table, values, _ = fit("regression")
    with pytest.raises(InvalidInputError, match="it needs a RuleEnsembleClassifier; got a RuleEn"):
        rulegrove.scorecard(regressor, table, values)
    with pytest.raises(InvalidInputError, match="A scorecard needs rows to find its points and chances; give `X`"):
        rulegrove.scorecard(model)
    with pytest.raises(InvalidInputError, match="needs at least two rows of each class"):
        rulegrove.scorecard(model, X[:1], y[:1])
    with pytest.raises(InvalidInputError, match="which is not a class of the model"):
        rulegrove.scorecard(model, X, ["other"] * len(X))


def test_the_frame_has_each_class(pima):
    frame = pima[3].to_frame()
    assert list(frame) == ["points", "rule"]
    X, y = load("iris", return_X_y=True)
    found = rulegrove.scorecard(make().fit(X, y), X, y, max_rules=3)
    totals = found.to_frame("totals", backend="pandas")
    assert isinstance(totals, pd.DataFrame)
    assert list(totals) == ["class", "total", "chance", "n_rows", "n_of_class"]
    assert totals.groupby("class")["n_rows"].sum().eq(len(y)).all()
    with pytest.raises(InvalidInputError, match="`of` must be 'rules' or 'totals'"):
        found.to_frame("points")
