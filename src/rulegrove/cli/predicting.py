"""Predictions as a table."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from rulegrove.cli.large import open_large
from rulegrove.cli.reading import find_column, find_name
from rulegrove.cli.scoring import Ensemble, take_attributes
from rulegrove.cli.spreadsheets import mark_text
from rulegrove.cli.writing import OF_SPREADSHEETS
from rulegrove.engines.predicting import predict_over
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.exceptions import InvalidInputError


def predict_parts(
    model: Ensemble,
    paths: Sequence[Path],
    output: Path | None,
    keep: Sequence[str] = (),
    *,
    raw: bool = False,
    verbose: bool = False,
) -> int:
    """Predict tables that are not read into memory, from file to file; return how many rows were written.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
    paths : sequence of path
    output : path or None
        Where to; without it the predictions are refused, for they may be too many to print.
    keep : sequence of str
        Columns to pass on.
    raw : bool
        Whether text in CSV stays as it is, as for `write_table`.
    verbose : bool
        Whether to show progress.
    """
    if output is None:
        raise InvalidInputError("Predictions of a table in parts go to a file; give `-o predictions.parquet`.")
    engine = open_large(paths)
    kept = [find_name(engine.schema.names, name, "--keep") for name in keep]
    finish = None if raw or output.suffix.lower() not in OF_SPREADSHEETS else mark_text
    return predict_over(engine, model.set_params(verbose=int(verbose)), output, keep=kept, finish=finish)


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
