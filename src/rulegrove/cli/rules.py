"""`rulegrove rules`: the ranked rules of a model file."""

from typing import Annotated

import typer

from rulegrove.cli import options


def rules(
    model: options.Model,
    top: Annotated[int | None, typer.Option(min=0, help="Most important terms only.", show_default="all")] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the ranked rules of a model."""
    from rulegrove.cli.output import print_json
    from rulegrove.cli.rule_output import describe_model, print_rules
    from rulegrove.cli.scoring import read_model

    fitted = read_model(model)
    if as_json:
        print_json(describe_model(fitted, top))
    else:
        print_rules(fitted, top, quiet=quiet)
