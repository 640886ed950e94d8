"""What an edit costs given the terms: held-out loss and error before and after, row by row, and what moves."""

from typing import NamedTuple

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.editing.families import OfNumbers
from rulegrove.editing.state import State
from rulegrove.estimators.edits import Change, Cost, Move
from rulegrove.estimators.target import Target

MOST_MOVES = 5
STILL = 1e-6  # of a standard deviation of the score: a weight that moves less has not moved


class Judged(NamedTuple):
    """What an edit costs.

    Attributes
    ----------
    before, after : Cost
    change : Change
    """

    before: Cost
    after: Cost
    change: Change


def judge(target: Target, before: State, after: State) -> Judged:
    """Compare two lists on the rows that each fold holds out.

    Standard errors are those of weighted means of rows; of the differences, of the rows' own differences.

    Parameters
    ----------
    target : Target
    before, after : State
        Solved for; the rows of the latter are those of the former, on lines as fine at least.
    """
    counts = after.counts
    assert counts is not None
    assert before.solved is not None
    assert after.solved is not None
    family, lists = counts.rows.family, ((before.view(counts), before.solved), (after.values, after.solved))
    sums, products = np.zeros(5), np.zeros((5, 5))
    for fold in range(counts.rows.n_folds):
        here = counts.sums[:, fold].any(axis=1)
        told = [family.tell(values[here] @ solved[1 + fold].T) for values, solved in lists]
        ones = np.broadcast_to(family.one, (1, *told[0].shape[1:]))
        measured = np.concatenate([ones, *told])  # one, loss and error before, loss and error after
        sums += np.einsum("apb,pb->a", measured, counts.sums[here, fold])
        for place, (first, second) in enumerate(family.pairs):
            weighed = (measured[:, :, first] * counts.products[here, fold, place]) @ measured[:, :, second].T
            products += weighed if first == second else weighed + weighed.T
    means, units = sums[1:] / sums[0], (counts.rows.loss_unit, counts.rows.error_unit)
    less = np.hstack([-means[:, None], np.eye(4)])
    covariances = less @ products @ less.T / sums[0] ** 2
    apart = np.array([[-1.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 1.0]])
    loss_se, error_se = np.sqrt(np.maximum(np.diagonal(apart @ covariances @ apart.T), 0.0))
    spreads = np.sqrt(np.maximum(covariances.diagonal(), 0.0))
    losses, losses_se = means[0::2] * units[0], spreads[0::2] * units[0]
    errors, errors_se = target.tell_error(np.maximum(means[1::2], 0.0), spreads[1::2])
    if isinstance(family, OfNumbers):  # of roots
        error_se = error_se / (errors.sum() or 1.0)
    errors, errors_se = errors * units[1], errors_se * units[1]
    costs = [Cost(*(float(own[place]) for own in (errors, errors_se, losses, losses_se))) for place in range(2)]
    whole = [values @ solved[0].T for values, solved in lists]
    n_otherwise = int(np.bincount(counts.places, minlength=counts.n_lines)[family.differ(*whole)].sum())
    change = Change(
        float(errors[1] - errors[0]),
        float(error_se) * units[1],
        float(means[2] - means[0]) * units[0],
        float(loss_se) * units[0],
        n_otherwise,
        counts.rows.n_rows,
    )
    return Judged(costs[0], costs[1], change)


def find_moves(before: State, after: State, outputs: tuple[str, ...]) -> tuple[Move, ...]:
    """Return the weights of terms that both lists have that moved most, in standard deviations of their terms."""
    spreads = dict(zip(after.terms, np.sqrt(after.moments[1]).tolist(), strict=True))
    unit = after.counts.rows.scale if after.counts and isinstance(after.counts.rows.family, OfNumbers) else 1.0
    found: list[tuple[float, Move]] = []
    for number, own in after.terms.items():
        if number in before.terms:
            pairs: list[FloatArray] = [before.terms[number].coefs, own.coefs]
            for output, first, last in zip(outputs, *(pair.tolist() for pair in pairs), strict=True):
                found.append((abs(last - first) * spreads[number], Move(number, output, first, last)))
    ranked = sorted(found, key=lambda one: -one[0])
    return tuple(move for size, move in ranked[:MOST_MOVES] if size > STILL * unit)
