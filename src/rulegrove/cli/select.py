"""`rulegrove select`: the attributes that rules need."""

from pathlib import Path
from typing import Annotated, Any

import typer

from rulegrove.cli import options
from rulegrove.cli.parameters import selector_options, takes_parameters


@takes_parameters(selector_options())
def select(
    data: options.Data,
    target: options.Target,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Table to write: the kept attributes and the target.")
    ] = None,
    task: options.Task = "auto",
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    number: options.Number = None,
    keep_identifiers: options.KeepIdentifiers = False,
    weights: options.Weights = None,
    raw: options.Raw = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    **parameters: Any,
) -> None:
    """Choose the attributes that matter, by votes of repeated fits."""
    from rulegrove.cli.output import note, print_json, print_table, shows_progress
    from rulegrove.cli.selecting import kept_table, vote_records
    from rulegrove.cli.training import read_training
    from rulegrove.cli.values import column_settings, read_settings
    from rulegrove.cli.words import tell_preset
    from rulegrove.cli.writing import check_outputs, write_table
    from rulegrove.estimators.attributes import RuleAttributeSelector

    check_outputs({"--output": output}, [data], table=True)
    chosen: dict[str, Any] = {"drop": drop or (), "categorical": categorical or (), "numbers": number or ()}
    training = read_training(data, target, task=task, weights=weights, **chosen)
    training.tell(quiet=quiet)
    settings = {**read_settings(parameters), **column_settings(training.as_numbers, keep_identifiers)}
    selector = RuleAttributeSelector(task=training.task, verbose=int(shows_progress(quiet)), **settings)
    selector.fit(training.X, training.y, sample_weight=training.weights)
    if selector.preset is not None:
        note(tell_preset(selector.preset, selector.settings_), quiet=quiet)
    if output is not None:
        write_table(kept_table(selector, training), output, raw=raw)
    records = vote_records(selector)
    if as_json:
        saved = None if output is None else str(output)
        found = {"data": training.describe(), "settings": selector.settings_, "attributes": records}
        print_json({**found, "output": saved})
    elif output is None or not quiet:
        print_table(
            {
                "attribute": [str(record["attribute"]) for record in records],
                "votes": [f"{record['votes']} of {selector.n_repeats}" for record in records],
                "importance": [f"{record['importance']:.1%}" for record in records],
                "": ["kept" if record["kept"] else "" for record in records],
            },
            words=["attribute"],
        )
    if output is not None:
        note(f"Kept attributes written to '{output}'.", quiet=quiet)
