"""How well a model did on held-out rows, as plain JSON values, and back."""

import math
from dataclasses import fields as fields_of
from typing import Any

import numpy as np

from rulegrove.estimators._checked_json import Value, encode
from rulegrove.estimators.figures import N_BINS, ClassFigures, Figures, NumberFigures, Reliability, Roc
from rulegrove.estimators.loss_figures import HazardFigures, LevelFigures, RateFigures, SeveralFigures

_MOST_ROWS = 2**53


def encode_figures(figures: Figures | None) -> dict[str, Any] | None:
    """Return the figures of held-out rows."""
    encoded: dict[str, Any] | None = encode(figures)
    return encoded


def _decode_plain(value: Value, kind: type[Figures]) -> tuple[dict[str, Value], dict[str, Any]]:
    """Return all fields of figures, and those that are plain numbers read."""
    fields = value.fields([field.name for field in fields_of(kind)])
    return fields, {
        "n_rows": fields["n_rows"].integer(1, _MOST_ROWS),
        "honest": fields["honest"].boolean(),
        "weighted": fields["weighted"].boolean(),
        **{field.name: fields[field.name].number(special=True) for field in fields_of(kind) if field.type is float},
    }


def decode_number_figures(value: Value) -> NumberFigures:
    """Return the figures of held-out rows whose target is a number."""
    return NumberFigures(**_decode_plain(value, NumberFigures)[1])


def decode_rate_figures(value: Value) -> RateFigures:
    """Return the figures of held-out rows whose target is a rate."""
    fields, plain = _decode_plain(value, RateFigures)
    return RateFigures(**plain, reliability=_decode_reliability(fields["reliability"], math.inf))


def decode_level_figures(value: Value, n_levels: int) -> LevelFigures:
    """Return the figures of held-out rows of which quantiles are predicted."""
    fields, plain = _decode_plain(value, LevelFigures)
    levels, below = (fields[name].numbers(n_levels, 0.0, 1.0) for name in ("levels", "below"))
    return LevelFigures(**plain, levels=levels, below=below)


def decode_several_figures(value: Value, names: tuple[str, ...]) -> SeveralFigures:
    """Return the figures of held-out rows whose target is several numbers of these names."""
    fields, plain = _decode_plain(value, SeveralFigures)
    if fields["names"].raw != list(names):
        fields["names"].refuse(f"a list of the names of the numbers, {', '.join(names)}")
    each = tuple(decode_number_figures(own) for own in fields["each"].items(len(names)))
    return SeveralFigures(**plain, names=names, each=each)


def decode_hazard_figures(value: Value) -> HazardFigures:
    """Return the figures of held-out rows of survival times."""
    fields, plain = _decode_plain(value, HazardFigures)
    return HazardFigures(**plain, n_events=fields["n_events"].integer(0, _MOST_ROWS))


def decode_class_figures(value: Value, n_classes: int) -> ClassFigures:
    """Return the figures of held-out rows of so many classes."""
    fields, plain = _decode_plain(value, ClassFigures)
    n_outputs = 1 if n_classes == 2 else n_classes
    return ClassFigures(
        **plain,
        shares=fields["shares"].numbers(n_classes, 0.0, 1.0),
        counts=np.array([row.integers(0, _MOST_ROWS, n_classes) for row in fields["counts"].items(n_classes)]),
        rocs=tuple(_decode_roc(item) for item in fields["rocs"].items(n_outputs)),
        reliabilities=tuple(_decode_reliability(item) for item in fields["reliabilities"].items(n_outputs)),
    )


def _decode_roc(value: Value) -> Roc:
    fields = value.fields(["false_positives", "true_positives", "area"])
    wrong = fields["false_positives"].numbers(None, 0.0, 1.0)
    right = fields["true_positives"].numbers(len(wrong), 0.0, 1.0)
    return Roc(wrong, right, fields["area"].number(special=True))


def _decode_reliability(value: Value, most: float = 1.0) -> Reliability:
    fields = value.fields(["predicted", "observed", "sizes"])
    predicted = fields["predicted"].numbers(None, 0.0, most)
    if len(predicted) > N_BINS:
        fields["predicted"].refuse(f"a list of at most {N_BINS}")
    observed = fields["observed"].numbers(len(predicted), 0.0, most)
    return Reliability(predicted, observed, fields["sizes"].integers(0, _MOST_ROWS, len(predicted)))
