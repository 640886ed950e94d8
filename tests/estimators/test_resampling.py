"""Lists made anew: families by naive comparison; true rules come back, noise does not; the rest of a fit stays."""

import functools
import itertools

import numpy as np
import pandas as pd
import pytest

from rulegrove import Fpc, Glmnet, Pathbuild, RuleEnsembleClassifier, RuleEnsembleRegressor, engines
from rulegrove.columns import Columns, Feature
from rulegrove.datasets import load
from rulegrove.design.terms import Linear
from rulegrove.estimators._resampling import _find_entries, _find_lengths, _Seen
from rulegrove.estimators._training import TrainingData
from rulegrove.estimators.front import LONGEST
from rulegrove.estimators.recurrence import NEVER
from rulegrove.estimators.steady import ALIKE
from rulegrove.rules.rule import Condition, Rule

SMALL = {"n_candidates": 100, "random_state": 0, "n_jobs": 1}


@functools.cache
def fit(name="pima", n_resamples=12, **settings):
    X, y = load(name, return_X_y=True)
    return RuleEnsembleClassifier(n_resamples=n_resamples, **SMALL | settings).fit(X, y)


def list_returns(model):
    return [row.returns for row in model.rules_]


def make_rule(rng):
    feature = int(rng.integers(3))
    bound = round(float(rng.normal()), 1)
    return Rule((Condition(feature, lower=bound) if rng.random() < 0.5 else Condition(feature, upper=bound),))


@pytest.mark.parametrize("seed", range(5))
def test_families_are_found_as_by_comparing_rows(seed):
    """A rule's family is there from the length on at which the first rule on nearly the same rows enters."""
    rng = np.random.default_rng(seed)
    block = rng.normal(size=(3, 200))
    columns = Columns(tuple(Feature(name) for name in "abc"), list(block), 200)
    data = TrainingData(columns, np.zeros((200, 1)), 0.0, None, np.arange(200))
    terms = list(
        dict.fromkeys([make_rule(rng) for _ in range(15)] + [Linear(place, 0.0, 1.0, 0.5) for place in range(2)])
    )
    orders = []
    for _ in range(2):  # orders, each of two outputs
        pool = list(
            dict.fromkeys([make_rule(rng) for _ in range(30)] + [Linear(1, -1.0, 1.0, 0.0), Linear(2, 0.0, 1.0, 0.5)])
        )
        orders.append([[pool[place] for place in rng.permutation(len(pool))[:20]] for _ in range(2)])
    common = np.arange(50, 180)
    seen = _Seen.of(data, common, [term for term in terms if isinstance(term, Rule)])
    entries, near = _find_entries(data, common, terms, seen, orders)
    held = block[:, common]

    def agree(one, other):
        if isinstance(one, Rule) != isinstance(other, Rule):
            return 0.0
        if not isinstance(one, Rule):
            return float(one.feature == other.feature)
        first, second = one.holds(held), other.holds(held)
        return np.sum(first & second) / max(1, np.sum(first | second))

    for order, lists in enumerate(orders):
        for place, term in enumerate(terms):
            lengths = [
                length
                for terms_of in lists
                for length, other in enumerate(terms_of, start=1)
                if agree(term, other) >= ALIKE
            ]
            assert entries[order, place] == min(lengths, default=NEVER)
    others = set(itertools.chain(*itertools.chain(*orders)))
    for term, rule in zip(terms, near, strict=True):
        best = max(agree(term, other) for other in others)
        if isinstance(term, Rule) and best >= ALIKE:
            assert agree(term, rule) == best
        else:
            assert rule is None


def test_a_term_enters_where_the_first_output_has_it():
    a, b, c = (Rule((Condition(place, lower=0.0),)) for place in range(3))
    assert _find_lengths([[a, b], [b, c, a]]) == {a: 1, b: 1, c: 2}
    assert _find_lengths([[], []]) == {}


@pytest.mark.parametrize("name", ["pima", "iris"])
def test_nothing_else_of_a_fit_changes(name):
    plain, model = fit(name, 0), fit(name)
    assert [row.text for row in plain.rules_] == [row.text for row in model.rules_]
    np.testing.assert_array_equal(plain.coef_, model.coef_)
    np.testing.assert_array_equal(plain.intercept_, model.intercept_)
    np.testing.assert_array_equal(plain.front_.to_frame(), model.front_.to_frame())
    assert list_returns(plain) == [None] * len(plain.rules_)
    assert plain.front_.recurrence is None
    assert all(0.0 < chance < 1.0 for chance in list_returns(model))


def test_threads_have_no_say():
    one, two = fit(), fit(n_jobs=2)
    assert list_returns(one) == list_returns(two)
    assert [row.spans for row in one.rules_] == [row.spans for row in two.rules_]


@pytest.mark.parametrize("max_terms", [3, 10, "auto"])
def test_a_fit_with_a_length_tells_what_the_shortened_one_does(max_terms):
    fitted, shortened = fit(max_terms=max_terms), fit().shorten(max_terms)
    assert [row.text for row in fitted.rules_] == [row.text for row in shortened.rules_]
    assert list_returns(fitted) == list_returns(shortened)


