"""Counts, amounts and totals as rates: exposure, scores, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import d2_tweedie_score

from rulegrove import Glmnet, RuleEnsembleRegressor
from rulegrove.estimators._sampling import Sampled, TargetSummary
from rulegrove.estimators.rate import Rate
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import Tweedie
from target_kinds import N_ROWS, RATES, draw, make

EXPOSURE = np.random.default_rng(1).uniform(0.3, 3.0, N_ROWS)
WEIGHTS = np.random.default_rng(2).uniform(0.5, 2.0, N_ROWS)


def learn(y, weights=None, power=1.0):
    """Return the target with what such rows tell of it."""
    summary = TargetSummary.of(y, weights, values="numbers")
    return Rate(power=power).learn(Sampled(None, None, y, weights, np.arange(len(y)), None, summary), validates=True)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("kind", RATES)
def test_totals_with_exposure_are_rates_with_weights(kind, weights):
    """The loss of a total y of mean e m is e ** (2 - power) times that of the rate y / e of mean m."""
    X, y = draw(kind)
    own = EXPOSURE ** (2.0 - RATES[kind])
    totals = make(kind).fit(X, y * EXPOSURE, sample_weight=weights, exposure=EXPOSURE)
    rates = make(kind).fit(X, y, sample_weight=own if weights is None else weights * own)
    assert len(totals.rules_)
    assert [row.text for row in totals.rules_] == [row.text for row in rates.rules_]
    np.testing.assert_allclose(totals.predict(X), rates.predict(X), rtol=1e-9)
    assert totals.held_out_.d2 == pytest.approx(rates.held_out_.d2, rel=1e-9)
    if weights is None:
        by_offset = make(kind).fit(X, y * EXPOSURE, offset=np.log(EXPOSURE))
        np.testing.assert_array_equal(by_offset.predict(X), totals.predict(X))
        both = make(kind).fit(X, y * EXPOSURE, exposure=EXPOSURE**2, offset=-np.log(EXPOSURE))
        np.testing.assert_allclose(both.predict(X), totals.predict(X), rtol=1e-9)


@settings(deadline=None)
@given(
    power=st.sampled_from([1.0, 1.5, 2.0]),
    rows=st.lists(
        st.tuples(st.floats(0.01, 50.0), st.floats(0.01, 50.0), st.floats(-3.0, 3.0)), min_size=1, max_size=9
    ),
)
def test_the_loss_of_totals_is_that_of_what_the_door_makes_of_them(power, rows):
    y, means, offset = np.array(rows).T
    rates, weights = Rate(power=power).take_offset(y, None, offset)
    loss = Rate(power=power).loss
    of_totals = loss.excess(y, np.log(means) + offset)
    np.testing.assert_allclose(weights * loss.excess(rates, np.log(means)), of_totals, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", RATES)
def test_the_score_is_that_of_scikit_learn(kind):
    X, y = draw(kind)
    model, power = make(kind).fit(X, y, exposure=EXPOSURE), RATES[kind]
    rates = model.predict(X)
    assert model.score(X, y) == pytest.approx(d2_tweedie_score(y, rates, power=power), rel=1e-10)
    weighted = d2_tweedie_score(y, rates, sample_weight=WEIGHTS, power=power)
    assert model.score(X, y, WEIGHTS) == pytest.approx(weighted, rel=1e-10)
    exposed = d2_tweedie_score(y / EXPOSURE, rates, sample_weight=WEIGHTS * EXPOSURE ** (2.0 - power), power=power)
    assert model.score(X, y, WEIGHTS, exposure=EXPOSURE) == pytest.approx(exposed, rel=1e-10)
    np.testing.assert_allclose(model.predict(X, exposure=EXPOSURE), rates * EXPOSURE, rtol=1e-12)
    np.testing.assert_allclose(model.predict(X, offset=np.log(EXPOSURE)), rates * EXPOSURE, rtol=1e-12)


@pytest.mark.parametrize("kind", RATES)
def test_rates_are_positive_however_far_out(kind):
    X, y = draw(kind)
    model = make(kind, max_terms=None).fit(X, y)
    far = np.random.default_rng(0).standard_cauchy((500, 3)) * 1e6
    predicted = model.predict(far)
    assert ((predicted > 0.0) & np.isfinite(predicted)).all()


@pytest.mark.parametrize("kind", RATES)
def test_the_unit_of_a_target_is_that_of_predictions(kind):
    X, y = draw(kind)
    model = make(kind).fit(X, y)
    for unit in (1e12, 1e-12):
        other = make(kind).fit(X, unit * y)
        assert [row.effect for row in other.rules_] == [row.effect for row in model.rules_]
        np.testing.assert_allclose(other.predict(X), unit * model.predict(X), rtol=1e-9)
        assert other.held_out_.d2 == pytest.approx(model.held_out_.d2, rel=1e-9)


def test_powers_at_the_ends_are_counts_and_amounts():
    X, y = draw("gamma")
    for power, loss in ((1.0, "poisson"), (2.0, "gamma")):
        one = RuleEnsembleRegressor(loss="tweedie", power=power, n_candidates=50, cv=2, random_state=0).fit(X, y)
        other = RuleEnsembleRegressor(loss=loss, n_candidates=50, cv=2, random_state=0).fit(X, y)
        np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_a_named_solver_has_the_power_of_the_fit():
    """It was 1.5 whatever was asked for."""
    X, y = draw("tweedie")
    for parameters in ({"solver": "glmnet"}, {"solver": Glmnet(loss="tweedie")}, {"selection": 0.05}):
        assert make("tweedie", **parameters).fit(X, y).solver_[0].loss == Tweedie(1.3)
    assert make("tweedie", power=1.5, solver="glmnet").fit(X, y).solver_[0].loss == "tweedie"
    given = Glmnet(loss=Tweedie(1.3))
    assert make("tweedie", solver=given).fit(X, y).solver_[0].loss == given.loss
    with pytest.raises(InvalidInputError, match=r"power=1.3 and its solver loss=Tweedie\(power=1.7\); give both"):
        make("tweedie", solver=Glmnet(loss=Tweedie(1.7))).fit(X, y)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.0, 3.0])])
def test_targets_are_multiples_of_their_mean(weights):
    y = np.array([2.0, 0.0, 7.0, 4.0])
    target = learn(y, weights)
    mean = np.average(y, weights=weights)
    encoded = target.code.read(y, weights)
    np.testing.assert_allclose(encoded.values[:, 0], y / mean)
    assert encoded.offsets[0] == pytest.approx(np.log(mean))


def test_drawn_rates_are_predictions_times_the_ratios_of_other_rows():
    X, y = draw("gamma")
    model = make("gamma").fit(X, y)
    drawn = Rate(power=2.0).draw(model.model_, np.log(model.predict(X)), y)(np.random.default_rng(0))
    assert not np.array_equal(drawn, y)
    np.testing.assert_allclose(np.sort(drawn / model.predict(X)), np.sort(y / model.predict(X)), rtol=1e-9)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("poisson", -1.0, "loss='poisson' is for targets of 0 or more; got -1 in row 3. Drop .* loss='squared'"),
        ("tweedie", -0.5, "loss='tweedie' is for targets of 0 or more; got -0.5 in row 3"),
        ("gamma", 0.0, "loss='gamma' is for targets of more than 0; got 0 in row 3. Drop .* loss='tweedie'"),
        ("gamma", -2.0, "loss='gamma' is for targets of more than 0; got -2 in row 3. Drop .* loss='squared'"),
        ("poisson", np.nan, r"y contains NaN or infinity \(row 3"),
    ],
)
def test_targets_that_are_no_rates_are_refused(kind, value, message):
    X, y = draw(kind)
    model = make(kind).fit(X, y)
    wrong = y.copy()
    wrong[3] = value
    for use in (make(kind).fit, model.score):
        with pytest.raises(InvalidInputError, match=message):
            use(X, wrong)


def test_rates_that_are_all_zero_tell_nothing_but_can_be_scored():
    X, y = draw("poisson")
    with pytest.raises(InvalidInputError, match="needs a target above 0; all of them are 0"):
        make("poisson").fit(X, 0.0 * y)
    with pytest.raises(InvalidInputError, match="needs at least one row with a target above 0 and a positive weight"):
        make("poisson").fit(X, y, sample_weight=(y == 0.0).astype(float))
    assert make("poisson").fit(X, y).score(X, 0.0 * y) == 0.0


@pytest.mark.parametrize(
    ("exposure", "message"),
    [
        (np.where(np.arange(N_ROWS) == 3, 0.0, EXPOSURE), "`exposure` must be more than 0; got 0 in row 3. Drop"),
        (np.where(np.arange(N_ROWS) == 3, -1.0, EXPOSURE), "`exposure` must be more than 0; got -1 in row 3"),
        (
            np.where(np.arange(N_ROWS) == 3, np.nan, EXPOSURE),
            r"`exposure` is missing or infinite in row 3 \(nan\); drop",
        ),
        (np.where(np.arange(N_ROWS) == 3, np.inf, EXPOSURE), r"`exposure` is missing or infinite in row 3 \(inf\)"),
        ([None, *EXPOSURE[1:]], "`exposure` is missing or infinite in row 0"),
        (np.ma.masked_less(EXPOSURE, 0.5), "exposure contains NaN: row [0-9]+ is masked"),
        (EXPOSURE[1:], r"must hold one number for each of the 160 rows; got the shape \(159,\)"),
        (EXPOSURE[:, None], r"must hold one number for each of the 160 rows; got the shape \(160, 1\)"),
        (2.0, r"must hold one number for each of the 160 rows; got the shape \(\)"),
        (["a"] * N_ROWS, "`exposure` must hold numbers"),
    ],
)
def test_exposures_that_are_none_are_refused(exposure, message):
    X, y = draw("poisson")
    model = make("poisson").fit(X, y)
    for use in (
        lambda: make("poisson").fit(X, y, exposure=exposure),
        lambda: model.predict(X, exposure=exposure),
        lambda: model.score(X, y, exposure=exposure),
    ):
        with pytest.raises(InvalidInputError, match=message):
            use()


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_rates_of_a_size_that_cannot_be_squared_are_refused(unit):
    """Their deviances were infinite, with a warning of numpy's."""
    X, y = draw("poisson")
    with pytest.raises(InvalidInputError, match=r"numbers of the size of .*; give the target in another unit"):
        make("poisson").fit(X, y, exposure=unit * EXPOSURE)


