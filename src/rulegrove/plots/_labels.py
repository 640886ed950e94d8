"""Words in pictures: kept from being read as formulas, wrapped, and made small enough not to overlap."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rulegrove._typing import BoolArray
from rulegrove.plots._display import ink, root_figure, settle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.cm import ScalarMappable
    from matplotlib.container import BarContainer

FontName = Literal["xtick.labelsize", "ytick.labelsize", "axes.labelsize", "legend.fontsize"]

POINTS = 72.0  # in an inch
LETTER = 0.56  # mean width of a letter over the size of the font
LINE = 1.25  # height of a line over the size of the font
SMALLEST = 5.0  # points; smaller words are left out instead
OWN_WIDTH = 9.0  # inches
TALLEST = 60.0  # inches
MOST_LINES = 3  # of a label in a figure of its own
_WIDE, _HIGH = 3.0, 1.9  # inches of axes in which the fonts of the style look right
_LABEL_SHARE = 0.48  # of the width of all that labels of rows may take
_VALUE_SHARE = 0.6  # of the width of bars that the numbers at their ends may take
_BELOW_SHARE = (0.3, 0.5)  # of the height that a legend may take below small and large axes
_LARGE = 250.0  # points of height of large axes
_GRID_SHARE = 0.5  # of its height that axes of a grid keep when those below and above them have legends
_HANDLE = 4.5  # width of a legend's handle with its margins over the size of the font
_SHRINK = 0.7  # how far a font shrinks before words are cut
_GAP = 0.3  # between two texts over the size of the font
FEW_DECADES = 2.5  # of rates along an axis, each with three numbers
WIDEST = 300.0  # logarithms that are shown


def escape(text: Any) -> str:
    r"""Return text that matplotlib draws as it is: a dollar sign starts no formula."""
    return str(text).replace("$", r"\$")


def signed(value: float) -> str:
    """Return a number with its sign, a true minus."""
    return f"{value:+.2g}".replace("-", "\N{MINUS SIGN}")


def wrap(text: str, width: int, max_lines: int | None = None) -> str:
    """Break a rule into lines, between conditions where these fit on a line, and end it early with an ellipsis.

    Examples
    --------
    >>> print(wrap("glucose > 127.5 and age <= 28.5 and mass > 30", 20))
    glucose > 127.5 and
    age <= 28.5 and
    mass > 30
    >>> print(wrap("glucose > 127.5 and age <= 28.5 and mass > 30", 22, max_lines=1))
    glucose > 127.5 and …
    """
    words = " ".join(text.split())
    parts = words.split(" and ")
    parts = [f"{part} and" for part in parts[:-1]] + parts[-1:]
    held = " ".join(part.replace(" ", "\N{NO-BREAK SPACE}") if len(part) <= width else part for part in parts)
    lines = textwrap.wrap(held, width, break_on_hyphens=False)
    if max_lines is not None and len(lines) > max_lines:
        lines = textwrap.wrap(words, width, break_on_hyphens=False)
        if len(lines) > max_lines:
            last = lines[max_lines - 1]
            lines[max_lines - 1 :] = [f"{last} …" if len(last) <= width - 2 else f"{last[: width - 1].rstrip()}…"]
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def count_shown(n_shown: int, n_all: int, noun: str) -> str:
    """Say how many of some things are shown, if not all."""
    return f" ({n_shown} of {n_all} {noun})" if n_shown < n_all else ""


def style_size(name: FontName) -> float:
    """Return a font size of the current style in points."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=rcParams[name]).get_size_in_points())


def font_size(ax: "Axes", name: FontName) -> float:
    """Return a font size of the current style in points, smaller in small axes."""
    place = ax.get_subplotspec()
    box = ax.get_position() if place is None else place.get_position(ax.figure)  # type: ignore[arg-type]
    width, height = root_figure(ax).get_size_inches() * (box.width, box.height)
    return style_size(name) * float(min(max(min(width / _WIDE, height / _HIGH), 0.6), 1.0))


def axes_size(ax: "Axes") -> tuple[float, float]:
    """Width and height of the axes in points; below others of a grid no more than legends drawn later may leave."""
    ax.apply_aspect()
    figure, place, box = root_figure(ax), ax.get_subplotspec(), ax.get_window_extent()
    height = box.height * POINTS / figure.dpi
    if place is not None and place.get_gridspec().nrows > 1:
        height = min(height, _GRID_SHARE * figure.get_figheight() * POINTS / place.get_gridspec().nrows)
    return box.width * POINTS / figure.dpi, height


def text_width(texts: Sequence[str], size: float) -> float:
    """Return about how many points the longest line of some texts is long."""
    return LETTER * size * max((len(line) for text in texts for line in text.split("\n")), default=0)


