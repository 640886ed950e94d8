"""What several test files share."""

import ast
import operator
import re

import pytest

_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq}


def _read_condition(words, row):
    """What a reader of one condition would answer; `row` maps names to values, None where missing."""
    words = words.removeprefix("(").removesuffix(")")
    or_missing = words.endswith(" or missing")
    words = words.removesuffix(" or missing")
    if match := re.fullmatch(r"(.+) is (known|missing)", words):
        return or_missing or (row[match[1]] is None) == (match[2] == "missing")
    if match := re.fullmatch(r"(.+) in (\{.*\})", words):
        value = row[match[1]]
        return or_missing if value is None else value in ast.literal_eval(match[2])
    if match := re.fullmatch(r"(\S+) (<=?) (.+) (<=?) (\S+)", words):
        value = row[match[3]]
        if value is None:
            return or_missing
        return _COMPARE[match[2]](float(match[1]), value) and _COMPARE[match[4]](value, float(match[5]))
    match = re.fullmatch(r"(.+) (<=|>|>=|<|==) (\S+)", words)
    value = row[match[1]]
    return or_missing if value is None else _COMPARE[match[2]](value, float(match[3]))


@pytest.fixture(scope="session")
def read_rule():
    """A reader of rules: their words and a row (names to values, None where missing) in, the answer out."""
    return lambda words, row: all(_read_condition(part, row) for part in words.split(" and "))
