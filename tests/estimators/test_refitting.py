"""Terms that a path keeps, solved for once more: their coefficients against a general minimiser on dense columns."""

import functools
from unittest import mock

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.design.terms import Linear
from rulegrove.estimators import _refitting
from rulegrove.estimators._constraints import NO_CONSTRAINTS, Constraints
from rulegrove.estimators._in_memory import TableInMemory
from rulegrove.estimators.classes import Classes
from rulegrove.estimators.number import Number
from rulegrove.estimators.pipeline import fit_source
from rulegrove.estimators.settings import Settings
from rulegrove.refit import FINE, ROUGH
from rulegrove.rules.rule import Condition, Rule

SMALL = {"n_candidates": 40, "cv": 2, "random_state": 0, "n_jobs": 1}
FORCED = {"rules": ["x2 > 0.5", "x3 <= 0 and x1 > 0"], "force_rules": True}
LIMITS = {0: (None, None), 1: (0.0, None), -1: (None, 0.0)}  # of coefficients, by the sign that they must have
TIGHT, ACCURACY = 1e-9, 1e-8  # of the loss without terms, and what that is in units of the loss at most
KNOWN = [Rule((Condition(2, lower=0.5),)), Rule((Condition(1, lower=0.0), Condition(3, upper=0.0)))]
RISING = {"monotonic": {"x0": 1, "x1": -1}}  # which the noise and the step speak against here and there
CONSTRAINTS = {"forced": Constraints(forced=frozenset(KNOWN)), "rising": Constraints(np.array([1, -1, 0, 0]))}


