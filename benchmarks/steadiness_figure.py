"""The front between error and steadiness of lists of ten terms: ``python -m benchmarks.steadiness_figure``.

Reads ``results/steadiness.csv`` and writes ``docs/benchmarks/steadiness.png``.
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.figures import GREY, INK, SMALL, WIDTH, as_png
from benchmarks.steadiness import METHODS, RESULTS, SIRUS
from rulegrove import datasets
from rulegrove.plots._display import BLUE, GREEN, VERMILION

PICTURE = Path(__file__).parents[1] / "docs" / "benchmarks" / "steadiness.png"
STABLE = [name for name in METHODS if name.startswith("stable")]
FRONTS = {
    "lines and rules": (["default", *(name for name in STABLE if "rules" not in name)], BLUE),
    "rules alone": (["rules", *(name for name in STABLE if "rules" in name)], GREEN),
}


def main() -> None:
    """Draw a panel a set."""
    with RESULTS.open(newline="") as file:
        lines = list(csv.DictReader(file))
    figure = Figure(figsize=(WIDTH, 4.8), layout="constrained")
    panels = figure.subplots(2, 5)
    for ax, name in zip(panels.flat, datasets.names(), strict=True):
        for label, (methods, colour) in FRONTS.items():
            points = np.array([measure(lines, name, method) for method in methods])
            ax.plot(*points.T, color=colour, marker="o", markersize=3, linewidth=1.2, label=label)
            ax.plot(*points[0], color=colour, marker="D", markersize=6)
        ax.plot(*measure(lines, name, SIRUS), color=VERMILION, marker="s", linestyle="", label=SIRUS)
        dress(ax, name)
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), fontsize=SMALL, frameon=False)
    figure.supxlabel("What lists of disjoint halves have in common, by attribute, side and decile", fontsize=9)
    figure.supylabel("Error in percent", fontsize=9)
    PICTURE.write_bytes(as_png(figure))


def dress(ax: Axes, name: str) -> None:
    """Name a panel and give it its axes, which begin at zero."""
    ax.set_title(name, fontsize=9, color=INK)
    ax.set_xlim(-0.04, 1.04)
    ax.set_ylim(0.0, 1.08 * ax.get_ylim()[1])
    ax.grid(color=GREY, alpha=0.25)
    ax.tick_params(labelsize=SMALL)


def measure(lines: list[dict[str, Any]], name: str, method: str) -> tuple[float, float]:
    """Return the mean agreement by decile and the mean error."""
    here = [line for line in lines if (line["set"], line["method"]) == (name, method)]
    errors = [(float(line["error"]) + float(line["error_other"])) / 2 for line in here]
    return float(np.mean([float(line["deciles"]) for line in here])), float(np.mean(errors))


if __name__ == "__main__":
    main()
