"""Statistics that are kept: merged they are those of all rows, and a refit is the fit to all rows."""

import numpy as np
import pyarrow as pa
import pytest

from engine_conformance import N_ROWS, assert_same, make_model, make_rows, take
from rulegrove import RuleEnsembleRegressor, engines
from rulegrove.engines import keeping
from rulegrove.engines.keeping import FitStatistics
from rulegrove.exceptions import InvalidInputError

TARGETS = ("number", "two", "three")


def assert_equal(one: FitStatistics, other: FitStatistics):
    assert len(one.pools) == len(other.pools)
    for own, others in zip(one.pools, other.pools, strict=True):
        for name in ("n_rows", "support", "rule_gram"):
            np.testing.assert_array_equal(getattr(own.statistics, name), getattr(others.statistics, name))
        for name in ("x_y", "rule_linear", "linear_gram", "y_y"):
            found, expected = getattr(own.statistics, name), getattr(others.statistics, name)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9)


@pytest.mark.usefixtures("small_pool")
@pytest.mark.parametrize("target", TARGETS)
def test_statistics_of_parts_merge_to_those_of_all_rows(target):
    table = take(make_rows(), target)
    model = engines.fit(make_model(target), table, target, keep_statistics=True)
    kept = model.statistics_
    assert kept.n_rows == N_ROWS
    nothing = engines.collect(kept, table.slice(0, 0))
    empty = FitStatistics(
        kept.features, kept.target, kept.weights, kept.code, kept.weighted, kept.folds, 0, nothing.pools
    )
    first = engines.collect(empty, table.slice(0, 1100))
    second = engines.collect(first, table.slice(1100))
    assert_equal(first.merge(second), kept)


@pytest.mark.usefixtures("small_pool")
@pytest.mark.parametrize("target", TARGETS)
def test_a_refit_to_the_same_statistics_is_the_fit(target):
    table = take(make_rows(), target)
    model = engines.fit(make_model(target), table, target, keep_statistics=True)
    again, large = engines.refit(model, model.statistics_), model.shorten(None)
    assert again is not model
    assert_same(again, large)
    X = table.drop_columns([target])
    np.testing.assert_array_equal(again.predict(X), large.predict(X))
    if target == "three":
        assert [row.confidences for row in again.rules_] == [row.confidences for row in large.rules_]
    assert [row.probability_to for row in again.rules_] == [row.probability_to for row in large.rules_]


@pytest.mark.usefixtures("small_pool")
def test_a_refit_is_the_large_model():
    """Lists are judged on rows, of which statistics have none."""
    table = take(make_rows(), "two")
    model = engines.fit(make_model("two"), table, "two", keep_statistics=True)
    again = engines.refit(model, model.statistics_)
    assert (again.front_, again.max_terms, again.settings_["max_terms"]) == (None, "auto", None)
    assert len(again.rules_) > len(model.rules_)
    with pytest.raises(InvalidInputError, match=r"from `engines.refit`, or from an edit. Fit it again"):
        again.shorten(5)
    for asked in ({"max_terms": 5}, {"max_terms": np.int64(0)}, {"max_rules": 5}, {"max_terms": None, "max_rules": 5}):
        with pytest.raises(InvalidInputError, match=r"statistics have none: got .*=5.* Set both to None|max_terms=0"):
            engines.refit(make_model("two", **asked), model.statistics_)
    large = engines.refit(make_model("two", max_terms=None), model.statistics_)
    assert "max_terms" not in large.settings_
    np.testing.assert_array_equal(large.coef_, again.coef_)


@pytest.mark.usefixtures("small_pool")
def test_a_refit_with_later_rows_goes_by_all_of_them():
    old, later = take(make_rows(), "number"), take(make_rows(seed=1), "number")
    model = engines.fit(make_model("number"), old, "number", keep_statistics=True)
    new = engines.collect(model, later)
    assert new.n_rows == N_ROWS
    merged = model.statistics_.merge(new)
    assert merged.n_positions == 2 * N_ROWS
    again = engines.refit(model, merged)
    X = pa.concat_tables([old, later])
    y = X["number"].to_numpy()
    for row in again.rules_:
        if row.kind == "rule":
            held = again.transform_rules(X.drop_columns(["number"]))[:, row.rank - 1] > 0
            assert row.support == pytest.approx(held.mean(), abs=1e-12)
            assert row.mean_target == pytest.approx(y[held].mean(), abs=1e-9)
    assert again.score(X.drop_columns(["number"]), y) > 0.5


@pytest.mark.parametrize("n_rows", [900, N_ROWS])  # within a pool and beyond it
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.usefixtures("small_pool")
def test_a_preset_is_for_files_and_statistics_too(target, n_rows, monkeypatch):
    settings = {"max_terms": None, "max_conditions": 2, "max_bins": 40, "solver": "fpc", "selection": "1se"}
    table = take(make_rows(), target).slice(0, n_rows)
    expected = engines.fit(make_model(target, **settings), table, target, keep_statistics=True)
    model = make_model(target, preset="readable")
    monkeypatch.setattr(type(model), "_presets", {"readable": settings})
    engines.fit(model, table, target, keep_statistics=True)
    again = engines.refit(model, model.statistics_)
    for found, other in [(model, expected), (again, engines.refit(expected, expected.statistics_))]:
        assert_same(found, other)
        assert (found.preset, found.settings_) == ("readable", {**settings, **other.settings_})
        assert found.max_terms == "auto"
    assert_equal(model.statistics_, expected.statistics_)


