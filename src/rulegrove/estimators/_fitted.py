"""What is made of the chosen points: the model, what the rows say about its terms, held-out scores."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.columns import CHUNK_ROWS, locate_sources
from rulegrove.design.bits import compile_rules
from rulegrove.design.statistics import Margins
from rulegrove.design.terms import Term
from rulegrove.estimators import autos
from rulegrove.estimators._fitting import Pool
from rulegrove.estimators._lists import Large
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators.model import Fitted, RuleModel
from rulegrove.projection import Point
from rulegrove.rules.rule import Alias, Rule


@dataclass
class _Entry:
    """A term of the model in the making."""

    term: Term
    support: float
    mean_target: float
    aliases: tuple[Alias, ...]
    coefs: FloatArray
    importance: float = 0.0


def make_model(
    data: TrainingData, runs: Sequence[Sequence[Margins]], large: Large, points: Sequence[Point] | None = None
) -> Fitted:
    """Return the terms of a model, the most important first.

    Parameters
    ----------
    data : TrainingData
    runs : sequence of sequence of Margins
        What the rows say of the terms of each run: of one pool for all outputs, or of one for each. A term that several
        of them have is one term of the model.
    large : Large
        The large model.
    points : sequence of (ndarray of shape (n_terms,), float), optional
        Other coefficients of its candidates, such as those of a list.
    """
    points = large.points if points is None else points
    entries: dict[Term, _Entry] = {}
    intercepts, output_means, offsets = np.empty(len(points)), np.empty(len(points)), data.offsets
    for output, (coef, intercept) in enumerate(points):
        terms = large.terms[output]
        own = [(pools[0], output) if len(pools) == 1 else (pools[output], 0) for pools in runs]
        first, place = own[0]
        output_means[output] = first.y_sum[place] / first.weight + offsets[output]
        columns = np.flatnonzero(coef)
        own_units = coef[columns] * terms.scales[columns]
        intercepts[output] = intercept - own_units @ terms.centers[columns]
        for column, value in zip(columns.tolist(), own_units, strict=True):
            term, (run, source) = terms[column], large.trace(output, column)
            margins, place = own[run]
            mean = margins.x_sum[source] / margins.weight
            if term not in entries:
                mean_target = margins.x_y[source, place] / (margins.x_sum[source] or 1.0) + offsets[output]
                entries[term] = _Entry(term, mean, mean_target, terms.aliases_of(column), np.zeros(len(points)))
            entries[term].coefs[output] += value
            variance = margins.x_x[source] / margins.weight - mean**2
            entries[term].importance += data.unit * abs(coef[column]) * np.sqrt(max(variance, 0.0))
    ranked = sorted(entries.values(), key=lambda entry: -entry.importance)
    coefs = np.array([entry.coefs for entry in ranked]).reshape(len(ranked), len(points)).T
    coefs, intercepts = data.give_points(coefs, intercepts)
    single = len(points) == 1
    return Fitted(
        RuleModel(
            data.columns.features,
            tuple(entry.term for entry in ranked),
            coefs[0] if single else np.ascontiguousarray(coefs),
            float(intercepts[0]) if single else intercepts,
            data.columns.names,
        ),
        np.array([entry.importance for entry in ranked], dtype=np.float64),
        np.array([entry.support for entry in ranked], dtype=np.float64),
        np.array([entry.mean_target for entry in ranked], dtype=np.float64),
        tuple(entry.aliases for entry in ranked),
        output_means,
    )


def sample_held_out(data: TrainingData, folds: IntArray, n_folds: int) -> IntArray:
    """Return the rows that are held out once, or a fixed draw of many: a curve needs no more.

    Of rows drawn from a larger table these are the last ones drawn, which trees do not see.
    """
    return data.draw(data.rows[folds[data.rows] < n_folds], autos.CALIBRATION_ROWS, last=True)


@dataclass(frozen=True)
class HeldOut:
    """Rows that were held out, with the scores by models that were fitted without their folds.

    Attributes
    ----------
    rows : ndarray of shape (n_scored,)
        Their positions.
    scores, targets : ndarray of shape (n_scored, n_outputs)
        Targets as the fit has them.
    weights : ndarray of shape (n_scored,), optional
    """

    rows: IntArray
    scores: FloatArray
    targets: FloatArray
    weights: FloatArray | None


def score_held_out(data: TrainingData, folds: IntArray, runs: Sequence[Sequence[Pool]]) -> HeldOut | None:
    """Score rows that were held out, at most `CALIBRATION_ROWS`; None where there are none.

    Parameters
    ----------
    data : TrainingData
    folds : ndarray of shape (n_rows,)
        Fold of every row of the table.
    runs : sequence of sequence of Pool
        The pools of each run, of whose models the average counts: one for all outputs, or one for each.
    """
    first = runs[0][0]
    if not first.outputs[0].selection.fold_points:  # the point was given
        return None
    rows = sample_held_out(data, folds, len(first.fold_terms))
    if not rows.size:
        return None
    parts = [data] if len(runs[0]) == 1 else [data.of_output(output) for output in range(len(runs[0]))]
    scores = [
        np.column_stack([held_out_scores(part, rows, folds, pool) for part, pool in zip(parts, pools, strict=True)])
        for pools in runs
    ]
    return HeldOut(rows, np.mean(scores, axis=0), data.targets[rows], data.weights_of(rows))


def held_out_scores(data: TrainingData, rows: IntArray, folds: IntArray, pool: Pool) -> FloatArray:
    """Score rows by the models that were fitted without their folds.

    Parameters
    ----------
    data : TrainingData
    rows : ndarray of shape (n_scored,)
        Positions of the rows.
    folds : ndarray of shape (n_rows,)
        Fold of every row of the table.
    pool : Pool

    Returns
    -------
    ndarray of shape (n_scored, n_outputs)
    """
    scores = np.empty((rows.size, len(pool.outputs)))
    for fold, candidates in enumerate(pool.fold_terms):
        points = pool.fold_points(fold)
        coefs, intercepts = np.array([coef for coef, _ in points]), np.array([intercept for _, intercept in points])
        columns = np.flatnonzero(coefs.any(axis=0))
        own_units = coefs[:, columns] * candidates.scales[columns]
        own_units, shifts = data.give_points(own_units, intercepts - own_units @ candidates.centers[columns])
        used = tuple(candidates[int(column)] for column in columns)
        here = np.flatnonzero(folds[rows] == fold)
        scores[here] = RuleModel(data.columns.features, used, own_units, shifts).score_rows(data.columns, rows[here])
    return scores


def share_classes(data: TrainingData, rules: Sequence[Rule]) -> FloatArray:
    """Return the share of each of more than two classes among the training rows on which each rule holds.

    Returns
    -------
    ndarray of shape (n_rules, n_classes)
    """
    program = compile_rules(rules, data.columns.n_features)
    codes, n_classes = np.argmax(data.targets, axis=1), data.targets.shape[1]
    totals = np.zeros((len(rules), n_classes))
    for start in range(0, data.rows.size, CHUNK_ROWS):
        rows = data.rows[start : start + CHUNK_ROWS]
        weights = data.weights_of(rows)
        members = np.zeros((rows.size, n_classes))
        members[np.arange(rows.size), codes[rows]] = 1.0 if weights is None else weights
        totals += program.evaluate(data.columns.take(rows, program.used_features)).sums(members)
    return np.asarray(totals / np.maximum(totals.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny))


def share_importance(model: RuleModel, importances: FloatArray) -> FloatArray:
    """Share the importance of terms equally among their attributes, and so among columns; all add up to one."""
    shares = np.zeros(len(model.names))
    places = locate_sources(model.features, model.names)
    for term, importance in zip(model.terms, importances, strict=True):
        for feature in term.features:
            shares[places[feature]] += importance / len(term.features)
    return shares / shares.sum() if shares.any() else shares
