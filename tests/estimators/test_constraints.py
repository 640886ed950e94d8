"""Signs of coefficients and rules that must be in the model; `test_monotonic.py` has whole fits with them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.columns import Feature
from rulegrove.design.linear import LinearTerms
from rulegrove.design.terms import Linear, Terms
from rulegrove.estimators._constraints import Constraints, resolve_monotonic
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Condition, Rule

FEATURES = [Feature("age"), Feature("income"), Feature("town", ("north", "south"))]
NAMES = [feature.name for feature in FEATURES]

bounds = st.sampled_from([-math.inf, 0.0, 1.0, 2.0, math.inf])


@st.composite
def drawn_rules(draw):
    conditions = []
    for feature in sorted(draw(st.sets(st.integers(0, 2), min_size=1))):
        lower, upper = draw(bounds), draw(bounds)
        if lower < upper:
            conditions.append(Condition(feature, lower, upper, missing=draw(st.booleans())))
        else:
            conditions.append(Condition(feature, math.inf, missing=True))
    return Rule(tuple(conditions))


@settings(max_examples=200, deadline=None)
@given(rule=drawn_rules(), ways=st.lists(st.integers(-1, 1), min_size=3, max_size=3))
def test_sign_is_the_one_that_keeps_the_rule_monotone(rule, ways):
    """Against the rule itself on a grid, each attribute moved over known values with all else fixed, missing or not."""
    values = np.array([-0.5, 0.5, 1.5, 2.5, np.nan])
    block = np.array(np.meshgrid(values, values, values, indexing="ij")).reshape(3, -1)
    held = rule.holds(block).reshape(5, 5, 5).astype(int)
    suits = {}
    for sign in (1, -1):
        rises = [np.diff(np.moveaxis(sign * held, feature, 0)[:4], axis=0) for feature in range(3)]
        suits[sign] = all((way * rise >= 0).all() for way, rise in zip(ways, rises, strict=True))
    found = Constraints(np.array(ways)).sign(rule)
    assert found == {(True, True): 0, (True, False): 1, (False, True): -1, (False, False): None}[suits[1], suits[-1]]


def test_signs_and_unpenalised_of_terms():
    above, below = Rule((Condition(0, lower=1.0),)), Rule((Condition(0, upper=1.0), Condition(1, lower=0.0)))
    linear = LinearTerms(np.array([0, 1]), *np.zeros((3, 2)), np.ones(2))
    terms = Terms((above, below), linear, ((), ()))
    constraints = Constraints(np.array([-1, 0]), frozenset([below]))
    np.testing.assert_array_equal(constraints.signs(terms), [-1, 1, -1, 0])
    np.testing.assert_array_equal(constraints.unpenalised(terms), [False, True, False, False])
    assert constraints.sign(Linear(0, 0.0, 1.0, 0.5)) == -1
    assert constraints.allowed([above, Rule((Condition(0, 0.0, 1.0),))]) == (above,)


def test_no_constraints_are_none():
    terms = Terms((Rule((Condition(0, 0.0, 1.0),)),), LinearTerms(np.array([0]), *np.zeros((3, 1)), np.ones(1)), ((),))
    assert Constraints().signs(terms) is None
    assert Constraints().unpenalised(terms) is None
    assert Constraints().allowed(terms.rules) == terms.rules


@pytest.mark.parametrize(
    "given",
    [{"age": 1, "income": -1}, {0: 1, 1: -1}, [1, -1, 0], (1, -1, 0), np.array([1.0, -1.0, 0.0]), {"age": 1, 1: -1}],
)
def test_attributes_by_name_position_or_all_of_them(given):
    np.testing.assert_array_equal(resolve_monotonic(given, FEATURES, NAMES), [1, -1, 0])


@pytest.mark.parametrize("given", [None, {}, {"age": 0}, [0, 0, 0], {"town": 0}])
def test_nothing_asked_is_none(given):
    assert resolve_monotonic(given, FEATURES, NAMES) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"Age": 1}, "`monotonic` names 'Age', which is not an attribute; the attributes are 'age', 'income', 'town'"),
        ({3: 1}, "names 3, which is not an attribute"),
        ({True: 1}, "names True, which is not an attribute"),
        ({"age": 2}, "must be -1, 0 or 1 for each attribute; got 2 for 'age'"),
        ({"age": "+1"}, r"must be -1, 0 or 1 for each attribute; got '\+1' for 'age'"),
        ({"age": True}, "must be -1, 0 or 1 for each attribute; got True for 'age'"),
        ({"age": None}, "must be -1, 0 or 1 for each attribute; got None for 'age'"),
        ({"town": 1}, "is for numeric attributes, but 'town' is categorical"),
        ([0, 0, -1], "is for numeric attributes, but 'town' is categorical"),
        ([1, 0], "must have -1, 0 or 1 for each of the 3 attributes"),
        ([[1, 0, 0]], "must have -1, 0 or 1 for each of the 3 attributes"),
    ],
)
def test_wrong_words(given, message):
    with pytest.raises(InvalidInputError, match=message):
        resolve_monotonic(given, FEATURES, NAMES)
