"""Trees of other libraries: every row passes the same nodes as there, whatever its values are.

Also of `_foreign_nodes.py` and of the readers `_sklearn_trees.py`, `_lightgbm_trees.py` and `_xgboost_trees.py`: a
model of its library is the only way to each of them.
"""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from rulegrove.columns import Feature, Reading, encode_columns, learn_columns
from rulegrove.design.bits import compile_rules
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.extract import extract_rules
from rulegrove.rules.rule import Condition, Rule
from rulegrove.trees._foreign_nodes import bound_singles
from rulegrove.trees.foreign import read_trees

NO_LIGHTGBM = "LightGBM is a test dependency: pip install lightgbm"
NO_XGBOOST = "XGBoost is a test dependency: pip install xgboost-cpu"
N_FEATURES = 4
FEATURES = [Feature(f"x{k}") for k in range(N_FEATURES)]
TINY = [0.0, -0.0, 5e-324, -5e-324, 1e-45, 7e-46, -7.1e-46, 1.2e-38, 1e-35, -1e-35, 1.0000000180025095e-35, 2e-35]
LARGE = [3.4028234e38, -3.4028234e38, 1e30, 16777217.0]
DOUBLE_ONLY = [1e39, -1e300, 1.5e300]


@pytest.fixture(autouse=True)
def one_thread():
    """Small models are not worth threads, which wait for each other on a busy machine."""
    with threadpool_limits(1, user_api="openmp"):
        yield


def make_training(missing=True, seed=0, n_rows=400):
    """Rows with ties, tenths that no float32 holds, numbers near zero and missing values."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, N_FEATURES)), 1)
    X[:, 1] = rng.choice([*TINY, 0.1, 0.30000000000000004, 16777217.0, 16777216.0], n_rows)
    X[:, 2] += rng.normal(size=n_rows) * 1e-8
    y = X[:, 0] + (X[:, 1] > 0) * X[:, 2] + rng.normal(size=n_rows) * 0.3
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, y, (y > 0).astype(int) + (y > 1)


def make_probes(forest, *, missing=True, doubles=False, seed=1, n_rows=1500):
    """Rows of thresholds, their neighbours among doubles and singles, and extreme values."""
    rng = np.random.default_rng(seed)
    X = np.empty((n_rows, N_FEATURES))
    for feature in range(N_FEATURES):
        bounds = np.unique(forest.threshold[(forest.feature == feature) & np.isfinite(forest.threshold)])
        with np.errstate(over="ignore"):
            singles = bounds.astype(np.float32)
        around = [np.nextafter(singles, np.float32(side)).astype(float) for side in (-np.inf, np.inf)]
        pool = np.concatenate(
            [bounds, np.nextafter(bounds, np.inf), np.nextafter(bounds, -np.inf), singles.astype(float), *around]
        )
        pool = np.concatenate([pool, rng.normal(size=20), TINY, LARGE, DOUBLE_ONLY if doubles else []])
        pool = pool[np.isfinite(pool) & (doubles | (np.abs(pool) <= 3.4028234e38))]
        X[:, feature] = rng.choice(pool, n_rows)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X


def node_rules(forest):
    """Return the rule of every node, by its path; the twin of `extract_rules`."""
    codes, categorical = np.arange(256), forest.is_categorical
    rules = []
    for node in range(forest.n_nodes):
        own = {}
        child, parent = node, int(forest.parent[node])
        while parent >= 0:
            left = forest.left[parent] == child
            feature, missing = int(forest.feature[parent]), forest.missing[parent] == (1 if left else 2)
            if categorical[parent]:
                words = (forest.categories if left else forest.right_categories)[parent]
                chosen = codes[(words[codes // 64] >> (codes % 64).astype(np.uint64)) & np.uint64(1) == 1]
                step = Condition(feature, categories=tuple(chosen.tolist()), missing=bool(missing))
            else:
                bound = float(forest.threshold[parent])
                step = Condition(feature, **{"upper" if left else "lower": bound}, missing=bool(missing))
            own[feature] = step & own[feature] if feature in own else step
            child, parent = parent, int(forest.parent[parent])
        rules.append(Rule(tuple(own[feature] for feature in sorted(own))))
    return rules


def compare(forest, block, trees):
    """Count rows, rules and rows that differ, for every node of every tree.

    Each tree is the leaf of every row, the root, what gives the children of a node and what gives a leaf's number.
    """
    rules = node_rules(forest)
    assert extract_rules(forest) == tuple(
        dict.fromkeys(rule for node, rule in enumerate(rules) if forest.parent[node] >= 0)
    )
    program = compile_rules(rules, block.shape[0])
    held = program.evaluate(block[program.used_features]).to_dense().astype(bool)
    different = n_rules = 0
    assert forest.n_trees == len(trees)
    for start, (leaves, root, children, number) in zip(forest.roots.tolist(), trees, strict=True):

        def visit(node, own, children=children, number=number, leaves=leaves):
            below = children(node)
            if below is None:
                assert forest.feature[own] == -1
                rows = leaves == number(node)
            else:
                parts = zip(below, (int(forest.left[own]), int(forest.right[own])), strict=True)
                rows = np.logical_or.reduce([visit(child, ours) for child, ours in parts])
            nonlocal different, n_rules
            different += int((rows != held[:, own]).sum())
            n_rules += 1
            return rows

        assert visit(root, start).all()
    return forest.n_trees, n_rules - forest.n_trees, block.shape[1], different


def sklearn_trees(model, X):
    """Leaves and structure of scikit-learn's own trees."""
    if hasattr(model, "tree_"):
        tree = model.tree_

        def children(node):
            return None if tree.children_left[node] < 0 else (tree.children_left[node], tree.children_right[node])

        return [(tree.apply(X.astype(np.float32)), 0, children, lambda node: node)]
    members = list(model.estimators_.flat if isinstance(model.estimators_, np.ndarray) else model.estimators_)
    seen = getattr(model, "estimators_features_", [None] * len(members))
    parts = [X if own is None else X[:, own] for own in seen]
    return [tree for member, part in zip(members, parts, strict=True) for tree in sklearn_trees(member, part)]


