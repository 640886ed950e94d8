"""The parts of the study, one module a theme."""

import difflib
from collections.abc import Iterable

from rulegrove.exceptions import InvalidInputError
from rulegrove.study.parts import (
    attributes,
    robustness,
    selection,
    solver_sweeps,
    sparsity,
    ten_sets,
    terms,
    timing,
    trees,
    vehicle,
)
from rulegrove.study.parts.base import Part

PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        ten_sets.SETS,
        ten_sets.TEN_SETS,
        vehicle.VEHICLE,
        trees.TREE_SIZE,
        trees.RULE_COUNT,
        terms.TERMS,
        solver_sweeps.THRESHOLD,
        solver_sweeps.PENALTY,
        solver_sweeps.RADIUS,
        solver_sweeps.FIT_WEIGHT,
        solver_sweeps.FIT_WEIGHT_TREE_SIZE,
        sparsity.SPARSITY,
        attributes.ATTRIBUTES,
        selection.SELECTION,
        robustness.ROBUSTNESS,
        timing.TIMING,
    )
}


def choose_parts(names: Iterable[str]) -> list[Part]:
    """Return the named parts in the order of the study, all of them without a name.

    Raises
    ------
    InvalidInputError
        On an unknown name; the message lists the known ones.

    Examples
    --------
    >>> [part.name for part in choose_parts(["terms", "ten-sets"])]
    ['ten-sets', 'terms']
    """
    wanted = list(names)
    for name in wanted:
        if name not in PARTS:
            close = difflib.get_close_matches(str(name), PARTS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise InvalidInputError(f"There is no part {name!r} of the study; there are {', '.join(PARTS)}.{hint}")
    return [part for part in PARTS.values() if not wanted or part.name in wanted]
