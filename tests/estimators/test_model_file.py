"""A saved model comes back as it was, and a bad file is one clear error.

Also of `_file_figures.py`, `_file_fits.py`, `_file_front.py` and `_file_terms.py`: each is a section of the file, none
is read alone.
"""

import functools
import json
import os
import sys
import time
import tracemalloc
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import KFold

from exported_models import HOSTILE, NAMES, as_records, fitted, hard_rows, mixed_frame, scores_of
from rulegrove import (
    Fpc,
    Glmnet,
    Pathbuild,
    RuleEnsembleClassifier,
    RuleEnsembleRegressor,
    Spgl1,
    load_model,
)
from rulegrove.columns import Columns
from rulegrove.datasets import load
from rulegrove.estimators import _checked_json, model_file, saved
from rulegrove.estimators.figures import MIN_POINTS
from rulegrove.estimators.front import Front
from rulegrove.estimators.model_file import dump_model, parse_model, save_model
from rulegrove.estimators.outputs import PerOutput
from rulegrove.exceptions import InvalidInputError
from rulegrove.export import to_text
from rulegrove.losses import Squared, Tweedie
from target_kinds import KINDS, draw, make

REFERENCE = Path(__file__).parents[1] / "reference"
_MIXED, _SCORE = mixed_frame()
_THIRDS = np.array(["low", "middle", "high"])[np.digitize(_SCORE, np.quantile(_SCORE, [0.3, 0.7]))]
_LISTED = {"categorical_features": ["class", "grade"]}
REFERENCE_MODELS = {  # name: estimator, rows, targets, parameters beside the common ones; run this file to write them
    "two-classes": (RuleEnsembleClassifier, _MIXED, np.median(_SCORE) < _SCORE, {**_LISTED, "calibration": "sigmoid"}),
    "shared": (RuleEnsembleClassifier, _MIXED, _THIRDS, {**_LISTED, "multiclass": "shared"}),
    "ovr": (RuleEnsembleClassifier, _MIXED, _THIRDS, {"multiclass": "ovr", "calibration": "isotonic"}),
    "regressor": (RuleEnsembleRegressor, _MIXED, _SCORE, {**_LISTED, "solver": Glmnet(relax=True)}),
}
N_FUZZ = int(os.environ.get("RULEGROVE_FUZZ_CASES", "300"))  # a long run: RULEGROVE_FUZZ_CASES=20000


def document_of(model):
    """The document of a model file, without the checksum, as someone leaves it who edits the file."""
    document = json.loads(dump_model(model))
    del document["checksum"]
    return document


def assert_same(one, other):
    """Whether two values are equal bit for bit, records field by field."""
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    elif is_dataclass(one):
        for field in fields(one):
            if field.name != "fold_points":  # of the folds, which the file leaves out
                assert_same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, (list, tuple, PerOutput)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, Front):
        assert_same_front(one, other)
    elif hasattr(one, "get_params"):
        assert repr(one) == repr(other)
    else:
        assert one == other or (one != one and other != other)


def assert_same_front(one, other):
    """Whether two fronts have the same models in the same words, and the same figures but for thinned curves."""
    assert_same(one.to_dict(), other.to_dict())
    assert_same((one.chosen, one.base_loss), (other.chosen, other.base_loss))
    assert_same(one[one.chosen].held_out, other[other.chosen].held_out)
    for place, (line, same) in enumerate(zip(one, other, strict=True)):
        assert_same(line.fitted.model, same.fitted.model)
        assert_same(line.fitted.importances, same.fitted.importances)
        assert_same((line.link, line.excess_se), (same.link, same.excess_se))
        assert_same(None if line.held_out is None else line.held_out.thin(), same.held_out and same.held_out.thin())
        assert list(one.list_rules(place)) == list(other.list_rules(place))


@cache
def fitted_kind(kind):
    """A large model of a kind of target, with lists made anew."""
    return make(kind, max_terms=None, n_resamples=4).fit(*draw(kind))


@pytest.mark.parametrize("name", NAMES)
def test_everything_comes_back(name, tmp_path):
    model, rows = fitted(name)
    loaded = assert_comes_back(model, rows, tmp_path / "größe 🌲.json")
    np.testing.assert_array_equal(scores_of(loaded, rows), scores_of(model, rows))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_everything_comes_back_whatever_the_target_is(kind, weighted, tmp_path):
    X, y = draw(kind)
    model = make(kind).fit(X, y, sample_weight=np.arange(len(X)) % 3) if weighted else fitted_kind(kind)
    loaded = assert_comes_back(model, X, tmp_path / "model.json")
    assert loaded.score(X, y) == model.score(X, y)
    np.testing.assert_array_equal(loaded.explain(X).parts, model.explain(X).parts)
    assert loaded.held_out_.words == model.held_out_.words
    np.testing.assert_array_equal(clone(loaded).fit(X, y).predict(X), clone(model).fit(X, y).predict(X))
    for max_terms in (0, 2, "auto", None):
        ours, theirs = loaded.shorten(max_terms), model.shorten(max_terms)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        assert repr(ours.rules_) == repr(theirs.rules_)
        assert_same(ours.held_out_, theirs.held_out_)
        if kind == "survival":
            curves = [one.predict_survival_function(X[:3], return_array=True) for one in (ours, theirs)]
            np.testing.assert_array_equal(*curves)


def assert_comes_back(model, rows, path):
    """Return the model of a file, which is the same in all that can be seen of it."""
    model.save(path)
    loaded = load_model(path)
    assert type(loaded) is type(model)
    assert_same(loaded.get_params(deep=False), model.get_params(deep=False))
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
    np.testing.assert_array_equal(loaded.transform_rules(rows), model.transform_rules(rows))
    assert loaded.predict(rows).dtype == model.predict(rows).dtype
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))
    names = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    assert {name for name in vars(loaded) if name.endswith("_")} == set(names)
    for attribute in set(names) - {"rules_"}:
        assert_same(getattr(loaded, attribute), getattr(model, attribute))
    assert list(loaded.rules_) == list(model.rules_)
    assert repr(loaded.rules_) == repr(model.rules_)
    assert loaded.rules_.to_dict() == model.rules_.to_dict()
    assert dump_model(loaded) == dump_model(model)
    return loaded


