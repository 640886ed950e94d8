"""`scorecard`: rules chosen, points found, the table from total to chance calibrated."""

import copy
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from rulegrove._typing import AnyArray, BoolArray, ByteArray, FloatArray, IntArray
from rulegrove._validation import check_weights, find_codes
from rulegrove.columns import Columns
from rulegrove.design.bits import compile_rules
from rulegrove.design.patterns import PatternTable
from rulegrove.estimators.calibration import Curves, Sigmoid
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.estimators.figures import ClassFigures, judge_classes, share_of_classes
from rulegrove.estimators.model import RuleModel
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection._sample import check_model
from rulegrove.projection import LEAST_PROBABILITY
from rulegrove.rules.rule import Rule
from rulegrove.scorecards.card import Card, CardFigures, Scorecard
from rulegrove.scorecards.choosing import choose_rules, list_candidates, own_rules
from rulegrove.scorecards.points import Patterns, find_points, weigh_rules

MOST_CHOOSING = 20_000  # rows that choose rules; all of them find the points
N_FOLDS = 5
MOST_RULES = 64  # of a card: a pattern is one word
MOST_POINTS = 1000


def scorecard(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    points: tuple[int, int] = (-5, 5),
    max_rules: int = 10,
    sample_weight: Any = None,
) -> Scorecard:
    """Turn a classifier into a scorecard: whole-number points for a few rules, and a table from total to chance.

    The rules are those of the model, if its list is short enough and has no linear terms. Otherwise they are chosen one
    by one, so that they come nearest to the large model behind the list, from its rules and from thresholds on the
    attributes of its linear terms. The points are found by search and not just by rounding: rows are counted by the
    pattern of rules that hold, so trying other points costs next to nothing.

    How steeply the chances rise with the total is learned on held-out rows. They are never more extreme than those of
    the large model, which is calibrated on rows that its rules have not seen. Over all rows, the mean chance equals the
    share of the class.

    Parameters
    ----------
    model : RuleEnsembleClassifier
        Fitted, or read by `load_model`.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows to count, such as those of the fit.
    y : array-like of shape (n_samples,)
        Their classes.
    points : tuple of (int, int), default=(-5, 5)
        The smallest and the largest number of points of a rule. ``(0, 5)`` allows only rules that speak for the class.
    max_rules : int, default=10
        Largest number of rules of a card.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    Scorecard
        A card for the second of two classes, or one for each of more against the rest.

    Examples
    --------
    >>> import rulegrove
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> X, y = load("breast-w", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=200, random_state=0).fit(X, y)
    >>> card = rulegrove.scorecard(model, X, y, max_rules=4)
    >>> len(card.cards[0].rules) <= 4, card.cards[0].points.dtype
    (True, dtype('int64'))
    >>> card.score(X, y) > 0.9
    True
    """
    check_classifier(model)
    if X is None or y is None:
        raise InvalidInputError(
            "A scorecard needs rows to find its points and chances; give `X` and `y`, such as the rows of the fit."
        )
    low, high = _check_points(points)
    _check_rules(max_rules)
    counted = _Counted.read(model, X, y, sample_weight)
    outputs = [1] if len(model.classes_) == 2 else range(len(model.classes_))
    lists = _choose(model, counted, outputs, max_rules, (low, high))
    cards = tuple(
        _make_card(model, counted, output, rules, (low, high)) for output, rules in zip(outputs, lists, strict=True)
    )
    return Scorecard(
        cards, model.model_.labels, int(counted.rows.size), _tell_list(model, max_rules), _make_reader(model, cards)
    )


def check_classifier(model: Any) -> RuleEnsembleClassifier:
    """Return a fitted classifier, refusing any other model."""
    fitted = check_model(model, "A scorecard")
    if not isinstance(fitted, RuleEnsembleClassifier):
        raise InvalidInputError(
            "A scorecard gives the chances of classes, so it needs a RuleEnsembleClassifier; got a "
            f"{type(fitted).__name__}."
        )
    return fitted


def _check_points(points: Any) -> tuple[int, int]:
    """Return the fewest and the most points of a rule."""
    given = tuple(points) if isinstance(points, Sequence) and not isinstance(points, str) else ()
    whole = len(given) == 2 and all(isinstance(own, int | np.integer) and not isinstance(own, bool) for own in given)
    if not whole or not -MOST_POINTS <= given[0] <= 0 <= given[1] <= MOST_POINTS or given[0] == given[1]:
        raise InvalidInputError(
            f"`points` must be two whole numbers, the fewest points of a rule (0 or less) and the most (0 or more), "
            f"such as (-5, 5); got {points!r}."
        )
    return int(given[0]), int(given[1])


