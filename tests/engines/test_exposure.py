"""Rates with an exposure, and offsets: the fit of tables in parts is the one in memory."""

import itertools
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine_conformance import SMALL, assert_same, make_rows
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, engines
from rulegrove.estimators import autos
from rulegrove.exceptions import InvalidInputError

N_ROWS = 3000
NAMES = ["a", "b", "c", "e"]
LOSSES = {"poisson": {}, "gamma": {}, "tweedie": {"power": 1.3}}
CUTS = [0, 1, 1, 1400, 1401, 3000]


def make_claims(loss="poisson"):
    """Attributes, totals over the exposure of each row, weights, and the logarithm of the exposure as an offset."""
    rows, rng = make_rows(N_ROWS), np.random.default_rng(1)
    a = np.nan_to_num(rows["a"].to_numpy())
    years = np.round(rng.uniform(0.1, 2.0, N_ROWS), 3)
    rate = 0.5 * np.exp(0.7 * (a > 0) + 0.4 * (rows["b"].to_numpy() > 5))
    totals = rng.poisson(rate * years).astype(float)
    if loss == "gamma":
        totals = rate * years * rng.gamma(2.0, 0.5, N_ROWS) + 1e-3
    elif loss == "tweedie":
        totals = rng.gamma(np.maximum(totals, 1e-9), 1.0) * (totals > 0)
    more = {"years": years, "log_years": np.log(years), "y": totals, "w": rng.choice([0.0, 0.5, 1.0, 2.0], N_ROWS)}
    return pa.table({**{name: rows[name] for name in NAMES}, **more})


def make(loss="poisson", **parameters):
    return RuleEnsembleRegressor(**{**SMALL, "loss": loss, **LOSSES.get(loss, {}), **parameters})


def read(table, *names):
    return [None if name is None else table[name].to_numpy() for name in names]


def in_memory(model, table, weights=None, exposure=None, offset=None):
    y, weights, exposure, offset = read(table, "y", weights, exposure, offset)
    return model.fit(table.select(NAMES), y, weights, exposure=exposure, offset=offset)


@pytest.fixture
def write(tmp_path):
    """Write a table as files, one of them without rows and two of a single row."""

    def write(table):
        for start, stop in itertools.pairwise(CUTS):
            pq.write_table(table.slice(start, stop - start), tmp_path / f"{start:04}-{stop:04}.parquet")
        return tmp_path

    return write


def set_value(table, name, row, value):
    values = table[name].to_pylist()
    values[row] = value
    return table.set_column(table.column_names.index(name), name, pa.array(values, pa.float64()))


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("large", [False, True])
def test_a_fit_of_rates_is_the_one_in_memory(write, monkeypatch, loss, weights, large):
    if large:
        monkeypatch.setattr(autos, "POOL_ROWS", 1000)
    table = make_claims(loss)
    given = {"weights": weights, "exposure": "years"}
    drop = ["log_years", *(["w"] if weights is None else [])]
    found = engines.fit(make(loss), write(table), "y", drop=drop, batch_rows=700, n_threads=2, **given)
    expected = in_memory(make(loss), table, **given)
    if large or weights is None:  # folds of a small table are dealt to the rows that have a weight
        assert_same(found, expected)
        assert found.held_out_.d2 == pytest.approx(expected.held_out_.d2, rel=1e-9)
    X = table.select(NAMES)
    y, w, years = read(table, "y", weights, "years")
    score = engines.score(found, table, "y", batch_rows=170, **given)
    assert score == pytest.approx(found.score(X, y, w, exposure=years), rel=1e-9)
    assert score > 0.01


@pytest.mark.parametrize("pool", [1000, 10_000])
def test_evidence_of_rows_set_apart_is_about_rates(write, monkeypatch, pool):
    """An exposure was refused beside `evidence`."""
    monkeypatch.setattr(autos, "POOL_ROWS", pool)
    table = make_claims()
    y, w, years = read(table, "y", "w", "years")
    asked = {"evidence": "split", "terms": "rules"}
    of_rates = make(**asked).fit(table.select(NAMES), y / years, w * years).evidence_
    in_memory_found = in_memory(make(**asked), table, "w", exposure="years").evidence_
    given = {"weights": "w", "exposure": "years", "drop": ["log_years"]}
    in_parts = engines.fit(make(**asked), write(table), "y", **given).evidence_
    # Of a small table rows without a weight are left out before some are set apart.
    for found in (in_memory_found, in_parts) if pool == 1000 else (in_memory_found,):
        np.testing.assert_array_equal(found.n_held, of_rates.n_held)
        np.testing.assert_allclose(found.mean_target.values, of_rates.mean_target.values, rtol=1e-9)
        np.testing.assert_allclose(found.p_value, of_rates.p_value, rtol=1e-6)
    assert len(in_parts.rules) > 0
    with pytest.raises(InvalidInputError, match="cannot have `exposure` or `offset`; use evidence='split'"):
        make().fit(table.select(NAMES), y, exposure=years, evidence=(table.select(NAMES), y))


