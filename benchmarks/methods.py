"""What is compared: rulegrove by its presets, and its peers at their defaults or with a cap on their rules."""

from collections.abc import Callable
from typing import Any

from benchmarks.adapters import (
    Boomer,
    CubistRules,
    Ebm,
    Figs,
    Forest,
    H2o,
    Imodels,
    ImodelsRuleFit,
    LightGBM,
    Logistic,
    Method,
    Ripper,
    Rug,
    Rulegrove,
    ScikitLearn,
    Sirus,
)

FOREST, BOOSTING = "RandomForest", "HistGradientBoosting"
DEFAULT, ACCURATE, READABLE, FAST = "rulegrove", "rulegrove accurate", "rulegrove readable", "rulegrove fast"
SHORT, SHORTER, CUBIST = "rulegrove, max_terms=25", "rulegrove, max_terms=10", "Cubist"
ONLY_TABLES = (SHORT, SHORTER, CUBIST)  # these take part on the real tables alone


def _ours(name: str, **parameters: Any) -> Method:
    return Rulegrove(name, "rulegrove", "rulegrove.estimators.classifier", **parameters)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        _ours(DEFAULT),
        _ours(ACCURATE, preset="accurate"),
        _ours(READABLE, preset="readable"),
        _ours(FAST, preset="fast"),
        _ours("rulegrove, 10 terms", preset="readable", max_terms=10),
        _ours(SHORT, max_terms=25),
        _ours(SHORTER, max_terms=10),
        ImodelsRuleFit("imodels RuleFit", "RuleFitClassifier"),
        ImodelsRuleFit("imodels RuleFit, 25 terms", "RuleFitClassifier", max_rules=25),
        Figs("imodels FIGS", "FIGSClassifier"),
        Figs("imodels FIGS, 25 rules", "FIGSClassifier", max_rules=25),
        Imodels("imodels SkopeRules", "SkopeRulesClassifier"),
        Ebm("EBM", "interpret-core", "interpret.glassbox"),
        CubistRules(CUBIST, "cubist", "cubist"),
        Boomer("Boomer", "mlrl-boomer", "mlrl.boosting"),
        Rug("RUG", "ruleopt", "ruleopt.estimator", max_depth=3),
        Rug("RUG, depth 2", "ruleopt", "ruleopt.estimator", max_depth=2),
        H2o("H2O RuleFit", "h2o", "h2o"),
        Ripper("RIPPER", "wittgenstein", "wittgenstein"),
        Sirus("SIRUS", "sirus", "sirus"),
        Logistic("LogisticRegression", "sklearn.linear_model", "LogisticRegression"),
        Forest(FOREST, "sklearn.ensemble", "RandomForest", n_estimators=1000, n_jobs=1),
        ScikitLearn(BOOSTING, "sklearn.ensemble", "HistGradientBoosting"),
        LightGBM("LightGBM", "lightgbm", "lightgbm"),
    )
}


def named(choice: Callable[[Method], bool]) -> list[str]:
    """Return the names of some methods, but for those that only the real tables have."""
    return [name for name, method in METHODS.items() if name not in ONLY_TABLES and choice(method)]
