"""rulegrove: short, ranked IF-THEN rules that predict like a forest."""

from rulegrove import datasets
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.estimators.model_file import load_model
from rulegrove.estimators.regressor import RuleEnsembleRegressor
from rulegrove.solvers import Fpc, Glmnet, Pathbuild, Spgl1

__version__ = "0.1.0"

__all__ = [
    "Fpc",
    "Glmnet",
    "Pathbuild",
    "RuleEnsembleClassifier",
    "RuleEnsembleRegressor",
    "Spgl1",
    "datasets",
    "load_model",
]
