"""`write_report` and `make_report`: a fitted model as one HTML page."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from rulegrove._files import write_whole
from rulegrove._version import __version__
from rulegrove.design.terms import Term
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.inspection._sample import check_model
from rulegrove.report._checks import check, draw_dependence
from rulegrove.report._edits import describe_edits
from rulegrove.report._evidence import describe_evidence
from rulegrove.report._given import predict_given, read_given
from rulegrove.report._lines import Line, describe_front, describe_line, list_lines, list_terms
from rulegrove.report._recurrence import describe_bands, describe_recurrence
from rulegrove.report._rows import Drawn
from rulegrove.report._summary import describe_words, summarise, tell_figures, tell_model
from rulegrove.report._tenths import describe_survival, describe_tenths
from rulegrove.report._terms import describe_terms, find_base_rates
from rulegrove.report._votes import describe_votes
from rulegrove.report._workbench import MIN_COUNT, describe_workbench
from rulegrove.report.assembly import assemble

SEED = 0  # of the rows that are drawn to be shown, so that equal calls give equal pages


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    training: bool | None = None,
    exposure: Any = None,
    offset: Any = None,
    selector: Any = None,
    title: str | None = None,
    workbench: bool | int = False,
) -> None:
    """Write a report of a fitted model: one HTML file that needs no network and no other file.

    Parameters
    ----------
    model : RuleEnsembleClassifier, RuleEnsembleRegressor or RuleEnsembleSurvival
        Fitted, or read by `load_model`.
    path : str or path
        Path of the file. An existing file is replaced, completely or not at all.
    X : array-like or data frame of shape (n_samples, n_features), optional
        Rows for partial dependence and for explanations of single rows, preferably rows that the fit has not seen. At
        most 200 of them, drawn at random, are stored in the page, with the values of the attributes that the rules use.
    y : array-like of shape (n_samples,), optional
        Their target, as in `fit`, for figures on these rows, for predicted against observed, and for survival by rule.
        Confusion, calibration, ROC and tenths of rates are shown for these rows if they are new, and otherwise for the
        rows that cross-validation held out.
    training : bool, optional
        Whether the model was fitted on these rows, or on some of them, so that the figures on them are too good. The
        page then says so, and draws its charts for the held-out rows if there are any. By default rows count as new,
        unless there are as many as in the fit and every rule holds on as many of them as it did there. For survival
        times this is not checked, so say it yourself.
    exposure, offset : array-like of shape (n_samples,), optional
        As in `fit`: rates are then judged by their exposure.
    selector : RuleAttributeSelector, optional
        A fitted selector, whose votes the page shows.
    title : str, optional
        Title of the page; by default the name of `y`, if it has one.
    workbench : bool or int, default=False
        Whether readers can change the list on the page. The page then contains counts of the given rows: at most 5,000
        of them, drawn at random and combined into lines of at least 5 rows, or of at least as many as this number. With
        1, every row has a line of its own, and weights are exactly those of ``model.edit(X, y)``.

    See Also
    --------
    make_report : The page as text.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.report import write_report
    >>> X, y = load("iris")
    >>> model = RuleEnsembleClassifier(n_candidates=60, random_state=0).fit(X, y)
    >>> file = Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(model, file, X, y)
    >>> file.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    known = {"training": training, "exposure": exposure, "offset": offset}
    write_whole(path, make_report(model, X, y, **known, selector=selector, title=title, workbench=workbench))


def make_report(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    training: bool | None = None,
    exposure: Any = None,
    offset: Any = None,
    selector: Any = None,
    title: str | None = None,
    workbench: bool | int = False,
) -> str:
    """Return the report of a fitted model as the text of an HTML page; see `write_report`.

    Parameters
    ----------
    model, X, y, training, exposure, offset, selector, title, workbench
        As in `write_report`.

    Returns
    -------
    str

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> from rulegrove.report import make_report
    >>> X, y = load("iris")
    >>> model = RuleEnsembleClassifier(n_candidates=60, random_state=0).fit(X, y)
    >>> "<title>Irises</title>" in make_report(model, X, y, title="Irises")
    True
    """
    if title is None:
        name = getattr(y, "name", None)
        title = f"Rules for {name}" if isinstance(name, str) and name else "Rule ensemble"
    model = check_model(model, "A report")
    given = read_given(model, X, y, training, exposure, offset)
    terms = list_terms(list_lines(model))
    drawn = None if given is None else Drawn(given, terms, np.random.default_rng(SEED))
    bench = None
    if workbench is not False:
        shown = np.zeros(0, np.int64) if drawn is None else drawn.rows
        min_count = MIN_COUNT if workbench is True else workbench
        bench = describe_workbench(model, X, y, min_count, shown, exposure, offset)
    return assemble(title, {**make_payload(model, drawn, selector, title), "workbench": bench})


def make_payload(model: BaseRuleEnsemble, drawn: Drawn | None, selector: Any, title: str) -> dict[str, Any]:
    """Return all that the page shows, for JSON."""
    lines, labels = list_lines(model), list(model.model_.labels)
    terms, given = list_terms(lines), None if drawn is None else drawn.given
    base_rates = find_base_rates(model, given)
    return {
        "title": title,
        "made_by": f"rulegrove {__version__}",
        "summary": summarise(model, given),
        "classes": [str(label) for label in labels] if labels else None,
        "outputs": list(model.model_.score_words),
        "words": describe_words(model),
        "base_rates": base_rates,
        "features": [feature.name for feature in model.model_.features],
        "terms": describe_terms(lines, terms),
        "front": describe_front(model.front_),
        "lines": [_describe_line(model, line, terms, drawn, base_rates) for line in lines],
        "n_given": None if given is None else given.n_rows,
        "given_name": None if given is None else given.name,
        "rows": None if drawn is None else drawn.describe(),
        "observed": None if drawn is None else drawn.observed,
        "evidence": describe_evidence(model),
        "edits": describe_edits(model),
        "votes": describe_votes(selector),
        "recurrence": describe_recurrence(model.front_, lines, terms),
        "survival": describe_survival(given, lines, terms),
    }


def _describe_line(
    model: BaseRuleEnsemble, line: Line, terms: Sequence[Term], drawn: Drawn | None, base_rates: list[float] | None
) -> dict[str, Any]:
    """Return all that the page shows of one length."""
    given = None if drawn is None else drawn.given
    predicted = None if given is None else predict_given(model, line, given)
    return {
        "figures": tell_figures(model, line),
        "about": tell_model(model, line),
        "outputs": describe_line(line, terms, base_rates),
        "check": check(line, given, predicted),
        "tenths": describe_tenths(model, line, given, predicted),
        "importance_bands": describe_bands(line),
        "dependence": None if given is None else draw_dependence(line, given),
        **({} if drawn is None or predicted is None else drawn.tell(predicted)),
    }
