"""The votes by which a selector kept attributes."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulegrove._typing import BoolArray
from rulegrove.estimators.attributes import RuleAttributeSelector
from rulegrove.exceptions import InvalidInputError
from rulegrove.report._numbers import shorten

MAX_ATTRIBUTES = 60


def describe_votes(selector: Any) -> dict[str, Any] | None:
    """Return the votes for the page, the most votes first; None without a selector."""
    if selector is None:
        return None
    if not isinstance(selector, RuleAttributeSelector):
        raise InvalidInputError(f"`selector` must be a RuleAttributeSelector; got {type(selector).__name__}.")
    check_is_fitted(selector)
    kept = selector.get_support()
    names = getattr(selector, "feature_names_in_", [f"x{place}" for place in range(kept.size)])
    votes = np.asarray(selector.votes_, dtype=np.float64)
    order = np.argsort(selector.ranking_)
    shown = order[(votes[order] > 0) | kept[order]][:MAX_ATTRIBUTES]
    return {
        "words": _tell(selector, kept, len(shown)),
        "names": [str(names[place]) for place in shown],
        "votes": shorten(votes[shown]),
        "kept": kept[shown].tolist(),
        "importances": shorten(selector.importances_[shown]),
        "n_repeats": int(selector.n_repeats),
    }


def _tell(selector: RuleAttributeSelector, kept: BoolArray, n_shown: int) -> str:
    """Say what the votes mean, and what was kept."""
    by_votes = np.array_equal(kept, np.asarray(selector.votes_) >= selector.min_votes)
    how = f"those of at least {selector.min_votes} votes" if by_votes else "as many as were asked for"
    hidden = kept.size - n_shown
    rest = f" {hidden} without votes, or beyond the first {MAX_ATTRIBUTES}, are not shown." if hidden else ""
    return (
        f"Rules were grown {selector.n_repeats} times, and each time voted for the attributes "
        f"that they need, by the criterion “{selector.criterion}”. {kept.sum()} of {kept.size} attributes were kept: "
        f"{how}.{rest}"
    )
