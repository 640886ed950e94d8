"""What is known to add to the scores of rows: the columns that `--exposure` and `--offset` name."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.cli.reading import convert_to_numbers, find_name, read_floats
from rulegrove.exceptions import InvalidInputError

if TYPE_CHECKING:
    from rulegrove.cli.scoring import Ensemble


def find_known(names: Sequence[str], exposure: str | None, offset: str | None) -> dict[str, str]:
    """Return the columns that were named, as the table spells them, by their options without dashes."""
    given = {"exposure": exposure, "offset": offset}
    return {option: find_name(names, name, f"--{option}") for option, name in given.items() if name is not None}


def check_known(model: "Ensemble", known: Mapping[str, str]) -> None:
    """Refuse columns that a model has no use for."""
    if not known:
        return
    from rulegrove.engines.beside import Known

    target = model.recall_target()
    if target.timed:
        raise InvalidInputError(f"`--{next(iter(known))}` is not for models of survival times; leave it out.")
    if "exposure" in known and not target.log_link:
        raise InvalidInputError(
            "`--exposure` is for models of rates, of the losses poisson, gamma and tweedie; leave it out."
        )
    Known.of(tuple(known.values()), target, known.get("exposure"), known.get("offset"))


def read_known(
    table: pa.Table, known: Mapping[str, str], rows: IntArray | None = None, first: int = 0
) -> dict[str, FloatArray]:
    """Return the values of columns that `find_known` found, as estimators take them; text is read as numbers.

    `rows` are the places of the rows in the file, where some of them were left out; else `first` is that of the first
    row.
    """
    places = np.arange(first, first + table.num_rows) if rows is None else rows
    found = {}
    for option, name in known.items():
        values = read_floats(convert_to_numbers(table, name), name, option)
        wrong = ~np.isfinite(values) if option == "offset" else ~((values > 0.0) & np.isfinite(values))
        if wrong.any():
            _refuse(option, table[name], wrong, places)
        found[option] = values
    return found


def _refuse(option: str, column: pa.ChunkedArray, wrong: BoolArray, places: IntArray) -> None:
    """Name the first row whose value is none."""
    first, others = int(np.argmax(wrong)), int(np.count_nonzero(wrong)) - 1
    row, cell = int(places[first]), column[first].as_py()
    above, held = " above 0" if option == "exposure" else "", "nothing" if cell is None else f"'{cell}'"
    more = f", and {others:,} more are like that" if others else ""
    raise InvalidInputError(
        f"`--{option}` needs a number{above} in every row; row {row} (the first one is 0) has {held}{more}. Fill them "
        "in, or leave such rows out."
    )
