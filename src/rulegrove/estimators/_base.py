"""What the classifier and the regressor share: parameters, fitted attributes, predictions."""

import copy
import os
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from rulegrove._typing import AnyArray, FloatArray
from rulegrove._validation import (
    HasMethods,
    Interval,
    RealNotInt,
    StrOptions,
    check_features,
    check_parameters,
    count_threads,
)
from rulegrove.columns import Columns, as_table, count_rows, encode_columns, is_frame, list_names
from rulegrove.design.terms import Linear, Terms
from rulegrove.estimators._in_memory import TableInMemory
from rulegrove.estimators._judging_rules import examine
from rulegrove.estimators._limits import SHORTHANDS
from rulegrove.estimators._observed import read_observed
from rulegrove.estimators._splitting import ApartRows, split_rows, take_given
from rulegrove.estimators.edits import Edits
from rulegrove.estimators.evidence import RuleEvidence
from rulegrove.estimators.explanation import Explanation, explain_rows
from rulegrove.estimators.figures import Figures
from rulegrove.estimators.front import Front, need_front
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.outputs import PerOutput
from rulegrove.estimators.pipeline import Fit, fit_source
from rulegrove.estimators.presets import NAMES, Presets, find_settings, settle_preset
from rulegrove.estimators.rule_table import RuleTable
from rulegrove.estimators.settings import Settings
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError
from rulegrove.selection import Selection
from rulegrove.solvers import SOLVERS, Path, Solver

if TYPE_CHECKING:
    from rulegrove.editing import EditSession

M = TypeVar("M", bound="BaseRuleEnsemble")


def store_parameters(estimator: BaseEstimator, parameters: Mapping[str, Any]) -> None:
    """Set the parameters of a constructor, which are its ``locals()``, as attributes."""
    vars(estimator).update({name: value for name, value in parameters.items() if name not in {"self", "__class__"}})


def set_fitted(estimator: BaseEstimator, learned: Mapping[str, Any]) -> None:
    """Replace all fitted attributes in one step, so that nothing of an earlier fit is left; all others stay."""
    kept = {name: value for name, value in vars(estimator).items() if name.startswith("_") or not name.endswith("_")}
    estimator.__dict__ = {**kept, **learned}


def name_columns(names: AnyArray | None, n_columns: int) -> dict[str, Any]:
    """Return the fitted attributes by which scikit-learn knows columns; names only where the table has some."""
    return {"n_features_in_": n_columns, **({} if names is None else {"feature_names_in_": names})}


