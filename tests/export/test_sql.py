"""The exported query on real databases, against the model row by row."""

import copy
import functools
import itertools
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
from exported_models import (
    CITIES,
    HOSTILE,
    NAMES,
    READ_FEATURES,
    as_texts,
    fitted,
    of_terms,
    read_columns,
    read_rows,
    scores_of,
    small_iris,
)
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.columns import Feature
from rulegrove.design.terms import Linear
from rulegrove.estimators.model import RuleModel
from rulegrove.exceptions import InvalidInputError
from rulegrove.export import to_sql
from rulegrove.export._sql_query import CHUNK_TERMS, DATABASES
from rulegrove.rules.rule import Condition, Rule

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
    return model, known_to(database, rows)


def known_to(database, rows):
    """Rows as a database can have them."""
    if database.dialect != "postgres":
        return rows
    numbers = rows.select_dtypes("number")
    return rows.assign(**numbers.mask(numbers.abs() < np.finfo(np.float64).tiny, 0.0))


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
    model.model_ = RuleModel(model.model_.features, terms, rng.normal(size=len(terms)), 0.5)
    return model, X


def test_many_terms_go_in_steps(database):
    """Deep sums exceed what databases allow in one expression; steps keep the order of the sum."""
    model, X = many_terms()
    assert len(model.model_.terms) > 5 * CHUNK_TERMS
    result = database.run(X, to_sql(model, "t", dialect=database.dialect, keep=["row id"]), "t")
    np.testing.assert_array_equal(result["prediction"], model.predict(X))


