"""What several test files share."""

import ast
import operator
import re

import pytest

_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq}
_LABEL = re.compile(r"""'[^']*'|"[^"]*"|[^{},' "][^{},]*""")  # of categories, in quotes or not
collect_ignore = ["reference/survival_lifelines.py"]  # a script whose packages are in none of our environments
UNSEEN = "nowhere"  # a label that no attribute has a category for: no condition on categories holds for it


def _read_condition(words, row):
    """What a reader of one condition would answer; `row` maps names to values, None where missing."""
    words = words.removeprefix("(").removesuffix(")")
    or_missing = words.endswith(" or missing")
    words = words.removesuffix(" or missing")
    if match := re.fullmatch(r"(.+) is (known|missing)", words):
        value = row[match[1]]
        if value is None:
            return or_missing or match[2] == "missing"
        return match[2] == "known" and value != UNSEEN
    if words in row or words.removeprefix("not ") in row:
        value = row[words.removeprefix("not ")]
        return or_missing if value is None else bool(value) == (words in row)
    if match := re.fullmatch(r"(.+?) (not in|in|=|!=) (\{.*\}|['\"A-Za-z].*)", words):
        value = row[match[1]]
        if value is None:
            return or_missing
        listed = {ast.literal_eval(label) if label[0] in "'\"" else label for label in _LABEL.findall(match[3])}
        return value != UNSEEN and (value in listed) == (match[2] in ("in", "="))
    if match := re.fullmatch(r"(\S+) (<=?) (.+) (<=?) (\S+)", words):
        value = row[match[3]]
        if value is None:
            return or_missing
        return _COMPARE[match[2]](float(match[1]), value) and _COMPARE[match[4]](value, float(match[5]))
    match = re.fullmatch(r"(.+) (<=|>|>=|<|=) (\S+)", words)
    value = row[match[1]]
    return or_missing if value is None else _COMPARE[match[2]](value, float(match[3]))


@pytest.fixture(scope="session")
def read_rule():
    """A reader of rules: their words and a row in, the answer out.

    A row maps names to values: None where missing, and "nowhere" for a label that the attribute does not have.
    """
    return lambda words, row: all(_read_condition(part, row) for part in words.split(" and "))
