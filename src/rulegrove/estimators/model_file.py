"""The model file: a fitted estimator as versioned JSON. Reading it checks everything and runs nothing."""

import importlib.metadata
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulegrove._files import open_file, write_whole
from rulegrove._typing import FloatArray
from rulegrove._validation import check_parameters
from rulegrove.columns import Feature, list_sources
from rulegrove.design.terms import Term
from rulegrove.estimators import _file_figures as file_figures
from rulegrove.estimators import _file_fits as fits
from rulegrove.estimators import _file_terms as file_terms
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._checked_json import MAX_BYTES, Value, check_size, checksum, encode_numbers, parse, quote
from rulegrove.estimators._fitted import share_importance
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.outputs import PerOutput
from rulegrove.estimators.regressor import RuleEnsembleRegressor
from rulegrove.estimators.rule_table import RankedTerm, RuleTable
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Rule
from rulegrove.solvers import make_solver

FORMAT = "rulegrove model"
VERSION = 2  # of the layout; docs/model-file.md tells what each one holds
MAX_CELLS = 2**27  # coefficients of all paths together once their zeros are written out: a gigabyte
MAX_WORDS = 2**28  # characters of all terms in words: a short file can have a long name that many conditions repeat

ESTIMATORS: dict[str, type[RuleEnsembleClassifier] | type[RuleEnsembleRegressor]] = {
    "RuleEnsembleClassifier": RuleEnsembleClassifier,
    "RuleEnsembleRegressor": RuleEnsembleRegressor,
}
_COMMON = ["format", "version", "written_by", "estimator", "parameters", "features", "named_features", "intercepts"]
_COMMON += ["terms", "candidates", "outputs"]
_OF_CLASSES = ["classes", "multiclass", "calibration"]
_LATER = ["settings", "columns", "checksum", "held_out"]  # files of the first versions have none
_LATER_OF_CLASSES = ["class_shares"]


