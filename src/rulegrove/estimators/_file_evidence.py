"""What rows that did not choose the rules say of them, as plain JSON values, and back."""

from dataclasses import fields as fields_of
from typing import Any

import numpy as np

from rulegrove.estimators._checked_json import Value, encode
from rulegrove.estimators.evidence import TESTED, Estimates, RuleEvidence
from rulegrove.estimators.rule_table import RuleTable

_MOST_ROWS = 2**53
_OF_CLASSES = ("confidence", "lift")
_ENDS = tuple(field.name for field in fields_of(Estimates))


def encode_evidence(evidence: RuleEvidence | None) -> dict[str, Any] | None:
    """Return evidence without the rules themselves, which are those of the list."""
    if evidence is None:
        return None
    names = [field.name for field in fields_of(evidence) if field.name != "rules"]
    found = {name: encode(getattr(evidence, name)) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def decode_evidence(value: Value, rules: RuleTable, *, classes: bool) -> RuleEvidence:
    """Return evidence about the rules of a list.

    Parameters
    ----------
    value : Value
    rules : RuleTable
        All terms of the list.
    classes : bool
        Whether its target is one of classes.
    """
    rows = tuple(row for row in rules if row.kind == "rule")
    about = (*_OF_CLASSES, "base_rate") if classes else ("mean_target",)
    plain = ["level", "false_discovery_rate", "n_rows", "n_given_others", "exact", "weighted_by", "n_lines"]
    found = value.fields([*plain, "n_held", "support", "coefficient", *TESTED, *about])
    n_rows = found["n_rows"].integer(0, _MOST_ROWS)
    estimated = ("support", "coefficient", *(name for name in about if name != "base_rate"))
    rates = {"base_rate": found["base_rate"].numbers(len(rows), 0.0, 1.0 + 1e-9)} if classes else {}
    return RuleEvidence(
        rules=rows,
        level=found["level"].number(0.0, 1.0),
        false_discovery_rate=found["false_discovery_rate"].number(0.0, 1.0),
        n_rows=n_rows,
        n_held=found["n_held"].integers(0, n_rows, len(rows)),
        exact=found["exact"].boolean(),
        n_given_others=found["n_given_others"].integer(0, n_rows),
        weighted_by=found["weighted_by"].text(),
        n_lines=found["n_lines"].integer(0, len(rules)),
        **{name: found[name].numbers(len(rows), 0.0, 1.0) for name in TESTED},  # type: ignore[arg-type]
        **{name: _decode_estimates(found[name], len(rows)) for name in estimated},  # type: ignore[arg-type]
        **rates,  # type: ignore[arg-type]
    )


def _decode_estimates(value: Value, n_rules: int) -> Estimates:
    """Return estimates, whose intervals go from below to above."""
    found = value.fields(_ENDS)
    estimates = Estimates(**{name: found[name].numbers(n_rules, special=True) for name in _ENDS})
    for low, high in ((estimates.low, estimates.high), (estimates.low_all, estimates.high_all)):
        if low is None or high is None or np.isnan(low).any() or np.isnan(high).any() or (low > high).any():
            value.refuse("estimates whose intervals have a lower and an upper end")
    return estimates
