"""Tenths of every target: the numbers are those of `rulegrove.inspection.tenths`, drawn where they should lie."""

import numpy as np
import pytest

from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection.tenths import count_below, count_means, count_survivors
from rulegrove.plots import CalibrationDisplay, TenthsDisplay
from rulegrove.survival import read_survival
from target_models import NAMES, fit, make_rows


def assert_equal(one, other):
    for name in ("predicted", "observed", "low", "high", "sizes"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("kind", ["poisson", "gamma", "tweedie", "huber"])
def test_means(kind):
    model = fit(kind)[0]
    X, y, known = make_rows(kind, seed=1)
    display = CalibrationDisplay.from_estimator(model, X, y, **known)
    assert isinstance(display, TenthsDisplay)
    exposure = known.get("exposure", np.ones(len(y)))
    weights = None if not known else exposure ** (2.0 - {"poisson": 1.0, "tweedie": 1.5}[kind])
    expected = count_means(y / exposure, model.predict(X), weights)
    for name in ("predicted", "observed", "low", "high"):
        np.testing.assert_allclose(getattr(display.lines[0], name), getattr(expected, name))
    said = {"gamma": "Predicted amount", "huber": "Mean prediction"}.get(kind, "Predicted rate")
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == (said, "Mean that came true")
    assert display.ax_.get_xlim() == display.ax_.get_ylim()


def test_rates_of_held_out_rows():
    model = fit("poisson")[0]
    display = TenthsDisplay.from_estimator(model)
    kept = model.held_out_.reliability
    np.testing.assert_array_equal(display.lines[0].predicted, kept.predicted)
    np.testing.assert_array_equal(display.lines[0].observed, kept.observed)
    (words, _) = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "interval" not in words
    for kind in ("quantiles", "huber", "several", "survival"):
        with pytest.raises(InvalidInputError, match="for rates and amounts alone; give `X` and `y`"):
            TenthsDisplay.from_estimator(fit(kind)[0])


@pytest.mark.parametrize("kind", ["quantile", "quantiles", "absolute"])
def test_shares_below_quantiles(kind):
    model = fit(kind)[0]
    X, y, _ = make_rows(kind, seed=1)
    display = CalibrationDisplay.from_estimator(model, X, y, n_bins=5)
    said = model.predict(X).reshape(len(X), -1)
    assert display.levels == {"quantile": (0.9,), "quantiles": (0.1, 0.5, 0.9), "absolute": (0.5,)}[kind]
    for line, own in zip(display.lines, said.T, strict=True):
        assert_equal(line, count_below(y, own, n_parts=5))
    heights = {line.get_ydata()[0] for line in display.ax_.lines if len(set(line.get_ydata())) == 1}
    assert heights >= set(display.levels)
    assert display.ax_.get_ylabel() == "Share of rows below it"
    if kind == "quantiles":
        one = CalibrationDisplay.from_estimator(model, X, y, target=0.9)
        assert_equal(one.lines[0], count_below(y, said[:, 2]))
        assert one.ax_.get_xlabel() == "Predicted 90 % quantile"


def test_survival_at_a_time():
    model = fit("survival")[0]
    X, y, _ = make_rows("survival", seed=1)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    times = read_survival(y)
    display = CalibrationDisplay.from_estimator(model, X, y, time=2.0, sample_weight=weights)
    assert_equal(display.lines[0], count_survivors(times, model.predict(X), model.baseline_, 2.0, weights))
    assert display.ax_.get_xlabel() == "Predicted share without an event at time 2"
    assert display.ax_.get_xlim() == display.ax_.get_ylim() == (0.0, 1.0)
    middle = f"{np.median(times.time[times.event]):.4g}"
    assert CalibrationDisplay.from_estimator(model, X, y).ax_.get_xlabel().endswith(f"at time {middle}")


@pytest.mark.parametrize("target", [None, *NAMES])
def test_several_numbers(target):
    model, X, y, _ = fit("several")
    display = CalibrationDisplay.from_estimator(model, X, y, target=target)
    place = NAMES.index(target or NAMES[0])
    assert_equal(display.lines[0], count_means(y.to_numpy()[:, place], model.predict(X)[:, place]))
    assert display.axes[0] == f"Predicted {NAMES[place]}"
    assert display.ax_.get_xlabel() == f"Predicted {NAMES[place]}".replace("$", r"\$")


def test_bad_input():
    model, X, y, _ = fit("survival")
    with pytest.raises(InvalidInputError, match=r"`time` must be more than 0 and at most the latest, .*; got 99"):
        TenthsDisplay.from_estimator(model, X, y, time=99)
    with pytest.raises(InvalidInputError, match="`exposure`"):
        TenthsDisplay.from_estimator(model, X, y, exposure=np.ones(len(X)))
    model, X, y, _ = fit("huber")
    with pytest.raises(InvalidInputError, match="`time` is for survival times; leave it out for a RuleEnsembleReg"):
        TenthsDisplay.from_estimator(model, X, y, time=1.0)
    with pytest.raises(InvalidInputError, match=r"`exposure` needs .* loss='poisson', 'gamma'"):
        TenthsDisplay.from_estimator(model, X, y, exposure=np.ones(len(X)))


def test_classes_have_a_display_of_their_own(pima):
    X, y, model = pima
    with pytest.raises(InvalidInputError, match="TenthsDisplay is for numbers and times; take CalibrationDisplay"):
        TenthsDisplay.from_estimator(model, X, y)
