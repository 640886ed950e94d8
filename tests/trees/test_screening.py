import numpy as np
import pytest

from rulegrove.trees import screening
from rulegrove.trees.screening import find_strongest


def best_split(values, targets, weights, min_rows):
    """Gain of the best split of one attribute, tried one by one; missing values go with the large ones."""
    filled = np.where(np.isnan(values), np.inf, values)
    gains = [0.0]
    for cut in np.unique(filled)[:-1]:
        sides = filled <= cut, filled > cut
        if min(side.sum() for side in sides) < min_rows:
            continue
        means = [np.average(targets[side], axis=0, weights=weights[side]) for side in sides]
        whole = np.average(targets, axis=0, weights=weights)
        spread = np.average((targets - whole) ** 2, axis=0, weights=weights)
        parts = zip(means, sides, strict=True)
        gains.append(sum(weights[side].sum() * ((mean - whole) ** 2 / spread).sum() for mean, side in parts))
    return max(gains)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_strongest_are_those_of_the_best_split(weighted, monkeypatch):
    monkeypatch.setattr(screening, "_CHUNK_VALUES", 7 * 60)
    rng = np.random.default_rng(0)
    block = rng.normal(size=(40, 60)).round(1)
    block[rng.random(block.shape) < 0.1] = np.nan
    targets = np.column_stack([np.abs(np.nan_to_num(block[3])), 9.0 * rng.normal(size=60)])
    weights = rng.uniform(0.5, 2.0, 60) if weighted else None
    found = find_strongest(block, targets, weights, np.zeros(40, dtype=np.int64), min_rows=4, most=12)
    own = np.ones(60) if weights is None else weights
    gains = np.array([best_split(values, targets, own, 4) for values in block])
    np.testing.assert_array_equal(found, np.sort(np.argsort(-gains)[:12]))
    assert 3 in found


def test_categories_are_ordered_by_their_mean_target():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 200).astype(float)
    targets = np.isin(codes, [0, 2]).astype(float)[:, None]  # no single split of the codes themselves
    block = np.vstack([rng.normal(size=(5, 200)), codes, targets.T + 0.8 * rng.normal(size=200)])
    kinds = np.array([0, 0, 0, 0, 0, 4, 0])
    np.testing.assert_array_equal(find_strongest(block, targets, None, kinds, min_rows=5, most=1), [5])


def test_few_attributes_all_stay_whatever_they_hold():
    block, targets = np.full((3, 5), np.nan), np.zeros((5, 1))
    numeric = np.zeros(3, dtype=np.int64)
    np.testing.assert_array_equal(find_strongest(block, targets, None, numeric, min_rows=1, most=3), [0, 1, 2])
    np.testing.assert_array_equal(find_strongest(block, targets, None, numeric, min_rows=1, most=2), [0, 1])
