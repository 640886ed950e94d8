"""The front of a fit: what each length of the list costs in error."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import check_model, name_lists
from rulegrove.plots._display import BLUE, VERMILION, Display, ink
from rulegrove.plots._labels import font_size, label_axis, legend_below, say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = (1, 2, 5)  # of a decade that have a number on the axis


@dataclass(eq=False, repr=False)
class FrontDisplay(Display):
    """Error of held-out rows against the number of terms, with the chosen length and the large model.

    Parameters
    ----------
    terms : ndarray of shape (n_lines,)
        Most terms of a class, or of the model where there is one score.
    rules : ndarray of shape (n_lines,)
        Different terms in all.
    errors, standard_errors : ndarray of shape (n_lines,)
        Of held-out rows; NaN where none were held out.
    chosen : int
        The line that the model is.
    measure : str
        What the errors are, in words.
    each : str, default=""
        What has a list of its own, in a word: "class" or "number"; empty where there is one list.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.plots import FrontDisplay
    >>> X, y = load("pima", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=100, random_state=0).fit(X, y)
    >>> display = FrontDisplay.from_estimator(model)
    >>> bool(display.rules[display.chosen] == len(model.rules_))
    True
    """

    terms: IntArray
    rules: IntArray
    errors: FloatArray
    standard_errors: FloatArray
    chosen: int
    measure: str
    each: str = ""

    @classmethod
    def from_estimator(
        cls, model: BaseRuleEnsemble, *, measure: Literal["error", "loss"] = "error", ax: "Axes | None" = None
    ) -> Self:
        """Draw the front of a fitted model.

        Parameters
        ----------
        model : RuleEnsembleClassifier or RuleEnsembleRegressor
        measure : {"error", "loss"}, default="error"
            The share of wrong classes or their log loss, by which lengths are chosen; of numbers the root mean squared
            error or its square. Of other targets both are the same: deviance, pinball loss, partial deviance.
        ax : matplotlib Axes, optional
        """
        front = check_model(model, cls.__name__).front_
        if measure not in ("error", "loss"):
            raise InvalidInputError(f"`measure` must be 'error' or 'loss'; got {measure!r}.")
        if front is None:
            nothing = np.empty(0)
            return cls(nothing.astype(np.int64), nothing.astype(np.int64), nothing, nothing, 0, measure).plot(ax)
        columns = front.to_dict()
        name = "error" if measure == "error" else front.loss_name
        return cls(
            np.array(columns["terms"]),
            np.array(columns["rules"]),
            np.array(columns[name]),
            np.array(columns[f"{name}_se"]),
            front.chosen,
            front.meaning.error_words if measure == "error" else front.meaning.loss_words,
            name_lists(model),
        ).plot(ax)

    def _size(self) -> tuple[float, float]:
        return 8.0, 4.6

    def _draw(self, ax: "Axes") -> None:
        if not self.terms.size:
            say(ax, "No shorter lists: this model comes from an older file or from `engines.refit`. Fit it anew.")
            return
        if np.isnan(self.errors).all():
            say(ax, "No list was judged: with a given `selection` no rows are held out.")
            return
        self._scale(ax)
        (line,) = ax.plot(self.terms, self.errors, color=BLUE, linewidth=1.8)
        low, high = self.errors - self.standard_errors, self.errors + self.standard_errors
        band = ax.fill_between(self.terms, low, high, color=BLUE, alpha=0.22, linewidth=0.0)
        entries: dict[str, Any] = {self.measure: line, "± 1 standard error": band}
        for place, name, look, colour in ((-1, "large model", "D", VERMILION), (self.chosen, "chosen", "o", BLUE)):
            (mark,) = ax.plot(self.terms[place], self.errors[place], look, color=colour, markersize=7, zorder=4)
            entries[f"{name}: {self._tell(place)}"] = mark
        ax.axvline(self.terms[self.chosen], color=ink(ax), linestyle=":", linewidth=1.2, zorder=2)
        label_axis(ax, "x", f"Terms of a {self.each}" if self.each else "Terms")
        label_axis(ax, "y", f"{self.measure.capitalize()} held out")
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(axis="both", labelsize=font_size(ax, "ytick.labelsize"))
        legend_below(ax, entries, n_columns=2)

    def _tell(self, place: int) -> str:
        """Return how long a line is, in words."""
        terms, rules = int(self.terms[place]), int(self.rules[place])
        words = f"{terms:,} term{'s' * (terms != 1)}"
        return f"{words} a {self.each}, {rules:,} different in all" if self.each else words

    def _scale(self, ax: "Axes") -> None:
        """Give each doubling of the terms about the same width, with round numbers."""
        ax.set_xscale("function", functions=(np.log1p, np.expm1))  # which have a place for a model without terms
        ticks = [0, *(step * 10**power for power in range(7) for step in STEPS)]
        ax.set_xticks([tick for tick in ticks if self.terms.min() <= tick <= self.terms.max()])
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.minorticks_off()
