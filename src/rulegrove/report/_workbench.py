"""What the page needs to change a list and to solve for its weights: rows in lines, thresholds, a model file."""

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rulegrove._typing import FloatArray, IntArray
from rulegrove._words import printable
from rulegrove.columns import Columns, Feature
from rulegrove.editing.counting import Counts, Rows
from rulegrove.editing.families import OfClasses, OfNumbers, OfRates
from rulegrove.editing.finishing import finish_model
from rulegrove.editing.judging import judge
from rulegrove.editing.reading import read_rows
from rulegrove.editing.session import recall_cost, recall_state
from rulegrove.editing.state import State
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._checked_json import encode
from rulegrove.estimators._file_edits import encode_edits
from rulegrove.estimators._file_terms import encode_term
from rulegrove.estimators._sampling import draw_positions
from rulegrove.estimators.edits import SPENT, Edits
from rulegrove.estimators.model_file import dump_model
from rulegrove.exceptions import InvalidInputError
from rulegrove.report._grouping import choose_cuts, group_rows
from rulegrove.report._lines import list_lines, list_terms
from rulegrove.report._numbers import shorten
from rulegrove.rules.rule import ANY_OTHER, Condition, Rule, write_bound, write_label

MOST_ROWS = 5_000
MOST_TERMS = 64  # of a list that a person changes by hand
MIN_COUNT = 5
SEED = 0
NEAR = 0.3  # how much all thresholds of an attribute count beside what weights do to the score
LEAST = 1e-6  # of a weight, in standard deviations of its term: what a direction holds at 0 may move later
DIGITS = 12  # of sums and of values of lines: far beyond what standard errors leave


def describe_workbench(
    model: BaseRuleEnsemble, X: Any, y: Any, min_count: int, shown: IntArray, exposure: Any, offset: Any
) -> dict[str, Any]:
    """Return all that the workbench of a page is made of.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
    X, y, exposure, offset
        As in `write_report`.
    min_count : int
        Rows of a line at least.
    shown : ndarray
        Positions of the rows that the page shows one by one.
    """
    rows = _draw_rows(model, X, y, min_count, exposure, offset)
    first, meaning = recall_state(model), model.recall_target().meaning
    state = replace(first, counts=Counts.of(rows, model.model_.terms)).choose_ridge()
    assert state.counts is not None
    assert state.solved is not None
    terms = [own.term for own in state.terms.values()]
    coder = Coder(terms, rows.columns, rows.chosen)
    codes = coder.code(rows.columns, rows.chosen)
    values = state.values[state.counts.places, 1:]
    is_rule = np.array([isinstance(term, Rule) for term in terms], dtype=bool)
    spreads = np.sqrt(state.moments[1])
    weights = state.solved[0][:, 1:].T
    sizes = np.maximum(np.abs(weights).sum(axis=1), LEAST / np.where(spreads > 0.0, spreads, 1.0))
    near = [values @ weights, values * sizes, NEAR * codes / coder.sizes]
    groups = group_rows(_find_parts(rows), values[:, is_rule].astype(np.int64), np.hstack(near), min_count)
    places = {term: place for place, term in enumerate(list_terms(list_lines(model)))}
    return {
        "min_count": min_count,
        "n_rows": rows.n_rows,
        "n_folds": rows.n_folds,
        **_describe_family(rows),
        "directions": first.directions.tolist(),
        "ridge": state.ridge,
        "spent": SPENT,
        "columns_asked": {
            option: str(getattr(own, "name", None) or "COLUMN")
            for option, own in (("--target", y), ("--exposure", exposure), ("--offset", offset))
            if own is not None
        },
        "error_name": "error" if meaning.error_is_share else meaning.error_words,
        "error_is_share": meaning.error_is_share,
        "loss_name": meaning.loss_words,
        "columns": coder.describe(),
        "list": [
            {
                "number": number,
                "place": places[own.term],
                "free": own.free.tolist(),
                "spread": spread,
                **encode_term(own.term),
            }
            for (number, own), spread in zip(state.terms.items(), spreads.tolist(), strict=True)
        ],
        "solved": shorten(state.solved, None),
        "fitted": shorten(np.column_stack([first.intercepts, *(own.coefs for own in first.terms.values())]), None),
        "honest": _recall_honest(model),
        "exact": encode(judge(model.recall_target(), state, state).after),
        "lines": _describe_lines(rows, groups, values[:, is_rule], values[:, ~is_rule], codes),
        "shown": _pack(coder.code(rows.columns, shown)),
        "template": _make_template(model, state),
    }


