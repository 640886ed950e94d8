"""The front: which line is chosen, by hand-made lines; what lines cost, by numpy on rows; how it is shown."""

from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from rulegrove.columns import Feature
from rulegrove.design.terms import Linear
from rulegrove.estimators.front import LONGEST, TOLERANCE, UNFAITHFUL, Front, FrontLine
from rulegrove.estimators.meaning import NumberMeaning
from rulegrove.estimators.model import Fitted, RuleModel
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Condition, Rule

FEATURES = (Feature("a"), Feature("b"))


def make_line(n_terms, loss=np.nan, excess_se=0.0, *, classes=1, shared=True, **more):
    """Return a line of so many rules for each class, which share them or have their own."""
    n_rules = n_terms if shared else n_terms * classes
    rules = tuple(Rule((Condition(place % 2, lower=float(place)),)) for place in range(n_rules))
    coefs = np.ones(n_rules)
    if classes > 1:
        owners = np.repeat(np.arange(classes), n_terms)
        coefs = np.ones((classes, n_rules)) if shared else (owners == np.arange(classes)[:, None]).astype(np.float64)
    model = RuleModel(FEATURES, rules, coefs, 0.0 if classes == 1 else np.zeros(classes))
    fitted = Fitted(model, np.ones(n_rules), np.full(n_rules, 0.25), np.zeros(n_rules), ((),) * n_rules, np.zeros(1))
    return FrontLine(fitted, loss=loss, excess_se=excess_se, **more)


def make_front(lines, base_loss=2.0, **options):
    return Front(lines, meaning=NumberMeaning(), base_loss=base_loss, **options)


def test_auto_is_the_shortest_list_within_one_standard_error_of_the_best():
    """The standard error is that of each line's own excess over the best; the best may be the large model."""
    losses = [1.5, 1.3, 1.2, 1.1, 1.0, 1.05]
    for errors, expected in [
        ([0, 0, 0, 0, 0, 0], 4),
        ([0, 0, 0, 0.11, 0, 0], 3),
        ([0, 0, 0.21, 0, 0, 0], 2),
        ([0.4, 0.2, 0.1, 0.09, 0, 0.2], 4),
        ([0.6, 0, 0, 0, 0, 0], 0),
    ]:
        lines = [make_line(place + 1, *pair) for place, pair in enumerate(zip(losses, errors, strict=True))]
        assert make_front(lines).choose("auto") == expected
    falling = [make_line(place + 1, loss) for place, loss in enumerate([1.5, 1.3, 1.2, 1.0])]
    assert make_front(falling).choose("auto") == 3


def test_auto_never_takes_more_terms_than_a_list_has():
    """The large model, or more forced rules than that, only where there is nothing shorter."""
    lines = [make_line(1, 1.5), make_line(LONGEST, 1.2), make_line(LONGEST + 1, 0.5)]
    assert make_front(lines).choose("auto") == 1
    assert make_front(lines).choose(None) == 2
    assert make_front(lines[2:]).choose("auto") == 0


def test_auto_forgives_a_hundredth_of_what_the_best_explains():
    """However sure the difference is; nothing where the best explains nothing."""
    base = 2.0
    allowed = 1.0 + TOLERANCE * (base - 1.0)
    lines = [make_line(1, allowed + 1e-6), make_line(2, allowed - 1e-6), make_line(9, 1.0)]
    assert make_front(lines, base).choose("auto") == 1
    assert make_front(lines, 1.0).choose("auto") == 2
    assert make_front(lines, 0.5).choose("auto") == 2


def test_a_number_is_a_ceiling_and_not_a_quota():
    """Of the lists that are short enough the shortest that says what the longest of them says, and is no worse."""
    told = [0.5, 0.9, 0.9 / (1.0 - UNFAITHFUL) - 1e-6, 0.9 / (1.0 - UNFAITHFUL) + 1e-6, 1.0]
    for losses, expected in (
        ([1.0, 1.0, 1.0, 1.0, 1.0], [0, 1, 1, 2, 2, 4, 4]),
        ([1.0, 2.0, 1.5, 1.0, 1.0], [0, 1, 2, 3, 3, 4, 4]),
    ):
        lines = [make_line(*line, 10.0, fidelity=own) for *line, own in zip((1, 2, 3, 4, 9), losses, told, strict=True)]
        front = make_front(lines)
        assert [front.choose(limit) for limit in (1, 2, 3, 4, 8, 9, 1000)] == expected


@pytest.mark.parametrize("losses", [(3.0, 2.0, 1.0), (np.nan, np.nan, np.nan)])
def test_of_a_list_and_the_large_model_with_as_many_terms_a_number_takes_the_list(losses):
    lines = [make_line(terms, loss, fidelity=0.5 * terms) for terms, loss in zip((1, 2, 2), losses, strict=True)]
    front = make_front(lines, np.nan if np.isnan(losses[0]) else 2.0)
    assert [front.choose(limit) for limit in (1, 2, 9, None)] == [0, 1, 1, 2]


def test_no_limit_is_the_large_model():
    front = make_front(
        [make_line(1, 1.0, fidelity=0.5), make_line(2, 1.5, fidelity=0.9), make_line(9, 1.9, fidelity=1.0)]
    )
    assert front.choose(None) == 2
    assert front.choose(None, max_rules=2) == 1
    assert front.choose(None, max_rules=9) == 2


