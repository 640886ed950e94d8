"""Survival times of tables in parts: the fit is the one in memory, the hazard of all rows that of plain sums."""

import itertools
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine_conformance import SMALL, assert_same, make_rows
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, RuleEnsembleSurvival, engines
from rulegrove.engines.base import Batch
from rulegrove.engines.beside import Beside
from rulegrove.engines.local import LocalEngine
from rulegrove.engines.reading import Layout
from rulegrove.engines.times import find_hazard
from rulegrove.estimators import autos, hazard
from rulegrove.exceptions import InvalidInputError

N_ROWS = 3000
NAMES = ["a", "b", "c", "e"]
CUTS = [0, 1, 1, 1400, 1401, 3000]
N_TIMES = 150


def make_patients():
    """Attributes, times with ties, events, entries of which half are late, and weights."""
    rows, rng = make_rows(N_ROWS), np.random.default_rng(1)
    a = np.nan_to_num(rows["a"].to_numpy())
    years = rng.exponential(np.exp(-0.9 * (a > 0) - 0.6 * (rows["b"].to_numpy() > 5)))
    seen = rng.exponential(1.2, N_ROWS)
    time = np.round(np.minimum(years, seen), 3) + 1e-3
    more = {
        "time": time,
        "died": years < seen,
        "entry": np.where(rng.random(N_ROWS) < 0.5, 0.0, 0.4 * time),
        "w": rng.choice([0.0, 0.5, 1.0, 2.0], N_ROWS),
        "f": rng.random(N_ROWS),
    }
    return pa.table({**{name: rows[name] for name in NAMES}, **more})


def make(**parameters):
    return RuleEnsembleSurvival(**{**SMALL, **parameters})


def list_unused(given):
    return [name for name in ("entry", "w", "f") if name not in given.values()]


def read(table, given):
    """The target and the weights of a table in memory."""
    time, event = table["time"].to_numpy(), table["died"].to_numpy(zero_copy_only=False)
    y = (table["entry"].to_numpy(), time, event) if "entry" in given else (time, event)
    return y, table[given["weights"]].to_numpy() if "weights" in given else None


@pytest.fixture
def few_times(small_pool, monkeypatch):
    """More rows than a pool, whose hazard is told at few times."""
    monkeypatch.setattr(hazard, "STATED_TIMES", N_TIMES)
    monkeypatch.setattr("rulegrove.engines.times.STATED_TIMES", N_TIMES)


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
    return table.set_column(table.column_names.index(name), name, pa.array(values))


GIVEN = [{}, {"entry": "entry"}, {"weights": "w"}, {"weights": "f", "entry": "entry"}]


@pytest.mark.usefixtures("few_times")
@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_a_fit_beyond_a_pool_is_the_one_in_memory_however_it_is_divided(write, given):
    table = make_patients()
    drop = list_unused(given)
    found = engines.fit(make(), write(table), "time", event="died", drop=drop, batch_rows=700, n_threads=2, **given)
    other = engines.fit(make(), table, "time", event="died", drop=drop, batch_rows=97, **given)
    y, weights = read(table, given)
    expected = make().fit(table.select(NAMES), y, weights)
    for one in (other, expected):
        assert_same(found, one)
        assert found.settings_["n_times"] == one.settings_["n_times"]
        assert found.held_out_.concordance == pytest.approx(one.held_out_.concordance, abs=1e-12)
        np.testing.assert_allclose(found.baseline_.times, one.baseline_.times, rtol=0)
        np.testing.assert_allclose(found.baseline_.hazards, one.baseline_.hazards, rtol=1e-9)
    assert 100 < found.settings_["n_times"] <= N_TIMES
    assert found.held_out_.honest
    assert found.held_out_.concordance > 0.57


