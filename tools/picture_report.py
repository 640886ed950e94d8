"""Draw the pictures of docs/report.md: parts of two reports, as Chromium shows them."""

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, FloatRect, sync_playwright
from sklearn.model_selection import train_test_split

from rulegrove import RuleEnsembleClassifier, datasets
from rulegrove.report import write_report

FOLDER = Path(__file__).parents[1] / "docs" / "report"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
WIDTH = 1060
MARGIN = 16  # above the part
SET = """(node, value) => {
  node.value = value;
  for (const name of ["input", "change"]) node.dispatchEvent(new Event(name));
}"""


@dataclass(frozen=True)
class Picture:
    """A part of a page.

    Attributes
    ----------
    name : str
        Of the file.
    part : str
        Where it begins.
    height : int
    field, value : str
        What to set on the page before.
    dark : bool
    """

    name: str
    part: str
    height: int
    field: str
    value: str
    dark: bool = False

    def save(self, browser: Browser, page: Path) -> None:
        """Open the page and write the picture."""
        context = browser.new_context(
            viewport={"width": WIDTH, "height": 900},
            color_scheme="dark" if self.dark else "light",
            reduced_motion="reduce",
        )
        shown = context.new_page()
        shown.goto(page.as_uri())
        shown.wait_for_selector("html[data-ready]")
        shown.locator(f"#{self.field}").evaluate(SET, self.value)
        top = shown.locator(f"#{self.part}").bounding_box()
        assert top is not None
        clip: FloatRect = {"x": 0.0, "y": top["y"] - MARGIN, "width": WIDTH, "height": self.height}
        shown.screenshot(path=FOLDER / f"{self.name}.png", full_page=True, clip=clip)
        context.close()


def main() -> None:
    """Fit both models, write their reports, draw."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        X = datasets.load("pima").frame("pandas")
        y = X.pop("class")
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
        pima, vehicle = Path(folder, "pima.html"), Path(folder, "vehicle.html")
        write_report(RuleEnsembleClassifier(random_state=0).fit(X_train, y_train), pima, X_test, y_test)
        Picture("front", "front", 1200, "line", "10").save(browser, pima)
        X = datasets.load("vehicle").frame("pandas")
        y = X.pop("class")
        write_report(RuleEnsembleClassifier(random_state=0).fit(X, y), vehicle, X, y)
        Picture("rows", "check", 1500, "output", "3", dark=True).save(browser, vehicle)
        browser.close()


if __name__ == "__main__":
    main()
