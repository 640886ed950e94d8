"""How often terms come back on the page, and bands of lists from other rows: the figures of the library, or nothing."""

import functools

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from inspected_models import fit, make_table
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, load_model
from rulegrove.inspection import importance_band, partial_dependence
from rulegrove.report import make_report
from rulegrove.report._lines import list_lines

KINDS = ["regression", "two classes", "three classes"]
SETTINGS = {"n_candidates": 60, "cv": 2, "honest_cv": False, "random_state": 0, "n_jobs": 1}


@functools.cache
def refit(kind, **parameters):
    """Return a model that knows how often its terms come back, its table and its target."""
    table, y, _ = make_table()
    estimator = RuleEnsembleRegressor if kind == "regression" else RuleEnsembleClassifier
    if kind == "two classes":
        y = np.where(y > 0, "yes", "no")
    elif kind == "three classes":
        y = np.array(["low", "middle", "up"])[np.searchsorted([-0.7, 0.7], y)]
    table = table.drop(columns="fixed")
    settings = {**SETTINGS, "max_terms": 12, "terms": "rules", "n_resamples": 12, **parameters}
    return estimator(**settings).fit(table, y), table, y


@pytest.mark.parametrize("kind", KINDS)
def test_every_length_tells_how_often_its_terms_come_back(read_page, kind):
    model, *_ = refit(kind)
    report = read_page(make_report(model))
    thresholds = report["recurrence"]["thresholds"]
    assert len(thresholds) > 0
    for own, line in zip(list_lines(model), report["lines"], strict=True):
        rows = {row.text: row for row in own.rules}
        for output in line["outputs"]:
            assert (output["returns"] is None) == (len(own.rules) == 0)
            told = [rows[report["terms"]["texts"][place]] for place in output["terms"]]
            np.testing.assert_allclose(output["returns"] or [], [row.returns for row in told], rtol=1e-5)
            assert [thresholds.get(str(place), "") for place in output["terms"]] == [row.thresholds for row in told]
    chosen = report["lines"][report["front"]["chosen"]]["outputs"]
    known = {place: share for output in chosen for place, share in zip(output["terms"], output["returns"], strict=True)}
    assert {report["terms"]["texts"][place]: round(share, 4) for place, share in known.items()} == {
        row.text: round(row.returns, 4) for row in model.rules_
    }


@pytest.mark.parametrize("kind", KINDS)
def test_bands_of_importance(read_page, kind):
    model, *_ = refit(kind)
    report = read_page(make_report(model))
    chosen = report["front"]["chosen"]
    bands = report["lines"][chosen]["importance_bands"]
    for output, own in zip(report["lines"][chosen]["outputs"], bands, strict=True):
        used = {feature for place in output["terms"] for feature in report["terms"]["features"][place]}
        assert set(own) == {str(feature) for feature in used}
        assert all(0.0 <= low <= high <= 1.0 for low, high in own.values())
    if kind != "three classes":  # these have bands of their own, not that of all classes
        low, high = importance_band(model)
        for feature, ends in bands[0].items():
            np.testing.assert_allclose(ends, [low[int(feature)], high[int(feature)]], rtol=1e-5, atol=1e-9)


