"""A text on its way to become a rule: every way to read it is followed, and how far."""

import difflib
import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import NoReturn

from rulegrove._words import date_of, days_to, printable
from rulegrove.columns import Feature
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules._vocabulary import Vocabulary
from rulegrove.rules.rule import Condition, Rule

MAX_DEPTH = 20  # of parentheses
MAX_READINGS = 100_000  # conditions that are read or joined, beyond those of a text that can be read in one way only
SHOWN_LETTERS = 200  # of a text that is refused

_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?(?![\w.])")
_DATE = re.compile(r"""(["'`]?)(\d{4})-(\d\d?)-(\d\d?)\1(?![\w-])""")
_COMPARISON = re.compile(r"<=|>=|==|!=|<>|≤|≥|≠|<|>|=")
_AND = re.compile(r"\s*(?:&&?|and\b)", re.IGNORECASE)
_OR = re.compile(r"\s*(?:\|\|?|or\b)", re.IGNORECASE)
_OR_MISSING = re.compile(r"\s*or\s+missing\b", re.IGNORECASE)
_STATES = re.compile(r"is\s+(not\s+missing|missing|known)\b", re.IGNORECASE)
_NOT = re.compile(r"\s*(?:not\b|!)", re.IGNORECASE)
_TRUTH = re.compile(r"""\s*(["'`]?)(true|false)\1(?!\w)""", re.IGNORECASE)
_MEMBERS = re.compile(r"(not\s+)?in\b\s*", re.IGNORECASE)
_QUOTED = re.compile(r"""(["'`])((?:(?!\1).|\1\1)*)\1(?!\1)""", re.DOTALL)
_AFTER_NAME = re.compile(r"[<>=!≤≥≠&|()]|\b(?:in|is|not|and|or)\b|$", re.IGNORECASE)
_UNKNOWN_LABEL = re.compile(r"""["'`]?([^,\]})"'`&|]*)""")
_SIGNS = {"≤": "<=", "≥": ">=", "≠": "!=", "<>": "!=", "=": "=="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}
_CLOSING = {"{": "}", "[": "]", "(": ")"}

Bound = float | date
Reading = tuple[tuple[Condition, ...], int]  # what was read, and where it ends
Beginning = tuple["Beginning", tuple[Condition, ...]] | None  # what came before, and what was read last


def check_possible(condition: Condition, feature: Feature) -> None:
    """Refuse a condition that no value satisfies."""
    none_known = condition.lower >= condition.upper if condition.categories is None else not condition.categories
    if none_known and not condition.missing:
        raise InvalidInputError(f"no value of '{feature.name}' can satisfy it.")


