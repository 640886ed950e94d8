"""How Sphinx builds the site: `make docs`."""

import re
import zlib
from pathlib import Path
from typing import Any

import matplotlib as mpl
from sphinx.application import Sphinx

import rulegrove

mpl.use("Agg")

HERE = Path(__file__).parent
# Methods of estimators by which the parts of a fit speak to each other, and scikit-learn's routing of metadata.
NOT_FOR_USERS = re.compile(
    r"make_target|read_(parameters|columns)|take_over|recall_\w+|set_apart|count_apart|set_\w+_request|get_metadata_routing"
)
PACKED = HERE.parent / "build" / "inventories"


def pack_inventory(name: str) -> str:
    """Write an inventory in the form that Sphinx reads: four lines of plain text, the others packed."""
    lines = (HERE / "inventories" / f"{name}.txt").read_text().splitlines(keepends=True)
    PACKED.mkdir(parents=True, exist_ok=True)
    packed = PACKED / f"{name}.inv"
    packed.write_bytes("".join(lines[:4]).encode() + zlib.compress("".join(lines[4:]).encode()))
    return str(packed)


project = "rulegrove"
author = "The rulegrove developers"
project_copyright = author
release = version = rulegrove.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["inventories/README.md", "tutorials/*.py", "tutorials/*.ipynb", "sg_execution_times.rst"]
templates_path = ["_templates"]
default_role = "py:obj"

# Markdown. Links are written as a reader of the repository needs them, `guide.md#presets`.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
# The pages show sessions of the command line and printed tables, which no lexer knows in full.
suppress_warnings = ["misc.highlighting_failure"]

# The reference: what the docstrings say, a page for each name.
autosummary_generate = True
smartquotes = False
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_aliases = {
    "ndarray": "numpy.ndarray",
    "Generator": "numpy.random.Generator",
    "RandomState": "numpy.random.RandomState",
    "DataFrame": "pandas.DataFrame",
    "array-like": ":term:`array-like <sklearn:array-like>`",
}
# Words of the descriptions of types that are no names.
numpydoc_xref_ignore = {"of", "or", "shape", "type", "optional", "default", "sequence", "frame", "data", "and", "to"}
intersphinx_mapping = {
    name: (address, pack_inventory(name))
    for name, address in {
        "python": "https://docs.python.org/3/",
        "numpy": "https://numpy.org/doc/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "sklearn": "https://scikit-learn.org/stable/",
        "pandas": "https://pandas.pydata.org/docs/",
    }.items()
}

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples" / "tutorials"),
    "gallery_dirs": "tutorials",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_",),
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,
    "matplotlib_animations": False,
    "image_scrapers": ("matplotlib",),
    "reference_url": {"rulegrove": None},
    "doc_module": ("rulegrove",),
    "backreferences_dir": "api/backreferences",
}

html_theme = "pydata_sphinx_theme"
html_title = "rulegrove"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {page: [] for page in ("index", "get-started", "coming-from", "contributing", "changelog")}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def link_pages(app: Sphinx, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """Make links of the pages that docstrings name by their files, `docs/guide.md`."""
    lines[:] = [re.sub(r"`*docs/([a-z-]+)\.md`*", r":doc:`/\1`", line) for line in lines]


def leave_out(app: Sphinx, what: str, name: str, item: Any, skip: bool, options: Any) -> bool | None:
    """Leave out methods that nobody calls by hand."""
    return True if NOT_FOR_USERS.fullmatch(name) else None


def call_pages(app: Sphinx, page: str, source: list[str]) -> None:
    """Call pages by their titles where the text, which is also read in the repository, calls them by their files."""
    source[0] = re.sub(r"\[[a-z-]+\.md\]\(", "[](", source[0])


def setup(app: Sphinx) -> None:
    """Connect all of these."""
    app.connect("source-read", call_pages)
    app.connect("autodoc-process-docstring", link_pages, priority=1)
    app.connect("autodoc-skip-member", leave_out)
