"""`RuleAttributeSelector`: the attributes that rules need."""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from rulegrove._progress import Progress
from rulegrove._threads import one_blas_thread, run_tasks
from rulegrove._typing import AnyArray, BoolArray, FloatArray, IntArray
from rulegrove._validation import (
    Interval,
    RealNotInt,
    StrOptions,
    check_features,
    check_parameters,
    count_threads,
    guess_task,
)
from rulegrove.columns import Columns, is_frame, locate_sources
from rulegrove.estimators._base import BaseRuleEnsemble, name_columns, set_fitted, store_parameters
from rulegrove.estimators._design import build_design
from rulegrove.estimators._growing import draw_pool, grow_rules
from rulegrove.estimators._in_memory import TableInMemory
from rulegrove.estimators._sampling import Chance
from rulegrove.estimators._training import TrainingData, make_rng, split_halves
from rulegrove.estimators.autos import count_subsample
from rulegrove.estimators.classes import Classes
from rulegrove.estimators.elimination import RidgeFit, eliminate
from rulegrove.estimators.number import Number
from rulegrove.estimators.pipeline import Training, make_growth, prepare_solver, read_training
from rulegrove.estimators.presets import OF_SELECTOR, find_settings, settle_preset
from rulegrove.estimators.settings import Settings
from rulegrove.estimators.several import name_numbers
from rulegrove.estimators.target import Target
from rulegrove.estimators.voting import VotedRule, count_top, follow_points, mean_shares, share_matrix
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Rule
from rulegrove.solvers import BaseSolver

MIN_SHADOWS = 10  # the best of fewer shuffled copies is no bar to clear


@dataclass(frozen=True)
class _Repetition:
    """What one repetition says: importance of attributes, votes of rules, the fit to spare attributes from."""

    importances: FloatArray
    rules: Counter[Rule]
    fit: RidgeFit | None


