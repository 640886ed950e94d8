"""`rulegrove fit`: from a table to ranked rules."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulegrove.cli import options
from rulegrove.cli.errors import note, shows_progress
from rulegrove.cli.parameters import PANEL, check_survival, ensemble_options, settle_task, takes_parameters
from rulegrove.cli.rules import describe_front, describe_model, print_rules, tell_length
from rulegrove.cli.words import list_settings

if TYPE_CHECKING:
    from rulegrove.cli.large import LargeTraining
    from rulegrove.cli.scoring import Ensemble
    from rulegrove.cli.training import Training


# As many parameters as the command has options: typer reads them from here, in this order.
@takes_parameters(ensemble_options())
def fit(
    *,
    data: options.Parts,
    target: options.Targets,
    output: Annotated[Path | None, options.output("Save the model to this file, such as model.json.")] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Save an interactive page to this file, such as report.html. The page holds training rows."),
    ] = None,
    columns: options.Columns,
    groups: Annotated[
        str | None,
        options.column(
            "Column of groups, such as patients. The rows of a group are held out together.", options.READING
        ),
    ] = None,
    weights: options.Weights = None,
    exposure: options.Exposure = None,
    offset: options.Offset = None,
    event: options.Event = None,
    entry: options.Entry = None,
    rules: Annotated[
        Path | None,
        typer.Option(
            help="Text file with rules of your own, one on each line, to choose from as well.", rich_help_panel=PANEL
        ),
    ] = None,
    force_rules: Annotated[
        bool,
        typer.Option(
            "--force-rules", help="Put all rules of --rules into the model, without a penalty.", rich_help_panel=PANEL
        ),
    ] = False,
    interactions: Annotated[
        options.Names,
        typer.Option(
            metavar="COL,COL|pairwise|no_interactions",
            help="Attributes that may be together in a rule. May be repeated; attributes in no group form one more.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="Number of terms to print.")] = 20,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Also say what was chosen for settings that are auto, such as the solver.")
    ] = False,
    **parameters: Any,
) -> None:
    """Learn ranked rules from a table.

    Examples
    --------
    rulegrove fit customers.csv --target churn -o model.json
    rulegrove fit claims.csv --target claims --loss poisson --exposure years
    rulegrove fit patients.csv --target years --event died --report report.html
    """
    from rulegrove.cli.places import check_inputs, check_outputs

    beside = {"exposure": exposure, "offset": offset, "event": event, "entry": entry}
    if not check_survival(columns, parameters, beside):
        columns = settle_task(columns, parameters, exposure, len(target))
    check_outputs({"--output": output, "--report": report}, [*data, rules])
    check_inputs([*data, rules])
    training = _read(data, target, columns, {"weights": weights, "groups": groups, **beside}, parameters.get("n_jobs"))
    training.facts.tell()

    from rulegrove.cli import values
    from rulegrove.cli.output import print_json
    from rulegrove.estimators.figures import tell_held_out
    from rulegrove.estimators.presets import find_settings

    words = {**parameters, "rules": None if rules is None else values.read_own_rules(rules), "force_rules": force_rules}
    words["interactions"] = None if interactions is None else values.read_groups(interactions)
    settings = {**training.roles.settings, "verbose": int(shows_progress())}
    model = values.make_estimator(training.facts.task, training.facts.counts, words, **settings)
    training.fit(model)
    if model.preset is not None:
        note(f"Preset '{model.preset}': {list_settings(find_settings(model), 'nothing that was not given')}.")
    if verbose:
        note(f"Settled: {list_settings(model.settings_, 'nothing was left open')}.")
    if output is not None:
        model.save(output)
    if report is not None:
        from rulegrove.report import write_report

        X, y, known = training.show(model)
        write_report(model, report, X, y, training=True, title=f"Rules for {' and '.join(target)}", **known)
    if as_json:
        from rulegrove.cli.evidence import describe_evidence

        told = {"data": training.facts.describe(), "held_out": _describe_held_out(model)}
        if model.evidence_ is not None:
            told["evidence"] = describe_evidence(model.evidence_)
        told |= {**describe_model(model), "front": describe_front(model)}
        print_json({**told, "model": output, "report": report})
        return
    if output is None or not quiet:
        print_rules(model.rules_, top)
    tell_length(model.front_)
    if model.held_out_ is not None:
        note(tell_held_out(model.held_out_))
    for sentence in () if model.evidence_ is None else model.evidence_.sentences:
        note(sentence)
    if report is not None:
        note(f"Report written to '{report}'; open it in a browser.")
    note(f"Model saved to '{output}'." if output else "Not saved; -o model.json keeps the model.")


def _read(
    data: Sequence[Path],
    targets: Sequence[str],
    columns: options.Columns,
    beside: dict[str, str | None],
    n_jobs: int | None,
) -> "Training | LargeTraining":
    """Return the table in memory, or in parts where it is large."""
    from rulegrove.cli.places import is_large

    if is_large(data):
        from rulegrove.cli.large import read_large

        return read_large(data, targets, columns, beside, n_jobs)
    from rulegrove.cli.training import read_training

    return read_training(data[0], targets, columns, beside)


def _describe_held_out(model: "Ensemble") -> dict[str, Any] | None:
    """Return how well a model did on held-out rows, for JSON; what is not known is None."""
    from rulegrove.estimators._file_figures import encode_figures

    figures = encode_figures(model.held_out_)
    if figures is None:
        return None
    curves = ("rocs", "reliabilities", "reliability")
    shown = {name: value for name, value in figures.items() if name not in curves}
    return {name: None if value == "nan" else value for name, value in shown.items()}
