"""Tables that are not read into memory: folders, several files, large ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rulegrove._files import PARQUET
from rulegrove._progress import Progress
from rulegrove._validation import count_threads
from rulegrove.cli.errors import shows_progress
from rulegrove.cli.facts import Facts, sort_kinds
from rulegrove.cli.known import find_known
from rulegrove.cli.options import Columns
from rulegrove.cli.reading import find_name
from rulegrove.cli.roles import Roles, find_roles
from rulegrove.cli.spreadsheets import mark_text
from rulegrove.cli.training import check_text_target, check_values
from rulegrove.cli.words import count
from rulegrove.cli.writing import needs_marks
from rulegrove.engines.beside import NOTHING_KNOWN, Beside, Known, as_times
from rulegrove.engines.examining import examine_over
from rulegrove.engines.fitting import fit_over
from rulegrove.engines.local import LocalEngine
from rulegrove.engines.predicting import predict_over
from rulegrove.engines.reading import Layout
from rulegrove.engines.sampling import DrawTask, draw_sample
from rulegrove.engines.target import TargetLook, look_at
from rulegrove.engines.values import is_number
from rulegrove.estimators._judging_rules import Asking
from rulegrove.estimators.evidence import RuleEvidence
from rulegrove.exceptions import InvalidInputError

if TYPE_CHECKING:
    from rulegrove.cli.scoring import Ensemble

SHOWN_ROWS = 65536  # of the training rows that a report is made with


def open_large(paths: Sequence[Path], n_jobs: Any = None) -> LocalEngine:
    """Open files that are read part by part; they must be Parquet."""
    for path in paths:
        if path.is_file() and path.suffix.lower() not in PARQUET:
            raise InvalidInputError(f"Several files must all be Parquet ({', '.join(PARQUET)}); '{path}' is not.")
    return LocalEngine(list(paths), n_threads=count_threads(n_jobs))


@dataclass(frozen=True, eq=False)
class LargeTraining:
    """A table with a target, in files; what `Training` is of one in memory."""

    engine: LocalEngine
    layout: Layout
    roles: Roles
    facts: Facts

    def fit(self, model: "Ensemble") -> None:
        """Fit a model, part by part."""
        if self.roles.categorical:
            model.set_params(categorical_features=self.facts.kinds["categories"])
        roles = self.roles
        beside: dict[str, Any] = {**roles.known, **roles.spells.words}
        fit_over(self.engine, model, roles.targets, weights=roles.weights, drop=roles.drop, **beside)

    def show(self, model: "Ensemble") -> tuple[Any, Any, Mapping[str, Any]]:
        """Return attributes, target, exposure and offset of rows to show a model on: a sample."""
        attributes, known = self.layout.attributes, self.roles.known
        columns = (*attributes, *known.values())  # what is known is to be beside the target, not out of it
        layout = replace(self.layout, attributes=columns, known=NOTHING_KNOWN, kind=model.recall_target())
        drawn = draw_sample(self.engine, layout, 0, lambda n_rows: min(n_rows, SHOWN_ROWS))
        y = drawn.y if layout.beside.event is None else as_times(drawn.y)
        return drawn.rows.select(attributes), y, {option: drawn.rows[name].to_numpy() for option, name in known.items()}


def read_large(
    paths: Sequence[Path],
    targets: Sequence[str],
    columns: Columns,
    beside: Mapping[str, str | None],
    n_jobs: Any,
) -> LargeTraining:
    """Open files and look at the targets; parameters as in `read_training`, and threads as the estimators take them."""
    if beside.get("groups") is not None:
        raise InvalidInputError("`--groups` is for one table that is read whole; leave it out, or join the files.")
    engine = open_large(paths, n_jobs)
    roles = find_roles(engine.schema.names, targets, columns, beside)
    if {*roles.targets} & {*roles.numbers}:
        raise InvalidInputError("`--number` names the target, which is for one table that is read whole; convert it.")
    types = {field.name: field.type for field in engine.schema}
    progress = Progress(int(shows_progress()))
    looks = {name: look_at(engine, name, progress.stage("Reading the target")) for name in roles.targets}
    progress.close()
    look, task = looks[roles.target], _find_task(looks, roles, types, columns.task)
    values = "classes" if task == "classification" else "numbers"
    known = Known(**roles.known)
    others = Beside(roles.targets[1:], roles.spells.event, roles.spells.entry, roles.spells.word)
    layout = Layout.of(
        list(types), roles.target, roles.weights, values=values, drop=roles.drop, known=known, beside=others
    )
    n_rows = look.n_rows - look.n_missing
    if len(looks) > 1:  # those that have all of them
        n_rows = int(engine.map_reduce(DrawTask(replace(layout, attributes=()), 0, 0)).summary.counts.sum())
    parts, attributes = count(engine.source.n_partitions, "part"), count(len(layout.attributes), "attribute")
    facts = Facts(
        size=f"{count(n_rows, 'row')} in {parts}, {attributes}; read part by part",
        n_rows=n_rows,
        n_left_out=look.n_rows - n_rows,
        target=roles.target,
        task=task,
        counts=look.counts or {},
        span=(look.low, look.high, look.mean),
        others={name: (looks[name].low, looks[name].high, looks[name].mean) for name in roles.targets[1:]},
        known={**roles.known, **roles.spells.words},
        kinds=sort_kinds(
            layout.attributes,
            lambda name: pa.types.is_temporal(types[name]) and name not in roles.categorical,
            lambda name: name in roles.categorical or (name not in roles.numbers and not is_number(types[name])),
        ),
    )
    return LargeTraining(engine, layout, roles, facts)


def _find_task(looks: Mapping[str, TargetLook], roles: Roles, types: Mapping[str, pa.DataType], task: str) -> str:
    """Return what the targets are; refuse what cannot be learned."""
    if roles.spells.event is not None:
        return "survival"
    for name, look in looks.items():
        labels = list(look.counts or ())
        if look.counts is not None or look.n_rows == look.n_missing:
            check_values(name, labels)
        if not is_number(types[name]):
            if len(looks) > 1:
                raise InvalidInputError(
                    f"Several `--target` must all be numbers; '{name}' holds {labels[0]!r}. Fit it by itself."
                )
            check_text_target(name, labels, task)
    if len(looks) > 1:
        return "regression"
    return looks[roles.target].task if task == "auto" else task


def examine_large(
    model: "Ensemble",
    paths: Sequence[Path],
    target: str,
    beside: Mapping[str, str | None],
    level: float,
    false_discovery_rate: float,
) -> RuleEvidence:
    """Test the rules of a model on tables that are not read into memory, with columns of weights, exposure, offset."""
    engine = open_large(paths)
    names = engine.schema.names
    given = {option: find_name(names, name, f"--{option}") for option, name in beside.items() if name is not None}
    model.set_params(verbose=int(shows_progress()))
    asking = Asking(level, false_discovery_rate)
    return examine_over(engine, model, find_name(names, target, "--target"), asking=asking, **given)


def predict_large(
    model: "Ensemble",
    paths: Sequence[Path],
    output: Path | None,
    keep: Sequence[str],
    raw: bool,
    exposure: str | None = None,
    offset: str | None = None,
    moments: Sequence[float] = (),
) -> int:
    """Predict tables that are not read into memory, from file to file; return how many rows were written.

    Without an output predictions are refused, for they may be too many to print.
    """
    if output is None:
        raise InvalidInputError("Predictions of a table in parts go to a file; give `-o predictions.parquet`.")
    engine = open_large(paths)
    kept = [find_name(engine.schema.names, name, "--keep") for name in keep]
    known = find_known(engine.schema.names, exposure, offset)
    finish = mark_text if needs_marks(output, raw) else None
    model.set_params(verbose=int(shows_progress()))
    return predict_over(engine, model, output, keep=kept, finish=finish, times=moments, **known)