def _check_rules(max_rules: Any) -> None:
    """Refuse what is no number of rules that a card can have."""
    if not isinstance(max_rules, int | np.integer) or isinstance(max_rules, bool) or not 1 <= max_rules <= MOST_RULES:
        raise InvalidInputError(f"`max_rules` must be a whole number from 1 to {MOST_RULES}; got {max_rules!r}.")


@dataclass(frozen=True, eq=False)
class _Counted:
    """The rows that a card counts."""

    columns: Columns
    codes: IntArray  # (n_rows,): class of each row
    weights: FloatArray  # (n_rows,)
    rows: IntArray  # (n_counted,): those of a positive weight
    folds: IntArray  # (n_rows,): fold of each row; -1 where it has no weight
    n_folds: int
    goals: FloatArray  # (n_rows, n_classes): what the large model gives for chances

    @classmethod
    def read(cls, model: RuleEnsembleClassifier, X: Any, y: Any, sample_weight: Any) -> "_Counted":
        """Check and read rows."""
        large = model if model.front_ is None else model.shorten(None)
        columns = large.read_columns(X)
        codes = find_codes(list(model.model_.labels), y, columns.n_rows)
        weights = check_weights(sample_weight, columns.n_rows)
        weights = np.ones(columns.n_rows) if weights is None else weights
        rows = np.flatnonzero(weights)
        counts = np.bincount(codes[rows], minlength=len(model.classes_))
        if counts.min() < 2:
            rare = model.model_.labels[int(np.argmin(counts))]
            raise InvalidInputError(
                f"A card needs at least two rows of each class to estimate chances; the class {rare!r} has "
                f"{counts.min()} here. Give more rows."
            )
        n_folds = min(N_FOLDS, int(counts.min()))
        shuffled = np.random.default_rng(0).permutation(rows)
        shuffled = shuffled[np.argsort(codes[shuffled], kind="stable")]
        folds = np.full(columns.n_rows, -1)
        folds[shuffled] = np.arange(rows.size) % n_folds
        goals = large.model_.probabilities(large.model_.score(columns))
        assert goals is not None
        near = np.clip(goals, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
        return cls(columns, codes, weights, rows, folds, n_folds, near)

    def evaluate(self, rules: Sequence[Rule], rows: IntArray) -> ByteArray:
        """Return where rules hold on some rows, an ndarray of shape (n_rows, n_rules)."""
        program = compile_rules(rules, self.columns.n_features)
        return program.evaluate(self.columns.take(rows, program.used_features)).to_dense()

    def tabulate(self, rules: Sequence[Rule], output: int) -> PatternTable:
        """Count rows by pattern, whether they are of a class, and fold, and add up what the model says of them."""
        program = compile_rules(rules, self.columns.n_features)
        return PatternTable.count(
            program.evaluate(self.columns.take(slice(None), program.used_features)),
            codes=(self.codes == output).astype(np.int64),
            numbers=self.goals[:, [output]],
            folds=self.folds,
            weights=self.weights,
        )


def _choose(
    model: RuleEnsembleClassifier,
    counted: _Counted,
    outputs: Sequence[int],
    max_rules: int,
    limits: tuple[int, int],
) -> list[tuple[Rule, ...]]:
    """Return the rules of each card."""
    own = [own_rules(model.model_, place, max_rules) for place in range(len(outputs))]
    if all(rules is not None for rules in own):
        return [rules for rules in own if rules is not None]
    rows = counted.rows
    if rows.size > MOST_CHOOSING:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_CHOOSING, replace=False))
    candidates = list_candidates(model, counted.columns, rows)
    held = counted.evaluate(candidates, rows)
    lists = []
    for output, known in zip(outputs, own, strict=True):
        goals, signs = counted.goals[rows, output], (limits[0] < 0, limits[1] > 0)
        chosen = choose_rules(held, counted.weights[rows], goals, max_rules, signs)
        lists.append(tuple(candidates[place] for place in chosen) if known is None else known)
    return lists


def _make_card(
    model: RuleEnsembleClassifier, counted: _Counted, output: int, rules: Sequence[Rule], limits: tuple[int, int]
) -> Card:
    """Find points, judge and calibrate them."""
    table = counted.tabulate(rules, output)
    whole = table.pool()
    found = find_points(Patterns.of(whole), *limits)
    totals = whole.bits.to_dense().astype(np.int64) @ found.points
    weights, of_class = whole.weights, whole.codes == 1
    judged = [_judge_fold(table, fold, limits) for fold in range(counted.n_folds)]
    odds, exact, truths, own = (np.concatenate(parts) for parts in zip(*judged, strict=True))
    counts = _fit_curve(totals, of_class, weights).slope * _fit_curve(odds, truths, own).slope  # as rows held out say
    shares = share_of_classes(of_class.astype(np.int64), weights, 2)
    figures, others = (_measure(some, truths, own, shares) for some in (odds, exact))
    used = np.flatnonzero(found.points)
    order = used[np.argsort(-found.points[used], kind="stable")].tolist()
    reached = np.array(sorted(_list_totals(found.points.tolist())), dtype=np.int64)
    return Card(
        label=model.model_.labels[output],
        rules=tuple(rules[place] for place in order),
        texts=tuple(rules[place].text(model.model_.features) for place in order),
        points=found.points[order],
        curve=_set_level(min(counts, found.slope), totals, of_class, weights),
        totals=reached,
        n_rows=np.array([weights[totals == total].sum() for total in reached]),
        n_of_class=np.array([weights[(totals == total) & of_class].sum() for total in reached]),
        figures=CardFigures(figures.auc, figures.log_loss),
        exact=CardFigures(others.auc, others.log_loss),
        base_log_loss=figures.base_log_loss,
    )