@pytest.mark.parametrize("target", TARGETS)
def test_a_small_table_keeps_its_statistics_too(target):
    table = take(make_rows(), target, "counts").slice(0, 1500)
    model = engines.fit(make_model(target), table, target, weights="counts", keep_statistics=True)
    assert model.statistics_.n_rows == int((table["counts"].to_numpy() > 0).sum())
    X = table.drop_columns([target, "counts"])
    again = engines.refit(model, model.statistics_)
    y = table[target].to_numpy(zero_copy_only=False)
    assert again.score(X, y) == pytest.approx(model.shorten(None).score(X, y), abs=0.05)


@pytest.mark.usefixtures("small_pool")
def test_drift_is_the_test_of_two_proportions():
    table = take(make_rows(), "two")
    model = engines.fit(make_model("two", n_candidates=60, shrinkage=0.01), table, "two", keep_statistics=True)
    later = table.filter(pa.array(np.asarray(table["b"]) > 3))
    found = engines.drift(model.statistics_, engines.collect(model, later))
    first = found.rows[0]
    assert abs(first.z) > 5
    assert [abs(row.z) for row in found.rows] == sorted((abs(row.z) for row in found.rows), reverse=True)
    n, m = N_ROWS, later.num_rows
    both = (first.before * n + first.now * m) / (n + m)
    assert first.z == pytest.approx((first.now - first.before) / np.sqrt(both * (1 - both) * (1 / n + 1 / m)))
    assert list(found.to_frame("pandas").columns) == ["text", "before", "now", "z"]
    same = engines.drift(model.statistics_, model.statistics_)
    assert {row.z for row in same.rows} == {0.0}


@pytest.mark.usefixtures("small_pool")
def test_what_cannot_be_merged_or_refitted():
    table = take(make_rows(), "two")
    model = engines.fit(make_model("two"), table, "two", keep_statistics=True)
    other = engines.fit(make_model("two", random_state=1), table, "two", keep_statistics=True)
    with pytest.raises(InvalidInputError, match="different fits"):
        model.statistics_.merge(other.statistics_)
    with pytest.raises(InvalidInputError, match="different fits"):
        engines.drift(model.statistics_, other.statistics_)
    with pytest.raises(InvalidInputError, match="no column 'two'"):
        engines.collect(model, table.drop_columns(["two"]))
    with pytest.raises(InvalidInputError, match="the class 'maybe'"):
        engines.collect(model, table.set_column(4, "two", pa.array(["maybe"] * N_ROWS)))
    with pytest.raises(InvalidInputError, match="target that is classes"):
        engines.refit(RuleEnsembleRegressor(), model.statistics_)
    with pytest.raises(InvalidInputError, match="needs rows"):
        engines.refit(make_model("two", solver="pathbuild"), model.statistics_)
    with pytest.raises(InvalidInputError, match="squared loss"):
        engines.fit(make_model("two", solver="pathbuild"), table, "two", keep_statistics=True)
    plain = engines.fit(model, table, "two")
    assert not hasattr(plain, "statistics_")
    with pytest.raises(InvalidInputError, match="keep_statistics=True"):
        engines.collect(plain, table)


@pytest.mark.parametrize("preset", [None, "fast"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, InvalidInputError])
def test_a_refit_that_fails_leaves_the_model_as_it_was(monkeypatch, error, preset):
    table = take(make_rows(), "two").slice(0, 500)
    model = engines.fit(make_model("two", n_candidates=20, preset=preset), table, "two", keep_statistics=True)
    before, X = dict(vars(model)), table.drop_columns(["two"])
    predicted = model.predict_proba(X)

    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(keeping, "finish", fail)
    with pytest.raises(error):
        engines.refit(model, model.statistics_)
    assert list(vars(model)) == list(before)
    assert all(vars(model)[key] is value for key, value in before.items())
    np.testing.assert_array_equal(model.predict_proba(X), predicted)


@pytest.mark.parametrize("target", TARGETS)
def test_new_rows_need_the_columns_that_candidates_speak_of_and_no_others(target):
    """Every attribute of the fit had to be there, those that no candidate asks about too."""
    table = take(make_rows(), target).slice(0, 1500)
    kind = type(make_model(target))
    rules = ["b > 2 and e <= 0.5", "e > 1", "b <= 6"]
    model = kind.from_rules(rules, terms="rules", n_jobs=1, random_state=0, cv=3)
    kept = engines.fit(model, table, target, keep_statistics=True).statistics_
    assert_equal(engines.collect(kept, table.select([target, "e", "b"])), engines.collect(kept, table))
    with pytest.raises(InvalidInputError, match="no column 'e', which the fit had"):
        engines.collect(kept, table.drop_columns(["e"]))


@pytest.mark.parametrize("arguments", [{"batch_rows": 0}, {"batch_rows": 1.5}, {"n_threads": -1}, {"n_threads": None}])
def test_counts_that_are_none_are_told(arguments):
    table = take(make_rows(), "number").slice(0, 200)
    model = engines.fit(make_model("number", n_candidates=4), table, "number", keep_statistics=True)
    with pytest.raises(InvalidInputError, match="must be a whole number of at least 1; got"):
        engines.collect(model, table, **arguments)
