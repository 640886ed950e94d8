"""How large H statistics are where nothing interacts: a parametric bootstrap."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from rulegrove._frames import Backend, make_frame
from rulegrove._progress import Progress
from rulegrove._reprs import short_repr
from rulegrove._typing import FloatArray
from rulegrove._validation import count_threads
from rulegrove.columns import as_table, count_rows
from rulegrove.estimators._base import fit_chosen
from rulegrove.estimators._observed import read_observed
from rulegrove.estimators._training import make_rng
from rulegrove.estimators.presets import settle_preset
from rulegrove.exceptions import DroppedColumnWarning, InvalidInputError
from rulegrove.inspection._sample import check_model, check_target, read_sample
from rulegrove.inspection.interaction import Interactions, interactions


@dataclass(frozen=True, eq=False)
class NullDistribution:
    """H as observed, and as it comes out where nothing interacts.

    Attributes
    ----------
    observed : ndarray
    replicates : ndarray
        Of the shape of `observed`, once for each of ``n_repeats``.
    """

    observed: FloatArray
    replicates: FloatArray

    __repr__ = short_repr

    @property
    def mean(self) -> FloatArray:
        """Mean of the replicates."""
        return np.asarray(self.replicates.mean(axis=0))

    @property
    def sd(self) -> FloatArray:
        """Standard deviation of the replicates."""
        return np.asarray(self.replicates.std(axis=0, ddof=1))

    @property
    def share(self) -> FloatArray:
        """Share of the replicates, the observation counted among them, that are not below the observation."""
        above = (self.replicates >= self.observed).sum(axis=0)
        return np.asarray((1.0 + above) / (1.0 + len(self.replicates)))


@dataclass(frozen=True, eq=False)
class InteractionNull:
    """H statistics beside their distribution without interaction.

    Attributes
    ----------
    observed : Interactions
        What `interactions` tells of the model.
    total : NullDistribution
        Of each attribute with all others; arrays of shape (n_features,).
    pairs : NullDistribution
        Of each pair; arrays of shape (n_features, n_features).
    """

    observed: Interactions
    total: NullDistribution
    pairs: NullDistribution

    __repr__ = short_repr

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return self.observed.names

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the pairs that interact with null means, deviations and shares, the largest spread first.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which kind of data frame; None takes the first of them that is installed.
        """
        pairs = self.observed.rank_pairs()
        null = {"null_mean": self.pairs.mean[pairs], "null_sd": self.pairs.sd[pairs], "share": self.pairs.share[pairs]}
        return make_frame(self.observed.list_pairs(pairs) | null, backend)


def interaction_null(
    model: Any,
    X: Any,
    y: Any,
    *,
    target: Any = None,
    n_repeats: int = 20,
    sample_weight: Any = None,
    exposure: Any = None,
    offset: Any = None,
    random_state: Any = None,
) -> InteractionNull:
    """Tell how large H comes out by chance, and how the model's H statistics compare.

    Rules find some interaction in any data. A model of the same parameters without interaction (``max_conditions=1``,
    and as many terms as that takes) is fitted, new targets are made from it, the model is fitted to these, and its H
    statistics are those of data that have the same main effects and no interaction. In regression a new target is the
    additive model's prediction plus the residual of another row; of a rate it is that times the ratio of another row to
    its rate. For classes it is drawn from the additive model's probabilities. Of survival times it is not known.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        Fitted on `X` and `y`; its parameters are used for all fits.
    X : array-like or data frame of shape (n_samples, n_features)
        The training rows.
    y : array-like of shape (n_samples,)
        Their targets.
    target : level of a quantile or name of a number, optional
        As in `interactions`.
    n_repeats : int, default=20
        Number of replicates, each the cost of a fit. With 20 of them the smallest `share` is 1 / 21; for a
        finer one take 100.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows, for the fits and the H statistics.
    exposure, offset : array-like of shape (n_samples,), optional
        As in `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of new targets and fits.

    Returns
    -------
    InteractionNull

    References
    ----------
    Friedman, Popescu (2008). "Predictive learning via rule ensembles". Annals of Applied Statistics 2(3), section 8.3,
    equation 47.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from rulegrove import RuleEnsembleRegressor
    >>> from rulegrove.inspection import interaction_null
    >>> X, y = make_friedman1(300, n_features=5, random_state=0)
    >>> model = RuleEnsembleRegressor(n_candidates=100, honest_cv=False, random_state=0).fit(X, y)
    >>> null = interaction_null(model, X, y, n_repeats=5, random_state=0)
    >>> float(null.pairs.share[0, 1].round(3))  # the product of x0 and x1: larger than in all five replicates
    0.167
    """
    if n_repeats < 2:
        raise InvalidInputError(f"`n_repeats` must be at least 2 for a spread; got {n_repeats}.")
    kind = check_model(model, "interaction_null").recall_target()
    if kind.timed:
        raise InvalidInputError("How large H is without interaction is not known for survival times.")
    y, weights = read_observed(kind, y, count_rows(as_table(X)), sample_weight, exposure, offset)
    observed = interactions(model, X, target=target, sample_weight=sample_weight)
    place = 0 if target is None else check_target(model, target)
    rng = make_rng(random_state)
    replicates: list[Interactions] = []
    progress = Progress(model.verbose).stage("Refitting")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DroppedColumnWarning)  # the fit of the model has warned
        additive = _fit_additive(model, X, y, weights, _draw_seed(rng))
        sample = read_sample(additive, X)
        scores = sample.model.score(sample.columns, count_threads(additive.n_jobs))
        draw = additive.recall_target().draw(sample.model, scores, y)
        for _ in range(n_repeats):
            refitted = clone(model).set_params(random_state=_draw_seed(rng), verbose=0)
            fit_chosen(refitted, X, draw(rng), weights)
            same = None if target is None else refitted.model_.score_labels[place]  # new targets have no names
            replicates.append(interactions(refitted, X, target=same, sample_weight=sample_weight))
            progress(len(replicates), n_repeats)
    progress.close()
    return InteractionNull(
        observed,
        NullDistribution(observed.total, np.stack([replicate.total for replicate in replicates])),
        NullDistribution(observed.pairs, np.stack([replicate.pairs for replicate in replicates])),
    )


def _fit_additive(model: Any, X: Any, y: Any, sample_weight: Any, seed: int) -> Any:
    """Fit the model without interaction."""
    additive = clone(settle_preset(model)).set_params(max_conditions=1, random_state=seed, verbose=0)
    additive.set_params(max_terms=None, max_rules=None)  # a short list would lack some of the main effects
    additive.set_params(**additive.make_target().draw_by(validates=isinstance(additive.selection, str)))
    return fit_chosen(additive, X, y, sample_weight)


def _draw_seed(rng: np.random.Generator) -> int:
    """Draw the seed of a fit."""
    return int(rng.integers(2**31))
