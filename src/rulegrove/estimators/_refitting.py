"""The terms that paths keep, solved for once more over the rows, with ridges that held-out rows choose."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rulegrove._threads import one_blas_thread, run_tasks
from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.bits import compile_rules
from rulegrove.design.rows import collect_rows
from rulegrove.design.terms import Terms
from rulegrove.estimators import autos
from rulegrove.estimators._fitted import sample_held_out
from rulegrove.estimators._fitting import Pool
from rulegrove.estimators._training import NEVER_HELD_OUT, TrainingData
from rulegrove.likelihoods import Likelihood
from rulegrove.projection import Point
from rulegrove.refit import FINE, ROUGH, Kept, Refit, RefitOfNumbers, RefitOfRows, RefitOfSeveral, Ridge, choose_ridge

LEARNED, JUDGED = 0, 1  # folds of rows to learn from and of rows held out


def refit_pools(
    data: TrainingData,
    folds: IntArray,
    pools: Sequence[Pool],
    *,
    likelihood: Likelihood | None,
    n_threads: int,
    ridge: Ridge | None = None,
) -> tuple[list[Pool], Ridge | None]:
    """Return pools with coefficients that were solved for once more, and the ridges that were chosen.

    Parameters
    ----------
    data : TrainingData
        Of all outputs.
    folds : ndarray of shape (n_rows,)
        Fold of every row.
    pools : sequence of Pool
        Those of one run: one for all outputs, or one for each.
    likelihood : Likelihood, optional
        Of rows; None for the squared error, of which statistics tell all.
    n_threads : int
    ridge : Ridge, optional
        Given, so that no rows need to be held out.
    """
    if not all(pool.kept for pool in pools):
        return list(pools), None
    n_folds = len(pools[0].fold_terms)
    held_out = sample_held_out(data, folds, n_folds) if ridge is None else np.empty(0, dtype=np.int64)

    def learned(part: int) -> IntArray:
        return data.rows if part == 0 else data.rows[folds[data.rows] != part - 1]

    def judged(part: int) -> IntArray:
        return np.asarray(held_out[folds[held_out] == part - 1])

    def prepare(part: int, most_rows: int, start: Sequence[Point] | None = None) -> Refit:
        """Return so many rows of the whole data, or of what is left without a fold."""
        kept = [own for pool in pools for own in pool.kept[part]]
        if likelihood is None:
            numbers = tuple(RefitOfNumbers(one) for one in kept)
            return numbers[0] if len(numbers) == 1 else RefitOfSeveral(numbers)
        if start is not None:
            kept = [replace(one, coef=coef / likelihood.unit) for one, (coef, _) in zip(kept, start, strict=True)]
        terms = [pool.design.terms if part == 0 else pool.fold_terms[part - 1] for pool in pools for _ in pool.outputs]
        return collect_kept(likelihood, data, terms, kept, data.draw(learned(part), most_rows), judged(part))

    def weigh(part: int) -> float:
        """Return the weight of the rows that judge."""
        own = pools[0].kept[part][0].held_out
        if likelihood is None and own is not None:
            return own.weight
        rows = judged(part)
        return float(rows.size) if data.weights is None else float(data.weights[rows].sum())

    def finish(part: int, of_few: Ridge, of_many: Ridge) -> list[Point]:
        """Return the coefficients of many rows, which begin with those of few."""
        n_rows, tol = learned(part).size, ROUGH if part else FINE  # what judges needs fewer digits
        if part and (likelihood is None or n_rows <= autos.SEARCH_ROWS):
            return searched[part - 1].solve(of_many, tol)
        start = None
        if part:
            start = searched[part - 1].solve(of_few, ROUGH)
        elif likelihood is not None and n_rows >= 2 * autos.SEARCH_ROWS:
            start = prepare(0, autos.SEARCH_ROWS).solve(of_few, ROUGH)
        return prepare(part, autos.REFIT_ROWS, start).solve(of_many, tol)

    with one_blas_thread():
        parts = range(1, 1 + n_folds)
        searched = run_tasks(lambda part: prepare(part, autos.SEARCH_ROWS), parts, n_threads)
        weights = [weigh(part) for part in parts]
        if ridge is None:
            if not sum(weights):
                return list(pools), None
            ridge = choose_ridge(searched, weights, data.n_counted, n_threads)
        of_few, of_many = ridge, ridge
        if likelihood is not None and n_folds:  # n rows tell as much of coefficients as n times the ridge
            n_rows = min(learned(1).size, autos.REFIT_ROWS)
            of_many = ridge.scaled(autos.SEARCH_ROWS / max(n_rows, autos.SEARCH_ROWS))
        points = run_tasks(lambda part: finish(part, of_few, of_many), range(1 + n_folds), n_threads)
    refitted, place = [], 0
    for pool in pools:
        outputs = []
        for output, chosen in enumerate(pool.outputs):
            own = [
                _widen(terms, kept[output], found[place])
                for terms, kept, found in zip([pool.design.terms, *pool.fold_terms], pool.kept, points, strict=True)
            ]
            selection = replace(chosen.selection, fold_points=tuple(own[1:]))
            outputs.append(replace(chosen, refitted=own[0], selection=selection))
            place += 1
        refitted.append(replace(pool, outputs=outputs, kept=[]))
    return refitted, of_many


def collect_kept(
    likelihood: Likelihood,
    data: TrainingData,
    terms: Sequence[Terms],
    kept: Sequence[Kept],
    learned: IntArray,
    judged: IntArray,
) -> RefitOfRows:
    """Return the kept terms of all outputs on rows to learn from, and on rows held out."""
    sides = np.full(data.columns.n_rows, NEVER_HELD_OUT, dtype=np.int64)
    sides[learned] = LEARNED
    sides[judged] = JUDGED
    rows, targets, starts = [], np.empty(0), np.empty(0, dtype=np.int64)
    for own, those in zip(kept, terms, strict=True):
        taken = those.take(own.columns)
        program = compile_rules(taken.rules, data.columns.n_features)
        found, targets, starts = collect_rows(
            data.columns, program, taken.linear, data.targets, sides, weights=data.weights
        )
        rows.append(found)
    weights, there = rows[0].weights, np.arange(len(targets)) < starts[1]
    learned_weights, judged_weights = np.where(there, weights, 0.0), np.where(there, 0.0, weights)
    return RefitOfRows(likelihood, kept, rows, likelihood.read(targets), learned_weights, judged_weights)


def _widen(terms: Terms, kept: Kept, point: Point) -> Point:
    """Return coefficients of kept terms as those of all candidates."""
    wide: FloatArray = np.zeros(len(terms))
    wide[kept.columns] = point[0]
    return wide, point[1]
