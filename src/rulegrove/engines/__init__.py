"""Fits larger than memory and larger than one machine: tables in parts, read batch by batch.

Every engine gives the same model: the same rules, the same counts, coefficients that differ by rounding at most, for
any division of the rows (`docs/scale.md`). This needs pyarrow: ``pip install "rulegrove[engines]"``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rulegrove.engines.drifting import drift
    from rulegrove.engines.examining import rule_evidence
    from rulegrove.engines.fitting import fit
    from rulegrove.engines.keeping import FitStatistics, collect, refit
    from rulegrove.engines.predicting import predict
    from rulegrove.engines.scoring import score
    from rulegrove.engines.statistics_file import load_statistics

__all__ = ["FitStatistics", "collect", "drift", "fit", "load_statistics", "predict", "refit", "rule_evidence", "score"]

_HOMES = {
    "FitStatistics": "keeping",
    "collect": "keeping",
    "drift": "drifting",
    "fit": "fitting",
    "load_statistics": "statistics_file",
    "predict": "predicting",
    "refit": "keeping",
    "rule_evidence": "examining",
    "score": "scoring",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'rulegrove.engines' has no attribute {name!r}")
    try:
        value = getattr(import_module(f"rulegrove.engines.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyarrow":
            raise
        raise ModuleNotFoundError("rulegrove.engines needs pyarrow: pip install 'rulegrove[engines]'.") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
