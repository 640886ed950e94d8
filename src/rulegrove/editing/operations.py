"""What edits do to a list before weights are solved for: each takes a state and returns another one, with words."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.design.terms import Linear, Term
from rulegrove.editing.state import Listed, State
from rulegrove.estimators._constraints import Constraints, name_attribute
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.parse import parse_rule
from rulegrove.rules.rule import Condition, Rule

DIRECTIONS = {"increasing": 1, "decreasing": -1}
MOST_DIGITS = 15

Done = tuple[State, str]


@dataclass(frozen=True, eq=False)
class Edited:
    """What edits ask of the model.

    Attributes
    ----------
    target : Target
    names : tuple of str
        Columns of the table.
    outputs : tuple of str
        What scores are about, in words; one empty text where there is one score.
    """

    target: Target
    names: tuple[str, ...]
    outputs: tuple[str, ...]


def drop(state: State, about: Edited, number: int) -> Done:
    """Leave a term out."""
    term = _find(state, number).term
    return _leave_out(state, [number]), f"Dropped {number}: {term.text(state.features)}"


def swap(state: State, about: Edited, number: int, rule: str) -> Done:
    """Put another rule in the place of a term."""
    old, new = _find(state, number), _read(state, rule, "replace")
    words = f"Replaced {number}, {old.term.text(state.features)}, by {new.text(state.features)}"
    return _put(state, {number: new}), words


def round_thresholds(state: State, about: Edited, thresholds: Any = 2) -> Done:
    """Round the thresholds of all rules, or of some, to so many significant digits."""
    _need_rows(state, "round")
    if isinstance(thresholds, Mapping):
        digits = {_read_number(key): own for key, own in thresholds.items()}
        for number in digits:
            _need_rule(state, number, "rounded")
    else:
        digits = {number: thresholds for number, own in state.terms.items() if isinstance(own.term, Rule)}
    rounded: dict[int, Rule] = {}
    for number, own in digits.items():
        if not _is_whole(own) or not 1 <= own <= MOST_DIGITS:
            raise InvalidInputError(
                f"`thresholds` must be a number of digits from 1 to {MOST_DIGITS}, or one for each rule, such as "
                f"{{2: 1}}; got {own!r}."
            )
        term = state.terms[number].term
        assert isinstance(term, Rule)
        try:
            found = parse_rule(term.text(state.features, int(own)), state.features)
        except InvalidInputError as error:
            raise InvalidInputError(f"Rule {number} cannot be rounded to {own} digits: {error}") from None
        if found != term:
            rounded[number] = found
    if not rounded:
        return state, "Rounded nothing: all thresholds are round already"
    told = "; ".join(f"{number}: {rule.text(state.features)}" for number, rule in rounded.items())
    return _put(state, rounded, fixed=True), f"Rounded {told}"


def merge(state: State, about: Edited, first: int, second: int) -> Done:
    """Put one rule that holds wherever either of two does in the place of the first."""
    one, other = (_need_rule(state, number, "merged") for number in (first, second))
    if first == second:
        raise InvalidInputError(f"Rule {first} cannot be merged with itself; name two rules.")
    _need_rows(state, "merge")
    shared = [
        _loosen(condition, another)
        for condition in one.conditions
        for another in other.conditions
        if condition.feature == another.feature
    ]
    kept = tuple(own for own in shared if not _holds_always(own, state))
    if not kept:
        raise InvalidInputError(
            f"Rules {first} and {second} have no bound in common, so a rule that covers both would hold on every row. "
            "Drop one of them, or replace one with a rule of your own."
        )
    free = state.terms[first].free | state.terms[second].free
    merged = _put(_leave_out(state, [second]), {first: Rule(kept)}, free=free)
    return merged, f"Merged {first} and {second} into {first}: {Rule(kept).text(state.features)}"


def add(state: State, about: Edited, rule: str) -> Done:
    """Add a rule."""
    new, number = _read(state, rule, "add"), state.next_number
    added = replace(_put(state, {number: new}), next_number=number + 1)
    return added, f"Added {number}: {new.text(state.features)}"


def forbid(state: State, about: Edited, attribute: str) -> Done:
    """Leave out all terms on an attribute, for good."""
    own = _find_attribute(state, about, attribute, "forbid")
    gone = [number for number, listed in state.terms.items() if own & set(listed.term.features)]
    told = f": dropped {', '.join(map(str, gone))}" if gone else ", which no term uses"
    return replace(_leave_out(state, gone), forbidden=state.forbidden | own), f"Forbade {attribute}{told}"


def fix(state: State, about: Edited, number: int, coefficient: Any) -> Done:
    """Fix the weight of a term, or free it again."""
    own = _find(state, number)
    fixed = _read_coefficient(own, about, coefficient)
    sign = state.constraints.sign(own.term)
    if sign and (sign * fixed < 0.0).any():
        raise InvalidInputError(
            f"The coefficient of {number} must not be {'negative' if sign > 0 else 'positive'}, because that goes "
            "against the direction of its attribute; give the other sign, or drop the term."
        )
    free = own.free | ~np.isnan(fixed)
    changed = replace(own, fixed=fixed, free=free, coefs=np.where(np.isnan(fixed), own.coefs, fixed))
    if np.isnan(fixed).all():
        words = f"Freed the weight of {number}"
    else:
        pairs = zip(about.outputs, fixed.tolist(), strict=True)
        told = ", ".join(f"{value:g}{f' for {name}' if name else ''}" for name, value in pairs if not math.isnan(value))
        words = f"Fixed the weight of {number} at {told}"
    return replace(state, terms={**state.terms, number: changed}), words


def monotone(state: State, about: Edited, attribute: str, direction: str) -> Done:
    """Let the score only rise, or only fall, with an attribute."""
    if direction not in DIRECTIONS:
        raise InvalidInputError(f"`direction` must be 'increasing' or 'decreasing'; got {direction!r}.")
    own = _find_attribute(state, about, attribute, "monotone")
    for feature in own:
        if state.features[feature].categories is not None:
            raise InvalidInputError(
                f"{attribute!r} is categorical, so it can have no direction: its values have no order."
            )
    directions = state.directions.copy()
    directions[list(own)] = DIRECTIONS[direction]
    constraints = Constraints(directions)
    about.target.check_constraints(constraints)
    gone = []
    for number, listed in state.terms.items():
        sign = constraints.sign(listed.term)
        if sign is None or (state.counts is None and sign * listed.coefs[0] < 0.0):
            gone.append(number)
        elif sign * np.nan_to_num(listed.fixed[0]) < 0.0:
            raise InvalidInputError(
                f"The weight of {number} is fixed at {listed.fixed[0]:g}, which goes against {attribute!r} "
                f"{direction}; free it first, with coefficient=None."
            )
    way = "rise" if direction == "increasing" else "fall"
    why = "which would go against it" if state.counts is None else "which would go both ways"
    told = f"; dropped {', '.join(map(str, gone))}, {why}" if gone else ""
    return replace(_leave_out(state, gone), directions=directions), f"Let the score only {way} with {attribute}{told}"


OPERATIONS: dict[str, Callable[..., Done]] = {
    "drop": drop,
    "replace": swap,
    "round": round_thresholds,
    "merge": merge,
    "add": add,
    "forbid": forbid,
    "fix": fix,
    "monotone": monotone,
}


def _is_whole(value: Any) -> bool:
    """Whether a value is a whole number; a truth value is none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _read_number(number: Any) -> int:
    """Return the number of a term; in a script of JSON a key is a text."""
    if isinstance(number, str) and number.isdecimal():
        return int(number)
    if not _is_whole(number):
        raise InvalidInputError(f"A term is given by its number in the printed list; got {number!r}.")
    return int(number)


