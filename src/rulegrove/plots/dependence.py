"""Partial dependence on one attribute as a line, on two as a heat map."""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from rulegrove._typing import AnyArray, FloatArray
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.inspection._sample import Sample, check_model, check_target, read_sample
from rulegrove.inspection.dependence import Dependence, find_dependence
from rulegrove.plots import _display, _labels
from rulegrove.plots._display import BAND_WORDS, HEAT_MAP, PALETTE, Display, ink, line_style, name_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXACT_POINTS = 100_000  # no attribute has more jumps than this, so none is left out
N_CELLS = 40  # cells along a numeric attribute of a heat map besides those between its jumps
RUG_POINTS = 200
SPREAD = 0.7  # of a category's row that the classes take, where each has a whisker


@dataclass(eq=False, repr=False)
class DependenceDisplay(Display):
    """Mean score as one or two attributes vary and all others stay as they are in the data.

    Rules make jumps and linear terms make slopes; both are drawn where they are, not smoothed. A rug shows where the
    rows are. Where the fit has made lists anew (`n_resamples`), a line has a band, and the dot of a category a whisker.

    Parameters
    ----------
    names : tuple of str
        The attributes, one or two.
    grids : tuple of ndarray
        Of a numeric attribute the points, both sides of every jump among them; in a heat map the middles of
        the cells. Of a categorical one its categories.
    values : ndarray of shape (n_lines, len(grids[0])) or (len(grids[0]), len(grids[1]))
        Mean scores.
    lines : tuple of (str or None)
        The class that each line, or the heat map, speaks for, the quantile or the number that it predicts; None where
        there is one number.
    edges : tuple of (ndarray or None)
        Borders of the cells of a heat map; None for a categorical attribute, and for a line.
    rugs : tuple of (ndarray or None)
        Quantiles of the known values of a numeric attribute; None for a categorical one.
    missing : ndarray of shape (n_lines,) or None
        Mean scores where the attribute is missing, if it ever is in the data.
    band : ndarray of shape (2, n_lines, len(grids[0])) or None
        Below and above what nine of ten lists from other rows lie, as far as that is known; None for a heat map.
    missing_band : ndarray of shape (2, n_lines) or None
        The same of `missing`.
    axis : str, default="Mean score"
        What the numbers are, as words for an axis.
    multiplies : bool, default=False
        Whether scores are logarithms, of rates or hazard ratios, which the axis then tells.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.plots import DependenceDisplay
    >>> X, y = load("iris", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=100, random_state=0).fit(X, y)
    >>> DependenceDisplay.from_estimator(model, X, 2).lines
    ('Iris-setosa', 'Iris-versicolor', 'Iris-virginica')
    >>> DependenceDisplay.from_estimator(model, X, (2, 3), target="Iris-virginica").values.ndim
    2
    """

    names: tuple[str, ...]
    grids: tuple[AnyArray, ...]
    values: FloatArray
    lines: tuple[str | None, ...]
    edges: tuple[FloatArray | None, ...]
    rugs: tuple[FloatArray | None, ...]
    missing: FloatArray | None = None
    band: FloatArray | None = None
    missing_band: FloatArray | None = None
    axis: str = "Mean score"
    multiplies: bool = False

    @classmethod
    def from_estimator(
        cls,
        model: BaseRuleEnsemble,
        X: Any,
        features: Any,
        *,
        target: Any = None,
        sample_weight: Any = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the partial dependence of a fitted model's score.

        Parameters
        ----------
        model : RuleEnsembleClassifier or RuleEnsembleRegressor
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to average over.
        features : str, int or a pair of them
            Names or positions of one or two attributes.
        target : label of a class, level of a quantile or name of a number, optional
            Which of several outputs to draw. By default all classes, or all quantiles, have a line. Of several numbers,
            each in a unit of its own, it is the first; a heat map of classes needs one.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        ax : matplotlib Axes, optional
        """
        n_outputs = len(np.atleast_2d(check_model(model, cls.__name__).model_.coefs))
        pair = not isinstance(features, (str, Integral)) and len(features) == 2
        every = target is None and not pair and n_outputs > 1 and not model.model_.numbers
        outputs = list(range(n_outputs)) if every else [check_target(model, target)]
        lines = tuple(model.model_.score_words[output] for output in outputs)
        make = cls._of_pair if pair else cls._of_one
        display = make(read_sample(model, X, sample_weight), features, outputs, lines)
        display.axis, display.multiplies = name_mean(model, outputs), model.model_.multiplies
        return display.plot(ax)

    @classmethod
    def _of_one(cls, sample: Sample, feature: Any, outputs: list[int], lines: tuple[str | None, ...]) -> Self:
        """Return the numbers of lines."""
        found = find_dependence(sample, feature, n_points=EXACT_POINTS)
        (place,), (values, band) = found.features, _read_lines(found, outputs)
        missing, missing_band = None, None
        if np.isnan(sample.attribute(place)).any():
            ends, ends_band = _read_lines(find_dependence(sample, place, grid=[None]), outputs)
            missing, missing_band = ends[:, 0], None if ends_band is None else ends_band[..., 0]
        rugs = (_rug(sample, place),)
        return cls(found.names, found.grids, values, lines, (None,), rugs, missing, band, missing_band)

    @classmethod
    def _of_pair(cls, sample: Sample, pair: Any, outputs: list[int], lines: tuple[str | None, ...]) -> Self:
        """Return the numbers of a heat map, whose cells end where the score jumps."""
        sample = replace(sample, remade=())  # a heat map shows no band
        points = [find_dependence(sample, one, n_points=EXACT_POINTS).grids[0] for one in pair]
        edges = tuple(None if own.dtype == object else _cell_edges(own) for own in points)
        grids = tuple(
            own if borders is None else (borders[1:] + borders[:-1]) / 2
            for own, borders in zip(points, edges, strict=True)
        )
        found = find_dependence(sample, pair, grid=grids)
        values = found.values if found.values.ndim == 2 else found.values[outputs[0]]
        return cls(found.names, grids, values, lines, edges, tuple(_rug(sample, place) for place in found.features))

    def _size(self) -> tuple[float, float]:
        if len(self.names) == 2:
            return 7.0, 5.2
        if self.rugs[0] is None:
            return _labels.rows_size(self._categories(0))
        return 7.0, 4.2 + 0.22 * (len(self.lines) > 1 or self.band is not None)

    def _categories(self, place: int) -> list[str]:
        """Labels of a categorical attribute, and of its missing values."""
        return [str(label) for label in self.grids[place]] + ["missing"] * (self.missing is not None)

    def _draw(self, ax: "Axes") -> None:
        if len(self.names) == 2:
            self._draw_map(ax)
        elif self.rugs[0] is None:
            self._draw_categories(ax)
        else:
            self._draw_lines(ax)

    def _draw_lines(self, ax: "Axes") -> None:
        grid, handles, bands = self.grids[0], [], []
        for place, values in enumerate(self.values):
            style = line_style(place)
            handles += ax.plot(grid, values, marker="o" if grid.size == 1 else "", **style)
            if self.missing is not None:
                ax.axhline(self.missing[place], **style | {"linestyle": (0, (1, 3))})
            if self.band is not None:
                bands.append(self._draw_band(ax, place))
        ax.spines[["top", "right"]].set_visible(False)
        ax.margins(y=0.08)
        _draw_rug(ax, self.rugs[0], "x", 0.012)
        dotted = " (dotted: where it is missing)" * (self.missing is not None)
        _labels.label_axis(ax, "x", f"{self.names[0]}{dotted}")
        self._label(ax, "y")
        self._explain(ax, handles, bands)

    def _label(self, ax: "Axes", side: Literal["x", "y"]) -> None:
        """Name the axis of the numbers."""
        if self.multiplies:
            _labels.tell_exponentials(ax.xaxis if side == "x" else ax.yaxis)
        _labels.label_axis(ax, side, self.axis)

    def _draw_band(self, ax: "Axes", place: int) -> Any:
        """Draw the band of a line, and whiskers: of a lone value beside it, of missing values at the right edge."""
        assert self.band is not None
        from matplotlib.transforms import offset_copy

        grid, colour = self.grids[0], line_style(place)["color"]
        if self.missing_band is not None:
            edge = np.full(2, 0.995 - 0.012 * place)
            ax.plot(edge, self.missing_band[:, place], color=colour, transform=ax.get_yaxis_transform(), linewidth=1.4)
        if grid.size == 1 or grid[1] == np.nextafter(grid[0], np.inf):  # before a jump a first value has no width
            beside = offset_copy(ax.transData, _display.root_figure(ax), x=-4.0 * (place + 1), units="points")
            style = {"color": colour, "transform": beside, "linewidth": 1.4, "markersize": 4.0}
            ax.plot(np.full(2, grid[0]), self.band[:, place, 0], **style)
            ax.plot(grid[:1], self.values[place, :1], "o", **style)
        return ax.fill_between(grid, *self.band[:, place], color=colour, alpha=0.2, linewidth=0.0)

    def _draw_categories(self, ax: "Axes") -> None:
        columns = self.values if self.missing is None else np.column_stack([self.values, self.missing])
        bands = self.band
        if bands is not None and self.missing_band is not None:
            bands = np.concatenate([bands, self.missing_band[..., None]], axis=2)
        rows, known = np.arange(columns.shape[1]), columns if bands is None else np.array([columns, *bands])
        ax.hlines(rows, known.min(), known.max(), color=ink(ax), alpha=0.15, linewidth=0.8)
        handles, whiskers = [], []
        for place, values in enumerate(columns):
            colour, own = PALETTE[place % len(PALETTE)], rows.astype(np.float64)
            if bands is not None:  # side by side, or whiskers hide each other
                own += SPREAD * ((place + 0.5) / len(columns) - 0.5)
                whiskers.append(ax.hlines(own, *bands[:, place], color=colour, linewidth=1.4))
            handles += ax.plot(values, own, "osD^v<"[place % 6], color=colour, markersize=7)
        ax.margins(x=0.05)
        self._label(ax, "x")
        self._explain(ax, handles, whiskers)
        _labels.label_rows(ax, self._categories(0))
        _labels.label_axis(ax, "y", self.names[0])

    def _explain(self, ax: "Axes", handles: list[Any], bands: list[Any]) -> None:
        """Say which colour is which class, and what a band is."""
        entries = dict(zip(map(str, self.lines), handles, strict=True)) if len(handles) > 1 else {}
        if bands:
            entries[BAND_WORDS] = tuple(bands)
        if entries:
            _labels.legend_below(ax, entries, n_columns=4)

    def _draw_map(self, ax: "Axes") -> None:
        borders = [
            np.arange(len(grid) + 1) - 0.5 if edges is None else edges
            for grid, edges in zip(self.grids, self.edges, strict=True)
        ]
        mesh = ax.pcolormesh(*borders, self.values.T, cmap=HEAT_MAP, shading="flat", rasterized=True)
        _labels.add_colour_bar(ax, mesh, self.axis, (1.07, 0.0, 0.05, 1.0), exponentials=self.multiplies)
        sides: tuple[Literal["x", "y"], ...] = ("x", "y")
        for place, side in enumerate(sides):
            _labels.label_axis(ax, side, self.names[place])
            if self.edges[place] is None:
                _labels.label_categories(ax, side, self._categories(place))
            else:
                _draw_rug(ax, self.rugs[place], side, 1.018)


def _read_lines(found: Dependence, outputs: list[int]) -> tuple[FloatArray, FloatArray | None]:
    """Return the lines of some outputs, and the low and high ends of their bands as far as these are known."""
    values = np.atleast_2d(found.values)[outputs]
    if found.low is None or found.high is None:
        return values, None
    return values, np.array([np.atleast_2d(ends)[outputs] for ends in (found.low, found.high)])


def _cell_edges(points: FloatArray) -> FloatArray:
    """Borders of cells between which a function does not jump: its jumps, and even steps for its slopes."""
    low, high = float(points[0]), float(points[-1])
    if low == high:
        return np.array([low - 0.5, high + 0.5])
    edges = np.union1d(points, np.linspace(low, high, N_CELLS + 1))
    # The grid has both sides of a jump; one of them is enough.
    apart = np.diff(edges) > 1e-9 * (high - low)
    edges = edges[np.concatenate([[True], apart])]
    edges[-1] = high
    return np.asarray(edges)


def _rug(sample: Sample, place: int) -> FloatArray | None:
    """Quantiles of a numeric attribute; None for a categorical one."""
    if sample.model.features[place].categories is not None:
        return None
    known = sample.known(place)
    return np.quantile(known, np.linspace(0.0, 1.0, RUG_POINTS), method="nearest") if known.size else known


def _draw_rug(ax: "Axes", rug: FloatArray | None, side: Literal["x", "y"], place: float) -> None:
    """Draw short ticks where the values are, at a place across the axes: inside from 0, outside from 1."""
    assert rug is not None
    across = np.full(rug.size, place)
    points, marker = ((rug, across), "|") if side == "x" else ((across, rug), "_")
    transform = ax.get_xaxis_transform() if side == "x" else ax.get_yaxis_transform()
    style: dict[str, Any] = {"color": ink(ax), "alpha": 0.45, "markersize": 6, "markeredgewidth": 0.7, "clip_on": False}
    ax.plot(*points, marker=marker, linestyle="", transform=transform, **style)