SKLEARN = {
    "tree": (DecisionTreeClassifier(random_state=0), True),
    "best-first tree": (DecisionTreeRegressor(max_leaf_nodes=20, random_state=0), True),
    "random forest": (RandomForestClassifier(8, random_state=0), True),
    "regression forest": (RandomForestRegressor(8, max_depth=6, random_state=0), True),
    "extra trees": (ExtraTreesClassifier(8, random_state=0), True),
    "extra trees regression": (ExtraTreesRegressor(8, max_depth=7, bootstrap=True, random_state=0), True),
    "bagging": (BaggingClassifier(n_estimators=8, max_features=0.5, random_state=0), True),
    "bagged forests": (
        BaggingRegressor(RandomForestRegressor(3), n_estimators=3, max_features=3, random_state=0),
        True,
    ),
    "gradient boosting": (GradientBoostingClassifier(n_estimators=8, random_state=0), False),
    "gradient boosting regression": (GradientBoostingRegressor(n_estimators=20, random_state=0), False),
    "AdaBoost": (AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=8, random_state=0), False),
    "isolation forest": (IsolationForest(n_estimators=8, random_state=0), False),
}


@pytest.mark.parametrize("name", SKLEARN)
def test_scikit_learn_trees(name):
    model, missing = SKLEARN[name]
    X, y, labels = make_training(missing)
    model.fit(X, y if type(model).__name__.endswith("Regressor") else labels)
    forest = read_trees(model, FEATURES)
    probes = make_probes(forest, missing=missing)
    counts = compare(forest, probes.T, sklearn_trees(model, probes))
    assert counts[3] == 0


