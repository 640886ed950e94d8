"""How the chosen model does on the rows given: classes, probabilities, predictions, partial dependence."""

from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from rulegrove._typing import AnyArray, FloatArray
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.inspection import partial_dependence
from rulegrove.inspection._intervals import estimate_shares
from rulegrove.plots.calibration import LEVEL
from rulegrove.report._given import Given
from rulegrove.report._numbers import shorten

N_BINS = 10
MAX_DOTS = 500  # of predicted against observed
MAX_CURVES = 6
DECILES = np.linspace(0.1, 0.9, 9)


def check_classes(
    model: RuleEnsembleClassifier, given: Given, predictions: AnyArray, probabilities: FloatArray
) -> dict[str, Any]:
    """Return the confusion matrix, and for each output how its probabilities come true."""
    assert given.codes is not None
    assert given.targets is not None
    predicted = np.searchsorted(model.classes_, predictions)
    counts = confusion_matrix(given.codes, predicted, labels=np.arange(len(model.classes_)))
    own = probabilities[:, 1:] if len(model.classes_) == 2 else probabilities
    return {
        "counts": counts.tolist(),
        "error": float((predicted != given.codes).mean()),
        "calibration": [_compare(own[:, output], given.targets[:, output]) for output in range(own.shape[1])],
    }


def _compare(probabilities: FloatArray, came_true: FloatArray) -> dict[str, Any]:
    """Put rows into even bins of their probability; of those that are filled tell how often it came true."""
    edges = np.linspace(0.0, 1.0, N_BINS + 1)[1:-1]
    places = np.searchsorted(edges, probabilities)
    sizes = np.bincount(places, minlength=N_BINS)
    filled = sizes > 0
    sums, hits = (
        np.asarray(np.bincount(places, values, N_BINS)[filled], dtype=np.float64)
        for values in (probabilities, came_true)
    )
    weight = sizes[filled].astype(np.float64)
    shares = estimate_shares(hits, weight, weight, LEVEL)
    return {
        "predicted": shorten(sums / weight),
        "observed": shorten(shares.values),
        "low": shorten(shares.low),
        "high": shorten(shares.high),
        "sizes": sizes[filled].tolist(),
    }


def check_numbers(given: Given, predicted: FloatArray, rng: np.random.Generator) -> dict[str, Any]:
    """Return predictions beside what was observed, of a draw of many rows, and the errors of all."""
    assert given.targets is not None
    observed = given.targets[:, 0]
    squared = float(np.mean((observed - predicted) ** 2))
    variance = float(observed.var())
    shown = np.sort(rng.choice(given.n_rows, min(given.n_rows, MAX_DOTS), replace=False))
    return {
        "observed": shorten(observed[shown]),
        "predicted": shorten(predicted[shown]),
        "root_mean_square": float(np.sqrt(squared)),
        "mean_absolute": float(np.abs(observed - predicted).mean()),
        "explained": 1.0 - squared / variance if variance > 0 else None,
    }


def draw_dependence(model: BaseRuleEnsemble, X: Any, given: Given) -> list[dict[str, Any]]:
    """Return the partial dependence of the score on the most important attributes, in closed form."""
    order = np.argsort(-model.feature_importances_, kind="stable")
    curves = []
    for place in order[model.feature_importances_[order] > 0].tolist():
        values = given.sample.attribute(place)
        known = values[~np.isnan(values)]
        if known.size == 0:  # nothing to draw it over
            continue
        found = partial_dependence(model, X, place)
        labels = model._model.features[place].categories
        grid = shorten(found.grids[0]) if labels is None else [str(label) for label in labels]
        curves.append(
            {
                "feature": place,
                "categories": labels is not None,
                "grid": grid,
                "values": shorten(np.atleast_2d(found.values)),
                "deciles": shorten(np.quantile(known, DECILES)) if labels is None else [],
            }
        )
        if len(curves) == MAX_CURVES:
            break
    return curves
