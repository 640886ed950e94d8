"""The exported query on real databases, against the model row by row."""

import functools
import math
import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from databases import DuckDB, PostgreSQL, SQLite, find_postgres
from exported_models import HOSTILE, NAMES, fitted, scores_of, small_iris
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.estimators.model import RuleModel
from rulegrove.exceptions import InvalidInputError
from rulegrove.export import to_sql
from rulegrove.export._sql_query import CHUNK_TERMS, DATABASES
from rulegrove.export._sql_terms import Database

TABLE = 'my "table"'


@pytest.fixture(scope="module")
def postgres():
    programs = find_postgres()
    if programs is None:
        pytest.skip("no PostgreSQL on this machine: install it (initdb, postgres, psql) to run its tests")
    server = PostgreSQL(programs)
    yield server
    server.stop()


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def database(request):
    if request.param == "postgres":
        return request.getfixturevalue("postgres")
    return {"duckdb": DuckDB, "sqlite": SQLite}[request.param]()


def fitted_for(name, database):
    """A model and hard rows; no subnormal numbers for PostgreSQL, to which a product that underflows is an error."""
    model, rows = fitted(name)
    if database.dialect == "postgres":
        numbers = rows.select_dtypes("number")
        rows = rows.assign(**numbers.mask(numbers.abs() < np.finfo(np.float64).tiny, 0.0))
    return model, rows


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_equal_bit_for_bit(name, database):
    model, rows = fitted_for(name, database)
    sql = to_sql(model, TABLE, dialect=database.dialect, keep=["row id"])
    result = database.run(rows, sql, TABLE)
    names = [column for column in result.columns if column.startswith(("score", "prediction"))]
    scores = scores_of(model, rows)
    np.testing.assert_array_equal(result[names].to_numpy(), scores.reshape(len(rows), -1))
    if not hasattr(model, "classes_"):
        return
    labels = [_as_database(label, database) for label in model.predict(rows).tolist()]
    assert result["class"].tolist() == labels
    chances = result[[column for column in result.columns if column.startswith("probability")]].to_numpy()
    np.testing.assert_allclose(chances, model.predict_proba(rows), rtol=0, atol=4e-16)


def _as_database(label, database):
    """A label as the database gives it: psql in words, SQLite's truth is 1."""
    if database.dialect != "postgres":
        return label
    return {True: "t", False: "f"}[label] if isinstance(label, bool) else str(label).removesuffix(".0")


def test_a_hostile_column_and_table_come_through(database):
    model, rows = fitted_for("numbers, mixed", database)
    assert HOSTILE in rows.columns
    table = "x'; DROP TABLE y; --"
    result = database.run(rows, to_sql(model, table, dialect=database.dialect, keep=["row id", HOSTILE]), table)
    assert list(result.columns) == ["row id", HOSTILE, "prediction"]
    np.testing.assert_array_equal(result["prediction"], scores_of(model, rows))


