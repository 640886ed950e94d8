"""`rulegrove explain`: why a model predicts what it does for a row."""

import math
from dataclasses import dataclass
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
    row: Annotated[int, typer.Option("--row", "-r", min=0, help="The row to explain. The first one is 0.")],
    label: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS", help="Which class to explain, if there are more than two, or which of several numbers."
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(parser=_read_top, metavar="N|all", help="Number of parts to print, the largest first.")
    ] = SHOWN_PARTS,
    exposure: options.Exposure = None,
    offset: options.Offset = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what each rule adds to the prediction of a row.

    Example: rulegrove explain model.json new.csv --row 0
    """
    from rulegrove.cli.known import check_known, find_known, read_known
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
    known = find_known(rows.column_names, exposure, offset)
    check_known(fitted, known)
    own = rows.slice(row, 1)
    values = {option: float(value[0]) for option, value in read_known(own, known, first=row).items()}
    explanation = fitted.explain(take_attributes(fitted, own))
    labels = label_words(fitted)
    asked = find_label(labels, label, "--label", "model") if labels and label is not None else label
    told = _Told(explanation.row(0, asked), known, values, fitted.recall_target().meaning.predicted)
    if as_json:
        print_json({"row": row, **_describe(told)})
    else:
        _print(told, top or None)


@dataclass(frozen=True)
class _Told:
    """What is told of a row: its parts, and what is known to add to them."""

    row: "RowExplanation"
    columns: dict[str, str]
    values: dict[str, float]
    predicted: str

    @property
    def more(self) -> list[tuple[float, str]]:
        """What is known to add to the score, with the value of its column."""
        return [
            (math.log(value) if option == "exposure" else value, f"{self.columns[option]} = {value:.6g}")
            for option, value in self.values.items()
        ]

    @property
    def added(self) -> float:
        """All of that together."""
        return sum(part for part, _ in self.more)

    @property
    def prediction(self) -> Any:
        """What is predicted with it: a class, a number, or several."""
        own = self.row.prediction
        if not self.values:
            return own
        if self.row.multiplies:
            return _exponentiate(self.row.score + self.added)
        return [value + self.added for value in own] if isinstance(own, list) else own + self.added

    @property
    def what(self) -> str:
        """What is predicted, in words: a total with an exposure."""
        if not self.row.multiplies or "offset" in self.values:
            return f"{self.prediction:.6g}"
        noun = "total" if self.values else self.predicted
        return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun} of {self.prediction:.6g}"

    @property
    def start(self) -> str:
        """What the parts start from, in words."""
        return f"{_exponentiate(self.row.intercept):.4g}" if self.row.multiplies else f"{self.row.intercept:+.4g}"


def _print(told: _Told, top: int | None) -> None:
    """Print the largest parts of a score, and what is left of it."""
    from rulegrove.cli.output import print_table, print_text
    from rulegrove.estimators.explanation import show_value
    from rulegrove.estimators.model import show_output

    row = told.row
    if isinstance(told.prediction, list):
        numbers = ", ".join(
            f"{value:.6g} ({word})" for value, word in zip(told.prediction, map(show_output, row.outputs), strict=True)
        )
        print_text(printable(f"Predicted {numbers}; for {row.about} it is the sum of:") + "\n")
    elif row.label is None:
        print_text(f"Predicted {told.what}, the {'product' if row.multiplies else 'sum'} of:\n")
    else:
        sure = f"Predicted {row.prediction} with probability {row.probability:.1%}"
        print_text(printable(f"{sure}; score {row.score:+.4g} for {row.label}, the sum of:") + "\n")
    cells = []
    for part, term in zip(row.parts.tolist()[:top], row.terms[:top], strict=True):
        held = ", ".join(f"{name} = {show_value(value)}" for name, value in row.values_of(term).items())
        cells.append((part, cut(term.text), held))
    hidden = row.parts[len(cells) :]
    if hidden.size:
        cells.append((float(hidden.sum()), f"{count(hidden.size, 'smaller part')}; --top all shows all", ""))
    cells += [(part, option, value) for option, (part, value) in zip(told.values, told.more, strict=True)]
    lines = [*((row.show_part(part), because, held) for part, because, held in cells), (told.start, "intercept", "")]
    parts, reasons, values = zip(*lines, strict=True)
    heading = "factor" if row.multiplies else "part"
    print_table({heading: parts, "because": reasons, "this row": values}, words=["because", "this row"])


def _exponentiate(score: float) -> float:
    """Return the exponential of a score; of one that is too large it is infinite."""
    try:
        return math.exp(score)
    except OverflowError:
        return math.inf


def _describe(told: _Told) -> dict[str, Any]:
    """Return all parts of a score for JSON."""
    row = told.row
    sure = {} if row.probability is None else {"probability": row.probability}
    kind = "class" if not row.outputs else "number" if isinstance(row.label, str) else "level"
    about = {} if row.label is None else {kind: row.label}
    parts = [
        {
            "part": part,
            **({"factor": _exponentiate(part)} if row.multiplies else {}),
            "rank": term.rank,
            "kind": term.kind,
            "rule": term.text,
            "values": row.values_of(term),
        }
        for part, term in zip(row.parts.tolist(), row.terms, strict=True)
    ]
    score = {"score": row.score + told.added, **about, "intercept": row.intercept, **told.values}
    return {"prediction": told.prediction, **sure, **score, "parts": parts}
