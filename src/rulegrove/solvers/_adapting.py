"""Solvers of others that have no more than `grid` and `path`, as estimators want them."""

from collections.abc import Sequence
from typing import Any

from rulegrove._typing import FloatArray
from rulegrove.losses import Loss
from rulegrove.solvers.base import BaseSolver, Path, Problem, Solver


class Adapted(BaseSolver):
    """A solver of a user's own that is no `BaseSolver`: what it does not say is as in the base class.

    This is the one place that asks an object what it has. It may have, besides `grid` and `path`, the attributes
    `loss`, `needs_rows`, `mixes` and `takes_constraints` and the methods `check`, `training_loss` and `variants`.

    Parameters
    ----------
    solver : Solver
    """

    def __init__(self, solver: Solver) -> None:
        self.solver: Any = solver
        self.loss = getattr(solver, "loss", "squared")
        self.takes_constraints = bool(getattr(solver, "takes_constraints", False))

    def __repr__(self) -> str:
        return repr(self.solver)

    @property
    def given(self) -> Solver:
        """The object that a user gave."""
        return self.solver  # type: ignore[no-any-return]

    @property
    def needs_rows(self) -> bool:
        """Whether the problem must hold its rows."""
        return bool(getattr(self.solver, "needs_rows", False))

    @property
    def mixes(self) -> tuple[float, ...]:
        """Shares of the penalised fit among which a choice is made."""
        return tuple(getattr(self.solver, "mixes", (1.0,)))

    def grid(self, problem: Problem) -> FloatArray:
        """Return the points of the solver."""
        return self.solver.grid(problem)  # type: ignore[no-any-return]

    def path(self, problem: Problem, points: FloatArray | None = None, start: Path | FloatArray | None = None) -> Path:
        """Solve at each point."""
        return self.solver.path(problem, points, start)  # type: ignore[no-any-return]

    def check(self) -> None:
        """Raise on wrong parameters, if the solver knows of any."""
        if hasattr(self.solver, "check"):
            self.solver.check()

    def training_loss(self, problem: Problem) -> Loss:
        """Return the loss that a problem is judged by."""
        if hasattr(self.solver, "training_loss"):
            return self.solver.training_loss(problem)  # type: ignore[no-any-return]
        return super().training_loss(problem)

    def variants(self, problem: Problem) -> Sequence["Adapted"]:
        """Return the solvers to choose from."""
        return [Adapted(one) for one in self.solver.variants(problem)] if hasattr(self.solver, "variants") else [self]