@pytest.mark.usefixtures("small_pool")
def test_an_offset_is_the_logarithm_of_an_exposure(write):
    table = make_claims()
    folder = write(table)
    one = engines.fit(make(), folder, "y", exposure="years", drop=["log_years", "w"])
    other = engines.fit(make(), folder, "y", offset="log_years", drop=["years", "w"])
    assert_same(other, one)
    both = engines.fit(make(), folder, "y", exposure="years", offset="log_years", drop=["w"])
    assert_same(both, in_memory(make(), table, exposure="years", offset="log_years"))


@pytest.mark.usefixtures("small_pool")
def test_a_limit_of_rows_and_folds_of_their_own_have_rates_too(write):
    table = make_claims().drop_columns(["log_years", "w"])
    found = engines.fit(make(honest_cv=True, max_terms=5), write(table), "y", exposure="years", max_gram_rows=2500)
    assert found.score(table.select(NAMES), *read(table, "y"), exposure=table["years"].to_numpy()) > 0.01
    assert 0 < len(found.rules_) <= 5


@pytest.mark.parametrize("given", [{"exposure": "years"}, {"offset": "log_years"}, {}])
def test_predictions_are_totals_with_an_exposure_and_rates_without(write, tmp_path, given):
    table = make_claims()
    model = in_memory(make(), table, exposure="years")
    out = tmp_path / "out.arrow"
    columns = ["prediction", "score"]
    engines.predict(model, write(table), out, columns=columns, keep=["years"], batch_rows=170, **given)
    with pa.memory_map(str(out)) as file:
        found = pa.ipc.open_file(file).read_all()
    values = {name: table[column].to_numpy() for name, column in given.items()}
    np.testing.assert_array_equal(found["prediction"].to_numpy(), model.predict(table.select(NAMES), **values))
    np.testing.assert_allclose(np.exp(found["score"].to_numpy()), found["prediction"].to_numpy(), rtol=1e-12)
    assert found["years"].to_pylist() == table["years"].to_pylist()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("years", None, r"column 'years' must be a number above 0; row 1399 has none. Leave such rows out."),
        ("years", np.nan, "'years' must be a number above 0; row 1399 has none"),
        ("years", 0.0, "'years' must be a number above 0; row 1399 has 0"),
        ("years", -0.25, "'years' must be a number above 0; row 1399 has -0.25"),
        ("years", np.inf, "Column 'years' must be finite"),
        ("log_years", None, "column 'log_years' must be a number in every row; row 1399 has none"),
        ("y", -2.0, r"loss='poisson' is for targets of 0 or more; got -2 in row 1399"),
    ],
)
def test_a_row_that_cannot_be_is_named(write, tmp_path, name, value, words):
    table = set_value(make_claims(), name, 1399, value)
    folder = write(table)
    model = in_memory(make(), make_claims(), exposure="years")
    known = {"exposure": "years", "offset": "log_years"}
    calls = [
        lambda: engines.fit(make(), folder, "y", drop=["w"], **known),
        lambda: engines.score(model, folder, "y", **known),
    ]
    if name != "y":
        calls.append(lambda: engines.predict(model, folder, tmp_path / "out.csv", batch_rows=300, **known))
    for call in calls:
        with pytest.raises(InvalidInputError, match=words) as caught:
            call()
        assert str(caught.value).startswith(f"'{folder}/0001-1400.parquet'")
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "out.csv").exists()


def test_rows_without_a_target_need_no_exposure():
    table = make_claims().drop_columns(["log_years", "w"]).slice(0, 800)
    lost = set_value(set_value(table, "y", 7, None), "years", 7, None)
    kept = table.filter(pa.array(np.arange(800) != 7))
    found = engines.fit(make(), lost, "y", exposure="years")
    assert_same(found, in_memory(make(), kept, exposure="years"))


