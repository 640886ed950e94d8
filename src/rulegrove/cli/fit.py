"""`rulegrove fit`: from a table to ranked rules."""

from pathlib import Path
from typing import Annotated, Any

import typer

from rulegrove.cli import options
from rulegrove.cli.parameters import ensemble_options, takes_parameters


@takes_parameters(ensemble_options())
def fit(
    data: options.Parts,
    target: options.Target,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Model file to write: model.json.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="Interactive page to write: report.html; with the training rows.")
    ] = None,
    task: options.Task = "auto",
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    number: options.Number = None,
    keep_identifiers: options.KeepIdentifiers = False,
    groups: options.Groups = None,
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
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Also tell how what was left open was settled, such as the solver.")
    ] = False,
    **parameters: Any,
) -> None:
    """Learn ranked rules from a table.

    Example: rulegrove fit customers.csv --target churn -o model.json, or rulegrove fit big/*.parquet --target churn
    """
    from rulegrove.cli.fitting import describe_held_out, make_estimator, read_own_rules
    from rulegrove.cli.large import LargeTraining, is_large, read_large
    from rulegrove.cli.output import note, print_json, shows_progress
    from rulegrove.cli.rule_output import describe_model, print_rules
    from rulegrove.cli.training import Training, read_training
    from rulegrove.cli.values import read_settings
    from rulegrove.cli.words import tell_preset, tell_settings
    from rulegrove.cli.writing import check_outputs
    from rulegrove.estimators.figures import tell_held_out
    from rulegrove.estimators.presets import find_settings

    check_outputs({"--output": output, "--report": report}, [*data, rules])
    chosen = {"drop": drop or (), "categorical": categorical or (), "numbers": number or ()}
    given: dict[str, Any] = {"task": task, "weights": weights, "groups": groups, **chosen}
    training: Training | LargeTraining
    if is_large(data):
        n_jobs = read_settings({"n_jobs": parameters.get("n_jobs")}).get("n_jobs")
        training = read_large(data, target, **given, n_jobs=n_jobs, verbose=shows_progress(quiet))
    else:
        training = read_training(data[0], target, **given)
    training.tell(quiet=quiet)
    own = None if rules is None else read_own_rules(rules)
    rules_of_own = {"rules": own, "force_rules": force_rules}
    words = {**parameters, **rules_of_own}
    model = make_estimator(training, words, keep_identifiers=keep_identifiers, verbose=shows_progress(quiet))
    training.fit(model)
    if model.preset is not None:
        note(tell_preset(model.preset, find_settings(model)), quiet=quiet)
    if verbose:
        note(tell_settings(model.settings_), quiet=quiet)
    if output is not None:
        model.save(output)
    if report is not None:
        from rulegrove.cli.reporting import title_report
        from rulegrove.report import write_report

        write_report(model, report, *training.show(), training=True, title=title_report(target, data[0]))
    if as_json:
        saved = {
            name: None if path is None else str(path) for name, path in {"model": output, "report": report}.items()
        }
        print_json(
            {"data": training.describe(), "held_out": describe_held_out(model), **describe_model(model, None), **saved}
        )
        return
    if output is None or not quiet:
        print_rules(model, top, quiet=quiet)
    if model.held_out_ is not None:
        note(tell_held_out(model.held_out_), quiet=quiet)
    if report is not None:
        note(f"Report written to '{report}'; open it in a browser.", quiet=quiet)
    note(f"Model saved to '{output}'." if output else "Not saved; -o model.json keeps the model.", quiet=quiet)
