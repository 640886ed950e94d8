"""`RuleEnsembleRegressor`."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from rulegrove._typing import FloatArray
from rulegrove._validation import StrOptions, check_regression_target
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._fitting import Target
from rulegrove.losses import Huber, Loss, Squared


class RuleEnsembleRegressor(RegressorMixin, BaseRuleEnsemble):
    """PLACEHOLDER."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseRuleEnsemble._parameter_constraints,
        "tree_loss": [StrOptions({"auto", "squared", "huber"})],
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

    def _read_target(self, y: Any, weights: FloatArray | None) -> Target:
        values = check_regression_target(self, y)
        offset = float(np.average(values, weights=weights)) if weights is None or len(weights) == len(values) else 0.0
        return Target((values - offset)[:, None], offset, weights)

    def _tree_loss(self) -> Loss:
        return Huber() if self.tree_loss == "huber" else Squared()

    def _describe(self, coef: float, mean_target: float | None) -> dict[str, Any]:
        return {"speaks_for": None, "confidence": None, "mean_target": mean_target}

    def predict(self, X: Any) -> FloatArray:
        """Predict the target.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._scores(X)
