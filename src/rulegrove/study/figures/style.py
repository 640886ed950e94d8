"""How every figure looks: matplotlib on demand, colours told apart by all eyes, points of every repetition."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.study.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe and Ito (2008)
MARKERS = ("o", "s", "^", "D", "v", "P")
GREY = "#666666"
RATES = {
    "error": "overall error",
    "false positive": "false positive rate",
    "false negative": "false negative rate",
}
_INCHES = (6.4, 4.0)


def check_matplotlib() -> None:
    """Refuse to begin what could not be drawn at the end."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "The study draws with matplotlib, which is not installed; run pip install 'rulegrove[plot]'."
        ) from error


def new_figure(
    n_columns: int = 1, n_rows: int = 1, *, height: float = 1.0, share_y: bool = False
) -> "tuple[Figure, Any]":
    """Return a figure outside of any window, and its axes: one, or an array of them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(
        figsize=(_INCHES[0] * (1.0 if n_columns == 1 else 0.75 * n_columns), _INCHES[1] * height * n_rows),
        layout="constrained",
    )
    FigureCanvasAgg(figure)
    return figure, figure.subplots(n_rows, n_columns, sharey=share_y)


def finish(ax: "Axes", x: str, y: str, *, legend: bool = True, log_x: bool = False, zero: bool = False) -> None:
    """Name the axes, and lighten what is around the numbers."""
    ax.set(xlabel=x, ylabel=y)
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if log_x:
        ax.set_xscale("log")
    if zero:
        ax.set_ylim(bottom=0.0)
    if legend:
        columns = min(len(ax.get_legend_handles_labels()[0]), 2)
        ax.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns)


def draw_curve(ax: "Axes", results: Results, metric: str, label: str, number: int, *, points: bool = True) -> None:
    """Draw the mean over the grid as a line and every repetition as a point."""
    grid = results.grid()
    colour = COLOURS[number % len(COLOURS)]
    at = [results.at(value).numbers(metric) for value in grid]
    if points:
        for value, numbers in zip(grid, at, strict=True):
            ax.plot([value] * len(numbers), numbers, ".", color=colour, alpha=0.35, markersize=4)
    marker = MARKERS[number % len(MARKERS)]
    means = [float(np.mean(numbers)) for numbers in at]
    ax.plot(grid, means, marker + "-", color=colour, label=label, markersize=5, linewidth=1.5)


def draw_curves(
    results: Results, x: str, y: str = "Test error, %", *, log_x: bool = False, points: bool = True
) -> "Figure":
    """Draw a figure of the error over the grid, a curve a method."""
    figure, ax = new_figure()
    for number, method in enumerate(results.distinct("method")):
        draw_curve(ax, results.where(method=method), "error", method, number, points=points)
    finish(ax, x, y, log_x=log_x)
    return figure


def draw_rates(ax: "Axes", results: Results) -> None:
    """Draw overall, false positive and false negative error over the grid."""
    for number, (metric, label) in enumerate(RATES.items()):
        draw_curve(ax, results, metric, label, number)


def draw_bars(ax: "Axes", groups: Sequence[str], series: Mapping[str, Sequence[FloatArray]]) -> None:
    """Draw means as bars side by side and standard deviations as whiskers; a series has the numbers of each group."""
    width = 0.8 / len(series)
    for number, (label, numbers) in enumerate(series.items()):
        places = np.arange(len(groups)) + (number - (len(series) - 1) / 2) * width
        heights = [float(np.mean(own)) if own.size else np.nan for own in numbers]
        whiskers = [float(np.std(own, ddof=1)) if own.size > 1 else 0.0 for own in numbers]
        colour = COLOURS[number % len(COLOURS)]
        ax.bar(places, heights, width * 0.92, label=label, color=colour, yerr=whiskers, ecolor=GREY, capsize=1.5)
    ax.set_xticks(np.arange(len(groups)), groups)
