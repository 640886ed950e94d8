"""`rulegrove scorecard`: a model file and rows as points for a few rules, printed or as a page."""

from pathlib import Path
from typing import Annotated

import typer

from rulegrove.cli import options
from rulegrove.cli.errors import note


def scorecard(
    model: options.Model,
    data: Annotated[
        Path,
        typer.Option(metavar="DATA", help="Rows to count the rules on, such as those of the fit.", show_default=False),
    ],
    target: options.Target,
    output: Annotated[Path | None, options.output("Save a page to print to this file, such as card.html.")] = None,
    points: Annotated[
        tuple[int, int],
        typer.Option(metavar="LOW HIGH", help="The smallest and the largest number of points of a rule."),
    ] = (-5, 5),
    max_rules: Annotated[int, typer.Option(help="Largest number of rules of a card.")] = 10,
    weights: options.Weights = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Turn a model of classes into points that can be added up by hand.

    Example: rulegrove scorecard model.json --data patients.csv --target outcome -o card.html
    """
    from rulegrove.cli.output import print_json, print_text
    from rulegrove.cli.places import check_inputs, check_outputs
    from rulegrove.cli.scoring import read_labelled, read_model

    check_outputs({"--output": output}, [model, data])
    check_inputs([data])
    column = options.take_one(target, "scorecard")
    fitted = read_model(model)

    from rulegrove.scorecards.making import check_classifier, scorecard

    rows = read_labelled(check_classifier(fitted), data, [column], {"weights": weights})
    card = scorecard(fitted, rows.X, rows.y, points=points, max_rules=max_rules, sample_weight=rows.weights)
    if output is not None:
        card.save(output, title)
        note(f"Written to '{output}'; open it in a browser and print it.")
    if as_json:
        print_json({**card.to_dict(), "page": output})
    elif output is None or not quiet:
        print_text(f"{card}\n")