def _draw_rows(model: BaseRuleEnsemble, X: Any, y: Any, min_count: int, exposure: Any, offset: Any) -> Rows:
    """Return the rows of a session, drawn where they are many."""
    if X is None or y is None:
        raise InvalidInputError("A workbench needs rows and their target to solve for weights; give X and y as well.")
    if isinstance(min_count, bool) or not isinstance(min_count, (int, np.integer)) or min_count < 1:
        raise InvalidInputError(
            f"`workbench` must be True, False or the smallest number of rows in a line; got {min_count!r}."
        )
    if len(model.model_.terms) > MOST_TERMS:
        raise InvalidInputError(
            f"The list has {len(model.model_.terms)} terms, but a workbench can have {MOST_TERMS} at most; shorten "
            f"the model first, with model.shorten(max_terms={MOST_TERMS // 2})."
        )
    rows = read_rows(model, X, y, None, None, exposure, offset)
    if rows.n_rows > MOST_ROWS:
        rows = rows.take(np.sort(draw_positions(SEED, np.arange(rows.n_rows), MOST_ROWS)[0]))
    least = int(np.bincount(_find_parts(rows)).min())
    if least < min_count:
        raise InvalidInputError(
            f"A line must have at least {min_count} rows, but there are only {least} to make it from; give a smaller "
            "number as `workbench`, or more rows."
        )
    return rows


def _find_parts(rows: Rows) -> IntArray:
    """Return which rows may be on one line: of classes any, for counts by fold tell no more than counts of all.

    Of numbers and rates those of one fold, for sums of a fold might be of a single row, whose number they would be.
    """
    return np.zeros(rows.n_rows, np.int64) if isinstance(rows.family, OfClasses) else rows.folds


class Coder:
    """Attributes as small whole numbers that tell all that rules ask, at any of the thresholds that can be tried.

    A number is coded by how many cuts lie below it, plus 1, and by 0 where it is missing; a condition on categories by
    whether it holds.

    Parameters
    ----------
    terms : sequence of Rule or Linear
    columns : Columns
    rows : ndarray
        Positions of the rows that the cuts are chosen by.
    """

    def __init__(self, terms: Sequence[Any], columns: Columns, rows: IntArray) -> None:
        conditions = dict.fromkeys(
            condition for term in terms if isinstance(term, Rule) for condition in term.conditions
        )
        self.features = columns.features
        self.choices = [condition for condition in conditions if condition.categories is not None]
        self.fitted: dict[int, FloatArray] = {}
        for condition in conditions:
            if condition.categories is None:
                known = self.fitted.get(condition.feature, np.zeros(0))
                ends = np.array([condition.lower, condition.upper])
                self.fitted[condition.feature] = np.union1d(known, ends[np.isfinite(ends)])
        self.cuts = {place: self._cut(place, own, columns, rows) for place, own in sorted(self.fitted.items())}

    def _cut(self, place: int, fitted: FloatArray, columns: Columns, rows: IntArray) -> FloatArray:
        """Return the thresholds of an attribute; those of truth values stay as they are."""
        feature = columns.features[place]
        if feature.boolean:
            return fitted
        return choose_cuts(columns.take(rows, np.array([place]))[0], fitted, days=feature.part == "date")

    @property
    def sizes(self) -> FloatArray:
        """The largest code of each column."""
        return np.array([*(1.0 + own.size for own in self.cuts.values()), *(1.0 for _ in self.choices)])

    def code(self, columns: Columns, rows: IntArray) -> IntArray:
        """Return the codes of rows, an ndarray of shape (n_rows, n_columns)."""
        used = list(dict.fromkeys([*self.cuts, *(choice.feature for choice in self.choices)]))
        values = dict(zip(used, columns.take(rows, np.array(used, np.int64)), strict=True)) if used else {}
        numbers = [
            np.where(np.isnan(values[place]), 0, 1 + np.searchsorted(cuts, values[place]))
            for place, cuts in self.cuts.items()
        ]
        held = [choice.holds(values[choice.feature]) for choice in self.choices]
        return np.array([*numbers, *held], dtype=np.int64).reshape(-1, len(rows)).T

    def describe(self) -> list[dict[str, Any]]:
        """Return what each column is, with the words that its conditions are told by."""
        numbers = [
            {
                "feature": place,
                **_describe_feature(self.features[place]),
                "cuts": cuts.tolist(),
                "words": [list(write_bound(cut, self.features[place], None)) for cut in cuts.tolist()],
                "points": _find_points(cuts, place, self.features[place]),
            }
            for place, cuts in self.cuts.items()
        ]
        choices = [
            {
                "feature": choice.feature,
                **_describe_feature(self.features[choice.feature]),
                "categories": list(choice.categories or ()),
                "missing": choice.missing,
                "labels": [
                    *map(write_label, self.features[choice.feature].categories or ()),
                    ANY_OTHER,
                ],
                "n_categories": self.features[choice.feature].n_categories,
            }
            for choice in self.choices
        ]
        return [*numbers, *choices]


