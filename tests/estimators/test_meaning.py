"""What terms say about a target, in words of a table; whole files are read in test_saved.py and test_model_file.py."""

import json

import numpy as np
import pytest

from rulegrove.design.terms import Linear
from rulegrove.estimators._checked_json import encode, parse
from rulegrove.estimators.baseline import Baseline
from rulegrove.estimators.meaning import (
    ClassMeaning,
    HazardMeaning,
    LevelMeaning,
    NumberMeaning,
    RateMeaning,
    SeveralMeaning,
    decode_loss,
)
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Condition, Rule
from target_kinds import KINDS, RATES, draw, make

RULE = Rule((Condition(0, upper=1.0),))
LINE = Linear(0, -1.0, 3.0, 0.5)


@pytest.mark.parametrize(
    ("coef", "speaks_for", "against"), [(2.0, "yes", False), (-2.0, "no", False), (0.0, "no", True)]
)
def test_a_term_of_two_classes_speaks_for_one_of_them(coef, speaks_for, against):
    meaning = ClassMeaning(np.array(["no", "yes"]), np.array([0.75, 0.25]))
    about = meaning.describe_term(RULE, np.array([coef]), np.array([0.4, 0.6]))
    assert about["speaks_for"] == speaks_for
    assert about["against"] is against
    assert about["coefficient"] == coef


def test_a_term_of_three_classes_speaks_for_the_strongest():
    meaning = ClassMeaning(np.arange(3), np.array([0.5, 0.3, 0.2]))
    about = meaning.describe_term(RULE, np.array([0.5, -2.0, 1.0]), np.array([0.1, 0.2, 0.7]))
    assert (about["speaks_for"], about["against"], about["coefficient"]) == (1, True, -2.0)
    assert about["confidence"] == pytest.approx(0.8)
    assert about["base_rate"] == pytest.approx(0.7)
    assert about["coefficients"] == {0: 0.5, 1: -2.0, 2: 1.0}


@pytest.mark.parametrize(
    ("meaning", "coefs", "effect", "linear"),
    [
        (RateMeaning(), [np.log(1.4)], "rate x 1.4", "rate x 3.84 from end to end"),
        (RateMeaning("gamma", 2.0), [np.log(0.5)], "amount x 0.5", "amount x 0.0625 from end to end"),
        (RateMeaning("tweedie", 1.5), [0.0], "rate x 1", "rate x 1 from end to end"),
        (HazardMeaning(), [np.log(2.1)], "hazard x 2.1", "hazard x 19.4 from end to end"),
        (LevelMeaning("absolute"), [-1.0], "-1 at the median", "-4 at the median, from end to end"),
        (
            LevelMeaning("quantile", (0.9,)),
            [3.2],
            "+3.2 at the 90 % quantile",
            "+12.8 at the 90 % quantile, from end to end",
        ),
        (
            LevelMeaning("quantile", (0.1, 0.5, 0.975)),
            [0.0, 1.0, 2.0],
            "+0 / +1 / +2 at the 10 / 50 / 97.5 % quantiles",
            "+0 / +4 / +8 at the 10 / 50 / 97.5 % quantiles, from end to end",
        ),
        (SeveralMeaning(("a", "b")), [0.5, -2.0], "a +0.5, b -2", "a +2, b -8, from end to end"),
        (SeveralMeaning(("a", "b")), [0.0, 3.0], "b +3", "b +12, from end to end"),
    ],
)
def test_effects_in_words(meaning, coefs, effect, linear):
    coefs = np.array(coefs)
    assert meaning.tell_effects(RULE, coefs)["effect"] == effect
    assert meaning.tell_effects(LINE, coefs)["effect"] == linear
    told = meaning.decode_term(RULE, coefs, None)
    assert told["effect"] == effect
    assert told["coefficient"] in coefs
    assert meaning.n_outputs == len(coefs)
    assert "3 rules" in meaning.introduce("3 rules")


@pytest.mark.parametrize("kind", KINDS)
def test_where_a_rule_holds_predictions_differ_by_what_its_words_say(kind):
    """One rule alone: the factor of a rate, and what is added to a number."""
    X, y = draw(kind)
    model = make(kind, rules=["x0 > 0"], n_candidates=0, terms="rules", max_terms=None).fit(X, y)
    [row] = model.rules_
    one, other = (model.predict(X[X[:, 0] > 0.0][:1]), model.predict(X[X[:, 0] <= 0.0][:1]))
    if kind in RATES or kind == "survival":
        assert row.factor == pytest.approx((one / other)[0])
        assert row.effect.endswith(f"x {row.factor:.3g}")
    else:
        told = [row.coefficient] if row.coefficients is None else list(row.coefficients.values())
        np.testing.assert_allclose(told, (one - other).ravel())


@pytest.mark.parametrize("kind", ["poisson", "gamma", "tweedie", "huber", "absolute", "quantile"])
def test_what_is_told_of_the_target_is_that_of_the_rows_where_a_rule_holds(kind):
    X, y = draw(kind)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    model = make(kind, rules=["x0 > 0"], force_rules=True, n_candidates=0, terms="rules", max_terms=None)
    [row] = model.fit(X, y, sample_weight=weights).rules_
    here = X[:, 0] > 0.0
    repeated = np.sort(np.repeat(y[here], weights[here].astype(int)))
    if kind in {"absolute", "quantile"}:
        level = 0.5 if kind == "absolute" else 0.8
        below, above = np.mean(repeated < row.mean_target - 1e-9), np.mean(repeated <= row.mean_target + 1e-9)
        assert below <= level <= above
    else:
        assert row.mean_target == pytest.approx(repeated.mean(), rel=1e-9)
    assert row.support == pytest.approx(weights[here].sum() / weights.sum())


MEANINGS = [
    NumberMeaning(),
    RateMeaning("tweedie", 1.3),
    LevelMeaning("absolute", (0.5,)),
    LevelMeaning("quantile", (0.1, 0.9)),
    SeveralMeaning(("a", "größe")),
]


@pytest.mark.parametrize("meaning", MEANINGS, ids=lambda own: type(own).__name__)
def test_there_and_back_through_a_file(meaning):
    told = json.dumps(meaning.encode() or {"loss": None}).encode()
    again = NumberMeaning.decode({"loss": parse(told, "model.json").fields(["loss"])["loss"]})
    assert type(again) is type(meaning)
    assert vars(again) == vars(meaning)


def test_the_hazard_goes_there_and_back():
    meaning = HazardMeaning(link=Baseline(np.array([1.0, 2.0]), np.array([0.5, 0.75])))
    value = parse(json.dumps(encode(meaning.encode())).encode(), "model.json").fields(["baseline"])
    again = HazardMeaning.decode(value)
    np.testing.assert_array_equal(again.baseline.hazards, [0.5, 0.75])
    nothing = HazardMeaning.decode(parse(b'{"baseline": null}', "model.json").fields(["baseline"]))
    assert nothing.baseline is None


@pytest.mark.parametrize(
    "told",
    [
        {"name": "cauchy"},
        {"name": "poisson", "power": 0.5},
        {"name": "poisson"},
        {"name": "quantile", "levels": []},
        {"name": "quantile", "levels": [0.9, 0.1]},
        {"name": "quantile", "levels": [0.5, 1.5]},
        {"name": "several", "names": ["a"]},
        {"name": "several", "names": ["a", "a"]},
        {"name": "several"},
    ],
)
def test_a_file_with_no_such_loss_is_refused(told):
    with pytest.raises(InvalidInputError, match=r"model\.json is not a valid model file"):
        decode_loss(parse(json.dumps(told).encode(), "model.json"))
