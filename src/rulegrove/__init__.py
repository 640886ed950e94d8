"""rulegrove: short, ranked IF-THEN rules that predict like a forest."""

from rulegrove import datasets
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.estimators.regressor import RuleEnsembleRegressor
from rulegrove.solvers.glmnet import Glmnet

__version__ = "0.1.0"

__all__ = ["Glmnet", "RuleEnsembleClassifier", "RuleEnsembleRegressor", "datasets"]
