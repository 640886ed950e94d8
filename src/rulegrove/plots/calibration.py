"""How far predictions can be believed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.calibration import calibration_curve

from rulegrove._typing import FloatArray, IntArray
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._intervals import estimate_shares
from rulegrove.estimators.figures import N_BINS
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import check_model
from rulegrove.inspection.tenths import LEVEL
from rulegrove.plots._display import BLUE, Display, ink, settle
from rulegrove.plots._labels import LINE, SMALLEST, axes_size, font_size, label_axis, legend_below, text_width
from rulegrove.plots.tenths import TenthsDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

STRIP = 0.28  # height of the strip of counts below the diagram
TALLEST_BAR = 0.17


@dataclass(eq=False, repr=False)
class CalibrationDisplay(Display):
    """Predicted probabilities beside what came true: a reliability diagram with counts.

    For models of all other targets `from_estimator` gives a `TenthsDisplay`.

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
        X: Any = None,
        y: Any = None,
        *,
        n_bins: int = N_BINS,
        pos_label: Any = None,
        ax: "Axes | None" = None,
        **of_numbers: Any,
    ) -> "CalibrationDisplay | TenthsDisplay":
        """Draw how the predictions of a fitted model come true.

        Parameters
        ----------
        model : RuleEnsembleClassifier, RuleEnsembleRegressor or RuleEnsembleSurvival
        X : array-like or data frame of shape (n_samples, n_features), optional
            Rows that the fit has not seen. Without any, those that cross-validation held out are drawn, for rates and
            for the probability of one class.
        y : array-like of shape (n_samples,), optional
            Their targets.
        n_bins : int, default=10
            Even bins from 0 to 1 of probabilities, parts of the rows for all else.
        pos_label : label of a class, optional
            Whose probability to look at: by default that of ``classes_[1]``; with more than two classes that of
            whichever class is predicted, which comes true when the prediction is right.
        ax : matplotlib Axes, optional
        **of_numbers
            `target`, `time`, `sample_weight`, `exposure` and `offset`, as `TenthsDisplay.from_estimator` takes them.

        Returns
        -------
        CalibrationDisplay or TenthsDisplay
            The latter where there are no classes.
        """
        labels = list(check_model(model, cls.__name__).model_.labels)
        if not labels:
            if pos_label is not None:
                raise InvalidInputError(f"`pos_label` is for classes; leave it out for a {type(model).__name__}.")
            return TenthsDisplay.from_estimator(model, X, y, n_parts=n_bins, ax=ax, **of_numbers)
        if of_numbers:
            raise InvalidInputError(f"`{next(iter(of_numbers))}` does not go with classes; leave it out.")
        if X is None:
            return cls._of_held_out(model, n_bins, pos_label).plot(ax)
        return cls._of_rows(model, X, y, n_bins, pos_label).plot(ax)

    @classmethod
    def _of_rows(cls, model: Any, X: Any, y: Any, n_bins: int, pos_label: Any) -> Self:
        """Return the numbers of some rows."""
        labels = list(model.model_.labels)
        probabilities, true = np.asarray(model.predict_proba(X)), np.asarray(y)
        if true.shape != (len(probabilities),):
            raise InvalidInputError(
                f"y must hold one class for each of the {len(probabilities)} rows; got the shape {true.shape}."
            )
        if pos_label is None and len(labels) > 2:
            came_true = true == model.classes_[np.argmax(probabilities, axis=1)]
            own, target = probabilities.max(axis=1), None
        else:
            label = _find_label(labels, pos_label)
            came_true, own, target = true == label, probabilities[:, labels.index(label)], str(label)
        own = np.clip(own, 0.0, 1.0)
        observed, predicted = calibration_curve(came_true.astype(int), own, pos_label=1, n_bins=n_bins)
        counts = np.bincount(np.searchsorted(np.linspace(0.0, 1.0, n_bins + 1)[1:-1], own), minlength=n_bins)
        sizes = counts[counts > 0].astype(np.float64)
        shares = estimate_shares(observed * sizes, sizes, sizes, LEVEL)
        intervals = np.column_stack([shares.low, shares.high])
        return cls(predicted, observed, intervals, counts.astype(np.int64), target)

    @classmethod
    def _of_held_out(cls, model: Any, n_bins: int, pos_label: Any) -> Self:
        """Return the numbers that the fit has kept of the rows that were held out."""
        figures, labels = model.held_out_, list(model.model_.labels)
        if figures is None or n_bins != N_BINS or (pos_label is None and len(labels) > 2):
            raise InvalidInputError(
                f"Without `X` and `y` held-out rows are drawn, which the fit has kept in {N_BINS} bins for each class; "
                "it must have folds, and with more than two classes `pos_label` must name one."
            )
        label = _find_label(labels, pos_label)
        other = len(labels) == 2 and label == labels[0]  # which has no scores of its own
        own = figures.reliabilities[0 if len(labels) == 2 else labels.index(label)]
        places = np.minimum((own.predicted * N_BINS).astype(np.int64), N_BINS - 1)
        counts, sizes = np.zeros(N_BINS, dtype=np.int64), own.sizes.astype(np.float64)
        counts[places] = own.sizes
        shares = estimate_shares(own.observed * sizes, sizes, sizes, LEVEL)
        told = np.column_stack([own.predicted, own.observed, shares.low, shares.high])
        if other:
            told, counts = 1.0 - told[::-1, [0, 1, 3, 2]], counts[::-1]
        return cls(told[:, 0], told[:, 1], told[:, 2:], counts, str(label))

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


def _find_label(labels: list[Any], pos_label: Any) -> Any:
    """Return the class whose probability to look at, the second one by default."""
    label = labels[1] if pos_label is None else pos_label
    if label not in labels:
        raise InvalidInputError(f"`pos_label` must be one of the classes {labels}; got {pos_label!r}.")
    return label