def test_the_limit_on_rules_counts_those_of_all_classes():
    """With terms of their own three classes of two terms have six rules."""
    lines = [make_line(terms, 1.0 / terms, classes=3, shared=False, fidelity=terms / 4) for terms in (1, 2, 3, 4)]
    assert [(line.terms, line.rules) for line in lines] == [(1, 3), (2, 6), (3, 9), (4, 12)]
    front = make_front(lines)
    assert [front.choose("auto", limit) for limit in (3, 5, 6, 11, 12)] == [0, 0, 1, 2, 3]
    assert front.choose(3, 6) == 1
    assert front.choose(1, 12) == 0
    shared = make_line(2, classes=3)
    assert (shared.terms, shared.rules) == (2, 2)


def test_lists_that_nobody_judged_are_as_long_as_is_allowed():
    front = make_front([make_line(terms) for terms in (1, 2, 3, 9)], np.nan)
    assert [front.choose(limit) for limit in (1, 2, 8, 9, "auto", None)] == [0, 1, 2, 3, 3, 3]
    assert front.choose("auto", max_rules=2) == 1


def test_where_no_list_is_short_enough_the_message_says_how_short_they_get():
    front = make_front([make_line(2, 1.0, classes=3, shared=False), make_line(5, 0.5, classes=3, shared=False)])
    for limits in ((1, None), ("auto", 5), (2, 5)):
        with pytest.raises(InvalidInputError, match="shortest list has 2 terms for one class and 6 in all") as raised:
            front.choose(*limits)
        assert f"max_terms={limits[0]} and max_rules={limits[1]}" in str(raised.value)


def test_sizes_of_a_line():
    """Terms of the class that has most; conditions and rules that hold on a row, on average."""
    rules = (Rule((Condition(0, lower=1.0),)), Rule((Condition(0, lower=1.0), Condition(1, upper=2.0))))
    terms = (*rules, Linear(1, 0.0, 1.0, 0.5))
    coefs = np.array([[1.0, -1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    fitted = Fitted(
        RuleModel(FEATURES, terms, coefs, np.zeros(3)), np.ones(3), np.array([0.5, 0.25, 0.7]), *[np.zeros(3)] * 3
    )
    line = FrontLine(fitted)
    assert (line.terms, line.rules) == (2, 3)
    assert line.conditions == pytest.approx(4 / 3)
    assert line.active == pytest.approx(0.75)
    empty = make_line(0)
    assert (empty.terms, empty.rules, empty.conditions, empty.active) == (0, 0, 0.0, 0.0)


def test_a_front_is_a_sequence_and_a_table():
    lines = [
        make_line(1, 1.25, error=0.5, error_se=0.125, loss_se=0.25),
        make_line(2, 1.0, error=0.25, error_se=0.0625, loss_se=0.125),
        make_line(3),
    ]
    front = make_front(lines, chosen=1)
    assert len(front) == 3
    assert list(front) == lines
    assert front[1:] == tuple(lines[1:])
    assert front[-1] is lines[-1]
    assert make_front(lines).chosen == 2
    other = front.choosing(0)
    assert (other.chosen, front.chosen, list(other), other.loss_name, other.base_loss) == (
        0,
        1,
        lines,
        front.loss_name,
        front.base_loss,
    )
    frame = front.to_frame("pandas")
    expected = pd.DataFrame(
        {
            "terms": [1, 2, 3],
            "rules": [1, 2, 3],
            "conditions": 1.0,
            "active": [0.25, 0.5, 0.75],
            "fidelity": np.nan,
            "error": [0.5, 0.25, np.nan],
            "error_se": [0.125, 0.0625, np.nan],
            "squared_error": [1.25, 1.0, np.nan],
            "squared_error_se": [0.25, 0.125, np.nan],
        }
    )
    pd.testing.assert_frame_equal(frame, expected)
    assert front.to_dict()["terms"] == [1, 2, 3]


def test_a_front_is_shown_with_the_chosen_line_marked():
    lines = [make_line(1, 1.25, error=0.5, error_se=0.125, loss_se=0.25), make_line(12)]
    front = make_front(lines, chosen=0)
    header, first, last = repr(front).split("\n")
    assert header.split() == ["terms", "rules", "conditions", "active", "error", "squared", "error"]
    assert first.split() == ["*", "1", "1", "1.0", "0.2", "0.5", "±", "0.12", "1.25", "±", "0.25"]
    assert last.split() == ["12", "12", "1.0", "3.0"]
    assert len({len(line) for line in (header, first, last)}) == 1
    table = ET.fromstring(front._repr_html_())
    shown = [[cell.text or "" for cell in row] for row in table.iter("tr")]
    assert shown == [
        ["", "terms", "rules", "conditions", "active", "error", "squared error"],
        ["*", "1", "1", "1.0", "0.2", "0.5 ± 0.12", "1.25 ± 0.25"],
        ["", "12", "12", "1.0", "3.0", "", ""],
    ]
    assert {cell.tag for row in table.find("thead") for cell in row} == {"th"}


def test_the_terms_of_a_line_in_words():
    front = make_front([make_line(1), make_line(2)])
    assert [row.text for row in front.list_rules(1)] == ["a > 0", "b > 1"]
    assert [row.text for row in front.list_rules(0)] == ["a > 0"]
