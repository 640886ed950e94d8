"""Figures beyond the paper."""

from typing import TYPE_CHECKING

from rulegrove.study.figures.style import COLOURS, MARKERS, draw_curves, finish, new_figure
from rulegrove.study.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_selection(results: Results) -> "Figure":
    """Penalty and test error of each choice, a point a repetition."""
    figure, ax = new_figure()
    for number, method in enumerate(results.distinct("method")):
        here = results.where(method=method)
        style = {"color": COLOURS[number], "label": f"{method} ({here.mean('terms'):.0f} terms)"}
        ax.plot(here.numbers("penalty"), here.numbers("balanced error"), MARKERS[number], alpha=0.8, **style)
    finish(ax, "Chosen penalty λ", "Balanced test error, %", log_x=True)
    return figure


def draw_robustness(results: Results) -> "Figure":
    """Error on right labels against the share of wrong ones in training."""
    return draw_curves(results, "Share of training labels flipped")


def draw_timing(results: Results) -> "Figure":
    """Seconds of the solvers, and of the ensembles to fit and to predict."""
    figure, axes = new_figure(2)
    groups = (
        ("solver: ", (("path seconds", "path of 13 points"),)),
        ("ensemble: ", (("fit seconds", "fit"), ("predict seconds", "predict"))),
    )
    for ax, (kind, metrics) in zip(axes, groups, strict=True):
        methods = [method for method in results.distinct("method") if method.startswith(kind)]
        for number, (metric, label) in enumerate(metrics):
            means = [results.where(method=method).mean(metric) for method in methods]
            places = [place + (number - (len(metrics) - 1) / 2) * 0.4 for place in range(len(methods))]
            ax.barh(places, means, 0.36, color=COLOURS[number], label=label)
        ax.set_yticks(range(len(methods)), [method.removeprefix(kind) for method in methods])
        ax.invert_yaxis()
        ax.set_xscale("log")
        finish(ax, "Seconds, one thread", "")
    return figure
