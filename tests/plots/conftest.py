"""What the tests of pictures share: no window, no figure left open, and a few fitted models."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.datasets import load
from rulegrove.solvers import Glmnet

mpl.use("Agg")

# Names that matplotlib would read as formulas, as comments of LaTeX or as words to leave out of a legend.
ODD_NAMES = ("price_$", "$cost$", "_hidden", "100%_Größe", "😀", "colour")


@pytest.fixture(autouse=True)
def _close_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="session")
def pima():
    X, y = load("pima", return_X_y=True)
    settings = {"n_candidates": 100, "solver": Glmnet(loss="logistic", l1_ratio=0.5), "honest_cv": False}
    return X, y, RuleEnsembleClassifier(**settings, random_state=0, n_jobs=1).fit(X, y)


@pytest.fixture(scope="session")
def iris():
    X, y = load("iris", return_X_y=True)
    settings = {"n_candidates": 100, "max_terms": 8, "honest_cv": False, "cv": 3}
    return X, y, RuleEnsembleClassifier(**settings, random_state=0, n_jobs=1).fit(X, y)


@pytest.fixture(scope="session")
def odd():
    """Odd names, missing values and categories: a table and a regressor."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 5)), columns=ODD_NAMES[:5])
    X["colour"] = rng.choice(["$red$", "_blue", "green"], 300)
    y = 3.0 * (X["price_$"] > 0) * X["$cost$"] + 2.0 * (X["colour"] == "$red$") * X["_hidden"] + X["100%_Größe"]
    X.loc[::4, "price_$"] = np.nan
    return X, y, RuleEnsembleRegressor(n_candidates=200, selection=0.02, random_state=0, n_jobs=1).fit(X, y)


@pytest.fixture(scope="session")
def empty():
    """A regressor without terms, nor any on its path: no leaf is large enough."""
    X, y = load("pima", return_X_y=True)
    model = RuleEnsembleRegressor(n_candidates=50, terms="rules", min_samples_leaf=400, random_state=0, n_jobs=1)
    return X, model.fit(X, (y == y[0]).astype(float))


@pytest.fixture(scope="session")
def straight():
    """A classifier of linear terms alone."""
    X, y = load("pima", return_X_y=True)
    return X, RuleEnsembleClassifier(terms="linear", random_state=0, n_jobs=1).fit(X, y)


@pytest.fixture(scope="session")
def again(pima, iris, odd):
    """The same tables and models, with lists made anew: by the name of the table."""
    tables = {"pima": pima, "iris": iris, "odd": odd}
    return {name: (X, y, clone(model).set_params(n_resamples=6).fit(X, y)) for name, (X, y, model) in tables.items()}
