"""Survival times as rates, judged and finished by the partial likelihood; plain loops are the other side of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from rulegrove.estimators import hazard
from rulegrove.estimators._fitted import HeldOut
from rulegrove.estimators.hazard import Hazard, judge_hazards
from rulegrove.exceptions import InvalidInputError
from rulegrove.survival import SurvivalTimes
from target_kinds import draw, make


def draw_times(seed, n_rows, *, n_ticks=None, late=False):
    """Return times of which about two thirds are events; with few ticks many are equal."""
    rng = np.random.default_rng(seed)
    time, event = rng.exponential(size=n_rows) + 0.01, rng.random(n_rows) < 0.65
    entry = time * rng.random(n_rows) * (rng.random(n_rows) < 0.7) if late else None
    if n_ticks is not None:
        time = np.ceil(n_ticks * time / time.max())
        entry = np.minimum(np.floor(n_ticks * entry / (entry.max() + 1e-9)), time - 1.0) if late else None
    event[:2] = True
    return SurvivalTimes(time, event, entry)


def add_up_naively(times, scores, weights, rows):
    """Return Breslow's partial log likelihood of some rows, one event after the other."""
    entry = np.full(len(times), -1.0) if times.entry is None else times.entry
    total = 0.0
    for i in rows:
        if times.event[i] and weights[i] > 0.0:
            at_risk = [j for j in rows if entry[j] < times.time[i] <= times.time[j]]
            shares = weights / weights.mean()
            total += weights[i] * (scores[i] - np.log(sum(shares[j] * np.exp(scores[j]) for j in at_risk)))
    return total


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    n_ticks=st.sampled_from([None, 1, 5]),
    late=st.booleans(),
    weighted=st.booleans(),
    shift=st.sampled_from([0.0, 500.0]),
)
def test_what_rows_add_is_the_likelihood_of_all_without_that_of_the_others(seed, n_ticks, late, weighted, shift):
    """As Verweij and van Houwelingen define it, for every line, whatever constant its scores have."""
    rng, n_rows, n_folds = np.random.default_rng(seed), 24, 3
    times = draw_times(seed, n_rows, n_ticks=n_ticks, late=late and n_ticks != 1)
    weights = rng.choice([0.3, 1.0, 2.5], n_rows) if weighted else np.ones(n_rows)
    folds, by_fold = rng.integers(0, n_folds, n_rows), rng.normal(size=(n_folds, 2, n_rows, 1)) + shift
    target = Hazard(times=times, row_weights=weights if weighted else None)
    rates = rng.uniform(0.1, 2.0, n_rows)  # weights of the rates, by which what is told will be multiplied
    held_out = HeldOut(np.arange(n_rows), np.zeros((n_rows, 1)), np.zeros((n_rows, 1)), rates)
    losses, base = target.judge_folds(held_out, folds, lambda fold: (np.arange(n_rows), by_fold[fold]))
    for fold in np.unique(folds):
        here, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        for found, scores in [*zip(losses, by_fold[fold, :, :, 0], strict=True), (base, np.zeros(n_rows))]:
            scores = scores - shift if scores.any() else scores
            expected = add_up_naively(times, scores, weights, range(n_rows)) - add_up_naively(
                times, scores, weights, rest
            )
            assert -(found * rates)[here].sum() == pytest.approx(expected, abs=1e-9)


def test_rows_that_were_drawn_of_those_held_out_have_the_parts_that_they_have_of_all():
    times, scores = draw_times(0, 30), np.random.default_rng(0).normal(size=(1, 30, 1))
    target, folds = Hazard(times=times), np.arange(30) % 3
    whole, part = (
        target.judge_folds(
            HeldOut(rows, np.zeros((len(rows), 1)), np.zeros((len(rows), 1)), None),
            folds,
            lambda _: (np.arange(30), scores),
        )
        for rows in (np.arange(30), np.arange(0, 30, 2))
    )
    for all_rows, some in zip(whole, part, strict=True):
        np.testing.assert_array_equal(some, all_rows[..., ::2])


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32), n_ticks=st.sampled_from([None, 6]), late=st.booleans(), weighted=st.booleans())
def test_rows_are_exposed_to_the_hazard_of_all_while_they_are_watched(seed, n_ticks, late, weighted):
    times, rng = draw_times(seed, 25, n_ticks=n_ticks, late=late), np.random.default_rng(seed)
    weights = rng.choice([0.0, 0.5, 2.0], 25) if weighted else None
    own = np.ones(25) if weights is None else weights
    own[:2] = 1.0
    rates, found, spells = Hazard().expose(times, weights, None)
    entry = np.full(25, -1.0) if times.entry is None else times.entry
    moments = np.unique(times.time[times.event & (own > 0.0)])
    rises = [
        own[times.event & (times.time == now)].sum() / own[(entry < now) & (now <= times.time)].sum() for now in moments
    ]
    exposure = np.array(
        [
            sum(h for t, h in zip(moments, rises, strict=True) if e < t <= end)
            for e, end in zip(entry, times.time, strict=True)
        ]
    )
    rtol = 1e-6 if weighted else 1e-12  # steps of weighted rows have fewer digits, so that tables in parts agree
    np.testing.assert_allclose(found, own * exposure, rtol=rtol)
    seen = (own > 0.0) & (exposure > 0.0)
    np.testing.assert_allclose(rates[seen], times.event[seen] / exposure[seen], rtol=rtol)
    assert spells.n_times == len(moments)
    assert found @ rates == pytest.approx(own @ times.event, rel=1e-6)  # as many events are expected as there were