@pytest.mark.parametrize("given", GIVEN[:2], ids=str)
def test_a_small_table_is_read_and_fitted_as_ever(write, given):
    table, (y, _) = make_patients(), read(make_patients(), given)
    drop = list_unused(given)
    found = engines.fit(make(), write(table), "time", event="died", drop=drop, batch_rows=700, **given)
    expected = make().fit(table.select(NAMES), y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert [row.text for row in found.rules_] == [row.text for row in expected.rules_]
    assert found.settings_["n_times"] == np.unique(y[-2][y[-1]]).size == expected.settings_["n_times"]


@pytest.mark.usefixtures("small_pool")
@pytest.mark.parametrize("exponent", [-600, 600])
def test_weights_of_any_size_are_the_same_weights(exponent):
    table = make_patients()
    place, weights = table.column_names.index("f"), np.ldexp(table["f"].to_numpy(), exponent)
    extreme = table.set_column(place, "f", pa.array(weights))
    given = {"event": "died", "weights": "f", "drop": ["entry", "w"]}
    found = engines.fit(make(), extreme, "time", batch_rows=700, **given)
    plain = engines.fit(make(), table, "time", **given)
    assert [row.text for row in found.rules_] == [row.text for row in plain.rules_]
    np.testing.assert_allclose(found.coef_, plain.coef_, rtol=0, atol=1e-9)
    assert_same(found, make().fit(table.select(NAMES), read(table, {})[0], weights))


@pytest.mark.usefixtures("small_pool")
@pytest.mark.parametrize(
    "parameters",
    [
        {"ties": "breslow"},
        {"honest_cv": True},
        {"solver": "glmnet"},
        {"rules": ["a > 0"], "force_rules": True},  # whose two parts by another attribute are as good beside it
        {"n_runs": 2},
    ],
    ids=str,
)
def test_every_kind_of_fit_is_the_one_in_memory(parameters):
    table, (y, _) = make_patients(), read(make_patients(), {})
    found = engines.fit(
        make(**parameters), table, "time", event="died", drop=list_unused({}), batch_rows=700, n_threads=2
    )
    assert_same(found, make(**parameters).fit(table.select(NAMES), y))


def test_a_fit_beyond_the_real_pool_is_the_one_in_memory():
    """More rows than 65,536, for real, of which some are never at risk when an event comes."""
    rng, n_rows = np.random.default_rng(0), autos.POOL_ROWS + 12_000
    X = rng.normal(size=(n_rows, 3))
    years, seen = rng.exponential(np.exp(-X[:, 0])) + 0.05, rng.exponential(2.0, n_rows)
    time, died = np.minimum(years, seen), years < seen
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "time": time, "died": died})
    found = engines.fit(make(), table, "time", event="died", n_threads=2)
    expected = make().fit(table.select(["a", "b", "c"]), (time, died))
    assert (time[died].min() > time).sum() > 1000
    assert_same(found, expected)
    assert found.settings_["n_times"] == expected.settings_["n_times"] == 1000
    assert found.held_out_.honest
    assert expected.held_out_.honest


def count_plainly(time, died, entry, weights, grid):
    """Cumulative hazard on a grid, with each event at the next time of it; a twin of plain loops."""
    cells = np.searchsorted(grid, time)
    died = died & (cells < grid.size)
    until = np.where(died, grid[np.minimum(cells, grid.size - 1)], time)
    total, hazards = 0.0, []
    for moment in grid:
        at_risk = weights[(entry < moment) & (until >= moment)].sum()
        events = weights[died & (until == moment)].sum()
        total += events / at_risk if events else 0.0
        hazards.append(total)
    return np.array(hazards)


