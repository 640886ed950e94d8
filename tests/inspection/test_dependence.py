"""Partial dependence in closed form: equal to scoring every row at every point."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.inspection
from sklearn.datasets import make_friedman1
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from inspected_models import ATTRIBUTES, KINDS, brute_dependence, fit
from naive_bands import find_naive_band
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.datasets import load
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import partial_dependence

CLOSE = {"rtol": 0.0, "atol": 1e-9}


def with_missing(table, name):
    """All known values of an attribute, values beyond them, and a missing one."""
    if name == "colour":
        return [*sorted(table[name].dropna().unique()), None]
    return [*np.unique(table[name].dropna())[::7], table[name].max() + 1.0, table[name].min() - 1.0, np.nan]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ATTRIBUTES)
@pytest.mark.parametrize("kind", KINDS)
def test_one_attribute_equals_brute_force(kind, name, weighted):
    model, table, _, weights = fit(kind)
    weights = weights if weighted else None
    grid = with_missing(table, name)
    found = partial_dependence(model, table, name, grid=grid, sample_weight=weights)
    expected = np.array([brute_dependence(model, table, {name: value}, weights) for value in grid]).T
    np.testing.assert_allclose(np.atleast_2d(found.values), expected, **CLOSE)
    assert found.features == (ATTRIBUTES.index(name),)
    assert found.names == (name,)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_two_attributes_equal_brute_force(kind, weighted):
    model, table, _, weights = fit(kind)
    weights = weights if weighted else None
    for names in (("size", "colour"), ("flag", "size"), ("colour", "age")):
        grids = tuple(with_missing(table, name)[-4:] for name in names)
        found = partial_dependence(model, table, names, grid=grids, sample_weight=weights)
        expected = np.array(
            [
                [brute_dependence(model, table, dict(zip(names, pair, strict=True)), weights) for pair in row]
                for row in ([(first, second) for second in grids[1]] for first in grids[0])
            ]
        )
        values = found.values if kind == "three classes" else found.values[None]
        np.testing.assert_allclose(values, np.moveaxis(expected, -1, 0), **CLOSE)


def test_equals_scikit_learn():
    X, y = load("iris")
    X = X + np.random.default_rng(0).normal(scale=1e-3, size=X.shape)
    weights = np.random.default_rng(1).uniform(size=len(y))
    model = RuleEnsembleClassifier(n_candidates=100, random_state=0, n_jobs=1).fit(X, y)
    for features in ([2], [2, 3]):
        theirs = sklearn.inspection.partial_dependence(
            model,
            X,
            features,
            method="brute",
            response_method="decision_function",
            grid_resolution=10,
            sample_weight=weights,
        )
        grids = theirs["grid_values"]
        grid = grids[0] if len(features) == 1 else grids
        ours = partial_dependence(model, X, features, grid=grid, sample_weight=weights)
        np.testing.assert_allclose(ours.values, theirs["average"], **CLOSE)
        assert ours.classes == tuple(model.classes_)


@pytest.mark.parametrize("kind", ["regression", "rules only", "linear only", "no terms"])
@pytest.mark.parametrize("name", ["size", "age", "fixed"])
def test_the_line_through_the_default_points_is_the_function(kind, name):
    model, table, _, _ = fit(kind)
    line = partial_dependence(model, table, name)
    (grid,) = line.grids
    assert grid[0] == table[name].min()
    assert grid[-1] == table[name].max()
    between = np.random.default_rng(0).uniform(grid[0], grid[-1], 200)
    exact = partial_dependence(model, table, name, grid=between).values
    np.testing.assert_allclose(np.interp(between, grid, line.values), exact, **CLOSE)


def test_more_breaks_than_points_give_quantiles():
    model, table, _, weights = fit("rules only")
    weights = np.where(table["size"] > 1.0, 0.0, weights)
    line = partial_dependence(model, table, "size", n_points=3, sample_weight=weights)
    known = table["size"].dropna()
    np.testing.assert_array_equal(line.grids[0], np.quantile(known[known <= 1.0], [0.0, 0.5, 1.0]))


def test_a_pair_takes_default_and_given_grids():
    model, table, _, _ = fit("three classes")
    both = partial_dependence(model, table, ("colour", "size"))
    assert both.grids[0].tolist() == ["blue", "green", "red"]
    assert both.values.shape == (3, 3, len(both.grids[1]))
    one = partial_dependence(model, table, ("colour", "size"), grid=(None, [0.0]))
    assert one.values.shape == (3, 3, 1)


@pytest.mark.parametrize("kind", ["regression", "three classes"])
def test_any_table_gives_the_same(kind):
    model, table, _, _ = fit(kind)
    expected = partial_dependence(model, table, "age")
    polars = pl.from_pandas(table)
    assert np.array_equal(partial_dependence(model, polars, "age").values, expected.values)
    X, y = make_friedman1(100, random_state=0)
    plain = RuleEnsembleRegressor(n_candidates=40, random_state=0, n_jobs=1).fit(X, y)
    named = partial_dependence(plain, X, "x3")
    assert np.array_equal(named.values, partial_dependence(plain, X, np.int64(3)).values)
    assert np.array_equal(named.values, partial_dependence(plain, X.astype(np.float64).tolist(), 3).values)


def test_categories_may_be_numbers():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.choice([1.0, 5.0, 7.0], 80), rng.normal(size=80)])
    y = np.where(X[:, 0] == 5.0, 2.0, 0.0) + 0.1 * X[:, 1]
    model = RuleEnsembleRegressor(categorical_features=[0], n_candidates=30, random_state=0, n_jobs=1).fit(X, y)
    bars = partial_dependence(model, X, 0)
    assert bars.grids[0].tolist() == [1.0, 5.0, 7.0]
    table = pd.DataFrame(X, columns=["a", "b"])
    expected = [model.predict(table.assign(a=value).to_numpy()).mean() for value in (1.0, 5.0, 7.0)]
    np.testing.assert_allclose(bars.values, expected, **CLOSE)
    np.testing.assert_allclose(partial_dependence(model, X, 0, grid=[5, 1]).values, np.array(expected)[[1, 0]], **CLOSE)


def test_a_model_without_terms_is_flat():
    model, table, _, _ = fit("no terms")
    assert (partial_dependence(model, table, "age").values == model.intercept_).all()


def test_a_constant_attribute_gives_one_point():
    model, table, _, _ = fit("regression")
    line = partial_dependence(model, table, "fixed")
    assert line.grids[0].tolist() == [1.0]
    np.testing.assert_allclose(line.values, model.predict(table).mean(), **CLOSE)


@pytest.mark.parametrize(
    ("features", "options", "words"),
    [
        ("weight", {}, "'weight' is unknown.*size, age, colour, flag, fixed.*0 to 4"),
        (7, {}, "7 is unknown"),
        (-1, {}, "-1 is unknown"),
        (True, {}, "True is unknown"),
        ([], {}, "`features` is empty"),
        (("size", 0), {}, "'size' more than once"),
        (("size", "age", "flag"), {}, "one attribute or two; got 3"),
        ("size", {"grid": []}, "grid of 'size' is empty"),
        ("size", {"grid": ["a"]}, "numeric when the model was fitted; got text"),
        ("colour", {"grid": ["red", "pink"]}, "'pink', which is none of its categories"),
        (("size", "age"), {"grid": ([1.0],)}, "one array for each of the two"),
        ("size", {"n_points": 1}, "`n_points` must be at least 2; got 1"),
        ("size", {"sample_weight": [1.0]}, "`sample_weight` must hold one weight"),
    ],
)
def test_bad_input_is_told_in_one_sentence(features, options, words):
    model, table, _, _ = fit("regression")
    with pytest.raises(InvalidInputError, match=words):
        partial_dependence(model, table, features, **options)


def test_an_attribute_without_known_values_needs_a_grid():
    model, table, _, _ = fit("regression")
    empty = table.assign(size=np.nan)
    with pytest.raises(InvalidInputError, match="'size' has no known value in X; give a `grid`"):
        partial_dependence(model, empty, "size")
    found = partial_dependence(model, empty, "size", grid=[0.0])
    np.testing.assert_allclose(found.values, brute_dependence(model, empty, {"size": 0.0}), **CLOSE)


def test_models_that_cannot_be_inspected():
    X = np.zeros((3, 2))
    with pytest.raises(NotFittedError):
        partial_dependence(RuleEnsembleRegressor(), X, 0)
    with pytest.raises(InvalidInputError, match=r"got LinearRegression.*last step"):
        partial_dependence(LinearRegression(), X, 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["size", "colour", "flag"])
@pytest.mark.parametrize("kind", ["regression", "two classes", "three classes"])
def test_bands_equal_brute_force(kind, name, weighted):
    """Every list from other rows scores every row at every point."""
    model, table, _, weights = fit(kind, 6)
    weights = weights if weighted else None
    grid = with_missing(table, name)[-5:]
    found = partial_dependence(model, table, name, grid=grid, sample_weight=weights)

    def look(own, value):
        scores = own.score(model.read_columns(table.assign(**{name: value}))).reshape(len(table), -1)
        return np.average(scores, axis=0, weights=weights)

    assert len(model.front_.remade) == 6
    others = np.array([[look(own.model, value) for value in grid] for own in model.front_.remade])
    expected = find_naive_band(np.atleast_2d(found.values), others.transpose(0, 2, 1))
    for ends, values in zip((found.low, found.high), expected, strict=True):
        assert ends.shape == found.values.shape
        np.testing.assert_allclose(np.atleast_2d(ends), values, **CLOSE)
    assert (found.low <= found.high).all()


def test_bands_of_pairs_have_the_shape_of_the_values():
    model, table, _, _ = fit("three classes", 6)
    found = partial_dependence(model, table, ("size", "colour"), grid=([-1.0, 0.5], ["red", "blue", None]))
    assert found.low.shape == found.high.shape == found.values.shape == (3, 2, 3)
    alone = partial_dependence(model, table, "size", grid=[-1.0, 0.5])
    assert alone.low.shape == (3, 2)


def test_a_band_is_told_between_the_jumps_of_the_list_as_well():
    """Lists from other rows jump elsewhere; the function itself is what it is without them."""
    again, table, _, _ = fit("regression", 6)
    model = fit("regression")[0]
    one, other = (partial_dependence(own, table, "size") for own in (model, again))
    assert set(one.grids[0]) < set(other.grids[0])
    np.testing.assert_allclose(other.values[np.isin(other.grids[0], one.grids[0])], one.values, **CLOSE)


@pytest.mark.parametrize("kind", KINDS)
def test_without_other_lists_there_is_no_band(kind):
    model, table, _, _ = fit(kind)
    found = partial_dependence(model, table, "age")
    assert found.low is None
    assert found.high is None


def test_a_list_of_another_length_has_no_band():
    model, table, _, _ = fit("regression", 6)
    assert partial_dependence(model.shorten(max_terms=2), table, "age").low is None
