"""Rates, quantiles, several numbers and survival times are inspected on their own scale, or refused in a sentence."""

import numpy as np
import pytest

from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import (
    h_statistics,
    importances,
    interaction_null,
    interactions,
    partial_dependence,
    rule_evidence,
    stability_report,
)
from rulegrove.inspection._sample import name_lists, name_output, refer_to
from target_models import KINDS, NAMES, NUMBERS, RATES, fit, make_model, make_rows

SEVERAL = ["several", "separate"]


def predict(model, table):
    """Predictions with a column for each output."""
    return model.predict(table).reshape(len(table), -1)


@pytest.mark.parametrize("kind", KINDS)
def test_dependence_is_the_mean_of_scores(kind):
    model, X, _, _ = fit(kind)
    found = partial_dependence(model, X, "age", grid=[25.0, 60.0])
    for place, age in enumerate([25.0, 60.0]):
        said = predict(model, X.assign(age=age))
        multiplies = kind in (*RATES, "survival")
        scores = np.log(said) if multiplies else said
        np.testing.assert_allclose(np.atleast_2d(found.values)[:, place], scores.mean(axis=0), rtol=1e-9, atol=1e-9)
        geometric = np.exp(scores.mean(axis=0)) if multiplies else scores.mean(axis=0)
        np.testing.assert_allclose(np.atleast_2d(found.predictions)[:, place], geometric, rtol=1e-9, atol=1e-9)
    assert found.multiplies == (kind in (*RATES, "survival"))
    assert found.outputs == {"quantiles": (0.1, 0.5, 0.9), "several": NAMES, "separate": NAMES}.get(kind, ())


@pytest.mark.parametrize("kind", KINDS)
def test_importance_adds_up_where_scales_are_one(kind):
    model, X, _, _ = fit(kind)
    if kind in SEVERAL:
        with pytest.raises(InvalidInputError, match=r"2 numbers, each in a unit of its own.*set `target` to one of 'w"):
            importances(model, X)
    for target in model.model_.score_labels if model.model_.outputs else (None,):
        found = importances(model, X, target=target)
        assert found.attributes.sum() == pytest.approx(found.terms.sum())
        coefs = np.atleast_2d(model.coef_)[model.model_.score_labels.index(target) if target is not None else 0]
        held = model.transform_rules(X).astype(float)
        for row, coef, values, own in zip(model.rules_, coefs, held.T, found.terms, strict=True):
            middle = row.support if row.kind == "rule" else row.term.fill
            assert own == pytest.approx(abs(coef) * np.abs(values - middle).mean())
    if kind == "quantiles":
        each = [importances(model, X, target=level).terms for level in (0.1, 0.5, 0.9)]
        np.testing.assert_allclose(importances(model, X).terms, np.sum(each, axis=0))


def brute_pair(scores, model, X, names):
    """H of two attributes by scoring every row with the values of every other, on the scale of the scores."""
    n_rows = len(X)

    def centred(held):
        inner = X.iloc[np.tile(np.arange(n_rows), n_rows)].reset_index(drop=True)
        outer = X.iloc[np.repeat(np.arange(n_rows), n_rows)].reset_index(drop=True)
        inner[list(held)] = outer[list(held)]
        means = scores(model, inner).reshape(n_rows, n_rows).mean(axis=1)
        return means - means.mean()

    both = centred(names)
    rest = both - centred(names[:1]) - centred(names[1:])
    return np.sqrt((rest**2).sum() / (both**2).sum())


@pytest.mark.parametrize("kind", ["gamma", "quantiles", "several", "survival"])
def test_interaction_is_that_of_scores(kind):
    model, X, _, _ = fit(kind, max_terms=None)
    few, target = X.iloc[:60], {"quantiles": 0.9, "several": NAMES[1]}.get(kind)
    place = 0 if target is None else model.model_.score_labels.index(target)

    def scores(model, table):
        said = predict(model, table)[:, place]
        return np.log(said) if target is None else said

    names = ("size", "colour") if kind != "several" else ("age", "size")
    assert h_statistics(model, few, names, target=target) == pytest.approx(
        brute_pair(scores, model, few, names), abs=1e-7
    )
    found = interactions(model, few, target=target)
    places = [found.names.index(name) for name in names]
    assert found.pairs[tuple(places)] == pytest.approx(h_statistics(model, few, names, target=target))


@pytest.mark.parametrize("look", [interactions, lambda model, X: h_statistics(model, X, "age")])
def test_interaction_of_several_numbers_needs_a_name(look):
    with pytest.raises(InvalidInputError, match="set `target` to one of 'wait', 'litres_"):
        look(*fit("several")[:2])


def test_unknown_outputs_are_refused():
    model, X, _, _ = fit("quantiles")
    with pytest.raises(InvalidInputError, match=r"`target` must be one of the 3 levels 0.1, 0.5, 0.9; got 0.2"):
        importances(model, X, target=0.2)
    model, X, _, _ = fit("several")
    with pytest.raises(InvalidInputError, match=r"`target` must be one of the 2 numbers 'wait', .*; got 'cost'"):
        interactions(model, X, target="cost")
    model, X, _, _ = fit("poisson")
    with pytest.raises(InvalidInputError, match=r"`target` of a model of one output must be None; got 'rate'"):
        importances(model, X, target="rate")


