"""A text on its way to become a rule: every way to read it is followed, and how far."""

import difflib
import math
import re
from collections.abc import Callable, Hashable, Iterator, Sequence

from rulegrove.columns import Feature
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Condition, Rule

MAX_DEPTH = 20  # of parentheses
MAX_READINGS = 10_000  # beginnings of a rule that are followed

_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?(?![\w.])")
_COMPARISON = re.compile(r"<=|>=|==|!=|<>|≤|≥|≠|<|>|=")
_AND = re.compile(r"\s*(?:&&?|and\b)", re.IGNORECASE)
_OR = re.compile(r"\s*(?:\|\|?|or\b)", re.IGNORECASE)
_OR_MISSING = re.compile(r"\s*or\s+missing\b", re.IGNORECASE)
_STATES = re.compile(r"is\s+(not\s+missing|missing|known)\b", re.IGNORECASE)
_MEMBERS = re.compile(r"(not\s+)?in\b\s*", re.IGNORECASE)
_QUOTED = re.compile(r"""(["'`])((?:(?!\1).|\1\1)*)\1(?!\1)""", re.DOTALL)
_UNKNOWN_NAME = re.compile(r".*?(?=\s*(?:[<>=!≤≥≠&|()]|\b(?:in|is|not|and|or)\b|$))", re.DOTALL | re.IGNORECASE)
_UNKNOWN_LABEL = re.compile(r"""["'`]?([^,\]})"'`&|]*)""")
_SIGNS = {"≤": "<=", "≥": ">=", "≠": "!=", "<>": "!=", "=": "=="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}
_CLOSING = {"{": "}", "[": "]", "(": ")"}

Reading = tuple[tuple[Condition, ...], int]  # what was read, and where it ends


def check_possible(condition: Condition, feature: Feature) -> None:
    """Refuse a condition that no value satisfies."""
    none_known = condition.lower >= condition.upper if condition.categories is None else not condition.categories
    if none_known and not condition.missing:
        raise InvalidInputError(f"no value of '{feature.name}' can satisfy it.")


