"""Statistics that outlive a fit: merged with those of new rows, they give a new model without the old rows."""

import os
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.base import clone

from rulegrove._progress import Progress
from rulegrove._reprs import short_repr
from rulegrove._threads import run_tasks
from rulegrove._typing import FloatArray
from rulegrove._validation import count_threads
from rulegrove.columns import Columns, Feature, list_sources
from rulegrove.design.statistics import Statistics
from rulegrove.design.terms import Terms
from rulegrove.engines.base import BATCH_ROWS, Engine
from rulegrove.engines.counting import CodedRows, count_over
from rulegrove.engines.local import LocalEngine
from rulegrove.engines.reading import Layout, keep_used
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._constraints import Constraints, resolve_monotonic
from rulegrove.estimators._design import Design, Request
from rulegrove.estimators._fitting import Pool
from rulegrove.estimators._sampling import HashFolds, RowCode, TargetCode
from rulegrove.estimators._shortening import large_of
from rulegrove.estimators._training import Drawn, TrainingData
from rulegrove.estimators.pipeline import Fit, finish, link_large, prepare_solver, settle
from rulegrove.estimators.settings import Settings
from rulegrove.estimators.several import Several
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.parse import read_rules
from rulegrove.rules.rule import Rule, move_rule
from rulegrove.selection import select

M = TypeVar("M", bound=BaseRuleEnsemble)