def save_model(model: BaseRuleEnsemble, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file, whole or not at all.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        A fitted estimator.
    path : str or path
        Of the file; one that exists is replaced.

    See Also
    --------
    load_model : Read it back.

    Notes
    -----
    The layout is documented in ``docs/model-file.md``. Parameters that JSON cannot hold (a splitter as `cv`, a
    generator as `random_state`, fitted `trees`) are left out and have their defaults after loading; predictions do not
    need them.

    Examples
    --------
    >>> import tempfile
    >>> from rulegrove import RuleEnsembleClassifier, load_model
    >>> from rulegrove.datasets import load
    >>> X, y = load("iris", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=50, max_terms=3, random_state=0).fit(X, y)
    >>> path = FilePath(tempfile.mkdtemp()) / "model.json"
    >>> save_model(model, path)
    >>> bool((load_model(path).predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    write_whole(path, dump_model(model))


def load_model(path: str | os.PathLike[str]) -> RuleEnsembleClassifier | RuleEnsembleRegressor:
    """Read a fitted estimator from a model file.

    Loading runs no code from the file: every value is checked for type, length and range, and what does not fit
    is an `InvalidInputError` that names the place. Predictions are those of the saved model bit for bit.

    A file whose values are not those of its `checksum` is refused as damaged. Whoever edits a file by hand removes the
    field `checksum`; a file without one loads, and saving the model gives it a new one.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    RuleEnsembleClassifier or RuleEnsembleRegressor
        As it was saved, with `rules_`, `path_`, `selection_`, `candidates_` and `held_out_`.

    See Also
    --------
    save_model : Write the file.

    Examples
    --------
    >>> import tempfile
    >>> from rulegrove import load_model
    >>> path = FilePath(tempfile.mkdtemp()) / "model.json"
    >>> _ = path.write_text('{"format": "something else"}')
    >>> load_model(path)
    Traceback (most recent call last):
        ...
    rulegrove.exceptions.InvalidInputError: model.json is no rulegrove model: its `format` is 'something else'.
    """
    with open_file(path) as handle:
        content = handle.read(MAX_BYTES + 1)
    return parse_model(content, FilePath(path).name)


def dump_model(model: BaseRuleEnsemble) -> str:
    """Return the text of a model file; see `save_model`."""
    name = type(model).__name__
    if ESTIMATORS.get(name) is not type(model):
        raise InvalidInputError(f"A model file holds one of {', '.join(ESTIMATORS)}; got a {name}.")
    check_is_fitted(model)
    check_parameters(model)
    own = model.model_
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "checksum": "",  # of all that follows; here, where someone who edits the file finds it
        "written_by": f"rulegrove {importlib.metadata.version('rulegrove')}",
        "estimator": name,
        "parameters": {**fits.encode_parameters(model.get_params(deep=False)), "rules": _encode_own_rules(model)},
        "settings": fits.encode_parameters(model.settings_),
        "features": [file_terms.encode_feature(feature) for feature in own.features],
        "named_features": hasattr(model, "feature_names_in_"),
        "intercepts": encode_numbers(np.atleast_1d(own.intercept)),
        "held_out": file_figures.encode_figures(model.held_out_),
    }
    if own.names != list_sources(own.features):
        document["columns"] = list(own.names)
    if isinstance(model, RuleEnsembleClassifier):
        document["classes"] = file_terms.encode_classes(model.classes_)
        document["multiclass"] = model.multiclass_
        document["calibration"] = fits.encode_calibration(model.calibration_)
        if model.class_shares_ is not None:
            document["class_shares"] = encode_numbers(model.class_shares_)
    coefs = np.atleast_2d(own.coefs).T.tolist()
    document["terms"] = [_encode_ranked(row, coef) for row, coef in zip(model.rules_, coefs, strict=True)]
    document["candidates"] = [file_terms.encode_candidates(terms) for terms in model.candidates_.distinct]
    document["outputs"] = [
        {
            "solver": fits.encode_solver(solver),
            "path": fits.encode_path(path, MAX_CELLS // len(np.atleast_1d(own.intercept))),
            "selection": fits.encode_selection(selection),
        }
        for solver, path, selection in zip(model.solver_, model.path_, model.selection_, strict=True)
    ]
    if (n_characters := sum(len(row.text) for row in model.rules_)) > MAX_WORDS:
        raise InvalidInputError(
            f"The terms in words have {n_characters} characters; a model file may have {MAX_WORDS}."
        )
    document["checksum"] = checksum(document)
    text = json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"
    check_size(text.encode(), "The model")
    return text


def _encode_own_rules(model: BaseRuleEnsemble) -> list[str] | None:
    """Return the parameter `rules` in words, which say exactly what the records say."""
    if model.rules is None:
        return None
    features = model.model_.features
    return [rule.text(features) if isinstance(rule, Rule) else str(rule) for rule in model.rules]


def parse_model(content: bytes, name: str = "The file") -> RuleEnsembleClassifier | RuleEnsembleRegressor:
    """Return the estimator of a model file's content; see `load_model`.

    Parameters
    ----------
    content : bytes
    name : str
        Of the file, for messages.
    """
    document = parse(content, name)
    _check_version(document)
    _check_sum(document)
    return _decode_model(_migrate(document))


def _check_version(document: Value) -> None:
    """Refuse what is no model file, or one of another layout."""
    raw, name = document.raw, document.file
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        known = isinstance(raw, dict) and "format" in raw
        came = f"its `format` is {quote(raw['format'])}" if known else "it has no `format`"
        raise InvalidInputError(f"{name} is no rulegrove model: {came}.")
    version = raw.get("version")
    if type(version) is not int or version < 1:
        Value(version, "version", name).refuse("a positive integer")
    if version > VERSION:
        raise InvalidInputError(
            f"{name} has the layout {version} of model files and this rulegrove reads up to {VERSION}; "
            "update rulegrove to read it."
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
        found = checksum(document.raw)
    except RecursionError:
        document.refuse("an object whose values are not nested so deeply")
    if document.keyed()["checksum"].text() != found:
        raise InvalidInputError(
            f"{document.file} is damaged, or was edited: its values are not those of its `checksum`. Take a whole copy "
            "of it; or, if it was edited on purpose, remove the field `checksum` from the file and load it again."
        )


def _decode_model(document: Value) -> RuleEnsembleClassifier | RuleEnsembleRegressor:
    """Return the estimator of a document of the newest layout."""
    name = document.keyed().get("estimator", document).text(list(ESTIMATORS))
    of_classes = name == "RuleEnsembleClassifier"
    needed, later = (_OF_CLASSES, _LATER_OF_CLASSES) if of_classes else ([], [])
    fields = document.fields([*_COMMON, *needed], [*_LATER, *later])
    fields["written_by"].text()
    model = _make_estimator(fields["parameters"], name)
    model.settings_ = _decode_settings(fields["settings"], name) if "settings" in fields else {}
    features = tuple(file_terms.decode_feature(item) for item in fields["features"].items())
    if not features:
        fields["features"].refuse("a list of attributes")
    intercepts = fields["intercepts"].numbers()
    if isinstance(model, RuleEnsembleClassifier):
        _set_classes(model, fields)
    n_outputs = len(model.classes_) if of_classes and len(model.classes_) > 2 else 1
    if len(intercepts) != n_outputs:
        fields["intercepts"].refuse(f"a list of {n_outputs}")
    if isinstance(model, RuleEnsembleClassifier):
        model.calibration_ = fits.decode_calibration(fields["calibration"], n_outputs)
    columns = _decode_columns(fields, features)
    model.n_features_in_ = len(columns)
    if fields["named_features"].boolean():
        model.feature_names_in_ = np.array(columns, dtype=object)
    _set_terms(model, fields["terms"], features, intercepts, columns)
    _set_outputs(model, fields, features, n_outputs)
    if isinstance(model, RuleEnsembleClassifier):
        model.model_ = model.recall_target().link_model(model.model_, make_solver(model.solver_[0]))
    n_classes = len(model.classes_) if isinstance(model, RuleEnsembleClassifier) else None
    model.held_out_ = file_figures.decode_figures(fields.get("held_out"), n_classes)
    return model


def _decode_columns(fields: dict[str, Value], features: Sequence[Feature]) -> tuple[str, ...]:
    """Return the columns of the training table: as listed, or just those that the attributes are read from."""
    needed = list_sources(features)
    if "columns" not in fields:
        return needed
    columns = tuple(item.text() for item in fields["columns"].items())
    if len(set(columns)) < len(columns) or not set(needed) <= set(columns):
        fields["columns"].refuse("a list of different columns, with those of all attributes")
    return columns


def _make_estimator(value: Value, name: str) -> RuleEnsembleClassifier | RuleEnsembleRegressor:
    """Return the estimator, not yet fitted, with its parameters checked."""
    model = ESTIMATORS[name](**fits.decode_parameters(value, ESTIMATORS[name]))
    try:
        check_parameters(model)
    except (ValueError, TypeError) as error:
        value.blame(error)
    return model


def _decode_settings(value: Value, name: str) -> dict[str, Any]:
    """Return what a preset has changed, checked as parameters are."""
    model = _make_estimator(value, name)
    return {parameter: getattr(model, parameter) for parameter in value.keyed()}


def _set_classes(model: RuleEnsembleClassifier, fields: dict[str, Value]) -> None:
    """Set what a classifier knows of its classes."""
    model.classes_ = file_terms.decode_classes(fields["classes"])
    model.multiclass_ = fields["multiclass"].text(["ovr", "shared", "grouped"])
    shares = fields.get("class_shares")
    model.class_shares_ = None if shares is None else file_terms.decode_shares(shares, len(model.classes_))


def _encode_ranked(row: RankedTerm, coefs: Sequence[float]) -> dict[str, Any]:
    """Return a term with what the training rows say about it; words are made anew when it is read."""
    fields = {**file_terms.encode_term(row.term), "coefs": list(coefs), "importance": row.importance}
    if isinstance(row.term, Rule):
        fields["support"] = row.support
    if row.mean_target is not None:
        fields["mean_target"] = row.mean_target
    if row.confidences is not None:
        fields["shares"] = list(row.confidences.values())
    if row.aliases:
        fields["aliases"] = list(row.aliases)
    return fields


def _set_terms(
    model: RuleEnsembleClassifier | RuleEnsembleRegressor,
    value: Value,
    features: tuple[Feature, ...],
    intercepts: FloatArray,
    columns: tuple[str, ...],
) -> None:
    """Set the ranked terms and what follows from them."""
    n_outputs, of_classes = len(intercepts), isinstance(model, RuleEnsembleClassifier)
    terms: list[Term] = []
    coefs: list[FloatArray] = []
    rows = []
    n_characters = 0
    for place, item in enumerate(value.items()):
        own = ["conditions"] if isinstance(item.raw, dict) and "conditions" in item.raw else ["linear"]
        about = ["support", "shares" if of_classes else "mean_target"] if own == ["conditions"] else []
        fields = item.fields([*own, "coefs", "importance", *about], ["aliases"])
        term: Term = (
            file_terms.decode_rule(fields["conditions"], features)
            if "conditions" in fields
            else file_terms.decode_linear(fields["linear"], features)
        )
        text = term.text(features)
        n_characters += len(text)
        if n_characters > MAX_WORDS:
            value.refuse(f"terms of no more than {MAX_WORDS} characters in words")
        terms.append(term)
        coefs.append(fields["coefs"].numbers(n_outputs))
        rows.append(
            RankedTerm(
                rank=place + 1,
                kind="rule" if isinstance(term, Rule) else "linear",
                text=text,
                importance=fields["importance"].number(0.0),
                support=fields["support"].number(0.0, 1.0 + 1e-6) if "support" in fields else 1.0,
                aliases=tuple(alias.text() for alias in fields["aliases"].items()) if "aliases" in fields else (),
                term=term,
                **_describe(model, term, coefs[-1], fields),
            )
        )
    if len(set(terms)) < len(terms):
        value.refuse("a list of different terms")
    table = np.ascontiguousarray(np.array(coefs).reshape(len(terms), n_outputs).T)
    own_model = RuleModel(
        features,
        tuple(terms),
        table[0] if n_outputs == 1 else table,
        float(intercepts[0]) if n_outputs == 1 else intercepts,
        columns,
    )
    importances = np.array([row.importance for row in rows], dtype=np.float64)
    model.model_ = own_model
    model.rules_ = RuleTable(rows, of_classes=of_classes)
    model.coef_, model.intercept_ = own_model.coefs, own_model.intercept
    model.feature_importances_ = share_importance(own_model, importances)


def _describe(
    model: RuleEnsembleClassifier | RuleEnsembleRegressor, term: Term, coefs: FloatArray, fields: dict[str, Value]
) -> dict[str, Any]:
    """Tell what a term says about the target, as the estimator does after a fit."""
    if isinstance(model, RuleEnsembleRegressor):
        mean_target = fields["mean_target"].number() if "mean_target" in fields else None
        return {"coefficient": float(coefs[0]), "mean_target": mean_target}
    n_classes = len(model.classes_)
    shares = file_terms.decode_shares(fields["shares"], n_classes) if "shares" in fields else np.zeros(n_classes)
    return model.recall_target().describe_term(term, coefs, shares)


def _set_outputs(
    model: RuleEnsembleClassifier | RuleEnsembleRegressor,
    fields: dict[str, Value],
    features: tuple[Feature, ...],
    n_outputs: int,
) -> None:
    """Set the candidates, and for each output the solver, the path and the chosen point."""
    pools = [file_terms.decode_candidates(item, features) for item in fields["candidates"].items()]
    if len(pools) not in (1, n_outputs):
        fields["candidates"].refuse(f"a list of 1 or {n_outputs}")
    solvers, paths, selections = [], [], []
    for output, item in enumerate(fields["outputs"].items(n_outputs)):
        parts = item.fields(["solver", "path", "selection"])
        n_terms = len(pools[output if len(pools) > 1 else 0])
        solvers.append(fits.decode_solver(parts["solver"]))
        paths.append(fits.decode_path(parts["path"], n_terms, MAX_CELLS // n_outputs))
        selections.append(fits.decode_selection(parts["selection"], len(paths[-1].coefs)))
    model.solver_, model.path_, model.selection_ = PerOutput(solvers), PerOutput(paths), PerOutput(selections)
    model.candidates_ = PerOutput(pools if len(pools) == n_outputs else pools * n_outputs)
