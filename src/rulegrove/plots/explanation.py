"""What the terms added to the score of one row."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.explanation import RowExplanation
from rulegrove.estimators.model import exponentiate
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import check_model, check_target, name_output
from rulegrove.plots._display import BLUE, VERMILION, Display, check_top, ink
from rulegrove.plots._labels import finish_bars, label_axis, rows_size, signed, tell_exponentials

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class ExplanationDisplay(Display):
    """From the intercept to the score of one row, a bar for what each term added.

    Parameters
    ----------
    row : RowExplanation
        The terms that hold, the largest part first.
    top : int, default=10
        Most terms to draw; the others are one bar.
    predicted : str, default="prediction"
        What is predicted, in words.

    Attributes
    ----------
    texts : list of str
        Words of the bars, from the top.
    starts, parts : ndarray of shape (n_bars,)
        Where each bar begins, and how far it goes. The first goes from zero to the intercept, the last from zero to
        the score. Of a rate or a hazard ratio these are logarithms; the axis and the numbers tell what is multiplied.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.plots import ExplanationDisplay
    >>> X, y = load("pima", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=100, random_state=0).fit(X, y)
    >>> display = ExplanationDisplay.from_estimator(model, X[:1])
    >>> bool(abs(display.parts[:-1].sum() - model.decision_function(X[:1])[0]) < 1e-9)
    True
    """

    row: RowExplanation
    top: int = 10
    predicted: str = "prediction"

    @classmethod
    def from_estimator(
        cls,
        model: BaseRuleEnsemble,
        X: Any,
        row: int = 0,
        *,
        target: Any = None,
        top: int = 10,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw what each term added to the score of one row.

        Parameters
        ----------
        model : RuleEnsembleClassifier or RuleEnsembleRegressor
        X : array-like or data frame of shape (n_samples, n_features)
        row : int, default=0
            Position of the row in X.
        target : label of a class, level of a quantile or name of a number, optional
            Which of several outputs to explain; by default the predicted class, the middle quantile, the first number.
        top : int, default=10
            Most terms to draw; the others are one bar.
        ax : matplotlib Axes, optional
        """
        check_model(model, cls.__name__)
        several = len(model.model_.score_labels) > 1
        place = check_target(model, target) if not several or target is not None else model.model_.main_output
        explanation = model.explain(X)
        if not -len(explanation) <= row < len(explanation):
            raise InvalidInputError(f"`row` must be the position of one of the {len(explanation)} rows; got {row}.")
        told = explanation.row(row, target if several else None)
        return cls(told, check_top(top), name_output(model, place)).plot(ax)

    @property
    def _of_class(self) -> bool:
        """Whether the score speaks for a class."""
        return self.row.label is not None and not self.row.outputs

    @property
    def _lumped(self) -> FloatArray:
        """Parts of the terms that share a bar; a single one has its own."""
        parts = self.row.parts
        return parts[self.top :] if parts.size > self.top + 1 else parts[parts.size :]

    @property
    def texts(self) -> list[str]:
        """Words of the bars, from the top."""
        n_shown = len(self.row.terms) - self._lumped.size
        others = [f"{self._lumped.size} other terms"] * bool(self._lumped.size)
        about = f"score for {self.row.label}" if self._of_class else self.predicted
        return [
            "to start from" if self.row.multiplies else "intercept",
            *(term.text for term in self.row.terms[:n_shown]),
            *others,
            about,
        ]

    @property
    def parts(self) -> FloatArray:
        """How far each bar goes."""
        n_shown = self.row.parts.size - self._lumped.size
        others = [self._lumped.sum()] * bool(self._lumped.size)
        return np.array([self.row.intercept, *self.row.parts[:n_shown], *others, self.row.score])

    @property
    def starts(self) -> FloatArray:
        """Where each bar begins."""
        sums = np.cumsum(self.parts[:-1])
        return np.concatenate([[0.0], sums[:-1], [0.0]])

    def _size(self) -> tuple[float, float]:
        return rows_size(self.texts)

    def _draw(self, ax: "Axes") -> None:
        starts, parts = self.starts, self.parts
        colours = np.where(parts > 0, BLUE, VERMILION).astype(object)
        colours[[0, -1]] = "0.5"
        bars = ax.barh(range(parts.size), parts, 0.62, left=starts, color=colours.tolist())
        for row, end in enumerate((starts + parts)[:-1]):
            ax.plot([end, end], [row - 0.31, row + 1.31], color=ink(ax), alpha=0.5, linewidth=0.7)
        ax.axvline(0.0, color=ink(ax), linewidth=0.8, alpha=0.3, zorder=0)
        if self.row.multiplies:
            tell_exponentials(ax.xaxis)
        label_axis(ax, "x", self._axis)
        finish_bars(ax, bars, self.texts, self._numbers)

    @property
    def _axis(self) -> str:
        """What the bars are on, in words."""
        if self._of_class:
            return f"Score for {self.row.label} (predicted: {self.row.prediction})"
        name = f"{self.predicted[0].upper()}{self.predicted[1:]}"
        return f"{name}, on a scale of factors" if self.row.multiplies else name

    @property
    def _numbers(self) -> list[str]:
        """What each bar adds or multiplies by; of a rate the first and the last are rates."""
        if not self.row.multiplies:
            return [signed(part) for part in self.parts]
        first, *inner, last = exponentiate(self.parts).tolist()
        return [f"{first:.3g}", *(f"x {factor:.3g}" for factor in inner), f"{last:.3g}"]
