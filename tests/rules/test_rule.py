"""A rule's words, its records and its truth on rows say the same."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove.columns import Feature
from rulegrove.rules.rule import Condition, Rule

FEATURES = [Feature("a"), Feature("b c"), Feature("colour", ("blue", "green", "red"))]
VALUES = st.sampled_from(
    [-math.inf, -2.5, -1e-300, 0.0, 0.1, np.nextafter(0.1, 1), float(np.float32(0.1)), 3.0, math.inf]
)
THRESHOLDS = st.one_of(st.sampled_from([-2.5, 0.0, 0.1, float(np.float32(0.1))]), st.floats(-1e6, 1e6))


@st.composite
def numeric_conditions(draw, feature):
    lower = draw(st.one_of(st.just(-math.inf), THRESHOLDS))
    upper = draw(st.one_of(st.just(math.inf), THRESHOLDS.filter(lambda t: t > lower)))
    return Condition(feature, lower, upper, None, draw(st.booleans()))


@st.composite
def rules(draw):
    codes = draw(st.sets(st.integers(0, 2), min_size=1))
    conditions = [
        draw(numeric_conditions(0)),
        draw(numeric_conditions(1)),
        Condition(2, categories=tuple(sorted(codes)), missing=draw(st.booleans())),
    ]
    kept = draw(st.sets(st.integers(0, 2), min_size=1))
    return Rule(tuple(conditions[k] for k in sorted(kept)))


@given(
    rules(),
    st.one_of(st.none(), VALUES, st.floats(-1e6, 1e6)),
    st.one_of(st.none(), VALUES),
    st.one_of(st.none(), st.sampled_from(["blue", "green", "red", "nowhere"])),
)
def test_words_at_full_precision_mean_what_the_records_mean(read_rule, rule, a, b, colour):
    row = {"a": a, "b c": b, "colour": colour}
    labels = [*FEATURES[2].categories, "nowhere"]  # an unseen category has the first free code
    block = np.array(
        [
            [math.nan if a is None else a],
            [math.nan if b is None else b],
            [math.nan if colour is None else float(labels.index(colour))],
        ]
    )
    assert bool(rule.holds(block)[0]) == read_rule(rule.text(FEATURES), row)


def test_open_sides_hold_for_infinities():
    values = np.array([-math.inf, 0.0, math.inf, math.nan])
    assert Condition(0, upper=1.0).holds(values).tolist() == [True, True, False, False]
    assert Condition(0, lower=1.0).holds(values).tolist() == [False, False, True, False]
    assert Condition(0, lower=-1.0, missing=True).holds(values).tolist() == [False, True, True, True]


def test_known_and_missing_can_be_said():
    values = np.array([-math.inf, 0.0, math.inf, math.nan])
    known, missing = Condition(0), Condition(0, lower=math.inf, missing=True)
    assert known.text(FEATURES[0]) == "a is known"
    assert missing.text(FEATURES[0]) == "a is missing"
    assert known.holds(values).tolist() == [True, True, True, False]
    assert missing.holds(values).tolist() == [False, False, False, True]


@given(numeric_conditions(0), numeric_conditions(0), st.lists(st.one_of(VALUES, st.just(math.nan)), min_size=1))
def test_merging_conditions_is_and(first, second, values):
    values = np.array(values)
    np.testing.assert_array_equal((first & second).holds(values), first.holds(values) & second.holds(values))


def test_merging_categories_is_intersection():
    both = Condition(2, categories=(0, 1), missing=True) & Condition(2, categories=(1, 2))
    assert both == Condition(2, categories=(1,))


def test_digits_round_and_the_record_does_not():
    rule = Rule((Condition(0, upper=0.123456789),))
    assert rule.text(FEATURES, digits=4) == "a <= 0.1235"
    assert rule.text(FEATURES) == "a <= 0.123456789"


@pytest.mark.parametrize("threshold", [1e-300, 1e300, 2**53 + 2.0, float(np.float32(0.1)), -0.1])
def test_exact_text_reads_back(threshold):
    words = Rule((Condition(0, upper=threshold),)).text(FEATURES)
    assert float(words.split()[-1]) == threshold


@pytest.mark.parametrize(
    ("bound", "words"), [(4049.5, "4049.5"), (10421.5, "10421.5"), (123456789.25, "123456789.25"), (1e16, "1e+16")]
)
def test_ordinary_numbers_are_written_out(bound, words):
    assert Condition(0, upper=bound).text(FEATURES[0]) == f"a <= {words}"


TEN = Feature("purpose", tuple("abcdefghij"))
POOLED = Feature("city", ("Lyon", "Paris"), pooled=True)


@pytest.mark.parametrize(
    ("feature", "codes", "words"),
    [
        (TEN, (3,), "purpose = d"),
        (TEN, (0, 1, 2, 3, 4, 5, 6, 7, 8), "purpose != j"),
        (TEN, (2, 3, 4, 5, 6, 7, 8, 9), "purpose not in {a, b}"),
        (TEN, (4, 5, 6, 7, 8, 9), "purpose not in {a, b, c, d}"),
        (TEN, (5, 6, 7, 8, 9), "purpose in {f, g, h, i, j}"),
        (Feature("x", ("a", "b", "quite another one")), (0, 1), "x in {a, b}"),
        (Feature("x", ("a and b", "it's", "", "dark blue")), (0,), "x = 'a and b'"),
        (Feature("x", ("a and b", "it's", "", "dark blue")), (0, 1, 2), "x != dark blue"),
        (Feature("x", ("a", "it's", "Not", "50%", "-", " ")), (0, 1, 2), "x in {a, \"it's\", 'Not'}"),
        (Feature("x", (1.0, 2.0, 12.5)), (0, 1), "x != 12.5"),
        (Feature("x", (1.0, 2.0, 12.5)), (1,), "x = 2"),
        (Feature("x", (2**60, 2**60 + 1)), (1,), f"x = {2**60 + 1}"),
        (TEN, tuple(range(10)), "purpose is known"),
        (FEATURES[2], (0, 1), "colour != red"),
        (Feature("one", ("only",)), (0,), "one = only"),
        (Feature("two", ("x", "y")), (1,), "two = y"),
        (POOLED, (1, 2), "city != Lyon"),
        (POOLED, (0, 1), "city != any other"),
        (POOLED, (2,), "city = any other"),
        (POOLED, (0, 1, 2), "city is known"),
        (Feature("city", ("a", "b", "c"), pooled=True), (1, 3), "city not in {a, c}"),
    ],
)
def test_categories_are_told_the_short_way(feature, codes, words):
    """Nine of ten categories were listed, where one is left out."""
    assert Condition(0, categories=codes).text(feature) == words
    assert Condition(0, categories=codes, missing=True).text(feature) == f"{words} or missing"


MEMBER = Feature("is_member", boolean=True)


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [
        (0.0, math.inf, "is_member"),
        (0.5, math.inf, "is_member"),
        (math.nextafter(1.0, 0.0), 1.0, "is_member"),
        (-math.inf, 0.0, "not is_member"),
        (-1.0, 0.5, "not is_member"),
        (-math.inf, math.inf, "is_member is known"),
        (0.2, 0.8, "0.2 < is_member <= 0.8"),
    ],
)
def test_truth_values_are_told_by_their_name(lower, upper, words):
    condition = Condition(0, lower, upper)
    assert condition.text(MEMBER) == words
    assert Condition(0, lower, upper, missing=True).text(MEMBER) == f"{words} or missing"
    held = {"is_member": [False, True], "not is_member": [True, False], "is_member is known": [True, True]}
    assert condition.holds(np.array([0.0, 1.0])).tolist() == held.get(words, [False, False])


SOLD = Feature("sold", part="date")
LEAP = 19782.0  # 2024-02-29


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [
        (-math.inf, LEAP, "sold < 2024-03-01"),
        (-math.inf, LEAP + 0.5, "sold < 2024-03-01"),
        (LEAP + 0.9, math.inf, "sold >= 2024-03-01"),
        (LEAP - 0.5, math.inf, "sold > 2024-02-28"),
        (LEAP - 0.5, LEAP + 1.5, "2024-02-28 < sold <= 2024-03-01"),
        (19357.5, LEAP, "2023-01-01 <= sold < 2024-03-01"),
        (-1e-20, math.inf, "sold >= 1970-01-01"),
        (LEAP - 0.5, LEAP + 0.5, "sold = 2024-02-29"),
        (-1.5, -0.5, "sold = 1969-12-31"),
        (-1e9, LEAP, "-1000000000 < sold < 2024-03-01"),
        (-math.inf, 2932896.0, "sold <= 9999-12-31"),
        (3e6, math.inf, "sold > 3000000"),
        (-math.inf, math.inf, "sold is known"),
    ],
)
def test_bounds_of_days_are_dates(lower, upper, words):
    assert Condition(0, lower, upper).text(SOLD) == words


def test_other_parts_of_a_date_are_numbers():
    assert Condition(0, upper=6.5).text(Feature("sold.month", column="sold", part="month")) == "sold.month <= 6.5"


def test_control_characters_of_names_are_escaped():
    name = Feature("a\x1b[31m\tb\u202e\n")
    assert Condition(0, upper=1.0).text(name) == "a\\x1b[31m\\tb\\u202e\\n <= 1"
