"""The page as a file: nothing in it comes from elsewhere, nothing from data becomes markup."""

import base64
import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove.report.assembly import assemble, encode_data

HOSTILE = "</script><img src=x onerror=alert(1)>\u2028\u2029<!-- & \" ' 😀 {{data}} \udcff"


@given(st.recursive(st.text() | st.integers() | st.none(), lambda parts: st.lists(parts)))
def test_data_cannot_leave_their_element(read_page, value):
    text = encode_data(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert text.isascii()
    assert read_page(f'<script type="application/json" id="data">{text}</script>') == value


def test_hostile_words_stay_text(read_page):
    page = assemble(HOSTILE, {"title": HOSTILE})
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert read_page(page) == {"title": HOSTILE}
    assert page.encode().count(b"&lt;/script&gt;&lt;img") == 2


def test_style_and_script_are_named_by_their_hashes():
    page = assemble("title", {})
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_nothing_is_loaded():
    page = assemble("title", {})
    addresses = set(re.findall(r"https?://[^\"'\s)]*", page))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"(?:src|href)=\"([^\"#]+)\"", page)) == {"data:,"}
    for word in ("@import", "url(", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in page


def test_numbers_that_json_does_not_have_are_a_mistake():
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode_data([float("nan")])
