"""`RuleEnsembleClassifier`."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight

from rulegrove._typing import AnyArray, FloatArray
from rulegrove._validation import StrOptions, check_class_labels
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._fitting import Target
from rulegrove.losses import Logistic, Loss, Ramp, Squared

TREE_LOSSES: dict[str, type[Loss]] = {"auto": Squared, "squared": Squared, "ramp": Ramp, "logistic": Logistic}


class RuleEnsembleClassifier(ClassifierMixin, BaseRuleEnsemble):
    """PLACEHOLDER."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseRuleEnsemble._parameter_constraints,
        "tree_loss": [StrOptions(set(TREE_LOSSES))],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(
        self,
        *,
        n_candidates: int = 2000,
        max_terms: int | None = None,
        mean_leaves: float = 4.0,
        subsample: Any = "auto",
        shrinkage: float = 0.01,
        max_features: Any = None,
        min_samples_leaf: int = 5,
        min_impurity: float = 0.0,
        max_conditions: int | None = None,
        max_bins: int = 255,
        terms: str = "both",
        tree_loss: str = "auto",
        categorical_features: Any = "auto",
        solver: Any = "glmnet",
        selection: str | float = "1se",
        cv: Any = 5,
        honest_cv: bool = False,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        super().__init__(
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
            terms=terms,
            tree_loss=tree_loss,
            categorical_features=categorical_features,
            solver=solver,
            selection=selection,
            cv=cv,
            honest_cv=honest_cv,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def _read_target(self, y: Any, weights: FloatArray | None) -> Target:
        self.classes_, codes = check_class_labels(self, y)
        if self.class_weight is not None:
            by_class = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_[codes])
            weights = by_class[codes] if weights is None else weights * by_class[codes]
        return Target((2.0 * codes - 1.0)[:, None], 0.0, weights, codes)

    def _tree_loss(self) -> Loss:
        return TREE_LOSSES[self.tree_loss]()

    def _describe(self, coef: float, mean_target: float | None) -> dict[str, Any]:
        positive = coef > 0
        share = None if mean_target is None else (1 + mean_target) / 2
        confidence = share if share is None or positive else 1 - share
        return {"speaks_for": self.classes_[int(positive)], "confidence": confidence, "mean_target": None}

    def decision_function(self, X: Any) -> FloatArray:
        """Score F of every row; positive speaks for ``classes_[1]``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            An estimate of ``2 P(classes_[1]) - 1``.
        """
        return self._scores(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class: ``(1 + F) / 2`` for the second one, held within 0 and 1.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns as in ``classes_``.
        """
        positive = (1 + np.clip(self._scores(X), -1, 1)) / 2
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Any) -> AnyArray:
        """Predict the class of every row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        positive = self._scores(X) > 0
        return np.asarray(self.classes_[positive.astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
