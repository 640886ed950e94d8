"""What every display shares: matplotlib on demand, the axes, colours, the model and the output it speaks about."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulegrove._typing import FloatArray
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.exceptions import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# Okabe and Ito (2008), told apart by all common kinds of colour vision; black and yellow would vanish on one ground.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
LINE_STYLES = ("-", "--", ":", "-.")
HEAT_MAP = "cividis"

# Inches beside the axes that a grid of subplots without a layout engine leaves free: left, bottom, right, top.
_FREE = (0.3, 0.25, 0.1, 0.1)
_LEAST_SHARE = 0.3  # of its width and height that axes keep when their labels claim room


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
        axes = self._new_axes() if ax is None else _check_axes(ax)
        self.ax_, self.figure_ = axes, axes.figure
        self._draw(axes)
        settle(axes)
        return self

    def _new_axes(self) -> "Axes":
        """Axes of a new figure that finds room for its labels."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError(
                "rulegrove.plots draws with matplotlib, which is not installed; run pip install 'rulegrove[plot]'."
            ) from error
        return plt.subplots(figsize=self._size(), layout="constrained")[1]

    @abstractmethod
    def _size(self) -> tuple[float, float]:
        """Width and height in inches of a figure of its own."""

    @abstractmethod
    def _draw(self, ax: "Axes") -> None:
        """Draw on the axes."""


def _check_axes(ax: Any) -> "Axes":
    """Refuse what is not one matplotlib Axes, such as the array of a grid of subplots."""
    if not hasattr(ax, "get_subplotspec"):
        raise InvalidInputError(f"`ax` must be one matplotlib Axes; got {type(ax).__name__}. Pick one, as in axes[0].")
    return ax  # type: ignore[no-any-return]


def root_figure(ax: "Axes") -> "Figure":
    """Return the figure that axes are in, at the top of all subfigures."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def settle(ax: "Axes") -> None:
    """Let the axes take the size that what hangs out of them leaves.

    A layout engine does it. Without one, axes of a grid of subplots shrink to keep their labels and legends in their
    place of the grid, as they would for a colour bar; axes put at a place by hand stay there.
    """
    engine, place = root_figure(ax).get_layout_engine(), ax.get_subplotspec()
    if engine is not None:
        engine.execute(root_figure(ax))
    elif place is not None:
        _move(ax, place.get_position(ax.figure).bounds)  # type: ignore[arg-type]
        left, bottom, right, top = _hanging(ax)
        x, y, width, height = ax.get_position().bounds
        _move(ax, (x + left * width, y + bottom * height, (1 - left - right) * width, (1 - bottom - top) * height))


def _hanging(ax: "Axes") -> FloatArray:
    """How far labels hang out on the left, below, on the right and on top, beyond what is free, by the axes' size."""
    inner, outer = ax.get_window_extent(), ax.get_tightbbox()
    assert outer is not None
    out = np.array([inner.x0 - outer.x0, inner.y0 - outer.y0, outer.x1 - inner.x1, outer.y1 - inner.y1])
    shares = np.maximum(out - np.array(_FREE) * root_figure(ax).dpi, 0.0) / np.tile([inner.width, inner.height], 2)
    for sides in ([0, 2], [1, 3]):
        shares[sides] *= min(1.0, (1.0 - _LEAST_SHARE) / max(shares[sides].sum(), 1e-9))
    return np.asarray(shares)


def _move(ax: "Axes", bounds: tuple[float, float, float, float]) -> None:
    """Put the axes and their twins at a place without taking them out of a later layout."""
    for one in ax._twinned_axes.get_siblings(ax):  # type: ignore[attr-defined]
        one.set_position(bounds)
        one.set_in_layout(True)


def ink(ax: "Axes") -> Any:
    """Colour of the words of the axes, whatever the style."""
    return ax.xaxis.label.get_color()


def check_model(model: Any, what: str) -> BaseRuleEnsemble:
    """Refuse what is not a fitted rule ensemble."""
    if not isinstance(model, BaseRuleEnsemble):
        raise InvalidInputError(
            f"{what} needs a RuleEnsembleClassifier or a RuleEnsembleRegressor; got {type(model).__name__}. "
            "Of a pipeline pass the last step, and X as that step sees it."
        )
    check_is_fitted(model)
    return model


def check_top(top: Any) -> int:
    """Refuse a number of things to show that is not a positive whole number."""
    if isinstance(top, bool) or not isinstance(top, (int, np.integer)) or top < 1:
        raise InvalidInputError(f"`top` must be a whole number of at least 1; got {top!r}.")
    return int(top)


def class_labels(model: BaseRuleEnsemble) -> list[Any]:
    """Return the classes, as Python values; none in regression."""
    classes = getattr(model, "classes_", None)
    return [] if classes is None else list(classes.tolist())


def check_target(model: BaseRuleEnsemble, target: Any) -> int:
    """Return the position of the class `target` among several outputs; 0 for a model of one output.

    A score of two classes speaks for the second of them, so that is the only one to ask for.
    """
    labels = class_labels(model)
    if len(labels) < 3:
        if target is not None and labels[1:] != [target]:
            only = f"{labels[1]!r}, for which a positive score speaks" if labels else "None"
            raise InvalidInputError(f"`target` of a model of one output must be {only}; got {target!r}.")
        return 0
    if target not in labels:
        raise InvalidInputError(
            f"`target` must be one of the {len(labels)} classes {', '.join(map(repr, labels))}; got {target!r}."
        )
    return labels.index(target)


def output_name(model: BaseRuleEnsemble, output: int) -> str | None:
    """Class that an output's score speaks for; None in regression."""
    labels = class_labels(model)
    if not labels:
        return None
    return str(labels[1] if len(labels) == 2 else labels[output])


def output_coefs(model: BaseRuleEnsemble, output: int) -> FloatArray:
    """Coefficients of the terms for one output, in the order of `rules_`."""
    return np.asarray(np.atleast_2d(model.coef_)[output], dtype=np.float64)