def histogram_leaf(predictor, row, known):
    """Walk down a tree as scikit-learn's compiled code does."""
    nodes, place = predictor.nodes, 0
    while not nodes[place]["is_leaf"]:
        node = nodes[place]
        value = row[node["feature_idx"]]
        left = bool(node["missing_go_to_left"])
        if not np.isnan(value):
            if not node["is_categorical"]:
                left = value <= node["num_threshold"]
            elif value >= 0:
                code = int(value)
                words = predictor.raw_left_cat_bitsets[node["bitset_idx"]]
                if words[code // 32] >> (code % 32) & 1:
                    left = True
                elif code < known[node["feature_idx"]]:
                    left = False
        place = int(node["left"] if left else node["right"])
    return place


def histogram_trees(model, X):
    """Leaves and structure of histogram gradient boosting."""
    seen, known = X, {}
    if model._preprocessor is not None:
        seen = model._preprocessor.transform(X)
        encoder = model._preprocessor.named_transformers_["encoder"]
        known = {k: len([c for c in own if c == c and c is not None]) for k, own in enumerate(encoder.categories_)}
    trees = []
    for predictor in (tree for group in model._predictors for tree in group):
        leaves = np.array([histogram_leaf(predictor, row, known) for row in np.asarray(seen, dtype=float)])
        bitsets, index = model._bin_mapper.make_known_categories_bitsets()
        values = predictor.predict(np.asarray(seen, dtype=float), bitsets, index, 1)
        np.testing.assert_array_equal(values, predictor.nodes["value"][leaves])

        def children(node, nodes=predictor.nodes):
            own = nodes[node]
            return None if own["is_leaf"] else (int(own["left"]), int(own["right"]))

        trees.append((leaves, 0, children, lambda node: node))
    return trees


@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("kind", [HistGradientBoostingClassifier, HistGradientBoostingRegressor])
def test_histogram_gradient_boosting(kind, missing):
    X, y, labels = make_training(missing)
    model = kind(max_iter=4, min_samples_leaf=3).fit(X, labels if kind is HistGradientBoostingClassifier else y)
    forest = read_trees(model, FEATURES)
    probes = make_probes(forest, doubles=True, n_rows=300)
    counts = compare(forest, probes.T, histogram_trees(model, probes))
    assert counts[3] == 0


def make_frame(seed=0, n_rows=400, extra=False, second="é"):
    """Text and number categories beside a number; `extra` has categories that no model has seen."""
    rng = np.random.default_rng(seed)
    letters = [*"abcdefgh", second, *(["new"] if extra else [])]
    frame = pd.DataFrame(
        {
            "size": np.round(rng.normal(size=n_rows), 1),
            "letter": rng.choice(letters, n_rows),
            "code": rng.choice([2, 3, 5, 7, 11, *([13] if extra else [])], n_rows),
            "weight": rng.normal(size=n_rows),
        }
    )
    y = frame["size"] + frame["letter"].isin(["b", "d", second]) * 1.0 + frame["code"].isin([3, 11]) * frame["weight"]
    frame.loc[rng.random(n_rows) < 0.1, "size"] = np.nan
    for name in ("letter", "code"):
        frame[name] = frame[name].astype("category")
        frame.loc[rng.random(n_rows) < 0.1, name] = np.nan
    return frame, np.round(y, 3)


def test_histogram_gradient_boosting_on_categories():
    frame, y = make_frame()
    model = HistGradientBoostingRegressor(max_iter=8, min_samples_leaf=5, categorical_features="from_dtype")
    model.fit(frame, y)
    wider, _ = make_frame(seed=1, extra=True)
    columns = learn_columns(wider, Reading(categorical=["letter", "code"]))
    forest = read_trees(model, columns.features, named=True)
    assert forest.is_categorical.sum() > 5
    # A category that the model has not seen goes with the missing values, also in rules of a table that has it.
    counts = compare(forest, columns.take(slice(None)), histogram_trees(model, wider))
    assert counts[3] == 0


def test_thresholds_on_categories_that_are_numbers():
    X, y, _ = make_training(missing=False)
    X[:, 3] = np.random.default_rng(0).integers(0, 6, len(X))
    y = y + X[:, 3] * 0.7
    model = RandomForestRegressor(5, max_depth=5, random_state=0).fit(X, y)
    columns = learn_columns(X, Reading(categorical=[3]))
    forest = read_trees(model, columns.features)
    assert forest.is_categorical.any()
    assert compare(forest, columns.take(slice(None)), sklearn_trees(model, X))[3] == 0


def lightgbm_trees(booster, X):
    """Leaves and structure of LightGBM's trees."""
    leaves = np.atleast_2d(booster.predict(X, pred_leaf=True)).reshape(len(X), -1)

    def children(node):
        return (node["left_child"], node["right_child"]) if "left_child" in node else None

    return [
        (leaves[:, k], tree["tree_structure"], children, lambda node: node.get("leaf_index", 0))
        for k, tree in enumerate(booster.dump_model()["tree_info"])
    ]


FEW = {"n_estimators": 6, "min_child_samples": 3, "verbose": -1, "n_jobs": 1, "random_state": 0}


@pytest.mark.parametrize("use_missing", [True, False])
@pytest.mark.parametrize("missing", [True, False])
def test_lightgbm(missing, use_missing):
    lightgbm = pytest.importorskip("lightgbm", reason=NO_LIGHTGBM)
    X, _, labels = make_training(missing)
    model = lightgbm.LGBMClassifier(**FEW, use_missing=use_missing).fit(X, labels)
    forest = read_trees(model, FEATURES)
    probes = make_probes(forest, doubles=True)
    counts = compare(forest, probes.T, lightgbm_trees(model.booster_, probes))
    assert counts[3] == 0
    assert read_trees(model.booster_, FEATURES).n_nodes == forest.n_nodes


def test_lightgbm_with_zero_as_missing():
    lightgbm = pytest.importorskip("lightgbm", reason=NO_LIGHTGBM)
    X, _, labels = make_training(True)
    read = refused = 0
    for seed in range(12):
        # One split a tree: some send zeros the way their neighbours go.
        model = lightgbm.LGBMClassifier(
            **{**FEW, "n_estimators": 1, "random_state": seed, "zero_as_missing": True, "num_leaves": 2},
            subsample=0.3, subsample_freq=1, colsample_bytree=0.4,
        ).fit(np.abs(X) if seed % 2 else X, labels > 0)  # fmt: skip
        try:
            forest = read_trees(model, FEATURES)
        except InvalidInputError as error:
            assert "zero_as_missing" in str(error)  # noqa: PT017
            refused += 1
            continue
        read += 1
        probes = make_probes(forest, doubles=True)
        assert compare(forest, probes.T, lightgbm_trees(model.booster_, probes))[3] == 0
    assert read
    assert refused


def test_lightgbm_on_categories():
    lightgbm = pytest.importorskip("lightgbm", reason=NO_LIGHTGBM)
    frame, y = make_frame()
    model = lightgbm.LGBMRegressor(**FEW, min_data_per_group=3, cat_smooth=1, max_cat_to_onehot=2).fit(frame, y)
    wider, _ = make_frame(seed=1, extra=True)
    columns = learn_columns(wider, Reading(categorical=["letter", "code"]))
    forest = read_trees(model, columns.features, named=True)
    assert forest.is_categorical.sum() > 5
    counts = compare(forest, columns.take(slice(None)), lightgbm_trees(model.booster_, wider))
    assert counts[3] == 0
    with pytest.raises(InvalidInputError, match=r"2 columns of categories and the table has 0"):
        read_trees(model, FEATURES)


def test_lightgbm_on_whole_numbers_as_categories():
    lightgbm = pytest.importorskip("lightgbm", reason=NO_LIGHTGBM)
    X, y, _ = make_training()
    X[:, 3] = np.random.default_rng(0).integers(-1, 40, len(X))
    y = y + np.isin(X[:, 3], [3, 8, 20, 33])
    data = lightgbm.Dataset(X, y, categorical_feature=[3])
    settings = {"verbose": -1, "min_data_in_leaf": 3, "min_data_per_group": 3, "cat_smooth": 1, "num_threads": 1}
    booster = lightgbm.train(settings, data, 6)
    columns = learn_columns(X, Reading(categorical=[3]))
    forest = read_trees(booster, columns.features)
    assert forest.is_categorical.any()
    assert compare(forest, columns.take(slice(None)), lightgbm_trees(booster, X))[3] == 0
    with pytest.raises(InvalidInputError, match=r"Column 3 \('x3'\) is split by categories in the LightGBM trees"):
        read_trees(booster, FEATURES)


def test_lightgbm_stops_at_its_best_iteration():
    lightgbm = pytest.importorskip("lightgbm", reason=NO_LIGHTGBM)
    X, _, labels = make_training()
    rng = np.random.default_rng(0)
    model = lightgbm.LGBMClassifier(**{**FEW, "n_estimators": 40}).fit(
        X,
        labels > 0,
        eval_X=(X,),
        eval_y=(rng.permutation(labels > 0),),
        callbacks=[lightgbm.early_stopping(3, verbose=False)],
    )
    assert read_trees(model, FEATURES).n_trees == model.best_iteration_ < 40


def xgboost_trees(booster, matrix, n_trees=None):
    """Leaves and structure of XGBoost's trees."""
    leaves = booster.predict(matrix, pred_leaf=True, iteration_range=(0, 0))
    leaves = leaves.reshape(len(leaves), -1)
    part = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]
    found = []
    for k, tree in enumerate(part.get("gbtree", part)["model"]["trees"][:n_trees]):

        def children(node, tree=tree):
            left = tree["left_children"][node]
            return None if left < 0 else (left, tree["right_children"][node])

        found.append((leaves[:, k], 0, children, lambda node: node))
    return found


