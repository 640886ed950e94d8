"""Which columns of a table are what, by the options that name them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from rulegrove.cli.known import find_known
from rulegrove.cli.options import Columns
from rulegrove.cli.reading import find_name
from rulegrove.cli.times import Spells, find_spells
from rulegrove.exceptions import InvalidInputError


@dataclass(frozen=True)
class Roles:
    """Which columns are what, by their names as the table spells them."""

    targets: tuple[str, ...]
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    numbers: tuple[str, ...]
    weights: str | None
    groups: str | None
    keep_identifiers: bool
    known: Mapping[str, str] = field(default_factory=dict)
    spells: Spells = Spells()  # noqa: RUF009 - which is frozen

    @property
    def target(self) -> str:
        """The first column to predict, which is the only one but for several numbers."""
        return self.targets[0]

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of an estimator that say how columns are read, those that were given."""
        numbers = [name for name in self.numbers if name not in self.targets]
        return {
            **({"numeric_features": numbers} if numbers else {}),
            **({"identifiers": None} if self.keep_identifiers else {}),
        }

    @property
    def apart(self) -> set[str]:
        """Columns that are no attributes."""
        beside = (*self.known.values(), *self.spells.columns.values())
        return {name for name in (*self.targets, *self.drop, self.weights, self.groups, *beside) if name is not None}


def find_roles(
    names: Sequence[str],
    targets: Sequence[str],
    columns: Columns,
    beside: Mapping[str, str | None],
) -> Roles:
    """Find the columns that options name; one that the table does not have, or that is two things, is refused.

    `beside` has the columns of weights, groups, exposure, offset, event and entry, as far as they were named.
    """

    def find(option: str, wanted: Sequence[str] | None) -> tuple[str, ...]:
        return tuple(find_name(names, name, option) for name in wanted or ())

    def find_one(option: str) -> str | None:
        name = beside.get(option)
        return None if name is None else find_name(names, name, f"--{option}")

    roles = Roles(
        targets=find("--target", targets),
        drop=find("--drop", columns.drop),
        categorical=find("--categorical", columns.categorical),
        numbers=find("--number", columns.number),
        weights=find_one("weights"),
        groups=find_one("groups"),
        keep_identifiers=columns.keep_identifiers,
        known=find_known(names, beside.get("exposure"), beside.get("offset")),
        spells=find_spells(names, beside.get("event"), beside.get("entry")),
    )
    if len(roles.targets) > 1 and roles.spells.event is not None:
        raise InvalidInputError("`--event` makes a survival time of one `--target`; leave the others out.")
    _check_apart(roles)
    for name in roles.numbers:
        if name in roles.apart - {*roles.targets}:
            raise InvalidInputError(f"`--number` names '{name}', which is no attribute here; leave one of the two out.")
    return roles


def _check_apart(roles: Roles) -> None:
    """Refuse a column that is two things."""
    columns = {**roles.known, **roles.spells.columns}
    if roles.weights is not None:
        columns["weights"] = roles.weights
    seen: dict[str, str] = {}
    for option, name in [*(("target", name) for name in roles.targets), *columns.items()]:
        if seen.get(name) == option:
            raise InvalidInputError(f"`--{option}` names '{name}' twice; once is enough.")
        if name in seen:
            _refuse_both(option, seen[name], name)
        seen[name] = option
    for name in {*roles.drop} & {*roles.targets}:
        _refuse_both("drop", "target", name)
    for name in {*roles.categorical} & {*roles.numbers}:
        _refuse_both("categorical", "number", name)


def _refuse_both(one: str, other: str, name: str) -> NoReturn:
    raise InvalidInputError(f"`--{one}` and `--{other}` both name '{name}'; it can be one only.")
