"""Check that every link within the built site leads to a page, and to a place on it, that is there.

python tools/check_links.py build/site
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, and the places on it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = {"", "top"}
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the addresses and the names of an element."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif (name == "id" or (tag == "a" and name == "name")) and value:
                self.places.add(value)


def find_broken(site: Path) -> tuple[int, list[str]]:
    """Return how many links within the site there are, and a line for each that leads nowhere."""
    # What lies in _static is copied from the theme, templates included.
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html") if "_static" not in path.parts}
    n_links, broken = 0, []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            n_links += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages.get(target)
            if not target.exists() or (known and unquote(parts.fragment) not in known.places):
                broken.append(f"{path.relative_to(site.resolve())}: {link}")
    return n_links, broken


if __name__ == "__main__":
    n_links, broken = find_broken(Path(sys.argv[1]))
    print(f"{n_links:,} links within the site, {len(broken)} broken", *broken, sep="\n  ")
    sys.exit(bool(broken))
