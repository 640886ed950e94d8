"""Losses of lines: their derivatives, and that sums of the basis stand for the rows."""

import numpy as np
import pytest

from edited_lists import FAMILIES, make_problem
from rulegrove.editing.families import OfClasses, OfRates


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_derivatives_are_those_of_the_loss(family):
    rng, step = np.random.default_rng(0), 1e-5
    scores, (_, goals, _) = rng.normal(size=(40, family.n_outputs)), make_problem(family)
    for output in range(family.n_outputs):
        moved = step * np.eye(family.n_outputs)[output]
        rise = (family.lose(scores + moved, goals) - family.lose(scores - moved, goals)) / (2 * step)
        np.testing.assert_allclose(family.slope(scores, goals)[:, output], rise, atol=1e-6)
        bend = (family.slope(scores + moved, goals) - family.slope(scores - moved, goals)) / (2 * step)
        np.testing.assert_allclose(family.bend(scores, goals)[:, :, output], bend, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_sums_of_the_basis_stand_for_the_rows(family):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3 if isinstance(family, OfClasses) and family.n_classes > 2 else 2, 30)
    y = y if isinstance(family, OfClasses) else y + (0.5 if isinstance(family, OfRates) else 0.0)
    weights, scores = rng.random(30), rng.normal(size=(1, family.n_outputs))
    sums = (family.expand(y) @ weights)[None]
    total, goals = family.weigh(sums)
    assert total[0] == pytest.approx(weights.sum())
    assert family.one @ sums[0] == pytest.approx(weights.sum())
    by_row = [family.tell(scores)[:, 0] @ family.expand(y[row : row + 1])[:, 0] for row in range(30)]
    np.testing.assert_allclose(family.tell(scores)[:, 0] @ sums[0], weights @ np.array(by_row))
    own = family.weigh(family.expand(y).T)[1]
    levels = family.find_level(weights @ own / weights.sum())
    np.testing.assert_allclose(goals[0], weights @ own / weights.sum())
    slope = family.slope(levels[None], goals)
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)
