"""The exported module against the model, row by row."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from exported_models import HOSTILE, NAMES, as_records, fitted, scores_of
from rulegrove import RuleEnsembleRegressor
from rulegrove.exceptions import InvalidInputError
from rulegrove.export import to_python


def run(model):
    module = {}
    exec(compile(to_python(model), "exported", "exec"), module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_equal_bit_for_bit(name):
    model, rows = fitted(name)
    module = run(model)
    records = as_records(rows)
    np.testing.assert_array_equal([module["score"](record) for record in records], scores_of(model, rows))
    predicted = [module["predict"](record) for record in records]
    assert predicted == model.predict(rows).tolist()


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("numbers")])
def test_probabilities_differ_by_rounding_alone(name):
    model, rows = fitted(name)
    probabilities = run(model)["probabilities"]
    ours = np.array([probabilities(record) for record in as_records(rows)])
    np.testing.assert_allclose(ours, model.predict_proba(rows), rtol=0, atol=4e-16)


def test_nan_is_missing_like_none():
    model, rows = fitted("numbers, mixed")
    module = run(model)
    with_nan = rows.to_dict("records")
    assert [module["score"](row) for row in with_nan] == scores_of(model, rows).tolist()


def test_the_module_imports_nothing_but_math():
    model, rows = fitted("binary")
    record = as_records(rows)[0]
    code = to_python(model) + f"\nimport sys\nassert 'numpy' not in sys.modules\nprint(repr(score({record!r})))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) == scores_of(model, rows)[0]


def test_infinite_values_are_refused_as_by_the_model():
    model, rows = fitted("numbers, mixed")
    record = {**as_records(rows)[0], HOSTILE: np.inf}
    with pytest.raises(ValueError, match="must be finite or missing; got inf"):
        run(model)["score"](record)


def test_names_that_clash_with_python_and_each_other():
    rng = np.random.default_rng(0)
    names = ["if", "total", "total_1", "row", "a b", "a-b", "A b", "1st", "", "min", "value"]
    X = pd.DataFrame(rng.normal(size=(200, len(names))), columns=names)
    model = RuleEnsembleRegressor(n_candidates=60, cv=3, random_state=0, selection="min").fit(X, X.sum(axis=1))
    module = run(model)
    assert len(model._model.terms) > 10
    np.testing.assert_array_equal([module["score"](row) for row in X.to_dict("records")], model.predict(X))


def test_others_are_refused():
    with pytest.raises(InvalidInputError, match="can be exported; got a dict"):
        to_python({})
