"""Columns of a table as the terms want them, in each database's own words; a column of another type is an error.

In the words ``{x}`` stands for a column of the table (of `parts`: for the time that `moment` gave) and ``{wrong}`` for
the beginning of an error message as a literal, which each database finishes with what it got. They are templates and
no trees of sqlglot, which would translate functions that must stay as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rulegrove.columns import Part

_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = "[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?"
_PLAIN = f"'^{_DAY}([ T]{_TIME})?$'"
_ZONED = f"'^{_DAY}[ T]{_TIME}(Z|[+-][0-9]{{2}}(:?[0-9]{{2}})?)$'"

_EXTRACTED: dict[Part, str] = {
    "year": "EXTRACT(YEAR FROM {x})",
    "month": "EXTRACT(MONTH FROM {x})",
    "weekday": "EXTRACT(ISODOW FROM {x})",
    "hour": "EXTRACT(HOUR FROM {x})",
    "date": "CAST({x} AS DATE) - DATE '1970-01-01'",
}


@dataclass(frozen=True)
class Inputs:
    """How a database reads a column."""

    number: str  # a double of a number; a boolean is 0 or 1
    text: str  # a category
    moment: str  # the date or time, in UTC if it has a zone
    parts: Mapping[Part, str] = field(default_factory=lambda: _EXTRACTED)  # what such a time tells
    yes_no: str | None = None  # the double of a column that may be a boolean, where `number` takes none


def _days() -> str:
    """Return the days since 1970-01-01 by the calendar alone: years begin in March, so that leap days come last."""
    january = "CASE WHEN EXTRACT(MONTH FROM {x}) <= 2 THEN 1 ELSE 0 END"
    year = f"CAST(EXTRACT(YEAR FROM {{x}}) - {january} AS DOUBLE PRECISION)"
    month = f"CAST(EXTRACT(MONTH FROM {{x}}) - 3 + 12 * {january} AS DOUBLE PRECISION)"
    leaps = f"FLOOR({year} / 4) - FLOOR({year} / 100) + FLOOR({year} / 400)"
    return f"365 * {year} + {leaps} + FLOOR((153 * {month} + 2) / 5) + EXTRACT(DAY FROM {{x}}) - 719469"


ANSI = Inputs(
    number="CAST({x} AS DOUBLE PRECISION)",
    text="{x}",
    moment="CAST({x} AS TIMESTAMP)",
    parts={
        **_EXTRACTED,
        "date": _days(),
        "weekday": f"{_days()} + 3 - 7 * FLOOR(({_days()} + 3) / 7) + 1",
    },
)

# Nothing here becomes a text or a number by itself: comparing another type is an error.
BIGQUERY = Inputs(
    number="CAST({x} AS FLOAT64)",
    text="{x}",
    moment="CAST({x} AS TIMESTAMP)",
    parts={
        **_EXTRACTED,
        "date": "UNIX_DATE(EXTRACT(DATE FROM {x}))",
        "weekday": "MOD(EXTRACT(DAYOFWEEK FROM {x}) + 5, 7) + 1",
    },
)

DUCKDB = Inputs(
    number="CAST({x} AS DOUBLE)",
    text="CASE WHEN TYPEOF({x}) = 'VARCHAR' OR TYPEOF({x}) LIKE 'ENUM(%' THEN CAST({x} AS TEXT) "
    "WHEN NOT {x} IS NULL THEN ERROR({wrong} || TYPEOF({x})) END",
    moment="CASE WHEN TYPEOF({x}) = 'TIMESTAMP WITH TIME ZONE' OR TYPEOF({x}) = 'VARCHAR' AND "
    f"REGEXP_MATCHES(CAST({{x}} AS TEXT), {_ZONED}) THEN MAKE_TIMESTAMP(EPOCH_US(CAST({{x}} AS TIMESTAMPTZ))) "
    f"WHEN TYPEOF({{x}}) <> 'VARCHAR' OR REGEXP_MATCHES(CAST({{x}} AS TEXT), {_PLAIN}) THEN CAST({{x}} AS TIMESTAMP) "
    "WHEN NOT {x} IS NULL THEN ERROR({wrong} || CAST({x} AS TEXT)) END",
)

_NO_TEXTS = ", ".join(
    f"CAST('{kind}' AS REGTYPE)"
    for kind in (
        *("boolean", "smallint", "integer", "bigint", "numeric", "real", "double precision"),
        *("date", "time", "timestamp", "timestamptz", "interval", "bytea", "json", "jsonb"),
    )
)
# A message of ours comes as what cannot be read as a number. The fraction of a second could be rounded up.
POSTGRES = Inputs(
    number="CAST({x} AS DOUBLE PRECISION)",
    text=f"CASE WHEN NOT {{x}} IS NULL AND PG_TYPEOF({{x}}) IN ({_NO_TEXTS}) "
    "THEN CAST(CAST({wrong} || PG_TYPEOF({x}) AS INT) AS TEXT) ELSE CAST({x} AS TEXT) END",
    moment="CASE WHEN PG_TYPEOF({x}) = CAST('timestamptz' AS REGTYPE) THEN CAST({x} AS TIMESTAMPTZ) AT TIME ZONE 'UTC' "
    "WHEN PG_TYPEOF({x}) IN (CAST('date' AS REGTYPE), CAST('timestamp' AS REGTYPE)) THEN CAST({x} AS TIMESTAMP) "
    f"WHEN CAST({{x}} AS TEXT) ~ {_ZONED} "
    "THEN CAST(REGEXP_REPLACE(CAST({x} AS TEXT), '[.][0-9]+', '') AS TIMESTAMPTZ) AT TIME ZONE 'UTC' "
    f"WHEN CAST({{x}} AS TEXT) ~ {_PLAIN} THEN CAST(REGEXP_REPLACE(CAST({{x}} AS TEXT), '[.][0-9]+', '') AS TIMESTAMP) "
    "ELSE CAST({wrong} || CAST({x} AS TEXT) AS TIMESTAMP) END",
    yes_no="CASE PG_TYPEOF({x}) WHEN CAST('boolean' AS REGTYPE) THEN CAST(CAST(CAST({x} AS TEXT) AS BOOLEAN) AS INT) "
    "WHEN CAST('real' AS REGTYPE) THEN CAST(CAST({x} AS TEXT) AS REAL) "
    "ELSE CAST(CAST({x} AS TEXT) AS DOUBLE PRECISION) END",
)

# What cannot be cast is NULL in older versions. A time is told in the zone of the session, and so read in it.
SPARK = Inputs(
    number="CASE WHEN TYPEOF({x}) RLIKE '^(boolean|tinyint|smallint|int|bigint|float|double|decimal.*)$' "
    "THEN CAST({x} AS DOUBLE) WHEN NOT {x} IS NULL THEN RAISE_ERROR(CONCAT({wrong}, TYPEOF({x}))) END",
    text="CASE WHEN TYPEOF({x}) = 'string' THEN CAST({x} AS STRING) "
    "WHEN NOT {x} IS NULL THEN RAISE_ERROR(CONCAT({wrong}, TYPEOF({x}))) END",
    moment="COALESCE(CASE WHEN TYPEOF({x}) IN ('date', 'timestamp', 'timestamp_ntz') THEN CAST({x} AS TIMESTAMP) "
    f"WHEN CAST({{x}} AS STRING) RLIKE {_ZONED} THEN TO_UTC_TIMESTAMP(CAST({{x}} AS TIMESTAMP), CURRENT_TIMEZONE()) "
    f"WHEN CAST({{x}} AS STRING) RLIKE {_PLAIN} THEN CAST({{x}} AS TIMESTAMP) END, "
    "CASE WHEN NOT {x} IS NULL THEN RAISE_ERROR(CONCAT({wrong}, CAST({x} AS STRING))) END)",
    parts={
        **_EXTRACTED,
        "date": "DATEDIFF(CAST({x} AS DATE), DATE '1970-01-01')",
        "weekday": "WEEKDAY({x}) + 1",
    },
)

# A number equals itself as a number, whatever it is stored as; no other text does. JSON_EXTRACT tells the path that is
# wrong. A date that does not exist would become another one, and the fraction of a second could be rounded up.
SQLITE = Inputs(
    number="CASE WHEN TYPEOF({x}) IN ('integer', 'real') OR {x} = CAST({x} AS REAL) THEN CAST({x} AS REAL) "
    "WHEN NOT {x} IS NULL THEN JSON_EXTRACT('{}', {wrong} || QUOTE({x})) END",
    text="CASE WHEN TYPEOF({x}) IN ('text', 'null') THEN {x} ELSE JSON_EXTRACT('{}', {wrong} || QUOTE({x})) END",
    moment="COALESCE(CASE WHEN TYPEOF({x}) = 'text' AND DATE(SUBSTR({x}, 1, 10), '+0 days') = SUBSTR({x}, 1, 10) "
    "THEN DATETIME(CASE WHEN INSTR({x}, '.') > 0 THEN SUBSTR({x}, 1, INSTR({x}, '.') - 1) "
    "|| CASE WHEN {x} GLOB '*[+-][0-9][0-9]:[0-9][0-9]' THEN SUBSTR({x}, -6) ELSE '' END ELSE {x} END) END, "
    "CASE WHEN NOT {x} IS NULL THEN JSON_EXTRACT('{}', {wrong} || QUOTE({x})) END)",
    parts={
        "year": "STRFTIME('%Y', {x})",
        "month": "STRFTIME('%m', {x})",
        "weekday": "(STRFTIME('%w', {x}) + 6) % 7 + 1",
        "hour": "STRFTIME('%H', {x})",
        "date": "JULIANDAY(DATE({x})) - 2440587.5",
    },
)
