"""What is compared on rates, amounts, quantiles and survival times: rulegrove, and its peers at their defaults.

Each method runs in the environment that holds it, so nothing is imported here before it is asked for.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np


@dataclass(frozen=True)
class Task:
    """What a method is told before it fits.

    Attributes
    ----------
    kind : {"poisson", "gamma", "tweedie", "quantile", "survival"}
    level : float
        Of a quantile; the power of Tweedie's deviance.
    seed : int
    """

    kind: str
    level: float
    seed: int


@dataclass(frozen=True)
class Rows:
    """Rows to learn from or to predict.

    Attributes
    ----------
    X : DataFrame
        With categories and missing values.
    y, exposure : ndarray of shape (n_rows,)
        Totals (times), and for how much each row stands.
    event, group : ndarray of shape (n_rows,), optional
    """

    X: Any
    y: np.ndarray
    exposure: np.ndarray
    event: np.ndarray | None = None
    group: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> "Rows":
        """Return some of the rows."""
        event, group = (None if one is None else one[rows] for one in (self.event, self.group))
        return Rows(self.X.iloc[rows].reset_index(drop=True), self.y[rows], self.exposure[rows], event, group)


Predict = Callable[[Any], np.ndarray]


class Method(ABC):
    """A library behind the same two calls.

    Attributes
    ----------
    name : str
    package : str
        Whose version is told.
    kinds : tuple of str
        What it can predict.
    environment : {"own", "peers"}
    slow : bool
        Whether only the first repetition is measured.
    """

    environment: ClassVar[str] = "peers"
    slow: ClassVar[bool] = False

    def __init__(self, name: str, package: str, kinds: Sequence[str]):
        self.name, self.package, self.kinds = name, package, tuple(kinds)

    def prepare(self, task: Task, rows: Rows) -> None:  # noqa: B027 - most have nothing to do
        """Do what is to be outside the clock."""

    @abstractmethod
    def fit(self, task: Task, rows: Rows) -> Any:
        """Return a fitted model."""

    @abstractmethod
    def predict(self, model: Any, X: Any) -> np.ndarray:
        """Return rates, quantiles or risks."""

    def lines(self, model: Any) -> Mapping[str, tuple[Predict, int | None]]:
        """Return what is listed of one fit: names, each with how it predicts and its number of terms."""
        return {self.name: (partial(self.predict, model), None)}


def as_numbers(rows: Rows) -> Any:
    """Return what makes standardised numbers of a table: a column a category but the first, medians for empty cells."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    words = make_column_selector(dtype_include="category")
    numbers = make_column_selector(dtype_exclude="category")
    encoder = OneHotEncoder(drop="first", handle_unknown="ignore", sparse_output=False)
    return make_pipeline(
        make_column_transformer((encoder, words), (SimpleImputer(strategy="median"), numbers)), StandardScaler()
    ).fit(rows.X)


class Rulegrove(Method):
    """Ours: one fit gives a list with a ceiling, the list that is its default, and the large model."""

    environment = "own"

    def prepare(self, task: Task, rows: Rows) -> None:
        """Load the compiled kernels by a small fit."""
        few = np.random.default_rng(0).permutation(len(rows.y))[:300]
        self.fit(task, rows.take(few), n_candidates=50)

    def fit(self, task: Task, rows: Rows, **settings: Any) -> Any:
        """Return a fitted model with default settings."""
        import rulegrove

        settings |= {"random_state": task.seed, "n_jobs": 1}
        if task.kind == "survival":
            target = np.column_stack([rows.y, np.asarray(rows.event)])
            return rulegrove.RuleEnsembleSurvival(**settings).fit(rows.X, target)
        levels = {"quantile": "quantile", "tweedie": "power"}
        if task.kind in levels:
            settings[levels[task.kind]] = task.level
        model = rulegrove.RuleEnsembleRegressor(loss=task.kind, **settings)
        known = {} if np.all(rows.exposure == 1.0) else {"exposure": rows.exposure}
        known |= {} if rows.group is None else {"groups": rows.group}
        return model.fit(rows.X, rows.y, **known)

    def predict(self, model: Any, X: Any) -> np.ndarray:
        """Return rates, quantiles or risks."""
        return np.asarray(model.predict(X))

    def lines(self, model: Any) -> Mapping[str, tuple[Predict, int | None]]:
        """Return models of three lengths."""
        ceiling = 15 if type(model).__name__ == "RuleEnsembleSurvival" else 25
        lengths: dict[str, int | str | None] = {f"{ceiling} terms": ceiling, "default": "auto", "large model": None}
        models = {name: model.shorten(max_terms=length) for name, length in lengths.items()}
        return {
            f"{self.name}, {name}": (partial(self.predict, short), len(short.rules_)) for name, short in models.items()
        }


class Accurate(Rulegrove):
    """Ours with ``preset="accurate"``, of whose large model the list is made."""

    slow = True

    def fit(self, task: Task, rows: Rows, **settings: Any) -> Any:
        """Return a fitted model."""
        return super().fit(task, rows, preset="accurate", **settings)

    def lines(self, model: Any) -> Mapping[str, tuple[Predict, int | None]]:
        """Return the list of 25 terms and the large model."""
        lines = super().lines(model)
        return {name: line for name, line in lines.items() if not name.endswith("default")}


class Numeric(Method):
    """Methods that want numbers without gaps."""

    @abstractmethod
    def create(self, task: Task) -> Any:
        """Return the estimator."""

    def fit(self, task: Task, rows: Rows) -> Any:
        """Return the encoding of columns and the fitted estimator."""
        encoding = as_numbers(rows)
        model = self.create(task).fit(encoding.transform(rows.X), rows.y / rows.exposure, sample_weight=rows.exposure)
        return encoding, model

    def predict(self, model: Any, X: Any) -> np.ndarray:
        """Return rates."""
        encoding, own = model
        return np.asarray(own.predict(encoding.transform(X)))


