"""Tables that are not read into memory: folders, several files, large ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from rulegrove._progress import Progress
from rulegrove._validation import count_threads
from rulegrove.cli.output import note
from rulegrove.cli.reading import find_name
from rulegrove.cli.scoring import Ensemble
from rulegrove.cli.training import check_text_target
from rulegrove.cli.words import count, list_names
from rulegrove.engines.fitting import fit_over
from rulegrove.engines.local import LocalEngine
from rulegrove.engines.reading import Layout, is_number
from rulegrove.engines.sampling import draw_sample
from rulegrove.engines.sources import SUFFIXES
from rulegrove.engines.target import TargetLook, look_at
from rulegrove.exceptions import InvalidInputError

LARGE_BYTES = 2**29  # a Parquet file beyond 512 MB is not read into memory
SHOWN_ROWS = 65536  # of the training rows that a report is made with
SHOWN_CLASSES = 6


def is_large(paths: Sequence[Path]) -> bool:
    """Whether rows are read part by part: several files, a folder, a pattern, or a large Parquet file."""
    if len(paths) > 1:
        return True
    [path] = paths
    if path.is_dir() or (not path.exists() and "*" in path.name):
        return True
    return path.suffix.lower() in SUFFIXES and path.is_file() and path.stat().st_size > LARGE_BYTES


def open_large(paths: Sequence[Path], n_jobs: Any = None) -> LocalEngine:
    """Open files that are read part by part; they must be Parquet."""
    for path in paths:
        if path.is_file() and path.suffix.lower() not in SUFFIXES:
            raise InvalidInputError(f"Several files must all be Parquet ({', '.join(SUFFIXES)}); '{path}' is not.")
    return LocalEngine(list(paths), n_threads=count_threads(n_jobs))


@dataclass(frozen=True, eq=False)
class LargeTraining:
    """A table with a target, in files; what `Training` is of one in memory.

    Attributes
    ----------
    engine : LocalEngine
    target : str
    task : {"classification", "regression"}
    weights_name : str or None
    drop, categorical, as_numbers : tuple of str
    look : TargetLook
    """

    engine: LocalEngine
    target: str
    task: str
    weights_name: str | None
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    as_numbers: tuple[str, ...]
    look: TargetLook

    @property
    def _layout(self) -> Layout:
        names, classes = self.engine.schema.names, self.task == "classification"
        return Layout.of(names, self.target, self.weights_name, classes=classes, drop=self.drop)

    @property
    def categories(self) -> list[str]:
        """Names of the attributes that are categories."""
        others = {*self.dates, *self.as_numbers}
        return [
            name
            for name in self._layout.attributes
            if name in self.categorical or (name not in others and not is_number(self._type(name)))
        ]

    @property
    def dates(self) -> list[str]:
        """Names of the attributes that are dates or times."""
        return [
            name
            for name in self._layout.attributes
            if pa.types.is_temporal(self._type(name)) and name not in self.categorical
        ]

    @property
    def numbers(self) -> list[str]:
        """Names of the attributes that are numbers."""
        others = {*self.categories, *self.dates}
        return [name for name in self._layout.attributes if name not in others]

    def _type(self, name: str) -> pa.DataType:
        return self.engine.schema.field(name).type

    @property
    def labels(self) -> dict[str, Any]:
        """Classes by their words."""
        return {str(label): label for label in self.look.counts or ()}

    def describe(self) -> dict[str, Any]:
        """Return what was read and guessed, for JSON."""
        n_rows = self.look.n_rows - self.look.n_missing
        found = {"rows": n_rows, "rows_without_target": self.look.n_missing, "target": self.target}
        kinds = {"numbers": self.numbers, "dates": self.dates, "categories": self.categories}
        return {**found, "task": self.task, **kinds}

    def tell(self, *, quiet: bool) -> None:
        """Say what was read and guessed."""
        n_rows = self.look.n_rows - self.look.n_missing
        parts = count(self.engine.source.n_partitions, "part")
        attributes = count(len(self._layout.attributes), "attribute")
        note(f"{count(n_rows, 'row')} in {parts}, {attributes}; read part by part", quiet=quiet)
        if self.numbers:
            note(f"  numbers     {list_names(self.numbers)}", quiet=quiet)
        if self.dates:
            note(f"  dates       {list_names(self.dates)}", quiet=quiet)
        if self.categories:
            note(f"  categories  {list_names(self.categories)}", quiet=quiet)
        note(f"  target      '{self.target}': {self.task}, {self._tell_target()}", quiet=quiet)
        if self.look.n_missing:
            note(f"  left out    {count(self.look.n_missing, 'row')} without a target", quiet=quiet)

    def _tell_target(self) -> str:
        """Say which values the target has."""
        if self.task == "regression":
            return f"{self.look.low:.6g} to {self.look.high:.6g}, mean {self.look.mean:.6g}"
        pairs = sorted((self.look.counts or {}).items())
        shown = [f"{label} ({n:,})" for label, n in pairs][:SHOWN_CLASSES]
        hidden = len(pairs) - len(shown)
        return ", ".join(shown) + (f" and {hidden} more classes" if hidden > 0 else "")

    def fit(self, model: Ensemble) -> None:
        """Fit a model, part by part."""
        if self.categorical:
            model.set_params(categorical_features=self.categories)
        fit_over(self.engine, model, self.target, weights=self.weights_name, drop=self.drop)

    def show(self) -> tuple[Any, Any]:
        """Return attributes and target of rows to show a model on: a sample."""
        drawn = draw_sample(self.engine, self._layout, 0, lambda n_rows: min(n_rows, SHOWN_ROWS)).drawn
        return drawn.rows, drawn.y


def read_large(
    paths: Sequence[Path],
    target: str,
    *,
    task: str = "auto",
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numbers: Sequence[str] = (),
    weights: str | None = None,
    groups: str | None = None,
    n_jobs: Any = None,
    verbose: bool = False,
) -> LargeTraining:
    """Open files and look at the target; as `read_training`.

    Parameters
    ----------
    paths : sequence of path
    target, task, drop, categorical, numbers, weights
        As in `read_training`.
    groups : str, optional
        Refused: folds of these tables are dealt row by row.
    n_jobs : int, optional
        Threads, as the estimators take it.
    verbose : bool
        Whether to show progress.
    """
    if groups is not None:
        raise InvalidInputError("`--groups` is for one table that is read whole; leave it out, or join the files.")
    engine = open_large(paths, n_jobs)
    names = engine.schema.names
    target = find_name(names, target, "--target")
    dropped = tuple(find_name(names, name, "--drop") for name in drop)
    chosen = tuple(find_name(names, name, "--categorical") for name in categorical)
    as_numbers = tuple(find_name(names, name, "--number") for name in numbers)
    if target in as_numbers:
        raise InvalidInputError("`--number` names the target, which is for one table that is read whole; convert it.")
    weights = None if weights is None else find_name(names, weights, "--weights")
    progress = Progress(int(verbose))
    look = look_at(engine, target, progress.stage("Reading the target"))
    progress.close()
    values = look.counts
    if look.n_rows == look.n_missing or (values is not None and len(values) < 2):
        value = repr(next(iter(values))) if values else "none"
        raise InvalidInputError(f"The target '{target}' has one value only, {value}: there is nothing to learn.")
    if not is_number(engine.schema.field(target).type):
        check_text_target(target, list(values or ()), task)
    task = look.task if task == "auto" else task
    return LargeTraining(engine, target, task, weights, dropped, chosen, as_numbers, look)
