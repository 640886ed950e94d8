"""What a fitted model says, and how far to trust it: importance, dependence, interaction, evidence."""

from rulegrove.estimators.evidence import Estimates, RuleEvidence
from rulegrove.inspection.dependence import Dependence, partial_dependence
from rulegrove.inspection.evidence import rule_evidence
from rulegrove.inspection.importance import Importances, importance_band, importances
from rulegrove.inspection.interaction import Interactions, h_statistics, interactions
from rulegrove.inspection.interaction_null import InteractionNull, NullDistribution, interaction_null
from rulegrove.inspection.stability import StabilityReport, StableRule, jaccard, stability_report

__all__ = [
    "Dependence",
    "Estimates",
    "Importances",
    "InteractionNull",
    "Interactions",
    "NullDistribution",
    "RuleEvidence",
    "StabilityReport",
    "StableRule",
    "h_statistics",
    "importance_band",
    "importances",
    "interaction_null",
    "interactions",
    "jaccard",
    "partial_dependence",
    "rule_evidence",
    "stability_report",
]
