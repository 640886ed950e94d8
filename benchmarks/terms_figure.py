"""The plot of error against number of terms."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath

from benchmarks.figures import DPI, FAMILIES, GREY, INK, SHORT, SMALL, WIDTH, family, lighten, plain_numbers
from benchmarks.methods import BOOSTING, FOREST, named
from benchmarks.summaries import OURS, Results
from rulegrove.plots._display import BLUE

N_COLUMNS = 3
RULE_LEARNERS = named(lambda method: method.kind == "rules")


@dataclass
class Labels:
    """Words beside points that stay clear of each other; boxes are in pixels of the axes."""

    ax: Axes
    taken: list[tuple[float, float, float, float]] = field(default_factory=list)

    def keep_clear(self, x: float, y: float, radius: float = 4.0) -> None:
        """Leave the place of a point free."""
        across, up = self.ax.transData.transform((x, y))
        self.taken.append((across - radius, up - radius, across + radius, up + radius))

    def keep_line_clear(self, xs: Sequence[float], ys: Sequence[float], radius: float = 2.0) -> None:
        """Leave the place of a line free, between its points as well."""
        corners = self.ax.transData.transform(np.column_stack([xs, ys]))
        for start, end in itertools.pairwise(corners):
            for share in np.linspace(0, 1, 2 + int(np.hypot(*(end - start)) / (2 * radius))):
                across, up = start + share * (end - start)
                self.taken.append((across - radius, up - radius, across + radius, up + radius))

    def write(self, x: float, y: float, text: str, colour: str) -> None:
        """Write beside a point where there is room; leave the word out where there is none, the legend has it."""
        scale = self.ax.get_figure(root=True).dpi / 72  # type: ignore[union-attr]
        width, height = TextPath((0, 0), text, size=SMALL * scale).get_extents().width, 1.1 * SMALL * scale
        across, up = self.ax.transData.transform((x, y))
        frame = self.ax.get_window_extent()
        for away in (5.0, 9.0, 14.0, 20.0):
            for right, above in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)):
                left = across + right * away * scale - (width if right < 0 else width / 2 if right == 0 else 0)
                bottom = up + above * away * scale - height / 2
                box = (left, bottom, left + width, bottom + height)
                inside = box[0] >= frame.x0 and box[2] <= frame.x1 and box[1] >= frame.y0 and box[3] <= frame.y1
                if inside and not any(_overlap(box, other) for other in self.taken):
                    self.taken.append(box)
                    place = self.ax.transData.inverted().transform((left, bottom + height / 2))
                    self.ax.text(place[0], place[1], text, fontsize=SMALL, color=colour, va="center", ha="left")
                    return


def _overlap(one: Sequence[float], other: Sequence[float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@dataclass(frozen=True)
class Point:
    """A method on a problem: mean terms a class and mean error."""

    method: str
    terms: float
    error: float


def list_points(results: Results, problem: str, methods: Iterable[str]) -> list[Point]:
    """Return the methods that have both an error and a size."""
    points = []
    for method in methods:
        sizes = list(results.terms_a_class("sets", problem, method).values())
        error = results.mean("sets", problem, method, "error")
        if sizes and not math.isnan(error):
            points.append(Point(method, max(0.5, float(np.mean(sizes))), error))
    return points


def draw_error_against_terms(results: Results) -> Figure:
    """Draw a panel a problem: our models joined by a line, rule learners as points, the better black box dotted."""
    problems = results.problems("sets")
    n_rows = -(-(len(problems) + 1) // N_COLUMNS)
    figure = Figure(figsize=(WIDTH, 2.6 * n_rows), dpi=DPI, layout="constrained")
    panels = figure.subplots(n_rows, N_COLUMNS, squeeze=False).ravel()
    for problem, ax in zip(problems, panels, strict=False):
        _scale_panel(ax, results, problem)
    for ax in panels[len(problems) :]:
        ax.axis("off")
    _explain(panels[len(problems)])
    FigureCanvasAgg(figure)
    figure.draw_without_rendering()  # places are known now, and words can be put beside points
    figure.set_layout_engine("none")
    for problem, ax in zip(problems, panels, strict=False):
        _fill_panel(ax, results, problem)
    return figure


def _scale_panel(ax: Axes, results: Results, problem: str) -> None:
    """Set limits and words of a panel: from the least error to somewhat farther than ours or half of all reach."""
    peers = list_points(results, problem, RULE_LEARNERS)
    ours = list_points(results, problem, OURS)
    black = _black_boxes(results, problem)
    errors = [point.error for point in (*ours, *peers)] + black
    terms = [point.terms for point in (*ours, *peers)]
    lighten(ax)
    ax.set_xscale("log")
    plain_numbers(ax, "x")
    ax.set_title(problem, fontsize=9, loc="left", fontweight="bold", color=INK)
    ax.set_xlabel("terms a class", fontsize=7)
    ax.set_ylabel("error, %", fontsize=7)
    if errors:
        least = min(errors)
        reach = max([point.error for point in ours] + [float(np.median(errors))]) - least
        top = min(max(errors), least + max(1.6 * reach, 0.15 * least, 1.0))
        ax.set_ylim(least - 0.12 * (top - least), top + 0.12 * (top - least))
    if terms:
        ax.set_xlim(min(terms) / 2, max(terms) * 4)


def _fill_panel(ax: Axes, results: Results, problem: str) -> None:
    ours = sorted(list_points(results, problem, OURS), key=lambda point: point.terms)
    peers = list_points(results, problem, RULE_LEARNERS)
    top = ax.get_ylim()[1]
    for error in _black_boxes(results, problem)[:1]:
        ax.axhline(error, color=GREY, linestyle=":", linewidth=1.2)
    ax.plot([p.terms for p in ours], [p.error for p in ours], "o-", color=BLUE, linewidth=2, markersize=5, zorder=4)
    labels = Labels(ax)
    if ours:
        labels.keep_line_clear([p.terms for p in ours], [p.error for p in ours])
    shown = [(point, min(point.error, top)) for point in (*ours, *peers)]
    for point, height in shown:
        labels.keep_clear(point.terms, height)
    for point, height in shown:
        if point.method in OURS:
            labels.write(point.terms, height, SHORT.get(point.method, point.method), BLUE)
            continue
        colour, marker = FAMILIES[family(point.method)]
        hollow = family(point.method) != point.method
        face = "none" if hollow else colour
        ax.plot(point.terms, height, marker, color=colour, markerfacecolor=face, markersize=5, clip_on=False, zorder=3)
        beyond = f" {point.error:.0f} % ↑" if point.error > top else ""
        labels.write(point.terms, height, SHORT.get(point.method, point.method) + beyond, colour)


def _black_boxes(results: Results, problem: str) -> list[float]:
    """Return the error of the better of forest and boosting."""
    errors = [results.mean("sets", problem, method, "error") for method in (FOREST, BOOSTING)]
    known = [error for error in errors if not math.isnan(error)]
    return [min(known)] if known else []


def _explain(ax: Axes) -> None:
    """Draw the legend into a panel of its own."""
    handles: list[Any] = [Line2D([], [], color=BLUE, marker="o", linewidth=2, label="rulegrove, by preset")]
    for name in RULE_LEARNERS:
        colour, marker = FAMILIES[family(name)]
        face = "none" if family(name) != name else colour
        handles.append(Line2D([], [], color=colour, marker=marker, markerfacecolor=face, linestyle="", label=name))
    handles.append(Line2D([], [], color=GREY, linestyle=":", label=f"better of {FOREST} and {BOOSTING}"))
    ax.legend(handles=handles, loc="center", fontsize=7, frameon=False)
