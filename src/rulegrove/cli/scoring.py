"""A model file applied to the rows of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rulegrove._typing import FloatArray
from rulegrove.cli.known import check_known, find_known, read_known
from rulegrove.cli.places import check_file
from rulegrove.cli.reading import convert_to_numbers, find_name, find_targets, match_name, read_floats, read_table
from rulegrove.cli.spreadsheets import holds_text
from rulegrove.cli.times import check_spells, find_spells, read_times
from rulegrove.cli.words import count, list_names, suggest
from rulegrove.estimators.saved import read_saved
from rulegrove.exceptions import InvalidInputError

if TYPE_CHECKING:
    from rulegrove.estimators.classifier import RuleEnsembleClassifier
    from rulegrove.estimators.regressor import RuleEnsembleRegressor
    from rulegrove.estimators.survival import RuleEnsembleSurvival

    Ensemble = RuleEnsembleClassifier | RuleEnsembleRegressor | RuleEnsembleSurvival


def read_model(path: Path) -> "Ensemble":
    """Read a model file; what is none is refused before all that an estimator needs is loaded."""
    check_file(path)
    saved = read_saved(path)

    from rulegrove.estimators.model_file import make_model

    return make_model(saved)


def label_words(model: "Ensemble") -> dict[str, Any]:
    """Return the classes, numbers or levels of a model by their words; none where it predicts a single number."""
    return {str(label): label for label in model.model_.labels or model.model_.outputs}


def find_label(labels: Mapping[str, Any], word: str, option: str, whose: str) -> Any:
    """Return the class, number or level that an option means by a word, refusing one that is none."""
    if word not in labels:
        hint = suggest(word, list(labels)) or f" It has {list_names(list(labels))}."
        raise InvalidInputError(f"`{option}` names '{word}', which the {whose} does not have.{hint}")
    return labels[word]


def read_rows(model: "Ensemble", path: Path) -> pa.Table:
    """Read a table; columns that the model knows as text come as text, whatever they look like."""
    texts = [
        feature.source
        for feature in model.model_.features
        if feature.as_text or any(isinstance(category, str) for category in feature.categories or ())
    ]
    return read_table(path, text=texts)


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows of a table that have a target."""

    X: Any  # the model's attributes
    y: Any  # (n_rows,): the target, classes as the model spells them
    weights: FloatArray | None  # (n_rows,)
    known: Mapping[str, FloatArray]  # exposure and offset of the rows, by these words


def read_labelled(
    model: "Ensemble", path: Path, targets: Sequence[str], beside: Mapping[str, str | None]
) -> LabelledRows:
    """Read the attributes and the target of rows; those without a target, or one of several numbers, are left out.

    `beside` has the columns of weights, exposure, offset, event and entry, as far as they were named.
    """
    table = read_rows(model, path)
    names = _find_targets(model, table.column_names, targets)
    labels = label_words(model) if model.model_.labels else {}
    survival = check_spells(model, beside.get("event"), beside.get("entry"))
    for name in () if labels else names:
        table = convert_to_numbers(table, name)
    columns = find_known(table.column_names, beside.get("exposure"), beside.get("offset"))
    check_known(model, columns)
    spells = find_spells(table.column_names, beside.get("event"), beside.get("entry"))
    own = beside.get("weights")
    weights = None if own is None else find_name(table.column_names, own, "--weights")
    here = find_targets(table, names)
    known, rows = table.filter(here), np.flatnonzero(here.to_numpy())
    if not known.num_rows:
        raise InvalidInputError(f"The target {list_names(names)} has no value in any row of '{path}'.")
    apart = {*names, *columns.values(), *spells.columns.values(), *(() if weights is None else (weights,))}
    if survival:
        y: Any = read_times(known, names[0], spells, rows)
    elif labels:
        y = np.array([labels.get(str(value), value) for value in known[names[0]].to_pylist()], dtype=object)
    else:
        y = np.column_stack([np.array(known[name].to_pylist()) for name in names])
        y = y if len(names) > 1 else y[:, 0]
    attributes = known if hasattr(model, "feature_names_in_") else known.drop_columns(sorted(apart))
    return LabelledRows(
        take_attributes(model, attributes),
        y,
        None if weights is None else read_floats(known, weights, "weights"),
        read_known(known, columns, rows),
    )


def _find_targets(model: "Ensemble", columns: Sequence[str], targets: Sequence[str]) -> list[str]:
    """Return the columns of the target as the table spells them; those of several numbers in the order of the model."""
    names, numbers = [find_name(columns, name, "--target") for name in targets], model.model_.numbers
    if len(names) != max(len(numbers), 1):
        wanted = f"predicts {list_names(numbers)}" if numbers else "predicts one column"
        raise InvalidInputError(f"The model {wanted}; got {count(len(names), 'column')} by `--target`.")
    return list(numbers) if set(names) == set(numbers) else names


def take_attributes(model: "Ensemble", table: pa.Table) -> Any:
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
    found = {name: match_name(table.column_names, name) for name in model.feature_names_in_.tolist()}
    missing = [name for name in model.model_.used_names if found.get(name) is None]
    if missing:
        hint = suggest(missing[0], table.column_names) if len(missing) == 1 else ""
        raise InvalidInputError(f"The table lacks {list_names(missing)}, which the model needs.{hint}")
    return pa.table(
        {name: pa.nulls(table.num_rows) if column is None else table[column] for name, column in found.items()}
    )


def _values(column: pa.ChunkedArray) -> Any:
    """Return a column as numbers, or as objects where it holds words."""
    if holds_text(column.type):
        return np.array(column.to_pylist(), dtype=object)
    return column.cast(pa.float64()).to_numpy()


def predict_table(
    model: "Ensemble",
    rows: pa.Table,
    keep: Sequence[str],
    exposure: str | None = None,
    offset: str | None = None,
    moments: Sequence[float] = (),
) -> pa.Table:
    """Return some columns of the rows, then predictions, for classes and times the probability of each."""
    from rulegrove.engines.predicting import Moments

    X, known = take_attributes(model, rows), find_known(rows.column_names, exposure, offset)
    check_known(model, known)
    predicted = model.predict(X, **read_known(rows, known))
    if predicted.ndim == 1:
        found = {"prediction": pa.array(predicted.tolist())}
    else:
        found = dict(zip(model.model_.name_results("prediction"), map(pa.array, predicted.T), strict=True))
    if model.model_.labels:
        shares = map(pa.array, model.predict_proba(X).T)
        found.update(zip(model.model_.name_results("probability"), shares, strict=True))
    found.update(Moments.of(model, moments).predict(predicted))
    kept = [find_name(rows.column_names, name, "--keep") for name in keep]
    for name in kept:
        if name in found:
            raise InvalidInputError(f"`--keep` names '{name}', which is a column of the result itself; rename it.")
    return pa.table({**{name: rows[name] for name in kept}, **found})
