"""The stages of a fit, each a function from the record before to the next."""

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from rulegrove._progress import Progress
from rulegrove._threads import one_blas_thread, run_tasks
from rulegrove._typing import FloatArray, IntArray
from rulegrove.columns import CHUNK_ROWS, Columns
from rulegrove.design.bits import compile_rules
from rulegrove.design.linear import LinearTerms, fit_linear_terms
from rulegrove.design.rows import Rows, collect_rows
from rulegrove.design.statistics import Moments, Statistics, collect_statistics
from rulegrove.design.terms import Term, Terms
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.stable import grow_stable_rules
from rulegrove.exceptions import DroppedColumnWarning, InvalidInputError
from rulegrove.joint_selection import Joint, select_joint
from rulegrove.losses import Loss
from rulegrove.rules.extract import extract_rules
from rulegrove.rules.rule import Rule
from rulegrove.rules.simplify import Alias, simplify, thin
from rulegrove.selection import Selection, select
from rulegrove.solvers import Glmnet
from rulegrove.solvers.base import Path, Problem, Solver
from rulegrove.trees.boosting import grow_forest
from rulegrove.walk import Fold

POOL_ROWS = 65536  # trees draw their rows from a pool of at least so many,
POOL_SUBSAMPLES = 16  # or so many times a tree's rows; beyond that more rows add cost and no diversity
NEVER_HELD_OUT = -1
AUTO_SUBSAMPLE = 1500
CALIBRATION_ROWS = 10_000  # held-out scores, at most, that probabilities are fitted to
HONEST_ROWS = 1000  # up to here rules are grown anew in each fold unless told otherwise


@dataclass(frozen=True)
class Target:
    """A target as the fit wants it.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_outputs)
        Minus `offset`: moments of values near zero lose no digits.
    offset : float
        What the model adds back.
    weights : ndarray of shape (n_rows,), optional
        Sample weights times class weights.
    codes : ndarray of shape (n_rows,), optional
        Classes to stratify the folds by.
    """

    values: FloatArray
    offset: float
    weights: FloatArray | None
    codes: IntArray | None = None


@dataclass(frozen=True)
class TrainingData:
    """What is learned from: attributes, targets with one column an output, weights, the rows that count."""

    columns: Columns
    targets: FloatArray
    offset: float
    weights: FloatArray | None
    rows: IntArray

    @classmethod
    def of(cls, columns: Columns, target: Target) -> "TrainingData":
        """Training data without the rows of weight zero; equal weights are as good as none."""
        weights = target.weights
        rows = np.arange(columns.n_rows) if weights is None else np.flatnonzero(weights > 0)
        if rows.size < 2:
            raise InvalidInputError(f"A fit needs at least two rows of positive weight; got n_samples = {rows.size}.")
        if target.codes is not None and np.ptp(target.codes[rows]) == 0:
            raise InvalidInputError("The rows of positive weight belong to one class; a classifier needs two classes.")
        if weights is not None and np.ptp(weights[rows]) == 0:
            weights = None
        return cls(columns, target.values, target.offset, weights, rows)

    def of_output(self, output: int) -> "TrainingData":
        """Return the same rows with one of the outputs."""
        return replace(self, targets=self.targets[:, output : output + 1])

    def weights_of(self, rows: IntArray) -> FloatArray | None:
        """Weights of some rows."""
        return None if self.weights is None else self.weights[rows]


@dataclass(frozen=True)
class Growth:
    """How rules are grown: the parameters of an estimator that concern the trees, resolved to numbers."""

    n_candidates: int
    mean_leaves: float
    subsample: Any
    shrinkage: float
    max_features: int
    min_samples_leaf: int
    min_impurity: float
    max_conditions: int | None
    max_bins: int
    max_correlation: float
    terms: str
    loss: Loss
    stable: bool = False


