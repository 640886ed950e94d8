"""A model and its rows: sums over blocks of rows equal those over single rows; what is no model or class is refused."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from inspected_models import KINDS, fit
from rulegrove import RuleEnsembleRegressor
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import _sample
from rulegrove.inspection._sample import check_model, read_sample, split_rule


@pytest.mark.parametrize("block_rows", [7, 16384])
@pytest.mark.parametrize("kind", KINDS)
def test_sums_and_shares_equal_those_of_single_rows(kind, block_rows, monkeypatch):
    monkeypatch.setattr(_sample, "BLOCK_ROWS", block_rows)
    model, table, _, weights = fit(kind)
    places = [place for place, _ in read_sample(model, table).rules]
    held = np.asarray(model.transform_rules(table), dtype=float)[:, places]
    values = np.random.default_rng(0).normal(size=(len(table), 2))
    for sample in (read_sample(model, table), read_sample(model, table, weights)):
        rules = [rule for _, rule in sample.rules]
        np.testing.assert_allclose(sample.add_up(rules, values), held.T @ values, atol=1e-12)
        shares = np.full(len(table), 1.0 / len(table)) if sample.weights is None else sample.weights
        np.testing.assert_allclose(sample.shares(sample.compile(rules)), held.T @ shares, atol=1e-12)


def test_known_values_are_those_that_are_not_missing():
    model, table, _, _ = fit("regression")
    np.testing.assert_array_equal(read_sample(model, table).known(0), table["size"].dropna())


def test_both_parts_of_a_rule_make_the_rule():
    sample = read_sample(*fit("regression")[:2])
    for _, rule in sample.rules:
        inside, outside = split_rule(rule, [0, 2])
        assert set(inside.features) <= {0, 2}
        assert not set(outside.features) & {0, 2}
        assert sorted(inside.conditions + outside.conditions) == sorted(rule.conditions)


def test_other_models_are_refused():
    with pytest.raises(
        InvalidInputError, match="A test needs a RuleEnsembleClassifier or a RuleEnsembleRegressor; got"
    ):
        check_model(LinearRegression(), "A test")
    unfitted = RuleEnsembleRegressor()
    assert check_model(unfitted, "A test", fitted=False) is unfitted
