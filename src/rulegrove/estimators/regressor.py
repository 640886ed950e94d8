"""`RuleEnsembleRegressor`."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from rulegrove._typing import FloatArray
from rulegrove._validation import Interval, StrOptions, check_offset, check_weights
from rulegrove.estimators._base import BaseRuleEnsemble, store_parameters
from rulegrove.estimators.level import Bounded, Level, check_levels
from rulegrove.estimators.number import Number
from rulegrove.estimators.presets import OF_REGRESSOR
from rulegrove.estimators.rate import Rate
from rulegrove.estimators.settings import Settings
from rulegrove.estimators.several import Several, name_numbers
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError

POWERS = {"poisson": 1.0, "gamma": 2.0, "tweedie": None}  # of the losses of rates; None for the parameter
LOSSES = {"squared", "huber", "absolute", "quantile", *POWERS}


class RuleEnsembleRegressor(RegressorMixin, BaseRuleEnsemble):
    """Regressor made of a short, ranked list of rules and linear terms.

    Many small boosted trees are grown, and every node of every tree becomes an IF-THEN rule. A sparse path finds which
    rules matter, and a second solve gives them the coefficients of a large model. The few terms that come nearest to
    what the large model says become the list. The score of a row is the intercept plus the coefficients of the rules
    that hold plus the linear terms. It is the prediction, or its logarithm for rates (see `loss`).

    Parameters
    ----------
    preset : {"accurate", "readable", "fast"}, default=None
        What the fit should aim for. "accurate" takes more time for a lower error, "readable" keeps the list and its
        rules short, and "fast" saves time at some cost in error. A preset changes only parameters that have their
        default values. `settings_` shows what was changed; docs/guide.md has the table.
    loss : {"squared", "huber", "absolute", "quantile", "poisson", "gamma", "tweedie"}, default="squared"
        What to predict. "squared": the mean. "huber": a mean in which outliers count less. "absolute": the median.
        "quantile": the quantiles at the levels of `quantile`. "poisson" (counts), "gamma" (positive amounts) and
        "tweedie" (totals that may be 0): the mean rate, whose logarithm is the score, so a rule multiplies the rate by
        a factor.
    quantile : float or sequence of float, default=0.5
        With ``loss="quantile"``: the level of the quantile to predict, or several levels. With several, `predict` has a
        column for each, and these never cross.
    power : float, default=1.5
        With ``loss="tweedie"``: how the variance grows with the mean, from 1 (counts) to 2 (amounts).
    multioutput : {"shared", "separate"}, default="shared"
        What to do if `y` has several columns, with ``loss="squared"``. "shared": one list, in which each rule is for
        all columns. "separate": a list for each column; its terms have coefficients of 0 for the others. Columns are
        scaled by their standard deviations, so all count alike whatever their units.
    n_candidates : int, default=2000
        Number of rules to grow, or to take from `trees`, as candidates. 0 uses only your own `rules`.
    max_terms : int, "auto" or None, default="auto"
        Largest number of terms of the list. A fit first finds a large model and then, for every length, the few terms
        that come nearest to it; these lists are judged on held-out rows (`front_`). "auto" takes the shortest list
        whose error there is close to that of the best list: within one standard error of their difference, or 1 % of
        what the best one explains, whichever is more; it has at most 60 terms. A number is an upper limit: a shorter
        list is taken if it says nearly the same and does no worse. None gives the large model itself, which may be
        better. See also `shorten`.
    max_rules : int, default=None
        Largest number of different terms of the list, over all numbers together; for one number the same as
        `max_terms`.
    n_runs : int, default=1
        How many times to grow rules and solve for them, each time with other random numbers. The large model is the
        average of all runs. More runs lower the error on noisy data and take as many times as long;
        ``preset="accurate"`` has 4. `path_`, `selection_` and `candidates_` are those of the first run.
    mean_leaves : float, default=4.0
        Mean number of leaves of a tree. Each tree draws its own from 2 plus a rounded-down exponential, so most rules
        are short and a few are long.
    subsample : {"auto"}, int or float, default="auto"
        Rows that each tree sees: a count or a fraction. "auto" is half of the rows, up to 1,500 or ``100 + 6 sqrt(N)``,
        whichever is more; for rates that are mostly 0 it is larger, so that a tree sees enough rows that are not. With
        large tables, trees draw from a uniform pool of at least 65,536 rows.
    shrinkage : float, default=0.03
        How much of each tree is subtracted from the residuals that the next trees see, from 0 to 1. With 0 every tree
        sees the target itself.
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default=None
        How many attributes to try at a split: all (None), 0.3 of them but at least two ("auto"), their square root or
        logarithm, a count or a fraction. With few attributes at each split the rules differ more. If there are more
        than 1,000 attributes, trees only use the 1,000 that say most about the target by a single split.
    min_samples_leaf : int, default=5
        A rule must hold on at least this many rows of its tree's sample.
    min_impurity : float, default=0.0
        A node is not split if the variance of its residuals is no more than this.
    max_conditions : int, default=None
        Largest number of conditions of a rule, counted as the splits on the path to it.
    max_attributes : int, default=None
        Largest number of attributes that a rule uses; several conditions on one attribute count once. 1 gives a model
        without interactions, 2 one that can be drawn pair by pair.
    interactions : {"no_interactions", "pairwise"} or sequence of groups, default=None
        Which attributes a rule may combine: those of one group, ``[["age", "income"], ["height", "weight"]]``, by name
        or position. Groups may overlap, and the attributes that are in no group form one more group, as with
        scikit-learn's `interaction_cst`. So ``[["age", "income"]]`` keeps these two apart from all others. The words
        mean ``max_attributes=1`` and ``max_attributes=2``. Rules of `trees` that break the limits are left out, with a
        warning. Linear terms have one attribute and are always allowed.
    max_bins : int, default=255
        Largest number of bins of an attribute, at most 255; also the largest number of categories.
    max_correlation : float, default=0.9
        Of rules whose correlation on the training rows exceeds this, positive or negative, only the simplest becomes a
        candidate. 1 drops only exact repeats and complements. Fewer similar rules make a shorter, steadier list.
    stable : bool or float, default=False
        Whether to prefer lists that other rows of the same kind would lead to as well. Their rules have one or two
        conditions, at thresholds near nine quantiles of an attribute. Linear terms are preferred to rules, and one
        condition to two, unless the gain in fit makes up for it. A number between 0 and 1 asks for more or less of
        this. True is 0.8: a condition must then be worth five times as much as none. Add ``terms="rules"`` for rules
        alone. The large model stays the same. docs/insight.md shows how stability and error trade off.
    n_resamples : int, default=0
        Number of further lists to learn, in pairs from disjoint halves of the rows and with newly grown rules. They
        show for each term how often it comes back and how far its thresholds move: `returns` and `thresholds` of
        `rules_`. A hundred take some seconds.
    monotonic : dict or array-like of shape (n_features,), default=None
        Attributes with which the prediction may only rise (1) or only fall (-1) while everything else stays the same.
        Give them by name or position, ``{"age": 1, "income": -1}``, or as -1, 0 or 1 for each attribute. The constraint
        holds exactly, for all known values of these attributes, which must be numbers. Only with ``Glmnet``.
    terms : {"both", "rules", "linear"}, default="both"
        What the model is made of. A linear term is an attribute whose values beyond its 2.5 % and 97.5 % quantiles are
        set to these. With "both" and ``solver="auto"``, the large model has all linear terms (the strongest 100 if
        there are very many) beside the rules that matter, and held-out rows decide how much rules and lines are shrunk,
        separately. A solver that you name has one penalty for both.
    trees : object, default=None
        Fitted trees to take the rules from, instead of growing trees: a tree, forest or boosting model of scikit-learn,
        LightGBM or XGBoost, fitted on the same columns. At most `n_candidates` rules of at most `max_conditions` splits
        are taken, from all trees alike and those near the roots first; the other parameters of trees do not matter. If
        the trees saw the rows of the fit, the rules look better on held-out rows than on new ones; ``selection="auto"``
        is then "1se".
    rules : sequence of str or Rule, default=None
        Rules of your own, in words such as ``"age > 40 and income <= 3e4"``, as candidates in addition to those that
        are grown. With ``n_candidates=0`` there are no others.
    force_rules : bool, default=False
        Whether all of `rules` must be in the model, without a penalty. Needs ``Glmnet``.
    tree_loss : {"auto", "squared", "huber", "poisson", "gamma", "tweedie"}, default="auto"
        Loss whose residuals the trees are grown on. "auto" is the loss itself for rates, and the squared error
        otherwise. "huber" is linear for the tenth of the targets farthest from the median.
    categorical_features : {"auto"}, array-like or None, default="auto"
        Names, positions or mask of the categorical columns. "auto" takes the text and categorical columns of a data
        frame, None takes none.
    numeric_features : array-like or None, default=None
        Names, positions or mask of text columns to read as numbers: "35%", "$1,234" and "1 234" are numbers, and other
        words count as missing.
    identifiers : {"auto"}, array-like or None, default="auto"
        Names, positions or mask of columns to leave out. "auto" finds, in a data frame, text and consecutive whole
        numbers that differ in every row, and warns; None leaves out nothing.
    solver : {"auto", "glmnet", "spgl1", "fpc", "pathbuild"} or solver, default="auto"
        What finds the coefficients: a name, or an instance such as ``Glmnet(l1_ratio=0.9, relax=True)``,
        ``Spgl1(l1_radius=8.5)`` or ``Pathbuild(loss="huber")``. "auto" solves twice: ``Glmnet()``, the lasso, finds
        which terms matter; then their coefficients minimise the squared error, with one ridge for rules and one for
        linear terms, chosen on held-out rows. Both need only statistics of the rows. A solver that you name solves
        once. With a number as `selection`, "auto" is ``Glmnet()``, once. `settings_` shows the ridges.
    selection : {"auto", "1se", "min"} or float, default="auto"
        "min": the point of the path with the least held-out error. "1se": the sparsest point within one standard error
        of it. A number: exactly this value of what the solver varies, without cross-validation. It is a penalty
        (Glmnet, Fpc), a radius (Spgl1) or a number of steps (Pathbuild). "auto" is "1se" if folds share rules that may
        have seen the held-out rows (``honest_cv=False``, given `trees`), and "min" otherwise.
    cv : int, splitter or iterable of splits, default=5
        Folds of the cross-validation. Test folds must not overlap, and a split must train on all rows that it does not
        hold out. With `groups` in `fit`, a number of folds holds out whole groups. Larger tables do not use all folds,
        see `honest_cv`. Beyond 65,536 rows, folds and the rows from which rules are grown depend on the positions of
        the rows (docs/scale.md).
    honest_cv : bool or "auto", default="auto"
        Whether each fold grows rules of its own, without the rows that it holds out. True: the error is then unbiased,
        at some `cv` times the work. False: all folds share the rules that were grown on all rows. That costs nothing,
        but rules look better on rows they have seen than on new ones. "auto": True, but only for as many folds as hold
        out 2,000 rows together: all five below 2,500 rows, two from 5,000 rows on, one from 10,000 on. A single fold
        needs no second set of rules, since the model itself grows its rules without it. "auto" is False if all rules
        are given.
    evidence : {"split"}, default=None
        "split" tests the rules on rows that did not choose them: one half of the rows grows, chooses and weights the
        rules, and the other half tests them (whole groups stay together, and each class is split evenly). The result is
        `evidence_`. To test on rows of your own instead, give them to `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of all random choices: the rows of trees, their sizes, and the folds. The same seed gives the same model
        for any `n_jobs`.
    n_jobs : int, default=None
        Number of threads. None uses as many as OpenMP would, like scikit-learn's histogram gradient boosting; -1 uses
        all cores.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    rules_ : RuleTable
        The terms of the model, the most important first, with text, coefficient, importance, support and mean target.
        ``rules_.to_frame()`` returns a data frame.
    coef_ : ndarray of shape (n_terms,)
        Coefficients in the order of `rules_`; the scores are ``intercept_ + transform_rules(X) @ coef_``, and for
        numbers these are the predictions. They are a point of `path_` only for a solver that you name with
        ``max_terms=None``: short lists have coefficients of their own, and by default those of the large model are
        solved for again.
    intercept_ : float
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each attribute; they add up to one. The importance of a rule is shared equally among its
        attributes.
    path_ : PerOutput of Path
        The path that found which terms matter: the coefficients of all candidate terms from sparse to dense, with
        penalties, norms and duality gaps. There is one output; ``path_.gaps`` is ``path_[0].gaps``.
    selection_ : PerOutput of Selection
        The chosen point of each path with the cross-validated errors.
    solver_ : PerOutput of solvers
        The solver of the path; of ``Pathbuild(threshold="cv")`` the one with the best threshold.
    candidates_ : PerOutput of Terms
        The candidate terms, in the order of the columns of ``path_[0].coefs``. Outputs may share them.
    held_out_ : NumberFigures or None
        R squared and root mean squared error on held-out rows (10,000 at most), beside the standard deviation of the
        target; None without cross-validation. ``held_out_.honest`` says whether the rules were grown without these
        rows, as they are unless ``honest_cv=False`` or `trees` are given.
    front_ : Front or None
        The large model and lists of every length with their errors on held-out rows; `shorten` makes a model of each.
        None for a model from an older file, or from statistics.
    evidence_ : RuleEvidence or None
        With ``evidence="split"``, or test rows given to `fit`: how each rule does on rows that did not choose it, and
        which rules are established and which are suggestions; ``print(evidence_.to_text())``.
    edits_ : Edits or None
        What was changed by hand, if the model comes from `edit`.
    settings_ : dict
        What was used for parameters that "auto" or a `preset` left open. After a second solve, ``settings_["ridge"]``
        has the ridges of rules and of linear terms, in units of the variance of each term.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Only when X has column names.

    See Also
    --------
    RuleEnsembleClassifier : The same for classes.

    References
    ----------
    Friedman, Popescu (2008). "Predictive learning via rule ensembles". Annals of Applied Statistics 2(3).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_friedman1
    >>> from rulegrove import RuleEnsembleRegressor
    >>> X, y = make_friedman1(500, random_state=0)
    >>> model = RuleEnsembleRegressor(n_candidates=200, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.8
    True
    >>> int(model.feature_importances_.argmax())
    3

    How well it did on held-out rows:

    >>> 0.7 < model.held_out_.r2 < model.score(X, y)
    True

    A short list of short rules, with the other settings of a preset:

    >>> readable = RuleEnsembleRegressor(preset="readable", n_candidates=200, max_terms=8, random_state=0).fit(X, y)
    >>> len(readable.rules_) <= 8, "max_terms" in readable.settings_
    (True, False)

    Predictions that never fall as the fourth attribute rises:

    >>> model = RuleEnsembleRegressor(n_candidates=200, monotonic={3: 1}, random_state=0).fit(X, y)
    >>> along = X[0].repeat(50).reshape(10, 50).T.copy()
    >>> along[:, 3] = np.linspace(-1, 2, 50)
    >>> bool((np.diff(model.predict(along)) >= 0).all())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseRuleEnsemble._parameter_constraints,
        "loss": [StrOptions(LOSSES)],
        "quantile": [Interval(Real, 0, 1, closed="neither"), "array-like"],
        "power": [Interval(Real, 1, 2, closed="both")],
        "multioutput": [StrOptions({"shared", "separate"})],
        "tree_loss": [StrOptions({"auto", "squared", "huber", *POWERS})],
    }

    _presets = OF_REGRESSOR

    def __init__(
        self,
        *,
        preset: str | None = None,
        loss: str = "squared",
        quantile: Any = 0.5,
        power: float = 1.5,
        multioutput: str = "shared",
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

    def make_target(self) -> Target:
        """Return the kind of target."""
        if self.loss in POWERS:
            return Rate(power=float(POWERS[self.loss] or self.power))
        if self.loss in {"quantile", "absolute"}:
            return Level(levels=check_levels(self.quantile) if self.loss == "quantile" else (0.5,), name=self.loss)
        return Bounded() if self.loss == "huber" else Number()

    def read_parameters(self, y: Any = None) -> tuple[Settings, Target]:
        """Check the parameters and return what they ask of a fit to `y`, with the preset applied."""
        settings, target = super().read_parameters(y)
        names = name_numbers(y)
        if names and self.loss != "squared":
            raise InvalidInputError(
                f"loss={self.loss!r} supports one number only; got a y of the shape {np.shape(y)}. Fit each column "
                "separately, as scikit-learn's MultiOutputRegressor does, or use loss='squared'."
            )
        return settings, self._make_several(names) if names else target

    def _make_several(self, names: tuple[str, ...]) -> Several:
        """Return the target of several numbers."""
        return Several(names=names, shared=self.multioutput == "shared")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss in POWERS
        tags.target_tags.multi_output = self.loss == "squared"
        return tags

    def recall_target(self) -> Target:
        """Return the target as the fit has left it, or as `make_target` does before any fit."""
        names = self.model_.numbers if "model_" in vars(self) else ()
        return self._make_several(names) if names else self.make_target()

    def predict(self, X: Any, *, exposure: Any = None, offset: Any = None) -> FloatArray:
        """Predict the target.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        exposure : array-like of shape (n_samples,), optional
            How much each row stands for; without it, predictions are rates.
        offset : array-like of shape (n_samples,), optional
            What is known to add to the score of each row.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_numbers)
        """
        scores = self._scores(X)
        known = check_offset(exposure, offset, len(scores), log_link=self.make_target().log_link)
        if known is not None:
            scores = scores + (known if scores.ndim == 1 else known[:, None])
        return self.model_.decide(scores)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None, offset: Any = None) -> float:
        """Return the share of the loss that is explained: R squared, or D squared for rates and quantiles.

        For several numbers it is the mean of their R squared.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_numbers)
            Totals, if there is an exposure.
        sample_weight : array-like of shape (n_samples,), optional
        exposure, offset
            As in `fit`.

        Returns
        -------
        float
            One minus the loss of the predictions divided by the loss of the best constant: of squared errors, deviances
            for rates, or pinball losses for quantiles.
        """
        predicted, target = self.predict(X), self.recall_target()
        observed = target.check_observed(y, len(predicted))
        weights = check_weights(sample_weight, len(predicted))
        known = check_offset(exposure, offset, len(predicted), log_link=target.log_link)
        if known is not None:
            observed, weights = target.take_offset(observed, weights, known)
        return target.compare(observed, predicted, np.ones(len(predicted)) if weights is None else weights).score
