"""Numerics of survival times, right-censored and left-truncated: likelihood, baseline, curves and concordance."""

from rulegrove.survival.baseline import (
    StepFunction,
    cumulative_hazard,
    kaplan_meier,
    kaplan_meier_band,
)
from rulegrove.survival.concordance import concordance
from rulegrove.survival.curves import SurvivalCurve, count_at_risk, estimate_curve
from rulegrove.survival.grid import HazardSums, choose_grid, on_grid
from rulegrove.survival.partial_likelihood import PartialLikelihood, Point, Ties
from rulegrove.survival.solve import CoxSolution, solve_cox
from rulegrove.survival.times import SurvivalTimes, read_survival

__all__ = [
    "CoxSolution",
    "HazardSums",
    "PartialLikelihood",
    "Point",
    "StepFunction",
    "SurvivalCurve",
    "SurvivalTimes",
    "Ties",
    "choose_grid",
    "concordance",
    "count_at_risk",
    "cumulative_hazard",
    "estimate_curve",
    "kaplan_meier",
    "kaplan_meier_band",
    "on_grid",
    "read_survival",
    "solve_cox",
]
