"""How well a model did on held-out rows, as plain JSON values, and back."""

from typing import Any

import numpy as np

from rulegrove.estimators._checked_json import Value, encode_number
from rulegrove.estimators.figures import N_BINS, ClassFigures, NumberFigures, Reliability, Roc

_COMMON = ["n_rows", "honest", "weighted"]
_OF_NUMBERS = ["r2", "rmse", "mean_absolute", "deviation"]
_OF_CLASSES = ["accuracy", "base_accuracy", "auc", "log_loss", "base_log_loss"]
_CURVES = ["shares", "counts", "rocs", "reliabilities"]
_MOST_ROWS = 2**53


def encode_figures(figures: ClassFigures | NumberFigures | None) -> dict[str, Any] | None:
    """Return the figures of held-out rows."""
    if figures is None:
        return None
    common = {"n_rows": figures.n_rows, "honest": figures.honest, "weighted": figures.weighted}
    if isinstance(figures, NumberFigures):
        return {**common, **{name: encode_number(getattr(figures, name)) for name in _OF_NUMBERS}}
    return {
        **common,
        **{name: encode_number(getattr(figures, name)) for name in _OF_CLASSES},
        "shares": figures.shares.tolist(),
        "counts": figures.counts.tolist(),
        "rocs": [
            {
                "false_positives": roc.false_positives.tolist(),
                "true_positives": roc.true_positives.tolist(),
                "area": encode_number(roc.area),
            }
            for roc in figures.rocs
        ],
        "reliabilities": [
            {"predicted": one.predicted.tolist(), "observed": one.observed.tolist(), "sizes": one.sizes.tolist()}
            for one in figures.reliabilities
        ],
    }


def decode_figures(value: Value | None, n_classes: int | None) -> ClassFigures | NumberFigures | None:
    """Return the figures of held-out rows; None where the file has none.

    Parameters
    ----------
    value : Value or None
    n_classes : int or None
        None for a target that is a number.
    """
    if value is None or value.is_null:
        return None
    names = _OF_NUMBERS if n_classes is None else [*_OF_CLASSES, *_CURVES]
    fields = value.fields([*_COMMON, *names])
    common: dict[str, Any] = {
        "n_rows": fields["n_rows"].integer(1, _MOST_ROWS),
        "honest": fields["honest"].boolean(),
        "weighted": fields["weighted"].boolean(),
        **{name: fields[name].number(special=True) for name in (_OF_NUMBERS if n_classes is None else _OF_CLASSES)},
    }
    if n_classes is None:
        return NumberFigures(**common)
    n_outputs = 1 if n_classes == 2 else n_classes
    rows = [_decode_counts(row, n_classes) for row in fields["counts"].items(n_classes)]
    return ClassFigures(
        **common,
        shares=fields["shares"].numbers(n_classes, 0.0, 1.0),
        counts=np.array(rows, dtype=np.int64),
        rocs=tuple(_decode_roc(item) for item in fields["rocs"].items(n_outputs)),
        reliabilities=tuple(_decode_reliability(item) for item in fields["reliabilities"].items(n_outputs)),
    )


def _decode_counts(value: Value, length: int | None = None) -> list[int]:
    return [item.integer(0, _MOST_ROWS) for item in value.items(length)]


def _decode_roc(value: Value) -> Roc:
    fields = value.fields(["false_positives", "true_positives", "area"])
    wrong = fields["false_positives"].numbers(None, 0.0, 1.0)
    right = fields["true_positives"].numbers(len(wrong), 0.0, 1.0)
    return Roc(wrong, right, fields["area"].number(special=True))


def _decode_reliability(value: Value) -> Reliability:
    fields = value.fields(["predicted", "observed", "sizes"])
    predicted = fields["predicted"].numbers(None, 0.0, 1.0)
    if len(predicted) > N_BINS:
        fields["predicted"].refuse(f"a list of at most {N_BINS}")
    sizes = _decode_counts(fields["sizes"], len(predicted))
    observed = fields["observed"].numbers(len(predicted), 0.0, 1.0)
    return Reliability(predicted, observed, np.array(sizes, dtype=np.int64))