@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_the_hazard_of_all_rows_is_that_of_plain_sums(monkeypatch, given):
    monkeypatch.setattr("rulegrove.engines.times.STATED_TIMES", 40)
    table = make_patients()
    beside = Beside(event="died", entry=given.get("entry"))
    layout = Layout.of(table.column_names, "time", given.get("weights"), values="numbers", beside=beside)
    found = [
        find_hazard(LocalEngine(table, batch_rows=size), layout, 5, lambda n_counted: n_counted // 2)[0].beside.hazard
        for size in (3000, 613)
    ]
    y, weights = read(table, given)
    entry = y[0] if "entry" in given else np.full(N_ROWS, -1.0)
    own = np.ones(N_ROWS) if weights is None else weights
    expected = count_plainly(y[-2], y[-1], entry, own, found[0].times)
    np.testing.assert_array_equal(found[0].times, found[1].times)
    np.testing.assert_array_equal(found[0].hazards, found[1].hazards)
    np.testing.assert_allclose(found[0].hazards, expected, rtol=1e-6 if weights is not None else 1e-12)
    assert found[0].times.size == 40


@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_rows_are_exposed_to_as_many_events_as_come(monkeypatch, given):
    """What rows are exposed to of the hazard adds up to the events, as the residuals of a model without terms do."""
    monkeypatch.setattr("rulegrove.engines.times.STATED_TIMES", 40)
    table = make_patients()
    beside = Beside(event="died", entry=given.get("entry"))
    layout = Layout.of(table.column_names, "time", given.get("weights"), values="numbers", beside=beside)
    layout, _ = find_hazard(LocalEngine(table), layout, 5, lambda n_counted: n_counted // 2)
    _, weights = read(table, given)
    own = np.ones(N_ROWS) if weights is None else weights
    labelled = layout.read(Batch(table.combine_chunks().to_batches()[0], 0))
    rates, exposures = layout.beside.expose(labelled.y, labelled.weights)
    died = labelled.y[:, 1] * (labelled.y[:, 0] <= layout.beside.hazard.times[-1])
    assert exposures.sum() == pytest.approx(own @ died, rel=1e-6)
    np.testing.assert_allclose(rates * exposures, own * died * (exposures > 0.0), rtol=1e-12)
    assert ((exposures > 0.0) | (died == 0.0) | (own == 0.0)).all()


@pytest.mark.usefixtures("few_times")
def test_rows_without_a_time_are_left_out():
    table = make_patients().drop_columns(["entry", "w", "f"])
    lost = np.random.default_rng(0).random(N_ROWS) < 0.2
    gaps = table.set_column(4, "time", pa.array(table["time"].to_numpy(), mask=lost))
    weighted = table.append_column("weight", pa.array(1.0 - lost))
    found = engines.fit(make(), gaps, "time", event="died", batch_rows=700)
    expected = engines.fit(make(), weighted, "time", event="died", weights="weight")
    assert [row.text for row in found.rules_] == [row.text for row in expected.rules_]
    # Weights are floats, of whose sums steps of the hazard have fewer digits.
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-6)


@pytest.mark.usefixtures("small_pool")
def test_a_fit_reads_times_twice_and_all_else_twice(write):
    passes = []
    table = make_patients().drop_columns(["entry", "w", "f"])

    def stream():
        passes.append(1)
        return table.to_reader(500)

    engines.fit(make(), stream, "time", event="died")
    # To count rows, for a stream does not tell; to draw times; to add up the hazard; to draw rows; to count the rules.
    assert sum(passes) == 5


@pytest.mark.usefixtures("small_pool")
@pytest.mark.parametrize("later", range(2, 5))
def test_events_that_change_between_passes_are_not_the_same(later):
    table, calls = make_patients().drop_columns(["entry", "w", "f"]), itertools.count()
    other = set_value(table, "died", 17, not table["died"][17].as_py())

    def stream():
        return (other if next(calls) >= later else table).to_reader(500)

    with pytest.raises(InvalidInputError, match="must be the same each time"):
        engines.fit(make(), stream, "time", event="died")


@pytest.fixture(scope="module")
def model():
    table, (y, _) = make_patients(), read(make_patients(), {})
    return make().fit(table.select(NAMES), y)


@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_the_score_is_the_concordance_of_all_rows(write, model, given):
    table = make_patients()
    found = engines.score(model, write(table), "time", event="died", batch_rows=170, n_threads=2, **given)
    y, weights = read(table, given)
    assert found == model.score(table.select(NAMES), y, weights)
    assert found > 0.57


def test_concordance_of_too_many_rows_is_refused(model, monkeypatch):
    monkeypatch.setattr(autos, "MOST_DRAWN", 2999)
    with pytest.raises(InvalidInputError, match=r"Concordance is of pairs of rows, .* 2,999 rows at most; got 3,000\."):
        engines.score(model, make_patients(), "time", event="died")


def test_there_must_be_rows_to_score(model):
    empty = make_patients().slice(0, 0)
    with pytest.raises(InvalidInputError, match="No row has a target 'time' and a positive weight"):
        engines.score(model, empty, "time", event="died")


def test_predictions_are_risks_and_chances_at_moments(write, model, tmp_path):
    table, out = make_patients(), tmp_path / "out.parquet"
    engines.predict(model, write(table), out, keep=["time"], times=[0.5, 1.0], batch_rows=170)
    found, X = pq.read_table(out), table.select(NAMES)
    assert found.column_names == ["time", "prediction", "survival at 0.5", "survival at 1"]
    np.testing.assert_array_equal(found["prediction"].to_numpy(), model.predict(X))
    curves = model.predict_survival_function(X)
    for moment in (0.5, 1.0):
        expected = [curve(moment) for curve in curves]
        np.testing.assert_allclose(found[f"survival at {moment:g}"].to_numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("died", None, "The event of row 1399 is missing"),
        ("entry", None, "The entry time of row 1399 is missing or infinite"),
        ("entry", 50.0, r"Entry must be earlier than time; got entry 50 and time .* in row 1399"),
        ("time", -2.0, "The time must not be negative; got -2 in row 1399"),
        ("time", np.inf, "Column 'time' must be finite"),
        ("w", -1.0, "column 'w' must be numbers from 0 on; row 1399"),
    ],
)
def test_a_row_that_cannot_be_is_named(write, model, name, value, words):
    folder = write(set_value(make_patients(), name, 1399, value))
    given = {"event": "died", "entry": "entry", "weights": "w"}
    for call in (
        lambda: engines.fit(make(), folder, "time", drop=["f"], **given),
        lambda: engines.score(model, folder, "time", **given),
    ):
        with pytest.raises(InvalidInputError, match=words) as caught:
            call()
        assert str(caught.value).startswith(f"'{folder}/0001-1400.parquet'")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "event"),
    [(("Yes", "no"), "died"), (("dead", "alive"), "died=dead"), ((2.0, 1.0), "died=2"), ((True, False), "died=true")],
)
def test_events_are_told_by_words(write, words, event):
    table = make_patients().drop_columns(["entry", "f", "w"])
    came = table["died"].to_pylist()
    told = table.set_column(
        table.column_names.index("died"), "died", pa.array([words[0 if one else 1] for one in came])
    )
    found = engines.fit(make(), write(told), "time", event=event)
    assert_same(found, engines.fit(make(), table, "time", event="died"))
    assert engines.score(found, told, "time", event=event) == engines.score(found, table, "time", event="died")