@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("method", ["hist", "exact"])
def test_xgboost(method, missing):
    xgboost = pytest.importorskip("xgboost", reason=NO_XGBOOST)
    X, _, labels = make_training(missing)
    model = xgboost.XGBClassifier(n_estimators=6, tree_method=method, min_child_weight=0.1, n_jobs=1).fit(X, labels)
    forest = read_trees(model, FEATURES)
    probes = make_probes(forest)
    counts = compare(forest, probes.T, xgboost_trees(model.get_booster(), xgboost.DMatrix(probes)))
    assert counts[3] == 0
    assert read_trees(model.get_booster(), FEATURES).n_nodes == forest.n_nodes


@pytest.mark.parametrize(
    "settings", [{"booster": "dart"}, {"multi_strategy": "multi_output_tree", "tree_method": "hist"}]
)
def test_other_boosters_of_xgboost(settings):
    xgboost = pytest.importorskip("xgboost", reason=NO_XGBOOST)
    X, y, _ = make_training()
    model = xgboost.XGBRegressor(n_estimators=5, n_jobs=1, **settings).fit(X, np.column_stack([y, -y]))
    forest = read_trees(model, FEATURES)
    probes = make_probes(forest)
    counts = compare(forest, probes.T, xgboost_trees(model.get_booster(), xgboost.DMatrix(probes)))
    assert counts[3] == 0


