"""One truth five times: tree node, rule, words, bit column, share of the score.

The reference is a walk down the arrays of the forest, one row at a time, as their documentation reads. Rows lie on
thresholds, one float beside them, and are missing, infinite or of a category that no tree has seen.

Beyond the mirror of the package: what has to agree is spread over trees, rules, design and estimators.
"""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, engines
from rulegrove.columns import Columns, Feature, encode_columns
from rulegrove.design.bits import compile_rules
from rulegrove.estimators import _growing, model
from rulegrove.losses import Squared
from rulegrove.rules.extract import extract_rules
from rulegrove.rules.parse import parse_rule
from rulegrove.rules.rule import Rule
from rulegrove.trees.boosting import grow_forest

COLOURS = ("blue", "green", "red", "yellow")
CITIES = tuple(f"city {k}" for k in range(70))  # their codes fill more than one word of bits
UNSEEN = "nowhere"


def random_frame(rng, n_rows, *, missing=True):
    """Ties, float32, small integers, two categorical columns and truth values, one cell in eight missing."""
    frame = pd.DataFrame(
        {
            "tied": rng.normal(size=n_rows).round(1),
            "single": rng.normal(size=n_rows).astype(np.float32),
            "count": rng.integers(0, 4, n_rows).astype(np.float64),
            "colour": rng.choice(COLOURS, n_rows).astype(object),
            "city": rng.choice(CITIES, n_rows).astype(object),
            "member": (rng.random(n_rows) < 0.4).astype(object),
        }
    )
    if missing:
        frame = frame.mask(rng.random(frame.shape) < 0.125)
    return frame


def signal(frame, rng):
    """A target that every column has a say in, a missing value too."""
    parts = [
        frame["tied"].fillna(1.5),
        frame["single"].astype(np.float64).gt(0.3) * 1.0,
        frame["count"].fillna(-1.0),
        frame["colour"].isin(["red", "blue"]) * 2.0,
        frame["city"].isin(CITIES[::3]) * 1.5,
        frame["member"].eq(True) * 1.0,
    ]
    return np.sum([part.to_numpy(dtype=np.float64) for part in parts], axis=0) + 0.3 * rng.normal(size=len(frame))


