"""The log of edits as plain JSON values, and back."""

from collections.abc import Callable
from dataclasses import fields as fields_of
from typing import Any, TypeVar

from rulegrove.estimators._checked_json import Value, encode
from rulegrove.estimators.edits import Change, Cost, Edit, Edits, Move

MOST_ROWS = 2**53
DEPTH = 1  # an argument of a step may be an object of plain values, but no deeper
R = TypeVar("R", Cost, Change)

_READ: dict[str, Callable[[Value], Any]] = {"n_otherwise": lambda value: value.integer(0, MOST_ROWS)}
_READ["n_rows"] = _READ["n_otherwise"]


def encode_edits(edits: Edits) -> list[dict[str, Any]]:
    """Return the log, with what each edit was asked to do and what it cost."""
    return [{**encode(edit), "step": _encode_step(edit.step)} for edit in edits]


def _encode_step(value: Any) -> Any:
    """Return a step, numbers that are not finite as texts."""
    return {key: _encode_step(own) for key, own in value.items()} if isinstance(value, dict) else encode(value)


def decode_edits(value: Value) -> Edits:
    """Return the log of a model file."""
    return Edits([_decode_edit(item) for item in value.items()])


def _decode_edit(value: Value) -> Edit:
    """Return one edit."""
    words = ("words", "time", "error_name", "loss_name")
    found = value.fields(["step", *words], {"honest": None, "before": None, "after": None, "change": None, "moved": []})
    step = _decode_step(found["step"])
    for name in ("operation", "note", "author"):
        if not isinstance(step.get(name, ""), str) or "operation" not in step:
            found["step"].refuse("an object with an 'operation', whose `note` and `author` are texts")
    costs = (found[name].maybe(lambda own: _decode(own, Cost)) for name in ("honest", "before", "after"))
    return Edit(
        step,
        *(found[name].text() for name in words),
        *costs,
        change=found["change"].maybe(lambda own: _decode(own, Change)),
        moved=tuple(_decode_move(item) for item in found["moved"].items()),
    )


def _decode_step(value: Value, depth: int = DEPTH) -> dict[str, Any]:
    """Return a step: plain values by their names."""
    return {key: _decode_argument(own, depth) for key, own in value.keyed().items()}


def _decode_argument(value: Value, depth: int) -> Any:
    """Return an argument of a step."""
    if isinstance(value.raw, dict) and depth:
        return _decode_step(value, depth - 1)
    if isinstance(value.raw, (dict, list)):
        value.refuse("null, a text, a number, true or false")
    return value.raw


def _decode(value: Value, make: type[R]) -> R:
    """Return a record of numbers."""
    found = value.fields([field.name for field in fields_of(make)])
    return make(**{name: _READ.get(name, _decode_number)(own) for name, own in found.items()})


def _decode_number(value: Value) -> float:
    """Return a number, which may be undefined."""
    return value.number(special=True)


def _decode_move(value: Value) -> Move:
    """Return a weight that has moved."""
    found = value.fields([field.name for field in fields_of(Move)])
    return Move(
        found["number"].integer(1, MOST_ROWS),
        found["output"].text(),
        found["before"].number(),
        found["after"].number(),
    )
