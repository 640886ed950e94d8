"""Rows against dense matrices."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.columns import Columns, Feature
from rulegrove.design import _kernels
from rulegrove.design.bits import BitMatrix, compile_rules
from rulegrove.design.linear import fit_linear_terms
from rulegrove.design.rows import Rows, collect_rows
from rulegrove.design.statistics import collect_statistics
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import Logistic, Ramp, Squared
from rulegrove.rules.rule import Condition, Rule


def draw(seed, n_rows=150, n_rules=7, n_linear=2, weighting="one"):
    rng = np.random.default_rng(seed)
    rules = (rng.random((n_rows, n_rules)) < 0.3).astype(float)
    linear = rng.normal(size=(n_rows, n_linear))
    y = rng.choice([-1.0, 1.0], n_rows)
    weights = {
        "one": None,
        "zeros": rng.choice([0.0, 1.0], n_rows),
        "equal": rng.choice([0.0, 0.3], n_rows),
        "any": rng.uniform(0.0, 2.0, n_rows),
    }[weighting]
    dense = np.hstack([rules, linear])
    return Rows.from_dense(rules, linear, y, weights), dense, y, np.ones(n_rows) if weights is None else weights


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(1, 300),
    n_rules=st.integers(0, 9),
    n_linear=st.integers(0, 3),
    weighting=st.sampled_from(["one", "zeros", "equal", "any"]),
)
def test_rows_are_the_dense_matrix(seed, n_rows, n_rules, n_linear, weighting):
    rows, dense, y, weights = draw(seed, n_rows, n_rules, n_linear, weighting)
    rng = np.random.default_rng(seed)
    assert rows.n_terms == n_rules + n_linear
    assert rows.weight == pytest.approx(weights.sum())
    coef = rng.normal(size=rows.n_terms) * (rng.random(rows.n_terms) < 0.7)
    np.testing.assert_allclose(rows.scores(coef, 0.3)[:n_rows], 0.3 + dense @ coef, atol=1e-12)
    values = rng.normal(size=rows.bits.n_rows)
    np.testing.assert_allclose(rows.sums(values), dense.T @ values[:n_rows], atol=1e-11)
    moments = rows.moments()
    np.testing.assert_allclose(moments.gram, (dense.T * weights) @ dense, atol=1e-9)
    np.testing.assert_allclose(moments.x_sum, weights @ dense, atol=1e-10)
    np.testing.assert_allclose(moments.x_y[:, 0], dense.T @ (weights * y), atol=1e-10)
    np.testing.assert_allclose(
        [moments.weight, moments.y_sum[0], moments.y_y[0]], [weights.sum(), weights @ y, weights @ y**2], atol=1e-10
    )
    other = rng.uniform(0.1, 1.0, rows.bits.n_rows) * rows.weights
    np.testing.assert_allclose(rows.moments(other).gram, (dense.T * other[:n_rows]) @ dense, atol=1e-9)


@pytest.mark.parametrize("weighting", ["one", "any"])
def test_risks_are_mean_losses(weighting):
    rows, dense, y, weights = draw(3, weighting=weighting)
    rng = np.random.default_rng(1)
    coefs, intercepts = rng.normal(size=(4, 9)) * (rng.random((4, 9)) < 0.5), rng.normal(size=4)
    kept, left_out = rows.hold_out(64, 128)
    inside = np.zeros(150, dtype=bool)
    inside[64:128] = True
    for loss in (Squared(), Ramp(), Logistic()):
        values = loss.value(y, intercepts[:, None] + coefs @ dense.T)
        for part, chosen in ((rows, np.ones(150, dtype=bool)), (kept, ~inside), (left_out, inside)):
            expected = np.average(values[:, chosen], axis=1, weights=weights[chosen])
            np.testing.assert_allclose(part.risks(loss, coefs, intercepts), expected)


def test_held_out_rows_share_the_bits():
    rows, *_ = draw(0)
    kept, left_out = rows.hold_out(0, 64)
    assert kept.bits is rows.bits is left_out.bits
    np.testing.assert_array_equal(kept.weights + left_out.weights, rows.weights)
    assert np.bitwise_count(kept.counted).sum() == 150 - 64
    assert rows.weights[:64].all(), "the rows themselves must not change"


def test_some_terms():
    rows, dense, *_ = draw(5)
    terms = np.array([1, 4, 7])
    coef = np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(rows.take(terms).scores(coef, 0.0)[:150], dense[:, terms] @ coef)


@pytest.mark.parametrize("weighted", [False, True])
def test_collected_rows_have_the_statistics_of_the_table(weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = rng.choice([-1.0, 1.0], 500)
    weights = rng.uniform(0.5, 2.0, 500) if weighted else None
    folds = rng.integers(-1, 3, 500)
    rules = tuple(Rule((Condition(k % 3, upper=float(rng.normal())),)) for k in range(6))
    linear = fit_linear_terms(X.T, None, np.zeros(3, dtype=np.int64))
    columns = Columns([Feature(f"x{k}") for k in range(3)], X)
    program = compile_rules(rules, 3)
    statistics = collect_statistics(columns, program, linear, y[:, None], folds, weights=weights)
    rows, targets, starts = collect_rows(columns, program, linear, np.column_stack([y, -y]), folds, weights)
    np.testing.assert_array_equal(targets, np.column_stack([rows.y, -rows.y]))
    assert (starts % 64 == 0).all()
    for fold in range(3):
        for part, expected in zip(
            rows.hold_out(int(starts[fold]), int(starts[fold + 1])),
            (statistics.moments() - statistics.fold_moments(fold), statistics.fold_moments(fold)),
            strict=True,
        ):
            moments = part.moments()
            np.testing.assert_allclose(moments.gram, expected.gram, atol=1e-10)
            np.testing.assert_allclose(moments.x_y, expected.x_y, atol=1e-10)
            assert moments.weight == pytest.approx(expected.weight)


@pytest.mark.kernel
@pytest.mark.parametrize("n_words", [1, 31, 32, 70])
def test_sums_of_one_column(n_words):
    rng = np.random.default_rng(n_words)
    words = rng.integers(0, 2**64, (5, n_words), dtype=np.uint64)
    values = rng.normal(size=64 * n_words)
    sums = np.empty(7)
    _kernels.sum_rows(words, values, sums)
    expected = BitMatrix(words, 64 * n_words).to_dense().astype(float).T @ values
    np.testing.assert_allclose(sums[:5], expected, atol=1e-11)


@pytest.mark.parametrize(
    "change", [{"y": np.zeros(63)}, {"bits": BitMatrix(np.zeros((1, 1), dtype=np.uint64), 60)}], ids=["y", "bits"]
)
def test_rows_come_in_whole_words(change):
    fields = {
        "bits": BitMatrix(np.zeros((1, 1), dtype=np.uint64), 64),
        "linear": np.zeros((64, 0)),
        "y": np.zeros(64),
        "weights": np.ones(64),
    }
    with pytest.raises(InvalidInputError, match="whole words of 64"):
        Rows(**(fields | change))


BAD_VALUES = pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("weights", -1.0, "negative"),
        ("weights", np.inf, "finite"),
        ("y", np.nan, "finite"),
        ("linear", np.inf, "finite"),
    ],
)


@BAD_VALUES
def test_dense_rows_with_bad_values_are_refused(name, value, message):
    arrays = {"linear": np.zeros((70, 2)), "y": np.zeros(70), "weights": np.ones(70)}
    arrays[name].flat[-1] = value
    with pytest.raises(InvalidInputError, match=message):
        Rows.from_dense(np.zeros((70, 3)), **arrays)


@BAD_VALUES
def test_bad_values_of_a_table_are_refused(name, value, message):
    """Of every output, not only of the first one, which the rows begin with."""
    X, y, weights = np.random.default_rng(0).normal(size=(70, 2)), np.zeros((70, 2)), np.ones(70)
    linear = fit_linear_terms(X.T, None, np.zeros(2, dtype=np.int64))
    program = compile_rules((Rule((Condition(0, upper=0.0),)),), 2)
    if name == "linear":
        linear = replace(linear, scale=np.array([1.0, value]))
    else:
        {"y": y, "weights": weights}[name].flat[-1] = value
    columns = Columns([Feature("a"), Feature("b")], X)
    with pytest.raises(InvalidInputError, match=message):
        collect_rows(columns, program, linear, y, np.zeros(70, dtype=np.int64), weights)
