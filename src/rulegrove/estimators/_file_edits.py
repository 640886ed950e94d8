"""The log of edits as plain JSON values, and back."""

from dataclasses import fields as fields_of
from typing import Any

from rulegrove.estimators._checked_json import Value, encode
from rulegrove.estimators.edits import Change, Cost, Edit, Edits, Move

MOST_ROWS = 2**53
DEPTH = 1  # an argument of a step may be an object of plain values, but no deeper


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
    words = ("step", "words", "time", "error_name", "loss_name")
    found = value.fields(words, {"honest": None, "before": None, "after": None, "change": None, "moved": []})
    step = _decode_step(found["step"])
    for name in ("operation", "note", "author"):
        if not isinstance(step.get(name, ""), str) or "operation" not in step:
            found["step"].refuse("an object with an 'operation', whose `note` and `author` are texts")
    honest, before, after = (found[name].maybe(_decode_cost) for name in ("honest", "before", "after"))
    return Edit(
        step=step,
        words=found["words"].text(),
        time=found["time"].text(),
        error_name=found["error_name"].text(),
        loss_name=found["loss_name"].text(),
        honest=honest,
        before=before,
        after=after,
        change=found["change"].maybe(_decode_change),
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


def _decode_cost(value: Value) -> Cost:
    """Return an error and a loss, which may be undefined."""
    found = value.fields([field.name for field in fields_of(Cost)])
    return Cost(**{name: own.number(special=True) for name, own in found.items()})


def _decode_change(value: Value) -> Change:
    """Return what an edit has changed."""
    found = value.fields([field.name for field in fields_of(Change)])
    n_rows = found.pop("n_rows").integer(0, MOST_ROWS)
    n_otherwise = found.pop("n_otherwise").integer(0, n_rows)
    numbers = {name: own.number(special=True) for name, own in found.items()}
    return Change(**numbers, n_otherwise=n_otherwise, n_rows=n_rows)


def _decode_move(value: Value) -> Move:
    """Return a weight that has moved."""
    found = value.fields([field.name for field in fields_of(Move)])
    return Move(
        found["number"].integer(1, MOST_ROWS),
        found["output"].text(),
        found["before"].number(),
        found["after"].number(),
    )