class BaseRuleEnsemble(BaseEstimator):
    """Rules from boosted trees with the coefficients of a sparse fit; the target comes from the subclass."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "preset": [StrOptions(set(NAMES)), None],
        "n_candidates": [Interval(Integral, 0, None, closed="left")],
        "max_terms": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"}), None],
        "max_rules": [Interval(Integral, 0, None, closed="left"), None],
        "n_runs": [Interval(Integral, 1, None, closed="left")],
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
        "max_attributes": [Interval(Integral, 1, None, closed="left"), None],
        "interactions": [StrOptions(set(SHORTHANDS)), "array-like", None],
        "max_bins": [Interval(Integral, 2, 255, closed="both")],
        "max_correlation": [Interval(Real, 0, 1, closed="right")],
        "n_resamples": [Interval(Integral, 0, None, closed="left")],
        "stable": ["boolean", Interval(Real, 0, 1, closed="neither")],
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
        "evidence": [StrOptions({"split"}), None],
        "random_state": ["random_state"],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right"), None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        preset: str | None = None,
        n_candidates: int = 2000,
        max_terms: int | str | None = "auto",
        max_rules: int | None = None,
        n_runs: int = 1,
        mean_leaves: float = 4.0,
        subsample: Any = "auto",
        shrinkage: float = 0.03,
        max_features: Any = None,
        min_samples_leaf: int = 5,
        min_impurity: float = 0.0,
        max_conditions: int | None = None,
        max_attributes: int | None = None,
        interactions: Any = None,
        max_bins: int = 255,
        max_correlation: float = 0.9,
        stable: bool | float = False,
        n_resamples: int = 0,
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
        evidence: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        store_parameters(self, locals())

    _presets: ClassVar[Presets]  # what each changes
    model_: RuleModel
    rules_: RuleTable
    coef_: FloatArray
    intercept_: float | FloatArray
    feature_importances_: FloatArray
    path_: PerOutput[Path]
    selection_: PerOutput[Selection]
    solver_: PerOutput[Solver]
    candidates_: PerOutput[Terms]
    held_out_: Figures | None
    front_: Front | None
    evidence_: RuleEvidence | None
    edits_: Edits | None
    settings_: dict[str, Any]

    @abstractmethod
    def make_target(self) -> Target:
        """Return the kind of target, with the parameters that concern it."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        evidence: Any = None,
        *,
        exposure: Any = None,
        offset: Any = None,
    ) -> Self:
        """Fit the model: grow rules, solve for their coefficients, and keep the best few.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            NumPy array, pandas, polars or Arrow table. Missing values are allowed, infinite ones are not.
        y : array-like of shape (n_samples,)
            The target. For the regressor with ``loss="squared"`` it may have several columns, an array-like or data
            frame of shape (n_samples, n_numbers).
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights; rows of weight zero are left out.
        groups : array-like of shape (n_samples,), optional
            Rows that belong together, such as those of one patient: no fold of the cross-validation holds out a part of
            a group. If `cv` is a number, whole groups are assigned to folds, with the classes as even as possible. A
            splitter such as ``GroupKFold()`` receives the groups.
        evidence : tuple of (X, y) or (X, y, sample_weight), optional
            Separate rows on which the rules are tested, for `evidence_`. Nothing is learned from them.
        exposure : array-like of shape (n_samples,), optional
            How much each row stands for, such as years at risk; more than 0. `y` is then a total, and the model
            predicts rates, ``y / exposure``. For the losses "poisson", "gamma" and "tweedie" of the regressor.
        offset : array-like of shape (n_samples,), optional
            A known part of the score of each row, for the regressor. With the losses above, ``offset=log(e)`` means the
            same as ``exposure=e``. Predictions leave it out unless you give it again.

        Returns
        -------
        self
            The fitted estimator.
        """
        settings, target = self.read_parameters(y)
        if evidence is not None and (exposure is not None or offset is not None):
            raise InvalidInputError(
                "Separate rows as `evidence` cannot have `exposure` or `offset`; use evidence='split', or test the "
                "fitted rules with `rulegrove.inspection.rule_evidence`."
            )
        if self.evidence is not None and y is not None:
            known = read_observed(target, y, count_rows(as_table(X)), sample_weight, exposure, offset)
            (y, sample_weight), exposure, offset = known, None, None
        apart = self.set_apart(X, y, sample_weight, groups, evidence, target)
        weights = sample_weight if apart is None else apart.learned_weights
        source = TableInMemory(
            X, y, weights, groups, target=target, settings=settings, exposure=exposure, offset=offset
        )
        found = fit_source(source, target, settings)
        self.take_over(found, evidence_=None if apart is None else self.count_apart(found, apart))
        return self

    def set_apart(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, evidence: Any, target: Target
    ) -> ApartRows | None:
        """Return rows that are only counted; None where all are learned from."""
        if evidence is not None and self.evidence is not None:
            raise InvalidInputError(
                f"evidence={self.evidence!r} sets rows of X apart, but `fit` was also given other rows as `evidence`; "
                "choose one of the two."
            )
        if evidence is not None or self.evidence is not None:
            target.check_evidence()
        if evidence is not None:
            return take_given(evidence, X, sample_weight)
        if self.evidence is None or y is None:
            return None
        return split_rows(X, y, sample_weight, groups, target, self.random_state)

    def count_apart(self, fit: Fit, apart: ApartRows) -> RuleEvidence:
        """Return what rows that were set apart say of the rules of a fit."""
        fitted = copy.copy(self)
        fitted.take_over(fit)
        return examine(fitted, *apart.counted, apart.asking)

    def recall_target(self) -> Target:
        """Return the target as the fit has left it, or as `make_target` does before any fit."""
        return self.make_target()

    def recall_large_target(self) -> Target:
        """Return the target as the fit has left it for the large model, whichever list the estimator has become."""
        target, front = self.recall_target(), vars(self).get("front_")
        return target if front is None else replace(target, fitted_link=front[-1].link)

    def read_parameters(self, y: Any = None) -> tuple[Settings, Target]:
        """Check the parameters and return what they ask of a fit to `y`, with the preset applied."""
        check_parameters(self)
        settled = settle_preset(self)
        return Settings.of(settled), settled.make_target()

    def take_over(self, fit: Fit, **more: Any) -> None:
        """Become what a fit has found, in one step; nothing of an earlier fit is left.

        Parameters
        ----------
        fit : Fit
        **more
            Further fitted attributes.
        """
        set_fitted(self, {**self._learn(fit), "settings_": {**find_settings(self), **fit.settled}, **more})

    def _learn(self, fit: Fit) -> dict[str, Any]:
        """Return the fitted attributes of a fit."""
        return {
            "model_": fit.model,
            "rules_": fit.rules,
            "coef_": fit.model.coefs,
            "intercept_": fit.model.intercept,
            "feature_importances_": fit.feature_importances,
            "path_": fit.paths,
            "selection_": fit.selections,
            "solver_": fit.solvers,
            "candidates_": fit.candidates,
            "held_out_": fit.held_out,
            "front_": fit.front,
            "evidence_": None,
            "edits_": None,
            **name_columns(fit.names, fit.n_columns),
        }

    def recall_fit(self) -> Fit:
        """Return what the fit has found, as far as the estimator keeps it."""
        check_is_fitted(self)
        names = vars(self).get("feature_names_in_")
        return Fit(
            model=self.model_,
            rules=self.rules_,
            feature_importances=self.feature_importances_,
            paths=self.path_,
            selections=self.selection_,
            solvers=self.solver_,
            candidates=self.candidates_,
            target=self.recall_target(),
            settled=self.settings_,
            held_out=self.held_out_,
            names=names,
            n_columns=self.n_features_in_,
            pools=(),
            front=self.front_,
        )

    def shorten(self, max_terms: int | str | None = "auto", *, max_rules: int | None = None) -> Self:
        """Return a model of another length from the same fit, without the data.

        Its predictions equal those of a fit with the same `max_terms`, `max_rules` and `random_state` bit for bit. It
        has its own calibration, supports and held-out figures. Its `evidence_` is None, because the rows that tested
        the list are not kept; to test a list of another length, fit with that length.

        Parameters
        ----------
        max_terms : int, "auto" or None, default="auto"
            Largest number of terms of the list, per class if there are more than two, as in the constructor.
        max_rules : int, optional
            Largest number of different terms, over all classes together.

        Returns
        -------
        estimator
            A new, fitted estimator.

        Examples
        --------
        >>> from rulegrove import RuleEnsembleClassifier
        >>> from rulegrove.datasets import load
        >>> X, y = load("pima")
        >>> model = RuleEnsembleClassifier(n_candidates=200, max_terms=None, random_state=0).fit(X, y)
        >>> short = model.shorten(max_terms=5)
        >>> len(short.rules_) <= 5 < len(model.rules_)
        True
        """
        fit = self.recall_fit()
        need_front(fit.front, type(self).__name__)
        new: Self = clone(self).set_params(max_terms=max_terms, max_rules=max_rules)
        check_parameters(new)
        short = fit.shorten(max_terms, max_rules)
        same = short.front is not None and fit.front is not None and short.front.chosen == fit.front.chosen
        new.take_over(short, evidence_=self.evidence_ if same else None)
        return new

    def edit(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        exposure: Any = None,
        offset: Any = None,
    ) -> "EditSession":
        """Open a session to edit the list: drop, replace, round, merge, add or fix terms.

        Parameters
        ----------
        X, y, sample_weight, groups, exposure, offset : optional
            Rows, as in `fit`, for example those of the fit. They are counted once; from the counts come the weights and
            the cost of every edit. The model keeps none of them. Without rows you can only drop terms, forbid
            attributes and fix weights; all other weights stay as they were fitted.

        Returns
        -------
        EditSession
            Its method `finish` returns the edited model; this model does not change.

        Examples
        --------
        >>> from rulegrove import RuleEnsembleClassifier
        >>> from rulegrove.datasets import load
        >>> X, y = load("pima", return_X_y=True)
        >>> model = RuleEnsembleClassifier(n_candidates=200, max_terms=5, random_state=0).fit(X, y)
        >>> edit = model.edit(X, y)
        >>> _ = edit.drop(3, note="makes no medical sense")
        >>> len(edit.finish().rules_) == len(model.rules_) - 1
        True
        """
        from rulegrove.editing import EditSession  # which is made of estimators

        check_is_fitted(self)
        return EditSession(self, X, y, sample_weight, groups, exposure=exposure, offset=offset)

    def read_columns(self, X: Any) -> Columns:
        """Read a table to predict on: the columns of the fit in their order, or by name at least those in use."""
        table, model = as_table(X), self.model_
        few = is_frame(table) and hasattr(self, "feature_names_in_") and table.shape[1] < len(model.names)
        if not (few and set(model.used_names) <= set(list_names(table)) < set(model.names)):
            check_features(self, table, reset=False)
        return encode_columns(table, model.features, model.names, warn=True)

    def _scores(self, X: Any) -> FloatArray:
        """Return the score F of every row."""
        check_is_fitted(self)
        return self.model_.score(self.read_columns(X), count_threads(self.n_jobs))

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
        values = self.model_.values(self.read_columns(X))
        return values if any(isinstance(term, Linear) for term in self.model_.terms) else values.astype(np.uint8)

    def explain(self, X: Any) -> Explanation:
        """Explain predictions: what each term added to the score of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        Explanation
            Parts that add up to the score exactly. ``explain(X)[i]`` prints the ten terms that added most for row
            ``i``, ``explain(X)[i].to_text(top=30)`` prints more of them, and `sentences` has them in words.

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
        return explain_rows(self.model_, self.read_columns(X), self.rules_)

    @classmethod
    def from_rules(cls, rules: Any, *, forced: bool = False, n_candidates: int = 0, **parameters: Any) -> Self:
        """Return an estimator, not yet fitted, for rules of your own.

        Parameters
        ----------
        rules : sequence of str or Rule
            Rules in words such as ``"age > 40 and income <= 3e4"``.
        forced : bool, default=False
            Whether all of them must be in the model, without a penalty.
        n_candidates : int, default=0
            Number of rules to grow in addition.
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


def fit_chosen(model: M, X: Any, y: Any, sample_weight: Any = None) -> M:
    """Fit a model whose front nobody will read: lists are made only where the model is to be one of them.

    They take most of the time of a small fit. The model is that of `fit`, without `front_` and `held_out_` if it is the
    large one.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        Fitted in place.
    X, y, sample_weight
        As in `BaseRuleEnsemble.fit`.
    """
    settings, target = model.read_parameters(y)
    source = TableInMemory(X, y, sample_weight, target=target, settings=settings)
    lists = settings.max_terms is not None or settings.max_rules is not None
    model.take_over(fit_source(source, target, settings, lists=lists))
    return model
