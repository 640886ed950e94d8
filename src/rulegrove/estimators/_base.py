"""What the classifier and the regressor share: parameters, the fit, the fitted attributes."""

import functools
import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rulegrove._progress import Progress
from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove._validation import (
    HasMethods,
    Interval,
    RealNotInt,
    StrOptions,
    check_features,
    check_groups,
    check_parameters,
    check_weights,
    count_threads,
)
from rulegrove.columns import (
    Columns,
    Reading,
    as_table,
    count_rows,
    encode_columns,
    is_frame,
    learn_columns,
    list_names,
)
from rulegrove.design.terms import Linear
from rulegrove.estimators import autos
from rulegrove.estimators._constraints import Constraints, resolve_monotonic
from rulegrove.estimators._design import Counted, Design, Request, count_requests
from rulegrove.estimators._fitted import (
    Fitted,
    HeldOut,
    make_model,
    one_or_all,
    score_held_out,
    share_importance,
)
from rulegrove.estimators._fitting import Count, Plan, Pool, fit_pools, spawn_pairs
from rulegrove.estimators._given import check_directions, check_finite_weights, check_sources, take_given
from rulegrove.estimators._growing import (
    Growth,
    check_candidates,
    check_subsample,
)
from rulegrove.estimators._in_memory import TableInMemory
from rulegrove.estimators._sampling import RowCode, Sampled, Source, TargetCode
from rulegrove.estimators._training import (
    NEVER_HELD_OUT,
    Drawn,
    Target,
    TrainingData,
    assign_folds,
    make_rng,
    warn_constant,
)
from rulegrove.estimators.explanation import Explanation, explain_rows
from rulegrove.estimators.figures import ClassFigures, NumberFigures
from rulegrove.estimators.presets import NAMES, Presets, using_preset
from rulegrove.estimators.rule_table import RankedTerm, RuleTable
from rulegrove.exceptions import InvalidInputError
from rulegrove.joint_selection import Joint
from rulegrove.losses import Loss
from rulegrove.rules.rule import Rule
from rulegrove.selection import Chosen
from rulegrove.solvers import SOLVERS, BaseSolver, Glmnet, make_solver


