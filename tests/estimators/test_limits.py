"""Attributes that may be together in a rule: as they are asked for, and in all rules of whole fits.

Beyond the mirror of the module: trees, folds, trees of others and an expert's rules keep this promise together.
"""

import itertools
from contextlib import contextmanager, nullcontext
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, load_model
from rulegrove.columns import Feature
from rulegrove.estimators import _fitting, autos
from rulegrove.estimators._growing import grow_rules
from rulegrove.estimators._limits import Limits, check_limits, resolve_limits
from rulegrove.exceptions import DroppedRuleWarning, InvalidInputError
from rulegrove.inspection import interaction_null
from rulegrove.rules.extract import extract_rules
from rulegrove.rules.rule import Condition, Rule
from rulegrove.trees.foreign import read_trees

NAMES = ["age", "income", "wave", "town", "height"]
SMALL = {"n_candidates": 60, "cv": 2, "random_state": 0, "n_jobs": 1}
FEATURES = [
    Feature("age"),
    Feature("sold", part="date"),
    Feature("sold.month", column="sold", part="month"),
    Feature("town", ("north", "south")),
]
COLUMNS = ["id", "age", "sold", "town"]


def make_table(n_rows=200, seed=0):
    """Numbers with missing values and a category, and a target of which all pairs of attributes tell."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_rows, 5))
    values[:, 3] = rng.integers(0, 4, n_rows)
    signs = np.where(values > np.median(values, axis=0), 1.0, -1.0)
    y = sum(signs[:, a] * signs[:, b] for a, b in itertools.combinations(range(5), 2)) + rng.normal(size=n_rows)
    values[rng.random(values.shape) < 0.05] = np.nan
    table = pd.DataFrame(values, columns=NAMES)
    table["town"] = table["town"].map({0.0: "north", 1.0: "south", 2.0: "east", 3.0: "west"})
    return table, y


TABLE, Y = make_table()
TARGETS = {
    "number": (RuleEnsembleRegressor, Y, {}),
    "two": (RuleEnsembleClassifier, Y > 0, {}),
    "three": (RuleEnsembleClassifier, np.digitize(Y, [-1.0, 2.0]), {"multiclass": "ovr"}),
    "three, shared": (RuleEnsembleClassifier, np.digitize(Y, [-1.0, 2.0]), {"multiclass": "shared"}),
    "stable": (RuleEnsembleRegressor, Y, {"stable": True}),
    "several runs": (RuleEnsembleClassifier, Y > 0, {"n_runs": 2}),
}


@contextmanager
def all_rules():
    """Gather the rules that are grown meanwhile, those of the folds among them."""
    found = []

    def watch(*arguments):
        found.append(grow_rules(*arguments))
        return found[-1]

    rules = set()
    with mock.patch.object(_fitting, "grow_rules", watch):
        yield rules
    rules.update(rule for candidates in found for rule in candidates[0])


def rules_of(model):
    """Return all rules that a fitted model knows of: candidates, those they stand for, lists of every length."""
    rules = {row.term for row in model.rules_ if isinstance(row.term, Rule)}
    for place in range(len(model.front_)):
        rules |= {row.term for row in model.front_.list_rules(place) if isinstance(row.term, Rule)}
    for terms in model.candidates_:
        rules |= {*terms.rules, *(alias.rule for aliases in terms.aliases for alias in aliases)}
    return rules


def pairs_of(rules):
    """Return the pairs of attributes that are together in some rule."""
    return {pair for rule in rules for pair in itertools.combinations(rule.features, 2)}


def keeps_to(rule, groups, max_attributes):
    """Whether a rule is within limits; the groups are those of the user, positions all."""
    rest = set(range(5)) - set().union(*groups)
    return len(set(rule.features)) <= max_attributes and any(
        set(rule.features) <= set(group) for group in (*groups, rest)
    )


@settings(max_examples=25, deadline=None)
@given(
    target=st.sampled_from(list(TARGETS)),
    groups=st.lists(st.sets(st.integers(0, 4), min_size=1), max_size=4),
    max_attributes=st.integers(1, 4),
    max_features=st.sampled_from([None, 2]),
)
def test_every_rule_of_every_fit_keeps_to_its_limits(target, groups, max_attributes, max_features):
    kind, y, more = TARGETS[target]
    limits = {"interactions": groups, "max_attributes": max_attributes, "max_features": max_features}
    with all_rules() as grown:
        model = kind(**{**SMALL, "n_candidates": 30}, **more, **limits).fit(TABLE, y)
    assert grown
    for rule in grown | rules_of(model):
        assert keeps_to(rule, groups, max_attributes)


@settings(max_examples=12, deadline=None)
@given(groups=st.lists(st.sets(st.integers(0, 3), min_size=1), max_size=3), max_attributes=st.integers(1, 3))
def test_trees_of_others_give_the_nodes_that_keep_to_the_limits(groups, max_attributes):
    """All of them: those that break the limits take no place of `n_candidates`."""
    X = TABLE.drop(columns="town").to_numpy()
    model = RuleEnsembleRegressor(
        trees=FOREST, interactions=groups, max_attributes=max_attributes, max_correlation=1.0, **SMALL
    )
    nodes = set(extract_rules(read_trees(FOREST, [Feature(name) for name in "abcd"])))
    rest = set(range(4)) - set().union(*groups)
    kept = {
        rule
        for rule in nodes
        if len(rule.features) <= max_attributes and any(set(rule.features) <= one for one in (*groups, rest))
    }
    message = rf"{len(nodes) - len(kept)} of {len(nodes)} rules of `trees` combine attributes that"
    with pytest.warns(DroppedRuleWarning, match=message) if kept < nodes else nullcontext(), all_rules() as found:
        model.set_params(n_candidates=max(1, len(kept))).fit(X, Y)
    assert found == kept


FOREST = RandomForestRegressor(6, max_depth=4, random_state=0).fit(TABLE.drop(columns="town").to_numpy(), Y)


def test_without_limits_trees_of_others_give_what_they_gave():
    X = TABLE.drop(columns="town").to_numpy()
    plain = RuleEnsembleRegressor(trees=FOREST, **SMALL).fit(X, Y)
    wide = RuleEnsembleRegressor(trees=FOREST, max_attributes=4, interactions=[[0, 1, 2, 3]], **SMALL).fit(X, Y)
    np.testing.assert_array_equal(plain.predict(X), wide.predict(X))


@pytest.mark.parametrize("groups", [[{0, 1}], [{0, 1}, {1, 2}], [{0, 1, 2}, {2, 3}, {3, 4}], [{4}]])
def test_groups_mean_what_they_mean_in_scikit_learn(groups):
    """The attributes that are together in branches are the same, overlaps and attributes in no group included."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    signs = np.sign(X)
    y = sum(signs[:, a] * signs[:, b] for a, b in itertools.combinations(range(5), 2)) + 0.1 * X.sum(axis=1)
    boosted = HistGradientBoostingRegressor(interaction_cst=groups, max_iter=60, min_samples_leaf=5, random_state=0)
    with threadpool_limits(1):
        boosted.fit(X, y)
    theirs = set(extract_rules(read_trees(boosted, [Feature(name) for name in "abcde"])))
    with all_rules() as ours:
        RuleEnsembleRegressor(**{**SMALL, "n_candidates": 1000}, mean_leaves=9.0, interactions=groups).fit(X, y)
    assert pairs_of(ours) == pairs_of(theirs)
    rest = set(range(5)) - set().union(*groups)
    assert pairs_of(ours) == {pair for group in (*groups, rest) for pair in itertools.combinations(sorted(group), 2)}
    assert all(keeps_to(rule, groups, 5) for rule in ours | theirs)
    longest = {rule.features for rule in ours if len(rule.features) == max(len(group) for group in (*groups, rest))}
    assert longest <= {tuple(sorted(group)) for group in (*groups, rest)}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("max_features", [None, 2])
