"""Lists made anew from halves of the rows, as those of a fit were made from all of them."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from rulegrove._progress import Progress
from rulegrove._threads import run_tasks
from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.bits import BitMatrix, compile_rules
from rulegrove.design.linear import join_linear
from rulegrove.design.statistics import Margins
from rulegrove.design.terms import Term
from rulegrove.estimators._design import count_alone
from rulegrove.estimators._fitted import make_model
from rulegrove.estimators._fitting import Plan, Pool, count_rows, grow_pools, solve_pool, spawn_pairs
from rulegrove.estimators._refitting import refit_pools
from rulegrove.estimators._shortening import Choices, Shortening, count_offered, large_of
from rulegrove.estimators._training import NEVER_HELD_OUT, TrainingData, split_halves
from rulegrove.estimators.calibration import Link
from rulegrove.estimators.front import LONGEST, Front
from rulegrove.estimators.model import Fitted
from rulegrove.estimators.recurrence import LINES_FIRST, NEVER, WHOLE, Choice, Draws, Recurrence, Remade, find_spans
from rulegrove.estimators.steady import ALIKE
from rulegrove.refit import Ridge
from rulegrove.rules.rule import Rule

N_CANDIDATES = 500  # rules grown for each list, for its order hardly depends on more
MOST_ROWS = 5000  # of a half
N_DRAWS = 50  # of held-out rows, which choose the length and the order of a list
COMMON_ROWS = 4096  # on which rules are compared
HALF = 2.0  # a ridge tells as much in half of the rows as twice the ridge, a penalty as its square root


@dataclass(frozen=True, eq=False)
class Resampling:
    """What makes lists of some of the rows: what the fit has settled, but for its rules and coefficients.

    Attributes
    ----------
    data : TrainingData
    pools : sequence of Pool
        Of the fit, with their chosen points, in the units of the data.
    plan : Plan
    selection : {"1se", "min"} or float
        As the user has it.
    ridge : Ridge, optional
    shortening : Shortening
    link : Temperature, Curves or None
        Of the large model.
    """

    data: TrainingData
    pools: Sequence[Pool]
    plan: Plan
    selection: str | float
    ridge: Ridge | None
    shortening: Shortening
    link: Link | None

    def remake(
        self, rows: IntArray, rng: np.random.Generator, choice: Choice, *, both: bool
    ) -> tuple[list[list[list[Term]]], Fitted]:
        """Return the terms of each output as they enter a list, in every order that is asked for, and a list.

        Parameters
        ----------
        rows : ndarray of shape (n_half,)
        rng : numpy.random.Generator
        choice : Choice
            Which list to return; the terms of a large model are a third order.
        both : bool
            Whether lists may begin with linear terms.
        """
        data, pools = self._solve(rows, rng, whole=choice.order == WHOLE)
        large = large_of(pools)
        offered = self.shortening.offer(data, rows, large, self.link, 1)
        chosen = None if choice.order == WHOLE else (choice.length, choice.order == LINES_FIRST)
        orders, points = self.shortening.remake(data, rows, offered, self.link, LONGEST, chosen, both=both)
        orders = [orders[0], orders[-1]]
        margins = [[pool.design.margins for pool in pools]]
        if points is None:
            kept = zip(large.terms, large.points, strict=True)
            orders.append([[terms[place] for place in np.flatnonzero(coef).tolist()] for terms, (coef, _) in kept])
            return orders, make_model(data, margins, large)
        if offered.listed is not None:
            margins.append([count_offered(offered, [points], partial(_count, data))])
        return orders, make_model(data, margins, offered, points)

    def _solve(self, rows: IntArray, rng: np.random.Generator, *, whole: bool) -> tuple[TrainingData, list[Pool]]:
        """Return some rows and the pools of their large model, in the units of the user."""
        data = replace(self.data, rows=rows, drawn=None)
        folds = _mark(data)
        growth, n_pools = self.plan.growth, len(self.pools)
        if not whole:
            n_candidates = min(growth.settings.n_candidates, N_CANDIDATES)
            growth = replace(growth, settings=replace(growth.settings, n_candidates=n_candidates))
        plan = replace(
            self.plan,
            growth=growth,
            folds=folds,
            n_folds=0,
            honest=False,
            screens=False,
            refits=self.ridge is not None,
            keeps=False,
            n_threads=1,
        )
        parts = [data] if n_pools == 1 else [data.of_output(output) for output in range(n_pools)]
        plans = [replace(plan, solver=own.outputs[0].solver, selection=_find_point(own)) for own in self.pools]
        grown = grow_pools(parts, plans[0], spawn_pairs(rng.spawn(2), n_pools), Progress())
        pools = [
            solve_pool(one, own, count_rows(one, own, Progress()), Progress())
            for one, own in zip(grown, plans, strict=True)
        ]
        if self.ridge is not None:
            likelihood, ridge = self.shortening.target.likelihood, self.ridge.scaled(HALF)
            pools, _ = refit_pools(data, folds, pools, likelihood=likelihood, n_threads=1, ridge=ridge)
        if data.units.is_plain:
            return data, pools
        return data.give_back(), [pool.give_back(data.units, self.selection) for pool in pools]


def _mark(data: TrainingData) -> IntArray:
    """Return a fold for the rows that count, and none for the others."""
    folds = np.full(data.columns.n_rows, NEVER_HELD_OUT, dtype=np.int64)
    folds[data.rows] = 0
    return folds


def _count(data: TrainingData, rules: Sequence[Rule]) -> Margins:
    """Return what the rows say of rules that were offered."""
    return count_alone(data, (tuple(rules), join_linear([])), _mark(data), 1, Progress().stage("Counting rules"))


def _find_point(pool: Pool) -> float:
    """Return the point of the path for half of the rows, the mean of those of all outputs."""
    points = [one.path.parameter.values[one.selection.index] for one in pool.outputs]
    if pool.outputs[0].path.parameter.name != "penalty" or min(points) <= 0.0:
        return float(np.mean(points))
    return float(math.sqrt(HALF) * np.exp(np.mean(np.log(points))))


def find_recurrence(
    front: Front,
    resampling: Resampling,
    choices: Choices | None,
    limits: tuple[int | str | None, int | None],
    n_resamples: int,
    rng: np.random.Generator,
    progress: Progress,
) -> Recurrence:
    """Make lists anew and find which of them have the terms of a front.

    Parameters
    ----------
    front : Front
    resampling : Resampling
    choices : Choices, optional
        None where no rows were held out.
    limits : (int, "auto" or None, int or None)
        What a line of the front is chosen by, `max_terms` and `max_rules`.
    n_resamples : int
        Lists to make, in pairs from disjoint halves of the rows.
    rng : numpy.random.Generator
    progress : Progress
    """
    data, n_threads = resampling.data, resampling.plan.n_threads
    losses = np.array([[line.loss for line in front]])
    losses, first = (losses, np.zeros(losses.shape, dtype=bool)) if choices is None else choices.redraw(N_DRAWS, rng)
    drawn = Draws(losses, first)
    chosen = front.choose(*limits)
    likely = front.draw(drawn, chosen, limits)
    listed = [line for line in front if line.terms <= LONGEST or line is front[chosen]]
    terms = tuple(dict.fromkeys(term for line in listed for term in line.fitted.model.terms))
    common = data.draw(data.rows, COMMON_ROWS)
    stage, done = progress.stage("Resampling"), [0]
    halves: list[tuple[IntArray, np.random.Generator]] = []
    for own in rng.spawn(-(-n_resamples // 2)):
        rows = own.permutation(data.rows)[: 2 * MOST_ROWS]
        halves += zip(split_halves(data.targets, rows, own), own.spawn(2), strict=True)
    alone = replace(resampling, shortening=replace(resampling.shortening, n_threads=1))
    seen = _Seen.of(data, common, [term for term in terms if isinstance(term, Rule)])

    def remake(half: int) -> tuple[IntArray, list[Rule | None], Fitted]:
        rows, own = halves[half]
        orders, fitted = alone.remake(rows, own, likely[half % len(likely)], both=bool(first.any()))
        found = _find_entries(data, common, terms, seen, orders)
        done[0] += 1
        stage(done[0], n_resamples)
        return *found, fitted

    found = run_tasks(remake, range(n_resamples), n_threads)
    return Recurrence(
        n_resamples,
        len(halves[0][0]),
        resampling.shortening.steadiness > 0.0,
        terms,
        np.sort(np.stack([entries for entries, _, _ in found], axis=2), axis=2),
        drawn,
        tuple(
            find_spans(term, [rule for _, near, _ in found if (rule := near[place]) is not None])
            if isinstance(term, Rule)
            else ()
            for place, term in enumerate(terms)
        ),
        tuple(Remade(own.model, own.importances, own.supports) for _, _, own in found),
        chosen,
    )


@dataclass(frozen=True, eq=False)
class _Seen:
    """Rules on common rows.

    Attributes
    ----------
    rules : sequence of Rule
    bits : BitMatrix
    """

    rules: Sequence[Rule]
    bits: BitMatrix

    @classmethod
    def of(cls, data: TrainingData, rows: IntArray, rules: Sequence[Rule]) -> "_Seen":
        """Evaluate rules."""
        program = compile_rules(rules, data.columns.n_features)
        return cls(rules, program.evaluate(data.columns.take(rows, program.used_features)))

    def compare(self, other: "_Seen") -> FloatArray:
        """Return the Jaccard indices of the rows of each pair, an ndarray of shape (n_rules, n_others)."""
        n_rules = len(self.rules)
        shared = BitMatrix(np.concatenate([self.bits.words, other.bits.words]), self.bits.n_rows).gram()
        counts, both = shared.diagonal(), shared[:n_rules, n_rules:]
        either = counts[:n_rules, None] + counts[n_rules:] - both
        return np.asarray(both / np.maximum(either, 1))


def _find_entries(
    data: TrainingData, common: IntArray, terms: Sequence[Term], seen: _Seen, orders: Sequence[Sequence[Sequence[Term]]]
) -> tuple[IntArray, list[Rule | None]]:
    """Return the length from which on a list has the family of each term, in every order, and the nearest rule."""
    lengths = [_find_lengths(order) for order in orders]
    others = [term for term in dict.fromkeys(itertools.chain(*lengths)) if isinstance(term, Rule)]
    indices = seen.compare(_Seen.of(data, common, others))
    entries = np.full((len(orders), len(terms)), NEVER, dtype=np.int64)
    near: list[Rule | None] = [None] * len(terms)
    places = [place for place, term in enumerate(terms) if isinstance(term, Rule)]
    for entry, known in zip(entries, lengths, strict=True):
        of_lines = {term.features: length for term, length in known.items() if not isinstance(term, Rule)}
        entry[:] = [NEVER if isinstance(term, Rule) else of_lines.get(term.features, NEVER) for term in terms]
        if others:
            own = np.array([known.get(rule, NEVER) for rule in others])
            entry[places] = np.where(indices >= ALIKE, own, NEVER).min(axis=1, initial=NEVER)
    if others:
        for place, own in zip(places, indices, strict=True):
            near[place] = others[int(np.argmax(own))] if own.max() >= ALIKE else None
    return entries, near


def _find_lengths(order: Sequence[Sequence[Term]]) -> dict[Term, int]:
    """Return the length from which on a list of any output has each term."""
    lengths: dict[Term, int] = {}
    for terms in order:
        for length, term in enumerate(terms, start=1):
            lengths[term] = min(length, lengths.get(term, length))
    return lengths
