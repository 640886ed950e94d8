"""The ranked rules as plain text and as Markdown."""

import re
from collections.abc import Sequence

from rulegrove._words import printable
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.model import exponentiate
from rulegrove.estimators.rule_table import RankedTerm, hang
from rulegrove.export._scoring import Scoring, read_scoring

WIDTH = 100  # of a line of plain text


def to_text(model: BaseRuleEnsemble, *, top: int | None = None) -> str:
    """Return the rules as plain text: a line that says how to add them up, then one numbered entry for each term.

    Parameters
    ----------
    model : RuleEnsembleClassifier, RuleEnsembleRegressor or RuleEnsembleSurvival
        A fitted estimator.
    top : int, optional
        Only so many of the most important terms; all by default.

    Returns
    -------
    str
        Thresholds and coefficients exact.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> X, y = load("breast-w", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=100, max_terms=3, random_state=0).fit(X, y)
    >>> print(to_text(model, top=1).splitlines()[0])
    RuleEnsembleClassifier of 3 terms for 'benign' or 'malignant'
    """
    scoring = read_scoring(model)
    lines = [*_introduce(model, scoring, quote="'"), ""]
    rows = model.rules_[:top]
    margin = len(str(len(rows))) + 2
    for row, effect in zip(rows, _tell_effects(model, scoring), strict=False):
        lines += hang(f"{row.rank}.".ljust(margin), f"{'if' if row.kind == 'rule' else 'for'} {row.text}", WIDTH)
        lines += [" " * margin + words for words in (effect, _evidence(row, rows.told)) if words]
    return "\n".join([*lines, *_rest(model, top)]) + "\n"


def to_markdown(model: BaseRuleEnsemble, *, top: int | None = None) -> str:
    """Return the rules as a Markdown table.

    Parameters
    ----------
    model : RuleEnsembleClassifier, RuleEnsembleRegressor or RuleEnsembleSurvival
        A fitted estimator.
    top : int, optional
        Only so many of the most important terms; all by default.

    Returns
    -------
    str
        Names and labels from the data are escaped: they show as they are and make no markup.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from rulegrove import RuleEnsembleRegressor
    >>> X, y = make_friedman1(200, random_state=0)
    >>> model = RuleEnsembleRegressor(n_candidates=50, max_terms=3, random_state=0).fit(X, y)
    >>> print(to_markdown(model, top=1).splitlines()[4])
    | rank | term | effect | support | mean target |
    """
    scoring = read_scoring(model)
    title, how = _introduce(model, scoring, quote='"')
    head = ["rank", "term", "effect", "support", *filter(None, [model.rules_.told])]
    lines = [_escape(title), "", _escape(how), ""]
    lines += [_table_row(head), _table_row(["---:", "---", "---", "---:", "---:"][: len(head)])]
    for row, effect in zip(model.rules_[:top], _tell_effects(model, scoring), strict=False):
        support = f"{row.support:.1%}" if row.kind == "rule" else ""
        last = _share(row) or ("" if row.mean_target is None else f"{row.mean_target:.4g}")
        cells = [str(row.rank), _escape(row.text), _escape(effect), support, _escape(last)]
        lines.append(_table_row(cells[: len(head)]))
    return "\n".join([*lines, *(f"\n{_escape(line)}" for line in _rest(model, top))]) + "\n"


