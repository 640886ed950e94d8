"""What a regressor predicts and says about its terms."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.linear_model import LassoCV
from sklearn.model_selection import cross_val_score

from rulegrove import RuleEnsembleRegressor
from rulegrove.exceptions import DroppedColumnWarning


def make_data(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, 10.0 + X[:, 0] + 3.0 * ((X[:, 1] > 0) & (X[:, 0] > -1)) + 0.2 * rng.normal(size=n_rows)


def make(**changes):
    return RuleEnsembleRegressor(**{"n_candidates": 60, "random_state": 0, "n_jobs": 1, **changes})


def test_friedman_one():
    """Products, a square, two lines and five attributes of noise, unit variance of the errors."""
    X, y = make_friedman1(1000, noise=1.0, random_state=0)
    X_new, y_new = make_friedman1(2000, noise=0.0, random_state=1)
    fitted = make(n_candidates=1000).fit(X, y)
    assert fitted.score(X_new, y_new) > 0.88
    assert fitted.score(X_new, y_new) > LassoCV().fit(X, y).score(X_new, y_new) + 0.05
    assert fitted.feature_importances_[:5].sum() > 0.95
    assert len(fitted.rules_) < 150


def test_a_real_table():
    """442 patients, where a straight line is hard to beat (R2 some 0.48)."""
    X, y = load_diabetes(return_X_y=True)
    assert cross_val_score(make(n_candidates=100), X, y, cv=3).mean() > 0.40


def test_terms_tell_the_mean_of_the_target():
    X, y = make_data()
    fitted = make(selection="min").fit(X, y)
    for ranked in fitted.rules_:
        assert ranked.speaks_for is None
        assert ranked.confidence is None
        if ranked.kind == "linear":
            assert ranked.mean_target is None
            assert ranked.importance == pytest.approx(
                abs(ranked.coefficient) * ranked.term.values(X[:, ranked.term.feature]).std()
            )
            continue
        held = ranked.term.holds(X.T)
        assert ranked.support == pytest.approx(held.mean())
        assert ranked.mean_target == pytest.approx(y[held].mean())
        spread = np.sqrt(held.mean() * (1 - held.mean()))
        assert ranked.importance == pytest.approx(abs(ranked.coefficient) * spread)
    assert {ranked.kind for ranked in fitted.rules_} == {"rule", "linear"}
    assert list(fitted.rules_.to_dict())[-1] == "mean_target"


@pytest.mark.parametrize(("shift", "factor"), [(1e6, 1.0), (0.0, 1e-6), (-5.0, 1e6), (1e9, 1.0)])
def test_shift_and_scale_of_the_target_go_straight_through(shift, factor):
    """Sums of squares of a target far from zero lose its digits; it is centred first."""
    X, y = make_data()
    plain, moved = make().fit(X, y), make().fit(X, shift + factor * y)
    assert [r.text for r in moved.rules_] == [r.text for r in plain.rules_]
    np.testing.assert_allclose((moved.predict(X) - shift) / factor, plain.predict(X), atol=1e-5)


def test_the_mean_is_met():
    X, y = make_data()
    assert make(max_terms=None).fit(X, y).predict(X).mean() == pytest.approx(y.mean())


@pytest.mark.parametrize("tree_loss", ["auto", "squared", "huber"])
def test_every_loss_of_the_trees_learns(tree_loss):
    X, y = make_data()
    assert make(tree_loss=tree_loss).fit(X, y).score(X, y) > 0.8


def test_a_constant_target_leaves_the_intercept():
    X, _ = make_data(50)
    fitted = make().fit(X, np.full(50, 3.7))
    assert len(fitted.rules_) == 0
    np.testing.assert_allclose(fitted.predict(X), 3.7)


def test_nothing_to_learn_from_leaves_the_mean():
    with pytest.warns(DroppedColumnWarning, match=r"Column 0 \('x0'\) is constant"):
        fitted = make().fit(np.zeros((20, 1)), np.arange(20.0))
    np.testing.assert_allclose(fitted.predict(np.ones((2, 1))), 9.5)
    assert fitted.feature_importances_.tolist() == [0.0]


def test_a_constant_column_changes_nothing():
    X, y = make_data()
    with pytest.warns(DroppedColumnWarning, match=r"Column 3 \('x3'\) is constant") as told:
        fitted = make().fit(np.column_stack([X, np.full(200, 4.0)]), y)
    assert len(told) == 1
    np.testing.assert_array_equal(fitted.coef_, make().fit(X, y).coef_)
    assert fitted.feature_importances_[3] == 0.0


def test_a_column_without_values_is_said_and_unused():
    X, y = make_data()
    with pytest.warns(DroppedColumnWarning, match=r"Column 3 \('x3'\) has no values"):
        fitted = make().fit(np.column_stack([X, np.full(200, np.nan)]), y)
    assert fitted.feature_importances_[3] == 0.0


def test_targets_of_every_kind():
    X, y = make_data()
    y = y.round()
    plain = make().fit(X, y)
    for wrap in (np.float32, np.int64, pd.Series, pl.Series, pa.array, list):
        twin = make().fit(X, wrap(y) if wrap not in (np.float32, np.int64) else y.astype(wrap))
        np.testing.assert_array_equal(twin.predict(X), plain.predict(X))


def test_the_order_of_addition_is_that_of_the_documentation():
    X, y = make_data()
    fitted = make(selection="min").fit(X, y)
    scores = fitted.intercept_ + fitted.transform_rules(X) @ fitted.coef_
    np.testing.assert_allclose(fitted.predict(X), scores, rtol=0, atol=1e-12 * np.abs(scores).max())


def test_the_parameters_are_left_alone():
    X, y = make_data(60)
    fitted = make(cv=None, max_features=1)
    before = fitted.get_params()
    assert fitted.fit(X, y).get_params() == before


def test_huber_trees_follow_the_scale_of_the_target():
    """The bend of the loss once stood at 1 whatever the unit, so in small units no residual was ever bent."""
    X, y = make_friedman1(300, random_state=0)
    y[::25] += 500.0
    small, large = (
        RuleEnsembleRegressor(n_candidates=60, tree_loss="huber", selection="min", random_state=0).fit(X, scale * y)
        for scale in (2.0**-10, 2.0**10)
    )
    np.testing.assert_allclose(large.predict(X), 2.0**20 * small.predict(X), rtol=1e-6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "cox"}, "The 'loss' parameter of RuleEnsembleRegressor must be"),
        ({"power": 0.5}, "The 'power' parameter of RuleEnsembleRegressor must be"),
        ({"power": 3}, "The 'power' parameter"),
        ({"multioutput": "grouped"}, "The 'multioutput' parameter"),
    ],
)
def test_parameters_of_losses_that_are_none_are_refused(parameters, message):
    X, y = make_data()
    with pytest.raises(ValueError, match=message):
        make(**parameters).fit(X, y)


@pytest.mark.parametrize("loss", ["squared", "huber", "poisson", "gamma", "tweedie", "quantile", "absolute"])
def test_tags_tell_what_targets_may_be(loss):
    """By `positive_only` and `multi_output` scikit-learn chooses the targets of its checks."""
    tags = RuleEnsembleRegressor(loss=loss).__sklearn_tags__().target_tags
    assert tags.positive_only == (loss in {"poisson", "gamma", "tweedie"})
    assert tags.multi_output == (loss == "squared")


def test_parameters_of_other_losses_do_not_matter():
    X, y = make_data()
    plain = make().fit(X, y)
    np.testing.assert_array_equal(
        make(power=1.2, quantile=0.9, multioutput="separate").fit(X, y).predict(X), plain.predict(X)
    )
    median = make(loss="absolute", quantile=0.9).fit(X, y)
    np.testing.assert_array_equal(median.predict(X), make(loss="absolute").fit(X, y).predict(X))


def test_a_known_part_is_taken_out_and_added_again():
    X, y = make_data()
    known = np.linspace(-5.0, 5.0, len(X))
    model = make().fit(X, y + known, offset=known)
    plain = make().fit(X, y)
    np.testing.assert_allclose(model.predict(X), plain.predict(X), atol=1e-9)
    np.testing.assert_allclose(model.predict(X, offset=known), plain.predict(X) + known, atol=1e-9)
    assert model.score(X, y + known, offset=known) == pytest.approx(plain.score(X, y))
