"""A fitted path: coefficients, and held-out error with the number of terms."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.inspection._sample import check_model, check_target, refer_to
from rulegrove.plots._display import BLUE, VERMILION, Display, check_top, ink, line_style
from rulegrove.plots._labels import LETTER, axes_size, font_size, label_axis, legend_below, say, wrap
from rulegrove.solvers import make_solver

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PARAMETER_WORDS = {
    "penalty": "Penalty",
    "l1_radius": "L1 norm of the coefficients",
    "fit_weight": "Weight of the error",
    "residual": "Residual",
    "residual_target": "Residual",
    "steps": "Steps",
}
LOSS_WORDS = {
    "squared": "squared error",
    "squared_hinge": "squared hinge loss",
    "huber": "Huber loss",
    "poisson": "Poisson loss",
    "tweedie": "Tweedie loss",
}


@dataclass(eq=False, repr=False)
class PathDisplay(Display):
    """Coefficients along the path, from the model without terms to the dense end.

    The terms that weigh most at the chosen point are drawn in colour and named, the others in grey.

    Parameters
    ----------
    x : ndarray of shape (n_points,)
        The parameter along the path.
    x_name : str
        Its name, as in ``path_.values``.
    coefs : ndarray of shape (n_points, n_used)
        Coefficients of the terms that are ever non-zero, as the solver sees them: a linear term's is for 2.5
        standard deviations of its attribute, which makes it weigh like a typical rule.
    texts : tuple of str
        These terms in words, the largest coefficient at the chosen point first.
    chosen : int
        The chosen point.
    target : str or None
        The class that positive coefficients speak for, or the quantile or number of several; None otherwise.
    top : int, default=6
        Terms to name.
    of_number : bool, default=False
        Whether the target is a quantile or a number.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.plots import PathDisplay
    >>> X, y = load("pima", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=100, random_state=0).fit(X, y)
    >>> display = PathDisplay.from_estimator(model, top=3)
    >>> display.coefs.shape == (len(model.path_.coefs), len(display.texts))
    True
    """

    x: FloatArray
    x_name: str
    coefs: FloatArray
    texts: tuple[str, ...]
    chosen: int
    target: str | None = None
    top: int = 6
    of_number: bool = False

    @classmethod
    def from_estimator(
        cls,
        model: BaseRuleEnsemble,
        *,
        target: Any = None,
        x: str | None = None,
        top: int = 6,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the path of a fitted model.

        Parameters
        ----------
        model : RuleEnsembleClassifier or RuleEnsembleRegressor
        target : label of a class, optional
            Whose path to draw; needed with more than two classes.
        x : {"penalty", "l1_radius", "fit_weight", "residual"}, optional
            Horizontal axis; by default what the solver varied.
        top : int, default=6
            Terms to name.
        ax : matplotlib Axes, optional
        """
        output = check_target(check_model(model, cls.__name__), target)
        path, terms = model.path_[output], model.candidates_[output]
        curves, chosen = path.plot(x), model.selection_[output].index
        order = np.lexsort((-np.abs(curves.coefs).max(axis=0, initial=0.0), -np.abs(curves.coefs[chosen])))
        texts = tuple(terms[int(curves.terms[place])].text(model.model_.features) for place in order)
        several = bool(model.model_.outputs)
        name = refer_to(model, output) if several else model.model_.score_words[output]
        display = cls(curves.x, curves.x_name, curves.coefs[:, order], texts, chosen, name, check_top(top), several)
        return display.plot(ax)

    def _size(self) -> tuple[float, float]:
        n_lines = sum(wrap(text, 100, 2).count("\n") + 1 for text in self.texts[: self.top])
        return 8.0, 4.4 + 0.2 * n_lines

    def _draw(self, ax: "Axes") -> None:
        if not self.texts:
            say(ax, "No term enters the path.")
            return
        n_named = min(self.top, len(self.texts))
        points = _scale_axis(ax, self.x, self.x_name)
        crowd = min(max(8.0 / max(len(self.texts), 1), 0.15), 0.45)
        coefs = _leave_out_zeros(self.coefs[points])
        ax.plot(self.x[points], coefs[:, n_named:], color=ink(ax), alpha=crowd, linewidth=0.7, zorder=1)
        entries = {
            text: ax.plot(self.x[points], coefs[:, place], zorder=3 - place / (n_named + 1), **line_style(place))[0]
            for place, text in enumerate(self.texts[:n_named])
        }
        ax.axhline(0.0, color=ink(ax), linewidth=0.6)
        _mark_chosen(ax, self.x[self.chosen])
        label_axis(ax, "x", f"{PARAMETER_WORDS.get(self.x_name, self.x_name)} (dotted: the chosen point)")
        words = "for " if self.of_number else "positive: "
        label_axis(ax, "y", "Coefficient" if self.target is None else f"Coefficient ({words}{self.target})")
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(axis="both", labelsize=font_size(ax, "ytick.labelsize"))
        legend_below(ax, entries)


