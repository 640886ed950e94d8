"""The edited list as a fitted model like any other."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from rulegrove._typing import FloatArray
from rulegrove.editing.counting import Counts
from rulegrove.editing.families import OfClasses, OfRates
from rulegrove.editing.state import Listed, State
from rulegrove.estimators import autos
from rulegrove.estimators._fitted import share_importance
from rulegrove.estimators.calibration import find_link
from rulegrove.estimators.classes import Classes
from rulegrove.estimators.edits import Edits
from rulegrove.estimators.figures import Figures
from rulegrove.estimators.model import Fitted, RuleModel
from rulegrove.estimators.rule_table import RuleTable
from rulegrove.estimators.target import Target
from rulegrove.rules.rule import Rule

if TYPE_CHECKING:
    from rulegrove.estimators._base import BaseRuleEnsemble


def finish_model(model: "BaseRuleEnsemble", first: State, last: State, edits: Edits) -> "BaseRuleEnsemble":
    """Return a fitted estimator of the edited list.

    Parameters
    ----------
    model : BaseRuleEnsemble
        That was edited.
    first, last : State
        The list as it was fitted, and as it is to be.
    edits : Edits
        The log.
    """
    target, fitted, _ = _describe(model, first, last)
    rules = _rank(model, target, fitted, first)
    found = replace(
        model.recall_fit(),
        model=fitted.model,
        rules=rules,
        feature_importances=share_importance(fitted.model, fitted.importances),
        target=target,
        held_out=_judge(target, fitted.model, last),
        front=None,
    )
    settings = dict(model.settings_)
    if last.solved is not None:
        settings["ridge"] = {"rules": last.ridge, "lines": last.ridge}
        settings |= {"calibration": None} if "calibration" in settings else {}
    new: BaseRuleEnsemble = clone(model)
    new.take_over(found, settings_=settings, edits_=edits)
    return new


def rank_terms(model: "BaseRuleEnsemble", first: State, last: State) -> tuple[RuleTable, Sequence[int]]:
    """Return the terms of the list as it is, ranked and in words, with the number of each."""
    target, fitted, numbers = _describe(model, first, last, whole=True)
    return _rank(model, target, fitted, first), numbers


def _describe(
    model: "BaseRuleEnsemble", first: State, last: State, *, whole: bool = False
) -> tuple[Target, Fitted, Sequence[int]]:
    """Return the target, the list with what rows say of its terms, and the numbers of these, all in rank order.

    Terms without a weight are left out, unless the whole list is asked for.
    """
    told = _recall(model, first, last) if last.counts is None else _count(last, last.counts)
    target = model.recall_target()
    if last.counts is not None and isinstance(target, Classes):
        sums = last.counts.sums.sum(axis=(0, 1))
        link = find_link("logistic", last.n_outputs, together=last.n_outputs > 1)
        target = replace(target, shares=sums / sums.sum(), fitted_link=link)
    numbers = [number for number, own in last.terms.items() if whole or own.coefs.any()]
    places = {number: place for place, number in enumerate(last.terms)}
    numbers.sort(key=lambda number: -told.importances[places[number]])
    order = np.array([places[number] for number in numbers], dtype=np.int64)
    terms = [last.terms[number] for number in numbers]
    coefs = np.array([own.coefs for own in terms]).reshape(len(terms), last.n_outputs).T
    single = last.n_outputs == 1
    ranked = RuleModel(
        last.features,
        tuple(own.term for own in terms),
        coefs[0].copy() if single else np.ascontiguousarray(coefs),
        float(last.intercepts[0]) if single else last.intercepts,
        model.model_.columns,
    )
    linked = target.meaning.link_model(ranked, getattr(target, "fitted_link", None))
    if last.counts is None:
        linked = replace(linked, link=model.model_.link)
    fitted = replace(
        told,
        model=linked,
        importances=told.importances[order],
        supports=told.supports[order],
        mean_targets=told.mean_targets[order],
        aliases=((),) * len(order),
    )
    return target, fitted, numbers


def _rank(model: "BaseRuleEnsemble", target: Target, fitted: Fitted, first: State) -> RuleTable:
    """Return the terms in words; those of the fitted list keep the rules that are the same column of its rows."""
    table = target.meaning.rank(fitted)
    known = {row.term: row.aliases for row in model.rules_}
    return RuleTable((replace(row, aliases=known.get(row.term, ())) for row in table), table.about, table.told)


def _count(state: State, counts: Counts) -> Fitted:
    """Tell what the rows of the session say of the terms."""
    terms, sums, rows = list(state.terms.values()), counts.sums.sum(axis=1), counts.rows
    values, (means, variances) = state.values[:, 1:], state.moments
    shares = None
    if isinstance(rows.family, OfClasses):
        held = values.T @ sums
        weight = held.sum(axis=1, keepdims=True)
        held /= np.where(weight > 0.0, weight, 1.0)
        told = 2.0 * held[:, -1] - 1.0
        shares = {own.term: part for own, part in zip(terms, held, strict=True) if isinstance(own.term, Rule)}
    else:
        weight, total = (values.T @ sums[:, 1:]).T
        told = rows.center + rows.scale * total / np.where(weight > 0.0, weight, 1.0)
    return _tell(state, terms, means, np.sqrt(variances), np.asarray(told), shares)


def _recall(model: "BaseRuleEnsemble", first: State, last: State) -> Fitted:
    """Tell what the rows of the fit said of the terms, all of which the fitted list has."""
    rows = {row.term: row for row in model.rules_}
    was = {own.term: own.coefs for own in first.terms.values()}
    terms = list(last.terms.values())
    own = [rows[listed.term] for listed in terms]
    spreads = [row.importance / (np.abs(was[row.term]).sum() or 1.0) for row in own]
    told, shares = [], {}
    for row in own:
        if row.confidences is not None and isinstance(row.term, Rule):
            shares[row.term] = np.array(list(row.confidences.values()))
            told.append(2.0 * shares[row.term][-1] - 1.0)
        else:
            told.append(row.mean_target or 0.0)
    means = [row.support if isinstance(row.term, Rule) else row.term.fill for row in own]
    return _tell(last, terms, np.array(means), np.array(spreads), np.array(told), shares)


def _tell(
    state: State,
    terms: Sequence[Listed],
    means: FloatArray,
    spreads: FloatArray,
    told: FloatArray,
    shares: dict[Rule, FloatArray] | None,
) -> Fitted:
    """Return what is told of terms in the order of their numbers; the model is that of no terms."""
    sizes = np.array([np.abs(own.coefs).sum() for own in terms])
    nothing = RuleModel(state.features, (), np.zeros(0), 0.0)
    return Fitted(nothing, sizes * spreads, means, told, (), np.zeros(state.n_outputs), shares)


def _judge(target: Target, model: RuleModel, state: State) -> Figures | None:
    """Tell how well rows are predicted that were held out of the weights, of which there are 10,000 at most."""
    counts = state.counts
    if counts is None or state.solved is None:
        return None
    rows, size = counts.rows, autos.CALIBRATION_ROWS
    here = np.flatnonzero(rows.folds < rows.n_folds)
    if here.size > size:
        here = np.sort(np.random.default_rng(0).choice(here, size, replace=False))
    scores = np.empty((here.size, state.n_outputs))
    for fold in range(rows.n_folds):
        own = rows.folds[here] == fold
        coefs = rows.give_back(state.solved[1 + fold])
        scores[own] = state.values[counts.places[here[own]]] @ coefs.T
    observed = rows.y[here] if isinstance(rows.family, OfClasses) else rows.center + rows.scale * rows.y[here]
    if isinstance(rows.family, OfRates):
        observed = np.maximum(observed, 0.0)
    weights = None if rows.weights is None else rows.weights[here]
    return target.judge_rows(model, observed, scores if state.n_outputs > 1 else scores[:, 0], weights, honest=False)
