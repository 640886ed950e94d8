"""The page of two models in a real browser: wide and narrow, light and dark, with the keyboard."""

import pytest

import rulegrove
import target_models
from inspected_models import fit
from rulegrove.report import write_comparison

KINDS = ["two classes", "three classes", "regression", "poisson"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("comparisons")
    for kind in KINDS:
        model, X, y, _ = target_models.fit(kind) if kind == "poisson" else fit(kind)
        write_comparison(rulegrove.compare(model, model.shorten(3), X, y), folder / f"{kind}.html")
    return folder


@pytest.fixture
def show(browser, folder):
    """Open a page; at the end nothing may have been complained about or asked for."""
    complaints, contexts = [], []

    def show(kind, width=1200, scheme="light"):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.on("console", lambda said: complaints.append(said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url) if "http" in request.url[:4] else None)
        page.goto((folder / f"{kind}.html").as_uri())
        return page

    yield show
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [1200, 360])
def test_it_fits(show, kind, width):
    """The page is no wider than the screen, bars are drawn, and the table of rules needs no scrolling on a phone."""
    page = show(kind, width)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    bars = page.locator("svg.bar rect.positive, svg.bar rect.negative")
    widths = [bar.bounding_box()["width"] for bar in bars.all()]
    assert max(widths) > 20.0
    for bar in page.locator("svg.bar").all():
        box, cell = bar.bounding_box(), bar.locator("xpath=..").bounding_box()
        assert cell["x"] <= box["x"]
        assert box["x"] + box["width"] <= cell["x"] + cell["width"] + 0.5
    if kind != "three classes":  # of several classes there is one more column
        rules = page.locator("[aria-label='Rules of both models']")
        assert rules.evaluate("own => own.scrollWidth <= own.clientWidth")


def test_colours_are_those_of_the_report(show):
    grounds = [
        show("regression", scheme=scheme).evaluate("getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    ]
    assert grounds == ["rgb(255, 255, 255)", "rgb(20, 24, 29)"]
    fills = {show("regression").locator("rect.positive").first.evaluate("own => getComputedStyle(own).fill")}
    assert fills == {"rgb(0, 114, 178)"}


def test_the_keyboard_reaches_all(show):
    page = show("two classes")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Rules of both models"
    for link in page.locator("nav a").all():
        link.click()
        place = link.get_attribute("href").removeprefix("#")
        assert page.locator(f"#{place} h2").inner_text() == link.inner_text()
