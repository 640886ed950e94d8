"""The line about compiling comes when there is something to compile, and once."""

import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import rulegrove
from rulegrove import _kernel_cache
from rulegrove._kernel_cache import announce_compilation, is_compiled


def make_kernel(folder, *, compiled_now=False):
    """A stand-in for a numba function: its cache folder, its signatures, the plain function."""

    def kernel():
        pass

    stats = types.SimpleNamespace(cache_path=str(folder))
    return types.SimpleNamespace(stats=stats, signatures=["()"] if compiled_now else [], py_func=kernel)


def write_cache(folder, kernel):
    (folder / f"test_kernel_cache.{kernel.py_func.__qualname__}-12.py311.nbi").touch()


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch):
    monkeypatch.setattr(_kernel_cache, "_told", False)


def test_a_kernel_is_compiled_in_memory_on_disk_or_not_at_all(tmp_path):
    kernel = make_kernel(tmp_path)
    assert not is_compiled(kernel)
    assert is_compiled(make_kernel(tmp_path, compiled_now=True))
    write_cache(tmp_path, kernel)
    assert is_compiled(kernel)


def test_plain_python_needs_no_compilation():
    """With NUMBA_DISABLE_JIT=1 the kernels are plain functions."""
    assert is_compiled(len)


def test_a_missing_cache_folder_means_not_compiled(tmp_path):
    assert not is_compiled(make_kernel(tmp_path / "nowhere"))


def test_the_line_comes_once(tmp_path, capsys):
    announce_compilation([make_kernel(tmp_path)])
    out, err = capsys.readouterr()
    assert out == ""
    assert "compiling" in err
    assert err.count("\n") == 1
    announce_compilation([make_kernel(tmp_path)])
    assert capsys.readouterr().err == ""


def test_no_line_when_everything_is_there(tmp_path, capsys):
    announce_compilation([make_kernel(tmp_path, compiled_now=True), len])
    assert capsys.readouterr().err == ""


def test_the_real_kernels_are_found_once_they_ran():
    from rulegrove.design import _kernels
    from rulegrove.design.bits import BitMatrix, compile_rules

    assert isinstance(compile_rules([], 1).evaluate, types.MethodType)
    BitMatrix(words=_kernels.np.ones((1, 1), dtype="uint64"), n_rows=1).gram()
    assert is_compiled(_kernels.add_pair_counts)


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


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled, so nothing is kept")
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


def test_a_kernel_that_is_kept_nowhere_is_compiled_by_its_signatures():
    """`stats.cache_path` is None then, which is no folder to look into."""
    kernel = make_kernel("")
    kernel.stats.cache_path = None
    assert not is_compiled(kernel)
    kernel.signatures.append("()")
    assert is_compiled(kernel)
