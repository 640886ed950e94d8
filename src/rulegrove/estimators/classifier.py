"""`RuleEnsembleClassifier`."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight

from rulegrove._typing import AnyArray, FloatArray, IntArray
from rulegrove._validation import StrOptions, check_class_labels
from rulegrove.design.terms import Term
from rulegrove.estimators import autos
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._constraints import Constraints
from rulegrove.estimators._fitted import Fitted, HeldOut, share_classes
from rulegrove.estimators._sampling import Sampled, TargetCode
from rulegrove.estimators._training import Target, TrainingData
from rulegrove.estimators.calibration import Link, find_link, fit_calibration
from rulegrove.estimators.figures import ClassFigures, judge_classes, share_of_classes
from rulegrove.estimators.presets import OF_CLASSIFIER
from rulegrove.exceptions import InvalidInputError
from rulegrove.joint_selection import Grouped, Joint, Multinomial
from rulegrove.losses import Logistic, Loss, Ramp, Squared
from rulegrove.rules.rule import Rule
from rulegrove.solvers import BaseSolver, make_solver

# Rules of trees come in families. The lasso keeps one of each; with some of the L2 norm a family shares the weight, for
# a lower error with more terms (docs/defaults.md).
RARE_ROWS = 20  # a class of fewer rows may be missing from a fold that is dealt out by chance

TREE_LOSSES: dict[str, type[Loss]] = {"auto": Squared, "squared": Squared, "ramp": Ramp, "logistic": Logistic}


class RuleEnsembleClassifier(ClassifierMixin, BaseRuleEnsemble):
    """Classifier made of a short, ranked list of rules and linear terms.

    Many small boosted trees are grown, every node of every tree becomes an IF-THEN rule, and a lasso path picks
    the few rules worth keeping. The score F of a row is the intercept plus the coefficients of the rules that hold plus
    the linear terms. By the loss of the solver it estimates ``2 P(second class) - 1`` (squared, ramp) or the log odds
    of the second class (logistic); `solver_` tells which.

    Parameters
    ----------
    preset : {"accurate", "readable", "fast"}, default=None
        What the parameters that are left at their defaults become: "accurate" takes its time for a low error,
        "readable" keeps the list and its rules short, "fast" saves time at some error. A parameter that is set to
        anything but its default wins. `settings_` tells what was changed (docs/guide.md has the table).
    n_candidates : int, default=2000
        Rules to grow, or to take from `trees`, before the sparse fit picks among them; 0 with `rules` alone.
    max_terms : int, default=None
        Most terms of the final model. Where the chosen point has more, those that together come nearest to it are
        weighted once more without the others. With three classes or more: of each class, or of all together where
        one fit weights the rules of all classes (``multiclass="grouped"``, and "shared" with the logistic loss and no
        relaxing).
    mean_leaves : float, default=6.0
        Mean number of leaves of a tree. Each tree draws its own from 2 plus a rounded-down exponential, so most rules
        are short and a few are long.
    subsample : {"auto"}, int or float, default="auto"
        Rows a tree sees: a count, a fraction, or half of the rows but no more than 1,500 or ``100 + 6 sqrt(N)``,
        whichever is more. Large tables: trees draw from a uniform pool of at least 65,536 rows.
    shrinkage : float, default=0.03
        How much each tree counts for the residuals of the next ones, 0 to 1. With 0 every tree sees the target itself.
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default="auto"
        Attributes tried at a split: 0.3 of them but at least two, their square root or logarithm, a count, a fraction,
        or all (None). Few make the rules differ.
    min_samples_leaf : int, default=5
        Fewest rows of its tree's sample on which a rule holds.
    min_impurity : float, default=0.0
        A node whose variance of residuals is no more than this is not split.
    max_conditions : int, default=None
        Most splits on the way to a rule, and so most conditions of it.
    max_bins : int, default=255
        Most bins of an attribute, at most 255; also the most categories.
    max_correlation : float, default=0.9
        Of rules that are correlated on the training rows by more than this, either way, the simplest alone is a
        candidate; 1 drops exact repeats and complements only. Fewer look-alikes make a shorter, steadier list.
    stable : bool, default=False
        Whether to prefer rules that come back: thresholds are round numbers near 40 quantiles, rules have at most
        `max_conditions` (or four) conditions, and the candidates are those that the most of ten half-samples of the
        rows grow, whatever the seed. Such trees try all attributes; `subsample`, `shrinkage`, `max_features` and
        `max_bins` do not matter. The list reads well and is much the same for other seeds, but not for other rows;
        ``python -m benchmarks.attributes rules`` measures both, and what it costs in error.
    monotonic : dict or array-like of shape (n_features,), default=None
        Attributes with which the score of the second class may only rise (1) or only fall (-1), all else being equal:
        by name or position, ``{"age": 1, "income": -1}``, or -1, 0 or 1 for each attribute. It holds exactly, for all
        known values of these numeric attributes. For two classes. Needs ``Glmnet``.
    terms : {"both", "rules", "linear"}, default="both"
        What the model is made of. A linear term is an attribute winsorised at its 2.5 % and 97.5 % quantiles.
    trees : object, default=None
        Fitted trees to take the rules from in place of growing some: a tree, forest or boosting of scikit-learn,
        LightGBM or XGBoost, fitted on the same columns. At most `n_candidates` rules of at most `max_conditions`
        splits, from all trees alike and those near the roots first; the other parameters of trees do not matter. If
        the trees saw the rows of the fit, the rules look better on held-out rows than on new ones; "auto" as
        `selection` is then "1se". One pool of rules serves all classes.
    rules : sequence of str or Rule, default=None
        Rules of your own that stand beside the others, in words such as ``"age > 40 and income <= 3e4"``. With
        ``n_candidates=0`` there are no others.
    force_rules : bool, default=False
        Whether all of `rules` must be in the model: no penalty is on them. Needs ``Glmnet``.
    tree_loss : {"auto", "squared", "ramp", "logistic"}, default="auto"
        Loss whose residuals the trees are grown on; "auto" is the squared error.
    multiclass : {"auto", "ovr", "shared", "grouped"}, default="auto"
        How more than two classes are told apart, each from the rest. "ovr": every class has rules of its own.
        "shared": one pool of rules, from trees grown on all classes at once, serves all of them; with the
        logistic loss their weights are those of a multinomial fit. "grouped": likewise,
        and a rule enters for all classes or for none, for a short list; needs ``Glmnet`` with the squared loss. "auto"
        is "shared" up to 1,000 rows and "ovr", which takes longer for a lower error, beyond.
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
        What finds the coefficients: a name, or an instance such as ``Glmnet(l1_ratio=0.9, relax=True)`` or
        ``Pathbuild(threshold=0.4)``. "auto" is ``Glmnet(loss="logistic", l1_ratio=0.5)``, or 0.15 up to 1,000 rows, as
        long as rows times classes are no more than 8,000; beyond, ``Glmnet(l1_ratio=0.5)``, the squared error, which
        never reads a row twice; and the lasso at a given point. Up to 1,000 rows of more than two classes, `max_terms`,
        `force_rules` and ``multiclass="ovr"`` lead to ``Glmnet(l1_ratio="cv")``. "glmnet" is ``Glmnet()``, the lasso,
        which keeps fewer terms at a somewhat higher error. `settings_` tells what was taken.
    selection : {"auto", "1se", "min"} or float, default="auto"
        Point of the path: the sparsest within one standard error of the least held-out error ("1se"), the least of it
        ("min"), or without cross-validation exactly this value of what the solver varies: a penalty
        (Glmnet, Fpc), a radius (Spgl1), a number of steps (Pathbuild). "auto" is "min" for honest folds, else "1se".
    cv : int, splitter or iterable of splits, default=5
        Folds of the cross-validation. Test folds must not overlap, and a split trains on all rows that it does not hold
        out. With `groups` in `fit` a number of folds holds out whole groups. Beyond 65,536 rows a number of folds is
        dealt out by the positions of the rows, and rules are grown from rows drawn by these (docs/scale.md).
    honest_cv : bool or "auto", default="auto"
        False: all folds share the rules grown on all rows, which costs nothing extra, but rules that have seen a fold
        look better on it than on new rows. True: rules are grown anew without each fold, for an unbiased error at some
        `cv` times the work. "auto" is True up to 1,000 rows.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied into `sample_weight`.
    calibration : {"auto", "temperature", "sigmoid", "isotonic"} or None, default="auto"
        How scores become probabilities. None: by the meaning of the loss. The others by curves fitted to the scores of
        held-out rows, at no further growth of trees: "temperature" one slope for all classes, which keeps the
        order of the classes; "sigmoid" and "isotonic" a curve for each class. "auto" is "temperature", but None after
        the logistic loss and without cross-validation. Shared rules have seen the held-out rows; with `honest_cv` they
        have not, and the probabilities are the more honest.
    random_state : int, RandomState instance or None, default=None
        Seed of subsamples, tree sizes and folds. The same seed gives the same model for any `n_jobs`.
    n_jobs : int, default=None
        Threads. None takes as many as OpenMP would, as scikit-learn's histogram gradient boosting does; -1 all cores.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    rules_ : RuleTable
        The terms of the model, the most important first, with text, coefficient, importance, support, confidence
        and the base rate to compare that with. ``rules_.to_frame()`` gives a data frame.
    coef_ : ndarray of shape (n_terms,)
        Coefficients in the order of `rules_`; ``intercept_ + transform_rules(X) @ coef_`` are the scores.
    intercept_ : float
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each attribute: a rule's is shared equally among its attributes; they add up to one.
    path_ : Path
        Coefficients of all candidate terms from sparse to dense, with penalties, norms and duality gaps.
    selection_ : Selection
        The chosen point of `path_` with the cross-validated errors.
    solver_ : solver
        The solver that was used; of ``Pathbuild(threshold="cv")`` the one with the best threshold.
    candidates_ : Terms
        The candidate terms, in the order of the columns of ``path_.coefs``.
    classes_ : ndarray of shape (2,)
    class_shares_ : ndarray of shape (2,) or None
        Share of each class in the (weighted) training rows; None for a model from a file without it.
    multiclass_ : str
        The mode that was used.
    calibration_ : Temperature, Curves or None
        What turns scores into probabilities; None for the meaning of the loss.
    held_out_ : ClassFigures or None
        Accuracy, AUC, log loss, confusion, ROC and reliability on rows of the folds that were held out (10,000 of
        them at most), beside those of the base rate; None without cross-validation. ``held_out_.honest`` tells whether
        the rules were grown without these rows.
    settings_ : dict
        Parameters that were left to be settled, by "auto" or by a `preset`, with what was used.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
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

    How well it did on rows that its folds held out, beside always saying the more frequent class:

    >>> model.held_out_.accuracy > 0.9, round(model.held_out_.base_accuracy, 3)
    (True, 0.655)

    A short list of short rules, with all else as a preset has it:

    >>> readable = RuleEnsembleClassifier(preset="readable", n_candidates=200, max_terms=8, random_state=0).fit(X, y)
    >>> len(readable.rules_) <= 8, "max_terms" in readable.settings_
    (True, False)

    Rules from trees that are fitted already:

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
    _losses = ("squared", "ramp", "squared_hinge", "logistic")
    _no_loss_for = "numbers"
    _of_classes = True

    def __init__(
        self,
        *,
        preset: str | None = None,
        n_candidates: int = 2000,
        max_terms: int | None = None,
        mean_leaves: float = 6.0,
        subsample: Any = "auto",
        shrinkage: float = 0.03,
        max_features: Any = "auto",
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
        multiclass: str = "auto",
        categorical_features: Any = "auto",
        numeric_features: Any = None,
        identifiers: Any = "auto",
        solver: Any = "auto",
        selection: str | float = "auto",
        cv: Any = 5,
        honest_cv: bool | str = "auto",
        class_weight: Any = None,
        calibration: str | None = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(
            preset=preset,
            n_candidates=n_candidates,
            max_terms=max_terms,
            mean_leaves=mean_leaves,
            subsample=subsample,
            shrinkage=shrinkage,
            max_features=max_features,
            min_samples_leaf=min_samples_leaf,
            min_impurity=min_impurity,
            max_conditions=max_conditions,
            max_bins=max_bins,
            max_correlation=max_correlation,
            stable=stable,
            monotonic=monotonic,
            terms=terms,
            trees=trees,
            rules=rules,
            force_rules=force_rules,
            tree_loss=tree_loss,
            categorical_features=categorical_features,
            numeric_features=numeric_features,
            identifiers=identifiers,
            solver=solver,
            selection=selection,
            cv=cv,
            honest_cv=honest_cv,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight
        self.multiclass = multiclass
        self.calibration = calibration

    def _read_target(self, y: Any, n_rows: int, weights: FloatArray | None) -> Target:
        self._check_calibration()
        self.classes_, codes = check_class_labels(self, y, n_rows)
        code = TargetCode(self.classes_, self._weigh_classes(np.bincount(codes)))
        target = code.weighing(np.ones(1) if weights is None else weights).of_codes(codes, weights)
        self._check_class_sizes(codes if target.weights is None else codes[target.weights > 0])
        return target

    def _read_labels(self, y: Any, n_rows: int) -> AnyArray:
        classes, codes = check_class_labels(self, y, n_rows)
        return np.asarray(classes[codes])

    def _learn_target(self, sampled: Sampled) -> TargetCode:
        self._check_calibration()
        labels = sampled.summary.labels
        self.classes_, _ = check_class_labels(self, np.repeat(labels, 3), 3 * len(labels))  # as of rows, which repeat
        counts = sampled.summary.n_counted
        drawn = np.unique(sampled.y)
        if len(counts) == 2 and (len(drawn) < 2 or (isinstance(self.selection, str) and counts.min() < RARE_ROWS)):
            label, n_rows = self.classes_.tolist()[int(np.argmin(counts))], int(counts.min())
            where = (
                f"none of the {sampled.y.size:,} rows drawn to grow rules" if len(drawn) < 2 else "too few for folds"
            )
            raise InvalidInputError(
                f"Class {label!r} has {n_rows:,} of {counts.sum():,} rows that count, {where}. Thin out the other "
                "class and weight its rows, or add rows of this one."
            )
        return TargetCode(self.classes_, self._weigh_classes(sampled.summary.counts))

    def _weigh_classes(self, counts: IntArray) -> FloatArray | None:
        """Return the weight of each class, from the rows of each."""
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str):  # "balanced"
            return np.asarray(counts.sum() / (len(counts) * counts), dtype=np.float64)
        by_class = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_)
        if not (by_class >= 0).all():
            raise InvalidInputError(f"`class_weight` must not be negative or NaN; got {self.class_weight}.")
        return np.asarray(by_class, dtype=np.float64)

    def _check_calibration(self) -> None:
        """Refuse a calibration that has nothing to be fitted on."""
        if self.calibration not in {None, "auto"} and not isinstance(self.selection, str):
            raise InvalidInputError(
                f"`calibration`={self.calibration!r} is fitted on held-out scores, which a given point does without; "
                "set selection='1se' or 'min', or calibration=None."
            )

    def _constraints(self, data: TrainingData) -> Constraints:
        constraints = super()._constraints(data)
        if constraints.monotonic is not None and len(self.classes_) > 2:
            raise InvalidInputError(
                f"`monotonic` is for two classes, where it concerns the score of the second one; got "
                f"{len(self.classes_)} classes. Fit one class against the rest."
            )
        return constraints

    def _check_class_sizes(self, codes: IntArray) -> None:
        """Refuse a class that cross-validation can only either train on or hold out."""
        sizes = np.bincount(codes, minlength=len(self.classes_))
        if isinstance(self.selection, str) and len(sizes) == 2 and 1 in sizes:
            label = self.classes_.tolist()[sizes.tolist().index(1)]
            raise InvalidInputError(
                f"Class {label!r} has one row, but cross-validation (cv={self.cv}) needs at least two of each class; "
                "add rows, or give a penalty as `selection` to do without cross-validation."
            )

    def _tree_loss(self, targets: FloatArray) -> Loss:
        return TREE_LOSSES[self.tree_loss]()

    def _make_solver(self) -> BaseSolver:
        solver = super()._make_solver()
        if self.multiclass == "grouped" and not (solver.solves_together and solver.loss_name == "squared"):
            raise InvalidInputError(
                f"multiclass='grouped' needs solver=Glmnet(loss='squared'), the one that weights terms for all classes "
                f"together; got {solver!r}. Take multiclass='shared' for other solvers."
            )
        return solver

    def _suit_solver(self, solver: BaseSolver, n_rows: int, data: TrainingData | None) -> BaseSolver:
        if not self._is_open("solver") or not isinstance(self.selection, str):
            return solver
        n_classes = len(self.classes_)
        return autos.resolve_solver(
            n_rows,
            n_classes,
            self._mode(n_rows),
            by_rows=data is not None and (n_classes == 2 or bool((data.targets[data.rows] > 0).any(axis=0).all())),
            capped=self.max_terms is not None,
            forced=self.force_rules,
        )

    def _mode(self, n_rows: int) -> str:
        """Return how more than two classes are told apart."""
        return autos.resolve_mode(self.multiclass, n_rows, grows=self._grows)

    def _settled_of_target(self) -> dict[str, Any]:
        return {
            "multiclass": self.multiclass_,
            "calibration": None
            if getattr(self, "calibration_", None) is None
            else autos.resolve_calibration(self.calibration, self._loss_name),
        }

    def _joint(self, solver: BaseSolver) -> Joint | None:
        if self.multiclass_ == "grouped":
            return Grouped()
        if self.multiclass_ == "shared" and solver.solves_together and solver.loss_name == "logistic":
            return Multinomial() if solver.mixes == (1.0,) else None
        return None

    def _pools(self, data: TrainingData) -> list[TrainingData]:
        n_outputs = data.targets.shape[1]
        self.multiclass_ = self._mode(data.n_counted)
        if n_outputs == 1 or self.multiclass_ != "ovr" or not self._grows:
            return [data]
        return [data.of_output(output) for output in range(n_outputs)]

    def _calibrate(self, held_out: HeldOut | None) -> None:
        self.calibration_: Link | None = None
        method = autos.resolve_calibration(self.calibration, self._loss_name)
        if method is not None and held_out is not None and self._model.terms:
            codes, weights = read_codes(held_out.targets), held_out.weights
            self.calibration_ = fit_calibration(
                method, _own_scores(held_out), codes, np.ones(codes.size) if weights is None else weights
            )
        self._set_link()

    def _set_link(self) -> None:
        """Let the model know its classes, and what its scores say of them."""
        solver = self.solver_[0] if isinstance(self.solver_, list) else self.solver_
        n_outputs = len(self.classes_) if len(self.classes_) > 2 else 1
        together = n_outputs > 1 and isinstance(self._joint(make_solver(solver)), Multinomial)
        link = self.calibration_ or find_link(self._loss_name, n_outputs, together=together)
        self._model = replace(self._model, classes=self.classes_, link=link)

    def _judge(self, held_out: HeldOut, data: TrainingData, *, honest: bool) -> ClassFigures:
        scores = _own_scores(held_out)
        return judge_classes(
            read_codes(held_out.targets),
            choose_classes(scores),
            self._link.probabilities(scores),
            held_out.weights,
            shares=share_of_classes(
                read_codes(data.targets[data.rows]), data.weights_of(data.rows), len(self.classes_)
            ),
            honest=honest,
        )

    def _keep(self, fitted: Fitted, data: TrainingData) -> None:
        assert fitted.output_means is not None
        shares = (1.0 + fitted.output_means) / 2.0  # outputs are 1 for a class and -1 for the others
        self.class_shares_: FloatArray | None = np.array([1.0 - shares[0], shares[0]]) if shares.size == 1 else shares
        super()._keep(fitted, data)

    def _describe(self, fitted: Fitted, data: TrainingData) -> list[dict[str, Any]]:
        model, labels = fitted.model, self.classes_.tolist()
        if model.coefs.ndim == 1:
            shares = np.column_stack([1.0 - fitted.mean_targets, 1.0 + fitted.mean_targets]) / 2.0
            coefs = np.column_stack([-model.coefs, model.coefs])
        else:
            places = [place for place, term in enumerate(model.terms) if isinstance(term, Rule)]
            shares = np.zeros((len(model.terms), len(labels)))
            rules = [term for term in model.terms if isinstance(term, Rule)]
            if fitted.class_shares is None:
                codes = np.argmax(data.targets, axis=1)
                shares[places] = share_classes(data, rules, codes, len(labels))
            else:
                shares = fitted.class_shares
            coefs = model.coefs.T
        return [
            self._describe_term(term, own_coefs, own_shares)
            for term, own_coefs, own_shares in zip(model.terms, coefs, shares, strict=True)
        ]

    def _describe_term(self, term: Term, coefs: FloatArray, shares: FloatArray) -> dict[str, Any]:
        """Tell for which class a term speaks most, and what it says about each."""
        labels = self.classes_.tolist()
        strongest = int(np.argmax(np.abs(coefs) + (coefs > 0) * np.finfo(np.float64).tiny))
        if len(labels) == 2:
            strongest = int(coefs[1] > 0)
        positive = bool(coefs[strongest] > 0)
        is_rule = isinstance(term, Rule)
        share = float(shares[strongest])
        base = None if self.class_shares_ is None else float(self.class_shares_[strongest])
        return {
            "coefficient": float(coefs[1] if len(labels) == 2 else coefs[strongest]),
            "speaks_for": self.classes_[strongest],
            "against": not positive,
            "confidence": (share if positive else 1.0 - share) if is_rule else None,
            "base_rate": (base if positive else 1.0 - base) if is_rule and base is not None else None,
            "coefficients": None if len(labels) == 2 else dict(zip(labels, coefs.tolist(), strict=True)),
            "confidences": dict(zip(labels, shares.tolist(), strict=True)) if is_rule else None,
        }

    def decision_function(self, X: Any) -> FloatArray:
        """Score F of every row; with two classes positive speaks for ``classes_[1]``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            An estimate of ``2 P(class) - 1``, or of the log odds after a solver with the logistic loss.
        """
        return self._scores(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class.

        With ``calibration=None`` a score F stands for ``(1 + F) / 2``, held within 0 and 1; after a solver with the
        logistic loss for ``1 / (1 + exp(-F))``. With more than two classes these are divided by their sum, but after
        the logistic loss with shared rules they are the softmax of the scores. `predict` goes by the scores.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns as in ``classes_``.
        """
        scores = self._scores(X)
        return self._link.probabilities(scores)

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

    @property
    def _link(self) -> Link:
        """What turns the scores of the fitted model into probabilities."""
        assert self._model.link is not None
        return self._model.link

    @property
    def _loss_name(self) -> str:
        """Name of the loss that the scores come from."""
        solver = self.solver_[0] if isinstance(self.solver_, list) else self.solver_
        return make_solver(solver).loss_name

    def predict(self, X: Any) -> AnyArray:
        """Predict the class of every row: the one of the largest score.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        chosen = choose_classes(self._scores(X))
        return np.asarray(self.classes_[chosen])


def choose_classes(scores: FloatArray) -> IntArray:
    """Return the place of the class of the largest score; with two classes the second one's score is given."""
    return np.argmax(scores, axis=1) if scores.ndim == 2 else (scores > 0).astype(np.int64)


def read_codes(targets: FloatArray) -> IntArray:
    """Return the place of each row's class from targets of one or more outputs."""
    return np.argmax(targets, axis=1) if targets.shape[1] > 1 else (targets[:, 0] > 0).astype(np.int64)


def _own_scores(held_out: HeldOut) -> FloatArray:
    """Return held-out scores as `decision_function` would."""
    return held_out.scores if held_out.scores.shape[1] > 1 else held_out.scores[:, 0]
