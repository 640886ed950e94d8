"""Figures in words: each is named, what cannot be told is a dash, and nothing is shown as nan."""

import numpy as np
import pytest

from rulegrove.estimators.figures import UNKNOWN, tell_held_out
from rulegrove.estimators.loss_figures import HazardFigures
from rulegrove.estimators.loss_judging import judge_levels, judge_rates, judge_several

Y = np.array([1.0, 2.0, 4.0, 1.0])
RATES = judge_rates(1.0, Y, np.log([1.5, 1.5, 3.0, 1.0]), None, base=2.0)
LEVELS = judge_levels((0.1, 0.5), Y, np.array([[1.0, 2.0]] * 4), None, base=np.array([0.5, 1.0]))
SEVERAL = judge_several(("a", "b"), np.column_stack([Y, Y**2]), np.column_stack([Y + 0.5, Y**2]))
CONSTANT = judge_several(("a", "b"), np.ones((4, 2)), np.ones((4, 2)))
HAZARDS = HazardFigures(100, True, False, 0.7123, 40)
NO_PAIR = HazardFigures(3, True, False, np.nan, 1)
ALL = [RATES, LEVELS, SEVERAL, CONSTANT, HAZARDS, NO_PAIR, judge_rates(2.0, Y, np.zeros(4), None, base=1.0)]


@pytest.mark.parametrize("figures", ALL, ids=lambda own: type(own).__name__)
def test_what_cannot_be_told_is_not_shown_as_a_number(figures):
    shown = [figures.words, tell_held_out(figures), *figures.table, *figures.table.values()]
    shown += [*figures.headlines, *figures.headlines.values()]
    assert not any("nan" in text or "np." in text for text in shown)
    assert figures.by_class is None
    assert figures.thin() is figures
    assert f"On {figures.n_rows} held-out rows: " in tell_held_out(figures)


def test_rates_in_words():
    assert RATES.words == (
        "explained deviance (D²) 76.9 %, mean deviance 0.1603 (of the mean rate 0.6931), mean rate 1.75 predicted, "
        "2 came true"
    )
    assert RATES.table["Mean rate predicted (came true)"] == "1.75 (2)"
    assert RATES.headlines == {
        "explained deviance (D²) held out": "76.9 %",
        "mean rate predicted held out; 2 came true": "1.75",
    }


def test_quantiles_in_words():
    assert "50.0 % of rows below the 10 % quantile, 75.0 % of rows below the median" in LEVELS.words
    assert LEVELS.table["Rows below the 10 % quantile"] == "50.0 %"
    assert LEVELS.headlines["of held-out rows below the median"] == "75.0 %"


def test_several_numbers_in_words():
    assert SEVERAL.words.startswith("mean R² 0.917; a: R² 0.833, root mean squared error 0.5 ")
    assert SEVERAL.table["R² of b"] == "1.000"
    assert SEVERAL.headlines == {
        "mean R² of 2 numbers held out": "0.917",
        "R² of a held out": "0.833",
        "R² of b held out": "1.000",
    }
    assert CONSTANT.table["Mean R²"] == UNKNOWN
    assert CONSTANT.headlines == {"mean R² of 2 numbers held out": UNKNOWN}
    one = judge_several(("a", "b"), np.column_stack([Y, np.ones(4)]), np.column_stack([Y + 0.5, np.ones(4)]))
    assert one.r2 == pytest.approx(5.0 / 6.0)  # of the number that varies


def test_hazards_in_words():
    assert HAZARDS.words == "concordance 0.712 (guessing: 0.5), 40 events"
    assert HAZARDS.table == {"Concordance (guessing: 0.5)": "0.712", "Events": "40"}
    assert NO_PAIR.words == "no pairs to compare, 1 event"
    assert NO_PAIR.headlines["concordance held out; guessing: 0.5"] == UNKNOWN