class Reader:
    """A text on its way to become a rule; remembers how far it could be followed and what was missing there."""

    def __init__(self, text: str, features: Sequence[Feature]):
        self.text = text
        self.features = features
        self.stuck = -1
        self.problem = ""

    def read(self) -> Rule:
        """Return the one rule that the text can be."""
        if not self.text.strip():
            raise InvalidInputError('a rule needs at least one condition, such as "age > 40"; got nothing.')
        rules = list(dict.fromkeys(_join(conditions) for conditions, _ in self._conjunction(0, 0)))
        if not rules:
            self._refuse(self.problem, self.stuck)
        if len(rules) > 1:
            rules = [rule for rule in rules if rule.text(self.features) == self.text] or rules
        if len(rules) > 1:
            raise InvalidInputError(
                f'"{self.text}": this can be read in several ways; put the names of columns in backticks.'
            )
        for condition in rules[0].conditions:
            try:
                check_possible(condition, self.features[condition.feature])
            except InvalidInputError as error:
                raise InvalidInputError(f'"{self.text}": {error}') from None
        return rules[0]

    def _refuse(self, problem: str, place: int) -> None:
        """Say what is wrong, and where."""
        what, _, hint = problem.partition("\n")
        hint = f" {hint}" if hint else ""
        raise InvalidInputError(f'"{self.text}": {what} (character {place + 1}).{hint}')

    def _fail(self, place: int, problem: str) -> None:
        """Remember what could not be read; only what lies farthest matters, and there what was tried first."""
        place = self._skip(place)
        if place > self.stuck:
            self.stuck, self.problem = place, problem

    def _skip(self, place: int) -> int:
        """Return the next place that is no blank."""
        found = _SPACE.match(self.text, place)
        return found.end() if found else place

    def _conjunction(self, start: int, depth: int) -> Iterator[Reading]:
        """Yield all ways to read conditions joined by `and`; at depth 0 they must reach the end of the text."""
        waiting: list[Reading] = [((), start)]
        for _ in range(MAX_READINGS):
            if not waiting:
                return
            before, place = waiting.pop()
            further: list[Reading] = []
            for conditions, end in self._part(place, depth):
                whole = before + conditions
                joined = _AND.match(self.text, end)
                if joined:
                    further.append((whole, joined.end()))
                elif depth or self._skip(end) == len(self.text):
                    yield whole, end
                elif _OR.match(self.text, end):
                    self._fail(end, "'or' makes two rules\nGive each of them as a rule of its own.")
                else:
                    self._fail(end, "expected 'and' or the end of the rule")
            waiting += reversed(further)
        self._refuse("this can be read in too many ways; put the names of columns in backticks", start)

    def _part(self, place: int, depth: int) -> Iterator[Reading]:
        """Yield all ways to read one condition, or several in parentheses."""
        for condition, end in self._condition(place):
            missing = _OR_MISSING.match(self.text, end)
            if missing:
                yield (_with_missing(condition),), missing.end()
            else:
                yield (condition,), end
        opened = self._skip(place)
        if self.text[opened : opened + 1] == "(" and depth < MAX_DEPTH:
            for conditions, end in self._conjunction(opened + 1, depth + 1):
                closed = self._skip(end)
                if self.text[closed : closed + 1] == ")":
                    yield conditions, closed + 1
                elif _OR.match(self.text, end):
                    self._fail(end, "'or' makes two rules\nGive each of them as a rule of its own.")
                else:
                    self._fail(end, "expected 'and' or ')'")

    def _condition(self, place: int) -> Iterator[tuple[Condition, int]]:
        """Yield all ways to read one condition."""
        named = False
        for feature, end in self._name(place):
            named = True
            yield from self._about(feature, end)
        number = self._number(place)
        if number is not None:
            yield from self._about_number(*number)
        elif not named and self.text[self._skip(place) :][:1] != "(":
            self._fail_name(place)

    def _fail_name(self, place: int) -> None:
        """Remember that no column has the name that stands here, and which ones are near it."""
        start = self._skip(place)
        quoted = _QUOTED.match(self.text, start)
        found = _UNKNOWN_NAME.match(self.text, start)
        word = quoted[2] if quoted else (found[0].strip() if found else "")
        if not word:
            self._fail(start, "expected the name of a column")
            return
        names = {feature.name.lower(): feature.name for feature in self.features}
        near = [repr(names[name]) for name in difflib.get_close_matches(word.lower(), list(names), 3)]
        self._fail(start, f"{word!r} is no column" + (f"\nDid you mean {' or '.join(near)}?" if near else ""))

    def _name(self, place: int) -> Iterator[tuple[int, int]]:
        """Yield the attributes whose name stands here; a name may itself begin with blanks."""
        first = self._skip(place)
        quoted = _QUOTED.match(self.text, first)
        inside = quoted[2].replace(quoted[1] * 2, quoted[1]) if quoted else None
        for position, feature in enumerate(self.features):
            name = feature.name
            if quoted and name == inside:
                yield position, quoted.end()
            for start in range(place, first + 1):
                if self.text.startswith(name, start) and self._ends_word(name, start + len(name)):
                    yield position, start + len(name)

    def _ends_word(self, word: str, end: int) -> bool:
        """Whether a word that ends here is not the beginning of a longer one."""
        return not (word and _is_letter(word[-1]) and end < len(self.text) and _is_letter(self.text[end]))

    def _number(self, place: int) -> tuple[float, int] | None:
        """Return the number that stands here."""
        start = self._skip(place)
        found = _NUMBER.match(self.text, start)
        try:
            value = float(found[0]) if found else math.nan
        except ValueError:  # misplaced underscores
            value = math.nan
        return (value, found.end()) if found and math.isfinite(value) else None

    def _about_number(self, number: float, place: int) -> Iterator[tuple[Condition, int]]:
        """Yield what compares a number with an attribute: ``30 < age``, ``30 < age <= 40``."""
        start = self._skip(place)
        sign = _COMPARISON.match(self.text, start)
        if not sign or (way := _sign(sign)) not in _MIRRORED:
            self._fail(start, "expected '<' or '<=' and a column after the number")
            return
        named = False
        for feature, end in self._name(sign.end()):
            named = True
            if not self._is_number(feature, start, sign[0]):
                continue
            condition = _compare(feature, _MIRRORED[way], number)
            second_start = self._skip(end)
            second = _COMPARISON.match(self.text, second_start)
            if not second:
                yield condition, end
            elif way == "==" or _sign(second)[:1] != way[:1]:
                self._fail(second_start, f"expected '{way[:1]}' or '{way[:1]}=', the way of the first comparison")
            else:
                bound = self._number(second.end())
                if bound is None:
                    self._fail(second.end(), f"expected a number after '{second[0]}'")
                else:
                    yield condition & _compare(feature, _sign(second), bound[0]), bound[1]
        if not named:
            self._fail_name(sign.end())

    def _is_number(self, feature: int, place: int, sign: str) -> bool:
        """Whether an attribute has an order; remember it if not."""
        own = self.features[feature]
        if own.categories is None:
            return True
        self._fail(place, f"'{own.name}' is categorical and has no '{sign}'; use ==, != or in {{...}}")
        return False

    def _about(self, feature: int, place: int) -> Iterator[tuple[Condition, int]]:
        """Yield what is said about an attribute after its name."""
        start = self._skip(place)
        state = _STATES.match(self.text, start)
        members = _MEMBERS.match(self.text, start)
        sign = _COMPARISON.match(self.text, start)
        own = self.features[feature]
        if state:
            yield _state(feature, own, state[1].lower() == "missing"), state.end()
        elif members and own.categories is not None:
            yield from self._members(feature, members.end(), bool(members[1]))
        elif members:
            self._fail(start, f"'{own.name}' is numeric and has no list of categories; write 30 < {own.name} <= 40")
        elif not sign:
            self._fail(start, f"expected a comparison such as '>' or 'in' after '{own.name}'")
        elif own.categories is not None:
            way = _sign(sign)
            if way in ("==", "!="):
                label = self._label(feature, sign.end(), self._ends_label)
                if label is not None:
                    yield _choose(feature, own, {label[0]}, way == "!="), label[1]
            else:
                self._is_number(feature, start, sign[0])
        elif _sign(sign) == "!=":
            self._fail(start, f"'{sign[0]}' makes two rules of a number\nGive one with '<' and one with '>'.")
        else:
            number = self._number(sign.end())
            if number is None:
                self._fail(sign.end(), f"expected a number after '{sign[0]}'")
            else:
                yield _compare(feature, _sign(sign), number[0]), number[1]

    def _ends_label(self, end: int) -> bool:
        """Whether a category of its own can end here."""
        place = self._skip(end)
        joined = _AND.match(self.text, end) or _OR.match(self.text, end)
        return place == len(self.text) or self.text[place] == ")" or joined is not None

    def _members(self, feature: int, place: int, negated: bool) -> Iterator[tuple[Condition, int]]:
        """Yield a list of categories."""
        closing = _CLOSING.get(self.text[place : place + 1])
        if closing is None:
            self._fail(place, "expected a list of categories such as {a, b}")
            return
        codes: set[int] = set()
        while True:
            label = self._label(feature, place + 1, lambda end: self.text[self._skip(end) :][:1] in (",", closing))
            if label is None:
                return
            codes.add(label[0])
            place = self._skip(label[1])
            if self.text[place] == closing:
                yield _choose(feature, self.features[feature], codes, negated), place + 1
                return

    def _label(self, feature: int, place: int, ends: Callable[[int], bool]) -> tuple[int, int] | None:
        """Return the category that stands here: as Python prints it, in any quotes, bare, or as a number."""
        start = self._skip(place)
        labels = self.features[feature].categories or ()
        quoted = _QUOTED.match(self.text, start)
        inside = quoted[2].replace(quoted[1] * 2, quoted[1]) if quoted else None
        number = self._number(start)
        found = [
            (code, start + len(word))
            for spell in (repr, str)
            for code, label in enumerate(labels)
            if (word := spell(label)) and self.text.startswith(word, start) and self._ends_word(word, start + len(word))
        ]
        if quoted:
            found += [(code, quoted.end()) for code, label in enumerate(labels) if str(label) == inside]
        if number:
            found += [(code, number[1]) for code, label in enumerate(labels) if _equals(label, number[0])]
        for code, end in found:
            if ends(end):
                return code, end
            self._fail(end, "expected the end of the list, or a comma and another category")
        self._fail_label(feature, start, labels)
        return None

    def _fail_label(self, feature: int, start: int, labels: Sequence[Hashable]) -> None:
        """Remember that the attribute has no such category, and which ones are near it."""
        found = _UNKNOWN_LABEL.match(self.text, start)
        word = found[1].strip() if found else ""
        name = self.features[feature].name
        if not word:
            self._fail(start, f"expected a category of '{name}'")
            return
        shown = [repr(label) for label in labels]
        near = difflib.get_close_matches(repr(word), shown, 3)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"There are {', '.join(shown[:8])}."
        self._fail(start, f"{word!r} is no category of '{name}'\n{hint}")


