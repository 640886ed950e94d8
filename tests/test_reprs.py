"""What a console or a notebook shows of any record is short."""

import enum
import importlib
from dataclasses import dataclass, fields, is_dataclass
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from rulegrove import RuleAttributeSelector, RuleEnsembleClassifier, inspection, plots
from rulegrove._reprs import short_repr, short_value
from rulegrove.datasets import load, make_waveform
from target_models import KINDS
from target_models import fit as fit_kind

mpl.use("agg")

LONGEST = 400  # letters of a record in one line
TABLES = {"Front", "RowExplanation", "RuleEvidence", "RuleTable", "StabilityReport"}  # several lines, for people
MOST_LINES = 45
HIDDEN = ("function", "method", "builtin_function_or_method")


def is_ours(value):
    return type(value).__module__.startswith("rulegrove.") and not isinstance(value, type | enum.Enum)


def walk(value, seen):
    """Yield a record, and all records that are found by its names, each class a few times."""
    if isinstance(value, list | tuple):
        for item in value[:3]:
            yield from walk(item, seen)
        return
    if isinstance(value, dict):
        yield from walk(list(value.values()), seen)
        return
    if not is_ours(value) or id(value) in seen or type(value).__name__ in HIDDEN:
        return
    seen[id(value)] = value
    if not hasattr(value, "get_params"):
        yield value
    names = [name for name in dir(type(value)) if isinstance(getattr(type(value), name, None), property)]
    for name in {*vars_of(value), *names}:
        if not name.startswith("_"):
            try:
                yield from walk(getattr(value, name), seen)
            except (AttributeError, ValueError):  # what this kind of model has not
                continue
    if hasattr(value, "__len__") and hasattr(value, "__getitem__"):
        yield from walk(list(value)[:3], seen)


def vars_of(value):
    slots = [name for one in type(value).__mro__ for name in getattr(one, "__slots__", ())]
    return {*getattr(value, "__dict__", {}), *slots}


def is_short(record):
    words = repr(record)
    if type(record).__name__ in TABLES:
        return words.count("\n") < MOST_LINES
    return len(words) <= LONGEST and "\n" not in words


def list_roots(kind):
    """Return what a user of one kind of target comes by."""
    if kind == "classes":
        X, y = load("breast-w", return_X_y=True)
        settings = {"n_candidates": 60, "honest_cv": False, "random_state": 0, "n_jobs": 1, "terms": "rules"}
        model = RuleEnsembleClassifier(**settings, n_resamples=4, evidence="split", max_terms=5).fit(X, y)
        return [
            model,
            model.explain(X[:4]),
            inspection.stability_report(model, X[:200], y[:200], n_repeats=2, random_state=0),
            inspection.rule_evidence(model, X, y),
            inspection.partial_dependence(model, X, [0]),
            inspection.importances(model, X),
            inspection.interactions(model, X),
            inspection.interaction_null(model, X[:200], y[:200], n_repeats=2, random_state=0),
            RuleAttributeSelector(n_repeats=2, min_votes=1, n_candidates=30, random_state=0).fit(X, y),
            plots.FrontDisplay.from_estimator(model),
            plots.RulesDisplay.from_estimator(model),
            plots.PathDisplay.from_estimator(model),
            plots.SelectionDisplay.from_estimator(model),
            plots.CalibrationDisplay.from_estimator(model, X, y),
            load("iris"),
        ]
    if kind == "many classes":
        X, y = make_waveform(150, random_state=0)
        model = RuleEnsembleClassifier(n_candidates=40, honest_cv=False, random_state=0, n_jobs=1).fit(X, y)
        return [model, model.explain(X[:2])]
    model, X, y, known = fit_kind(kind)
    if kind != "survival":
        return [model, model.explain(X[:4])]
    curves = plots.SurvivalDisplay.from_estimator(model, X, y, **known)
    return [model, model.explain(X[:4]), list(model.predict_survival_function(X[:2])), curves]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["classes", "many classes", *KINDS])
def test_every_record_is_short(kind):
    records = [one for root in list_roots(kind) for one in walk(root, {})]
    assert {"RuleModel", "RuleTable", "Path"} <= {type(one).__name__ for one in records}
    long = {type(one).__name__: repr(one)[:300] for one in records if not is_short(one)}
    assert long == {}


@pytest.mark.parametrize("module", ["datasets", "engines", "inspection", "plots", "solvers"])
def test_public_records_with_arrays_never_print_them(module):
    public = importlib.import_module(f"rulegrove.{module}")
    records = [one for name in public.__all__ if is_dataclass(one := getattr(public, name))]
    printed = {
        one.__name__
        for one in records
        if hasattr(one.__repr__, "__wrapped__")  # as dataclasses make it
        and any("array" in str(field.type).lower() for field in fields(one) if field.repr)
    }
    assert records
    assert printed == set()


@dataclass(frozen=True)
class Record:
    """Fields of all kinds."""

    name: str
    errors: np.ndarray
    folds: tuple
    nothing: int | None = None
    inner: object = None

    __repr__ = short_repr


def test_a_record_tells_sizes_and_spans():
    record = Record("lasso", np.array([0.5, 0.25]), (1, 2.5))
    assert repr(record) == "Record(name='lasso', errors=<2 values from 0.25 to 0.5>, folds=(1, 2.5))"
    outer = Record("x" * 500, np.array([np.nan, 1.0]), tuple(range(9)), inner=[record, record])
    assert len(repr(outer)) < 250
    assert repr(outer).endswith("errors=<2 values>, folds=<9 items>, inner=<2 items>)")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.zeros((3, 0)), "<3 x 0 values>"),
        (np.array(["a"]), "<1 values>"),
        (np.array([3]), "<1 values from 3 to 3>"),
        (np.float64(1 / 3), "0.3333"),
        (True, "True"),
        ([], "[]"),
        (("a",), "('a',)"),
        ({"a": 1.0}, "{'a': 1}"),
        (frozenset(range(3)), "<3 items>"),
        (pd.DataFrame({"a": [1]}), "<1 x 1 values>"),
    ],
)
def test_values_in_few_letters(value, words):
    assert short_value(value) == words


class Cells(HTMLParser):
    """The tags of a page, and what its cells hold."""

    def __init__(self, page):
        super().__init__()
        self.opened, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.opened.append(tag)

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("evidence", [None, "split"])
def test_notebooks_show_tables_in_which_names_are_only_names(evidence):
    name = "<b>age</b> & <script>"
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.normal(size=400), "size": rng.normal(size=400)})
    y = np.where((X[name] > 0) & (X["size"] > 0), "<i>yes", "no")
    settings = {"n_candidates": 40, "honest_cv": False, "random_state": 0, "n_jobs": 1, "terms": "rules"}
    model = RuleEnsembleClassifier(**settings, evidence=evidence).fit(X, y)
    shown = [model.rules_, model.front_, model.explain(X[y != "no"])[0], *([model.evidence_] if evidence else [])]
    for record in shown:
        page = Cells(record._repr_html_())
        assert page.opened.count("table") == 1
        assert set(page.opened) <= {"table", "thead", "tbody", "tr", "th", "td", "p"}
    named = [Cells(one._repr_html_()).text.count("<script>") for one in shown if one is not model.front_]
    assert min(named) > 0
    assert "<div" in model._repr_html_()
