"""Targets and weights of any size: the same model in other units."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove import (
    Fpc,
    Glmnet,
    Pathbuild,
    RuleAttributeSelector,
    RuleEnsembleClassifier,
    RuleEnsembleRegressor,
    Spgl1,
    load_model,
)
from rulegrove.estimators._units import SAFE, Units, shift
from rulegrove.exceptions import InvalidInputError
from small_pools import shrink_pool

FAR = [-990, -700, -250, 250, 700, 960]  # exponents of two: y * 2**-700 is about 1e-210


def make_rows(n_rows=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3)).round(2)
    return X, X[:, 0] + 2.0 * (X[:, 1] > 0.2) + 0.3 * rng.normal(size=n_rows), rng.exponential(size=n_rows)


def fit(y_exponent=0, weight_exponent=None, kind=RuleEnsembleRegressor, **parameters):
    X, y, weights = make_rows()
    y = np.ldexp(y, y_exponent) if kind is RuleEnsembleRegressor else y > 1
    model = kind(**{"n_candidates": 40, "random_state": 0, "n_jobs": 1, "honest_cv": False, **parameters})
    return model.fit(X, y, None if weight_exponent is None else np.ldexp(weights, weight_exponent)), X


@given(st.floats(1e-300, 1e300))
def test_ordinary_numbers_stay_and_others_come_near_one(size):
    units = Units.of_target(size).of_weights(size)
    if 1e-60 < size < 1e60:
        assert units.is_plain
    else:
        assert 1.0 <= shift(size, -units.target) < 2.0 or units.is_plain
        assert abs(np.log2(shift(size, -units.target))) <= SAFE + 1
        assert units.weight % 2 == 0
    assert shift(shift(size, -units.target), units.target) == size


@pytest.mark.parametrize("exponent", FAR)
@pytest.mark.parametrize("solver", ["glmnet", "fpc", "spgl1", "pathbuild", Glmnet(relax=True), Pathbuild(loss="huber")])
def test_a_target_of_any_size_gives_the_same_model(exponent, solver):
    """y * 1e-200 gave no term and y * 1e200 an OverflowError: their squares are no numbers."""
    plain, X = fit(solver=solver)
    far, _ = fit(exponent, solver=solver)
    assert [row.text for row in far.rules_] == [row.text for row in plain.rules_]
    np.testing.assert_array_equal(far.coef_, np.ldexp(plain.coef_, exponent))
    np.testing.assert_array_equal(far.predict(X), np.ldexp(plain.predict(X), exponent))
    np.testing.assert_array_equal(far.path_.penalties, np.ldexp(plain.path_.penalties, exponent))
    np.testing.assert_array_equal(far.path_.residuals, np.ldexp(plain.path_.residuals, exponent))
    named = far.path_.parameter.name
    power = {"penalty": 1, "l1_radius": 1, "steps": 0, "fit_weight": -1}[named] * exponent
    np.testing.assert_array_equal(far.path_.parameter.values, np.ldexp(plain.path_.parameter.values, power))
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_array_equal(far.selection_.errors, np.ldexp(plain.selection_.errors, 2 * exponent))
        np.testing.assert_array_equal(far.path_.risks, np.ldexp(plain.path_.risks, 2 * exponent))
    for one, other in zip(far.selection_.fold_points, plain.selection_.fold_points, strict=True):
        np.testing.assert_array_equal(one[0], np.ldexp(other[0], exponent))
    assert far.held_out_.r2 == plain.held_out_.r2
    assert far.held_out_.rmse == np.ldexp(plain.held_out_.rmse, exponent)
    first, same = (next(row for row in model.rules_ if row.kind == "rule") for model in (far, plain))
    assert first.importance == np.ldexp(same.importance, exponent)
    assert first.mean_target == pytest.approx(np.ldexp(same.mean_target, exponent), rel=1e-12)


@pytest.mark.parametrize("exponent", [-700, 700])
@pytest.mark.parametrize(
    ("make", "selection"),
    [
        (lambda unit: Glmnet(), 0.1),
        (lambda unit: Fpc(), 0.1),
        (lambda unit: Spgl1(), 0.8),
        (lambda unit: Pathbuild(loss="squared"), 300),
        (lambda unit: Glmnet(penalties=[0.5 * unit, 0.1 * unit, 0.02 * unit]), "min"),
        (lambda unit: Spgl1(l1_radius=[0.1 * unit, 0.9 * unit]), "min"),
        (lambda unit: Spgl1(residual_target=[12.0 * unit, 6.0 * unit]), "min"),
        (lambda unit: Fpc(fit_weight=[0.05 / unit, 0.5 / unit]), "min"),
    ],
)
def test_penalties_are_in_the_units_of_the_user(exponent, make, selection):
    unit = 2.0**exponent
    given_point = not isinstance(selection, str)
    point = selection * unit if given_point and not isinstance(make(1.0), Pathbuild) else selection
    plain, _ = fit(solver=make(1.0), selection=selection)
    far, _ = fit(exponent, solver=make(unit), selection=point)
    assert len(plain.rules_) > 1
    np.testing.assert_array_equal(far.coef_, np.ldexp(plain.coef_, exponent))
    assert repr(far.solver_[0]) == repr(make(unit))
    if given_point:
        assert far.selection_.rule.endswith(f" {point:g}")


def test_an_impurity_is_in_the_units_of_the_user():
    plain, _ = fit(min_impurity=0.4)
    far, _ = fit(300, min_impurity=0.4 * 4.0**300)
    assert far.candidates_.rules == plain.candidates_.rules
    assert plain.candidates_.rules != fit()[0].candidates_.rules


@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
@pytest.mark.parametrize("exponent", [-1000, -500, 500, 1000])
@pytest.mark.parametrize("pool", [None, 60])
def test_weights_of_any_size_give_the_same_model(monkeypatch, kind, exponent, pool):
    """Weights times 1e150 gave three terms in place of sixty."""
    if pool is not None:
        shrink_pool(monkeypatch, pool)
    plain, X = fit(0, 0, kind)
    far, _ = fit(0, exponent, kind)
    np.testing.assert_array_equal(far.coef_, plain.coef_)
    np.testing.assert_array_equal(far.selection_.errors, plain.selection_.errors)
    assert far.path_.weight == np.ldexp(plain.path_.weight, exponent)
    np.testing.assert_array_equal(far.path_.residuals, np.ldexp(plain.path_.residuals, exponent // 2))
    np.testing.assert_array_equal(far.predict(X), plain.predict(X))


@pytest.mark.parametrize("exponent", [-700, 700])
def test_tables_beyond_a_pool_too(monkeypatch, exponent):
    shrink_pool(monkeypatch, 60)
    plain, X = fit()
    far, _ = fit(exponent)
    np.testing.assert_array_equal(far.predict(X), np.ldexp(plain.predict(X), exponent))


def test_weights_of_very_different_sizes():
    """The lightest rows count for nothing beside the heaviest, and say nothing wrong."""
    X, y, weights = make_rows()
    spread = np.where(np.arange(150) % 2, weights * 1e150, 1e-150)
    model = RuleEnsembleRegressor(n_candidates=40, max_terms=None, random_state=0, n_jobs=1).fit(X, y, spread)
    assert len(model.rules_) > 3
    assert model.score(X, y) > 0.7


def test_class_weights_and_sample_weights_beyond_all_numbers():
    X, y, weights = make_rows()
    model = RuleEnsembleClassifier(n_candidates=20, class_weight={False: 1e200, True: 1e200}, random_state=0)
    with pytest.raises(InvalidInputError, match="`class_weight` times `sample_weight` is infinite"):
        model.fit(X, y > 1, weights * 1e200)
    assert model.fit(X, y > 1, weights).score(X, y > 1) > 0.8
    assert model.fit(X, y > 1).score(X, y > 1) > 0.8


def test_a_row_without_weight_may_have_any_target():
    X, y, _ = make_rows()
    weights = np.where(np.arange(150) < 3, 0.0, 1.0)
    model = RuleEnsembleRegressor(n_candidates=40, random_state=0, n_jobs=1)
    plain = model.fit(X, y, weights).predict(X)
    odd = np.where(weights > 0, y, 1e299)
    np.testing.assert_allclose(model.fit(X, odd, weights).predict(X), plain, rtol=1e-9)
    far = model.fit(X, np.where(weights > 0, y * 2.0**-700, 1e299), weights).predict(X)
    np.testing.assert_allclose(np.ldexp(far, 700), plain, rtol=1e-9)


def test_a_target_that_cannot_be_added_up_is_named():
    X, y, _ = make_rows()
    y[7] = -1.7e308
    with pytest.raises(InvalidInputError, match=r"y holds -1\.7e\+308 in row 7; numbers beyond 1e\+300"):
        RuleEnsembleRegressor().fit(X, y)


@pytest.mark.parametrize("exponent", [-700, 700])
def test_such_a_model_survives_a_file(tmp_path, exponent):
    model, X = fit(exponent)
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict(X), model.predict(X))


@pytest.mark.parametrize("exponent", [-700, 700])
def test_attributes_are_selected_the_same(exponent):
    X, y, _ = make_rows()
    settings = {"n_candidates": 40, "n_repeats": 2, "min_votes": 1, "random_state": 0, "n_jobs": 1}
    plain = RuleAttributeSelector(**settings).fit(X, y)
    far = RuleAttributeSelector(**settings).fit(X, np.ldexp(y, exponent))
    np.testing.assert_array_equal(far.importances_, plain.importances_)
    np.testing.assert_array_equal(far.losses_, plain.losses_)


@pytest.mark.parametrize("stable", [True, False])
def test_attributes_near_the_end_of_all_numbers(stable):
    """Differences of such values are infinite, and no number of few digits lies at infinity."""
    X, y, _ = make_rows()
    X[:, 0] *= 1.7e308 / np.abs(X[:, 0]).max()
    model = RuleEnsembleRegressor(n_candidates=40, stable=stable, terms="rules", random_state=0, n_jobs=1).fit(X, y)
    assert model.score(X, y) > 0.5


def test_nothing_is_said_about_rounding():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fit(900, max_terms=4)
        fit(-900, 900, max_terms=4)
    assert told == []