@pytest.mark.parametrize("max_terms", [0, 3, 8, "auto", None])
@pytest.mark.parametrize(
    "name", ["binary, isotonic", "mixed, integers", "iris, own rules", "iris, raw scores", "numbers, gaps"]
)
def test_a_loaded_model_is_shortened_without_the_data(name, max_terms):
    model, rows = fitted(name)
    ours, theirs = (one.shorten(max_terms) for one in (parse_model(dump_model(model).encode()), model))
    np.testing.assert_array_equal(scores_of(ours, rows), scores_of(theirs, rows))
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
    np.testing.assert_array_equal(ours.feature_importances_, theirs.feature_importances_)
    if hasattr(theirs, "classes_"):
        np.testing.assert_array_equal(ours.predict_proba(rows), theirs.predict_proba(rows))
    assert list(ours.rules_) == list(theirs.rules_)
    assert ours.held_out_.words == theirs.held_out_.words
    assert_same(ours.settings_, theirs.settings_)
    assert_same(ours.get_params(), theirs.get_params())


def test_curves_are_thinned_but_for_the_chosen_line():
    model, _ = fitted("binary")
    model = model.shorten(8)
    loaded = parse_model(dump_model(model).encode())
    n_points = {len(line.held_out.rocs[0].true_positives) for line in loaded.front_[:-1] if line.terms > 8}
    assert n_points == {MIN_POINTS}
    assert len(model.front_[-1].held_out.rocs[0].true_positives) > MIN_POINTS
    for line, thinned in zip(model.front_, loaded.front_, strict=True):
        whole, few = line.held_out.rocs[0], thinned.held_out.rocs[0]
        assert few.area == whole.area
        assert (few.false_positives[[0, -1]] == whole.false_positives[[0, -1]]).all()
        assert set(few.true_positives) <= set(whole.true_positives)
    assert_same(loaded.held_out_, model.held_out_)


def test_a_file_without_a_front_loads_and_is_not_shortened():
    model, rows = fitted("mixed, integers")
    document = document_of(model)
    del document["front"]
    loaded = parse_model(json.dumps(document).encode())
    assert loaded.front_ is None
    assert json.loads(dump_model(loaded))["front"] is None
    np.testing.assert_array_equal(scores_of(loaded, rows), scores_of(model, rows))
    with pytest.raises(
        InvalidInputError, match=r"no front of shorter lists, because it comes from a file .* Fit it again"
    ):
        loaded.shorten(3)


def test_each_term_of_the_front_stands_once():
    model, _ = fitted("mixed, integers")
    front = document_of(model)["front"]
    terms = {term for line in model.front_ for term in line.fitted.model.terms}
    assert len(front["terms"]) == len(terms)
    assert [len(line["terms"]) for line in front["lines"]] == model.front_.to_dict()["rules"]


def test_explanations_come_back():
    model, rows = fitted("mixed, integers")
    loaded = parse_model(dump_model(model).encode())
    ours, theirs = loaded.explain(rows.head(5)), model.explain(rows.head(5))
    np.testing.assert_array_equal(ours.scores, theirs.scores)
    np.testing.assert_array_equal(ours.parts, theirs.parts)
    assert ours[0].sentences == theirs[0].sentences


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["a", "ü"]),
        np.array(["a", "ü"], dtype=object),
        np.array([0, 1], dtype=np.int8),
        np.array([3, 2**63 + 5], dtype=np.uint64),
        np.array([-1.0, 1.0], dtype=np.float32),
        np.array([False, True]),
    ],
    ids=lambda labels: f"{labels.dtype} {labels.tolist()}",
)
def test_labels_keep_their_types(labels):
    X = np.arange(60.0).reshape(30, 2)
    y = labels[(np.arange(30) >= 15).astype(int)]
    model = RuleEnsembleClassifier(n_candidates=10, cv=2, random_state=0).fit(X, y)
    loaded = parse_model(dump_model(model).encode())
    assert loaded.classes_.dtype == model.classes_.dtype
    assert [type(label) for label in loaded.classes_.tolist()] == [type(label) for label in model.classes_.tolist()]
    assert [row.speaks_for for row in loaded.rules_] == [row.speaks_for for row in model.rules_]
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_truth_values_come_back_in_the_same_words():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"member": rng.random(80) < 0.5, "age": rng.integers(20, 60, 80)})
    model = RuleEnsembleRegressor(n_candidates=20, random_state=0).fit(frame, 3.0 * frame["member"] + frame["age"] / 40)
    assert any("not member" in ranked.text for ranked in model.rules_)
    assert list(parse_model(dump_model(model).encode()).rules_) == list(model.rules_)
    document = document_of(model)
    document["features"][1] |= {"boolean": True, "as_text": True}
    with pytest.raises(InvalidInputError, match="either a number, categories, truth values or a part of dates"):
        parse_model(json.dumps(document).encode())


