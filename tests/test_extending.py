"""The examples of docs/extending.md; there is no module of that name, but each example is a promise to its reader."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"
EXAMPLES = dict(re.findall(r"^## (?:A|An) (\w+)\n.*?```python\n(.*?)```", PAGE.read_text(), re.DOTALL | re.MULTILINE))


def run(name):
    names = {"__name__": f"extending_{name}"}
    exec(compile(EXAMPLES[name], f"{PAGE.name}: {name}", "exec"), names)
    return names


def test_all_five_are_there():
    assert list(EXAMPLES) == ["solver", "loss", "target", "engine", "export"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_keeps_what_it_asserts(name):
    assert re.search(r"^assert ", EXAMPLES[name], re.MULTILINE)
    run(name)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_uses_public_names_alone(name):
    assert not re.findall(r"\brulegrove[\w.]*\._\w+|\.\s*_[a-z]\w*\b", EXAMPLES[name])


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_export_scores_as_the_model_does(tmp_path):
    names = run("export")
    source, library = tmp_path / "score.c", tmp_path / "score.so"
    source.write_text("#include <math.h>\n" + names["code"] + "\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-O0", "-o", library, source, "-lm"], check=True)
    score = ctypes.CDLL(str(library)).score
    score.restype, score.argtypes = ctypes.c_double, [ctypes.POINTER(ctypes.c_double)]
    X = np.vstack([names["X"][:50], np.where(np.arange(500).reshape(50, 10) % 7 == 0, np.nan, names["X"][:50])])
    found = [score(np.ascontiguousarray(row).ctypes.data_as(ctypes.POINTER(ctypes.c_double))) for row in X]
    np.testing.assert_allclose(found, names["model"].predict(X), rtol=1e-12)