class BaseRuleEnsemble(BaseEstimator):
    """Rules from boosted trees, weighted by a sparse fit; the target comes from the subclass."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "preset": [StrOptions(set(NAMES)), None],
        "n_candidates": [Interval(Integral, 0, None, closed="left")],
        "max_terms": [Interval(Integral, 0, None, closed="left"), None],
        "mean_leaves": [Interval(Real, 2, None, closed="left")],
        "subsample": [
            StrOptions({"auto"}),
            Interval(Integral, 2, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
        ],
        "shrinkage": [Interval(Real, 0, 1, closed="both")],
        "max_features": [
            StrOptions({"auto", "sqrt", "log2"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "min_impurity": [Interval(Real, 0, None, closed="left")],
        "max_conditions": [Interval(Integral, 1, None, closed="left"), None],
        "max_bins": [Interval(Integral, 2, 255, closed="both")],
        "max_correlation": [Interval(Real, 0, 1, closed="right")],
        "stable": ["boolean"],
        "monotonic": [dict, "array-like", None],
        "terms": [StrOptions({"rules", "linear", "both"})],
        "trees": [object, None],
        "rules": ["array-like", str, None],
        "force_rules": ["boolean"],
        "categorical_features": [StrOptions({"auto"}), "array-like", None],
        "numeric_features": ["array-like", None],
        "identifiers": [StrOptions({"auto"}), "array-like", None],
        "solver": [StrOptions({"auto", *SOLVERS}), HasMethods(["grid", "path"])],
        "selection": [StrOptions({"auto", "1se", "min"}), Interval(Real, 0, None, closed="neither")],
        "cv": ["cv_object"],
        "honest_cv": [StrOptions({"auto"}), "boolean"],
        "random_state": ["random_state"],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right"), None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        preset: str | None = None,
        n_candidates: int = 2000,
        max_terms: int | None = None,
        mean_leaves: float = 4.0,
        subsample: Any = "auto",
        shrinkage: float = 0.03,
        max_features: Any = None,
        min_samples_leaf: int = 5,
        min_impurity: float = 0.0,
        max_conditions: int | None = None,
        max_bins: int = 255,
        max_correlation: float = 0.9,
        stable: bool = False,
        monotonic: Any = None,
        terms: str = "both",
        trees: Any = None,
        rules: Any = None,
        force_rules: bool = False,
        tree_loss: str = "auto",
        categorical_features: Any = "auto",
        numeric_features: Any = None,
        identifiers: Any = "auto",
        solver: Any = "auto",
        selection: str | float = "auto",
        cv: Any = 5,
        honest_cv: bool | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.preset = preset
        self.n_candidates = n_candidates
        self.max_terms = max_terms
        self.mean_leaves = mean_leaves
        self.subsample = subsample
        self.shrinkage = shrinkage
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity = min_impurity
        self.max_conditions = max_conditions
        self.max_bins = max_bins
        self.max_correlation = max_correlation
        self.stable = stable
        self.monotonic = monotonic
        self.terms = terms
        self.trees = trees
        self.rules = rules
        self.force_rules = force_rules
        self.tree_loss = tree_loss
        self.categorical_features = categorical_features
        self.numeric_features = numeric_features
        self.identifiers = identifiers
        self.solver = solver
        self.selection = selection
        self.cv = cv
        self.honest_cv = honest_cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _presets: ClassVar[Presets]  # what each changes
    _losses: ClassVar[tuple[str, ...]]  # of solvers that suit the target
    _no_loss_for: ClassVar[str]  # what other losses are for
    _of_classes: ClassVar[bool]  # whether the target is classes
    classes_: AnyArray  # of a classifier alone
    held_out_: ClassFigures | NumberFigures | None

    @abstractmethod
    def _read_target(self, y: Any, n_rows: int, weights: FloatArray | None) -> Target:
        """Check the target and put it as the fit wants it."""

    @abstractmethod
    def _read_labels(self, y: Any, n_rows: int) -> AnyArray:
        """Check the target of a table beyond a pool and return it as an array."""

    @abstractmethod
    def _learn_target(self, sampled: Sampled) -> TargetCode:
        """Return how the target of a table beyond a pool becomes numbers; keep what the estimator knows of it."""

    @abstractmethod
    def _tree_loss(self, targets: FloatArray) -> Loss:
        """Return the loss whose residuals the trees are grown on."""

    @abstractmethod
    def _describe(self, fitted: Fitted, data: TrainingData) -> list[dict[str, Any]]:
        """Tell what each term says about the target, as fields of a `RankedTerm`."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Grow rules, weight them, keep the best few.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            NumPy array, pandas, polars or Arrow table. Missing values are welcome, infinite ones are not.
        y : array-like of shape (n_samples,)
            The target.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights; rows of weight zero are left out.
        groups : array-like of shape (n_samples,), optional
            Rows that belong together, such as those of one patient: no fold of the cross-validation holds out a part of
            a group. With a number as `cv` whole groups are dealt out, classes as evenly as they allow; a splitter such
            as ``GroupKFold()`` is given the groups.

        Returns
        -------
        self
            The fitted estimator.
        """
        return self._fit_table(X, y, sample_weight, groups, by_rows=True)

    def _fit_table(self, X: Any, y: Any, sample_weight: Any, groups: Any = None, *, by_rows: bool) -> Self:
        """Fit as `fit` does; without `by_rows` a solver that is left to choose goes by statistics alone."""
        with using_preset(self) as used:
            check_sources(used)
            solver = used._make_solver()
            table = as_table(X)
            if count_rows(table) > autos.POOL_ROWS:
                used._fit_sampled(used._in_memory(table, y, sample_weight, groups), solver)
                return self
            data, folds, n_folds, rngs = used._read(table, y, sample_weight, groups)

            def count(requests: Sequence[Request], progress: Progress) -> Iterator[Counted]:
                return count_requests(data, requests, folds, count_threads(used.n_jobs), progress)

            used._fit(solver, data, folds, n_folds, rngs, count, by_rows=by_rows)
        return self

    def _fit_sampled(
        self,
        source: Source,
        solver: BaseSolver | None = None,
        keep: Callable[[RowCode, TrainingData, list[Pool]], None] | None = None,
    ) -> Self:
        """Fit to a table beyond a pool: learn from a sample of its rows, count over all of them.

        Parameters
        ----------
        source : Source
        solver : Solver, optional
            What `_make_solver` has made, if it was called before.
        keep : callable, optional
            Given the pools of rules with their statistics, before these are forgotten.
        """
        if solver is None:
            check_parameters(self)
            check_sources(self)
            solver = self._make_solver()
        *rngs, seeds = make_rng(self.random_state).spawn(3)
        fold_seed, sample_seed = (int(seed) for seed in seeds.integers(2**63, size=2))
        sampled = source.sample(sample_seed, functools.partial(self._count_drawn, solver))
        check_features(self, sampled.table, reset=True)
        target_code = self._learn_target(sampled)
        weighted = sampled.summary.varies(target_code.class_weights)
        target_code = target_code.weighing(sampled.summary.heaviest if weighted else None)
        target = target_code.read(sampled.y, sampled.weights)
        data = TrainingData.of(sampled.columns, target, Drawn(sampled.ranks, sampled.summary.n_rows))
        data = replace(data, units=target_code.units)
        check_subsample(self.subsample, data.n_counted)
        warn_constant(data)
        cv = (5 if self.cv is None else self.cv) if isinstance(self.selection, str) else 1
        dealt = source.deal(cv, target_code, fold_seed)
        code = RowCode(sampled.columns.features, target_code, weighted, dealt)
        *_, folds = code.read(sampled.y, sampled.weights, sampled.positions)

        def count(requests: Sequence[Request], progress: Progress) -> Iterator[Counted]:
            return source.count(requests, code, progress)

        pools = self._fit(solver, data, folds, dealt.n_folds, rngs, count, by_rows=False)
        if keep is not None:
            keep(code, data, pools)
        return self

    def _count_drawn(self, solver: BaseSolver, n_counted: int) -> int:
        """Return how many rows to draw of those that count: for trees, for probabilities, for the solver."""
        return autos.count_drawn(self.subsample, n_counted, needs_rows=solver.needs_rows)

    @property
    def _reading(self) -> Reading:
        """What the parameters say about the columns; given trees have seen every one of them."""
        return Reading(
            categorical=self.categorical_features,
            numeric=self.numeric_features,
            identifiers=self.identifiers if self.trees is None else None,
            max_categories=self.max_bins,
        )

    def _in_memory(self, table: Any, y: Any, sample_weight: Any, groups: Any) -> TableInMemory:
        """Return a table with its target as a source to fit to."""
        return TableInMemory(
            table,
            y,
            sample_weight,
            groups,
            read_labels=self._read_labels,
            classes=self._of_classes,
            reading=self._reading,
            n_threads=count_threads(self.n_jobs),
        )

    def _fit(
        self,
        solver: BaseSolver,
        data: TrainingData,
        folds: IntArray,
        n_folds: int,
        rngs: list[np.random.Generator],
        count: Count,
        *,
        by_rows: bool,
    ) -> list[Pool]:
        """Grow rules from the data, have them counted, weight them, keep the best few."""
        self.__dict__.pop("statistics_", None)  # those of an earlier fit
        progress = Progress(self.verbose)
        n_threads = count_threads(self.n_jobs)
        selection, honest = self._resolve_choice(data.n_counted)
        solver = self._suit_solver(solver, data.n_counted, data if by_rows else None)
        parts = self._pools(data)
        growth, joint = self._growth(data), self._joint(solver)
        if self.force_rules:
            self._check_forced(growth.given.own, solver, joint, data)
        plan = Plan(
            growth=growth,
            solver=data.units.take_solver(solver),
            selection=data.units.take_point(solver, selection),
            max_terms=self.max_terms,
            folds=folds,
            n_folds=n_folds,
            honest=honest,
            joint=joint,
            n_threads=n_threads,
        )
        pools = fit_pools(parts, plan, spawn_pairs(rngs, len(parts)), count, progress)
        progress.close()
        if not data.units.is_plain:
            pools = [pool.give_back(data.units, selection) for pool in pools]
            data = data.give_back()
        outputs = self._keep_fits([pool.design for pool in pools], [pool.outputs for pool in pools])
        self._keep(make_model(data, [pool.design for pool in pools], outputs), data)
        held_out = score_held_out(data, folds, pools)
        self._calibrate(held_out)
        self._keep_settings(
            solver=solver,
            selection=selection,
            honest_cv=honest,
            subsample=autos.count_subsample(self.subsample, data.n_counted),
            max_features=growth.max_features,
            tree_loss=growth.loss.name,
            **({"cv": n_folds} if isinstance(selection, str) else {}),
        )
        if held_out is not None:
            self.held_out_ = self._judge(held_out, data, honest=self._is_honest(held_out, data, regrown=honest))
        return pools

    def _keep_settings(self, **found: Any) -> None:
        """Set `settings_`: of the parameters that are left open, what was found for them."""
        found |= self._settled_of_target()
        self.settings_ = {name: value for name, value in found.items() if self._is_open(name)}

    def _is_open(self, parameter: str) -> bool:
        """Whether a parameter is left to be settled."""
        value = getattr(self, parameter)
        return (isinstance(value, str) and value == "auto") or (parameter == "cv" and value is None)

    def _settled_of_target(self) -> dict[str, Any]:
        """Return what was settled of parameters that the kind of target has."""
        return {}

    def _keep_fits(self, designs: Sequence[Design], of_pools: Sequence[Sequence[Chosen]]) -> list[Chosen]:
        """Set the fitted attributes that tell of all candidates; return the outputs of all pools."""
        outputs = [weighted for of_pool in of_pools for weighted in of_pool]
        self.path_ = one_or_all([weighted.path for weighted in outputs])
        self.selection_ = one_or_all([weighted.selection for weighted in outputs])
        self.solver_ = one_or_all([weighted.solver.given for weighted in outputs])
        self.candidates_ = one_or_all([design.terms for design in designs])
        return outputs

    def _calibrate(self, held_out: HeldOut | None) -> None:
        """Fit what turns scores into probabilities, if anything does."""

    @abstractmethod
    def _judge(self, held_out: HeldOut, data: TrainingData, *, honest: bool) -> ClassFigures | NumberFigures:
        """Tell how well held-out rows were predicted."""

    def _is_honest(self, held_out: HeldOut, data: TrainingData, *, regrown: bool) -> bool:
        """Whether no rule has seen the rows that were held out: given trees may have, an expert's rules have not.

        Of a table beyond a pool these rows are the last ones drawn, mostly such that no tree was grown on.
        """
        if self.trees is not None:
            return False
        if regrown or self.n_candidates == 0 or self.terms == "linear":
            return True
        if data.drawn is None:
            return False
        pool = autos.size_pool(autos.count_subsample(self.subsample, data.n_counted))
        return bool(data.drawn.ranks[held_out.rows].min() >= pool)

    def _joint(self, solver: BaseSolver) -> Joint | None:
        """Return how several outputs are solved together, if they are."""
        return None

    def _check_forced(
        self, rules: tuple[Rule, ...], solver: BaseSolver, joint: Joint | None, data: TrainingData
    ) -> None:
        """Refuse forced rules where no fit can weight them without a penalty."""
        if joint is not None and data.targets.shape[1] > 1:
            raise InvalidInputError(
                "`force_rules` is not for fits that weight the rules of all classes together; take multiclass='ovr', "
                "or 'shared' with Glmnet(loss='squared')."
            )
        if solver.loss_name == "logistic":
            check_finite_weights(rules, data)

    @property
    def _grows(self) -> bool:
        """Whether rules are grown; given ones are the same for all outputs and folds."""
        return self.trees is None and (self.n_candidates > 0 or self.terms == "linear")

    def _resolve_choice(self, n_rows: int) -> tuple[str | float, bool]:
        """Return the rule of choice and whether folds grow rules of their own.

        Given trees may have seen every row, so the choice is that for shared rules. An expert's rules alone have seen
        none: their folds are honest without growing anything anew.
        """
        if self._grows:
            return autos.resolve_choice(self.selection, self.honest_cv, n_rows)
        selection, _ = autos.resolve_choice(self.selection, self.trees is None, n_rows)
        return selection, self.honest_cv != "auto" and bool(self.honest_cv)

    def _suit_solver(self, solver: BaseSolver, n_rows: int, data: TrainingData | None) -> BaseSolver:
        """Return the solver with what the number of rows decides; without data there are statistics alone."""
        return solver

    def _pools(self, data: TrainingData) -> list[TrainingData]:
        """Return the data by which rules are grown: one pool of rules for all outputs."""
        return [data]

    def _make_solver(self) -> BaseSolver:
        """Return the solver, one given by name with a loss that suits the target; refuse what cannot work."""
        solver = Glmnet() if self._is_open("solver") else make_solver(self.solver)
        solver.check()
        if self.monotonic is not None and not solver.takes_constraints:
            raise InvalidInputError(
                f"`monotonic` needs solver='glmnet' or Glmnet(...), which can hold coefficients to a sign; "
                f"got {solver!r}."
            )
        if self.force_rules and not solver.takes_constraints:
            raise InvalidInputError(
                f"`force_rules` needs solver='glmnet' or Glmnet(...), which can leave terms without a penalty; "
                f"got {solver!r}."
            )
        if solver.loss_name in self._losses:
            return solver
        if isinstance(self.solver, str):
            solver.set_params(loss=self._losses[0])
            return solver
        raise InvalidInputError(
            f"{type(self).__name__} cannot use {type(solver.given).__name__}(loss={solver.loss!r}), which is for "
            f"{self._no_loss_for}; give it loss={' or '.join(repr(name) for name in self._losses)}."
        )

    def _read(
        self, X: Any, y: Any, sample_weight: Any, groups: Any = None
    ) -> tuple[TrainingData, IntArray, int, list[np.random.Generator]]:
        """Check the table, the target and the weights; deal out the folds."""
        table = as_table(X)
        columns = learn_columns(table, self._reading)
        check_features(self, table, reset=True)
        target = self._read_target(y, columns.n_rows, check_weights(sample_weight, columns.n_rows))
        data = TrainingData.of(columns, target)
        check_subsample(self.subsample, data.rows.size)
        warn_constant(data)
        *rngs, fold_rng = make_rng(self.random_state).spawn(3)
        dealt = check_groups(groups, columns.n_rows)
        if isinstance(self.selection, str):
            labels = y if target.codes is None else self.classes_[target.codes]
            cv = 5 if self.cv is None else self.cv
            folds, n_folds = assign_folds(cv, data, target.codes, X, labels, fold_rng, dealt)
        else:
            folds, n_folds = np.full(columns.n_rows, NEVER_HELD_OUT), 1
            folds[data.rows] = 0
        return data, folds, n_folds, rngs

    def _growth(self, data: TrainingData) -> Growth:
        """Return the parameters of the trees, resolved."""
        check_candidates(self.n_candidates)
        given = take_given(self, data)
        constraints = replace(self._constraints(data), forced=frozenset(given.own if self.force_rules else ()))
        check_directions(given.own, constraints, data)
        return Growth(
            n_candidates=self.n_candidates,
            mean_leaves=self.mean_leaves,
            subsample=self.subsample,
            shrinkage=self.shrinkage,
            max_features=autos.count_features(self.max_features, data.columns.n_features),
            min_samples_leaf=self.min_samples_leaf,
            min_impurity=data.units.take_impurity(self.min_impurity),
            max_conditions=self.max_conditions,
            max_bins=self.max_bins,
            max_correlation=self.max_correlation,
            terms=self.terms,
            loss=self._tree_loss(data.targets[data.rows]),
            stable=self.stable,
            constraints=constraints,
            given=given,
        )

    def _constraints(self, data: TrainingData) -> Constraints:
        """Return what the coefficients must respect."""
        return Constraints(resolve_monotonic(self.monotonic, data.columns.features, data.columns.names))

    def _keep(self, fitted: Fitted, data: TrainingData) -> None:
        """Set the fitted attributes that tell of the chosen terms."""
        features = data.columns.features
        rows = [
            RankedTerm(
                rank=place + 1,
                kind="rule" if isinstance(term, Rule) else "linear",
                text=term.text(features),
                importance=float(fitted.importances[place]),
                support=float(fitted.supports[place]) if isinstance(term, Rule) else 1.0,
                aliases=tuple(
                    f"{'not ' * alias.opposite}{alias.rule.text(features)}" for alias in fitted.aliases[place]
                ),
                term=term,
                **about,
            )
            for place, (term, about) in enumerate(zip(fitted.model.terms, self._describe(fitted, data), strict=True))
        ]
        self._model = fitted.model
        self.held_out_ = None
        self.rules_ = RuleTable(rows, of_classes=hasattr(self, "classes_"))
        self.coef_, self.intercept_ = fitted.model.coefs, fitted.model.intercept
        self.feature_importances_ = share_importance(fitted)

    def _columns(self, X: Any) -> Columns:
        """Read a table to predict on: the columns of the fit in their order, or by name at least those in use."""
        table, model = as_table(X), self._model
        few = is_frame(table) and hasattr(self, "feature_names_in_") and table.shape[1] < len(model.names)
        if not (few and set(model.used_names) <= set(list_names(table)) < set(model.names)):
            check_features(self, table, reset=False)
        return encode_columns(table, model.features, model.names, warn=True)

    def _scores(self, X: Any) -> FloatArray:
        """Return the score F of every row."""
        check_is_fitted(self)
        return self._model.score(self._columns(X), count_threads(self.n_jobs))

    def transform_rules(self, X: Any) -> AnyArray:
        """Evaluate every term of the model on every row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_terms)
            Columns as in `rules_`: 0 or 1 for a rule, the winsorised attribute for a linear term. Scores are
            ``intercept_ + transform_rules(X) @ coef_``. Integers when all terms are rules.
        """
        check_is_fitted(self)
        values = self._model.values(self._columns(X))
        return values if any(isinstance(term, Linear) for term in self._model.terms) else values.astype(np.uint8)

    def explain(self, X: Any) -> Explanation:
        """Tell what each term added to the score of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        Explanation
            Parts that add up to the score exactly; ``explain(X)[i]`` prints the ten terms that added most on row
            ``i``, ``explain(X)[i].to_text(top=30)`` more of them, and its `sentences` tell them in words.

        Examples
        --------
        >>> from rulegrove import RuleEnsembleClassifier
        >>> from rulegrove.datasets import load
        >>> X, y = load("iris")
        >>> model = RuleEnsembleClassifier(n_candidates=60, random_state=0).fit(X, y)
        >>> explanation = model.explain(X[:2])
        >>> bool((explanation.scores == model.decision_function(X[:2])).all())
        True
        >>> explanation[0].prediction
        'Iris-setosa'
        """
        check_is_fitted(self)
        classes = tuple(self.classes_.tolist()) if hasattr(self, "classes_") else None
        return explain_rows(self._model, self._columns(X), self.rules_, classes)

    @classmethod
    def from_rules(cls, rules: Any, *, forced: bool = False, n_candidates: int = 0, **parameters: Any) -> Self:
        """Return an estimator, not yet fitted, for rules of one's own.

        Parameters
        ----------
        rules : sequence of str or Rule
            Rules in words such as ``"age > 40 and income <= 3e4"``.
        forced : bool, default=False
            Whether all of them must be in the model, which the penalty then leaves alone.
        n_candidates : int, default=0
            Rules to grow beside them.
        **parameters
            Further parameters of the estimator.

        Examples
        --------
        >>> from rulegrove import RuleEnsembleClassifier
        >>> from rulegrove.datasets import load
        >>> table = load("pima").frame()
        >>> X, y = table.drop(columns="class"), table["class"]
        >>> known = ["glucose >= 126", "mass > 30 and age > 40"]
        >>> model = RuleEnsembleClassifier.from_rules(known, forced=True, terms="rules").fit(X, y)
        >>> sorted(row.text for row in model.rules_)
        ['glucose >= 126', 'mass > 30 and age > 40']
        """
        return cls(rules=rules, force_rules=forced, n_candidates=n_candidates, **parameters)

    def __sklearn_clone__(self) -> Self:
        """Return a copy that is not fitted, but for the trees: those of a copy would not be fitted either."""
        copy: Self = super().__sklearn_clone__()
        copy.trees = self.trees
        return copy

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a model file, which `load_model` reads.

        Parameters
        ----------
        path : str or path
            Of the file, JSON as documented in ``docs/model-file.md``; one that exists is replaced, whole or not at all.
        """
        from rulegrove.estimators.model_file import save_model  # it knows the subclasses, which know this module

        save_model(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        return tags
