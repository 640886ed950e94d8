"""The votes by which attributes are selected."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.estimators.attributes import RuleAttributeSelector
from rulegrove.exceptions import InvalidInputError
from rulegrove.plots._display import BLUE, Display, check_top, ink
from rulegrove.plots._labels import finish_bars, group_bars, label_axis, legend_below, rows_size, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class VotesDisplay(Display):
    """How many repetitions voted for each attribute, and which attributes were kept.

    Parameters
    ----------
    names : tuple of str
        Of all attributes.
    votes : ndarray of shape (n_features,)
    kept : ndarray of shape (n_features,), bool
    min_votes : int or None
        Votes that an attribute needs; None where something else decides.
    top : int, default=60
        Most attributes to draw, of those with votes.

    Examples
    --------
    >>> from rulegrove import RuleAttributeSelector
    >>> from rulegrove.datasets import load
    >>> from rulegrove.plots import VotesDisplay
    >>> X, y = load("pima", return_X_y=True)
    >>> selector = RuleAttributeSelector(n_candidates=60, n_repeats=3, min_votes=2, random_state=0).fit(X, y)
    >>> display = VotesDisplay.from_estimator(selector)
    >>> display.min_votes, len(display.names)
    (2, 8)
    """

    names: tuple[str, ...]
    votes: FloatArray
    kept: BoolArray
    min_votes: int | None = None
    top: int = 60

    @classmethod
    def from_estimator(cls, selector: Any, *, top: int = 60, ax: "Axes | None" = None) -> Self:
        """Draw the votes of a fitted selector.

        Parameters
        ----------
        selector : RuleAttributeSelector
        top : int, default=60
            Most attributes to draw.
        ax : matplotlib Axes, optional
        """
        return cls(*read_votes(selector, cls.__name__), check_top(top)).plot(ax)

    @property
    def order(self) -> IntArray:
        """Positions of the attributes that are drawn, the most votes first, the kept before the others."""
        order = np.lexsort((~self.kept, -self.votes))
        return order[(self.votes[order] > 0) | self.kept[order]][: self.top]

    def _size(self) -> tuple[float, float]:
        return rows_size([self.names[place] for place in self.order])

    def _draw(self, ax: "Axes") -> None:
        order = self.order
        if not order.size:
            say(ax, "No attribute has any votes.")
            return
        votes, kept = self.votes[order], self.kept[order]
        bars = ax.barh(range(order.size), votes, 0.62, color=BLUE)
        for bar, own in zip(bars, kept, strict=True):
            bar.set(color=BLUE if own else ink(ax), alpha=1.0 if own else 0.3, linewidth=0.0)
        label_axis(ax, "x", f"Votes ({int(self.kept.sum())} of {self.kept.size} attributes kept)")
        entries = group_bars(bars, kept, ("kept", "left out"))
        if self.min_votes is not None:
            limit = ax.axvline(self.min_votes, color=ink(ax), linestyle="--", linewidth=1.0)
            entries[f"needed: {self.min_votes:g}"] = limit
        names = [self.names[place] for place in order]
        legend_below(ax, entries, n_columns=3, rows=names)
        finish_bars(ax, bars, names, [f"{vote:g}" for vote in votes])


def read_votes(selector: Any, what: str) -> tuple[tuple[str, ...], FloatArray, BoolArray, int | None]:
    """Return names, votes and which are kept, of all attributes, and the votes that one needs if votes decide."""
    if not isinstance(selector, RuleAttributeSelector):
        raise InvalidInputError(f"{what} needs a RuleAttributeSelector; got {type(selector).__name__}.")
    check_is_fitted(selector)
    votes, kept = np.asarray(selector.votes_, dtype=np.float64), np.asarray(selector.get_support(), dtype=bool)
    names = getattr(selector, "feature_names_in_", [f"x{place}" for place in range(votes.size)])
    decides = np.array_equal(kept, votes >= selector.min_votes)
    return tuple(map(str, names)), votes, kept, selector.min_votes if decides else None
