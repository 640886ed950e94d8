"""`rulegrove evidence`: the rules of a model tested on rows that did not choose them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulegrove.cli import options
from rulegrove.exceptions import InvalidInputError

if TYPE_CHECKING:
    from rulegrove.estimators.evidence import RuleEvidence


def evidence(
    model: options.Model,
    data: options.Parts,
    target: options.Target,
    weights: options.Weights = None,
    exposure: options.Exposure = None,
    offset: options.Offset = None,
    level: Annotated[
        float,
        typer.Option(
            help="Confidence level of the intervals: for all rules together, or with --json for each rule alone."
        ),
    ] = 0.95,
    false_discovery_rate: Annotated[
        float, typer.Option(help="The share of established rules that may be false, on average.")
    ] = 0.1,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Test the rules of a model on new rows: which ones hold, and which are only suggestions.

    Use rows that the fit has not seen.

    Example: rulegrove evidence model.json new.csv --target churn
    """
    from rulegrove.cli.output import print_json
    from rulegrove.cli.places import check_inputs, is_large
    from rulegrove.cli.scoring import read_labelled, read_model

    check_inputs(data)
    column = options.take_one(target, "evidence")
    fitted = read_model(model)
    if fitted.recall_target().timed or fitted.model_.numbers:
        raise InvalidInputError(
            "Rules are tested on classes or on one number; the model is of "
            f"{'several numbers' if fitted.model_.numbers else 'survival times'}."
        )
    asked: dict[str, Any] = {"level": level, "false_discovery_rate": false_discovery_rate}
    beside = {"weights": weights, "exposure": exposure, "offset": offset}
    if is_large(data):
        from rulegrove.cli.large import examine_large

        found = examine_large(fitted, data, column, beside, **asked)
    else:
        rows = read_labelled(fitted, data[0], [column], beside)

        from rulegrove.inspection import rule_evidence

        found = rule_evidence(fitted, rows.X, rows.y, sample_weight=rows.weights, **{**rows.known, **asked})
    if as_json:
        print_json(describe_evidence(found))
    else:
        _print(found)


def describe_evidence(found: "RuleEvidence") -> dict[str, Any]:
    """Return evidence for JSON: the sentences, and a record for each rule."""
    from rulegrove.cli.output import list_records

    return {
        "sentences": found.sentences,
        "n_rows": found.n_rows,
        "level": found.level,
        "false_discovery_rate": found.false_discovery_rate,
        "exact": found.exact,
        "rules": list_records(found.to_dict()),
    }


def _print(found: "RuleEvidence") -> None:
    """Print the sentences and a table of the rules."""
    from rulegrove.cli.output import print_table, print_text

    print_text("\n".join([*found.sentences, "\n" * bool(found.rules)]))
    if found.rules:
        print_table(found.to_cells(), words=("verdict", "rule", "class"), spare=("base rate",))
