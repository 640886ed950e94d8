"""`rulegrove explain`: why a model predicts what it does for a row."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulegrove._words import cut, printable
from rulegrove.cli import options
from rulegrove.cli.words import count

if TYPE_CHECKING:
    from rulegrove.estimators.explanation import RowExplanation

SHOWN_PARTS = 10


def _read_top(word: str | int) -> int:
    """Return how many parts to show; 0 stands for all."""
    if str(word).lower() == "all":
        return 0
    if not str(word).isdecimal() or not int(word):
        raise typer.BadParameter(f"{word!r} is neither a number from 1 on nor 'all'.")
    return int(word)


def explain(
    model: options.Model,
    data: options.Data,
    row: Annotated[int, typer.Option("--row", "-r", min=0, help="Row to explain; 0 is the first one.")],
    label: Annotated[
        str | None, typer.Option(metavar="CLASS", help="Of more than two classes the one to explain.")
    ] = None,
    top: Annotated[
        int, typer.Option(parser=_read_top, metavar="N|all", help="Largest parts to print; --json has all.")
    ] = SHOWN_PARTS,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Tell what each rule added to the prediction of a row, and what the row holds."""
    from rulegrove.cli.output import print_json
    from rulegrove.cli.places import check_inputs
    from rulegrove.cli.scoring import find_label, label_words, read_model, read_rows, take_attributes
    from rulegrove.exceptions import InvalidInputError

    check_inputs([data])
    fitted = read_model(model)
    rows = read_rows(fitted, data)
    if row >= rows.num_rows:
        n_rows = count(rows.num_rows, "row")
        raise InvalidInputError(f"`--row` {row} is beyond the table of {n_rows}; the last one is {rows.num_rows - 1}.")
    explanation = fitted.explain(take_attributes(fitted, rows.slice(row, 1)))
    labels = label_words(fitted)
    asked = find_label(labels, label, "--label", "model") if labels and label is not None else label
    found = explanation.row(0, asked)
    if as_json:
        print_json({"row": row, **_describe(found)})
    else:
        _print(found, top or None)


def _print(row: "RowExplanation", top: int | None) -> None:
    """Print the largest parts of a score, and what is left of it."""
    from rulegrove.cli.output import print_table, print_text
    from rulegrove.estimators.explanation import show_value

    if row.label is None:
        print_text(f"Predicted {row.prediction:.6g}, the sum of:\n")
    else:
        sure = f"Predicted {row.prediction} with probability {row.probability:.1%}"
        print_text(printable(f"{sure}; score {row.score:+.4g} for {row.label}, the sum of:") + "\n")
    cells = []
    for part, term in zip(row.parts.tolist()[:top], row.terms[:top], strict=True):
        values = ", ".join(f"{name} = {show_value(value)}" for name, value in row.values_of(term).items())
        cells.append((part, cut(term.text), values))
    hidden = row.parts[len(cells) :]
    if hidden.size:
        cells.append((float(hidden.sum()), f"{count(hidden.size, 'smaller part')}; --top all shows all", ""))
    cells.append((row.intercept, "intercept", ""))
    parts, reasons, held = zip(*cells, strict=True)
    columns = {"part": [f"{part:+.4g}" for part in parts], "because": reasons, "this row": held}
    print_table(columns, words=["because", "this row"])


def _describe(row: "RowExplanation") -> dict[str, Any]:
    """Return all parts of a score for JSON."""
    sure = {} if row.probability is None else {"probability": row.probability}
    about = {} if row.label is None else {"class": row.label}
    parts = [
        {"part": part, "rank": term.rank, "kind": term.kind, "rule": term.text, "values": row.values_of(term)}
        for part, term in zip(row.parts.tolist(), row.terms, strict=True)
    ]
    score = {"score": row.score, **about, "intercept": row.intercept}
    return {"prediction": row.prediction, **sure, **score, "parts": parts}
