"""Parts of the score that belong to sets of attributes, and what share of its spread is interaction."""

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove.design.bits import BitMatrix, RuleProgram
from rulegrove.design.terms import Linear
from rulegrove.inspection._sample import Sample, split_rule
from rulegrove.rules.rule import Rule

ROUNDING = 64 * np.finfo(np.float64).eps  # a spread below this part of what was added up is none
EVERYWHERE = Rule(())


class Piece(NamedTuple):
    """Coefficients, one for each output, times a conjunction, times the share of rows on which another one holds."""

    coefs: FloatArray
    held: Rule
    averaged: Rule


@dataclass(frozen=True, eq=False)
class Effect:
    """A function of the rows of mean zero: weighted conjunctions and linear terms, for each output."""

    places: IntArray  # (n_conjunctions,)
    coefs: FloatArray  # (n_outputs, n_conjunctions)
    lines: tuple[tuple[Linear, FloatArray], ...]  # each with its coefficients, (n_outputs,)
    means: FloatArray  # (n_outputs,): what to subtract
    size: float  # bound on what is added up, to tell a spread from rounding

    def values(self, sample: Sample, rows: slice, bits: BitMatrix) -> FloatArray:
        """Return the effect on a block of rows, an ndarray of shape (n_outputs, n_rows)."""
        own = BitMatrix(bits.words[self.places], bits.n_rows)
        values = np.stack([own.dot(coefs) for coefs in self.coefs]) - self.means[:, None]
        for line, coefs in self.lines:
            values += np.multiply.outer(coefs, line.values(sample.attribute(line.feature, rows)))
        return values


class Ratio(NamedTuple):
    """An interaction, and the effects that add up to what its spread is compared with."""

    interaction: Effect
    whole: Sequence[Effect]


def measure_interactions(sample: Sample, sets: Sequence[tuple[int, ...]]) -> tuple[FloatArray, FloatArray]:
    """Return H and spread of each set of attributes; one attribute stands for its interaction with all others.

    H are the roots of equations 44 (two attributes) and 45 (one) of Friedman and Popescu (2008), and their like for
    more. The spread is the standard deviation of the interaction over the rows.
    """
    needed = sorted({subset for chosen in sets if len(chosen) > 1 for subset in _subsets(chosen)})
    pure = {subset: _pure_pieces(sample, subset) for subset in needed}
    joint = {chosen: _joint_pieces(sample, chosen[0]) for chosen in sets if len(chosen) == 1}
    whole = [Piece(sample.coefs[:, place], rule, EVERYWHERE) for place, rule in sample.rules]
    pieces = itertools.chain(whole, *pure.values(), *joint.values())
    parts = dict.fromkeys(part for piece in pieces for part in (piece.held, piece.averaged))
    program = sample.compile(list(parts))
    shares = sample.shares(program)
    places = {part: place for place, part in enumerate(parts)}

    def add_up(own: Sequence[Piece], features: Collection[int] = ()) -> Effect:
        return _add_up(sample, own, features, places, shares)

    score = add_up(whole, range(len(sample.names)))
    effects = {subset: add_up(own, subset if len(subset) == 1 else ()) for subset, own in pure.items()}
    ratios = [
        Ratio(add_up(joint[chosen]), [score])
        if len(chosen) == 1
        else Ratio(effects[chosen], [effects[subset] for subset in _subsets(chosen)])
        for chosen in sets
    ]
    return _root_ratios(sample, program, ratios)


def _subsets(chosen: tuple[int, ...]) -> Iterable[tuple[int, ...]]:
    """Subsets of some attributes but the empty one."""
    return itertools.chain.from_iterable(itertools.combinations(chosen, size) for size in range(1, len(chosen) + 1))


def _pure_pieces(sample: Sample, chosen: tuple[int, ...]) -> list[Piece]:
    """Pieces of what depends on all chosen attributes and is no sum of functions of fewer.

    That is the alternating sum of the partial dependence functions of all subsets; rules without all of the attributes
    cancel in it. By inclusion and exclusion, the effects of all subsets add up to the partial dependence.
    """
    return [
        Piece((-1.0) ** (len(chosen) - len(subset)) * sample.coefs[:, place], *split_rule(rule, subset))
        for place, rule in sample.rules
        if set(chosen) <= set(rule.features)
        for subset in _subsets(chosen)
    ]


def _joint_pieces(sample: Sample, feature: int) -> list[Piece]:
    """Pieces of what is no sum of a function of an attribute and a function of all others."""
    pieces = []
    for place, rule in sample.rules:
        if feature in rule.features and len(rule.features) > 1:
            coefs, (own, others) = sample.coefs[:, place], split_rule(rule, [feature])
            pieces += [Piece(coefs, rule, EVERYWHERE), Piece(-coefs, own, others), Piece(-coefs, others, own)]
    return pieces


def _add_up(
    sample: Sample, pieces: Sequence[Piece], features: Collection[int], places: dict[Rule, int], shares: FloatArray
) -> Effect:
    """Add pieces up by conjunction, with the linear terms of some attributes."""
    by_place: dict[int, FloatArray] = {}
    size = 0.0
    for piece in pieces:
        place, scaled = places[piece.held], piece.coefs * shares[places[piece.averaged]]
        by_place[place] = by_place.get(place, 0.0) + scaled
        size += float(np.abs(scaled).sum())
    own = np.array(list(by_place), dtype=np.int64)
    coefs = np.array(list(by_place.values())).reshape(len(own), len(sample.coefs)).T
    means = coefs @ shares[own]
    lines = tuple((line, sample.coefs[:, place]) for place, line in sample.lines if line.feature in features)
    for line, slopes in lines:
        means = means + slopes * sample.average(line.values(sample.attribute(line.feature)))
        size += float(np.abs(slopes).sum()) * max(abs(line.lower), abs(line.upper))
    return Effect(own, np.ascontiguousarray(coefs), lines, means, size)


def _root_ratios(sample: Sample, program: RuleProgram, ratios: Sequence[Ratio]) -> tuple[FloatArray, FloatArray]:
    """Spread of each interaction over that of its whole, zero where either is none; and the spread itself."""
    squares = np.zeros((2, len(ratios)))
    uses = Counter(effect for ratio in ratios for effect in ratio.whole)
    n_rows = sample.columns.n_rows
    weights = np.full(n_rows, 1.0 / n_rows) if sample.weights is None else sample.weights
    for rows, bits in sample.evaluate(program):
        common = {effect: effect.values(sample, rows, bits) for effect, n_uses in uses.items() if n_uses > 1}
        for k, (interaction, effects) in enumerate(ratios):
            known = {**common, interaction: interaction.values(sample, rows, bits)}
            whole = sum(known[effect] if effect in known else effect.values(sample, rows, bits) for effect in effects)
            squares[:, k] += [(values**2 @ weights[rows]).sum() for values in (known[interaction], whole)]
    wholes = [sum(effect.size for effect in effects) for _, effects in ratios]
    floors = np.array([[interaction.size for interaction, _ in ratios], wholes])
    spreads = np.sqrt(squares)
    spreads[spreads <= ROUNDING * floors] = 0.0
    return np.divide(spreads[0], spreads[1], out=np.zeros(len(ratios)), where=spreads[1] > 0.0), spreads[0]
