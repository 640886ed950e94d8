"""What is known of every term: its words, where it holds in training, what the target is there."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rulegrove.design.linear import RULE_SCALE
from rulegrove.design.terms import Linear, Term
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.rule_table import RankedTerm
from rulegrove.report._given import Given
from rulegrove.report._lines import Line
from rulegrove.report._numbers import shorten


def describe_terms(lines: Sequence[Line], terms: Sequence[Term]) -> dict[str, Any]:
    """Return all terms for the page: a list for each property, in the order of the terms.

    Parameters
    ----------
    lines : sequence of Line
    terms : sequence of Rule or Linear
        Of all lines, each once.
    """
    known: dict[Term, tuple[RankedTerm, float]] = {}
    for line in lines:
        for row, size in zip(line.rules, np.abs(np.atleast_2d(line.model.coefs)).sum(axis=0), strict=True):
            known[row.term] = row, row.importance / size if size > 0 else RULE_SCALE
    rows, spreads = zip(*(known[term] for term in terms), strict=True) if terms else ((), ())
    n_outputs = len(np.atleast_2d(lines[0].model.coefs))
    means = np.array([_training_means(row, n_outputs) for row in rows]).reshape(len(rows), n_outputs)
    return {
        "texts": [row.text for row in rows],
        "features": [list(term.features) for term in terms],
        "supports": [row.support if row.kind == "rule" else None for row in rows],
        "means": shorten(means.T),
        "spreads": shorten(spreads, None),
        "lines": {
            str(place): shorten([term.lower, term.upper, term.fill], None)
            for place, term in enumerate(terms)
            if isinstance(term, Linear)
        },
    }


def _training_means(row: RankedTerm, n_outputs: int) -> list[float]:
    """Share of each output's class, or the mean target, where a rule holds in training; unknown of other terms."""
    if row.kind != "rule":
        return [np.nan] * n_outputs
    if row.confidences is None:
        return [np.nan if row.mean_target is None else row.mean_target] * n_outputs
    return list(row.confidences.values())[-n_outputs:]


def find_base_rates(model: BaseRuleEnsemble, given: Given | None) -> list[float] | None:
    """Return the share of each output's class among the training rows, else among those given; None if not known."""
    known = model.recall_target().base_rates
    if known is not None:
        return shorten(known)
    if given is not None and given.codes is not None and given.targets is not None:
        return shorten(given.targets.mean(axis=0))
    return None
