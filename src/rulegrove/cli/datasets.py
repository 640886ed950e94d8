"""`rulegrove datasets`: tables to try things on."""

from pathlib import Path
from typing import Annotated

import typer

from rulegrove.cli import options
from rulegrove.cli.errors import note
from rulegrove.cli.words import count


def datasets(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The data set to write. Without it, all are listed.")
    ] = None,
    output: Annotated[
        Path | None,
        options.output("Save the table to this file. Its ending gives the kind: .csv, .parquet and others."),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """List the bundled data sets, or write one of them as a table.

    Example: rulegrove datasets pima -o pima.csv
    """
    from rulegrove.cli.output import print_json, print_table
    from rulegrove.cli.places import check_outputs
    from rulegrove.cli.writing import WRITERS, print_csv, write_table
    from rulegrove.datasets import load, names
    from rulegrove.exceptions import InvalidInputError

    check_outputs({"--output": output}, kinds=WRITERS)
    if name is not None:
        table = load(name).frame("pyarrow")
        if output is not None:
            write_table(table, output)
            note(f"{count(table.num_rows, 'row')} written to '{output}'; the column 'class' is the target.")
        if as_json:
            print_json({"name": name, "rows": table.num_rows, "output": output})
        elif output is None:
            print_csv(table)
        return
    if output is not None:
        raise InvalidInputError(f"Which set is to be written? There are {', '.join(names())}.")
    heads = ("name", "rows", "attributes", "classes", "what")
    sets = [(one.name, *one.X.shape, len(set(one.y.tolist())), one.description) for one in map(load, names())]
    if as_json:
        print_json([dict(zip(heads, one, strict=True)) for one in sets])
    else:
        columns = zip(heads, zip(*sets, strict=True), strict=True)
        print_table({head: [str(cell) for cell in cells] for head, cells in columns}, words=["name", "what"])