def test_limits_that_allow_everything_change_nothing(target, max_features):
    kind, y, more = TARGETS[target]
    parameters = {**SMALL, **more, "max_features": max_features}
    plain = kind(**parameters).fit(TABLE, y)
    for limits in ({"max_attributes": 5}, {"interactions": [["age"], NAMES]}, {"interactions": []}):
        wide = kind(**parameters, **limits).fit(TABLE, y)
        np.testing.assert_array_equal(plain.coef_, wide.coef_)
        assert [row.term for row in plain.rules_] == [row.term for row in wide.rules_]


def test_words_of_scikit_learn_count_attributes():
    for word, most in (("no_interactions", 1), ("pairwise", 2)):
        told = RuleEnsembleRegressor(interactions=word, **SMALL).fit(TABLE, Y)
        counted = RuleEnsembleRegressor(max_attributes=most, **SMALL).fit(TABLE, Y)
        np.testing.assert_array_equal(told.predict(TABLE), counted.predict(TABLE))
        assert max(len(rule.features) for rule in rules_of(told)) == most


def test_several_conditions_on_one_attribute_count_once():
    x = np.linspace(0.0, 1.0, 200)[:, None]
    model = RuleEnsembleRegressor(max_attributes=1, **SMALL).fit(x, (np.abs(x[:, 0] - 0.5) < 0.2) * 1.0)
    bounds = [condition for rule in model.candidates_.rules for condition in rule.conditions]
    assert any(np.isfinite([bound.lower, bound.upper]).all() for bound in bounds)


