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
from rulegrove.design.terms import Terms
from rulegrove.estimators import _file_figures as file_figures
from rulegrove.estimators import _file_fits as fits
from rulegrove.estimators import _file_front as file_front
from rulegrove.estimators import _file_terms as file_terms
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._checked_json import MAX_BYTES, Value, check_size, checksum, encode, parse, quote
from rulegrove.estimators._fitted import share_importance
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.outputs import PerOutput
from rulegrove.estimators.pipeline import Fit
from rulegrove.estimators.regressor import RuleEnsembleRegressor
from rulegrove.estimators.rule_table import RankedTerm
from rulegrove.estimators.target import Target
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Rule
from rulegrove.selection import Selection
from rulegrove.solvers import Path, Solver, make_solver

FORMAT = "rulegrove model"
VERSION = 2  # of the layout; docs/model-file.md tells what each one holds
MAX_CELLS = 2**27  # coefficients of all paths together once their zeros are written out: a gigabyte
MAX_WORDS = 2**28  # characters of all terms in words: a short file can have a long name that many conditions repeat

ESTIMATORS: dict[str, type[RuleEnsembleClassifier] | type[RuleEnsembleRegressor]] = {
    "RuleEnsembleClassifier": RuleEnsembleClassifier,
    "RuleEnsembleRegressor": RuleEnsembleRegressor,
}
_NEEDED = ["format", "version", "written_by", "estimator", "parameters", "features", "named_features", "intercepts"]
_NEEDED += ["terms", "candidates", "outputs"]
# Files of the first versions have none of these.
_LATER: dict[str, Any] = {"settings": {}, "columns": None, "checksum": None, "held_out": None, "front": None}


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
        As it was saved, with `rules_`, `path_`, `selection_`, `candidates_`, `held_out_` and `front_`, so that
        it can be shortened without the data.

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
    fitted_model = model.model_
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "checksum": "",  # of all that follows; here, where someone who edits the file finds it
        "written_by": f"rulegrove {importlib.metadata.version('rulegrove')}",
        "estimator": name,
        "parameters": {**fits.encode_parameters(model.get_params(deep=False)), "rules": _encode_given_rules(model)},
        "settings": fits.encode_parameters(model.settings_),
        "features": [file_terms.encode_feature(feature) for feature in fitted_model.features],
        "named_features": hasattr(model, "feature_names_in_"),
        "intercepts": encode(np.atleast_1d(fitted_model.intercept)),
        "held_out": file_figures.encode_figures(model.held_out_),
    }
    if fitted_model.names != list_sources(fitted_model.features):
        document["columns"] = list(fitted_model.names)
    document |= model.recall_target().encode()
    coefs = np.atleast_2d(fitted_model.coefs).T.tolist()
    document["terms"] = [_encode_ranked(row, coef) for row, coef in zip(model.rules_, coefs, strict=True)]
    document["candidates"] = [file_terms.encode_candidates(terms) for terms in model.candidates_.distinct]
    document["outputs"] = [
        {
            "solver": fits.encode_solver(solver),
            "path": fits.encode_path(path, MAX_CELLS // len(np.atleast_1d(fitted_model.intercept))),
            "selection": fits.encode_selection(selection),
        }
        for solver, path, selection in zip(model.solver_, model.path_, model.selection_, strict=True)
    ]
    document["front"] = file_front.encode_front(model.front_, file_front.Limits(MAX_CELLS, MAX_WORDS))
    if (n_characters := sum(len(row.text) for row in model.rules_)) > MAX_WORDS:
        raise InvalidInputError(
            f"The terms in words have {n_characters} characters; a model file may have {MAX_WORDS}."
        )
    document["checksum"] = checksum(document)
    text = json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"
    check_size(text.encode(), "The model")
    return text


def _encode_given_rules(model: BaseRuleEnsemble) -> list[str] | None:
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
        Value(version, name, way=("version",)).refuse("a positive integer")
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
        expected = checksum(document.raw)
    except RecursionError:
        document.refuse("an object whose values are not nested so deeply")
    if document.keyed()["checksum"].text() != expected:
        raise InvalidInputError(
            f"{document.file} is damaged, or was edited: its values are not those of its `checksum`. Take a whole copy "
            "of it; or, if it was edited on purpose, remove the field `checksum` from the file and load it again."
        )


def _decode_model(document: Value) -> RuleEnsembleClassifier | RuleEnsembleRegressor:
    """Return the estimator of a document of the newest layout."""
    name = document.keyed().get("estimator", document).text(list(ESTIMATORS))
    kind = ESTIMATORS[name]().make_target()
    fields = document.fields([*_NEEDED, *kind.stored], {**_LATER, **kind.stored_later})
    fields["written_by"].text()
    model = _make_estimator(fields["parameters"], name)
    features = tuple(file_terms.decode_feature(item) for item in fields["features"].items())
    if not features:
        fields["features"].refuse("a list of attributes")
    target = model.make_target().decode(fields)
    n_outputs = target.code.n_outputs
    intercepts = fields["intercepts"].numbers(n_outputs)
    columns = _decode_columns(fields["columns"], features)
    rows, coefs = _decode_terms(fields["terms"], features, target)
    pools = _decode_candidates(fields["candidates"], features, n_outputs)
    solvers, paths, selections = _decode_outputs(fields["outputs"], pools)
    several, solver = n_outputs > 1, make_solver(solvers[0])
    limits = file_front.Limits(MAX_CELLS, MAX_WORDS)
    fitted_model = RuleModel(
        features,
        tuple(row.term for row in rows),
        coefs if several else coefs[0],
        intercepts if several else float(intercepts[0]),
        columns,
    )
    fitted_model = target.link_model(fitted_model, solver)
    fit = Fit(
        model=fitted_model,
        rules=target.tabulate(rows, fitted_model),
        feature_importances=share_importance(fitted_model, np.array([row.importance for row in rows])),
        paths=PerOutput(paths),
        selections=PerOutput(selections),
        solvers=PerOutput(solvers),
        candidates=PerOutput(pools),
        target=target,
        settled={},
        held_out=fields["held_out"].maybe(target.decode_figures),
        names=np.array(columns, dtype=object) if fields["named_features"].boolean() else None,
        n_columns=len(columns),
        pools=(),
        front=fields["front"].maybe(file_front.FrontReader(features, columns, target, solver, limits).decode),
    )
    model.take_over(fit, settings_=_decode_settings(fields["settings"], name))
    return model


def _decode_columns(value: Value, features: Sequence[Feature]) -> tuple[str, ...]:
    """Return the columns of the training table: as listed, or just those that the attributes are read from."""
    needed = list_sources(features)
    if value.is_null:
        return needed
    columns = tuple(item.text() for item in value.items())
    if len(set(columns)) < len(columns) or not set(needed) <= set(columns):
        value.refuse("a list of different columns, with those of all attributes")
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
    return fields


def _decode_terms(value: Value, features: tuple[Feature, ...], target: Target) -> tuple[list[RankedTerm], FloatArray]:
    """Return the ranked terms and the coefficients, an ndarray of shape (n_outputs, n_terms)."""
    n_outputs = target.code.n_outputs
    rows: list[RankedTerm] = []
    coefs: list[FloatArray] = []  # tables of the promised size could be larger than any memory
    n_characters = 0
    for place, item in enumerate(value.items()):
        is_rule = "conditions" in item.keyed()
        needed = ["conditions", "support", target.evidence] if is_rule else ["linear"]
        fields = item.fields([*needed, "coefs", "importance"], {"aliases": []})
        decode = file_terms.decode_rule if is_rule else file_terms.decode_linear
        term = decode(fields[needed[0]], features)
        text = term.text(features)
        n_characters += len(text)
        if n_characters > MAX_WORDS:
            value.refuse(f"terms of no more than {MAX_WORDS} characters in words")
        coefs.append(fields["coefs"].numbers(n_outputs))
        rows.append(
            RankedTerm(
                rank=place + 1,
                kind="rule" if is_rule else "linear",
                text=text,
                importance=fields["importance"].number(0.0),
                support=file_terms.decode_support(fields["support"]) if is_rule else 1.0,
                aliases=tuple(alias.text() for alias in fields["aliases"].items()),
                term=term,
                **target.decode_term(term, coefs[-1], fields[target.evidence] if is_rule else None),
            )
        )
    if len({row.term for row in rows}) < len(rows):
        value.refuse("a list of different terms")
    return rows, np.array(coefs).reshape(len(rows), n_outputs).T.copy()


def _decode_candidates(value: Value, features: tuple[Feature, ...], n_outputs: int) -> list[Terms]:
    """Return the candidates of each output, which may share them."""
    pools = [file_terms.decode_candidates(item, features) for item in value.items()]
    if len(pools) not in (1, n_outputs):
        value.refuse(f"a list of 1 or {n_outputs}")
    return pools if len(pools) == n_outputs else pools * n_outputs


def _decode_outputs(value: Value, pools: Sequence[Terms]) -> tuple[list[Solver], list[Path], list[Selection]]:
    """Return for each output the solver, the path and the chosen point."""
    solvers, paths, selections = [], [], []
    for pool, item in zip(pools, value.items(len(pools)), strict=True):
        parts = item.fields(["solver", "path", "selection"])
        solvers.append(fits.decode_solver(parts["solver"]))
        paths.append(fits.decode_path(parts["path"], len(pool), MAX_CELLS // len(pools)))
        selections.append(fits.decode_selection(parts["selection"], len(paths[-1].coefs)))
    return solvers, paths, selections
