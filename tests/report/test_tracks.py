"""Points of a path in units of the terms: they score as the solver's own coefficients do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspected_models import fit, make_table, score
from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.estimators.model import RuleModel
from rulegrove.report._tracks import MAX_POINTS, follow_paths, keep_points, moves_together


def design_scores(model, table, output, point, offset):
    """Scores from the solver's coefficients and the columns that it saw."""
    candidates, path = model.candidates_[output], model.path_[output]
    coef, intercept = path.point(point, model.selection_[output].mix)
    block = model.read_columns(table).take(slice(None))
    rules = np.array([rule.holds(block) for rule in candidates.rules]).reshape(len(candidates.rules), len(table)).T
    lines = candidates.linear.evaluate(block[candidates.linear.features])
    return offset + intercept + np.column_stack([rules, lines]) @ coef


def track_scores(model, table, track, terms, place):
    coefs = np.zeros(len(terms))
    coefs[track.terms[place]] = track.coefs[place]
    thinned = RuleModel(model.model_.features, tuple(terms), coefs, track.intercepts[place])
    return thinned.score(model.read_columns(table))


def check_scores(model, table, y):
    offset = 0.0 if hasattr(model, "classes_") else np.mean(y)
    tracks, terms = follow_paths(model)
    assert terms[: len(model.rules_)] == list(model.model_.terms)
    for output, track in enumerate(tracks):
        for place, point in enumerate(track.points):
            found = track_scores(model, table, track, terms, place)
            expected = design_scores(model, table, output, point, offset)
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
        chosen = track_scores(model, table, track, terms, track.chosen)
        np.testing.assert_allclose(chosen, score(model, table)[:, output], rtol=1e-12, atol=1e-12)
    return tracks


def test_every_point_scores_as_on_the_path(inspected):
    model, table, y = inspected
    tracks = check_scores(model, table, y)
    own = np.atleast_2d(model.coef_)
    for output, track in enumerate(tracks):
        np.testing.assert_array_equal(track.coefs[track.chosen], own[output][own[output] != 0])
        assert track.intercepts[track.chosen] == np.atleast_1d(model.intercept_)[output]
        assert track.points[track.chosen] == track.selection.index
        assert [len(terms) for terms in track.terms] == track.path.n_terms[track.points].tolist()


def test_relaxed_fits_are_mixed_as_in_the_model():
    table, y, _ = make_table()
    settings_ = {"n_candidates": 60, "random_state": 0, "n_jobs": 1, "honest_cv": False}
    model = RuleEnsembleRegressor(solver=Glmnet(relax=True), **settings_).fit(table.drop(columns="fixed"), y)
    check_scores(model, table.drop(columns="fixed"), y)


@pytest.mark.parametrize("multiclass", ["ovr", "shared", "grouped"])
def test_classes_move_together_where_one_point_was_chosen_for_all(multiclass):
    _, table, y, _ = fit("three classes")
    table = table.drop(columns="fixed")
    solver = Glmnet(l1_ratio=0.9)
    model = RuleEnsembleClassifier(
        multiclass=multiclass, solver=solver, n_candidates=60, honest_cv=False, random_state=0, n_jobs=1
    ).fit(table, y)
    tracks = check_scores(model, table, y)
    assert moves_together(model) == (multiclass == "grouped")
    if multiclass == "grouped":
        for track in tracks:
            np.testing.assert_array_equal(track.points, tracks[0].points)
            np.testing.assert_array_equal(track.errors, tracks[0].errors)


def test_multinomial_classes_move_together():
    _, table, y, _ = fit("three classes")
    table = table.drop(columns="fixed")
    model = RuleEnsembleClassifier(
        multiclass="shared", solver=Glmnet(loss="logistic"), n_candidates=40, honest_cv=False, random_state=0, n_jobs=1
    ).fit(table, y)
    assert moves_together(model)
    check_scores(model, table, y)


@settings(max_examples=200, deadline=None)
@given(counts=st.lists(st.integers(0, 3000), min_size=1, max_size=300), data=st.data())
def test_kept_points(counts, data):
    n_terms = np.sort(np.array(counts))
    chosen = data.draw(st.integers(0, len(counts) - 1))
    limit = data.draw(st.integers(0, 100_000))
    points = keep_points(n_terms, chosen, limit)
    assert chosen in points
    assert (np.diff(points) > 0).all()
    assert len(points) <= MAX_POINTS
    assert n_terms[points].sum() <= limit or len(points) <= 2
    if len(counts) < MAX_POINTS and n_terms.sum() <= limit:
        assert len(points) == len(counts)
