"""The public names: loaded when first asked for, and there for everybody who looks.

Beyond the mirror of the package as `__init__.py` is; `__main__.py` is run by `cli/test_app.py`, `_typing.py` is names.
"""

import importlib
import subprocess
import sys

import pytest

import rulegrove


def test_every_public_name_is_there():
    assert set(rulegrove.__all__) <= set(dir(rulegrove))
    star: dict = {}
    exec("from rulegrove import *", star)
    for name in rulegrove.__all__:
        assert star[name] is getattr(rulegrove, name)


def test_names_are_those_of_their_modules():
    for name, home in rulegrove._HOMES.items():
        assert getattr(rulegrove, name) is getattr(importlib.import_module(f"rulegrove.{home}"), name)


def test_parts_of_the_package_need_no_import_of_their_own():
    script = "import rulegrove; print(rulegrove.solvers.Glmnet(), rulegrove.datasets.names()[0])"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout
    assert told.split() == ["Glmnet()", rulegrove.datasets.names()[0]]


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'rulegrove' has no attribute 'nothing'"):
        _ = rulegrove.nothing
    with pytest.raises(ImportError):
        from rulegrove import nothing  # noqa: F401
