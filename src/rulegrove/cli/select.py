"""`rulegrove select`: the attributes that rules need."""

from pathlib import Path
from typing import Annotated, Any

import typer

from rulegrove.cli import options
from rulegrove.cli.errors import note, shows_progress
from rulegrove.cli.parameters import selector_options, takes_parameters
from rulegrove.cli.words import list_settings


@takes_parameters(selector_options())
def select(
    *,
    data: options.Data,
    target: options.Target,
    output: Annotated[Path | None, options.output("Save the kept attributes and the target to this file.")] = None,
    columns: options.Columns,
    weights: options.Weights = None,
    event: Annotated[str | None, typer.Option(hidden=True)] = None,
    raw: options.Raw = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    **parameters: Any,
) -> None:
    """Find the attributes that matter, by the votes of several fits.

    Example: rulegrove select customers.csv --target churn -o smaller.csv
    """
    from rulegrove.cli.output import print_json, print_table
    from rulegrove.cli.places import check_outputs
    from rulegrove.cli.training import read_training
    from rulegrove.cli.writing import WRITERS, write_table
    from rulegrove.exceptions import InvalidInputError

    if event is not None:
        raise InvalidInputError(
            "`select` is for classes and numbers, not for survival times; take `fit` with `--event`, whose rules tell "
            "which attributes matter."
        )
    check_outputs({"--output": output}, [data], kinds=WRITERS)
    training = read_training(data, [options.take_one(target, "select")], columns, {"weights": weights})
    training.facts.tell()

    from rulegrove.cli.values import read_settings
    from rulegrove.estimators.attributes import RuleAttributeSelector

    settings = {**read_settings(parameters), **training.roles.settings, "verbose": int(shows_progress())}
    selector = RuleAttributeSelector(task=training.facts.task, **settings)
    selector.fit(training.X, training.y, sample_weight=training.weights)
    if selector.preset is not None:
        note(f"Preset '{selector.preset}': {list_settings(selector.settings_, 'nothing that was not given')}.")
    names, kept = selector.feature_names_in_.tolist(), selector.get_support().tolist()
    if output is not None:
        smaller = training.X.select([name for name, is_kept in zip(names, kept, strict=True) if is_kept])
        if training.roles.weights is not None:
            smaller = smaller.append_column(training.roles.weights, [training.weights])
        write_table(smaller.append_column(training.roles.target, [training.y.tolist()]), output, raw=raw)
    votes, importances = selector.votes_.tolist(), selector.importances_.tolist()
    records = [
        {"attribute": names[k], "votes": votes[k], "importance": importances[k], "kept": kept[k]}
        for k in selector.ranking_.argsort().tolist()
    ]
    if as_json:
        found = {"data": training.facts.describe(), "settings": selector.settings_, "attributes": records}
        print_json({**found, "output": output})
    elif output is None or not quiet:
        cells = {
            "attribute": [record["attribute"] for record in records],
            "votes": [f"{record['votes']} of {selector.n_repeats}" for record in records],
            "importance": [f"{record['importance']:.1%}" for record in records],
            "": ["kept" if record["kept"] else "" for record in records],
        }
        print_table(cells, words=["attribute"])
    if output is not None:
        note(f"Kept attributes written to '{output}'.")