def fit_texts(texts: Sequence[str], width: float, height: float, size: float) -> tuple[list[str], float]:
    """Wrap texts and find the largest font, up to `size`, at which each fits into a box; all is in points.

    Where a much smaller font would be needed they end in an ellipsis; where even that takes more than the height of a
    box, only every so many is left.
    """
    longest_word = max((len(word) for text in texts for word in text.split()), default=0)
    least = min(max(_SHRINK * size, SMALLEST), size)
    for smaller in (*np.arange(size, least, -0.5).tolist(), least):
        letters = count_letters(width, smaller)
        wrapped = [wrap(text, letters) for text in texts]
        n_lines = max((text.count("\n") + 1 for text in wrapped), default=1)
        if (n_lines * LINE + _GAP) * smaller <= height and (longest_word <= letters or smaller == least):
            return wrapped, smaller
    size = min(least, max(height / (LINE + _GAP), SMALLEST))
    letters, n_lines = count_letters(width, size), max(int((height / size - _GAP) / LINE), 1)
    stride = math.ceil(LINE * size / max(height, 1.0))
    return [wrap(text, letters, n_lines) if place % stride == 0 else "" for place, text in enumerate(texts)], size


def count_letters(width: float, size: float) -> int:
    """Return about how many letters a line of some points holds, at least six."""
    return max(int(width / (LETTER * size)), 6)


def rows_size(labels: Sequence[str], least_lines: float = 1.0) -> tuple[float, float]:
    """Size in inches of a figure of labelled rows, each as high as its label's lines and at least so many."""
    size = style_size("ytick.labelsize")
    letters = count_letters(_LABEL_SHARE * OWN_WIDTH * POINTS, size)
    lines = max((wrap(label, letters, MOST_LINES).count("\n") + 1 for label in labels), default=1)
    height = 1.2 + len(labels) * (max(lines, least_lines) + 0.4) * LINE * size / POINTS
    return OWN_WIDTH, min(max(height, 2.2), TALLEST)


def label_rows(ax: "Axes", labels: Sequence[str]) -> float:
    """Write labels beside rows 0, 1, 2, ... from the top; what stands below the axes must be there already.

    The points of width that are left for what the rows show are returned.
    """
    ax.set_yticks([])
    ax.set_ylim(len(labels) - 0.4, -0.6)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    settle(ax)
    width, height = axes_size(ax)
    texts, size = fit_texts(
        labels, _LABEL_SHARE * width, height / max(len(labels), 1), font_size(ax, "ytick.labelsize")
    )
    ax.set_yticks(range(len(labels)), [escape(text) for text in texts], fontsize=size)
    ax.tick_params(axis="y", length=0)
    return max(width - text_width(texts, size), 0.3 * width)


def write_values(ax: "Axes", bars: "BarContainer", texts: Sequence[str], width: float) -> None:
    """Write a number at the end of each row's bar and make room for it; none where there is no room."""
    starts, lengths = np.array([(bar.get_x(), bar.get_width()) for bar in bars]).T
    low, high = min(0.0, *starts, *(starts + lengths)), max(0.0, *starts, *(starts + lengths))
    sides = np.array([(lengths < 0.0).any(), (lengths >= 0.0).any()])
    size = min(0.9 * font_size(ax, "ytick.labelsize"), float(ax.get_yticklabels()[0].get_fontsize()))
    needed = sides.sum() * (text_width(texts, size) + 6.0) / width
    smaller = min(max(_VALUE_SHARE / needed, _SHRINK), 1.0)
    size, share = size * smaller, needed * smaller
    if size < SMALLEST or share > _VALUE_SHARE + 0.05:
        return
    left, right = sides * (high - low or 1.0) * share / sides.sum() / (1.0 - share)
    ax.set_xlim(low - left, high + right)
    ax.bar_label(bars, [escape(text) for text in texts], padding=3, fontsize=size, color=ink(ax))


def finish_bars(ax: "Axes", bars: "BarContainer", labels: Sequence[str], numbers: Sequence[str]) -> None:
    """Write a label beside each row and a number at the end of its bar; axis and legend must be there already."""
    write_values(ax, bars, numbers, label_rows(ax, labels))


def label_axis(ax: "Axes", side: Literal["x", "y"], text: str) -> None:
    """Name an axis within its length, in a smaller font or in two lines if need be."""
    across = side == "x"
    length, depth = axes_size(ax) if across else axes_size(ax)[::-1]
    size = font_size(ax, "axes.labelsize")
    (fitted,), size = fit_texts([text], length, _label_room(depth, size), size)
    axis = ax.xaxis if across else ax.yaxis
    axis.set_label_text(escape(fitted), fontsize=size)
    axis.set_tick_params(labelsize=font_size(ax, "xtick.labelsize"))


def _label_room(depth: float, size: float) -> float:
    """Points across that the name of an axis may take: two lines, but one where axes are not deep."""
    return (min(2 * LINE, max(0.15 * depth / size, LINE)) + _GAP) * size