def test_xgboost_on_categories():
    xgboost = pytest.importorskip("xgboost", reason=NO_XGBOOST)
    frame, y = make_frame(second="zz")
    model = xgboost.XGBRegressor(n_estimators=8, enable_categorical=True, max_cat_to_onehot=2, n_jobs=1).fit(frame, y)
    columns = learn_columns(frame, Reading(categorical=["letter", "code"]))
    forest = read_trees(model, columns.features, named=True)
    assert forest.is_categorical.sum() > 5
    matrix = xgboost.DMatrix(frame, enable_categorical=True)
    counts = compare(forest, columns.take(slice(None)), xgboost_trees(model.get_booster(), matrix))
    assert counts[3] == 0
    others = [Feature("size"), Feature("letter", ("X", "Y")), columns.features[2], Feature("weight")]
    with pytest.raises(InvalidInputError, match=r"Column 1 \('letter'\) has none of the categories that the XGBoost"):
        read_trees(model, others)


def test_xgboost_on_categories_beyond_ascii():
    """XGBoost 3.2 stores such categories of a pandas frame cut short, so that others could be taken for them."""
    xgboost = pytest.importorskip("xgboost", reason=NO_XGBOOST)
    frame, y = make_frame()
    model = xgboost.XGBRegressor(n_estimators=3, enable_categorical=True, n_jobs=1).fit(frame, y)
    columns = learn_columns(frame, Reading(categorical=["letter", "code"]))
    with pytest.raises(InvalidInputError, match=r"Column 1 \('letter'\) has categories beyond ASCII"):
        read_trees(model, columns.features)


