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
    report: Annotated[
        Path | None, typer.Option(help="Interactive page to write: report.html; shown on the training rows.")
    ] = None,
    task: options.Task = "auto",
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    weights: options.Weights = None,
    rules: Annotated[
        Path | None, typer.Option(help="File of your own rules, one a line, beside the others; # begins a comment.")
    ] = None,
    force_rules: Annotated[
        bool, typer.Option("--force-rules", help="Put all of `--rules` into the model, without a penalty.")
    ] = False,
    top: Annotated[int, typer.Option(min=0, help="Terms to print.")] = 20,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    **parameters: Any,
) -> None:
    """Learn ranked rules from a table.

    Example: rulegrove fit customers.csv --target churn -o model.json
    """
    from rulegrove.cli.fitting import explained_share, make_estimator, read_own_rules
    from rulegrove.cli.output import note, print_json, shows_progress
    from rulegrove.cli.rule_output import describe_model, print_rules
    from rulegrove.cli.training import read_training
    from rulegrove.cli.writing import check_output

    check_output(output)
    check_output(report)
    training = read_training(data, target, task=task, drop=drop or (), categorical=categorical or (), weights=weights)
    training.tell(quiet=quiet)
    own = None if rules is None else read_own_rules(rules)
    given = {"rules": own, "force_rules": force_rules}
    model = make_estimator(training, {**parameters, **given}, verbose=shows_progress(quiet))
    model.fit(training.X, training.y, sample_weight=training.weights)
    if output is not None:
        model.save(output)
    if report is not None:
        from rulegrove.cli.reporting import title_report
        from rulegrove.report import write_report

        write_report(model, report, training.X, training.y, title=title_report(target, data))
    share = explained_share(model)
    if as_json:
        saved = {
            name: None if path is None else str(path) for name, path in {"model": output, "report": report}.items()
        }
        print_json({"data": training.describe(), "explained": share, **describe_model(model, None), **saved})
        return
    if output is None or not quiet:
        print_rules(model, top, quiet=quiet)
    if share is not None:
        note(f"Cross-validation: {share:.1%} of the target's variation explained.", quiet=quiet)
    if report is not None:
        note(f"Report written to '{report}'; open it in a browser.", quiet=quiet)
    note(f"Model saved to '{output}'." if output else "Not saved; -o model.json keeps the model.", quiet=quiet)
