"""Which attributes a rule may be about together, as the user asks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rulegrove._typing import BoolArray, IntArray
from rulegrove.columns import Feature
from rulegrove.estimators._constraints import name_attribute
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Rule

SHORTHANDS = {"no_interactions": 1, "pairwise": 2}  # as scikit-learn has them, by the most attributes of a rule


@dataclass(frozen=True, eq=False)
class Limits:
    """What the attributes of a rule must respect; trees respect it while they grow.

    Attributes
    ----------
    max_attributes : int, optional
        Most attributes of a rule.
    groups : ndarray of shape (n_groups, n_features), optional
        The attributes of a rule lie all in one of these groups. Each attribute is in one at least.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.rules.rule import Condition
    >>> limits = Limits(groups=np.array([[True, True, False], [False, True, True]]))
    >>> near, far = (Rule((Condition(0, upper=1.0), Condition(other, upper=1.0))) for other in (1, 2))
    >>> limits.allow(near), limits.allow(far)
    (True, False)
    """

    max_attributes: int | None = None
    groups: BoolArray | None = None

    @property
    def allow_all(self) -> bool:
        """Whether there is no limit."""
        return self.max_attributes is None and self.groups is None

    def allow(self, rule: Rule) -> bool:
        """Whether a rule keeps to the limits."""
        features = list(rule.features)
        if self.max_attributes is not None and len(features) > self.max_attributes:
            return False
        return self.groups is None or bool(self.groups[:, features].all(axis=1).any())

    def among(self, features: IntArray) -> "Limits":
        """Return the limits for a table of some of the attributes."""
        return self if self.groups is None else replace(self, groups=np.ascontiguousarray(self.groups[:, features]))


NO_LIMITS = Limits()


def resolve_limits(
    interactions: Any, max_attributes: int | None, features: Sequence[Feature], names: Sequence[str]
) -> Limits:
    """Return the limits of a fit.

    Parameters
    ----------
    interactions : {"no_interactions", "pairwise"}, sequence of groups or None
        A group has names of attributes or columns, or positions of columns; a column stands for all attributes that are
        read from it. Attributes that are in no group are one more group together.
    max_attributes : int, optional
    features : sequence of Feature
    names : sequence of str
        Columns of the table.

    Examples
    --------
    >>> features = [Feature("age"), Feature("height"), Feature("weight")]
    >>> resolve_limits([["age", 3]], None, features, ["id", "age", "height", "weight"]).groups
    array([[ True, False,  True],
           [False,  True, False]])
    >>> resolve_limits("pairwise", None, features, ["id", "age", "height", "weight"]).max_attributes
    2
    """
    if interactions is None:
        return Limits(max_attributes)
    if isinstance(interactions, str):
        most = SHORTHANDS[interactions]
        return Limits(most if max_attributes is None else min(most, max_attributes))
    groups = [_read_group(group, features, names) for group in interactions]
    in_none = ~np.any([np.zeros(len(features), dtype=bool), *groups], axis=0)
    return Limits(max_attributes, np.array([*groups, in_none] if in_none.any() else groups))


def _read_group(group: Any, features: Sequence[Feature], names: Sequence[str]) -> BoolArray:
    """Return which attributes are in a group; a column that is left out of the fit has none."""
    if isinstance(group, str) or not isinstance(group, Iterable):
        raise InvalidInputError(
            "`interactions` must be groups of attributes, such as [['age', 'income'], ['height', 'weight']]; got "
            f"{group!r} instead of a group."
        )
    members = {name_attribute(key, features, names, "interactions") for key in group}
    if not members:
        raise InvalidInputError("`interactions` has an empty group; name its attributes, or remove it.")
    return np.array([feature.name in members or feature.source in members for feature in features])


def check_limits(rules: Sequence[Rule], limits: Limits, features: Sequence[Feature]) -> None:
    """Refuse an expert's rule about attributes that are not to be together."""
    for rule in rules:
        if not limits.allow(rule):
            together = ", ".join(repr(features[feature].name) for feature in rule.features)
            raise InvalidInputError(
                f"The rule '{rule.text(features)}' combines {together}, which `max_attributes` or `interactions` does "
                "not allow; leave it out of `rules`, or widen the limit."
            )
