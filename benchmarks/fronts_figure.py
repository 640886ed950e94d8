"""The fronts of the ten sets, before and now: ``python -m benchmarks.fronts_figure``.

Reads ``results/ten_sets.csv`` and ``results/ten_sets_before.csv``, which have the same folds, and writes
``docs/benchmarks/fronts.png``.
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.figures import GREY, INK, SMALL, WIDTH, as_png
from benchmarks.ten_sets import RESULTS, read
from rulegrove import datasets
from rulegrove.plots._display import BLUE, VERMILION

BEFORE = RESULTS.with_name("ten_sets_before.csv")
PICTURE = Path(__file__).parents[1] / "docs" / "benchmarks" / "fronts.png"
LENGTHS = ("5 terms", "10 terms", "25 terms", "large")
FOREST = "RandomForest(1000)"
TICKS = (3, 10, 30, 100, 300)


def main() -> None:
    """Draw a panel a set."""
    with BEFORE.open(newline="") as file:
        before = list(csv.DictReader(file))
    after = read()
    figure = Figure(figsize=(WIDTH, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, 5)
    for ax, name in zip(panels.flat, datasets.names(), strict=True):
        draw(ax, name, before, GREY, "before")
        draw(ax, name, after, BLUE, "now")
        ax.axhline(measure(after, name, FOREST)[1], color=VERMILION, linestyle=":", label="random forest")
        ax.set_title(name, fontsize=9, color=INK)
        ax.set_xscale("log")
        ax.set_xlim(2.5, 500.0)
        ax.set_xticks(TICKS, [str(tick) for tick in TICKS])
        ax.minorticks_off()
        ax.tick_params(labelsize=SMALL)
        ax.set_ylim(0.0, 1.05 * ax.get_ylim()[1])
    figure.supxlabel("Different terms an output", fontsize=9)
    figure.supylabel("Error in percent", fontsize=9)
    panels.flat[0].legend(fontsize=SMALL, frameon=False)
    PICTURE.write_bytes(as_png(figure))


def draw(ax: Axes, name: str, lines: list[dict[str, Any]], colour: str, label: str) -> None:
    """Draw a front, and the default on it."""
    points = np.array([measure(lines, name, length) for length in LENGTHS])
    ax.plot(*points.T, color=colour, marker="o", markersize=3, linewidth=1.2, label=label)
    ax.plot(*measure(lines, name, "default"), color=colour, marker="D", markersize=6, label=f"{label}, default")


def measure(lines: list[dict[str, Any]], name: str, method: str) -> tuple[float, float]:
    """Return the mean number of terms an output and the mean error."""
    here = [line for line in lines if (line["set"], line["method"]) == (name, method)]
    sizes = [float(line["terms"]) / float(line["outputs"]) for line in here if line["terms"]]
    return float(np.mean(sizes)) if sizes else np.nan, float(np.mean([float(line["error"]) for line in here]))


if __name__ == "__main__":
    main()
