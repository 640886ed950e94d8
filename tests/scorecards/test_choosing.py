"""Which rules are chosen, against naive forward selection and against plain fits."""

import numpy as np
import pytest

from rulegrove import RuleEnsembleClassifier
from rulegrove.datasets import load
from rulegrove.design.terms import Linear
from rulegrove.rules.rule import Rule
from rulegrove.scorecards.choosing import _Pool, choose_rules, list_candidates, own_rules
from rulegrove.scorecards.points import Patterns, weigh_rules


def draw(seed, n_rows=300, n_rules=12):
    rng = np.random.default_rng(seed)
    held = rng.integers(0, 2, (n_rows, n_rules)).astype(np.uint8)
    odds = held[:, :4] @ np.array([2.0, -1.5, 1.0, 0.7]) - 0.5
    return held, rng.uniform(0.5, 2.0, n_rows), np.clip(1.0 / (1.0 + np.exp(-odds)), 1e-4, 1.0 - 1e-4)


def fit_rows(held, weights, goals, rules):
    """The same weights from all rows, each a pattern of its own."""
    return weigh_rules(Patterns(held[:, list(rules)].astype(float), weights, weights * goals))


@pytest.mark.parametrize("seed", range(5))
def test_patterns_have_the_weights_of_the_rows(seed):
    held, weights, goals = draw(seed)
    pool = _Pool(held, weights, weights * goals, held.astype(np.float32), (True, True))
    chosen = pool.add(pool.add(pool.begin(), [5, 2]), [7])
    expected = fit_rows(held, weights, goals, chosen.rules)
    assert chosen.rules == (5, 2, 7)
    np.testing.assert_allclose(chosen.weighed.coef, expected.coef, atol=1e-4)
    assert chosen.weighed.loss == pytest.approx(expected.loss, rel=1e-7)
    np.testing.assert_array_equal(chosen.patterns.held[chosen.lines], held[:, [5, 2, 7]])


@pytest.mark.parametrize("seed", range(5))
def test_rules_that_make_the_goals_are_chosen(seed):
    assert sorted(choose_rules(*draw(seed), 4)) == [0, 1, 2, 3]


@pytest.mark.parametrize("seed", range(5))
def test_swaps_never_lose(seed):
    held, weights, goals = draw(seed)
    pool = _Pool(held, weights, weights * goals, held.astype(np.float32), (True, True))
    greedy = pool.begin()
    for _ in range(3):
        greedy = pool.add(greedy, [int(np.argmax(pool.measure(greedy)))])
    swapped = fit_rows(held, weights, goals, choose_rules(held, weights, goals, 3))
    assert swapped.loss <= greedy.weighed.loss + 1e-6 * weights.sum()


def test_rules_of_one_sign():
    held, weights, goals = draw(0)
    assert 1 not in choose_rules(held, weights, goals, 4, (False, True))
    assert choose_rules(held, weights, goals, 1, (True, False)) == (1,)


def test_copies_and_constants_are_not_chosen():
    held, weights, goals = draw(0)
    held = np.column_stack([held[:, 0], held[:, 0], np.ones(len(held)), np.zeros(len(held))]).astype(np.uint8)
    assert choose_rules(held, weights, goals, 4) == (0,)


def test_lines_become_thresholds():
    X, y = load("pima", return_X_y=True)
    model = RuleEnsembleClassifier(n_candidates=100, random_state=0, n_jobs=1).fit(X, y)
    large = model.front_[-1].fitted.model
    lines = {term.feature for term in large.terms if isinstance(term, Linear)}
    rules = list_candidates(model, model.read_columns(X), np.arange(len(y)))
    known = {term for term in large.terms if isinstance(term, Rule)}
    assert lines
    assert known <= set(rules)
    assert {rule.features[0] for rule in set(rules) - known} == lines
    assert own_rules(model.model_, 0, 60) is None  # a list with lines is no card
    short = RuleEnsembleClassifier(n_candidates=100, max_terms=5, terms="rules", random_state=0, n_jobs=1).fit(X, y)
    assert own_rules(short.model_, 0, 5) == short.model_.terms
    assert own_rules(short.model_, 0, len(short.model_.terms) - 1) is None