class Reader:
    """A text on its way to become a rule; remembers how far it could be followed and what was missing there."""

    def __init__(self, text: str, vocabulary: Vocabulary):
        self.text = text
        self.vocabulary = vocabulary
        self.features = vocabulary.features
        self.stuck = -1
        self.problem = ""
        # A condition takes three letters, and is read once and joined once at each depth; a label takes two.
        self.left = MAX_READINGS + len(text) * (MAX_DEPTH + 2) // 3

    def read(self) -> Rule:
        """Return the one rule that the text can be."""
        if not self.text.strip():
            raise InvalidInputError('a rule needs at least one condition, such as "age > 40"; got nothing.')
        rules = list(dict.fromkeys(self._join(conditions) for conditions, _ in self._conjunction(0, 0)))
        if not rules:
            what, _, hint = self.problem.partition("\n")
            self._refuse(f"{what} (character {self.stuck + 1}).{' ' * bool(hint)}{hint}")
        if len(rules) > 1:
            rules = [rule for rule in rules if rule.text(self.features) == self.text] or rules
        if len(rules) > 1:
            self._refuse("this can be read in several ways; put the names of columns in backticks.")
        for condition in rules[0].conditions:
            try:
                check_possible(condition, self.features[condition.feature])
            except InvalidInputError as error:
                self._refuse(str(error))
        return rules[0]

    def _join(self, conditions: Sequence[Condition]) -> Rule:
        """Return a rule of conditions, those on one attribute merged."""
        own: dict[int, Condition] = {}
        for condition in conditions:
            earlier = own.get(condition.feature)
            own[condition.feature] = condition if earlier is None else earlier & condition
        return Rule(tuple(_normalise(own[position], self.features[position]) for position in sorted(own)))

    def _refuse(self, problem: str) -> NoReturn:
        """Say what is wrong with the text."""
        raise InvalidInputError(printable(f'"{_cut(self.text)}": {problem}')) from None

    def _spend(self, n_conditions: int) -> None:
        """Refuse a text that takes too long to read."""
        self.left -= n_conditions
        if self.left < 0:
            self._refuse("this can be read in too many ways; put the names of columns in backticks.")

    def _fail(self, place: int, problem: str) -> None:
        """Remember what could not be read; only what lies farthest matters, and there what was tried first."""
        place = self._skip(place)
        if place > self.stuck:
            self.stuck, self.problem = place, problem

    def _fail_end(self, place: int, closing: str) -> None:
        """Remember that a condition is followed by what can follow none."""
        two = _OR.match(self.text, place)
        told = (
            "'or' makes two rules\nGive each of them as a rule of its own." if two else f"expected 'and' or {closing}"
        )
        self._fail(place, told)

    def _skip(self, place: int) -> int:
        """Return the next place that is no blank."""
        found = _SPACE.match(self.text, place)
        return found.end() if found else place

    def _conjunction(self, start: int, depth: int) -> Iterator[Reading]:
        """Yield all ways to read conditions joined by `and`; at depth 0 they must reach the end of the text."""
        waiting: list[tuple[Beginning, int]] = [(None, start)]
        while waiting:
            before, place = waiting.pop()
            further: list[tuple[Beginning, int]] = []
            for conditions, end in self._part(place, depth):
                self._spend(1)
                joined = _AND.match(self.text, end)
                if joined:
                    further.append(((before, conditions), joined.end()))
                elif depth or self._skip(end) == len(self.text):
                    whole = _unroll((before, conditions))
                    self._spend(len(whole))
                    yield whole, end
                else:
                    self._fail_end(end, "the end of the rule")
            waiting += reversed(further)

    def _part(self, place: int, depth: int) -> Iterator[Reading]:
        """Yield all ways to read one condition, or several in parentheses."""
        for condition, end in self._condition(place):
            missing = _OR_MISSING.match(self.text, end)
            if missing:
                condition, end = replace(condition, missing=True), missing.end()
            yield (condition,), end
        opened = self._skip(place)
        if not self.text.startswith("(", opened):
            return
        if depth == MAX_DEPTH:
            self._fail(opened, f"there are more than {MAX_DEPTH} parentheses in each other")
            return
        for conditions, end in self._conjunction(opened + 1, depth + 1):
            closed = self._skip(end)
            if self.text.startswith(")", closed):
                yield conditions, closed + 1
            else:
                self._fail_end(end, "')'")

    def _condition(self, place: int) -> Iterator[tuple[Condition, int]]:
        """Yield all ways to read one condition."""
        named = False
        for feature, end in self._name(place):
            named = True
            yield from self._about(feature, end)
        for feature, end in self._negated(place):
            named = True
            if self.features[feature].boolean:
                yield _say(feature, truth=False), end
            else:
                self._fail(place, f"'{self.features[feature].name}' is no truth value, which alone can follow 'not'")
        bound = self._bound(place)
        if bound is not None:
            yield from self._about_bound(*bound)
        elif not named and not self.text.startswith("(", self._skip(place)):
            self._fail_name(place)

    def _fail_name(self, place: int) -> None:
        """Remember that no column has the name that stands here, and which ones are near it."""
        start = self._skip(place)
        if start <= self.stuck:
            return
        quoted = _QUOTED.match(self.text, start)
        after = _AFTER_NAME.search(self.text, start)
        word = quoted[2] if quoted else self.text[start : after.start() if after else None].strip()
        if not word:
            self._fail(start, "expected the name of a column")
            return
        names = {feature.name.lower(): feature.name for feature in self.features}
        near = [repr(names[name]) for name in _near(word.lower(), list(names))]
        self._fail(start, f"{_cut(word)!r} is no column" + (f"\nDid you mean {' or '.join(near)}?" if near else ""))

    def _name(self, place: int) -> Iterator[tuple[int, int]]:
        """Yield the attributes whose name stands here; a name may itself begin with blanks."""
        first, names = self._skip(place), self.vocabulary.names
        quoted = _QUOTED.match(self.text, first)
        if quoted:
            yield from ((position, quoted.end()) for position in names.of(_inside(quoted)))
        for lead in names.leads:
            if first - lead >= place:
                yield from names.at(self.text, first - lead)

    def _negated(self, place: int) -> Iterator[tuple[int, int]]:
        """Yield the attributes whose name stands here after ``not``."""
        negated = _NOT.match(self.text, place)
        if negated:
            yield from self._name(negated.end())

    def _bound(self, place: int) -> tuple[Bound, int] | None:
        """Return the number or the date that stands here."""
        found = _DATE.match(self.text, self._skip(place))
        if not found:
            return self._number(place)
        try:
            return date(int(found[2]), int(found[3]), int(found[4])), found.end()
        except ValueError:  # no such day
            return None

    def _number(self, place: int) -> tuple[float, int] | None:
        """Return the number that stands here."""
        found = _NUMBER.match(self.text, self._skip(place))
        try:
            value = float(found[0]) if found else math.nan
        except ValueError:  # misplaced underscores
            return None
        return (value, found.end()) if found and math.isfinite(value) else None

    def _about_bound(self, bound: Bound, place: int) -> Iterator[tuple[Condition, int]]:
        """Yield what compares a bound with an attribute: ``30 < age``, ``30 < age <= 40``."""
        start = self._skip(place)
        sign = _COMPARISON.match(self.text, start)
        if not sign or (way := _sign(sign)) not in _MIRRORED:
            self._fail(start, "expected '<' or '<=' and a column after the number")
            return
        named = False
        for feature, end in self._name(sign.end()):
            named = True
            if not self._is_number(feature, start, sign[0]) or not self._suits(feature, bound, place):
                continue
            condition = _compare(feature, _MIRRORED[way], bound)
            second_start = self._skip(end)
            second = _COMPARISON.match(self.text, second_start)
            if not second:
                yield condition, end
            elif way == "==" or _sign(second)[:1] != way[:1]:
                self._fail(second_start, f"expected '{way[:1]}' or '{way[:1]}=', the way of the first comparison")
            else:
                for other, other_end in self._compared(feature, second):
                    yield condition & other, other_end
        if not named:
            self._fail_name(sign.end())

    def _compared(self, feature: int, sign: "re.Match[str]") -> Iterator[tuple[Condition, int]]:
        """Yield the comparison of an attribute with the bound after a sign."""
        bound = self._bound(sign.end())
        if bound is None:
            wanted = "a date such as 2024-02-29" if self.features[feature].part == "date" else "a number"
            self._fail(sign.end(), f"expected {wanted} after '{sign[0]}'")
        elif self._suits(feature, bound[0], sign.end()):
            yield _compare(feature, _sign(sign), bound[0]), bound[1]

    def _suits(self, feature: int, bound: Bound, place: int) -> bool:
        """Whether an attribute can be compared with a bound, days with dates; remember it if not."""
        own = self.features[feature]
        if isinstance(bound, date) and own.part != "date":
            self._fail(place, f"'{own.name}' is no date; compare it with a number")
            return False
        if own.part == "date" and not isinstance(bound, date) and date_of(bound) is not None:
            self._fail(place, f"'{own.name}' is a date; compare it with one such as 2024-02-29")
            return False
        return True

    def _is_number(self, feature: int, place: int, sign: str) -> bool:
        """Whether an attribute has an order; remember it if not."""
        own = self.features[feature]
        if own.categories is None:
            return True
        self._fail(place, f"'{own.name}' is categorical and has no '{sign}'; use =, != or in {{...}}")
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
        elif own.boolean and not sign and self._ends_label(place):
            yield _say(feature, truth=True), place
        elif own.boolean and sign and _sign(sign) in ("==", "!=") and (told := _TRUTH.match(self.text, sign.end())):
            yield _say(feature, truth=(told[2].lower() == "true") == (_sign(sign) == "==")), told.end()
        elif not sign:
            self._fail(start, f"expected a comparison such as '>' or 'in' after '{own.name}'")
        elif own.categories is not None and _sign(sign) in ("==", "!="):
            label = self._label(feature, sign.end(), self._ends_label)
            if label is not None:
                yield _choose(feature, own, {label[0]}, _sign(sign) == "!="), label[1]
        elif not self._is_number(feature, start, sign[0]):
            return
        elif _sign(sign) == "!=":
            self._fail(start, f"'{sign[0]}' makes two rules of a number\nGive one with '<' and one with '>'.")
        else:
            yield from self._compared(feature, sign)

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
            label = self._label(feature, place + 1, lambda end: self.text.startswith((",", closing), self._skip(end)))
            if label is None:
                return
            codes.add(label[0])
            self._spend(1)
            place = self._skip(label[1])
            if self.text[place] == closing:
                yield _choose(feature, self.features[feature], codes, negated), place + 1
                return

    def _label(self, feature: int, place: int, ends: Callable[[int], bool]) -> tuple[int, int] | None:
        """Return the category that stands here: as rules print it, in any quotes, bare, or as a number."""
        start, labels = self._skip(place), self.vocabulary.labels(feature)
        quoted, number = _QUOTED.match(self.text, start), self._number(start)
        found = [*labels.printed.at(self.text, start), *labels.bare.at(self.text, start)]
        if quoted:
            found += [(code, quoted.end()) for code in labels.bare.of(_inside(quoted))]
        if number:
            found += [(code, number[1]) for code in labels.of_number(number[0])]
        for code, end in found:
            if ends(end):
                return code, end
            self._fail(end, "expected the end of the list, or a comma and another category")
        self._fail_label(feature, start)
        return None

    def _fail_label(self, feature: int, start: int) -> None:
        """Remember that the attribute has no such category, and which ones are near it."""
        if start <= self.stuck:
            return
        found = _UNKNOWN_LABEL.match(self.text, start)
        word = found[1].strip() if found else ""
        own = self.features[feature]
        if not word:
            self._fail(start, f"expected a category of '{own.name}'")
            return
        shown = [repr(label) for label in own.categories or ()]
        near = _near(repr(word), shown)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"There are {', '.join(map(_cut, shown[:8]))}."
        self._fail(start, f"{_cut(word)!r} is no category of '{own.name}'\n{hint}")