@pytest.mark.parametrize(
    "solver",
    [
        Glmnet(l1_ratio=0.9, relax=[0.0, 1.0], penalties=np.geomspace(1.0, 0.01, 20)),
        Pathbuild(threshold="cv"),
        Spgl1(l1_radius=[0.5, 1.0]),
        Fpc(fit_weight=None),
        "fpc",
    ],
    ids=repr,
)
def test_solvers_come_back(solver):
    X, y = load("pima", return_X_y=True)
    model = RuleEnsembleClassifier(n_candidates=30, cv=3, honest_cv=False, solver=solver, random_state=0).fit(X, y)
    loaded = parse_model(dump_model(model).encode())
    assert type(loaded.solver_) is type(model.solver_)
    assert type(loaded.solver) is type(model.solver)
    for name, value in model.solver_.get_params().items():
        np.testing.assert_array_equal(loaded.solver_.get_params()[name], value)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_losses_of_solvers_come_back():
    """Models that were fitted by `Glmnet(loss=Tweedie(1.2))` came back without it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = rng.poisson(np.exp(X[:, 0])) * rng.gamma(2.0, size=120)
    settings = {"n_candidates": 20, "cv": 2, "random_state": 0, "loss": "tweedie", "power": 1.2}
    model = RuleEnsembleRegressor(**settings, solver=Glmnet(loss=Tweedie(1.2))).fit(X, y)
    document = document_of(model)
    loaded = parse_model(json.dumps(document).encode())
    assert loaded.solver.loss == loaded.solver_.loss == Tweedie(1.2)
    np.testing.assert_array_equal(clone(loaded).fit(X, y).predict(X), model.predict(X))
    for bad in ({"power": 3.0}, {"level": 0.5}, {"power": "x"}):
        document["parameters"]["solver"]["parameters"]["loss"]["parameters"] = bad
        with pytest.raises(InvalidInputError, match="loss"):
            parse_model(json.dumps(document).encode())


class Own(Squared):
    """A loss of a user's own."""


def test_a_loss_of_a_users_own_is_refused():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = RuleEnsembleRegressor(n_candidates=10, cv=2, random_state=0, solver=Glmnet(loss=Own())).fit(X, X[:, 0])
    with pytest.raises(InvalidInputError, match="loss Own of the solver is not one of"):
        dump_model(model)


def test_parameters_that_json_cannot_hold_have_their_defaults():
    X, y = load("pima", return_X_y=True)
    model = RuleEnsembleClassifier(
        n_candidates=30,
        cv=KFold(3),
        random_state=np.random.RandomState(0),
        class_weight={"tested_negative": 1.0, "tested_positive": 2},
        categorical_features=np.zeros(8, dtype=bool),
        max_terms=np.int64(7),
    ).fit(X, y)
    document = json.loads(dump_model(model))
    assert document["parameters"]["cv"] == {"omitted": "KFold"}
    loaded = parse_model(json.dumps(document).encode())
    assert (loaded.cv, loaded.random_state) == (5, None)
    assert loaded.class_weight == model.class_weight
    assert loaded.categorical_features == [False] * 8
    assert loaded.max_terms == 7
    clone(loaded).fit(X, y)


def test_what_a_preset_has_changed_comes_back(monkeypatch):
    settings = {"max_terms": 4, "solver": Glmnet(l1_ratio=0.5), "honest_cv": False}
    monkeypatch.setattr(RuleEnsembleClassifier, "_presets", {"readable": settings})
    X, y = load("pima", return_X_y=True)
    model = RuleEnsembleClassifier(preset="readable", n_candidates=30, cv=3, random_state=0).fit(X, y)
    document = document_of(model)
    loaded = parse_model(json.dumps(document).encode())
    settled = {"subsample": 384, "max_features": 2, "tree_loss": "squared", "selection": "1se"}
    settings = {**settings, **settled, "multiclass": "ovr", "calibration": "temperature"}
    assert_same(loaded.settings_, settings)
    assert (loaded.preset, loaded.max_terms, loaded.solver) == ("readable", "auto", "auto")
    monkeypatch.setattr(RuleEnsembleClassifier, "_presets", {"readable": {"max_terms": 3}})  # a later version's
    assert_same(parse_model(json.dumps(document).encode()).settings_, settings)
    for bad, place in [({"max_terms": -1}, "settings"), ({"depth": 3}, "settings.depth"), ([], "settings")]:
        with pytest.raises(InvalidInputError, match=place):
            parse_model(json.dumps({**document, "settings": bad}).encode())
    del document["settings"], document["parameters"]["preset"]  # a file from before presets
    before = parse_model(json.dumps(document).encode())
    assert (before.preset, before.settings_) == (None, {})
    np.testing.assert_array_equal(before.predict_proba(X), model.predict_proba(X))


def test_names_are_compared_after_loading():
    model, rows = fitted("numbers, mixed")
    loaded = parse_model(dump_model(model).encode())
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(rows.rename(columns={HOSTILE: "other"}))


class Eager:
    """A solver of a user's own."""

    def grid(self, problem):
        return Glmnet().grid(problem)

    def path(self, problem, points=None, start=None):
        return Glmnet().path(problem, points, start)


def test_what_cannot_be_saved_says_so(tmp_path):
    X, y = load("pima", return_X_y=True)
    model = RuleEnsembleClassifier(n_candidates=20, cv=3, honest_cv=False, solver=Eager(), random_state=0)
    path = tmp_path / "model.json"
    with pytest.raises(ValueError, match="not fitted"):
        model.save(path)
    with pytest.raises(InvalidInputError, match="The solver Eager is not one of Glmnet"):
        model.fit(X, y).save(path)
    with pytest.raises(InvalidInputError, match=r"A model file can hold one of .*; got a Glmnet"):
        save_model(Glmnet(), path)
    assert not path.exists()


def test_categories_that_json_has_not():
    dates = pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01"] * 20)).astype("category")
    X = pd.DataFrame({"when": dates, "x": np.arange(40.0)})
    model = RuleEnsembleRegressor(n_candidates=10, cv=2, random_state=0).fit(X, np.arange(40.0))
    with pytest.raises(InvalidInputError, match=r"Column 'when' cannot be saved: its category .* is a Timestamp"):
        dump_model(model)


def test_an_interrupted_save_leaves_the_old_file(tmp_path, monkeypatch):
    model, _ = fitted("binary")
    path = tmp_path / "model.json"
    model.save(path)
    before = path.read_bytes()

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        fitted("iris, shared")[0].save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]


def stored_rows(name):
    """The predictions that a reference file must give, and the rows they are of."""
    stored = json.loads((REFERENCE / f"{name}.scores.json").read_text())
    rows = pd.DataFrame(stored["rows"])
    return stored, rows.astype({name: float for name in rows if not isinstance(rows[name].dropna().iloc[0], str)})


