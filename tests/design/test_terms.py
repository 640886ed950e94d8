"""Which column is which term, and what a linear term is in the unit of its attribute."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove.columns import Feature
from rulegrove.design.linear import fit_linear_terms
from rulegrove.design.terms import Linear, Terms
from rulegrove.rules.rule import Alias, Condition, Rule

RULES = (Rule((Condition(0, upper=0.5),)), Rule((Condition(1, lower=0.0, missing=True),)))


def make_terms(seed=0):
    rng = np.random.default_rng(seed)
    block = rng.normal(3.0, 2.0, size=(3, 200))
    block[1, :20] = np.nan
    linear = fit_linear_terms(block, None, np.zeros(3, dtype=np.int64))
    aliases = ((Alias(Rule((Condition(2, upper=9.0),)), opposite=True),), ())
    return block, Terms(RULES, linear, aliases)


def test_rules_come_first_and_linear_terms_after_them():
    _, terms = make_terms()
    assert len(terms) == 5
    assert [terms[k] for k in range(2)] == list(RULES)
    assert [terms[k].feature for k in range(2, 5)] == [0, 1, 2]
    assert terms.aliases_of(0)[0].opposite
    assert terms.aliases_of(1) == terms.aliases_of(2) == ()


@given(st.integers(0, 10_000))
def test_scale_and_centre_turn_a_term_into_its_column_of_the_design(seed):
    block, terms = make_terms(seed)
    design = terms.linear.evaluate(block[terms.linear.features])
    for k in range(3):
        column = k + len(RULES)
        own_unit = terms[column].values(block[terms[column].feature])
        scaled = terms.scales[column] * (own_unit - terms.centers[column])
        np.testing.assert_allclose(scaled, design[:, k], atol=1e-12)
    np.testing.assert_array_equal(terms.scales[:2], 1.0)
    np.testing.assert_array_equal(terms.centers[:2], 0.0)


def test_a_linear_term_is_flat_beyond_its_bounds_and_its_mean_where_missing():
    values = Linear(0, 1.0, 4.0, 2.5).values(np.array([-np.inf, 0.0, 1.0, 2.0, 4.0, 9.0, np.inf, np.nan]))
    assert values.tolist() == [1.0, 1.0, 1.0, 2.0, 4.0, 4.0, 4.0, 2.5]


@pytest.mark.parametrize("bound", [0.1, 1e-300, 1e22, float(np.float32(0.1)), 2**53 + 2.0])
def test_exact_words_of_a_linear_term_read_back(bound):
    words = Linear(0, -bound, bound, 0.0).text([Feature("a")])
    low, high = words.removeprefix("a (linear from ").removesuffix(")").split(" to ")
    assert (float(low), float(high)) == (-bound, bound)


def test_display_rounds_a_linear_term():
    assert Linear(1, 0.123456, 12.3456, 1.0).text([Feature("a"), Feature("b")], 3) == "b (linear from 0.123 to 12.3)"


def test_a_linear_term_knows_its_attribute_as_rules_do():
    assert Linear(2, 0.0, 1.0, 0.5).features == (2,)


def test_no_terms():
    linear = fit_linear_terms(np.empty((0, 5)), None, np.empty(0, dtype=np.int64))
    terms = Terms((), linear, ())
    assert len(terms) == 0
    assert terms.scales.shape == terms.centers.shape == (0,)


def test_bounds_in_words_are_exact_and_those_of_days_are_dates():
    """0.1 was written 0.10000000000000001, and rounded to four digits where it was shown."""
    assert Linear(0, 0.1, 10421.5, 1.0).text([Feature("a\x1b")]) == "a\\x1b (linear from 0.1 to 10421.5)"
    sold = Linear(0, 19357.0, 19782.0, 19500.2).text([Feature("sold", part="date")])
    assert sold == "sold (linear from 2022-12-31 to 2024-02-29)"
