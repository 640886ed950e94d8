"""A fit is a function: from a table, a kind of target and settings to one record of everything that was fitted."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from sklearn.base import BaseEstimator, clone

from rulegrove._progress import Progress
from rulegrove._threads import one_blas_thread
from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove._validation import check_features, count_threads
from rulegrove.design.linear import join_linear
from rulegrove.design.statistics import Margins
from rulegrove.design.terms import Terms
from rulegrove.estimators import autos
from rulegrove.estimators._constraints import Constraints, resolve_monotonic
from rulegrove.estimators._design import Counted, Request
from rulegrove.estimators._fitted import HeldOut, make_model, score_held_out, share_importance
from rulegrove.estimators._fitting import Plan, Pool, fit_pools, spawn_pairs
from rulegrove.estimators._given import check_directions, check_finite_weights, take_given
from rulegrove.estimators._growing import Growth, check_candidates, check_subsample
from rulegrove.estimators._judging import Judging, LineSums
from rulegrove.estimators._limits import check_limits, resolve_limits
from rulegrove.estimators._lists import Large
from rulegrove.estimators._refitting import refit_pools
from rulegrove.estimators._resampling import Resampling, find_recurrence
from rulegrove.estimators._sampling import Chance, HashFolds, RowCode, Source
from rulegrove.estimators._shortening import Shortening, large_of, make_front, share_rules
from rulegrove.estimators._training import Drawn, TrainingData, warn_constant
from rulegrove.estimators.figures import Figures
from rulegrove.estimators.front import Front, settle_length
from rulegrove.estimators.model import Fitted, RuleModel
from rulegrove.estimators.outputs import PerOutput
from rulegrove.estimators.rule_table import RuleTable
from rulegrove.estimators.settings import Settings
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import LOSSES, Gamma, Loss, Poisson, Tweedie, find_loss
from rulegrove.refit import Ridge
from rulegrove.rules.rule import Rule
from rulegrove.selection import Selection
from rulegrove.solvers import BaseSolver, Glmnet, Path, Solver, make_solver


@dataclass(frozen=True, eq=False)
class Training:
    """What is learned from: rows, their target, their folds.

    Attributes
    ----------
    data : TrainingData
    target : Target
        Learned.
    code : RowCode
        What turns raw rows of the same table into what is counted.
    folds : ndarray of shape (n_rows,)
        Fold of each row of `data`.
    names : ndarray of shape (n_columns,), optional
        Names of the table's columns, if it has names.
    n_columns : int
    """

    data: TrainingData
    target: Target
    code: RowCode
    folds: IntArray
    names: AnyArray | None
    n_columns: int


@dataclass(frozen=True, eq=False)
class Fit:
    """Everything that a fit has found.

    Attributes
    ----------
    model : RuleModel
        All that predictions need.
    rules : RuleTable
        The terms of the model, ranked and described.
    feature_importances : ndarray of shape (n_columns,)
    paths : PerOutput of Path
        What found the terms that matter.
    selections : PerOutput of Selection
        The chosen point of each path.
    solvers : PerOutput of Solver
        The solver of each path.
    candidates : PerOutput of Terms
        What the columns of each path mean.
    target : Target
    settled : dict
        Settings that were left open, with what was found for them, and the ridges of a second solve.
    held_out : Figures, optional
        How well held-out rows were predicted.
    names : ndarray of shape (n_columns,), optional
        Names of the table's columns, if it has names.
    n_columns : int
    pools : tuple of Pool
        The candidates, with what the rows say of them.
    training : Training, optional
        The rows that were learned from; None for a fit to statistics.
    front : Front, optional
        Models of every length; None for a fit to statistics.
    """

    model: RuleModel
    rules: RuleTable
    feature_importances: FloatArray
    paths: PerOutput[Path]
    selections: PerOutput[Selection]
    solvers: PerOutput[Solver]
    candidates: PerOutput[Terms]
    target: Target
    settled: dict[str, Any]
    held_out: Figures | None
    names: AnyArray | None
    n_columns: int
    pools: tuple[Pool, ...]
    training: Training | None = None
    front: Front | None = None

    def shorten(self, max_terms: int | str | None, max_rules: int | None = None) -> "Fit":
        """Return the fit with the model of a line of the front; see `Front.choose`."""
        assert self.front is not None
        place = self.front.choose(max_terms, max_rules)
        line = self.front[place]
        model = line.fitted.model
        target = replace(self.target, fitted_link=line.link)
        return replace(
            self,
            model=model,
            rules=self.front.list_rules(place, (max_terms, max_rules)),
            feature_importances=share_importance(model, line.fitted.importances),
            target=target,
            settled=settle_length(self.settled, line, max_terms, target.settled),
            held_out=line.held_out,
            front=self.front.choosing(place),
        )


def fit_source(source: Source, target: Target, settings: Settings, *, by_rows: bool = True, lists: bool = True) -> Fit:
    """Grow rules, find by a path which of them matter, solve for these once more, and make short lists of the result.

    Parameters
    ----------
    source : Source
        The table, with its target and weights.
    target : Target
        The kind of target, not yet learned.
    settings : Settings
    by_rows : bool, default=True
        Whether the terms of a solver that is left open may be solved for once more, which for classes needs rows;
        otherwise the model is a point of the path, from statistics alone, which the pools of the fit then keep.
    lists : bool, default=True
        Whether lists of every length are made and judged; otherwise the fit is the large model, without a front.

    Returns
    -------
    Fit

    Examples
    --------
    >>> from rulegrove.datasets import load
    >>> from rulegrove.estimators.classes import Classes
    >>> from rulegrove.estimators._in_memory import TableInMemory
    >>> X, y = load("pima", return_X_y=True)
    >>> settings, target = Settings(n_candidates=50, random_state=0), Classes()
    >>> fit = fit_source(TableInMemory(X, y, target=target, settings=settings), target, settings)
    >>> len(fit.rules) == len(fit.model.terms)
    True
    """
    with one_blas_thread():
        return _fit(source, target, settings, by_rows=by_rows, lists=lists)


def _fit(source: Source, target: Target, settings: Settings, *, by_rows: bool, lists: bool) -> Fit:
    """Do what `fit_source` says."""
    solver = prepare_solver(settings, target)
    chance = Chance.of(settings.random_state)
    training = read_training(source, target, settings, solver, chance)
    data, target = training.data, training.target
    units = data.units
    settled = settle(settings, target, data, solver)
    plan = make_plan(settings, settled, training, refits=by_rows)
    parts = target.split(data, settings)
    progress = Progress(settings.verbose)

    def count(requests: Sequence[Request], progress: Progress) -> Iterator[Counted | Margins]:
        return source.count(requests, training.code, progress)

    def count_rules(rules: Sequence[Rule]) -> Margins:
        [counted] = count([Request(tuple(rules), join_linear([]), pairs=False)], progress)
        return units.give_margins(cast(Margins, counted))

    def judge(judging: Judging) -> LineSums:
        return source.judge(judging, training.code, progress)

    pairs = spawn_pairs((chance.growing, chance.regrowing), settings.n_runs * len(parts))
    pools = fit_pools(parts, plan, pairs, count, progress)
    runs = [pools[start : start + len(parts)] for start in range(0, len(pools), len(parts))]
    runs, ridges = refit_runs(target, data, plan, runs, progress)
    scaled = (data, runs[0])
    if not data.units.is_plain:
        runs = [[pool.give_back(data.units, settled.selection) for pool in pools] for pools in runs]
        data = data.give_back()
    runs = [[pool.settle(target.settle_points) for pool in pools] for pools in runs]
    held_out = score_held_out(data, training.folds, runs)
    if held_out is not None and (slope := target.find_slope(held_out)) != 1.0:
        runs = [[pool.stretch(slope) for pool in pools] for pools in runs]
        held_out = score_held_out(data, training.folds, runs)
    large = Large.average([large_of(pools) for pools in runs])
    fitted, target = link_large(runs, large, target, data, held_out)
    told = tell_settled(settings, settled, plan, ridges)
    fit = finish(runs[0], fitted, target, settled=told, ranks=not lists)
    training = replace(training, data=data)
    fit = replace(fit, names=training.names, n_columns=training.n_columns, training=training)
    if not lists:
        progress.close()
        return fit
    shortening = Shortening(target, plan.growth, target.shares_terms, plan.n_threads)
    front, choices = make_front(
        shortening,
        data,
        training.folds,
        runs,
        large,
        fitted,
        held_out,
        honest=held_out is not None and is_honest(settings, held_out, data, regrown=plan.honest),
        n_lines=max(terms.linear.n_terms for terms in large.terms)
        if any(ridge.lines < ridge.rules for ridge in ridges)
        else 0,
        count=count_rules,
        judge=judge,
        progress=progress,
    )
    if settings.n_resamples:
        ridge, link = ridges[0] if ridges else None, fitted.model.link
        resampling = Resampling(*scaled, plan, settled.selection, ridge, shortening, link)
        limits, rng = (settings.max_terms, settings.max_rules), chance.regrowing.spawn(1)[0]
        recurrence = find_recurrence(front, resampling, choices, limits, settings.n_resamples, rng, progress)
        front = front.recurring(recurrence)
    progress.close()
    return replace(fit, front=front).shorten(settings.max_terms, settings.max_rules)


RATES = {loss.name for loss in (Poisson, Gamma, Tweedie)}


def prepare_solver(settings: Settings, target: Target) -> BaseSolver:
    """Return the solver, one given by name with a loss that suits the target; refuse what cannot work."""
    chosen = settings.is_open("solver") and settings.validates
    open_solver = target.choose_solver() if chosen else Glmnet()
    solver = open_solver if settings.is_open("solver") else make_solver(settings.solver)
    solver.check()
    for name, what in (
        ("monotonic", "restrict coefficients to one sign"),
        ("force_rules", "leave terms without a penalty"),
    ):
        asked = getattr(settings, name)
        if asked is not None and asked is not False and not solver.takes_constraints:
            raise InvalidInputError(f"`{name}` needs solver='glmnet' or Glmnet(...), which can {what}; got {solver!r}.")
    target.check_settings(settings, solver)
    return solver if chosen else match_loss(solver, target, named=isinstance(settings.solver, str))


def match_loss(solver: BaseSolver, target: Target, *, named: bool) -> BaseSolver:
    """Return a solver with a loss that suits the target, one that is given by name with the loss of the target."""
    wanted, name = target.own_loss, type(solver.given).__name__
    if solver.loss_name in target.losses:  # a name alone tells no power
        keeps = isinstance(solver.loss, Loss) or not isinstance(wanted, Loss)
        return solver if keeps else give_loss(solver, wanted)
    if not solver.takes_loss(find_loss(wanted)):
        raise InvalidInputError(
            f"{name} cannot take loss={wanted!r}, which finds the terms for this target; use solver='glmnet', or leave "
            "`solver` out."
        )
    if named:
        return give_loss(solver, wanted)
    others = "rates" if solver.loss_name in RATES else target.others
    why = f", which is for {others}" if solver.loss_name in LOSSES else ""
    subject = f"A target of {target.values} cannot use {name}(loss={solver.loss!r}){why}"
    if isinstance(find_loss(wanted), (Poisson, Gamma, Tweedie)):
        subject = f"A fit with loss={wanted!r} cannot use {name}(loss={solver.loss!r})"
    raise InvalidInputError(f"{subject}; give it loss={' or '.join(map(repr, [wanted, *target.losses[1:]]))}.")


def give_loss(solver: BaseSolver, loss: str | Loss) -> BaseSolver:
    """Return a copy of a solver with another loss."""
    changed: BaseSolver = clone(solver).set_params(loss=loss)
    return changed


def read_training(source: Source, target: Target, settings: Settings, solver: BaseSolver, chance: Chance) -> Training:
    """Read the rows to learn from, learn the target, deal out the folds."""

    def count_drawn(n_counted: int) -> int:
        return autos.count_drawn(settings.subsample, n_counted, needs_rows=solver.needs_rows)

    sampled = source.sample(chance, count_drawn)
    names, n_columns = read_names(sampled.table)
    target = target.learn(sampled, validates=settings.validates)
    weighted = sampled.summary.varies(target.code.class_weights)
    target = target.weigh(sampled.summary.heaviest if weighted else None)
    drawn = None if sampled.ranks is None else Drawn(sampled.ranks, sampled.summary.n_rows)
    data = TrainingData.of(sampled.columns, target.code.read(sampled.y, sampled.weights), drawn)
    data = replace(data, units=target.code.units)
    check_subsample(settings.subsample, data.n_counted)
    warn_constant(data)
    cv = 5 if settings.cv is None else settings.cv
    dealt = source.deal(cv, target.code, chance) if settings.validates else HashFolds(chance.fold_seed, 1)
    code = RowCode(sampled.columns.features, target.code, weighted, dealt)
    *_, folds = code.read(sampled.y, sampled.weights, sampled.positions)
    return Training(data, target.settle(settings, data.n_counted), code, folds, names, n_columns)


def read_names(table: Any) -> tuple[AnyArray | None, int]:
    """Return the names of a table's columns, None if it has none, and their number, as scikit-learn has them."""
    reader = BaseEstimator()
    check_features(reader, table, reset=True)
    return vars(reader).get("feature_names_in_"), reader.n_features_in_


