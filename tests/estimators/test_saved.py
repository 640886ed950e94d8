"""A model file read without the estimators; `cli/test_shorten.py` compares what is shortened with what they do."""

import json
import subprocess
import sys

import pytest

from rulegrove import RuleEnsembleClassifier, load_model
from rulegrove.datasets import load
from rulegrove.estimators.saved import read_saved
from rulegrove.exceptions import InvalidInputError


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    X, y = load("pima", return_X_y=True)
    path = tmp_path_factory.mktemp("saved") / "model.json"
    RuleEnsembleClassifier(n_candidates=50, cv=2, preset="readable", random_state=0).fit(X, y).save(path)
    return path


def test_tells_what_the_estimator_tells(path):
    saved, model = read_saved(path), load_model(path)
    assert list(saved.rules) == list(model.rules_)
    assert repr(saved.front) == repr(model.front_)
    assert saved.held_out.accuracy == model.held_out_.accuracy
    assert saved.dump() == path.read_text()


@pytest.mark.parametrize("max_terms", ["auto", 2, None])
def test_a_preset_is_shortened_as_by_the_estimator(path, tmp_path, max_terms):
    load_model(path).shorten(max_terms).save(tmp_path / "short.json")
    ours = json.loads(read_saved(path).shorten(max_terms).dump())
    assert ours == json.loads((tmp_path / "short.json").read_text())


def test_a_front_that_is_damaged_is_refused_when_it_is_read(path, tmp_path):
    document = json.loads(path.read_text())
    del document["checksum"]
    document["front"]["chosen"] = 10**6
    (tmp_path / "bad.json").write_text(json.dumps(document))
    saved = read_saved(tmp_path / "bad.json")
    with pytest.raises(InvalidInputError, match=r"`front.chosen` must be an integer"):
        _ = saved.front
    with pytest.raises(InvalidInputError, match=r"`front.chosen` must be an integer"):
        load_model(tmp_path / "bad.json")


def test_reading_needs_none_of_what_fits(path):
    script = (
        "import sys; from rulegrove.estimators.saved import read_saved\n"
        "short = read_saved(sys.argv[1]).shorten(3); short.dump(); short.front\n"
        "print({'numba', 'sklearn', 'scipy', 'pandas', 'narwhals'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, check=True, text=True)
    assert done.stdout == "set()\n"