@pytest.mark.parametrize(
    ("model", "arguments", "words"),
    [
        (make(), {}, "Survival times need `event`, the name of the column that tells whether the event came"),
        (make(), {"event": "dead"}, "`event` names 'dead', which is no column; there are 'a', 'b'"),
        (make(), {"event": "died", "entry": "since"}, "`entry` names 'since', which is no column"),
        (make(), {"event": "time"}, "`target`, `event` and `entry` name 'time' twice"),
        (make(), {"event": "f"}, "Events must be 1 or 0; got "),
        (make(), {"event": "c"}, "Say which word is the event: 'c="),
        (make(), {"event": "year=1"}, "`event` names 'year', which is no column"),
        (make(), {"event": "died", "exposure": "f"}, "`exposure` and `offset` cannot be used for survival times"),
        (make(), {"event": "died", "offset": "f"}, "`exposure` and `offset` cannot be used for survival times"),
        (make(), {"event": "died", "keep_statistics": True}, "of one number, not of survival times; fit all rows anew"),
        (make(evidence="split"), {"event": "died"}, "`evidence` tests rules about classes and numbers"),
        (
            make(),
            {"event": "died", "target": ["time", "f"]},
            "One column is predicted here; `target` names 'time', 'f'",
        ),
        (RuleEnsembleRegressor(**SMALL), {"event": "died"}, "`event` is for a RuleEnsembleSurvival, whose target is a"),
        (RuleEnsembleRegressor(**SMALL), {"entry": "entry"}, "`entry` is for a RuleEnsembleSurvival, whose target is"),
        (RuleEnsembleClassifier(**SMALL), {"event": "died"}, "`event` is for a RuleEnsembleSurvival"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(model, arguments, words):
    with pytest.raises(InvalidInputError, match=re.escape(words)) as caught:
        engines.fit(model, make_patients(), **{"target": "time", **arguments})
    assert "\n" not in str(caught.value)
    assert not hasattr(model, "rules_")


@pytest.mark.usefixtures("small_pool")
def test_times_without_any_event_are_refused():
    table = make_patients()
    nobody = table.set_column(table.column_names.index("died"), "died", pa.array(np.zeros(N_ROWS, bool)))
    for rows in (nobody, nobody.slice(0, 500)):
        with pytest.raises(InvalidInputError, match=r"No row .*has an event, so there is nothing to learn from"):
            engines.fit(make(), rows, "time", event="died", drop=["entry", "w", "f"])


def test_scores_and_evidence_refuse_what_their_model_does_not_take(model):
    table = make_patients()
    with pytest.raises(InvalidInputError, match="Survival times need `event`"):
        engines.score(model, table, "time")
    with pytest.raises(InvalidInputError, match="cannot be used for survival times"):
        engines.score(model, table, "time", event="died", exposure="f")
    with pytest.raises(InvalidInputError, match="`evidence` tests rules about classes and numbers"):
        engines.rule_evidence(model, table, "time")
    other = RuleEnsembleRegressor(**{**SMALL, "max_terms": 3}).fit(table.select(NAMES), table["time"].to_numpy())
    with pytest.raises(InvalidInputError, match="`event` is for a RuleEnsembleSurvival"):
        engines.score(other, table, "time", event="died")
    kept = engines.fit(
        RuleEnsembleRegressor(**SMALL), table.select([*NAMES, "time"]), "time", keep_statistics=True
    ).statistics_
    with pytest.raises(InvalidInputError, match="not of survival times; fit all rows anew"):
        engines.refit(make(), kept)


def test_events_may_be_truth_values_or_numbers():
    table = make_patients().drop_columns(["entry", "w", "f"]).slice(0, 800)
    one = engines.fit(make(), table, "time", event="died")
    for kind in (pa.int8(), pa.float32()):
        place = table.column_names.index("died")
        numbers = table.set_column(place, "died", table["died"].cast(pa.int8()).cast(kind))
        np.testing.assert_array_equal(engines.fit(make(), numbers, "time", event="died").coef_, one.coef_)
    frame = pa.Table.from_pandas(pd.DataFrame(table.to_pandas()))
    assert engines.fit(make(), frame, "time", event="died").coef_.tolist() == one.coef_.tolist()
