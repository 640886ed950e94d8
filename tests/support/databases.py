"""Real databases for the tests of SQL: a table of hard rows in, the rows of a query out."""

import csv
import io
import math
import os
import pwd
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa


def quote(name):
    """A name as standard SQL quotes it."""
    return '"' + name.replace('"', '""') + '"'


def is_text(values):
    """Whether a column of a frame holds texts."""
    return not pd.api.types.is_numeric_dtype(values)


def cells(rows):
    """Rows as tuples; a missing text is None, a missing number None in every other row and NaN in the rest."""
    columns = []
    for name in rows.columns:
        values = rows[name].tolist()
        if is_text(rows[name]):
            columns.append([None if value is None or value != value else value for value in values])
        else:
            columns.append([None if math.isnan(value) and k % 2 else value for k, value in enumerate(values)])
    return list(zip(*columns, strict=True))


class DuckDB:
    """DuckDB in memory; numbers keep both NULL and NaN."""

    dialect = "duckdb"

    def run(self, rows, sql, table, kinds=None):
        """Fill a table, of these types where texts shall become others, and query it far from UTC."""
        data = list(zip(*cells(rows), strict=True))
        arrays = [
            pa.array(values, pa.string()) if is_text(rows[name]) else pa.array(values, pa.float64(), from_pandas=False)
            for name, values in zip(rows.columns, data, strict=True)
        ]
        source = pa.table(dict(zip(rows.columns, arrays, strict=True)))
        with duckdb.connect() as connection:
            connection.register("source", source.append_column("row id", pa.array(range(len(rows)))))
            connection.execute("SET TimeZone = 'America/New_York'")
            casts = ", ".join(f"CAST({quote(name)} AS {kind}) AS {quote(name)}" for name, kind in (kinds or {}).items())
            replaced = f"REPLACE ({casts}) " if casts else ""
            connection.execute(f"CREATE TABLE {quote(table)} AS SELECT * {replaced}FROM source")
            return connection.execute(f'SELECT * FROM ({sql}) ORDER BY "row id"').df()


class SQLite:
    """SQLite in memory; it stores NaN as NULL."""

    dialect = "sqlite"

    def run(self, rows, sql, table, kinds=None):
        """Fill a table, of these types where there are others than text and numbers, and query it."""
        with sqlite3.connect(":memory:") as connection:
            plain = {name: "TEXT COLLATE NOCASE" if is_text(rows[name]) else "REAL" for name in rows.columns}
            names = [f"{quote(name)} {kind}" for name, kind in {**plain, **(kinds or {})}.items()]
            connection.execute(f'CREATE TABLE {quote(table)} ({", ".join(names)}, "row id" INTEGER)')
            marks = ", ".join("?" * (len(rows.columns) + 1))
            numbered = [(*cell, k) for k, cell in enumerate(cells(rows))]
            connection.executemany(f"INSERT INTO {quote(table)} VALUES ({marks})", numbered)
            cursor = connection.execute(f'SELECT * FROM ({sql}) ORDER BY "row id"')
            frame = pd.DataFrame(cursor.fetchall(), columns=[entry[0] for entry in cursor.description])
        connection.close()
        return frame


class PostgreSQL:
    """A server of our own in a temporary directory, reached by psql."""

    dialect = "postgres"

    def __init__(self, programs):
        self._programs = programs
        # The server refuses to run as root; then it runs as another user.
        self._user = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
        self._home = Path(tempfile.mkdtemp(prefix="rulegrove-postgres-"))
        if self._user:
            shutil.chown(self._home, "postgres", "postgres")
        self._call(
            "initdb", "-D", str(self._home / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"
        )
        settings = ["-c", "listen_addresses=", "-c", "fsync=off", "-k", str(self._home)]
        self._server = subprocess.Popen(
            [self._programs / "postgres", "-D", self._home / "data", *settings],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._home,
            **self._user,
        )
        for _ in range(150):
            if (
                subprocess.run([programs / "pg_isready", "-h", self._home], capture_output=True, check=False).returncode
                == 0
            ):
                return
            time.sleep(0.1)
        raise RuntimeError("the PostgreSQL server did not start")

    def _call(self, program, *arguments, **options):
        """Run a program of PostgreSQL and return what it printed; its own words are the error."""
        command = [self._programs / program, *arguments]
        done = subprocess.run(command, check=False, capture_output=True, cwd=self._home, **self._user, **options)
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        return done.stdout

    def run(self, rows, sql, table, kinds=None):
        """Fill a table, of these types where there are others than text and numbers, and query it far from UTC."""
        plain = {name: "text" if is_text(rows[name]) else "double precision" for name in rows.columns}
        names = ", ".join(f"{quote(name)} {kind}" for name, kind in {**plain, **(kinds or {})}.items())
        text = io.StringIO()
        for k, cell in enumerate(cells(rows)):
            words = [f'"{value.replace(chr(34), chr(34) * 2)}"' if isinstance(value, str) else value for value in cell]
            numbers = [
                "" if value is None else value if isinstance(value, str) else repr(float(value)) for value in words
            ]
            text.write(",".join([*numbers, str(k)]) + "\n")
        script = (
            "SET TimeZone = 'America/New_York';\n"
            f'CREATE TEMP TABLE {quote(table)} ({names}, "row id" integer);\n'
            f"COPY {quote(table)} FROM STDIN (FORMAT csv);\n{text.getvalue()}\\.\n"
            f"CREATE TEMP VIEW result AS {sql};\n"
            'COPY (SELECT * FROM result ORDER BY "row id") TO STDOUT (FORMAT csv, HEADER);\n'
        )
        options = ("-h", str(self._home), "-U", "postgres", "-d", "postgres", "-q", "-v", "ON_ERROR_STOP=1")
        out = self._call("psql", *options, input=script.encode()).decode()
        header, *lines = list(csv.reader(io.StringIO(out)))
        columns = dict(zip(header, zip(*lines, strict=True), strict=True))
        numeric = {
            name: np.array([value or "nan" for value in values], float)
            for name, values in columns.items()
            if name != "class"
        }
        return pd.DataFrame({name: numeric.get(name, values) for name, values in columns.items()})

    def stop(self):
        """End the server and remove its files."""
        self._server.send_signal(signal.SIGINT)
        self._server.wait(timeout=30)
        shutil.rmtree(self._home)


def find_postgres():
    """Return the directory of PostgreSQL's programs, or None; as root it also takes the user postgres."""
    if os.geteuid() == 0 and "postgres" not in {entry.pw_name for entry in pwd.getpwall()}:
        return None
    found = shutil.which("initdb")
    places = (
        [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    )
    return next((place for place in places if (place / "initdb").exists() and (place / "psql").exists()), None)
