"""Words for people: names in a sentence, and the name that was probably meant."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

SHOWN_NAMES = 8


def list_names(names: Sequence[str]) -> str:
    """Return names for a sentence, the first few of many."""
    shown = ", ".join(f"'{name}'" for name in names[:SHOWN_NAMES])
    hidden = len(names) - SHOWN_NAMES
    return f"{shown} and {hidden} more" if hidden > 0 else shown


def suggest(name: str, names: Sequence[str]) -> str:
    """Return which of the names was probably meant, as a sentence, or nothing."""
    folded = {known.casefold().strip(): known for known in reversed(names)}
    close = difflib.get_close_matches(name.casefold().strip(), folded, n=1)
    return f" Did you mean '{folded[close[0]]}'?" if close else ""


def list_settings(settings: Mapping[str, Any], otherwise: str) -> str:
    """Return settings for a sentence, other words where there are none.

    Examples
    --------
    >>> list_settings({"n_candidates": 600, "terms": "rules"}, "nothing"), list_settings({}, "nothing")
    ("n_candidates=600, terms='rules'", 'nothing')
    """
    return ", ".join(f"{parameter}={value!r}" for parameter, value in settings.items()) or otherwise


def count(number: int, noun: str) -> str:
    """Return a number of things."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
