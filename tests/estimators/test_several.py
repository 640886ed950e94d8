"""Several numbers at once: one list for all of them, or one each."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import r2_score

from rulegrove import RuleEnsembleRegressor
from rulegrove.estimators._constraints import Constraints
from rulegrove.estimators.several import Several, name_numbers
from rulegrove.exceptions import InvalidInputError
from target_kinds import N_ROWS, draw, make

X, Y = draw("shared")
WEIGHTS = np.random.default_rng(4).uniform(0.2, 2.0, N_ROWS)
WAYS = ["shared", "separate"]


@cache
def fitted(way, max_terms="auto"):
    return make(way, max_terms=max_terms).fit(X, Y)


@pytest.mark.parametrize("max_terms", ["auto", None, 4])
def test_a_term_of_a_shared_list_is_in_it_for_all_numbers(max_terms):
    model = fitted("shared", max_terms)
    assert model.coef_.shape == (2, len(model.rules_))
    assert len(model.rules_)
    assert (model.coef_ != 0.0).all()
    for line in range(1, len(model.front_)):
        coefs = model.front_[line].fitted.model.coefs
        assert (np.any(coefs != 0.0, axis=0) == np.all(coefs != 0.0, axis=0)).all()


def test_lists_of_their_own_have_terms_of_their_own():
    model = fitted("separate", None)
    rules = [k for k, row in enumerate(model.rules_) if row.kind == "rule"]
    assert rules
    assert (np.count_nonzero(model.coef_[:, rules], axis=0) == 1).all()  # linear terms may be those of both
    assert max(np.count_nonzero(coefs) for coefs in fitted("separate", 2).coef_) <= 2


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("way", WAYS)
def test_the_score_is_the_mean_r_squared(way, weights):
    model = fitted(way)
    predicted = model.predict(X)
    assert predicted.shape == Y.shape
    assert model.score(X, Y, weights) == pytest.approx(r2_score(Y, predicted, sample_weight=weights), rel=1e-12)
    assert model.score(X, Y) > 0.6
    assert model.held_out_.r2 == pytest.approx(np.mean([own.r2 for own in model.held_out_.each]))


@pytest.mark.parametrize("way", WAYS)
def test_the_unit_of_one_number_does_not_matter(way):
    """A thousand times as large it would outweigh the other."""
    model = fitted(way)
    for units in ([1000.0, 1.0], [1.0, 1e-12], [1e12, 1e-6]):
        other = make(way).fit(X, Y * units)
        assert [row.text for row in other.rules_] == [row.text for row in model.rules_]
        np.testing.assert_allclose(other.predict(X) / units, model.predict(X), rtol=1e-8, atol=1e-8)
        importances = [[row.importance for row in one.rules_] for one in (other, model)]
        np.testing.assert_allclose(*importances, rtol=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_the_order_of_the_numbers_does_not_matter_to_a_shared_list(way):
    turned = make(way).fit(X, Y[:, ::-1])
    if way == "shared":
        assert {row.text for row in turned.rules_} == {row.text for row in fitted(way).rules_}
        np.testing.assert_allclose(turned.predict(X)[:, ::-1], fitted(way).predict(X), rtol=1e-6, atol=1e-8)
    assert turned.score(X, Y[:, ::-1]) > 0.6


def test_a_number_that_is_twice_the_other_is_predicted_as_such():
    model = make("shared", max_terms=None).fit(X, np.column_stack([Y[:, 0], 5.0 - 2.0 * Y[:, 0]]))
    one, two = model.predict(X).T
    np.testing.assert_allclose(two, 5.0 - 2.0 * one, atol=1e-8)


@pytest.mark.parametrize("way", WAYS)
def test_numbers_have_the_names_of_their_columns(way):
    frame = pd.DataFrame(Y, columns=["length", "weight"])
    models = [make(way).fit(X, y) for y in (frame, pl.from_pandas(frame))]
    for model in models:
        np.testing.assert_array_equal(model.predict(X), fitted(way).predict(X))
        assert model.rules_[0].coefficients.keys() == {"length", "weight"}
        assert "length" in repr(model.held_out_)
        assert model.score(X, frame) == fitted(way).score(X, Y)
    assert fitted(way).rules_[0].coefficients.keys() == {"y0", "y1"}


def test_what_is_a_name():
    assert name_numbers(np.zeros((3, 2))) == ("y0", "y1")
    assert name_numbers(pd.DataFrame(np.zeros((3, 2)))) == ("y0", "y1")  # counted columns have no names
    assert name_numbers(pd.DataFrame({"a": [1.0], "b": [2.0]})) == ("a", "b")
    for one in (np.zeros(3), np.zeros((3, 1)), [[1.0], [2.0, 3.0]], None, pd.DataFrame({"a": [1.0]})):
        assert name_numbers(one) == ()


@pytest.mark.parametrize("way", WAYS)
def test_what_is_known_of_numbers_is_added_to_each(way):
    known = np.linspace(-1.0, 1.0, N_ROWS)
    model = make(way).fit(X, Y + known[:, None], offset=known)
    np.testing.assert_allclose(model.predict(X), fitted(way).predict(X), atol=1e-8)
    np.testing.assert_allclose(model.predict(X, offset=known), model.predict(X) + known[:, None])
    assert model.score(X, Y + known[:, None], offset=known) == pytest.approx(model.score(X, Y))


@pytest.mark.parametrize("way", WAYS)
def test_numbers_that_do_not_vary(way):
    constant = np.column_stack([Y[:, 0], np.full(N_ROWS, 0.1)])
    model = make(way).fit(X, constant)
    np.testing.assert_allclose(model.predict(X)[:, 1], 0.1, rtol=1e-12)
    assert np.isnan(model.held_out_.each[1].r2)
    flat = make(way).fit(X, np.tile([0.1, -3.0], (N_ROWS, 1)))
    np.testing.assert_allclose(flat.predict(X), np.tile([0.1, -3.0], (N_ROWS, 1)), rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-290, 1e290])
def test_sizes_that_cannot_be_squared_are_fitted(unit):
    np.testing.assert_allclose(
        make("shared").fit(X, Y * [1.0, unit]).predict(X), fitted("shared").predict(X) * [1.0, unit], rtol=1e-8
    )


@pytest.mark.parametrize("solver", ["glmnet", "fpc", "spgl1", "pathbuild"])
@pytest.mark.parametrize("way", WAYS)
def test_named_solvers_solve_for_several_numbers(way, solver):
    assert make(way, solver=solver).fit(X, Y).score(X, Y) > 0.5


@pytest.mark.parametrize(
    ("way", "parameters", "message"),
    [
        (
            "shared",
            {"monotonic": {0: 1}},
            "`monotonic` cannot be used for numbers that share a list.*multioutput='separate'",
        ),
        (
            "shared",
            {"rules": ["x0 > 0"], "force_rules": True},
            "`force_rules` cannot be used in fits.*multioutput='separate'",
        ),
        ("shared", {"evidence": "split"}, "Rules are tested for one number at a time; got 2 numbers"),
        ("separate", {"evidence": "split"}, "Rules are tested for one number at a time; got 2 numbers"),
        ("shared", {"loss": "poisson"}, r"loss='poisson' supports one number only; got a y of the shape \(160, 2\)"),
        ("shared", {"loss": "quantile"}, "loss='quantile' supports one number only.*MultiOutputRegressor"),
    ],
)
def test_what_is_about_one_number_is_refused(way, parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        make(way, **parameters).fit(X, np.abs(Y))


def test_the_ways_out_that_are_named_lead_out():
    rising = make("separate", monotonic={0: 1}).fit(X, Y)
    grid = X[:10].repeat(20, axis=0).reshape(10, 20, 3)
    grid[:, :, 0] = np.linspace(-4.0, 4.0, 20)
    assert (np.diff(rising.predict(grid.reshape(-1, 3)).reshape(10, 20, 2), axis=1) >= -1e-9).all()
    forced = make("separate", rules=["x0 > 0"], force_rules=True).fit(X, Y)
    assert (forced.coef_[:, [row.text for row in forced.rules_].index("x0 > 0")] != 0.0).all()
    Several(names=("a", "b"), shared=False).check_constraints(Constraints(monotonic=np.array([1, 0])))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y[:-1], r"a row for each of the 160 rows of X; got the shape \(159, 2\)"),
        (np.where(np.arange(N_ROWS)[:, None] == 3, np.nan, Y), r"Column 'y0' of y: .*NaN or infinity \(row 3"),
        (pd.DataFrame({"a": Y[:, 0], "b": "text"}), "Column 'b' of y: y must be numeric; got text such as 'text'"),
        ([[1.0, 2.0], [3.0]], "rows of different lengths"),
        (pd.DataFrame(Y, columns=["a", "a"]), "Column names must be unique; got 'a' more than once"),
    ],
)
def test_targets_that_are_none_are_refused(y, message):
    with pytest.raises(InvalidInputError, match=message):
        make("shared").fit(X, y)


def test_rows_to_score_have_all_numbers():
    for wrong in (Y[:, 0], Y[:, [0, 1, 1]], Y[:10]):
        with pytest.raises(InvalidInputError, match="a column for each of the 2 numbers and a row for each of the 160"):
            fitted("shared").score(X, wrong)


def test_one_column_is_one_number():
    with pytest.warns(Warning, match="column-vector y"):
        column = RuleEnsembleRegressor(n_candidates=50, cv=2, random_state=0).fit(X, Y[:, :1])
    plain = RuleEnsembleRegressor(n_candidates=50, cv=2, random_state=0).fit(X, Y[:, 0])
    np.testing.assert_array_equal(column.predict(X), plain.predict(X))
