"""Evidence on tables in parts: that in memory, for any division of the rows."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from engine_conformance import make_rows, take
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, engines
from rulegrove.estimators import autos
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import rule_evidence

TARGETS = ["two", "three", "number"]
FEW = {"n_candidates": 60, "max_terms": 8, "honest_cv": False, "random_state": 0, "n_jobs": 1}
N_ROWS = 1500


def make(target, **parameters):
    kind = RuleEnsembleRegressor if target == "number" else RuleEnsembleClassifier
    return kind(**{**FEW, **parameters})


def make_table(target):
    return take(make_rows(), target).slice(0, N_ROWS)


def assert_alike(one, other):
    assert one.n_rows == other.n_rows
    assert one.weighted_by == other.weighted_by
    for name, values in one.to_dict().items():
        expected = other.to_dict()[name]
        if np.asarray(values).dtype.kind == "f":
            np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-9, err_msg=name)
        else:
            np.testing.assert_array_equal(values, expected, err_msg=name)


@pytest.mark.parametrize("batch_rows", [170, 10_000])
@pytest.mark.parametrize("target", TARGETS)
def test_evidence_is_that_in_memory(target, batch_rows):
    table = make_table(target)
    weights = np.random.default_rng(0).integers(0, 3, N_ROWS) / 2.0
    model = engines.fit(make(target), table.slice(0, 500), target)
    rest, own = table.slice(500), weights[500:]
    X, y = rest.drop_columns([target]), rest[target].to_numpy()
    found = engines.rule_evidence(model, rest, target, batch_rows=batch_rows, n_threads=2)
    assert_alike(found, rule_evidence(model, X, y))
    weighted = engines.rule_evidence(
        model, rest.append_column("own", pa.array(own)), target, weights="own", batch_rows=batch_rows, level=0.9
    )
    assert_alike(weighted, rule_evidence(model, X, y, sample_weight=own, level=0.9))


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("target", TARGETS)
def test_a_fit_with_rows_set_apart_is_that_in_memory(monkeypatch, target, large):
    if large:
        monkeypatch.setattr(autos, "POOL_ROWS", 600)
    table = make_table(target)
    found = engines.fit(make(target, evidence="split"), table, target, batch_rows=170)
    X, y = table.drop_columns([target]), table[target].to_numpy()
    expected = make(target, evidence="split").fit(X, y)
    predict = "predict" if target == "number" else "predict_proba"
    np.testing.assert_allclose(getattr(found, predict)(X), getattr(expected, predict)(X), rtol=1e-9, atol=1e-12)
    assert found.evidence_.rules
    assert 0.4 * N_ROWS < found.evidence_.n_rows < 0.6 * N_ROWS
    assert_alike(found.evidence_, expected.evidence_)


def test_rows_without_a_target_are_left_out():
    table = make_table("two")
    model = engines.fit(make("two"), table.slice(0, 500), "two")
    gaps = pc.if_else(pa.array(np.arange(N_ROWS) % 3 == 0), None, table["two"])
    place = table.column_names.index("two")
    found = engines.rule_evidence(model, table.set_column(place, "two", gaps), "two", batch_rows=100)
    kept = table.filter(pa.array(np.arange(N_ROWS) % 3 > 0))
    assert_alike(found, rule_evidence(model, kept.drop_columns(["two"]), kept["two"].to_numpy()))


def test_a_model_without_terms_has_no_rules_to_test():
    table = make_table("two")
    model = engines.fit(make("two", max_terms=0), table, "two")
    assert engines.rule_evidence(model, table, "two").rules == ()


def test_what_cannot_be_counted_is_refused():
    table = make_table("two")
    model = engines.fit(make("two"), table, "two")
    nothing = table.set_column(table.column_names.index("two"), "two", pa.nulls(N_ROWS, pa.string()))
    with pytest.raises(InvalidInputError, match="there is nothing to count"):
        engines.rule_evidence(model, nothing, "two")
    with pytest.raises(InvalidInputError, match="`level` must lie between 0 and 1"):
        engines.rule_evidence(model, table, "two", level=2.0)
    with pytest.raises(InvalidInputError, match="`target` names 'none'"):
        engines.rule_evidence(model, table, "none")
    with pytest.raises(InvalidInputError, match="keep_statistics=True keeps what all rows say"):
        engines.fit(make("two", evidence="split"), table, "two", keep_statistics=True)
