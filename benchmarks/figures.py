"""How the plots of the benchmark look, and those of seconds against size."""

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, NullFormatter

from benchmarks.methods import BOOSTING, DEFAULT, FAST
from benchmarks.problems import PROBLEMS
from benchmarks.summaries import Results
from rulegrove.plots._display import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION

DPI = 110
WIDTH = 10.5  # inches
GREY, INK = "#777777", "#333333"
SMALL = 6.5  # points of the labels beside points and lines
NAME_HEIGHT = 0.042  # of the height of the axes that a name takes

# Rule learners by family: colour and marker; a second setting of a family is hollow.
FAMILIES = {
    "imodels RuleFit": (VERMILION, "s"),
    "imodels FIGS": (GREEN, "^"),
    "imodels SkopeRules": (ORANGE, "v"),
    "Boomer": (PURPLE, "D"),
    "RUG": (SKY, "P"),
    "H2O RuleFit": ("#8B4513", "X"),
    "RIPPER": ("#444444", "<"),
    "SIRUS": ("#999900", ">"),
}
SHORT = {  # names that fit beside a point; the others are short enough
    "rulegrove": "default",
    "rulegrove accurate": "accurate",
    "rulegrove readable": "readable",
    "rulegrove fast": "fast",
    "rulegrove, 10 terms": "10 terms",
    "imodels RuleFit": "RuleFit",
    "imodels RuleFit, 25 terms": "RuleFit, 25",
    "imodels FIGS": "FIGS",
    "imodels FIGS, 25 rules": "FIGS, 25",
    "imodels SkopeRules": "Skope",
    "RUG, depth 2": "RUG, 2",
    "H2O RuleFit": "H2O",
}
GROWING = {
    "rows": "training rows",
    "attributes": "attributes (5,000 rows)",
    "rules": "candidate rules (5,000 rows)",
    "classes": "classes (5,000 rows)",
}


def as_png(figure: Figure) -> bytes:
    """Return the bytes of a figure, the same for the same numbers."""
    FigureCanvasAgg(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=DPI, format="png", metadata={"Software": None}, pil_kwargs={"optimize": True})
    return buffer.getvalue()


def lighten(ax: Axes) -> None:
    """Keep what is around the numbers quiet."""
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=7)


def plain_numbers(ax: Axes, *sides: str) -> None:
    """Write the ticks of a logarithmic axis as plain numbers."""
    for side in sides:
        axis = getattr(ax, f"{side}axis")
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axis.set_minor_formatter(NullFormatter())


def family(method: str) -> str:
    """Return the family of a rule learner: its name up to the setting."""
    return method.partition(",")[0]


@dataclass(frozen=True)
class Curve:
    """Seconds of a method as something grows; `ended` if it ran out of time after the last."""

    method: str
    sizes: list[float]
    seconds: list[float]
    ended: bool


def list_curves(results: Results, group: str) -> list[Curve]:
    """Return a curve for every method of a group that has measured anything."""
    curves = []
    for method in results.methods(group):
        pairs = [
            (bench.value, results.mean(group, bench.name, method, "fit_seconds"))
            for bench in PROBLEMS
            if bench.group == group
        ]
        known = [(size, seconds) for size, seconds in pairs if not math.isnan(seconds)]
        later = [b for b in PROBLEMS if b.group == group and known and b.value > known[-1][0]]
        ended = any(results.status(group, bench.name, method) == "time" for bench in later)
        if known:
            curves.append(Curve(method, [size for size, _ in known], [seconds for _, seconds in known], ended))
    return curves


def draw_growth(results: Results, groups: Sequence[str]) -> Figure | None:
    """Draw seconds of a fit against what grows, on logarithmic axes, a panel a group; None without a line."""
    curves = {group: found for group in groups if (found := list_curves(results, group))}
    if not curves:
        return None
    figure = Figure(figsize=(WIDTH * (0.8 if len(curves) == 1 else 1.0), 4.4), dpi=DPI, layout="constrained")
    panels = figure.subplots(1, len(curves), squeeze=False)[0]
    for ax, (group, found) in zip(panels, curves.items(), strict=True):
        _draw_curves(ax, found, GROWING[group])
    panels[0].set_ylabel("seconds of a fit", fontsize=8)
    return figure


def _draw_curves(ax: Axes, curves: Sequence[Curve], x_label: str) -> None:
    lighten(ax)
    ax.set_xscale("log")
    ax.set_yscale("log")
    plain_numbers(ax, "x", "y")
    ax.set_xlabel(x_label, fontsize=8)
    sizes = sorted({size for curve in curves for size in curve.sizes})
    if len(sizes) <= 5:
        ax.set_xticks(sizes)
    for curve in curves:
        colour, width, marker = _line_look(curve.method)
        look: dict[str, Any] = {"color": colour, "linewidth": width, "markersize": 2.5 + width, "zorder": 2 + width}
        ax.plot(curve.sizes, curve.seconds, f"{marker}-", **look)
    _label_ends(ax, curves)


def _line_look(method: str) -> tuple[str, float, str]:
    """Return colour, width and marker: ours strong, boosting in between, others quiet."""
    looks = {DEFAULT: (BLUE, 2.6, "o"), FAST: (VERMILION, 2.6, "o"), BOOSTING: (INK, 1.6, "o")}
    return looks.get(method, (GREY, 1.0, FAMILIES.get(family(method), ("", "o"))[1]))


def _label_ends(ax: Axes, curves: Sequence[Curve]) -> None:
    """Write the names right of the last points: those that end at one size below each other, moved apart."""
    low, high = (math.log10(limit) for limit in ax.get_ylim())
    for size in sorted({curve.sizes[-1] for curve in curves}):
        here = sorted((curve for curve in curves if curve.sizes[-1] == size), key=lambda curve: curve.seconds[-1])
        wanted = [(math.log10(curve.seconds[-1]) - low) / (high - low) for curve in here]
        across = float(ax.transAxes.inverted().transform(ax.transData.transform((size, 1.0)))[0])
        for curve, place, height in zip(here, wanted, spread(wanted, NAME_HEIGHT), strict=True):
            colour = _line_look(curve.method)[0]
            ours = curve.method in (DEFAULT, FAST)
            words = (curve.method if ours else SHORT.get(curve.method, curve.method)) + " (limit)" * curve.ended
            there: dict[str, Any] = {"transform": ax.transAxes, "color": colour, "clip_on": False, "zorder": 8}
            ax.plot([across + 0.012, across + 0.035], [place, height], linewidth=0.6, alpha=0.6, **there)
            text = ax.text(across + 0.04, height, words, fontsize=SMALL + 0.5, va="center", **there)
            text.set(weight="bold" if ours else "normal", path_effects=[withStroke(linewidth=2.5, foreground="white")])


def spread(places: Sequence[float], step: float) -> list[float]:
    """Move sorted places apart to at least a step, as little as a pass up and a pass down can."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + step) if moved else place)
    over = moved[-1] - 1.0 if moved else 0.0
    if over > 0:
        moved[-1] = 1.0
        for number in range(len(moved) - 2, -1, -1):
            moved[number] = min(moved[number], moved[number + 1] - step)
    return moved
