"""How every figure looks: matplotlib on demand, colours told apart by all eyes, points of every repetition."""

from collections.abc import Callable, Mapping, Sequence
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


def new_figure(n_columns: int = 1, *, height: float = 1.0, share_y: bool = False) -> "tuple[Figure, Any]":
    """Return a figure outside of any window, and its axes: one, or an array of them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width = _INCHES[0] * (1.0 if n_columns == 1 else 0.75 * n_columns)
    figure = Figure(figsize=(width, _INCHES[1] * height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, n_columns, sharey=share_y)


def finish(ax: "Axes", x: str, y: str, *, legend: bool = True, log_x: bool = False) -> None:
    """Name the axes, and lighten what is around the numbers."""
    ax.set(xlabel=x, ylabel=y)
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if log_x:
        ax.set_xscale("log")
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


Curves = list[tuple[str, Results, str]]  # the label of each curve, its results and the metric that it shows


def by_method(results: Results) -> Curves:
    """Return a curve of the error for each method."""
    return [(method, results.where(method=method), "error") for method in results.distinct("method")]


def by_rate(results: Results) -> Curves:
    """Return curves of the overall, false positive and false negative error."""
    return [(label, results, metric) for metric, label in RATES.items()]


def one_curve(metric: str) -> Callable[[Results], Curves]:
    """Return what has one curve, of a metric."""
    return lambda results: [("mean; points are repetitions", results, metric)]


def draw_sweep(
    results: Results,
    curves: Callable[[Results], Curves],
    x: str,
    y: str = "",
    *,
    log_x: bool = False,
    points: bool = True,
) -> "Figure":
    """Draw a figure of curves over the grid; `y` is the error unless told."""
    figure, ax = new_figure()
    for number, (label, here, metric) in enumerate(curves(results)):
        draw_curve(ax, here, metric, label, number, points=points)
    finish(ax, x, y or f"Test error, %{'' if points else ', mean of the repetitions'}", log_x=log_x)
    return figure


def draw_bars(ax: "Axes", groups: Sequence[str], series: Mapping[str, Sequence[FloatArray]]) -> None:
    """Draw means as bars side by side and standard deviations as whiskers; a series has the numbers of each group."""
    width = 0.8 / len(series)
    for number, (label, numbers) in enumerate(series.items()):
        places = np.arange(len(groups)) + (number - (len(series) - 1) / 2) * width
        heights = [float(np.mean(group)) if group.size else np.nan for group in numbers]
        whiskers = [float(np.std(group, ddof=1)) if group.size > 1 else 0.0 for group in numbers]
        colour = COLOURS[number % len(COLOURS)]
        ax.bar(places, heights, width * 0.92, label=label, color=colour, yerr=whiskers, ecolor=GREY, capsize=1.5)
    ax.set_xticks(np.arange(len(groups)), groups)
