"""Several numbers of tables in parts: the fit is the one in memory."""

import itertools
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import r2_score

from engine_conformance import SMALL, assert_same, make_rows
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, engines
from rulegrove.exceptions import InvalidInputError

N_ROWS = 3000
NAMES = ["a", "b", "c", "e"]
TARGETS = ["p", "q"]
CUTS = [0, 1, 1, 1400, 1401, 3000]


def make_yields():
    """Attributes, two numbers of different units, weights, and what is known of both."""
    rows, rng = make_rows(N_ROWS), np.random.default_rng(1)
    number = rows["number"].to_numpy()
    more = {
        "p": number,
        "q": 1000.0 - 30.0 * number + 20.0 * rng.normal(size=N_ROWS),
        "w": rng.choice([0.0, 0.5, 1.0, 2.0], N_ROWS),
        "known": rng.normal(size=N_ROWS),
    }
    return pa.table({**{name: rows[name] for name in NAMES}, **more})


def make(**parameters):
    return RuleEnsembleRegressor(**{**SMALL, **parameters})


def in_memory(model, table, weights=None, offset=None):
    weights, offset = (None if name is None else table[name].to_numpy() for name in (weights, offset))
    return model.fit(table.select(NAMES), table.select(TARGETS), weights, offset=offset)


@pytest.fixture
def write(tmp_path):
    """Write a table as files, one of them without rows and two of a single row."""

    def write(table):
        for start, stop in itertools.pairwise(CUTS):
            pq.write_table(table.slice(start, stop - start), tmp_path / f"{start:04}-{stop:04}.parquet")
        return tmp_path

    return write


@pytest.mark.usefixtures("small_pool")
@pytest.mark.parametrize("multioutput", ["shared", "separate"])
@pytest.mark.parametrize("given", [{}, {"weights": "w"}, {"offset": "known"}], ids=str)
def test_a_fit_beyond_a_pool_is_the_one_in_memory(write, multioutput, given):
    table = make_yields()
    drop = [name for name in ("w", "known") if name not in given.values()]
    model = make(multioutput=multioutput)
    found = engines.fit(model, write(table), TARGETS, drop=drop, batch_rows=700, n_threads=2, **given)
    assert_same(found, engines.fit(make(multioutput=multioutput), table, TARGETS, drop=drop, batch_rows=97, **given))
    expected = in_memory(make(multioutput=multioutput), table, **given)
    assert_same(found, expected)
    assert found.model_.numbers == ("p", "q")
    assert found.held_out_.r2 == pytest.approx(expected.held_out_.r2, rel=1e-9)


def test_a_small_table_is_read_and_fitted_as_ever(write):
    table = make_yields()
    found = engines.fit(make(), write(table), TARGETS, drop=["w", "known"], batch_rows=700)
    expected = in_memory(make(), table)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert [row.text for row in found.rules_] == [row.text for row in expected.rules_]


@pytest.fixture(scope="module")
def model():
    return in_memory(make(), make_yields())


@pytest.mark.parametrize("weights", [None, "w"])
def test_the_score_is_the_mean_of_r_squared(write, model, weights):
    table = make_yields()
    X, y = table.select(NAMES), np.column_stack([table[name].to_numpy() for name in TARGETS])
    own = None if weights is None else table[weights].to_numpy()
    expected = r2_score(y, model.predict(X), sample_weight=own)
    found = engines.score(model, write(table), TARGETS, weights=weights, batch_rows=170, n_threads=2)
    assert found == pytest.approx(expected, rel=1e-12)
    assert model.score(X, y, own) == pytest.approx(expected, rel=1e-12)


def test_the_score_of_numbers_that_do_not_vary_is_that_in_memory(model):
    table = make_yields()
    level = table.set_column(table.column_names.index("q"), "q", pa.array(np.full(N_ROWS, 7.0)))
    y = np.column_stack([table["p"].to_numpy(), np.full(N_ROWS, 7.0)])
    found = engines.score(model, level, TARGETS, batch_rows=170)
    assert found == pytest.approx(model.score(table.select(NAMES), y), rel=1e-12)
    assert found == pytest.approx(r2_score(y, model.predict(table.select(NAMES))), rel=1e-12)


