"""Attributes: their importance, their interaction, and the votes for them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import importance_band, importances, interactions
from rulegrove.inspection._sample import check_model, check_target, refer_to
from rulegrove.plots import _labels
from rulegrove.plots._display import BAND_WORDS, BLUE, HEAT_MAP, Display, check_top, ink, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NUMBERS = 12  # attributes up to which the cells of a matrix hold their numbers
BRIGHT = 0.46875  # share of the largest number from which black reads better than white on the colour of a cell
LONGEST_NAME = 24  # letters of an attribute's name beside a matrix


@dataclass(eq=False, repr=False)
class ImportanceDisplay(Display):
    """Importance of the attributes as bars, with whiskers where the fit has made lists anew (`n_resamples`).

    Parameters
    ----------
    names : tuple of str
        Of all attributes.
    importances : ndarray of shape (n_features,)
    rows : str
        What they are an average over, as words for the axis.
    top : int, default=20
        Most attributes to draw.
    low, high : ndarray of shape (n_features,), optional
        Where the importance lies in nine of ten lists from other rows, as far as that is known.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.plots import ImportanceDisplay
    >>> X, y = load("pima", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=100, max_terms=None, random_state=0).fit(X, y)
    >>> ImportanceDisplay.from_estimator(model).ax_.get_xlabel()
    'Share of the importance'
    >>> ImportanceDisplay.from_estimator(model, X[:1]).ax_.get_xlabel()
    'Mean importance on 1 row'
    """

    names: tuple[str, ...]
    importances: FloatArray
    rows: str
    top: int = 20
    low: FloatArray | None = None
    high: FloatArray | None = None

    @classmethod
    def from_estimator(
        cls,
        model: BaseRuleEnsemble,
        X: Any = None,
        *,
        target: Any = None,
        region: Any = None,
        sample_weight: Any = None,
        top: int = 20,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the importance of the attributes for a fitted model.

        Parameters
        ----------
        model : RuleEnsembleClassifier or RuleEnsembleRegressor
        X : array-like or data frame of shape (n_samples, n_features), optional
            Rows to average over, as in `rulegrove.inspection.importances`; without them, ``feature_importances_``.
        target : label of a class, level of a quantile or name of a number, optional
            Which of several outputs to look at on `X`; several numbers need one.
        region : array-like of shape (n_samples,), bool, optional
            Which rows of `X` to average over.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows of `X`.
        top : int, default=20
            Most attributes to draw.
        ax : matplotlib Axes, optional
        """
        check_model(model, cls.__name__)
        if X is None:
            if target is not None:
                raise InvalidInputError("`target` is for the importance on rows; give `X`, too.")
            shares = model.feature_importances_
            band = importance_band(model)
            return cls(model.model_.names, shares, "Share of the importance", check_top(top), *band).plot(ax)
        found = importances(model, X, target=target, region=region, sample_weight=sample_weight)
        whose = "" if target is None else f" for {refer_to(model, check_target(model, target))}"
        rows = f"Mean importance{whose} on {found.n_rows:,} row{'s' * (found.n_rows != 1)}"
        return cls(found.names, found.attributes, rows, check_top(top), found.low, found.high).plot(ax)

    @property
    def order(self) -> IntArray:
        """Positions of the attributes that are drawn, the most important first; those without importance are not."""
        order = np.argsort(-self.importances, kind="stable")[: self.top]
        return order[self.importances[order] > 0.0]

    def _size(self) -> tuple[float, float]:
        return _labels.rows_size([self.names[place] for place in self.order])

    def _draw(self, ax: "Axes") -> None:
        order = self.order
        if not order.size:
            _labels.say(ax, "No attribute has any importance; the model is its intercept alone.")
            return
        lengths, names = self.importances[order], [self.names[place] for place in order]
        bars = ax.barh(range(order.size), lengths, 0.62, color=BLUE)
        _labels.label_axis(ax, "x", f"{self.rows}{_labels.count_shown(order.size, len(self.names), 'attributes')}")
        if self.low is not None and self.high is not None:
            low, high = self.low[order], self.high[order]
            style = {"fmt": "none", "ecolor": ink(ax), "elinewidth": 1.2, "capsize": 3.0}
            whiskers = ax.errorbar((low + high) / 2, range(order.size), xerr=(high - low) / 2, **style)
            _labels.legend_below(ax, {BAND_WORDS: whiskers}, rows=names)
            # Numbers stand beyond the whiskers.
            bars = ax.barh(range(order.size), np.maximum(lengths, high), 0.62, visible=False)
        _labels.finish_bars(ax, bars, names, [f"{length:.2g}" for length in lengths])