def test_lines_are_always_allowed():
    X = np.random.default_rng(0).normal(size=(200, 4))
    model = RuleEnsembleRegressor(interactions=[[0, 1]], terms="linear", **SMALL).fit(X, X @ [1.0, 2.0, 3.0, 4.0])
    assert len(model.rules_) == 4


def test_the_strongest_attributes_of_a_wide_table_keep_their_groups(monkeypatch):
    monkeypatch.setattr(autos, "MOST_SPLIT", 6)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 40))
    y = X[:, 5] + X[:, 20] + X[:, 33]
    with all_rules() as grown:
        RuleEnsembleRegressor(interactions=[[5, 20], [20, 33]], **SMALL).fit(X, y)
    assert {(5, 20), (20, 33)} <= pairs_of(grown)
    rest = set(range(40)) - {5, 20, 33}
    assert all(any(set(rule.features) <= group for group in ({5, 20}, {20, 33}, rest)) for rule in grown)


def test_what_is_kept_apart_does_not_interact_by_chance_either():
    table = TABLE.drop(columns="town")
    model = RuleEnsembleRegressor(interactions=[["age", "income"]], honest_cv=False, **SMALL).fit(table, Y)
    null = interaction_null(model, table, Y, n_repeats=2, random_state=0)
    apart = np.ix_([0, 1], [2, 3])
    assert not null.observed.pairs[apart].any()
    assert not null.pairs.replicates[:, apart[0], apart[1]].any()


def test_data_frames_and_arrays_say_the_same():
    numbers = TABLE.drop(columns="town")
    expected = RuleEnsembleRegressor(interactions=[[0, 2], [np.int64(1)]], **SMALL).fit(numbers.to_numpy(), Y)
    for table in (numbers, pl.from_pandas(numbers)):
        model = RuleEnsembleRegressor(interactions=(("age", "wave"), ("income",)), **SMALL).fit(table, Y)
        np.testing.assert_array_equal(model.predict(table), expected.predict(numbers.to_numpy()))


