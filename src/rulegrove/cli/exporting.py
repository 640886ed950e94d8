"""Exports by name."""

import csv
from collections.abc import Callable, Sequence

from rulegrove.cli.scoring import Ensemble
from rulegrove.estimators.model_file import dump_model
from rulegrove.export import to_markdown, to_onnx, to_python, to_sql, to_text
from rulegrove.export.sql import Dialect


def write_export(
    model: Ensemble, to: str, *, table: str, dialect: Dialect, keep: Sequence[str], top: int | None
) -> str | bytes:
    """Return the content of a file.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
    to : {"sql", "onnx", "python", "text", "markdown", "json"}
    table, dialect, keep
        Of SQL.
    top : int or None
        Of text and Markdown: only so many terms.
    """
    writers: dict[str, Callable[[], str | bytes]] = {
        "sql": lambda: to_sql(model, _split_name(table), dialect=dialect, keep=keep) + "\n",
        "onnx": lambda: to_onnx(model).SerializeToString(),
        "python": lambda: to_python(model),
        "text": lambda: to_text(model, top=top),
        "markdown": lambda: to_markdown(model, top=top),
        "json": lambda: dump_model(model),
    }
    return writers[to]()


def _split_name(table: str) -> list[str]:
    """Return the parts of a table's name, which dots divide unless double quotes hold them.

    Examples
    --------
    >>> _split_name("shop.customers"), _split_name('"a.b"')
    (['shop', 'customers'], ['a.b'])
    """
    return next(csv.reader([table], delimiter="."), [])
