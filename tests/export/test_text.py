"""Rule lists in words."""

import numpy as np
import pandas as pd
import pytest

from exported_models import HOSTILE, NAMES, fitted
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.export import to_markdown, to_text
from rulegrove.rules.rule import Rule


@pytest.mark.parametrize("name", NAMES)
def test_every_term_with_its_exact_numbers(name):
    model, _ = fitted(name)
    flat = " ".join(to_text(model).split())
    for row in model.rules_:
        assert " ".join(row.text.split()) in flat
    for coef in np.unique(model.coef_[model.coef_ != 0]):
        assert repr(float(coef)) in flat
    for start in np.atleast_1d(model.intercept_):
        assert repr(float(start)) in flat


def test_words_of_a_rule_add_up_to_the_score(read_rule):
    """A reader with pencil and paper comes to the model's score."""
    model, rows = fitted("binary")
    frame = rows.astype(object).where(rows.notna(), None)
    for (_, row), score in zip(frame.head(20).iterrows(), model.decision_function(rows.head(20)), strict=True):
        total = 0.0
        for ranked in model.rules_:
            if isinstance(ranked.term, Rule) and read_rule(ranked.text, row):
                total += ranked.coefficient
        total = model.intercept_ + total
        for ranked in model.rules_:
            if not isinstance(ranked.term, Rule):
                x = row.iloc[ranked.term.feature]
                x = ranked.term.fill if x is None else min(max(x, ranked.term.lower), ranked.term.upper)
                total += ranked.coefficient * x
        assert total == score


def test_top_says_what_it_left_out():
    model, _ = fitted("binary")
    assert f"... and {len(model.rules_) - 2} more." in to_text(model, top=2)
    assert f"... and {len(model.rules_) - 2} more." in to_markdown(model, top=2).replace("\\", "")


def test_markdown_escapes_what_comes_from_data():
    model, _ = fitted("mixed, binary")
    table = to_markdown(model)
    rows = [line for line in table.splitlines() if line.startswith("|")]
    assert len(rows) == len(model.rules_) + 2
    for row in rows:
        cells = row.replace("\\|", "")
        assert cells.count("|") == 6
    assert HOSTILE in table
    assert "\\`q\\`" in table


def test_line_breaks_in_names_do_not_break_lines():
    X = pd.DataFrame({"a\nb | <b>": np.arange(100.0), "c": np.arange(100.0) ** 2 % 17})
    model = RuleEnsembleRegressor(n_candidates=30, cv=3, random_state=0).fit(X, X["a\nb | <b>"] > 50)
    assert "a\\nb" in to_text(model)
    assert "a\\\\nb \\| \\<b\\>" in to_markdown(model)


