"""The whole page: what it holds, how large it is, from any kind of table and from a model file."""

import numpy as np
import polars as pl
import pytest

from inspected_models import fit, make_table
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, load_model
from rulegrove.datasets import make_waveform
from rulegrove.exceptions import InvalidInputError
from rulegrove.report import make_report, write_report


def test_a_line_of_the_page_is_the_page_of_the_shortened_model(inspected, read_page):
    """All that the page shows at a length is what a report of that length begins with."""
    model, table, y = inspected
    report = read_page(make_report(model, table, y))
    for max_terms in (1, 3, None):
        short = model.shorten(max_terms)
        other = read_page(make_report(short, table, y))
        assert other["front"]["chosen"] == short.front_.chosen
        assert other["lines"] == report["lines"]
        line = report["lines"][short.front_.chosen]
        used = sorted({place for output in line["outputs"] for place in output["terms"]})
        assert {report["terms"]["texts"][place] for place in used} == {row.text for row in short.rules_}
        assert line["figures"][0] == [str(len(short.rules_)), "terms"]
        for own, output in zip(np.atleast_2d(short.coef_), line["outputs"], strict=True):
            assert output["coefs"] == own[own != 0].tolist()


def test_a_model_without_a_front(read_page):
    table, y, _ = make_table()
    model = RuleEnsembleRegressor(n_candidates=40, random_state=0, n_jobs=1, honest_cv=False)
    model.fit(table.drop(columns="fixed"), y)
    model.front_ = None
    report = read_page(make_report(model, table.drop(columns="fixed"), y))
    assert report["front"] is None
    (line,) = report["lines"]
    assert line["outputs"][0]["coefs"] == model.coef_[model.coef_ != 0].tolist()


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
    line = report["lines"][report["front"]["chosen"]]
    assert [line["dependence"], report["rows"], report["votes"]] == [None] * 3
    assert line["check"]["charts"]["rows"] == "held-out rows"
    report = read_page(make_report(model, table))
    line = report["lines"][report["front"]["chosen"]]
    assert line["check"]["table"]["heads"] == ["", f"Held-out rows ({model.held_out_.n_rows})"]
    assert report["rows"]["truths"] is None
    assert len(line["dependence"]) > 0


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


def test_a_page_of_many_terms_and_classes_stays_small():
    """Three classes of their own rules, hundreds of terms in the large model."""
    X, y = make_waveform(600, random_state=0)
    model = RuleEnsembleClassifier(n_candidates=600, multiclass="ovr", honest_cv=False, cv=2, random_state=0, n_jobs=1)
    model.fit(X, y)
    assert model.front_[-1].rules > 200
    assert len(make_report(model, X, y)) < 1_500_000
