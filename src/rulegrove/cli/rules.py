"""`rulegrove rules`: the ranked rules of a model, as a table for people and as records for programs."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulegrove.cli import options
from rulegrove.cli.errors import note
from rulegrove.cli.words import count

if TYPE_CHECKING:
    from rulegrove.cli.scoring import Ensemble
    from rulegrove.estimators.front import Front
    from rulegrove.estimators.rule_table import RuleTable


def rules(
    model: options.Model,
    top: Annotated[
        int | None, typer.Option(min=0, help="Show only so many, the most important first.", show_default="all")
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the ranked rules of a model.

    Example: rulegrove rules model.json --top 10
    """
    from rulegrove.cli.places import check_file

    check_file(model)

    from rulegrove.estimators.saved import read_saved

    saved = read_saved(model)
    if as_json:
        from rulegrove.cli.output import print_json
        from rulegrove.estimators.model_file import make_model  # its settings are objects of the library

        print_json(describe_model(make_model(saved), top))
    else:
        print_rules(saved.rules, top)


def print_rules(rules: "RuleTable", top: int | None) -> None:
    """Print the most important terms of a model; None prints all."""
    from rulegrove.cli.output import print_table

    terms = rules[:top]
    if not len(rules):
        note("No term was worth keeping: the model is its intercept alone.")
    if not len(terms):
        return
    cells = rules.to_cells(top)
    if "effect" in cells:  # which says it in words
        cells.pop("coefficient")
    filled = {heading: texts for heading, texts in cells.items() if any(texts)}  # linear terms lack some
    print_table(filled, words=("class", "effect", "rule"), spare=("importance",), below="rule")
    hidden = len(rules) - len(terms)
    if hidden > 0:
        note(f"... and {count(hidden, 'more term')}; importance is relative to the first.")
    for words in rules.notes:
        note(words)


def tell_length(front: "Front | None") -> None:
    """Say how long the list of a model is and how well it did on held-out rows, beside the large model."""
    from rulegrove.estimators.figures import show_number, show_share

    if front is None or front.chosen == len(front) - 1:
        return
    own, large = front[front.chosen], front[-1]
    is_share = front.meaning.error_is_share
    name, show = ("error", show_share) if is_share else (front.meaning.error_words, show_number)
    lengths = (count(own.rules, "term"), count(large.rules, "term"))
    if own.held_out is None:
        note(f"A list of {lengths[0]}; the large model has {lengths[1]}.")
    else:
        note(
            f"A list of {lengths[0]}, {name} {show(own.error)} on held-out rows; the large model of {lengths[1]} has "
            f"{show(large.error)}."
        )


def describe_front(model: "Ensemble") -> dict[str, Any] | None:
    """Return what each length costs for JSON, and which of them the model is."""
    return None if model.front_ is None else {"chosen": model.front_.chosen, **model.front_.to_dict()}


def describe_model(model: "Ensemble", top: int | None = None) -> dict[str, Any]:
    """Return a model for JSON."""
    from rulegrove.cli.output import list_records

    classes, outputs = model.model_.labels, model.model_.outputs
    return {
        "estimator": type(model).__name__,
        **({"classes": classes} if classes else {"outputs": outputs} if outputs else {}),
        "preset": model.preset,
        "settings": model.settings_,
        "n_terms": len(model.rules_),
        "intercept": model.intercept_,
        "terms": list_records(model.rules_[:top].to_dict()),
    }
