"""Predictions on dask collections: lazy, partition by partition, as the model itself would make them."""

import copy
from dataclasses import replace
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd

from rulegrove._typing import AnyArray
from rulegrove.columns import Feature, list_sources
from rulegrove.engines._dask_tables import check_attributes, is_array
from rulegrove.engines.predicting import shrink_model
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.exceptions import InvalidInputError

METHODS = ("predict", "predict_proba", "decision_function")
_NOT_FOR_SCORING = ("path_", "selection_", "candidates_", "rules_", "statistics_", "feature_importances_")


def predict_lazily(model: BaseRuleEnsemble, X: Any, method: str) -> Any:
    """Return the result of a method of a fitted model for every row of a dask collection, not yet computed.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        A fitted estimator.
    X : dask DataFrame or Array of shape (n_rows, n_features)
        A data frame needs the columns that the terms of the model speak of, in any order among any others.
    method : {"predict", "predict_proba", "decision_function"}

    Returns
    -------
    dask Series, DataFrame or Array
        Of a data frame a Series named as the method, or a DataFrame with one column a class, with the same index and
        partitions. Of an array an array of the same blocks of rows, of unknown sizes too.
    """
    if method not in METHODS or not hasattr(model, method):
        known = ", ".join(repr(name) for name in METHODS if hasattr(model, name))
        raise InvalidInputError(f"`method` must be one of {known} for a {type(model).__name__}; got {method!r}.")
    X, names = check_attributes(X)
    slim = _slim(model, named=not is_array(X))
    nothing = _results(slim, method)
    if is_array(X):
        check_number(model, len(names))
        drop = {"drop_axis": 1} if nothing.ndim == 1 else {"chunks": (X.chunks[0], (nothing.shape[1],))}
        return X.map_blocks(_predict_block, slim, method, dtype=nothing.dtype, meta=nothing, **drop)
    columns = _own_columns(model, names)
    meta = _as_frame(nothing, pd.RangeIndex(0), slim, method)
    return X[columns or list(names[:1])].map_partitions(_predict_part, slim, method, meta=meta)


def _slim(model: BaseRuleEnsemble, named: bool) -> BaseRuleEnsemble:
    """Return a copy of a model for the workers: only what predictions need, one thread a task.

    With names it has only those attributes that its terms speak of, so that no others need be there.
    """
    slim = copy.copy(model)
    if named:
        slim.model_ = shrink_model(model.model_)
        if not slim.model_.terms:  # it asks nothing of its rows, but a table has a column
            slim.model_ = replace(slim.model_, features=(Feature("none"),))
        columns = list_sources(slim.model_.features)
        slim.feature_names_in_, slim.n_features_in_ = np.array(columns, dtype=object), len(columns)
    for name in _NOT_FOR_SCORING if named else (*_NOT_FOR_SCORING, "feature_names_in_"):
        slim.__dict__.pop(name, None)
    slim.n_jobs, slim.trees, slim.rules, slim.random_state, slim.cv = 1, None, None, None, None
    return slim


def _own_columns(model: BaseRuleEnsemble, names: tuple[str, ...]) -> list[str]:
    """Return the columns of a data frame that the model needs."""
    if not hasattr(model, "feature_names_in_"):
        raise InvalidInputError("The model was fitted on an array; give it one too, as `ddf.to_dask_array()` makes.")
    wanted = list(list_sources(shrink_model(model.model_).features))
    missing = [name for name in wanted if name not in names]
    if missing:
        raise InvalidInputError(f"X has no column '{missing[0]}', which the model was fitted on and uses.")
    return wanted


def check_number(model: BaseRuleEnsemble, n_features: int) -> None:
    """Refuse an array of another number of columns."""
    if n_features != model.n_features_in_:
        raise InvalidInputError(f"X has {n_features} columns but the model was fitted on {model.n_features_in_}.")


def _results(model: BaseRuleEnsemble, method: str, X: Any = None) -> AnyArray:
    """Return the results for some rows, in one shape and type for none of them too."""
    if X is not None and len(X):
        return np.asarray(getattr(model, method)(X))
    classes = getattr(model, "classes_", None)
    if classes is None or (method == "decision_function" and len(classes) == 2):
        return np.empty(0)
    return classes[:0] if method == "predict" else np.empty((0, len(classes)))


def _as_frame(results: AnyArray, index: Any, model: Any, method: str) -> Any:
    """Return results with an index: a Series, or a DataFrame with one column a class."""
    if results.ndim == 1:
        # Labels of no rows would be objects, those of some rows text.
        dtype = pd.Series(model.classes_).dtype if method == "predict" and hasattr(model, "classes_") else None
        return pd.Series(results, index=index, name=method, dtype=dtype)
    return pd.DataFrame(results, index=index, columns=model.classes_.tolist())


def _predict_part(part: Any, model: BaseRuleEnsemble, method: str) -> Any:
    """Return the results for a partition of a data frame."""
    X = part if model.model_.terms else pd.DataFrame(0.0, index=part.index, columns=model.feature_names_in_)
    return _as_frame(_results(model, method, X), part.index, model, method)


def _predict_block(block: AnyArray, model: BaseRuleEnsemble, method: str) -> AnyArray:
    """Return the results for a block of an array."""
    return _results(model, method, block)


def is_lazy(X: Any) -> bool:
    """Whether a table is a dask collection."""
    return isinstance(X, dd.DataFrame) or is_array(X)
