"""Predictions of a fitted model for a table in parts, written as they come."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from sklearn.utils.validation import check_is_fitted

from rulegrove._files import written_whole
from rulegrove._progress import Progress
from rulegrove._typing import FloatArray
from rulegrove.columns import encode_columns
from rulegrove.engines.base import BATCH_ROWS, Batch, Engine, NamedError
from rulegrove.engines.beside import NOTHING_KNOWN, Known
from rulegrove.engines.local import LocalEngine, choose_threads
from rulegrove.engines.reading import take_attributes
from rulegrove.engines.values import take_column
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.model import RuleModel, choose_classes
from rulegrove.estimators.survival import RuleEnsembleSurvival
from rulegrove.exceptions import InvalidInputError

COLUMNS = ("prediction", "probability", "score")
GROUP_ROWS = 2**20  # rows of a row group that is written


def score_rows(model: RuleModel, X: Any, names: Sequence[str], *, warn: bool = False) -> FloatArray:
    """Return the score F of every row, of none too; the names are those of all columns, which the terms need."""
    if not X.shape[0] or not model.terms:
        shape = (X.shape[0], *model.coefs.shape[:-1])
        return np.broadcast_to(np.asarray(model.intercept, dtype=np.float64), shape).copy()
    return model.score(encode_columns(X, model.features, names, warn=warn))


def add_known(scores: FloatArray, known: FloatArray | None) -> FloatArray:
    """Return scores of one output or several with what is known to add to those of each row."""
    return scores if known is None else (scores.T + known).T


def score_batch(model: RuleModel, rows: pa.RecordBatch) -> FloatArray:
    """Return the score F of every row of a batch that has at least the columns that the terms need."""
    needed = take_attributes(rows, model.used_names)
    return score_rows(model, pa.Table.from_batches([needed]) if model.terms else needed, model.used_names)


@dataclass(frozen=True)
class Moments:
    """Times at which a model of survival times tells the share of rows without an event."""

    times: tuple[float, ...] = ()
    hazards: tuple[float, ...] = ()  # cumulative hazard of the baseline at each

    @classmethod
    def of(cls, model: BaseRuleEnsemble, times: Sequence[float]) -> "Moments":
        """Return the times with what a fitted model knows of them."""
        if not times:
            return NO_MOMENTS
        if not isinstance(model, RuleEnsembleSurvival):
            raise InvalidInputError(f"`times` are for models of survival times; got a {type(model).__name__}.")
        return cls(tuple(map(float, times)), tuple(model.find_hazards(times).tolist()))

    def predict(self, risks: FloatArray) -> dict[str, pa.Array]:
        """Return for each time, by its name, the chance of each row to be without the event then."""
        pairs = zip(self.times, self.hazards, strict=True)
        return {f"survival at {time:g}": pa.array(np.exp(-hazard * risks)) for time, hazard in pairs}


NO_MOMENTS = Moments()


@dataclass(frozen=True)
class PredictTask:
    """Predict the rows of a batch, beside columns to keep."""

    model: RuleModel
    results: tuple[str, ...]  # of `COLUMNS`
    kept: tuple[pa.Field, ...] = ()  # columns to pass on
    known: Known = NOTHING_KNOWN  # what adds to the scores
    moments: Moments = NO_MOMENTS  # times at which shares of rows without an event are told

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it needs."""
        kept = (field.name for field in self.kept)
        return tuple(dict.fromkeys((*self.model.used_names, *kept, *self.known.columns)))

    @cached_property
    def schema(self) -> pa.Schema:
        """Columns of what it returns."""
        found = self._find_results(score_rows(self.model, np.empty((0, 0)), ()))
        schema = pa.schema([*self.kept, *(pa.field(name, array.type) for name, array in found.items())])
        repeated = [name for name in schema.names if schema.names.count(name) > 1]
        if repeated:
            raise InvalidInputError(f"`keep` names {repeated[0]!r}, which is a column of the result itself; rename it.")
        return schema

    def _find_results(self, scores: FloatArray) -> dict[str, pa.Array]:
        """Return the columns of the results."""
        labels, told = self.model.labels, {"prediction": self.model.decide, "probability": self.model.probabilities}
        found: dict[str, pa.Array] = {}
        for result in self.results:
            if result == "prediction" and labels:
                found[result] = pa.array(labels).take(pa.array(choose_classes(scores)))
                continue
            values = told[result](scores) if result in told else scores
            assert values is not None
            if values.ndim == 1:
                found[result] = pa.array(values)
            else:
                columns = map(pa.array, np.ascontiguousarray(values.T))
                found |= dict(zip(self.model.name_results(result), columns, strict=True))
        return found | self.moments.predict(self.model.decide(scores))

    def __call__(self, batch: Batch) -> pa.RecordBatch:
        """Return the results of a batch."""
        kept = [take_column(batch.rows, field.name).cast(field.type) for field in self.kept]
        known = self.known.read(batch.rows, batch.start + np.arange(batch.rows.num_rows))
        found = self._find_results(add_known(score_batch(self.model, batch.rows), known))
        return pa.record_batch([*kept, *found.values()], schema=self.schema)


