"""The page to print: whole, harmless, with every rule and every step."""

import base64
import hashlib
import html
import re

import numpy as np
import pytest

import rulegrove
from rulegrove import RuleEnsembleClassifier
from rulegrove.datasets import load


@pytest.fixture(scope="module")
def cards():
    X, y = load("iris", return_X_y=True)
    model = RuleEnsembleClassifier(n_candidates=60, cv=2, random_state=0, n_jobs=1).fit(X, np.char.add("\ud800", y))
    return rulegrove.scorecard(model, X, np.char.add("\ud800", y), max_rules=4)


def test_each_class_has_a_sheet_with_its_rules_and_steps(cards):
    page = cards.to_html()
    page.encode()  # a lone surrogate, which no file can hold, has been replaced
    sheets = re.findall(r"<article>.*?</article>", page, re.DOTALL)
    assert len(sheets) == len(cards.cards) == 3
    for sheet, card in zip(sheets, cards.cards, strict=True):
        rules = re.findall(r'<td class="rule">(.*?)</td><td class="points">(.*?)</td>', sheet)
        assert [html.unescape(text) for text, _ in rules] == list(card.texts)
        assert [int(points.replace("\N{MINUS SIGN}", "-")) for _, points in rules] == card.points.tolist()
        shown = re.findall(r"<th>(.*?)</th>", sheet), re.findall(r"<td>(.*?)</td>", sheet)
        steps = [tuple(map(html.unescape, own)) for own in zip(*shown, strict=True)]
        assert steps == [(total.replace("-", "\N{MINUS SIGN}"), chance) for total, chance in card.steps]


def test_the_page_runs_and_loads_nothing(cards):
    page = cards.to_html()
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in html.unescape(page)
    assert not re.search(r"<script|<img|<link|https?://|url\(", page)
