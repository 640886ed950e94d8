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

    Many small boosted trees are grown, every node of every tree becomes an IF-THEN rule, and a sparse path finds which
    rules matter. Solved for once more, they make a large model. Its few terms that come nearest to what it says become
    the list. A prediction is the intercept plus the coefficients of the rules that hold plus the linear terms.

    Parameters
    ----------
    preset : {"accurate", "readable", "fast"}, default=None
        What the fit is to aim for, wherever you leave a parameter at its default: "accurate" takes more time for a
        lower error, "readable" keeps the list and its rules short, and "fast" saves time at some cost in error. Any
        value of yours other than the default wins. `settings_` tells what was changed; docs/guide.md has the table.
    loss : {"squared", "huber", "absolute", "quantile", "poisson", "gamma", "tweedie"}, default="squared"
        What to predict. "squared": the mean. "huber": a mean in which outliers count less. "absolute": the median.
        "quantile": the quantiles at the levels of `quantile`. "poisson" (counts), "gamma" (positive amounts) and
        "tweedie" (totals that may be 0): the mean rate; its logarithm is the score, so a rule multiplies the rate by a
        factor.
    quantile : float or sequence of float, default=0.5
        With ``loss="quantile"``: the level of the quantile to predict, or several levels. With several, `predict` has a
        column for each, and these never cross.
    power : float, default=1.5
        With ``loss="tweedie"``: how the variance grows with the mean, from 1 (counts) to 2 (amounts).
    multioutput : {"shared", "separate"}, default="shared"
        What to do when `y` has several columns, with ``loss="squared"``. "shared": one list, in which each rule is for
        all columns. "separate": a list for each column; its terms have coefficients of 0 for the others. Either way
        columns are scaled by their standard deviations, so that all count alike, whatever their units.
    n_candidates : int, default=2000
        Number of rules to grow, or to take from `trees`, as candidates. 0 uses only your own `rules`.
    max_terms : int, "auto" or None, default="auto"
        Most terms of the list. A fit first finds a large model and then, for every length, the few terms that come
        nearest to it; these lists are judged on held-out rows (`front_`). "auto" takes the shortest list whose squared
        error there is at most one standard error of their difference above that of the best list, or 1 % of what the
        best one explains, if that is more; it has at most 60 terms. A number is an upper limit: a shorter list is taken
        if it says nearly the same and does no worse. None gives the large model itself, which may be better. See also
        `shorten`.
    max_rules : int, default=None
        Most different terms of the list; the same as `max_terms` for one number: what there is to read.
    n_runs : int, default=1
        How many times to grow rules and solve for them, each time with other random numbers. The large model is the
        average of all runs. More runs lower the error of noisy data and take as many times as long;
        ``preset="accurate"`` takes 4. `path_`, `selection_` and `candidates_` are those of the first run.
    mean_leaves : float, default=4.0
        Mean number of leaves of a tree. Each tree draws its own from 2 plus a rounded-down exponential, so most rules
        are short and a few are long.
    subsample : {"auto"}, int or float, default="auto"
        Rows a tree sees: a count, a fraction, or half of the rows but no more than 1,500 or ``100 + 6 sqrt(N)``,
        whichever is more; of rates that are mostly 0, as many more as it takes to see so many that are not. Large
        tables: trees draw from a uniform pool of at least 65,536 rows.
    shrinkage : float, default=0.03
        How much of each tree is taken off the residuals that the next trees see, from 0 to 1. With 0 every tree sees
        the target itself.
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default=None
        How many attributes to try at a split: all (None), 0.3 of them but at least two ("auto"), their square root or
        logarithm, a count or a fraction. With few attributes at each split the rules differ more. If there are more
        than 1,000 attributes, trees only use the 1,000 that say most about the target by a single split.
    min_samples_leaf : int, default=5
        A rule must hold on at least this many rows of its tree's sample.
    min_impurity : float, default=0.0
        A node is not split if the variance of its residuals is no more than this.
    max_conditions : int, default=None
        Most conditions of a rule: the splits on the way to it.
    max_attributes : int, default=None
        Most attributes that a rule is about; several conditions on one attribute count once. 1 gives a model without
        interactions, 2 one that can be drawn pair by pair.
    interactions : {"no_interactions", "pairwise"} or sequence of groups, default=None
        Which attributes rules may be about together: those of a group, ``[["age", "income"], ["height", "weight"]]``,
        by name or position. Groups may overlap, and attributes that are in none are one more group together, as with
        scikit-learn's `interaction_cst`; so ``[["age", "income"]]`` keeps these two apart from all others. The words
        say ``max_attributes=1`` and ``max_attributes=2``. Rules of `trees` that do not fit are left out, and told in a
        warning. Linear terms have one attribute and are always allowed.
    max_bins : int, default=255
        Most bins of an attribute, at most 255; also the most categories.
    max_correlation : float, default=0.9
        Of rules whose correlation on the training rows is above this, positive or negative, only the simplest is a
        candidate. 1 drops only exact repeats and complements. Fewer look-alikes make a shorter, steadier list.
    stable : bool or float, default=False
        Whether to prefer lists that other rows of the same kind would lead to as well. Their rules have one or two
        conditions, at thresholds near nine quantiles of an attribute. Simple terms come first, linear terms before
        rules and one condition before two, unless the gain in fit makes up for it. A number between 0 and 1 asks for
        more or less of this. True is 0.8: a condition must then be worth five times as much as none. ``terms="rules"``
        has rules alone. The large model stays the same. docs/insight.md shows how stability and error trade off.
    n_resamples : int, default=0
        How many lists to learn again, in pairs from disjoint halves of the rows and with rules of their own. They tell
        for each term how often it comes back and how far its thresholds move: `returns` and `thresholds` of `rules_`. A
        hundred take seconds.
    monotonic : dict or array-like of shape (n_features,), default=None
        Attributes with which the prediction may only rise (1) or only fall (-1) when all else stays the same. Give them
        by name or position, ``{"age": 1, "income": -1}``, or as -1, 0 or 1 for each attribute. This holds exactly, for
        all known values of these attributes, which must be numbers. Only with ``Glmnet``.
    terms : {"both", "rules", "linear"}, default="both"
        What the model is made of. A linear term is an attribute whose values beyond its 2.5 % and 97.5 % quantiles are
        set to these. With "both" and ``solver="auto"``, all linear terms (the strongest 100 if there are very many)
        stand beside the rules that matter, and held-out rows decide how much rules and lines are shrunk, each on their
        own. A solver that you name has one penalty for both.
    trees : object, default=None
        Fitted trees to take the rules from in place of growing some: a tree, forest or boosting of scikit-learn,
        LightGBM or XGBoost, fitted on the same columns. At most `n_candidates` rules of at most `max_conditions`
        splits, from all trees alike and those near the roots first; the other parameters of trees do not matter. If
        the trees saw the rows of the fit, the rules look better on held-out rows than on new ones; "auto" as
        `selection` is then "1se".
    rules : sequence of str or Rule, default=None
        Rules of your own that stand beside the others, in words such as ``"age > 40 and income <= 3e4"``. With
        ``n_candidates=0`` there are no others.
    force_rules : bool, default=False
        Whether all of `rules` must be in the model: no penalty is on them. Needs ``Glmnet``.
    tree_loss : {"auto", "squared", "huber", "poisson", "gamma", "tweedie"}, default="auto"
        Loss whose residuals the trees are grown on; "auto" is that of a rate for rates, and the squared error for all
        else. "huber" is linear for the tenth of the targets farthest from the median.
    categorical_features : {"auto"}, array-like or None, default="auto"
        Names, positions or mask of the categorical columns. "auto" takes the text and categorical columns of a data
        frame, None takes none.
    numeric_features : array-like or None, default=None
        Names, positions or mask of text columns to read as numbers: "35%", "$1,234" and "1 234" are numbers, and words
        that are none count as missing.
    identifiers : {"auto"}, array-like or None, default="auto"
        Names, positions or mask of columns to leave out. "auto" finds, in a data frame, text and consecutive whole
        numbers that differ in every row, and warns; None leaves out nothing.
    solver : {"auto", "glmnet", "spgl1", "fpc", "pathbuild"} or solver, default="auto"
        What finds the coefficients: a name, or an instance such as ``Glmnet(l1_ratio=0.9, relax=True)``,
        ``Spgl1(l1_radius=8.5)`` or ``Pathbuild(loss="huber")``. "auto" solves twice: ``Glmnet()``, the lasso, finds
        which terms matter; then their coefficients are those of the least squared error, with one ridge for rules and
        one for linear terms that held-out rows choose. Both need no rows but their statistics. A solver that is named
        solves once. With a number as `selection` "auto" is ``Glmnet()``, once. `settings_` tells the ridges.
    selection : {"auto", "1se", "min"} or float, default="auto"
        Which point of the path to take. "min": the one with the least held-out error. "1se": the sparsest one within
        one standard error of that. A number, without cross-validation: exactly this value of what the solver varies,
        which is a penalty (Glmnet, Fpc), a radius (Spgl1) or a number of steps (Pathbuild). "auto" is "1se" where folds
        share rules that may have seen the held-out rows (``honest_cv=False``, given `trees`), and "min" otherwise.
    cv : int, splitter or iterable of splits, default=5
        Folds of the cross-validation. Test folds must not overlap, and a split trains on all rows that it does not hold
        out. With `groups` in `fit` a number of folds holds out whole groups. Of a larger
        table not all folds are used, see `honest_cv`. Beyond 65,536 rows a number of folds is dealt out by the
        positions of the rows, and rules are grown from rows drawn by these (docs/scale.md).
    honest_cv : bool or "auto", default="auto"
        Whether each fold grows rules of its own, without the rows that it holds out. True: it does, so the error is
        unbiased, at about `cv` times the work. False: all folds share the rules that were grown on all rows. That costs
        nothing, but rules look better on rows they have seen than on new ones. "auto": True, but only for as many folds
        as hold out 2,000 rows together: all five below 2,500 rows, two from 5,000 rows on, one from 10,000 on. Where
        there is one, the rules of the model itself are grown without it. It is False where all rules are given.
    evidence : {"split"}, default=None
        "split" tests the rules on rows that did not choose them: one half of the rows grows, chooses and weights the
        rules, the other half only counts (whole groups stay together, and each class is split alike). The result is
        `evidence_`. To test on rows of your own instead, give them to `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed for all that is random: the rows of trees, their sizes, and the folds. The same seed gives the same model
        for any `n_jobs`.
    n_jobs : int, default=None
        Number of threads. None takes as many as OpenMP would, like scikit-learn's histogram gradient boosting; -1 takes
        all cores.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    rules_ : RuleTable
        The terms of the model, the most important first, with text, coefficient, importance, support and
        mean target. ``rules_.to_frame()`` gives a data frame.
    coef_ : ndarray of shape (n_terms,)
        Coefficients in the order of `rules_`; ``intercept_ + transform_rules(X) @ coef_`` are the predictions. Those of
        a list follow the large model, and those of the large model are solved for once more by default, so neither are
        a point of `path_`; with a solver that is named and ``max_terms=None`` they are.
    intercept_ : float
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each attribute: a rule's is shared equally among its attributes; they add up to one.
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
        R squared and root mean squared error on rows of the folds that were held out (10,000 of them at most), beside
        the standard deviation of the target; None without cross-validation. ``held_out_.honest`` tells whether the
        rules were grown without these rows, as they are unless ``honest_cv=False`` or `trees` are given.
    front_ : Front or None
        The large model and lists of every length with their errors on held-out rows; `shorten` makes a model of each.
        None for a model from an older file, or from statistics.
    evidence_ : RuleEvidence or None
        With ``evidence="split"``, or rows of their own given to `fit`: how each rule does on rows that did not choose
        it, which rules are established and which are suggestions; ``print(evidence_.to_text())``.
    edits_ : Edits or None
        What people changed of the list, if it comes from `edit`.
    settings_ : dict
        Parameters that were left to be settled, by "auto" or by a `preset`, with what was used. After a second solve
        ``settings_["ridge"]`` has the ridges of rules and of linear terms, in units of the variance of each term.
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

    How well it did on rows that its folds held out:

    >>> 0.7 < model.held_out_.r2 < model.score(X, y)
    True

    A short list of short rules, with all else as a preset has it:

    >>> readable = RuleEnsembleRegressor(preset="readable", n_candidates=200, max_terms=8, random_state=0).fit(X, y)
    >>> len(readable.rules_) <= 8, "max_terms" in readable.settings_
    (True, False)

    Predictions that never fall as the fourth attribute rises, whatever the others are:

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
                f"loss={self.loss!r} is for one number; got a y of the shape {np.shape(y)}. Fit each column by itself, "
                "as scikit-learn's MultiOutputRegressor does, or take loss='squared'."
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
            For how much each row stands; without it predictions are rates.
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
        """Return the share of the loss that is explained: R squared, but D squared of rates and quantiles.

        Of several numbers it is the mean of their R squared.

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
            One minus the loss of the predictions over that of the best single number, both of which have the
            factor of the loss as it is usual: deviances of rates, pinball losses of quantiles.
        """
        predicted, target = self.predict(X), self.recall_target()
        observed = target.check_observed(y, len(predicted))
        weights = check_weights(sample_weight, len(predicted))
        known = check_offset(exposure, offset, len(predicted), log_link=target.log_link)
        if known is not None:
            observed, weights = target.take_offset(observed, weights, known)
        return target.compare(observed, predicted, np.ones(len(predicted)) if weights is None else weights).score
