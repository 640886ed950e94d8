"""Rows of the explorer: values and bits give the model's scores."""

import base64

import numpy as np
import pandas as pd

from inspected_models import fit, score
from rulegrove.report._given import read_given
from rulegrove.report._rows import MAX_CELLS, MAX_ROWS, MIN_ROWS, NEW_CATEGORY, describe_rows
from rulegrove.report._terms import describe_terms, gather_facts
from rulegrove.report._tracks import follow_paths
from rulegrove.rules.rule import Rule


def page_value(rows, told, row, term):
    """What the page takes a term to be on a row."""
    line = told["lines"].get(str(term))
    if line is None:
        octets = base64.b64decode(rows["bits"][row])
        return octets[term >> 3] >> (term & 7) & 1
    value = rows["values"][row][rows["features"].index(told["features"][term][0])]
    return line[2] if value is None else min(max(value, line[0]), line[1])


def test_parts_add_up_to_the_score(inspected):
    model, table, y = inspected
    given = read_given(model, table, y)
    tracks, terms = follow_paths(model)
    told = describe_terms(model, terms, gather_facts(model, terms, given))
    rows = describe_rows(terms, given, np.random.default_rng(0))
    assert rows["numbers"] == list(range(len(table)))
    expected = score(model, table)
    for output, track in enumerate(tracks):
        used, coefs = track.terms[track.chosen], track.coefs[track.chosen]
        for row in range(len(table)):
            parts = [coef * page_value(rows, told, row, int(term)) for term, coef in zip(used, coefs, strict=True)]
            total = track.intercepts[track.chosen] + sum(parts)
            np.testing.assert_allclose(total, expected[row, output], rtol=1e-10, atol=1e-12)


def test_values_are_shown_as_they_came():
    model, table, y, _ = fit("three classes")
    table = table.copy()
    table.loc[0, "colour"] = "violet"
    terms = follow_paths(model)[1]
    shares = model.predict_proba(table)
    rows = describe_rows(terms, read_given(model, table, y), np.random.default_rng(0))
    colour = rows["features"].index(table.columns.get_loc("colour"))
    assert rows["values"][0][colour] == NEW_CATEGORY
    missing = [row for row in range(1, len(table)) if pd.isna(table["colour"][row])]
    assert all(rows["values"][row][colour] is None for row in missing)
    assert rows["truths"] == [model.classes_.tolist().index(label) for label in y]
    np.testing.assert_allclose(rows["probabilities"], shares, rtol=1e-5)


def test_a_draw_of_many_rows():
    model, table, y, _ = fit("rules only")
    many, target = pd.concat([table] * 10, ignore_index=True), np.tile(y, 10)
    terms = follow_paths(model)[1]
    rows = describe_rows(terms, read_given(model, many, target), np.random.default_rng(0))
    assert len(rows["numbers"]) == len(set(rows["numbers"])) == MAX_ROWS
    assert rows["n_given"] == len(many)
    np.testing.assert_allclose(rows["truths"], target[rows["numbers"]], rtol=1e-5)
    used = {feature for term in terms if isinstance(term, Rule) for feature in term.features}
    assert rows["features"] == sorted(used)
    assert MIN_ROWS * len(used) <= MAX_CELLS
