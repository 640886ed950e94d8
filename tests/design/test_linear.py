import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.design import linear
from rulegrove.design.linear import fit_linear_terms, keep_strongest


def fit_one(values, weights=None, **options):
    """Terms of a table with one numeric attribute."""
    block = np.asarray(values, dtype=np.float64)[None]
    return fit_linear_terms(block, weights, np.zeros(1, dtype=np.int64), **options)


def test_terms_weigh_as_much_as_a_rule():
    rng = np.random.default_rng(0)
    values = rng.standard_t(2, size=5_000)
    terms = fit_one(values)
    column = terms.evaluate(values[None])
    assert column.shape == (5_000, 1)
    assert column.flags.c_contiguous
    assert column.mean() == pytest.approx(0.0, abs=1e-12)
    assert column.std() == pytest.approx(0.4)
    assert terms.lower[0] == np.quantile(values, 0.025, method="inverted_cdf")
    assert terms.upper[0] == np.quantile(values, 0.975, method="inverted_cdf")


def test_which_attributes_qualify():
    block = np.array(
        [
            [0.0, 1.0, 2.0, 3.0, 4.0],
            [0.0, 1.0, 1.0, 0.0, np.nan],  # two values: a rule already
            [5.0, 5.0, 5.0, 5.0, 5.0],
            [0.0, 1.0, 2.0, 3.0, 4.0],  # categorical
            [np.nan, np.nan, np.nan, np.nan, np.nan],
            [1e308, -1e308, 0.0, 1e308, -1e308],  # the variance overflows
            [np.nan, 7.0, 8.0, 9.5, np.nan],
        ]
    )
    terms = fit_linear_terms(block, None, np.array([0, 0, 0, 5, 0, 0, 0]))
    np.testing.assert_array_equal(terms.features, [0, 6])
    assert terms.n_terms == 2
    assert terms.center[1] == pytest.approx(np.mean([7.0, 8.0, 9.5]))


@pytest.mark.parametrize("weighted", [False, True])
def test_attributes_fitted_together_are_those_fitted_alone(weighted, monkeypatch):
    """To the last bit, however many values they miss."""
    monkeypatch.setattr(linear, "_CHUNK_VALUES", 7 * 90)
    rng = np.random.default_rng(0)
    block = rng.standard_t(2, size=(20, 90))
    block[5:][rng.random((15, 90)) < 0.03] = np.nan
    weights = rng.integers(0, 3, 90).astype(float) if weighted else None
    together = fit_linear_terms(block, weights, np.zeros(20, dtype=np.int64), n_threads=2)
    np.testing.assert_array_equal(together.features, np.arange(20))
    alone = linear.join_linear([fit_one(values, weights) for values in block])
    for name in ("lower", "upper", "center", "scale"):
        np.testing.assert_array_equal(getattr(together, name), getattr(alone, name))


def test_no_attribute_qualifies():
    terms = fit_one([1.0, 1.0, 2.0])
    assert terms.n_terms == 0
    assert terms.evaluate(np.empty((0, 4))).shape == (4, 0)


def test_missing_is_exactly_zero_and_outliers_stop_at_the_bounds():
    terms = fit_one(np.arange(100.0))
    column = terms.evaluate(np.array([[np.nan, np.inf, -np.inf, 1e300, -1e300]]))[:, 0]
    top, bottom = terms.evaluate(np.array([[terms.upper[0], terms.lower[0]]]))[:, 0]
    np.testing.assert_array_equal(column, [0.0, top, bottom, top, bottom])


@pytest.mark.parametrize("rare", [[1.0, 2.0], [1.0] * 40 + [2.0]])
def test_mostly_zero_falls_back_to_the_extremes(rare):
    """Whether the two quantiles coincide or leave two values only, the whole range is kept."""
    terms = fit_one([0.0] * 958 + rare)
    assert (terms.lower[0], terms.upper[0]) == (0.0, 2.0)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 3)), min_size=1, max_size=40),
    st.sampled_from([0.0, 0.025, 0.1, 0.3]),
)
def test_a_weight_is_a_number_of_repeats(pairs, quantile):
    values, repeats = (np.array(part, dtype=np.float64) for part in zip(*pairs, strict=True))
    weighted = fit_one(values, repeats, quantile=quantile)
    repeated = fit_one(np.repeat(values, repeats.astype(int)), quantile=quantile)
    assert weighted.n_terms == repeated.n_terms
    np.testing.assert_array_equal(weighted.lower, repeated.lower)
    np.testing.assert_array_equal(weighted.upper, repeated.upper)
    np.testing.assert_allclose(weighted.center, repeated.center, atol=1e-12)
    np.testing.assert_allclose(weighted.scale, repeated.scale, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_strongest_terms_are_those_of_the_largest_correlation(weighted, monkeypatch):
    monkeypatch.setattr(linear, "_CHUNK_TERMS", 5)
    rng = np.random.default_rng(0)
    block, weights = rng.normal(size=(23, 200)), rng.integers(1, 4, 200).astype(float) if weighted else None
    targets = np.column_stack([block[7] + block[19] + 0.1 * rng.normal(size=200), -block[2] + rng.normal(size=200)])
    terms = fit_linear_terms(block, weights, np.zeros(23, dtype=np.int64))
    kept = keep_strongest(terms, block, targets, weights, 6)
    repeats = np.ones(200, dtype=int) if weights is None else weights.astype(int)
    X, y = np.repeat(terms.evaluate(block), repeats, axis=0), np.repeat(targets, repeats, axis=0)
    correlations = np.abs(np.corrcoef(X.T, y.T)[:23, 23:]).max(axis=1)
    np.testing.assert_array_equal(kept.features, np.sort(np.argsort(-correlations)[:6]))
    np.testing.assert_array_equal(kept.center, terms.center[kept.features])
    assert keep_strongest(terms, block, targets, weights, 23) is terms
