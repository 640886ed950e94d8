"""Ranked rules, and the coefficients of several models side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.design.linear import RULE_SCALE
from rulegrove.design.terms import Term
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.rule_table import RankedTerm, RuleTable
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import check_model, check_target, refer_to
from rulegrove.plots import _display, _labels
from rulegrove.plots._display import BLUE, PALETTE, VERMILION, Display, output_coefs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NO_TERMS = "The model has no terms; it is its intercept alone."


@dataclass(eq=False, repr=False)
class RulesDisplay(Display):
    """The most important terms of a model as bars.

    A bar is as long as the term is important (``|coefficient|`` times its standard deviation on the training rows), its
    colour tells for what the term speaks, and the number at its end is the coefficient, or what a rate or a hazard is
    multiplied by. Where the fit has made lists
    anew (`n_resamples`), the percentage beside it is how many lists from other rows have the term.

    Parameters
    ----------
    rules : RuleTable
        All terms, in the order of the bars.
    importances : ndarray of shape (n_terms,)
    coefs : ndarray of shape (n_terms,)
        Coefficients for the chosen class; of more than two classes without a choice, for the class that each term says
        most about.
    classes : tuple of str
        What negative and positive coefficients speak for with two classes; empty otherwise.
    target : str or None
        The chosen class of more than two.
    top : int, default=20
        Most terms to draw.
    predicted : str, default="the prediction"
        What terms raise or lower where there are no classes.
    axis : str, default="Importance"
        What the bars are, in words.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.plots import RulesDisplay
    >>> X, y = load("pima", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=100, max_terms=5, random_state=0).fit(X, y)
    >>> display = RulesDisplay.from_estimator(model)
    >>> display.importances.argmax()
    np.int64(0)
    >>> display.ax_.get_xlabel()
    'Importance'
    """

    rules: RuleTable
    importances: FloatArray
    coefs: FloatArray
    classes: tuple[str, ...] = ()
    target: str | None = None
    top: int = 20
    predicted: str = "the prediction"
    axis: str = "Importance"

    @classmethod
    def from_estimator(
        cls, model: BaseRuleEnsemble, *, target: Any = None, top: int = 20, ax: "Axes | None" = None
    ) -> Self:
        """Draw the terms of a fitted model.

        Parameters
        ----------
        model : RuleEnsembleClassifier or RuleEnsembleRegressor
        target : label of a class, level of a quantile or name of a number, optional
            Of several outputs the one whose coefficients to draw; a term's importance for one class or quantile is its
            share by absolute coefficient, and that for several numbers is for all of them together. By default each
            term is drawn with the class it says most about, with the middle quantile or the first number.
        top : int, default=20
            Most terms to draw.
        ax : matplotlib Axes, optional
        """
        rules = check_model(model, cls.__name__).rules_
        importances = np.array([term.importance for term in rules])
        labels, chosen = model.model_.labels, None
        if len(labels) > 2 and target is None:
            coefs = np.array([term.coefficient for term in rules])
        else:
            output = check_target(model, target)
            coefs, chosen = output_coefs(model, output), model.model_.score_words[output] if len(labels) > 2 else None
            shares = _share_coefs(model, coefs)
            order = np.argsort(-importances * shares, kind="stable")
            order = order[coefs[order] != 0]
            rules = rules.take(order.tolist())
            importances, coefs = (importances * shares)[order], coefs[order]
        two = tuple(map(str, labels)) if len(labels) == 2 else ()
        words = () if labels else (refer_to(model, check_target(model, target)), _name_importance(model, target))
        return cls(rules, importances, coefs, two, chosen, _display.check_top(top), *words).plot(ax)

    @property
    def _texts(self) -> list[str]:
        """Words of the terms that are drawn."""
        return [term.text for term in self.rules[: self.top]]

    def _size(self) -> tuple[float, float]:
        return _labels.rows_size(self._texts)

    def _draw(self, ax: "Axes") -> None:
        texts = self._texts
        if not texts:
            _labels.say(ax, NO_TERMS)
            return
        coefs = self.coefs[: self.top]
        colours = np.where(coefs > 0, BLUE, VERMILION).tolist()
        bars = ax.barh(range(len(texts)), self.importances[: self.top], 0.62, color=colours)
        _labels.label_axis(ax, "x", f"{self.axis}{_labels.count_shown(len(texts), len(self.rules), 'terms')}")
        entries = _labels.group_bars(bars, coefs > 0, (self._meaning(True), self._meaning(False)))
        if any(term.returns is not None for term in self.rules[: self.top]):
            (entries["of lists from other rows have it"],) = ax.plot(
                [], [], marker=r"$\%$", linestyle="", color=_display.ink(ax), markeredgewidth=0.0
            )
        _labels.legend_below(ax, entries, n_columns=2, rows=texts)
        numbers = [self._number(term, coef) for term, coef in zip(self.rules, coefs, strict=False)]
        _labels.finish_bars(ax, bars, texts, numbers)

    def _number(self, term: RankedTerm, coef: float) -> str:
        """Return the coefficient, then the class where each term has its own, and how often the term comes back."""
        parts = [_labels.signed(coef) if term.factor is None else f"x {term.factor:.3g}"]
        parts += ["end to end"] * (term.factor is not None and term.kind == "linear")
        parts += [str(term.speaks_for)] * self._names_classes(term)
        parts += [] if term.returns is None else [f"{term.returns:.0%}"]
        return "  ".join(parts)

    def _meaning(self, positive: bool) -> str:
        """Return what a sign stands for."""
        if self.classes:
            return f"speaks for {self.classes[positive]}"
        if self.target is not None:
            return f"speaks {'for' if positive else 'against'} {self.target}"
        if any(map(self._names_classes, self.rules)):
            return f"speaks {'for' if positive else 'against'} the class named"
        return f"{'raises' if positive else 'lowers'} {self.predicted}"

    def _names_classes(self, term: RankedTerm) -> bool:
        """Whether the bar of a term is about a class of its own."""
        return term.speaks_for is not None and term.coefficients is not None and self.target is None


@dataclass(eq=False, repr=False)
class ComparisonDisplay(Display):
    """Coefficients of the same rules in several models, side by side.

    Models of the same data and seed grow the same candidates, whatever their solver, and so can be compared rule by
    rule. A term that a model does not have is a coefficient of zero.

    Parameters
    ----------
    names : tuple of str
        Of the models.
    texts : tuple of str
        The terms in words, the largest absolute coefficient first.
    coefs : ndarray of shape (n_models, n_terms)
        That of a linear term is for 2.5 standard deviations of its attribute, which makes it weigh like a typical
        rule (Friedman and Popescu 2008, section 5).
    target : str or None
        The class that positive coefficients speak for; None in regression.
    top : int, default=10
        Most terms to draw.
    axis : str, default="Coefficient"
        What the coefficients are, in words.

    Examples
    --------
    >>> from rulegrove import Fpc, Glmnet, RuleEnsembleRegressor
    >>> from rulegrove.plots import ComparisonDisplay
    >>> from sklearn.datasets import make_friedman1
    >>> X, y = make_friedman1(200, random_state=0)
    >>> models = [
    ...     RuleEnsembleRegressor(n_candidates=100, solver=solver, random_state=0).fit(X, y)
    ...     for solver in (Glmnet(), Fpc())
    ... ]
    >>> display = ComparisonDisplay.from_estimators(models, top=5)
    >>> display.names
    ('Glmnet', 'Fpc')
    """

    names: tuple[str, ...]
    texts: tuple[str, ...]
    coefs: FloatArray
    target: str | None = None
    top: int = 10
    axis: str = "Coefficient"

    @classmethod
    def from_estimators(
        cls,
        models: Mapping[str, BaseRuleEnsemble] | Sequence[BaseRuleEnsemble],
        *,
        target: Any = None,
        top: int = 10,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the coefficients of several fitted models.

        Parameters
        ----------
        models : dict of str to model, or sequence of models
            A sequence is named by the solvers.
        target : label of a class, optional
            Whose coefficients to draw; needed with more than two classes.
        top : int, default=10
            Most terms to draw.
        ax : matplotlib Axes, optional
        """
        named = models if isinstance(models, Mapping) else _name_by_solver(models)
        if not named:
            raise InvalidInputError(f"{cls.__name__} needs at least one model; got none.")
        columns: dict[Term, tuple[str, FloatArray]] = {}
        for place, (name, model) in enumerate(named.items()):
            check_model(model, f"{cls.__name__} ({name!r})")
            coefs = output_coefs(model, check_target(model, target))
            for term, coef in zip(model.rules_, coefs.tolist(), strict=True):
                column = columns.setdefault(term.term, (term.text, np.zeros(len(named))))[1]
                column[place] = coef if term.kind == "rule" else _per_spread(term, coef)
        ranked = sorted(columns.values(), key=lambda column: -float(np.abs(column[1]).max()))
        matrix = np.array([column for _, column in ranked]).reshape(len(ranked), len(named)).T
        first = next(iter(named.values()))
        output = check_target(first, target)
        speaks_for = first.model_.score_words[output] if first.model_.labels else None
        axis = "Coefficient" if first.model_.labels else _display.name_coefs(first, output)
        texts = tuple(text for text, _ in ranked)
        return cls(tuple(map(str, named)), texts, matrix, speaks_for, _display.check_top(top), axis).plot(ax)

    def _size(self) -> tuple[float, float]:
        return _labels.rows_size(self.texts[: self.top], least_lines=0.6 * len(self.names))

    def _draw(self, ax: "Axes") -> None:
        texts = self.texts[: self.top]
        if not texts:
            _labels.say(ax, "None of the models has any terms.")
            return
        thickness = 0.8 / len(self.names)
        entries = {}
        for place, (name, coefs) in enumerate(zip(self.names, self.coefs[:, : self.top], strict=True)):
            rows = np.arange(len(texts)) + (place - (len(self.names) - 1) / 2) * thickness
            hatch = "" if place < len(PALETTE) else "///"
            colour = PALETTE[place % len(PALETTE)]
            entries[name] = ax.barh(rows, coefs, 0.86 * thickness, color=colour, hatch=hatch)
        ax.axvline(0.0, color=_display.ink(ax), linewidth=0.8)
        ax.margins(x=0.03)
        toward = "" if self.target is None else f", positive speaks for {self.target}"
        shown = _labels.count_shown(len(texts), len(self.texts), "terms")
        _labels.label_axis(ax, "x", f"{self.axis}{toward}{shown}")
        _labels.legend_below(ax, entries, n_columns=len(self.names), rows=texts)
        _labels.label_rows(ax, texts)


