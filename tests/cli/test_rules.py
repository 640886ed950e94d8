"""`rules`: the ranked terms of a model file."""

import numpy as np
import pytest

from rulegrove import RuleEnsembleRegressor, load_model


def test_prints_the_terms_in_their_order(run, fitted):
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