def check_reference(name):
    """Load a file that was written once; its scores are those of that day."""
    model = load_model(REFERENCE / f"{name}.json")
    stored, rows = stored_rows(name)
    np.testing.assert_array_equal(scores_of(model, rows), stored["scores"])
    assert repr(model.rules_)
    assert dump_model(parse_model(dump_model(model).encode())) == dump_model(model)
    return model, rows, stored


@pytest.mark.parametrize("name", ["model-v1-classifier", "model-v1-regressor"])
def test_files_of_the_first_layout_load(name):
    model, _, _ = check_reference(name)
    assert all(ranked.base_rate is None for ranked in model.rules_)  # these files do not have them


@pytest.mark.parametrize("name", REFERENCE_MODELS)
def test_files_of_the_second_layout_load(name):
    path = REFERENCE / f"model-v2-{name}.json"
    model, rows, stored = check_reference(path.stem)
    assert model.predict(rows).tolist() == stored["predictions"]
    if "probabilities" in stored:  # which differ by the last places of `exp`
        np.testing.assert_allclose(model.predict_proba(rows), stored["probabilities"], rtol=1e-12, atol=1e-300)
    written = json.loads(path.read_text())
    document = json.loads(dump_model(model))
    same = ["features", "intercepts", "terms", "candidates", "outputs", "held_out", "classes", "calibration"]
    assert {key: document.get(key) for key in same} == {key: written.get(key) for key in same}


# Damaged and hostile files.


def damaged(change, name="mixed, integers"):
    """The text of a model file after `change` has had its way with the document."""
    document = document_of(fitted(name)[0])
    change(document)
    return json.dumps(document).encode()


def damage(*arguments):
    """Return what makes such a text when a test asks for it: nothing is fitted while tests are gathered."""
    return functools.partial(damaged, *arguments)


def put(*place):
    """Return a change that puts the last argument at a place."""

    def change(document):
        *way, last, value = place
        for step in way:
            document = document[step]
        document[last] = value

    return change


def put_into_rule(*place, front=False):
    """Return a change that puts the last argument at a place of the first rule."""

    def change(document):
        terms = document["front"]["terms"] if front else document["terms"]
        put(*place)(next(term for term in terms if "conditions" in term))

    return change