def _share_coefs(model: BaseRuleEnsemble, coefs: FloatArray) -> FloatArray:
    """Return the share of each term's importance that is for one output; all of it where units differ."""
    if model.model_.numbers:
        return np.ones(len(coefs))
    return np.asarray(np.abs(coefs) / np.maximum(np.abs(np.atleast_2d(model.coef_)).sum(axis=0), np.finfo(float).tiny))


def _name_importance(model: BaseRuleEnsemble, target: Any) -> str:
    """Return what the bars of a model of numbers are, in words."""
    if model.model_.numbers:
        return "Importance for all numbers together"
    return f"Importance for {refer_to(model, check_target(model, target))}" if model.model_.outputs else "Importance"


def _name_by_solver(models: Sequence[BaseRuleEnsemble]) -> dict[str, BaseRuleEnsemble]:
    """Name models by their solvers; those of one solver are numbered."""
    names = [type(check_model(model, ComparisonDisplay.__name__).solver_[0]).__name__ for model in models]
    return {
        name if names.count(name) == 1 else f"{name} {names[: place + 1].count(name)}": model
        for place, (name, model) in enumerate(zip(names, models, strict=True))
    }


def _per_spread(term: RankedTerm, coef: float) -> float:
    """Return a linear term's coefficient in the unit in which it weighs like a rule, from its importance."""
    whole = abs(term.coefficient) if term.coefficients is None else sum(map(abs, term.coefficients.values()))
    return coef * term.importance / (whole * RULE_SCALE) if whole else 0.0
