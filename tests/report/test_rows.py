"""Rows of the explorer: values and bits give the model's scores."""

import base64

import numpy as np
import pandas as pd

from inspected_models import fit
from rulegrove.report._given import predict_given, read_given
from rulegrove.report._lines import describe_line, list_lines, list_terms
from rulegrove.report._rows import MAX_CELLS, MAX_DOTS, MAX_ROWS, MIN_ROWS, NEW_CATEGORY, Drawn
from rulegrove.report._terms import describe_terms
from rulegrove.rules.rule import Rule


def page_value(rows, told, row, term):
    """What the page takes a term to be on a row."""
    line = told["lines"].get(str(term))
    if line is None:
        octets = base64.b64decode(rows["bits"][row])
        return octets[term >> 3] >> (term & 7) & 1
    value = rows["values"][row][rows["features"].index(told["features"][term][0])]
    return line[2] if value is None else min(max(value, line[0]), line[1])


def draw(model, table, y):
    lines = list_lines(model)
    return lines, Drawn(read_given(model, table, y), list_terms(lines), np.random.default_rng(0))


def test_parts_add_up_to_the_score_of_every_line(inspected):
    model, table, y = inspected
    lines, drawn = draw(model, table, y)
    told, rows = describe_terms(lines, drawn.terms), drawn.describe()
    assert rows["numbers"] == list(range(len(table)))
    values = np.array(
        [[page_value(rows, told, row, term) for term in range(len(drawn.terms))] for row in range(len(table))]
    ).reshape(len(table), len(drawn.terms))
    for line in lines:
        expected = line.model.score(model.read_columns(table)).reshape(len(table), -1)
        for output, one in enumerate(describe_line(line, drawn.terms, None)):
            found = one["intercept"] + values[:, one["terms"]] @ np.array(one["coefs"])
            np.testing.assert_allclose(found, expected[:, output], rtol=1e-10, atol=1e-12)


def test_values_are_shown_as_they_came():
    model, table, y, _ = fit("three classes")
    table = table.copy()
    table.loc[0, "colour"] = "violet"
    rows = draw(model, table, y)[1].describe()
    colour = rows["features"].index(table.columns.get_loc("colour"))
    assert rows["values"][0][colour] == NEW_CATEGORY
    missing = [row for row in range(1, len(table)) if pd.isna(table["colour"][row])]
    assert all(rows["values"][row][colour] is None for row in missing)
    assert rows["truths"] == [model.classes_.tolist().index(label) for label in y]


def test_what_a_line_says_of_the_rows():
    model, table, y, _ = fit("three classes")
    lines, drawn = draw(model, table, y)
    told = drawn.tell(predict_given(model, lines[model.front_.chosen], drawn.given))
    np.testing.assert_allclose(told["probabilities"], model.predict_proba(table), atol=5.1e-6)
    assert told["predicted"] is None
    assert drawn.observed is None
    model, table, y, _ = fit("regression")
    lines, drawn = draw(model, table, y)
    told = drawn.tell(predict_given(model, lines[model.front_.chosen], drawn.given))
    np.testing.assert_allclose(told["predicted"], [model.predict(table)], rtol=1e-5)
    np.testing.assert_allclose(drawn.observed, [y], rtol=1e-5)
    assert told["probabilities"] is None
    assert draw(model, table, None)[1].observed is None


def test_a_draw_of_many_rows():
    model, table, y, _ = fit("rules only")
    many, target = pd.concat([table] * 10, ignore_index=True), np.tile(y, 10)
    _, drawn = draw(model, many, target)
    rows = drawn.describe()
    assert len(rows["numbers"]) == len(set(rows["numbers"])) == MAX_ROWS
    assert len(drawn.observed[0]) == len(set(drawn.dots.tolist())) == MAX_DOTS
    assert rows["n_given"] == len(many)
    np.testing.assert_allclose(rows["truths"], target[rows["numbers"]], rtol=1e-5)
    used = {feature for term in drawn.terms if isinstance(term, Rule) for feature in term.features}
    assert rows["features"] == sorted(used)
    assert MIN_ROWS * len(used) <= MAX_CELLS
