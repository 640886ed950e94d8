"""`rulegrove fit`: from a table to ranked rules."""

from pathlib import Path
from typing import Annotated, Any

import typer

from rulegrove.cli import options
from rulegrove.cli.parameters import ensemble_options, takes_parameters


@takes_parameters(ensemble_options())
def fit(
    data: options.Data,
    target: options.Target,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Model file to write: model.json.")] = None,
    task: options.Task = "auto",
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    weights: options.Weights = None,
    top: Annotated[int, typer.Option(min=0, help="Terms to print.")] = 20,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    **parameters: Any,
) -> None:
    """Learn ranked rules from a table.

    Example: rulegrove fit customers.csv --target churn -o model.json
    """
    from rulegrove.cli.fitting import explained_share, make_estimator
    from rulegrove.cli.output import note, print_json, shows_progress
    from rulegrove.cli.rule_output import describe_model, print_rules
    from rulegrove.cli.training import read_training
    from rulegrove.cli.writing import check_output

    check_output(output)
    training = read_training(data, target, task=task, drop=drop or (), categorical=categorical or (), weights=weights)
    training.tell(quiet=quiet)
    model = make_estimator(training, parameters, verbose=shows_progress(quiet))
    model.fit(training.X, training.y, sample_weight=training.weights)
    if output is not None:
        model.save(output)
    share = explained_share(model)
    if as_json:
        saved = None if output is None else str(output)
        print_json({"data": training.describe(), "explained": share, **describe_model(model, None), "model": saved})
        return
    if output is None or not quiet:
        print_rules(model, top, quiet=quiet)
    if share is not None:
        note(f"Cross-validation: {share:.1%} of the target's variation explained.", quiet=quiet)
    note(f"Model saved to '{output}'." if output else "Not saved; -o model.json keeps the model.", quiet=quiet)
