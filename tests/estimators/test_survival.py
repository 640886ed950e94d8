"""What a user sees of survival models: forms of the target, curves, concordance, refusals."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, cross_val_score

from rulegrove import RuleEnsembleSurvival
from rulegrove.exceptions import InvalidInputError
from target_kinds import N_ROWS, draw, make

X, Y = draw("survival")
ENTRY = 0.9 * Y[:, 0] * np.random.default_rng(3).random(N_ROWS)
WEIGHTS = np.random.default_rng(4).uniform(0.2, 2.0, N_ROWS)


@cache
def fitted():
    return make("survival").fit(X, Y)


def agree_naively(scores, time, event, entry, weights):
    """Return Harrell's concordance, one pair after the other."""
    total = right = 0.0
    for i in np.flatnonzero(event):
        for j in range(len(time)):
            later = time[j] > time[i] or (time[j] == time[i] and not event[j])
            if later and entry[j] < time[i]:
                pair = weights[i] * weights[j]
                total += pair
                right += pair * (float(scores[i] > scores[j]) + 0.5 * float(scores[i] == scores[j]))
    return right / total


FORMS = {
    "two columns": Y,
    "a list of rows": Y.tolist(),
    "a tuple": (Y[:, 0], Y[:, 1].astype(bool)),
    "a structured array": np.array(
        list(zip(Y[:, 1] == 1, Y[:, 0], strict=True)), dtype=[("died", "?"), ("days", "f8")]
    ),
    "pandas": pd.DataFrame({"event": Y[:, 1].astype(int), "time": Y[:, 0]}),
    "polars": pl.DataFrame({"status": Y[:, 1].astype(bool), "duration": Y[:, 0]}),
    "all watched from the start": np.column_stack([np.zeros(N_ROWS), Y]),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_target_in_any_form_is_the_same_target(form):
    model = make("survival").fit(X, FORMS[form])
    np.testing.assert_allclose(model.predict(X), fitted().predict(X), rtol=1e-12)
    assert model.score(X, FORMS[form]) == fitted().score(X, Y)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("late", [False, True])
def test_the_score_is_the_share_of_pairs_in_the_right_order(late, weights):
    y = np.column_stack([ENTRY, Y]) if late else Y
    model = make("survival").fit(X, y, sample_weight=weights)
    own = np.ones(N_ROWS) if weights is None else weights
    entry = ENTRY if late else np.full(N_ROWS, -1.0)
    expected = agree_naively(model.predict(X), Y[:, 0], Y[:, 1] == 1, entry, own)
    assert model.score(X, y, weights) == pytest.approx(expected, abs=1e-12)
    assert 0.55 < model.score(X, y, weights) < 0.9
    assert model.held_out_.n_events == Y[:, 1].sum()


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**32), scale=st.sampled_from([1.0, 1e6]))
def test_curves_fall_and_hazards_rise(seed, scale):
    model, rows = fitted(), scale * np.random.default_rng(seed).normal(size=(4, 3))
    times = model.event_times_
    survival, hazard = model.predict_survival_function(rows, True), model.predict_cumulative_hazard(rows, True)
    assert survival.shape == hazard.shape == (4, len(times))
    np.testing.assert_array_equal(survival, np.exp(-hazard))
    assert (np.diff(hazard, axis=1) > 0.0).all()
    assert (np.diff(survival, axis=1) <= 0.0).all()
    assert ((survival >= 0.0) & (survival < 1.0)).all()
    np.testing.assert_allclose(hazard, np.outer(model.predict(rows), model.baseline_.hazards))
    order = np.argsort(model.predict(rows))
    assert (np.diff(survival[order], axis=0) <= 0.0).all()
    for curve, fall, cumulative in zip(
        model.predict_survival_function(rows), survival, model.predict_cumulative_hazard(rows), strict=True
    ):
        assert curve(0.0) == 1.0
        assert cumulative(0.0) == 0.0
        np.testing.assert_array_equal(curve(times), fall)
        between = (times[:-1] + times[1:]) / 2.0
        np.testing.assert_array_equal(curve(between), fall[:-1])


def test_curves_are_called_as_scikit_survival_calls_them():
    rows = X[:3]
    one, other = (
        fitted().predict_cumulative_hazard_function(rows, return_array=True),
        fitted().predict_cumulative_hazard(rows, return_array=True),
    )
    np.testing.assert_array_equal(one, other)
    functions = fitted().predict_survival_function(rows)
    assert functions.shape == (3,)
    assert functions.dtype == object
    np.testing.assert_array_equal(functions[0].x, fitted().event_times_)


def test_curves_of_many_rows_are_near_to_the_share_without_an_event():
    """The mean of the curves beside Kaplan and Meier's of the same rows, by a loop over the times."""
    rows, y = draw("survival", 1500, seed=5)
    model = make("survival").fit(rows, y)
    share, kaplan_meier = 1.0, []
    for now in model.event_times_:
        at_risk, events = (y[:, 0] >= now).sum(), ((y[:, 0] == now) & (y[:, 1] == 1)).sum()
        share *= 1.0 - events / at_risk
        kaplan_meier.append(share)
    curves = model.predict_survival_function(rows, return_array=True).mean(axis=0)
    assert np.abs(curves - kaplan_meier).max() < 0.03


