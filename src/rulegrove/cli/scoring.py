"""A model file and the rows it is to be applied to."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rulegrove.cli.reading import check_file, match_column, read_table
from rulegrove.cli.words import list_names, suggest
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.estimators.model_file import load_model
from rulegrove.estimators.regressor import RuleEnsembleRegressor
from rulegrove.exceptions import InvalidInputError

Ensemble = RuleEnsembleClassifier | RuleEnsembleRegressor


def read_model(path: Path) -> Ensemble:
    """Read a model file."""
    check_file(path)
    return load_model(path)


def read_rows(model: Ensemble, path: Path) -> pa.Table:
    """Read a table; columns that the model knows as text come as text, whatever they look like."""
    texts = [
        feature.source
        for feature in model.model_.features
        if feature.as_text or any(isinstance(category, str) for category in feature.categories or ())
    ]
    return read_table(path, text=texts)


def used_columns(model: Ensemble) -> list[str]:
    """Return the columns that the terms of a model speak of, in its order."""
    features = model.model_.features
    used = sorted({feature for term in model.model_.terms for feature in term.features})
    return list(dict.fromkeys(features[feature].source for feature in used))


def take_attributes(model: Ensemble, table: pa.Table) -> Any:
    """Return the model's columns of a table, in the model's order; other columns are left out.

    A column that no term speaks of need not be there. A model that was fitted on an array has no names to go by: then
    the table must have just as many columns.
    """
    if not hasattr(model, "feature_names_in_"):
        if table.num_columns != model.n_features_in_:
            raise InvalidInputError(
                f"The model was fitted on {model.n_features_in_} columns without names; the table has "
                f"{table.num_columns}. Leave out the others."
            )
        return np.column_stack([_values(column) for column in table.columns])
    found = {name: match_column(table, name) for name in model.feature_names_in_.tolist()}
    missing = [name for name in used_columns(model) if found.get(name) is None]
    if missing:
        hint = suggest(missing[0], table.column_names) if len(missing) == 1 else ""
        raise InvalidInputError(f"The table lacks {list_names(missing)}, which the model needs.{hint}")
    return pa.table(
        {name: pa.nulls(table.num_rows) if column is None else table[column] for name, column in found.items()}
    )


def _values(column: pa.ChunkedArray) -> Any:
    """Return a column as numbers, or as objects where it holds words."""
    if pa.types.is_string(column.type) or pa.types.is_dictionary(column.type):
        return np.array(column.to_pylist(), dtype=object)
    return column.cast(pa.float64()).to_numpy()
