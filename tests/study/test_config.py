"""The protocols of the paper and the quick study."""

import pytest

from rulegrove.study import make_config


def test_quick_has_fewer_of_everything():
    full, quick = make_config(), make_config(quick=True)
    for name in ("n_repetitions", "n_cross_validations", "n_bagged", "n_default_candidates", "n_steps"):
        assert getattr(quick, name) < getattr(full, name), name
    for name in ("leaves", "rule_counts", "thresholds", "flipped"):
        assert set(getattr(quick, name)) < set(getattr(full, name)), name


def test_full_study_follows_the_protocols_of_the_paper():
    config = make_config()
    assert (config.n_positive, config.n_negative, config.n_training) == (5000, 19988, 2500)
    assert (config.n_repetitions, config.n_cross_validations) == (10, 5)
    assert (config.n_bagged, config.n_boosted) == (1000, 50)
    assert len(config.fit_weights) == 13
    assert {0.11, 0.19, 0.25} <= set(config.fit_weights)
    assert (config.leaves[0], config.leaves[-1]) == (5, 80)
    assert (config.rule_counts[0], config.rule_counts[-1]) == (100, 1000)


@pytest.mark.parametrize("quick", [False, True])
def test_words_tell_the_mode(quick):
    assert make_config(quick=quick).words.startswith("QUICK" if quick else "Full")


def test_a_table_is_named_by_its_content(tmp_path):
    one, other = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write_text("x")
    other.write_text("y")
    assert make_config(autoscan=one).table != make_config(autoscan=other).table
    assert make_config().table == "simulation"
