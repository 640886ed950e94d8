"""A runner of commands, and small tables with difficult names."""

import json

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from cli_tables import SETTINGS, TARGET, make_table
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.cli.app import app
from rulegrove.cli.writing import write_table


@pytest.fixture
def run():
    """Run a command: its words in, exit code, standard output and standard error out."""

    def run(*words, code=0):
        result = CliRunner().invoke(app, [str(word) for word in words])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, (result.exit_code, result.stderr)
        return result

    return run


@pytest.fixture
def refuse(run):
    """Run a command that must end with exit code 1 and one line that holds these words; nothing else comes out."""

    def refuse(*words, says):
        result = run(*words, code=1)
        assert result.stdout == ""
        assert result.stderr.startswith("Error: ")
        assert result.stderr.count("\n") == 1
        assert says in result.stderr, result.stderr

    return refuse


@pytest.fixture
def read_json(run):
    """Run a command with ``--json`` and read what it prints."""
    return lambda *words: json.loads(run(*words, "--json").stdout)


@pytest.fixture
def write(tmp_path):
    """Write a table into a new folder and give its path."""

    def write(table, name="data.csv"):
        write_table(table, tmp_path / name)
        return tmp_path / name

    return write


@pytest.fixture(scope="session", params=["classes", "three", "number"])
def fitted(request, tmp_path_factory):
    """A model file and the table it was fitted on, for each kind of target."""
    table, folder = make_table(target=request.param), tmp_path_factory.mktemp("fitted")
    X, y = table.drop_columns([TARGET]), np.asarray(table[TARGET].to_pylist())
    estimator = RuleEnsembleRegressor if request.param == "number" else RuleEnsembleClassifier
    estimator(**SETTINGS).fit(X, y).save(folder / "model.json")
    write_table(table, folder / "data.csv")
    return folder / "model.json", folder / "data.csv"


MILEAGE = "annual mileage as declared by the policy holder at the last renewal (km)"
EXPOSURE = "exposure; in years 🕐"


@pytest.fixture(scope="session")
def claims():
    """Counts of claims over the exposure of each row, missing values and long names among them."""
    rng, n_rows = np.random.default_rng(0), 600
    age, mileage = rng.integers(18, 85, n_rows), rng.gamma(2.0, 7000.0, n_rows).round()
    region = rng.choice(["north", "south, old town", "west"], n_rows)
    years = rng.choice([0.25, 0.5, 1.0], n_rows)
    rate = 0.5 * np.exp(1.2 * (age < 30) + 0.7 * (region == "west"))
    columns = {"age": pa.array(age, mask=rng.random(n_rows) < 0.05), MILEAGE: mileage, "region": region}
    return pa.table({**columns, EXPOSURE: years, "claims": rng.poisson(rate * years)})


@pytest.fixture(scope="session")
def rates(claims, tmp_path_factory):
    """A model file of rates, and the table it was fitted on."""
    folder = tmp_path_factory.mktemp("rates")
    X, (y, years) = (
        claims.select(["age", MILEAGE, "region"]),
        (claims[name].to_numpy() for name in ("claims", EXPOSURE)),
    )
    model = RuleEnsembleRegressor(loss="poisson", n_candidates=60, max_terms=5, cv=3, n_jobs=1, random_state=0)
    model.fit(X, y, exposure=years).save(folder / "model.json")
    write_table(claims, folder / "data.csv")
    return folder / "model.json", folder / "data.csv"
