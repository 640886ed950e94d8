"""The front of a model as plain JSON values, and back: each term once, then the lines that have it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.columns import Feature
from rulegrove.design.terms import Term
from rulegrove.estimators import _file_figures as file_figures
from rulegrove.estimators import _file_terms as file_terms
from rulegrove.estimators._checked_json import Value, encode
from rulegrove.estimators._file_recurrence import RecurrenceReader, encode_recurrence
from rulegrove.estimators.front import Front, FrontLine
from rulegrove.estimators.meaning import Meaning
from rulegrove.estimators.model import Fitted, RuleModel
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Alias, Rule

_MEASURES = ("error", "error_se", "loss", "loss_se", "excess_se")


@dataclass(frozen=True)
class Limits:
    """What a front may take in memory once it is read, however short the file is.

    Attributes
    ----------
    cells : int
        Coefficients of all lines together, zeros included.
    words : int
        Characters of all terms in words, with their aliases.
    """

    cells: int
    words: int


@dataclass(frozen=True)
class _Told:
    """A term of the front and what the training rows say about it, whichever line it stands in.

    Attributes
    ----------
    term : Rule or Linear
    support, mean_target : float
        As `Fitted` has them; a linear term has neither.
    shares : tuple of float, optional
        Of each of more than two classes where a rule holds.
    aliases : tuple of Alias
    """

    term: Term
    support: float = 1.0
    mean_target: float = 0.0
    shares: tuple[float, ...] | None = None
    aliases: tuple[Alias, ...] = ()

    def count_characters(self, features: Sequence[Feature]) -> int:
        """Return the length of the term in words, with its aliases."""
        return sum(len(term.text(features)) for term in (self.term, *(alias.rule for alias in self.aliases)))


def encode_front(front: Front | None, limits: Limits) -> dict[str, Any] | None:
    """Return the models of every length; curves of lines that were not chosen are thinned."""
    if front is None:
        return None
    places: dict[_Told, int] = {}
    lines = []
    for number, line in enumerate(front):
        own = [places.setdefault(told, len(places)) for told in _tell_terms(line.fitted)]
        lines.append({"terms": own, **_encode_line(line, chosen=number == front.chosen)})
    model = front[-1].fitted.model
    n_cells = sum(np.size(line.fitted.model.coefs) for line in front)
    n_characters = sum(told.count_characters(model.features) for told in places)
    for what, came, most in (("coefficients", n_cells, limits.cells), ("characters", n_characters, limits.words)):
        if came > most:
            raise InvalidInputError(f"The front of the model has {came} {what}; a model file may have {most}.")
    found = encode_recurrence(front.recurrence, {told.term: place for told, place in places.items()})
    return {
        "base_loss": encode(front.base_loss),
        "chosen": front.chosen,
        "output_means": encode(front[-1].fitted.output_means),
        "terms": [_encode_told(told) for told in places],
        "lines": lines,
        **({} if found is None else {"recurrence": found}),
    }


def _tell_terms(fitted: Fitted) -> list[_Told]:
    """Return the terms of a line in rank order."""
    known = fitted.class_shares
    told = []
    for term, support, mean, aliases in zip(
        fitted.model.terms, fitted.supports.tolist(), fitted.mean_targets.tolist(), fitted.aliases, strict=True
    ):
        if not isinstance(term, Rule):
            told.append(_Told(term))
        elif known is None:
            told.append(_Told(term, support, mean, None, aliases))
        else:
            told.append(_Told(term, support, 0.0, tuple(known[term].tolist()), aliases))
    return told


def _encode_told(told: _Told) -> dict[str, Any]:
    fields = file_terms.encode_term(told.term)
    if not isinstance(told.term, Rule):
        return fields
    fields["support"] = told.support
    fields |= {"mean_target": told.mean_target} if told.shares is None else {"shares": list(told.shares)}
    return fields | ({"aliases": file_terms.encode_aliases(told.aliases)} if told.aliases else {})


def _encode_line(line: FrontLine, *, chosen: bool) -> dict[str, Any]:
    """Return a line but for its terms."""
    model = line.fitted.model
    figures = line.held_out if chosen or line.held_out is None else line.held_out.thin()
    return {
        "coefs": file_terms.encode_coefs(model.coefs),
        "intercepts": encode(np.atleast_1d(model.intercept)),
        "importances": encode(line.fitted.importances),
        "calibration": encode(line.link),
        **{name: encode(float(getattr(line, name))) for name in (*_MEASURES, "fidelity")},
        "held_out": file_figures.encode_figures(figures),
    }


@dataclass(frozen=True)
class FrontReader:
    """What lines of a file have in common with the model beside them.

    Attributes
    ----------
    features : tuple of Feature
    columns : tuple of str
    meaning : Meaning
    limits : Limits
    """

    features: tuple[Feature, ...]
    columns: tuple[str, ...]
    meaning: Meaning
    limits: Limits

    @property
    def n_outputs(self) -> int:
        """Outputs of every line."""
        return self.meaning.n_outputs

    def decode(self, value: Value) -> Front:
        """Return the models of every length."""
        fields = value.fields(["base_loss", "chosen", "output_means", "terms", "lines"], {"recurrence": None})
        means = fields["output_means"].numbers(self.n_outputs)
        told = self._decode_terms(fields["terms"])
        lines: list[FrontLine] = []
        n_cells = 0
        for item in fields["lines"].items():
            own = item.fields(
                ["terms", "coefs", "intercepts", "importances", "calibration", *_MEASURES, "fidelity", "held_out"]
            )
            n_cells += len(own["terms"]) * self.n_outputs
            if n_cells > self.limits.cells:
                fields["lines"].refuse(f"lines of no more than {self.limits.cells} coefficients in all")
            lines.append(self._decode_line(own, told, means))
        if not lines:
            fields["lines"].refuse("a list of one line or more")
        terms = [one.term for one in told]
        reader = RecurrenceReader(self.features, self.columns, self.n_outputs, terms, len(lines), self.limits.cells)
        return Front(
            lines,
            meaning=self.meaning,
            base_loss=fields["base_loss"].number(0.0, special=True),
            chosen=fields["chosen"].integer(0, len(lines) - 1),
            recurrence=fields["recurrence"].maybe(reader.decode),
        )

    def _decode_terms(self, value: Value) -> list[_Told]:
        """Return the terms of all lines."""
        told: list[_Told] = []
        n_characters = 0
        for item in value.items():
            told.append(self._decode_told(item))
            n_characters += told[-1].count_characters(self.features)
            if n_characters > self.limits.words:
                value.refuse(f"terms of no more than {self.limits.words} characters in words")
        return told

    def _decode_told(self, value: Value) -> _Told:
        if "conditions" not in value.keyed():
            return _Told(file_terms.decode_linear(value.fields(["linear"])["linear"], self.features))
        several = self.n_outputs > 1 and self.meaning.evidence == "shares"
        fields = value.fields(["conditions", "support", "shares" if several else "mean_target"], {"aliases": []})
        return _Told(
            file_terms.decode_rule(fields["conditions"], self.features),
            file_terms.decode_support(fields["support"]),
            0.0 if several else fields["mean_target"].number(),
            tuple(file_terms.decode_shares(fields["shares"], self.n_outputs).tolist()) if several else None,
            file_terms.decode_aliases(fields["aliases"], self.features),
        )

    def _decode_line(self, fields: dict[str, Value], told: Sequence[_Told], means: FloatArray) -> FrontLine:
        """Return a line, with its own link."""
        places = fields["terms"].integers(0, len(told) - 1)
        own = [told[place] for place in places.tolist()]
        terms = tuple(one.term for one in own)
        if len(set(terms)) < len(terms):
            fields["terms"].refuse("positions of different terms")
        coefs = file_terms.decode_coefs(fields["coefs"], self.n_outputs, len(terms))
        intercepts, several = fields["intercepts"].numbers(self.n_outputs), self.n_outputs > 1
        link = self.meaning.decode_link(fields["calibration"])
        model = RuleModel(
            self.features,
            terms,
            coefs if several else coefs[0],
            intercepts if several else float(intercepts[0]),
            self.columns,
        )
        fitted = Fitted(
            self.meaning.link_model(model, link),
            fields["importances"].numbers(len(terms), 0.0),
            np.array([one.support for one in own], dtype=np.float64),
            np.array([one.mean_target for one in own], dtype=np.float64),
            tuple(one.aliases for one in own),
            means,
            {one.term: np.array(one.shares) for one in own if isinstance(one.term, Rule)}
            if several and self.meaning.evidence == "shares"
            else None,
        )
        measures = {name: fields[name].number(0.0, special=True) for name in _MEASURES}
        measures["fidelity"] = fields["fidelity"].number(special=True)
        return FrontLine(fitted, link, **measures, held_out=fields["held_out"].maybe(self.meaning.decode_figures))
