"""`RuleAttributeSelector`: the attributes that rules need."""

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

from rulegrove._kernel_cache import announce_compilation
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
from rulegrove.columns import Columns, as_table, is_frame
from rulegrove.design import _kernels as design_kernels
from rulegrove.design.terms import Terms
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._design import build_design
from rulegrove.estimators._growing import Growth, count_subsample, draw_pool, grow_rules
from rulegrove.estimators._training import TrainingData, make_rng
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.estimators.regressor import RuleEnsembleRegressor
from rulegrove.estimators.stable import split_halves
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Rule
from rulegrove.solvers import Solver
from rulegrove.solvers.base import Problem
from rulegrove.trees import _kernels as tree_kernels

MIN_SHADOWS = 5  # the best of fewer shuffled copies is no bar to clear
IMPORTANCE_L1_RATIO = 0.1  # rules of one family share their weight, so that attributes rank alike from sample to sample


@dataclass(frozen=True, slots=True)
class VotedRule:
    """A rule that was among the largest coefficients of a repetition.

    Attributes
    ----------
    rule : Rule
    text : str
        The rule in words.
    repetition : int
        From 0.
    votes : int
        Penalties at which it was among the largest.
    """

    rule: Rule
    text: str
    repetition: int
    votes: int


@dataclass(frozen=True)
class _Repetition:
    """What one repetition says: importance of attributes, of their shuffled copies, and the votes of rules."""

    importances: FloatArray
    shadows: FloatArray
    rules: Counter[Rule]


