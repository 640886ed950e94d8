"""The explanation of one row as a table and as a record."""

from typing import Any

import pyarrow as pa

from rulegrove._words import cut, printable
from rulegrove.cli.output import print_table, print_text
from rulegrove.cli.scoring import Ensemble, take_attributes
from rulegrove.cli.words import count, suggest
from rulegrove.estimators.explanation import RowExplanation, show_value
from rulegrove.exceptions import InvalidInputError


def explain_row(model: Ensemble, rows: pa.Table, row: int, label: str | None = None) -> RowExplanation:
    """Return what each term added to the score of one row.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
    rows : pyarrow.Table
    row : int
    label : str, optional
        A class in words.
    """
    if row >= rows.num_rows:
        n_rows = count(rows.num_rows, "row")
        raise InvalidInputError(f"`--row` {row} is beyond the table of {n_rows}; the last one is {rows.num_rows - 1}.")
    explanation = model.explain(take_attributes(model, rows.slice(row, 1)))
    return explanation.row(0, None if label is None else _match_label(label, explanation.classes))


def _match_label(word: str, classes: tuple[Any, ...] | None) -> Any:
    """Return the class that a word means."""
    labels = {str(label): label for label in classes or ()}
    if labels and word not in labels:
        hint = suggest(word, list(labels))
        raise InvalidInputError(f"`--label` names '{word}', which is no class of the model.{hint}")
    return labels.get(word, word)


def print_row(row: RowExplanation, top: int | None = None) -> None:
    """Print the largest parts of a score, and what is left of it.

    Parameters
    ----------
    row : RowExplanation
    top : int, optional
        How many; all by default.
    """
    if row.label is None:
        print_text(f"Predicted {row.prediction:.6g}, the sum of:\n")
    else:
        sure = f"Predicted {row.prediction} with probability {row.probability:.1%}"
        print_text(printable(f"{sure}; score {row.score:+.4g} for {row.label}, the sum of:") + "\n")
    parts = [(part, cut(term.text)) for part, term in zip(row.parts.tolist(), row.terms, strict=True)][:top]
    cells = [row.values_of(term) for term in row.terms[:top]]
    values = [", ".join(f"{name} = {show_value(value)}" for name, value in own.items()) for own in cells]
    hidden = row.parts[len(parts) :]
    if hidden.size:
        parts.append((float(hidden.sum()), f"{count(hidden.size, 'smaller part')}; --top all shows all"))
    parts.append((row.intercept, "intercept"))
    columns = {
        "part": [f"{part:+.4g}" for part, _ in parts],
        "because": [words for _, words in parts],
        "this row": values + [""] * (len(parts) - len(values)),
    }
    print_table(columns, words=["because", "this row"])


def describe_row(row: RowExplanation) -> dict[str, Any]:
    """Return all parts of a score for JSON."""
    sure = {} if row.probability is None else {"probability": row.probability}
    about = {} if row.label is None else {"class": row.label}
    parts = [
        {"part": part, "rank": term.rank, "kind": term.kind, "rule": term.text, "values": row.values_of(term)}
        for part, term in zip(row.parts.tolist(), row.terms, strict=True)
    ]
    score = {"score": row.score, **about, "intercept": row.intercept}
    return {"prediction": row.prediction, **sure, **score, "parts": parts}