@pytest.mark.parametrize("kind", KINDS)
def test_stability_of_every_target(kind):
    X, y, known = make_rows(kind)
    report = stability_report(make_model(kind, max_terms=5), X, y, n_repeats=2, random_state=0, **known)
    assert 0.0 <= report.rule_jaccard <= report.decile_jaccard <= 1.0
    assert 1 <= report.n_terms <= 10
    assert report.attribute_frequencies[0] == 1.0  # age matters to all


@pytest.mark.parametrize("kind", ["poisson", "tweedie"])
def test_exposure_is_a_rate_with_a_weight(kind):
    """Of a total y and an exposure e the loss is that of y / e, times e or a power of it."""
    X, y, known = make_rows(kind)
    exposure, power = known["exposure"], {"poisson": 1.0, "tweedie": 1.5}[kind]
    weights = exposure ** (2.0 - power)
    settings = {"n_repeats": 2, "random_state": 0}
    given = stability_report(make_model(kind), X, y, exposure=exposure, **settings)
    plain = stability_report(make_model(kind), X, y / exposure, sample_weight=weights, **settings)
    assert [rule.text for rule in given.rules] == [rule.text for rule in plain.rules]
    model = fit(kind)[0]
    given, plain = (
        rule_evidence(model, X, y, exposure=exposure),
        rule_evidence(model, X, y / exposure, sample_weight=weights),
    )
    np.testing.assert_allclose(given.p_value, plain.p_value)
    np.testing.assert_allclose(given.mean_target.values, plain.mean_target.values)


@pytest.mark.parametrize("kind", KINDS)
def test_interaction_null_of_every_target(kind):
    model, X, y, known = fit(kind)
    target = NAMES[0] if kind in SEVERAL else None
    if kind == "survival":
        with pytest.raises(InvalidInputError, match="How large H is without interaction is not known for survival"):
            interaction_null(model, X, y, n_repeats=2)
        return
    null = interaction_null(model, X, y, target=target, n_repeats=2, random_state=0, **known)
    assert null.pairs.replicates.shape == (2, 3, 3)
    assert (null.pairs.replicates >= 0.0).all()
    np.testing.assert_array_equal(null.pairs.observed, interactions(model, X, target=target).pairs)


@pytest.mark.parametrize("kind", KINDS)
def test_evidence_is_about_means_or_refused(kind):
    model, X, y, known = fit(kind)
    refused = {
        "survival": "leave it out for survival times",
        "several": "Rules are tested for one number at a time",
        "separate": "Rules are tested for one number at a time",
        **dict.fromkeys(("quantile", "quantiles", "absolute"), "which says nothing about its quantiles"),
    }
    if kind in refused:
        with pytest.raises(InvalidInputError, match=refused[kind]):
            rule_evidence(model, X, y, **known)
        return
    found = rule_evidence(model, X, y, **known)
    exposure = known.get("exposure", np.ones(len(y)))
    weights = exposure ** (2.0 - {"poisson": 1.0, "tweedie": 1.5, "gamma": 2.0, "huber": 2.0}[kind])
    for rule, mean in zip(found.rules, found.mean_target.values, strict=True):
        held = model.transform_rules(X)[:, rule.rank - 1] > 0
        assert mean == pytest.approx(np.average(y[held] / exposure[held], weights=weights[held]))
    if kind != "huber":
        for ends in (found.mean_target.low, found.mean_target.low_all):
            assert (ends >= 0.0).all()  # as rates are


def test_intervals_of_rates_do_not_reach_below_none():
    """Those of few rows and all rules at once did."""
    model, X, y, known = fit("poisson")
    few = {name: values[:12] for name, values in known.items()}
    found = rule_evidence(model, X[:12], y[:12], **few)
    assert found.mean_target.low.min() == found.mean_target.low_all.min() == 0.0
    assert (found.mean_target.low <= found.mean_target.high).all()


def test_words_of_outputs():
    words = {
        kind: [name_output(fit(kind)[0], k) for k in range(len(fit(kind)[0].model_.score_words))] for kind in KINDS
    }
    assert words == {
        "poisson": ["rate"],
        "gamma": ["amount"],
        "tweedie": ["rate"],
        "quantile": ["90 % quantile"],
        "quantiles": ["10 % quantile", "median", "90 % quantile"],
        "absolute": ["median"],
        "huber": ["prediction"],
        "several": list(NAMES),
        "separate": list(NAMES),
        "survival": ["hazard ratio"],
    }
    assert refer_to(fit("several")[0], 0) == "wait"
    assert refer_to(fit("survival")[0], 0) == "the hazard ratio"
    assert {kind: name_lists(fit(kind)[0]) for kind in NUMBERS} == dict.fromkeys(NUMBERS, "") | {"separate": "number"}
