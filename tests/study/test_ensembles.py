"""Rule ensembles as the paper has them, point by point of their paths."""

import numpy as np
import pytest

from rulegrove.study.ensembles import (
    SOLVERS,
    balanced_errors,
    paper_ensemble,
    path_predictions,
    path_scores,
    set_ensemble,
    sweep,
)
from rulegrove.study.splits import error_rates, split_candidates


@pytest.mark.parametrize("name", SOLVERS)
def test_a_sweep_stops_at_every_point_of_its_grid(name, tiny):
    rows = split_candidates(tiny, 0)
    model = paper_ensemble(tiny, 0, **sweep(name, tiny, len(rows.y))).fit(rows.X, rows.y)
    grid = {"glmnet": tiny.penalties, "spgl1": tiny.radii, "fpc": tiny.fit_weights}.get(name)
    values = model.path_.parameter.values
    if grid is None:
        assert values[-1] == tiny.n_steps
    else:
        np.testing.assert_allclose(values, grid, rtol=1e-12)
    np.testing.assert_allclose(path_scores(model, rows.X_test)[:, -1], model.decision_function(rows.X_test), atol=1e-10)


def test_scores_of_a_path_with_linear_terms_and_missing_values(tiny):
    rows = split_candidates(tiny, 0)
    X = rows.X_test.copy()
    X[::3, ::2] = np.nan
    model = paper_ensemble(tiny, 0, solver="glmnet", terms="both", selection=0.01).fit(rows.X, rows.y)
    np.testing.assert_allclose(path_scores(model, X)[:, -1], model.decision_function(X), atol=1e-10)


def test_path_errors_end_at_the_error_of_the_model(tiny):
    rows = split_candidates(tiny, 0)
    model = paper_ensemble(tiny, 0, solver="glmnet", selection=0.01).fit(rows.X, rows.y)
    expected = error_rates(rows.y_test, model.predict(rows.X_test))["balanced error"]
    errors = balanced_errors(rows.y_test, path_predictions(model, rows.X_test))
    assert errors[-1] == pytest.approx(expected)


def test_all_solvers_see_the_same_rules(tiny):
    rows = split_candidates(tiny, 0)
    pools = [
        paper_ensemble(tiny, 4, **sweep(name, tiny, len(rows.y))).fit(rows.X, rows.y).candidates_.rules
        for name in SOLVERS
    ]
    assert all(pool == pools[0] for pool in pools)


def test_multi_class_trees_are_an_option(tiny):
    assert set_ensemble("glmnet", tiny, 0, multiclass="shared").multiclass == "shared"
    assert set_ensemble("pathbuild", tiny, 0).solver.n_steps == tiny.n_steps
