"""The public names: loaded when first asked for, and there for everybody who looks."""

import importlib
import subprocess
import sys

import pytest

import rulegrove


def test_every_public_name_is_there():
    assert set(rulegrove.__all__) <= set(dir(rulegrove))
    for name in rulegrove.__all__:
        assert getattr(rulegrove, name) is not None
    star: dict = {}
    exec("from rulegrove import *", star)
    assert set(rulegrove.__all__) <= set(star)


def test_names_are_those_of_their_modules():
    for name, home in rulegrove._HOMES.items():
        assert getattr(rulegrove, name) is getattr(importlib.import_module(f"rulegrove.{home}"), name)


def test_parts_of_the_package_need_no_import_of_their_own():
    script = "import rulegrove; print(rulegrove.solvers.Glmnet(), rulegrove.datasets.names()[0])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="module 'rulegrove' has no attribute 'nothing'"):
        _ = rulegrove.nothing
    with pytest.raises(ImportError):
        from rulegrove import nothing  # noqa: F401
