"""How lists are compared: identities by hand, and one split of a small set."""

import numpy as np
import pytest
from benchmarks.steadiness import compare_coverage, jaccard, name_deciles, name_words, one_split, tell

TENTHS = np.tile(np.arange(1, 10)[:, None] / 10, (1, 2))
INF = np.inf


def test_deciles_forget_the_threshold():
    assert name_deciles([[0, 0.31, INF]], TENTHS) == name_deciles([[0, 0.39, INF]], TENTHS)
    assert name_deciles([[0, 0.31, INF]], TENTHS) != name_deciles([[0, 0.41, INF]], TENTHS)
    assert name_deciles([[0, 0.31, INF]], TENTHS) != name_deciles([[0, -INF, 0.31]], TENTHS)
    assert name_deciles([[0, None, None]], TENTHS) == name_deciles([[0, None, None]], TENTHS)
    assert name_words([[0, 0.31, INF], [1, -INF, 2.0]]) == name_words([[1, -INF, 2.0], [0, 0.31, INF]])


def test_jaccard_by_hand():
    assert jaccard([1, 2, 3], [2, 3, 4]) == 0.5
    assert jaccard([], []) == 1.0


@pytest.mark.parametrize(("bounds", "expected"), [([0.5, 0.55], 1 / 3), ([0.5, 0.9], 1.0), ([0.1, 0.2], 0.0)])
def test_coverage_pairs_each_term_once(bounds, expected):
    """Of two look-alikes in one list only one is paired with their like in the other."""
    X = np.random.default_rng(0).uniform(size=(2000, 2))
    one = [[[0, 0.5, INF]], [[0, 0.9, INF]]]
    other = [[[0, bound, INF]] for bound in bounds]
    assert compare_coverage(one, other, X) == pytest.approx(expected)


def test_a_split_is_measured_and_told(capsys):
    lines = one_split(("iris", 0, ["stable=0.95"]))
    assert 0.0 <= lines[0]["words"] <= lines[0]["coverage"] <= 1.0
    tell(lines)
    assert "iris" in capsys.readouterr().out
