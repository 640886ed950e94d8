"""The votes by which a selector kept attributes."""

from typing import Any

import numpy as np

from rulegrove.plots.votes import read_votes
from rulegrove.report._numbers import shorten

MAX_ATTRIBUTES = 60


def describe_votes(selector: Any) -> dict[str, Any] | None:
    """Return the votes for the page, the most votes first; None without a selector."""
    if selector is None:
        return None
    names, votes, kept, least = read_votes(selector, "`selector`")
    order = np.argsort(selector.ranking_)
    shown = order[(votes[order] > 0) | kept[order]][:MAX_ATTRIBUTES]
    how = "as many as were asked for" if least is None else f"those of at least {least} votes"
    hidden = kept.size - shown.size
    rest = f" {hidden} without votes, or beyond the first {MAX_ATTRIBUTES}, are not shown." if hidden else ""
    return {
        "words": (
            f"Rules were grown {selector.n_repeats} times, and each time voted for the attributes that they need, by "
            f"the criterion “{selector.criterion}”. {kept.sum()} of {kept.size} attributes were kept: {how}.{rest}"
        ),
        "names": [names[place] for place in shown],
        "votes": shorten(votes[shown]),
        "kept": kept[shown].tolist(),
        "importances": shorten(selector.importances_[shown]),
        "n_repeats": int(selector.n_repeats),
    }