class RuleAttributeSelector(SelectorMixin, BaseEstimator):
    r"""Selector of the attributes that a rule ensemble needs.

    Rules are grown and weighted several times, each on half of the rows; the halves come in complementary pairs. What
    the weights say about the attributes decides, by one of two criteria:

    * ``"importance"``: each repetition also grows rules on copies of the attributes with the rows shuffled, which can
      only matter by chance, and votes for the attributes that matter more than every copy [2]_. Of the attributes
      with `min_votes` votes those are kept, the most important first, that together carry `share` of the importance.
      The importance of a rule with coefficient a and support s is ``|a| sqrt(s (1 - s))``, shared equally among its
      attributes, and averaged over the penalties and the repetitions.
    * ``"votes"``, the paper's [1]_: at each of the penalties the rules of the `n_top` largest coefficients get a vote.
      A repetition votes for the attributes of all rules that got any; those with `min_votes` votes are kept.

    Parameters
    ----------
    criterion : {"importance", "votes"}, default="importance"
        See above. Votes alone keep an attribute that is useful now and then in place of a better one; importance keeps
        fewer, for a slightly higher error (``python -m benchmarks.attributes selection``).
    n_top : int, default=20
        Rules that get a vote at each penalty.
    n_repeats : int, default=5
        Repetitions.
    min_votes : int, default=3
        Repetitions that must agree on an attribute, at most `n_repeats`.
    penalties : int, default=13
        Points of each path, from sparse to dense.
    share : float, default=0.96
        Share of the importance that the kept attributes carry. Only for ``"importance"``; 1 keeps all that matter more
        than chance.
    n_features_to_select : int or float, default=None
        Keep so many attributes, or this fraction of them: those of the most votes, then of the most importance. None
        leaves the number to the criterion.
    task : {"auto", "classification", "regression"}, default="auto"
        What the target is. "auto" takes numbers with a fractional part, or more than 20 distinct ones, for regression.
    n_candidates : int, default=1000
        Rules to grow in each repetition.
    mean_leaves, subsample, shrinkage, max_features, min_samples_leaf, max_conditions, max_bins
        How rules are grown, as in `RuleEnsembleClassifier`.
    categorical_features : {"auto"}, array-like or None, default="auto"
        Names, positions or mask of the categorical columns.
    solver : {"fpc", "glmnet", "spgl1", "pathbuild"} or solver, default="fpc"
        What weights the rules. For ``"importance"`` a name stands for the elastic net with ``l1_ratio=0.1`` where the
        solver has one, so that rules of a family share their weight; for ``"votes"`` for the lasso.
    random_state : int, RandomState instance or None, default=None
        Seed of the halves and the trees.
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
    importances_ : ndarray of shape (n_features,)
        Share of the importance of all terms, the mean of the repetitions. What is lacking to one is that of the copies.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when X has column names.

    See Also
    --------
    RuleEnsembleClassifier : What to fit to the kept attributes.

    Notes
    -----
    `transform` gives a data frame for a data frame (pandas, polars, Arrow), column types and all, and an array for an
    array; `set_output` asks for another kind. Attributes that are copies of each other share their importance.

    References
    ----------
    .. [1] DeMasi, Meza, Bailey. "Dimension reduction using rule ensemble machine learning methods", section 6.5.
    .. [2] Kursa, Rudnicki (2010). "Feature selection with the Boruta package". Journal of Statistical Software 36(11).
       The halves: Shah, Samworth (2013). "Variable selection with error control: another look at stability selection".
       Journal of the Royal Statistical Society B 75(1).

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
        "criterion": [StrOptions({"importance", "votes"})],
        "n_top": [Interval(Integral, 1, None, closed="left")],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "min_votes": [Interval(Integral, 1, None, closed="left")],
        "penalties": [Interval(Integral, 1, None, closed="left")],
        "share": [Interval(Real, 0, 1, closed="right")],
        "n_features_to_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            None,
        ],
        "task": [StrOptions({"auto", "classification", "regression"})],
        **{
            name: BaseRuleEnsemble._parameter_constraints[name]
            for name in (
                "n_candidates",
                "mean_leaves",
                "subsample",
                "shrinkage",
                "max_features",
                "min_samples_leaf",
                "max_conditions",
                "max_bins",
                "categorical_features",
                "solver",
                "random_state",
                "n_jobs",
                "verbose",
            )
        },
    }

    def __init__(
        self,
        *,
        criterion: str = "importance",
        n_top: int = 20,
        n_repeats: int = 5,
        min_votes: int = 3,
        penalties: int = 13,
        share: float = 0.96,
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
        solver: Any = "fpc",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.criterion = criterion
        self.n_top = n_top
        self.n_repeats = n_repeats
        self.min_votes = min_votes
        self.penalties = penalties
        self.share = share
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.n_candidates = n_candidates
        self.mean_leaves = mean_leaves
        self.subsample = subsample
        self.shrinkage = shrinkage
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.max_conditions = max_conditions
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn which attributes to keep.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            NumPy array, pandas, polars or Arrow table. Missing values are welcome, infinite ones are not.
        y : array-like of shape (n_samples,)
            Classes or numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights; rows of weight zero are left out.

        Returns
        -------
        self
        """
        check_parameters(self)
        table = as_table(X)
        check_features(self, table, reset=True)
        self._check_counts()
        model = self._make_model(y)
        solver = self._make_solver(model)
        announce_compilation((tree_kernels.grow_tree, design_kernels.add_pair_counts, *getattr(solver, "kernels", ())))
        data, *_ = model._read(table, y, sample_weight)
        rng = make_rng(self.random_state)
        halves = _complementary_halves(data, self.n_repeats, rng)
        progress = Progress(self.verbose).stage("Repeating")

        def repeat(task: tuple[int, IntArray, np.random.Generator]) -> _Repetition:
            number, rows, own_rng = task
            found = self._repeat(data, rows, model, solver, own_rng)
            progress(number + 1, self.n_repeats)
            return found

        with one_blas_thread():
            tasks = list(zip(range(self.n_repeats), halves, rng.spawn(self.n_repeats), strict=True))
            repetitions = run_tasks(repeat, tasks, count_threads(self.n_jobs))
        progress.close()
        self._keep(repetitions, data.columns)
        return self

    def _check_counts(self) -> None:
        """Refuse more votes than repetitions and more attributes than there are."""
        if self.min_votes > self.n_repeats:
            raise InvalidInputError(
                f"`min_votes`={self.min_votes} repetitions cannot agree when there are `n_repeats`={self.n_repeats}; "
                "lower the first or raise the second."
            )
        wanted = self.n_features_to_select
        if isinstance(wanted, (int, np.integer)) and wanted > self.n_features_in_:
            raise InvalidInputError(
                f"`n_features_to_select` asks for {wanted} attributes, but X has {self.n_features_in_}; lower it."
            )

    def _make_model(self, y: Any) -> BaseRuleEnsemble:
        """Return the unfitted estimator that reads the target and grows the rules."""
        kind = RuleEnsembleClassifier if self._is_classes(y) else RuleEnsembleRegressor
        return kind(
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
            solver=self.solver,
            selection=1.0,  # a given point needs no folds
        )

    def _is_classes(self, y: Any) -> bool:
        """Whether the target is classes."""
        task = guess_task(y) if self.task == "auto" and y is not None else self.task
        return task == "classification"

    def _make_solver(self, model: BaseRuleEnsemble) -> Solver:
        """Return the solver; one given by name with the mix of norms that suits the criterion."""
        solver: Any = model._make_solver()
        if isinstance(self.solver, str) and self.criterion == "importance" and hasattr(solver, "l1_ratio"):
            solver.set_params(l1_ratio=IMPORTANCE_L1_RATIO)
        return solver  # type: ignore[no-any-return]

    def _repeat(
        self, data: TrainingData, rows: IntArray, model: BaseRuleEnsemble, solver: Solver, rng: np.random.Generator
    ) -> _Repetition:
        """Grow and weight rules on some of the rows, beside shuffled copies for the first criterion."""
        n_features = data.columns.n_features
        n_copies = max(1, ceil(MIN_SHADOWS / n_features)) if self.criterion == "importance" else 0
        rows = draw_pool(rows, count_subsample(self.subsample, rows.size), rng)
        part = _with_shadows(data, rows, n_copies, rng)
        quiet = Progress()
        growth: Growth = model._growth(part)
        candidates = grow_rules(part, part.rows, growth, rng, quiet)
        folds = np.zeros(rows.size, dtype=np.int64)
        needs_rows = bool(getattr(solver, "needs_rows", False))
        design = build_design(part, candidates, folds, growth.max_correlation, needs_rows, 1, quiet)
        coefs = [_follow(solver, problem, self.penalties) for problem in design.problems()]
        spreads = [np.sqrt(problem.gram.diagonal()) for problem in design.problems()]
        importances = _mean_shares(coefs, spreads, _share_matrix(design.terms, part.columns.n_features))
        own = [all(feature < n_features for feature in rule.features) for rule in design.terms.rules]
        rules = Counter({design.terms.rules[k]: count for k, count in _count_top(coefs, self.n_top).items() if own[k]})
        return _Repetition(importances[:n_features], importances[n_features:], rules)

    def _keep(self, repetitions: Sequence[_Repetition], columns: Columns) -> None:
        """Set the fitted attributes and the mask."""
        self.importances_ = np.mean([repetition.importances for repetition in repetitions], axis=0)
        self.votes_ = np.sum([self._vote(repetition) for repetition in repetitions], axis=0, dtype=np.int64)
        voted = [
            VotedRule(rule, rule.text(columns.features), number, votes)
            for number, repetition in enumerate(repetitions)
            for rule, votes in repetition.rules.items()
        ]
        self.rule_votes_ = tuple(sorted(voted, key=lambda one: (-one.votes, one.repetition, one.rule)))
        self._mask = self._choose()

    def _vote(self, repetition: _Repetition) -> BoolArray:
        """Attributes that one repetition finds important."""
        if self.criterion == "importance":
            return np.asarray(repetition.importances > repetition.shadows.max())
        voted = np.zeros(repetition.importances.size, dtype=bool)
        voted[[feature for rule in repetition.rules for feature in rule.features]] = True
        return voted

    def _choose(self) -> BoolArray:
        """Return the mask of the attributes to keep."""
        order = np.lexsort((-self.importances_, -self.votes_))
        wanted = self.n_features_to_select
        if wanted is not None:
            n_kept = int(wanted) if isinstance(wanted, (int, np.integer)) else max(1, int(wanted * order.size))
            return np.isin(np.arange(order.size), order[:n_kept])
        mask = np.asarray(self.votes_ >= self.min_votes)
        if self.criterion == "importance":
            mask &= _carrying(np.where(mask, self.importances_, 0.0), self.share)
        return mask

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self._mask

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
        tags.target_tags.required = True
        return tags


