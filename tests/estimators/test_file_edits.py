"""The log of edits in a model file: it comes back whole, and what is none is refused by its place."""

import functools
import json

import numpy as np
import pytest

from edited_lists import draw, fit
from rulegrove.estimators._checked_json import Value
from rulegrove.estimators._file_edits import decode_edits, encode_edits
from rulegrove.estimators.edits import Cost, Edit, Edits
from rulegrove.estimators.model_file import dump_model, parse_model
from rulegrove.exceptions import InvalidInputError


@functools.cache
def edit(kind):
    model, (X, y) = fit(kind), draw(kind)
    session = model.edit(X, y)
    session.fix(1, {"1": 0.5} if kind == "three" else 0.5, note="as <agreed>", author="Zoë")
    session.drop(2)
    return session.finish()


@pytest.mark.parametrize("kind", ["two", "three", "number", "poisson"])
def test_the_log_comes_back_whole(kind):
    model = edit(kind)
    loaded = parse_model(dump_model(model).encode())
    assert loaded.edits_ == model.edits_
    assert (loaded.edits_[1].note, loaded.edits_[1].author) == ("as <agreed>", "Zoë")
    assert loaded.front_ is None
    assert dump_model(loaded) == dump_model(model)


def test_a_model_that_nobody_has_edited_has_no_log():
    document = json.loads(dump_model(fit("two")))
    assert "edits" not in document
    assert parse_model(dump_model(fit("two")).encode()).edits_ is None


def test_no_row_is_in_the_file():
    """Beside the fitted model the file has the log alone, whose size does not depend on the rows."""
    X, y = draw("two")
    sizes = []
    for times in (1, 5):
        session = fit("two").edit(np.repeat(X, times, axis=0), np.repeat(y, times))
        session.drop(1)
        document = json.loads(dump_model(session.finish()))
        sizes.append(len(json.dumps(document["edits"])))
        assert set(document) == {*json.loads(dump_model(fit("two"))), "edits"}
    assert abs(sizes[1] - sizes[0]) < 100


def test_costs_that_nobody_knows_come_back():
    unknown = Edits(
        [Edit({"operation": "open"}, "Opened", "", "error", "log loss", honest=Cost(0.1, np.nan, 0.2, np.inf))]
    )
    found = decode_edits(Value(json.loads(json.dumps(encode_edits(unknown))), "a.json"))
    assert np.isnan(found[0].honest.error_se)
    assert found[0].honest.loss_se == np.inf


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda own: own[0].pop("step"), "field 'step'"),
        (lambda own: own[0].update(step=[]), r"edits\[0\].step` must be an object"),
        (lambda own: own[0]["step"].pop("operation"), "an object with an 'operation'"),
        (lambda own: own[1]["step"].update(note=7), "`note` and `author` are texts"),
        (lambda own: own[1]["step"].update(rule=["a"]), r"step.rule` must be null, a text"),
        (lambda own: own[1]["step"].update(coefficient={"a": {"b": 1}}), r"coefficient.a` must be null"),
        (lambda own: own[1].update(words=None), r"edits\[1\].words` must be a text"),
        (lambda own: own[1]["after"].update(loss="much"), r"after.loss` must be a finite number"),
        (lambda own: own[1]["before"].pop("error_se"), "field 'error_se'"),
        (lambda own: own[1]["change"].update(n_otherwise=10**9), r"n_otherwise` must be an integer from 0 to 240"),
        (lambda own: own[2]["moved"][0].update(number=0), r"moved\[0\].number` must be an integer from 1"),
        (lambda own: own[0].update(code="import os"), "without a field 'code'"),
        (lambda own: own.append("drop"), r"edits\[3\]` must be an object"),
    ],
)
def test_what_is_no_log_is_refused(change, says):
    document = json.loads(dump_model(edit("two")))
    del document["checksum"]
    change(document["edits"])
    with pytest.raises(InvalidInputError, match=says):
        parse_model(json.dumps(document).encode())