@dataclass(eq=False, repr=False)
class InteractionDisplay(Display):
    """H statistics of the pairs of attributes as a matrix.

    Parameters
    ----------
    names : tuple of str
        Of all attributes.
    pairs : ndarray of shape (n_features, n_features)
        H of each pair.
    total : ndarray of shape (n_features,)
        H of each attribute with all others.
    top : int, default=20
        Most attributes to draw: those that interact most.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleRegressor
    >>> from rulegrove.plots import InteractionDisplay
    >>> from sklearn.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> model = RuleEnsembleRegressor(n_candidates=100, random_state=0).fit(X, y)
    >>> display = InteractionDisplay.from_estimator(model, X, top=4)
    >>> display.pairs.shape, len(display.order)
    ((10, 10), 4)
    """

    names: tuple[str, ...]
    pairs: FloatArray
    total: FloatArray
    top: int = 20

    @classmethod
    def from_estimator(
        cls,
        model: BaseRuleEnsemble,
        X: Any,
        *,
        target: Any = None,
        sample_weight: Any = None,
        top: int = 20,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the interactions that a fitted model has found.

        Parameters
        ----------
        model : RuleEnsembleClassifier or RuleEnsembleRegressor
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to average over.
        target : label of a class, level of a quantile or name of a number, optional
            Which of several outputs to look at; several numbers need one.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        top : int, default=20
            Most attributes to draw: those that interact most.
        ax : matplotlib Axes, optional
        """
        found = interactions(check_model(model, cls.__name__), X, target=target, sample_weight=sample_weight)
        return cls(found.names, found.pairs, found.total, check_top(top)).plot(ax)

    @property
    def order(self) -> IntArray:
        """Positions of the attributes that are drawn, the most interacting first; those without any are not."""
        order = np.argsort(-self.total, kind="stable")[: self.top]
        return order[self.pairs[order].any(axis=1)]

    def _size(self) -> tuple[float, float]:
        cells = min(max(0.42 * len(self.order), 3.0), 14.0)
        names = _labels.text_width(self._names(), _labels.style_size("ytick.labelsize")) / _labels.POINTS
        return cells + names + 1.6, cells + names + 0.2

    def _names(self) -> list[str]:
        """Names of the attributes that are drawn, long ones cut."""
        return [_labels.wrap(self.names[place], LONGEST_NAME, 1) for place in self.order]

    def _draw(self, ax: "Axes") -> None:
        order, names = self.order, self._names()
        if order.size < 2:
            _labels.say(ax, "No two attributes interact: no rule asks about more than one.")
            return
        # Each pair once: rows from the second attribute on, columns up to the last but one.
        below = np.tril(np.ones((order.size, order.size), dtype=bool), -1)[1:, :-1]
        cells = np.ma.masked_array(self.pairs[np.ix_(order, order)][1:, :-1], ~below)
        image = ax.imshow(cells, cmap=HEAT_MAP, vmin=0.0, aspect="equal")
        ax.spines[:].set_visible(False)
        ax.tick_params(length=0)
        text = f"H of the pair{_labels.count_shown(order.size, len(self.names), 'attributes')}"
        _labels.add_colour_bar(ax, image, text, (1.02, 0.12, 0.04, 0.8))
        for _ in range(2):  # names take room from the cells: once to see what is left, once in the right size
            _labels.label_categories(ax, "y", names[1:])
            _labels.label_categories(ax, "x", names[:-1])
            settle(ax)
        size = min(_labels.axes_size(ax)[1] / len(cells) / 2.6, _labels.font_size(ax, "ytick.labelsize"))
        if order.size > MOST_NUMBERS or size < _labels.SMALLEST:
            return
        for row, column in zip(*np.nonzero(~cells.mask), strict=True):
            value = cells[row, column]
            colour = "white" if value < BRIGHT * cells.max() else "black"
            ax.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=size, color=colour)
