"""What every solver shares: its methods, the problem it is given, the path it returns, how each point ended."""

import enum
import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from sklearn.base import BaseEstimator, clone

from rulegrove._reprs import short_repr
from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.design.rows import Rows
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import Loss, find_loss

if TYPE_CHECKING:
    from rulegrove.solvers.glmnet import Glmnet

_STRIP_TERMS = 32  # terms centred at once, so that their products of means stay in cache
_NOISE = 1e-13  # a sum over many rows is good to some hundred units in the last place


class Status(enum.Enum):
    """How a solver left one point of its path."""

    CONVERGED = "reached `tol`"
    MAX_ITER = "stopped at `max_iter` before `tol`; raise one of the two"
    STALLED = "rounding allows no further progress towards `tol`"
    UNREACHABLE = "least squares itself leaves a larger residual than `residual_target`; this is its limit"
    ON_THE_WAY = "a point on the way of the steps"
    STATIONARY = "no gradient is left that could move a coefficient"


@dataclass(frozen=True, eq=False)
class Problem:
    """Terms and a target: least squares with an unpenalised intercept as sufficient statistics, rows on demand.

    With weighted means taken over the N rows (N is the total weight), ``X`` and ``y`` centred:

    Attributes
    ----------
    gram : ndarray of shape (n_terms, n_terms)
        ``X'X / N``, symmetric.
    x_y : ndarray of shape (n_terms,)
        ``X'y / N``.
    y_y : float
        ``y'y / N``: twice the objective of the model without terms.
    x_mean : ndarray of shape (n_terms,)
    y_mean : float
    weight : float
        N, the total weight of the rows.
    rows : Rows, optional
        The rows themselves, for losses that no sums can stand for.
    signs : ndarray of shape (n_terms,), optional
        What coefficients may be: not negative (1), not positive (-1), anything (0). All are free by default.
    unpenalised : ndarray of shape (n_terms,), bool, optional
        Terms that the penalty leaves alone, as it does the intercept. None by default.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [1.0]]), np.array([1.0, 2.0, 4.0])
    >>> problem = Problem.from_moments(3.0, X.sum(axis=0), X.T @ X, X.T @ y, y.sum(), y @ y)
    >>> round(problem.intercept(np.array([2.0])), 6)
    1.0
    """

    gram: FloatArray
    x_y: FloatArray
    y_y: float
    x_mean: FloatArray
    y_mean: float
    weight: float
    rows: Rows | None = None
    signs: IntArray | None = None
    unpenalised: BoolArray | None = None

    __repr__ = short_repr

    def __post_init__(self) -> None:
        n_terms = len(self.x_y)
        if self.gram.shape != (n_terms, n_terms) or self.x_mean.shape != (n_terms,):
            raise InvalidInputError(
                f"`gram`, `x_y` and `x_mean` must agree on the number of terms; "
                f"got shapes {self.gram.shape}, {self.x_y.shape} and {self.x_mean.shape}."
            )
        # |G_jk| <= sqrt(G_jj G_kk), so the diagonal speaks for the whole Gram.
        if not (np.isfinite(self.gram.diagonal()).all() and np.isfinite(self.x_y).all() and np.isfinite(self.y_y)):
            raise InvalidInputError("The statistics of the problem must be finite; got NaN or infinity. Check X and y.")
        if self.rows is not None and self.rows.n_terms != n_terms:
            raise InvalidInputError(
                f"The rows and the statistics must agree on the terms; got {self.rows.n_terms} and {n_terms}."
            )

        for name in ("signs", "unpenalised"):
            own = getattr(self, name)
            if own is not None and own.shape != (n_terms,):
                raise InvalidInputError(f"`{name}` must have one entry for each of {n_terms} terms; got {own.shape}.")
        if self.signs is not None and not np.isin(self.signs, (-1, 0, 1)).all():
            raise InvalidInputError(f"`signs` must be -1, 0 or 1; got {np.setdiff1d(self.signs, (-1, 0, 1))[0]}.")

    @classmethod
    def from_moments(
        cls, weight: float, x_sum: FloatArray, gram: FloatArray, x_y: FloatArray, y_sum: float, y_y: float
    ) -> Self:
        """Centre the raw (weighted) sums of one output and divide them by the total weight.

        Parameters
        ----------
        weight : float
            Sum of the weights, or the number of rows.
        x_sum : ndarray of shape (n_terms,)
            ``X'1``.
        gram : ndarray of shape (n_terms, n_terms)
            ``X'X``.
        x_y : ndarray of shape (n_terms,)
            ``X'y``.
        y_sum, y_y : float
            ``1'y`` and ``y'y``.

        Notes
        -----
        Centring leaves rounding noise where a column, or y, is constant. Such noise is set to exact zero, or the
        largest penalty of a constant y would be a number without meaning. A y whose mean is a million times its spread
        loses its digits here: subtract a constant from it before summing.
        """
        if not weight > 0:
            raise InvalidInputError(f"The total weight of the rows must be positive; got {weight}.")
        x_mean = np.asarray(x_sum, dtype=np.float64) / weight
        raw_squares = gram.diagonal() / weight
        centred = np.empty(gram.shape)
        for start in range(0, len(x_mean), _STRIP_TERMS):
            strip = slice(start, start + _STRIP_TERMS)
            np.divide(gram[strip], weight, out=centred[strip])
            centred[strip] -= np.outer(x_mean[strip], x_mean)
        constant = centred.diagonal() <= _NOISE * raw_squares
        centred[constant, :] = 0.0
        centred[:, constant] = 0.0
        empty = cls(centred, np.zeros(len(x_mean)), 0.0, x_mean, 0.0, float(weight))
        return empty.retarget(x_y, y_sum, y_y)

    def retarget(self, x_y: FloatArray, y_sum: float, y_y: float) -> Self:
        """Return the problem of another target of the same rows, from its raw sums; the Gram is shared."""
        y_mean = float(y_sum) / self.weight
        cross = np.asarray(x_y, dtype=np.float64) / self.weight - self.x_mean * y_mean
        raw_square = float(y_y) / self.weight
        variance = raw_square - y_mean**2
        cross[self.gram.diagonal() == 0.0] = 0.0
        if variance <= _NOISE * raw_square:
            variance = 0.0
            cross[:] = 0.0
        return replace(self, x_y=cross, y_y=variance, y_mean=y_mean)

    @classmethod
    def from_rows(cls, rows: Rows) -> Self:
        """Return the problem of some rows, with its statistics."""
        moments = rows.moments()
        problem = cls.from_moments(
            moments.weight,
            moments.x_sum,
            moments.gram,
            moments.x_y[:, 0],
            float(moments.y_sum[0]),
            float(moments.y_y[0]),
        )
        return replace(problem, rows=rows)

    def take(self, terms: IntArray) -> Self:
        """Return the problem of some of the terms, given in ascending order."""
        gram = np.ascontiguousarray(self.gram[np.ix_(terms, terms)])
        rows = None if self.rows is None else self.rows.take(terms)
        return replace(
            self,
            gram=gram,
            x_y=self.x_y[terms],
            x_mean=self.x_mean[terms],
            rows=rows,
            signs=None if self.signs is None else self.signs[terms],
            unpenalised=None if self.unpenalised is None else self.unpenalised[terms],
        )

    @property
    def n_terms(self) -> int:
        """Number of candidate terms."""
        return len(self.x_y)

    @functools.cached_property
    def curvature(self) -> float:
        """Largest eigenvalue of the Gram, as an estimate from below."""
        return _largest_eigenvalue(self.gram, np.zeros(self.n_terms))

    @functools.cached_property
    def raw_curvature(self) -> float:
        """Largest eigenvalue of the Gram of the terms as they are, not centred, as an estimate from below."""
        return _largest_eigenvalue(self.gram, self.x_mean)

    def intercept(self, coef: FloatArray) -> float:
        """Return the best intercept for given coefficients."""
        return float(self.y_mean - self.x_mean @ coef)