@dataclass(frozen=True, eq=False)
class PoolStatistics:
    """One pool of rules, counted."""

    terms: Terms  # the candidates, without repeats
    output: int | None  # the only output that they serve; None for all
    statistics: Statistics
    # (n_rules, n_classes): with more than two classes the share of each where a rule holds, in the sample of the first
    # fit.
    shares: FloatArray | None = None

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class FitStatistics:
    """All that a fit keeps of its rows: enough to weight the same rules anew, with more rows and without the old ones.

    Attributes
    ----------
    features : tuple of Feature
    target, weights : str
        Names of their columns; `weights` may be None.
    code : TargetCode
    weighted : bool
    folds : HashFolds
    n_positions : int
        Rows of the tables so far, counted or not; the next row has this position.
    pools : tuple of PoolStatistics

    See Also
    --------
    rulegrove.engines.collect : Count the rules on new rows.
    rulegrove.engines.refit : A model from statistics alone.
    rulegrove.engines.drift : How the supports of rules have changed.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from rulegrove import RuleEnsembleClassifier, engines
    >>> from rulegrove.datasets import load
    >>> table = pa.Table.from_pandas(load("pima").frame())
    >>> model = RuleEnsembleClassifier(n_candidates=60, random_state=0, solver="fpc")
    >>> model = engines.fit(model, table[:500], "class", keep_statistics=True)
    >>> new = engines.collect(model.statistics_, table[500:])
    >>> merged = model.statistics_.merge(new)
    >>> merged.n_rows
    768
    >>> engines.refit(model, merged).rules_[0].support > 0
    True
    """

    features: tuple[Feature, ...]
    target: str
    weights: str | None
    code: TargetCode
    weighted: bool
    folds: HashFolds
    n_positions: int
    pools: tuple[PoolStatistics, ...]

    __repr__ = short_repr

    def __post_init__(self) -> None:
        if not self.code.units.is_plain:
            raise InvalidInputError(
                "Statistics are kept of targets and weights between 1e-60 and 1e60 in size; divide them first."
            )

    @property
    def n_rows(self) -> int:
        """Rows that were counted."""
        return int(self.pools[0].statistics.n_rows.sum())

    def merge(self, other: "FitStatistics") -> "FitStatistics":
        """Return the statistics of both sets of rows, which must be of the same rules.

        Parameters
        ----------
        other : FitStatistics
            As `rulegrove.engines.collect` returns them.
        """
        if not self.is_like(other):
            raise InvalidInputError(
                "Statistics can be merged when they are of the same rules, attributes, target and folds; these are of "
                "different fits. Count the new rows with `rulegrove.engines.collect`."
            )
        pools = tuple(
            replace(own, statistics=own.statistics.merge(others.statistics))
            for own, others in zip(self.pools, other.pools, strict=True)
        )
        return replace(self, n_positions=self.n_positions + other.n_positions, pools=pools)

    def is_like(self, other: "FitStatistics") -> bool:
        """Whether others are of the same rules."""

        def identity(kept: "FitStatistics") -> Any:
            code = kept.code
            linear = [
                tuple(getattr(pool.terms.linear, name).tolist() for name in ("features", "lower", "upper", "center"))
                for pool in kept.pools
            ]
            weights = None if code.class_weights is None else code.class_weights.tolist()
            rules = [pool.terms.rules for pool in kept.pools]
            return kept.features, kept.target, code.labels, weights, code.offset, kept.folds, rules, linear

        return bool(identity(self) == identity(other))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the statistics to a file, whole or not at all; `rulegrove.engines.load_statistics` reads it.

        Parameters
        ----------
        path : str or path
            Of the file; ``.npz`` by custom.
        """
        from rulegrove.engines.statistics_file import save_statistics  # it knows this class

        save_statistics(self, path)


def check_squared(model: BaseRuleEnsemble, kind: Target) -> None:
    """Refuse targets of which statistics do not tell all, or that none are kept of."""
    if kind.timed or isinstance(kind, Several):
        what = "survival times" if kind.timed else "several numbers at once"
        raise InvalidInputError(
            f"Statistics are kept of classes and of one number, not of {what}; fit all rows anew without "
            "keep_statistics."
        )
    loss = getattr(model, "loss", "squared")
    if loss != "squared":
        raise InvalidInputError(
            f"Statistics that are kept tell all of squared errors alone; got loss={loss!r}. Take loss='squared', or "
            "fit all rows anew without keep_statistics."
        )


def keep_pools(layout: Layout, found: Fit, n_rows: int) -> FitStatistics:
    """Return what is kept of a fit to a large table."""
    assert found.training is not None
    code, data, pools = found.training.code, found.training.data, found.pools
    assert isinstance(code.folds, HashFolds)
    kept = []
    for place, pool in enumerate(pools):
        terms, statistics = pool.design.terms, pool.design.statistics
        if statistics is None:
            raise InvalidInputError(
                "keep_statistics=True is for solvers with the squared loss, which go by statistics; take "
                "solver='glmnet'."
            )
        shares = found.target.share_rules(data, terms.rules)
        kept.append(PoolStatistics(terms, None if len(pools) == 1 else place, statistics, shares))
    return FitStatistics(
        code.features, layout.target, layout.weights, code.target, code.weighted, code.folds, n_rows, tuple(kept)
    )


def collect(
    statistics: FitStatistics | BaseRuleEnsemble,
    source: Any,
    *,
    batch_rows: int = BATCH_ROWS,
    n_threads: int = 1,
) -> FitStatistics:
    """Count the rules of an earlier fit on new rows.

    Parameters
    ----------
    statistics : FitStatistics or fitted model
        Those of the earlier fit, or the model that has them as `statistics_`.
    source : str, path, sequence of these, or table
        The new rows, as in `rulegrove.engines.fit`, with the columns that the rules and linear terms speak of. Their
        positions follow those of the earlier rows, so that the folds are the ones of a single fit to all rows.
    batch_rows, n_threads
        As in `rulegrove.engines.fit`.

    Returns
    -------
    FitStatistics
        Of the new rows alone; `merge` adds them to the old ones.
    """
    return collect_over(LocalEngine(source, batch_rows=batch_rows, n_threads=n_threads), _kept(statistics))


def _kept(statistics: Any) -> FitStatistics:
    """Return statistics, or those of a model."""
    found = getattr(statistics, "statistics_", statistics)
    if not isinstance(found, FitStatistics):
        raise InvalidInputError(
            "The model has no `statistics_`; fit it by `rulegrove.engines.fit(..., keep_statistics=True)`."
        )
    return found


def collect_over(engine: Engine, statistics: FitStatistics, mark: int | None = None) -> FitStatistics:
    """Count the rules of an earlier fit on the table of an engine; as `collect`, with `mark` as in `count_over`."""
    rules = [rule for pool in statistics.pools for rule in pool.terms.rules]
    lines = [feature for pool in statistics.pools for feature in pool.terms.linear.features.tolist()]
    used = {*lines, *(feature for rule in rules for feature in rule.features)}
    features, places = keep_used(statistics.features, used or {0})
    names = list_sources(features)
    missing = [
        name for name in (*names, statistics.target, statistics.weights) if name and name not in engine.schema.names
    ]
    if missing:
        raise InvalidInputError(f"The new rows have no column {missing[0]!r}, which the fit had.")
    layout = Layout(names, statistics.target, statistics.weights, statistics.code.values)
    code = RowCode(features, statistics.code, statistics.weighted, statistics.folds)
    requests = [
        Request(
            tuple(move_rule(rule, places) for rule in pool.terms.rules),
            replace(linear, features=np.array([places[feature] for feature in linear.features], dtype=np.int64)),
            pool.output,
        )
        for pool in statistics.pools
        for linear in [pool.terms.linear]
    ]
    rows = CodedRows(layout, code, shift=statistics.n_positions)
    counted = cast(list[Statistics], list(count_over(engine, rows, requests, mark=mark)))
    pools = tuple(replace(pool, statistics=found) for pool, found in zip(statistics.pools, counted, strict=True))
    return replace(statistics, n_positions=engine.n_rows, pools=pools)


def refit(model: M, statistics: FitStatistics) -> M:
    """Solve for the rules of statistics anew and choose among them: a new model, without any rows.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        Its parameters are used, such as solver and selection; those by which rules are grown, such as `max_attributes`
        and `interactions`, change nothing any more. The solver "auto" solves once here, ``Glmnet()`` for numbers and
        ``Glmnet(l1_ratio=0.5)`` for classes. What turns scores into probabilities needs rows, so it is taken from its
        large model if it is fitted, which should have been with statistics kept, too. Short lists need rows as well:
        ``max_terms="auto"`` is None here, and a number, or `max_rules`, is refused.
    statistics : FitStatistics
        Those of a fit, merged with those of later rows.

    Returns
    -------
    model
        A new fitted estimator, with the statistics as its `statistics_`: the large model, without a front.
    """
    new: M = clone(model)
    settings, target = new.read_parameters()
    if target.values != (kind := statistics.code.values):
        raise InvalidInputError(f"The statistics are of a target that is {kind}; {type(new).__name__} is for others.")
    check_squared(new, target)
    if settings.max_terms not in (None, "auto") or settings.max_rules is not None:
        raise InvalidInputError(
            f"Short lists are judged on rows, and statistics have none: got max_terms={settings.max_terms} and "
            f"max_rules={settings.max_rules}. Set both to None for the large model, or fit the rows anew."
        )
    target = model.recall_large_target().recall(statistics.code, n_pools=len(statistics.pools))
    if "ridge" in vars(model).get("settings_", {}):  # its scores are log odds, those of statistics are not
        target = replace(target, fitted_link=None)
    found = _solve_anew(settings, target, statistics)
    new.take_over(found, statistics_=statistics)
    return new


def _solve_anew(settings: Settings, target: Target, statistics: FitStatistics) -> Fit:
    """Fit to statistics alone."""
    data, features = _without_rows(statistics), statistics.features
    settled = settle(settings, target, data, prepare_solver(settings, target))
    solver = settled.solver
    if solver.needs_rows:
        raise InvalidInputError(f"{solver!r} needs rows; refit with a solver of the squared loss, such as Glmnet().")
    n_threads = count_threads(settings.n_jobs)
    forced = read_rules(settings.rules, features) if settings.force_rules else ()
    names = list_sources(features)
    constraints = Constraints(resolve_monotonic(settings.monotonic, features, names), frozenset(forced))
    pools = []
    for pool in statistics.pools:
        signs, unpenalised = constraints.signs(pool.terms), constraints.unpenalised(pool.terms)
        moments = pool.statistics.moments()
        design = Design(pool.terms, pool.statistics, moments, signs=signs, unpenalised=unpenalised)
        folds = range(statistics.folds.n_folds if isinstance(settled.selection, str) else 0)
        outputs = select(
            solver,
            design.problems(),
            run_tasks(design.fold, folds, n_threads),
            together=target.together(solver),
            selection=settled.selection,
            exact=True,
            n_threads=n_threads,
            on_progress=Progress(settings.verbose).stage("Solving"),
        )
        pools.append(Pool(design.outline(), [], outputs, []))
    told = {"solver": solver, "selection": settled.selection, "max_terms": None}
    told = {name: value for name, value in told.items() if settings.is_open(name)}
    fitted, target = link_large([pools], large_of(pools), target, data, None)
    fit = finish(pools, replace(fitted, class_shares=_find_shares(statistics)), target, settled=told)
    return replace(fit, names=np.array(names, dtype=object), n_columns=len(names))


def _without_rows(statistics: FitStatistics) -> TrainingData:
    """Return training data that tell of attributes and target, but have no rows."""
    nothing = np.empty(0)
    columns = Columns(statistics.features, [nothing] * len(statistics.features))
    targets = np.empty((0, statistics.code.n_outputs))
    ranks = np.empty(0, dtype=np.int64)
    offsets = np.full(statistics.code.n_outputs, statistics.code.offset)
    return TrainingData(columns, targets, offsets, None, ranks, Drawn(ranks, statistics.n_rows))


def _find_shares(statistics: FitStatistics) -> dict[Rule, FloatArray]:
    """Return the share of each class where a rule holds, as far as it is kept: that of more than two classes."""
    return {
        rule: shares
        for pool in statistics.pools
        if pool.shares is not None
        for rule, shares in zip(pool.terms.rules, pool.shares, strict=True)
    }
