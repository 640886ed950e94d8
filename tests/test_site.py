"""The site: every public name has its page, every address is of a name that there is, and links are checked."""

import importlib
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import rulegrove
from rulegrove import RuleAttributeSelector, RuleEnsembleClassifier, RuleEnsembleRegressor, RuleEnsembleSurvival
from rulegrove.datasets import load
from rulegrove.engines.drifting import Drift, RuleDrift

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FOLDERS = [
    "comparing",
    "datasets",
    "editing",
    "engines",
    "exceptions",
    "export",
    "inspection",
    "losses",
    "plots",
    "report",
]
FOLDERS += ["scorecards", "solvers"]
MODULES = [*(f"rulegrove.{name}" for name in FOLDERS), "rulegrove.engines.dask"]


def list_documented():
    """The objects of docs/api.rst, which names them below the module that `currentmodule` sets."""
    found, module = [], None
    for line in (DOCS / "api.rst").read_text().splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   ~?[\w.]+", line):
            found.append(f"{module}.{line.strip().removeprefix('~')}")
    return found


def find(name):
    """Import what a dotted name stands for."""
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError:
        return getattr(find(module), attribute)


DOCUMENTED = {name: find(name) for name in list_documented()}


def list_public(module):
    names = getattr(module, "__all__", None)
    if names is None:
        names = [name for name, value in vars(module).items() if isinstance(value, type) and name[0] != "_"]
    return [(name, value) for name in names if not isinstance(value := getattr(module, name), type(sys))]


def is_documented(value):
    return any(value is known for known in DOCUMENTED.values())


@pytest.mark.parametrize("name", ["rulegrove", *MODULES])
def test_every_public_name_is_in_the_reference(name):
    missing = [word for word, value in list_public(importlib.import_module(name)) if not is_documented(value)]
    assert missing == []


def test_every_public_module_is_asked():
    assert {f"rulegrove.{name}" for name in rulegrove._FOLDERS} <= {*MODULES, "rulegrove.estimators"}


def records_of(fitted):
    """The kinds of rulegrove's records that a fitted estimator holds, and those within its sequences."""
    for value in vars(fitted).values():
        first = value[:1] if isinstance(value, Sequence) else ()
        yield from (type(one) for one in (value, *first) if type(one).__module__.startswith("rulegrove."))


def test_every_record_of_a_fit_is_in_the_reference():
    X, y = load("pima", return_X_y=True)
    few = {"n_candidates": 100, "random_state": 0}
    fitted = [
        RuleEnsembleClassifier(**few, evidence="split", n_resamples=4).fit(X, y),
        RuleEnsembleClassifier(**few, calibration="isotonic").fit(X, y),
        RuleEnsembleRegressor(**few).fit(X[:, 1:], X[:, 0]),
        RuleEnsembleRegressor(**few, loss="poisson").fit(X[:, 1:], X[:, 0]),
        RuleEnsembleRegressor(**few, loss="quantile").fit(X[:, 1:], X[:, 0]),
        RuleEnsembleRegressor(**few).fit(X[:, 2:], X[:, :2]),
        RuleEnsembleSurvival(**few).fit(X, (X[:, 1] + 1, y == y[0])),
        RuleAttributeSelector(**few).fit(X, y),
    ]
    kinds = {kind for one in fitted for kind in records_of(one)}
    explained = fitted[0].explain(X[:2])
    kinds |= {type(explained), type(explained[0]), type(fitted[0].front_.recurrence), Drift, RuleDrift}
    assert len(kinds) > 20
    assert {kind.__qualname__ for kind in kinds if not is_documented(kind)} == set()


@pytest.mark.parametrize("path", sorted((DOCS / "inventories").glob("*.txt")), ids=lambda path: path.stem)
def test_every_address_is_of_a_name_that_there_is(path):
    """Addresses of Python's glossary and of labels in scikit-learn's pages cannot be asked without a network."""
    for line in path.read_text().splitlines()[4:]:
        name, kind, priority, address, words = line.split()
        assert (priority, words) == ("1", "-")
        assert ".html" in address
        if kind.startswith("py:"):
            assert name in ("None", "True", "False") or find(name if "." in name else f"builtins.{name}")


def run_check(folder):
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "check_links.py", folder], capture_output=True, text=True, check=False
    )


def test_links_are_checked(tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="b.html#here">b</a><a href="https://else.where/x">c</a>'
    )
    (tmp_path / "b.html").write_text('<p id="here"><a href="a.html">a</a><img src="a.html"></p>')
    good = run_check(tmp_path)
    assert (good.returncode, good.stdout) == (0, "3 links within the site, 0 broken\n")
    (tmp_path / "b.html").write_text('<p id="there"><a href="c.html">c</a></p>')
    bad = run_check(tmp_path)
    assert bad.returncode == 1
    assert "a.html: b.html#here" in bad.stdout
    assert "b.html: c.html" in bad.stdout
