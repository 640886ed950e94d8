"""Fits, predictions and scores of estimators on dask collections."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from rulegrove._typing import AnyArray
from rulegrove.engines._dask_engine import DaskEngine, find_client
from rulegrove.engines._dask_tables import DaskTable, check_attributes, is_array, make_table
from rulegrove.engines.base import BATCH_ROWS
from rulegrove.engines.examining import examine_over
from rulegrove.engines.fitting import fit_over
from rulegrove.engines.keeping import FitStatistics, collect_over
from rulegrove.engines.predicting import score_over, score_rows
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._judging_rules import Asking
from rulegrove.estimators.evidence import RuleEvidence
from rulegrove.estimators.model import RuleModel
from rulegrove.exceptions import InvalidInputError

METHODS = ("predict", "predict_proba", "decision_function")

M = TypeVar("M", bound=BaseRuleEnsemble)


def fit(
    model: M,
    X: Any,
    y: Any,
    *,
    weights: Any = None,
    drop: Sequence[str] = (),
    client: Any = None,
    batch_rows: int = BATCH_ROWS,
    max_gram_rows: int | None = None,
    keep_statistics: bool = False,
) -> M:
    """Fit an estimator on dask collections; the model is that of a fit in memory on the same rows.

    The rules, the counts and the coefficients (to rounding) do not depend on the partitions: empty ones, ones of a
    single row and ones that lack a class are welcome. Partitions are computed two to four times, each time only the
    columns that are needed; `persist` collections that are costly to compute and fit into the workers' memory.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        Fitted in place.
    X : dask DataFrame or Array of shape (n_rows, n_features)
        The attributes; a data frame may hold the target and the weights as well. Texts and categories are welcome,
        categories that differ between partitions too.
    y : str, dask Series or Array of shape (n_rows,)
        The target, or the name of its column. Partitions must hold the same rows as those of X.
    weights : str, dask Series or Array of shape (n_rows,), optional
        Weights, or the name of their column.
    drop : sequence of str
        Columns of X to leave out.
    client : distributed.Client, optional
        Whose workers do the work; the one that was started last by default.
    batch_rows : int
        Rows that a worker turns into bits at once.
    max_gram_rows : int, optional
        Most rows that enter the statistics, drawn uniformly; all by default.
    keep_statistics : bool
        Whether the fitted model has `statistics_`, to be merged with those of later rows.

    Returns
    -------
    model
        The same object, fitted.

    Raises
    ------
    InvalidInputError
        If the input cannot be used, with the number of the partition where one is to blame, or there is no worker.
    ConnectionError
        If the client is closed, or all workers are gone, before the fit is done; the model is then as it was.

    See Also
    --------
    DaskRuleEnsembleClassifier, DaskRuleEnsembleRegressor : The same as estimators.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> table = dd.from_pandas(load("iris").frame(), npartitions=3)
    >>> model = RuleEnsembleClassifier(n_candidates=50, random_state=0)
    >>> from distributed import Client  # doctest: +SKIP
    >>> client = Client()  # doctest: +SKIP
    >>> fit(model, table, "class").predict(table)  # doctest: +SKIP
    """
    client = find_client(client)
    table = make_table(X, y, weights)
    return fit_over(
        DaskEngine(table, client, batch_rows),
        model,
        table.target,
        weights=table.weights,
        drop=drop,
        named=table.has_names,
        max_gram_rows=max_gram_rows,
        keep_statistics=keep_statistics,
    )


def predict(model: BaseRuleEnsemble, X: Any, *, method: str = "predict") -> Any:
    """Predict for every row of a dask collection, lazily: nothing is computed until it is asked for.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        A fitted estimator, wherever it was fitted.
    X : dask DataFrame or Array of shape (n_rows, n_features)
        A data frame needs the columns that the terms of the model speak of, in any order among any others; an array
        all that the model was fitted on.
    method : {"predict", "predict_proba", "decision_function"}, default="predict"
        Which method of the model.

    Returns
    -------
    dask Series, DataFrame or Array
        For a data frame a Series named as the method, or a DataFrame with one column for each class, with the index
        and the partitions of X. For an array an array with the same blocks of rows, of unknown sizes too. The values
        are those of the model in memory, bit for bit.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> table = load("iris").frame()
    >>> model = RuleEnsembleClassifier(n_candidates=50, random_state=0).fit(table.iloc[:, :-1], table["class"])
    >>> lazy = predict(model, dd.from_pandas(table, npartitions=3))
    >>> lazy.compute(scheduler="synchronous").value_counts().sum()
    np.int64(150)
    """
    check_is_fitted(model)
    own = replace(model.model_)  # without what it has computed for itself, which workers compute as well
    known = METHODS if own.labels else METHODS[:1]
    if method not in known:
        raise InvalidInputError(
            f"`method` must be one of {', '.join(map(repr, known))} for a {type(model).__name__}; got {method!r}."
        )
    X, names = check_attributes(X)
    nothing = _find_results(np.empty((0, 0)), own, (), method)
    if is_array(X):
        check_number(model, len(names))
        shape = {"drop_axis": 1} if nothing.ndim == 1 else {"chunks": (X.chunks[0], (nothing.shape[1],))}
        return X.map_blocks(_find_results, own, own.names, method, dtype=nothing.dtype, meta=nothing, **shape)
    if not hasattr(model, "feature_names_in_"):
        raise InvalidInputError("The model was fitted on an array; give it one too, as `ddf.to_dask_array()` makes.")
    missing = [name for name in own.used_names if name not in names]
    if missing:
        raise InvalidInputError(f"X has no column '{missing[0]}', which the model was fitted on and uses.")
    meta = _as_frame(nothing, pd.RangeIndex(0), own, method)
    return X[list(own.used_names or names[:1])].map_partitions(_predict_part, own, method, meta=meta)


def _find_results(X: Any, model: RuleModel, names: Sequence[str], method: str) -> AnyArray:
    """Return the results of a method for a table whose columns are called so."""
    scores = score_rows(model, X, names, warn=True)
    if method == "predict":
        return model.decide(scores)
    results = model.probabilities(scores) if method == "predict_proba" else scores
    assert results is not None
    return results


def _predict_part(part: pd.DataFrame, model: RuleModel, method: str) -> pd.DataFrame | pd.Series:
    """Return the results for a partition of a data frame."""
    return _as_frame(_find_results(part, model, model.used_names, method), part.index, model, method)


def _as_frame(results: AnyArray, index: pd.Index, model: RuleModel, method: str) -> pd.DataFrame | pd.Series:
    """Return results with an index: a Series, or a DataFrame with one column for each class."""
    if results.ndim == 2:
        return pd.DataFrame(results, index=index, columns=list(model.labels))
    # Labels of no rows would be objects, those of some rows text.
    dtype = pd.Series(model.classes).dtype if model.labels and method == "predict" else results.dtype
    return pd.Series(results, index=index, name=method, dtype=dtype)


def check_number(model: BaseRuleEnsemble, n_features: int) -> None:
    """Refuse an array of another number of columns."""
    if n_features != model.n_features_in_:
        raise InvalidInputError(f"X has {n_features} columns but the model was fitted on {model.n_features_in_}.")


def score(model: BaseRuleEnsemble, X: Any, y: Any, *, weights: Any = None, client: Any = None) -> float:
    """Score a fitted estimator on dask collections, in one pass.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        A fitted estimator, wherever it was fitted.
    X, y, weights, client
        As in `fit`.

    Returns
    -------
    float
        As ``model.score``: the share of the right classes, or R squared.
    """
    local, engine, table = _open_fitted(model, X, y, weights, client)
    return score_over(engine, local, table.target, weights=table.weights)


def rule_evidence(
    model: BaseRuleEnsemble,
    X: Any,
    y: Any,
    *,
    weights: Any = None,
    level: float = 0.95,
    false_discovery_rate: float = 0.1,
    client: Any = None,
) -> RuleEvidence:
    """Check each rule on dask collections of rows that the fit has not seen, in one pass.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        A fitted estimator, wherever it was fitted.
    X, y, weights, client
        As in `fit`.
    level, false_discovery_rate
        As in `rulegrove.inspection.rule_evidence`.

    Returns
    -------
    RuleEvidence
    """
    local, engine, table = _open_fitted(model, X, y, weights, client)
    asking = Asking(level, false_discovery_rate)
    return examine_over(engine, local, table.target, weights=table.weights, asking=asking)


def _open_fitted(
    model: BaseRuleEnsemble, X: Any, y: Any, weights: Any, client: Any
) -> tuple[BaseRuleEnsemble, DaskEngine, DaskTable]:
    """Return a fitted estimator that goes by the names of a table, and the table."""
    check_is_fitted(model)
    client = find_client(client)
    table = make_table(X, y, weights)
    local = copy.copy(model)
    if not table.has_names:
        check_number(model, len(table.names))
        local.feature_names_in_ = np.array(table.names, dtype=object)
    return local, DaskEngine(table, client), table


def collect(statistics: FitStatistics, X: Any, y: Any, *, weights: Any = None, client: Any = None) -> FitStatistics:
    """Count the rules of an earlier fit on new rows; as `rulegrove.engines.collect`.

    Parameters
    ----------
    statistics : FitStatistics
        As `fit` with ``keep_statistics=True`` leaves them in `statistics_`.
    X, y, weights, client
        As in `fit`, and given in the same way: the target by its name, or beside X.

    Returns
    -------
    FitStatistics
        Of the new rows alone, to be merged with the old ones.
    """
    return collect_over(DaskEngine(make_table(X, y, weights), find_client(client)), statistics)
