"""How often terms come back: shares and chances by hand-made lists, spans and bands by numpy."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove.columns import Feature
from rulegrove.design.terms import Linear
from rulegrove.estimators.recurrence import (
    BY_GAIN,
    BY_ROWS,
    LEAST_SPANNED,
    LINES_FIRST,
    NEVER,
    SHIFT,
    SLOPE,
    WIDER,
    Choice,
    Draws,
    Recurrence,
    Span,
    find_band,
    find_spans,
    tell_spans,
)
from rulegrove.rules.rule import Condition, Rule

RULE, LINE = Rule((Condition(0, lower=1.0),)), Linear(1, 0.0, 1.0, 0.5)
# From which length on each of four lists has each of two terms, in either order of entry.
ENTRIES = np.array([[[1, 2, 2, NEVER], [3, 3, NEVER, NEVER]], [[4, 5, 5, NEVER], [1, 1, 2, 2]]])


def make_recurrence(entries=ENTRIES, *, steady=False):
    draws = Draws(np.zeros((1, 2)), np.zeros((1, 2), dtype=bool))
    return Recurrence(entries.shape[2], 50, steady, (RULE, LINE), entries, draws, ((), ()), (), 0)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("n_choices", [1, 2, 5])
def test_a_share_is_that_of_lists_and_of_what_other_rows_choose(place, n_choices):
    choices = [Choice(length, order) for length, order in itertools.product((1, 2, 3, 4), (BY_GAIN, LINES_FIRST))]
    for some in itertools.combinations(choices, n_choices):
        found = [sum(entry <= choice.length for entry in ENTRIES[choice.order, place].tolist()) / 4 for choice in some]
        assert make_recurrence().share(place, some) == pytest.approx(sum(found) / n_choices)


@given(st.integers(1, 200), st.data())
def test_a_chance_rises_with_the_share_and_is_never_certain(n_lists, data):
    """Log odds of the share, half a list allowed for either way, are shifted and scaled; rows a term count as well."""
    counts = sorted(data.draw(st.tuples(st.integers(0, n_lists), st.integers(0, n_lists))))
    chances = []
    for count in counts:
        entries = np.full((2, 1, n_lists), NEVER)
        entries[:, 0, :count] = 1
        chances.append(make_recurrence(entries).estimate(0, [Choice(1, BY_GAIN)], 4))
        odds = SLOPE * math.log((count + 0.5) / (n_lists - count + 0.5)) + BY_ROWS * math.log(2 * 50 / 4)
        assert math.log(chances[-1] / (1 - chances[-1])) == pytest.approx(SHIFT + odds)
    assert 0.0 < chances[0] <= chances[1] < 1.0


def test_spans_hold_nine_of_ten_bounds_of_the_same_side():
    """Bounds of other attributes, and sides that a rule of the family is without, say nothing."""
    rng = np.random.default_rng(0)
    rule = Rule((Condition(0, lower=1.0, upper=5.0), Condition(2, upper=0.5)))
    lowers, uppers, others = rng.normal(size=(3, 40))
    found = [
        Rule((Condition(0, lower=a, upper=b + 10.0), Condition(2, upper=c)))
        for a, b, c in zip(lowers.tolist(), uppers.tolist(), others.tolist(), strict=True)
    ]
    found += [Rule((Condition(0, lower=99.0), Condition(1, upper=7.0)))]
    expected = [(0, True, [*lowers, 99.0]), (0, False, uppers + 10.0), (2, False, others)]
    spans = find_spans(rule, found)
    assert [(span.feature, span.is_lower) for span in spans] == [(feature, side) for feature, side, _ in expected]
    for span, (_, _, bounds) in zip(spans, expected, strict=True):
        np.testing.assert_allclose([span.low, span.high], np.quantile(bounds, [0.05, 0.95]))


def test_spans_of_categories_and_of_few_lists_are_none():
    rule = Rule((Condition(0, lower=1.0), Condition(1, categories=(2,))))
    assert find_spans(rule, [rule] * (LEAST_SPANNED - 1)) == ()
    assert [span.feature for span in find_spans(rule, [rule] * LEAST_SPANNED)] == [0]


def test_spans_in_words():
    features = [Feature("glucose"), Feature("age"), Feature("member", boolean=True)]
    spans = (Span(0, True, 108.0, 128.25), Span(1, False, 40.0, 40.0), Span(2, True, 0.0, 0.0))
    assert tell_spans(spans, features) == "glucose > 108 to 128.2 and age <= 40"
    assert tell_spans((), features) == ""


def test_bands_are_as_wide_as_lists_from_disjoint_halves_differ():
    """Nine of ten pairs differ by less, but for what makes up for what the halves have in common."""
    rng = np.random.default_rng(0)
    own, others = rng.normal(size=3), rng.normal(size=(21, 3))
    low, high = find_band(own, others)
    differences = [abs(others[place] - others[place + 1]) for place in range(0, 20, 2)]
    np.testing.assert_allclose(high - own, WIDER * np.quantile(differences, 0.9, axis=0))
    np.testing.assert_allclose(own - low, high - own)
    np.testing.assert_array_equal(find_band(own, others, (0.0, 1.0)), np.clip([low, high], 0.0, 1.0))
