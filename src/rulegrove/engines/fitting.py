"""A fit over an engine: a sample, the statistics, and the rest on the spot."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from rulegrove._progress import Progress
from rulegrove.columns import encode_columns, learn_columns
from rulegrove.design.statistics import Margins, Statistics
from rulegrove.engines.base import BATCH_ROWS, Engine, check_count
from rulegrove.engines.beside import Beside, Known, Named, as_times, list_targets
from rulegrove.engines.counting import CodedRows, JudgeTask, check_mark, count_over, run_marked
from rulegrove.engines.examining import examine_part
from rulegrove.engines.keeping import FitStatistics, PoolStatistics, check_squared, collect_over, keep_pools
from rulegrove.engines.local import LocalEngine, choose_threads
from rulegrove.engines.reading import Layout, Part
from rulegrove.engines.sampling import DrawnRows, draw_sample
from rulegrove.engines.times import find_hazard
from rulegrove.estimators import autos
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._design import Request
from rulegrove.estimators._in_memory import TableInMemory
from rulegrove.estimators._judging_rules import Asking
from rulegrove.estimators._sampling import Chance, Folds, HashFolds, Measure, RowCode, S, Sampled, Size, TargetCode
from rulegrove.estimators._splitting import PARTS, draw_seed, evidence_rng, tell_others
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators.pipeline import Fit, fit_source
from rulegrove.estimators.settings import Settings
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError

M = TypeVar("M", bound=BaseRuleEnsemble)


def fit_over(
    engine: Engine,
    model: M,
    target: str | Sequence[str],
    *,
    drop: Sequence[str] = (),
    named: bool = True,
    max_gram_rows: int | None = None,
    keep_statistics: bool = False,
    **beside: str | None,
) -> M:
    """Fit an estimator in place on the table of an engine, in three passes over its rows; options are those of `fit`.

    All columns but those that are named here, by the words of `Named`, are attributes, in the order of the engine's
    `schema`. `named` tells whether the names of the columns are the user's, for the model to know.
    """
    names, own = engine.schema.names, Named(**beside)
    targets = list_targets(names, target)
    several = len(targets) > 1 and getattr(model, "loss", None) == "squared"
    settings, kind = model.read_parameters(engine.schema.empty_table().select(targets) if several else None)
    others = Beside.of(names, kind, targets, own.event, own.entry)
    if keep_statistics:
        check_squared(model, kind)
    if settings.evidence is not None:
        kind.check_evidence()
    if keep_statistics and own.offset is not None:
        raise InvalidInputError("keep_statistics=True keeps nothing of an `offset`; leave one of the two out.")
    if keep_statistics and settings.n_runs > 1:
        raise InvalidInputError(
            f"keep_statistics=True keeps the statistics of one run, but n_runs={settings.n_runs}; take n_runs=1."
        )
    if keep_statistics and settings.evidence is not None:
        raise InvalidInputError(
            "keep_statistics=True keeps what all rows say, and evidence='split' learns from half of them; take one "
            "of the two, and count rows of their own by `engines.rule_evidence`."
        )
    known = Known.of(names, kind, own.exposure, own.offset)
    layout = Layout.of(
        names, targets[0], own.weights, values=kind.values, drop=drop, kind=kind, known=known, beside=others
    )
    if max_gram_rows is not None:
        max_gram_rows = check_count(max_gram_rows, "max_gram_rows", autos.POOL_ROWS)
    fitting = _Fitting(engine, model, layout, settings, kind, max_gram_rows, keep_statistics)
    found, more = fitting.in_memory() if engine.n_rows <= autos.POOL_ROWS else fitting.in_parts()
    model.take_over(found if named else replace(found, names=None), **more)
    return model


@dataclass(frozen=True, eq=False)
class _Fitting:
    """What `fit_over` is to do; either way gives a fit and further attributes of the estimator."""

    engine: Engine
    model: BaseRuleEnsemble
    layout: Layout
    settings: Settings
    kind: Target
    max_gram_rows: int | None
    keep_statistics: bool

    def in_memory(self) -> tuple[Fit, dict[str, Any]]:
        """Read a small table and fit it as ever."""
        engine, layout, settings, kind = self.engine, self.layout, self.settings, self.kind
        drawn = draw_sample(engine, layout, 0, lambda n_counted: engine.n_rows)
        rows, y, weights = drawn.rows, as_times(drawn.y) if kind.timed else drawn.y, drawn.weights
        apart = self.model.set_apart(rows, y, weights, None, None, kind)
        learned = weights if apart is None else apart.learned_weights
        source = TableInMemory(rows, y, learned, target=kind, settings=settings)
        found = fit_source(source, kind, settings, by_rows=not self.keep_statistics)
        if apart is not None:
            return found, {"evidence_": self.model.count_apart(found, apart)}
        if not self.keep_statistics:
            return found, {}
        return found, {"statistics_": count_anew(engine, layout, drawn, found, settings)}

    def in_parts(self) -> tuple[Fit, dict[str, Any]]:
        """Fit a large table in passes; rows are set apart for evidence by their positions, as in memory."""
        engine, settings, learned, counted = self.engine, self.settings, self.layout, self.layout
        if settings.evidence is not None:
            seed = draw_seed(evidence_rng(settings.random_state))
            learned, counted = (replace(self.layout, part=Part(seed, half)) for half in range(PARTS))
        source = TableOfEngine(engine, learned, settings, self.max_gram_rows)
        found = fit_source(source, self.kind, settings, by_rows=not self.keep_statistics)
        if settings.evidence is None:
            return found, {"statistics_": keep_pools(learned, found, engine.n_rows)} if self.keep_statistics else {}
        assert found.training is not None
        asking = Asking(weighted_by=tell_others(found.training.data.n_counted))
        counted = replace(counted, attributes=found.model.used_names)
        return found, {"evidence_": examine_part(engine, found.model, found.rules, counted, asking, settings.verbose)}


def fit(
    model: M,
    source: Any,
    target: str | Sequence[str],
    *,
    weights: str | None = None,
    event: str | None = None,
    entry: str | None = None,
    exposure: str | None = None,
    offset: str | None = None,
    drop: Sequence[str] = (),
    batch_rows: int = BATCH_ROWS,
    max_gram_rows: int | None = None,
    keep_statistics: bool = False,
    n_threads: int | None = None,
) -> M:
    """Fit an estimator on a table that need not fit into memory.

    Up to 65,536 rows the table is read and fitted as ever. A larger one is read three times: to draw a sample, from
    which rules are grown, to count the rules over all rows, and to judge the lists of every length on all held-out
    rows. Survival times are read twice before that, and their lists are judged on the rows drawn. Memory depends on the
    number of rules, not on that of rows. The model is that of ``model.fit`` on the same rows in memory: the same rules
    and counts, with coefficients that differ by rounding at most.

    Parameters
    ----------
    model : RuleEnsembleClassifier, RuleEnsembleRegressor or RuleEnsembleSurvival
        Fitted in place; its `cv` must be a number. ``verbose=1`` shows progress, `n_jobs` gives the threads.
    source : str, path, sequence of these, or table
        A Parquet file, folder, pattern or list of files, a pyarrow Table or Dataset, a DuckDB relation, a polars
        LazyFrame, anything with an Arrow stream, or a function that returns a new one; as in
        `rulegrove.engines.sources.open_source`.
    target : str or sequence of str
        Name of the column to predict, of a RuleEnsembleSurvival that of the time, or names of several numbers for a
        RuleEnsembleRegressor with the squared loss. Rows without it, or without one of several, are left out.
    weights : str, optional
        Name of the column of weights; rows of weight zero are left out.
    event : str, optional
        Of a RuleEnsembleSurvival, which needs it: name of the column that tells whether the event came at the time,
        true, yes or 1, or had not come by then; ``"status=dead"`` names a column and its word for the event.
    entry : str, optional
        Of a RuleEnsembleSurvival: name of the column that tells since when a row was watched.
    exposure : str, optional
        Name of the column that tells for how much each row stands, such as years at risk: numbers above 0, with which
        the target is a total and the model one of rates. For ``RuleEnsembleRegressor(loss="poisson")``, "gamma" and
        "tweedie".
    offset : str, optional
        Name of the column of what is known to add to the score of each row; a regressor takes it.
    drop : sequence of str
        Columns to leave out; all others are attributes.
    batch_rows : int
        Most rows in memory at once, a thread.
    max_gram_rows : int, optional
        Most rows that enter the statistics and judge the lists, drawn uniformly by their positions; all by default.
        With K candidates and N such rows the correlations of the terms with the residual are off by about
        ``sqrt(2 ln K / N)`` at most, 1.2e-3 for ten million rows and 2000 candidates, far below useful penalties of
        about 1e-2.
    keep_statistics : bool
        Whether the model gets `statistics_`, which can be saved and merged with those of later rows. The solver
        "auto" then solves once, by statistics alone, as `rulegrove.engines.refit` does; it leaves out the second solve,
        which for classes needs rows. For classes, and for one number with ``loss="squared"`` and without an offset.
    n_threads : int, optional
        Threads; those of the model's `n_jobs` by default.

    Returns
    -------
    model
        The same object, fitted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from rulegrove import RuleEnsembleClassifier, engines
    >>> from rulegrove.datasets import load
    >>> table = pa.Table.from_pandas(load("pima").frame())
    >>> model = engines.fit(RuleEnsembleClassifier(n_candidates=100, random_state=0), table, "class")
    >>> engines.score(model, table, "class") > 0.75
    True
    """
    engine = LocalEngine(source, batch_rows=batch_rows, n_threads=choose_threads(model, n_threads))
    beside: dict[str, Any] = {
        "weights": weights,
        "event": event,
        "entry": entry,
        "exposure": exposure,
        "offset": offset,
    }
    return fit_over(
        engine, model, target, drop=drop, max_gram_rows=max_gram_rows, keep_statistics=keep_statistics, **beside
    )


def count_anew(engine: Engine, layout: Layout, drawn: DrawnRows, found: Fit, settings: Settings) -> FitStatistics:
    """Count the candidates of a fit over the rows of a small table, with folds by their positions."""
    assert found.training is not None
    target, features = found.target.code, found.model.features
    cv = settings.cv if isinstance(settings.cv, (int, np.integer)) else 5
    n_folds = int(cv) if settings.validates else 1
    columns = encode_columns(drawn.rows, features, found.model.names)
    values = target.read(drawn.y, drawn.weights).values
    data = TrainingData(columns, values, np.zeros(target.n_outputs), drawn.weights, np.arange(drawn.y.size))
    terms = found.candidates.distinct
    pools = tuple(
        PoolStatistics(
            own,
            None if len(terms) == 1 else place,
            Statistics.zeros(n_folds, 0, 0, 1),
            found.target.share_rules(data, own.rules),
        )
        for place, own in enumerate(terms)
    )
    folds = HashFolds(Chance.of(settings.random_state).fold_seed, n_folds)
    weighted = found.training.code.weighted
    empty = FitStatistics(features, layout.target, layout.weights, target, weighted, folds, 0, pools)
    return collect_over(engine, empty, mark=drawn.mark)


class TableOfEngine:
    """The table of an engine as a `Source`."""

    def __init__(self, engine: Engine, layout: Layout, settings: Settings, max_gram_rows: int | None = None):
        self.engine, self.layout, self.settings, self.max_gram_rows = engine, layout, settings, max_gram_rows
        self.drawn: DrawnRows | None = None
        self._seed = 0

    def sample(self, chance: Chance, size: Size) -> Sampled:
        """Draw the rows whose random numbers are the smallest."""
        wanted = size(self.engine.n_rows)
        if wanted > max(autos.MOST_DRAWN, autos.POOL_ROWS) and wanted < self.engine.n_rows:
            raise InvalidInputError(
                f"`subsample`={self.settings.subsample!r} of {self.engine.n_rows:,} rows asks for {wanted:,} rows in "
                "memory; give a count or 'auto'."
            )
        progress, mark = Progress(self.settings.verbose), None
        if self.layout.beside.event is not None:
            stage = progress.stage("Reading times")
            self.layout, mark = find_hazard(self.engine, self.layout, chance.sample_seed, size, stage)
        rows = draw_sample(self.engine, self.layout, chance.sample_seed, size, progress.stage("Drawing rows"))
        progress.close()
        self._seed, self.drawn = chance.sample_seed, rows
        check_mark(rows.mark, mark, self.layout)
        columns = learn_columns(rows.rows, self.settings.reading, n_rows=self.engine.n_rows)
        return Sampled(rows.rows, columns, rows.y, rows.weights, rows.positions, rows.ranks, rows.summary, rows.spells)

    def deal(self, cv: Any, code: TargetCode, chance: Chance) -> Folds:
        """Deal all rows out to folds by their random numbers."""
        if not isinstance(cv, (int, np.integer)):
            raise InvalidInputError(
                f"Tables in parts are dealt out to folds by the positions of their rows; give their number as `cv`, "
                f"not {cv!r}."
            )
        return HashFolds(chance.fold_seed, int(cv))

    def count(self, requests: Sequence[Request], code: RowCode, progress: Progress) -> Iterator[Statistics | Margins]:
        """Count candidates over all rows, or as many as `max_gram_rows` allows."""
        rows, mark = self._again(code)
        return count_over(self.engine, rows, requests, mark=mark, on_progress=progress.stage("Counting rules"))

    def judge(self, measure: Measure[S], code: RowCode, progress: Progress) -> S:
        """Measure all rows, or as many as `max_gram_rows` allows."""
        rows, mark = self._again(code)
        stage = progress.stage("Judging lists")
        [measured] = run_marked(self.engine, JudgeTask(rows, measure), self.layout, mark, stage)
        return measured

    def _again(self, code: RowCode) -> tuple[CodedRows, int]:
        """Return what reads the rows again, and the mark that they must have."""
        assert self.drawn is not None
        limit = find_gram_limit(self.max_gram_rows, self.drawn.summary.n_rows)
        return CodedRows(self.layout, code, self._seed, limit), self.drawn.mark


def find_gram_limit(max_rows: int | None, n_rows: int) -> int:
    """Return the limit below which the random numbers of at most so many rows lie, but for a chance of 3e-5."""
    if max_rows is None or max_rows >= n_rows:
        return 2**64
    return int((max_rows - 4.0 * np.sqrt(max_rows)) / n_rows * 2.0**64)