@dataclass(frozen=True)
class Settled:
    """What the data settle before any rule is grown.

    Attributes
    ----------
    solver : BaseSolver
        Of the path.
    selection : {"1se", "min"} or float
    honest : bool
        Whether folds grow rules of their own.
    n_rows : int
        Rows that count.
    """

    solver: BaseSolver
    selection: str | float
    honest: bool
    n_rows: int


def settle(settings: Settings, target: Target, data: TrainingData, solver: BaseSolver) -> Settled:
    """Return what the data settle of solver, choice and folds (`autos` has the rules and their evidence)."""
    selection, honest = autos.resolve_choice(settings.selection, settings.honest_cv, drawn=data.drawn is not None)
    if not settings.grows:  # given trees may have seen the rows of a fold, an expert's rules have not
        selection, _ = autos.resolve_choice(settings.selection, settings.trees is None, drawn=False)
        honest = settings.honest_cv != "auto" and bool(settings.honest_cv)
    return Settled(solver, selection, honest, data.n_counted)


def make_plan(settings: Settings, settled: Settled, training: Training, *, refits: bool) -> Plan:
    """Return what to do with the rules, all in the units of the data.

    `refits` tells whether the terms that a solver of our choice keeps may be solved for once more; if not, the
    statistics of all terms are kept.
    """
    data, target, solver = training.data, training.target, settled.solver
    growth = make_growth(settings, target, data, named=training.names is not None)
    joint = target.together(solver)
    n_folds = training.code.folds.n_folds
    if settings.force_rules:
        if joint is not None and target.code.n_outputs > 1:
            raise InvalidInputError(
                f"`force_rules` cannot be used in fits that solve for all {target.plural} together; use "
                f"{target.way_apart}."
            )
        if solver.loss_name == "logistic":
            check_finite_weights(growth.given.own, data)
    again = refits and settings.is_open("solver") and settings.validates
    large = again and data.drawn is not None
    honest = settled.honest or (large and settings.is_open("honest_cv"))
    if honest and settings.is_open("honest_cv"):
        n_folds = autos.count_honest(n_folds, data.n_counted)
    return Plan(
        growth=growth,
        solver=data.units.take_solver(solver),
        selection=data.units.take_point(solver, settled.selection),
        folds=training.folds,
        n_folds=n_folds,
        honest=honest,
        joint=joint,
        n_threads=count_threads(settings.n_jobs),
        refits=again,
        by_rows=target.likelihood is not None,
        screens=large or (again and data.rows.size > autos.SEARCH_ROWS and data.has_many_weights),
        keeps=not refits,
    )


