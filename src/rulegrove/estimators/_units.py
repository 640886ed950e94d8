"""Targets and weights that are too large or too small to be squared: a fit in other units, its results in the user's.

The units are powers of two, so that no digit changes, and one wherever that will do: an ordinary fit is what it was.
"""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.exceptions import InvalidInputError

if TYPE_CHECKING:
    from rulegrove.design.statistics import Margins
    from rulegrove.selection import Selection
    from rulegrove.solvers.base import BaseSolver, Path

SAFE = 200  # exponents of two up to which numbers are as they are: 1.6e60, whose fourth power is still a number

T = TypeVar("T", float, FloatArray)


def shift(values: T, exponent: int) -> T:
    """Return numbers times a power of two; zero or infinity where that is no number any more."""
    if exponent == 0:
        return values
    with np.errstate(over="ignore", under="ignore"):
        shifted: T = np.ldexp(values, exponent)
    return shifted if isinstance(values, np.ndarray) else float(shifted)


def check_size(loss: str, size: float) -> None:
    """Refuse a target whose size in the units of a loss is no number any more once it is squared.

    Examples
    --------
    >>> check_size("poisson", 1e100)
    Traceback (most recent call last):
        ...
    rulegrove.exceptions.InvalidInputError: loss='poisson' cannot add up numbers of the size of 1e+100; give the \
target in another unit, or drop rows that are far from all others.
    """
    if abs(math.frexp(size)[1]) > SAFE or not math.isfinite(size):
        raise InvalidInputError(
            f"loss={loss!r} cannot add up numbers of the size of {size:.3g}; give the target in another unit, or drop "
            "rows that are far from all others."
        )


def _exponent(size: float) -> int:
    """Return the exponent of a number that is far from one, 0 for others."""
    exponent = math.frexp(size)[1] - 1 if size > 0.0 else 0
    return exponent if abs(exponent) > SAFE else 0


@dataclass(frozen=True)
class Units:
    """What a target and weights are divided by, as exponents of two.

    Attributes
    ----------
    target : int
    weight : int
        Even, for roots of weights.

    Examples
    --------
    >>> Units.of_target(3.0), Units.of_target(2.0**300)
    (Units(target=0, weight=0), Units(target=300, weight=0))
    """

    target: int = 0
    weight: int = 0

    @classmethod
    def of_target(cls, largest: float) -> "Units":
        """Return the units for a target whose largest absolute value is given."""
        return cls(_exponent(largest))

    def of_weights(self, heaviest: float) -> "Units":
        """Return these units for weights of which the largest is given."""
        return replace(self, weight=_exponent(heaviest) // 2 * 2)

    @property
    def is_plain(self) -> bool:
        """Whether they are the user's."""
        return self == Units()

    @property
    def _of_parameters(self) -> dict[str, int]:
        """Exponents of what solvers vary and are given."""
        residual = self.target + self.weight // 2
        return {
            "penalty": self.target,
            "penalties": self.target,
            "l1_radius": self.target,
            "residual": residual,
            "residual_target": residual,
            "fit_weight": -self.target - self.weight,
        }

    def take_solver(self, solver: "BaseSolver") -> "BaseSolver":
        """Return a solver whose penalties, radii and residuals are in these units."""
        return solver.in_units({name: -exponent for name, exponent in self._of_parameters.items()})

    def give_solver(self, solver: "BaseSolver") -> "BaseSolver":
        """Return a solver in the user's units."""
        return solver.in_units(self._of_parameters)

    def take_point(self, solver: "BaseSolver", selection: str | float) -> str | float:
        """Return a given point of a path in these units; steps are steps in any."""
        if isinstance(selection, str) or solver.counts_steps:
            return selection
        return shift(float(selection), -self.target)

    def take_impurity(self, variance: float) -> float:
        """Return a variance of the target in these units."""
        return shift(float(variance), -2 * self.target)

    def give_path(self, path: "Path") -> "Path":
        """Return a path in the user's units."""
        varied = path.parameter
        return replace(
            path,
            parameter=replace(varied, values=shift(varied.values, self._of_parameters.get(varied.name, 0))),
            penalties=shift(path.penalties, self.target),
            coefs=shift(path.coefs, self.target),
            intercepts=shift(path.intercepts, self.target),
            residuals=shift(path.residuals, self._of_parameters["residual"]),
            risks=shift(path.risks, 2 * self.target),
            weight=shift(path.weight, self.weight),
            relaxed=None if path.relaxed is None else self.give_path(path.relaxed),
        )

    def give_selection(self, selection: "Selection", given: str | float) -> "Selection":
        """Return a choice in the user's units, who may have given the point."""
        square = 2 * self.target
        name = selection.rule.split()[0]
        return replace(
            selection,
            rule=selection.rule if isinstance(given, str) else f"{name} {given:g}",
            errors=None if selection.errors is None else shift(selection.errors, square),
            standard_errors=None if selection.standard_errors is None else shift(selection.standard_errors, square),
            fold_errors=None if selection.fold_errors is None else shift(selection.fold_errors, square),
            fold_points=tuple(self.give_point(point) for point in selection.fold_points),
        )

    def give_point(self, point: tuple[FloatArray, float]) -> tuple[FloatArray, float]:
        """Return coefficients and an intercept in the user's units."""
        coef, intercept = point
        return shift(coef, self.target), shift(intercept, self.target)

    def give_margins(self, margins: "Margins") -> "Margins":
        """Return sums over rows with the target in the user's units; the weights stay."""
        return replace(margins, x_y=shift(margins.x_y, self.target), y_sum=shift(margins.y_sum, self.target))


PLAIN = Units()