def test_xgboost_on_whole_numbers_as_categories():
    xgboost = pytest.importorskip("xgboost", reason=NO_XGBOOST)
    X, y, _ = make_training()
    X[:, 3] = np.random.default_rng(0).integers(0, 40, len(X))
    matrix = xgboost.DMatrix(X, y + np.isin(X[:, 3], [3, 8, 20, 33]), feature_types=["q", "q", "q", "c"])
    booster = xgboost.train({"max_cat_to_onehot": 1, "nthread": 1}, matrix, 6)
    columns = learn_columns(X, Reading(categorical=[3]))
    forest = read_trees(booster, columns.features)
    assert forest.is_categorical.any()
    assert compare(forest, columns.take(slice(None)), xgboost_trees(booster, matrix))[3] == 0


def test_xgboost_stops_at_its_best_iteration():
    xgboost = pytest.importorskip("xgboost", reason=NO_XGBOOST)
    X, _, labels = make_training()
    wrong = np.random.default_rng(0).permutation(labels > 0)
    model = xgboost.XGBClassifier(n_estimators=40, early_stopping_rounds=3, n_jobs=1)
    model.fit(X, labels > 0, eval_set=[(X, wrong)], verbose=False)
    assert read_trees(model, FEATURES).n_trees == model.best_iteration + 1 < 40


def test_xgboost_models_that_are_refused():
    xgboost = pytest.importorskip("xgboost", reason=NO_XGBOOST)
    X, y, _ = make_training(missing=False)
    with pytest.raises(InvalidInputError, match=r"'gblinear', which has no trees"):
        read_trees(xgboost.XGBRegressor(booster="gblinear", n_estimators=2).fit(X, y), FEATURES)
    with pytest.raises(InvalidInputError, match=r"XGBRegressor to which -1 is a missing value; replace it by NaN"):
        read_trees(xgboost.XGBRegressor(n_estimators=2, missing=-1).fit(X, y), FEATURES)
    with pytest.raises(InvalidInputError, match=r"`trees` must be fitted, and this XGBRegressor is not"):
        read_trees(xgboost.XGBRegressor(), FEATURES)


def test_lightgbm_that_is_not_fitted():
    lightgbm = pytest.importorskip("lightgbm", reason=NO_LIGHTGBM)
    with pytest.raises(InvalidInputError, match=r"`trees` must be fitted, and this LGBMRegressor is not"):
        read_trees(lightgbm.LGBMRegressor(), FEATURES)


@given(st.floats(width=64, allow_nan=False, min_value=-1e38, max_value=1e38), st.integers(-3, 3))
def test_bounds_of_singles(threshold, steps):
    (bound,) = bound_singles([threshold])
    assert float(np.float32(bound)) <= threshold
    assert float(np.float32(np.nextafter(bound, np.inf))) > threshold
    near = bound + steps * np.spacing(bound)
    assert (near <= bound) == (float(np.float32(near)) <= threshold)


def test_bounds_of_singles_at_the_ends():
    assert bound_singles([np.inf, -np.inf]).tolist() == [np.inf, -np.inf]
    largest = float(np.finfo(np.float32).max)
    with np.errstate(over="ignore"):
        assert np.float32(bound_singles([largest])[0]) == largest
        assert np.float32(np.nextafter(bound_singles([1e300])[0], np.inf)) == np.inf


