"""Draw the pictures of docs/workbench.md: a list is changed in the page, as Chromium shows it."""

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import FloatRect, Page, sync_playwright

from rulegrove import RuleEnsembleClassifier, datasets
from rulegrove.report import write_report

FOLDER = Path(__file__).parents[1] / "docs" / "report"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
WIDTH, MARGIN = 1060, 16


def save(page: Page, name: str, part: str, height: int) -> None:
    """Write a picture from where a part begins, once all costs are known."""
    while page.evaluate("workbench.costs.size < workbench.now.list.length"):
        page.wait_for_timeout(50)
    page.evaluate("window.scrollTo(0, 0)")
    top = page.locator(part).bounding_box()
    assert top is not None
    clip: FloatRect = {"x": 0.0, "y": top["y"] - MARGIN, "width": WIDTH, "height": height}
    page.screenshot(path=FOLDER / f"{name}.png", full_page=True, clip=clip)


def main() -> None:
    """Fit the list, write its page, change it."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        X = datasets.load("pima").frame("pandas")
        y = X.pop("class")
        model = RuleEnsembleClassifier(terms="rules", max_terms=8, random_state=0).fit(X, y)
        file = Path(folder, "report.html")
        write_report(model, file, X, y, workbench=True)
        page = browser.new_page(viewport={"width": WIDTH, "height": 900}, reduced_motion="reduce")
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]")
        page.locator("#bench-switch").click()
        save(page, "workbench-open", "#bench", 900)
        slider = page.locator("#bench-list li[data-number='1'] input[type=range]").first
        slider.focus()
        page.keyboard.press("ArrowRight")
        page.locator("#bench-list li[data-number='6'] input[type=checkbox]").click()
        page.locator("#bench-list li[data-number='6'] input[type=text]").fill("a pressure of 0 was not measured")
        page.locator("#bench-author").fill("Dr. Lee")
        save(page, "workbench-changed", "#bench-bar", 1180)
        page.locator("#bench-compare summary").click()
        page.locator("#bench-copy").click()
        page.locator("#bench-told").evaluate("own => own.replaceChildren()")
        save(page, "workbench-compare", "#bench-compare", 820)
        browser.close()


if __name__ == "__main__":
    main()
