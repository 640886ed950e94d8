"""The finished model is one like any other, and all that it tells is of the rows of the session."""

import numpy as np
import pytest

from edited_lists import KINDS, RATES, draw, fit, freeze
from rulegrove.editing import EditSession
from rulegrove.estimators.figures import ClassFigures
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Rule


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_told_of_terms_is_what_the_rows_say(kind, weighted):
    model, (X, y) = fit(kind), draw(kind)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None
    session = model.edit(X, y, sample_weight=weights)
    session.drop(1)
    edited, own = session.finish(), np.ones(len(y)) if weights is None else weights
    held = edited.transform_rules(X).astype(float)
    means = np.average(held, axis=0, weights=own)
    spreads = np.sqrt(np.average((held - means) ** 2, axis=0, weights=own))
    sizes = np.abs(np.atleast_2d(edited.coef_)).sum(axis=0)
    assert [row.importance for row in edited.rules_] == pytest.approx(sizes * spreads)
    assert (np.diff(sizes * spreads) <= 1e-12).all()
    for row, column, mean in zip(edited.rules_, held.T, means, strict=True):
        if not isinstance(row.term, Rule):
            continue
        assert row.support == pytest.approx(mean)
        here = own * column
        if kind in RATES or kind == "number":
            assert row.mean_target == pytest.approx(np.average(y, weights=here))
        else:
            shares = {label: np.average(y == label, weights=here) for label in edited.classes_.tolist()}
            assert row.confidences == pytest.approx(shares)
            assert row.base_rate is not None
    assert edited.feature_importances_.sum() == pytest.approx(1.0)
    predicted = edited.explain(X).scores
    if kind not in RATES and kind != "number":
        np.testing.assert_array_equal(predicted, edited.decision_function(X))
        shares = 1.0 / (1.0 + np.exp(-predicted)) if predicted.ndim == 1 else np.exp(predicted)
        shares = shares if predicted.ndim == 1 else (shares / shares.sum(axis=1, keepdims=True))[:, 1]
        np.testing.assert_allclose(edited.predict_proba(X)[:, 1], shares, rtol=1e-12)
        np.testing.assert_allclose(
            edited.class_shares_, [np.average(y == label, weights=own) for label in edited.classes_]
        )


@pytest.mark.parametrize("kind", KINDS)
def test_held_out_figures_are_given_the_terms(kind):
    model, (X, y) = fit(kind), draw(kind)
    session = model.edit(X, y)
    edit = session.drop(1)
    figures = session.finish().held_out_
    assert not figures.honest
    assert figures.n_rows == len(y)
    if isinstance(figures, ClassFigures):
        assert 1.0 - figures.accuracy == pytest.approx(edit.after.error)
        assert figures.log_loss == pytest.approx(edit.after.loss)
    elif kind == "number":
        assert figures.rmse == pytest.approx(edit.after.error)
    else:
        assert figures.deviance == pytest.approx(edit.after.loss)


def test_without_rows_what_is_left_keeps_its_weight():
    for kind in KINDS:
        model, (X, _) = fit(kind), draw(kind)
        session = model.edit()
        edit = session.drop(1, note="why not")
        assert (edit.before, edit.after, edit.change, edit.moved) == (None, None, None, ())
        assert "no rows" in repr(edit)
        edited = session.finish()
        np.testing.assert_array_equal(edited.coef_, np.delete(model.coef_, 0, axis=-1))
        assert [row.text for row in edited.rules_] == [row.text for row in model.rules_][1:]
        assert [row.support for row in edited.rules_] == [row.support for row in model.rules_][1:]
        scores = [one.intercept_ + one.transform_rules(X) @ one.coef_.T for one in (model, edited)]
        np.testing.assert_allclose(scores[0].mean(axis=0), scores[1].mean(axis=0), atol=1e-6)
        for do in (
            lambda s: s.add("x0 > 1"),
            lambda s: s.replace(2, "x0 > 1"),
            lambda s: s.round(),
            lambda s: s.merge(2, 3),
        ):
            before = freeze(session)
            with pytest.raises(InvalidInputError, match=r"this session has no rows; open it by|has no thresholds"):
                do(session)
            assert freeze(session) == before


def test_a_list_can_lose_all_its_terms():
    model, (X, y) = fit("two"), draw("two")
    session = model.edit(X, y)
    for number in range(1, len(model.rules_) + 1):
        session.drop(number)
    edited = session.finish()
    assert len(edited.rules_) == 0
    np.testing.assert_allclose(edited.predict_proba(X)[:, 1], np.mean(y == "well"), atol=1e-9)
    assert session.log[-1].after.loss > session.log[0].after.loss
    assert isinstance(session, EditSession)
    assert "no terms" in repr(session)