def tell_exponentials(axis: "Axis") -> None:
    """Write round rates along an axis of their logarithms."""
    from matplotlib.ticker import Locator, LogLocator, MaxNLocator

    class RoundRates(Locator):
        """Places of round rates."""

        def __call__(self) -> list[float]:
            return self.tick_values(*axis.get_view_interval())

        def tick_values(self, vmin: float, vmax: float) -> list[float]:
            low, high = np.exp(np.clip(sorted((vmin, vmax)), -WIDEST, WIDEST))
            decades = float(np.log10(high / low))
            log = LogLocator(subs=(1.0, 2.0, 5.0) if decades < FEW_DECADES else (1.0,))
            places = (log if decades > 1.0 else MaxNLocator(5)).tick_values(low, high)
            inside = places[(places >= low) & (places <= high)]
            return list(np.log(inside if inside.size else np.sqrt([low * high])).tolist())

    axis.set_major_locator(RoundRates())
    axis.set_major_formatter(lambda place, _: f"{np.exp(place):,.6g}")


def add_colour_bar(
    ax: "Axes",
    image: "ScalarMappable",
    text: str,
    bounds: tuple[float, float, float, float],
    *,
    exponentials: bool = False,
) -> None:
    """Add a named colour bar at a place in units of the axes, in their fonts; it moves with them.

    `exponentials` tells whether the numbers are logarithms of what is to be read.
    """
    bar = root_figure(ax).colorbar(image, cax=ax.inset_axes(bounds))
    if exponentials:
        tell_exponentials(bar.ax.yaxis)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=font_size(ax, "ytick.labelsize"))
    size = font_size(ax, "axes.labelsize")
    width, height = axes_size(ax)
    (fitted,), size = fit_texts([text], 0.9 * height, _label_room(width, size), size)
    bar.set_label(escape(fitted), fontsize=size)


def say(ax: "Axes", sentence: str) -> None:
    """Write a sentence where there is nothing to draw."""
    width, height = axes_size(ax)
    (text,), size = fit_texts([sentence], 0.9 * width, height, font_size(ax, "axes.labelsize"))
    ax.set_axis_off()
    ax.text(0.5, 0.5, escape(text), transform=ax.transAxes, ha="center", va="center", fontsize=size, color=ink(ax))


def legend_below(ax: "Axes", entries: Mapping[str, Any], n_columns: int = 1, rows: Sequence[str] = ()) -> None:
    """Add a legend of artists by their words under the axes, wrapped to as many columns as fit, up to `n_columns`.

    `rows` are labels that the rows of the axes will have, which leave it less room.
    """
    from matplotlib.transforms import ScaledTranslation

    labels, (width, height) = list(entries), axes_size(ax)
    if rows:
        width -= min(text_width(rows, font_size(ax, "ytick.labelsize")), _LABEL_SHARE * width)
    size = 0.9 * font_size(ax, "legend.fontsize")
    n_columns = max(min(n_columns, len(labels), int(width / (text_width(labels, size) + _HANDLE * size))), 1)
    room = max(_BELOW_SHARE[int(height > _LARGE)] * height, 3 * LINE * SMALLEST) / math.ceil(len(labels) / n_columns)
    texts, size = fit_texts(labels, max(width / n_columns - _HANDLE * size, 60.0), room, size)
    # By points below the words of the horizontal axis, so that the axes may change their size.
    root, tight = root_figure(ax), ax.xaxis.get_tightbbox()
    hanging = 0.0 if tight is None else (ax.get_window_extent().y0 - tight.y0) / root.dpi
    ax.legend(
        list(entries.values()),
        [escape(text) for text in texts],
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        bbox_transform=ax.transAxes + ScaledTranslation(0.0, -hanging - 0.06, root.dpi_scale_trans),
        borderpad=0.0,
        borderaxespad=0.0,
        frameon=False,
        fontsize=size,
        ncols=n_columns,
        columnspacing=1.5,
    )


def group_bars(bars: "BarContainer", first: BoolArray, words: tuple[str, str]) -> dict[str, Any]:
    """Return a bar of each of two groups by the words for the group, of those that have any, for a legend."""
    return {words[not group]: bars[np.argmax(first == group)] for group in (True, False) if (first == group).any()}


def label_categories(ax: "Axes", side: Literal["x", "y"], labels: Sequence[str]) -> None:
    """Write the categories of one side of a matrix, upright where they would overlap."""
    width, height = axes_size(ax)
    size = font_size(ax, "xtick.labelsize")
    room = (width if side == "x" else height) / len(labels)
    upright = side == "x" and text_width(labels, size) > room
    across = 0.4 * height if upright else room if side == "x" else 0.4 * width
    texts, size = fit_texts(labels, across, room if upright or side == "y" else 2.6 * size, size)
    axis = ax.xaxis if side == "x" else ax.yaxis
    axis.set_ticks(range(len(labels)), [escape(text) for text in texts], fontsize=size, rotation=90 if upright else 0)
