"""Curves by rule are those of the rows where it holds, and what the model says of the same rows."""

import numpy as np
import pytest

from rulegrove import RuleEnsembleSurvival
from rulegrove.exceptions import InvalidInputError
from rulegrove.plots import SurvivalDisplay
from rulegrove.plots.survival import mean_survival
from rulegrove.survival import estimate_curve, kaplan_meier, kaplan_meier_band, read_survival
from target_models import fit, make_rows


def first_rule(model):
    return next(term for term in model.rules_ if term.kind == "rule")


@pytest.mark.parametrize("weighted", [False, True])
def test_curves_are_those_of_the_rows(weighted):
    model, X, y, _ = fit("survival")
    weights = np.random.default_rng(0).choice([0.0, 0.5, 2.0], len(X)) if weighted else None
    rule = first_rule(model)
    display = SurvivalDisplay.from_estimator(model, X, y, rule=rule.rank, sample_weight=weights)
    assert display.rule == rule.text
    held = model.transform_rules(X)[:, rule.rank - 1] == 1.0
    times = read_survival(y)
    for curve, said, own in zip(display.curves, display.predicted, (held, ~held), strict=True):
        counted = own if weights is None else own & (weights > 0.0)
        rows, counts = times.take(counted), None if weights is None else weights[counted]
        np.testing.assert_allclose(curve.share, kaplan_meier(rows, counts)(curve.x))
        low, high = kaplan_meier_band(rows, counts)
        np.testing.assert_allclose([curve.low, curve.high], [low(curve.x), high(curve.x)])
        each = model.predict_survival_function(X[counted], return_array=True)
        np.testing.assert_allclose(said, np.average(each, axis=0, weights=counts))
    np.testing.assert_array_equal(display.times, model.event_times_)


def test_what_is_drawn_are_the_numbers():
    model, X, y, _ = fit("survival")
    display = SurvivalDisplay.from_estimator(model, X, y)
    assert display.rule == first_rule(model).text
    holds, said, other, _, _ = display.ax_.lines
    for line, curve in ((holds, display.curves[0]), (other, display.curves[1])):
        np.testing.assert_array_equal(line.get_xdata(), curve.x)
        np.testing.assert_array_equal(line.get_ydata(), curve.share)
        assert line.get_drawstyle() == "steps-post"
    inside = display.times <= display.curves[0].x[-1]
    np.testing.assert_array_equal(said.get_ydata()[1:], display.predicted[0][inside])
    assert said.get_linewidth() < holds.get_linewidth()
    legend = [text.get_text().replace("\n", " ") for text in display.ax_.get_legend().get_texts()]
    curve = display.curves[0]
    assert legend[0] == f"{display.rule}: {len(curve.times):,} rows, {int(curve.times.event.sum()):,} events"


def test_rows_at_risk_stand_below_their_times():
    model, X, y, _ = fit("survival")
    display = SurvivalDisplay.from_estimator(model, X, y)
    for moment, label in zip(display.ax_.get_xticks(), display.ax_.get_xticklabels(), strict=True):
        told, *counts = label.get_text().split("\n")
        assert float(told) == pytest.approx(moment)
        for count, curve in zip(counts, display.curves, strict=True):
            times = curve.times
            late = (times.entry < moment) | ((times.entry == 0.0) & (moment == 0.0))
            assert int(count.replace(",", "")) == int((late & (times.time >= moment)).sum())
    names = [text.get_text().strip() for text in display.ax_.texts]
    assert names == ["holds", "does not"]


def test_names_of_groups_stand_beside_their_lines():
    """The words beside the numbers at risk touch none of them, and are level with them."""
    model, X, y, _ = fit("survival")
    display = SurvivalDisplay.from_estimator(model, X, y)
    display.figure_.draw_without_rendering()
    first = display.ax_.get_xticklabels()[0].get_window_extent()
    for text in display.ax_.texts:
        box = text.get_window_extent()
        assert box.x1 <= first.x0 + 1.0
        assert abs(box.y1 - first.y1) < 2.0
        assert box.x0 >= 0.0


def test_a_rule_that_holds_everywhere():
    model, X, y, _ = fit("survival")
    rule = first_rule(model)
    held = model.transform_rules(X)[:, rule.rank - 1] == 1.0
    display = SurvivalDisplay.from_estimator(model, X[held], y[held], rule=rule.rank)
    assert display.curves[1] is None
    np.testing.assert_array_equal(display.curves[0].share, estimate_curve(read_survival(y[held])).share)


def test_without_a_baseline_nothing_is_predicted():
    X, y, _ = make_rows("survival")
    model = RuleEnsembleSurvival(n_candidates=60, selection=0.02, random_state=0, n_jobs=1).fit(X, y)
    display = SurvivalDisplay.from_estimator(model, X, y)
    assert display.predicted == (None, None)
    assert len(display.ax_.get_legend().get_texts()) == 2


def test_bad_input():
    model, X, y, _ = fit("survival", max_terms=None)
    ranks = {term.kind: term.rank for term in model.rules_}
    assert set(ranks) == {"rule", "linear"}
    with pytest.raises(
        InvalidInputError, match=rf"rank of a rule in `rules_`: .*; got {ranks['linear']}, which is a l"
    ):
        SurvivalDisplay.from_estimator(model, X, y, rule=ranks["linear"])
    with pytest.raises(InvalidInputError, match=r"rank of a rule in `rules_`: .*; got 99\."):
        SurvivalDisplay.from_estimator(model, X, y, rule=99)
    other, X, y, _ = fit("poisson")
    with pytest.raises(InvalidInputError, match="SurvivalDisplay needs a RuleEnsembleSurvival; got RuleEnsembleRegr"):
        SurvivalDisplay.from_estimator(other, X, y)
    X, y, _ = make_rows("survival")
    straight = RuleEnsembleSurvival(terms="linear", cv=3, n_jobs=1).fit(X, y)
    with pytest.raises(InvalidInputError, match="The model has no rule"):
        SurvivalDisplay.from_estimator(straight, X, y)


def test_means_over_many_rows():
    rng = np.random.default_rng(0)
    risks, hazards, weights = rng.gamma(1.0, 1.0, 9000), np.array([0.1, 0.7]), rng.random(9000)
    expected = np.average(np.exp(-np.outer(risks, hazards)), axis=0, weights=weights)
    np.testing.assert_allclose(mean_survival(risks, hazards, weights), expected)
