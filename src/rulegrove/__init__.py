"""rulegrove: short, ranked IF-THEN rules that predict like a forest."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rulegrove import datasets
    from rulegrove.estimators.attributes import RuleAttributeSelector
    from rulegrove.estimators.classifier import RuleEnsembleClassifier
    from rulegrove.estimators.model_file import load_model
    from rulegrove.estimators.regressor import RuleEnsembleRegressor
    from rulegrove.solvers import Fpc, Glmnet, Pathbuild, Spgl1

__version__ = "0.1.0"

__all__ = [
    "Fpc",
    "Glmnet",
    "Pathbuild",
    "RuleAttributeSelector",
    "RuleEnsembleClassifier",
    "RuleEnsembleRegressor",
    "Spgl1",
    "datasets",
    "load_model",
]

# Names are loaded when first asked for (PEP 562): scikit-learn and numba take a second or two, and whoever asks the
# command line for help need not wait for them.
_HOMES = {
    "Fpc": "solvers",
    "Glmnet": "solvers",
    "Pathbuild": "solvers",
    "RuleAttributeSelector": "estimators.attributes",
    "RuleEnsembleClassifier": "estimators.classifier",
    "RuleEnsembleRegressor": "estimators.regressor",
    "Spgl1": "solvers",
    "load_model": "estimators.model_file",
}
_FOLDERS = (
    "datasets",
    "engines",
    "estimators",
    "exceptions",
    "export",
    "inspection",
    "losses",
    "plots",
    "report",
    "solvers",
)


def __getattr__(name: str) -> Any:
    """Load a public name or part of the package on first use."""
    value: Any
    if name in _HOMES:
        value = getattr(import_module(f"rulegrove.{_HOMES[name]}"), name)
    elif name in _FOLDERS:
        value = import_module(f"rulegrove.{name}")
    else:
        raise AttributeError(f"module 'rulegrove' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_FOLDERS})
