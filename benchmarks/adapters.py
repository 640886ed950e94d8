"""Each library behind one small adapter: how its estimator is made, fitted, asked, and how large its models are.

A cell of the benchmark runs in the environment of its method, so nothing here imports a library before it is asked to,
and nothing of rulegrove is imported for a peer.
"""

import importlib
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

Condition = tuple[int, str, float | tuple[int, ...]]  # attribute, "<=" or ">", threshold; or "in" and categories
Conditions = tuple[Condition, ...]
NUMBER = r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|-?inf"


@dataclass(frozen=True)
class Size:
    """How large a fitted model is.

    Attributes
    ----------
    terms : int
        Rules and linear terms with a weight; leaves of trees, shape functions of an EBM.
    conditions : int, optional
        Comparisons in all of its rules.
    rules : tuple of tuple of (attribute, sign, threshold), optional
        The rules themselves, where a method has rules that stand alone.
    """

    terms: int
    conditions: int | None = None
    rules: tuple[Conditions, ...] | None = None

    @classmethod
    def of(cls, rules: Iterable[Conditions], n_linear: int = 0) -> "Size":
        """Return the size of some rules and linear terms."""
        found = tuple(tuple(sorted(rule)) for rule in rules)
        return cls(len(found) + n_linear, sum(map(len, found)), found)

    def __add__(self, other: "Size") -> "Size":
        """Both models together, as of one class against the rest each."""
        conditions = None if self.conditions is None or other.conditions is None else self.conditions + other.conditions
        rules = None if self.rules is None or other.rules is None else self.rules + other.rules
        return Size(self.terms + other.terms, conditions, rules)


@dataclass(frozen=True)
class Task:
    """What a method is told before it fits.

    Attributes
    ----------
    n_classes : int
        0 where the target is a number.
    seed, n_threads : int
    candidates : int, optional
        Rules to choose from, for methods that let one say so; None for their default.
    framed : bool
        Whether rows come as a DataFrame, with categories and missing values, and not as numbers alone.
    """

    n_classes: int
    seed: int
    n_threads: int
    candidates: int | None = None
    framed: bool = False

    @property
    def role(self) -> str:
        """Return how scikit-learn's names of estimators end."""
        return "Classifier" if self.n_classes else "Regressor"


class Method(ABC):
    """A method with scikit-learn's conduct; subclasses say what differs.

    Attributes
    ----------
    name : str
    package : str
        Whose version is told.
    module : str
        What is imported before the clock starts.
    environment : {"own", "peers"}
    kind : {"ours", "rules", "glass box", "black box"}
    binary : bool
        Whether it knows two classes only; more are told apart one against the rest.
    for_classes : bool
        Whether it can predict classes.
    slow : bool
        Whether only the first repetition is measured.
    warm_up : bool
        Whether compiled kernels are loaded by a small fit before the clock starts.
    """

    environment: ClassVar[str] = "peers"
    kind: ClassVar[str] = "rules"
    binary: ClassVar[bool] = False
    for_classes: ClassVar[bool] = True
    slow: ClassVar[bool] = False
    warm_up: ClassVar[bool] = False

    def __init__(self, name: str, package: str, module: str, **parameters: Any):
        self.name, self.package, self.module, self.parameters = name, package, module, parameters

    def load(self) -> Any:
        """Import the library."""
        return importlib.import_module(self.module)

    def make(self, task: Task) -> Any:
        """Return the estimator, for one class against the rest where it knows two classes only."""
        model = self.create(task)
        if self.binary and task.n_classes > 2:
            from sklearn.multiclass import OneVsRestClassifier

            return OneVsRestClassifier(model)
        return model

    @abstractmethod
    def create(self, task: Task) -> Any:
        """Return the estimator itself."""

    def fit(self, model: Any, X: Any, y: Any) -> Any:
        """Fit and return the model."""
        return model.fit(X, y)

    def predict(self, model: Any, X: Any) -> Any:
        """Return the classes or numbers of rows."""
        return model.predict(X)

    def predict_proba(self, model: Any, X: Any) -> Any:
        """Return the probabilities of the classes."""
        return model.predict_proba(X)

    def measure(self, model: Any) -> Size | None:
        """Return the size of a fitted model; of one against the rest, of all parts together."""
        if type(model).__name__ != "OneVsRestClassifier":
            return self.size(model)
        total: Size | None = Size.of([])
        for part in model.estimators_:
            own = self.size(part)
            total = None if total is None or own is None else total + own
        return total

    def size(self, model: Any) -> Size | None:
        """Return the size of one estimator."""
        return None

    def close(self) -> None:  # noqa: B027 - most methods leave nothing behind
        """End what outlives a fit."""


