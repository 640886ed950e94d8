"""Importance of terms and attributes on any rows: all, those of a region, or a single one."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rulegrove._frames import Backend, make_frame
from rulegrove._reprs import short_repr
from rulegrove._typing import BoolArray, FloatArray
from rulegrove._validation import check_weights
from rulegrove.estimators._fitted import share_importance
from rulegrove.estimators.recurrence import find_band
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import Sample, check_model, read_output


@dataclass(frozen=True, eq=False)
class Importances:
    """Mean local importance of terms and attributes over some rows, in the unit of the score.

    Attributes
    ----------
    terms : ndarray of shape (n_terms,)
        In the order of the model's ``rules_``.
    attributes : ndarray of shape (n_features,)
        A term's importance is shared equally among its attributes; both arrays add up to the same.
    names : tuple of str
        Names of the attributes.
    n_rows : int
        Number of rows that were looked at.
    low, high : ndarray of shape (n_features,), optional
        Where the importance of an attribute lies in nine of ten lists from other rows; None unless the fit has made
        such lists (`n_resamples`).
    """

    terms: FloatArray
    attributes: FloatArray
    names: tuple[str, ...]
    n_rows: int
    low: FloatArray | None = None
    high: FloatArray | None = None

    __repr__ = short_repr

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return attributes, importances and shares of the total, the most important first.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which kind of data frame; None takes the first of them that is installed.
        """
        order = np.argsort(-self.attributes, kind="stable")
        total = self.attributes.sum()
        columns = {
            "attribute": [self.names[place] for place in order],
            "importance": self.attributes[order],
            "share": self.attributes[order] / (total if total > 0 else 1.0),
        }
        if self.low is not None and self.high is not None:
            columns |= {"low": self.low[order], "high": self.high[order]}
        return make_frame(columns, backend)


def importances(
    model: Any, X: Any, *, target: Any = None, region: Any = None, sample_weight: Any = None
) -> Importances:
    """Tell how much each term and each attribute matters on some rows.

    The local importance of a rule r with coefficient a and training support s at a row x is ``|a| |r(x) - s|``, that of
    a linear term l with coefficient b ``|b| |l(x) - mean(l)|``: what is said about this row that is not said about an
    average one. An attribute has its linear term's and an equal share of every rule about it. With several
    classes or quantiles the coefficients' absolute values are added up over these. Here these are averaged over the
    rows. Of a rate or a hazard the score is the logarithm, so that 0.1 is about a tenth more or less.

    The global importance over the training rows, ``|a| sqrt(s (1 - s))``, is ``model.rules_[k].importance``, and
    ``model.feature_importances_`` shares it among the attributes. Rules that are equal or complementary on the training
    rows are one term of the model, and count once.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        Fitted.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows to look at; one row gives the importance for that row.
    target : label of a class, level of a quantile or name of a number, optional
        Which one of several outputs to look at. By default classes and quantiles are added up; one of several numbers
        must be named, for each has a unit of its own.
    region : array-like of shape (n_samples,), bool, optional
        Which of the rows to average over; None takes all.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    Importances

    References
    ----------
    Friedman, Popescu (2008). "Predictive learning via rule ensembles". Annals of Applied Statistics 2(3), sections 6
    and 7, equations 28 to 32 and 35.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.inspection import importances
    >>> X, y = load("iris")
    >>> model = RuleEnsembleClassifier(n_candidates=60, random_state=0).fit(X, y)
    >>> importances(model, X).attributes.argmax() in (2, 3)
    True
    >>> importances(model, X, region=y == "Iris-setosa").n_rows
    50
    """
    sample = read_output(model, X, target)
    n_rows = sample.columns.n_rows
    weights = check_weights(sample_weight, n_rows)
    if region is not None:
        mask = _read_region(region, n_rows)
        weights = np.where(mask, 1.0 if weights is None else weights, 0.0)
        n_rows = int(mask.sum())
        if not weights.any():
            raise InvalidInputError("`region` holds rows of weight zero only; widen it or weight its rows.")
    if weights is not None:
        sample = replace(sample, weights=weights / weights.sum())
    terms = _measure_terms(sample, np.array([row.support for row in model.rules_]))

    def look(own: Sample) -> FloatArray:
        return share_terms(own, _measure_terms(own, own.remade[0].supports))

    attributes = share_terms(sample, terms)
    return Importances(terms, attributes, sample.names, n_rows, *sample.band(attributes, look, (0.0, np.inf)))


def importance_band(model: Any) -> tuple[FloatArray, FloatArray] | tuple[None, None]:
    """Return where the shares of the importance, ``feature_importances_``, lie in nine of ten lists from other rows.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        Fitted with `n_resamples`; of others nothing is known, which is None twice.

    Returns
    -------
    low, high : ndarray of shape (n_features,)

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.inspection import importance_band
    >>> X, y = load("iris")
    >>> model = RuleEnsembleClassifier(n_candidates=60, n_resamples=10, random_state=0).fit(X, y)
    >>> low, high = importance_band(model)
    >>> low.shape, bool((low <= high).all())
    ((4,), True)
    """
    front = check_model(model, "importance_band").front_
    if front is None or len(front.remade) < 2:
        return None, None
    others = np.array([share_importance(own.model, own.importances) for own in front.remade])
    return find_band(model.feature_importances_, others, (0.0, 1.0))


def _read_region(region: Any, n_rows: int) -> BoolArray:
    """Check a mask of rows."""
    mask = np.asarray(region)
    if mask.dtype != np.bool_ or mask.shape != (n_rows,):
        raise InvalidInputError(
            f"`region` must hold True or False for each of the {n_rows} rows; "
            f"got {mask.dtype} of the shape {mask.shape}."
        )
    if not mask.any():
        raise InvalidInputError("`region` is a region without rows; it must be True for at least one row.")
    return mask


def _measure_terms(sample: Sample, supports: FloatArray) -> FloatArray:
    """Mean over the rows of what each term says about them that is not said about an average one."""
    distances = np.empty(len(sample.model.terms))
    shares = sample.shares(sample.compile([rule for _, rule in sample.rules]))
    for (place, _), share in zip(sample.rules, shares, strict=True):
        support = supports[place]
        distances[place] = share * (1.0 - support) + (1.0 - share) * support
    for place, line in sample.lines:
        distances[place] = sample.average(np.abs(line.values(sample.attribute(line.feature)) - line.fill))
    return np.asarray(distances * np.abs(sample.coefs).sum(axis=0))


def share_terms(sample: Sample, importances: FloatArray) -> FloatArray:
    """Share the importance of terms equally among their attributes."""
    shares = np.zeros(len(sample.names))
    for term, importance in zip(sample.model.terms, importances, strict=True):
        shares[list(term.features)] += importance / len(term.features)
    return shares
