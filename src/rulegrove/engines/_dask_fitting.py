"""Fits, predictions and scores of estimators on dask collections."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.utils.validation import check_is_fitted

from rulegrove._typing import AnyArray, FloatArray
from rulegrove.engines._dask_engine import DaskEngine, find_client
from rulegrove.engines._dask_tables import DaskTable, check_attributes, is_array, make_table, place_column
from rulegrove.engines.base import BATCH_ROWS, naming
from rulegrove.engines.beside import Known
from rulegrove.engines.examining import examine_over
from rulegrove.engines.fitting import fit_over
from rulegrove.engines.keeping import FitStatistics, collect_over
from rulegrove.engines.predicting import add_known, score_rows
from rulegrove.engines.scoring import score_over
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
    event: Any = None,
    entry: Any = None,
    exposure: Any = None,
    offset: Any = None,
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
    model : RuleEnsembleClassifier, RuleEnsembleRegressor or RuleEnsembleSurvival
        Fitted in place.
    X : dask DataFrame or Array of shape (n_rows, n_features)
        The attributes; a data frame may hold the target and the weights as well. Texts and categories are welcome,
        categories that differ between partitions too.
    y : str, dask Series or Array of shape (n_rows,)
        The target, or the name of its column. Partitions must hold the same rows as those of X. Several numbers are a
        list of names, a dask DataFrame, or an Array of shape (n_rows, n_numbers).
    weights : str, dask Series or Array of shape (n_rows,), optional
        Weights, or the name of their column.
    event, entry : str, dask Series or Array of shape (n_rows,), optional
        Of survival times, as in `rulegrove.engines.fit`, or the names of their columns.
    exposure, offset : str, dask Series or Array of shape (n_rows,), optional
        As in `rulegrove.engines.fit`, or the names of their columns.
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
    DaskRuleEnsembleClassifier, DaskRuleEnsembleRegressor, DaskRuleEnsembleSurvival : The same as estimators.

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
    table = make_table(X, y, weights=weights, event=event, entry=entry, exposure=exposure, offset=offset)
    return fit_over(
        DaskEngine(table, client, batch_rows),
        model,
        table.targets,
        **table.given,
        drop=drop,
        named=table.has_names,
        max_gram_rows=max_gram_rows,
        keep_statistics=keep_statistics,
    )


def predict(
    model: BaseRuleEnsemble, X: Any, *, method: str = "predict", exposure: Any = None, offset: Any = None
) -> Any:
    """Predict for every row of a dask collection, lazily: nothing is computed until it is asked for.

    Parameters
    ----------
    model : RuleEnsembleClassifier, RuleEnsembleRegressor or RuleEnsembleSurvival
        A fitted estimator, wherever it was fitted.
    X : dask DataFrame or Array of shape (n_rows, n_features)
        A data frame needs the columns that the terms of the model speak of, in any order among any others; an array
        all that the model was fitted on.
    method : {"predict", "predict_proba", "decision_function"}, default="predict"
        Which method of the model.
    exposure, offset : str, dask Series or Array of shape (n_rows,), optional
        As in `fit`, beside a data frame a Series and beside an array an Array: predictions are then totals, without an
        exposure rates.

    Returns
    -------
    dask Series, DataFrame or Array
        For a data frame a Series named as the method, or a DataFrame with one column for each class, number or level of
        quantiles, with the index and the partitions of X. For an array an array with the same blocks of rows, of
        unknown sizes too. The values are those of the model in memory, bit for bit.

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
    methods = METHODS if own.labels else METHODS[:1]
    if method not in methods:
        raise InvalidInputError(
            f"`method` must be one of {', '.join(map(repr, methods))} for a {type(model).__name__}; got {method!r}."
        )
    X, names = check_attributes(X)
    known, beside = _place_known(model, X, names, exposure, offset)
    nothing = _find_results(np.empty((0, 0)), own, (), method)
    if is_array(X):
        check_number(model, len(names))
        shape = {"drop_axis": 1} if nothing.ndim == 1 else {"chunks": (X.chunks[0], (nothing.shape[1],))}
        vectors = [vector[:, None] for vector in beside.values()]
        told = {"model": own, "method": method, "known": known, "beside": tuple(beside)}
        return X.map_blocks(_predict_block, *vectors, **told, dtype=nothing.dtype, meta=nothing, **shape)
    if not hasattr(model, "feature_names_in_"):
        raise InvalidInputError("The model was fitted on an array; give it one too, as `ddf.to_dask_array()` makes.")
    missing = [name for name in own.used_names if name not in names]
    if missing:
        raise InvalidInputError(f"X has no column '{missing[0]}', which the model was fitted on and uses.")
    inside = [name for name in known.columns if name not in beside]
    columns = list(dict.fromkeys([*own.used_names, *inside])) or list(names[:1])
    meta = _as_frame(nothing, pd.RangeIndex(0), own, method)
    return X[columns].map_partitions(
        _predict_part,
        *beside.values(),
        model=own,
        method=method,
        known=known,
        beside=tuple(beside),
        meta=meta,
        align_dataframes=False,
    )