class Rulegrove(Method):
    """rulegrove itself."""

    environment, kind, warm_up = "own", "ours", True

    def create(self, task: Task) -> Any:
        """Return the estimator itself."""
        own = {} if task.candidates is None else {"n_candidates": task.candidates}
        estimator = getattr(importlib.import_module("rulegrove"), f"RuleEnsemble{task.role}")
        return estimator(**{**self.parameters, **own}, random_state=task.seed, n_jobs=task.n_threads)

    def size(self, model: Any) -> Size:
        """Return the size of one estimator."""
        rules, n_linear = [], 0
        for term in model.rules_:
            conditions = getattr(term.term, "conditions", None)
            if conditions is None:
                n_linear += 1
                continue
            rules.append(tuple(bound for condition in conditions for bound in read_condition(condition)))
        return Size.of(rules, n_linear)


class ScikitLearn(Method):
    """An estimator of scikit-learn; of its name the end is left out, which is that of a classifier or a regressor."""

    environment, kind = "own", "black box"

    def __init__(self, name: str, module: str, estimator: str, **parameters: Any):
        super().__init__(name, "scikit-learn", module, **parameters)
        self.estimator = estimator

    def create(self, task: Task) -> Any:
        """Return the estimator itself."""
        parameters = dict(self.parameters)
        if "n_jobs" in parameters:
            parameters["n_jobs"] = task.n_threads
        return getattr(self.load(), self.estimator + task.role)(**parameters, random_state=task.seed)

    def size(self, model: Any) -> Size | None:
        """Return the size of one estimator."""
        if hasattr(model, "estimators_"):
            return Size(sum(int(tree.get_n_leaves()) for tree in model.estimators_))
        if hasattr(model, "_predictors"):
            return Size(sum(tree.get_n_leaf_nodes() for trees in model._predictors for tree in trees))
        return None


class Forest(ScikitLearn):
    """A forest, which takes missing values as they are, but a column for each category."""

    def create(self, task: Task) -> Any:
        """Return the estimator itself, behind an encoder where there may be categories."""
        from sklearn.compose import make_column_selector, make_column_transformer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder

        forest = super().create(task)
        if not task.framed:
            return forest
        columns = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        words = make_column_selector(dtype_include="category")
        return make_pipeline(make_column_transformer((columns, words), remainder="passthrough"), forest)

    def size(self, model: Any) -> Size | None:
        """Return the size of one estimator."""
        return super().size(model[-1] if type(model).__name__ == "Pipeline" else model)


