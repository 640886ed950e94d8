"""Fits and predictions on dask data frames and arrays, by the workers of a running `distributed.Client`.

Rules are grown on the client from a sample that the workers draw, the workers count the rules in one pass, a task a
partition and a tree of merges, and the solver works on the client from the counts. Workers never talk to each other
about the fit and wait for nobody: one that dies has its tasks run again elsewhere. This needs dask:
``pip install "rulegrove[dask]"``.
"""

try:
    from rulegrove.engines._dask_estimators import (
        DaskRuleEnsembleClassifier,
        DaskRuleEnsembleRegressor,
        DaskRuleEnsembleSurvival,
    )
    from rulegrove.engines._dask_fitting import collect, fit, predict, rule_evidence, score
    from rulegrove.engines._dask_parquet import verify_files
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("dask", "distributed"):
        raise
    raise ModuleNotFoundError("rulegrove.engines.dask needs dask: pip install 'rulegrove[dask]'.") from None

__all__ = [
    "DaskRuleEnsembleClassifier",
    "DaskRuleEnsembleRegressor",
    "DaskRuleEnsembleSurvival",
    "collect",
    "fit",
    "predict",
    "rule_evidence",
    "score",
    "verify_files",
]
