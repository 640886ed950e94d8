"""Lists from other rows in a model file: they come back whole, and what is none is refused by its place."""

import functools
import json

import numpy as np
import pytest

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.datasets import load
from rulegrove.estimators.model_file import dump_model, parse_model
from rulegrove.estimators.saved import parse_saved
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import importance_band

KINDS = ["pima", "iris", "numbers", "large model"]


@functools.cache
def fit(kind, **more):
    X, y = load("iris" if kind == "iris" else "pima", return_X_y=True)
    few = {"n_candidates": 100, "max_terms": None if kind == "large model" else 5, "random_state": 0, **more}
    if kind == "numbers":
        return RuleEnsembleRegressor(n_resamples=12, **few).fit(X[:, :7], X[:, 7])
    return RuleEnsembleClassifier(n_resamples=12, **few).fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_recurrence_comes_back(kind):
    model = fit(kind)
    loaded = parse_model(dump_model(model).encode())
    assert loaded.rules_.to_dict() == model.rules_.to_dict()
    assert [row.spans for row in loaded.rules_] == [row.spans for row in model.rules_]
    ours, theirs = model.front_.recurrence, loaded.front_.recurrence
    assert (ours.terms, ours.spans, ours.n_rows, ours.chosen) == (
        theirs.terms,
        theirs.spans,
        theirs.n_rows,
        theirs.chosen,
    )
    np.testing.assert_array_equal(ours.entries, theirs.entries)
    np.testing.assert_array_equal(importance_band(model), importance_band(loaded))
    assert dump_model(loaded) == dump_model(model)


@pytest.mark.parametrize("max_terms", [1, 8, "auto"])
def test_a_file_is_shortened_as_its_model_is(max_terms):
    theirs = fit("pima").shorten(max_terms)
    ours = parse_saved(dump_model(fit("pima")).encode()).shorten(max_terms)
    own, other = (json.loads(text)["front"]["recurrence"] for text in (ours.dump(), dump_model(theirs)))
    assert own == other
    assert [row.returns for row in ours.rules] == [row.returns for row in theirs.rules_]
    assert None not in [row.returns for row in theirs.rules_]


@pytest.mark.parametrize(
    ("way", "value", "words"),
    [
        (["n_resamples"], 0, "recurrence.n_resamples` must be an integer from 1"),
        (["n_resamples"], 1, r"recurrence.entries\[0\]\[\d+\]` must be .*at most 1 lengths"),
        (["terms", 0], 10**6, r"recurrence.terms\[0\]` must be an integer from 0"),
        (["entries"], [], "recurrence.entries` must be .*two orders of entry or three"),
        (["entries", 0, 0], [-1], r"recurrence.entries\[0\]\[0\]\[0\]` must be an integer from 0"),
        (["entries", 1], [], r"recurrence.entries\[1\]` must be a list of"),
        (["losses"], [], "recurrence.losses` must be .*a list of one draw or more"),
        (["losses", 0, 0], "a", r"recurrence.losses\[0\]\[0\]` must be a finite number"),
        (["first", 0], [0, 0], r"recurrence.first\[0\]` must be .*ascending order"),
        (["spans"], None, "recurrence.spans` must be a list"),
        (["chosen"], 10**6, "recurrence.chosen` must be an integer from 0"),
        (["lists", 0, "terms", 0], 10**6, r"recurrence.lists\[0\].terms\[0\]` must be an integer"),
        (["lists", 0, "importances", 0], -1.0, r"recurrence.lists\[0\].importances\[0\]` must be a finite number"),
        (["lists"], None, "recurrence.lists` must be a list"),
    ],
)
def test_what_is_no_recurrence_is_refused(way, value, words):
    document = json.loads(dump_model(fit("pima")))
    del document["checksum"]
    place = document["front"]["recurrence"]
    for step in way[:-1]:
        place = place[step]
    place[way[-1]] = value
    with pytest.raises(InvalidInputError, match=words):
        parse_model(json.dumps(document).encode())


def test_bounds_the_wrong_way_round_are_refused():
    document = json.loads(dump_model(fit("pima", terms="rules")))
    del document["checksum"]
    spans = next(spans for spans in document["front"]["recurrence"]["spans"] if spans)
    spans[0]["low"], spans[0]["high"] = 2.0, 1.0
    with pytest.raises(InvalidInputError, match=r"spans\[\d+\]\[0\].high` must be a finite number from 2"):
        parse_model(json.dumps(document).encode())


def test_a_file_without_recurrence_has_none():
    document = json.loads(dump_model(fit("pima")))
    del document["checksum"], document["front"]["recurrence"]
    loaded = parse_model(json.dumps(document).encode())
    assert loaded.front_.recurrence is None
