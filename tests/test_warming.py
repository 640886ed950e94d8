"""One step compiles everything: after it no kind of fit compiles a kernel, and a second one has nothing to do."""

import numba
import numpy as np
import pytest

import rulegrove
from rulegrove import Glmnet, Pathbuild, RuleAttributeSelector, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove._kernel_cache import counting_compilations
from rulegrove.warming import Warmed

SMALL = {"n_candidates": 30, "cv": 2, "random_state": 0, "n_jobs": 1}


def test_says_what_it_did():
    assert str(Warmed(63, 14.2)) == "Compiled 63 kernels in 14 s."
    assert str(Warmed(0, 1.0)) == "Everything was compiled already."


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_nothing_is_left_to_compile():
    done = []
    rulegrove.warm_up(lambda *counts: done.append(counts))
    assert done[-1][0] == done[-1][1] == len(done)
    assert rulegrove.warm_up().n_compiled == 0
    rng = np.random.default_rng(1)
    X = np.where(rng.random((150, 4)) < 0.1, np.nan, rng.normal(size=(150, 4)))
    codes = rng.choice(4, 150)
    y, weights = X[:, 0] > 0, rng.random(150)
    with counting_compilations() as compiled:
        for dtype in (np.float32, np.float64):
            table = np.column_stack([X, codes]).astype(dtype)
            model = RuleEnsembleClassifier(categorical_features=[4], preset="fast", cv=2, n_candidates=30)
            model.fit(table, y, sample_weight=weights).predict_proba(table)
            rulegrove.scorecard(model, table, y, sample_weight=weights).predict_proba(table)
        for multiclass in ("ovr", "shared"):
            RuleEnsembleClassifier(multiclass=multiclass, **SMALL).fit(X, codes).explain(X)
        RuleEnsembleClassifier(solver=Glmnet(relax=True), **SMALL).fit(X, y, sample_weight=weights)
        RuleEnsembleClassifier(solver=Pathbuild(loss="squared_hinge"), **SMALL).fit(X, y, sample_weight=weights)
        RuleEnsembleRegressor(tree_loss="huber", terms="linear", **SMALL).fit(X, codes, sample_weight=weights)
        RuleEnsembleRegressor(rules=["x0 > 0"], force_rules=True, **SMALL).fit(X, codes)
        RuleAttributeSelector(n_candidates=30, n_top=2, n_repeats=2, min_votes=1, n_jobs=1).fit(X, y)
    assert compiled.number == 0
