"""The waveform generator against its formula and against the UCI sample."""

import csv
from pathlib import Path

import numpy as np
import pytest

from rulegrove.datasets import make_waveform
from rulegrove.exceptions import InvalidInputError

UCI = Path(__file__).resolve().parents[3] / "shared" / "data" / "waveform.csv"


def waves():
    i = np.arange(1, 22)
    return [np.maximum(6.0 - np.abs(i - peak), 0.0) for peak in (7, 15, 11)]


def test_shape_names_and_decimals():
    dataset = make_waveform(500, random_state=3)
    assert dataset.X.shape == (500, 21)
    assert dataset.feature_names[0] == "x01"
    assert dataset.feature_names[-1] == "x21"
    assert set(dataset.y.tolist()) == {0, 1, 2}
    np.testing.assert_array_equal(dataset.X, np.round(dataset.X, 2))


@pytest.mark.parametrize(("label", "first", "second"), [(0, 0, 1), (1, 0, 2), (2, 1, 2)])
def test_moments_follow_the_formula(label, first, second):
    dataset = make_waveform(30_000, random_state=0)
    a, b = waves()[first], waves()[second]
    rows = dataset.X[dataset.y == label]
    # u has mean 1/2 and variance 1/12 (1002/1000 of it for a thousand steps, too little to see).
    variance = 1.0 + (a - b) ** 2 / 12.0
    standard_error = np.sqrt(variance / len(rows))
    assert np.all(np.abs(rows.mean(axis=0) - (a + b) / 2.0) < 5.0 * standard_error)
    np.testing.assert_allclose(np.cov(rows.T), np.eye(21) + np.outer(a - b, a - b) / 12.0, atol=0.15)


def test_classes_are_equally_likely():
    counts = np.bincount(make_waveform(30_000, random_state=0).y)
    assert np.all(np.abs(counts - 10_000) < 5.0 * np.sqrt(30_000 * 2.0 / 9.0))


def test_uci_sample_has_the_same_distribution():
    if not UCI.exists():
        pytest.skip("no UCI sample at hand: ../shared/data is absent")
    with UCI.open(newline="") as file:
        table = np.array(list(csv.reader(file))[1:], dtype=float)
    ours = make_waveform(20_000, random_state=0)
    for label in range(3):
        theirs, drawn = table[table[:, -1] == label, :-1], ours.X[ours.y == label]
        standard_error = np.sqrt(theirs.var(axis=0) / len(theirs) + drawn.var(axis=0) / len(drawn))
        assert np.all(np.abs(theirs.mean(axis=0) - drawn.mean(axis=0)) < 4.5 * standard_error)
        np.testing.assert_allclose(np.cov(theirs.T), np.cov(drawn.T), atol=0.3)


def test_seed_and_generator_decide():
    first = make_waveform(50, random_state=7)
    np.testing.assert_array_equal(first.X, make_waveform(50, random_state=7).X)
    np.testing.assert_array_equal(first.X, make_waveform(50, random_state=np.random.default_rng(7)).X)
    assert not np.array_equal(first.X, make_waveform(50, random_state=8).X)


@pytest.mark.parametrize("n_rows", [0, -5, 2.5, "10", None, True])
def test_count_must_be_a_positive_integer(n_rows):
    with pytest.raises(InvalidInputError, match="`n_rows` must be an integer of at least 1"):
        make_waveform(n_rows)
