"""Figures of the ten sets."""

from typing import TYPE_CHECKING

from rulegrove._typing import FloatArray
from rulegrove.study import paper
from rulegrove.study.ensembles import SOLVERS
from rulegrove.study.figures.style import COLOURS, GREY, draw_bars, finish, new_figure
from rulegrove.study.results import Results
from rulegrove.study.tables import LABELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_vehicle(results: Results) -> "Figure":
    """Error in telling each class of vehicle from the rest."""
    figure, ax = new_figure()
    classes = results.distinct("value")
    names = {"pathbuild": "rule ensemble, Pathbuild", "default": "rule ensemble, default", "bagging": "bagging, ovr"}
    draw_bars(ax, classes, _by_group(results, "value", classes, names, "error"))
    finish(ax, "Class against the rest", "Test error, %")
    return figure


def draw_against_trees(results: Results) -> "Figure":
    """Our errors against those of boosting and bagging, a point a set, beside the paper's."""
    figure, axes = new_figure(2, share_y=True)
    for ax, baseline in zip(axes, ("boosting, voting", "bagging, voting"), strict=True):
        _scatter(ax, results, baseline)
        finish(ax, f"{baseline.capitalize()}: test error, %", "Rule ensemble: test error, %")
    return figure


def _scatter(ax: "Axes", results: Results, baseline: str) -> None:
    """Draw a point a set and method; below the diagonal the rules are better."""
    sets = results.distinct("data")
    theirs = [results.where(data=name, method=baseline).mean("error") for name in sets]
    for number, method in enumerate(("pathbuild", "default")):
        ours = [results.where(data=name, method=method).mean("error") for name in sets]
        ax.plot(theirs, ours, "os"[number], color=COLOURS[number], label=f"ours, {LABELS[method]}", alpha=0.85)
        if method == "default":
            for name, x, y in zip(sets, theirs, ours, strict=True):
                ax.annotate(name, (x, y), xytext=(5, -9), textcoords="offset points", fontsize=7, color=GREY)
    printed = [(paper.ERRORS[baseline][name], paper.ERRORS["pathbuild"][name]) for name in sets]
    ax.plot(*zip(*printed, strict=True), "x", color=GREY, label="the paper, Pathbuild")
    ends = [0.7, 70.0]
    ax.plot(ends, ends, "--", color=GREY, linewidth=0.8)
    ticks = [1, 2, 5, 10, 20, 50]
    ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(ticks, [str(tick) for tick in ticks])
        axis.set_ticks([], minor=True)


def draw_solvers(results: Results) -> "Figure":
    """Error of the solvers on the ten sets."""
    figure, ax = new_figure()
    figure.set_figwidth(9.5)
    sets = results.distinct("data")
    names = {name: LABELS[name] for name in SOLVERS} | {"default": "default"}
    draw_bars(ax, sets, _by_group(results, "data", sets, names, "error"))
    finish(ax, "", "Test error, %")
    return figure


def draw_multiclass(results: Results) -> "Figure":
    """Rules of each class's trees against one pool from multi-class trees: error and seconds."""
    figure, axes = new_figure(2)
    sets = [name for name in results.distinct("data") if paper.SETS[name][2] > 2]
    names = {"glmnet": "trees of each class", "shared": "multi-class trees"}
    for ax, metric, words in zip(axes, ("error", "fit seconds"), ("Test error, %", "Seconds a fit"), strict=True):
        draw_bars(ax, sets, _by_group(results, "data", sets, names, metric))
        finish(ax, "", words)
        if metric == "fit seconds":
            ax.set_yscale("log")
    return figure


def _by_group(
    results: Results, field: str, groups: list[str], names: dict[str, str], metric: str
) -> dict[str, list[FloatArray]]:
    """Return the numbers of each method in each group of lines, by the label of the method."""
    return {
        label: [results.where(**{field: group}, method=method).numbers(metric) for group in groups]
        for method, label in names.items()
    }