def test_times_of_events_are_a_thousand_at_most():
    rows, y = draw("survival", 1300, seed=6)
    y[:, 0] += 1e-6 * np.arange(1300)  # no two are equal
    y[:, 1] = 1.0
    model = make("survival", n_candidates=20).fit(rows, y)
    assert model.settings_["n_times"] == 1300
    assert 200 < len(model.event_times_) <= 1000  # even in what the hazard rises by, and the last rises are large
    assert set(model.event_times_) <= set(y[:, 0])


def test_rows_of_weight_zero_do_not_count():
    weights = (np.arange(N_ROWS) % 4 > 0).astype(float)
    spoilt = Y.copy()
    spoilt[weights == 0.0] = [1e6, 1.0]
    one, other = (make("survival", cv=3).fit(X, y, sample_weight=weights) for y in (Y, spoilt))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    assert one.score(X, Y, weights) == other.score(X, spoilt, weights)
    assert one.held_out_.n_events == Y[weights > 0.0, 1].sum()


def test_a_splitter_that_wants_classes_is_given_the_events():
    """It was given rates, of which there are as many as rows."""
    found = make("survival", cv=StratifiedKFold(3)).fit(X, Y)
    splits = list(StratifiedKFold(3).split(X, Y[:, 1] == 1.0))
    np.testing.assert_array_equal(found.predict(X), make("survival", cv=splits).fit(X, Y).predict(X))


def test_ties_are_counted_in_two_ways():
    ticks = np.column_stack([np.ceil(3.0 * Y[:, 0]), Y[:, 1]])
    efron, breslow = (make("survival", ties=ties).fit(X, ticks) for ties in ("efron", "breslow"))
    assert not np.array_equal(efron.predict(X), breslow.predict(X))
    without = np.column_stack([Y[:, 0] + 1e-6 * np.arange(N_ROWS), Y[:, 1]])
    efron, breslow = (make("survival", ties=ties).fit(X, without) for ties in ("efron", "breslow"))
    np.testing.assert_allclose(efron.predict(X), breslow.predict(X), rtol=1e-9)


@pytest.mark.parametrize("n_events", [1, 2, 3])
def test_few_events_suffice_for_a_fit(n_events):
    y = np.column_stack([Y[:, 0], np.isin(np.arange(N_ROWS), np.argsort(Y[:, 0])[:n_events])])
    model = make("survival").fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert model.held_out_.n_events == n_events
    assert model.event_times_.size <= n_events


def test_events_at_one_time_have_no_order():
    model = make("survival").fit(X, (np.full(N_ROWS, 3.0), np.ones(N_ROWS)))
    assert len(model.rules_) == 0
    np.testing.assert_array_equal(model.predict(X), 1.0)
    assert np.isnan(model.score(X, (np.full(N_ROWS, 3.0), np.ones(N_ROWS))))
    assert np.isnan(fitted().score(X, (Y[:, 0], np.zeros(N_ROWS))))
    assert "no pairs to compare" in model.held_out_.words


def test_without_held_out_rows_there_is_no_baseline():
    model = make("survival", selection=0.02).fit(X, Y)
    assert model.baseline_ is None
    assert not hasattr(model, "event_times_")
    for predict in (model.predict_survival_function, model.predict_cumulative_hazard):
        with pytest.raises(InvalidInputError, match=r"With selection=0.02 no rows .* set selection='min' or '1se'"):
            predict(X)
    assert model.score(X, Y) > 0.55


def test_an_unfitted_model_says_so():
    for use in (lambda m: m.predict(X), lambda m: m.predict_survival_function(X), lambda m: m.score(X, Y)):
        with pytest.raises(NotFittedError):
            use(RuleEnsembleSurvival())
    assert not hasattr(RuleEnsembleSurvival(), "event_times_")


def test_in_cross_validation():
    scores = cross_val_score(make("survival"), X, FORMS["a structured array"], cv=3)
    assert scores.shape == (3,)
    assert (scores > 0.5).all()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y is None|the target y is None"),
        (Y[:, 0], r"y has the shape \(160,\); survival times are a tuple"),
        (Y[:-1], "X has 160 rows but y has 159; give one time and event a row"),
        (np.column_stack([Y, Y]), r"y has the shape \(160, 4\)"),
        (Y * [-1.0, 1.0], "The time must not be negative"),
        (Y * [np.nan, 1.0], "The time of row 0 is missing or infinite"),
        (Y[:, ::-1] + [0.0, 2.0], "Events must be 1 or 0; got .* If these are the times, exchange the two"),
        (Y * [1.0, 0.0], "No row has an event"),
        (np.column_stack([Y[:, 0] + 1.0, Y]), "Entry must be earlier than time"),
        ((Y[:, 0], np.full(N_ROWS, "dead")), "Events must be True or False, or 1 or 0; got values such as 'dead'"),
    ],
)
def test_targets_that_are_none_are_refused(y, message):
    with pytest.raises(InvalidInputError, match=message):
        make("survival").fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"evidence": "split"}, "`evidence` tests rules about classes and numbers; leave it out for survival times"),
        ({"solver": "fpc"}, "Fpc cannot take loss='poisson', which finds the terms for this target; use"),
        ({"solver": "pathbuild"}, "Pathbuild cannot take loss='poisson'"),
        ({"ties": "exact"}, "The 'ties' parameter of RuleEnsembleSurvival must be"),
        ({"tree_loss": "huber"}, "The 'tree_loss' parameter of RuleEnsembleSurvival must be"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        make("survival", **parameters).fit(X, Y)
