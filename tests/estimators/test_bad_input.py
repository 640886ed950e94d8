"""One clear sentence for each bad input: the column or parameter, what was expected, what came.

Beyond the mirror of the package: a user meets these sentences at `fit` and `predict`, whichever module says them.
"""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.exceptions import DroppedColumnWarning, InvalidInputError, PooledCategoriesWarning

KINDS = [RuleEnsembleClassifier, RuleEnsembleRegressor]
FRAMES = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


def make(kind, **changes):
    return kind(**{"n_candidates": 10, "random_state": 0, "n_jobs": 1, **changes})


def make_frame(n_rows=40):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["age", "height", "weight"])
    return frame, np.arange(n_rows) % 2


def make_telling_frame():
    """Return a table all of whose columns a model uses: prediction asks for no others."""
    frame, _ = make_frame()
    return frame, (frame.to_numpy() @ [1.0, 1.0, -1.0] > 0).astype(int)


def fit_telling(kind, table, y):
    fitted = make(kind, terms="linear", selection=0.01).fit(table, y)
    assert set(fitted.model_.used_names) == {"age", "height", "weight"}
    return fitted


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


# The table


@pytest.mark.parametrize(
    "table", [np.empty((0, 3)), pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), pa.table({"a": []})]
)
def test_an_empty_table(kind, table):
    with pytest.raises(ValueError, match=r"0 sample\(s\) \(shape=\(0, \d\)\) while a minimum of 1 is required"):
        make(kind).fit(table, [])


@pytest.mark.parametrize("table", [np.empty((5, 0)), pd.DataFrame(index=range(5))])
def test_a_table_without_columns(kind, table):
    with pytest.raises(ValueError, match=r"0 (feature|sample)\(s\)"):
        make(kind).fit(table, np.arange(5) % 2)


def test_one_row():
    with pytest.raises(InvalidInputError, match=r"at least two rows.*got n_samples = 1"):
        make(RuleEnsembleRegressor).fit([[1.0, 2.0]], [1.0])
    with pytest.raises(InvalidInputError, match="at least two classes"):
        make(RuleEnsembleClassifier).fit([[1.0, 2.0]], ["yes"])


@pytest.mark.parametrize("n_rows", [4])
def test_fewer_rows_than_folds(kind, n_rows):
    with pytest.raises(
        InvalidInputError, match=rf"cv=5 folds need at least 5 rows; got n_samples = {n_rows}. Lower `cv`"
    ):
        make(kind).fit(np.arange(2.0 * n_rows).reshape(n_rows, 2), np.arange(n_rows) % 2)


def test_a_row_of_numbers_is_no_table(kind):
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        make(kind).fit(np.arange(10.0), np.arange(10) % 2)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("wrap", FRAMES)
def test_an_infinite_attribute(kind, wrap, value):
    frame, y = make_telling_frame()
    fitted = fit_telling(kind, FRAMES[wrap](frame), y)
    frame.loc[7, "height"] = value
    words = re.escape(f"Column 1 ('height') must be finite or missing; got {value} in row 7.") + " Replace"
    with pytest.raises(InvalidInputError, match=words):
        make(kind).fit(FRAMES[wrap](frame), y)
    with pytest.raises(InvalidInputError, match=words):
        fitted.predict(FRAMES[wrap](frame))


def test_an_infinite_attribute_of_an_array(kind):
    frame, y = make_frame()
    X = frame.to_numpy().copy()
    X[3, 2] = np.inf
    with pytest.raises(InvalidInputError, match=r"Column 2 \('x2'\) must be finite or missing; got inf in row 3"):
        make(kind).fit(X, y)


@pytest.mark.parametrize(("value", "words"), [(5.0, "is constant"), (np.nan, "has no values")])
@pytest.mark.parametrize("wrap", FRAMES)
def test_a_column_that_says_nothing_is_named_once(kind, wrap, value, words):
    frame, y = make_frame()
    frame["height"] = value
    with pytest.warns(DroppedColumnWarning) as told:
        fitted = make(kind).fit(FRAMES[wrap](frame), y)
    assert [str(warning.message) for warning in told] == [f"Column 1 ('height') {words}; no term uses it."]
    assert fitted.feature_importances_[1] == 0


def test_a_constant_category_is_named(kind):
    frame, y = make_frame()
    frame["height"] = "tall"
    with pytest.warns(DroppedColumnWarning, match=r"Column 1 \('height'\) is constant"):
        make(kind).fit(frame, y)


