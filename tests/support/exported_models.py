"""Fitted models of every kind, and rows that are hard on them, for the tests of files and exports."""

import copy
import functools
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.datasets import make_friedman1

from rulegrove import Glmnet, Pathbuild, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.columns import Columns, Feature
from rulegrove.datasets import load
from rulegrove.design.terms import Linear
from rulegrove.estimators.model import RuleModel
from rulegrove.rules.rule import Condition, Rule

HOSTILE = '"; DROP TABLE x; --'
SMALL = {"n_candidates": 60, "random_state": 0, "cv": 3, "honest_cv": False, "n_jobs": 1}
LARGE = {**SMALL, "max_terms": None}  # many terms, and every calibration of every loss


@functools.cache
def mixed_frame(n_rows=240):
    """Numbers with missing values, texts and numbered categories under names that are hard to quote."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            HOSTILE: rng.normal(size=n_rows),
            "größe 'cm' `q`": np.round(rng.normal(170, 10, size=n_rows), 1),
            "class": rng.choice(["it's", 'say "no"', "back\\slash", "日本 🌲", "plain"], size=n_rows).astype(object),
            "grade": rng.integers(1, 5, size=n_rows).astype(float),
        }
    )
    for k, name in enumerate(frame.columns):
        frame.loc[rng.random(n_rows) < 0.1 + 0.02 * k, name] = None if name == "class" else np.nan
    score = frame[HOSTILE].fillna(1.5) + (frame["class"].isna() | (frame["class"] == "it's")) * 2.0
    score += (frame["grade"] > 2) * 1.0 + (frame["größe 'cm' `q`"] > 172) * 0.7 + 0.3 * rng.normal(size=n_rows)
    return frame, score.to_numpy()


def _frame(X):
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])


def _mixed_classes(kinds):
    frame, score = mixed_frame()
    codes = np.digitize(score, np.quantile(score, [0.5] if len(kinds) == 2 else [0.3, 0.7]))
    return frame, np.array(kinds)[codes]


def _with_gaps(X):
    rng = np.random.default_rng(3)
    return np.where(rng.random(X.shape) < 0.08, np.nan, X)


def _fit(name):
    iris_X, iris_y = load("iris", return_X_y=True)
    pima_X, pima_y = load("pima", return_X_y=True)
    friedman_X, friedman_y = make_friedman1(250, random_state=0)
    listed = {"categorical_features": ["class", "grade"]}
    frame, score = mixed_frame()
    classifiers = {
        "binary": (pima_X, pima_y, {}),
        "binary, gaps": (_with_gaps(pima_X), pima_y, {"calibration": "sigmoid"}),
        "binary, isotonic": (pima_X, pima_y, {"calibration": "isotonic"}),
        "binary, logistic": (pima_X, pima_y, {"solver": Glmnet(loss="logistic")}),
        "binary, ramp, raw scores": (pima_X, pima_y, {"solver": Pathbuild(), "calibration": None}),
        "binary, float32": (pima_X.astype(np.float32), pima_y, {}),
        "mixed, binary": (*_mixed_classes(["no", "yes'; --"]), listed),
        "mixed, integers": (*_mixed_classes([-3, 8, 5]), listed),
        "mixed, booleans": (*_mixed_classes([False, True]), {"calibration": None}),
        "mixed, floats": (*_mixed_classes([1.0, 2.0, 4.0]), {"calibration": "isotonic"}),
        "iris, shared": (iris_X, iris_y, {"multiclass": "shared"}),
        "iris, own rules": (_with_gaps(iris_X), iris_y, {"multiclass": "ovr", "calibration": "sigmoid"}),
        "iris, isotonic": (iris_X, iris_y, {"multiclass": "grouped", "calibration": "isotonic"}),
        "iris, raw scores": (iris_X, iris_y, {"multiclass": "ovr", "calibration": None}),
        "iris, multinomial": (iris_X, iris_y, {"multiclass": "shared", "solver": Glmnet(loss="logistic")}),
        "iris, logistic": (iris_X, iris_y, {"multiclass": "ovr", "solver": Glmnet(loss="logistic")}),
        "iris, no terms": (iris_X, iris_y, {"max_terms": 0}),
        "binary, list": (pima_X, pima_y, {"max_terms": "auto"}),
        "binary, list, isotonic": (pima_X, pima_y, {"max_terms": 8, "calibration": "isotonic"}),
        "iris, list": (iris_X, iris_y, {"max_terms": 12}),
        "iris, list, one term": (_with_gaps(iris_X), iris_y, {"max_terms": 1, "multiclass": "ovr"}),
        "iris, list, raw scores": (iris_X, iris_y, {"max_terms": "auto", "calibration": None}),
        "mixed, list": (*_mixed_classes(["a", "b", "c"]), {**listed, "max_rules": 6, "calibration": "sigmoid"}),
    }
    regressors = {
        "numbers": (friedman_X, friedman_y, {}),
        "numbers, gaps": (_with_gaps(friedman_X), friedman_y, {"solver": Glmnet(relax=True)}),
        "numbers, linear": (friedman_X, friedman_y, {"terms": "linear"}),
        "numbers, rules": (friedman_X, friedman_y, {"terms": "rules"}),
        "numbers, no terms": (friedman_X, friedman_y, {"max_terms": 0}),
        "numbers, mixed": (frame, score, listed),
        "numbers, list": (_with_gaps(friedman_X), friedman_y, {"max_terms": "auto"}),
    }
    make = RuleEnsembleClassifier if name in classifiers else RuleEnsembleRegressor
    X, y, settings = (classifiers | regressors)[name]
    X = X if isinstance(X, pd.DataFrame) else _frame(X)
    return make(**{**LARGE, **settings}).fit(X, y), X


NAMES = [
    *("binary", "binary, gaps", "binary, isotonic", "binary, logistic", "binary, ramp, raw scores", "binary, float32"),
    *("mixed, binary", "mixed, integers", "mixed, booleans", "mixed, floats"),
    *("iris, shared", "iris, own rules", "iris, isotonic", "iris, raw scores", "iris, multinomial", "iris, logistic"),
    "iris, no terms",
    *("binary, list", "binary, list, isotonic", "iris, list", "iris, list, one term", "iris, list, raw scores"),
    "mixed, list",
    *("numbers", "numbers, gaps", "numbers, linear", "numbers, rules", "numbers, no terms", "numbers, mixed"),
    "numbers, list",
]


@functools.cache
def fitted(name):
    """Return a fitted model and hard rows for it."""
    model, X = _fit(name)
    return model, hard_rows(model, X)


def hard_rows(model, X, n_rows=400):
    """Rows whose values lie on thresholds, a hair beside them, far away, are missing or were never seen."""
    rng = np.random.default_rng(11)
    rows = {}
    for position, feature in enumerate(model.model_.features):
        if feature.categories is not None and any(isinstance(label, str) for label in feature.categories):
            rows[feature.name] = np.array([*feature.categories, "never seen", None], dtype=object)
            continue
        edges = [bound for bound in _bounds(model, position) if np.isfinite(bound)]
        edges += [0.0, -0.0, -1e6, 1e6, *(feature.categories or ())]
        near = np.array(edges, dtype=np.float64)
        seen = X[feature.name].to_numpy(dtype=np.float64)[:50]
        near = np.concatenate([near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf), seen, [np.nan] * 10])
        rows[feature.name] = near.astype(X[feature.name].dtype)
    return pd.DataFrame({name: rng.choice(values, size=n_rows) for name, values in rows.items()})


def _bounds(model, position):
    for term in model.model_.terms:
        if isinstance(term, Linear):
            yield from (term.lower, term.upper) if term.feature == position else ()
        else:
            for condition in term.conditions:
                yield from (condition.lower, condition.upper) if condition.feature == position else ()


@functools.cache
def small_iris():
    """The model that docs/export.md shows."""
    X, y = load("iris", return_X_y=True)
    frame = pd.DataFrame(X, columns=["sepal_length", "sepal_width", "petal_length", "petal_width"])
    model = RuleEnsembleClassifier(n_candidates=50, max_terms=1, terms="rules", random_state=0, n_jobs=1)
    model.fit(frame, np.where(y == "Iris-virginica", "virginica", "other"))
    rule = Rule((Condition(2, upper=5.0), Condition(3, upper=1.5)))  # whatever was fitted, the page stays as it is
    model.model_ = replace(
        model.model_, terms=(rule,), coefs=np.array([-3.998779555193626]), intercept=0.9343817898255209
    )
    return model


def scores_of(model, rows):
    """What an export must equal: scores, (n_rows,) or (n_rows, n_outputs)."""
    return model.decision_function(rows) if hasattr(model, "classes_") else model.predict(rows)


def as_records(rows):
    """Rows as dicts with None where a value is missing."""
    records = rows.astype(object).where(rows.notna(), None).to_dict("records")
    return [dict(record) for record in records]


def of_terms(features, terms, coefs, intercept=0.25):
    """A regressor of these terms alone."""
    model = copy.copy(fitted("numbers, no terms")[0])
    model.model_ = RuleModel(tuple(features), tuple(terms), np.array(coefs, dtype=np.float64), intercept)
    return model


PARTS = ("date", "year", "month", "weekday", "hour")
CITIES = ("Oslo", "it's", "日本 🌲")
READ_FEATURES = (
    *(Feature(f"sold at.{part}", column="sold at", part=part) for part in PARTS),
    Feature("born.year", column="born", part="year"),
    Feature("city", CITIES, pooled=True),
    Feature("grade", (1.0, 2.5), pooled=True),
    Feature("price", as_text=True),
)


def read_rows(n_rows=300):
    """Rows for `READ_FEATURES`: times to the second and days, many of them at the ends of months, years and eras."""
    rng = np.random.default_rng(5)
    ends = [
        "1600-02-29",
        "1700-02-28",
        "1899-12-31",
        "1900-03-01",
        "1969-12-31",
        "1970-01-01",
        "2000-02-29",
        "2100-03-01",
    ]
    days = np.array([*ends, *(f"2024-{month:02}-01" for month in range(1, 13))], dtype="datetime64[D]")
    days = np.concatenate([days, days - 1, rng.integers(-130_000, 90_000, size=60).astype("datetime64[D]")])
    seconds = rng.choice([0, 1, 3599, 3600, 43_200, 86_399], size=n_rows).astype("timedelta64[s]")
    never = np.datetime64("NaT", "s")
    return pd.DataFrame(
        {
            "sold at": np.where(rng.random(n_rows) < 0.1, never, rng.choice(days, size=n_rows) + seconds),
            "born": np.where(rng.random(n_rows) < 0.1, never, rng.choice(days, size=n_rows).astype("datetime64[s]")),
            "city": rng.choice(np.array([*CITIES, "Lima", None], dtype=object), size=n_rows),
            "grade": rng.choice([1.0, 2.5, 3.0, np.nan], size=n_rows),
            "price": rng.choice([0.1, 0.5, 35.0, np.nan], size=n_rows),
        }
    )


def read_columns(rows):
    """What attributes are on rows, by NumPy's calendar: the plain twin of what exports compute."""
    arrays = []
    for feature in READ_FEATURES:
        values = rows[feature.source].to_numpy()
        if feature.part is not None:
            arrays.append(_part_of(values.astype("datetime64[s]"), feature.part))
        elif feature.categories is None:
            arrays.append(values)
        else:
            codes = {label: code for code, label in enumerate(feature.categories)}
            missing = pd.isna(values)
            arrays.append(
                [np.nan if gone else codes.get(x, len(codes)) for x, gone in zip(values, missing, strict=True)]
            )
    return Columns(READ_FEATURES, [np.asarray(array, dtype=np.float64) for array in arrays])