def _largest_eigenvalue(gram: FloatArray, means: FloatArray) -> float:
    """Estimate the largest eigenvalue of ``gram + means means'`` from below, by power iteration.

    Whatever part of the vector belongs to eigenvalues below three quarters of the largest has shrunk to a
    millionth of itself after 25 rounds, so the estimate is safely above half of the truth; it stops sooner
    only when it stands still.
    """
    vector = np.random.default_rng(0).random(len(means))  # any start will do that is not made from the data
    estimate = 0.0
    for iteration in range(50):
        length = float(np.linalg.norm(vector))
        if length == 0.0:
            break
        vector = vector / length
        image = gram @ vector + means * (means @ vector)
        previous, estimate = estimate, float(vector @ image)
        if iteration >= 10 and estimate <= 1.001 * previous:
            break
        vector = image
    return estimate


@dataclass(frozen=True, eq=False)
class Parameter:
    """What a solver varied along its path: its name and one value for each point."""

    name: str
    values: FloatArray

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class Path:
    """Solutions from the sparsest to the densest, the same record from every solver.

    Attributes
    ----------
    parameter : Parameter
        What was varied, in the solver's own terms.
    penalties : ndarray of shape (n_points,)
        The same points as penalties of the common objective. A solver that minimises no penalised objective gives the
        largest absolute gradient over the terms, which on the lasso path is the penalty.
    coefs : ndarray of shape (n_points, n_terms)
    intercepts : ndarray of shape (n_points,)
    gaps : ndarray of shape (n_points,)
        Duality gap at each point over the objective of the model without terms: the objective is at most
        that far above its minimum. NaN where the solver minimises no convex objective (Pathbuild).
    iterations : ndarray of shape (n_points,)
    status : tuple of Status
    seconds : float
        Wall time of the whole path.
    residuals : ndarray of shape (n_points,)
        Euclidean length of the (weighted) residual, y minus its prediction.
    risks : ndarray of shape (n_points,)
        Mean loss on the training rows.
    weight : float
        N, the total weight of the training rows.
    relaxed : Path, optional
        The same supports with coefficients that are not shrunken.
    """

    parameter: Parameter
    penalties: FloatArray
    coefs: FloatArray
    intercepts: FloatArray
    gaps: FloatArray
    iterations: IntArray
    status: tuple[Status, ...]
    seconds: float
    residuals: FloatArray
    risks: FloatArray
    weight: float
    relaxed: "Path | None" = None

    __repr__ = short_repr

    @property
    def n_terms(self) -> IntArray:
        """Number of non-zero coefficients at each point."""
        return np.asarray(np.count_nonzero(self.coefs, axis=1), dtype=np.int64)

    @property
    def l1_norms(self) -> FloatArray:
        """Sum of the absolute coefficients at each point: the radius of the l1 ball it lies on."""
        return np.asarray(np.abs(self.coefs).sum(axis=1), dtype=np.float64)

    @property
    def fit_weights(self) -> FloatArray:
        """The penalties as weights of the error in ``|a|_1 + fit_weight/2 * rss``; infinite for no penalty."""
        with np.errstate(divide="ignore"):
            return 1.0 / (self.weight * self.penalties)

    def point(self, index: int, mix: float = 1.0) -> tuple[FloatArray, float]:
        """Return the coefficients and the intercept of a point.

        Parameters
        ----------
        index : int
        mix : float, default=1.0
            Share of the point itself; the rest is its relaxed fit.
        """
        coef, intercept = self.coefs[index], float(self.intercepts[index])
        if mix == 1.0:
            return coef, intercept
        if self.relaxed is None:
            raise InvalidInputError(f"A mix of {mix} needs a relaxed path, as from Glmnet(relax=True).")
        other, other_intercept = self.relaxed.point(index)
        return mix * coef + (1.0 - mix) * other, mix * intercept + (1.0 - mix) * other_intercept

    def values(self, parameter: str) -> FloatArray:
        """Return the points of the path in terms of any parameter.

        Parameters
        ----------
        parameter : {"penalty", "l1_radius", "fit_weight", "residual"} or the name of the path's own parameter

        Returns
        -------
        ndarray of shape (n_points,)
        """
        if parameter == self.parameter.name:
            return self.parameter.values
        translations = {
            "penalty": self.penalties,
            "l1_radius": self.l1_norms,
            "fit_weight": self.fit_weights,
            "residual": self.residuals,
        }
        if parameter not in translations:
            names = sorted({*translations, self.parameter.name})
            raise InvalidInputError(f"A path knows the parameters {', '.join(names)}; got {parameter!r}.")
        return translations[parameter]

    def plot(self, x: str | None = None) -> "PathCurves":
        """Return what a plot of the path shows: coefficients and number of terms over a parameter.

        Parameters
        ----------
        x : str, default=None
            Parameter on the horizontal axis, as in `values`; the path's own by default.

        Returns
        -------
        PathCurves
        """
        name = self.parameter.name if x is None else x
        used = np.flatnonzero(self.coefs.any(axis=0))
        entered = np.argmax(self.coefs[:, used] != 0, axis=0)
        largest = np.abs(self.coefs[:, used]).max(axis=0, initial=0.0)
        terms = used[np.lexsort((-largest, entered))]
        return PathCurves(
            x=self.values(name),
            x_name=name,
            log_x=name in {"penalty", "fit_weight"},
            terms=terms,
            coefs=self.coefs[:, terms],
            n_terms=self.n_terms,
            risks=self.risks,
            gaps=self.gaps,
        )


