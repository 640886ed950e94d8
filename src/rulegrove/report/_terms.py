"""What is known of every term: its words, where it holds, what the target is there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.design.linear import RULE_SCALE
from rulegrove.design.terms import Linear, Term
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.rule_table import RankedTerm
from rulegrove.report._given import Given
from rulegrove.report._numbers import shorten
from rulegrove.rules.rule import Rule

MAX_LETTERS = 400  # of a rule that is not in the model


@dataclass(frozen=True, eq=False)
class Facts:
    """What rows say about terms.

    Attributes
    ----------
    supports : ndarray of shape (n_terms,)
        Share of the rows on which a rule holds; NaN for a linear term or where it is not known.
    means : ndarray of shape (n_outputs, n_terms)
        Share of the output's class, or the mean target, on these rows; NaN likewise.
    spreads : ndarray of shape (n_terms,)
        Standard deviation of the term; that of a typical rule where it is not known.
    """

    supports: FloatArray
    means: FloatArray
    spreads: FloatArray


def gather_facts(model: BaseRuleEnsemble, terms: Sequence[Term], given: Given | None) -> Facts:
    """Take what the model knows of its own terms from its training, and measure the others on the rows given.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
    terms : sequence of Rule or Linear
        Those of the model first.
    given : Given or None
        Without rows supports and means of the other rules stay unknown.
    """
    own_coefs = np.atleast_2d(model.model_.coefs)
    n_outputs, n_own = own_coefs.shape
    supports, means = np.full(len(terms), np.nan), np.full((n_outputs, len(terms)), np.nan)
    spreads = np.full(len(terms), RULE_SCALE)
    for place, (row, size) in enumerate(zip(model.rules_, np.abs(own_coefs).sum(axis=0), strict=True)):
        spreads[place] = row.importance / size if size > 0 else RULE_SCALE
        if row.kind == "rule":
            supports[place], means[:, place] = row.support, _training_means(row, n_outputs)
    others = {place: term for place, term in enumerate(terms) if place >= n_own and isinstance(term, Rule)}
    if given is not None and others:
        places, columns = list(others), np.ones((given.n_rows, 1))
        if given.targets is not None:
            columns = np.column_stack([columns, given.targets])
        counts, *sums = given.sample.add_up(list(others.values()), columns).T
        supports[places] = counts / given.n_rows
        spreads[places] = np.sqrt(supports[places] * (1.0 - supports[places]))
        for output, own in enumerate(sums):
            means[output, places] = np.divide(own, counts, out=np.full(len(places), np.nan), where=counts > 0)
    # The design scales each linear candidate to the standard deviation of a typical rule.
    scales = {
        pool[len(pool.rules) + place]: float(scale)
        for pool in model.candidates_.distinct
        for place, scale in enumerate(pool.linear.scale)
    }
    for place in range(n_own, len(terms)):
        if place not in others:
            spreads[place] = RULE_SCALE / scales[terms[place]]
    return Facts(supports, means, spreads)


def _training_means(row: RankedTerm, n_outputs: int) -> list[float]:
    """Share of each output's class, or the mean target, where a rule of the model holds in training."""
    if row.confidences is None:
        return [np.nan if row.mean_target is None else row.mean_target]
    return list(row.confidences.values())[-n_outputs:]


def find_base_rates(model: BaseRuleEnsemble, given: Given | None) -> list[float] | None:
    """Return the share of each output's class among the training rows, else among those given; None if not known."""
    known = model.recall_target().base_rates
    if known is not None:
        return shorten(known)
    if given is not None and given.codes is not None and given.targets is not None:
        return shorten(given.targets.mean(axis=0))
    return None


def describe_terms(model: BaseRuleEnsemble, terms: Sequence[Term], facts: Facts) -> dict[str, Any]:
    """Return all terms for the page: a list for each property, in the order of the terms."""
    features, n_own = model.model_.features, len(model.rules_)
    texts = [term.text(features) for term in terms]
    return {
        "n_own": n_own,
        "texts": [*texts[:n_own], *(_cut(text) for text in texts[n_own:])],
        "features": [list(term.features) for term in terms],
        "supports": shorten(facts.supports),
        "means": shorten(facts.means),
        "spreads": shorten(facts.spreads, None),
        "lines": {
            str(place): shorten([term.lower, term.upper, term.fill], None)
            for place, term in enumerate(terms)
            if isinstance(term, Linear)
        },
    }


def _cut(text: str) -> str:
    return text if len(text) <= MAX_LETTERS else f"{text[: MAX_LETTERS - 1]}…"
