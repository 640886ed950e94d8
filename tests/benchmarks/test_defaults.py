"""The designed experiment: its array, and the effects read from it."""

import itertools
from collections import Counter

import pytest
from benchmarks.defaults import FACTORS, design, effects, make_model


def test_every_level_meets_every_level_of_each_other_factor_equally_often():
    settings = design()
    assert len(settings) == 27
    for one, other in itertools.combinations(FACTORS, 2):
        pairs = Counter((setting[one], setting[other]) for setting in settings)
        assert len(pairs) == 9
        assert set(pairs.values()) == {3}


def test_effects_add_up():
    """Where effects add up, the means of the levels differ by them, whatever the other factors do."""
    lines = []
    for number, setting in enumerate(design()):
        shift = 10.0 * (setting["n_candidates"] == 600) - 1.0 * (setting["max_bins"] == 255)
        told = {name: "" if level is None else str(level) for name, level in setting.items()}
        measured = {"error": str(20 + shift), "log_loss": "0.5", "terms": "8", "seconds": "2"}
        lines.append({"setting": str(number), "problem": "any", **told, **measured})
    rows = effects(lines).splitlines()
    assert "| n_candidates | 600 | 29.67 | 0.500 | 8 | 2.00 |" in rows
    assert "| n_candidates | 4000 | 19.67 | 0.500 | 8 | 2.00 |" in rows
    assert "| max_bins | 255 | 22.33 | 0.500 | 8 | 2.00 |" in rows
    assert "| max_features | None | 23.00 | 0.500 | 8 | 2.00 |" in rows


@pytest.mark.parametrize("number", range(27))
def test_every_setting_makes_a_model(number):
    model = make_model(design()[number], n_rows=400)
    model._validate_params()
    assert model.subsample in (220, 0.5, 0.8)