def side_of(forest, node, x):
    """Where a value goes at a split: 1 left, 2 right, 0 nowhere."""
    if np.isnan(x):
        return int(forest.missing[node])
    words = [[int(word) for word in side[node]] for side in (forest.categories, forest.right_categories)]
    if not any(map(any, words)):
        return 1 if x <= forest.threshold[node] else 2
    code = int(x)
    return next((side for side, bits in zip((1, 2), words, strict=True) if bits[code // 64] >> (code % 64) & 1), 0)


def is_in(forest, node, row):
    """Whether a row comes by a node on its way down from the root."""
    parent = int(forest.parent[node])
    if parent < 0:
        return True
    wanted = 1 if forest.left[parent] == node else 2
    return side_of(forest, parent, row[forest.feature[parent]]) == wanted and is_in(forest, parent, row)


def visited_by_apply(forest, block):
    """Which rows visit which nodes, by the nodes where `Forest.apply` leaves them: ndarray (n_nodes, n_rows)."""
    visited = np.zeros((forest.n_nodes, block.shape[1]), dtype=bool)
    for places in forest.apply(block):
        for row, node in enumerate(places):
            while node >= 0:
                visited[node, row] = True
                node = forest.parent[node]
    return visited


def single_trees(forest):
    """The trees of a forest, each as a forest of its own: its rules are then those of its nodes, in their order."""
    stops = [*forest.roots[1:], forest.n_nodes]
    for start, stop in zip(forest.roots, stops, strict=True):
        part = {field.name: getattr(forest, field.name)[start:stop] for field in dataclasses.fields(forest)}
        links = {name: np.where(part[name] < 0, -1, part[name] - start) for name in ("left", "right", "parent")}
        yield dataclasses.replace(forest, **part | links | {"roots": np.zeros(1, dtype=np.int64)})


def strange_rows(forest, block, features, rng, n_rows=60):
    """Rows on thresholds and right beside them, missing, infinite, and of categories that do not exist."""
    rows = block[:, rng.integers(0, block.shape[1], n_rows)].copy()
    for place, feature in enumerate(features):
        if feature.categories is not None:
            odd = np.array([np.nan, len(feature.categories)])
        elif feature.boolean:
            odd = np.array([np.nan, 0.0, 1.0])
        else:
            inner = forest.threshold[forest.feature == place]
            on = inner[np.isfinite(inner)]
            beside = [np.nextafter(on, -np.inf), np.nextafter(on, np.inf), on.astype(np.float32).astype(np.float64)]
            odd = np.concatenate([on, *beside, [np.nan, -np.inf, np.inf, 0.0, -0.0]])
        swapped = rng.random(n_rows) < 0.6
        rows[place, swapped] = rng.choice(odd, swapped.sum())
    return rows


def as_words(row, features):
    """A row of numbers and codes as a reader sees it; codes become labels, missing becomes None."""
    said = {}
    for value, feature in zip(row, features, strict=True):
        labels = feature.categories
        known = float(value) if labels is None else (*labels, UNSEEN)[int(value)] if value == value else None
        said[feature.name] = None if np.isnan(value) else known
    return said


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), missing=st.booleans())
def test_node_rule_words_and_bits_say_the_same(read_rule, seed, missing):
    rng = np.random.default_rng(seed)
    frame = random_frame(rng, 90, missing=missing)
    numbers, categories = (
        map(Feature, ("tied", "single", "count")),
        (Feature("colour", COLOURS), Feature("city", CITIES)),
    )
    features = [*numbers, *categories, Feature("member", boolean=True)]
    columns = encode_columns(frame, features)
    block = columns.take(slice(None))
    forest = grow_forest(
        block,
        signal(frame, rng)[:, None],
        n_categories=columns.n_categories,
        loss=Squared(),
        n_rules=24,
        mean_leaves=5.0,
        subsample=60,
        shrinkage=0.1,
        max_features=3,
        min_samples_leaf=2,
        min_impurity=0.0,
        max_bins=int(rng.choice([8, 255])),
        max_conditions=None,
        rng=rng,
    )
    rows = np.hstack([block[:, :30], strange_rows(forest, block, features, rng)])
    spoken_rows = [as_words(row, features) for row in rows.T]
    for tree in single_trees(forest):
        rules = extract_rules(tree)
        assert len(rules) == tree.n_nodes - 1
        naive = np.array([[is_in(tree, node, row) for row in rows.T] for node in range(1, tree.n_nodes)])
        np.testing.assert_array_equal(visited_by_apply(tree, rows)[1:], naive)
        np.testing.assert_array_equal([rule.holds(rows) for rule in rules], naive)
        words = [rule.text(features) for rule in rules]
        np.testing.assert_array_equal([[read_rule(text, row) for row in spoken_rows] for text in words], naive)
        program = compile_rules(rules, len(features))
        np.testing.assert_array_equal(program.evaluate(rows[program.used_features]).to_dense().T, naive)
    program = compile_rules(extract_rules(forest), len(features))  # rules of different trees share their atoms
    held = [rule.holds(rows) for rule in extract_rules(forest)]
    np.testing.assert_array_equal(program.evaluate(rows[program.used_features]).to_dense().T, held)


def fit_watched(monkeypatch, estimator, frame, y):
    """Fit an estimator and catch the forest that its rules come from."""
    caught = []

    def grow_and_keep(*args, **kwargs):
        caught.append(grow_forest(*args, **kwargs))
        return caught[-1]

    monkeypatch.setattr(_growing, "grow_forest", grow_and_keep)
    fitted = estimator.fit(frame, y)
    monkeypatch.undo()
    forest = caught[0]  # the others are those of the folds
    return fitted, forest


def frame_of(rows, features):
    """A table that holds the rows of a block; infinities, which a table may not hold, become missing."""
    finite = np.where(np.isinf(rows), np.nan, rows)
    records = [as_words(row, features) for row in finite.T]
    types = {feature.name: object if feature.categories else np.float64 for feature in features}
    return pd.DataFrame({name: pd.Series([r[name] for r in records], dtype=kind) for name, kind in types.items()})


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
def test_a_fitted_model_says_what_its_nodes_say(monkeypatch, read_rule, kind, seed):
    """From the node in the forest to the column of `transform_rules` and the share of the score."""
    rng = np.random.default_rng(seed)
    frame = random_frame(rng, 250)
    y = signal(frame, rng)
    y = y > np.median(y) if kind is RuleEnsembleClassifier else y
    estimator = kind(n_candidates=60, max_terms=None, selection="min", min_samples_leaf=3, random_state=seed, n_jobs=1)
    fitted, forest = fit_watched(monkeypatch, estimator, frame, y)
    features = fitted.model_.features
    block = encode_columns(frame, features).take(slice(None))
    strange = frame_of(strange_rows(forest, block, features, rng), features)
    assert features[-1] == Feature("member", boolean=True)
    rows = encode_columns(strange, features).take(slice(None))
    trees = list(single_trees(forest))
    nodes = {rule: (tree, node) for tree in trees for node, rule in enumerate(extract_rules(tree), start=1)}

    values = fitted.transform_rules(strange)
    assert values.shape == (len(strange), len(fitted.rules_))
    score = fitted.intercept_
    for column, ranked, coef in zip(values.T, fitted.rules_, fitted.coef_, strict=True):
        assert ranked.coefficient == coef
        score = score + coef * column
        if not isinstance(ranked.term, Rule):
            np.testing.assert_array_equal(column, ranked.term.values(rows[ranked.term.feature]))
            continue
        tree, node = nodes[ranked.term]
        np.testing.assert_array_equal(column, [is_in(tree, node, row) for row in rows.T])
        spoken = [read_rule(ranked.text, as_words(row, features)) for row in rows.T]
        np.testing.assert_array_equal(column, spoken)
    assert any(isinstance(ranked.term, Rule) for ranked in fitted.rules_)
    predicted = fitted.decision_function(strange) if kind is RuleEnsembleClassifier else fitted.predict(strange)
    np.testing.assert_allclose(predicted, score, rtol=0, atol=1e-12 * max(1.0, np.abs(score).max()))


def test_other_names_of_a_rule_are_the_same_column_of_the_training_rows(read_rule):
    rng = np.random.default_rng(5)
    frame = random_frame(rng, 60)
    frame["twice"] = 2.0 * frame["tied"]
    fitted = RuleEnsembleRegressor(n_candidates=200, selection=0.003, max_features=1, random_state=0, n_jobs=1)
    fitted.set_params(max_terms=None).fit(frame, signal(frame, rng))
    features = fitted.model_.features
    rows = [as_words(row, features) for row in encode_columns(frame, features).take(slice(None)).T]

    def column(rule):
        return [read_rule(rule.text(features), row) for row in rows]

    met = set()
    candidates = fitted.candidates_
    for rule, aliases in zip(candidates.rules, candidates.aliases, strict=True):
        for alias in aliases:
            assert [held != alias.opposite for held in column(alias.rule)] == column(rule)
            assert len(alias.rule.conditions) >= len(rule.conditions)  # the simplest is kept
            met.add(alias.opposite)
    assert met == {False, True}, "the data should make equal and complementary rules"
    kept = [column(rule) for rule in candidates.rules]
    for place, own in enumerate(kept):
        assert any(own)
        assert not all(own)
        assert own not in kept[:place]
        assert [not held for held in own] not in kept[:place]
    for ranked in fitted.rules_:
        if ranked.kind == "rule":
            others = candidates.aliases[candidates.rules.index(ranked.term)]
            assert ranked.aliases == tuple("not " * other.opposite + other.rule.text(features) for other in others)


@pytest.mark.parametrize("seed", range(3))
def test_scores_do_not_depend_on_blocks_threads_or_neighbours(monkeypatch, seed):
    """Equal to the last bit."""
    rng = np.random.default_rng(seed)
    frame = random_frame(rng, 400)
    fitted = RuleEnsembleRegressor(n_candidates=80, max_terms=None, selection="min", random_state=seed, n_jobs=1)
    fitted.fit(frame, signal(frame, rng))
    assert {ranked.kind for ranked in fitted.rules_} == {"rule", "linear"}
    scores, values = fitted.predict(frame), fitted.transform_rules(frame)
    alone = np.concatenate([fitted.predict(frame.iloc[k : k + 1]) for k in range(0, 400, 7)])
    np.testing.assert_array_equal(alone, scores[::7])
    shuffled = rng.permutation(400)
    np.testing.assert_array_equal(fitted.predict(frame.iloc[shuffled]), scores[shuffled])
    for block_rows in (1, 64, 100, 399):
        monkeypatch.setattr(model, "BLOCK_ROWS", block_rows)
        for n_jobs in (1, 2, 4):
            np.testing.assert_array_equal(fitted.set_params(n_jobs=n_jobs).predict(frame), scores)
        np.testing.assert_array_equal(fitted.transform_rules(frame), values)


def test_float32_and_its_exact_double_are_the_same_rows():
    rng = np.random.default_rng(0)
    single = rng.normal(size=(200, 3)).astype(np.float32)
    y = single[:, 0] > single[:, 1]
    fitted = RuleEnsembleClassifier(n_candidates=60, random_state=0, n_jobs=1).fit(single, y)
    twin = RuleEnsembleClassifier(n_candidates=60, random_state=0, n_jobs=1).fit(single.astype(np.float64), y)
    np.testing.assert_array_equal(fitted.coef_, twin.coef_)
    np.testing.assert_array_equal(fitted.decision_function(single), fitted.decision_function(single.astype(np.float64)))


def test_thresholds_are_short_and_the_same_however_the_table_is_held(tmp_path):
    """0.1 + 0.2 and its like are cut at numbers of few digits, in memory and in Parquet alike."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(400, 2)), 2) + 0.1 + 0.2
    y = X[:, 0] > 0.5
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    frame.to_parquet(tmp_path / "table.parquet")
    model = RuleEnsembleClassifier(n_candidates=60, max_terms=None, random_state=0, n_jobs=1)
    fitted = clone(model).fit(frame[["a", "b"]], y)
    texts = [ranked.text for ranked in fitted.rules_]
    assert [r.text for r in engines.fit(clone(model), tmp_path / "table.parquet", target="y").rules_] == texts
    bounds = [float(word) for text in texts for word in re.findall(r"-?[\d.]+(?:e-?\d+)?", text)]
    rules = [ranked.term for ranked in fitted.rules_ if ranked.kind == "rule"]
    for condition in (condition for rule in rules for condition in rule.conditions):
        for bound in (condition.lower, condition.upper):
            if np.isfinite(bound):
                assert bound in bounds
                assert len(repr(bound).strip("-0").replace(".", "")) <= 3


@pytest.mark.parametrize("stable", [False, True])
def test_a_printed_date_is_round_and_decides_as_the_stored_one(stable):
    """Days were cut at round numbers of days since 1970, which are odd dates."""
    sold = np.arange(np.datetime64("2021-11-20"), np.datetime64("2024-05-10"), 40)
    frame = pd.DataFrame({"sold": np.repeat(sold, 8)})
    y = np.where(frame["sold"] < np.datetime64("2023-01-01"), 3.0, 1.0)
    model = RuleEnsembleRegressor(n_candidates=30, terms="rules", stable=stable, cv=2, random_state=0, n_jobs=1)
    fitted = model.fit(frame, y)
    assert fitted.rules_[0].text in ("sold < 2023-01-01", "sold >= 2023-01-01", "sold.year <= 2022")
    days = pd.DataFrame({"sold": np.arange(np.datetime64("2021-10-01"), np.datetime64("2024-07-01"))})
    block = fitted.read_columns(days).take(slice(None))
    for rule in fitted.candidates_[0].rules:
        words = parse_rule(rule.text(fitted.model_.features), fitted.model_.features)
        np.testing.assert_array_equal(words.holds(block), rule.holds(block))


def test_a_category_unseen_in_training_satisfies_no_set_of_categories():
    frame = pd.DataFrame({"colour": ["red", "blue", "green"] * 30})
    y = np.where(frame["colour"] == "red", 3.0, 1.0)
    fitted = RuleEnsembleRegressor(n_candidates=10, selection=1e-3, random_state=0, n_jobs=1).fit(frame, y)
    unseen = pd.DataFrame({"colour": ["purple", None]})
    assert {ranked.kind for ranked in fitted.rules_} == {"rule"}
    np.testing.assert_array_equal(fitted.transform_rules(unseen), np.zeros((2, len(fitted.rules_))))
    np.testing.assert_array_equal(fitted.predict(unseen), [fitted.intercept_] * 2)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), change=st.sampled_from([np.exp, np.cbrt, lambda x: 3.0 * x - 7.0]))
def test_a_monotone_change_of_a_feature_leaves_the_training_bits_alone(seed, change):
    rng = np.random.default_rng(seed)
    block = rng.normal(size=(3, 80)).round(1)
    y = (block[:1] + block[1:2] ** 2).T + 0.1 * rng.normal(size=(80, 1))
    changed = block.copy()
    changed[1] = change(block[1])
    bits = []
    for table in (block, changed):
        forest = grow_forest(
            table,
            y,
            n_categories=np.zeros(3, dtype=np.int64),
            loss=Squared(),
            n_rules=20,
            mean_leaves=4.0,
            subsample=80,
            shrinkage=0.1,
            max_features=3,
            min_samples_leaf=3,
            min_impurity=0.0,
            max_bins=255,
            max_conditions=None,
            rng=np.random.default_rng(0),
        )
        features = [Feature(name) for name in "abc"]
        columns = Columns(features, np.ascontiguousarray(table.T))
        bits.append(
            [[rule.holds(columns.take(slice(None))) for rule in extract_rules(t)] for t in single_trees(forest)]
        )
    for before, after in zip(*bits, strict=True):
        np.testing.assert_array_equal(before, after)
