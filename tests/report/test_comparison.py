"""The page of two models: all that the comparison says, in groups, and nothing that runs."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import rulegrove
import target_models
from inspected_models import fit
from rulegrove import RuleEnsembleClassifier
from rulegrove.exceptions import InvalidInputError
from rulegrove.report import make_comparison, write_comparison

ATTACK = "</title></td><script>alert(1)</script><img src=x onerror=alert(2)>"


class Tables(HTMLParser):
    """The cells of each table by its name."""

    def __init__(self, page):
        super().__init__()
        self.tables, self.heads, self.open, self.tags = {}, [], None, []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if ("role", "region") in attributes:
            self.rows = self.tables.setdefault(dict(attributes)["aria-label"], [])
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.open = []
        elif tag == "small" and self.open is not None:
            self.open.append(" | ")
        elif tag == "h2":
            self.heads.append("")

    def handle_data(self, data):
        if self.open is not None:
            self.open.append(data)
        elif self.heads and not self.heads[-1]:
            self.heads[-1] = data

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.rows[-1].append("".join(self.open))
            self.open = None


@pytest.fixture(scope="module")
def pair():
    """Two lists that share some rules, compared on rows with their target."""
    model, table, y, _ = fit("two classes")
    rng = np.random.default_rng(1)
    other = RuleEnsembleClassifier(n_candidates=150, honest_cv=False, max_terms=6, random_state=1, n_jobs=1)
    rows = rng.permutation(len(y))[:70]
    table = table.drop(columns="fixed").assign(fixed=np.arange(len(y)) % 2)
    return rulegrove.compare(model.shorten(8), other.fit(table.iloc[rows], y[rows]), table, y)


def test_all_that_the_comparison_says(pair):
    read = Tables(make_comparison(pair))
    told = read.tables["Rules of both models"]
    groups = [line[0] for line in told if len(line) == 1]
    words = {"words": "The same words", "deciles": "Thresholds in the same tenth", "rows": "Nearly the same rows"}
    words |= {"a": "Only in a", "b": "Only in b"}
    assert groups == [f"{words[how]}: {count}" for how, count in pair.counts.items() if count]
    lines = [line for line in told[1:] if len(line) == 3]
    assert len(lines) == len(pair.terms)
    for line, term in zip(lines, pair.terms, strict=True):
        same = not (term.text_a and term.text_b) or term.text_a == term.text_b
        assert line[0] == (term.text_a or term.text_b) + ("" if same else f" | b: {term.text_b}")
        sides = ((term.text_a, term.coefficient_a), (term.text_b, term.coefficient_b))
        for cell, (text, weight) in zip(line[1:], sides, strict=True):
            assert cell == (f"{weight:+.3g}".replace("-", "\N{MINUS SIGN}") if text else "")
    shares = [line[1] for line in read.tables["Shares"][1:]]
    assert shares == [f"{100 * share:.1f} %" for share in pair.shared.values()]
    assert [line[0] for line in read.tables["Errors on the same rows"][1:]] == [own.name for own in pair.rows.errors]
    pairs = read.tables["Classes"][1:]
    assert sum(int(line[2]) for line in pairs) == pair.rows.otherwise.sum()
    for one, other, count in pairs:
        both = (pair.rows.predicted_a == one) & (pair.rows.predicted_b == other)
        assert int(count) == both.sum()
    assert [line[0] for line in read.tables["Whom the change concerns"][1:]] == [
        own.text for own in pair.rows.concerned
    ]
    cells = pair.row_cells()
    assert read.tables["Rows"] == [list(cells), *map(list, zip(*cells.values(), strict=True))]
    figures = [own.table for own in (pair.held_out_a, pair.held_out_b)]
    for name, *both in read.tables["Figures of the fits"][1:]:
        assert both == [own[name].replace("\N{NO-BREAK SPACE}", " ") for own in figures]


def test_without_rows_there_are_rules_and_figures_alone():
    model = fit("three classes")[0]
    read = Tables(make_comparison(rulegrove.compare(model, model.shorten(4))))
    assert read.heads == ["Rules", "How well each does"]
    assert list(read.tables) == ["Rules of both models", "Shares", "Figures of the fits"]
    assert read.tables["Rules of both models"][0] == ["Rule", "About", "Weight in a", "Weight in b"]


@pytest.mark.parametrize("kind", ["regression", "linear only", "no terms"])
def test_numbers(kind):
    model, table, y, _ = fit(kind)
    other = model if kind == "no terms" else model.shorten(1)
    read = Tables(make_comparison(rulegrove.compare(model, other, table, y)))
    assert ("Rules of both models" in read.tables) == (kind != "no terms")
    assert "Classes" not in read.tables
    assert [line[0] for line in read.tables["Errors on the same rows"][1:]] == ["Mean squared error"]


@pytest.mark.parametrize("kind", ["tweedie", "quantiles", "several", "survival"])
def test_other_targets(kind):
    model, X, _, _ = target_models.fit(kind)
    read = Tables(make_comparison(rulegrove.compare(model, model.shorten(1), X)))
    assert {"Rules of both models", "Whom the change concerns", "Rows"} <= set(read.tables)


def test_models_that_predict_the_same():
    model, table, y, _ = fit("two classes")
    page = make_comparison(rulegrove.compare(model, model, table, y))
    assert "Both models predict the same for all rows." in page
    assert "Rows that change most" not in page


def test_nothing_runs_and_hostile_names_stay_text(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({ATTACK: rng.normal(size=200), "b": rng.normal(size=200)}).round(2)
    y = np.where(table[ATTACK] + table["b"] > 0.4, ATTACK, "b & c")
    settings = {"n_candidates": 40, "terms": "rules", "honest_cv": False, "random_state": 0, "n_jobs": 1}
    model = RuleEnsembleClassifier(**settings).fit(table, y)
    found = rulegrove.compare(model, model.shorten(2), table, y)
    write_comparison(found, tmp_path / "compare.html", title=ATTACK)
    page = (tmp_path / "compare.html").read_text(encoding="utf-8")
    read = Tables(page)
    assert not {"script", "img"} & set(read.tags)
    assert page.count("onerror") == page.count("&lt;img src=x onerror=alert(2)&gt;") > 3
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'; ")
    assert "script-src" not in policy
    assert " style=" not in page
    assert set(re.findall(r"(?:src|href)=\"([^\"]+)\"", page)) - {"data:,", "#main"} <= {f"#part-{k}" for k in range(9)}


def test_what_is_no_comparison(tmp_path):
    with pytest.raises(InvalidInputError, match=r"what rulegrove.compare\(a, b\) returns; got str"):
        write_comparison("models", tmp_path / "compare.html")
    assert not (tmp_path / "compare.html").exists()