def _join(conditions: Sequence[Condition]) -> Rule:
    """Return a rule of conditions, those on one attribute merged."""
    own: dict[int, Condition] = {}
    for condition in conditions:
        earlier = own.get(condition.feature)
        own[condition.feature] = condition if earlier is None else earlier & condition
    return Rule(tuple(_normalise(own[feature]) for feature in sorted(own)))


def _is_letter(character: str) -> bool:
    """Whether a character is part of a word."""
    return character.isalnum() or character == "_"


def _sign(found: "re.Match[str]") -> str:
    """Return a comparison in its usual spelling."""
    return _SIGNS.get(found[0], found[0])


def _equals(label: Hashable, number: float) -> bool:
    """Whether a category is this number."""
    return isinstance(label, (int, float)) and not isinstance(label, bool) and float(label) == number


def _compare(feature: int, sign: str, number: float) -> Condition:
    """Return a comparison with a number as ``lower < x <= upper``; the double before a number makes up for ``<``."""
    before = math.nextafter(number, -math.inf)
    lower = {">": number, ">=": before, "==": before}.get(sign, -math.inf)
    upper = {"<": before, "<=": number, "==": number}.get(sign, math.inf)
    return Condition(feature, lower, upper)


def _state(feature: int, own: Feature, missing: bool) -> Condition:
    """Return that a value is missing, or that it is known."""
    if own.categories is not None:
        return Condition(feature, categories=() if missing else tuple(range(len(own.categories))), missing=missing)
    return Condition(feature, lower=math.inf, missing=True) if missing else Condition(feature)


def _choose(feature: int, own: Feature, codes: set[int], negated: bool) -> Condition:
    """Return a set of categories, or all the others."""
    chosen = set(range(len(own.categories or ()))) - codes if negated else codes
    return Condition(feature, categories=tuple(sorted(chosen)))


def _with_missing(condition: Condition) -> Condition:
    """Return a condition that missing values satisfy, too."""
    return Condition(condition.feature, condition.lower, condition.upper, condition.categories, True)


def _normalise(condition: Condition) -> Condition:
    """Return a condition that only missing values satisfy in the one form that says so."""
    if condition.categories is None and condition.missing and condition.lower >= condition.upper:
        return Condition(condition.feature, lower=math.inf, missing=True)
    return condition
