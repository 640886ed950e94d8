"""The simulations of evidence: the truth that they compare with, and a few tables of them."""

import numpy as np
import pytest
from benchmarks.evidence import DESIGNS, judge, populate, share, solve, tell_levels, tell_rates

from benchmarks import evidence


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    monkeypatch.setattr(evidence, "N_POPULATION", 20_000)
    populate.cache_clear()
    yield
    populate.cache_clear()


@pytest.mark.parametrize("name", ["classes, made and given", "skewed numbers, made and given"])
def test_given_lists_have_seven_rules_without_effect(name):
    one = judge(name, 0)
    assert one.null_alone.sum() == one.null_beside.sum() == 7
    assert one.true_alone.sum() == one.true_beside.sum() == 3
    assert not (one.true_alone & one.null_alone).any()
    assert set(one.covered) >= {"support", "coefficient"}


def test_population_coefficients_are_those_that_made_the_target():
    X = populate()
    values = np.column_stack([(X[:, 0] > 0.6) & (X[:, 1] > 0.3), X[:, 2] > 0.5, X[:, 3] < 0.3, X[:, 4] > 0.5])
    for classes in (True, False):
        design = DESIGNS["classes, made" if classes else "skewed numbers, made and given"]
        found = solve(values.astype(float), design.expect(X), classes=classes)
        np.testing.assert_allclose(found, [1.5, 1.0, -0.8, 0.0], atol=1e-4)


def test_tables_are_told():
    tables = [one for one in (judge("classes, none", seed) for seed in range(3)) if one is not None]
    levels, rates = tell_levels(tables), tell_rates(tables)
    assert levels["alone 0.1"].count("±") == 1
    assert {"false alone", "false beside", "confidence covered", "coefficient covered"} <= set(rates)
    rate, error = share(tables, "null_alone", lambda one: one.alone <= 2.0)
    assert (rate, error) == (1.0, 0.0)
