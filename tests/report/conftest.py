"""Models of every kind with the rows they are shown on, and what their pages hold."""

import json
import os
import re
import shutil

import pytest

from inspected_models import KINDS, fit


@pytest.fixture(params=KINDS)
def inspected(request):
    """A fitted model, a table with missing values and categories, and its target."""
    model, table, y, _ = fit(request.param)
    return model, table, y


@pytest.fixture(scope="session")
def read_page():
    """Read back what the script of a page reads."""

    def read_page(page):
        (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
        return json.loads(data)

    return read_page


@pytest.fixture(scope="module")
def browser():
    """Chromium, where it and what drives it are installed."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no page was opened")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("Chromium is not installed: no page was opened")
    with playwright.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()
