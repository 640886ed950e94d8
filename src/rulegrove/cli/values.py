"""Words of the command line as values of parameters."""

import ast
import json
from collections.abc import Mapping, Sequence
from typing import Any

from rulegrove.cli.parameters import SEED
from rulegrove.cli.words import suggest
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.exceptions import InvalidInputError
from rulegrove.solvers import SOLVERS, Solver

_CONSTANTS = {"none": None, "true": True, "false": False}


def read_value(word: str) -> Any:
    """Return a number, true, false or none, or a JSON list or object where the word is one; else the word itself.

    Examples
    --------
    >>> read_value("0.5"), read_value("none"), read_value("auto"), read_value('{"yes": 2}')
    (0.5, None, 'auto', {'yes': 2})
    """
    if word.lower() in _CONSTANTS:
        return _CONSTANTS[word.lower()]
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    if word[:1] in ("[", "{"):
        try:
            return json.loads(word)
        except json.JSONDecodeError as error:
            raise InvalidInputError(f"{word} is no JSON: {error}. Put it in single quotes.") from None
    return word


def read_solver(word: str) -> str | Solver:
    """Return a solver by its name, or with settings as Python writes them: ``Pathbuild(threshold=0.4)``.

    The settings are read, never run.

    Examples
    --------
    >>> read_solver("glmnet")
    'glmnet'
    >>> read_solver("Pathbuild(threshold=0.2)")
    Pathbuild(threshold=0.2)
    """
    name, _, settings = word.partition("(")
    known = name.strip().lower()
    if not settings and known in ("auto", *SOLVERS):
        return known
    if known not in SOLVERS:
        hint = suggest(name, list(SOLVERS))
        raise InvalidInputError(f"`--solver` must be auto or one of {', '.join(SOLVERS)}; got '{name}'.{hint}")
    try:
        call = ast.parse(word.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        values = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        message = f"`--solver` must be a name or have settings such as 'Pathbuild(threshold=0.4)'; got '{word}'."
        raise InvalidInputError(message) from None
    return SOLVERS[known]().set_params(**values)  # type: ignore[no-any-return]


def column_settings(numbers: Sequence[str], keep_identifiers: bool) -> dict[str, Any]:
    """Return the parameters that say how columns are read, those that were given.

    Examples
    --------
    >>> column_settings(["price"], False), column_settings([], True)
    ({'numeric_features': ['price']}, {'identifiers': None})
    """
    chosen = {"numeric_features": list(numbers)} if numbers else {}
    return {**chosen, "identifiers": None} if keep_identifiers else chosen


def read_settings(words: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that were given, words read as values, and a seed.

    Examples
    --------
    >>> read_settings({"max_terms": 5, "subsample": "0.5", "cv": None})
    {'random_state': 0, 'max_terms': 5, 'subsample': 0.5}
    """
    given = {name: word for name, word in words.items() if word is not None}
    settings = {name: read_value(word) if isinstance(word, str) else word for name, word in given.items()}
    if isinstance(words.get("solver"), str):
        settings["solver"] = read_solver(words["solver"])
    return {"random_state": SEED, **settings}


def check_known(settings: Mapping[str, Any], estimator: type[BaseRuleEnsemble]) -> None:
    """Refuse parameters that the estimator does not have: those for classes alone."""
    unknown = sorted(set(settings) - set(estimator._get_param_names()))
    if unknown:
        option = f"--{unknown[0].replace('_', '-')}"
        raise InvalidInputError(f"`{option}` is for classes, and this is a regression; leave it out or set `--task`.")


def match_labels(weights: Mapping[str, Any], labels: Mapping[str, Any]) -> dict[Any, Any]:
    """Return weights by label, from weights by the labels in words.

    Parameters
    ----------
    weights : mapping of str to number
    labels : mapping of str to object
        The labels by their words.
    """
    for word in weights:
        if word not in labels:
            hint = suggest(word, list(labels))
            raise InvalidInputError(f"`--class-weight` names '{word}', which is no class of the target.{hint}")
    return {labels[word]: weight for word, weight in weights.items()}