def make_growth(settings: Settings, target: Target, data: TrainingData, *, named: bool = True) -> Growth:
    """Return how rules are grown from these data.

    Parameters
    ----------
    settings : Settings
    target : Target
        Learned.
    data : TrainingData
    named : bool, default=True
        Whether the table has column names of its own.
    """
    check_candidates(settings.n_candidates)
    features, names = data.columns.features, data.columns.names
    limits = resolve_limits(settings.interactions, settings.max_attributes, features, names)
    given = take_given(settings, data, limits, named=named)
    check_limits(given.own, limits, features)
    directions = resolve_monotonic(settings.monotonic, features, names)
    constraints = Constraints(directions, frozenset(given.own if settings.force_rules else ()))
    target.check_constraints(constraints)
    check_directions(given.own, constraints, data)
    return Growth(
        settings=settings,
        max_features=autos.count_features(settings.max_features, min(data.columns.n_features, autos.MOST_SPLIT)),
        min_impurity=data.units.take_impurity(settings.min_impurity),
        loss=target.tree_loss(settings.tree_loss, data.targets[data.rows]),
        share_told=target.share_told,
        constraints=constraints,
        limits=limits,
        given=given,
    )


def refit_runs(
    target: Target, data: TrainingData, plan: Plan, runs: Sequence[Sequence[Pool]], progress: Progress
) -> tuple[list[list[Pool]], list[Ridge]]:
    """Return the pools of each run, solved for once more where that is planned, and the ridges that were chosen."""
    stage = progress.stage("Solving again")
    refitted, ridges = [], []
    for run, pools in enumerate(runs):
        again, ridge = refit_pools(data, plan.folds, pools, likelihood=target.likelihood, n_threads=plan.n_threads)
        refitted.append(again)
        ridges += [] if ridge is None else [ridge]
        stage(1 + run, len(runs))
    return refitted, ridges


