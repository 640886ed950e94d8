"""Ranked terms as a table for people and as records for programs."""

from collections.abc import Sequence
from typing import Any

from rulegrove._words import cut
from rulegrove.cli.output import note, print_table
from rulegrove.cli.scoring import Ensemble
from rulegrove.cli.words import count
from rulegrove.estimators.rule_table import RankedTerm


def print_rules(model: Ensemble, top: int | None, *, quiet: bool = False) -> None:
    """Print the most important terms of a model.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
    top : int or None
        How many; None prints all.
    quiet : bool
        Whether to say nothing of those that are not printed.
    """
    terms = model.rules_[:top]
    if not len(terms):
        note("No term was worth keeping: the model is its intercept alone.", quiet=quiet or bool(len(model.rules_)))
        return
    largest = model.rules_[0].importance or 1.0
    columns = {
        "": [str(term.rank) for term in terms],
        "importance": [f"{100 * term.importance / largest:.1f}" for term in terms],
        "coefficient": [f"{term.coefficient:+.4g}" for term in terms],
        "support": [f"{term.support:.1%}" if term.kind == "rule" else "" for term in terms],
        **_about_target(terms),
        "rule": [cut(term.text) for term in terms],
    }
    print_table(columns, words=("rule", "class"), spare=("importance",))
    hidden = len(model.rules_) - len(terms)
    if hidden > 0:
        note(f"... and {count(hidden, 'more term')}; importance is relative to the first.", quiet=quiet)


def _about_target(terms: Sequence[RankedTerm]) -> dict[str, list[str]]:
    """Return what the terms say about the target, by heading."""
    if all(term.speaks_for is None for term in terms):
        means = [term.mean_target for term in terms]
        return {"mean target": ["" if mean is None else f"{mean:.4g}" for mean in means]}
    shares = {"confidence": [term.confidence for term in terms], "base": [term.base_rate for term in terms]}
    return {
        **{
            heading: ["" if share is None else f"{share:.1%}" for share in own]
            for heading, own in shares.items()
            if any(share is not None for share in own)
        },
        "class": [f"{'not ' * term.against}{term.speaks_for}" for term in terms],
    }


def rule_records(model: Ensemble, top: int | None) -> list[dict[str, Any]]:
    """Return the most important terms as records."""
    columns = model.rules_[:top].to_dict()
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def describe_model(model: Ensemble, top: int | None) -> dict[str, Any]:
    """Return a model for JSON."""
    classes = {"classes": model.classes_.tolist()} if hasattr(model, "classes_") else {}
    return {
        "estimator": type(model).__name__,
        **classes,
        "preset": model.preset,
        "settings": model.settings_,
        "n_terms": len(model.rules_),
        "intercept": model.intercept_,
        "terms": rule_records(model, top),
    }
