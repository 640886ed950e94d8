"""`rules`: the ranked terms of a model file."""

import itertools

import numpy as np
import pytest
from typer.testing import CliRunner

from cli_tables import FAST, TARGET, make_table
from rulegrove import RuleEnsembleRegressor, load_model
from rulegrove._words import printable
from rulegrove.cli.app import app
from rulegrove.cli.writing import write_table


def test_prints_the_terms_in_their_order(run, fitted, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    terms = load_model(fitted[0]).rules_
    lines = [line for line in run("rules", fitted[0]).stdout.splitlines() if line[:1].isdigit() or line[:1] == " "]
    ranks = [int(line.split()[0]) for line in lines if line.split()[0].isdigit()]
    assert ranks == list(range(1, len(terms) + 1))
    first = next(line for line in lines if line.split()[0] == "1")
    assert f"{terms[0].coefficient:+.4g}" in first.split()


def test_top(run, read_json, fitted):
    terms = load_model(fitted[0]).rules_
    result = run("rules", fitted[0], "--top", 2)
    assert f"... and {len(terms) - 2} more term" in result.stderr
    assert run("rules", fitted[0], "--top", 2, "-q").stderr == ""
    document = read_json("rules", fitted[0], "--top", 2)
    assert document["n_terms"] == len(terms)
    assert [term["rule"] for term in document["terms"]] == [term.text for term in terms[:2]]


def test_markup_and_control_characters_are_words(run, tmp_path):
    """Names may look like markup of the table, or move the cursor of a terminal."""
    import pandas as pd

    X = pd.DataFrame({"[bold]x[/bold]\x1b[2J": np.sqrt(np.arange(100)), "y\r": [0, 1] * 50})
    model = RuleEnsembleRegressor(n_candidates=40, selection=0.01, random_state=0).fit(X, X.to_numpy().sum(axis=1))
    model.save(tmp_path / "model.json")
    printed = run("rules", tmp_path / "model.json").stdout
    assert "[bold]x[/bold]\\x1b[2J" in printed
    assert "\x1b" not in printed
    assert "\r" not in printed


@pytest.mark.parametrize("top", [None, 0])
def test_a_model_without_terms_says_so(run, read_json, tmp_path, top):
    model = RuleEnsembleRegressor(n_candidates=40, selection=1e6, random_state=0).fit(
        [[1.0], [2.0]] * 30, [1.0, 2.0] * 30
    )
    model.save(tmp_path / "model.json")
    words = ("rules", tmp_path / "model.json", *(() if top is None else ("--top", top)))
    result = run(*words)
    assert result.stdout == ""
    assert "No term was worth keeping" in result.stderr
    assert read_json(*words)["terms"] == []


@pytest.fixture(scope="module")
def resampled(tmp_path_factory):
    """A model file of a fit that has made lists anew, by the command."""
    folder = tmp_path_factory.mktemp("resampled")
    write_table(make_table(target="three"), folder / "data.csv")
    words = ["fit", folder / "data.csv", "--target", TARGET, "-o", folder / "model.json", "--n-resamples", 20, *FAST]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.stderr
    assert "comes back" in result.stdout
    assert "comes back: how many lists from other rows" in result.stderr
    return folder / "model.json"


def read_rows(words):
    """What is printed for each term, as one line of words."""
    lines = words.splitlines()
    starts = [place for place, line in enumerate(lines) if line[:2].strip().isdigit()]
    return [" ".join(" ".join(lines[start:stop]).split()) for start, stop in itertools.pairwise([*starts, len(lines)])]


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_rules_tell_how_often_they_come_back_and_where_their_thresholds_lie(run, resampled, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    printed = run("rules", resampled).stdout
    assert max(map(len, printed.splitlines())) <= width
    rows, terms = read_rows(printed), load_model(resampled).rules_
    assert len(rows) == len(terms)
    for row, term in zip(rows, terms, strict=True):
        assert f"{term.returns:.0%}" in row.split()
        if width == 200:
            assert " ".join(printable(term.text).split()) in row
        if term.thresholds and width in (80, 200):
            assert f"({' '.join(printable(term.thresholds).split())})" in row
    assert any(term.thresholds for term in terms)


def test_json_has_what_other_rows_say(read_json, resampled, tmp_path):
    terms = load_model(resampled).rules_
    told = read_json("rules", resampled)["terms"]
    assert [row["returns"] for row in told] == [term.returns for term in terms]
    assert [row["thresholds"] for row in told] == [term.thresholds for term in terms]
    short = read_json("shorten", resampled, "--max-terms", 2, "-o", tmp_path / "short.json")
    terms = load_model(tmp_path / "short.json").rules_
    assert [row["returns"] for row in short["terms"]] == [term.returns for term in terms]
    assert None not in [term.returns for term in terms]


def test_a_shortened_list_tells_it_as_well(run, resampled, tmp_path):
    result = run("shorten", resampled, "--max-terms", 2, "-o", tmp_path / "short.json")
    assert "comes back" in result.stdout.splitlines()[0]
    assert run("rules", tmp_path / "short.json").stdout == result.stdout


def test_a_model_without_other_lists_has_no_such_column(run, read_json, fitted):
    result = run("rules", fitted[0])
    assert "comes back" not in result.stdout + result.stderr
    assert all("returns" not in term for term in read_json("rules", fitted[0])["terms"])


def test_words_that_stand_below_are_words_as_well(run, fitted, monkeypatch):
    """Where there is little room rules stand below their figures, with nothing lost."""
    monkeypatch.setenv("COLUMNS", "60")
    printed = run("rules", fitted[0]).stdout
    rows, terms = read_rows(printed), load_model(fitted[0]).rules_
    for row, term in zip(rows, terms, strict=True):
        assert f"{term.coefficient:+.4g}" in row.split()
        assert " ".join(printable(term.text).split()) in row
