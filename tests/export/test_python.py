"""The exported module against the model, row by row."""

import copy
import datetime as dt
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from exported_models import HOSTILE, NAMES, READ_FEATURES, as_records, fitted, of_terms, scores_of
from rulegrove import RuleEnsembleRegressor
from rulegrove.columns import Feature
from rulegrove.design.terms import Linear
from rulegrove.exceptions import InvalidInputError
from rulegrove.export import to_python
from rulegrove.rules.rule import Condition, Rule


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
    assert len(model.model_.terms) > 10
    np.testing.assert_array_equal([module["score"](row) for row in X.to_dict("records")], model.predict(X))


def test_others_are_refused():
    with pytest.raises(InvalidInputError, match="can be exported; got a dict"):
        to_python({})


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, np.float64("nan")])
def test_every_missing_value_is_missing(missing):
    """pandas' NA among categories raised "boolean value of NA is ambiguous"."""
    rule = Rule((Condition(0, categories=(0,), missing=True), Condition(1, lower=np.inf, missing=True)))
    module = run(of_terms([Feature("city", ("Oslo", "Rome")), Feature("size")], [rule], [2.0], 1.0))
    assert module["score"]({"city": missing, "size": missing}) == 3.0
    assert module["score"](pd.Series({"city": missing, "size": missing}, dtype=object)) == 3.0
    assert module["score"]({"city": "Rome", "size": missing}) == 1.0


def test_other_types_are_refused_as_by_the_model():
    """A category that came as a number counted as one never seen."""
    rule = Rule((Condition(0, categories=(0,)), Condition(1, lower=0.0)))
    module = run(of_terms([Feature("city", ("1", "2")), Feature("price", as_text=True)], [rule], [2.0]))
    with pytest.raises(ValueError, match=r"'city' must be text or missing; got 1\.0"):
        module["score"]({"city": 1.0, "price": 2.0})
    with pytest.raises(ValueError, match="'price' must be a number or missing; got '35%'"):
        module["score"]({"city": "1", "price": "35%"})
    assert module["score"]({"city": "1", "price": "35"}) == 2.25


MOMENTS = [
    dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
    dt.datetime(1969, 12, 31, 23, 59, 59, tzinfo=dt.UTC),
    dt.datetime(1970, 1, 1, 2, 30, tzinfo=dt.timezone(dt.timedelta(hours=3))),
    pd.Timestamp("1969-12-31 23:15"),
    pd.Timestamp("1970-01-01 08:00", tz="Asia/Tokyo"),
    np.datetime64("1969-12-31T23:59:59.999999999"),
    np.datetime64("1969-12-31T23", "h"),
    "1969-12-31 23:00:00",
    "1969-12-31T23:00:00.123456",
    "1970-01-01T01:00:00+02:00",
    "1969-12-31T23:00:00Z",
]


@pytest.mark.parametrize("moment", MOMENTS, ids=str)
def test_a_time_may_come_in_any_form(moment):
    parts = [run(of_terms(READ_FEATURES, [Linear(k, -9999.0, 9999.0, 0.5)], [1.0], 0.0)) for k in range(5)]
    assert [module["score"]({"sold at": moment}) for module in parts] == [-1.0, 1969.0, 12.0, 3.0, 23.0]


@pytest.mark.parametrize("day", [dt.date(2024, 2, 29), np.datetime64("2024-02-29"), "2024-02-29"], ids=str)
def test_a_day_may_come_in_any_form(day):
    parts = [run(of_terms(READ_FEATURES, [Linear(k, -99999.0, 99999.0, 0.5)], [1.0], 0.0)) for k in range(5)]
    assert [module["score"]({"sold at": day}) for module in parts] == [19782.0, 2024.0, 2.0, 4.0, 0.0]


def test_a_missing_time_and_no_time():
    module = run(of_terms(READ_FEATURES, [Linear(0, -9.0, 9.0, 0.5)], [1.0], 0.0))
    for missing in (None, np.nan, pd.NA, pd.NaT, np.datetime64("NaT")):
        assert module["score"]({"sold at": missing}) == 0.5
    for wrong in (12, "29.02.2024", "soon", True):
        with pytest.raises(ValueError, match="'sold at' must be a date, a time, a text of one or missing; got"):
            module["score"]({"sold at": wrong})