class Glum(Numeric):
    """glum: a generalised linear model, its lasso penalty chosen by cross-validation."""

    def create(self, task: Task) -> Any:
        """Return the estimator."""
        from glum import GeneralizedLinearRegressorCV, TweedieDistribution
        from sklearn.model_selection import KFold

        family = TweedieDistribution(task.level) if task.kind == "tweedie" else task.kind
        folds = KFold(5, shuffle=True, random_state=task.seed)  # its own are blocks of rows, which may be sorted
        return GeneralizedLinearRegressorCV(family=family, link="log", l1_ratio=1.0, n_alphas=30, cv=folds, n_jobs=1)


class LinearModel(Numeric):
    """scikit-learn's generalised linear models and its linear quantiles, with hardly any penalty."""

    def create(self, task: Task) -> Any:
        """Return the estimator."""
        from sklearn import linear_model

        if task.kind == "quantile":
            return linear_model.QuantileRegressor(quantile=task.level, alpha=0.0)
        if task.kind == "tweedie":
            return linear_model.TweedieRegressor(power=task.level, link="log", alpha=1e-4, max_iter=1000)
        name = {"poisson": "PoissonRegressor", "gamma": "GammaRegressor"}[task.kind]
        return getattr(linear_model, name)(alpha=1e-4, max_iter=1000)


class Framed(Method):
    """Methods that take categories and gaps as they are."""

    @abstractmethod
    def create(self, task: Task) -> Any:
        """Return the estimator."""

    def fit(self, task: Task, rows: Rows) -> Any:
        """Return a fitted model of rates."""
        weights = {} if np.all(rows.exposure == 1.0) else {"sample_weight": rows.exposure}
        return self.create(task).fit(rows.X, rows.y / rows.exposure, **weights)

    def predict(self, model: Any, X: Any) -> np.ndarray:
        """Return rates or quantiles."""
        return np.asarray(model.predict(X))


class Boosting(Framed):
    """scikit-learn's histogram gradient boosting."""

    def create(self, task: Task) -> Any:
        """Return the estimator."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        own = {"quantile": task.level} if task.kind == "quantile" else {}
        return HistGradientBoostingRegressor(
            loss=task.kind, categorical_features="from_dtype", random_state=task.seed, **own
        )


class Ebm(Framed):
    """Explainable boosting machine."""

    slow = True

    def create(self, task: Task) -> Any:
        """Return the estimator."""
        from interpret.glassbox import ExplainableBoostingRegressor

        power = f":variance_power={task.level}" if task.kind == "tweedie" else ""
        objective = f"{task.kind}_deviance{power}"
        return ExplainableBoostingRegressor(objective=objective, n_jobs=1, random_state=task.seed)


class LightGBM(Framed):
    """LightGBM."""

    def create(self, task: Task) -> Any:
        """Return the estimator."""
        from lightgbm import LGBMRegressor

        settings: dict[str, Any] = {"n_jobs": 1, "verbose": -1, "random_state": task.seed}
        levels = {"quantile": "alpha", "tweedie": "tweedie_variance_power"}
        if task.kind in levels:
            settings[levels[task.kind]] = task.level
        return LGBMRegressor(objective=task.kind, **settings)


class ScikitSurvival(Method):
    """scikit-survival; its licence is the GPL, and it is used in the environment of the peers alone."""

    def __init__(self, name: str, module: str, estimator: str, **parameters: Any):
        super().__init__(name, "scikit-survival", ("survival",))
        self.module, self.estimator, self.parameters = module, estimator, parameters

    def fit(self, task: Task, rows: Rows) -> Any:
        """Return the encoding of columns and the fitted estimator."""
        import importlib

        create = getattr(importlib.import_module(self.module), self.estimator)
        seed = {} if self.estimator.startswith("Cox") else {"random_state": task.seed}
        if rows.event is None:
            raise ValueError("A table of survival times must tell which of them ended with the event.")
        target = np.array(list(zip(rows.event, rows.y, strict=True)), dtype=[("event", bool), ("time", np.float64)])
        encoding = as_numbers(rows)
        return encoding, create(**self.parameters, **seed).fit(encoding.transform(rows.X), target)

    def predict(self, model: Any, X: Any) -> np.ndarray:
        """Return risks."""
        encoding, own = model
        return np.asarray(own.predict(encoding.transform(X)))


_RATES = ("poisson", "gamma", "tweedie")
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Rulegrove("rulegrove", "rulegrove", (*_RATES, "quantile", "survival")),
        Accurate("rulegrove accurate", "rulegrove", (*_RATES, "quantile")),
        Glum("glum", "glum", _RATES),
        LinearModel("scikit-learn linear", "scikit-learn", (*_RATES, "quantile")),
        Boosting("HistGradientBoosting", "scikit-learn", ("poisson", "gamma", "quantile")),
        Ebm("EBM", "interpret-core", _RATES),
        LightGBM("LightGBM", "lightgbm", (*_RATES, "quantile")),
        ScikitSurvival("Cox", "sksurv.linear_model", "CoxPHSurvivalAnalysis"),
        ScikitSurvival("RandomSurvivalForest", "sksurv.ensemble", "RandomSurvivalForest", n_estimators=500, n_jobs=1),
        ScikitSurvival("GradientBoostingSurvival", "sksurv.ensemble", "GradientBoostingSurvivalAnalysis"),
    )
}


def quiet() -> None:
    """Leave out the warnings of libraries about each other."""
    warnings.simplefilter("ignore")
