"""Counts of rules: those of parts make those of the whole, in any order, and those of many rows draw some."""

import numpy as np
import pytest

from inspected_models import fit, make_table
from rulegrove._hashing import hash_positions
from rulegrove.estimators import _evidence_counts
from rulegrove.estimators._evidence_counts import EvidenceCounter
from rulegrove.estimators._judging_rules import Asking, judge_rules

KINDS = ["regression", "two classes", "three classes", "linear only", "no terms"]


def read_rows(kind, n_rows=300):
    """Return a model, rows in its columns, their targets as they are counted, and weights."""
    model, *_ = fit(kind)
    table, y, weights = make_table(n_rows, seed=1)
    if model.model_.labels:
        y = np.digitize(y, [0.0] if len(model.model_.labels) == 2 else [-0.7, 0.7])
    return model, model.read_columns(table), y, weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_parts_make_the_whole_in_any_order(kind, weighted):
    model, columns, y, weights = read_rows(kind)
    counter = EvidenceCounter.of(model.model_, len(y))
    weights = weights if weighted else None

    def count(rows):
        part = type(columns)(columns.features, list(columns.take(rows)), names=columns.names)
        return counter(part, y[rows], None if weights is None else weights[rows], rows)

    whole = counter(columns, y, weights, np.arange(300))
    parts = [count(rows) for rows in np.split(np.arange(300), [7, 130, 131])]
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        merged = counter.empty()
        for place in order:
            merged = merged.merge(parts[place])
        np.testing.assert_allclose(merged.held, whole.held, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(merged.everywhere, whole.everywhere, rtol=1e-10, atol=1e-10)
        np.testing.assert_array_equal(merged.table.keys, whole.table.keys)
        np.testing.assert_allclose(merged.table.totals, whole.table.totals, rtol=1e-10, atol=1e-10)
        one, other = (judge_rules(counter, model.rules_, counts, Asking()) for counts in (merged, whole))
        assert one.n_rows == other.n_rows == 300
        for name in ("p_value", "p_value_given_others"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-6)


def test_of_very_many_rows_some_are_drawn_for_tests_given_the_others(monkeypatch):
    monkeypatch.setattr(_evidence_counts, "GIVEN_ROWS", 100)
    model, columns, y, _ = read_rows("regression")
    model = model.shorten(None)  # with linear terms
    counter = EvidenceCounter.of(model.model_, 300)
    counts = counter(columns, y, None, np.arange(300))
    drawn = hash_positions(_evidence_counts._SEED, np.arange(300)) < counter.limit
    assert counts.n_rows == 300
    assert counts.table.n_rows == drawn.sum()
    assert 70 < drawn.sum() < 130
    found = judge_rules(counter, model.rules_, counts, Asking())
    assert f"those given the other terms on {drawn.sum()} of the rows approximate" in found.sentences[-1]
    rules, *_ = fit("rules only")
    assert EvidenceCounter.of(rules.model_, 300).limit == 2**64
