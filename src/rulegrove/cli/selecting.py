"""What a fitted attribute selector found, as records and as a smaller table."""

from typing import Any

import numpy as np
import pyarrow as pa

from rulegrove.cli.training import Training
from rulegrove.estimators.attributes import RuleAttributeSelector


def vote_records(selector: RuleAttributeSelector) -> list[dict[str, Any]]:
    """Return each attribute with its votes and importance, the most needed first."""
    votes, importances = np.asarray(selector.votes_), selector.importances_
    kept = selector.get_support()
    names = selector.feature_names_in_
    return [
        {
            "attribute": str(names[k]),
            "votes": int(votes[k]),
            "importance": float(importances[k]),
            "kept": bool(kept[k]),
        }
        for k in np.argsort(selector.ranking_).tolist()
    ]


def kept_table(selector: RuleAttributeSelector, training: Training) -> pa.Table:
    """Return the kept attributes, then the weights if there are some, then the target."""
    kept = training.X.select(np.flatnonzero(selector.get_support()).tolist())
    if training.weights_name is not None:
        kept = kept.append_column(training.weights_name, pa.array(training.weights))
    return kept.append_column(training.target, pa.array(training.y.tolist()))