@functools.cache
def many_terms():
    """A model that repeats itself: a thousand rules and more."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 6)), columns=list("abcdef"))
    model = RuleEnsembleRegressor(n_candidates=400, selection=1.0, random_state=0, n_jobs=1).fit(X, X["a"])
    terms = model.candidates_.rules * 12
    model._model = RuleModel(model._model.features, terms, rng.normal(size=len(terms)), 0.5)
    return model, X


def test_many_terms_go_in_steps(database):
    """Deep sums exceed what databases allow in one expression; steps keep the order of the sum."""
    model, X = many_terms()
    assert len(model._model.terms) > 5 * CHUNK_TERMS
    result = database.run(X, to_sql(model, "t", dialect=database.dialect, keep=["row id"]), "t")
    np.testing.assert_array_equal(result["prediction"], model.predict(X))


def test_extreme_scores_have_probabilities(database):
    """Exponentials that would overflow, or underflow, which PostgreSQL makes an error of."""
    X = pd.DataFrame({"a": np.repeat([0.0, 1e5], 40)})
    model = RuleEnsembleClassifier(n_candidates=10, cv=2, terms="linear", calibration="sigmoid", random_state=0)
    X["a"] += np.arange(80) / 100
    model.fit(X, X["a"] > 1)
    for sign in (1.0, -1.0):
        model._model.coefs[:] = 5.0 * sign
        result = database.run(X, to_sql(model, "t", dialect=database.dialect, keep=["row id"]), "t")
        chances = result[["probability_0", "probability_1"]].to_numpy()
        np.testing.assert_allclose(chances, model.predict_proba(X), rtol=0, atol=4e-16)


@pytest.mark.parametrize("dialect", DATABASES)
@pytest.mark.parametrize("name", ["mixed, binary", "iris, isotonic", "numbers, gaps"])
def test_every_dialect_reads_back(name, dialect):
    model, _ = fitted(name)
    sql = to_sql(model, ("my`schema", TABLE), dialect=dialect, keep=["row id"])
    parsed = sqlglot.parse(sql, dialect=DATABASES[dialect].dialect)
    assert len(parsed) == 1
    tables = {(table.db, table.name) for table in parsed[0].find_all(sqlglot.exp.Table) if table.db}
    assert tables == {("my`schema", TABLE)}
    columns = {column.name for column in parsed[0].find_all(sqlglot.exp.Column)}
    used = {model._model.features[k].name for term in model._model.terms for k in term.features}
    assert used <= columns


doubles = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(doubles, min_size=1, max_size=20))
def test_numbers_are_read_as_exactly_themselves(values):
    duck, lite = DATABASES["duckdb"], DATABASES["sqlite"]
    for database, run in ((duck, _ask_duckdb), (lite, _ask_sqlite)):
        literals = [database.number(value).sql(database.dialect) for value in values]
        assert run(f"SELECT {', '.join(literals)}") == tuple(values)


def _ask_duckdb(sql):
    return duckdb.execute(sql).fetchone()


def _ask_sqlite(sql):
    connection = sqlite3.connect(":memory:")
    answer = connection.execute(sql).fetchone()
    connection.close()
    return answer


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_texts_are_read_as_exactly_themselves(text):
    for dialect, run in (("duckdb", _ask_duckdb), ("sqlite", _ask_sqlite)):
        assert run(f"SELECT {DATABASES[dialect].label(text).sql(dialect)}") == (text,)


def test_outputs_are_chosen_and_ordered():
    model, _ = fitted("binary")
    sql = to_sql(model, "t", dialect="duckdb", outputs=["class", "score"])
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT " + ", ".join(f"1.5 AS x{k}" for k in range(8)))
    assert [entry[0] for entry in connection.execute(sql).description] == ["score", "class"]
    connection.close()


def test_bad_requests():
    model, _ = fitted("binary")
    number, _ = fitted("numbers")
    for settings, words in (
        ({"dialect": "oracle"}, "`dialect` must be one of ansi"),
        ({"outputs": ["scores"]}, "`outputs` must be some of score"),
        ({"outputs": []}, "`outputs` must be some of score"),
        ({"keep": ["Score"]}, "a name that the query has for a column of its own"),
        ({"keep": ["rg_x1"]}, "a name that the query has for a column of its own"),
        ({"keep": ["id", "ID"]}, "names a column twice"),
        ({"keep": ["a\0b"]}, "holds a NUL character"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            to_sql(model, "t", **settings)
    with pytest.raises(InvalidInputError, match="A regressor has one output"):
        to_sql(number, "t", outputs=["score"])
    for table in ("", (), ("a", "b", "c", "d"), "a\0"):
        with pytest.raises(InvalidInputError, match="`table` must be a name"):
            to_sql(model, table)
    for label in (math.inf, "a\0", object()):
        with pytest.raises(InvalidInputError, match="has no SQL literal"):
            Database("duckdb", "largest").label(label)


def test_the_documented_query_is_the_one_that_is_written():
    """The example of docs/export.md is not left behind."""
    page = (Path(__file__).parents[2] / "docs" / "export.md").read_text()
    assert to_sql(small_iris(), "flowers", outputs=["class"]).strip() in page