def test_duplicate_names(kind):
    frame, y = make_frame()
    frame.columns = ["age", "age", "weight"]
    with pytest.raises(InvalidInputError, match=r"Column names must be unique; got 'age' more than once. Rename"):
        make(kind).fit(frame, y)
    arrow = pa.table([frame.iloc[:, k] for k in range(3)], names=["age", "age", "weight"])
    with pytest.raises(InvalidInputError, match="Column names must be unique; got 'age' more than once"):
        make(kind).fit(arrow, y)


@pytest.mark.parametrize(
    "values",
    [
        [{"a": 1}] * 40,
        [1.0, "two"] * 20,
        [[1], [2]] * 20,
        pd.to_timedelta(np.arange(40), unit="s"),
    ],
)
def test_a_column_neither_numeric_nor_categorical(kind, values):
    frame, y = make_frame()
    frame["odd"] = pd.Series(values, dtype=object if isinstance(values, list) else None)
    with pytest.raises((TypeError, ValueError), match=r"Column 3 \('odd'\) is neither numeric nor categorical"):
        make(kind).fit(frame, y)


@pytest.mark.parametrize("wrap", FRAMES)
def test_more_categories_than_bins(kind, wrap):
    frame, y = make_frame()
    frame["town"] = [f"town {min(k, 38)}" for k in range(40)]
    with pytest.warns(PooledCategoriesWarning, match=r"Column 3 \('town'\) has 39 categories; the 1 most frequent"):
        make(kind, max_bins=20).fit(FRAMES[wrap](frame), y)
    make(kind, max_bins=40).fit(FRAMES[wrap](frame), y)


@pytest.mark.parametrize(
    ("categorical", "words"),
    [
        (["nope"], "`categorical_features` names 'nope', which is not a column"),
        ([7], "`categorical_features` names 7, which is not a column"),
        ([True], "`categorical_features` has 1 entries for 3 columns"),
        ("all", "'categorical_features' parameter"),
    ],
)
def test_categorical_features_that_do_not_exist(kind, categorical, words):
    frame, y = make_frame()
    with pytest.raises(ValueError, match=words):
        make(kind, categorical_features=categorical).fit(frame, y)


# Another table at prediction


@pytest.mark.parametrize("wrap", FRAMES)
@pytest.mark.parametrize("method", ["predict", "transform_rules"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f[["height", "age", "weight"]], "must be in the same order"),
        (lambda f: f[["age", "height"]], "missing:\n- weight"),
        (lambda f: f.assign(extra=1.0), "unseen at fit time:\n- extra"),
        (lambda f: f.rename(columns={"age": "Age"}), "unseen at fit time:\n- Age"),
    ],
)
def test_other_columns_at_prediction_than_at_the_fit(kind, wrap, method, change, words):
    frame, y = make_telling_frame()
    fitted = fit_telling(kind, FRAMES[wrap](frame), y)
    with pytest.raises(ValueError, match=words):
        getattr(fitted, method)(FRAMES[wrap](change(frame)))


@pytest.mark.parametrize("wrap", FRAMES)
def test_prediction_asks_only_for_the_columns_that_terms_use(kind, wrap):
    frame, y = make_telling_frame()
    X = frame.assign(other=np.arange(40.0) ** 2 % 7, text=np.where(np.arange(40) % 3, "u", "v"))
    fitted = make(kind, rules=["age > 0", "weight <= 0.3"], force_rules=True, n_candidates=0, terms="rules").fit(
        FRAMES[wrap](X), y
    )
    few = FRAMES[wrap](frame[["weight", "age"]])
    for method in ("predict", "transform_rules"):
        np.testing.assert_array_equal(getattr(fitted, method)(few), getattr(fitted, method)(FRAMES[wrap](X)))
    np.testing.assert_array_equal(fitted.explain(few).scores, fitted.explain(FRAMES[wrap](X)).scores)
    with pytest.raises(ValueError, match=r"missing:(\n- .*)*\n- age"):
        fitted.predict(FRAMES[wrap](frame[["weight"]]))
    with pytest.raises(ValueError, match="unseen at fit time:\n- new"):
        fitted.predict(FRAMES[wrap](frame[["weight", "age"]].assign(new=1.0)))