def _find(state: State, number: Any) -> Listed:
    """Return the term of a number."""
    if (found := state.terms.get(_read_number(number))) is None:
        there = ", ".join(map(str, state.terms))
        raise InvalidInputError(
            f"There is no term {number} in the list; {f'it has {there}' if there else 'it is empty'}."
        )
    return found


def _need_rule(state: State, number: Any, done: str) -> Rule:
    """Return the rule of a number; linear terms are refused."""
    term = _find(state, number).term
    if isinstance(term, Linear):
        raise InvalidInputError(
            f"Term {number} is a line, {term.text(state.features)}, which has no thresholds; only rules can be {done}."
        )
    return term


def _need_rows(state: State, operation: str) -> None:
    """Refuse what makes new rules where no rows tell of them."""
    if state.counts is None:
        raise InvalidInputError(
            f"`{operation}` makes a new rule, which has to be counted on rows, but this session has no rows; open it "
            "by model.edit(X, y)."
        )


def _read(state: State, rule: Any, operation: str) -> Rule:
    """Return a rule of words."""
    _need_rows(state, operation)
    if not isinstance(rule, str):
        raise InvalidInputError(f"`rule` must be a text such as 'age > 40 and mass > 30'; got {rule!r}.")
    return parse_rule(rule, state.features)


