"""What the user asks of coefficients: that attributes act one way only, that some rules are in the model."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._typing import BoolArray, IntArray
from rulegrove.columns import Feature
from rulegrove.design.terms import Term, Terms
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Condition, Rule


@dataclass(frozen=True, eq=False)
class Constraints:
    """What the coefficients must respect.

    With all else fixed, a rule that asks an attribute for a lower bound only never falls as that attribute rises; one
    with an upper bound only never rises; a linear term rises. A score that may only rise with the attribute is
    therefore sure to where the former have no negative coefficient and the latter no positive one. A rule with both
    bounds goes both ways, and so does one that two attributes want to have opposite signs: no sign but zero suits
    these. Where values are missing a rule is constant: what is promised concerns the known values.

    Attributes
    ----------
    monotonic : ndarray of shape (n_features,), optional
        Of each attribute +1 where the score may only rise with it, -1 where it may only fall, 0 where it is free.
    forced : frozenset of Rule
        Rules that the penalty leaves alone, as it does the intercept.

    Examples
    --------
    >>> import numpy as np
    >>> constraints = Constraints(monotonic=np.array([1, 0]))
    >>> above, between = Rule((Condition(0, lower=40.0),)), Rule((Condition(0, lower=40.0, upper=60.0),))
    >>> constraints.sign(above), constraints.sign(between)
    (1, None)
    """

    monotonic: IntArray | None = None
    forced: frozenset[Rule] = frozenset()

    def sign(self, term: Term) -> int | None:
        """Return the sign that a term's coefficient must have: 1, -1, 0 for any, None if none is right."""
        if self.monotonic is None:
            return 0
        if isinstance(term, Rule):
            ways = [(condition.feature, _direction(condition)) for condition in term.conditions]
        else:
            ways = [(term.feature, 1)]
        wanted = set()
        for feature, way in ways:
            if self.monotonic[feature] and way is None:
                return None
            wanted.add(int(self.monotonic[feature]) * (way or 0))
        wanted.discard(0)
        return 0 if not wanted else wanted.pop() if len(wanted) == 1 else None

    def allowed(self, rules: Iterable[Rule]) -> tuple[Rule, ...]:
        """Return the rules that may have a coefficient other than zero."""
        return tuple(rules if self.monotonic is None else (rule for rule in rules if self.sign(rule) is not None))

    def signs(self, terms: Terms) -> IntArray | None:
        """Return the sign of each term's coefficient, 0 for any; None if all are free.

        Parameters
        ----------
        terms : Terms
            None of them such that no sign is right.
        """
        if self.monotonic is None:
            return None
        signs = np.array([self.sign(terms[column]) for column in range(len(terms))], dtype=np.int64)
        return signs if signs.any() else None

    def find_forced(self, rules: Sequence[Rule]) -> BoolArray:
        """Return which rules are forced."""
        if not self.forced:  # to look thousands of rules up in an empty set takes as long as in a full one
            return np.zeros(len(rules), dtype=bool)
        return np.array([rule in self.forced for rule in rules], dtype=bool)

    def unpenalised(self, terms: Terms) -> BoolArray | None:
        """Return which terms the penalty leaves alone; None if it spares none."""
        spared = np.zeros(len(terms), dtype=bool)
        spared[: len(terms.rules)] = self.find_forced(terms.rules)
        return spared if spared.any() else None


NO_CONSTRAINTS = Constraints()


def _direction(condition: Condition) -> int | None:
    """Return whether a condition rises (1) or falls (-1) with its known values, neither (0) or both (None)."""
    if condition.lower == math.inf or condition.categories is not None:  # known values do not matter
        return 0
    above, below = condition.lower > -math.inf, condition.upper < math.inf
    return None if above and below else int(above) - int(below)


def resolve_monotonic(monotonic: Any, features: Sequence[Feature], names: Sequence[str]) -> IntArray | None:
    """Return the direction of each attribute, or None where none has one.

    Parameters
    ----------
    monotonic : mapping, array-like of shape (n_columns,) or None
        -1, 0 or 1 for each column; a mapping has names of attributes or positions of columns as its keys.
    features : sequence of Feature
    names : sequence of str
        Columns of the table.

    Examples
    --------
    >>> features = [Feature("age"), Feature("height"), Feature("weight")]
    >>> resolve_monotonic({"age": 1, 3: -1}, features, ["id", "age", "height", "weight"])
    array([ 1,  0, -1])
    """
    if monotonic is None:
        return None
    if isinstance(monotonic, Mapping):
        pairs = [(name_attribute(key, features, names, "monotonic"), value) for key, value in monotonic.items()]
    else:
        values = [monotonic] if isinstance(monotonic, str) or np.ndim(monotonic) != 1 else list(monotonic)
        if len(values) != len(names):
            raise InvalidInputError(
                f"`monotonic` must have -1, 0 or 1 for each of the {len(names)} attributes, or be a dict of names and "
                f"these values; got {monotonic!r}."
            )
        pairs = list(zip(names, values, strict=True))
    places = {feature.name: place for place, feature in enumerate(features)}
    directions = np.zeros(len(features), dtype=np.int64)
    for name, value in pairs:
        if isinstance(value, (bool, np.bool_, str)) or value not in (-1, 0, 1):
            raise InvalidInputError(f"`monotonic` must be -1, 0 or 1 for each attribute; got {value!r} for {name!r}.")
        if not value or name not in places:  # no direction, or a column that is left out
            continue
        if features[places[name]].categories is not None:
            raise InvalidInputError(
                f"`monotonic` is for numeric attributes, but {name!r} is categorical: its values have no order."
            )
        directions[places[name]] = int(value)
    return directions if directions.any() else None


def name_attribute(key: Any, features: Sequence[Feature], names: Sequence[str], parameter: str) -> str:
    """Return the name of an attribute or column that a parameter gives by its name, or by its position in the table."""
    known = list(dict.fromkeys((*names, *(feature.name for feature in features))))
    if key in known:
        return str(key)
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and 0 <= key < len(names):
        return names[int(key)]
    shown = ", ".join(repr(name) for name in known[:5])
    raise InvalidInputError(
        f"`{parameter}` names {key!r}, which is not an attribute; the attributes are "
        f"{shown}{', ...' if len(known) > 5 else ''}."
    )
