"""The grouped elastic net: one set of terms for several targets, each term in for all of them or for none."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.exceptions import InvalidInputError
from rulegrove.solvers._checking import check_limits, check_points, check_start, check_unconstrained, warn_not_converged
from rulegrove.solvers._kernels import grouped_net_path
from rulegrove.solvers.base import Parameter, Path, Problem, Status, least_squares_path
from rulegrove.solvers.scaling import penalty_grid


@dataclass(frozen=True)
class GroupedNet:
    """Parameters of the functions below, under the name that their errors and warnings use."""

    l1_ratio: float = 1.0
    n_penalties: int = 100
    ratio: float = 1e-3
    tol: float = 1e-5
    max_iter: int = 50_000

    def __post_init__(self) -> None:
        check_limits(
            self,
            {
                "l1_ratio": (0.0 <= self.l1_ratio <= 1.0, "between 0 and 1"),
                "n_penalties": (self.n_penalties >= 1, "at least 1"),
                "ratio": (0.0 < self.ratio < 1.0, "between 0 and 1, both excluded"),
                "tol": (self.tol > 0.0, "positive"),
                "max_iter": (self.max_iter >= 1, "at least 1"),
            },
        )


def grouped_penalties(
    problems: Sequence[Problem], l1_ratio: float = 1.0, n_penalties: int = 100, ratio: float = 1e-3
) -> FloatArray:
    """Return penalties from the largest useful one down to ``ratio`` times it, evenly on the log scale.

    A term stays out while its correlations with the targets, as a vector, are no longer than ``penalty * l1_ratio``.
    As in `rulegrove.solvers.scaling`, an ``l1_ratio`` below 0.001 counts as 0.001, and the grid starts at one when
    no term is correlated with any target.

    Parameters
    ----------
    problems : sequence of Problem
        One for each target; the terms and their Gram are the same in all.
    l1_ratio : float, default=1.0
    n_penalties : int, default=100
    ratio : float, default=1e-3
        Smallest over largest penalty.

    Returns
    -------
    ndarray of shape (n_penalties,)

    Examples
    --------
    >>> import numpy as np
    >>> gram, mean = np.eye(2), np.zeros(2)
    >>> problems = [Problem(gram, np.array(x_y), 5.0, mean, 0.0, 10.0) for x_y in ([0.5, 3.0], [-2.0, 4.0])]
    >>> grouped_penalties(problems, n_penalties=3, ratio=0.01)
    array([5.  , 0.5 , 0.05])
    """
    net = GroupedNet(l1_ratio=l1_ratio, n_penalties=n_penalties, ratio=ratio)
    _check_shared(problems)
    pulls = np.linalg.norm([problem.x_y for problem in problems], axis=0)
    return penalty_grid(replace(problems[0], x_y=pulls, rows=None), net.l1_ratio, net.n_penalties, net.ratio)


def grouped_path(
    problems: Sequence[Problem],
    penalties: Sequence[float] | FloatArray,
    *,
    l1_ratio: float = 1.0,
    tol: float = 1e-5,
    max_iter: int = 50_000,
    start: Sequence[Path | FloatArray] | None = None,
) -> list[Path]:
    r"""Elastic net path of several targets whose terms enter together, by block coordinate descent.

    Minimises, with intercepts that are never penalised,

    .. math::
        \frac{1}{2N} \sum_j \|y_j - a_{0j} - X a_j\|^2 + \text{penalty} \left(\text{l1\_ratio}\, \sum_k \|a_{k\cdot}\|_2
        + \frac{1 - \text{l1\_ratio}}{2} \sum_{kj} a_{kj}^2\right)

    along decreasing penalties, where :math:`a_{k\cdot}` are the coefficients of term k over all targets. This is the
    model of R's glmnet with ``family="mgaussian"`` [1]_ and of scikit-learn's ``MultiTaskElasticNet``. With one target
    it is the path of `Glmnet`. The minimiser over one term is :math:`(1 - l_1 / |g|)_+ \, g / (G_{kk} + l_2)` for
    its pull g, the correlations with the targets' residuals without it [2]_. Only active terms and those that
    violate their optimality condition are visited; Anderson's extrapolation shortens the tail; all terms are checked
    before a point is left, which happens at a duality gap of ``tol``.

    Parameters
    ----------
    problems : sequence of Problem
        One for each target, with the same ``gram``, ``x_mean`` and ``weight``. Targets are not scaled: one with twice
        the spread has twice the say in which terms enter.
    penalties : sequence of float
        Decreasing penalties, as from `grouped_penalties`.
    l1_ratio : float, default=1.0
        Share of the norm of groups in the penalty, from 0 (ridge) to 1 (group lasso).
    tol : float, default=1e-5
        Duality gap to reach, relative to the objective of the model without terms.
    max_iter : int, default=50000
        Most passes over the working set for one penalty.
    start : sequence of Path or ndarray of shape (n_terms,), default=None
        For each target a path to go on from, or coefficients. Zeros by default.

    Returns
    -------
    list of Path
        One for each target. Penalties, gaps, iterations, status and seconds are those of the joint problem and the
        same in all. So is the set of active terms, except that a target without variance has no coefficients.

    Warns
    -----
    NotConvergedWarning
        Once, when some points were left above ``tol``.

    References
    ----------
    .. [1] Simon, Friedman, Hastie (2013). "A blockwise descent algorithm for group-penalized multiresponse and
       multinomial regression". arXiv:1311.6529, section 2.
    .. [2] Yuan, Lin (2006). "Model selection and estimation in regression with grouped variables". Journal of the Royal
       Statistical Society B 68(1), equation 2.4.

    Examples
    --------
    At the second penalty the first target alone would hold term 0 only (see `Glmnet`); together they hold both terms.

    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> targets = np.array([[1.0, 2.0, 4.0, 0.0], [3.0, 0.0, 2.0, 0.0]])
    >>> problems = [Problem.from_moments(4.0, X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y) for y in targets]
    >>> first, second = grouped_path(problems, [0.7, 0.5])
    >>> first.coefs.round(2)
    array([[0.  , 0.06],
           [0.54, 0.47]])
    >>> second.coefs.round(2)
    array([[ 0.  ,  0.1 ],
           [-0.11,  0.79]])
    """
    net = GroupedNet(l1_ratio=l1_ratio, tol=tol, max_iter=max_iter)
    values = check_points(penalties, "penalties", increasing=False)
    _check_shared(problems)
    y_y = np.array([problem.y_y for problem in problems], dtype=np.float64)
    null_objective = 0.5 * float(y_y.sum())
    coef = _check_starts(start, problems)
    if null_objective == 0.0:  # nothing to explain: no tolerance could be met from anywhere but the minimum
        coef[:] = 0.0
    began = time.perf_counter()
    coefs, errors, gaps, iterations = grouped_net_path(
        np.ascontiguousarray(problems[0].gram, dtype=np.float64),
        np.array([problem.x_y for problem in problems], dtype=np.float64),
        y_y,
        values,
        float(l1_ratio),
        float(tol) * null_objective,
        int(max_iter),
        coef,
    )
    seconds = time.perf_counter() - began
    reached = gaps <= float(tol) * null_objective
    relative = gaps / null_objective if null_objective > 0.0 else gaps
    status = tuple(
        Status.CONVERGED if done else Status.MAX_ITER if spent >= max_iter else Status.STALLED
        for done, spent in zip(reached, iterations, strict=True)
    )
    warn_not_converged(net, "penalty", values, relative, reached)
    paths = [
        least_squares_path(
            problem,
            Parameter("penalty", values),
            penalties=values,
            coefs=coefs[target],
            errors=errors[target],
            gaps=gaps,
            iterations=iterations,
            status=status,
            seconds=seconds,
        )
        for target, problem in enumerate(problems)
    ]
    return [replace(path, gaps=relative) for path in paths]  # relative to the errors of all targets


def _check_shared(problems: Sequence[Problem]) -> None:
    """Raise unless there are problems and they differ in their targets only."""
    if len(problems) == 0:
        raise InvalidInputError("`problems` must hold at least one problem, one for each target; got none.")
    check_unconstrained("A grouped fit", problems[0])
    first = problems[0]
    for position, other in enumerate(problems[1:], start=1):
        for name in ("gram", "x_mean", "weight"):
            ours, theirs = getattr(first, name), getattr(other, name)
            if ours is not theirs and not np.array_equal(ours, theirs):
                raise InvalidInputError(
                    f"`problems` must share `gram`, `x_mean` and `weight` and differ in their targets only; "
                    f"got another `{name}` in problem {position} than in problem 0."
                )


def _check_starts(start: Sequence[Path | FloatArray] | None, problems: Sequence[Problem]) -> FloatArray:
    """Return the coefficients to begin with as a new array of shape (n_targets, n_terms)."""
    n_terms = problems[0].n_terms
    if start is None:
        return np.zeros((len(problems), n_terms))
    if isinstance(start, Path) or len(start) != len(problems):
        got = "a single Path" if isinstance(start, Path) else len(start)
        raise InvalidInputError(f"`start` must hold {len(problems)} paths or rows of coefficients; got {got}.")
    return np.array([check_start(own, n_terms) for own in start])
