"""Solvers, which find the coefficients of the terms: one problem in, one path out."""

from rulegrove.exceptions import InvalidInputError
from rulegrove.solvers._adapting import Adapted
from rulegrove.solvers.base import (
    BaseSolver,
    Parameter,
    Path,
    PathCurves,
    Problem,
    Solver,
    Status,
    least_squares_path,
)
from rulegrove.solvers.fpc import Fpc
from rulegrove.solvers.glmnet import Glmnet
from rulegrove.solvers.pathbuild import Pathbuild
from rulegrove.solvers.spgl1 import Spgl1

__all__ = [
    "SOLVERS",
    "BaseSolver",
    "Fpc",
    "Glmnet",
    "Parameter",
    "Path",
    "PathCurves",
    "Pathbuild",
    "Problem",
    "Solver",
    "Spgl1",
    "Status",
    "least_squares_path",
    "make_solver",
]

SOLVERS: dict[str, type[BaseSolver]] = {"glmnet": Glmnet, "spgl1": Spgl1, "fpc": Fpc, "pathbuild": Pathbuild}


def make_solver(solver: str | Solver) -> BaseSolver:
    """Return the solver of that name with its default settings, or the instance that was given.

    An instance that has `grid` and `path` but is no `BaseSolver` is adapted; its `given` is that instance.

    Examples
    --------
    >>> make_solver("glmnet")
    Glmnet()
    """
    if isinstance(solver, str) and solver in SOLVERS:
        return SOLVERS[solver]()
    if isinstance(solver, type) or not isinstance(solver, Solver):
        raise InvalidInputError(
            f"`solver` must be one of {sorted(SOLVERS)} or an instance such as Glmnet(l1_ratio=0.9); got {solver!r}."
        )
    return solver if isinstance(solver, BaseSolver) else Adapted(solver)
