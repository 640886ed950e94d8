"""Models compared on rows: against the benchmark's own identities, plain figures, every kind of model, bad input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1
from sklearn.metrics import log_loss

import rulegrove
from benchmarks import steadiness
from inspected_models import fit
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, RuleEnsembleSurvival, load_model
from rulegrove.datasets import load
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import jaccard


def make(kind=RuleEnsembleClassifier, **changes):
    return kind(**{"n_candidates": 100, "cv": 2, "honest_cv": False, "n_jobs": 1, "max_terms": 10, **changes})


@pytest.fixture(scope="module")
def pair():
    X, y = load("pima", return_X_y=True)
    models = [make(random_state=seed).fit(X[rows], y[rows]) for seed, rows in enumerate((slice(400), slice(200, 600)))]
    return models, X[600:], y[600:], rulegrove.compare(*models, X[600:], y[600:])


@pytest.mark.parametrize("name", ["pima", "iris", "vehicle"])
def test_identities_are_those_of_the_benchmark(name):
    """Which compares bounds in plain loops."""
    X, y = load(name, return_X_y=True)
    a, b = (make(random_state=seed, terms="rules").fit(X[seed::2], y[seed::2]) for seed in (0, 1))
    found = rulegrove.compare(a, b, X)
    lists = [[steadiness.tell_term(term) for term in model.model_.terms] for model in (a, b)]
    tenths = np.nanquantile(X, np.arange(1, 10) / 10, axis=0)
    words = [{steadiness.name_words(term) for term in terms} for terms in lists]
    deciles = [{steadiness.name_deciles(term, tenths) for term in terms} for terms in lists]
    assert found.shared["words"] == pytest.approx(jaccard(*words))
    assert found.shared["deciles"] == pytest.approx(jaccard(*deciles))
    assert found.shared["rows"] == pytest.approx(steadiness.compare_coverage(*lists, X))
    assert found.n_a + found.n_b == sum(2 - (term.how in "ab") for term in found.terms)


def test_rows_are_those_of_the_predictions(pair):
    (a, b), X, y, found = pair
    change = np.abs(a.predict_proba(X) - b.predict_proba(X)).max(axis=1)
    np.testing.assert_allclose(found.rows.change, change, rtol=1e-12)
    np.testing.assert_array_equal(found.rows.otherwise, a.predict(X) != b.predict(X))
    frame = found.to_frame("rows", backend="pandas")
    assert frame["change"].is_monotonic_decreasing
    np.testing.assert_array_equal(frame["predicted_a"], a.predict(X)[frame["row"]])
    np.testing.assert_array_equal(frame["observed"], np.asarray(y)[frame["row"]])


def test_errors_are_paired(pair):
    (a, b), X, y, found = pair
    wrong, loss = found.rows.errors
    differences = (a.predict(X) != y).astype(float) - (b.predict(X) != y)
    assert wrong.a == pytest.approx(1.0 - a.score(X, y))
    assert wrong.difference == pytest.approx(differences.mean())
    assert wrong.difference_se == pytest.approx(pd.Series(differences).sem())
    assert (loss.a, loss.b) == pytest.approx([log_loss(y, model.predict_proba(X)) for model in (a, b)])


def test_whom_a_change_concerns_is_found():
    """One of two models knows a rule that the other has never seen."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(800, 4)).round(3), columns=["age", "mass", "rate", "dose"])
    before = np.where(X["age"] > 0.5, "ill", "well")
    after = np.where((X["age"] > 0.5) | (X["dose"] > 0.8), "ill", "well")
    a, b = (make(terms="rules", random_state=0).fit(X, y) for y in (before, after))
    found = rulegrove.compare(a, b, X)
    assert any("dose >" in one.text for one in found.rows.concerned)
    otherwise = found.rows.otherwise
    for one in found.rows.concerned:
        held = X.query(one.text).index
        assert one.n_rows == len(held)
        assert one.inside == pytest.approx(otherwise[held].mean())
        assert one.outside == pytest.approx(np.delete(otherwise, held).mean())


