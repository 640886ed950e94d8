"""`RuleEnsembleSurvival`."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulegrove._typing import AnyArray, FloatArray
from rulegrove._validation import StrOptions, check_weights
from rulegrove.estimators._base import BaseRuleEnsemble, store_parameters
from rulegrove.estimators._in_memory import TableInMemory
from rulegrove.estimators.baseline import Baseline
from rulegrove.estimators.hazard import Hazard
from rulegrove.estimators.meaning import HazardMeaning
from rulegrove.estimators.pipeline import Fit, fit_source
from rulegrove.estimators.presets import OF_REGRESSOR
from rulegrove.exceptions import InvalidInputError
from rulegrove.survival import StepFunction, concordance, read_survival


class RuleEnsembleSurvival(BaseRuleEnsemble):
    """Cox's model as a short, ranked list of rules and linear terms, for times until an event.

    Many small boosted trees are grown, and every node of every tree becomes an IF-THEN rule. A sparse path finds which
    rules matter, and a second solve gives them the coefficients of a large model. The few terms that come nearest to
    what the large model says become the list, with coefficients by Cox's partial likelihood. A rule multiplies the
    hazard by a factor where it holds.

    The other parameters are those of `RuleEnsembleRegressor`, except for its losses.

    Parameters
    ----------
    ties : {"efron", "breslow"}, default="efron"
        How events at the same time are counted in the partial likelihood.

    Attributes
    ----------
    rules_ : RuleTable
        The terms of the model, the most important first: ``"hazard x 2.1"``.
    baseline_ : Baseline or None
        The cumulative hazard of a row whose score is 0, estimated on held-out rows; None without cross-validation.
    event_times_ : ndarray of shape (n_times,)
        Times at which the cumulative hazard of the baseline rises: those of events, 1,000 of them at most.
    settings_ : dict
        What was used for parameters that "auto" or a `preset` left open. ``n_times`` is the number of times at which
        the hazard of all rows together rises, which the search for terms uses: all event times up to 65,536 rows, and
        at most 1,000 beyond, in memory and in parts alike. An event between two of them counts at the later one. The
        coefficients of lists use the exact times. Those of the large model, ``max_terms=None``, are those of rates at
        these times, multiplied by one slope that maximises the partial likelihood.
    held_out_ : HazardFigures or None
        Concordance on held-out rows.
    front_ : Front or None
        The large model and lists of every length, judged by the cross-validated partial likelihood.

    See Also
    --------
    RuleEnsembleRegressor : Numbers, rates and quantiles.

    References
    ----------
    Cox (1972). "Regression models and life-tables". Journal of the Royal Statistical Society B 34(2).

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove import RuleEnsembleSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> time = rng.exponential(np.exp(-1.5 * (X[:, 0] > 0)))
    >>> event = time < 1.0  # the others are last seen after one year
    >>> model = RuleEnsembleSurvival(n_candidates=100, random_state=0).fit(X, (np.minimum(time, 1.0), event))
    >>> model.score(X, (np.minimum(time, 1.0), event)) > 0.6
    True
    >>> model.rules_[0].effect[:8]
    'hazard x'
    >>> model.predict_survival_function(X[:1])[0](0.5) < 1.0
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseRuleEnsemble._parameter_constraints,
        "ties": [StrOptions({"efron", "breslow"})],
        "tree_loss": [StrOptions({"auto", "squared", "poisson"})],
    }

    _presets = OF_REGRESSOR
    baseline_: Baseline | None

    def __init__(
        self,
        *,
        preset: str | None = None,
        ties: str = "efron",
        n_candidates: int = 2000,
        max_terms: int | str | None = "auto",
        max_rules: int | None = None,
        n_runs: int = 1,
        mean_leaves: float = 4.0,
        subsample: Any = "auto",
        shrinkage: float = 0.03,
        max_features: Any = None,
        min_samples_leaf: int = 5,
        min_impurity: float = 0.0,
        max_conditions: int | None = None,
        max_attributes: int | None = None,
        interactions: Any = None,
        max_bins: int = 255,
        max_correlation: float = 0.9,
        stable: bool | float = False,
        n_resamples: int = 0,
        monotonic: Any = None,
        terms: str = "both",
        trees: Any = None,
        rules: Any = None,
        force_rules: bool = False,
        tree_loss: str = "auto",
        categorical_features: Any = "auto",
        numeric_features: Any = None,
        identifiers: Any = "auto",
        solver: Any = "auto",
        selection: str | float = "auto",
        cv: Any = 5,
        honest_cv: bool | str = "auto",
        evidence: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        store_parameters(self, locals())

    def make_target(self) -> Hazard:
        """Return the kind of target."""
        return Hazard(ties=self.ties)

    def recall_target(self) -> Hazard:
        """Return the target as the fit has left it, or as `make_target` does before any fit."""
        return self.make_target().recall_meaning(HazardMeaning(link=vars(self).get("baseline_")))

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Fit the model: grow rules, solve for their coefficients, and keep the best few.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            NumPy array, pandas, polars or Arrow table. Missing values are allowed, infinite ones are not.
        y : structured array, array-like of two or three columns, or tuple of arrays
            Times and events: a structured array as scikit-survival has it, columns ``time, event``, or ``(time,
            event)``. If some rows were observed from a later time on, give three: ``entry, time, event``.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights; rows of weight zero are left out.
        groups : array-like of shape (n_samples,), optional
            Rows that are held out together, such as those of one hospital.

        Returns
        -------
        self
            The fitted estimator.
        """
        settings, target = self.read_parameters()
        if settings.evidence is not None:
            target.check_evidence()
        source = TableInMemory(X, y, sample_weight, groups, target=target, settings=settings)
        self.take_over(fit_source(source, target, settings))
        return self

    def _learn(self, fit: Fit) -> dict[str, Any]:
        """Return the fitted attributes of a fit."""
        link = fit.target.fitted_link
        return {**super()._learn(fit), "baseline_": link if isinstance(link, Baseline) else None}

    def predict(self, X: Any) -> FloatArray:
        """Predict the risk: the hazard of a row, relative to one whose score is 0.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self._scores(X)
        return np.asarray(self.model_.decide(scores))

    def predict_cumulative_hazard(self, X: Any, return_array: bool = False) -> AnyArray:
        """Predict the cumulative hazard of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        return_array : bool, default=False
            Whether to return the values at `event_times_` in place of functions.

        Returns
        -------
        ndarray of shape (n_samples,) of `StepFunction`, or of shape (n_samples, n_times)
        """
        baseline, risks = self.find_baseline(), self.predict(X)
        hazards = np.outer(risks, baseline.hazards)
        return hazards if return_array else _make_functions(baseline.times, hazards, 0.0)

    def predict_survival_function(self, X: Any, return_array: bool = False) -> AnyArray:
        """Predict for each row the probability of being without the event at each time.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        return_array : bool, default=False
            Whether to return the values at `event_times_` in place of functions.

        Returns
        -------
        ndarray of shape (n_samples,) of `StepFunction`, or of shape (n_samples, n_times)
        """
        baseline, risks = self.find_baseline(), self.predict(X)
        shares = np.exp(-np.outer(risks, baseline.hazards))
        return shares if return_array else _make_functions(baseline.times, shares, 1.0)

    # As scikit-survival calls it.
    predict_cumulative_hazard_function = predict_cumulative_hazard

    @property
    def event_times_(self) -> FloatArray:
        """Times at which the cumulative hazard of the baseline rises."""
        try:
            return self.find_baseline().times
        except InvalidInputError as error:  # as an attribute that is not there
            raise AttributeError(str(error)) from None

    def find_baseline(self) -> Baseline:
        """Return the baseline, estimated on held-out rows."""
        check_is_fitted(self)
        if self.baseline_ is None:
            raise InvalidInputError(
                f"With selection={self.selection!r} no rows were held out to estimate the hazard of the baseline; set "
                "selection='min' or '1se'."
            )
        return self.baseline_

    def find_hazards(self, times: Sequence[float]) -> FloatArray:
        """Return the cumulative hazard of the baseline at different times from 0 on."""
        stated = np.asarray(times, dtype=np.float64)
        if not ((stated >= 0.0) & np.isfinite(stated)).all() or np.unique(stated).size < stated.size:
            raise InvalidInputError(f"`times` must be different numbers from 0 on; got {list(times)}.")
        return self.find_baseline()(stated)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the concordance: the share of pairs of rows whose risks are in the order of their events.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y
            As in `fit`.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
            Harrell's concordance: 0.5 for guessing, 1 if every order is right, NaN if no pair can be compared.
        """
        scores = self._scores(X)
        times = read_survival(y, len(scores), need_events=False)
        return concordance(times, scores, check_weights(sample_weight, len(scores)))


def _make_functions(times: FloatArray, values: FloatArray, start: float) -> AnyArray:
    """Return a step function for each row of values."""
    functions = np.empty(len(values), dtype=object)
    for place, own in enumerate(values):
        functions[place] = StepFunction(times, own, start=start)
    return functions