def least_squares_path(
    problem: Problem,
    parameter: Parameter,
    *,
    penalties: FloatArray,
    coefs: FloatArray,
    errors: FloatArray,
    gaps: FloatArray,
    iterations: IntArray,
    status: tuple[Status, ...],
    seconds: float,
) -> Path:
    """Return the path of a least squares solver, with the best intercepts.

    Parameters
    ----------
    problem : Problem
    parameter : Parameter
    errors : ndarray of shape (n_points,)
        Mean squared error on the training rows.
    gaps : ndarray of shape (n_points,)
        Absolute duality gaps.
    penalties, coefs, iterations, status, seconds
        As in `Path`.
    """
    null_objective = 0.5 * problem.y_y
    errors = np.maximum(errors, 0.0)
    return Path(
        parameter=parameter,
        penalties=penalties,
        coefs=coefs,
        intercepts=problem.y_mean - coefs @ problem.x_mean,
        gaps=gaps / null_objective if null_objective > 0.0 else gaps,
        iterations=iterations,
        status=status,
        seconds=seconds,
        residuals=np.sqrt(problem.weight * errors),
        risks=errors,
        weight=problem.weight,
    )


def join_paths(paths: "list[Path]") -> Path:
    """Return parts of one path, one after the other, as one."""
    joined: dict[str, object] = {
        field.name: np.concatenate([getattr(path, field.name) for path in paths])
        for field in fields(Path)
        if isinstance(getattr(paths[0], field.name), np.ndarray)
    }
    values = np.concatenate([path.parameter.values for path in paths])
    relaxed = [path.relaxed for path in paths if path.relaxed is not None]
    return replace(
        paths[0],
        parameter=Parameter(paths[0].parameter.name, values),
        status=tuple(status for path in paths for status in path.status),
        seconds=sum(path.seconds for path in paths),
        relaxed=join_paths(relaxed) if relaxed else None,
        **joined,  # type: ignore[arg-type]
    )


