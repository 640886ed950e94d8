"""Rules that are not grown here: those of trees that someone has fitted already, and an expert's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._typing import BoolArray, FloatArray
from rulegrove._warn import warn_user
from rulegrove.columns import CHUNK_ROWS
from rulegrove.design.bits import compile_rules
from rulegrove.estimators._constraints import Constraints
from rulegrove.estimators._limits import Limits
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators.settings import Settings
from rulegrove.exceptions import DroppedRuleWarning, InvalidInputError
from rulegrove.rules.extract import draw_rules
from rulegrove.rules.parse import read_rules
from rulegrove.rules.rule import Rule
from rulegrove.trees.foreign import read_trees

DEPENDENT = 1e-9  # share of a rule's variance below which other rules leave nothing of it


@dataclass(frozen=True)
class Given:
    """Candidate rules that are given.

    Attributes
    ----------
    own : tuple of Rule
        An expert's rules, which stand beside all others.
    of_trees : tuple of Rule, optional
        Rules of fitted trees, in place of growing some.
    """

    own: tuple[Rule, ...] = ()
    of_trees: tuple[Rule, ...] | None = None


NOTHING_GIVEN = Given()


def take_given(settings: Settings, data: TrainingData, limits: Limits, *, named: bool) -> Given:
    """Return the rules that are given.

    Parameters
    ----------
    settings : Settings
    data : TrainingData
    limits : Limits
    named : bool
        Whether the table has column names of its own.
    """
    of_trees: tuple[Rule, ...] | None = None
    own: tuple[Rule, ...] = ()
    if settings.trees is not None:
        of_trees = take_trees(
            settings.trees,
            data,
            limits,
            named=named,
            n_rules=settings.n_candidates,
            max_conditions=settings.max_conditions,
        )
    if settings.rules is not None:
        own = take_rules(settings.rules, data, forced=settings.force_rules, max_terms=settings.max_terms)
    return Given(own, of_trees)


def take_trees(
    trees: Any, data: TrainingData, limits: Limits, *, named: bool, n_rules: int, max_conditions: int | None
) -> tuple[Rule, ...]:
    """Return rules of fitted trees, from all trees alike and those near the roots first; warn of those beyond limits.

    Parameters
    ----------
    trees : object
        As `read_trees` takes it.
    data : TrainingData
    limits : Limits
        Rules that break them are left out.
    named : bool
        Whether the table has column names of its own.
    n_rules : int
        Most rules to take.
    max_conditions : int, optional
        Most splits on the way to a rule.
    """
    features = data.columns.features
    forest = read_trees(trees, features, named=named, has_missing=_find_missing(data), max_depth=max_conditions)
    found = draw_rules(forest, n_rules if limits.allow_all else forest.n_nodes)
    rules = tuple(filter(limits.allow, found))
    if len(rules) < len(found):
        warn_user(
            f"{len(found) - len(rules):,} of {len(found):,} rules of `trees` combine attributes that `max_attributes` "
            "or `interactions` keeps apart, and are left out; fit the trees within the same limits to keep all rules.",
            DroppedRuleWarning,
        )
    return rules[:n_rules]


def _find_missing(data: TrainingData) -> BoolArray:
    """Return which attributes lack a value in some row; rules about the others need not speak of missing values."""
    missing = np.zeros(data.columns.n_features, dtype=bool)
    for start in range(0, data.rows.size, CHUNK_ROWS):
        missing |= np.isnan(data.columns.take(data.rows[start : start + CHUNK_ROWS])).any(axis=1)
    return missing


def take_rules(rules: Any, data: TrainingData, *, forced: bool, max_terms: int | str | None) -> tuple[Rule, ...]:
    """Return an expert's rules; warn of those that cannot be of use, or refuse them where all must be in the model.

    Parameters
    ----------
    rules : sequence of str or Rule
    data : TrainingData
    forced : bool
        Whether all of them must be in the model.
    max_terms : int, optional
        Most terms of the model.
    """
    features = data.columns.features
    found = read_rules(rules, features)
    if forced and max_terms is not None and not isinstance(max_terms, str) and max_terms < len(found):
        raise InvalidInputError(
            f"max_terms={max_terms} is less than the {len(found)} rules that force_rules=True puts into the model; "
            "raise it or give fewer rules."
        )
    shared = _count_shared(found, data)
    for rule, support in zip(found, shared.diagonal(), strict=True):
        if 0 < support < data.rows.size:
            continue
        told = f"The rule '{rule.text(features)}' holds on {'all' if support else 'no'} rows of the training data"
        if forced:
            raise InvalidInputError(f"{told}, so it can have no weight of its own; leave it out of `rules`.")
        warn_user(f"{told}; it is left out.", DroppedRuleWarning)
    if forced:
        _check_independent(found, shared / data.rows.size, [rule.text(features) for rule in found])
    return found


def _count_shared(rules: Sequence[Rule], data: TrainingData) -> FloatArray:
    """Return on how many rows each pair of rules holds."""
    program = compile_rules(rules, data.columns.n_features)
    shared = np.zeros((len(rules), len(rules)))
    for start in range(0, data.rows.size, CHUNK_ROWS):
        block = data.columns.take(data.rows[start : start + CHUNK_ROWS], program.used_features)
        held = program.evaluate(block).to_dense().astype(np.float64)
        shared += held.T @ held
    return shared


def _check_independent(rules: Sequence[Rule], shares: FloatArray, texts: Sequence[str]) -> None:
    """Refuse rules without a penalty whose weights the rows do not tell apart, such as equal or opposite ones."""
    support = shares.diagonal()
    covariance = shares - np.outer(support, support)
    for place in range(1, len(rules)):
        before = covariance[:place, :place]
        explained, *_ = np.linalg.lstsq(before, covariance[:place, place], rcond=None)
        if covariance[place, place] - explained @ covariance[:place, place] > DEPENDENT * covariance[place, place]:
            continue
        correlations = np.abs(covariance[:place, place]) / np.sqrt(before.diagonal() * covariance[place, place])
        twin = int(np.argmax(correlations))
        if correlations[twin] > 1.0 - DEPENDENT:
            does = "does not" if covariance[twin, place] < 0 else "does"
            told = f"holds on exactly the rows on which '{texts[twin]}' {does}"
        else:
            told = "is determined by the rules before it"
        raise InvalidInputError(
            f"The rule '{texts[place]}' {told}, so the coefficients of the forced rules are not unique; leave one of "
            "the rules out."
        )


def check_finite_weights(rules: Sequence[Rule], data: TrainingData) -> None:
    """Refuse rules without a penalty that the logistic loss would weight without end: one side of them is one class."""
    program = compile_rules(rules, data.columns.n_features)
    counts = np.zeros((2, 2, len(rules), data.targets.shape[1]))  # rule holds or not, class is there or not
    for start in range(0, data.rows.size, CHUNK_ROWS):
        rows = data.rows[start : start + CHUNK_ROWS]
        held = program.evaluate(data.columns.take(rows, program.used_features)).to_dense().astype(np.float64)
        there = (data.targets[rows] > 0).astype(np.float64)
        for side, hold in enumerate((held, 1.0 - held)):
            counts[side] += hold.T @ there, hold.T @ (1.0 - there)
    for place, rule in enumerate(rules):
        if not counts[:, :, place].all():
            text = rule.text(data.columns.features)
            raise InvalidInputError(
                f"The rule '{text}' separates rows of one class only, so the logistic loss has no finite weight for "
                "it without a penalty. Use solver=Glmnet(), which has the squared loss, or do not force the rule."
            )


def check_directions(rules: Sequence[Rule], constraints: Constraints, data: TrainingData) -> None:
    """Refuse an expert's rule that goes against the directions of `monotonic`."""
    for rule in rules:
        if constraints.sign(rule) is None:
            raise InvalidInputError(
                f"The rule '{rule.text(data.columns.features)}' both rises and falls where `monotonic` allows one "
                "direction only; leave it out of `rules`, or its attributes out of `monotonic`."
            )