def test_terms_of_a_large_model_are_looked_for_in_large_models():
    """These are only made anew where the large model was chosen."""
    fitted, shortened = fit("sonar", max_terms=None, n_candidates=600), fit("sonar", n_candidates=600).shorten(None)
    assert len(shortened.rules_) > LONGEST
    assert list_returns(shortened) == [None] * len(shortened.rules_)
    assert None not in list_returns(fitted)


def test_an_odd_number_of_lists_leaves_a_half_alone():
    assert fit(n_resamples=3).front_.recurrence.n_resamples == 3


def test_a_true_rule_comes_back_and_noise_does_not():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(600, 6))
    y = rng.random(600) < 0.1 + 0.8 * ((X[:, 0] > 0.5) & (X[:, 1] <= 0.6))
    model = RuleEnsembleClassifier(terms="rules", n_resamples=20, max_terms=10, **SMALL).fit(X, y)
    true = [
        row for row in model.rules_ if np.corrcoef(row.term.holds(X.T), (X[:, 0] > 0.5) & (X[:, 1] <= 0.6))[0, 1] > 0.9
    ]
    [row] = true
    assert row.returns > 0.5
    bounds = {(span.feature, span.is_lower): span for span in row.spans}
    assert bounds[0, True].low - 0.05 <= 0.5 <= bounds[0, True].high + 0.05
    assert bounds[1, False].low - 0.05 <= 0.6 <= bounds[1, False].high + 0.05
    noise = RuleEnsembleClassifier(terms="rules", n_resamples=20, max_terms=10, **SMALL).fit(X, rng.permutation(y))
    longest = noise.shorten(10) if len(noise.rules_) < 10 else noise
    assert np.mean(list_returns(longest) or [0.0]) < 0.3


X_PIMA, Y_PIMA = load("pima", return_X_y=True)
FITS = {
    "classes that share rules": lambda: fit("iris", multiclass="shared"),
    "large model": lambda: fit(max_terms=None),
    "stable": lambda: fit(stable=True),
    "lines": lambda: fit(terms="linear"),
    "readable": lambda: fit(preset="readable"),
    "accurate": lambda: fit(preset="accurate"),
    "evidence": lambda: fit(evidence="split"),
    "Pathbuild": lambda: fit(solver=Pathbuild()),
    "Fpc": lambda: fit(solver=Fpc()),
    "log loss": lambda: fit(solver=Glmnet(loss="logistic")),
    "a point": lambda: fit(selection=0.05),
    "monotonic": lambda: RuleEnsembleClassifier(monotonic={1: 1}, n_resamples=4, **SMALL).fit(X_PIMA, Y_PIMA),
    "forced": lambda: RuleEnsembleClassifier(
        rules=["x1 > 120", "x5 > 30 and x7 > 40"], force_rules=True, n_resamples=4, **SMALL
    ).fit(X_PIMA, Y_PIMA),
    "given rules alone": lambda: RuleEnsembleClassifier(
        rules=["x1 > 120", "x5 > 30 and x7 > 40"], n_resamples=4, **SMALL | {"n_candidates": 0}
    ).fit(X_PIMA, Y_PIMA),
    "weights": lambda: RuleEnsembleClassifier(n_resamples=4, **SMALL).fit(
        X_PIMA, Y_PIMA, sample_weight=np.arange(len(Y_PIMA)) % 3
    ),
    "numbers": lambda: RuleEnsembleRegressor(n_resamples=4, **SMALL).fit(X_PIMA[:, :7], X_PIMA[:, 7]),
    "huge numbers": lambda: RuleEnsembleRegressor(n_resamples=4, **SMALL).fit(X_PIMA[:, :7], 1e200 * X_PIMA[:, 7]),
}


@pytest.mark.parametrize("kind", FITS)
def test_every_kind_of_fit_knows_it(kind):
    model = FITS[kind]()
    assert len(model.rules_)
    assert all(row.returns is not None and 0.0 < row.returns < 1.0 for row in model.rules_)
    for row in model.rules_:
        for span in row.spans:
            assert span.low <= span.high


def test_numbers_in_any_unit_come_back_alike():
    model, huge = FITS["numbers"](), FITS["huge numbers"]()
    assert list_returns(model) == list_returns(huge)


@pytest.mark.parametrize("y", [np.arange(12) % 2, np.repeat([0, 1], 6)])
def test_hardly_any_rows(y):
    X = np.random.default_rng(0).normal(size=(12, 2))
    model = RuleEnsembleClassifier(n_resamples=4, max_terms=3, **SMALL).fit(X, y)
    assert model.front_.recurrence.n_resamples == 4


def test_tables_in_parts_say_what_they_say_in_memory(tmp_path):
    X, y = load("pima", return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])]).assign(y=y)
    for part in range(3):
        frame.iloc[part::3].to_parquet(tmp_path / f"{part}.parquet")
    rows = pd.concat([frame.iloc[part::3] for part in range(3)], ignore_index=True)
    model = RuleEnsembleClassifier(n_resamples=6, **SMALL)
    ours = model.fit(rows.drop(columns="y"), rows["y"])
    theirs = engines.fit(RuleEnsembleClassifier(n_resamples=6, **SMALL), str(tmp_path / "*.parquet"), target="y")
    assert [row.text for row in ours.rules_] == [row.text for row in theirs.rules_]
    assert list_returns(ours) == list_returns(theirs)
