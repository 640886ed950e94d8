"""The rows that a report is made with."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from rulegrove.cli.reading import convert_to_numbers, find_column
from rulegrove.cli.scoring import Ensemble, read_rows, take_attributes
from rulegrove.exceptions import InvalidInputError


def read_given(model: Ensemble, data: Path | None, target: str | None) -> tuple[Any, Any]:
    """Read the attributes and the target of the rows to show a model on; each is None where it is not given.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
    data : path or None
    target : str or None
        Column of the target; rows without it are left out.
    """
    if data is None:
        if target is not None:
            raise InvalidInputError("`--target` names a column of `--data`; give both, or neither.")
        return None, None
    table = read_rows(model, data)
    if target is None:
        return take_attributes(model, table), None
    name = find_column(table, target, "--target")
    if not hasattr(model, "classes_"):
        table = convert_to_numbers(table, name)
    known = table.filter(pc.invert(pc.is_null(table[name], nan_is_null=True)))
    if not known.num_rows:
        raise InvalidInputError(f"The target '{name}' has no value in any row of '{data}'.")
    X = take_attributes(model, known.drop_columns([name]))
    return X, _read_target(model, known[name].to_pylist())


def _read_target(model: Ensemble, values: list[Any]) -> Any:
    """Return classes as the model spells them, which a file may do otherwise, or numbers."""
    if not hasattr(model, "classes_"):
        return np.array(values)
    spelled = {str(label): label for label in model.classes_.tolist()}
    labels = np.empty(len(values), dtype=object)
    labels[:] = [spelled.get(str(value), value) for value in values]
    return labels


def title_report(target: str | None, source: Path) -> str:
    """Return the title of a report that was given none."""
    return f"Rules of {source.name}" if target is None else f"Rules for {target}"