@dataclass(frozen=True)
class Design:
    """Candidate terms, their statistics by fold and the moments of all folds.

    Attributes
    ----------
    terms : Terms
    statistics : Statistics
    total : Moments
    rows : Rows, optional
        The rows themselves, fold after fold, for a solver whose loss needs them.
    targets : ndarray of shape (n_rows, n_outputs), optional
        The outputs of these rows.
    starts : ndarray of shape (n_folds + 1,), optional
        Where each fold begins among the rows.
    """

    terms: Terms
    statistics: Statistics
    total: Moments
    rows: Rows | None = None
    targets: FloatArray | None = None
    starts: IntArray | None = None

    def problems(self) -> list[Problem]:
        """Return the whole data as a solver wants it, one problem an output."""
        problems = as_problems(self.total)
        if self.rows is None or self.targets is None:
            return problems
        return [
            replace(problem, rows=replace(self.rows, y=y)) for problem, y in zip(problems, self.targets.T, strict=True)
        ]

    def fold(self, fold: int) -> list[Fold]:
        """Gather what cross-validation needs of a fold, one record an output: train = total - fold."""
        held_out = self.statistics.fold_moments(fold)
        problems = as_problems(self.total - held_out)
        if self.rows is None or self.targets is None or self.starts is None:
            return [Fold(problem, held_out.of_output(output)) for output, problem in enumerate(problems)]
        kept, left_out = self.rows.hold_out(int(self.starts[fold]), int(self.starts[fold + 1]))
        return [
            Fold(replace(problem, rows=replace(kept, y=y)), replace(left_out, y=y))
            for problem, y in zip(problems, self.targets.T, strict=True)
        ]


def as_problems(moments: Moments) -> list[Problem]:
    """Return moments as a solver wants them, one problem an output; all share one Gram."""
    first = Problem.from_moments(
        moments.weight, moments.x_sum, moments.gram, moments.x_y[:, 0], float(moments.y_sum[0]), float(moments.y_y[0])
    )
    others = zip(moments.x_y.T[1:], moments.y_sum[1:], moments.y_y[1:], strict=True)
    return [first, *(first.retarget(x_y, float(y_sum), float(y_y)) for x_y, y_sum, y_y in others)]


def make_rng(random_state: Any) -> np.random.Generator:
    """One generator for the whole fit, from anything that scikit-learn takes as `random_state`."""
    if isinstance(random_state, (int, np.integer)):
        return np.random.default_rng(int(random_state))
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def spawn_pairs(
    rngs: Sequence[np.random.Generator], n_pools: int
) -> list[tuple[np.random.Generator, np.random.Generator]]:
    """Two generators for each pool of rules; a single pool gets those that are given."""
    first, second = rngs
    return [(first, second)] if n_pools == 1 else list(zip(first.spawn(n_pools), second.spawn(n_pools), strict=True))


def one_or_all(items: list[Any]) -> Any:
    """Return the only item, or the list of several."""
    return items[0] if len(items) == 1 else items


def warn_constant(data: TrainingData) -> None:
    """Say which attributes cannot carry information: one value only, or none at all."""
    constant = np.arange(data.columns.n_features)
    first = data.columns.take(data.rows[:1])[:, 0]
    for start in range(0, data.rows.size, CHUNK_ROWS):
        if not constant.size:
            return
        block = data.columns.take(data.rows[start : start + CHUNK_ROWS], constant)
        value = first[constant, None]
        constant = constant[((block == value) | (np.isnan(block) & np.isnan(value))).all(axis=1)]
    for position in constant:
        what = "has no values" if np.isnan(first[position]) else "is constant"
        name = data.columns.features[position].name
        warnings.warn(f"Column {position} ('{name}') {what}; no term uses it.", DroppedColumnWarning, stacklevel=4)