@pytest.mark.parametrize(
    ("given", "loaded"),
    [
        ([["age", "income"], ["wave"]], [["age", "income"], ["wave"]]),
        ((("age", 1), ["wave"]), [["age", 1], ["wave"]]),
        ([{1, 0}, {2}], [[0, 1], [2]]),
        (np.array([[0, 1], [2, 3]]), [[0, 1], [2, 3]]),
        ("pairwise", "pairwise"),
    ],
)
def test_it_survives_clones_parameters_and_files(tmp_path, given, loaded):
    model = clone(RuleEnsembleRegressor(**SMALL).set_params(interactions=given, max_attributes=2)).fit(TABLE, Y)
    assert repr(model.get_params()["interactions"]) == repr(given)
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert (again.interactions, again.max_attributes) == (loaded, 2)
    np.testing.assert_array_equal(clone(again).fit(TABLE, Y).coef_, model.coef_)


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (
            {"interactions": [["age", "agee"]]},
            "`interactions` names 'agee', which is not an attribute; the attributes are 'age'",
        ),
        ({"interactions": [[0, 5]]}, "`interactions` names 5, which is not an attribute"),
        ({"interactions": [[0, True]]}, "`interactions` names True, which is not an attribute"),
        ({"interactions": ["age", "income"]}, "`interactions` must be groups .* got 'age' instead of a group"),
        ({"interactions": [0, 1]}, "`interactions` must be groups .* got 0 instead of a group"),
        ({"interactions": [["age"], []]}, "`interactions` has an empty group; name its attributes, or remove it"),
        ({"interactions": "age"}, "The 'interactions' parameter of .* Got 'age' instead"),
        ({"interactions": 3}, "The 'interactions' parameter of .* Got 3 instead"),
        ({"max_attributes": 0}, "The 'max_attributes' parameter of .* Got 0 instead"),
        ({"max_attributes": "two"}, "The 'max_attributes' parameter of .* Got 'two' instead"),
        ({"max_attributes": 1.5}, r"The 'max_attributes' parameter of .* Got 1.5 instead"),
        ({"max_attributes": True}, "`max_attributes` must not be a boolean"),
        (
            {"rules": ["age > 0 and wave > 0", "age > 0"], "interactions": [["age", "income"]]},
            "The rule 'age > 0 and wave > 0' combines 'age', 'wave', which `max_attributes` or `interactions`",
        ),
        (
            {"rules": ["age > 0 and income > 0 and wave > 0"], "max_attributes": 2},
            "combines 'age', 'income', 'wave'",
        ),
    ],
)
@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
def test_what_cannot_be_is_one_sentence(kind, limits, words):
    model = kind(**SMALL, **limits)
    with mock.patch.object(_fitting, "grow_rules", side_effect=AssertionError), pytest.raises(ValueError, match=words):
        model.fit(TABLE, Y > 0)
    with pytest.raises(NotFittedError):
        model.predict(TABLE)


def test_an_expert_s_rules_within_the_limits_are_welcome():
    own = ["0 < age <= 1 and income > 0", "wave is missing"]
    model = RuleEnsembleRegressor(rules=own, force_rules=True, interactions=[["age", "income"]], **SMALL)
    model.fit(TABLE, Y)
    assert set(own) <= {row.text for row in model.rules_}


def test_groups_by_name_position_or_column():
    def of(*groups):
        return resolve_limits(groups, None, FEATURES, COLUMNS).groups.astype(int).tolist()

    assert of(["age", "town"]) == of([1, 3]) == of(["age", 3]) == [[1, 0, 0, 1], [0, 1, 1, 0]]
    assert of(["sold", "age"]) == of([2, 1]) == [[1, 1, 1, 0], [0, 0, 0, 1]]  # all that is read from the column
    assert of(["sold.month"]) == [[0, 0, 1, 0], [1, 1, 0, 1]]
    assert of(["id", "age"], ["id"]) == [[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 1]]  # a column that is left out
    assert of(["age", "sold", "town"]) == [[1, 1, 1, 1]]
    assert of() == [[1, 1, 1, 1]]


def test_the_fewest_attributes_hold():
    for interactions, most, expected in [
        (None, None, None),
        (None, 3, 3),
        ("pairwise", None, 2),
        ("pairwise", 3, 2),
        ("pairwise", 1, 1),
        ("no_interactions", 2, 1),
        ([["age", "town"]], 1, 1),
    ]:
        assert resolve_limits(interactions, most, FEATURES, COLUMNS).max_attributes == expected
    assert resolve_limits(None, None, FEATURES, COLUMNS).allow_all
    assert not resolve_limits([["age"]], None, FEATURES, COLUMNS).allow_all


def test_an_expert_s_rule_is_checked_by_its_attributes():
    rule = Rule((Condition(0, upper=1.0), Condition(3, categories=(0,))))
    check_limits([rule], Limits(2, np.array([[True, False, False, True]])), FEATURES)
    for limits in (Limits(1), Limits(groups=np.array([[True, True, True, False], [False, False, False, True]]))):
        with pytest.raises(InvalidInputError, match="combines 'age', 'town'"):
            check_limits([rule], limits, FEATURES)
