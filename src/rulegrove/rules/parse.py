"""Rules from words: what `Rule.text` prints, read back exactly, and what people type.

Nothing is ever run: the text is compared with the names and categories of the table, piece by piece. Names may hold
anything, also words and signs of the language itself, so every way to read a text is followed. Where there are several,
the one that prints as the very same text is meant.
"""

from collections.abc import Sequence
from typing import Any

from rulegrove.columns import Feature
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules._reading import Reader, check_possible
from rulegrove.rules._vocabulary import Vocabulary
from rulegrove.rules.rule import Rule


def parse_rule(text: str, features: Sequence[Feature]) -> Rule:
    """Read a rule from words.

    Conditions are joined by ``and`` (or ``&``). A number is compared by ``>``, ``>=``, ``<``, ``<=``, ``=``, or lies in
    ``30 < age <= 40``, and so does a date: ``sold > 2024-02-29``. ``x >= 3`` becomes ``x > t`` for the double t before
    3, and ``x < 3`` becomes ``x <= t``, which says the same of every double. A category is ``colour = red``, ``colour
    != red``, ``colour in {red, 'dark blue'}`` or ``not in``; ``!=`` and ``not in`` mean the other categories that the
    attribute has, and ``any other`` is the one of all labels that were pooled. A truth value is its name, ``is_member``
    or ``not is_member``. ``==`` says the same as ``=``. Any attribute can be asked whether it ``is missing`` or ``is
    known``, and ``or missing`` lets missing values satisfy a condition. Names and categories can be put in backticks or
    quotes.

    ``parse_rule(rule.text(features), features) == rule`` for every rule that a value can satisfy, unless names make two
    rules print alike: such a text is refused. Of a date the rule is the same on every day, of a truth value for true
    and false.

    Examples
    --------
    >>> from rulegrove.columns import Feature
    >>> features = [Feature("age"), Feature("monthly income"), Feature("colour", ("blue", "green", "red"))]
    >>> parse_rule("age > 40 and monthly income <= 3e4", features).text(features)
    'age > 40 and monthly income <= 30000'
    >>> parse_rule("colour != green & (30 < age <= 40 or missing)", features).text(features)
    '(30 < age <= 40 or missing) and colour != green'
    >>> parse_rule("agee > 40", features)
    Traceback (most recent call last):
        ...
    rulegrove.exceptions.InvalidInputError: "agee > 40": 'agee' is no column (character 1). Did you mean 'age'?
    """
    return Reader(text, Vocabulary(features)).read()


def read_rules(rules: Any, features: Sequence[Feature]) -> tuple[Rule, ...]:
    """Return rules that are given as words or records, each once."""
    if isinstance(rules, (str, Rule)):
        raise InvalidInputError("`rules` must be a list of rules; put the only one in brackets: rules=[...].")
    found: dict[Rule, None] = {}
    vocabulary = Vocabulary(features)
    for place, rule in enumerate(rules, start=1):
        if not isinstance(rule, (str, Rule)):
            raise InvalidInputError(f"Rule {place} must be a text or a Rule; got {rule!r}.")
        try:
            found[Reader(rule, vocabulary).read() if isinstance(rule, str) else _check_rule(rule, features)] = None
        except InvalidInputError as error:
            raise InvalidInputError(f"Rule {place}: {error}") from None
    return tuple(found)


def _check_rule(rule: Rule, features: Sequence[Feature]) -> Rule:
    """Refuse a record that does not suit the table."""
    if not rule.conditions:
        raise InvalidInputError("it has no condition, so it holds for every row.")
    if list(rule.features) != sorted(set(rule.features)):
        raise InvalidInputError(f"it must have one condition an attribute, in their order; got {rule}.")
    for condition in rule.conditions:
        if not 0 <= condition.feature < len(features):
            raise InvalidInputError(f"it speaks of column {condition.feature}; there are {len(features)}, from 0.")
        feature = features[condition.feature]
        labels, codes = feature.categories, condition.categories
        if (labels is None) != (codes is None):
            kind = "numeric" if labels is None else "categorical"
            raise InvalidInputError(f"column {condition.feature} ('{feature.name}') is {kind}; got {condition}.")
        if codes is not None and not set(codes) <= set(range(feature.n_categories)):
            raise InvalidInputError(
                f"'{feature.name}' has the categories 0 to {feature.n_categories - 1}; got {codes}."
            )
        check_possible(condition, feature)
    return rule
