"""The explanation of one row as a table and as a record."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from rulegrove._words import printable
from rulegrove.cli.output import print_table, print_text
from rulegrove.cli.scoring import Ensemble, take_attributes
from rulegrove.cli.words import count, suggest
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.estimators.explanation import RowExplanation
from rulegrove.estimators.rule_table import RankedTerm
from rulegrove.exceptions import InvalidInputError


@dataclass(frozen=True)
class ExplainedRow:
    """What the terms added to the score of a row, and what the row holds.

    Attributes
    ----------
    row : RowExplanation
    probability : float or None
        Of the predicted class; None in regression.
    values : tuple of dict
        For each term the cells of the row that it speaks of, by column.
    """

    row: RowExplanation
    probability: float | None
    values: tuple[dict[str, Any], ...]


def explain_row(model: Ensemble, rows: pa.Table, row: int, label: str | None = None) -> ExplainedRow:
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
    X = take_attributes(model, rows.slice(row, 1))
    explanation = model.explain(X)
    found = explanation.row(0, None if label is None else _match_label(label, explanation.classes))
    probability = None
    if isinstance(model, RuleEnsembleClassifier):
        probability = float(model.predict_proba(X)[0, model.classes_.tolist().index(found.prediction)])
    cells = _read_cells(X)
    return ExplainedRow(found, probability, tuple(_take_cells(model, term, cells) for term in found.terms))


def _match_label(word: str, classes: tuple[Any, ...] | None) -> Any:
    """Return the class that a word means."""
    labels = {str(label): label for label in classes or ()}
    if labels and word not in labels:
        hint = suggest(word, list(labels))
        raise InvalidInputError(f"`--label` names '{word}', which is no class of the model.{hint}")
    return labels.get(word, word)


def _read_cells(X: Any) -> dict[str, Any]:
    """Return the only row by its columns; those of an array are called as the model does."""
    if isinstance(X, np.ndarray):
        return {f"x{place}": cell for place, cell in enumerate(X[0].tolist())}
    return {name: X[name][0].as_py() for name in X.column_names}


def _take_cells(model: Ensemble, term: RankedTerm, cells: Mapping[str, Any]) -> dict[str, Any]:
    sources = (model._model.features[feature].source for feature in term.term.features)
    return {source: cells[source] for source in sources}


def print_row(found: ExplainedRow, top: int | None = None) -> None:
    """Print the largest parts of a score, and what is left of it.

    Parameters
    ----------
    found : ExplainedRow
    top : int, optional
        How many; all by default.
    """
    row = found.row
    if row.label is None:
        print_text(f"Predicted {row.prediction:.6g}, the sum of:\n")
    else:
        sure = f"Predicted {row.prediction} with probability {found.probability:.1%}"
        print_text(printable(f"{sure}; score {row.score:+.4g} for {row.label}, the sum of:") + "\n")
    parts = [(part, term.text) for part, term in zip(row.parts.tolist(), row.terms, strict=True)][:top]
    values = [", ".join(f"{name} = {_spell(cell)}" for name, cell in cells.items()) for cells in found.values][:top]
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


def _spell(cell: Any) -> str:
    """Return a cell in words."""
    if cell is None or cell != cell:
        return "missing"
    return f"{cell:.6g}" if isinstance(cell, float) else repr(cell) if isinstance(cell, str) else str(cell)


def describe_row(found: ExplainedRow) -> dict[str, Any]:
    """Return all parts of a score for JSON."""
    row = found.row
    sure = {} if found.probability is None else {"probability": found.probability}
    about = {} if row.label is None else {"class": row.label}
    parts = [
        {"part": part, "rank": term.rank, "kind": term.kind, "rule": term.text, "values": cells}
        for part, term, cells in zip(row.parts.tolist(), row.terms, found.values, strict=True)
    ]
    score = {"score": row.score, **about, "intercept": row.intercept}
    return {"prediction": row.prediction, **sure, **score, "parts": parts}
