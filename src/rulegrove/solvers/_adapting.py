"""Solvers of others that have no more than `grid` and `path`, as estimators want them."""

from collections.abc import Sequence
from typing import Any

from rulegrove._typing import FloatArray
from rulegrove.solvers.base import BaseSolver, Path, Problem, Solver

_HEARD = ("loss", "needs_rows", "mixes", "takes_constraints", "check", "training_loss")


class Adapted(BaseSolver):
    """A solver of a user's own that is no `BaseSolver`: what it does not say is as in the base class.

    This is the one place that asks an object what it has. It may have, besides `grid` and `path`, the attributes
    `loss`, `needs_rows`, `mixes` and `takes_constraints` and the methods `check`, `training_loss` and `variants`.

    Parameters
    ----------
    solver : Solver
    """

    needs_rows = False  # not by the loss: the solver says so if it wants them
    mixes = (1.0,)

    def __init__(self, solver: Solver) -> None:
        self.solver: Any = solver
        for name in _HEARD:
            if hasattr(solver, name):
                setattr(self, name, getattr(solver, name))

    def __repr__(self) -> str:
        return repr(self.solver)

    @property
    def given(self) -> Solver:
        """The object that a user gave."""
        given: Solver = self.solver
        return given

    def grid(self, problem: Problem) -> FloatArray:
        """Return the points of the solver."""
        return self.given.grid(problem)

    def path(self, problem: Problem, points: FloatArray | None = None, start: Path | FloatArray | None = None) -> Path:
        """Solve at each point."""
        return self.given.path(problem, points, start)

    def variants(self, problem: Problem) -> Sequence["Adapted"]:
        """Return the solvers to choose from."""
        return [Adapted(one) for one in self.solver.variants(problem)] if hasattr(self.solver, "variants") else [self]
