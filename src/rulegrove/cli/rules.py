"""`rulegrove rules`: the ranked rules of a model, as a table for people and as records for programs."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulegrove._words import cut
from rulegrove.cli import options
from rulegrove.cli.errors import note
from rulegrove.cli.words import count

if TYPE_CHECKING:
    from rulegrove.cli.scoring import Ensemble
    from rulegrove.estimators.rule_table import RankedTerm


def rules(
    model: options.Model,
    top: Annotated[int | None, typer.Option(min=0, help="Most important terms only.", show_default="all")] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the ranked rules of a model."""
    from rulegrove.cli.output import print_json
    from rulegrove.cli.scoring import read_model

    fitted = read_model(model)
    if as_json:
        print_json(describe_model(fitted, top))
    else:
        print_rules(fitted, top)


def print_rules(model: "Ensemble", top: int | None) -> None:
    """Print the most important terms of a model; None prints all."""
    from rulegrove.cli.output import print_table

    terms = model.rules_[:top]
    if not len(model.rules_):
        note("No term was worth keeping: the model is its intercept alone.")
    if not len(terms):
        return
    largest = model.rules_[0].importance or 1.0
    columns = {
        "": [str(term.rank) for term in terms],
        "importance": [f"{100 * term.importance / largest:.1f}" for term in terms],
        "coefficient": [f"{term.coefficient:+.4g}" for term in terms],
        "support": [f"{term.support:.1%}" if term.kind == "rule" else "" for term in terms],
        **_about_target(list(terms)),
        "rule": [cut(term.text) for term in terms],
    }
    print_table(columns, words=("rule", "class"), spare=("importance",))
    hidden = len(model.rules_) - len(terms)
    if hidden > 0:
        note(f"... and {count(hidden, 'more term')}; importance is relative to the first.")


def _about_target(terms: "list[RankedTerm]") -> dict[str, list[str]]:
    """Return what the terms say about the target, by heading."""
    if all(term.speaks_for is None for term in terms):
        return {"mean target": ["" if term.mean_target is None else f"{term.mean_target:.4g}" for term in terms]}
    shares = {"confidence": [term.confidence for term in terms], "base": [term.base_rate for term in terms]}
    shown = {
        heading: ["" if share is None else f"{share:.1%}" for share in cells]
        for heading, cells in shares.items()
        if any(share is not None for share in cells)
    }
    return {**shown, "class": [f"{'not ' * term.against}{term.speaks_for}" for term in terms]}


def describe_model(model: "Ensemble", top: int | None = None) -> dict[str, Any]:
    """Return a model for JSON."""
    columns = model.rules_[:top].to_dict()
    classes = model.model_.labels
    return {
        "estimator": type(model).__name__,
        **({"classes": classes} if classes else {}),
        "preset": model.preset,
        "settings": model.settings_,
        "n_terms": len(model.rules_),
        "intercept": model.intercept_,
        "terms": [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)],
    }
