"""How good a fitted model is on a table in parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._progress import Progress
from rulegrove.engines.base import BATCH_ROWS, Engine
from rulegrove.engines.beside import Beside, Named, as_times, list_targets
from rulegrove.engines.local import LocalEngine, choose_threads
from rulegrove.engines.predicting import make_task, score_batch
from rulegrove.engines.reading import Labelled, Layout, LayoutTask
from rulegrove.engines.values import check_names
from rulegrove.estimators import autos
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.figures import Agreement
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError


@dataclass(frozen=True)
class ScoreTask(LayoutTask[Any]):
    """Compare predictions with targets; the agreement is of the kind that the target has."""

    model: RuleModel
    target: Target

    def nothing(self) -> Any:
        """Return the agreement on no rows, which merges with any kind."""
        return Agreement()

    def look(self, rows: Labelled) -> Any:
        """Return the agreement on some rows."""
        weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
        if not weights.any():
            return Agreement()
        scores = score_batch(self.model, rows.rows)
        if self.target.timed:
            return self.target.compare(as_times(rows.y), scores, weights)
        return self.target.compare(rows.y, self.model.decide(scores), weights)


def score(
    model: BaseRuleEnsemble,
    source: Any,
    target: str | Sequence[str],
    *,
    weights: str | None = None,
    event: str | None = None,
    entry: str | None = None,
    exposure: str | None = None,
    offset: str | None = None,
    batch_rows: int = BATCH_ROWS,
    n_threads: int | None = None,
) -> float:
    """Score a model on a table that need not fit into memory.

    Parameters
    ----------
    model : RuleEnsembleClassifier, RuleEnsembleRegressor or RuleEnsembleSurvival
        A fitted model.
    source : str, path, sequence of these, or table
        As in `rulegrove.engines.fit`.
    target : str or sequence of str
        Name of the column that was to be predicted, or names of several numbers; rows without it are left out.
    weights : str, optional
        Name of the column of weights.
    event, entry : str, optional
        Of survival times, names of columns as in `rulegrove.engines.fit`.
    exposure, offset : str, optional
        Names of columns as in `rulegrove.engines.fit`; the target is then totals.
    batch_rows, n_threads
        As in `rulegrove.engines.predict`.

    Returns
    -------
    float
        As ``model.score``: the share of the right classes, R squared, of several numbers its mean, or the share of the
        deviance of rates that is explained. Of survival times the concordance: it is of pairs of rows, whose times and
        scores are therefore put together in memory, of 4,194,304 rows at most.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from rulegrove import RuleEnsembleClassifier, engines
    >>> from rulegrove.datasets import load
    >>> frame = load("pima").frame()
    >>> X, y = frame.drop(columns="class"), frame["class"]
    >>> model = RuleEnsembleClassifier(n_candidates=100, random_state=0).fit(X, y)
    >>> engines.score(model, pa.Table.from_pandas(frame), "class") == model.score(X, y)
    True
    """
    engine = LocalEngine(source, batch_rows=batch_rows, n_threads=choose_threads(model, n_threads))
    beside = {"weights": weights, "event": event, "entry": entry, "exposure": exposure, "offset": offset}
    return score_over(engine, model, target, **beside)


def lay_out(engine: Engine, model: BaseRuleEnsemble, target: str | Sequence[str], named: Named) -> Layout:
    """Return which columns of a table are what a fitted model needs, and what it is compared with."""
    names, kind = engine.schema.names, model.recall_target()
    known = make_task(model, engine.schema, exposure=named.exposure, offset=named.offset).known
    targets = list_targets(names, target)
    check_names(names, [("weights", named.weights)])
    beside = Beside.of(names, kind, targets, named.event, named.entry)
    used = model.model_.used_names
    return Layout(used, targets[0], named.weights, kind.values, kind=kind, known=known, beside=beside)


def score_over(engine: Engine, model: BaseRuleEnsemble, target: str | Sequence[str], **beside: str | None) -> float:
    """Score a model on the table of an engine; as `score`."""
    kind, layout = model.recall_target(), lay_out(engine, model, target, Named(**beside))
    if kind.timed and engine.n_rows > autos.MOST_DRAWN:
        raise InvalidInputError(
            f"Concordance is of pairs of rows, whose times must be together in memory, {autos.MOST_DRAWN:,} rows at "
            f"most; got {engine.n_rows:,}. Score fewer of them, such as some of the files."
        )
    progress = Progress(model.verbose)
    found = engine.map_reduce(ScoreTask(layout, model.model_, kind), progress.stage("Scoring"))
    progress.close()
    if not found.weight:
        raise InvalidInputError(
            f"No row has a target '{layout.target}' and a positive weight; there is nothing to score."
        )
    return float(found.score)
