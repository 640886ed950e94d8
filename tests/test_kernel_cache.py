"""Kernels work without a folder to keep them in; the line about compiling comes when one is, once an installation."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import rulegrove
from rulegrove import _kernel_cache
from rulegrove._kernel_cache import njit

compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled, so nothing is kept")


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch, tmp_path):
    monkeypatch.setattr(_kernel_cache, "_told", False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))


def make_kernel():
    """A kernel that knows of no compilation but that in the cache on disk, as in another process."""

    @njit(nogil=True)
    def add_one(number):
        return number + 1

    return add_one


@compiled
def test_the_line_comes_once(capsys):
    assert make_kernel()(1) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "compiling" in err
    assert err.count("\n") == 1
    make_kernel()(1.0)
    assert capsys.readouterr().err == ""


@compiled
def test_the_line_comes_once_after_installation(capsys, monkeypatch):
    make_kernel()(1)
    assert "compiling" in capsys.readouterr().err
    monkeypatch.setattr(_kernel_cache, "_told", False)  # another process
    make_kernel()(1.0)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_kernel_cache, "_told", False)
    monkeypatch.setattr(_kernel_cache, "__version__", "99")  # another installation
    make_kernel()(1j)
    assert "compiling" in capsys.readouterr().err


@compiled
def test_compilations_are_counted(capsys):
    with _kernel_cache.counting_compilations() as compiled:
        make_kernel()(1)
        make_kernel()(2)  # from the disk
        numba.njit(lambda number: number + 1)(1)  # not ours
    assert compiled.number == 1
    assert capsys.readouterr().err == ""


@compiled
def test_no_line_when_everything_is_there(capsys, monkeypatch):
    """It came in every process whose fit did without one of the kernels on a list: with weights, or without rules."""
    make_kernel()(1)
    monkeypatch.setattr(_kernel_cache, "_told", False)
    capsys.readouterr()
    assert make_kernel()(2) == 3
    assert capsys.readouterr().err == ""


@compiled
def test_no_line_about_kernels_of_others(capsys):
    assert numba.njit(lambda number: number + 1)(1) == 2
    assert capsys.readouterr().err == ""


FIT = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import numpy as np
    import rulegrove.solvers
    from rulegrove.exceptions import KernelCacheWarning
    from rulegrove.design.bits import BitMatrix
told = [str(one.message) for one in caught if one.category is KernelCacheWarning]
print(len(told), "NUMBA_CACHE_DIR" in "".join(told))
print(BitMatrix(words=np.full((1, 1), 5, dtype="uint64"), n_rows=3).gram())
"""


@compiled
@pytest.mark.parametrize(("settings", "told"), [({}, "1 True"), ({"NUMBA_CACHE_DIR": "kept"}, "0 False")])
def test_a_user_who_can_write_nowhere_works_without_a_cache(tmp_path, settings, told):
    """numba refused to import: "cannot cache function 'bin_values': no locator available".

    Files stand where the folders of the cache would be made, which stops root, too.
    """
    package, home = tmp_path / "package" / "rulegrove", tmp_path / "home"
    shutil.copytree(Path(rulegrove.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "data"))
    for folder in {kernels.parent for kernels in package.rglob("*_kernels.py")}:
        (folder / "__pycache__").touch()
    home.touch()
    dropped = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment |= {"HOME": str(home), "PYTHONPATH": str(package.parent)}
    environment |= {name: str(tmp_path / folder) for name, folder in settings.items()}
    done = subprocess.run(
        [sys.executable, "-c", FIT], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == [told, "[[2]]"], done.stderr
    assert bool(list(tmp_path.rglob("*.nbi"))) == bool(settings)