def tell_settled(settings: Settings, settled: Settled, plan: Plan, ridges: Sequence[Ridge]) -> dict[str, Any]:
    """Return the settings that were left open, with what was found for them, and the ridges of the first run."""
    found = {
        "solver": settled.solver.given,
        "selection": settled.selection,
        "honest_cv": plan.honest,
        "subsample": plan.growth.count_subsample(settled.n_rows),
        "max_features": plan.growth.max_features,
        "tree_loss": plan.growth.loss.name,
        **({"cv": plan.n_folds} if isinstance(settled.selection, str) else {}),
    }
    told = {name: value for name, value in found.items() if settings.is_open(name)}
    return {**told, "ridge": asdict(ridges[0])} if ridges else told


def link_large(
    runs: Sequence[Sequence[Pool]], large: Large, target: Target, data: TrainingData, held_out: HeldOut | None
) -> tuple[Fitted, Target]:
    """Return the large model of pools with chosen points, with its link, and the target with what it tells.

    Parameters
    ----------
    runs : sequence of sequence of Pool
        The pools of each run.
    large : Large
        The average of their models.
    target : Target
        Learned and settled.
    data : TrainingData
        In the units of the user.
    held_out : HeldOut, optional
        Scores to fit probabilities to.
    """
    fitted = make_model(data, [[pool.design.margins for pool in pools] for pools in runs], large)
    first = runs[0][0].outputs[0]
    target, model = target.finish(fitted, first.solver, held_out, refitted=first.refitted is not None)
    fitted = replace(fitted, model=model, class_shares=share_rules(target, data, [model]))
    return target.describe(data, fitted), target


