"""The path of each output as a report keeps it: fewer points, sparse coefficients, in units of the terms."""

from dataclasses import dataclass

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.terms import Term
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.plots._display import output_coefs
from rulegrove.selection import Selection
from rulegrove.solvers import Solver, make_solver
from rulegrove.solvers.base import Path

MAX_POINTS = 60  # of a slider, for each output
MAX_COEFS = 60_000  # of all points of all outputs together; they take a megabyte


@dataclass(frozen=True, eq=False)
class Track:
    """Points of the path of one output.

    Attributes
    ----------
    path : Path
    selection : Selection
    solver : Solver
        What made the path.
    points : ndarray of shape (n_kept,)
        Positions along the path, ascending.
    chosen : int
        Place of the chosen point among those that are kept.
    terms : list of ndarray
        At each of them the terms with a coefficient, as positions in the list of all terms.
    coefs : list of ndarray
        Their coefficients, in units of the terms.
    intercepts : ndarray of shape (n_kept,)
    """

    path: Path
    selection: Selection
    solver: Solver
    points: IntArray
    chosen: int
    terms: list[IntArray]
    coefs: list[FloatArray]
    intercepts: FloatArray

    @property
    def _all_errors(self) -> FloatArray:
        """Error of every point: of held-out rows, or of the training rows where the point was given."""
        return self.path.risks if self.selection.errors is None else self.selection.errors

    @property
    def errors(self) -> FloatArray:
        """Error of the kept points."""
        return self._all_errors[self.points]

    @property
    def empty_error(self) -> float | None:
        """Error of the model without terms, if the path begins there."""
        first = float(self._all_errors[0])
        return None if self.path.coefs[0].any() or not first > 0 else first


def moves_together(model: BaseRuleEnsemble) -> bool:
    """Whether one point was chosen for all outputs, which are then at the same point of one path."""
    together = model.recall_target().together(make_solver(model.solver_[0]))
    return len(model.solver_) > 1 and together is not None


def follow_paths(model: BaseRuleEnsemble) -> tuple[list[Track], list[Term]]:
    """Return the path of each output, and all terms of the kept points: those of the model first, in rank order."""
    paths, chosen = list(model.path_), [selection.index for selection in model.selection_]
    if moves_together(model):
        points = [keep_points(np.sum([path.n_terms for path in paths], axis=0), chosen[0], MAX_COEFS)] * len(paths)
    else:
        limit = MAX_COEFS // len(paths)
        points = [keep_points(path.n_terms, place, limit) for path, place in zip(paths, chosen, strict=True)]
    places: dict[Term, int] = {term: place for place, term in enumerate(model.model_.terms)}
    return [_follow(model, output, own, places) for output, own in enumerate(points)], list(places)


def keep_points(n_terms: IntArray, chosen: int, max_coefs: int) -> IntArray:
    """Return the points of a path to keep: spread evenly, with the chosen one.

    Parameters
    ----------
    n_terms : ndarray of shape (n_points,)
    chosen : int
    max_coefs : int
        Most coefficients at all of them together. Where these are more, the densest points beyond the chosen one
        go first, then every other point.

    Examples
    --------
    >>> import numpy as np
    >>> keep_points(np.array([0, 1, 2, 40, 50]), 2, 60)
    array([0, 1, 2, 3])
    """
    n_points = len(n_terms)
    even = np.linspace(0, n_points - 1, min(n_points, MAX_POINTS - 1)).round().astype(np.int64)
    points = np.union1d(even, [chosen])
    while n_terms[points].sum() > max_coefs and points[-1] > chosen:
        points = points[:-1]
    while n_terms[points].sum() > max_coefs and len(points) > 2:
        points = np.union1d(points[::2], [chosen])
    return np.asarray(points, dtype=np.int64)


def _follow(model: BaseRuleEnsemble, output: int, points: IntArray, places: dict[Term, int]) -> Track:
    """Read the coefficients of one output at some points; terms that are new get the next place."""
    path, candidates, selection = model.path_[output], model.candidates_[output], model.selection_[output]
    chosen_intercept = float(np.atleast_1d(model.intercept_)[output])

    def read_point(point: int) -> tuple[FloatArray, float]:
        """Coefficients and intercept in units of the terms, for the target as the fit saw it."""
        coef, intercept = path.point(point, selection.mix)
        own = coef * candidates.scales
        return own, float(intercept - own @ candidates.centers)

    offset = chosen_intercept - read_point(selection.index)[1]  # what the fit subtracted from the target
    terms, coefs, intercepts = [], [], []
    for point in points.tolist():
        if point == selection.index:  # exactly what the model has
            own, intercept = output_coefs(model, output), chosen_intercept
            used = found = np.flatnonzero(own)
        else:
            own, shift = read_point(point)
            used, intercept = np.flatnonzero(own), shift + offset
            found = np.array([places.setdefault(candidates[k], len(places)) for k in used.tolist()], dtype=np.int64)
        terms.append(found)
        coefs.append(own[used])
        intercepts.append(intercept)
    place = int(np.searchsorted(points, selection.index))
    return Track(path, selection, model.solver_[output], points, place, terms, coefs, np.array(intercepts))
