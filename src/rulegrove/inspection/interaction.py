"""H statistics of interaction between attributes, in closed form."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._frames import Backend, make_frame
from rulegrove._reprs import short_repr
from rulegrove._typing import FloatArray, IntArray
from rulegrove.inspection._effects import measure_interactions
from rulegrove.inspection._sample import read_output


@dataclass(frozen=True, eq=False)
class Interactions:
    """H statistics of a model on some rows.

    Attributes
    ----------
    names : tuple of str
        Names of the attributes.
    total : ndarray of shape (n_features,)
        H of each attribute with all others together.
    pairs : ndarray of shape (n_features, n_features)
        H of each pair; symmetric, with a diagonal of zeros.
    total_spreads : ndarray of shape (n_features,)
        Standard deviation over the rows of what `total` compares with the score, in the unit of the score.
    pair_spreads : ndarray of shape (n_features, n_features)
        The same of each pair. H is relative to the effects of the two attributes, so two weak ones can have a large H
        that matters to no prediction; the spread tells.
    """

    names: tuple[str, ...]
    total: FloatArray
    pairs: FloatArray
    total_spreads: FloatArray
    pair_spreads: FloatArray

    __repr__ = short_repr

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the pairs that interact as a data frame, the largest spread first.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which kind of data frame; None takes the first of them that is installed.
        """
        return make_frame(self.list_pairs(self.rank_pairs()), backend)

    def rank_pairs(self) -> tuple[IntArray, IntArray]:
        """Return the positions of the pairs that interact, each pair once, the largest spread first."""
        first, second = np.nonzero(np.triu(self.pairs, 1))
        order = np.argsort(-self.pair_spreads[first, second], kind="stable")
        return first[order], second[order]

    def list_pairs(self, pairs: tuple[IntArray, IntArray]) -> dict[str, Any]:
        """Return names, H and spreads of some pairs as columns."""
        return {
            "attribute": [self.names[place] for place in pairs[0]],
            "with": [self.names[place] for place in pairs[1]],
            "h": self.pairs[pairs],
            "spread": self.pair_spreads[pairs],
        }


def interactions(model: Any, X: Any, *, target: Any = None, sample_weight: Any = None) -> Interactions:
    """Tell how strongly each attribute interacts, with every other and with all others together.

    H of a pair is the spread (standard deviation over the rows) of the part of the score that depends on both
    attributes and is no sum of a function of one and a function of the other, over the spread of all that depends on
    the two. H of one attribute is the spread of what is no sum of a function of it and a function of all
    others, over the spread of the score. Zero means no interaction. Everything comes from the closed form of the
    partial dependence of rules, and only attributes that share a rule can interact.

    With more than two classes, or several quantiles, squared spreads are added up over these before the ratio is taken.
    Of a rate or a hazard the score is the logarithm: attributes whose factors are multiplied do not interact.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        Fitted.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows to average over.
    target : label of a class, level of a quantile or name of a number, optional
        Which one of several outputs to look at. By default classes and quantiles are added up; one of several numbers
        must be named, for each has a unit of its own.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    Interactions

    See Also
    --------
    h_statistics : H of one attribute, a pair, a triple.
    interaction_null : How large H is where nothing interacts.

    References
    ----------
    Friedman, Popescu (2008). "Predictive learning via rule ensembles". Annals of Applied Statistics 2(3), section 8,
    equations 44 and 45, of which these are the square roots.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from rulegrove import RuleEnsembleRegressor
    >>> from rulegrove.inspection import interactions
    >>> X, y = make_friedman1(500, random_state=0)
    >>> model = RuleEnsembleRegressor(n_candidates=200, random_state=0).fit(X, y)
    >>> strongest = interactions(model, X).to_frame("pandas").iloc[0]
    >>> strongest["attribute"], strongest["with"]
    ('x0', 'x1')
    """
    sample = read_output(model, X, target, sample_weight)
    n_features = len(sample.names)
    shared = sorted({pair for _, rule in sample.rules for pair in itertools.combinations(rule.features, 2)})
    singles = sorted({place for pair in shared for place in pair})
    measured = np.stack(measure_interactions(sample, [*((place,) for place in singles), *shared]))
    total, pairs = np.zeros((2, n_features)), np.zeros((2, n_features, n_features))
    total[:, singles] = measured[:, : len(singles)]
    first, second = np.array(shared, dtype=np.int64).reshape(-1, 2).T
    pairs[:, first, second] = pairs[:, second, first] = measured[:, len(singles) :]
    return Interactions(sample.names, total[0], pairs[0], total[1], pairs[1])


def h_statistics(model: Any, X: Any, features: Any, *, target: Any = None, sample_weight: Any = None) -> float:
    """Measure the interaction of one attribute with all others, of two or of three with each other.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        Fitted.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows to average over.
    features : str, int or a sequence of them
        Names or positions. One attribute: its interaction with all others. Two, three or more: the part of
        the score that depends on all of them and is no sum of functions of fewer, over all that depends on them.
    target : label of a class, level of a quantile or name of a number, optional
        Which one of several outputs to look at. By default classes and quantiles are added up; one of several numbers
        must be named, for each has a unit of its own.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    float
        H; zero without interaction or where the score does not depend on the attributes.

    References
    ----------
    Friedman, Popescu (2008). "Predictive learning via rule ensembles". Annals of Applied Statistics 2(3), section 8,
    equation 44 for two and 45 for one, of which these are the square roots.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from rulegrove import RuleEnsembleRegressor
    >>> from rulegrove.inspection import h_statistics
    >>> X, y = make_friedman1(500, random_state=0)
    >>> model = RuleEnsembleRegressor(n_candidates=200, random_state=0).fit(X, y)
    >>> h_statistics(model, X, ("x0", "x1")) > h_statistics(model, X, ("x3", "x4"))
    True
    """
    sample = read_output(model, X, target, sample_weight)
    values, _ = measure_interactions(sample, [sample.positions(features)])
    return float(values[0])
