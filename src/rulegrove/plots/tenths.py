"""Predictions beside what came true, in tenths of the rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove._validation import check_weights
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._observed import read_observed
from rulegrove.estimators.figures import N_BINS
from rulegrove.estimators.loss_figures import RateFigures
from rulegrove.estimators.meaning import LevelMeaning
from rulegrove.estimators.model import show_output
from rulegrove.estimators.survival import RuleEnsembleSurvival
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import check_model, check_target, name_output
from rulegrove.inspection.tenths import Tenths, choose_moment, count_below, count_means, count_survivors
from rulegrove.plots._display import PALETTE, Display, ink
from rulegrove.plots._labels import label_axis, legend_below
from rulegrove.survival import read_survival

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGIN = 0.05  # of the range of the axes
MARKS = "osD^v<"


@dataclass(eq=False, repr=False)
class TenthsDisplay(Display):
    """Predictions beside what came true, in tenths of the rows by what was predicted.

    Of rates, amounts and numbers the mean in each tenth, of quantiles the share of rows below them, and of survival
    times the share without an event at some time, by Kaplan and Meier's estimate; with 95 % intervals.

    Parameters
    ----------
    lines : tuple of Tenths
        One, but for several quantiles.
    names : tuple of str
        What each is of, in words.
    axes : tuple of str
        What is predicted and what came true, in words.
    levels : tuple of float
        Of quantiles, which are what their shares should be. Empty where what came true should be as predicted.
    is_share : bool, default=False
        Whether predictions lie between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove import RuleEnsembleRegressor
    >>> from rulegrove.plots import TenthsDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 3))
    >>> y = rng.poisson(np.exp(X[:, 0] > 0))
    >>> model = RuleEnsembleRegressor(loss="poisson", n_candidates=100, random_state=0).fit(X[::2], y[::2])
    >>> display = TenthsDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> int(display.lines[0].sizes.sum()), display.axes
    (300, ('Predicted rate', 'Mean that came true'))
    """

    lines: tuple[Tenths, ...]
    names: tuple[str, ...]
    axes: tuple[str, str]
    levels: tuple[float, ...] = ()
    is_share: bool = False

    @classmethod
    def from_estimator(
        cls,
        model: BaseRuleEnsemble,
        X: Any = None,
        y: Any = None,
        *,
        n_parts: int = N_BINS,
        target: Any = None,
        time: float | None = None,
        sample_weight: Any = None,
        exposure: Any = None,
        offset: Any = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw how the predictions of a fitted model come true.

        Parameters
        ----------
        model : RuleEnsembleRegressor or RuleEnsembleSurvival
        X : array-like or data frame of shape (n_samples, n_features), optional
            Rows that the fit has not seen. For rates, without any rows, those that cross-validation held out are drawn,
            as far as the fit has kept them: means without intervals.
        y : array-like of shape (n_samples,), optional
            Their targets, as in `fit`.
        n_parts : int, default=10
            Parts of about equal weight. Rows of one prediction are in one part, so there may be fewer.
        target : name of a number, optional
            Which of several numbers to look at; by default the first.
        time : float, optional
            Of survival: at what time to compare; by default the median time of the events.
        sample_weight, exposure, offset : array-like of shape (n_samples,), optional
            As in `fit`: rates count by their exposure.
        ax : matplotlib Axes, optional
        """
        kind = check_model(model, cls.__name__).recall_target()
        if model.model_.labels:
            raise InvalidInputError(f"{cls.__name__} is for numbers and times; take CalibrationDisplay for classes.")
        if time is not None and not isinstance(model, RuleEnsembleSurvival):
            raise InvalidInputError(f"`time` is for survival times; leave it out for a {type(model).__name__}.")
        if X is None:
            return cls._of_held_out(model).plot(ax)
        columns = model.read_columns(X)
        predicted = model.model_.decide(model.model_.score(columns))
        if isinstance(model, RuleEnsembleSurvival):
            read_observed(kind, y, columns.n_rows, None, exposure, offset)  # which refuses these
            return cls._of_times(model, y, predicted, time, sample_weight, n_parts).plot(ax)
        found = read_observed(kind, y, columns.n_rows, sample_weight, exposure, offset)
        observed = kind.check_observed(found.y, columns.n_rows)
        place, meaning = check_target(model, target), kind.meaning
        if isinstance(meaning, LevelMeaning):
            each = predicted.reshape(len(observed), -1).T
            lines = tuple(count_below(observed, own, found.weights, n_parts) for own in each)
            return cls._of_levels(meaning.levels, lines, None if target is None else place).plot(ax)
        if predicted.ndim > 1:
            observed, predicted = observed[:, place], predicted[:, place]
        line = count_means(observed, predicted, found.weights, n_parts)
        return cls._of_means(name_output(model, place), line).plot(ax)

    @classmethod
    def _of_held_out(cls, model: BaseRuleEnsemble) -> Self:
        """Return what the fit has kept of the rows that were held out."""
        figures = model.held_out_
        if not isinstance(figures, RateFigures):
            raise InvalidInputError(
                "The fit has kept tenths of held-out rows for rates and amounts alone; give `X` and `y`, rows that it "
                "has not seen."
            )
        own = figures.reliability
        nothing = np.full(len(own.predicted), np.nan)
        return cls._of_means(name_output(model, 0), Tenths(own.predicted, own.observed, nothing, nothing, own.sizes))

    @classmethod
    def _of_means(cls, name: str, line: Tenths) -> Self:
        """Return the numbers of rates, amounts or numbers."""
        said = "Mean prediction" if name == "prediction" else f"Predicted {name}"
        return cls((line,), (f"mean of a tenth of {line.sizes.sum():,} rows",), (said, "Mean that came true"))

    @classmethod
    def _of_levels(cls, levels: tuple[float, ...], lines: tuple[Tenths, ...], place: int | None) -> Self:
        """Return the numbers of quantiles, all or one of them."""
        if place is not None and len(levels) > 1:
            levels, lines = levels[place : place + 1], lines[place : place + 1]
        names = tuple(map(show_output, levels))
        said = f"Predicted {names[0]}" if len(names) == 1 else "Predicted quantile"
        return cls(lines, names, (said, "Share of rows below it"), levels)

    @classmethod
    def _of_times(
        cls, model: RuleEnsembleSurvival, y: Any, risks: FloatArray, time: Any, sample_weight: Any, n_parts: int
    ) -> Self:
        """Return the numbers of survival at some time."""
        baseline, times = model.find_baseline(), read_survival(y, len(risks), need_events=False)
        moment = choose_moment(times) if time is None else float(time)
        if not 0.0 < moment <= (last := float(times.time.max())):
            raise InvalidInputError(f"`time` must be more than 0 and at most the latest, {last:g}; got {time!r}.")
        line = count_survivors(times, risks, baseline, moment, check_weights(sample_weight, len(risks)), n_parts)
        axes = (f"Predicted share without an event at time {moment:.4g}", "Share by Kaplan and Meier")
        return cls((line,), (f"a tenth of {line.sizes.sum():,} rows by risk",), axes, is_share=True)

    def _size(self) -> tuple[float, float]:
        return (6.4, 4.8) if self.levels else (5.6, 6.0)

    def _draw(self, ax: "Axes") -> None:
        entries: dict[str, Any] = {}
        for place, (line, name) in enumerate(zip(self.lines, self.names, strict=True)):
            colour = PALETTE[place % len(PALETTE)]
            known = np.isfinite(line.low) & np.isfinite(line.high)
            ends = np.where(known, np.abs([line.low - line.observed, line.high - line.observed]), 0.0)
            entries[f"{name}, with 95 % intervals" if known.any() else name] = ax.errorbar(
                line.predicted,
                line.observed,
                ends,
                fmt=f"{MARKS[place % len(MARKS)]}-",
                color=colour,
                linewidth=1.6,
                elinewidth=1.1,
                markersize=5.5,
            )
        self._draw_ideal(ax, entries)
        ax.spines[["top", "right"]].set_visible(False)
        label_axis(ax, "x", self.axes[0])
        label_axis(ax, "y", self.axes[1])
        legend_below(ax, entries, n_columns=2)

    def _draw_ideal(self, ax: "Axes", entries: dict[str, Any]) -> None:
        """Draw where all would be well, and set the limits of the axes."""
        style: dict[str, Any] = {"color": ink(ax), "linestyle": "--", "linewidth": 1.0, "alpha": 0.7}
        if self.levels:
            for level in self.levels:
                entries["its level"] = ax.axhline(level, **style)
            ax.set(ylim=(-0.02, 1.02))
            return
        ends = np.array([0.0, 1.0]) if self.is_share else self._find_ends()
        (entries["as predicted"],) = ax.plot(ends, ends, **style)
        ax.set(xlim=ends, ylim=ends, aspect="equal")

    def _find_ends(self) -> FloatArray:
        """Return the ends of both axes: those of all means and intervals, from 0 where that is near."""
        (line,) = self.lines
        values = np.concatenate([line.predicted, line.observed, line.low, line.high])
        values = values[np.isfinite(values)]
        low, high = float(values.min()), float(values.max())
        room = MARGIN * ((high - low) or abs(high) or 1.0)
        start = 0.0 if line.observed.min() >= 0.0 and low < 0.5 * high else low - room
        return np.array([start, high + room])