def count_features(max_features: Any, n_features: int) -> int:
    """Attributes tried at a split."""
    if max_features is None:
        return n_features
    if max_features == "auto":
        return max(min(2, n_features), int(0.3 * n_features))
    if max_features == "sqrt":
        return max(1, int(math.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(max_features, (int, np.integer)):
        return min(int(max_features), n_features)
    return max(1, int(max_features * n_features))


def check_subsample(subsample: Any, n_rows: int) -> None:
    """Refuse more rows a tree than there are."""
    if isinstance(subsample, (int, np.integer)) and subsample > n_rows:
        raise InvalidInputError(
            f"`subsample` asks for {subsample} rows a tree but there are {n_rows}; lower it or give a fraction."
        )


def count_subsample(subsample: Any, n_rows: int) -> int:
    """Rows a tree sees; "auto" is half of them, but from 3,000 rows on `AUTO_SUBSAMPLE`, later 100 + 6 sqrt(N).

    The last is the rule of Friedman and Popescu (2008); for a few thousand rows it gives trees too little to see.
    """
    if isinstance(subsample, str):
        return max(2, min(n_rows // 2, max(AUTO_SUBSAMPLE, int(100 + 6 * math.sqrt(n_rows)))))
    if isinstance(subsample, (int, np.integer)):
        return min(int(subsample), n_rows)
    return max(2, int(subsample * n_rows))


def resolve_choice(selection: str | float, honest: bool | str, n_rows: int) -> tuple[str | float, bool]:
    """Return the rule of choice and whether folds grow rules of their own.

    Rules that have seen a fold look too good on it. Up to some hundred rows that spoils the choice, and growing
    rules anew is cheap; with more rows it fades, and the sparser of two nearly equal points makes up for the rest.
    """
    honestly = n_rows <= HONEST_ROWS if isinstance(honest, str) else bool(honest)
    if selection == "auto":
        return ("min" if honestly else "1se"), honestly
    return selection, honestly


def draw_pool(rows: IntArray, subsample: int, rng: np.random.Generator) -> IntArray:
    """Return the rows that trees, bins and winsor points come from: all, or a uniform sample of a large table."""
    size = max(POOL_ROWS, POOL_SUBSAMPLES * subsample)
    return rows if rows.size <= size else np.sort(rng.choice(rows, size, replace=False))


def grow_rules(
    data: TrainingData, rows: IntArray, growth: Growth, rng: np.random.Generator, progress: Progress
) -> tuple[tuple[Rule, ...], LinearTerms]:
    """Candidate rules and linear terms from some of the rows."""
    subsample = count_subsample(growth.subsample, rows.size)
    pool = draw_pool(rows, subsample, rng)
    block = data.columns.take(pool)
    weights = data.weights_of(pool)
    rules: tuple[Rule, ...] = ()
    if growth.stable and growth.terms != "linear":
        rules = grow_stable_rules(
            block,
            data.targets[pool],
            weights=weights,
            n_categories=data.columns.n_categories,
            loss=growth.loss,
            n_rules=growth.n_candidates,
            mean_leaves=growth.mean_leaves,
            min_samples_leaf=growth.min_samples_leaf,
            min_impurity=growth.min_impurity,
            max_conditions=growth.max_conditions,
            on_progress=progress,
        )
    elif growth.terms != "linear":
        forest = grow_forest(
            block,
            data.targets[pool],
            weights=weights,
            n_categories=data.columns.n_categories,
            loss=growth.loss,
            n_rules=growth.n_candidates,
            mean_leaves=growth.mean_leaves,
            subsample=min(subsample, pool.size),
            shrinkage=growth.shrinkage,
            max_features=growth.max_features,
            min_samples_leaf=growth.min_samples_leaf,
            min_impurity=growth.min_impurity,
            max_bins=growth.max_bins,
            max_conditions=growth.max_conditions,
            rng=rng,
            on_progress=progress,
        )
        rules = extract_rules(forest)
    allowed = np.full(data.columns.n_features, 1) if growth.terms == "rules" else data.columns.n_categories
    return rules, fit_linear_terms(block, weights, allowed)


def build_design(
    data: TrainingData,
    candidates: tuple[tuple[Rule, ...], LinearTerms],
    folds: IntArray,
    max_correlation: float,
    needs_rows: bool,
    n_threads: int,
    progress: Progress,
) -> Design:
    """One pass over the rows: statistics of all candidates, then repeats and near repeats among the rules dropped.

    A solver that needs rows gets the bits of the rules that are left by a second pass.
    """
    rules, linear = candidates
    statistics = collect_statistics(
        data.columns,
        compile_rules(rules, data.columns.n_features),
        linear,
        data.targets,
        folds,
        weights=data.weights,
        n_threads=n_threads,
        on_progress=progress,
    )
    shared, total = statistics.rule_gram.sum(axis=0), float(statistics.weight.sum())
    simplified = simplify(rules, shared, total)
    distinct = [rules[k] for k in simplified.kept]
    different = thin(distinct, shared[np.ix_(simplified.kept, simplified.kept)], total, max_correlation)
    terms = Terms(tuple(distinct[k] for k in different), linear, tuple(simplified.aliases[k] for k in different))
    statistics = statistics.keep_rules(simplified.kept[different])
    design = Design(terms, statistics, statistics.moments())
    if not needs_rows:
        return design
    program = compile_rules(terms.rules, data.columns.n_features)
    rows, targets, starts = collect_rows(
        data.columns, program, linear, data.targets, folds, weights=data.weights, n_threads=n_threads
    )
    return replace(design, rows=rows, targets=targets, starts=starts)


def assign_folds(
    cv: Any, data: TrainingData, codes: IntArray | None, X: Any, y: Any, rng: np.random.Generator
) -> tuple[IntArray, int]:
    """Each row's fold, or `NEVER_HELD_OUT` for rows without weight; and the number of folds.

    A count deals shuffled rows out in turn, class by class, so that every fold has its share of every class; the only
    row of a class is never held out. A splitter or an iterable of splits must hold out each row at most once; rows it
    never holds out form one more fold that is always trained on.
    """
    rows, n_rows = data.rows, data.columns.n_rows
    folds = np.full(n_rows, NEVER_HELD_OUT, dtype=np.int64)
    if isinstance(cv, (int, np.integer)):
        if rows.size < cv:
            raise InvalidInputError(f"cv={cv} folds need at least {cv} rows; got n_samples = {rows.size}. Lower `cv`.")
        shuffled = rng.permutation(rows)
        if codes is not None:
            shuffled = shuffled[np.argsort(codes[shuffled], kind="stable")]
        folds[shuffled] = np.arange(rows.size) % cv
        if codes is not None:  # a class of one row would be unknown where that row is held out
            folds[rows[np.bincount(codes[rows])[codes[rows]] == 1]] = cv
        return folds, int(cv)
    n_folds = 0
    for n_folds, (trained, held_out) in enumerate(_splits(cv, X, y, codes is not None), start=1):
        if (folds[held_out] != NEVER_HELD_OUT).any():
            raise InvalidInputError("`cv` holds out some rows twice; use a splitter whose test folds do not overlap.")
        if len(trained) + len(held_out) != n_rows:
            raise InvalidInputError(
                f"`cv` must train on every row that it does not hold out; split {n_folds} trains on {len(trained)} and "
                f"holds out {len(held_out)} of {n_rows} rows. Use a splitter such as KFold or GroupKFold."
            )
        folds[held_out] = n_folds - 1
    if n_folds < 2:
        raise InvalidInputError(f"`cv` must give at least two splits; got {n_folds}.")
    counted = np.zeros(n_rows, dtype=bool)
    counted[rows] = True
    folds[counted & (folds == NEVER_HELD_OUT)] = n_folds
    folds[~counted] = NEVER_HELD_OUT
    sizes = np.bincount(folds[counted], minlength=n_folds)[:n_folds]
    if not sizes.all():
        empty = int(np.argmin(sizes)) + 1
        raise InvalidInputError(
            f"Split {empty} of `cv` holds out no row of positive weight; leave it out or weight its rows."
        )
    return folds, n_folds


def _splits(cv: Any, X: Any, y: Any, classifier: bool) -> Iterable[tuple[IntArray, IntArray]]:
    """Return the splits of a splitter or an iterable."""
    splits: Iterable[tuple[IntArray, IntArray]] = check_cv(cv, y, classifier=classifier).split(X, y)
    return splits


def regrown_folds(
    data: TrainingData,
    folds: IntArray,
    n_folds: int,
    growth: Growth,
    rngs: list[np.random.Generator],
    needs_rows: bool,
    n_threads: int,
    progress: Progress,
) -> tuple[list[Terms], list[list[Fold]]]:
    """Folds whose rules were grown without their rows: honest, and as many times the work.

    Returns
    -------
    terms : list of Terms
        The candidates of each fold.
    folds : list of list of Fold
        For each fold one record an output.
    """
    terms, regrown = [], []
    for fold in range(n_folds):
        candidates = grow_rules(data, np.flatnonzero((folds >= 0) & (folds != fold)), growth, rngs[fold], progress)
        sides = np.where(folds < 0, NEVER_HELD_OUT, (folds == fold).astype(np.int64))
        design = build_design(data, candidates, sides, growth.max_correlation, needs_rows, n_threads, progress)
        terms.append(design.terms)
        regrown.append(design.fold(1))
    return terms, regrown


@dataclass(frozen=True)
class Weighted:
    """One output with its terms weighted: the path, the chosen point of it, the solver that was used."""

    path: Path
    selection: Selection
    solver: Solver


def weight_terms(
    solver: Solver,
    design: Design,
    held_out: Sequence[Sequence[Fold]],
    *,
    selection: str | float,
    max_terms: int | None,
    joint: Joint | None,
    n_threads: int,
    progress: Progress,
) -> list[Weighted]:
    """Follow the path of every output of a design and choose a point; many outputs run side by side.

    Parameters
    ----------
    solver : Solver
    design : Design
    held_out : sequence of sequence of Fold
        For each fold one record an output.
    selection, max_terms, n_threads
        As in `select`; the cap is on the terms of one output, or of all outputs if they are solved together.
    joint : Joint, optional
        How the outputs are solved together; the solver must then be a Glmnet. Each on its own by default.
    progress : Progress
    """
    problems = design.problems()
    if joint is not None and len(problems) > 1:
        assert isinstance(solver, Glmnet)
        chosen = select_joint(
            joint,
            solver,
            problems,
            held_out,
            selection=selection,
            max_terms=max_terms,
            n_threads=n_threads,
            on_progress=progress,
        )
        return [Weighted(*parts) for parts in chosen]

    def weight(output: int, threads: int, on_progress: Callable[[int, int], None] | None) -> Weighted:
        folds = [fold[output] for fold in held_out]
        return Weighted(
            *select(
                solver,
                problems[output],
                folds,
                selection=selection,
                max_terms=max_terms,
                n_threads=threads,
                on_progress=on_progress,
            )
        )

    if len(problems) == 1:
        return [weight(0, n_threads, progress)]
    with one_blas_thread():
        return run_tasks(lambda output: weight(output, 1, None), range(len(problems)), n_threads)


@dataclass(frozen=True)
class Plan:
    """What to do with a pool of rules: how to grow them, weight them and choose among the points.

    Attributes
    ----------
    growth : Growth
    solver : Solver
    selection, max_terms
        As in `select`.
    folds : ndarray of shape (n_rows,)
        Fold of each row.
    n_folds : int
    honest : bool
        Whether rules are grown anew without each fold.
    joint : Joint or None
        How outputs are solved together, if they are.
    n_threads : int
    """

    growth: Growth
    solver: Solver
    selection: str | float
    max_terms: int | None
    folds: IntArray
    n_folds: int
    honest: bool
    joint: Joint | None
    n_threads: int


@dataclass(frozen=True)
class Pool:
    """One pool of rules, weighted for its outputs.

    Attributes
    ----------
    design : Design
    fold_terms : list of Terms
        The candidates of each fold: those of the design unless they were grown anew.
    outputs : list of Weighted
    """

    design: Design
    fold_terms: list[Terms]
    outputs: list[Weighted]


def fit_pool(
    data: TrainingData, plan: Plan, rng: np.random.Generator, fold_rng: np.random.Generator, progress: Progress
) -> Pool:
    """Grow rules, count them, weight them."""
    needs_rows = bool(getattr(plan.solver, "needs_rows", False))
    candidates = grow_rules(data, data.rows, plan.growth, rng, progress.stage("Growing trees"))
    counting = progress.stage("Counting rules")
    limit = plan.growth.max_correlation
    design = build_design(data, candidates, plan.folds, limit, needs_rows, plan.n_threads, counting)
    fold_terms = [design.terms] * plan.n_folds
    held_out: list[list[Fold]] = []
    if isinstance(plan.selection, str) and plan.honest:
        regrowing, rngs = progress.stage("Regrowing in folds"), fold_rng.spawn(plan.n_folds)
        fold_terms, held_out = regrown_folds(
            data, plan.folds, plan.n_folds, plan.growth, rngs, needs_rows, plan.n_threads, regrowing
        )
    elif isinstance(plan.selection, str):
        held_out = run_tasks(design.fold, range(plan.n_folds), plan.n_threads)
    outputs = weight_terms(
        plan.solver,
        design,
        held_out,
        selection=plan.selection,
        max_terms=plan.max_terms,
        joint=plan.joint,
        n_threads=plan.n_threads,
        progress=progress.stage("Weighting rules"),
    )
    return Pool(design, fold_terms, outputs)


@dataclass(frozen=True)
class Fitted:
    """A model and what the training rows say about its terms, in rank order.

    Attributes
    ----------
    model : RuleModel
    importances : ndarray of shape (n_terms,)
        ``|coefficient|`` times the standard deviation of the term, summed over the outputs.
    supports : ndarray of shape (n_terms,)
        Mean of the term in design units: of a rule the weighted share of rows on which it holds.
    mean_targets : ndarray of shape (n_terms,)
        Mean of the (first) output that a rule speaks about where it holds; means nothing for a linear term.
    aliases : tuple of tuple of Alias
    """

    model: RuleModel
    importances: FloatArray
    supports: FloatArray
    mean_targets: FloatArray
    aliases: tuple[tuple[Alias, ...], ...]


@dataclass
class _Entry:
    """A term of the model in the making."""

    term: Term
    support: float
    mean_target: float
    aliases: tuple[Alias, ...]
    coefs: FloatArray
    importance: float = 0.0


def make_model(data: TrainingData, designs: Sequence[Design], outputs: Sequence[Weighted]) -> Fitted:
    """Return the terms of the chosen points, the most important first.

    Parameters
    ----------
    data : TrainingData
    designs : sequence of Design
        One for all outputs, or one for each; a term that several of them have is one term of the model.
    outputs : sequence of Weighted
    """
    entries: dict[Term, _Entry] = {}
    intercepts = np.empty(len(outputs))
    for output, weighted in enumerate(outputs):
        design, place = (designs[0], output) if len(designs) == 1 else (designs[output], 0)
        moments = design.total
        mean = moments.x_sum / moments.weight
        spread = np.sqrt(np.maximum(moments.gram.diagonal() / moments.weight - mean**2, 0.0))
        coef, intercept = weighted.path.point(weighted.selection.index, weighted.selection.mix)
        columns = np.flatnonzero(coef)
        own_units = coef[columns] * design.terms.scales[columns]
        intercepts[output] = intercept - own_units @ design.terms.centers[columns] + data.offset
        for column, value in zip(columns.tolist(), own_units, strict=True):
            term = design.terms[column]
            if term not in entries:
                mean_target = moments.x_y[column, place] / (moments.x_sum[column] or 1.0) + data.offset
                aliases = design.terms.aliases_of(column)
                entries[term] = _Entry(term, mean[column], mean_target, aliases, np.zeros(len(outputs)))
            entries[term].coefs[output] += value
            entries[term].importance += abs(coef[column]) * spread[column]
    ranked = sorted(entries.values(), key=lambda entry: -entry.importance)
    coefs = np.array([entry.coefs for entry in ranked]).reshape(len(ranked), len(outputs)).T
    terms = tuple(entry.term for entry in ranked)
    single = len(outputs) == 1
    return Fitted(
        RuleModel(
            data.columns.features,
            terms,
            coefs[0] if single else np.ascontiguousarray(coefs),
            float(intercepts[0]) if single else intercepts,
        ),
        np.array([entry.importance for entry in ranked], dtype=np.float64),
        np.array([entry.support for entry in ranked], dtype=np.float64),
        np.array([entry.mean_target for entry in ranked], dtype=np.float64),
        tuple(entry.aliases for entry in ranked),
    )


def sample_held_out(data: TrainingData, folds: IntArray, n_folds: int) -> IntArray:
    """Return the rows that are held out once, or a fixed draw of many: a curve needs no more."""
    rows = data.rows[folds[data.rows] < n_folds]
    if rows.size <= CALIBRATION_ROWS:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, CALIBRATION_ROWS, replace=False))


def held_out_scores(data: TrainingData, rows: IntArray, folds: IntArray, pool: Pool) -> FloatArray:
    """Score rows by the models that were fitted without their folds.

    Parameters
    ----------
    data : TrainingData
    rows : ndarray of shape (n_scored,)
        Positions of the rows.
    folds : ndarray of shape (n_rows,)
        Fold of every row of the table.
    pool : Pool

    Returns
    -------
    ndarray of shape (n_scored, n_outputs)
    """
    scores = np.empty((rows.size, len(pool.outputs)))
    for fold, candidates in enumerate(pool.fold_terms):
        points = [weighted.selection.fold_points[fold] for weighted in pool.outputs]
        coefs, intercepts = np.array([coef for coef, _ in points]), np.array([intercept for _, intercept in points])
        columns = np.flatnonzero(coefs.any(axis=0))
        own_units = coefs[:, columns] * candidates.scales[columns]
        shifts = intercepts - own_units @ candidates.centers[columns] + data.offset
        used = tuple(candidates[int(column)] for column in columns)
        here = np.flatnonzero(folds[rows] == fold)
        scores[here] = RuleModel(data.columns.features, used, own_units, shifts).score_rows(data.columns, rows[here])
    return scores


def share_classes(data: TrainingData, rules: Sequence[Rule], codes: IntArray, n_classes: int) -> FloatArray:
    """Return the share of each class among the training rows on which each rule holds.

    Returns
    -------
    ndarray of shape (n_rules, n_classes)
    """
    program = compile_rules(rules, data.columns.n_features)
    totals = np.zeros((len(rules), n_classes))
    for start in range(0, data.rows.size, CHUNK_ROWS):
        rows = data.rows[start : start + CHUNK_ROWS]
        weights = data.weights_of(rows)
        members = np.zeros((rows.size, n_classes))
        members[np.arange(rows.size), codes[rows]] = 1.0 if weights is None else weights
        totals += program.evaluate(data.columns.take(rows, program.used_features)).sums(members)
    return np.asarray(totals / np.maximum(totals.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny))


def share_importance(fitted: Fitted, n_features: int) -> FloatArray:
    """Share the importance of terms among their attributes, equally; all add up to one."""
    shares = np.zeros(n_features)
    for term, importance in zip(fitted.model.terms, fitted.importances, strict=True):
        for feature in term.features:
            shares[feature] += importance / len(term.features)
    return shares / shares.sum() if shares.any() else shares