def test_another_number_of_columns(kind):
    frame, y = make_frame()
    X = frame.to_numpy()
    with pytest.raises(ValueError, match=r"X has 2 features, but RuleEnsemble.* is expecting 3 features"):
        make(kind).fit(X, y).predict(X[:, :2])


def test_names_only_at_one_of_the_two(kind):
    frame, y = make_frame()
    named, plain = make(kind).fit(frame, y), make(kind).fit(frame.to_numpy(), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        named.predict(frame.to_numpy())
    with pytest.warns(UserWarning, match="has feature names, but"):
        plain.predict(frame)


def test_text_where_numbers_were(kind):
    frame, y = make_telling_frame()
    fitted = fit_telling(kind, frame, y)
    with pytest.raises(InvalidInputError, match=r"Column 0 \('age'\) was numeric when the model was fitted; got text"):
        fitted.predict(frame.assign(age="old"))


@pytest.mark.parametrize("wrap", FRAMES)
def test_numbers_where_text_was(kind, wrap):
    """Numbers are no category the model knows; to treat a whole column as unseen would be a silent change."""
    frame, _ = make_frame()
    frame["height"] = np.where(frame["height"] > 0, "tall", "short")
    tall = (frame["height"] == "tall").astype(int)
    fitted = make(kind, terms="rules", selection=0.01, max_features=None).fit(FRAMES[wrap](frame), tall)
    with pytest.raises(ValueError, match=r"Column 1 \('height'\)"):
        fitted.predict(FRAMES[wrap](frame.assign(height=1.5)))


# The target


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_target_that_is_not_finite(kind, value):
    frame, y = make_frame()
    y = y.astype(float)
    y[4] = value
    with pytest.raises(InvalidInputError, match=rf"y contains NaN or infinity \(row 4: {value}\); drop"):
        make(kind).fit(frame, y)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_missing_label(missing):
    frame, _ = make_frame()
    y = pd.Series(["yes", "no"] * 20, dtype=object)
    y[4] = missing
    with pytest.raises(InvalidInputError, match=r"y contains NaN: a missing label. Drop the rows"):
        make(RuleEnsembleClassifier).fit(frame, y)


@pytest.mark.parametrize("label", ["yes", 1, True])
def test_one_class(label):
    frame, _ = make_frame()
    with pytest.raises(InvalidInputError, match=f"y must hold at least two classes; got one class only: .*{label}"):
        make(RuleEnsembleClassifier).fit(frame, [label] * 40)


def test_one_class_among_the_rows_that_count():
    frame, y = make_frame()
    with pytest.raises(InvalidInputError, match="rows of positive weight belong to one class"):
        make(RuleEnsembleClassifier).fit(frame, y, sample_weight=y)


def test_a_label_seen_once():
    """Where its row is held out, nothing is left to learn the class from."""
    frame, _ = make_frame()
    y = np.where(np.arange(40) < 1, "rare", "common")
    with pytest.raises(InvalidInputError, match=r"Class 'rare' has only one row.*`selection`"):
        make(RuleEnsembleClassifier).fit(frame, y)
    make(RuleEnsembleClassifier, selection=0.1).fit(frame, y)  # the way out that the message names
    make(RuleEnsembleClassifier).fit(frame, np.where(np.arange(40) < 2, "rare", "common"))


def test_as_many_classes_as_rows():
    """Rows of a class of their own are never held out: five folds without a row divided by zero."""
    X, y = np.random.default_rng(0).normal(size=(120, 3)), np.arange(120)
    told = "cv=5 folds need rows to hold out, but 0 rows belong to classes of more than one row"
    with pytest.warns(UserWarning, match="unique classes"), pytest.raises(InvalidInputError, match=told):
        make(RuleEnsembleClassifier).fit(X, y)


def test_a_target_of_another_length(kind):
    frame, y = make_frame()
    with pytest.raises(InvalidInputError, match="X has 40 rows but y has 39"):
        make(kind).fit(frame, y[:-1])


def test_no_target(kind):
    frame, _ = make_frame()
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        make(kind).fit(frame, None)


def test_words_for_a_number():
    frame, _ = make_frame()
    with pytest.raises(ValueError, match=r"got text such as 'a'\. Use RuleEnsembleClassifier"):
        make(RuleEnsembleRegressor).fit(frame, ["a", "b"] * 20)


# Weights


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.full(40, -1.0), "`sample_weight` must not be negative; got -1.0 in row 0"),
        (np.r_[np.ones(39), -0.5], "`sample_weight` must not be negative; got -0.5 in row 39"),
        (np.zeros(40), "`sample_weight` is zero for every row; at least one"),
        (np.ones(39), r"`sample_weight` must hold one weight for each of the 40 rows; got .*\(39,\)"),
        (np.ones((40, 2)), r"`sample_weight` must hold one weight for each of the 40 rows; got .*\(40, 2\)"),
        (np.r_[np.ones(39), np.nan], "sample_weight contains NaN"),
        (np.r_[np.ones(39), np.inf], "sample_weight contains infinity"),
        (
            np.r_[1.0, np.zeros(39)],
            "at least two rows of positive weight; got n_samples = 1|Class 0 has only one row|to one class",
        ),
    ],
)
def test_weights_that_are_none(kind, weights, words):
    frame, y = make_frame()
    with pytest.raises(ValueError, match=words):
        make(kind).fit(frame, y, sample_weight=weights)


