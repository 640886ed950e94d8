"""How well targets of other kinds are predicted on some rows, as records that need nothing of what fits."""

from dataclasses import dataclass, field

import numpy as np

from rulegrove._reprs import short_repr
from rulegrove._typing import FloatArray
from rulegrove._words import printable
from rulegrove.estimators.figures import UNKNOWN, Figures, NumberFigures, Reliability, show_number, show_share
from rulegrove.estimators.model import show_output


def name_rate(power: float) -> str:
    """Return what the mean of a Tweedie law of this power is called."""
    return "amount" if power == 2.0 else "rate"


@dataclass(frozen=True, eq=False)
class RateFigures(Figures):
    """How well rates are predicted on some rows. Rows count by their weights in the fit and by their exposure.

    Attributes
    ----------
    power : float
        Power of the loss.
    d2 : float
        Share of the deviance that is explained: one minus the deviance divided by that of the mean rate of the training
        rows.
    deviance, base_deviance : float
        Mean deviance of the predictions, and of the mean rate of the training rows.
    mean, predicted_mean : float
        Mean of the observed and of the predicted rates.
    reliability : Reliability
        Rows in tenths by their predicted rates: the mean predicted and observed rate in each tenth.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.estimators.loss_judging import judge_rates
    >>> y = np.array([1.0, 3.0])
    >>> figures = judge_rates(1.0, y, np.log(y), None, base=2.0)
    >>> figures.d2, figures.mean, round(figures.base_deviance, 3)
    (1.0, 2.0, 0.523)
    """

    power: float
    d2: float
    deviance: float
    base_deviance: float
    mean: float
    predicted_mean: float
    reliability: Reliability = field(repr=False)

    __repr__ = short_repr

    @property
    def noun(self) -> str:
        """What is predicted, in a word."""
        return name_rate(self.power)

    @property
    def table(self) -> dict[str, str]:
        """The figures by name, with those of the mean rate in brackets."""
        losses = f"{show_number(self.deviance)} ({show_number(self.base_deviance)})"
        return {
            "Explained deviance (D²)": show_share(self.d2),
            f"Mean deviance (of the mean {self.noun})": losses,
            f"Mean {self.noun} predicted (came true)": f"{show_number(self.predicted_mean)} ({show_number(self.mean)})",
        }

    @property
    def words(self) -> str:
        """The figures and those of the mean rate, in words."""
        return (
            f"explained deviance (D²) {show_share(self.d2)}, mean deviance {show_number(self.deviance)} (of the mean "
            f"{self.noun} {show_number(self.base_deviance)}), mean {self.noun} {show_number(self.predicted_mean)} "
            f"predicted, {show_number(self.mean)} came true"
        )

    @property
    def headlines(self) -> dict[str, str]:
        """What the figures to see first are of, with the figures."""
        came = f"mean {self.noun} predicted held out; {show_number(self.mean)} came true"
        return {"explained deviance (D²) held out": show_share(self.d2), came: show_number(self.predicted_mean)}


@dataclass(frozen=True, eq=False)
class LevelFigures(Figures):
    """How well quantiles are predicted on some rows. Rows count by their weights in the fit.

    Attributes
    ----------
    d2 : float
        Share of the pinball loss that is explained: one minus it divided by that of the quantiles of the training rows.
    pinball, base_pinball : float
        Mean pinball loss of the predictions, summed over the levels, and that of the quantiles of the training rows.
    levels : ndarray of shape (n_levels,)
    below : ndarray of shape (n_levels,)
        Share of rows whose target is at most the predicted quantile. It should be near the level.

    Examples
    --------
    >>> import numpy as np
    >>> from rulegrove.estimators.loss_judging import judge_levels
    >>> figures = judge_levels((0.5,), np.array([1.0, 3.0]), np.array([[1.0], [3.0]]), None, base=np.array([1.0]))
    >>> figures.d2, figures.below.tolist(), figures.base_pinball
    (1.0, [1.0], 0.5)
    """

    d2: float
    pinball: float
    base_pinball: float
    levels: FloatArray = field(repr=False)
    below: FloatArray = field(repr=False)

    __repr__ = short_repr

    @property
    def _covered(self) -> str:
        """Where targets lie."""
        pairs = zip(self.below.tolist(), self.levels.tolist(), strict=True)
        return ", ".join(f"{show_share(below)} of rows below the {show_output(level)}" for below, level in pairs)

    @property
    def table(self) -> dict[str, str]:
        """The figures by name, with those of a model without rules in brackets."""
        losses = f"{show_number(self.pinball)} ({show_number(self.base_pinball)})"
        pairs = zip(self.below.tolist(), self.levels.tolist(), strict=True)
        return {
            "Explained pinball loss (D²)": show_share(self.d2),
            "Mean pinball loss (without rules)": losses,
            **{f"Rows below the {show_output(level)}": show_share(below) for below, level in pairs},
        }

    @property
    def words(self) -> str:
        """The figures and those of a model without rules, in words."""
        return (
            f"explained pinball loss (D²) {show_share(self.d2)}, mean pinball loss {show_number(self.pinball)} "
            f"(without rules {show_number(self.base_pinball)}), {self._covered}"
        )

    @property
    def headlines(self) -> dict[str, str]:
        """What the figures to see first are of, with the figures."""
        first = {"explained pinball loss (D²) held out": show_share(self.d2)}
        pairs = zip(self.below.tolist(), self.levels.tolist(), strict=True)
        return first | {f"of held-out rows below the {show_output(level)}": show_share(below) for below, level in pairs}