def nested_solver(depth):
    """A solver that has a solver as a parameter, and so on."""
    inner = None
    for _ in range(depth):
        inner = {"solver": "Glmnet", "parameters": {"loss": inner}}
    return inner


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "model.json is empty"),
        (b" \r\n", "model.json is empty"),
        (b"\xff{}", "or it is damaged: 'utf-8' codec"),
        ('{"format": "rulegrove model"}'.encode("utf-16"), "it is text in UTF-16; convert it to UTF-8"),
        ("{}".encode("utf-16-be"), "or it is damaged: Expecting value"),
        (b"\0" * 1000, "or it is damaged: Expecting value"),
        (b"null", "not a rulegrove model: it has no `format`"),
        (b"[]", "not a rulegrove model: it has no `format`"),
        (b"{}", "not a rulegrove model: it has no `format`"),
        (b'{"format": "pickle"}', "its `format` is 'pickle'"),
        (b'{"format": "rulegrove model", "format": "rulegrove model"}', "the key 'format' appears twice"),
        (b'{"format": "rulegrove model", "version": NaN}', "NaN is not JSON"),
        (b'{"format": "rulegrove model", "version": 1' + b"0" * 5000 + b"}", "an integer of 5001 digits"),
        (b'{"format": "rulegrove model", "version": "1"}', "`version` must be a positive integer; got '1'"),
        (b'{"format": "rulegrove model", "version": true}', "`version` must be a positive integer; got true"),
        (
            b'{"format": "rulegrove model", "version": 3}',
            "version 3 of the layout of model files.* reads versions up to 2; update rulegrove",
        ),
        (b'{"format": "rulegrove model", "version": 1}', "must be one of RuleEnsembleClassifier"),
        (b'{"format": "rulegrove model", "version": -Infinity}', "-Infinity is not JSON"),
        (b'{"format": "\\ud800"}', r"its `format` is '.ud800'"),
        (b'{"format": ' + b"[" * 900 + b"]" * 900 + b"}", "its `format` is a list of 1"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (damage(put("checksum", "")), "remove the field `checksum` from the file and load it again"),
        (damage(put("checksum", None)), "`checksum` must be a text; got null"),
        (lambda: damaged(put("intercepts", 0, "1e999")).replace(b'"1e999"', b"1e999"), "a finite number; got Infinity"),
        (damage(put("intercepts", 0, "\ud800")), r"a finite number; got '.ud800'"),
        (damage(put("parameters", "solver", nested_solver(300))), "must be an object with the field 'float'"),
        (damage(put("estimator", "os.system")), "`estimator` must be one of RuleEnsembleClassifier"),
        (damage(put("surplus", 1)), "without a field 'surplus'"),
        (damage(lambda d: d.pop("terms")), "with the field 'terms'"),
        (
            damage(put_into_rule("conditions", 0, "feature", 4)),
            r"conditions\[0\].feature` must be an integer from 0 to 3",
        ),
        (damage(put_into_rule("conditions", 0, "feature", True)), "must be an integer from 0 to 3; got true"),
        (damage(put_into_rule("conditions", [])), "conditions sorted by attribute"),
        (damage(put("terms", 0, "coefs", 0, "1")), "`terms\\[0\\].coefs\\[0\\]` must be a finite number; got '1'"),
        (damage(put("terms", 0, "coefs", [1.0])), "a list of 3; got a list of 1"),
        (damage(put("terms", 0, "importance", -1.0)), "a finite number from 0 to inf"),
        (damage(put_into_rule("support", 2.0)), "a finite number from 0 to"),
        (damage(put("intercepts", [0.0])), "`intercepts` must be a list of 3"),
        (damage(put("classes", "dtype", "datetime64")), "a type of labels"),
        (damage(put("classes", "dtype", "object_")), "a type of labels"),
        (damage(put("classes", "labels", [1, 1, 2])), "at least two different labels"),
        (damage(put("classes", "labels", [1, "a", 2])), "labels of the type int64"),
        (damage(put("classes", {"dtype": "int8", "labels": [1, 2, 300]})), "within the range of int8"),
        (damage(put("parameters", "n_candidates", -5)), "`parameters`: .*n_candidates"),
        (damage(put("parameters", "__class__", 1)), "a parameter of RuleEnsembleClassifier"),
        (damage(put("parameters", "solver", {"solver": "Popen", "parameters": {}})), "one of Glmnet"),
        (damage(put("settings", "ridge", 3)), "`settings.ridge` must be an object; got 3"),
        (damage(put("settings", "ridge", "pairs", 1, 1, -1)), r"ridge.pairs\[1\]\[1\]` must be a finite number from 0"),
        (damage(put("settings", "ridge", "pairs", 1, 0, "rules")), "`settings.ridge` must be the ridges of rules and"),
        (damage(put("outputs", 0, "solver", "parameters", "tol", -1.0)), "`outputs\\[0\\].solver`: .*tol"),
        (damage(put("outputs", 0, "selection", "index", 10**6)), "an integer from 0 to"),
        (damage(put("outputs", 0, "path", "coefs", 0, [[10**6], [1.0]])), "an integer from 0 to"),
        (damage(put("outputs", 0, "path", "coefs", -1, [[1, 0], [1.0, 1.0]])), "ascending order"),
        (damage(put("outputs", 0, "path", "status", 0, "__init__")), "one of CONVERGED"),
        (damage(put("features", 0, "name", 3)), "`features\\[0\\].name` must be a text; got 3"),
        (damage(put("features", [])), "a list of attributes"),
        (damage(put("calibration", {"slope": 1.0, "curves": []})), "either a slope or curves"),
        (damage(put("calibration", {"curves": []})), "a list of 3"),
        (damage(put("multiclass", "all")), "one of ovr, shared, grouped"),
        (damage(put("front", [])), "`front` must be an object"),
        (damage(put("front", "chosen", 10**6)), "`front.chosen` must be an integer from 0 to"),
        (damage(put("front", "base_loss", -1.0)), "`front.base_loss` must be a finite number from 0"),
        (damage(put("front", "output_means", [0.0])), "`front.output_means` must be a list of 3"),
        (damage(put("front", "lines", [])), "`front.lines` must be a list of one line or more"),
        (damage(put_into_rule("conditions", 0, "feature", 4, front=True)), "an integer from 0 to 3"),
        (
            damage(put_into_rule("support", 2.0, front=True)),
            r"`front.terms\[\d+\].support` must be a finite number from 0",
        ),
        (damage(put_into_rule("shares", [1.0], front=True)), r"`front.terms\[\d+\].shares` must be a list of 3"),
        (damage(put_into_rule("mean_target", 1.0, front=True)), "without a field 'mean_target'"),
        (damage(put("front", "lines", 1, "terms", [10**6])), "an integer from 0 to"),
        (damage(put("front", "lines", -1, "terms", 1, 0)), "integer|different terms"),
        (damage(put("front", "lines", 1, "coefs", [])), r"`front.lines\[1\].coefs` must be a list of 3"),
        (damage(put("front", "lines", 1, "coefs", 0, [[10**6], [1.0]])), r"lines\[1\].coefs\[0\]\[0\]\[0\]` must be"),
        (damage(put("front", "lines", 1, "coefs", 0, [[0], []])), "a list of 1; got a list of 0"),
        (damage(put("front", "lines", 1, "intercepts", 0, "nan")), "a finite number; got 'nan'"),
        (damage(put("front", "lines", 1, "importances", 0, -1.0)), "a finite number from 0"),
        (damage(put("front", "lines", 1, "loss", -1.0)), r"`front.lines\[1\].loss` must be a finite number from 0"),
        (
            damage(put("front", "lines", 1, "calibration", {"slope": "1"})),
            r"`front.lines\[1\].calibration.slope` must",
        ),
        (damage(put("front", "lines", 1, "held_out", "counts", [])), r"`front.lines\[1\].held_out.counts` must be"),
        (damage(put("front", "lines", 1, "calibration", {"slope": 1.0}), "numbers"), "calibration` must be null"),
    ],
)
def test_one_clear_error(content, words):
    with pytest.raises(InvalidInputError, match=words) as caught:
        parse_model(content() if callable(content) else content, "model.json")
    message = str(caught.value)
    assert message.startswith("model.json")
    assert len(message) < 600


# Values that were changed.


def test_layout_does_not_matter_to_the_checksum(tmp_path):
    """Editors and databases indent, sort keys, write other escapes and a byte order mark: all the same values."""
    model, rows = fitted("mixed, integers")
    document = json.loads(dump_model(model))
    written = [
        json.dumps(document, indent=4),
        json.dumps(document, sort_keys=True, ensure_ascii=False),
        json.dumps(dict(reversed(document.items()))),
        dump_model(model).replace("e-", "E-"),
        "\ufeff" + json.dumps(document, indent="\t").replace("\n", "\r\n"),
    ]
    for text in written:
        loaded = parse_model(text.encode())
        np.testing.assert_array_equal(scores_of(loaded, rows), scores_of(model, rows))


def test_an_edited_file_loads_without_its_checksum(tmp_path):
    """A changed digit was a valid file with other scores; now it is refused, and the words say what an editor does."""
    model, rows = fitted("numbers")
    path = tmp_path / "model.json"
    model.save(path)
    document = json.loads(path.read_text())
    document["intercepts"][0] += 1.0
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidInputError, match=r"model.json is damaged or was edited: .* remove the field `checksum`"):
        load_model(path)
    del document["checksum"]
    path.write_text(json.dumps(document))
    loaded = load_model(path)
    np.testing.assert_allclose(loaded.predict(rows), model.predict(rows) + 1.0)
    loaded.save(path)
    assert "checksum" in json.loads(path.read_text())
    assert dump_model(load_model(path)) == dump_model(loaded)