def _complementary_halves(data: TrainingData, n_repeats: int, rng: np.random.Generator) -> list[IntArray]:
    """Return the rows of each repetition: a random half, then its complement, then another half."""
    halves: list[IntArray] = []
    while len(halves) < n_repeats:
        halves += split_halves(data.targets, data.rows, rng)
    return halves[:n_repeats]


def _with_shadows(data: TrainingData, rows: IntArray, n_copies: int, rng: np.random.Generator) -> TrainingData:
    """Return some of the rows beside copies of their attributes in which the rows are shuffled.

    One permutation serves all attributes of a copy, which keeps their correlations: a lone attribute would be an easier
    mark than one that has to share its importance.
    """
    block = data.columns.take(rows)
    blocks = [block, *(block[:, rng.permutation(rows.size)] for _ in range(n_copies))]
    columns = Columns(data.columns.features * (1 + n_copies), [values for one in blocks for values in one])
    return replace(
        data, columns=columns, targets=data.targets[rows], weights=data.weights_of(rows), rows=np.arange(rows.size)
    )


def _follow(solver: Solver, problem: Problem, n_points: int) -> FloatArray:
    """Return the coefficients at so many points of the path, evenly spread over it but for the empty first one."""
    grid = solver.grid(problem)
    places = np.unique(np.linspace(0, grid.size - 1, n_points + 1).round().astype(np.int64)[1:])
    return solver.path(problem, grid[places]).coefs


