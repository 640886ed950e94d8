"""The simulated candidates: which statistics inform, which repeat, which are noise, and how hard the problem is."""

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier

from rulegrove.datasets import (
    SUPERNOVA_INFORMATIVE,
    SUPERNOVA_REDUNDANT,
    SUPERNOVA_UNINFORMATIVE,
    make_supernova_candidates,
    supernova,
)
from rulegrove.datasets.pixel_statistics import magnitude
from rulegrove.exceptions import InvalidInputError


@pytest.fixture(scope="module")
def candidates():
    return make_supernova_candidates(1000, 1500, random_state=0)


@pytest.fixture(scope="module")
def column(candidates):
    return dict(zip(candidates.feature_names, candidates.X.T, strict=True))


def test_shape_and_labels(candidates):
    assert candidates.X.shape == (2500, 39)
    assert candidates.X.flags.c_contiguous
    assert np.isfinite(candidates.X).all()
    assert (candidates.y == 1).sum() == 1000
    assert (candidates.y == -1).sum() == 1500
    # Rows are mixed: neither half holds one class.
    assert 0.3 < np.mean(candidates.y[:1250] == 1) < 0.5


def test_every_statistic_has_exactly_one_role(candidates):
    roles = SUPERNOVA_INFORMATIVE + SUPERNOVA_REDUNDANT + SUPERNOVA_UNINFORMATIVE
    assert tuple(sorted(roles)) == candidates.feature_names
    assert len(set(roles)) == 39
    assert len(SUPERNOVA_REDUNDANT + SUPERNOVA_UNINFORMATIVE) >= 12


@pytest.mark.parametrize("name", SUPERNOVA_INFORMATIVE)
def test_informative_statistics_differ_between_the_classes(candidates, column, name):
    positive, negative = column[name][candidates.y == 1], column[name][candidates.y == -1]
    assert stats.ks_2samp(positive, negative).pvalue < 1e-4


@pytest.mark.parametrize("name", SUPERNOVA_UNINFORMATIVE)
def test_uninformative_statistics_do_not_differ(candidates, column, name):
    positive, negative = column[name][candidates.y == 1], column[name][candidates.y == -1]
    assert stats.ks_2samp(positive, negative).pvalue > 1e-3
    assert len(np.unique(column[name])) > 1


def test_uninformative_statistics_are_drawn_without_the_label():
    positive = make_supernova_candidates(60, 0, random_state=5)
    negative = make_supernova_candidates(0, 60, random_state=5)
    for k, name in enumerate(positive.feature_names):
        same = np.array_equal(positive.X[:, k], negative.X[:, k])
        assert same == (name in SUPERNOVA_UNINFORMATIVE), name


def test_redundant_statistics_follow_from_the_others(column):
    exact = {
        "diff_ellipticity": 1.0 - column["diff_axis_ratio"],
        "diff_log_snr": np.arcsinh(column["diff_snr"]),
        "diff_magnitude": magnitude(column["diff_flux"]),
        "new_magnitude": magnitude(column["new_flux"]),
        "reference_magnitude": magnitude(column["reference_flux"]),
        "magnitude_change": magnitude(column["new_flux"]) - magnitude(column["reference_flux"]),
    }
    noisy = {"diff_fwhm": (2.355 * column["diff_width"], 0.02), "diff_peak_again": (column["diff_peak"], 0.03)}
    assert {*exact, *noisy} == set(SUPERNOVA_REDUNDANT)
    for name, values in exact.items():
        np.testing.assert_array_equal(column[name], values)
    for name, (values, level) in noisy.items():
        assert np.std(column[name] / values - 1.0) == pytest.approx(level, rel=0.1)


@pytest.mark.parametrize("batch_rows", [1, 7, 64])
def test_result_does_not_depend_on_the_batches(monkeypatch, batch_rows):
    whole = make_supernova_candidates(30, 90, random_state=2)
    monkeypatch.setattr(supernova, "_BATCH_ROWS", batch_rows)
    parts = make_supernova_candidates(30, 90, random_state=2)
    np.testing.assert_array_equal(parts.X, whole.X)
    np.testing.assert_array_equal(parts.y, whole.y)


def test_seed_decides():
    first, again = (make_supernova_candidates(20, 20, random_state=1) for _ in range(2))
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.X, make_supernova_candidates(20, 20, random_state=2).X)
    rng = np.random.default_rng(1)
    np.testing.assert_array_equal(first.X, make_supernova_candidates(20, 20, random_state=rng).X)
    assert not np.array_equal(first.X, make_supernova_candidates(20, 20, random_state=rng).X)


def test_problem_is_neither_trivial_nor_hopeless(candidates):
    train, test = slice(0, 1500), slice(1500, None)
    forest = RandomForestClassifier(60, random_state=0).fit(candidates.X[train], candidates.y[train])
    error = 1.0 - forest.score(candidates.X[test], candidates.y[test])
    assert 0.02 < error < 0.10


@pytest.mark.parametrize(("n_positive", "n_negative"), [(-1, 5), (5, 1.5), ("5", 5)])
def test_counts_must_be_integers(n_positive, n_negative):
    with pytest.raises(InvalidInputError, match="must be an integer of at least 0"):
        make_supernova_candidates(n_positive, n_negative)


def test_nothing_to_simulate_is_an_error():
    with pytest.raises(InvalidInputError, match="both 0"):
        make_supernova_candidates(0, 0)