def make_rows(kind, n_rows=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    score = X[:, 0] + 2.0 * (X[:, 1] > 0.3) - (X[:, 0] > 0.5) * (X[:, 2] > 0.0) + 0.7 * rng.normal(size=n_rows)
    y = {"number": score, "two": score > 1.0, "three": np.digitize(score, [0.2, 1.5])}[kind]
    return X, y, rng.choice([0.0, 0.5, 1.0, 4.0], size=n_rows)


@functools.cache
def fit(kind, weighted=False, asked="nothing", tightly=True):
    """Return the record of a fit, with its rows, targets and weights; `tightly` solves for more digits than usual."""
    X, y, weights = make_rows(kind)
    options = {"nothing": {}, "forced": FORCED, "rising": RISING}[asked]
    target, settings = Number() if kind == "number" else Classes(), Settings(**SMALL, **options)
    source = TableInMemory(X, y, weights if weighted else None, target=target, settings=settings)
    fine, rough = (TIGHT, TIGHT) if tightly else (FINE, ROUGH)
    with mock.patch.multiple(_refitting, FINE=fine, ROUGH=rough):
        return fit_source(source, target, settings), X, y, weights if weighted else np.ones(len(y))


def make_model(kind, **options):
    """Return an estimator that is not yet fitted."""
    made = RuleEnsembleRegressor if kind == "number" else RuleEnsembleClassifier
    return made(**{**SMALL, **options})


def list_outputs(found, asked):
    """Return the pool, what its coefficients must respect, and what was chosen for every output."""
    constraints = CONSTRAINTS.get(asked, NO_CONSTRAINTS)
    return [(pool, constraints, chosen) for pool in found.pools for chosen in pool.outputs]


def find_kept(terms, spared, chosen):
    """Return the columns that are solved for again: those of the path's point, lines, and terms without a penalty."""
    kept = chosen.path.point(chosen.selection.index, chosen.selection.mix)[0] != 0
    kept[len(terms.rules) :] = True
    return np.flatnonzero(kept if spared is None else kept | spared)


def make_columns(terms, X):
    """Return candidates on rows, as a dense matrix."""
    bits = [rule.holds(X.T) for rule in terms.rules]
    return np.column_stack([*bits, terms.linear.evaluate(X.T[terms.linear.features])]).astype(np.float64)


class Objective:
    """What the docstring of `rulegrove.refit` says is minimised, over an intercept and coefficients of each output.

    Of the whole data, or of what is left of them without a fold, whose terms of the path are not told: there a term
    that is no line counts as kept if it has a coefficient.
    """

    def __init__(self, found, X, y, weights, fold=None, asked="nothing"):
        learned = np.ones(len(y), dtype=bool) if fold is None else found.training.folds != fold
        X, self.weights, ridge = X[learned], weights[learned] / weights[learned].sum(), found.settled["ridge"]
        self.is_number = found.target.code.classes is None
        self.y = np.asarray(y, dtype=np.float64)[learned] - found.training.data.offsets[0]
        self.columns, self.ridges, self.bounds, start = [], [], [], []
        for pool, constraints, chosen in list_outputs(found, asked):
            terms, (coef, intercept) = pool.design.terms, chosen.refitted
            spared, signs = constraints.unpenalised(terms), constraints.signs(terms)
            kept = find_kept(terms, spared, chosen)
            if fold is not None:
                terms, (coef, intercept) = pool.fold_terms[fold], chosen.selection.fold_points[fold]
                kept = np.flatnonzero((coef != 0) | (np.arange(len(terms)) >= len(terms.rules)))
            assert not np.delete(coef, kept).any()
            dense = make_columns(terms, X)[:, kept]
            variances = self.weights @ (dense - self.weights @ dense) ** 2
            relative = np.where(kept < len(terms.rules), ridge["rules"], ridge["lines"])
            if fold is None and spared is not None:
                relative[spared[kept]] = 0.0
            signs = np.zeros(len(kept)) if signs is None or fold is not None else signs[kept]
            self.columns.append(np.column_stack([np.ones(len(X)), dense]))
            self.ridges.append(np.append(0.0, relative * variances))
            self.bounds += [(None, None), *(LIMITS[int(sign)] for sign in signs)]
            start += [intercept, *coef[kept]]
        self.state = np.array(start)
        self.ends = np.cumsum([own.shape[1] for own in self.columns])[:-1]

    def __call__(self, state):
        """Return the value and the slope."""
        parts = np.split(state, self.ends)
        scores = np.column_stack([own @ part for own, part in zip(self.columns, parts, strict=True)])
        if self.is_number:
            pulls = scores - self.y[:, None]
            value = 0.5 * self.weights @ pulls[:, 0] ** 2
        else:  # the score of the first of two classes is 0
            scores = scores if len(parts) > 1 else np.column_stack([np.zeros(len(scores)), scores])
            codes = self.y.astype(int)
            value = -self.weights @ log_softmax(scores, axis=1)[np.arange(len(codes)), codes]
            pulls = (softmax(scores, axis=1) - np.eye(scores.shape[1])[codes])[:, -len(parts) :]
        slopes = [
            own.T @ (self.weights * pull) + ridge * part
            for own, pull, ridge, part in zip(self.columns, pulls.T, self.ridges, parts, strict=True)
        ]
        value += 0.5 * sum(ridge @ part**2 for ridge, part in zip(self.ridges, parts, strict=True))
        return value, np.concatenate(slopes)

    def least(self):
        """Return the least value, from a start that knows nothing."""
        options = {"maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-9, "maxcor": 50}
        return minimize(self, 0.0 * self.state, jac=True, bounds=self.bounds, options=options).fun


@pytest.mark.parametrize(
    ("kind", "weighted", "asked"),
    [
        *((kind, weighted, "nothing") for kind in ("two", "three", "number") for weighted in (False, True)),
        *((kind, True, "forced") for kind in ("two", "three", "number")),
        *((kind, False, "rising") for kind in ("two", "number")),
    ],
)
def test_coefficients_are_those_of_the_minimum(kind, weighted, asked):
    objective = Objective(*fit(kind, weighted, asked), asked=asked)
    value, _ = objective(objective.state)
    assert value <= objective.least() + ACCURACY
    if asked == "rising":
        assert any(limits != (None, None) for limits in objective.bounds)


@pytest.mark.parametrize("kind", ["two", "three", "number"])
@pytest.mark.parametrize("fold", [0, 1])
def test_those_without_a_fold_know_nothing_of_its_rows(kind, fold):
    objective = Objective(*fit(kind, weighted=True), fold)
    value, _ = objective(objective.state)
    assert value <= objective.least() + ACCURACY


@pytest.mark.parametrize("kind", ["two", "three"])
@pytest.mark.parametrize(("fold", "accuracy"), [(None, 10 * FINE), (0, 10 * ROUGH)])
def test_a_fit_leaves_little_undone(kind, fold, accuracy):
    """Ten times what the next step promised, with a log loss below 1.1 without terms."""
    objective = Objective(*fit(kind, weighted=True, tightly=False), fold)
    value, _ = objective(objective.state)
    assert value <= objective.least() + 1.1 * accuracy


@pytest.mark.parametrize("kind", ["two", "three", "number"])
def test_a_row_more_changes_no_setting(kind):
    """Solver, folds and modes once changed beyond 1,000 rows."""
    settled = []
    for n_rows in (1000, 1001):
        X, y, _ = make_rows(kind, n_rows)
        model = make_model(kind, n_candidates=10, cv=None, subsample=100).fit(X, y)
        own = {name: repr(value) for name, value in model.settings_.items() if name not in ("ridge", "max_terms")}
        settled.append((model.settings_.keys(), own))
    assert settled[0] == settled[1]


@pytest.mark.parametrize(
    "options", [{"solver": "glmnet"}, {"solver": Glmnet(l1_ratio=0.5)}, {"selection": 0.01}], ids=str
)
@pytest.mark.parametrize("kind", ["two", "number"])
def test_what_is_asked_for_is_fitted_as_it_is(kind, options):
    """A solver or a point that was named: the large model is that point of that path."""
    X, y, _ = make_rows(kind)
    model = make_model(kind, max_terms=None, **options).fit(X, y)
    assert "ridge" not in model.settings_
    coef, _ = model.path_.point(model.selection_.index, model.selection_.mix)
    scales = model.candidates_[0].scales
    assert sorted(model.coef_) == pytest.approx(sorted((coef * scales)[coef != 0]))


def test_a_linear_target_has_a_list_of_lines():
    X, _, _ = make_rows("number", 400)
    slopes = np.array([2.0, -1.0, 0.5, 0.0])
    noise = np.random.default_rng(1).normal(size=800)
    model = make_model("number").fit(X, X @ slopes + 0.3 * noise[:400])
    assert model.settings_["ridge"]["lines"] < model.settings_["ridge"]["rules"]
    assert all(isinstance(term, Linear) for term in model.model_.terms)
    assert {feature for term in model.model_.terms for feature in term.features} >= {0, 1, 2}
    others = noise[400:].reshape(100, 4)
    inner = np.abs(others).max(axis=1) < 1.5  # lines are winsorised
    assert np.abs(model.predict(others[inner]) - others[inner] @ slopes).mean() < 0.15


def test_a_target_of_steps_has_a_list_of_rules():
    X, _, _ = make_rows("number", 400)
    noise = np.random.default_rng(1).normal(size=400)
    model = make_model("number").fit(X, 2.0 * (X[:, 0] > 0.3) + (X[:, 1] > -0.2) + 0.1 * noise)
    assert model.settings_["ridge"]["rules"] < model.settings_["ridge"]["lines"]
    importances = {kind: [row.importance for row in model.rules_ if row.kind == kind] for kind in ("rule", "linear")}
    assert len(importances["rule"]) >= 2
    assert sum(importances["linear"]) < 0.05 * max(importances["rule"])


def test_a_table_without_numbers_has_rules_alone():
    X = np.random.default_rng(0).choice(list("abcd"), size=(200, 3)).astype(object)
    model = make_model("two", max_terms=None).fit(X, X[:, 0] == "a")
    assert "ridge" in model.settings_
    assert model.score(X, X[:, 0] == "a") == 1.0
    assert all(isinstance(term, Rule) for term in model.model_.terms)