def _share_matrix(terms: Terms, n_features: int) -> FloatArray:
    """Return how each rule's importance is shared among the attributes, ndarray of shape (n_rules, n_features)."""
    shares = np.zeros((len(terms.rules), n_features))
    for place, rule in enumerate(terms.rules):
        shares[place, list(rule.features)] = 1.0 / len(rule.features)
    return shares


def _mean_shares(coefs: Sequence[FloatArray], spreads: Sequence[FloatArray], shares: FloatArray) -> FloatArray:
    """Return the attributes' shares of the importance, the mean over the points that have terms, outputs added up."""
    n_points = min(len(own) for own in coefs)
    by_point = sum((np.abs(own[:n_points]) * spread) @ shares for own, spread in zip(coefs, spreads, strict=True))
    total = np.asarray(by_point).sum(axis=1, keepdims=True)
    filled = total[:, 0] > 0
    return np.asarray((by_point / np.where(total > 0, total, 1.0))[filled].sum(axis=0) / max(filled.sum(), 1))


def _count_top(coefs: Sequence[FloatArray], n_top: int) -> Counter[int]:
    """Count the points at which each rule has one of the largest coefficients, of any output."""
    counts: Counter[int] = Counter()
    for point in zip(*coefs, strict=False):
        top = {int(k) for own in point for k in np.argsort(-np.abs(own), kind="stable")[:n_top] if own[k] != 0.0}
        counts.update(top)
    return counts


def _carrying(importances: FloatArray, share: float) -> BoolArray:
    """Mask of the fewest attributes that together carry this share of the importance."""
    order = np.argsort(-importances, kind="stable")
    reached = np.cumsum(importances[order])
    n_kept = int(np.searchsorted(reached, share * reached[-1] * (1 - 1e-12))) + 1
    return np.isin(np.arange(order.size), order[:n_kept]) & (importances > 0)
