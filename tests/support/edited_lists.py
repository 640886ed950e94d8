"""Fitted lists of every kind that can be edited, and what scikit-learn makes of the same terms."""

import functools

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge, TweedieRegressor

import target_kinds
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.editing.families import OfClasses, OfNumbers, OfRates

RATES = list(target_kinds.RATES)
KINDS = ["two", "three", "number", "lines", *RATES]
FAMILIES = [OfClasses(2), OfClasses(3), OfNumbers(), OfRates(1.0), OfRates(1.4), OfRates(2.0)]
QUICK = {"n_candidates": 60, "max_terms": 5, "honest_cv": False, "random_state": 0, "n_jobs": 1}


def draw(kind, n_rows=240):
    """Return attributes and a target."""
    if kind in RATES:
        return target_kinds.draw(kind, n_rows)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, 4)).round(2)
    score = X[:, 0] + 2.0 * (X[:, 1] > 0.3) - X[:, 2] * (X[:, 0] > 0) + rng.normal(size=n_rows)
    if kind in ("two", "lines"):
        return X, np.where(score > 0.5, "sick", "well")
    return X, np.digitize(score, [0.0, 1.5]) if kind == "three" else 100.0 + 10.0 * score


@functools.cache
def fit(kind):
    """Return a fitted list, of rules alone but for "lines"."""
    X, y = draw(kind)
    terms = "both" if kind == "lines" else "rules"
    if kind in RATES:
        return target_kinds.make(kind, **{**QUICK, "terms": terms}).fit(X, y)
    estimator = RuleEnsembleRegressor if kind == "number" else RuleEnsembleClassifier
    return estimator(terms=terms, **QUICK).fit(X, y)


class FromScratch:
    """The same terms, fitted by scikit-learn on dense columns with the same penalty.

    Parameters
    ----------
    model : RuleEnsembleClassifier or RuleEnsembleRegressor
        Whose terms are taken, and which of them each class has.
    ridge : float
    """

    def __init__(self, model, ridge, X, y, weights=None):
        self.terms, self.ridge, self.y = model.transform_rules(X).astype(float), ridge, np.asarray(y)
        self.weights = np.ones(len(y)) if weights is None else weights / weights.mean()
        means = np.average(self.terms, axis=0, weights=self.weights)
        spreads = np.sqrt(np.average((self.terms - means) ** 2, axis=0, weights=self.weights))
        self.spreads, self.kind = spreads, model

    def fit(self, rows):
        """Return coefficients, intercepts and a predictor of shares, numbers or rates."""
        columns, y, weights = self.terms[rows] / self.spreads, self.y[rows], self.weights[rows]
        if isinstance(self.kind, RuleEnsembleClassifier):
            found = LogisticRegression(C=1.0 / (self.ridge * weights.sum()), tol=1e-12, max_iter=10_000)
            found.set_params(solver="newton-cholesky").fit(columns, y, weights)
            return found.coef_ / self.spreads, found.intercept_, found.predict_proba
        if self.kind.loss == "squared":
            found = Ridge(self.ridge * weights.sum(), tol=1e-12).fit(columns, y, weights)
        else:
            power = target_kinds.RATES[self.kind.loss]
            mean = np.average(self.y, weights=self.weights)
            found = TweedieRegressor(power=power, alpha=self.ridge * mean ** (2.0 - power), link="log", tol=1e-10)
            found.set_params(solver="newton-cholesky", max_iter=1000).fit(columns, y, weights)
        return found.coef_ / self.spreads, found.intercept_, found.predict

    def predict(self, rows):
        """Return a function that predicts rows by their positions."""
        *_, predict = self.fit(rows)
        return lambda here: predict(self.terms[here] / self.spreads)


def freeze(session):
    """All that a session is, for comparison bit for bit."""
    state = session._states[-1]
    terms = {
        n: (own.term, *(part.tobytes() for part in (own.coefs, own.free, own.fixed))) for n, own in state.terms.items()
    }
    solved = None if state.solved is None else state.solved.tobytes()
    rest = (state.intercepts.tobytes(), state.next_number, state.forbidden, state.directions.tobytes(), state.ridge)
    counts = None if state.counts is None else (state.counts.terms, state.counts.values.tobytes())
    return terms, solved, rest, counts, session.log, session.script()


def make_problem(family, seed=0):
    """Return terms, mean targets and weights of forty lines."""
    rng = np.random.default_rng(seed)
    values = np.column_stack([np.ones(40), rng.integers(0, 2, (40, 3)), rng.normal(size=40)])
    goals = rng.random((40, family.n_outputs)) + 0.1
    if isinstance(family, OfClasses) and family.n_outputs > 1:
        goals /= goals.sum(axis=1, keepdims=True)
    return values, np.clip(goals, 0.0, 1.0), rng.random(40)
