"""The whole page: what it holds, how large it is, from any kind of table and from a model file."""

import numpy as np
import polars as pl
import pytest

from inspected_models import fit, make_table
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, load_model
from rulegrove.datasets import make_waveform
from rulegrove.exceptions import InvalidInputError
from rulegrove.report import make_report, write_report


def test_the_path_of_the_page_is_that_of_the_model(inspected, read_page):
    model, table, y = inspected
    report = read_page(make_report(model, table, y))
    paths, selections = model.path_, model.selection_
    coefs = np.atleast_2d(model.coef_)
    for track, path, selection, own in zip(report["tracks"], paths, selections, coefs, strict=True):
        kept = np.isin(selection.errors, track["errors"])
        assert kept.sum() >= min(len(path.coefs), len(track["errors"]))
        assert track["errors"][track["chosen"]] == selection.errors[selection.index]
        places = track["terms"][track["chosen"]]
        assert places == np.flatnonzero(own).tolist()
        assert track["coefs"][track["chosen"]] == own[places].tolist()
        for terms, values in zip(track["terms"], track["coefs"], strict=True):
            assert len(terms) == len(values)
            assert max(terms, default=0) < len(report["terms"]["texts"]) or not terms


def test_a_loaded_model_gives_the_same_page(inspected, tmp_path):
    model, table, y = inspected
    model.save(tmp_path / "model.json")
    page = make_report(model, table, y, title="same")
    assert make_report(load_model(tmp_path / "model.json"), table, y, title="same") == page
    write_report(model, tmp_path / "report.html", table, y, title="same")
    assert (tmp_path / "report.html").read_bytes().decode() == page


def test_any_table_gives_the_same_page():
    table, y, _ = make_table()
    table = table.drop(columns=["fixed", "colour"])
    model = RuleEnsembleRegressor(n_candidates=40, random_state=0, n_jobs=1, honest_cv=False).fit(table, y)
    page = make_report(model, table, y)
    assert make_report(model, pl.from_pandas(table), pl.Series(y)) == page
    unnamed = RuleEnsembleRegressor(n_candidates=40, random_state=0, n_jobs=1, honest_cv=False).fit(table.to_numpy(), y)
    assert "x0" in make_report(unnamed, table.to_numpy(), y)


def test_parts_that_were_not_given_are_left_out(read_page):
    model, table, *_ = fit("two classes")
    report = read_page(make_report(model))
    assert [report[part] for part in ("dependence", "rows", "votes")] == [None] * 3
    assert report["check"]["charts"]["rows"] == "held-out rows"
    report = read_page(make_report(model, table))
    assert report["check"]["table"]["heads"] == ["", "Held-out rows (90)"]
    assert report["rows"]["truths"] is None
    assert len(report["dependence"]) > 0


def test_base_rates(read_page):
    """A rule of confidence 38 % looked poor where the class has 11 % of the rows."""
    for kind in ("two classes", "three classes"):
        model, _, y, _ = fit(kind)
        shares = np.unique(y, return_counts=True)[1] / len(y)
        found = read_page(make_report(model))["base_rates"]
        np.testing.assert_allclose(found, shares[1:] if kind == "two classes" else shares, rtol=1e-5)
    assert read_page(make_report(fit("regression")[0]))["base_rates"] is None


def test_titles():
    model, table, *_ = fit("regression")
    assert "<title>Rule ensemble</title>" in make_report(model)
    assert "<title>Rules for age</title>" in make_report(model, table, table["age"])
    assert "<title>a &amp; b</title>" in make_report(model, title="a & b")


def test_what_is_no_model():
    with pytest.raises(InvalidInputError, match="A report needs a RuleEnsembleClassifier or a RuleEnsembleRegressor"):
        make_report("model")


def test_a_long_path_of_many_classes_stays_small(read_page):
    """Three classes of their own rules, hundreds of terms each at the dense end."""
    X, y = make_waveform(600, random_state=0)
    model = RuleEnsembleClassifier(
        n_candidates=600, multiclass="ovr", honest_cv=False, selection="min", random_state=0, n_jobs=1
    ).fit(X, y)
    page = make_report(model, X, y)
    assert len(model.rules_) > 200
    assert len(page) < 3_000_000
    assert all(len(track["errors"]) <= 60 for track in read_page(page)["tracks"])
