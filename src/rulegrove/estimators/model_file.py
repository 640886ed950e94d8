"""The model file: a fitted estimator as versioned JSON. Reading it checks everything and runs nothing."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulegrove._files import write_whole
from rulegrove._validation import check_parameters
from rulegrove._version import __version__
from rulegrove.columns import Feature, list_sources
from rulegrove.design.terms import Terms
from rulegrove.estimators import _file_fits as fits
from rulegrove.estimators import _file_terms as file_terms
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators._checked_json import Value
from rulegrove.estimators._file_edits import decode_edits, encode_edits
from rulegrove.estimators._file_evidence import encode_evidence
from rulegrove.estimators._fitted import share_importance
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.estimators.outputs import PerOutput
from rulegrove.estimators.pipeline import Fit
from rulegrove.estimators.regressor import RuleEnsembleRegressor
from rulegrove.estimators.saved import (
    FORMAT,
    MAX_CELLS,
    VERSION,
    Saved,
    encode_list,
    parse_saved,
    read_saved,
    write_document,
)
from rulegrove.estimators.survival import RuleEnsembleSurvival
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Rule
from rulegrove.selection import Selection
from rulegrove.solvers import Path, Solver

Ensemble = RuleEnsembleClassifier | RuleEnsembleRegressor | RuleEnsembleSurvival

ESTIMATORS: dict[str, type[Ensemble]] = {
    "RuleEnsembleClassifier": RuleEnsembleClassifier,
    "RuleEnsembleRegressor": RuleEnsembleRegressor,
    "RuleEnsembleSurvival": RuleEnsembleSurvival,
}


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
    >>> from pathlib import Path
    >>> from rulegrove import RuleEnsembleClassifier, load_model
    >>> from rulegrove.datasets import load
    >>> X, y = load("iris", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=50, max_terms=3, random_state=0).fit(X, y)
    >>> path = Path(tempfile.mkdtemp()) / "model.json"
    >>> save_model(model, path)
    >>> bool((load_model(path).predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    write_whole(path, dump_model(model))


def load_model(path: str | os.PathLike[str]) -> Ensemble:
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
        As it was saved, with `rules_`, `path_`, `selection_`, `candidates_`, `held_out_`, `evidence_`, `edits_` and
        `front_`, so that it can be shortened without the data.

    See Also
    --------
    save_model : Write the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rulegrove import load_model
    >>> path = Path(tempfile.mkdtemp()) / "model.json"
    >>> _ = path.write_text('{"format": "something else"}')
    >>> load_model(path)
    Traceback (most recent call last):
        ...
    rulegrove.exceptions.InvalidInputError: model.json is not a rulegrove model: its `format` is 'something else'.
    """
    return make_model(read_saved(path))


def dump_model(model: BaseRuleEnsemble) -> str:
    """Return the text of a model file; see `save_model`."""
    name = type(model).__name__
    if ESTIMATORS.get(name) is not type(model):
        raise InvalidInputError(f"A model file can hold one of {', '.join(ESTIMATORS)}; got a {name}.")
    check_is_fitted(model)
    check_parameters(model)
    fitted_model = model.model_
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "checksum": "",  # of all that follows; here, where someone who edits the file finds it
        "written_by": f"rulegrove {__version__}",
        "estimator": name,
        "parameters": {**fits.encode_parameters(model.get_params(deep=False)), "rules": _encode_given_rules(model)},
        "settings": fits.encode_parameters(model.settings_),
        "features": [file_terms.encode_feature(feature) for feature in fitted_model.features],
        "named_features": hasattr(model, "feature_names_in_"),
    }
    if fitted_model.names != list_sources(fitted_model.features):
        document["columns"] = list(fitted_model.names)
    document |= model.recall_target().meaning.encode()
    document["candidates"] = [file_terms.encode_candidates(terms) for terms in model.candidates_.distinct]
    document["outputs"] = [
        {
            "solver": fits.encode_solver(solver),
            "path": fits.encode_path(path, MAX_CELLS // len(np.atleast_1d(fitted_model.intercept))),
            "selection": fits.encode_selection(selection),
        }
        for solver, path, selection in zip(model.solver_, model.path_, model.selection_, strict=True)
    ]
    document["evidence"] = encode_evidence(model.evidence_)
    if model.edits_ is not None:
        document["edits"] = encode_edits(model.edits_)
    return write_document(document | encode_list(fitted_model, model.rules_, model.held_out_, model.front_))


def _encode_given_rules(model: BaseRuleEnsemble) -> list[str] | None:
    """Return the parameter `rules` in words, which say exactly what the records say."""
    if model.rules is None:
        return None
    features = model.model_.features
    return [rule.text(features) if isinstance(rule, Rule) else str(rule) for rule in model.rules]


def parse_model(content: bytes, name: str = "The file") -> Ensemble:
    """Return the estimator of a model file's content; see `load_model`.

    Parameters
    ----------
    content : bytes
    name : str
        Of the file, for messages.
    """
    return make_model(parse_saved(content, name))


def make_model(saved: Saved) -> Ensemble:
    """Return the estimator of a model file, with all that its rules do not tell."""
    fields = saved.fields
    model = _make_estimator(fields["parameters"], saved.estimator)
    target = model.make_target().recall_meaning(saved.meaning)
    pools = _decode_candidates(fields["candidates"], saved.model.features, saved.meaning.n_outputs)
    solvers, paths, selections = _decode_outputs(fields["outputs"], pools)
    columns = saved.model.names
    fit = Fit(
        model=saved.model,
        rules=saved.rules,
        feature_importances=share_importance(saved.model, np.array([row.importance for row in saved.rules])),
        paths=PerOutput(paths),
        selections=PerOutput(selections),
        solvers=PerOutput(solvers),
        candidates=PerOutput(pools),
        target=target,
        settled={},
        held_out=saved.held_out,
        names=np.array(columns, dtype=object) if fields["named_features"].boolean() else None,
        n_columns=len(columns),
        pools=(),
        front=saved.front,
    )
    model.take_over(
        fit,
        settings_=_decode_settings(fields["settings"], saved.estimator),
        evidence_=saved.evidence,
        edits_=fields["edits"].maybe(decode_edits),
    )
    return model


def _make_estimator(value: Value, name: str) -> Ensemble:
    """Return the estimator, not yet fitted, with its parameters checked."""
    model = ESTIMATORS[name](**fits.decode_parameters(value, ESTIMATORS[name]))
    try:
        check_parameters(model)
    except (ValueError, TypeError) as error:
        value.blame(error)
    return model


def _decode_settings(value: Value, name: str) -> dict[str, Any]:
    """Return what was settled: parameters, checked as these are, and what the fit found beside them."""
    found = value.keyed()
    beside = {key: decode(found.pop(key)) for key, decode in _BESIDE.items() if key in found}
    model = _make_estimator(replace(value, raw={parameter: value.raw[parameter] for parameter in found}), name)
    return {key: beside[key] if key in beside else getattr(model, key) for key in value.raw}


def _decode_ridge(value: Value) -> dict[str, float]:
    """Return the ridges of rules and lines."""
    (pairs,) = value.fields(["pairs"]).values()
    found = {key.text(["rules", "lines"]): size.number(0.0) for key, size in (pair.items(2) for pair in pairs.items())}
    return found if len(found) == 2 else value.refuse("the ridges of rules and lines")


# What a fit has found that is no parameter: the ridges of the second solve, and the times at which the hazard rises.
_BESIDE: dict[str, Callable[[Value], Any]] = {"ridge": _decode_ridge, "n_times": lambda value: value.integer(1, 2**53)}


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