@dataclass(frozen=True, eq=False)
class PathCurves:
    """The numbers of a plot of a path.

    Attributes
    ----------
    x : ndarray of shape (n_points,)
    x_name : str
    log_x : bool
        Whether the horizontal axis reads best on a log scale.
    terms : ndarray of shape (n_used,)
        Columns of the path that are ever non-zero, first come first, the larger of those that come together.
    coefs : ndarray of shape (n_points, n_used)
    n_terms : ndarray of shape (n_points,)
    risks, gaps : ndarray of shape (n_points,)
    """

    x: FloatArray
    x_name: str
    log_x: bool
    terms: IntArray
    coefs: FloatArray
    n_terms: IntArray
    risks: FloatArray
    gaps: FloatArray

    __repr__ = short_repr


@runtime_checkable
class Solver(Protocol):
    """The least that an estimator accepts as a solver; `make_solver` makes a `BaseSolver` of it.

    A point of a path is given in a unit that means the same for the whole data and for a fold: a penalty (Glmnet, Fpc),
    the radius of an l1 ball or a root mean square residual (Spgl1), a number of steps (Pathbuild).
    """

    def grid(self, problem: Problem) -> FloatArray:
        """Return the points, from sparse to dense, that `path` follows when none are given."""

    def path(self, problem: Problem, points: FloatArray | None = None, start: Path | FloatArray | None = None) -> Path:
        """Solve at each point, the first one from the end of ``start``, each next one from the solution before."""


