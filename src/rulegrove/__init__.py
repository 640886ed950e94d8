"""rulegrove: short, ranked IF-THEN rules that predict like a forest."""

from typing import TYPE_CHECKING

from rulegrove._lazy import load_later
from rulegrove._version import __version__ as __version__

if TYPE_CHECKING:
    from rulegrove import datasets
    from rulegrove.comparing.models import compare
    from rulegrove.estimators.attributes import RuleAttributeSelector
    from rulegrove.estimators.classifier import RuleEnsembleClassifier
    from rulegrove.estimators.model_file import load_model
    from rulegrove.estimators.regressor import RuleEnsembleRegressor
    from rulegrove.estimators.survival import RuleEnsembleSurvival
    from rulegrove.scorecards.making import scorecard
    from rulegrove.solvers import Fpc, Glmnet, Pathbuild, Spgl1
    from rulegrove.warming import warm_up


__all__ = [
    "Fpc",
    "Glmnet",
    "Pathbuild",
    "RuleAttributeSelector",
    "RuleEnsembleClassifier",
    "RuleEnsembleRegressor",
    "RuleEnsembleSurvival",
    "Spgl1",
    "compare",
    "datasets",
    "load_model",
    "scorecard",
    "warm_up",
]

# scikit-learn and numba take a second or two, and whoever asks the command line for help need not wait for them.
_HOMES = {
    "Fpc": "solvers",
    "Glmnet": "solvers",
    "Pathbuild": "solvers",
    "RuleAttributeSelector": "estimators.attributes",
    "RuleEnsembleClassifier": "estimators.classifier",
    "RuleEnsembleRegressor": "estimators.regressor",
    "RuleEnsembleSurvival": "estimators.survival",
    "Spgl1": "solvers",
    "compare": "comparing.models",
    "load_model": "estimators.model_file",
    "scorecard": "scorecards.making",
    "warm_up": "warming",
}
_FOLDERS = (
    "comparing",
    "datasets",
    "editing",
    "engines",
    "estimators",
    "exceptions",
    "export",
    "inspection",
    "losses",
    "plots",
    "report",
    "scorecards",
    "solvers",
)
__getattr__ = load_later(
    globals(), {name: f"rulegrove.{home}" for name, home in (*_HOMES.items(), *zip(_FOLDERS, _FOLDERS, strict=True))}
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_FOLDERS})
