"""The estimator that `fit` asks for, and how well it did."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rulegrove.cli.large import LargeTraining
from rulegrove.cli.reading import check_file
from rulegrove.cli.scoring import Ensemble
from rulegrove.cli.training import Training
from rulegrove.cli.values import check_known, column_settings, match_labels, read_settings
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.estimators.regressor import RuleEnsembleRegressor
from rulegrove.exceptions import InvalidInputError


def make_estimator(
    training: Training | LargeTraining,
    words: Mapping[str, Any],
    *,
    keep_identifiers: bool = False,
    verbose: bool = False,
) -> Ensemble:
    """Return the estimator for a target, with its parameters as they were given on the command line.

    Parameters
    ----------
    training : Training or LargeTraining
    words : mapping
        Parameters; None for those that were not given.
    keep_identifiers : bool
        Whether columns that look like identifiers are used.
    verbose : bool
        Whether it shows its progress.
    """
    kind = RuleEnsembleClassifier if training.task == "classification" else RuleEnsembleRegressor
    settings = read_settings(words)
    check_known(settings, kind)
    settings.update(column_settings(training.as_numbers, keep_identifiers))
    if isinstance(settings.get("class_weight"), dict):
        settings["class_weight"] = match_labels(settings["class_weight"], training.labels)
    return kind(**settings, verbose=int(verbose))


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


def explained_share(model: Ensemble) -> float | None:
    """Return by how much the held-out loss is lower than that of a model without terms; None where it is not known."""
    paths, choices = _as_list(model.path_), _as_list(model.selection_)
    if any(choice.errors is None or path.coefs[0].any() for path, choice in zip(paths, choices, strict=True)):
        return None
    empty = sum(choice.errors[0] for choice in choices)
    return float(1.0 - sum(choice.errors[choice.index] for choice in choices) / empty) if empty > 0 else None


def _as_list(values: Any) -> list[Any]:
    """Return what a model has for its one output, or for each of several."""
    return values if isinstance(values, list) else [values]