def _part_of(times, part):
    days = times.astype("datetime64[D]")
    told = {
        "date": days.astype(np.int64),
        "year": times.astype("datetime64[Y]").astype(np.int64) + 1970,
        "month": times.astype("datetime64[M]").astype(np.int64) % 12 + 1,
        "weekday": (days.astype(np.int64) + 3) % 7 + 1,
        "hour": (times - days).astype("timedelta64[h]").astype(np.int64),
    }[part]
    return np.where(np.isnat(times), np.nan, told)


def as_texts(times, shape="%Y-%m-%d %H:%M:%S"):
    """Times as texts, None where missing."""
    return np.array([None if time is pd.NaT else time.strftime(shape) for time in times], dtype=object)


def feed(session, rows):
    """What a user of onnxruntime feeds: one matrix, or one input a column."""
    if [one.name for one in session.get_inputs()] == ["X"]:
        return {"X": rows.to_numpy(dtype=np.float64)}
    return {one.name: _as_input(rows[one.name], one.type).reshape(-1, 1) for one in session.get_inputs()}


def _as_input(values, kind):
    if kind == "tensor(string)":
        return values.fillna("").to_numpy(dtype=object)
    if kind == "tensor(int64)":  # of NaT that is the smallest one
        return values.to_numpy(dtype="datetime64[s]").astype(np.int64)
    return values.to_numpy(dtype=np.float64)
