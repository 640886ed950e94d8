"""Predictions as a table."""

from collections.abc import Sequence

import pyarrow as pa

from rulegrove.cli.reading import find_column
from rulegrove.cli.scoring import Ensemble, take_attributes
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.exceptions import InvalidInputError


def predict_table(model: Ensemble, rows: pa.Table, keep: Sequence[str] = ()) -> pa.Table:
    """Return predictions, and the probability of each class, beside some columns of the rows.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
    rows : pyarrow.Table
    keep : sequence of str
        Columns to pass on.
    """
    X = take_attributes(model, rows)
    found = {"prediction": pa.array(model.predict(X).tolist())}
    if isinstance(model, RuleEnsembleClassifier):
        shares = model.predict_proba(X)
        names = [f"probability of {label}" for label in model.classes_.tolist()]
        found.update(zip(names, map(pa.array, shares.T), strict=True))
    kept = [find_column(rows, name, "--keep") for name in keep]
    taken = [name for name in kept if name in found]
    if taken:
        raise InvalidInputError(f"`--keep` names '{taken[0]}', which is a column of the result itself; rename it.")
    return pa.table({**{name: rows[name] for name in kept}, **found})