def _place_known(
    model: BaseRuleEnsemble, X: Any, names: tuple[str, ...], exposure: Any, offset: Any
) -> tuple[Known, dict[str, Any]]:
    """Return the columns of what is known to add to scores, and those of them that are beside X."""
    beside: dict[str, Any] = {}
    given = {"exposure": exposure, "offset": offset}
    placed = {role: place_column(X, names, beside, one, role) for role, one in given.items() if one is not None}
    for name, vector in beside.items():
        if is_array(vector) != is_array(X):
            kind = "Array" if is_array(X) else "Series"
            raise InvalidInputError(f"The {name} must be a dask {kind} here, as X is one in parts of that kind.")
    columns = (*names, *beside)
    return Known.of(columns, model.recall_target(), placed.get("exposure"), placed.get("offset")), beside


def _find_results(
    X: Any, model: RuleModel, names: Sequence[str], method: str, known: FloatArray | None = None
) -> AnyArray:
    """Return the results of a method for a table whose columns are called so."""
    scores = add_known(score_rows(model, X, names, warn=True), known)
    if method == "predict":
        return model.decide(scores)
    results = model.probabilities(scores) if method == "predict_proba" else scores
    assert results is not None
    return results


def _predict_block(
    block: AnyArray, *vectors: AnyArray, model: RuleModel, method: str, known: Known, beside: tuple[str, ...]
) -> AnyArray:
    """Return the results for a block of an array."""
    columns = dict(zip(beside, (vector[:, 0] for vector in vectors), strict=True))
    return _find_results(block, model, model.names, method, _read_known(known, columns, len(block)))


def _predict_part(
    part: pd.DataFrame,
    *vectors: pd.Series,
    model: RuleModel,
    method: str,
    known: Known,
    beside: tuple[str, ...],
) -> pd.DataFrame | pd.Series:
    """Return the results for a partition of a data frame."""
    columns = {name: part[name] for name in known.columns if name not in beside}
    own = _read_known(known, {**columns, **dict(zip(beside, vectors, strict=True))}, len(part))
    return _as_frame(_find_results(part, model, model.used_names, method, own), part.index, model, method)


def _read_known(known: Known, columns: Mapping[str, Any], n_rows: int) -> FloatArray | None:
    """Return what is known to add to the scores of a partition."""
    with naming("In a partition, whose rows are counted from its first one"):
        for name, values in columns.items():
            if len(values) != n_rows:
                raise InvalidInputError(f"X has {n_rows} rows but the {name} has {len(values)}")
        rows = {name: pa.array(values, from_pandas=True) for name, values in columns.items()}
        return known.read(pa.record_batch(rows), np.arange(n_rows)) if rows else None


def _as_frame(results: AnyArray, index: pd.Index, model: RuleModel, method: str) -> pd.DataFrame | pd.Series:
    """Return results with an index: a Series, or a DataFrame with one column for each class, number or level."""
    if results.ndim == 2:
        return pd.DataFrame(results, index=index, columns=list(model.labels or model.outputs))
    # Labels of no rows would be objects, those of some rows text.
    dtype = pd.Series(model.classes).dtype if model.labels and method == "predict" else results.dtype
    return pd.Series(results, index=index, name=method, dtype=dtype)


def check_number(model: BaseRuleEnsemble, n_features: int) -> None:
    """Refuse an array of another number of columns."""
    if n_features != model.n_features_in_:
        raise InvalidInputError(f"X has {n_features} columns but the model was fitted on {model.n_features_in_}.")


def score(
    model: BaseRuleEnsemble,
    X: Any,
    y: Any,
    *,
    weights: Any = None,
    event: Any = None,
    entry: Any = None,
    exposure: Any = None,
    offset: Any = None,
    client: Any = None,
) -> float:
    """Score a fitted estimator on dask collections, in one pass.

    Parameters
    ----------
    model : RuleEnsembleClassifier, RuleEnsembleRegressor or RuleEnsembleSurvival
        A fitted estimator, wherever it was fitted.
    X, y, weights, event, entry, exposure, offset, client
        As in `fit`.

    Returns
    -------
    float
        As ``model.score`` and `rulegrove.engines.score`.
    """
    beside = {"weights": weights, "event": event, "entry": entry, "exposure": exposure, "offset": offset}
    local, engine, table = _open_fitted(model, client, X, y, **beside)
    return score_over(engine, local, table.targets, **table.given)


def rule_evidence(
    model: BaseRuleEnsemble,
    X: Any,
    y: Any,
    *,
    weights: Any = None,
    exposure: Any = None,
    offset: Any = None,
    level: float = 0.95,
    false_discovery_rate: float = 0.1,
    client: Any = None,
) -> RuleEvidence:
    """Check each rule on dask collections of rows that the fit has not seen, in one pass.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        A fitted estimator, wherever it was fitted.
    X, y, weights, exposure, offset, client
        As in `fit`.
    level, false_discovery_rate
        As in `rulegrove.inspection.rule_evidence`.

    Returns
    -------
    RuleEvidence
    """
    local, engine, table = _open_fitted(model, client, X, y, weights=weights, exposure=exposure, offset=offset)
    return examine_over(engine, local, table.targets, **table.given, asking=Asking(level, false_discovery_rate))


def _open_fitted(
    model: BaseRuleEnsemble, client: Any, X: Any, y: Any, **others: Any
) -> tuple[BaseRuleEnsemble, DaskEngine, DaskTable]:
    """Return a fitted estimator that goes by the names of a table, and the table of X, y, weights and so on."""
    check_is_fitted(model)
    client = find_client(client)
    table = make_table(X, y, **others)
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
    return collect_over(DaskEngine(make_table(X, y, weights=weights), find_client(client)), statistics)
