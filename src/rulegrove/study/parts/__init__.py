"""The parts of the study, one module for each theme."""

import difflib
from collections.abc import Iterable

from rulegrove.exceptions import InvalidInputError
from rulegrove.study.parts.attributes import ATTRIBUTES
from rulegrove.study.parts.base import Part
from rulegrove.study.parts.beyond import ROBUSTNESS, SELECTION
from rulegrove.study.parts.sparsity import SPARSITY
from rulegrove.study.parts.sweeps import SWEEPS
from rulegrove.study.parts.ten_sets import TEN_SETS
from rulegrove.study.parts.timing import TIMING

#: In the order of the study.
PARTS: dict[str, Part] = {
    part.name: part for part in (*TEN_SETS, *SWEEPS, SPARSITY, ATTRIBUTES, SELECTION, ROBUSTNESS, TIMING)
}


def choose_parts(names: Iterable[str]) -> list[Part]:
    """Return the named parts in the order of the study, all of them without a name."""
    wanted = list(names)
    for name in wanted:
        if name not in PARTS:
            close = difflib.get_close_matches(str(name), PARTS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise InvalidInputError(f"There is no part {name!r} of the study; there are {', '.join(PARTS)}.{hint}")
    return [part for part in PARTS.values() if not wanted or part.name in wanted]