class BaseSolver(BaseEstimator, ABC):
    """All that estimators ask of a solver; the answers here are those of plain least squares.

    A subclass has `grid` and `path`, and a constructor that only stores its parameters under their names.

    Attributes
    ----------
    loss : str or Loss
        The loss, by its name or as an object.
    tol : float
        Relative duality gap to reach; infinite for a solver that knows none.
    takes_constraints : bool
        Whether the signs and the unpenalised terms of a problem are respected.
    solves_together : bool
        Whether `as_net` returns a solver for several targets at once.
    counts_steps : bool
        Whether points are numbers of steps, which have no unit.
    measured : tuple of str
        Parameters that are in units of the target or of the weights.

    Examples
    --------
    A solver of least squares without any penalty:

    >>> import numpy as np
    >>> from rulegrove.solvers import Glmnet, Problem
    >>> class Plain(BaseSolver):
    ...     def grid(self, problem):
    ...         return np.array([1e-9])
    ...
    ...     def path(self, problem, points=None, start=None):
    ...         return Glmnet().path(problem, self.grid(problem) if points is None else points, start)
    >>> solver = Plain()
    >>> solver.needs_rows, solver.takes_constraints, solver.variants(Problem.from_moments(
    ...     2.0, np.ones(1), np.ones((1, 1)), np.ones(1), 1.0, 1.0))
    (False, False, [Plain()])
    """

    loss: str | Loss = "squared"
    tol: float = math.inf
    takes_constraints: bool = False
    solves_together: ClassVar[bool] = False
    counts_steps: ClassVar[bool] = False
    measured: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def grid(self, problem: Problem) -> FloatArray:
        """Return the points, from sparse to dense, that `path` follows when none are given."""

    @abstractmethod
    def path(self, problem: Problem, points: FloatArray | None = None, start: Path | FloatArray | None = None) -> Path:
        """Solve at each point, the first one from the end of ``start``, each next one from the solution before."""

    def check(self) -> None:
        """Raise on a parameter outside its limits, before any work is done."""

    @property
    def given(self) -> Solver:
        """The object that a user gave, which is this one unless it had to be adapted."""
        return self

    @property
    def loss_name(self) -> str:
        """Name of the loss."""
        return find_loss(self.loss).name

    @property
    def needs_rows(self) -> bool:
        """Whether the problem must hold its rows: for every loss of which sums do not say all."""
        return not find_loss(self.loss).sums_suffice

    @property
    def mixes(self) -> tuple[float, ...]:
        """Shares of the penalised fit among which a choice is made, where paths are relaxed."""
        return (1.0,)

    def takes_loss(self, loss: Loss) -> bool:
        """Whether the solver can take a loss."""
        return loss.sums_suffice

    def training_loss(self, problem: Problem) -> Loss:
        """Return the loss that a problem is solved and judged by."""
        return find_loss(self.loss)

    def variants(self, problem: Problem) -> Sequence[Self]:
        """Return the solvers from which the folds of an estimator choose."""
        return [self]

    def loosened(self, tol: float) -> Self:
        """Return the solver with a tolerance that is at least the given one."""
        return self if self.tol >= tol else self._changed(tol=tol)

    def polished(self, problem: Problem, coef: FloatArray, penalty: float) -> FloatArray | None:
        """Return the minimum at a penalty to the last digit from coefficients near it; None if it is not known."""
        return None

    def as_net(self) -> "Glmnet":
        """Return the solver as one for several targets together, nothing of it left to the folds."""
        raise InvalidInputError(
            f"{type(self).__name__} solves for one target at a time; take Glmnet to solve for several together."
        )

    def in_units(self, exponents: Mapping[str, int]) -> Self:
        """Return the solver with its `measured` parameters times powers of two, whose exponents are given by name."""
        values = self.get_params(deep=False)
        changes = {
            name: np.ldexp(np.asarray(values[name], dtype=np.float64), exponents[name]).tolist()
            for name in self.measured
            if values[name] is not None and exponents[name]
        }
        return self._changed(**changes) if changes else self

    def _changed(self, **parameters: object) -> Self:
        """Return a copy with other values of some parameters."""
        changed: Self = clone(self).set_params(**parameters)
        return changed