# Parameters


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_candidates", 1),
        ("n_candidates", 10**12),
        ("n_candidates", True),
        ("max_terms", True),
        ("selection", True),
        ("selection", np.nan),
        ("n_candidates", 10.5),
        ("max_terms", -1),
        ("mean_leaves", 1.9),
        ("mean_leaves", np.inf),
        ("mean_leaves", np.nan),
        ("subsample", 0),
        ("subsample", 0.0),
        ("subsample", 1.5),
        ("subsample", 1),
        ("subsample", "all"),
        ("shrinkage", -0.1),
        ("shrinkage", 1.1),
        ("max_features", 0),
        ("max_features", 1.5),
        ("max_features", "half"),
        ("min_samples_leaf", 0),
        ("min_impurity", -1.0),
        ("max_conditions", 0),
        ("max_bins", 1),
        ("max_bins", 256),
        ("terms", "trees"),
        ("tree_loss", "absolute"),
        ("solver", "newton"),
        ("solver", Glmnet),
        ("solver", object()),
        ("selection", "best"),
        ("selection", 0.0),
        ("selection", -1.0),
        ("cv", 1),
        ("cv", "five"),
        ("honest_cv", "yes"),
        ("random_state", "seed"),
        ("n_jobs", 0),
        ("verbose", -1),
    ],
)
def test_parameters_out_of_range(kind, name, value):
    """The message names the parameter and shows the value."""
    frame, y = make_frame()
    with pytest.raises(ValueError, match=rf"(?s)['`]{name}['`].*(Got|got|gave).*{re.escape(repr(value)[:8])}"):
        make(kind, **{name: value}).fit(frame, y)


def test_class_weights_out_of_range():
    frame, y = make_frame()
    with pytest.raises(ValueError, match=r"'class_weight' parameter of RuleEnsembleClassifier must be .* Got 'even'"):
        make(RuleEnsembleClassifier, class_weight="even").fit(frame, y)
    with pytest.raises(ValueError, match=r"classes, \[1\], are not in class_weight"):
        make(RuleEnsembleClassifier, class_weight={0: 1.0, 7: 2.0}).fit(frame, y)


def test_a_subsample_of_more_rows_than_there_are(kind):
    frame, y = make_frame()
    with pytest.raises(InvalidInputError, match="`subsample` asks for 41 rows per tree but there are 40; lower it"):
        make(kind, subsample=41).fit(frame, y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"l1_ratio": 1.5}, "`l1_ratio` of Glmnet must be between 0 and 1; got 1.5"),
        ({"penalties": [0.1, 0.5]}, "`penalties` must be decreasing; got 0.1 before 0.5"),
        ({"tol": 0.0}, "`tol` of Glmnet must be positive; got 0.0"),
    ],
)
def test_settings_of_the_solver_out_of_range(kind, options, words):
    frame, y = make_frame()
    with pytest.raises(InvalidInputError, match=words):
        make(kind, solver=Glmnet(**options)).fit(frame, y)


def test_a_failed_fit_changes_no_parameter_and_no_input(kind):
    frame, y = make_frame()
    before, copy = make(kind).get_params(), frame.copy()
    estimator = make(kind)
    with pytest.raises(InvalidInputError):
        estimator.fit(frame, y, sample_weight=-np.ones(40))
    estimator.fit(frame, y)
    assert estimator.get_params() == before
    pd.testing.assert_frame_equal(frame, copy)
