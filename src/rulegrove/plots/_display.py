"""What every display shares: matplotlib on demand, the axes, colours, the model and the output it speaks about."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._typing import FloatArray
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import name_output, refer_to

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# Okabe and Ito (2008), told apart by all common kinds of colour vision; black and yellow would vanish on one ground.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
LINE_STYLES = ("-", "--", ":", "-.")
HEAT_MAP = "cividis"
BAND_WORDS = "9 of 10 lists from other rows"  # what bands and whiskers are


class Display(ABC):
    """A picture with its numbers: subclasses hold the numbers and draw them.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where `plot` drew last.
    figure_ : matplotlib Figure
        The figure of `ax_`.
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"

    __repr__ = short_repr

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw the numbers.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure of a size that suits the content.

        Returns
        -------
        self
            With `ax_` and `figure_` set.
        """
        if ax is None:
            ax = _new_axes(self._size())
        elif not hasattr(ax, "get_subplotspec"):
            raise InvalidInputError(
                f"`ax` must be one matplotlib Axes; got {type(ax).__name__}. Pick one, as in axes[0]."
            )
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax)
        settle(ax)
        return self

    @abstractmethod
    def _size(self) -> tuple[float, float]:
        """Width and height in inches of a figure of its own."""

    @abstractmethod
    def _draw(self, ax: "Axes") -> None:
        """Draw on the axes."""


def _new_axes(size: tuple[float, float]) -> "Axes":
    """Axes of a new figure that finds room for its labels."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "rulegrove.plots draws with matplotlib, which is not installed; run pip install 'rulegrove[plot]'."
        ) from error
    return plt.subplots(figsize=size, layout="constrained")[1]


def root_figure(ax: "Axes") -> "Figure":
    """Return the figure that axes are in, at the top of all subfigures."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def settle(ax: "Axes") -> None:
    """Let the axes take the size that what hangs out of them leaves.

    The layout engine of the figure does it. A grid of subplots without one is laid out once as the constrained layout
    would; axes that were put at a place by hand stay there.
    """
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = root_figure(ax)
    engine = figure.get_layout_engine()
    if engine is None and ax.get_subplotspec() is not None:
        engine = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1)  # words are wider in a file of fewer dots per inch
    if engine is not None:
        engine.execute(figure)


def ink(ax: "Axes") -> Any:
    """Colour of the words of the axes, whatever the style."""
    return ax.xaxis.label.get_color()


def line_style(place: int) -> dict[str, Any]:
    """Return colour, dashes and width of the lines of a picture, by their places."""
    dashes = LINE_STYLES[place // len(PALETTE) % len(LINE_STYLES)]
    return {"color": PALETTE[place % len(PALETTE)], "linestyle": dashes, "linewidth": 1.8}


def check_top(top: Any) -> int:
    """Refuse a number of things to show that is not a positive whole number."""
    if isinstance(top, bool) or not isinstance(top, (int, np.integer)) or top < 1:
        raise InvalidInputError(f"`top` must be a whole number of at least 1; got {top!r}.")
    return int(top)


def name_mean(model: BaseRuleEnsemble, outputs: Sequence[int]) -> str:
    """Return what the mean score of some outputs is, as words for an axis."""
    own, (first, *more) = model.model_, outputs
    if own.labels:
        return "Mean score" if more else f"Mean score for {own.score_words[first]}"
    name = "quantile" if more else name_output(model, first)
    if own.multiplies:
        return f"Predicted {name} (geometric mean)"
    return "Mean prediction" if name == "prediction" else f"Mean predicted {name}"


def name_coefs(model: BaseRuleEnsemble, output: int) -> str:
    """Return what coefficients are of, as words for an axis; of classes a positive one speaks for theirs."""
    name = name_output(model, output)
    if model.model_.multiplies:
        return f"Coefficient (for the logarithm of the {name})"
    return "Coefficient" if name == "prediction" else f"Coefficient (for {refer_to(model, output)})"


def output_coefs(model: BaseRuleEnsemble, output: int) -> FloatArray:
    """Coefficients of the terms for one output, in the order of `rules_`."""
    return np.asarray(np.atleast_2d(model.model_.coefs)[output])