def test_a_model_is_itself(pair):
    (a, _), X, y, _ = pair
    found = rulegrove.compare(a, a, X, y)
    assert {term.how for term in found.terms} == {"words"}
    assert set(found.shared.values()) == {1.0}
    assert not found.rows.change.any()
    assert found.rows.concerned == ()
    assert found.row_cells() == {}
    assert all(own.difference == 0.0 == own.difference_se for own in found.rows.errors)


def test_files_and_frames_with_columns_of_the_other(tmp_path):
    table, y = load("pima", return_X_y=True)[0], load("pima", return_X_y=True)[1]
    table = pd.DataFrame(table, columns=list("abcdefgh"))
    a, b = make(random_state=0).fit(table[list("abcdef")], y), make(random_state=0).fit(table[list("hbcgda")], y)
    for name, model in (("a", a), ("b", b)):
        model.save(tmp_path / f"{name}.json")
    found = rulegrove.compare(*(load_model(tmp_path / f"{name}.json") for name in "ab"), table, y)
    np.testing.assert_array_equal(found.rows.predicted_a, a.predict(table[list("abcdef")]))
    np.testing.assert_array_equal(found.rows.predicted_b, b.predict(table[list("hbcgda")]))
    assert repr(found) == repr(rulegrove.compare(a, b, table, y))


@pytest.mark.parametrize("kind", ["regression", "two classes", "three classes", "linear only", "one term", "no terms"])
def test_every_kind_of_model(kind):
    model, table, y, _ = fit(kind)
    short = model.shorten(max_terms=1)
    found = rulegrove.compare(model, short, table, y)
    np.testing.assert_array_equal(found.rows.predicted_b, short.predict(table))
    assert len(found.rows.errors) == (2 if kind.endswith("classes") else 1)
    assert repr(found)
    assert found._repr_html_()


def test_numbers_have_squared_errors():
    X, y = make_friedman1(300, random_state=0)
    a, b = (make(RuleEnsembleRegressor, random_state=seed).fit(X[:200], y[:200]) for seed in (0, 1))
    [errors] = rulegrove.compare(a, b, X[200:], y[200:]).rows.errors
    assert errors.a == pytest.approx(np.mean((a.predict(X[200:]) - y[200:]) ** 2))
    both = np.column_stack([y, 100.0 * y])
    one, other = (make(RuleEnsembleRegressor, random_state=seed).fit(X[:200], both[:200]) for seed in (0, 1))
    [errors] = rulegrove.compare(one, other, X[200:], both[200:]).rows.errors
    expected = np.mean((one.predict(X[200:]) - both[200:]) ** 2 / both[200:].var(axis=0))
    assert errors.a == pytest.approx(expected)


def test_bad_input_is_refused(pair):
    (a, b), X, y, _ = pair
    regressor = fit("regression")[0]
    with pytest.raises(InvalidInputError, match="a is a RuleEnsembleClassifier, b is a RuleEnsembleRegressor"):
        rulegrove.compare(a, regressor)
    with pytest.raises(InvalidInputError, match="give both, or neither"):
        rulegrove.compare(a, b, y=y)
    with pytest.raises(InvalidInputError, match="which is not a class of the model"):
        rulegrove.compare(a, b, X, ["other"] * len(X))
    with pytest.raises(InvalidInputError, match="No rows were compared"):
        rulegrove.compare(a, b).to_frame("rows")
    with pytest.raises(InvalidInputError, match="`of` must be 'terms' or 'rows'"):
        rulegrove.compare(a, b).to_frame("rules")
    times = np.column_stack([np.linspace(1.0, 9.0, len(X)), np.tile([1, 0], len(X) // 2)])
    survival = make(RuleEnsembleSurvival, random_state=0).fit(X, times)
    assert rulegrove.compare(survival, survival, X).rows is not None
    with pytest.raises(InvalidInputError, match="Errors can be compared for classes and numbers only"):
        rulegrove.compare(survival, survival, X, times)
