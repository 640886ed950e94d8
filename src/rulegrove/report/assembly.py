"""The page put together from its parts: one file that asks for nothing else."""

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from typing import Any

from rulegrove._version import __version__

SCRIPTS = (  # in this order
    "draw.js",
    "state.js",
    "list.js",
    "losses.js",
    "solve.js",
    "follow.js",
    "saving.js",
    "cards.js",
    "workbench.js",
    "front.js",
    "rules.js",
    "checks.js",
    "rows.js",
    "main.js",
)


def assemble(title: str, payload: dict[str, Any]) -> str:
    """Return the page.

    Style and script are named by their hashes in the page's own security policy, so that the browser runs nothing
    else, whatever the data hold, and loads nothing from anywhere.

    Parameters
    ----------
    title : str
    payload : dict
        What the script of the page reads.
    """
    script = '"use strict";\n' + "\n".join(_read(name) for name in SCRIPTS)
    return _fill("page.html", title, f"script-src '{_hash(script)}'; ", script=script, data=encode_data(payload))


def assemble_still(title: str, body: str) -> str:
    """Return a page of the same style that runs nothing.

    Parameters
    ----------
    title : str
    body : str
        Its HTML, in which all that comes from data is escaped.
    """
    return _fill("still.html", title, "", body=body.encode("utf-8", "replace").decode(), version=__version__)


def _fill(name: str, title: str, more: str, **parts: str) -> str:
    """Return a page with its parts in their places, and the policy that allows its style and what else is named."""
    style = _read("page.css")
    policy = f"default-src 'none'; style-src '{_hash(style)}'; {more}img-src data:; base-uri 'none'; form-action 'none'"
    parts |= {
        "policy": html.escape(policy, quote=False),
        "title": html.escape(title.encode("utf-8", "replace").decode()),
        "style": style,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _read(name))


def encode_data(payload: Any) -> str:
    r"""Return JSON that can stand inside a script element: nothing in it ends the element or begins a comment.

    Examples
    --------
    >>> encode_data(["</script>", "a & b"])
    '["\\u003c/script\\u003e","a \\u0026 b"]'
    """
    text = json.dumps(payload, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _read(name: str) -> str:
    """Return a part of the page."""
    return files("rulegrove.report").joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the name of an inline part in a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