def finish(
    pools: Sequence[Pool], fitted: Fitted, target: Target, *, settled: dict[str, Any], ranks: bool = True
) -> Fit:
    """Make the record of a fit of the large model.

    Parameters
    ----------
    pools : sequence of Pool
    fitted : Fitted
        The large model.
    target : Target
    settled : dict
        Settings that were left open, with what was found for them.
    ranks : bool, default=True
        Whether its terms are ranked; a line of the front brings terms of its own.
    """
    outputs, model = [chosen for pool in pools for chosen in pool.outputs], fitted.model
    return Fit(
        model=model,
        rules=target.meaning.rank(fitted) if ranks else RuleTable(()),
        feature_importances=share_importance(model, fitted.importances),
        paths=PerOutput(chosen.path for chosen in outputs),
        selections=PerOutput(chosen.selection for chosen in outputs),
        solvers=PerOutput(chosen.solver.given for chosen in outputs),
        candidates=PerOutput(pool.design.terms for pool in pools for _ in pool.outputs),
        target=target,
        settled={**settled, **target.settled},
        held_out=None,
        names=None,
        n_columns=len(model.names),
        pools=tuple(pools),
    )


def is_honest(settings: Settings, held_out: HeldOut, data: TrainingData, *, regrown: bool) -> bool:
    """Whether no rule has seen the rows that were held out: given trees may have, an expert's rules have not.

    Rules of a large table are grown from the rows of the lowest ranks, and those held out may all be beyond them.
    """
    if settings.trees is not None:
        return False
    if regrown or settings.n_candidates == 0 or settings.terms == "linear":
        return True
    if data.drawn is None:
        return False
    pool = autos.size_pool(autos.count_subsample(settings.subsample, data.n_counted))
    return bool(data.drawn.ranks[held_out.rows].min() >= pool)
