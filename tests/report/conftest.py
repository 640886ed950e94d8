"""Models of every kind with the rows they are shown on, and what their pages hold."""

import json
import re

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