def test_exposures_too_far_apart_are_refused():
    X, y = draw("poisson")
    with pytest.raises(InvalidInputError, match="differ so much that the rates are too large or too small to compute"):
        make("poisson").fit(X, y, offset=np.linspace(-800.0, 800.0, N_ROWS))
    with pytest.raises(InvalidInputError, match="cannot add up numbers of the size of"):
        make("poisson").fit(X, y, exposure=np.exp(np.linspace(-600.0, 600.0, N_ROWS)))


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        ("fpc", "Fpc cannot take loss='poisson', which finds the terms for this target; use solver='glmnet'"),
        ("spgl1", "Spgl1 cannot take loss='poisson'"),
        ("pathbuild", "Pathbuild cannot take loss='poisson'"),
        (Glmnet(), r"A fit with loss='poisson' cannot use Glmnet\(loss='squared'\); give it loss='poisson'"),
        (Glmnet(loss="gamma"), r"A fit with loss='poisson' cannot use Glmnet\(loss='gamma'\); give it loss='poisson'"),
    ],
)
def test_solvers_with_another_loss_are_refused(solver, message):
    X, y = draw("poisson")
    with pytest.raises(InvalidInputError, match=message):
        make("poisson", solver=solver).fit(X, y)


def test_a_solver_of_rates_is_not_for_squared_errors():
    X, y = draw("poisson")
    with pytest.raises(InvalidInputError, match=r"cannot use Glmnet\(loss='poisson'\), which is for rates; give it"):
        RuleEnsembleRegressor(solver=Glmnet(loss="poisson")).fit(X, y)
