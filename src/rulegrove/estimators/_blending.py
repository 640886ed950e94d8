"""Lines beside rules: how large a share of the model linear terms have on their own.

One penalty for rules and lines suits neither where the target is nearly linear: hundreds of rules make up for slopes
that the penalty holds back. So the lines of a pool are solved for on their own as well, and held-out rows decide how
the two models are averaged, which makes a model of the same terms again.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.estimators._fitted import HeldOut, score_held_out
from rulegrove.estimators._fitting import Pool
from rulegrove.estimators._shortening import find_unit
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators._units import shift
from rulegrove.estimators.target import Target
from rulegrove.solvers import BaseSolver, Glmnet

N_PENALTIES = 12  # few terms need no finer grid,
TOLERANCE = 1e-3  # nor their coefficients so many digits
N_SHARES = 11
DOUBT = 1.92  # what a share may lose of the log likelihood and still lie in its 95 % interval


def choose_lines(solver: BaseSolver) -> BaseSolver:
    """Return the solver for lines without rules, beside the one for both."""
    assert isinstance(solver, Glmnet)
    return Glmnet(loss=solver.loss, n_penalties=N_PENALTIES, tol=TOLERANCE)


def blend(
    target: Target, data: TrainingData, folds: IntArray, runs: Sequence[Sequence[Pool]]
) -> tuple[list[list[Pool]], HeldOut | None]:
    """Return pools with the share of their lines, and the rows that were held out with their scores.

    Parameters
    ----------
    target : Target
        Learned and settled.
    data : TrainingData
        In the units of the user.
    folds : ndarray of shape (n_rows,)
        Fold of every row.
    runs : sequence of sequence of Pool
        The pools of each run.
    """
    with_rules = score_held_out(data, folds, runs)
    if with_rules is None or any(pool.lines is None for pools in runs for pool in pools):
        return [list(pools) for pools in runs], with_rules
    lines = score_held_out(data, folds, _give(runs, 1.0))
    assert lines is not None
    shares = np.linspace(0.0, 1.0, N_SHARES)
    scores = [(1.0 - share) * with_rules.scores + share * lines.scores for share in shares]
    solver = runs[0][0].outputs[0].solver
    surprises = [_surprise(target, data, replace(with_rules, scores=own), solver) for own in scores]
    share = choose_share(shares, np.array(surprises))
    blended = (1.0 - share) * with_rules.scores + share * lines.scores
    return _give(runs, share), replace(with_rules, scores=blended)


def _give(runs: Sequence[Sequence[Pool]], share: float) -> list[list[Pool]]:
    """Return pools with another share of their lines."""
    return [[replace(pool, share=share) for pool in pools] for pools in runs]


def _surprise(target: Target, data: TrainingData, held_out: HeldOut, solver: BaseSolver) -> float:
    """Return minus the log likelihood of held-out rows by their scores, but for a constant."""
    exponent, link = find_unit(data), target.link_scores(solver, held_out)
    scores = shift(held_out.scores - data.offset, -exponent)
    losses, _ = target.measure_rows(scores, target.goals(scores, link), shift(held_out.targets, -exponent))
    weights = np.ones(losses.size) if held_out.weights is None else held_out.weights
    n_rows = weights.sum() ** 2 / (weights @ weights)
    return target.surprise(float(np.average(losses, weights=weights)), float(n_rows))


def choose_share(shares: FloatArray, surprises: FloatArray) -> float:
    """Return the share of lines: nothing where held-out rows do not speak against it, else the mean by likelihood.

    Parameters
    ----------
    shares : ndarray of shape (n_shares,)
        From nothing to all, evenly.
    surprises : ndarray of shape (n_shares,)
        Minus the log likelihood of held-out rows by each.

    Examples
    --------
    >>> shares = np.linspace(0.0, 1.0, 5)
    >>> choose_share(shares, np.array([10.5, 10.0, 12.0, 20.0, 30.0]))
    0.0
    >>> round(choose_share(shares, np.array([30.0, 20.0, 10.0, 20.0, 30.0])), 6)
    0.5
    """
    excess = surprises - surprises.min()
    if excess[0] <= DOUBT:
        return 0.0
    likelihoods = np.exp(-excess)
    return float(likelihoods @ shares / likelihoods.sum())
