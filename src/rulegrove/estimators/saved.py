"""A model file, read as far as who reads its rules needs it: attributes, terms, held-out figures and shorter lists.

What only predictions and further fits need (parameters, candidates, paths) stays as it stands in the file until
`model_file` makes an estimator of it, so that none of what fits models is loaded to print rules or to shorten a list.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rulegrove._files import open_file
from rulegrove._typing import FloatArray
from rulegrove._version import __version__
from rulegrove.columns import Feature, list_sources
from rulegrove.estimators import _file_figures as file_figures
from rulegrove.estimators import _file_front as file_front
from rulegrove.estimators import _file_terms as file_terms
from rulegrove.estimators._checked_json import MAX_BYTES, Value, check_size, checksum, encode, parse, quote
from rulegrove.estimators._file_evidence import decode_evidence
from rulegrove.estimators._file_recurrence import decode_spans, encode_spans
from rulegrove.estimators.evidence import RuleEvidence
from rulegrove.estimators.figures import Figures
from rulegrove.estimators.front import Front, need_front, settle_length
from rulegrove.estimators.meaning import ClassMeaning, HazardMeaning, Meaning, NumberMeaning
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.recurrence import tell_spans
from rulegrove.estimators.rule_table import RankedTerm, RuleTable
from rulegrove.exceptions import InvalidInputError

FORMAT = "rulegrove model"
VERSION = 2  # of the layout; docs/model-file.md tells what each one holds
MAX_CELLS = 2**27  # coefficients of all paths together once their zeros are written out: a gigabyte
MAX_WORDS = 2**28  # characters of all terms in words: a short file can have a long name that many conditions repeat

MEANINGS: dict[str, type[Meaning]] = {  # by the estimator
    "RuleEnsembleClassifier": ClassMeaning,
    "RuleEnsembleRegressor": NumberMeaning,
    "RuleEnsembleSurvival": HazardMeaning,
}
_NEEDED = ["format", "version", "written_by", "estimator", "parameters", "features", "named_features", "intercepts"]
_NEEDED += ["terms", "candidates", "outputs"]
# Files of the first versions have none of these.
_LATER: dict[str, Any] = {"settings": {}}
_LATER |= dict.fromkeys(("columns", "checksum", "held_out", "front", "evidence", "edits"))


@dataclass(frozen=True, eq=False)
class Saved:
    """What a model file tells.

    Attributes
    ----------
    document : Value
        All of it, in the newest layout.
    fields : dict of Value
        The same by name, with what stands for fields that an older file lacks.
    estimator : str
        Name of its class.
    meaning : Meaning
    model : RuleModel
    rules : RuleTable
    """

    document: Value
    fields: Mapping[str, Value]
    estimator: str
    meaning: Meaning
    model: RuleModel
    rules: RuleTable

    @cached_property
    def held_out(self) -> Figures | None:
        """How well the model did on held-out rows, if there were any."""
        return self.fields["held_out"].maybe(self.meaning.decode_figures)

    @cached_property
    def front(self) -> Front | None:
        """Lists of every length; files of the first versions have none."""
        limits = file_front.Limits(MAX_CELLS, MAX_WORDS)
        reader = file_front.FrontReader(self.model.features, self.model.names, self.meaning, limits)
        return self.fields["front"].maybe(reader.decode)

    @cached_property
    def evidence(self) -> RuleEvidence | None:
        """What rows that did not choose the rules say of them, if there were any."""
        classes = bool(self.model.labels)
        return self.fields["evidence"].maybe(lambda value: decode_evidence(value, self.rules, classes=classes))

    def shorten(self, max_terms: int | str | None, max_rules: int | None = None) -> "Saved":
        """Return the file that the estimator would save after its `shorten`."""
        front, raw = need_front(self.front, self.estimator), self.document.raw
        place = front.choose(max_terms, max_rules)
        line, rules = front[place], front.list_rules(place, (max_terms, max_rules))
        auto = raw["parameters"].get("calibration") == "auto"
        found = {"calibration": None if line.link is None else "temperature"} if auto else {}
        changed = {
            "written_by": f"rulegrove {__version__}",
            "parameters": {**raw["parameters"], "max_terms": max_terms, "max_rules": max_rules},
            "evidence": raw.get("evidence") if place == front.chosen else None,  # it is about one list
            "settings": settle_length(raw["settings"], line, max_terms, found),
            **self.meaning.encode_link(line.link),
            **encode_list(line.fitted.model, rules, line.held_out, front.choosing(place)),
        }
        short = decode_saved(replace(self.document, raw={**raw, **changed}))
        vars(short)["front"] = front.choosing(place)  # which need not be read again
        return short

    def dump(self) -> str:
        """Return the text of the file."""
        return write_document(self.document.raw)


def read_saved(path: str | os.PathLike[str]) -> Saved:
    """Read a model file; see `model_file.load_model`."""
    with open_file(path) as handle:
        content = handle.read(MAX_BYTES + 1)
    return parse_saved(content, Path(path).name)


def parse_saved(content: bytes, name: str = "The file") -> Saved:
    """Return what the content of a model file tells.

    Parameters
    ----------
    content : bytes
    name : str
        Of the file, for messages.
    """
    document = parse(content, name)
    _check_version(document)
    _check_sum(document)
    return decode_saved(_migrate(document))


def _check_version(document: Value) -> None:
    """Refuse what is no model file, or one of another layout."""
    raw, name = document.raw, document.file
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        known = isinstance(raw, dict) and "format" in raw
        came = f"its `format` is {quote(raw['format'])}" if known else "it has no `format`"
        raise InvalidInputError(f"{name} is not a rulegrove model: {came}.")
    version = raw.get("version")
    if type(version) is not int or version < 1:
        Value(version, name, way=("version",)).refuse("a positive integer")
    if version > VERSION:
        raise InvalidInputError(
            f"{name} has version {version} of the layout of model files, and this rulegrove reads versions up to "
            f"{VERSION}; update rulegrove to read it."
        )


def _migrate(document: Value) -> Value:
    """Return a document of the newest layout: in the first one "glmnet" was what "auto" is now."""
    raw = document.raw
    parameters = raw.get("parameters")
    if raw["version"] > 1 or not isinstance(parameters, dict) or parameters.get("solver") != "glmnet":
        return document
    return replace(document, raw={**raw, "parameters": {**parameters, "solver": "auto"}})


def _check_sum(document: Value) -> None:
    """Refuse values that are not those that were written."""
    if "checksum" not in document.raw:
        return
    try:
        expected = checksum(document.raw)
    except RecursionError:
        document.refuse("an object whose values are not nested so deeply")
    if document.keyed()["checksum"].text() != expected:
        raise InvalidInputError(
            f"{document.file} is damaged or was edited: its values do not match its `checksum`. Use a complete copy "
            "of it; or, if it was edited on purpose, remove the field `checksum` from the file and load it again."
        )


def decode_saved(document: Value) -> Saved:
    """Return what a document of the newest layout tells."""
    name = document.keyed().get("estimator", document).text(list(MEANINGS))
    kind = MEANINGS[name]
    fields = document.fields([*_NEEDED, *kind.stored], {**_LATER, **kind.stored_later})
    fields["written_by"].text()
    features = tuple(file_terms.decode_feature(item) for item in fields["features"].items())
    if not features:
        fields["features"].refuse("a list of attributes")
    meaning = kind.decode(fields)
    intercepts = fields["intercepts"].numbers(meaning.n_outputs)
    columns = _decode_columns(fields["columns"], features)
    rows, coefs = _decode_terms(fields["terms"], features, meaning)
    several = meaning.n_outputs > 1
    model = RuleModel(
        features,
        tuple(row.term for row in rows),
        coefs if several else coefs[0],
        intercepts if several else float(intercepts[0]),
        columns,
    )
    model = meaning.link_model(model, meaning.link)
    return Saved(document, fields, name, meaning, model, meaning.tabulate(rows, model))


def _decode_columns(value: Value, features: Sequence[Feature]) -> tuple[str, ...]:
    """Return the columns of the training table: as listed, or just those that the attributes are read from."""
    needed = list_sources(features)
    if value.is_null:
        return needed
    columns = tuple(item.text() for item in value.items())
    if len(set(columns)) < len(columns) or not set(needed) <= set(columns):
        value.refuse("a list of different columns, with those of all attributes")
    return columns


def _decode_terms(value: Value, features: tuple[Feature, ...], meaning: Meaning) -> tuple[list[RankedTerm], FloatArray]:
    """Return the ranked terms and the coefficients, an ndarray of shape (n_outputs, n_terms)."""
    n_outputs = meaning.n_outputs
    rows: list[RankedTerm] = []
    coefs: list[FloatArray] = []  # tables of the promised size could be larger than any memory
    n_characters = 0
    for place, item in enumerate(value.items()):
        is_rule = "conditions" in item.keyed()
        told = [meaning.evidence] if is_rule and meaning.evidence else []
        needed = ["conditions", "support", *told] if is_rule else ["linear"]
        fields = item.fields([*needed, "coefs", "importance"], {"aliases": [], "returns": None, "spans": []})
        decode = file_terms.decode_rule if is_rule else file_terms.decode_linear
        term = decode(fields[needed[0]], features)
        text = term.text(features)
        n_characters += len(text)
        if n_characters > MAX_WORDS:
            value.refuse(f"terms of no more than {MAX_WORDS} characters in words")
        coefs.append(fields["coefs"].numbers(n_outputs))
        spans = decode_spans(fields["spans"], features)
        rows.append(
            RankedTerm(
                rank=place + 1,
                kind="rule" if is_rule else "linear",
                text=text,
                importance=fields["importance"].number(0.0),
                support=file_terms.decode_support(fields["support"]) if is_rule else 1.0,
                aliases=tuple(alias.text() for alias in fields["aliases"].items()),
                term=term,
                returns=fields["returns"].maybe(lambda own: own.number(0.0, 1.0)),
                thresholds=tell_spans(spans, features),
                spans=spans,
                **meaning.decode_term(term, coefs[-1], fields[meaning.evidence] if told else None),
            )
        )
    if len({row.term for row in rows}) < len(rows):
        value.refuse("a list of different terms")
    return rows, np.array(coefs).reshape(len(rows), n_outputs).T.copy()


def encode_list(model: RuleModel, rules: RuleTable, held_out: Figures | None, front: Front | None) -> dict[str, Any]:
    """Return the fields of a model file that tell of the model itself: another length has others."""
    coefs = np.atleast_2d(model.coefs).T.tolist()
    encoded = file_front.encode_front(front, file_front.Limits(MAX_CELLS, MAX_WORDS))
    if (n_characters := sum(len(row.text) for row in rules)) > MAX_WORDS:
        raise InvalidInputError(
            f"The terms in words have {n_characters} characters; a model file may have {MAX_WORDS}."
        )
    return {
        "intercepts": encode(np.atleast_1d(model.intercept)),
        "held_out": file_figures.encode_figures(held_out),
        "terms": [_encode_ranked(row, coef) for row, coef in zip(rules, coefs, strict=True)],
        "front": encoded,
    }


def _encode_ranked(row: RankedTerm, coefs: Sequence[float]) -> dict[str, Any]:
    """Return a term with what the training rows say about it; words are made anew when it is read."""
    fields = {**file_terms.encode_term(row.term), "coefs": list(coefs), "importance": row.importance}
    if row.kind == "rule":
        fields["support"] = row.support
    if row.mean_target is not None:
        fields["mean_target"] = row.mean_target
    if row.confidences is not None:
        fields["shares"] = list(row.confidences.values())
    if row.aliases:
        fields["aliases"] = list(row.aliases)
    if row.returns is not None:
        fields |= {"returns": row.returns, "spans": encode_spans(row.spans)}
    return fields


def write_document(document: Mapping[str, Any]) -> str:
    """Return the text of a model file, with its checksum."""
    text = json.dumps({**document, "checksum": checksum(document)}, allow_nan=False, separators=(",", ":")) + "\n"
    check_size(text.encode(), "The model")
    return text