def make_task(
    model: BaseRuleEnsemble,
    schema: pa.Schema,
    results: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    exposure: str | None = None,
    offset: str | None = None,
    times: Sequence[float] = (),
) -> PredictTask:
    """Return the task that predicts with a model that was fitted on named columns; options as in `predict`."""
    check_is_fitted(model)
    if not hasattr(model, "feature_names_in_"):
        raise InvalidInputError("The model was fitted on columns without names; fit it on a table that has names.")
    allowed = COLUMNS if model.model_.labels else ("prediction", "score")
    results = [name for name in allowed if name != "score"] if results is None else results
    unknown = [name for name in results if name not in allowed]
    if unknown or not results:
        raise InvalidInputError(f"`columns` must be some of {', '.join(map(repr, allowed))}; got {list(results)}.")
    for name in (*keep, *model.model_.used_names):
        if name not in schema.names:
            what = "`keep` names" if name in keep else "The model needs"
            raise InvalidInputError(f"{what} the column {name!r}, which the rows to predict do not have.")
    known = Known.of(schema.names, model.recall_target(), exposure, offset)
    kept = tuple(schema.field(name) for name in keep)
    return PredictTask(model.model_, tuple(results), kept, known, Moments.of(model, times))


def predict(
    model: BaseRuleEnsemble,
    source: Any,
    out: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    exposure: str | None = None,
    offset: str | None = None,
    times: Sequence[float] = (),
    batch_rows: int = BATCH_ROWS,
    n_threads: int | None = None,
) -> int:
    """Predict a table that need not fit into memory, from file to file.

    Parameters
    ----------
    model : RuleEnsembleClassifier, RuleEnsembleRegressor or RuleEnsembleSurvival
        A fitted model. Only the columns that its terms speak of are read.
    source : str, path, sequence of these, or table
        As in `rulegrove.engines.fit`.
    out : str or path
        File to write, whole or not at all: ``.parquet``, ``.csv`` or ``.feather``; never one of those that are read.
    columns : sequence of {"prediction", "probability", "score"}, optional
        What to write; by default predictions, and for classes ``probability of ...`` for each. Several numbers and
        levels have a column each, such as ``prediction of a``; the prediction for survival times is the risk.
    keep : sequence of str
        Columns of the table to pass on, such as a key.
    exposure, offset : str, optional
        Names of columns as in `rulegrove.engines.fit`: predictions are then totals, without an exposure rates.
    times : sequence of float
        Of a model of survival times: when to tell the chance of no event yet, as ``survival at ...``.
    batch_rows : int
        Most rows that each thread has in memory at once.
    n_threads : int, optional
        Threads; those of the model's `n_jobs` by default.

    Returns
    -------
    int
        Rows written.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa, pyarrow.parquet
    >>> from rulegrove import RuleEnsembleRegressor, engines
    >>> table = pa.table({"a": [float(k) for k in range(100)], "y": [float(k > 40) for k in range(100)]})
    >>> model = engines.fit(RuleEnsembleRegressor(n_candidates=20, random_state=0), table, "y")
    >>> path = tempfile.mkdtemp() + "/predicted.parquet"
    >>> engines.predict(model, table, path, keep=["y"])
    100
    >>> pyarrow.parquet.read_table(path).column_names
    ['y', 'prediction']
    """
    engine = LocalEngine(source, batch_rows=batch_rows, n_threads=choose_threads(model, n_threads))
    return predict_over(engine, model, out, columns=columns, keep=keep, exposure=exposure, offset=offset, times=times)


