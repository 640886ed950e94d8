"""What turns scores into probabilities, from plain JSON values."""

import numpy as np

from rulegrove.estimators._checked_json import Value
from rulegrove.estimators.calibration import Curves, Link, Sigmoid, Steps, Temperature, find_link


def decode_link(value: Value, n_outputs: int) -> Link | None:
    """Return what turns scores of so many outputs into probabilities."""
    if value.is_null:
        return None
    fields = value.fields([], {"slope": None, "curves": None})
    if fields["slope"].is_null == fields["curves"].is_null:
        value.refuse("null, or an object with either a slope or curves")
    if fields["curves"].is_null:
        return Temperature(fields["slope"].number())
    return Curves(tuple(_decode_curve(item) for item in fields["curves"].items(n_outputs)))


def _decode_curve(value: Value) -> Sigmoid | Steps:
    if isinstance(value.raw, dict) and "slope" in value.raw:
        fields = value.fields(["slope", "shift"])
        return Sigmoid(fields["slope"].number(), fields["shift"].number())
    fields = value.fields(["scores", "probabilities"])
    scores = fields["scores"].numbers()
    if not scores.size or (np.diff(scores) <= 0).any():
        fields["scores"].refuse("one rising number or more")
    return Steps(scores, fields["probabilities"].numbers(len(scores), 0.0, 1.0))


def decode_plain(outputs: Value, n_outputs: int, mode: str) -> Link:
    """Return what scores of classes mean by themselves, from the solver of the first output.

    Its name and parameters tell it, so that no solver is loaded; they are checked where one is made of them.
    """
    first = next(outputs.items(n_outputs)).fields(["solver", "path", "selection"])["solver"]
    solver = first.fields(["solver", "parameters"])
    given = {name: value.raw for name, value in solver["parameters"].keyed().items()}
    logistic = given.get("loss") == "logistic"
    joint = solver["solver"].raw == "Glmnet" and mode == "shared" and given.get("relax", False) in (False, [1.0])
    return find_link("logistic" if logistic else "squared", n_outputs, together=logistic and joint and n_outputs > 1)
