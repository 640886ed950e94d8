"""From a large model to its front: lists of every length, made in the whole data and without each fold, and judged."""

import bisect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from rulegrove._progress import Progress
from rulegrove._threads import run_tasks
from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.design.statistics import Margins
from rulegrove.design.terms import Term
from rulegrove.estimators import autos
from rulegrove.estimators._fitted import HeldOut, make_model
from rulegrove.estimators._fitting import Pool
from rulegrove.estimators._growing import Growth
from rulegrove.estimators._judging import Judging, LineSums, measure_lines
from rulegrove.estimators._lists import Large, MadeLists, Maker, Scorer, Sheet, list_lengths, score_large, score_lists
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators._units import Units, shift
from rulegrove.estimators.calibration import Link
from rulegrove.estimators.front import LONGEST, Front, FrontLine
from rulegrove.estimators.model import Fitted, RuleModel
from rulegrove.estimators.steady import STEADINESS, Goal, offer_rules
from rulegrove.estimators.target import Target
from rulegrove.projection import Point
from rulegrove.rules.rule import Rule

LEAST_LEAD = 1e-6  # share of its loss by which a list of the second order must be better than that of the first


@dataclass(frozen=True)
class Shortening:
    """How lists are made of a large model.

    Attributes
    ----------
    target : Target
    growth : Growth
        Whose settings, constraints and limits lists keep to.
    joint : bool
        Whether a term enters for all outputs or for none.
    n_threads : int
    """

    target: Target
    growth: Growth
    joint: bool
    n_threads: int

    @property
    def steadiness(self) -> float:
        """How much lists are to have what other rows would choose again."""
        stable = self.growth.settings.stable
        return STEADINESS if stable is True else float(stable)

    def offer(self, data: TrainingData, rows: IntArray, large: Large, link: Link | None, run: int) -> Large:
        """Return a large model with rules that other rows would choose again, of which lists are to be made.

        Given rules and trees have no others beside them.
        """
        settings = self.growth.settings
        if not self.steadiness or not settings.grows or settings.terms == "linear":
            return large
        drawn = draw_rows(data, rows)
        sheet = Sheet.of(data, drawn, large, 0)
        responses, weights = self.target.projection.linearise(self._find_goals(data, sheet, large, link), sheet.weights)
        outputs = range(responses.shape[1])
        parts = [list(outputs)] if self.joint else [[output] for output in outputs]
        offers = offer_rules(
            data.columns.take(drawn),
            Goal.of(responses, weights),
            parts,
            sheet.weights,
            n_categories=data.columns.n_categories,
            are_days=data.columns.are_days,
            max_conditions=settings.max_conditions,
            steadiness=self.steadiness,
            allows=self.growth.allows,
        )
        return large.offer([offers[0 if self.joint else output] for output in outputs], run)

    def _find_goals(self, data: TrainingData, sheet: Sheet, large: Large, link: Link | None) -> FloatArray:
        """Return what the large model says of rows, in the units that lists are made in."""
        return shift(self.target.goals(score_large(sheet, large), link), -find_unit(data))

    def make(
        self,
        data: TrainingData,
        rows: IntArray,
        large: Large,
        link: Link | None,
        lengths: Sequence[int],
        n_lines_first: int = 0,
    ) -> list[list[Point]]:
        """Return the lists of a large model that was fitted to these rows, as `Maker.make` does."""
        if not lengths:
            return []
        exponent, sheet = find_unit(data), self._draw_sheet(data, rows, large)
        lists = self.maker.make(sheet, self._find_goals(data, sheet, large, link), large, lengths, n_lines_first)
        drawn = draw_rows(data, rows)
        made = MadeLists(data, np.sort(drawn), large, lists, self.growth.constraints, self.n_threads)
        lists = self.target.finish_lists(made)
        return [[(shift(coef, exponent), shift(intercept, exponent)) for coef, intercept in points] for points in lists]

    def remake(
        self,
        data: TrainingData,
        rows: IntArray,
        large: Large,
        link: Link | None,
        longest: int,
        chosen: tuple[int, bool] | None,
        *,
        both: bool,
    ) -> tuple[list[list[list[Term]]], list[Point] | None]:
        """Return the orders in which terms enter lists, and the list that is chosen, as `Maker.remake` does."""
        exponent, sheet = find_unit(data), self._draw_sheet(data, rows, large)
        goals = self._find_goals(data, sheet, large, link)
        orders, points = self.maker.remake(sheet, goals, large, longest, chosen, both=both)
        return orders, None if points is None else [
            (shift(coef, exponent), shift(own, exponent)) for coef, own in points
        ]

    @property
    def maker(self) -> Maker:
        """What makes the lists."""
        projection, constraints = self.target.projection, self.growth.constraints
        return Maker(projection, constraints, self.joint, self.steadiness, self.n_threads)

    def _draw_sheet(self, data: TrainingData, rows: IntArray, large: Large) -> Sheet:
        """Return the rows to make lists from, with imagined ones where there are few."""
        return Sheet.of(data, draw_rows(data, rows), large, autos.IMAGINED_ROWS)