class RuleAttributeSelector(SelectorMixin, BaseEstimator):
    r"""Selector of the attributes that a rule ensemble needs.

    Rules are grown and weighted several times, each time on half of the rows; the halves come in complementary pairs
    [2]_. The attributes are then chosen by one of two criteria:

    * ``"loss"``: attributes are dropped one after the other, each time the one that the fits miss least. The loss of a
      fit, if its other rules take over as far as they can, follows in closed form from a ridge fit of the rules (see
      `rulegrove.estimators.elimination`). So an attribute that others can replace is dropped, while a ranking by
      importance would keep all of them or none. A repetition votes for an attribute whose loss is above `min_loss` and
      above that of every shuffled copy of the attributes, which can matter only by chance [3]_. Attributes with
      `min_votes` votes, and those that would have been dropped after them, are kept.
    * ``"votes"``, the criterion of the paper [1]_: at each of the penalties, the rules with the `n_top` largest
      coefficients get a vote. A repetition votes for the attributes of all rules that got a vote. Attributes with
      `min_votes` votes are kept.

    Parameters
    ----------
    preset : {"accurate", "readable", "fast"}, default=None
        Grow rules as `RuleEnsembleClassifier` does with this preset, where parameters have their default values.
        `settings_` shows what was changed.
    criterion : {"loss", "votes"}, default="loss"
        See above. "votes" may keep an attribute that is useful now and then instead of a better one, and keeps more
        attributes (``python -m benchmarks.attributes selection``).
    n_top : int, default=20
        Rules that get a vote at each penalty.
    n_repeats : int, default=5
        Repetitions.
    min_votes : int, default=3
        Repetitions that must agree on an attribute, at most `n_repeats`.
    penalties : int, default=13
        Points of each path, from sparse to dense.
    min_loss : float, default=0.003
        Rise of the squared error, as a share of the target's variance, that makes an attribute worth keeping. Only for
        ``"loss"``; 0 keeps all attributes that matter more than their shuffled copies.
    n_features_to_select : int or float, default=None
        Number or fraction of the attributes to keep: those with the smallest `ranking_`. None leaves the number to the
        criterion.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is. "auto" takes numbers with a fractional part, or more than 20 distinct ones, for regression.
    n_candidates : int, default=1000
        Rules to grow in each repetition.
    mean_leaves, subsample, shrinkage, max_features, min_samples_leaf, max_conditions, max_bins
        How rules are grown, as in `RuleEnsembleClassifier`.
    categorical_features : {"auto"}, array-like or None, default="auto"
        Names, positions or mask of the categorical columns.
    numeric_features : array-like or None, default=None
        Names, positions or mask of text columns to read as numbers: "35%", "$1,234" and "1 234" are numbers, and other
        words count as missing.
    identifiers : {"auto"}, array-like or None, default="auto"
        Names, positions or mask of columns to leave out. "auto" finds, in a data frame, text and consecutive whole
        numbers that differ in every row, and warns; None leaves out nothing.
    solver : {"glmnet", "fpc", "spgl1", "pathbuild"} or solver, default="glmnet"
        What finds the coefficients of the rules, for votes and `importances_`.
    random_state : int, RandomState instance or None, default=None
        Seed of the halves, the trees and the copies.
    n_jobs : int, default=None
        Threads; repetitions run side by side. The result does not depend on it.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    votes_ : ndarray of shape (n_features,)
        Repetitions that voted for each attribute.
    rule_votes_ : tuple of VotedRule
        Rules among the `n_top` largest coefficients at any penalty, those of the most penalties first.
    ranking_ : ndarray of shape (n_features,)
        Rank of each attribute, 1 for the one that is needed most. By ``"loss"`` this is the last one left, by
        ``"votes"`` the one with the most votes, and among equal votes the one with the largest importance.
    losses_ : ndarray of shape (n_features,)
        Rise of the squared error, as a share of the target's variance, when each attribute was dropped; the mean over
        the repetitions. Only for ``"loss"``.
    importances_ : ndarray of shape (n_features,)
        Share of each attribute in the importance of all rules, averaged over penalties and repetitions. The importance
        of a rule with coefficient a and support s is ``|a| sqrt(s (1 - s))``, shared equally among its attributes. If
        they add up to less than one, the rest is the importance of the shuffled copies.
    settings_ : dict
        What was used for parameters that `preset` has changed; empty without one.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Only when X has column names.

    See Also
    --------
    RuleEnsembleClassifier : What to fit to the kept attributes.

    Notes
    -----
    `transform` returns a data frame for a data frame (pandas, polars, Arrow), with its column types, and an array for
    an array; `set_output` asks for another kind.

    References
    ----------
    .. [1] DeMasi, Meza, Bailey. "Dimension reduction using rule ensemble machine learning methods", section 6.5.
    .. [2] Shah, Samworth (2013). "Variable selection with error control: another look at stability selection".
       Journal of the Royal Statistical Society B 75(1).
    .. [3] Kursa, Rudnicki (2010). "Feature selection with the Boruta package". Journal of Statistical Software 36(11).

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove import RuleAttributeSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 8))
    >>> y = (X[:, 2] > 0) & (X[:, 5] > -0.5)
    >>> selector = RuleAttributeSelector(n_candidates=200, random_state=0).fit(X, y)
    >>> selector.get_feature_names_out()
    array(['x2', 'x5'], dtype=object)
    >>> selector.transform(X).shape
    (400, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "criterion": [StrOptions({"loss", "votes"})],
        "n_top": [Interval(Integral, 1, None, closed="left")],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "min_votes": [Interval(Integral, 1, None, closed="left")],
        "penalties": [Interval(Integral, 1, None, closed="left")],
        "min_loss": [Interval(Real, 0, None, closed="left")],
        "n_features_to_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            None,
        ],
        "task": [StrOptions({"auto", "classification", "regression"})],
        **{
            name: BaseRuleEnsemble._parameter_constraints[name]
            for name in (
                "preset",
                "n_candidates",
                "mean_leaves",
                "subsample",
                "shrinkage",
                "max_features",
                "min_samples_leaf",
                "max_conditions",
                "max_bins",
                "categorical_features",
                "numeric_features",
                "identifiers",
                "solver",
                "random_state",
                "n_jobs",
                "verbose",
            )
        },
    }

    _presets = OF_SELECTOR

    def __init__(
        self,
        *,
        preset: str | None = None,
        criterion: str = "loss",
        n_top: int = 20,
        n_repeats: int = 5,
        min_votes: int = 3,
        penalties: int = 13,
        min_loss: float = 0.003,
        n_features_to_select: int | float | None = None,
        task: str = "auto",
        n_candidates: int = 1000,
        mean_leaves: float = 6.0,
        subsample: Any = "auto",
        shrinkage: float = 0.01,
        max_features: Any = "auto",
        min_samples_leaf: int = 5,
        max_conditions: int | None = None,
        max_bins: int = 255,
        categorical_features: Any = "auto",
        numeric_features: Any = None,
        identifiers: Any = "auto",
        solver: Any = "glmnet",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        store_parameters(self, locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn which attributes to keep.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            NumPy array, pandas, polars or Arrow table. Missing values are allowed, infinite ones are not.
        y : array-like of shape (n_samples,)
            Classes or numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights; rows of weight zero are left out.

        Returns
        -------
        self
        """
        check_parameters(self)
        if name_numbers(y):
            raise InvalidInputError(
                "RuleAttributeSelector needs classes or one number as its target; got a y of the shape "
                f"{np.shape(y)}. Select for each column separately, or use `feature_importances_` of another "
                "estimator that accepts this target."
            )
        used = settle_preset(self)
        target: Target = Classes() if used._is_classes(y) else Number()
        settings = used._read_parameters()
        source = TableInMemory(X, y, sample_weight, target=target, settings=settings, whole=True)
        solver = prepare_solver(settings, target)
        training = read_training(source, target, settings, solver, Chance.of(settings.random_state))
        used._check_counts(training.n_columns)
        repetitions = used._run(settings, training, training.data.units.take_solver(solver))
        learned = used._learn(repetitions, training.data.columns) | {"settings_": find_settings(self)}
        set_fitted(self, learned | name_columns(training.names, training.n_columns))
        return self

    def _run(self, settings: Settings, training: Training, solver: BaseSolver) -> list[_Repetition]:
        """Do all repetitions, some at a time."""
        rng = make_rng(self.random_state)
        halves = _complementary_halves(training.data, self.n_repeats, rng)
        progress, done = Progress(self.verbose).stage("Repeating"), itertools.count(1)

        def repeat(task: tuple[IntArray, np.random.Generator]) -> _Repetition:
            rows, own_rng = task
            found = self._repeat(settings, training, rows, solver, own_rng)
            progress(next(done), self.n_repeats)
            return found

        with one_blas_thread():
            tasks = zip(halves, rng.spawn(self.n_repeats), strict=True)
            repetitions = run_tasks(repeat, tasks, count_threads(self.n_jobs))
        progress.close()
        return repetitions

    def _check_counts(self, n_columns: int) -> None:
        """Refuse more votes than repetitions and more attributes than there are."""
        if self.min_votes > self.n_repeats:
            raise InvalidInputError(
                f"`min_votes`={self.min_votes} repetitions cannot agree when there are only "
                f"`n_repeats`={self.n_repeats}; lower the first or raise the second."
            )
        wanted = self.n_features_to_select
        if isinstance(wanted, (int, np.integer)) and wanted > n_columns:
            raise InvalidInputError(
                f"`n_features_to_select` asks for {wanted} attributes, but X has {n_columns}; lower it."
            )

    def _read_parameters(self) -> Settings:
        """Return how the target is read and rules are grown."""
        return Settings(
            n_candidates=self.n_candidates,
            mean_leaves=self.mean_leaves,
            subsample=self.subsample,
            shrinkage=self.shrinkage,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            max_conditions=self.max_conditions,
            max_bins=self.max_bins,
            terms="rules",
            categorical_features=self.categorical_features,
            numeric_features=self.numeric_features,
            identifiers=self.identifiers,
            solver=self.solver,
            selection=1.0,  # a given point needs no folds
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _is_classes(self, y: Any) -> bool:
        """Whether the target is classes."""
        task = guess_task(y) if self.task == "auto" and y is not None else self.task
        return task == "classification"

    def _repeat(
        self, settings: Settings, training: Training, rows: IntArray, solver: BaseSolver, rng: np.random.Generator
    ) -> _Repetition:
        """Grow rules on some of the rows and solve for them, beside shuffled copies for the first criterion."""
        data = training.data
        n_features = data.columns.n_features
        sparing = self.criterion == "loss"
        rows = draw_pool(rows, count_subsample(self.subsample, rows.size), rng)
        part = _with_shadows(data, rows, max(1, ceil(MIN_SHADOWS / n_features)) if sparing else 0, rng)
        quiet = Progress()
        growth = make_growth(settings, training.target, part)
        candidates = grow_rules(part, part.rows, growth, rng, quiet)
        folds = np.zeros(rows.size, dtype=np.int64)
        design = build_design(part, candidates, folds, settings.max_correlation, solver.needs_rows, 1, quiet)
        problems = design.problems()
        coefs = [follow_points(solver, problem, self.penalties) for problem in problems]
        spreads = [np.sqrt(problem.gram.diagonal()) for problem in problems]
        shares = share_matrix(design.terms.rules, part.columns.n_features)
        importances = mean_shares(coefs, spreads, shares)[:n_features]
        own = [all(feature < n_features for feature in rule.features) for rule in design.terms.rules]
        rules = Counter({design.terms.rules[k]: count for k, count in count_top(coefs, self.n_top).items() if own[k]})
        return _Repetition(importances, rules, RidgeFit.of(problems, shares > 0.0) if sparing else None)

    def _learn(self, repetitions: Sequence[_Repetition], columns: Columns) -> dict[str, Any]:
        """Return the fitted attributes and the mask."""
        learned: dict[str, Any] = {}
        importances = np.mean([repetition.importances for repetition in repetitions], axis=0)
        voted = [
            VotedRule(rule, rule.text(columns.features), number, votes)
            for number, repetition in enumerate(repetitions)
            for rule, votes in repetition.rules.items()
        ]
        learned["rule_votes_"] = tuple(sorted(voted, key=lambda one: (-one.votes, one.repetition, one.rule)))
        fits = [repetition.fit for repetition in repetitions if repetition.fit is not None]
        order, votes, losses = self._spare(fits, columns.n_features) if fits else _count_votes(repetitions, importances)
        places = locate_sources(columns.features, columns.names)  # a column of dates has several attributes
        learned["importances_"] = np.zeros(len(columns.names))
        learned["votes_"] = np.zeros(len(columns.names), dtype=np.int64)
        np.add.at(learned["importances_"], places, importances)
        np.maximum.at(learned["votes_"], places, votes)
        if losses is not None:
            by_column = np.full(len(columns.names), -np.inf)
            np.maximum.at(by_column, places, losses)
            learned["losses_"] = np.where(np.isneginf(by_column), 0.0, by_column)  # of columns that are left out
        steps = np.full(len(columns.names), -1)  # the last step at which an attribute of a column was still there
        steps[places[order]] = np.arange(order.size)
        ranking = np.empty(len(columns.names), dtype=np.int64)
        ranking[np.argsort(steps, kind="stable")] = np.arange(len(columns.names), 0, -1)
        return {**learned, "ranking_": ranking, "_mask": self._choose(learned["votes_"], ranking)}

    def _spare(self, fits: Sequence[RidgeFit], n_features: int) -> tuple[IntArray, IntArray, FloatArray]:
        """Take attributes and copies away; return the order of the attributes, the votes to keep each, the losses."""
        found = eliminate(fits, fits[0].uses.shape[1])
        losses, shadows = found.losses[:, :n_features], found.losses[:, n_features:]
        votes = np.count_nonzero(losses > np.maximum(shadows.max(axis=1, keepdims=True), self.min_loss), axis=0)
        order = found.order[found.order < n_features]
        votes[order] = np.maximum.accumulate(votes[order])
        return order, votes, losses.mean(axis=0)

    def _choose(self, votes: IntArray, ranking: IntArray) -> BoolArray:
        """Return the mask of the attributes to keep."""
        wanted = self.n_features_to_select
        if wanted is None:
            return np.asarray(votes >= self.min_votes)
        n_kept = int(wanted) if isinstance(wanted, (int, np.integer)) else max(1, int(wanted * ranking.size))
        return np.asarray(ranking <= n_kept)

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        mask: BoolArray = self._mask
        return mask

    def transform(self, X: Any) -> Any:
        """Reduce a table to the kept attributes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array or data frame of shape (n_samples, n_kept)
            Of the kind of `X`, unless `set_output` asked for another.
        """
        check_is_fitted(self)
        if not is_frame(X):
            return super().transform(X)
        check_features(self, X, reset=False)
        if not self._mask.any():
            return super().transform(X)
        kept: AnyArray = np.flatnonzero(self._mask)
        return nw.from_native(X, eager_only=True)[:, kept.tolist()].to_native()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _count_votes(repetitions: Sequence[_Repetition], importances: FloatArray) -> tuple[IntArray, IntArray, None]:
    """Count the votes of rules for their attributes; return the order of the attributes and the votes."""
    votes = np.zeros(importances.size, dtype=np.int64)
    for repetition in repetitions:
        votes[list({feature for rule in repetition.rules for feature in rule.features})] += 1
    return np.lexsort((importances, votes)), votes, None


def _complementary_halves(data: TrainingData, n_repeats: int, rng: np.random.Generator) -> list[IntArray]:
    """Return the rows of each repetition: a random half, then its complement, then another half."""
    halves: list[IntArray] = []
    while len(halves) < n_repeats:
        halves += split_halves(data.targets, data.rows, rng)
    return halves[:n_repeats]


def _with_shadows(data: TrainingData, rows: IntArray, n_copies: int, rng: np.random.Generator) -> TrainingData:
    """Return some of the rows beside copies of their attributes in which the rows are shuffled.

    One permutation serves all attributes of a copy, which keeps their correlations: a lone attribute would be an easier
    mark than one that others stand in for.
    """
    block = data.columns.take(rows)
    blocks = [block, *(block[:, rng.permutation(rows.size)] for _ in range(n_copies))]
    columns = Columns(data.columns.features * (1 + n_copies), [values for one in blocks for values in one])
    return replace(
        data, columns=columns, targets=data.targets[rows], weights=data.weights_of(rows), rows=np.arange(rows.size)
    )