def _table_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(words: str) -> str:
    """Return words that Markdown shows as they are."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&$!])", r"\\\1", printable(words))


def _introduce(model: BaseRuleEnsemble, scoring: Scoring, quote: str) -> tuple[str, str]:
    """Say what the model is for, and how a prediction is made of the terms."""
    n_terms, starts = len(model.rules_), scoring.intercepts.tolist()
    title = f"{type(model).__name__} of {n_terms} term{'s' * (n_terms != 1)}"
    if not scoring.classes:
        return title, _introduce_numbers(scoring, _name_outputs(model, scoring))
    quoted = [printable(f"{quote}{label}{quote}") for label in scoring.classes]
    title += f" for {', '.join(quoted[:-1])} or {quoted[-1]}"
    labels = [printable(str(label)) for label in scoring.classes]
    if scoring.n_outputs == 1:
        end = f"Above 0 it is {labels[1]}, else {labels[0]}."
        return title, f"The score starts at {starts[0]!r}; add what each term says. {end}"
    each = ", ".join(f"{label} at {start!r}" for label, start in zip(labels, starts, strict=True))
    return title, f"The scores start with {each}; add what each term says. The largest score wins."


def _introduce_numbers(scoring: Scoring, names: Sequence[str]) -> str:
    """Say how predicted numbers are made of the terms."""
    starts = scoring.intercepts.tolist()
    if scoring.exponential:
        first = f"{exponentiate(scoring.intercepts).tolist()[0]!r}, exp({starts[0]!r})"
        return f"The prediction is exp of the sum: it starts at {first}; multiply by what each term says."
    if len(starts) == 1:
        return f"The prediction starts at {starts[0]!r}; add what each term says."
    each = ", ".join(f"{name} at {start!r}" for name, start in zip(names, starts, strict=True))
    return f"The predictions start with {each}; add what each term says."


def _name_outputs(model: BaseRuleEnsemble, scoring: Scoring) -> list[str]:
    """Return what the scores are called."""
    article = "the " if model.model_.main_output else ""
    return [article + printable(str(word)) for word in model.model_.score_words]


def _tell_effects(model: BaseRuleEnsemble, scoring: Scoring) -> list[str]:
    """Say what each term does, in the order of rank."""
    if scoring.n_outputs == 1:
        return [_effect(row, scoring) for row in model.rules_]
    names = _name_outputs(model, scoring)
    return [
        _effect_on_each(row, list(zip(names, coefs, strict=True)))
        for row, coefs in zip(model.rules_, model.model_.coefs.T.tolist(), strict=True)
    ]


def _effect(row: RankedTerm, scoring: Scoring) -> str:
    """Say what a term does to one score or rate."""
    if scoring.exponential:
        return f"{row.effect}, exp({_add(row, row.coefficient)})"
    return _add(row, row.coefficient) + _change(row)


def _effect_on_each(row: RankedTerm, coefs: Sequence[tuple[str, float]]) -> str:
    """Say what a term does to each of several scores."""
    parts = [f"{_signed(coef)} for {name}" for name, coef in coefs if coef]
    return ", ".join(parts) + _unit(row) + _change(row)


def _add(row: RankedTerm, coef: float) -> str:
    """Say what a term adds."""
    return _signed(coef) + _unit(row)


def _unit(row: RankedTerm) -> str:
    return "" if row.kind == "rule" else " a unit"


def _change(row: RankedTerm) -> str:
    """Say what a term does to the probability of the class that it says most about."""
    return f": {printable(str(row.speaks_for))} {row.change}" if row.change else ""


def _signed(value: float) -> str:
    """Return the shortest text that reads back as the number, with its sign."""
    return f"{'' if value < 0 else '+'}{value!r}"


def _share(row: RankedTerm) -> str:
    """Say how many rows of a rule belong to the class that it says most about."""
    if row.confidence is None:
        return ""
    share, base = (
        None if own is None else 1.0 - own if row.against else own for own in (row.confidence, row.base_rate)
    )
    usual = "" if base is None else f" against {base:.1%} of all"
    return f"{share:.1%} {printable(str(row.speaks_for))}{usual}"


def _evidence(row: RankedTerm, about: str) -> str:
    """Say what the training rows showed."""
    if row.kind == "linear":
        return ""
    words = f"holds on {row.support:.1%} of the rows"
    if about and row.mean_target is not None:
        return f"{words}, where the {about} is {row.mean_target:.4g}"
    return ", ".join(filter(None, [words, _share(row)]))


def _rest(model: BaseRuleEnsemble, top: int | None) -> list[str]:
    """Say how many terms were left out."""
    hidden = len(model.rules_) - len(model.rules_[:top])
    return [f"... and {hidden} more."] if hidden else []
