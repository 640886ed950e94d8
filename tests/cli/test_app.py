"""The program as a shell sees it: quick help, exit codes, Ctrl-C, pipes, and terminals that know few letters."""

import ast
import io
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import rulegrove
from cli_tables import NAMES
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, RuleEnsembleSurvival
from rulegrove.cli import main
from rulegrove.cli.app import COMMANDS
from rulegrove.datasets import make_waveform

PROGRAM = [sys.executable, "-m", "rulegrove"]


HEAVY = ("numpy", "pyarrow", "pandas", "scipy", "sklearn", "numba", "narwhals", "threadpoolctl")
READING = """
import sys, rulegrove.cli
sys.argv[0] = "rulegrove"
try: rulegrove.cli.main()
except SystemExit as end: print(end.code or 0)
print([name for name in {heavy} if name in sys.modules])
"""


def load_by(*words):
    """Run a command in a process of its own; return its exit code, and which slow packages it loaded."""
    script = READING.format(heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", script, *map(str, words)], capture_output=True, check=True, text=True)
    code, loaded = done.stdout.splitlines()[-2:]
    return int(code), ast.literal_eval(loaded)


def test_what_needs_no_data_loads_nothing_heavy():
    """Help and errors are wanted at once; scikit-learn, numba and pyarrow take seconds."""
    assert load_by("--help") == (0, [])
    assert load_by("fit", "--help") == (0, [])
    assert load_by("fit", "--nothing") == (2, [])
    assert load_by("fit", "nothing.csv", "--target", "y") == (1, [])
    assert load_by("rules", "nothing.json") == (1, [])


@pytest.fixture(params=["classes", "one number", "several numbers", "rates", "quantiles", "survival times"])
def saved(request, tmp_path):
    """A model file of each kind of target, with what held-out rows tell."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = rng.exponential(np.exp(X[:, 0] > 0))
    settings = {"n_candidates": 60, "max_terms": 4, "cv": 3, "n_jobs": 1, "random_state": 0}
    model, target = {
        "classes": (RuleEnsembleClassifier(**settings), np.digitize(y, [1.0, 2.0])),
        "one number": (RuleEnsembleRegressor(**settings), y),
        "several numbers": (RuleEnsembleRegressor(**settings), np.column_stack([y, -y])),
        "rates": (RuleEnsembleRegressor(loss="gamma", **settings), y),
        "quantiles": (RuleEnsembleRegressor(loss="quantile", quantile=[0.1, 0.9], **settings), y),
        "survival times": (RuleEnsembleSurvival(**settings), (y, y < 4.0)),
    }[request.param]
    model.fit(X, target).save(tmp_path / "model.json")
    return tmp_path / "model.json"


def test_rules_are_read_without_what_fits_them(saved, tmp_path):
    """What fits them takes a second or two to load; NumPy alone reads and shortens a list."""
    assert load_by("rules", saved) == (0, ["numpy"])
    assert load_by("shorten", saved, "--max-terms", 2, "-o", tmp_path / "short.json") == (0, ["numpy"])
    assert load_by("rules", tmp_path / "short.json") == (0, ["numpy"])


@pytest.mark.parametrize("fitted", ["three"], indirect=True)
def test_what_is_no_model_is_refused_before_all_is_loaded(fitted):
    _, data = fitted
    assert load_by("rules", data) == (1, ["numpy"])
    assert load_by("predict", data, data) == (1, ["numpy", "pyarrow"])
    assert load_by("fit", data, "--target", "nothing") == (1, ["numpy", "pyarrow"])


def test_version_help_and_completion(run):
    assert run("--version").stdout == f"rulegrove {rulegrove.__version__}\n"
    assert "Commands:" in run(code=2).stdout + run("--help").stdout
    for command in COMMANDS:
        result = run(command, "-h")
        assert "--json" in result.stdout
        assert "--quiet" in result.stdout


def test_commands_are_completed():
    asked = {"_RULEGROVE_COMPLETE": "complete_bash", "COMP_WORDS": "rulegrove ex", "COMP_CWORD": "1"}
    result = subprocess.run(PROGRAM, capture_output=True, check=True, text=True, env={**os.environ, **asked})
    assert result.stdout.split() == ["explain", "export"]


def test_a_missing_package_is_one_line():
    script = "import sys; sys.modules['typer'] = None\nimport rulegrove.cli; rulegrove.cli.main()"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, text=True)
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "pip install 'rulegrove[cli]'" in result.stderr


def test_ctrl_c_leaves_nothing_behind(write, tmp_path):
    data = write(make_waveform(2_000, random_state=0).frame("pyarrow"))
    words = ["fit", str(data), "-t", "class", "-o", str(tmp_path / "model.json"), "--n-jobs", "1"]
    with subprocess.Popen([*PROGRAM, *words], stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.startswith("  target"):  # the table is read, the fit begins
                process.send_signal(signal.SIGINT)
                break
        rest = process.stderr.read()
    assert process.returncode == 130
    assert rest == "Interrupted.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


@pytest.fixture
def talk(monkeypatch):
    """Run the program as on a terminal of some encoding; give its exit code and what it wrote."""

    def talk(encoding, *words):
        streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True) for _ in range(2)]
        monkeypatch.setattr(sys, "stdout", streams[0])
        monkeypatch.setattr(sys, "stderr", streams[1])
        monkeypatch.setattr(sys, "argv", ["rulegrove", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *(stream.buffer.getvalue().decode(encoding) for stream in streams)

    return talk


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_any_terminal_can_show_any_name(talk, fitted, encoding):
    model, data = fitted
    code, printed, _ = talk(encoding, "rules", model)
    assert code == 0
    assert ("emoji 😀" if encoding == "utf-8" else "emoji \\U0001f600") in printed
    assert ("Größe" if encoding != "ascii" else "Gr\\xf6\\xdfe") in printed
    code, printed, _ = talk(encoding, "rules", model, "--json")
    assert any(NAMES[2] in term["rule"] for term in json.loads(printed)["terms"])
    code, printed, said = talk(encoding, "fit", data, "--target", "😀\udcff")
    assert (code, printed, said.count("\n")) == (1, "", 1)


def test_a_reader_that_has_seen_enough_is_no_error():
    """``rulegrove datasets pendigits | head`` closes the pipe."""
    words = [*PROGRAM, "datasets", "pendigits"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