def _find_attribute(state: State, about: Edited, attribute: Any, operation: str) -> frozenset[int]:
    """Return the places of an attribute, by its name or by that of the column that several are read from."""
    name = name_attribute(attribute, state.features, about.names, operation)
    own = frozenset(place for place, one in enumerate(state.features) if name in (one.name, one.source))
    if not own:
        raise InvalidInputError(f"The model does not use the column {name!r}: it was left out of the fit.")
    return own


def _read_coefficient(listed: Listed, about: Edited, coefficient: Any) -> FloatArray:
    """Return the weights of a term for each output that are to be fixed; NaN for those that are free."""
    fixed = np.full(len(about.outputs), np.nan)
    if coefficient is None:
        return fixed
    if len(about.outputs) == 1:
        fixed[0] = _read_weight(coefficient)
        return fixed
    if not isinstance(coefficient, Mapping):
        raise InvalidInputError(
            f"The model has a score for each of {len(about.outputs)} classes; give `coefficient` as "
            f"{{{about.outputs[0]!r}: 0.3}}, by class."
        )
    for label, value in coefficient.items():
        if str(label) not in about.outputs:
            raise InvalidInputError(
                f"{str(label)!r} is not a class of the model; its classes are {', '.join(about.outputs)}."
            )
        fixed[about.outputs.index(str(label))] = _read_weight(value)
    return fixed


def _read_weight(value: Any) -> float:
    """Return a finite number."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
        raise InvalidInputError(f"`coefficient` must be a finite number, or None to free the weight; got {value!r}.")
    return float(value)


def _leave_out(state: State, numbers: list[int]) -> State:
    """Return the list without some terms."""
    gone = set(map(int, numbers))
    return replace(state, terms={number: own for number, own in state.terms.items() if number not in gone})


def _put(state: State, rules: Mapping[int, Rule], *, free: Any = None, fixed: bool = False) -> State:
    """Return the list with other rules at some numbers, counted on the rows; those that cannot be are refused."""
    assert state.counts is not None
    terms = dict(state.terms)
    for number, rule in rules.items():
        old = state.terms.get(number)
        own = np.ones(state.n_outputs, dtype=bool) if old is None else old.free
        keeps = old is not None and fixed
        terms[number] = Listed(
            rule,
            np.zeros(state.n_outputs) if old is None else old.coefs,
            own if free is None else free,
            old.fixed if old is not None and keeps else np.full(state.n_outputs, np.nan),
        )
    _check_rules(state, terms, rules)
    changed = replace(state, terms=terms, counts=state.counts.learn(list(rules.values())))
    places = {number: place for place, number in enumerate(terms)}
    means, variances = changed.moments
    for number, rule in rules.items():
        if not variances[places[number]] > 0.0:
            where = "every row" if means[places[number]] > 0.5 else "no row"
            raise InvalidInputError(
                f"'{rule.text(state.features)}' holds on {where} that was counted, so no weight can be learned for "
                "it; give it other bounds."
            )
    return changed


def _check_rules(state: State, terms: Mapping[int, Listed], rules: Mapping[int, Rule]) -> None:
    """Refuse rules that the list has, or that it must not have."""
    seen: dict[Term, int] = {}
    for number, own in terms.items():
        if own.term in seen:
            raise InvalidInputError(
                f"{seen[own.term]} and {number} would be the same rule, {own.term.text(state.features)}; drop one of "
                "them first, or leave one as it is."
            )
        seen[own.term] = number
    for rule in rules.values():
        for feature in state.forbidden.intersection(rule.features):
            raise InvalidInputError(
                f"{state.features[feature].name!r} is forbidden in this session; write the rule without it."
            )
        if state.constraints.sign(rule) is None:
            raise InvalidInputError(
                f"'{rule.text(state.features)}' has two bounds on an attribute with a direction, so the score would "
                "both rise and fall; give it one bound."
            )


def _loosen(one: Condition, other: Condition) -> Condition:
    """Return the condition that holds wherever either of two on the same attribute does."""
    categories = None
    if one.categories is not None and other.categories is not None:
        categories = tuple(sorted({*one.categories, *other.categories}))
    return Condition(
        one.feature,
        min(one.lower, other.lower),
        max(one.upper, other.upper),
        categories,
        one.missing or other.missing,
    )


def _holds_always(condition: Condition, state: State) -> bool:
    """Whether a condition leaves no known value out."""
    if condition.categories is not None:
        return len(condition.categories) >= state.features[condition.feature].n_categories
    return condition.lower == -math.inf and condition.upper == math.inf