def test_a_coefficient_of_zero_has_no_line():
    """A rule that adds nothing to any score, as a file may hold it, was an "if" without a body."""
    rule, other = Rule((Condition(0, lower=0.0),)), Rule((Condition(0, lower=1.0),))
    module = run(of_terms([Feature("a")], [rule, Linear(0, 0.0, 1.0, 0.5), other], [0.0, -0.0, 1.5]))
    assert [module["score"]({"a": value}) for value in (0.5, 2.0)] == [0.25, 1.75]
    module = run(of_terms([Feature("a")], [rule], [0.0]))
    assert module["score"]({}) == 0.25


def test_names_and_labels_that_are_not_unicode():
    """Half of a pair of surrogates can be written in Python, in ASCII."""
    model = of_terms([Feature("\ud800", ("\udfff", "b"))], [Rule((Condition(0, categories=(0,)),))], [1.0])
    assert to_python(model).isascii()
    assert run(model)["score"]({"\ud800": "\udfff"}) == 1.25


def test_rates_are_exponentials_of_scores_times_an_exposure(rates):
    model, rows, exposures = rates
    module, records = run(model), as_records(rows)
    scores = model.model_.score(model.read_columns(rows))
    np.testing.assert_array_equal([module["score"](record) for record in records], scores)
    np.testing.assert_allclose([module["predict"](record) for record in records], model.predict(rows), rtol=1e-15)
    with_exposures = zip(records, exposures.tolist(), strict=True)
    found = [module["predict"](record, exposure=exposure) for record, exposure in with_exposures]
    np.testing.assert_allclose(found, model.predict(rows, exposure=exposures), rtol=1e-14)


def test_several_numbers_are_a_list(several):
    model, rows = several
    module, records = run(model), as_records(rows)
    for function in ("score", "predict"):
        assert [module[function](record) for record in records] == model.predict(rows).tolist()


def test_rates_beyond_all_bounds_are_infinite_or_zero(of_rates):
    module = run(of_rates([Feature("a")], [Linear(0, -1e6, 1e6, 0.0)], [1.0], 0.0))
    for score, exposure, rate in ((1e6, 1.0, np.inf), (-1e6, 1.0, 0.0), (709.0, 1e9, np.inf), (800.0, 1e-300, None)):
        expected = np.exp(score + np.log(exposure)) if rate is None else rate
        assert module["predict"]({"a": score}, exposure) == pytest.approx(expected)


@pytest.mark.parametrize("exposure", [0.0, -1.0, np.nan, np.inf, None, "soon", pd.NA])
def test_an_exposure_must_be_above_zero(exposure, of_rates):
    module = run(of_rates([Feature("a")], [], []))
    with pytest.raises(ValueError, match="The exposure must be a number above 0; got"):
        module["predict"]({}, exposure)


def test_hazards_take_no_exposure(hazards):
    model, rows = hazards
    module = run(model)
    found = [module["predict"](record) for record in as_records(rows)]
    np.testing.assert_allclose(found, model.predict(rows), rtol=1e-15)
    with pytest.raises(TypeError, match="exposure"):
        module["predict"](as_records(rows)[0], exposure=1.0)


def test_survival_is_that_of_the_model_at_every_time(hazards):
    model, rows = hazards
    module, records = run(model), as_records(rows)
    steps = model.event_times_
    assert len(steps) > 100
    times = [0.0, *steps[[0, 7, -1]], *np.nextafter(steps[[0, 7, -1]], 0.0), 1e9]
    curves = model.predict_survival_function(rows)
    for time in times:
        found = [module["survival"](record, time) for record in records]
        np.testing.assert_allclose(found, [curve(time) for curve in curves], rtol=1e-14)
    for time in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="The time must be a number from 0 on; got"):
            module["survival"](records[0], time)


def test_without_a_baseline_there_is_no_survival(hazards):
    model = copy.copy(hazards[0])
    model.baseline_ = None
    assert "survival" not in run(model)
    assert "survival" not in run(fitted("numbers")[0])
