"""The estimator that `fit` asks for, and how well it did."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rulegrove.cli.large import LargeTraining
from rulegrove.cli.reading import check_file
from rulegrove.cli.scoring import Ensemble
from rulegrove.cli.training import Training
from rulegrove.cli.values import check_known, column_settings, match_labels, read_settings
from rulegrove.estimators._file_figures import encode_figures
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


def describe_held_out(model: Ensemble) -> dict[str, Any] | None:
    """Return how well a model did on held-out rows, for JSON; what is not known is None."""
    figures = encode_figures(model.held_out_)
    if figures is None:
        return None
    known = {name: None if value == "nan" else value for name, value in figures.items()}
    return {name: value for name, value in known.items() if name not in {"rocs", "reliabilities"}}
