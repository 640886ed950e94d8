"""What an edit costs is what a naive cross-validation of the same terms tells, with paired standard errors."""

import numpy as np
import pytest
from sklearn.metrics import d2_tweedie_score, mean_tweedie_deviance

import target_kinds
from edited_lists import KINDS, RATES, FromScratch, draw, fit


def lose(kind, model, y, predicted):
    """Losses and errors of rows, one by one."""
    if kind in ("two", "lines", "three"):
        codes = np.searchsorted(model.classes_, y)
        return -np.log(predicted[np.arange(len(y)), codes]), (predicted.argmax(axis=1) != codes).astype(float)
    if kind == "number":
        return (y - predicted) ** 2, (y - predicted) ** 2
    power = target_kinds.RATES[kind]
    own = np.array([mean_tweedie_deviance([a], [b], power=power) for a, b in zip(y, predicted, strict=True)])
    return own, own


def tell(values, weights):
    mean = np.average(values, weights=weights)
    return mean, np.sqrt(np.sum(weights**2 * (values - mean) ** 2)) / weights.sum()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "three"])
def test_costs_are_those_of_a_cross_validation_from_scratch(kind, weighted):
    model, (X, y) = fit(kind), draw(kind)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None
    session = model.edit(X, y, sample_weight=weights)
    edit = session.drop(1)
    rows, own = session._states[-1].counts.rows, np.ones(len(y)) if weights is None else weights
    measured = []
    for one in (None, session.finish()):
        listed = one or model
        scratch, found = FromScratch(listed, session.log[0].step["ridge"], X, y, weights), np.empty((2, len(y)))
        for fold in range(rows.n_folds):
            here = np.flatnonzero(rows.folds == fold)
            predicted = scratch.predict(np.flatnonzero(rows.folds != fold))(here)
            found[:, here] = lose(kind, model, y[here], predicted)
        measured.append(found)
    for told, (losses, errors) in zip((edit.before, edit.after), measured, strict=True):
        np.testing.assert_allclose((told.loss, told.loss_se), tell(losses, own), rtol=2e-5)
        mean, spread = tell(errors, own)
        expected = (np.sqrt(mean), spread / (2 * np.sqrt(mean))) if kind == "number" else (mean, spread)
        np.testing.assert_allclose((told.error, told.error_se), expected, rtol=2e-5)
    moved = measured[1] - measured[0]
    np.testing.assert_allclose((edit.change.loss, edit.change.loss_se), tell(moved[0], own), rtol=1e-3, atol=1e-7)
    if kind != "number":
        np.testing.assert_allclose((edit.change.error, edit.change.error_se), tell(moved[1], own), rtol=1e-3, atol=1e-7)
    assert edit.change.error == pytest.approx(edit.after.error - edit.before.error)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_are_predicted_otherwise_are_counted(kind):
    model, (X, y) = fit(kind), draw(kind)
    session = model.edit(X, y)
    session.fix(1, None)
    before = session.finish().predict(X)
    edit = session.drop(2)
    after = session.finish().predict(X)
    if kind == "number":
        expected = np.abs(after - before) > 0.1 * np.std(y)
    else:
        expected = np.abs(after / before - 1.0) > 0.1 if kind in RATES else before != after
    assert edit.change.n_otherwise == int(expected.sum())
    assert edit.change.n_rows == len(y)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_that_move_most_are_told(kind):
    model, (X, y) = fit(kind), draw(kind)
    session = model.edit(X, y)
    session.fix(1, None)
    before = {row.text: row for row in session.rules}
    edit = session.drop(2)
    after = {row.rank: row for row in session.rules}
    spreads, sizes = np.std(model.transform_rules(X), axis=0), []
    for move in edit.moved:
        row, was = after[move.number], before[after[move.number].text]
        own, old = row.coefficient, was.coefficient
        if move.output:
            own, old = (one.coefficients[int(move.output)] for one in (row, was))
        assert (move.before, move.after) == pytest.approx((old, own))
        sizes.append(abs(own - old) * spreads[move.number - 1])
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 0.0
    assert "weights that moved most" in repr(edit)


def test_rates_have_the_figures_of_scikit_learn():
    model, (X, y) = fit("poisson"), draw("poisson")
    session = model.edit(X, y)
    session.drop(1)
    edited = session.finish()
    assert edited.score(X, y) == pytest.approx(d2_tweedie_score(y, edited.predict(X), power=1.0))
