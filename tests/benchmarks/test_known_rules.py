"""Generated tables with known rules, and how many of them are found."""

import numpy as np
import pytest
from benchmarks.known_rules import HIT, cover, hit_rate, make_known_rules


def test_the_same_seed_makes_the_same_table():
    one, other = make_known_rules(200, seed=3), make_known_rules(200, seed=3)
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.y, other.y)
    assert one.rules == other.rules


def test_rules_hold_on_a_tenth_to_a_half_of_the_rows():
    made = make_known_rules(2000, seed=1)
    assert len(made.rules) == 6
    assert all(0.1 <= cover(rule, made.X).mean() <= 0.5 for rule in made.rules)


def test_cover_is_what_the_words_say():
    X = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 1.0]])
    np.testing.assert_array_equal(cover(((0, "<=", 0.0), (1, ">", 1.0)), X), [False, True, False])
    assert cover((), X).all()


@pytest.fixture
def rows():
    return np.arange(10.0)[:, None]


TRUE = (((0, "<=", 4.0),),)  # holds on five of ten rows


class TestHitRate:
    def test_the_rule_itself_and_its_complement_are_hits(self, rows):
        assert hit_rate(TRUE, [((0, "<=", 4.5),)], rows) == 1.0
        assert hit_rate(TRUE, [((0, ">", 4.0),)], rows) == 1.0

    def test_four_fifths_are_enough(self, rows):
        assert HIT == 0.8
        assert hit_rate(TRUE, [((0, "<=", 3.0),)], rows) == 1.0  # four of five
        assert hit_rate(TRUE, [((0, "<=", 2.0),)], rows) == 0.0  # three of five

    def test_share_of_the_true_rules(self, rows):
        two = (*TRUE, ((0, ">", 8.0),))
        assert hit_rate(two, [((0, "<=", 4.0),)], rows) == 0.5
        assert hit_rate(two, [], rows) == 0.0

    def test_more_rules_never_lower_it(self):
        made = make_known_rules(300, seed=5)
        rng = np.random.default_rng(0)
        found = [((int(rng.integers(20)), "<=", float(rng.normal())),) for _ in range(40)]
        rates = [hit_rate(made.rules, found[:n], made.X) for n in range(0, 41, 10)]
        assert rates == sorted(rates)