@dataclass(eq=False, repr=False)
class SelectionDisplay(Display):
    """Held-out error and number of terms along the path, with the chosen point.

    Parameters
    ----------
    x : ndarray of shape (n_points,)
        The parameter along the path.
    x_name : str
        Its name, as in ``path_.values``.
    errors : ndarray of shape (n_points,)
        Mean loss on held-out rows; on the training rows for a point that was given, not chosen.
    standard_errors : ndarray of shape (n_points,) or None
        Over the folds; None without cross-validation.
    n_terms : ndarray of shape (n_points,)
    chosen : int
        The chosen point.
    rule : str
        How it was chosen.
    loss : str, default="squared"
        Name of the loss of the path, which finds the terms.
    loss_of : str, default=""
        What that loss is of, where it is not of the target as it is.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.plots import SelectionDisplay
    >>> X, y = load("pima", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=100, random_state=0).fit(X, y)
    >>> display = SelectionDisplay.from_estimator(model)
    >>> bool(display.errors[display.chosen] == display.errors.min())
    True
    """

    x: FloatArray
    x_name: str
    errors: FloatArray
    standard_errors: FloatArray | None
    n_terms: IntArray
    chosen: int
    rule: str
    loss: str = "squared"
    loss_of: str = ""

    @classmethod
    def from_estimator(
        cls, model: BaseRuleEnsemble, *, target: Any = None, x: str | None = None, ax: "Axes | None" = None
    ) -> Self:
        """Draw how the point of a fitted model was chosen.

        Parameters
        ----------
        model : RuleEnsembleClassifier or RuleEnsembleRegressor
        target : label of a class, optional
            Whose path to draw; needed with more than two classes.
        x : {"penalty", "l1_radius", "fit_weight", "residual"}, optional
            Horizontal axis; by default what the solver varied.
        ax : matplotlib Axes, optional
        """
        output = check_target(check_model(model, cls.__name__), target)
        path, selection = model.path_[output], model.selection_[output]
        curves = path.plot(x)
        return cls(
            curves.x,
            curves.x_name,
            curves.risks if selection.errors is None else selection.errors,
            selection.standard_errors,
            curves.n_terms,
            selection.index,
            selection.rule,
            make_solver(model.solver_[output]).loss_name,
            model.recall_target().path_unit,
        ).plot(ax)

    def _size(self) -> tuple[float, float]:
        return 8.0, 4.8

    def _draw(self, ax: "Axes") -> None:
        points = _scale_axis(ax, self.x, self.x_name)
        x, errors = self.x[points], self.errors[points]
        counts = ax.twinx()
        (n_terms,) = counts.step(x, self.n_terms[points], where="mid", color=VERMILION, linewidth=1.3)
        counts.set_ylim(0.0, max(1.08 * self.n_terms.max(), 1.0))
        ax.set_zorder(counts.get_zorder() + 1)  # the error on top, its twin to shine through
        ax.patch.set_visible(False)
        (error,) = ax.plot(x, errors, color=BLUE, linewidth=1.8)
        entries: dict[str, Any] = {self._words: error, "number of terms": n_terms}
        if self.standard_errors is not None:
            spread, best = self.standard_errors[points], int(np.argmin(self.errors))
            limit = self.errors[best] + self.standard_errors[best]
            band = ax.fill_between(x, errors - spread, errors + spread, color=BLUE, alpha=0.22, linewidth=0.0)
            entries["± 1 standard error"] = band
            entries["1se limit"] = ax.axhline(limit, color=BLUE, linestyle="--", linewidth=1.0)
        (mark,) = ax.plot([self.x[self.chosen]], [self.errors[self.chosen]], "o", color=BLUE, markersize=8, zorder=4)
        entries[f"chosen ({self.rule}): {self.n_terms[self.chosen]} terms"] = mark
        _mark_chosen(ax, self.x[self.chosen])
        label_axis(ax, "x", PARAMETER_WORDS.get(self.x_name, self.x_name))
        label_axis(ax, "y", f"{self._words[0].upper()}{self._words[1:]}")
        label_axis(counts, "y", "Number of terms")
        for axes, colour, side in ((ax, BLUE, "left"), (counts, VERMILION, "right")):
            axes.yaxis.label.set_color(colour)
            axes.tick_params(axis="y", colors=colour)
            axes.spines[["top", "right", "left"]].set_visible(False)
            axes.spines[side].set(visible=True, color=colour)
        legend_below(ax, entries, n_columns=3)

    @property
    def _words(self) -> str:
        """What the error is, in words."""
        rows = "training" if self.standard_errors is None else "held-out"
        return f"{rows} {LOSS_WORDS.get(self.loss, f'{self.loss} loss')} {self.loss_of}".rstrip()


def _scale_axis(ax: "Axes", x: FloatArray, name: str) -> IntArray:
    """Scale the horizontal axis, sparse models to the left, and return the points that can be drawn on it."""
    from matplotlib.ticker import LogLocator

    points = np.flatnonzero(np.isfinite(x))
    if name in {"penalty", "fit_weight"}:
        points = points[x[points] > 0.0]
        decades = np.log10(x[points].max() / x[points].min()) if points.size else np.inf
        letters = axes_size(ax)[0] / (LETTER * font_size(ax, "xtick.labelsize"))
        few = 3 * 6 * decades < 0.8 * letters  # three numbers of six letters for each decade
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.minorticks_off()
    elif name == "steps":
        ax.set_xscale("symlog", linthresh=1.0)
    if points.size > 1 and x[points[0]] > x[points[-1]]:
        ax.xaxis.set_inverted(True)
    return points


def _leave_out_zeros(coefs: FloatArray) -> FloatArray:
    """Return coefficients with NaN where a term is out of the model, so that absent terms draw no line at zero."""
    out = coefs == 0.0
    beside = out.copy()
    beside[1:] &= out[:-1]
    beside[:-1] &= out[1:]
    return np.where(beside, np.nan, coefs)


def _mark_chosen(ax: "Axes", x: float) -> None:
    """Draw a line through the chosen point."""
    ax.axvline(x, color=ink(ax), linestyle=":", linewidth=1.2, zorder=2)
