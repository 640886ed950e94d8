"""Engines are loaded when asked for, and say what they need."""

import subprocess
import sys

import pytest

from rulegrove import engines

WITHOUT_PYARROW = """
import sys
sys.modules["pyarrow"] = None
from rulegrove import engines
try:
    engines.fit
except ModuleNotFoundError as error:
    print(error)
"""


def test_public_names_are_there():
    for name in engines.__all__:
        assert getattr(engines, name).__doc__
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = engines.nothing


def test_importing_loads_nothing_heavy():
    words = (
        "import sys, rulegrove.engines; print([m for m in ('pyarrow', 'dask', 'numba', 'sklearn') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_without_pyarrow_the_way_out_is_told():
    result = subprocess.run([sys.executable, "-c", WITHOUT_PYARROW], capture_output=True, text=True, check=True)
    assert result.stdout == "rulegrove.engines needs pyarrow: pip install 'rulegrove[engines]'.\n"