def flip_bytes(content, rng):
    """Damage that comes without a purpose: a bit turned over, the end cut off, a few other bytes."""
    kind, place = rng.integers(0, 4), int(rng.integers(0, len(content)))
    if kind == 0:
        return content[:place]
    changed = bytearray(content)
    if kind == 1:
        changed[place : place + int(rng.integers(0, 5))] = rng.bytes(int(rng.integers(0, 5)))
    else:
        changed[place] ^= 1 << int(rng.integers(0, 8))
    return bytes(changed)


@pytest.mark.parametrize("name", ["binary", "numbers, gaps"])
def test_chance_changes_no_score(name):
    """4 of 1,500 files with one bit turned over had loaded, with other scores than the model's."""
    model, _ = fitted(name)
    text = dump_model(model)
    content, rng = text.encode(), np.random.default_rng(17)
    for _ in range(N_FUZZ // 2):
        loaded, message = read(flip_bytes(content, rng))
        assert (loaded is None and message.startswith("model.json")) or dump_model(loaded) == text


@pytest.mark.parametrize("name", ["numbers", "mixed, integers", "binary"])
def test_a_coefficient_of_zero_is_as_good_as_any(name):
    """Someone who edits a file switches a rule off with 0."""
    model, rows = fitted(name)
    document = document_of(model)
    place = next(k for k, term in enumerate(document["terms"]) if "conditions" in term)
    document["terms"][place]["coefs"] = [0] * len(document["intercepts"])
    loaded = parse_model(json.dumps(document).encode())
    row = loaded.rules_[place]
    assert row.coefficient == 0.0
    assert "+0" in repr(loaded.rules_)
    assert " ".join(row.text.split()) in " ".join(to_text(loaded).split())  # which has lines of a few words
    scores = scores_of(model, rows)
    without = np.outer(model.transform_rules(rows)[:, place], np.atleast_2d(model.model_.coefs)[:, place])
    np.testing.assert_allclose(scores_of(loaded, rows), scores - without.reshape(scores.shape), atol=1e-9)
    assert loaded.predict(rows).shape == (len(rows),)
    assert loaded.explain(rows[:2])[0].sentences
    again = parse_model(dump_model(loaded).encode())
    np.testing.assert_array_equal(scores_of(again, rows), scores_of(loaded, rows))
    assert dump_model(again) == dump_model(loaded)


# Files that would take long, or much memory.


def test_an_oversized_file_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    fitted("binary")[0].save(path)
    monkeypatch.setattr(_checked_json, "MAX_BYTES", 1000)
    with pytest.raises(InvalidInputError, match="larger than 1000 bytes"):
        load_model(path)
    with pytest.raises(InvalidInputError, match="The model is larger than 1000 bytes"):
        fitted("binary")[0].save(path)


def test_equal_keys_are_found_at_once():
    """60,000 equal keys took more than a minute, each compared with all others."""
    keys = ", ".join(f'"{k}": 1' for k in range(200_000))
    start = time.perf_counter()
    with pytest.raises(InvalidInputError, match="the key '7' appears twice"):
        parse_model(f'{{{keys}, "7": 2}}'.encode())
    with pytest.raises(InvalidInputError, match="the key 'a' appears twice"):
        parse_model(b'{"a": 1' + b', "a": 1' * 200_000 + b"}")
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize(
    "part", [b"[],", b"{},", b'"ab",', b'{"a":0},', b"[1.5],", b"1,", b'{"a":[{"b":"cd"}]},', b"["]
)
def test_memory_is_known_before_it_is_taken(part):
    """90 MB of `[]` took 2.4 GB: what JSON takes in memory is estimated from its punctuation, and no value is made."""
    small = b"[" + part * 10_000 + b"0]"
    if part != b"[":
        tracemalloc.start()
        json.loads(small)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        estimate = sum(cost * small.count(mark) for mark, cost in _checked_json._COSTS.items())
        assert 0.8 * peak < estimate < 5 * peak + 10_000
    large = b"[" + part * (90_000_000 // len(part)) + b"0]"
    tracemalloc.start()
    with pytest.raises(InvalidInputError, match="GB of memory once it is read; a model file may take 1 GB"):
        parse_model(large)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20


def test_a_model_of_many_terms_comes_back():
    """The limits leave room: 12,000 terms and their path are a tenth of what they allow."""
    document = document_of(fitted("numbers")[0])
    term = next(term for term in document["terms"] if "conditions" in term)
    n_terms, n_points = 12_000, len(document["outputs"][0]["path"]["values"])
    rules = [[{"feature": k % 10, "lower": k / 7.0}] for k in range(n_terms)]
    document["terms"] = [{**term, "conditions": rule} for rule in rules]
    document["candidates"][0].update(rules=rules, aliases=[[]] * n_terms)
    columns, values = list(range(n_terms)), [k / 3.0 for k in range(n_terms)]
    empty = [[[], []]] * (n_points - 3)
    document["outputs"][0]["path"]["coefs"] = [*empty, *([[columns, values]] * 3)]
    model = parse_model(json.dumps(document).encode())
    text = dump_model(model)
    assert len(text) < _checked_json.MAX_BYTES / 10
    loaded = parse_model(text.encode())
    assert len(loaded.rules_) == n_terms
    np.testing.assert_array_equal(loaded.path_.coefs, model.path_.coefs)


def test_a_long_name_is_not_repeated_without_end(monkeypatch):
    """A name of a megabyte in each of 100,000 rules would be 100 GB of words."""
    monkeypatch.setattr(saved, "MAX_WORDS", 2**22)
    content = damaged(put("features", 0, "name", "x" * 2**20), "numbers")
    with pytest.raises(InvalidInputError, match="`terms` must be terms of no more than 4194304 characters in words"):
        parse_model(content)
    monkeypatch.setattr(saved, "MAX_WORDS", 100)
    with pytest.raises(InvalidInputError, match="a model file may have 100"):
        dump_model(fitted("numbers")[0])


def test_terms_of_the_front_are_not_repeated_without_end(monkeypatch):
    """Shortening puts them into words, names of any length in each."""
    model, _ = fitted("numbers")
    document = document_of(model)
    document["terms"] = []
    document["features"][0]["name"] = "x" * 2**20
    monkeypatch.setattr(saved, "MAX_WORDS", 2**22)
    with pytest.raises(InvalidInputError, match=r"`front.terms` must be terms of no more than 4194304 characters"):
        parse_model(json.dumps(document).encode())
    monkeypatch.setattr(saved, "MAX_WORDS", sum(len(row.text) for row in model.rules_) // 2)
    with pytest.raises(InvalidInputError, match=r"The front of the model has \d+ characters; a model file may have"):
        dump_model(model)


def test_a_front_of_many_classes_takes_no_tables_in_advance(monkeypatch):
    """Places of terms and empty coefficients are short; a table of lines times terms times classes is not."""
    model, _ = fitted("mixed, integers")
    n_cells = sum(np.size(line.fitted.model.coefs) for line in model.front_)
    content = json.dumps(document_of(model)).encode()
    n_most = max(path.coefs.size for path in model.path_) * len(model.path_)
    assert n_cells < n_most  # so that the limit below is that of the front
    front = json.loads(content)["front"]
    front["lines"] *= n_most // n_cells + 1
    monkeypatch.setattr(saved, "MAX_CELLS", n_most)
    assert parse_model(content).front_ is not None
    with pytest.raises(InvalidInputError, match=f"`front.lines` must be lines of no more than {n_most} coefficients"):
        parse_model(json.dumps({**json.loads(content), "front": front}).encode())


def test_what_could_not_be_read_is_not_written(monkeypatch):
    monkeypatch.setattr(model_file, "MAX_CELLS", 1000)
    with pytest.raises(InvalidInputError, match="coefficients; a model file may have 1000 for each output"):
        dump_model(fitted("numbers")[0])


def test_what_is_no_file_says_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "none.json")
    with pytest.raises(InvalidInputError, match="is a folder; give one file"):
        load_model(tmp_path)
    os.mkfifo(tmp_path / "pipe")  # nobody will ever write to it
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(InvalidInputError, match="is a pipe or a device"):
            load_model(path)


def test_a_small_file_cannot_ask_for_much_memory():
    """Zeros of a path take no room in the file: a few megabytes could ask for terabytes."""

    def change(document):
        path = document["outputs"][0]["path"]
        n_points = 70_000
        for name, value in path.items():
            if isinstance(value, list):
                path[name] = [[[], []] if name == "coefs" else value[0]] * n_points
        document["candidates"][0]["rules"] = document["candidates"][0]["rules"] * 60
        document["candidates"][0]["aliases"] = [[]] * len(document["candidates"][0]["rules"])

    with pytest.raises(InvalidInputError, match="the points of a path"):
        parse_model(damaged(change, "binary"))


def test_many_classes_and_terms_take_no_table_in_advance():
    """20,000 classes and 20,000 empty terms are a small file; a table of their coefficients would take 3 GB."""
    n_classes = 20_000

    def change(document):
        document["classes"] = {"dtype": "int64", "labels": list(range(n_classes))}
        document["intercepts"] = [0] * n_classes
        document["class_shares"] = [0] * n_classes
        document["calibration"] = None
        document["terms"] = [document["terms"][0], *[{}] * n_classes]

    content = damaged(change)
    tracemalloc.start()
    with pytest.raises(InvalidInputError, match="a list of 20000; got a list of 3"):
        parse_model(content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * 2**20


class Watch:
    """What Python is asked to do while a file is read: nothing but reading."""

    forbidden = frozenset(
        {"exec", "compile", "import", "os.system", "os.exec", "subprocess.Popen", "pickle.find_class"}
    )

    def __init__(self):
        self.active = False
        self.seen = []
        sys.addaudithook(self.note)

    def note(self, event, arguments):
        if self.active and event in self.forbidden:
            self.seen.append((event, arguments))


@pytest.fixture(scope="module")
def watch():
    return Watch()


HOSTILE_VALUES = [
    *(None, True, False, 0, -1, 1, 2, 10**18, -(10**18), 1e308, -1e308, 5e-324, 0.5, -0.0, "", "inf", "-inf", "nan"),
    *("__import__('os').system('true')", "os.system", "x" * 10_000, "\ud800", "\0", [], {}, [[]], [[], []], [1, 2]),
    *({"float": "nan"}, {"float": 1}, {"omitted": "x"}, {"pairs": [[[], 1]]}, {"pairs": [[1, 2]]}, {"slope": 1}),
    *({"__reduce__": ["os.system", ["true"]]}, {"py/object": "os.system"}, {"$ref": "#"}, [0] * 1000),
    *({"solver": "Glmnet", "parameters": {}}, {"solver": "Glmnet", "parameters": {"relax": "x"}}, "Glmnet", "auto"),
    *({"loss": "tweedie", "parameters": {}}, {"loss": "tweedie", "parameters": {"power": "x"}}),
]


def places_of(value, way=()):
    """Every place of a document."""
    yield way
    if isinstance(value, (dict, list)):
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places_of(item, (*way, step))


def mutate(text, places, rng):
    """Damage a model file in one of many ways."""
    kind = rng.integers(0, 8)
    if kind == 0:
        return text[: rng.integers(0, len(text))].encode()
    if kind == 1:
        raw = bytearray(text.encode())
        for place in rng.integers(0, len(raw), size=rng.integers(1, 4)):
            raw[place] = rng.integers(0, 256)
        return bytes(raw)
    if kind == 2:
        start, length = rng.integers(0, len(text)), rng.integers(1, 200)
        return (text[:start] + text[start + length :]).encode()
    if kind == 3:
        deep = int(rng.integers(10, 30_000))
        return text.replace(":", ":" + "[" * deep, 1).encode()
    if kind == 4:
        numbers = ["NaN", "Infinity", "1e999", "-1e999", "9" * 400, "1" + "0" * 30, "1.0", "true"]
        start = int(rng.integers(0, len(text) - 1))
        place = next((k for k in range(start, len(text)) if text[k].isdigit()), 0)
        return (text[:place] + str(rng.choice(numbers)) + text[place + 1 :]).encode()
    document = json.loads(text)
    *way, last = places[rng.integers(1, len(places))]
    owner = document
    for step in way:
        owner = owner[step]
    if kind == 5:
        del owner[last]
    elif kind == 6 and isinstance(owner, dict):
        written = json.dumps(owner)
        return json.dumps(document).replace(written, f"{written[:-1]}, {json.dumps(last)}: 1}}", 1).encode()
    else:
        owner[last] = HOSTILE_VALUES[rng.integers(0, len(HOSTILE_VALUES))]
    return json.dumps(document).encode()


def test_damaged_files_give_one_clear_error_or_load(watch):
    """Fuzzing: a damaged file is refused with an InvalidInputError, or is a valid file still and predicts."""
    rng = np.random.default_rng(5)
    names = ["mixed, integers", "mixed, floats", "iris, multinomial", "numbers, gaps", "binary, isotonic"]
    texts = [json.dumps(document_of(fitted(name)[0])) for name in names]  # a checksum would end it all too early
    places = [_top_heavy(json.loads(text)) for text in texts]
    n_refused = 0
    for case in range(N_FUZZ):
        pick = case % len(names)
        content = mutate(texts[pick], places[pick], rng)
        watch.active = True
        model, message = read(content)
        watch.active = False
        if model is None:
            n_refused += 1
            assert message.startswith("model.json")
            assert len(message) < 600
            continue
        assert len(score_zeros(model)) == 3
        assert shortens_or_says_why(model)
    assert watch.seen == []
    assert n_refused > N_FUZZ / 2


def read(content):
    """The model of a file, or the words of the error."""
    try:
        return parse_model(content, "model.json"), ""
    except InvalidInputError as error:
        return None, str(error)


def score_zeros(model):
    """Scores of three rows of zeros, for attributes whatever they became."""
    own = model.model_
    with np.errstate(all="ignore"):
        return own.score(Columns(own.features, np.zeros((3, len(own.features)))))


def shortens_or_says_why(model):
    """Whether a model of a strange file gives a list of three terms, or one clear error."""
    try:
        with np.errstate(all="ignore"):
            return len(score_zeros(model.shorten(3))) == 3
    except InvalidInputError as error:
        return "front" in str(error) or "shortest list" in str(error)


def _top_heavy(document):
    """Places of a document, those of long lists of numbers not more often than the others."""
    return [way for way in places_of(document) if all(not isinstance(step, int) or step < 3 for step in way)]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=max(60, N_FUZZ // 10), deadline=None)
@given(json_values, st.data())
def test_any_value_at_any_place(value, data):
    document = document_of(fitted("numbers, gaps")[0])
    *way, last = data.draw(st.sampled_from(_top_heavy(document)[1:]))
    put(*way, last, value)(document)
    loaded, message = read(json.dumps(document).encode())
    if loaded is None:
        assert message.startswith("model.json")
    else:
        assert score_zeros(loaded).shape == (3,)
        assert shortens_or_says_why(loaded)


@settings(max_examples=max(60, N_FUZZ // 10), deadline=None)
@given(kind=st.sampled_from(KINDS), value=json_values, data=st.data())
def test_any_value_at_any_place_whatever_the_target_is(kind, value, data):
    """Levels that do not rise, names that are missing, a hazard that falls: a model, or the place of what is wrong."""
    document = document_of(fitted_kind(kind))
    *way, last = data.draw(st.sampled_from(_top_heavy(document)[1:]))
    put(*way, last, value)(document)
    loaded, message = read(json.dumps(document).encode())
    if loaded is None:
        assert message.startswith("model.json")
    else:
        assert len(score_zeros(loaded)) == 3
        assert shortens_or_says_why(loaded)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("quantiles", {"name": "quantile", "levels": [0.1, 0.9]}),
        ("quantile", {"name": "quantile", "levels": [0.1, 0.5, 0.9]}),
        ("shared", {"name": "several", "names": ["a", "b", "c"]}),
        ("poisson", {"name": "several", "names": ["a", "b"]}),
        ("quantiles", None),
    ],
)
def test_a_file_whose_outputs_are_not_those_of_its_loss_is_refused(kind, value):
    document = document_of(fitted_kind(kind))
    assert "loss" in document
    document["loss"] = value
    loaded, message = read(json.dumps(document).encode())
    assert loaded is None
    assert message.startswith("model.json is not a valid model file")


def test_glmnet_of_the_first_layout_is_auto():
    """In the first layout the name stood for what suits the data."""
    content = (REFERENCE / "model-v1-classifier.json").read_bytes()
    assert json.loads(content)["parameters"]["solver"] == "glmnet"
    loaded = parse_model(content)
    assert loaded.solver == "auto"
    document = document_of(loaded)
    assert (document["version"], document["parameters"]["solver"]) == (2, "auto")
    document["parameters"]["solver"] = "glmnet"
    assert parse_model(json.dumps(document).encode()).solver == "glmnet"


def write_references():
    """Write the reference files of the newest layout; those of older ones stay as they are."""
    for name, (estimator, X, y, own) in REFERENCE_MODELS.items():
        path = REFERENCE / f"model-v{saved.VERSION}-{name}.json"
        model = estimator(n_candidates=8, max_terms=6, cv=2, honest_cv=False, random_state=0, n_jobs=1, **own).fit(X, y)
        model.save(path)
        rows = hard_rows(model, X, 30)
        stored = {"rows": as_records(rows), "scores": scores_of(model, rows).tolist()}
        stored["predictions"] = model.predict(rows).tolist()
        if hasattr(model, "classes_"):
            stored["probabilities"] = model.predict_proba(rows).tolist()
        path.with_suffix(".scores.json").write_text(json.dumps(stored) + "\n")


if __name__ == "__main__":
    write_references()