@dataclass(frozen=True, eq=False)
class Choices:
    """What the lines of a front were chosen by.

    Attributes
    ----------
    losses : ndarray of shape (n_lengths + n_first + 1, n_rows)
        Of held-out rows, by lists in the order of gain and, of the shortest ones, with linear terms first.
    n_first : int
    """

    losses: FloatArray
    n_first: int

    def redraw(self, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
        """Return the losses of the lines on other held-out rows, and which lists begin with linear terms there.

        A draw has half of the rows, for the losses of other rows differ from these by the noise of both. Lists from
        other rows differ as well: of two orders that are nearly as good they choose either, so that every other draw
        takes one by chance.

        Returns
        -------
        losses : ndarray of shape (n_draws, n_lengths + 1)
        first : ndarray of shape (n_draws, n_lengths + 1)
        """
        n_rows, n_lengths = self.losses.shape[1], len(self.losses) - self.n_first - 1
        drawn = rng.multinomial(math.ceil(n_rows / 2), np.full(n_rows, 1.0 / n_rows), size=n_draws)
        losses = drawn @ self.losses.T / drawn.sum(axis=1, keepdims=True)
        kept = np.array([choose_orders(own, self.n_first) for own in losses])
        kept[::2, : self.n_first] = np.arange(self.n_first) + n_lengths * rng.integers(2, size=(len(kept[::2]), 1))
        return np.take_along_axis(losses, kept, axis=1), (kept >= n_lengths) & (kept < len(self.losses) - 1)


def make_front(
    shortening: Shortening,
    data: TrainingData,
    folds: IntArray,
    runs: Sequence[Sequence[Pool]],
    large: Large,
    whole: Fitted,
    held_out: HeldOut | None,
    *,
    honest: bool,
    n_lines: int,
    count: Callable[[Sequence[Rule]], Margins],
    judge: Callable[[Judging], LineSums],
    progress: Progress,
) -> tuple[Front, Choices | None]:
    """Make lists of every length and judge them on held-out rows; tell what chose between two orders of entry.

    Parameters
    ----------
    shortening : Shortening
    data : TrainingData
        In the units of the user.
    folds : ndarray of shape (n_rows,)
        Fold of every row.
    runs : sequence of sequence of Pool
        The pools of each run, of whose models the average is the large one.
    large : Large
        The large model as coefficients of candidates.
    whole : Fitted
        The large model, with its link.
    held_out : HeldOut, optional
        Rows with the scores of large models that were fitted without their folds.
    honest : bool
        Of the held-out rows, as in `ClassFigures`.
    n_lines : int
        Lines of an output that lists may begin with, to compete with the others up to twice as many terms; longer lists
        have what they need of them in either order.
    count : callable
        What counts rules over all rows of the table.
    judge : callable
        What judges lines on all held-out rows of the table that the data were drawn from.
    progress : Progress
    """
    target, link = shortening.target, whole.model.link
    n_folds = 0 if held_out is None else len(runs[0][0].fold_terms)
    large = shortening.offer(data, data.rows, large, link, len(runs))
    lengths = list_lengths(large.n_listed, len(shortening.growth.constraints.forced), whole=target.finishes_lists)
    n_first = bisect.bisect_right(lengths, 2 * n_lines) if n_folds and n_lines and large.listed is None else 0
    stage, done = progress.stage("Shortening"), [0]
    alone = n_folds > 0 and shortening.n_threads > 1
    own_shortening = replace(shortening, n_threads=1) if alone else shortening

    def make(part: int) -> tuple[Large, list[list[Point]]]:
        """Make the lists of the whole data, or without a fold."""
        own, rows = large, data.rows
        if part:
            rows = rows[folds[rows] != part - 1]
            own = Large.average([large_of_fold(pools, part - 1) for pools in runs])
            own = shortening.offer(data, rows, own, link, len(runs))
        found = own_shortening.make(data, rows, own, link, lengths, n_first)
        done[0] += 1
        stage(done[0], 1 + n_folds)
        return own, found

    (_, lists), *of_folds = run_tasks(make, range(1 + n_folds), shortening.n_threads if alone else 1)
    front = partial(Front, meaning=target.meaning)
    margins = [[pool.design.margins for pool in pools] for pools in runs]
    if large.listed is not None:
        margins.append([count_offered(large, lists, count)])

    def describe(points: Sequence[Sequence[Point]], links: Sequence[Link | None]) -> list[Fitted]:
        lines = [make_model(data, margins, large, own) for own in points]
        shares = share_rules(target, data, [line.model for line in lines])
        return [
            target.describe(data, _link(target, whole.model, replace(line, class_shares=shares), own))
            for line, own in zip(lines, links, strict=True)
        ]

    if held_out is None:
        links = [target.link_list(None) for _ in lists]
        lines = [FrontLine(line, own) for line, own in zip(describe(lists, links), links, strict=True)]
        return front([*lines, FrontLine(whole, target.fitted_link)], base_loss=np.nan), None
    scores = np.empty((len(lists) + 1, *held_out.scores.shape))
    scores[-1] = data.take_scores(held_out.scores)
    for fold, (own, own_lists) in enumerate(of_folds):
        here = np.flatnonzero(folds[held_out.rows] == fold)
        scores[:-1, here] = score_lists(data.columns, held_out.rows[here], own, own_lists, shortening.n_threads)
    judged = [replace(held_out, scores=data.give_scores(own)) for own in scores]
    links = [*(target.link_list(own) for own in judged[:-1]), link]
    exponent = find_unit(data)
    targets = shift(held_out.targets, -exponent)
    measured, said = measure_lines(target, shift(scores, -exponent), links, targets)

    def score(fold: int) -> tuple[IntArray, FloatArray]:
        own, own_lists = of_folds[fold]
        scorer = Scorer.of(own, own_lists, data.columns.n_features, with_large=True)
        return data.rows, scorer.score(data.columns, data.rows, shortening.n_threads)

    bases = target.lose_base(targets)
    judged_folds = target.judge_folds(held_out, folds, score)
    if judged_folds is not None:
        measured, bases = np.array([judged_folds[0]] * 2), judged_folds[1][:, None]
    centres = np.average(measured, axis=2, weights=held_out.weights)
    kept = choose_orders(centres[0], n_first)
    links, judged, centres = [links[place] for place in kept], [judged[place] for place in kept], centres[:, kept]
    if data.drawn is None or judged_folds is not None:
        sums = LineSums.of(measured[:, kept] - centres[:, :, None], said[kept], bases, held_out.weights)
    else:
        scorers = tuple(
            Scorer.of(own, [own_lists[place] for place in kept[:-1]], data.columns.n_features, with_large=True)
            for own, own_lists in of_folds
        )
        sums = judge(Judging(target, scorers, tuple(links), centres, exponent, target.code.units.target))
    n_lists = len(kept) if large.n_terms <= LONGEST else len(kept) - 1
    told = sums.tell(centres, max(n_lists, 1))
    shown = target.tell_error(told["error"], told["error_se"])
    told["error"], told["error_se"] = (shift(values, exponent) for values in shown)
    linked = [*describe([lists[place] for place in kept[:-1]], links[:-1]), whole]
    figures = [target.judge(line.model, own, data, honest=honest) for line, own in zip(linked, judged, strict=True)]
    own_links = [*links[:-1], target.fitted_link]
    judged_front = front(
        (
            FrontLine(line, own, held_out=drawn, **{name: float(values[place]) for name, values in told.items()})
            for place, (line, own, drawn) in enumerate(zip(linked, own_links, figures, strict=True))
        ),
        base_loss=target.base_loss(*(sums.targets / sums.weight)),
    )
    return judged_front, Choices(measured[0], n_first)


def count_offered(
    large: Large, lists: Sequence[Sequence[Point]], count: Callable[[Sequence[Rule]], Margins]
) -> Margins:
    """Return what all rows of the table tell of the rules that were offered, as far as lists have them."""
    found: dict[int, Rule] = {}
    run = max(own for origins in large.origins or () for own, _ in origins)
    for output, terms in enumerate(large.terms):
        for column in np.flatnonzero(np.any([points[output][0] != 0.0 for points in lists], axis=0)).tolist():
            source, place = large.trace(output, column)
            if source == run:
                found[place] = terms.rules[column]
    places = np.array(sorted(found), dtype=np.int64)
    return count([found[place] for place in places.tolist()]).place(places, int(places.max(initial=-1)) + 1)


def choose_orders(losses: FloatArray, n_first: int) -> list[int]:
    """Return the places of the lists of the lower loss, one for each length; the large model stays the last.

    Lists of all terms that a fold has are the same in either order, so that rounding alone would choose between them.

    Parameters
    ----------
    losses : ndarray of shape (n_lengths + n_first + 1,)
        On held-out rows, of all lengths, then of the shortest ones with lines first.
    n_first : int

    Examples
    --------
    >>> choose_orders(np.array([0.7, 0.5, 0.4, 0.7, 0.3, 0.2]), 2)
    [0, 4, 2, 5]
    """
    n_lengths = len(losses) - n_first - 1
    places = np.arange(n_lengths)
    better = losses[n_lengths:-1] * (1.0 + LEAST_LEAD) < losses[:n_first]
    places[:n_first][better] += n_lengths
    return [*places.tolist(), len(losses) - 1]


def find_unit(data: TrainingData) -> int:
    """Return the power of two in whose units lists are made and judged: targets whose squares are no numbers."""
    return Units.of_target(float(np.abs(data.targets[data.rows]).max())).target


def large_of(pools: Sequence[Pool]) -> Large:
    """Return the large model of pools with chosen points."""
    terms = tuple(pool.design.terms for pool in pools for _ in pool.outputs)
    return Large(terms, tuple(point for pool in pools for point in pool.points()))


def large_of_fold(pools: Sequence[Pool], fold: int) -> Large:
    """Return the large model without a fold."""
    terms = tuple(pool.fold_terms[fold] for pool in pools for _ in pool.outputs)
    return Large(terms, tuple(point for pool in pools for point in pool.fold_points(fold)))


def share_rules(target: Target, data: TrainingData, models: Sequence[RuleModel]) -> dict[Rule, FloatArray] | None:
    """Return what the training rows tell of the rules of models beyond the statistics, if the target needs it."""
    rules = list(dict.fromkeys(term for model in models for term in model.terms if isinstance(term, Rule)))
    shares = target.share_rules(data, rules)
    return None if shares is None else dict(zip(rules, shares, strict=True))


def _link(target: Target, whole: RuleModel, fitted: Fitted, link: Link | None) -> Fitted:
    """Return a list with its link; what turns its scores into predictions otherwise is that of the large model."""
    own = fitted.model
    model = replace(whole, terms=own.terms, coefs=own.coefs, intercept=own.intercept)
    return replace(fitted, model=target.give_link(model, link))


def draw_rows(data: TrainingData, rows: IntArray) -> IntArray:
    """Return the rows that lists are made from, all of few or a fixed draw of many, in an order by chance."""
    drawn = data.draw(rows, max(autos.LIST_ROWS // data.targets.shape[1], autos.LEAST_LIST_ROWS))
    return np.random.default_rng(0).permutation(drawn)
