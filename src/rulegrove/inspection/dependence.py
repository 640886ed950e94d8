"""Partial dependence of the score on one or two attributes, in closed form."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._typing import AnyArray, FloatArray
from rulegrove._validation import is_missing
from rulegrove.columns import Feature, encode_columns
from rulegrove.estimators.model import exponentiate
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import Sample, read_sample, split_rule

BAND_POINTS = 41  # quantiles at which a band is told beside the jumps of the function


@dataclass(frozen=True, eq=False)
class Dependence:
    """Mean score as a function of one or two attributes.

    Attributes
    ----------
    features : tuple of int
        Positions of the attributes.
    names : tuple of str
        Their names.
    grids : tuple of ndarray
        Points of each attribute; labels for a categorical one.
    values : ndarray of shape (len(grids[0]),) or (len(grids[0]), len(grids[1]))
        Mean score at the points. With more than two classes there is one more axis in front, in the order of `classes`,
        with several quantiles or numbers in that of `outputs`.
    classes : tuple or None
        Labels of a classifier, None for a regressor. With two classes a positive score speaks for the second.
    low, high : ndarray of the shape of `values`, optional
        Where the mean score lies for nine of ten lists from other rows, at each point by itself; None unless the fit
        has made such lists (`n_resamples`).
    outputs : tuple
        Levels of several quantiles, or names of several numbers, in the order of the axis in front; none otherwise.
    multiplies : bool
        Whether the score is the logarithm of a rate, of an amount or of a hazard ratio.
    """

    features: tuple[int, ...]
    names: tuple[str, ...]
    grids: tuple[AnyArray, ...]
    values: FloatArray
    classes: tuple[Any, ...] | None
    low: FloatArray | None = None
    high: FloatArray | None = None
    outputs: tuple[Any, ...] = ()
    multiplies: bool = False

    __repr__ = short_repr

    @property
    def predictions(self) -> FloatArray:
        """The same on the scale of predictions: of rates and hazard ratios the geometric mean over the rows."""
        return exponentiate(self.values) if self.multiplies else self.values


def partial_dependence(
    model: Any, X: Any, features: Any, *, grid: Any = None, n_points: int = 100, sample_weight: Any = None
) -> Dependence:
    """Average the score over the rows with one or two attributes held at given values.

    No row is scored: of a rule with conditions on the attributes S and on others, the mean over the rows is 1 where its
    conditions on S hold, times the weighted share of the rows on which its other conditions hold. The numbers equal
    those of scoring every row at every point, for a small part of the work.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        Fitted.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows to average over.
    features : str, int or a pair of them
        Names or positions of one or two attributes.
    grid : array-like, or a pair of them, optional
        Values to hold the attribute at (for a pair of attributes one array each, None for the default); NaN or
        None asks about a missing value. By default a categorical attribute has its categories, and a numeric one both
        sides of every jump and kink of the function within the range of X, so that the line through the points is
        the function itself; where these are more than `n_points`, quantiles of X.
    n_points : int, default=100
        Most points of a default grid of a numeric attribute.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    Dependence
        Its `values` are mean scores, which of a rate are logarithms; `predictions` has them as rates.

    References
    ----------
    Friedman, Popescu (2008). "Predictive learning via rule ensembles". Annals of Applied Statistics 2(3), section 8.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from rulegrove import RuleEnsembleRegressor
    >>> from rulegrove.inspection import partial_dependence
    >>> X, y = make_friedman1(300, random_state=0)
    >>> model = RuleEnsembleRegressor(n_candidates=100, random_state=0).fit(X, y)
    >>> line = partial_dependence(model, X, "x3", grid=[0.1, 0.9])
    >>> bool(line.values[0] < line.values[1])
    True
    >>> partial_dependence(model, X, ("x0", "x1"), grid=([0.2, 0.8], [0.1, 0.5, 0.9])).values.shape
    (2, 3)
    """
    return find_dependence(read_sample(model, X, sample_weight), features, grid=grid, n_points=n_points)


def find_dependence(sample: Sample, features: Any, *, grid: Any = None, n_points: int = 100) -> Dependence:
    """Return the partial dependence on rows that have been read; see `partial_dependence`."""
    places = sample.positions(features)
    if len(places) > 2:
        raise InvalidInputError(f"`features` must name one attribute or two; got {len(places)}.")
    if n_points < 2:
        raise InvalidInputError(f"`n_points` must be at least 2; got {n_points}.")
    given = (grid,) if len(places) == 1 else (None, None) if grid is None else tuple(grid)
    if len(given) != len(places):
        raise InvalidInputError(f"`grid` must hold one array for each of the two attributes; got {len(given)}.")
    read = [
        _default_grid(sample, place, n_points) if own is None else _read_grid(sample.model.features[place], own)
        for place, own in zip(places, given, strict=True)
    ]

    def look(own: Sample) -> FloatArray:
        values = _mean_scores(own, places, [points for _, points in read])
        return values if sample.model.coefs.ndim == 2 else values[0]

    values = look(sample)
    low, high = sample.band(values, look)
    return Dependence(
        places,
        tuple(sample.names[place] for place in places),
        tuple(shown for shown, _ in read),
        values,
        sample.model.labels or None,
        low,
        high,
        sample.model.outputs,
        sample.model.multiplies,
    )


def _read_grid(feature: Feature, grid: Any) -> tuple[AnyArray, FloatArray]:
    """Values of an attribute as given, and as numbers or codes."""
    labels = np.empty(len(grid), dtype=object)
    labels[:] = list(grid)
    if labels.size == 0:
        raise InvalidInputError(f"The grid of '{feature.name}' is empty; give at least one value.")
    points = encode_columns(labels[:, None], [feature]).take(slice(None))[0]
    if feature.categories is None:
        return points, points
    unknown = [label for label in labels if not is_missing(label) and label not in feature.categories]
    if unknown:
        raise InvalidInputError(f"The grid of '{feature.name}' holds {unknown[0]!r}, which is none of its categories.")
    return labels, points


def _default_grid(sample: Sample, place: int, n_points: int) -> tuple[AnyArray, FloatArray]:
    """All categories, or the points between which the function is a straight line."""
    feature = sample.model.features[place]
    if feature.categories is not None:
        return np.array(feature.categories, dtype=object), np.arange(len(feature.categories), dtype=np.float64)
    values = sample.attribute(place)
    known = values[~np.isnan(values) & (True if sample.weights is None else sample.weights > 0)]
    if known.size == 0:
        raise InvalidInputError(f"Attribute '{feature.name}' has no known value in X; give a `grid`.")
    low, high = known.min(), known.max()
    bounds = [(part.lower, part.upper) for _, rule in sample.rules for part in rule.conditions if part.feature == place]
    bounds += [(line.lower, line.upper) for _, line in sample.lines if line.feature == place]
    breaks = np.array(bounds, dtype=np.float64).ravel()
    breaks = breaks[(breaks >= low) & (breaks < high)]
    n_others = BAND_POINTS if sample.remade else 0  # lists from other rows jump elsewhere
    others = np.quantile(known, np.linspace(0.0, 1.0, n_others))
    points = np.unique(np.concatenate([[low], breaks, np.nextafter(breaks, np.inf), [high], others]))
    if points.size > n_points:
        points = np.unique(np.quantile(known, np.linspace(0.0, 1.0, n_points)))
    return points, points


def _mean_scores(sample: Sample, places: Sequence[int], points: Sequence[FloatArray]) -> FloatArray:
    """Mean score at every point (pair of points), an ndarray of shape (n_outputs, *lengths of the grids)."""
    coefs = sample.coefs
    shape = tuple(len(own) for own in points)
    values = np.zeros((len(coefs), *shape))
    values += np.reshape(sample.model.intercept, (-1, *(1 for _ in shape)))
    if sample.rules:
        values += _mean_rules(sample, places, points)
    for term, line in sample.lines:
        if line.feature in places:
            axis = places.index(line.feature)
            means: FloatArray = np.expand_dims(line.values(points[axis]), tuple({0, len(places) - 1} - {axis}))
        else:
            means = np.full((1,) * len(places), sample.average(line.values(sample.attribute(line.feature))))
        values += np.multiply.outer(coefs[:, term], means)
    return values


def _mean_rules(sample: Sample, places: Sequence[int], points: Sequence[FloatArray]) -> FloatArray:
    """Sum of all rules' mean parts at every point."""
    outside = [split_rule(rule, places)[1] for _, rule in sample.rules]
    scales = sample.coefs[:, [place for place, _ in sample.rules]] * sample.shares(sample.compile(outside))
    held = [np.ones((len(outside), len(own))) for own in points]
    for k, (_, rule) in enumerate(sample.rules):
        for condition in rule.conditions:
            if condition.feature in places:
                axis = places.index(condition.feature)
                held[axis][k] = condition.holds(points[axis])
    if len(places) == 1:
        return np.asarray(scales @ held[0])
    return np.stack([(own[:, None] * held[0]).T @ held[1] for own in scales])