def _unroll(last: Beginning) -> tuple[Condition, ...]:
    """Return all conditions of a reading, in their order."""
    parts = []
    while last is not None:
        last, conditions = last
        parts.append(conditions)
    return tuple(itertools.chain.from_iterable(reversed(parts)))


def _inside(quoted: "re.Match[str]") -> str:
    """Return what stands in quotes."""
    return quoted[2].replace(quoted[1] * 2, quoted[1])


def _near(word: str, known: Sequence[str]) -> list[str]:
    """Return the known words that may have been meant; none for a text, which is no word."""
    return difflib.get_close_matches(word, known, 3) if len(word) <= SHOWN_LETTERS else []


def _cut(word: str) -> str:
    """Return the beginning of a word that is long."""
    return word if len(word) <= SHOWN_LETTERS else f"{word[:SHOWN_LETTERS]}…"


def _sign(found: "re.Match[str]") -> str:
    """Return a comparison in its usual spelling."""
    return _SIGNS.get(found[0], found[0])


def _compare(feature: int, sign: str, bound: Bound) -> Condition:
    """Return a comparison as ``lower < x <= upper``.

    What lies before a number is the double before it, which makes up for ``<``; days are told apart at noon.
    """
    if isinstance(bound, date):
        before, after = days_to(bound) - 0.5, days_to(bound) + 0.5
    else:
        before, after = math.nextafter(bound, -math.inf), bound
    lower = {">": after, ">=": before, "==": before}.get(sign, -math.inf)
    upper = {"<": before, "<=": after, "==": after}.get(sign, math.inf)
    return Condition(feature, lower, upper)


def _state(feature: int, own: Feature, missing: bool) -> Condition:
    """Return that a value is missing, or that it is known."""
    if own.categories is not None:
        return Condition(feature, categories=() if missing else tuple(range(own.n_categories)), missing=missing)
    return Condition(feature, lower=math.inf, missing=True) if missing else Condition(feature)


def _choose(feature: int, own: Feature, codes: set[int], negated: bool) -> Condition:
    """Return a set of categories, or all the others."""
    chosen = set(range(own.n_categories)) - codes if negated else codes
    return Condition(feature, categories=tuple(sorted(chosen)))


def _say(feature: int, *, truth: bool) -> Condition:
    """Return that a truth value is true, or that it is false."""
    return Condition(feature, lower=0.0) if truth else Condition(feature, upper=0.0)


def _normalise(condition: Condition, feature: Feature) -> Condition:
    """Return a condition on a truth value, or that only missing values satisfy, in the one form that says so."""
    if feature.boolean and condition.truth is not None:
        return replace(_say(condition.feature, truth=condition.truth), missing=condition.missing)
    if condition.categories is None and condition.missing and condition.lower >= condition.upper:
        return Condition(condition.feature, lower=math.inf, missing=True)
    return condition
