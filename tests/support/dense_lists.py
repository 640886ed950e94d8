"""Terms of short lists from dense columns, and what lists of probabilities are to make small."""

import numpy as np
from scipy.special import log_softmax

from rulegrove.design.bits import BitMatrix
from rulegrove.design.rows import Rows
from rulegrove.projection import RIDGE, SETTLED, Listed

NEAR = 2.0 * SETTLED  # of the divergence without terms: a step's promise goes by a curvature that is only learnt


def fill_words(values):
    """Return rows, along the last axis, that fill whole words: those beyond the last one are zero."""
    return np.pad(values, [(0, 0)] * (np.ndim(values) - 1) + [(0, -np.shape(values)[-1] % 64)])


def list_terms(rules, lines, goal, weights, *, ridges=1.0, signs=None):
    """Return the terms of an output, with statistics from dense columns."""
    rows = Rows.from_dense(rules, lines, goal, weights)
    columns, shares = np.hstack([rows.bits.to_dense(), rows.linear]), rows.weights / rows.weight
    means = shares @ columns
    gram = ((columns - means).T * shares) @ (columns - means)
    return Listed(
        rows.bits.words,
        np.ascontiguousarray(rows.linear.T),
        means,
        gram.diagonal().copy(),
        gram,
        (columns - means).T @ (shares * rows.y),
        np.broadcast_to(np.asarray(ridges, dtype=np.float64), len(means)).copy(),
        np.zeros(len(means)),
        signs=signs,
    )


def columns_of(listed):
    """Return the terms as dense columns."""
    return np.hstack([BitMatrix(listed.rules, listed.lines.shape[1]).to_dense(), listed.lines.T])


def divergence(outputs, goals, weights, points):
    """Return the objective in plain words: cross entropy and half the ridges times squared coefficients."""
    columns = [columns_of(listed) for listed in outputs]
    scores = np.array([own @ coef + intercept for own, (coef, intercept) in zip(columns, points, strict=True)])
    if len(outputs) == 1:
        goals, scores = np.vstack([1.0 - goals, goals]), np.vstack([0.0 * scores, scores])
    fit = -np.sum(goals * log_softmax(scores, axis=0), axis=0) @ weights
    spreads = [weights @ (own - weights @ own) ** 2 for own in columns]
    ridges = [RIDGE * listed.ridges * own for listed, own in zip(outputs, spreads, strict=True)]
    return fit + sum(0.5 * own @ coef**2 for own, (coef, _) in zip(ridges, points, strict=True))


def null_divergence(goals, weights):
    """Return what the shares of the classes alone leave."""
    shares = goals @ weights
    shares = np.array([1.0 - shares[0], shares[0]]) if len(shares) == 1 else shares
    return float(-shares @ np.log(shares))
