"""`RuleEnsembleClassifier`."""

from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.base import ClassifierMixin

from rulegrove._typing import AnyArray, FloatArray
from rulegrove._validation import StrOptions
from rulegrove.estimators._base import BaseRuleEnsemble, store_parameters
from rulegrove.estimators._sampling import TargetCode
from rulegrove.estimators.calibration import Link
from rulegrove.estimators.classes import TREE_LOSSES, Classes
from rulegrove.estimators.pipeline import Fit
from rulegrove.estimators.presets import OF_CLASSIFIER


class RuleEnsembleClassifier(ClassifierMixin, BaseRuleEnsemble):
    """Classifier made of a short, ranked list of rules and linear terms.

    Many small boosted trees are grown, and every node of every tree becomes an IF-THEN rule. A sparse path finds which
    rules matter, and a second solve gives them the coefficients of a large model. The few terms that come nearest to
    what the large model says become the list. The score F of a row is the intercept plus the coefficients of the rules
    that hold plus the linear terms, and estimates the log odds of the second class. There is one exception: a large
    model (``max_terms=None``) that is solved for only once (see `solver`), by another loss than the logistic one, has
    scores that estimate ``2 P(second class) - 1``.

    Parameters
    ----------
    preset : {"accurate", "readable", "fast"}, default=None
        What the fit should aim for. "accurate" takes more time for a lower error, "readable" keeps the list and its
        rules short, and "fast" saves time at some cost in error. A preset changes only parameters that have their
        default values. `settings_` shows what was changed; docs/guide.md has the table.
    n_candidates : int, default=2000
        Number of rules to grow, or to take from `trees`, as candidates. 0 uses only your own `rules`.
    max_terms : int, "auto" or None, default="auto"
        Largest number of terms of the list, per class if there are more than two. A fit first finds a large model and
        then, for every length, the few terms that come nearest to it; these lists are judged on held-out rows
        (`front_`). "auto" takes the shortest list whose log loss there is close to that of the best list: within one
        standard error of their difference, or 1 % of what the best one explains, whichever is more; it has at most 60
        terms per class. A number is an upper limit: a shorter list is taken if it says nearly the same and does no
        worse. None gives the large model itself, which may be better. See also `shorten`.
    max_rules : int, default=None
        Largest number of different terms of the list, over all classes together.
    n_runs : int, default=1
        How many times to grow rules and solve for them, each time with other random numbers. The large model is the
        average of all runs. More runs lower the error on noisy data and take as many times as long;
        ``preset="accurate"`` has 4. `path_`, `selection_` and `candidates_` are those of the first run.
    mean_leaves : float, default=6.0
        Mean number of leaves of a tree. Each tree draws its own from 2 plus a rounded-down exponential, so most rules
        are short and a few are long.
    subsample : {"auto"}, int or float, default="auto"
        Rows that each tree sees: a count or a fraction. "auto" is half of the rows, up to 1,500 or ``100 + 6 sqrt(N)``,
        whichever is more. With large tables, trees draw from a uniform pool of at least 65,536 rows.
    shrinkage : float, default=0.03
        How much of each tree is subtracted from the residuals that the next trees see, from 0 to 1. With 0 every tree
        sees the target itself.
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default="auto"
        How many attributes to try at a split: 0.3 of them but at least two ("auto"), their square root or logarithm, a
        count, a fraction, or all (None). With few attributes at each split the rules differ more. If there are more
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
        Attributes with which the score of the second class may only rise (1) or only fall (-1) while everything else
        stays the same. Give them by name or position, ``{"age": 1, "income": -1}``, or as -1, 0 or 1 for each
        attribute. The constraint holds exactly, for all known values of these attributes, which must be numbers. Only
        for two classes, and with ``Glmnet``.
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
        is then "1se". One pool of rules serves all classes.
    rules : sequence of str or Rule, default=None
        Rules of your own, in words such as ``"age > 40 and income <= 3e4"``, as candidates in addition to those that
        are grown. With ``n_candidates=0`` there are no others.
    force_rules : bool, default=False
        Whether all of `rules` must be in the model, without a penalty. Needs ``Glmnet``.
    tree_loss : {"auto", "squared", "ramp", "logistic"}, default="auto"
        Loss whose residuals the trees are grown on; "auto" is the squared error.
    multiclass : {"auto", "ovr", "shared", "grouped"}, default="auto"
        How more than two classes are modelled, each against the rest. "ovr": every class has its own rules. "shared":
        one pool of rules, from trees grown on all classes at once, serves all classes; with ``Glmnet(loss="logistic")``
        the coefficients are those of a multinomial fit. "grouped": like "shared", but a rule enters for all classes or
        for none, which makes a short list; needs ``Glmnet`` with the squared loss. "auto" is "ovr", and "shared" if all
        rules are given (`trees`, or `rules` with ``n_candidates=0``). In all cases, the second solve of
        ``solver="auto"`` is for all classes together.
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
        What finds the coefficients: a name, or an instance such as ``Glmnet(l1_ratio=0.9, relax=True)`` or
        ``Pathbuild(threshold=0.4)``. "auto" solves twice: ``Glmnet(l1_ratio=0.5)`` with the squared error finds which
        terms matter; then their coefficients minimise the log loss, with one ridge for rules and one for linear terms,
        chosen on held-out rows. A solver that you name solves once. With a number as `selection`, "auto" is
        ``Glmnet()``, once. "glmnet" is ``Glmnet()``, the lasso, which keeps fewer terms at a somewhat higher error.
        `settings_` shows what was used, and the ridges.
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
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply `sample_weight`.
    calibration : {"auto", "temperature", "sigmoid", "isotonic"} or None, default="auto"
        How scores become probabilities. None: by the meaning of the score. The others fit a curve to the scores of
        held-out rows, without growing more trees: "temperature" one slope for all classes, which keeps the order of the
        classes; "sigmoid" and "isotonic" a curve for each class. "auto" is "temperature", but None without
        cross-validation, and for the large model of a named solver with the logistic loss. With ``honest_cv=False`` the
        rules have seen the held-out rows, so the probabilities are less honest.
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
        The terms of the model, the most important first, with text, coefficient, importance, support, confidence and
        the base rate to compare it with. ``rules_.to_frame()`` returns a data frame.
    coef_ : ndarray of shape (n_terms,)
        Coefficients in the order of `rules_`; the scores are ``intercept_ + transform_rules(X) @ coef_``. They are a
        point of `path_` only for a solver that you name with ``max_terms=None``: short lists have coefficients of their
        own, and by default those of the large model are solved for again.
    intercept_ : float
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each attribute; they add up to one. The importance of a rule is shared equally among its
        attributes.
    path_ : PerOutput of Path
        The path that found which terms matter: the coefficients of all candidate terms from sparse to dense, with
        penalties, norms and duality gaps, one path for two classes, else one for each class. The names of a single path
        can be used directly: ``path_.gaps`` is ``path_[0].gaps``.
    selection_ : PerOutput of Selection
        The chosen point of each path with the cross-validated errors.
    solver_ : PerOutput of solvers
        The solver of each path; of ``Pathbuild(threshold="cv")`` the one with the best threshold.
    candidates_ : PerOutput of Terms
        The candidate terms, in the order of the columns of ``path_[0].coefs``. Outputs may share them.
    classes_ : ndarray of shape (n_classes,)
    class_shares_ : ndarray of shape (n_classes,) or None
        Share of each class in the (weighted) training rows; None for a model from a file without it.
    multiclass_ : str
        The mode that was used.
    calibration_ : Temperature, Curves or None
        What turns scores into probabilities; None if the meaning of the score does.
    held_out_ : ClassFigures or None
        Accuracy, AUC, log loss, confusion, ROC and reliability on held-out rows (10,000 at most), beside those of the
        base rate; None without cross-validation. ``held_out_.honest`` says whether the rules were grown without these
        rows, as they are unless ``honest_cv=False`` or `trees` are given.
    front_ : Front or None
        The large model and lists of every length with their error and log loss on held-out rows; `shorten` makes a
        model of each. None for a model from an older file, or from statistics.
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
    RuleEnsembleRegressor : The same for numbers.

    References
    ----------
    Friedman, Popescu (2008). "Predictive learning via rule ensembles". Annals of Applied Statistics 2(3).
    DeMasi, Meza, Bailey. "Dimension reduction using rule ensemble machine learning methods".

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> X, y = load("breast-w", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=200, max_terms=5, random_state=0).fit(X, y)
    >>> len(model.rules_) <= 5
    True
    >>> model.score(X, y) > 0.9
    True
    >>> sorted(set(model.predict(X)))
    [np.str_('benign'), np.str_('malignant')]

    How well it did on held-out rows, compared with always predicting the more frequent class:

    >>> model.held_out_.accuracy > 0.9, round(model.held_out_.base_accuracy, 3)
    (True, 0.655)

    A short list of short rules, with the other settings of a preset:

    >>> readable = RuleEnsembleClassifier(preset="readable", n_candidates=200, max_terms=8, random_state=0).fit(X, y)
    >>> len(readable.rules_) <= 8, "max_terms" in readable.settings_
    (True, False)

    Rules that use at most two attributes, and combine the first two with none of the others:

    >>> apart = RuleEnsembleClassifier(n_candidates=200, max_attributes=2, interactions=[[0, 1]], random_state=0)
    >>> together = {rule.features for rule in apart.fit(X, y).candidates_.rules if len(rule.features) > 1}
    >>> (0, 1) in together, {len(pair) for pair in together}, any(a < 2 <= b for a, b in together)
    (True, {2}, False)

    Rules of trees that are already fitted:

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y)
    >>> short = RuleEnsembleClassifier(trees=forest, max_terms=5, random_state=0).fit(X, y)
    >>> short.score(X, y) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseRuleEnsemble._parameter_constraints,
        "tree_loss": [StrOptions(set(TREE_LOSSES))],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "multiclass": [StrOptions({"auto", "ovr", "shared", "grouped"})],
        "calibration": [StrOptions({"auto", "temperature", "sigmoid", "isotonic"}), None],
    }

    _presets = OF_CLASSIFIER
    classes_: AnyArray
    class_shares_: FloatArray | None
    multiclass_: str
    calibration_: Link | None

    def __init__(
        self,
        *,
        preset: str | None = None,
        n_candidates: int = 2000,
        max_terms: int | str | None = "auto",
        max_rules: int | None = None,
        n_runs: int = 1,
        mean_leaves: float = 6.0,
        subsample: Any = "auto",
        shrinkage: float = 0.03,
        max_features: Any = "auto",
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
        multiclass: str = "auto",
        categorical_features: Any = "auto",
        numeric_features: Any = None,
        identifiers: Any = "auto",
        solver: Any = "auto",
        selection: str | float = "auto",
        cv: Any = 5,
        honest_cv: bool | str = "auto",
        evidence: str | None = None,
        class_weight: Any = None,
        calibration: str | None = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        store_parameters(self, locals())

    def make_target(self) -> Classes:
        """Return the kind of target, with the parameters that concern it."""
        return Classes(class_weight=self.class_weight, multiclass=self.multiclass, calibration=self.calibration)

    def recall_target(self) -> Classes:
        """Return the target as the fit has left it, or as `make_target` does before any fit."""
        if "classes_" not in vars(self):
            return self.make_target()
        return replace(
            self.make_target(),
            code=TargetCode(self.classes_),
            mode=self.multiclass_,
            shares=self.class_shares_,
            fitted_link=self.calibration_,
        )

    def _learn(self, fit: Fit) -> dict[str, Any]:
        target = cast(Classes, fit.target)
        return {
            **super()._learn(fit),
            "classes_": target.labels,
            "class_shares_": target.shares,
            "multiclass_": target.mode,
            "calibration_": target.fitted_link,
        }

    def decision_function(self, X: Any) -> FloatArray:
        """Score F of every row; with two classes positive speaks for ``classes_[1]``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The log odds of the second class, or logarithms of the probabilities of more classes but for a constant. For
            a large model that is solved for once, see `solver`, by its loss: the same, or estimates of
            ``2 P(class) - 1``.
        """
        return self._scores(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class.

        By default it is ``1 / (1 + exp(-slope * F))`` for a score F, with more than two classes the softmax of the
        scores times a slope, and held-out rows tell the slope. With ``calibration=None``, and without cross-validation,
        the slope is 1, but scores of a large model that is solved for once, see `solver`, have the meaning of its loss:
        after the logistic loss they are log odds, and otherwise F stands for ``(1 + F) / 2``, held within 0 and 1. With
        more than two classes the probabilities of such a model are divided by their sum, or after a multinomial fit the
        softmax of the scores. `predict` goes by the scores.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns as in ``classes_``.
        """
        scores = self._scores(X)
        probabilities = self.model_.probabilities(scores)
        assert probabilities is not None
        return probabilities

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The logarithm of `predict_proba`; minus infinity where that is zero.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> AnyArray:
        """Predict the class of every row: the one of the largest score.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self._scores(X)
        return self.model_.decide(scores)