def test_text_is_no_exposure():
    table = make_claims().drop_columns(["log_years", "w"])
    text = table.set_column(4, "years", pa.array(["1 year"] * N_ROWS))
    with pytest.raises(InvalidInputError, match="Column 'years' must be numbers; got string"):
        engines.fit(make(), text, "y", exposure="years")


def test_a_batch_of_zeros_is_no_fault_and_a_table_of_them_is():
    table = make_claims().drop_columns(["log_years", "w"])
    first = np.flatnonzero(table["y"].to_numpy() == 0.0)[:50]
    rest = np.setdiff1d(np.arange(N_ROWS), first)
    ordered = table.take(pa.array(np.concatenate([first, rest])))
    assert len(engines.fit(make(), ordered, "y", exposure="years", batch_rows=50).rules_)
    with pytest.raises(InvalidInputError, match="needs a target above 0"):
        engines.fit(make(), table.take(pa.array(first)), "y", exposure="years")


@pytest.mark.usefixtures("small_pool")
def test_rows_whose_exposure_changes_between_passes_are_not_the_same():
    table, calls = make_claims().drop_columns(["log_years", "w"]), itertools.count()

    def stream():
        years = table["years"].to_numpy() * (1.0 + next(calls))
        return table.set_column(4, "years", pa.array(years)).to_reader(500)

    with pytest.raises(InvalidInputError, match="must be the same each time"):
        engines.fit(make(), stream, "y", exposure="years")


@pytest.mark.parametrize(
    ("model", "arguments", "words"),
    [
        (make(), {"exposure": "year"}, "`exposure` names 'year', which is no column; there are 'a', 'b'"),
        (make(), {"offset": "year"}, "`offset` names 'year', which is no column"),
        (make("squared"), {"exposure": "years"}, "`exposure` needs a RuleEnsembleRegressor with loss="),
        (
            RuleEnsembleClassifier(**SMALL),
            {"exposure": "years"},
            "`exposure` needs a RuleEnsembleRegressor with loss=",
        ),
        (RuleEnsembleClassifier(**SMALL), {"offset": "years"}, "are for a RuleEnsembleRegressor"),
        (
            make(),
            {"keep_statistics": True},
            "tell all of squared errors alone; got loss='poisson'. Take loss='squared'",
        ),
        (make("squared"), {"keep_statistics": True, "offset": "years"}, "keep_statistics=True keeps nothing of an"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(model, arguments, words):
    with pytest.raises(InvalidInputError, match=re.escape(words)) as caught:
        engines.fit(model, make_claims(), "y", **arguments)
    assert "\n" not in str(caught.value)
    assert not hasattr(model, "rules_")


def test_predictions_and_scores_refuse_what_their_model_does_not_take(tmp_path):
    table = make_claims()
    for kind, y in ((RuleEnsembleRegressor, "y"), (RuleEnsembleClassifier, "b")):
        model = kind(**{**SMALL, "max_terms": 3}).fit(table.select(["a", "e"]), table[y].to_numpy())
        for call in (
            lambda model=model: engines.predict(model, table, tmp_path / "out.csv", exposure="years"),
            lambda model=model: engines.score(model, table, "y", exposure="years"),
        ):
            with pytest.raises(InvalidInputError, match="`exposure` needs a RuleEnsembleRegressor with loss="):
                call()
    assert not list(tmp_path.iterdir())


def test_statistics_are_refitted_for_squared_errors_alone():
    table = make_claims().drop_columns(["log_years", "w", "years"])
    kept = engines.fit(make("squared"), table, "y", keep_statistics=True).statistics_
    with pytest.raises(InvalidInputError, match="tell all of squared errors alone; got loss='gamma'"):
        engines.refit(make("gamma"), kept)


@pytest.mark.usefixtures("small_pool")
def test_evidence_of_rates_is_that_in_memory():
    table = make_claims().select([*NAMES, "y"])
    found = engines.fit(make(evidence="split"), table, "y", batch_rows=700)
    expected = make(evidence="split").fit(table.select(NAMES), *read(table, "y"))
    assert found.evidence_.n_rows == expected.evidence_.n_rows
    assert found.evidence_.established.tolist() == expected.evidence_.established.tolist()