def test_the_importance_for_a_class_is_shared_as_the_page_shares_it(read_page):
    """Where all lists are the list itself, the bands are the shares that the page draws as bars."""
    model, *_ = refit("three classes")
    front = model.front_
    line = front[front.chosen].fitted
    copies = [type(own)(line.model, line.importances, line.supports) for own in front.remade]
    known = front.recurrence
    same = type(known)(**{name: getattr(known, name) for name in known.__dataclass_fields__} | {"lists": tuple(copies)})
    told = model.shorten(12)
    told.front_ = front.recurring(same)
    report = read_page(make_report(told))
    own, terms = report["lines"][report["front"]["chosen"]], report["terms"]
    for output, bands in zip(own["outputs"], own["importance_bands"], strict=True):
        shares = np.zeros(len(report["features"]))
        for place, coef in zip(output["terms"], output["coefs"], strict=True):
            features = terms["features"][place]
            shares[features] += abs(coef) * terms["spreads"][place] / len(features)
        for feature, ends in bands.items():
            np.testing.assert_allclose(ends, shares[int(feature)] / shares.sum(), rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_bands_of_dependence(read_page, kind):
    model, table, y = refit(kind)
    report = read_page(make_report(model, table, y))
    chosen = report["front"]["chosen"]
    for curve in report["lines"][chosen]["dependence"]:
        found = partial_dependence(model, table, curve["feature"])
        for ends, expected in zip(curve["band"], (found.low, found.high), strict=True):
            np.testing.assert_allclose(ends, np.atleast_2d(expected), rtol=1e-5, atol=1e-9)


def test_bands_are_those_of_the_chosen_length_alone(read_page):
    model, table, y = refit("two classes")
    report = read_page(make_report(model, table, y))
    for place, line in enumerate(report["lines"]):
        chosen = place == report["front"]["chosen"]
        assert (line["importance_bands"] is not None) == chosen
        assert all((curve["band"] is not None) == chosen for curve in line["dependence"])
    short = model.shorten(2)
    assert short.front_.chosen != model.front_.chosen
    other = read_page(make_report(short, table, y))
    assert all(line["importance_bands"] is None for line in other["lines"])
    own = other["lines"][other["front"]["chosen"]]["outputs"][0]
    assert own["returns"] == pytest.approx([row.returns for row in short.rules_], rel=1e-5)


def test_the_words_say_how_it_was_found(read_page):
    model, *_ = refit("two classes")
    words = read_page(make_report(model))["recurrence"]["words"]
    known = model.front_.recurrence
    assert (
        f"To find out, {known.n_resamples} more lists were made, each from {known.n_rows} of the training rows" in words
    )
    assert "longest" not in words


def test_lists_that_are_too_long(read_page):
    """Of a large model of more terms than a list has nothing is known, unless it was chosen."""
    X, y = make_friedman1(400, random_state=0)
    settings = {**SETTINGS, "n_candidates": 600, "solver": "glmnet", "selection": "min", "n_resamples": 2}
    model = RuleEnsembleRegressor(**settings).fit(X, y)
    assert model.front_[-1].terms > 60
    report = read_page(make_report(model))
    assert report["lines"][-1]["outputs"][0]["returns"] is None
    assert report["lines"][-2]["outputs"][0]["returns"] is not None
    assert report["recurrence"]["words"].endswith("It is not known for the longest lists.")
    large = RuleEnsembleRegressor(**settings, max_terms=None).fit(X, y)
    report = read_page(make_report(large))
    assert None not in report["lines"][-1]["outputs"][0]["returns"]
    assert report["lines"][-1]["importance_bands"] is not None
    assert "longest" not in report["recurrence"]["words"]


def test_a_loaded_model_tells_the_same(read_page, tmp_path):
    model, table, y = refit("three classes")
    model.save(tmp_path / "model.json")
    pages = [read_page(make_report(own, table, y)) for own in (model, load_model(tmp_path / "model.json"))]
    first, second = ([page["recurrence"], *map(tell_line, page["lines"])] for page in pages)
    assert first == second


def tell_line(line):
    """What the page knows of a line from lists made anew."""
    returns = [output["returns"] for output in line["outputs"]]
    return returns, line["importance_bands"], [curve["band"] for curve in line["dependence"]]


def test_without_lists_made_anew_nothing_is_told(inspected, read_page):
    model, table, y = inspected
    report = read_page(make_report(model, table, y))
    assert report["recurrence"] is None
    for line in report["lines"]:
        assert line["importance_bands"] is None
        assert all(output["returns"] is None for output in line["outputs"])
        assert all(curve["band"] is None for curve in line["dependence"])


def test_a_model_without_terms(read_page):
    model, table, y = refit("regression", max_terms=0)
    report = read_page(make_report(model, table, y))
    assert report["recurrence"] is not None
    assert report["lines"][0]["outputs"][0]["returns"] is None
    assert report["lines"][0]["dependence"] == []


def test_a_model_without_a_front(read_page):
    table, y, _ = make_table()
    model, *_ = fit("regression")
    alone = model.shorten(3)
    alone.front_ = None
    assert read_page(make_report(alone, table, y))["recurrence"] is None