def test_predictions_have_a_column_for_each_number(write, model, tmp_path):
    table, out = make_yields(), tmp_path / "out.parquet"
    engines.predict(model, write(table), out, keep=["w"], batch_rows=170)
    found = pq.read_table(out)
    assert found.column_names == ["w", "prediction of p", "prediction of q"]
    predicted = np.column_stack([found[name].to_numpy() for name in found.column_names[1:]])
    np.testing.assert_array_equal(predicted, model.predict(table.select(NAMES)))


@pytest.mark.usefixtures("small_pool")
def test_rows_without_one_of_the_numbers_are_left_out():
    table = make_yields().drop_columns(["known"])
    lost = np.random.default_rng(0).random((2, N_ROWS)) < 0.1
    gaps = table.drop_columns(["w"])
    for mask, name in zip(lost, TARGETS, strict=True):
        gaps = gaps.set_column(gaps.column_names.index(name), name, pa.array(table[name].to_numpy(), mask=mask))
    weighted = table.set_column(table.column_names.index("w"), "w", pa.array(1.0 - lost.any(axis=0)))
    found = engines.fit(make(), gaps, TARGETS, batch_rows=700)
    assert_same(found, engines.fit(make(), weighted, TARGETS, weights="w"))


@pytest.mark.usefixtures("small_pool")
@pytest.mark.parametrize("name", TARGETS)
def test_numbers_that_change_between_passes_are_not_the_same(name):
    table, calls = make_yields().drop_columns(["w", "known"]), itertools.count()

    def stream():
        values = table[name].to_numpy() + (np.arange(N_ROWS) == 17) * next(calls)
        return table.set_column(table.column_names.index(name), name, pa.array(values)).to_reader(500)

    with pytest.raises(InvalidInputError, match="must be the same each time"):
        engines.fit(make(), stream, TARGETS)


def test_numbers_that_change_places_are_not_the_same():
    table, calls = make_yields().drop_columns(["w", "known"]), itertools.count()

    def stream():
        names = [*NAMES, "p", "q"] if next(calls) < 2 else [*NAMES, "q", "p"]
        return table.select(names).rename_columns([*NAMES, *TARGETS]).to_reader(500)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rulegrove.estimators.autos.POOL_ROWS", 1000)
        with pytest.raises(InvalidInputError, match="must be the same each time"):
            engines.fit(make(), stream, TARGETS)


def test_a_list_of_one_name_is_that_name():
    table = make_yields().select([*NAMES, "p"]).slice(0, 500)
    one, other = engines.fit(make(), table, ["p"]), engines.fit(make(), table, "p")
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.predict(table.select(NAMES)).shape == (500,)


@pytest.mark.parametrize(
    ("model", "arguments", "words"),
    [
        (make(), {"target": []}, "`target` is empty; name the column to predict"),
        (make(), {"target": ["p", "r"]}, "`target` names 'r', which is no column; there are 'a', 'b'"),
        (make(), {"target": ["p", "p"]}, "`target` names 'p' twice"),
        (make(), {"keep_statistics": True}, "of one number, not of several numbers at once; fit all rows anew"),
        (make(evidence="split"), {}, "Rules are tested for one number at a time; got 2 numbers"),
        (
            make(loss="poisson"),
            {},
            "One column is predicted here; `target` names 'p', 'q'. Several numbers at once are",
        ),
        (make(), {"exposure": "w"}, "`exposure`"),
        (RuleEnsembleClassifier(**SMALL), {}, "One column is predicted here; `target` names 'p', 'q'"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(model, arguments, words):
    with pytest.raises(InvalidInputError, match=re.escape(words)) as caught:
        engines.fit(model, make_yields(), **{"target": TARGETS, **arguments})
    assert "\n" not in str(caught.value)
    assert not hasattr(model, "rules_")


def test_scores_and_evidence_refuse_what_their_model_does_not_take(model):
    table = make_yields()
    with pytest.raises(InvalidInputError, match="The model predicts 2 numbers; `target` names 'p'"):
        engines.score(model, table, "p")
    with pytest.raises(InvalidInputError, match="Rules are tested for one number at a time"):
        engines.rule_evidence(model, table, "p")
    one = make(max_terms=3).fit(table.select(NAMES), table["p"].to_numpy())
    with pytest.raises(InvalidInputError, match="One column is predicted here"):
        engines.score(one, table, TARGETS)
    with pytest.raises(InvalidInputError, match="One column is predicted here"):
        engines.rule_evidence(one, table, TARGETS)