def _list_totals(points: Sequence[int]) -> set[int]:
    """Return every total that some of the points can have."""
    totals = {0}
    for own in points:
        totals |= {total + own for total in totals}
    return totals


def _judge_fold(
    table: PatternTable, fold: int, limits: tuple[int, int]
) -> tuple[FloatArray, FloatArray, BoolArray, FloatArray]:
    """Return log odds of a fold by points, and by exact weights, found without it; its classes and its weights."""
    learned, held_out = table.without(fold), table.only(fold)
    patterns, others, truths = Patterns.of(learned), held_out.bits.to_dense(), learned.codes == 1
    found = find_points(patterns, *limits)
    odds = []
    for coef, slope in ((found.points, found.slope), (weigh_rules(patterns).coef, 1.0)):
        scores = patterns.held @ coef
        counts = _fit_curve(scores, truths, learned.weights).slope
        curve = _set_level(min(counts, slope), scores, truths, learned.weights)
        odds.append(np.asarray(curve.slope * (others @ coef) + curve.shift, dtype=np.float64))
    return odds[0], odds[1], held_out.codes == 1, held_out.weights


def _fit_curve(scores: AnyArray, truths: BoolArray, weights: FloatArray) -> Sigmoid:
    """Return the curve from scores to chances that counts of classes have; one that would fall is level."""
    curve = Sigmoid.fit(scores.astype(np.float64), truths, weights)
    return curve if curve.slope > 0.0 else Sigmoid(0.0, 0.0)


def _set_level(slope: float, scores: AnyArray, truths: BoolArray, weights: FloatArray) -> Sigmoid:
    """Return the curve of a slope that gives all rows together as much chance as have come true.

    As in `Sigmoid.fit`, that is drawn a little inwards: some rows more are half of the class.
    """
    rows = weights.sum()
    share = (weights[truths].sum() + 1.0) / (rows + 2.0)
    odds = slope * scores
    most = np.abs(odds).max() + abs(logit(share))
    level = brentq(lambda level: weights @ expit(odds + level) / rows - share, -most - 1.0, most + 1.0)
    return Sigmoid(slope, float(level))


def _measure(odds: FloatArray, truths: BoolArray, weights: FloatArray, shares: FloatArray) -> ClassFigures:
    """Judge log odds of a class."""
    codes = truths.astype(np.int64)
    chances = Sigmoid(1.0, 0.0)(odds)
    predicted = (odds > 0.0).astype(np.int64)
    return judge_classes(codes, predicted, np.column_stack([1.0 - chances, chances]), weights, shares=shares)


def _make_reader(model: RuleEnsembleClassifier, cards: Sequence[Card]) -> RuleEnsembleClassifier:
    """Return a copy of an estimator that reads tables as it does, and whose scores are totals."""
    terms = tuple(dict.fromkeys(itertools.chain.from_iterable(card.rules for card in cards)))
    coefs = np.zeros((len(cards), len(terms)))
    for own, card in zip(coefs, cards, strict=True):
        own[[terms.index(rule) for rule in card.rules]] = card.points
    several = len(cards) > 1
    reader = copy.copy(model)
    reader.model_ = RuleModel(
        model.model_.features,
        terms,
        coefs if several else coefs[0],
        np.zeros(len(cards)) if several else 0.0,
        model.model_.columns,
        model.model_.classes,
        Curves(tuple(card.curve for card in cards)),
    )
    return reader


def _tell_list(model: RuleEnsembleClassifier, max_rules: int) -> str:
    """Return how well a list of the model that is as short does on rows held out, in words."""
    if model.front_ is None or model.front_[0].rules > max_rules:
        return ""
    short = model.shorten(None, max_rules=max_rules)
    figures = short.held_out_
    if figures is None:
        return ""
    n_terms = len(short.rules_)
    return (
        f"The model's own list of {n_terms} terms with exact weights, on rows held out while it was fitted: "
        f"{figures.words}."
    )