def test_depth_is_cut_and_missing_values_left_out():
    X, _, labels = make_training()
    model = RandomForestClassifier(5, random_state=0).fit(X, labels)
    whole = read_trees(model, FEATURES)
    cut = read_trees(model, FEATURES, max_depth=2, has_missing=np.array([True, False, False, True]))
    assert cut.n_nodes < whole.n_nodes
    assert max(len(rule.conditions) for rule in extract_rules(cut)) == 2
    inner = cut.feature >= 0
    np.testing.assert_array_equal(cut.missing[inner] > 0, np.isin(cut.feature[inner], [0, 3]))
    # The nodes that are left are the first levels of the whole trees.
    probes = make_probes(whole, missing=False)
    rules = set(extract_rules(read_trees(model, FEATURES, max_depth=2)))
    assert rules <= set(extract_rules(whole))
    assert set(np.unique(cut.apply(probes.T))) <= set(np.flatnonzero(~inner))


def test_nodes_stand_level_by_level():
    X, _, labels = make_training()
    forest = read_trees(ExtraTreesClassifier(4, random_state=0).fit(X, labels), FEATURES)
    depth = np.zeros(forest.n_nodes, dtype=int)
    for node in range(forest.n_nodes):
        if forest.parent[node] >= 0:
            assert forest.parent[node] < node
            depth[node] = depth[forest.parent[node]] + 1
    for tree in np.split(depth, forest.roots[1:]):
        assert (np.diff(tree) >= 0).all()


def test_a_tree_of_one_leaf():
    X, _, _ = make_training()
    forest = read_trees(DecisionTreeRegressor().fit(X, np.ones(len(X))), FEATURES)
    assert (forest.n_trees, forest.n_nodes, extract_rules(forest)) == (1, 1, ())


def test_unknown_models_are_refused():
    X, _, labels = make_training(missing=False)
    with pytest.raises(InvalidInputError, match=r"got a str\. Leave `trees` out"):
        read_trees("forest", FEATURES)
    with pytest.raises(InvalidInputError, match=r"got the class RandomForestClassifier, which is not an object"):
        read_trees(RandomForestClassifier, FEATURES)
    with pytest.raises(InvalidInputError, match=r"this RandomForestClassifier is not; call its `fit` first"):
        read_trees(RandomForestClassifier(), FEATURES)
    with pytest.raises(InvalidInputError, match=r"a LogisticRegression has none"):
        read_trees(LogisticRegression(max_iter=10_000).fit(X, labels), FEATURES)
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(X, labels)
    with pytest.raises(InvalidInputError, match=r"Pipeline has none. Of a pipeline or a search pass the fitted trees"):
        read_trees(pipeline, FEATURES)


def test_other_columns_are_refused():
    X, _, labels = make_training(missing=False)
    model = RandomForestClassifier(2).fit(pd.DataFrame(X, columns=list("abcd")), labels)
    with pytest.raises(InvalidInputError, match=r"fitted on 4 columns and X has 3"):
        read_trees(model, FEATURES[:3])
    with pytest.raises(InvalidInputError, match=r"know column 1 as 'b', in X it is 'c'"):
        read_trees(model, [Feature(name) for name in "acbd"], named=True)
    assert read_trees(model, FEATURES).n_trees == 2
    text = [*FEATURES[:3], Feature("x3", ("no", "yes"))]
    with pytest.raises(InvalidInputError, match=r"Column 3 \('x3'\) is text here, but `trees` split it by a number"):
        read_trees(model, text)


def test_a_class_of_ones_own_is_known_by_its_base():
    class Own(RandomForestClassifier):
        pass

    X, _, labels = make_training()
    assert read_trees(Own(3).fit(X, labels), FEATURES).n_trees == 3


def test_unknown_categories_follow_the_rows_of_the_fit():
    """A label that comes after the fit satisfies no rule about its column, as with rules grown here."""
    frame, y = make_frame()
    model = HistGradientBoostingRegressor(max_iter=2, categorical_features="from_dtype").fit(frame, y)
    columns = learn_columns(frame, Reading(categorical=["letter", "code"]))
    rules = [rule for rule in extract_rules(read_trees(model, columns.features)) if 1 in rule.features]
    later, _ = make_frame(seed=2, extra=True)
    rows = encode_columns(later[later["letter"] == "new"], columns.features).take(slice(None))
    assert rules
    assert not any(rule.holds(rows).any() for rule in rules)
