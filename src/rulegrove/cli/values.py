"""Words of the command line as values of parameters."""

import ast
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rulegrove.cli.parameters import SEED
from rulegrove.cli.places import check_file
from rulegrove.cli.scoring import find_label
from rulegrove.cli.words import suggest
from rulegrove.estimators._limits import SHORTHANDS
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.estimators.regressor import RuleEnsembleRegressor
from rulegrove.estimators.survival import RuleEnsembleSurvival
from rulegrove.exceptions import InvalidInputError
from rulegrove.solvers import SOLVERS, Solver

if TYPE_CHECKING:
    from rulegrove.cli.scoring import Ensemble

_KINDS: dict[str, type[Any]] = {
    "classification": RuleEnsembleClassifier,
    "regression": RuleEnsembleRegressor,
    "survival": RuleEnsembleSurvival,
}
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


def read_levels(words: Sequence[str]) -> float | list[float]:
    """Return a level, or several: each given by itself, or with commas between them.

    Examples
    --------
    >>> read_levels(["0.9"]), read_levels(["0.1", "0.9"]), read_levels(["0.1, 0.9"])
    (0.9, [0.1, 0.9], [0.1, 0.9])
    """
    try:
        levels = [float(part) for word in words for part in word.strip("[] ").split(",")]
        if not all(0.0 < level < 1.0 for level in levels):
            raise ValueError
    except ValueError:
        raise InvalidInputError(
            f"`--quantile` must be a level between 0 and 1, given once for each of several; got '{', '.join(words)}'."
        ) from None
    return levels[0] if len(levels) == 1 else levels


def read_settings(words: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that were given, words read as values, and a seed."""
    given = {name: word for name, word in words.items() if word is not None}
    settings = {name: read_value(word) if isinstance(word, str) else word for name, word in given.items()}
    if words.get("quantile") is not None:
        settings["quantile"] = read_levels(words["quantile"])
    if isinstance(words.get("solver"), str):
        settings["solver"] = read_solver(words["solver"])
    return {"random_state": SEED, **settings}


def make_estimator(task: str, labels: Iterable[Any], words: Mapping[str, Any], **settings: Any) -> "Ensemble":
    """Return the estimator for a target, with its parameters as they were given on the command line.

    Of these `words`, None is one that was not given, and weights of classes go by the words of the `labels`. Other
    `settings` are as the estimator takes them.
    """
    kind = _KINDS[task]
    chosen = read_settings(words)
    unknown = sorted(set(chosen) - set(kind._get_param_names()))
    if unknown:
        _refuse_parameter(unknown[0], task)
    if isinstance(chosen.get("class_weight"), dict):
        spelled = {str(label): label for label in labels}
        chosen["class_weight"] = {
            find_label(spelled, word, "--class-weight", "target"): weight
            for word, weight in chosen["class_weight"].items()
        }
    model: Ensemble = kind(**chosen, **settings)
    return model


def _refuse_parameter(name: str, task: str) -> NoReturn:
    """Say that a parameter is for another kind of target."""
    kind = "numbers" if name in RuleEnsembleRegressor._get_param_names() else "classes"
    here = {"classification": "these are classes", "regression": "this is a regression"}
    ways = "leave it out" if task == "survival" else "leave it out or set `--task`"
    raise InvalidInputError(
        f"`--{name.replace('_', '-')}` is for {kind}, and {here.get(task, 'these are survival times')}; {ways}."
    )


def read_groups(words: Sequence[str]) -> str | list[Any]:
    """Return groups of attributes, each written as ``age,mass`` or as a JSON list; or the word that stands for all."""
    if len(words) == 1 and words[0] in SHORTHANDS:
        return words[0]
    return [read_value(word) if word.startswith("[") else [name.strip() for name in word.split(",")] for word in words]


def read_own_rules(path: Path) -> list[str]:
    """Return the rules of a text file, one a line; empty lines and those that begin with # are left out."""
    check_file(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"'{path}' must be text in UTF-8, one rule a line; {error}.") from None
    rules = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not rules:
        raise InvalidInputError(f"'{path}' has no rule; write one a line, such as: age > 40 and income <= 3e4")
    return rules