class Logistic(ScikitLearn):
    """Logistic regression on standardised attributes."""

    kind = "glass box"

    def create(self, task: Task) -> Any:
        """Return the estimator itself."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, random_state=task.seed))

    def size(self, model: Any) -> Size:
        """Return the size of one estimator."""
        return Size(int((model[-1].coef_ != 0).sum()))


class LightGBM(Method):
    """Gradient boosting of LightGBM."""

    kind = "black box"

    def create(self, task: Task) -> Any:
        """Return the estimator itself."""
        return self.load().LGBMClassifier(random_state=task.seed, n_jobs=task.n_threads, verbose=-1)

    def size(self, model: Any) -> Size:
        """Return the size of one estimator."""
        trees = model.booster_.trees_to_dataframe()
        return Size(int(trees["split_feature"].isna().sum()))


class Imodels(Method):
    """A rule learner of imodels: `rules_` in words, attributes X0, X1, ..."""

    binary = True

    def __init__(self, name: str, estimator: str, **parameters: Any):
        super().__init__(name, "imodels", "imodels", **parameters)
        self.estimator = estimator

    def create(self, task: Task) -> Any:
        """Return the estimator itself."""
        return getattr(self.load(), self.estimator)(**self.parameters, random_state=task.seed)

    def size(self, model: Any) -> Size:
        """Return the size of one estimator."""
        return Size.of(read_bounds(str(rule), r"X(\d+)") for rule in model.rules_)


class ImodelsRuleFit(Imodels):
    """RuleFit of imodels; with a number of candidates, as many leaves of its trees and no cap."""

    def create(self, task: Task) -> Any:
        """Return the estimator itself."""
        own = {} if task.candidates is None else {"n_estimators": task.candidates // 3, "max_rules": task.candidates}
        return self.load().RuleFitClassifier(**{**self.parameters, **own}, random_state=task.seed)

    def size(self, model: Any) -> Size:
        """Return the size of one estimator."""
        table = model._get_rules()
        used = table[table["coef"] != 0]
        rules = used[used["type"] == "rule"]["rule"]
        return Size.of((read_bounds(rule, r"X(\d+)") for rule in rules), int((used["type"] == "linear").sum()))


class Figs(Imodels):
    """Sums of trees: a leaf is a rule."""

    binary = False

    def size(self, model: Any) -> Size:
        """Return the size of one estimator."""
        rules: list[Conditions] = []

        def descend(node: Any, path: Conditions) -> None:
            if node.left is None:
                rules.append(path)
                return
            descend(node.left, (*path, (int(node.feature), "<=", float(node.threshold))))
            descend(node.right, (*path, (int(node.feature), ">", float(node.threshold))))

        for tree in model.trees_:
            descend(tree, ())
        return Size.of(rules)


class Ebm(Method):
    """Explainable boosting machine: its terms are shape functions, not rules."""

    kind, slow = "glass box", True

    def create(self, task: Task) -> Any:
        """Return the estimator itself."""
        estimator = getattr(self.load(), f"ExplainableBoosting{task.role}")
        return estimator(random_state=task.seed, n_jobs=task.n_threads)

    def size(self, model: Any) -> Size:
        """Return the size of one estimator."""
        return Size(len(model.term_names_))


class CubistRules(Method):
    """Cubist: rules with a linear model each, for numbers alone."""

    for_classes = False

    def create(self, task: Task) -> Any:
        """Return the estimator itself."""
        return self.load().Cubist(random_state=task.seed)

    def fit(self, model: Any, X: Any, y: Any) -> Any:
        """Fit and return the model, without columns of one category, which Cubist refuses."""
        plain = self._plain(X)
        model.own_words = {name: column.dropna().unique() for name, column in plain.select_dtypes(object).items()}
        return model.fit(plain.drop(columns=[name for name, words in model.own_words.items() if len(words) < 2]), y)

    def predict(self, model: Any, X: Any) -> Any:
        """Return the numbers of rows; categories that the fit has not seen, which Cubist refuses, are missing."""
        plain = self._plain(X)
        known = plain.assign(
            **{name: plain[name].where(plain[name].isin(words)) for name, words in model.own_words.items()}
        )
        return model.predict(known[list(model.feature_names_in_)])

    def _plain(self, X: Any) -> Any:
        """Return columns X0, X1, ... and categories v0, v1, ...: dots and commas have a meaning for Cubist."""
        plain = X.set_axis([f"X{i}" for i in range(X.shape[1])], axis=1)
        words = {
            name: column.cat.rename_categories([f"v{i}" for i in range(len(column.cat.categories))]).astype(object)
            for name, column in plain.select_dtypes("category").items()
        }
        return plain.assign(**words)

    def size(self, model: Any) -> Size:
        """Return the size of one estimator: its rules, whatever the length of their linear models."""
        return Size(len(model.coeffs_[["committee", "rule"]].drop_duplicates()))


class Boomer(Method):
    """Boosted rules; many classes are labels of their own."""

    def create(self, task: Task) -> Any:
        """Return the estimator itself."""
        own = {} if task.candidates is None else {"max_rules": task.candidates}
        return self.load().BoomerClassifier(**own, random_state=task.seed + 1)

    def fit(self, model: Any, X: Any, y: Any) -> Any:
        """Fit and return the model."""
        import numpy as np

        model.n_own_classes = int(y.max()) + 1
        labels = y.reshape(-1, 1) if model.n_own_classes == 2 else np.eye(model.n_own_classes, dtype=np.uint8)[y]
        return model.fit(X, labels)

    def predict(self, model: Any, X: Any) -> Any:
        """Return the classes of rows."""
        if model.n_own_classes == 2:
            return model.predict(X).ravel().astype(int)
        return model.predict_proba(X).argmax(axis=1)

    def predict_proba(self, model: Any, X: Any) -> Any:
        """Return the probabilities of the classes."""
        import numpy as np

        found = np.maximum(model.predict_proba(X), 1e-12)
        return found / found.sum(axis=1, keepdims=True)

    def size(self, model: Any) -> Size:
        """Return the size of one estimator."""
        from mlrl.common.cython.rule_model import RuleModelVisitor

        rules: list[Conditions] = []

        class Reader(RuleModelVisitor):  # type: ignore[misc]
            def visit_empty_body(self, body: Any) -> None:
                """Leave out the default rule, which is no term."""

            def visit_conjunctive_body(self, body: Any) -> None:
                pairs: list[tuple[int, str, float]] = []
                for sign, side in (("<=", "leq"), (">", "gr")):
                    indices = getattr(body, f"numerical_{side}_indices")
                    thresholds = getattr(body, f"numerical_{side}_thresholds")
                    if indices is not None:
                        pairs += [(int(i), sign, float(t)) for i, t in zip(indices, thresholds, strict=True)]
                rules.append(tuple(pairs))

            def visit_complete_head(self, head: Any) -> None:
                """Leave out what a rule predicts."""

            def visit_partial_head(self, head: Any) -> None:
                """Leave it out likewise."""

        model.model_.visit_used(Reader())
        return Size.of(rules)


class Rug(Method):
    """Rules by column generation of ruleopt."""

    def create(self, task: Task) -> Any:
        """Return the estimator itself."""
        return self.load().RUGClassifier(**self.parameters, random_state=task.seed)

    def size(self, model: Any) -> Size:
        """Return the size of one estimator."""
        rules = []
        for rule in model.decision_rules_.values():
            bounds = []
            for feature, limits in rule.to_dict().items():
                if limits["lb"] > float("-inf"):
                    bounds.append((int(feature), ">", float(limits["lb"])))
                if limits["ub"] < float("inf"):
                    bounds.append((int(feature), "<=", float(limits["ub"])))
            rules.append(tuple(bounds))
        return Size.of(rules)


class Ripper(Method):
    """RIPPER of wittgenstein: intervals between tenths of an attribute."""

    binary = True

    def create(self, task: Task) -> Any:
        """Return the estimator itself."""
        return self.load().RIPPER(random_state=task.seed)

    def fit(self, model: Any, X: Any, y: Any) -> Any:
        """Fit and return the model; its own `fit` returns nothing."""
        model.fit(X, y)
        return model

    def predict(self, model: Any, X: Any) -> Any:
        """Return the classes of rows."""
        import numpy as np

        return np.asarray(model.predict(X)).astype(int)

    def size(self, model: Any) -> Size:
        """Return the size of one estimator."""
        return Size.of(
            tuple(bound for condition in rule.conds for bound in read_interval(condition.feature, str(condition.val)))
            for rule in model.ruleset_.rules
        )


class Sirus(Method):
    """Stable rules of a forest of depth two."""

    binary, slow = True, True

    def create(self, task: Task) -> Any:
        """Return the estimator itself."""
        return self.load().SirusClassifier(**self.parameters, random_state=task.seed, n_jobs=task.n_threads)

    def size(self, model: Any) -> Size:
        """Return the size of one estimator."""
        return Size.of(
            tuple((c.feature, "<=" if c.op == "<" else ">", float(c.value)) for c in rule.conditions)
            for rule in model.rules_
        )


class H2o(Method):
    """RuleFit of H2O, which runs in Java."""

    def load(self) -> Any:
        """Import the library."""
        import shutil

        if shutil.which("java") is None:
            raise ModuleNotFoundError("H2O needs Java, which is not installed")
        return super().load()

    def create(self, task: Task) -> Any:
        """Return the estimator itself."""
        h2o = self.load()
        h2o.init(nthreads=task.n_threads, max_mem_size="6g", log_level="ERRR", verbose=False)
        h2o.no_progress()
        own = {} if task.candidates is None else {"rule_generation_ntrees": task.candidates // 8}
        estimators = importlib.import_module("h2o.estimators")
        return estimators.H2ORuleFitEstimator(seed=task.seed + 1, **{**self.parameters, **own})

    def _frame(self, X: Any, y: Any = None) -> Any:
        import pandas as pd

        frame = pd.DataFrame(X, columns=[f"X{i}" for i in range(X.shape[1])])
        if y is not None:
            frame = frame.assign(target=y.astype(str))
        loaded = self.load().H2OFrame(frame)
        if y is not None:
            loaded["target"] = loaded["target"].asfactor()
        return loaded

    def fit(self, model: Any, X: Any, y: Any) -> Any:
        """Fit and return the model."""
        frame = self._frame(X, y)
        model.train(x=[f"X{i}" for i in range(X.shape[1])], y="target", training_frame=frame)
        return model

    def predict(self, model: Any, X: Any) -> Any:
        """Return the classes of rows."""
        return self._answer(model, X)["predict"].to_numpy().astype(int)

    def predict_proba(self, model: Any, X: Any) -> Any:
        """Return the probabilities of the classes."""
        return self._answer(model, X).drop(columns="predict").to_numpy()

    def _answer(self, model: Any, X: Any) -> Any:
        return model.predict(self._frame(X)).as_data_frame()

    def size(self, model: Any) -> Size:
        """Return the size of one estimator."""
        table = model.rule_importance().as_data_frame()
        texts = table["rule"].fillna("").astype(str)
        rules = [read_bounds(text, r"X(\d+)") for text in texts if text]
        return Size.of(rules, int((texts == "").sum()))

    def close(self) -> None:
        """End what outlives a fit."""
        h2o = self.load()
        if h2o.connection() is not None:
            h2o.cluster().shutdown()


def read_condition(condition: Any) -> Conditions:
    """Read a condition of rulegrove: its bounds, its categories, or that the value is known or missing."""
    if condition.categories is not None:
        return ((condition.feature, "in", condition.categories),)
    bounds = []
    if condition.lower > float("-inf"):
        bounds.append((condition.feature, ">", condition.lower))
    if condition.upper < float("inf"):
        bounds.append((condition.feature, "<=", condition.upper))
    return tuple(bounds) or ((condition.feature, "<=", float("inf")),)


def read_bounds(text: str, attribute: str) -> Conditions:
    """Read ``X3 <= 1.5 and X0 > 2`` and the like; ``<`` and ``>=`` count as their neighbours."""
    pairs = re.findall(rf"{attribute}\s*(<=|>=|<|>)\s*({NUMBER})", text)
    return tuple((int(name), "<=" if sign.startswith("<") else ">", float(value)) for name, sign, value in pairs)


def read_interval(feature: Any, text: str) -> Conditions:
    """Read what RIPPER says of an attribute: ``147.0-167.0``, ``<8.5``, ``>41.5`` or a value."""
    position = int(feature)
    if text.startswith(("<", ">")):
        return ((position, "<=" if text[0] == "<" else ">", float(text[1:].lstrip("="))),)
    between = re.fullmatch(rf"\s*({NUMBER})\s*-\s*({NUMBER})\s*", text)
    if between is None:
        value = float(text)
        return ((position, ">", math.nextafter(value, -math.inf)), (position, "<=", value))
    low, high = map(float, between.groups())
    return ((position, ">", low), (position, "<=", high))
