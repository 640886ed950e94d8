"""How long rows stay without an event where a rule holds, and where it does not."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulegrove._typing import BoolArray, FloatArray
from rulegrove._validation import check_weights
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.baseline import Baseline
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.survival import RuleEnsembleSurvival
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import check_model
from rulegrove.plots._display import BLUE, VERMILION, Display, ink
from rulegrove.plots._labels import escape, font_size, label_axis, legend_below
from rulegrove.survival import SurvivalCurve, SurvivalTimes, estimate_curve, read_survival

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL = 0.95  # of the bands
BLOCK = 4096  # rows whose survival functions are added up at once
COLOURS = (BLUE, VERMILION)
NAMES = ("holds", "does not")  # of the groups, beside the numbers at risk


@dataclass(eq=False, repr=False)
class SurvivalDisplay(Display):
    """Kaplan-Meier curves of the rows where a rule holds and of those where it does not.

    Bands are 95 % limits for each time on its own. Thin lines are what the model says of the same rows, a mean of their
    predicted survival functions: it knows all terms, not this rule alone. Below stand the rows at risk.

    Parameters
    ----------
    rule : str
        The rule in words.
    curves : tuple of (SurvivalCurve or None)
        Of the rows where it holds, and of the others; None of no rows.
    predicted : tuple of (ndarray of shape (n_times,) or None)
        Mean predicted survival of the same rows; None of no rows, and without a baseline.
    times : ndarray of shape (n_times,)
        At which it is told.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove import RuleEnsembleSurvival
    >>> from rulegrove.plots import SurvivalDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> y = rng.exponential(np.exp(-1.5 * (X[:, 0] > 0))), np.ones(400)
    >>> model = RuleEnsembleSurvival(n_candidates=100, terms="rules", random_state=0).fit(X, y)
    >>> display = SurvivalDisplay.from_estimator(model, X, y, rule=1)
    >>> sum(len(curve.times) for curve in display.curves)
    400
    """

    rule: str
    curves: tuple[SurvivalCurve | None, ...]
    predicted: tuple[FloatArray | None, ...]
    times: FloatArray

    @classmethod
    def from_estimator(
        cls,
        model: BaseRuleEnsemble,
        X: Any,
        y: Any,
        *,
        rule: int | None = None,
        sample_weight: Any = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw how long rows stay without an event by a rule of a fitted model.

        Parameters
        ----------
        model : RuleEnsembleSurvival
        X : array-like or data frame of shape (n_samples, n_features)
            Best rows that the fit has not seen.
        y
            Their times and events, as in `fit`; rows may have been watched from a later moment on.
        rule : int, optional
            Rank of the rule in ``rules_``, from 1; by default the most important term that is a rule.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. Numbers at risk count rows.
        ax : matplotlib Axes, optional
        """
        if not isinstance(check_model(model, cls.__name__), RuleEnsembleSurvival):
            raise InvalidInputError(f"{cls.__name__} needs a RuleEnsembleSurvival; got {type(model).__name__}.")
        place = _find_rule(model, rule)
        columns = model.read_columns(X)
        times = read_survival(y, columns.n_rows, need_events=False)
        weights = check_weights(sample_weight, columns.n_rows)
        held = RuleModel(columns.features, (model.model_.terms[place],), np.ones(1), 0.0).values(columns)[:, 0] > 0.0
        risks = model.model_.decide(model.model_.score(columns))
        return cls.of_groups(model.rules_[place].text, held, times, weights, risks, model.baseline_).plot(ax)

    @classmethod
    def of_groups(
        cls,
        rule: str,
        held: BoolArray,
        times: SurvivalTimes,
        weights: FloatArray | None,
        risks: FloatArray,
        baseline: Baseline | None,
    ) -> Self:
        """Return the numbers of rows where a rule holds and of the others, by their risks."""
        counts = np.ones(len(times)) if weights is None else weights
        groups = [held & (counts > 0.0), ~held & (counts > 0.0)]
        curves = tuple(
            estimate_curve(times.take(own), None if weights is None else weights[own], LEVEL) if own.any() else None
            for own in groups
        )
        if baseline is None:
            return cls(rule, curves, (None, None), np.empty(0))
        predicted = tuple(
            mean_survival(risks[own], baseline.hazards, counts[own]) if own.any() else None for own in groups
        )
        return cls(rule, curves, predicted, baseline.times)

    def _size(self) -> tuple[float, float]:
        return 7.0, 5.6

    def _draw(self, ax: "Axes") -> None:
        entries: dict[str, Any] = {}
        words = (self.rule, "all other rows")
        for curve, said, colour, name in zip(self.curves, self.predicted, COLOURS, words, strict=True):
            if curve is None:
                continue
            band = ax.fill_between(curve.x, curve.low, curve.high, step="post", color=colour, alpha=0.16, linewidth=0.0)
            (line,) = ax.step(curve.x, curve.share, where="post", color=colour, linewidth=1.8)
            entries[f"{name}: {len(curve.times):,} rows, {int(curve.times.event.sum()):,} events"] = (band, line)
            if said is not None:
                until = self.times <= curve.x[-1]
                ax.step(
                    np.append(0.0, self.times[until]),
                    np.append(1.0, said[until]),
                    where="post",
                    color=colour,
                    linewidth=0.9,
                    linestyle="--",
                )
        (entries["as the model predicts"],) = ax.plot([], [], color=ink(ax), linewidth=0.9, linestyle="--")
        if all(said is None for said in self.predicted):
            del entries["as the model predicts"]
        ax.set(ylim=(0.0, 1.03), xlim=(0.0, max(curve.x[-1] for curve in self.curves if curve is not None)))
        ax.spines[["top", "right"]].set_visible(False)
        self._tell_at_risk(ax)
        label_axis(ax, "x", "Time, and rows at risk")
        label_axis(ax, "y", "Share without an event")
        legend_below(ax, entries)

    def _tell_at_risk(self, ax: "Axes") -> None:
        """Write below each time how many rows of each group are at risk, and beside them what the groups are."""
        from matplotlib import rcParams

        size = font_size(ax, "xtick.labelsize")
        left, right = ax.get_xlim()
        moments = np.array([tick for tick in ax.get_xticks() if left <= tick <= right])
        moments = moments[:: 1 + moments.size // 9]
        counts = [None if curve is None else curve.at_risk(moments) for curve in self.curves]
        labels = [
            "\n".join([f"{moment:g}", *("" if own is None else f"{own[place]:,}" for own in counts)])
            for place, moment in enumerate(moments.tolist())
        ]
        ax.set_xticks(moments, labels, fontsize=size)
        pad = float(rcParams["xtick.major.pad"]) + float(ax.xaxis.get_major_ticks()[0].get_tick_padding())
        aside = size * (0.9 + 0.3 * max(map(len, labels[0].split("\n")))) if labels else 0.0
        for line, (name, colour) in enumerate(zip(NAMES, COLOURS, strict=True), start=1):
            ax.annotate(
                "\n" * line + escape(name) + "\n" * (len(NAMES) - line),
                (0.0, 0.0),
                (-aside, -pad),
                xycoords="axes fraction",
                textcoords="offset points",
                ha="right",
                va="top",
                fontsize=size,
                color=colour,
            )


def mean_survival(risks: FloatArray, hazards: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the mean over rows of their predicted survival functions, from the cumulative hazards of a risk of 1."""
    total, shares = float(weights.sum()), np.zeros(len(hazards))
    for start in range(0, len(risks), BLOCK):
        own = slice(start, start + BLOCK)
        shares += weights[own] @ np.exp(-np.outer(risks[own], hazards))
    return shares / total


def _find_rule(model: BaseRuleEnsemble, rank: Any) -> int:
    """Return the place of a rule among the terms of a model by its rank; None is the most important one."""
    ranks = [term.rank for term in model.rules_ if term.kind == "rule"]
    if not ranks:
        raise InvalidInputError("The model has no rule, so there are no groups of rows to compare.")
    if rank is None:
        return ranks[0] - 1
    if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)) or int(rank) not in ranks:
        what = ", which is a linear term" if rank in range(1, len(model.rules_) + 1) else ""
        raise InvalidInputError(
            f"`rule` must be the rank of a rule in `rules_`: {', '.join(map(str, ranks))}; got {rank!r}{what}."
        )
    return int(rank) - 1