def _describe_feature(feature: Feature) -> dict[str, Any]:
    """Return how an attribute is told in conditions."""
    return {"name": printable(feature.name), "boolean": feature.boolean}


def _find_points(cuts: FloatArray, place: int, feature: Feature) -> dict[str, str]:
    """Return the conditions that single values satisfy, in words, by the cut that is their upper bound."""
    pairs = zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
    told = {str(k): Condition(place, low, high).text(feature) for k, (low, high) in enumerate(pairs, start=1)}
    return {k: words for k, words in told.items() if words.startswith(f"{printable(feature.name)} = ")}


def _describe_family(rows: Rows) -> dict[str, Any]:
    """Return what the loss is, in which units, and the mean of what it has beside the sums whatever scores are."""
    family, power, beside = rows.family, None, 0.0
    if isinstance(family, OfClasses):
        name = "two" if family.n_outputs == 1 else "several"
    elif isinstance(family, OfRates):
        name, power, here = "rate", family.power, rows.folds < rows.n_folds
        weights = None if rows.weights is None else rows.weights[here]
        beside = float(np.average(family.expand(rows.y[here])[0], weights=weights))
    else:
        name = "number"
    units = {"center": rows.center, "scale": rows.scale, "loss_unit": rows.loss_unit}
    return {"family": name, "power": power, "beside": beside, **units}


def _expand(rows: Rows) -> FloatArray:
    """Return what the page sums up of rows: of rates what standard errors need, and not what no score changes."""
    return (OfNumbers() if isinstance(rows.family, OfRates) else rows.family).expand(rows.y)


def _describe_lines(
    rows: Rows, groups: IntArray, held: FloatArray, followed: FloatArray, codes: IntArray
) -> dict[str, Any]:
    """Return rows in lines: means of rules and of linear terms, codes in the middle, sums of the target by fold."""
    n_lines, n_folds = int(groups.max()) + 1, int(rows.folds.max()) + 1
    sizes = np.bincount(groups, minlength=n_lines)
    inside = np.split(np.argsort(groups, kind="stable"), np.cumsum(sizes)[:-1])
    middle = np.array([np.sort(codes[own], axis=0)[(own.size - 1) // 2] for own in inside])
    weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    cells, basis = rows.folds * n_lines + groups, _expand(rows)

    def average(values: FloatArray) -> list[Any]:
        own = [np.bincount(groups, weights * column, n_lines) for column in values.T]
        return [shorten(column / np.bincount(groups, weights, n_lines), DIGITS) for column in own]

    def add(weights: FloatArray) -> list[Any]:
        sums = [np.bincount(cells, weights * own, n_lines * n_folds).reshape(n_folds, n_lines) for own in basis]
        return [shorten(own, DIGITS) for own in np.stack(sums, axis=1)]

    return {
        "n": n_lines,
        "counts": sizes.tolist(),
        "held": average(held),
        "values": average(followed),
        "codes": _pack(middle),
        "sums": add(weights),
        "products": None if rows.weights is None else add(weights**2),
    }


def _pack(codes: IntArray) -> list[str]:
    """Return the codes of each column, one byte a line, in base64."""
    return [base64.b64encode(own.astype(np.uint8).tobytes()).decode() for own in codes.T]


def _recall_honest(model: BaseRuleEnsemble) -> Any:
    """Return the figures of the fitted list on rows that it has not seen, as a model file has them."""
    cost = recall_cost(model)
    return None if cost is None else encode(cost)


def _make_template(model: BaseRuleEnsemble, state: State) -> str:
    """Return the model file of the fitted list solved for again, to put other terms in: compressed, in base64."""
    earlier = Edits(model.edits_ or ())
    document = json.loads(dump_model(finish_model(model, recall_state(model), state, earlier)))
    changed = {"terms": [], "held_out": None, "edits": encode_edits(earlier)}
    del document["checksum"]
    text = json.dumps({**document, **changed}, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
