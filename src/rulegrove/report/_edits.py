"""What people changed of a list, for the page."""

from typing import Any

from rulegrove.estimators._base import BaseRuleEnsemble


def describe_edits(model: BaseRuleEnsemble) -> dict[str, Any] | None:
    """Return the log of a list that was edited, as a table; None of one that is as it was fitted."""
    if not model.edits_:
        return None
    cells = model.edits_.to_cells()
    rows = zip(*cells.values(), strict=True)
    return {"words": model.edits_.words, "heads": list(cells), "rows": [list(row) for row in rows]}