@dataclass(frozen=True, eq=False)
class HazardFigures(Figures):
    """How well the order of events is predicted on some rows. Rows count by their weights in the fit.

    Attributes
    ----------
    concordance : float
        Among the pairs of rows of which one is known to have had its event first: the share whose risks are in that
        order. 0.5 is guessing; NaN if there are no such pairs.
    n_events : int

    Examples
    --------
    >>> print(HazardFigures(100, True, False, 0.71, 40).words)
    concordance 0.710 (guessing: 0.5), 40 events
    """

    concordance: float
    n_events: int

    __repr__ = short_repr

    @property
    def _shown(self) -> str:
        """The concordance, which rows without a pair to compare do not have."""
        return UNKNOWN if np.isnan(self.concordance) else f"{self.concordance:.3f}"

    @property
    def table(self) -> dict[str, str]:
        """The figures by name."""
        return {"Concordance (guessing: 0.5)": self._shown, "Events": f"{self.n_events:,}"}

    @property
    def words(self) -> str:
        """The figures in words."""
        share = "no pairs to compare" if np.isnan(self.concordance) else f"concordance {self._shown} (guessing: 0.5)"
        return f"{share}, {self.n_events:,} event{'' if self.n_events == 1 else 's'}"

    @property
    def headlines(self) -> dict[str, str]:
        """What the figures to see first are of, with the figures."""
        return {
            "concordance held out; guessing: 0.5": self._shown,
            "events among the held-out rows": f"{self.n_events:,}",
        }


@dataclass(frozen=True, eq=False)
class SeveralFigures(Figures):
    """How well several numbers are predicted on some rows. Rows count by their weights in the fit.

    Attributes
    ----------
    names : tuple of str
        Names of the numbers.
    each : tuple of NumberFigures
        Figures of each number, in its own unit.

    Examples
    --------
    >>> from rulegrove.estimators.loss_judging import judge_several
    >>> figures = judge_several(("a", "b"), np.array([[1.0, 5.0], [3.0, 9.0]]), np.array([[1.5, 5.0], [3.5, 9.0]]))
    >>> figures.r2, figures.each[0].rmse
    (0.875, 0.5)
    """

    names: tuple[str, ...]
    each: tuple[NumberFigures, ...]

    __repr__ = short_repr

    @property
    def r2(self) -> float:
        """The mean R squared of the numbers that vary; NaN if none does."""
        known = [own.r2 for own in self.each if not np.isnan(own.r2)]
        return float(np.mean(known)) if known else np.nan

    @property
    def _mean(self) -> str:
        """The mean R squared in words."""
        return UNKNOWN if np.isnan(self.r2) else f"{self.r2:.3f}"

    @property
    def table(self) -> dict[str, str]:
        """The figures by name, with the standard deviation of each number in brackets."""
        pairs = zip(map(printable, self.names), self.each, strict=True)
        each = {f"{figure} of {name}": shown for name, own in pairs for figure, shown in own.table.items()}
        return {"Mean R²": self._mean, **each}

    @property
    def words(self) -> str:
        """The figures and the standard deviation of each number, in words."""
        each = (f"{printable(name)}: {own.words}" for name, own in zip(self.names, self.each, strict=True))
        return f"mean R² {self._mean}; {'; '.join(each)}"

    @property
    def headlines(self) -> dict[str, str]:
        """What the figures to see first are of, with the figures."""
        pairs = zip(map(printable, self.names), self.each, strict=True)
        each = {f"R² of {name} held out": f"{own.r2:.3f}" for name, own in pairs if not np.isnan(own.r2)}
        return {f"mean R² of {len(self.names)} numbers held out": self._mean, **each}