def test_control_characters_in_names_and_labels_are_escaped():
    """ESC came through in the name of a class, and marks that turn the direction of letters in a rule."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a\x1b[2J\u202e": rng.normal(size=200), "b": rng.choice(["x\x1b", "y"], 200)})
    y = np.where(X.iloc[:, 0] + (X["b"] == "y") > 0.5, "on\x1b[31m", "off\t")
    model = RuleEnsembleClassifier(n_candidates=30, cv=3, random_state=0, n_jobs=1).fit(X, y)
    for words in (to_text(model), to_markdown(model)):
        assert words.replace("\n", "").isprintable()
    assert "a\\x1b[2J\\u202e" in to_text(model)


def test_a_share_stands_beside_that_of_all_rows():
    model, _ = fitted("binary")
    rule = next(row for row in model.rules_ if row.kind == "rule")
    told = f"{rule.confidence:.1%} {rule.speaks_for} against {rule.base_rate:.1%} of all"
    assert told in to_text(model)
    assert f"{rule.base_rate:.1%} of all |" in to_markdown(model)


@pytest.mark.parametrize("kind", ["binary", "iris, list"])
def test_an_effect_is_told_in_probability_too(kind):
    model, _ = fitted(kind)
    for row in model.rules_:
        first, last = (1.0 - own if row.against else own for own in (row.probability_from, row.probability_to))
        told = f": {row.speaks_for} from {first:.1%} to {last:.1%}"
        assert told in to_text(model)
        assert f"{told} |".replace("_", r"\_") in to_markdown(model)


def test_a_model_without_terms():
    model, _ = fitted("numbers, no terms")
    assert to_text(model).startswith("RuleEnsembleRegressor of 0 terms\nThe prediction starts at ")
    assert to_markdown(model).count("|") == 12


def test_labels_that_are_not_unicode_can_be_written():
    """Half of a pair of surrogates is told by its number, so that the words can go into a file."""
    X = np.array([["\ud800", 1.0], ["\ud800b", 2.0]] * 30, dtype=object)
    y = np.array(["\udfff", "no"] * 30, dtype=object)
    model = RuleEnsembleClassifier(n_candidates=20, cv=3, random_state=0, max_terms=3).fit(X, y)
    for words in (to_text(model), to_markdown(model)):
        assert "ud800" in words
        assert "udfff" in words
        assert words.encode()


def signed(number):
    return f"{'+' * (number >= 0)}{number!r}"


def test_terms_of_rates_multiply(rates):
    model, _, _ = rates
    text, table = to_text(model), to_markdown(model)
    start = model.intercept_
    first = f"{float(np.exp(start))!r}, exp({start!r})"
    how = f"The prediction is exp of the sum: it starts at {first}; multiply by what each term says."
    assert text.splitlines()[1] == how
    assert how in table
    for row in model.rules_:
        words = f"{row.effect}, exp({signed(row.coefficient)}{' a unit' * (row.kind == 'linear')})"
        assert words in text
        assert words in table


@pytest.mark.parametrize("kind", ["shared", "separate"])
def test_several_numbers_have_their_starts_and_effects(kind, request):
    model, _ = request.getfixturevalue(kind)
    text = to_text(model)
    starts = zip(["height", "depth", r"a|b\n"], model.intercept_.tolist(), strict=True)
    named = ", ".join(f"{name} at {start!r}" for name, start in starts)
    assert text.splitlines()[1] == f"The predictions start with {named}; add what each term says."
    assert r"a\|b\\n at" in to_markdown(model)
    for row in model.rules_:
        told = [f"{signed(coef)} for {name}" for name, coef in row.coefficients.items() if coef]
        assert len(told) == 3 or kind == "separate"
        assert ", ".join(told).replace("\n", r"\n") + " a unit" * (row.kind == "linear") in text


def test_quantiles_are_called_by_their_levels(quantiles):
    model, _ = quantiles
    text = to_text(model)
    starts = [f"the {name} at {start!r}" for name, start in zip(QUANTILES, model.intercept_.tolist(), strict=True)]
    assert text.splitlines()[1] == f"The predictions start with {', '.join(starts)}; add what each term says."
    for row in model.rules_:
        for name, coef in zip(QUANTILES, row.coefficients.values(), strict=True):
            assert not coef or f"{signed(coef)} for the {name}" in text
        if row.kind == "rule":
            assert f"of the rows, where the median is {row.mean_target:.4g}\n" in text
    assert to_markdown(model).splitlines()[4] == "| rank | term | effect | support | median |"


QUANTILES = ("10 % quantile", "median", "90 % quantile")


def test_a_hazard_tells_nothing_of_a_target(hazards):
    model, _ = hazards
    text, table = to_text(model), to_markdown(model)
    assert "The prediction is exp of the sum: it starts at " in text
    assert {row.kind for row in model.rules_} == {"rule", "linear"}
    for row in model.rules_:
        assert f"{row.effect}, exp({signed(row.coefficient)}" in text
        assert row.kind == "linear" or f" holds on {row.support:.1%} of the rows\n" in text
    assert table.splitlines()[4:6] == ["| rank | term | effect | support |", "| ---: | --- | --- | ---: |"]
    assert table.splitlines()[6].count("|") == 5
