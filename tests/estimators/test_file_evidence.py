"""Evidence in a model file: it comes back whole, and what is none is refused by its place."""

import functools
import json

import numpy as np
import pytest

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.datasets import load
from rulegrove.estimators.model_file import dump_model, parse_model
from rulegrove.estimators.saved import parse_saved
from rulegrove.exceptions import InvalidInputError

KINDS = ["pima", "iris", "numbers", "no rules"]


@functools.cache
def fit(kind):
    X, y = load("iris" if kind == "iris" else "pima", return_X_y=True)
    few = {"n_candidates": 100, "max_terms": 5, "evidence": "split", "honest_cv": False, "random_state": 0}
    if kind in ("numbers", "no rules"):
        terms = "rules" if kind == "numbers" else "linear"
        return RuleEnsembleRegressor(terms=terms, **few).fit(X[:, :7], X[:, 7])
    return RuleEnsembleClassifier(terms="rules", **few).fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_evidence_comes_back(kind):
    model = fit(kind)
    loaded = parse_model(dump_model(model).encode())
    assert loaded.evidence == "split"
    for name, values in model.evidence_.to_dict().items():
        np.testing.assert_array_equal(values, loaded.evidence_.to_dict()[name])
    assert loaded.evidence_.to_text() == model.evidence_.to_text()
    assert loaded.evidence_.rules == tuple(row for row in loaded.rules_ if row.kind == "rule")
    assert dump_model(loaded) == dump_model(model)


@pytest.mark.parametrize("max_terms", [1, 5])
def test_a_file_is_shortened_as_its_model_is(max_terms):
    model = fit("pima")
    theirs = model.shorten(max_terms)
    ours = parse_saved(dump_model(model).encode()).shorten(max_terms)
    assert json.loads(ours.dump()) == json.loads(dump_model(theirs))
    assert (ours.evidence is None) == (theirs.evidence_ is None) == (max_terms == 1)


def test_a_file_without_evidence_has_none():
    document = json.loads(dump_model(fit("pima")))
    del document["checksum"], document["evidence"]
    assert parse_model(json.dumps(document).encode()).evidence_ is None


@pytest.mark.parametrize(
    ("way", "value", "words"),
    [
        (["level"], 2.0, "`evidence.level` must be a finite number from 0 to 1"),
        (["n_held"], [1], r"`evidence.n_held` must be a list of"),
        (["n_held", 0], 10**9, r"`evidence.n_held\[0\]` must be an integer from 0 to 384"),
        (["p_value", 0], "nan", r"`evidence.p_value\[0\]` must be a finite number"),
        (["exact"], 1, "`evidence.exact` must be true or false"),
        (["lift", "low", 0], 1e9, "`evidence.lift` must be estimates whose intervals have a lower and an upper end"),
        (["support", "high_all", 0], "nan", "`evidence.support` must be estimates whose intervals"),
        (["mean_target"], None, "`evidence` must be an object without a field 'mean_target'"),
        (["weighted_by"], 3, "`evidence.weighted_by` must be a text"),
    ],
)
def test_what_is_no_evidence_is_refused(way, value, words):
    document = json.loads(dump_model(fit("pima")))
    del document["checksum"]
    place = document["evidence"]
    for step in way[:-1]:
        place = place[step]
    place[way[-1]] = value
    with pytest.raises(InvalidInputError, match=words):
        parse_model(json.dumps(document).encode())
