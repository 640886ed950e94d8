"""How far probabilities can be believed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.calibration import calibration_curve

from rulegrove._typing import FloatArray, IntArray
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._intervals import estimate_shares
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import check_model
from rulegrove.plots._display import BLUE, Display, ink, settle
from rulegrove.plots._labels import LINE, SMALLEST, axes_size, font_size, label_axis, legend_below, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

STRIP = 0.28  # height of the strip of counts below the diagram
TALLEST_BAR = 0.17
LEVEL = 0.95  # of the intervals


@dataclass(eq=False)
class CalibrationDisplay(Display):
    """Predicted probabilities beside what came true: a reliability diagram with counts.

    Parameters
    ----------
    predicted, observed : ndarray of shape (n_filled,)
        Mean predicted probability and share of rows that came true, in each bin that has rows.
    intervals : ndarray of shape (n_filled, 2)
        Wilson's 95 % intervals of the shares.
    counts : ndarray of shape (n_bins,)
        Rows in each of the even bins from 0 to 1.
    target : str or None
        The class whose probability it is; None for the probability of whichever class is predicted.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.plots import CalibrationDisplay
    >>> X, y = load("pima", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=100, random_state=0).fit(X[::2], y[::2])
    >>> display = CalibrationDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> display.target, int(display.counts.sum())
    ('tested_positive', 384)
    """

    predicted: FloatArray
    observed: FloatArray
    intervals: FloatArray
    counts: IntArray
    target: str | None

    @classmethod
    def from_estimator(
        cls,
        model: BaseRuleEnsemble,
        X: Any,
        y: Any,
        *,
        n_bins: int = 10,
        pos_label: Any = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw how the probabilities of a fitted classifier come true.

        Parameters
        ----------
        model : RuleEnsembleClassifier
        X : array-like or data frame of shape (n_samples, n_features)
            Rows that the fit has not seen.
        y : array-like of shape (n_samples,)
            Their classes.
        n_bins : int, default=10
            Even bins from 0 to 1.
        pos_label : label of a class, optional
            Whose probability to look at: by default that of ``classes_[1]``; with more than two classes that of
            whichever class is predicted, which comes true when the prediction is right.
        ax : matplotlib Axes, optional
        """
        labels = list(check_model(model, cls.__name__).model_.labels)
        if not labels:
            raise InvalidInputError(f"{cls.__name__} needs a classifier; got {type(model).__name__}.")
        probabilities, true = np.asarray(model.predict_proba(X)), np.asarray(y)
        if true.shape != (len(probabilities),):
            raise InvalidInputError(
                f"y must hold one class for each of the {len(probabilities)} rows; got the shape {true.shape}."
            )
        if pos_label is None and len(labels) > 2:
            came_true = true == model.classes_[np.argmax(probabilities, axis=1)]
            own, target = probabilities.max(axis=1), None
        else:
            label = labels[1] if pos_label is None else pos_label
            if label not in labels:
                raise InvalidInputError(f"`pos_label` must be one of the classes {labels}; got {pos_label!r}.")
            came_true, own, target = true == label, probabilities[:, labels.index(label)], str(label)
        own = np.clip(own, 0.0, 1.0)
        observed, predicted = calibration_curve(came_true.astype(int), own, pos_label=1, n_bins=n_bins)
        counts = np.bincount(np.searchsorted(np.linspace(0.0, 1.0, n_bins + 1)[1:-1], own), minlength=n_bins)
        sizes = counts[counts > 0].astype(np.float64)
        shares = estimate_shares(observed * sizes, sizes, sizes, LEVEL)
        intervals = np.column_stack([shares.low, shares.high])
        return cls(predicted, observed, intervals, counts.astype(np.int64), target).plot(ax)

    def _size(self) -> tuple[float, float]:
        return 5.6, 6.6

    def _draw(self, ax: "Axes") -> None:
        n_bins = self.counts.size
        middles, heights = (np.arange(n_bins) + 0.5) / n_bins, TALLEST_BAR * self.counts / self.counts.max()
        bars = ax.bar(middles, heights, 0.94 / n_bins, bottom=-STRIP, color=ink(ax), alpha=0.25)
        (ideal,) = ax.plot([0.0, 1.0], [0.0, 1.0], color=ink(ax), linestyle="--", linewidth=1.0, alpha=0.7)
        errors = np.abs(self.intervals.T - self.observed)
        curve = ax.errorbar(
            self.predicted, self.observed, errors, fmt="o-", color=BLUE, linewidth=1.8, elinewidth=1.1, markersize=6
        )
        ax.set(xlim=(-0.02, 1.02), ylim=(-STRIP, 1.02), aspect="equal", yticks=np.linspace(0.0, 1.0, 6))
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines["left"].set_bounds(0.0, 1.0)
        about = "the predicted class" if self.target is None else self.target
        label_axis(ax, "x", f"Predicted probability of {about}")
        label_axis(ax, "y", "Share that came true")
        entries = {"came true, with 95 % intervals": curve, "as predicted": ideal}
        legend_below(ax, entries | {f"rows (of {self.counts.sum():,})": bars}, n_columns=3)
        self._write_counts(ax, bars)

    def _write_counts(self, ax: "Axes", bars: "BarContainer") -> None:
        """Write the counts above their bars, where there is room."""
        texts = [f"{count:,}" for count in self.counts]
        settle(ax)
        width = axes_size(ax)[0]
        size = min(0.75 * font_size(ax, "xtick.labelsize"), width / self.counts.size / text_width(texts, 1.0))
        if size >= SMALLEST and size * LINE <= (STRIP - TALLEST_BAR) * width:
            ax.bar_label(bars, texts, padding=1, fontsize=size, color=ink(ax))
