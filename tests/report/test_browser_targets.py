"""Pages of rates, quantiles, several numbers and survival times in a real browser."""

import re

import numpy as np
import pytest

from rulegrove.report import write_report
from target_models import KINDS, NAMES, RATES, fit, make_rows

MINUS = "\u2212"  # as the page writes it
FACTORS = [*RATES, "survival"]
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A page of each kind, of rows that the fit has not seen."""
    folder = tmp_path_factory.mktemp("pages")
    for kind in KINDS:
        X, y, known = make_rows(kind, seed=1)
        write_report(fit(kind)[0], folder / f"{kind}.html", X, y, **known)
    return folder


@pytest.fixture
def show(browser, folder):
    """Open a page; at the end nothing may have been complained about."""
    complaints, contexts = [], []

    def show(kind, width=1200):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce"))
        page = contexts[-1].new_page()
        page.on("console", lambda said: complaints.append(said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto((folder / f"{kind}.html").as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    yield show
    for context in contexts:
        context.close()
    assert complaints == []


def number(text):
    return float(text.replace(MINUS, "-").replace("+", "").replace(",", "").removeprefix("x ").split()[0])


def choose_output(page, model, label):
    page.locator("#output").select_option(str(model.model_.score_labels.index(label)))


@every_kind
def test_rows_add_up_or_multiply_to_the_prediction(show, kind):
    page, model = show(kind), fit(kind)[0]
    X = make_rows(kind, seed=1)[0]
    said = model.predict(X).reshape(len(X), -1)
    for place, label in enumerate(model.model_.score_labels):
        if len(said.T) > 1:
            choose_output(page, model, label)
        for _ in range(3):
            page.locator("#row-after").click()
            row = int(re.match(r"Row (\d+)", page.locator("#row option:checked").inner_text())[1])
            parts = [number(text) for text in page.locator("#row-terms tbody td:nth-child(3)").all_inner_texts()]
            whole = np.prod(parts[:-1]) if kind in FACTORS else np.sum(parts[:-1])
            assert parts[-1] == pytest.approx(said[row, place], rel=1e-4, abs=1e-4)
            assert whole == pytest.approx(said[row, place], rel=3e-3, abs=3e-3 * np.abs(parts).max())
            assert number(page.locator("#row-words").inner_text().removeprefix("Predicted ")) == parts[-1]
    heads = page.locator("#row-terms th").all_inner_texts()
    assert heads == ["Term that holds", "Part", "Multiplies by" if kind in FACTORS else "Adds"]


@every_kind
def test_the_table_speaks_of_what_terms_do(show, kind):
    page, model = show(kind), fit(kind)[0]
    heads = [text.split()[0] for text in page.locator("#rule-heads th").all_inner_texts()]
    third = {"gamma": "Amount", "survival": "Hazard", "poisson": "Rate", "tweedie": "Rate"}.get(kind, "Coefficient")
    assert heads[2] == third
    if kind in FACTORS:
        cells = page.locator("#rule-rows td:nth-child(3) > span:first-child").all_inner_texts()
        assert [number(cell) for cell in cells] == [pytest.approx(term.factor, rel=6e-3) for term in model.rules_]
        assert "multiplies the" in page.locator("#rules-about").inner_text()
    else:
        assert "adds its coefficient to" in page.locator("#rules-about").inner_text()
    assert "class" not in page.locator("main").inner_text().lower()
    told = {"survival": 5, "several": 5, "separate": 5}.get(kind, 6)
    assert len(heads) == told


@every_kind
def test_the_slider_moves_everything(show, kind):
    page, model = show(kind), fit(kind)[0]
    page.locator("#line").focus()
    page.keyboard.press("Home")
    assert page.locator("#line-words").inner_text().startswith("0 terms")
    page.keyboard.press("End")
    large = model.front_[-1]
    assert page.locator("#line-words").inner_text().startswith(f"The large model: {large.terms} terms")
    assert ("a number" in page.locator("#line-words").inner_text()) == (kind == "separate")
    assert page.locator("#dependence-charts figure").count() > 0
    assert page.locator("#check-parts figure").count() >= 1


def test_quantiles_start_in_the_middle(show):
    page, model = show("quantiles"), fit("quantiles")[0]
    assert page.locator("#output option:checked").inner_text() == "median"
    assert page.locator("#output-label").inner_text().startswith("Quantile")
    assert "adds its coefficient to the median" in page.locator("#rules-about").inner_text()
    choose_output(page, model, 0.9)
    assert "adds its coefficient to the 90 % quantile" in page.locator("#rules-about").inner_text()
    assert "Mean predicted 90 % quantile" in page.locator("#dependence-about").inner_text()
    assert "dashed is where the share is the level" in page.locator("#check-parts").inner_text()
    assert page.locator("#check-parts figure").count() == 2  # tenths, and predicted against observed


def test_numbers_have_their_names(show):
    page, model = show("several"), fit("several")[0]
    assert page.locator("#output-label").inner_text().startswith("Number")
    assert page.locator("#output option").all_inner_texts() == list(NAMES)
    choose_output(page, model, NAMES[1])
    assert f"sum: {NAMES[1]}" in page.locator("#row-terms").inner_text()
    assert "all of them together" in page.locator("#rules-about").inner_text()


@pytest.mark.parametrize("width", [1200, 360])
def test_curves_by_rule(show, width):
    page, model = show("survival", width), fit("survival")[0]
    ranked = [term.text for term in model.rules_ if term.kind == "rule"][:3]
    captions = page.locator("#check-parts figcaption").all_inner_texts()
    assert [caption.split(":")[0] for caption in captions[1:]] == ranked
    figure = page.locator("#check-parts figure").nth(1)
    assert figure.locator("path.line").count() == 2
    assert figure.locator("path.band").count() == 2
    box = figure.locator("svg").bounding_box()
    for path in figure.locator("path.line").all():
        own = path.bounding_box()
        assert own["x"] >= box["x"] - 1
        assert own["x"] + own["width"] <= box["x"] + box["width"] + 1
    assert page.locator("#row option").first.inner_text().split(": ")[1].startswith(("an event at", "no event until"))
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("kind", ["poisson", "quantiles", "survival"])
def test_a_phone_shows_it_all(show, kind):
    page = show(kind, 360)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for text in page.locator("#check-parts svg text").all():
        assert text.bounding_box()["x"] >= 0