def test_extreme_scores_have_probabilities(database):
    """Exponentials that would overflow, or underflow, which PostgreSQL makes an error of."""
    X = pd.DataFrame({"a": np.repeat([0.0, 1e5], 40)})
    model = RuleEnsembleClassifier(n_candidates=10, cv=2, terms="linear", calibration="sigmoid", random_state=0)
    X["a"] += np.arange(80) / 100
    model.fit(X, X["a"] > 1)
    for sign in (1.0, -1.0):
        model.model_.coefs[:] = 5.0 * sign
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
    used = {model.model_.features[k].name for term in model.model_.terms for k in term.features}
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
        ({"keep": ["prediction_12"]}, "a name that the query has for a column of its own"),
        ({"keep": ["rg_x1"]}, "a name that the query has for a column of its own"),
        ({"keep": ["id", "ID"]}, "names a column twice"),
        ({"keep": ["a\0b"]}, "holds a NUL character"),
        ({"keep": ["a\ud800b"]}, "holds a NUL character or a lone surrogate"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            to_sql(model, "t", **settings)
    with pytest.raises(InvalidInputError, match="The scores of this model are its predictions; leave `outputs` out"):
        to_sql(number, "t", outputs=["score"])
    with pytest.raises(InvalidInputError, match="`outputs` must be some of prediction; got"):
        to_sql(number, "t", outputs=["class"])
    assert to_sql(number, "t", outputs=["prediction"]) == to_sql(number, "t")
    for table in ("", (), ("a", "b", "c", "d"), "a\0", "\ud800"):
        with pytest.raises(InvalidInputError, match="`table` must be a name"):
            to_sql(model, table)
    for label in (math.inf, "a\0", "\ud800", object()):
        with pytest.raises(InvalidInputError, match="has no SQL literal"):
            DATABASES["duckdb"].label(label)


def test_the_documented_query_is_the_one_that_is_written():
    """The example of docs/export.md is not left behind."""
    page = (Path(__file__).parents[2] / "docs" / "export.md").read_text()
    assert to_sql(small_iris(), "flowers", outputs=["class"]).strip() in page


def predictions(database, model, rows, kinds=None, dialect=None):
    """What a query says of rows."""
    sql = to_sql(model, "t", dialect=dialect or database.dialect, keep=["row id"])
    return database.run(rows, sql, "t", kinds)["prediction"].to_numpy()


def every_attribute():
    """A model of every attribute of `READ_FEATURES`, rows, and what it says of them."""
    numbers = [place for place, feature in enumerate(READ_FEATURES) if feature.categories is None]
    rules = [
        Rule((Condition(6, categories=(0, len(CITIES))), Condition(7, categories=(2,), missing=True))),
        Rule((Condition(6, categories=(1, 2, len(CITIES)), missing=True),)),
        Rule((Condition(6, categories=tuple(range(len(CITIES) + 1))), Condition(7, categories=(0, 2)))),
    ]
    terms = [*rules, *(Linear(place, -1e6, 1e6, 0.7) for place in numbers)]
    model, rows = of_terms(READ_FEATURES, terms, np.linspace(0.1, 1.3, len(terms))), read_rows()
    return model, rows, model.model_.score(read_columns(rows))


FORMS = {  # how a time is written, and the type of its column, in UTC where that or the text has a zone
    "typed": ("%Y-%m-%d %H:%M:%S", "TIMESTAMP"),
    "typed, with a zone": ("%Y-%m-%d %H:%M:%S+00:00", "TIMESTAMP WITH TIME ZONE"),
    "text": ("%Y-%m-%d %H:%M:%S", None),
    "text with T": ("%Y-%m-%dT%H:%M:%S", None),
    "text with fractions": ("%Y-%m-%d %H:%M:%S.999999999", None),
    "text with Z": ("%Y-%m-%dT%H:%M:%SZ", None),
    "text with fractions and a zone": ("%Y-%m-%d %H:%M:%S.9999+00:00", None),
}


@pytest.mark.parametrize("form", FORMS)
def test_times_of_every_form(form, database):
    model, rows, truth = every_attribute()
    shape, kind = FORMS[form]
    written = rows.assign(**{"sold at": as_texts(rows["sold at"], shape), "born": as_texts(rows["born"], "%Y-%m-%d")})
    kinds = {} if kind is None or database.dialect == "sqlite" else {"sold at": kind, "born": "DATE"}
    np.testing.assert_array_equal(predictions(database, model, written, kinds), truth)


@pytest.mark.parametrize("offset", ["+05:30", "-08:00"])
def test_a_time_with_a_zone_is_read_in_utc(offset, database):
    """DuckDB and PostgreSQL leave out the zone when they make a timestamp of a text."""
    model, rows, truth = every_attribute()
    shift = pd.Timedelta(offset[1:] + ":00") * (1 if offset[0] == "+" else -1)
    texts = as_texts(rows["sold at"] + shift, f"%Y-%m-%dT%H:%M:%S{offset}")
    written = rows.assign(**{"sold at": texts, "born": as_texts(rows["born"], "%Y-%m-%d")})
    np.testing.assert_array_equal(predictions(database, model, written), truth)
    if database.dialect != "sqlite":
        kinds = {"sold at": "TIMESTAMP WITH TIME ZONE"}
        np.testing.assert_array_equal(predictions(database, model, written, kinds), truth)


@pytest.mark.parametrize("wrong", ["29.02.2024", "2023-02-30", "soon", "", "12:00", "now", "2024-02-29 13:45 PM"])
def test_what_is_no_time_is_an_error(wrong, database):
    """SQLite makes a date of a time, of the word now and of days that a month does not have."""
    model = of_terms(READ_FEATURES, [Linear(0, -1e6, 1e6, 0.7)], [1.0])
    words = 'Column ""?sold at""? must be a date|out of range|Conversion Error'
    with pytest.raises((duckdb.Error, sqlite3.Error, RuntimeError), match=words):
        predictions(database, model, pd.DataFrame({"sold at": np.array(["2024-02-29", wrong], dtype=object)}))


def test_standard_sql_reads_the_same_calendar(postgres):
    model, rows, truth = every_attribute()
    known = rows[["grade", "price"]].notna().all(axis=1).to_numpy()  # the standard has no NaN
    rows, truth = rows[known], truth[known]
    written = rows.assign(**{name: as_texts(rows[name]) for name in ("sold at", "born")})
    kinds = {"sold at": "TIMESTAMP", "born": "DATE"}
    for database in (DuckDB(), postgres):
        np.testing.assert_array_equal(predictions(database, model, written, kinds, "ansi"), truth)


def of_category(*labels):
    return of_terms([Feature("class", labels)], [Rule((Condition(0, categories=(0,)),))], [1.0], 0.0)


def test_a_column_that_the_table_lacks_is_an_error(database):
    """SQLite read a quoted name that it does not know as a text, and so gave all rows one score."""
    for name in ("petal length", "count", "t", "rg_x0"):
        model = of_terms([Feature(name)], [Linear(0, 0.0, 9.0, 0.5)], [1.0])
        rows = pd.DataFrame({"other": [1.0, 2.0]})
        with pytest.raises((duckdb.Error, sqlite3.Error, RuntimeError), match=r"no such column|does not|not found"):
            predictions(database, model, rows)
    sql = to_sql(of_terms([], [], []), "t", dialect=database.dialect, keep=["petal length"])
    with pytest.raises((duckdb.Error, sqlite3.Error, RuntimeError), match=r"no such column|does not|not found"):
        database.run(rows, sql, "t")


@pytest.mark.parametrize(
    ("kind", "value"), [("BOOLEAN", "t"), ("BIGINT", "7"), ("DATE", "2024-02-29"), ("REAL", "7.5")]
)
def test_a_category_of_another_type_is_an_error(kind, value, database):
    """DuckDB guesses from a CSV file that t and f are booleans, and each of them was a category never seen."""
    model = of_category("f", value)
    rows = pd.DataFrame({"class": np.array([value, None], dtype=object)})
    assert predictions(database, model, rows).tolist() == [0.0, 0.0]
    if database.dialect == "sqlite":  # has no such types, but numbers
        rows = pd.DataFrame({"class": [7.5, np.nan]})
    with pytest.raises((duckdb.Error, sqlite3.Error, RuntimeError), match=r'Column ""?class""? must be text; got'):
        predictions(database, model, rows, {} if database.dialect == "sqlite" else {"class": kind})
    nothing = pd.DataFrame({"class": np.array([None, None], dtype=object)})
    assert predictions(database, model, nothing, {"class": kind}).tolist() == [0.0, 0.0]


def test_categories_of_enumerated_types_are_texts(postgres):
    model = of_category("t", "f")
    rows = pd.DataFrame({"class": np.array(["t", "f", None], dtype=object)})
    assert predictions(DuckDB(), model, rows, {"class": "ENUM('t', 'f')"}).tolist() == [1.0, 0.0, 0.0]
    for kind in ("name", "char(3)", "varchar(9)"):
        assert predictions(postgres, model, rows, {"class": kind}).tolist() == [1.0, 0.0, 0.0]


def test_booleans_are_zeros_and_ones(database):
    """PostgreSQL has no cast from booleans to floats."""
    features = [Feature("member"), Feature("flag", (0.0, 1.0))]
    rule = Rule((Condition(0, lower=0.5), Condition(1, categories=(1,), missing=True)))
    model = of_terms(features, [rule, Rule((Condition(0, upper=0.5),))], [1.0, 0.25], 0.0)
    words = np.array(["true", "false", None], dtype=object)
    kinds = dict.fromkeys(("member", "flag"), "BOOLEAN")
    rows = pd.DataFrame({"member": np.repeat(words, 3), "flag": np.tile(words, 3)})
    if database.dialect == "sqlite":  # where booleans are integers
        kinds, rows = {}, rows.replace({"true": 1, "false": 0}).astype(float)
    expected = [1.0, 0.0, 1.0, 0.25, 0.25, 0.25, 0.0, 0.0, 0.0]
    assert predictions(database, model, rows, kinds).tolist() == expected


def test_shares_are_read_exactly_where_booleans_might_be(postgres):
    """A number of single precision is what it is in double precision, not what it is told as."""
    model = of_terms([Feature("share")], [Rule((Condition(0, lower=0.1),))], [1.0], 0.0)
    rows = pd.DataFrame({"share": [0.1, np.nextafter(0.1, 1.0), 0.2, np.nan]})
    assert predictions(postgres, model, rows).tolist() == [0.0, 1.0, 1.0, 0.0]
    assert predictions(postgres, model, rows, {"share": "real"}).tolist() == [1.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("wrong", ["", "abc", "5.1x", "35%"])
def test_a_number_of_other_text_is_an_error(wrong, database):
    """SQLite made 0 of a text among numbers, and 5.1 of what begins with it."""
    model = of_terms([Feature("price", as_text=True)], [Linear(0, 0.0, 9.0, 0.5)], [1.0], 0.0)
    rows = pd.DataFrame({"price": np.array(["5.125", "7", None], dtype=object)})
    assert predictions(database, model, rows).tolist() == [5.125, 7.0, 0.5]
    rows["price"] = np.array(["5.125", wrong, None], dtype=object)
    with pytest.raises((duckdb.Error, sqlite3.Error, RuntimeError), match=r"must be a number|Conversion|invalid input"):
        predictions(database, model, rows)


def test_whole_numbers_of_any_size_are_numbers():
    """An integer that is no double is rounded, as by the model, and no error."""
    model = of_terms([Feature("a")], [Linear(0, 0.0, 1e19, 0.5)], [1.0], 0.0)
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t AS SELECT 9007199254740993 AS a")
        assert connection.execute(to_sql(model, "t", dialect="sqlite")).fetchone() == (9007199254740992.0,)
    connection.close()


@pytest.mark.parametrize("dialect", ["bigquery", "duckdb", "spark", "sqlite"])
def test_columns_that_differ_by_case_alone_are_refused(dialect):
    """DuckDB read the column a for both a and A, and more than half of the scores were wrong."""
    model = of_terms([Feature("a"), Feature("A"), Feature("b")], [Rule((Condition(1, lower=0.0),))], [1.0])
    with pytest.raises(InvalidInputError, match="The columns 'A' and 'a' of the model differ by upper and lower case"):
        to_sql(model, "t", dialect=dialect)
    other = of_terms([Feature("a"), Feature("A"), Feature("b")], [Rule((Condition(2, lower=0.0),))], [1.0])
    assert "rg_x2" in to_sql(other, "t", dialect=dialect)


def test_case_tells_columns_apart_where_it_does(database):
    """Quoted names are what they are in PostgreSQL; DuckDB and SQLite fold the letters A to Z only."""
    small, large = ("a", "A") if database.dialect == "postgres" else ("é", "É")
    model = of_terms([Feature(small), Feature(large)], [Linear(0, 0.0, 9.0, 0.5), Linear(1, 0.0, 9.0, 0.5)], [1.0, 2.0])
    assert predictions(database, model, pd.DataFrame({small: [1.0], large: [3.0]})).tolist() == [7.25]


def test_the_query_begins_with_the_types_of_its_columns():
    features = [*READ_FEATURES, Feature("a\nb; DROP TABLE t; --\u2028")]
    rules = [Rule((Condition(place, categories=(0,)),)) for place in (6, 7)]
    model = of_terms(features, [*rules, *(Linear(place, 0.0, 9.0, 0.5) for place in (0, 2, 8, 9))], np.ones(6))
    for dialect in DATABASES:
        lines = to_sql(model, "t", dialect=dialect).splitlines()
        assert lines[6].startswith("WITH rg_step_1 AS ")
        assert lines[:6] == [
            "-- Columns that are read, and their types:",
            '--   "sold at": date or time',
            '--   "city": text',
            '--   "grade": number',
            '--   "price": number (read from text in the fit)',
            '--   "a\\nb; DROP TABLE t; --\\u2028": number',
        ]


def test_names_of_several_lines_and_with_what_templates_hold(database):
    """A line break in a column's name was indented with the query."""
    features = [Feature("new\n  line {x} {wrong}"), Feature("a\nb", ("t", "f"))]
    model = of_terms(features, [Linear(0, 0.0, 9.0, 0.5), Rule((Condition(1, categories=(0,)),))], [1.0, 2.0])
    rows = pd.DataFrame({features[0].name: [1.0, 3.0], "a\nb": ["t", "f"]})
    assert predictions(database, model, rows).tolist() == [3.25, 3.25]


def test_categories_are_compared_letter_by_letter(postgres):
    """A column may have a collation to which a and A are the same; DuckDB took one for the other."""
    sql = to_sql(of_category("a", "A"), "t", dialect="duckdb")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (class VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t VALUES ('a'), ('A')")
        assert connection.execute(sql).fetchall() == [(1.0,), (0.0,)]
    rows = pd.DataFrame({"class": ["a", "A"]})
    assert predictions(postgres, of_category("a", "A"), rows, {"class": 'text COLLATE "C"'}).tolist() == [1.0, 0.0]


def test_rates_are_exponentials_of_scores_times_an_exposure(rates, database):
    """Scores are bit for bit, and predictions but for the last places of the exponential and the logarithm."""
    model, rows, exposures = rates
    rows = known_to(database, rows)
    name = 'at "risk"; --'
    sql = to_sql(model, TABLE, dialect=database.dialect, keep=["row id"], outputs=["prediction", "score"])
    result = database.run(rows, sql, TABLE)
    scores = model.model_.score(model.read_columns(rows))
    assert result.columns.tolist() == ["row id", "score", "prediction"]
    np.testing.assert_array_equal(result["score"], scores)
    np.testing.assert_allclose(result["prediction"], model.predict(rows), rtol=1e-15)
    sql = to_sql(model, TABLE, dialect=database.dialect, keep=["row id"], exposure=name)
    result = database.run(rows.assign(**{name: exposures}), sql, TABLE)
    assert result.columns.tolist() == ["row id", "prediction"]
    np.testing.assert_allclose(result["prediction"], model.predict(rows, exposure=exposures), rtol=1e-14)


def test_several_numbers_have_a_column_each(several, database):
    model, rows = several
    rows = known_to(database, rows)
    result = database.run(rows, to_sql(model, "t", dialect=database.dialect, keep=["row id"]), "t")
    assert result.columns.tolist() == ["row id", "prediction_0", "prediction_1", "prediction_2"]
    np.testing.assert_array_equal(result.iloc[:, 1:].to_numpy(), model.predict(rows))


def test_rates_beyond_all_bounds_are_no_errors(of_rates, database):
    """PostgreSQL makes errors of exponentials that over- or underflow."""
    model = of_rates([Feature("a")], [Linear(0, -1e6, 1e6, 0.0)], [1.0], 0.0)
    rows = pd.DataFrame({"a": [-1e6, -745.2, -700.5, -690.0, 0.0, 700.0, 709.5, 1e6, 700.0, -700.0]})
    rows["e"] = [1e-300, 1.0, 1.0, 1e-300, 1e-300, 1e300, 1.0, 1e300, 1e-300, 1e300]
    dialects = (database.dialect, "ansi") if database.dialect != "sqlite" else ("sqlite",)
    for exposure, dialect in itertools.product((None, "e"), dialects):
        sql = to_sql(model, "t", dialect=dialect, keep=["row id"], exposure=exposure)
        scores = rows["a"] + (np.log(rows["e"]) if exposure else 0.0)
        expected = np.exp(np.clip(scores, -700.0, 709.0))
        np.testing.assert_allclose(database.run(rows, sql, "t")["prediction"], expected, rtol=2e-13)


def test_without_an_exposure_above_zero_there_is_no_prediction(of_rates, database):
    """The logarithm of such an exposure is an error in DuckDB and PostgreSQL."""
    model = of_rates([Feature("a")], [Linear(0, 0.0, 9.0, 0.5)], [1.0], 0.0)
    rows = pd.DataFrame({"a": 0.0, "e": [0.0, -1.0, -0.0, np.nan, np.nan, np.inf, -np.inf, 2.0]})
    sql = to_sql(model, "t", dialect=database.dialect, keep=["row id"], exposure="e", outputs=["score", "prediction"])
    result = database.run(rows, sql, "t")
    np.testing.assert_allclose(result["prediction"], [np.nan] * 7 + [2.0], rtol=1e-15)
    assert result["score"].tolist() == [0.0] * 8
    rows = pd.DataFrame({"a": [0.0, 0.0], "e": np.array(["2", "soon"], dtype=object)})
    with pytest.raises((duckdb.Error, sqlite3.Error, RuntimeError), match=r"must be a number|Conversion|invalid input"):
        database.run(rows, sql, "t")
    with pytest.raises((duckdb.Error, sqlite3.Error, RuntimeError), match=r"no such column|does not|not found"):
        database.run(rows[["a"]], sql, "t")


def test_an_exposure_goes_with_every_attribute_and_every_step(of_rates, database):
    """It is carried through parts of dates, shared conditions and sums of many terms, and may be an attribute too."""
    plain, rows, _ = every_attribute()
    model = of_rates(READ_FEATURES, plain.model_.terms, plain.model_.coefs / 1e4)
    truth = model.model_.score(read_columns(rows))
    written = rows.assign(**{"sold at": as_texts(rows["sold at"]), "born": as_texts(rows["born"], "%Y-%m-%d")})
    sql = to_sql(model, "t", dialect=database.dialect, keep=["row id", "price"], exposure="price")
    result = database.run(written, sql, "t")
    np.testing.assert_allclose(result["prediction"], np.exp(truth) * rows["price"], rtol=1e-14)
    assert "price" in result
    plain, X = many_terms()
    model = of_rates(plain.model_.features, plain.model_.terms, plain.model_.coefs / 50)
    exposures = np.random.default_rng(0).lognormal(size=len(X))
    sql = to_sql(model, "t", dialect=database.dialect, keep=["row id"], exposure="e")
    expected = np.exp(model.model_.score(plain.read_columns(X)) + np.log(exposures))
    np.testing.assert_allclose(database.run(X.assign(e=exposures), sql, "t")["prediction"], expected, rtol=1e-14)


@pytest.mark.parametrize("dialect", DATABASES)
def test_every_dialect_reads_rates_back(dialect, rates):
    sql = to_sql(rates[0], "t", dialect=dialect, exposure="years", outputs=["score", "prediction"])
    (parsed,) = sqlglot.parse(sql, dialect=DATABASES[dialect].dialect)
    assert "years" in {column.name for column in parsed.find_all(sqlglot.exp.Column)}
    assert '--   "years": number above 0, the exposure' in sql.splitlines()


def test_an_exposure_is_for_rates_alone(of_rates, hazards):
    for model in (fitted("numbers")[0], hazards[0], fitted("binary")[0]):
        with pytest.raises(InvalidInputError, match="`exposure` is for models of rates"):
            to_sql(model, "t", exposure="e")
    model = of_rates([Feature("a")], [Linear(0, 0.0, 9.0, 0.5)], [1.0])
    for exposure in ("", 1.0):
        with pytest.raises(InvalidInputError, match="`exposure` must be the name of a column; got"):
            to_sql(model, "t", exposure=exposure)
    with pytest.raises(InvalidInputError, match="holds a NUL character"):
        to_sql(model, "t", exposure="a\0")
    with pytest.raises(InvalidInputError, match="The columns 'A' and 'a' of the model differ by upper and lower case"):
        to_sql(model, "t", dialect="duckdb", exposure="A")
    assert "rg_exposure" in to_sql(model, "t", dialect="postgres", exposure="A")


def test_predictions_hazards_are_exponentials(hazards, database):
    model, rows = hazards
    rows = known_to(database, rows)
    np.testing.assert_allclose(predictions(database, model, rows), model.predict(rows), rtol=1e-15)


def test_survival_at_stated_times(hazards, database):
    model, rows = hazards
    rows = known_to(database, rows)
    times = [0.25, 0.0, 1e9]
    sql = to_sql(model, "t", dialect=database.dialect, keep=["row id"], times=times)
    assert "-- survival_0: the chance to be without the event at 0.25" in sql.splitlines()
    result = database.run(rows, sql, "t")
    names = [f"survival_{place}" for place in range(3)]
    assert result.columns.tolist() == ["row id", "prediction", *names]
    np.testing.assert_allclose(result["prediction"], model.predict(rows), rtol=1e-15)
    expected = [[curve(time) for time in times] for curve in model.predict_survival_function(rows)]
    np.testing.assert_allclose(result[names].to_numpy(), expected, rtol=1e-14)


def test_times_that_cannot_be(hazards):
    for times in ([-1.0], [1.0, 1.0], [np.nan], [np.inf]):
        with pytest.raises(InvalidInputError, match="`times` must be different numbers from 0 on; got"):
            to_sql(hazards[0], "t", times=times)
    with pytest.raises(InvalidInputError, match="`times` is for models of survival times; leave it out"):
        to_sql(fitted("numbers")[0], "t", times=[1.0])
    model = copy.copy(hazards[0])
    model.baseline_ = None
    with pytest.raises(InvalidInputError, match="no rows were held out to estimate the hazard of the baseline"):
        to_sql(model, "t", times=[1.0])
    with pytest.raises(InvalidInputError, match="'Survival_0', a name that the query has for a column of its own"):
        to_sql(hazards[0], "t", keep=["Survival_0"])


@pytest.mark.parametrize("dialect", DATABASES)
def test_every_dialect_reads_survival_back(dialect, hazards):
    (parsed,) = sqlglot.parse(to_sql(hazards[0], "t", dialect=dialect, times=[0.5]), dialect=DATABASES[dialect].dialect)
    assert parsed.named_selects == ["prediction", "survival_0"]
