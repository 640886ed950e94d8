"""`rulegrove datasets`: tables to try things on."""

from pathlib import Path
from typing import Annotated, Any

import typer

from rulegrove.cli import options


def datasets(
    name: Annotated[str | None, typer.Argument(help="Set to write; without it all are listed.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Table to write, kind by its end.")] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """List the bundled data sets, or write one of them as a table.

    Example: rulegrove datasets pima -o pima.csv
    """
    from rulegrove.cli.output import note, print_csv, print_json, print_table
    from rulegrove.cli.words import count
    from rulegrove.cli.writing import check_outputs, write_table
    from rulegrove.datasets import load, names
    from rulegrove.exceptions import InvalidInputError

    check_outputs({"--output": output}, table=True)
    if name is None:
        if output is not None:
            raise InvalidInputError(f"Which set is to be written? There are {', '.join(names())}.")
        sets = [load(one) for one in names()]
        listed: dict[str, list[Any]] = {
            "name": [one.name for one in sets],
            "rows": [len(one.y) for one in sets],
            "attributes": [one.X.shape[1] for one in sets],
            "classes": [len(set(one.y.tolist())) for one in sets],
            "what": [one.description for one in sets],
        }
        if as_json:
            print_json([dict(zip(listed, row, strict=True)) for row in zip(*listed.values(), strict=True)])
        else:
            print_table({key: list(map(str, cells)) for key, cells in listed.items()}, words=["name", "what"])
        return
    table = load(name).frame("pyarrow")
    if output is not None:
        write_table(table, output)
        note(f"{count(table.num_rows, 'row')} written to '{output}'; the column 'class' is the target.", quiet=quiet)
    if as_json:
        print_json({"name": name, "rows": table.num_rows, "output": None if output is None else str(output)})
    elif output is None:
        print_csv(table)
