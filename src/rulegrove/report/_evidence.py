"""What rows that did not choose the rules say of them, for the page."""

from typing import Any

from rulegrove.estimators._base import BaseRuleEnsemble


def describe_evidence(model: BaseRuleEnsemble) -> dict[str, Any] | None:
    """Return sentences and a table of the rules that were tested; None where no rows were set apart."""
    evidence = model.evidence_
    if evidence is None:
        return None
    cells = evidence.to_cells()
    return {
        "sentences": ["This is about the chosen list, whichever length is shown.", *evidence.sentences],
        "heads": list(cells),
        "lines": [list(row) for row in zip(*cells.values(), strict=True)],
    }
