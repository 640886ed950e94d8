"""The front as a report keeps it: a model for each length, or the one model that there is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.design.terms import Term
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.baseline import Baseline
from rulegrove.estimators.figures import Figures
from rulegrove.estimators.front import Front
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.recurrence import Remade
from rulegrove.estimators.rule_table import RuleTable
from rulegrove.report._numbers import shorten


@dataclass(frozen=True, eq=False)
class Line:
    """A model that the page can show.

    Attributes
    ----------
    model : RuleModel
    rules : RuleTable
        Its terms, ranked and described.
    held_out : Figures, optional
        How well held-out rows were predicted.
    remade : tuple of Remade
        Lists from other rows in its place; none of a line that was not chosen, or where no lists were made anew.
    baseline : Baseline, optional
        The cumulative hazard of a score of 0 by this line, where scores are of hazards.
    """

    model: RuleModel
    rules: RuleTable
    held_out: Figures | None
    remade: tuple[Remade, ...] = ()
    baseline: Baseline | None = None


def read_line(model: BaseRuleEnsemble, place: int) -> Line:
    """Return the model of a line of the front; without a front the model itself."""
    front = model.front_
    if front is None:
        return Line(model.model_, model.rules_, model.held_out_, baseline=model.recall_target().meaning.baseline)
    line = front[place]
    baseline = line.link if isinstance(line.link, Baseline) else None
    if place % len(front) == front.chosen:  # its terms come back in lists that were chosen as it was
        return Line(line.fitted.model, model.rules_, line.held_out, front.remade, baseline)
    return Line(line.fitted.model, front.list_rules(place), line.held_out, baseline=baseline)


def list_lines(model: BaseRuleEnsemble) -> list[Line]:
    """Return the models of all lengths, the shortest first; without a front the model alone."""
    return [read_line(model, place) for place in range(1 if model.front_ is None else len(model.front_))]


def list_terms(lines: Sequence[Line]) -> list[Term]:
    """Return all terms of some models, each once."""
    return list(dict.fromkeys(term for line in lines for term in line.model.terms))


def describe_front(front: Front | None) -> dict[str, Any] | None:
    """Return what is known of each length of the front, for the page; None where there is but one."""
    if front is None or len(front) < 2:
        return None
    columns, meaning = front.to_dict(), front.meaning
    names = {"error": meaning.error_words}
    if meaning.error_is_share:  # else the loss is the error, or the square of it
        names[meaning.loss_name] = meaning.loss_words
    return {
        "terms": columns["terms"],
        "rules": columns["rules"],
        "chosen": front.chosen,
        "panels": [
            {
                "name": f"{words} held out",
                "share": meaning.error_is_share and name == "error",
                "values": shorten(columns[name]),
                "standard_errors": shorten(columns[f"{name}_se"]),
            }
            for name, words in names.items()
            if np.isfinite(columns[name]).any()
        ],
    }


def describe_line(line: Line, terms: Sequence[Term], base_rates: Sequence[float] | None) -> list[dict[str, Any]]:
    """Return the terms of each output, by their places among all, with every bit of their coefficients.

    Of several numbers, each in a unit of its own, importances are those for all of them together. Where the base rates
    of the outputs are known, so is from what probability of its class each term leads to what, and
    where lists were made anew, how often each comes back.
    """
    places = {term: place for place, term in enumerate(terms)}
    own = np.array([places[term] for term in line.model.terms], dtype=np.int64)
    coefs = np.atleast_2d(line.model.coefs)
    moved = None if base_rates is None else _follow_terms(line.model, np.array(base_rates))
    returns = np.array([row.returns for row in line.rules], dtype=np.float64)
    importances = np.array([row.importance for row in line.rules])
    return [
        {
            "terms": own[used].tolist(),
            "coefs": shorten(coefs[output, used], None),
            "intercept": float(intercept),
            "importances": shorten(importances[used], None) if line.model.numbers else None,
            "changes": None if moved is None else shorten(moved[output][:, used]),
            "returns": None if np.isnan(returns).all() else shorten(returns[used]),
        }
        for output, (used, intercept) in enumerate(zip(coefs != 0, np.atleast_1d(line.model.intercept), strict=True))
    ]


def _follow_terms(model: RuleModel, base_rates: FloatArray) -> FloatArray:
    """Return what each term does to the probability of each output's class, of shape (n_outputs, 2, n_terms)."""
    shares = np.array([1.0 - base_rates[0], base_rates[0]]) if base_rates.size == 1 else base_rates
    return np.moveaxis(model.follow_terms(shares)[..., -base_rates.size :], 2, 0)
