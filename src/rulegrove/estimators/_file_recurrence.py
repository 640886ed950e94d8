"""What lists from other rows say of a front, as plain JSON values, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove.columns import Feature
from rulegrove.design.terms import Term
from rulegrove.estimators import _file_terms as file_terms
from rulegrove.estimators._checked_json import Value, encode
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.recurrence import NEVER, WHOLE, Draws, Recurrence, Remade, Span

MOST_RESAMPLES = 100_000
_MOST_ROWS = 2**53


def encode_recurrence(recurrence: Recurrence | None, places: Mapping[Term, int]) -> dict[str, Any] | None:
    """Return what lists from other rows say, of terms by their places in the front."""
    if recurrence is None:
        return None
    of_lists: dict[Term, int] = {}
    lists = [
        {
            "terms": [of_lists.setdefault(term, len(of_lists)) for term in own.model.terms],
            "coefs": file_terms.encode_coefs(own.model.coefs),
            "intercepts": encode(np.atleast_1d(own.model.intercept)),
            "importances": encode(own.importances),
            "supports": encode(own.supports),
        }
        for own in recurrence.lists
    ]
    return {
        "n_resamples": recurrence.n_resamples,
        "n_rows": recurrence.n_rows,
        "steady": recurrence.steady,
        "chosen": recurrence.chosen,
        "terms": [places[term] for term in recurrence.terms],
        "entries": [[own[own < NEVER].tolist() for own in order] for order in recurrence.entries],
        "spans": [encode_spans(spans) for spans in recurrence.spans],
        "losses": encode(recurrence.draws.losses),
        "first": [np.flatnonzero(own).tolist() for own in recurrence.draws.first],
        "other_terms": [file_terms.encode_term(term) for term in of_lists],
        "lists": lists,
    }


def encode_spans(spans: Sequence[Span]) -> list[dict[str, Any]]:
    """Return where bounds lie."""
    return [span._asdict() for span in spans]


def decode_spans(value: Value, features: Sequence[Feature]) -> tuple[Span, ...]:
    """Return where bounds of numeric attributes lie."""
    return tuple(_decode_span(item, features) for item in value.items())


def _decode_span(value: Value, features: Sequence[Feature]) -> Span:
    fields = value.fields(["feature", "is_lower", "low", "high"])
    feature = fields["feature"].integer(0, len(features) - 1)
    if features[feature].categories is not None:
        fields["feature"].refuse("a numeric attribute")
    low = fields["low"].number()
    return Span(feature, fields["is_lower"].boolean(), low, fields["high"].number(low))


@dataclass(frozen=True)
class RecurrenceReader:
    """What lists of a file have in common with the front beside them.

    Attributes
    ----------
    features : tuple of Feature
    columns : tuple of str
    n_outputs : int
    terms : sequence of Term
        Those of the front.
    n_lines : int
        Of the front.
    most_cells : int
        Coefficients of all lists together, zeros included.
    """

    features: tuple[Feature, ...]
    columns: tuple[str, ...]
    n_outputs: int
    terms: Sequence[Term]
    n_lines: int
    most_cells: int

    def decode(self, value: Value) -> Recurrence:
        """Return what lists from other rows say."""
        names = [
            "n_resamples",
            "n_rows",
            "steady",
            "chosen",
            "terms",
            "entries",
            "spans",
            "losses",
            "first",
            "other_terms",
        ]
        fields = value.fields([*names, "lists"])
        n_resamples = fields["n_resamples"].integer(1, MOST_RESAMPLES)
        places = fields["terms"].integers(0, len(self.terms) - 1)
        orders = list(fields["entries"].items())
        if not 2 <= len(orders) <= 1 + WHOLE or 2 * len(places) * n_resamples > self.most_cells:
            fields["entries"].refuse("two orders of entry or three")
        entries = np.full((len(orders), len(places), n_resamples), NEVER, dtype=np.int64)
        for order, item in zip(entries, orders, strict=True):
            for row, own in zip(order, item.items(len(places)), strict=True):
                found = own.integers(0, NEVER - 1)
                if found.size > n_resamples:
                    own.refuse(f"at most {n_resamples} lengths")
                row[: found.size] = np.sort(found)
        losses = [item.numbers(self.n_lines, special=True) for item in fields["losses"].items()]
        if not losses:
            fields["losses"].refuse("a list of one draw or more")
        first = np.zeros((len(losses), self.n_lines), dtype=bool)
        for row, item in zip(first, fields["first"].items(len(losses)), strict=True):
            row[item.positions(self.n_lines)] = True
        spans = tuple(decode_spans(item, self.features) for item in fields["spans"].items(len(places)))
        return Recurrence(
            n_resamples,
            fields["n_rows"].integer(1, _MOST_ROWS),
            fields["steady"].boolean(),
            tuple(self.terms[place] for place in places.tolist()),
            entries,
            Draws(np.array(losses), first),
            spans,
            self._decode_lists(fields["lists"], [self._decode_term(item) for item in fields["other_terms"].items()]),
            fields["chosen"].integer(0, self.n_lines - 1),
        )

    def _decode_term(self, value: Value) -> Term:
        """Return a rule or a linear term."""
        if "conditions" in value.keyed():
            return file_terms.decode_rule(value.fields(["conditions"])["conditions"], self.features)
        return file_terms.decode_linear(value.fields(["linear"])["linear"], self.features)

    def _decode_lists(self, value: Value, terms: Sequence[Term]) -> tuple[Remade, ...]:
        """Return the lists."""
        lists, n_cells = [], 0
        for item in value.items():
            fields = item.fields(["terms", "coefs", "intercepts", "importances", "supports"])
            places = fields["terms"].integers(0, len(terms) - 1)
            n_cells += len(places) * self.n_outputs
            if n_cells > self.most_cells:
                value.refuse(f"lists of no more than {self.most_cells} coefficients in all")
            coefs = file_terms.decode_coefs(fields["coefs"], self.n_outputs, len(places))
            intercepts, several = fields["intercepts"].numbers(self.n_outputs), self.n_outputs > 1
            own = tuple(terms[place] for place in places.tolist())
            model = RuleModel(
                self.features,
                own,
                coefs if several else coefs[0],
                intercepts if several else float(intercepts[0]),
                self.columns,
            )
            importances = fields["importances"].numbers(len(own), 0.0)
            lists.append(Remade(model, importances, fields["supports"].numbers(len(own))))
        return tuple(lists)
