"""The estimators for dask collections."""

import inspect
import os
from typing import Any, ClassVar, Self

from rulegrove.engines._dask_fitting import fit, predict, score
from rulegrove.engines._dask_tables import is_lazy
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.estimators.regressor import RuleEnsembleRegressor
from rulegrove.estimators.survival import RuleEnsembleSurvival
from rulegrove.exceptions import InvalidInputError


def _adds_client(init: Any, base: type) -> Any:
    """Give a constructor the signature that scikit-learn and `help` read: that of the base class, and `client`."""
    inherited = inspect.signature(base)
    client = inspect.Parameter("client", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    init.__signature__ = inherited.replace(parameters=[own, *inherited.parameters.values(), client])
    return init


def _check_groups(groups: Any) -> None:
    """Refuse rows that are to be held out together."""
    if groups is not None:
        raise InvalidInputError("`groups` are for tables in memory; those in parts go to folds row by row.")


class _OnDask(BaseRuleEnsemble):
    """What the estimators do on dask collections; tables in memory go the way of the base class."""

    _local: ClassVar[type[BaseRuleEnsemble]]  # the estimator for tables in memory
    client: Any

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        evidence: Any = None,
        *,
        exposure: Any = None,
        offset: Any = None,
    ) -> Self:
        """Grow rules, fit their coefficients, keep the best few.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_samples, n_features)
            A data frame may hold the target and the weights as well. Missing values are welcome, infinite ones are not.
        y : str, dask Series or Array of shape (n_samples,)
            The target, or the name of its column in X. For the regressor several numbers are a list of names, a dask
            DataFrame or an Array of shape (n_samples, n_numbers).
        sample_weight : str, dask Series or Array of shape (n_samples,), optional
            Non-negative weights, or the name of their column in X.
        groups : None
            Not for tables in parts, whose rows are dealt out to folds by their positions.
        evidence : None
            Rows of their own are counted by `rulegrove.engines.dask.rule_evidence`.
        exposure, offset : str, dask Series or Array of shape (n_samples,), optional
            As in the fit of a table in memory, or the names of their columns in X; for the regressor.

        Returns
        -------
        self
            The fitted estimator.
        """
        _check_groups(groups)
        if evidence is not None:
            raise InvalidInputError(
                "`evidence` in `fit` is for tables in memory; count rows of your own by engines.dask.rule_evidence."
            )
        return fit(self, X, y, weights=sample_weight, exposure=exposure, offset=offset, client=self.client)

    def _score(self, X: Any, y: Any, sample_weight: Any, **known: Any) -> float:
        """Return the score of rows, wherever they are."""
        if not is_lazy(X):
            return float(self.to_local().score(X, y, sample_weight, **known))
        return score(self, X, y, weights=sample_weight, client=self.client, **known)

    def _lazily(self, method: str, X: Any, **known: Any) -> Any:
        """Return the results of a method: lazy for dask collections, at once for tables in memory."""
        if is_lazy(X):
            return predict(self, X, method=method, **known)
        return getattr(self.to_local(), method)(X, **known)

    def to_local(self) -> Any:
        """Return the estimator for tables in memory, fitted if this one is; for explanations, plots and reports."""
        local = self._local.__new__(self._local)
        local.__dict__.update({name: value for name, value in vars(self).items() if name != "client"})
        return local

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a model file, which `load_model` reads as the estimator for tables in memory.

        Parameters
        ----------
        path : str or path
            Of the file; one that exists is replaced, whole or not at all.
        """
        self.to_local().save(path)

    def __sklearn_clone__(self) -> Self:
        """Return a copy that is not fitted and has the same client, which cannot be copied."""
        client, self.client = self.client, None
        try:
            copy = super().__sklearn_clone__()
        finally:
            self.client = client
        copy.client = client
        return copy

    def __getstate__(self) -> dict[str, Any]:
        """Leave the client behind, which belongs to this process."""
        return {**super().__getstate__(), "client": None}


class DaskRuleEnsembleClassifier(_OnDask, RuleEnsembleClassifier):
    """`RuleEnsembleClassifier` for dask collections: the same parameters, the same fitted attributes, the same model.

    Parameters
    ----------
    **parameters
        Those of `RuleEnsembleClassifier`.
    client : distributed.Client, default=None
        Whose workers do the work; None takes the one that was started last. It is not copied with the estimator and
        not stored with it.

    See Also
    --------
    fit : The same for an estimator of tables in memory, with more options.

    Notes
    -----
    `fit` works at once, predictions are lazy. `to_local` gives the estimator for tables in memory, for explanations,
    plots, exports and reports.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from rulegrove.datasets import load
    >>> table = dd.from_pandas(load("iris").frame(), npartitions=3)
    >>> X, y = table.drop(columns="class"), table["class"]
    >>> model = DaskRuleEnsembleClassifier(n_candidates=50, random_state=0)
    >>> from distributed import Client  # doctest: +SKIP
    >>> client = Client()  # doctest: +SKIP
    >>> model.fit(X, y).predict_proba(X).mean().compute()  # doctest: +SKIP
    """

    _local = RuleEnsembleClassifier
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RuleEnsembleClassifier._parameter_constraints,
        "client": [object, None],
    }

    def __init__(self, *, client: Any = None, **parameters: Any):
        super().__init__(**parameters)
        self.client = client

    _adds_client(__init__, RuleEnsembleClassifier)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of right classes.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_samples, n_features)
        y : str, dask Series or Array of shape (n_samples,)
            The target, or the name of its column in X.
        sample_weight : str, dask Series or Array of shape (n_samples,), optional
        """
        return self._score(X, y, sample_weight)

    def predict(self, X: Any) -> Any:
        """Predict the class of every row.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_samples, n_features)

        Returns
        -------
        dask Series or Array of shape (n_samples,)
            Not computed yet; of a table in memory an ndarray.
        """
        return self._lazily("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_samples, n_features)

        Returns
        -------
        dask DataFrame or Array of shape (n_samples, n_classes)
            Columns as in ``classes_``. Not computed yet; of a table in memory an ndarray.
        """
        return self._lazily("predict_proba", X)

    def decision_function(self, X: Any) -> Any:
        """Score F of every row; with two classes positive speaks for ``classes_[1]``.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_samples, n_features)

        Returns
        -------
        dask Series or Array of shape (n_samples,), or dask DataFrame or Array of shape (n_samples, n_classes)
            Not computed yet; of a table in memory an ndarray.
        """
        return self._lazily("decision_function", X)


class DaskRuleEnsembleRegressor(_OnDask, RuleEnsembleRegressor):
    """`RuleEnsembleRegressor` for dask collections: the same parameters, the same fitted attributes, the same model.

    Parameters
    ----------
    **parameters
        Those of `RuleEnsembleRegressor`.
    client : distributed.Client, default=None
        Whose workers do the work; None takes the one that was started last. It is not copied with the estimator and
        not stored with it.

    See Also
    --------
    fit : The same for an estimator of tables in memory, with more options.

    Notes
    -----
    `fit` works at once, predictions are lazy. `to_local` gives the estimator for tables in memory, for explanations,
    plots, exports and reports.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_friedman1
    >>> X, y = (da.from_array(values, chunks=100) for values in make_friedman1(500, random_state=0))
    >>> model = DaskRuleEnsembleRegressor(n_candidates=50, random_state=0)
    >>> from distributed import Client  # doctest: +SKIP
    >>> client = Client()  # doctest: +SKIP
    >>> model.fit(X, y).predict(X).mean().compute()  # doctest: +SKIP
    """

    _local = RuleEnsembleRegressor
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RuleEnsembleRegressor._parameter_constraints,
        "client": [object, None],
    }

    def __init__(self, *, client: Any = None, **parameters: Any):
        super().__init__(**parameters)
        self.client = client

    _adds_client(__init__, RuleEnsembleRegressor)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None, offset: Any = None) -> float:
        """Return the coefficient of determination, or the explained share of another loss.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_samples, n_features)
        y : str, dask Series or Array of shape (n_samples,)
            The target, or the name of its column in X.
        sample_weight, exposure, offset : str, dask Series or Array of shape (n_samples,), optional
        """
        return self._score(X, y, sample_weight, exposure=exposure, offset=offset)

    def predict(self, X: Any, *, exposure: Any = None, offset: Any = None) -> Any:
        """Predict the target of every row.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_samples, n_features)
        exposure, offset : str, dask Series or Array of shape (n_samples,), optional
            Without an exposure predictions are rates.

        Returns
        -------
        dask Series or Array of shape (n_samples,)
            Not computed yet; of a table in memory an ndarray.
        """
        return self._lazily("predict", X, exposure=exposure, offset=offset)


class DaskRuleEnsembleSurvival(_OnDask, RuleEnsembleSurvival):
    """`RuleEnsembleSurvival` for dask collections: the same parameters, the same fitted attributes, the same model.

    Parameters
    ----------
    **parameters
        Those of `RuleEnsembleSurvival`.
    client : distributed.Client, default=None
        Whose workers do the work; None takes the one that was started last. It is not copied with the estimator and
        not stored with it.

    See Also
    --------
    fit : The same for an estimator of tables in memory, with more options.

    Notes
    -----
    `fit` works at once, predictions are lazy. `to_local` gives the estimator for tables in memory, for survival
    functions, explanations, plots, exports and reports.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": range(40, 80), "years": 5.0, "died": [k % 3 == 0 for k in range(40)]})
    >>> table = dd.from_pandas(frame, npartitions=2)
    >>> model = DaskRuleEnsembleSurvival(n_candidates=50, random_state=0)
    >>> from distributed import Client  # doctest: +SKIP
    >>> client = Client()  # doctest: +SKIP
    >>> model.fit(table, ("years", "died")).predict(table).mean().compute()  # doctest: +SKIP
    """

    _local = RuleEnsembleSurvival
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RuleEnsembleSurvival._parameter_constraints,
        "client": [object, None],
    }

    def __init__(self, *, client: Any = None, **parameters: Any):
        super().__init__(**parameters)
        self.client = client

    _adds_client(__init__, RuleEnsembleSurvival)

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> Self:
        """Grow rules, fit their coefficients, keep the best few.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_samples, n_features)
            A data frame may hold times and events as well. Missing values are welcome, infinite ones are not.
        y : tuple of str, dask Series or Array of shape (n_samples,)
            Times and events, ``(time, event)`` or ``(entry, time, event)``, or the names of their columns in X.
        sample_weight : str, dask Series or Array of shape (n_samples,), optional
            Non-negative weights, or the name of their column in X.
        groups : None
            Not for tables in parts, whose rows are dealt out to folds by their positions.

        Returns
        -------
        self
            The fitted estimator.
        """
        _check_groups(groups)
        return fit(self, X, weights=sample_weight, client=self.client, **_split_times(y))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the concordance: the share of pairs whose risks are in the order of their events.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_samples, n_features)
            Of 4,194,304 rows at most, whose times and scores are put together in memory.
        y : tuple of str, dask Series or Array of shape (n_samples,)
            As in `fit`.
        sample_weight : str, dask Series or Array of shape (n_samples,), optional
        """
        if not is_lazy(X):
            return float(self.to_local().score(X, y, sample_weight))
        return score(self, X, weights=sample_weight, client=self.client, **_split_times(y))

    def predict(self, X: Any) -> Any:
        """Predict the risk of every row: how many times its hazard is that of one whose score is 0.

        Parameters
        ----------
        X : dask DataFrame or Array of shape (n_samples, n_features)

        Returns
        -------
        dask Series or Array of shape (n_samples,)
            Not computed yet; of a table in memory an ndarray. The chance to be without the event at a time t is
            ``exp(-model.find_baseline()(t) * risk)``.
        """
        return self._lazily("predict", X)

    def predict_cumulative_hazard(self, X: Any, return_array: bool = False) -> Any:
        """Predict the cumulative hazard of each row of a table in memory; as `RuleEnsembleSurvival` does."""
        return self._curves("predict_cumulative_hazard", X, return_array)

    def predict_survival_function(self, X: Any, return_array: bool = False) -> Any:
        """Predict the survival function of each row of a table in memory; as `RuleEnsembleSurvival` does."""
        return self._curves("predict_survival_function", X, return_array)

    predict_cumulative_hazard_function = predict_cumulative_hazard

    def _curves(self, method: str, X: Any, return_array: bool) -> Any:
        """Return a curve for each row of a table in memory; those of a table in parts would be many times as large."""
        if is_lazy(X):
            raise InvalidInputError(
                f"`{method}` is for tables in memory; of dask collections take the risks, by which the chance of no "
                "event until t is np.exp(-model.find_baseline()(t) * model.predict(X))."
            )
        return getattr(self.to_local(), method)(X, return_array)


def _split_times(y: Any) -> dict[str, Any]:
    """Return the time, the event and perhaps the entry that a target is made of, as `fit` takes them."""
    if not isinstance(y, tuple) or len(y) not in (2, 3):
        raise InvalidInputError(
            "y must be a tuple (time, event) or (entry, time, event) of columns or of their names in X; got a "
            f"{type(y).__name__}."
        )
    *entry, time, event = y
    return {"y": time, "event": event, "entry": entry[0] if entry else None}