@pytest.mark.parametrize("parameters", [{"n_candidates": 0}, {"max_terms": 2}])
@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_forced_rules_have_the_coefficients_of_the_partial_likelihood(ties, parameters):
    """Lists go by the rows alone where nothing draws them to the large model; scipy finds the same maximum.

    Where all terms were forced there was no list, and the large model has those of rates.
    """
    X, y = draw("survival", 120)
    y = np.column_stack([np.ceil(6.0 * y[:, 0]), y[:, 1]])
    rules = ["x0 > 0.1", "x1 > 0.4"]
    model = make("survival", rules=rules, terms="rules", force_rules=True, ties=ties, **parameters).fit(X, y)
    assert sorted(row.text for row in model.rules_) == rules
    bits, (time, event) = model.transform_rules(X).astype(float), y.T

    def lose(coef):
        scores, total = bits @ coef, 0.0
        for now in np.unique(time[event == 1.0]):
            dying = (time == now) & (event == 1.0)
            at_risk, leaving = np.exp(scores[time >= now]).sum(), np.exp(scores[dying]).sum()
            shares = np.arange(dying.sum()) / dying.sum() * (ties == "efron")
            total += scores[dying].sum() - np.log(at_risk - shares * leaving).sum()
        return -total / len(time)

    found = minimize(lose, np.zeros(2), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(model.coef_, found.x, rtol=1e-4)


def test_a_forced_rule_that_parts_all_events_ends_somewhere():
    """Its coefficient grew for ever, and a warning named a column by a number that nobody knows."""
    X, _ = draw("survival")
    time = np.where(X[:, 0] > 0.0, 1.0, 2.0) + 0.1 * np.random.default_rng(0).random(len(X))
    model = make("survival", rules=["x0 > 0"], force_rules=True).fit(X, (time, np.ones(len(X))))
    assert np.isfinite(model.predict(X)).all()
    assert model.score(X, (time, np.ones(len(X)))) > 0.7


def test_the_unit_of_weights_does_not_matter():
    """A weight of one half halved what the rows of a list counted beside what the large model says."""
    X, y = draw("survival")
    weights = np.random.default_rng(0).exponential(size=len(X))
    model = make("survival").fit(X, y, sample_weight=weights)
    for unit in (2.0**-3, 2.0**300, 2.0**-300):
        other = make("survival").fit(X, y, sample_weight=unit * weights)
        np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-9)
        np.testing.assert_allclose(other.baseline_.hazards, model.baseline_.hazards, rtol=1e-9)
        told = [one.front_.to_frame("pandas").to_numpy() for one in (other, model)]
        np.testing.assert_allclose(*told, rtol=1e-9, atol=1e-12)
    halves = make("survival").fit(X, y, sample_weight=np.full(len(X), 0.5))
    np.testing.assert_allclose(halves.predict(X), make("survival").fit(X, y).predict(X), rtol=1e-6)


def test_the_unit_of_time_does_not_matter():
    X, y = draw("survival")
    model = make("survival").fit(X, y)
    for unit in (1e12, 1e-12):
        other = make("survival").fit(X, y * [unit, 1.0])
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        np.testing.assert_allclose(other.event_times_, unit * model.event_times_, rtol=1e-12)


@pytest.mark.parametrize(
    ("time", "event", "weights", "message"),
    [
        ([1, 2, 3, 4], [0, 0, 0, 0], None, "No row has an event, so there is nothing to learn from"),
        ([1, 2, 3, 4], [1, 0, 0, 0], [0, 1, 1, 1], "No row of positive weight has an event"),
        ([1, 2, 3, 4], [0, 0, 0, 1], None, "No event happens while at least two rows of positive weight are at risk"),
    ],
)
def test_times_of_which_nothing_can_be_learned_are_refused(time, event, weights, message):
    with pytest.raises(InvalidInputError, match=message):
        make("survival").fit(np.arange(8.0).reshape(4, 2), (time, event), sample_weight=weights)


def test_what_makes_no_sense_of_hazards_is_refused():
    target = Hazard()
    for use in (
        target.check_evidence,
        lambda: target.take_offset(np.ones(2), None, np.ones(2)),
        lambda: target.draw(None, np.ones(2), np.ones(2)),
    ):
        with pytest.raises(InvalidInputError, match=r"\."):
            use()


def test_figures_know_their_rows():
    times = draw_times(0, 20)
    figures = judge_hazards(times, np.arange(20.0), np.ones(20), honest=False)
    assert (figures.n_rows, figures.honest, figures.weighted) == (20, False, True)
    assert figures.n_events == times.event.sum()
    alone = SurvivalTimes(np.ones(3), np.ones(3, dtype=bool))
    assert np.isnan(judge_hazards(alone, np.arange(3.0), None).concordance)


def test_slopes_of_noise_are_not_negative():
    """Scores that order the held-out rows wrongly would turn the list around."""
    times = SurvivalTimes(np.arange(1.0, 31.0), np.ones(30, dtype=bool))
    scores = np.arange(30.0)[:, None]  # the later, the higher
    target = Hazard(times=times)
    assert target.find_slope(HeldOut(np.arange(30), scores, scores, None)) == 1e-3
    assert target.find_slope(HeldOut(np.arange(30), -scores, scores, None)) > 1.0


def test_lists_of_many_rows_are_solved_for_on_some(monkeypatch):
    X, y = draw("survival")
    monkeypatch.setattr(hazard, "COX_ROWS", 80)
    few = make("survival").fit(X, y)
    monkeypatch.undo()
    assert not np.array_equal(few.predict(X), make("survival").fit(X, y).predict(X))
    assert few.score(X, y) > 0.55
