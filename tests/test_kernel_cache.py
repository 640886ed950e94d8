"""The line about compiling comes when there is something to compile, and once."""

import types

import pytest

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