def predict_over(
    engine: Engine,
    model: BaseRuleEnsemble,
    out: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    exposure: str | None = None,
    offset: str | None = None,
    times: Sequence[float] = (),
    finish: Callable[[pa.RecordBatch], pa.RecordBatch] | None = None,
) -> int:
    """Write the predictions of an engine's table to a file; as `predict`.

    Each batch of results, also an empty one, goes through `finish` before it is written.
    """
    path = Path(out)
    open_writer = WRITERS.get(path.suffix.lower())
    if open_writer is None:
        raise InvalidInputError(f"'{path}' must end in one of {', '.join(WRITERS)}, which tells how to write it.")
    check_place(path, engine.files)
    task = make_task(model, engine.schema, columns, keep, exposure, offset, times)
    finish = (lambda batch: batch) if finish is None else finish
    schema, n_rows = finish(pa.RecordBatch.from_pylist([], schema=task.schema)).schema, 0
    progress = Progress(model.verbose)
    try:
        with written_whole(path) as draft, open_writer(draft, schema) as writer:
            batches = map(finish, engine.map_batches(task, progress.stage("Predicting")))
            for table in _gather(batches, GROUP_ROWS if path.suffix.lower() == ".parquet" else 1):
                writer.write_table(table, 2 * GROUP_ROWS)
                n_rows += table.num_rows
    except NamedError:
        raise
    except (OSError, pa.ArrowException) as error:
        number = error.errno if isinstance(error, OSError) else None
        reason = os.strerror(number) if number else str(error).split("\n", 1)[0]
        raise InvalidInputError(f"'{path}' cannot be written: {reason.rstrip('.')}.") from error
    progress.close()
    return n_rows


def check_place(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse a place that is none for a file, or where one of the files lies that are read."""
    if path.is_dir():
        raise InvalidInputError(f"'{path}' is a folder; give the name of a file to write in it.")
    if not path.parent.is_dir():
        raise InvalidInputError(f"There is no folder '{path.parent}' to write '{path.name}' to; make it first.")
    for file in inputs:
        if path.exists() and file.exists() and path.samefile(file):
            known = f"'{path}'" if path == file else f"'{path}', the same file as '{file}',"
            raise InvalidInputError(f"{known} is one of the files to read, which would be lost; write to another one.")


def _gather(batches: Iterable[pa.RecordBatch], n_rows: int) -> Iterator[pa.Table]:
    """Yield batches together, as soon as they have so many rows."""
    waiting: list[pa.RecordBatch] = []
    n_waiting = 0
    for batch in batches:
        waiting.append(batch)
        n_waiting += batch.num_rows
        if n_waiting >= n_rows:
            yield pa.Table.from_batches(waiting)
            waiting, n_waiting = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


# What writes tables one after the other: by calls of `write_table` with a table and the most rows of a piece of it.
WRITERS: dict[str, Callable[[Path, pa.Schema], Any]] = {
    ".parquet": pq.ParquetWriter,
    ".csv": pyarrow.csv.CSVWriter,
    ".feather": pa.ipc.RecordBatchFileWriter,
    ".arrow": pa.ipc.RecordBatchFileWriter,
}
