"""What a page holds for its workbench: sums that add up, no line of few rows, rules exactly where they hold."""

import base64
import gzip
import json

import numpy as np
import pandas as pd
import pytest

from inspected_models import fit
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.exceptions import InvalidInputError
from rulegrove.report import make_report, write_report
from rulegrove.report._workbench import MOST_ROWS

QUICK = {"n_candidates": 60, "max_terms": 5, "terms": "rules", "honest_cv": False, "random_state": 0, "n_jobs": 1}


def draw(n_rows=900):
    """Attributes with ties, and a score."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.normal(size=n_rows), "b": rng.integers(0, 9, n_rows).astype(float)})
    return X, X["a"] + (X["b"] > 4) * (X["a"] > -0.5) + 0.4 * rng.normal(size=n_rows)


def unpack(texts):
    return np.array([np.frombuffer(base64.b64decode(text), np.uint8) for text in texts])


@pytest.fixture(scope="module")
def made():
    """A list of classes and one of numbers, each with its rows."""
    X, score = draw()
    classes = np.where(score > 0.5, "ill", "well")
    return {
        "classes": (RuleEnsembleClassifier(**QUICK).fit(X, classes), X, classes),
        "numbers": (RuleEnsembleRegressor(**QUICK).fit(X, score.to_numpy()), X, score.to_numpy()),
        "rates": (RuleEnsembleRegressor(**QUICK, loss="poisson").fit(X, X["b"]), X, X["b"].to_numpy()),
    }


@pytest.fixture
def describe(made, read_page):
    """Return what the page of a kind holds for its workbench."""
    return lambda kind, workbench: read_page(make_report(*made[kind], workbench=workbench))["workbench"]


def test_without_being_asked_the_page_holds_none(made, read_page):
    page = make_report(*made["classes"])
    assert read_page(page)["workbench"] is None
    assert page == make_report(*made["classes"], workbench=False)


@pytest.mark.parametrize("kind", ["classes", "numbers", "rates"])
@pytest.mark.parametrize("min_count", [1, 5, 40])
def test_no_line_is_of_few_rows_and_sums_are_those_of_all(made, describe, kind, min_count):
    bench = describe(kind, min_count)
    lines, y = bench["lines"], made[kind][2]
    assert min(lines["counts"]) >= min_count
    assert sum(lines["counts"]) == len(y) == bench["n_rows"]
    sums = np.sum(lines["sums"], axis=(0, 2))
    if kind == "classes":
        np.testing.assert_allclose(sums, np.unique(y, return_counts=True)[1])
        np.testing.assert_allclose(np.sum(lines["sums"], axis=(0, 1)), lines["counts"])
    else:
        own = y / y.mean() if kind == "rates" else (y - y.mean()) / y.std()
        np.testing.assert_allclose(sums, [(own**2).sum(), len(y), own.sum()], atol=1e-8)
        by_fold = np.array(lines["sums"])[:, 1]
        assert ((by_fold > 0).sum(axis=0) == 1).all()  # a line is of one fold, or sums might be of single rows
        np.testing.assert_allclose(by_fold.max(axis=0), lines["counts"])


@pytest.mark.parametrize("min_count", [5, 20])
def test_patterns_of_enough_rows_are_counted_exactly(made, describe, min_count):
    """Where as many rows agree on all fitted rules, the lines have them by class just as the rows do, but for one."""
    model, X, y = made["classes"]
    bench = describe("classes", min_count)
    held = np.array(bench["lines"]["held"]).T
    by_line = np.sum(bench["lines"]["sums"], axis=0).T
    rules = np.array([rule.holds(X.to_numpy().T) for rule in model.model_.terms]).T
    patterns, places, sizes = np.unique(rules, axis=0, return_inverse=True, return_counts=True)
    wrong = 0
    for place in np.flatnonzero(sizes >= min_count):
        here = (held == patterns[place]).all(axis=1)
        expected = [(places.ravel() == place)[y == label].sum() for label in ("ill", "well")]
        wrong += by_line[here].sum(axis=0).tolist() != expected
    assert (sizes >= min_count).sum() > 3
    assert wrong <= 1  # the one that takes in the few rows that are left


def test_the_full_table_has_every_row(made, describe):
    """With lines of one row, codes and rules are those of the rows, in some order."""
    X = made["classes"][1]
    bench = describe("classes", 1)
    codes = unpack(bench["lines"]["codes"]).T
    columns = bench["columns"]
    expected = np.column_stack([1 + np.searchsorted(own["cuts"], X.iloc[:, own["feature"]]) for own in columns])
    told = [tuple(own) for own, count in zip(codes, bench["lines"]["counts"], strict=True) for _ in range(count)]
    assert sorted(told) == sorted(map(tuple, expected))
    for own in columns:
        fitted = [
            condition[side]
            for term in bench["list"]
            for condition in term["conditions"]
            for side in ("lower", "upper")
            if side in condition and condition["feature"] == own["feature"]
        ]
        assert set(fitted) <= set(own["cuts"])
        assert len(own["cuts"]) <= max(20, len(set(fitted)))
        assert own["cuts"] == sorted(own["cuts"])


def test_many_rows_are_drawn_from(read_page):
    X, score = draw(MOST_ROWS + 400)
    y = score.to_numpy() > 0.5
    model = RuleEnsembleClassifier(**{**QUICK, "n_candidates": 30, "max_terms": 3}).fit(X, y)
    bench = read_page(make_report(model, X, y, workbench=True))["workbench"]
    assert bench["n_rows"] == sum(bench["lines"]["counts"]) == MOST_ROWS
    assert min(bench["lines"]["counts"]) >= 5


def test_the_template_is_the_refitted_list_without_rows_or_terms(made, describe):
    template = json.loads(gzip.decompress(base64.b64decode(describe("classes", True)["template"])))
    assert template["format"] == "rulegrove model"
    assert (template["terms"], template["held_out"], template["front"], template["edits"]) == ([], None, None, [])
    assert "checksum" not in template


def test_weights_of_classes_count(read_page):
    X, score = draw()
    model = RuleEnsembleClassifier(**QUICK, class_weight="balanced").fit(X, score > 1.5)
    bench = read_page(make_report(model, X, score > 1.5, workbench=True))["workbench"]
    first, second = np.sum(bench["lines"]["sums"], axis=(0, 2))
    assert first == pytest.approx(second)
    assert np.sum(bench["lines"]["products"]) > np.sum(bench["lines"]["sums"])


def test_what_cannot_be_is_refused_and_writes_nothing(made, tmp_path):
    model, X, y = made["classes"]
    file = tmp_path / "report.html"
    for given, workbench, words in [
        ((), True, "give X and y as well"),
        ((X,), True, "give X and y as well"),
        ((X, y), 0, "`workbench` must be True, False or the smallest number of rows in a line; got 0"),
        ((X, y), "yes", "got 'yes'"),
        ((X, y), 901, "A line must have at least 901 rows, but there are only 900"),
    ]:
        with pytest.raises(InvalidInputError, match=words):
            write_report(model, file, *given, workbench=workbench)
    level = RuleEnsembleRegressor(**QUICK, loss="quantile").fit(X, X["a"])
    with pytest.raises(InvalidInputError, match="this model has another target or loss"):
        write_report(level, file, X, X["a"], workbench=True)
    assert not file.exists()


def test_a_long_list_is_to_be_shortened(made, monkeypatch):
    monkeypatch.setattr("rulegrove.report._workbench.MOST_TERMS", 2)
    with pytest.raises(InvalidInputError, match=r"a workbench can have 2 at most; shorten the model first"):
        make_report(*made["numbers"], workbench=True)


def test_missing_values_and_categories_have_codes(read_page):
    """A list with both, whose lines of one row say where each fitted rule holds just as the rules do."""
    model, table, y, _ = fit("two classes")
    short = model.shorten(8)
    bench = read_page(make_report(short, table, y, workbench=1))["workbench"]
    held = np.array(bench["lines"]["held"])
    terms = [term for term in short.model_.terms if hasattr(term, "conditions")]
    columns = short.read_columns(table)
    block = columns.take(slice(None))
    counts = np.array(bench["lines"]["counts"])
    for own, rule in zip(held, terms, strict=True):
        assert (own * counts).sum() == rule.holds(block).sum()
    assert any("categories" in column for column in bench["columns"])
