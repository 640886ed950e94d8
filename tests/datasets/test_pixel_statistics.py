"""The statistics against other ways to compute them, and on images whose answer is known."""

import numpy as np
import pytest
from scipy import ndimage, stats

from rulegrove.datasets.pixel_statistics import _robust_sigma, magnitude, measure
from rulegrove.datasets.stamps import STAMP, Stamps, gaussian_profiles

CENTER = STAMP // 2
NEAR = slice(CENTER - 3, CENTER + 4)
WIDE = slice(CENTER - 6, CENTER + 7)
SEEING = np.full(6, 1.3)


@pytest.fixture
def stamps():
    rng = np.random.default_rng(0)
    images = rng.normal(size=(3, 6, STAMP, STAMP)).astype(np.float32)
    images[1:, :, CENTER, CENTER] += 20.0
    return Stamps(*images)


def source(x, y, width_x, width_y):
    rows = gaussian_profiles(np.array([y]), np.array([width_y]), STAMP)
    columns = gaussian_profiles(np.array([x]), np.array([width_x]), STAMP)
    return rows[:, :, None] * columns[:, None, :]


def measure_one(difference):
    """Statistics of one difference image over a little noise."""
    noise = np.random.default_rng(1).normal(size=(1, STAMP, STAMP)).astype(np.float32)
    empty = np.zeros((1, STAMP, STAMP), dtype=np.float32)
    image = (difference + noise).astype(np.float32)
    return {name: value[0] for name, value in measure(Stamps(empty, image, image), SEEING[:1]).items()}


def test_counts_and_sums_equal_plain_loops(stamps):
    statistics = measure(stamps, SEEING)
    distance = np.hypot(*np.meshgrid(np.arange(STAMP) - CENTER, np.arange(STAMP) - CENTER))
    border = np.ones((STAMP, STAMP), dtype=bool)
    border[3:-3, 3:-3] = False
    for k in range(6):
        sigma = _robust_sigma(stamps.difference[k][border][None])[0]
        scaled = stamps.difference[k] / sigma
        near, wide = scaled[NEAR, NEAR], scaled[WIDE, WIDE]
        excess = ndimage.convolve(stamps.new[k], np.array([[0, -0.25, 0], [-0.25, 1, -0.25], [0, -0.25, 0]]))
        expected = {
            "diff_flux": stamps.difference[k][distance <= 4].sum(),
            "new_flux": stamps.new[k][distance <= 4].sum(),
            "reference_flux": stamps.reference[k][distance <= 4].sum(),
            "diff_peak": near.max(),
            "diff_minimum": near.min(),
            "diff_negative_near": (near < -2).sum(),
            "diff_negative_wide": (wide < -3).sum(),
            "diff_sign_balance": near.sum() / np.abs(near).sum(),
            "diff_kurtosis": stats.kurtosis(wide, axis=None, fisher=False),
            "diff_column_median": np.abs(np.median(scaled[:, NEAR], axis=0)).max(),
            "diff_border_mean": scaled[border].mean(),
            "diff_asymmetry": np.abs(near - np.rot90(near, 2)).sum() / np.abs(near).sum(),
            "new_laplacian": excess[NEAR, NEAR].max() / sigma,
            "new_half_maximum": (stamps.new[k][WIDE, WIDE] > 0.5 * stamps.new[k][WIDE, WIDE].max()).sum(),
            "reference_peak_distance": distance[WIDE, WIDE].flat[stamps.reference[k][WIDE, WIDE].argmax()],
        }
        for name, value in expected.items():
            assert statistics[name][k] == pytest.approx(value, rel=2e-4, abs=1e-5), name


def test_bright_point_source_is_round_and_fits():
    statistics = measure_one(2000.0 * source(0.3, -0.2, 1.3, 1.3))
    assert statistics["diff_axis_ratio"] > 0.95
    assert statistics["diff_sharpness"] == pytest.approx(1.0, abs=0.1)
    # A matched filter's signal to noise: flux / (sqrt(4 pi) width), over noise of level one.
    assert statistics["diff_snr"] == pytest.approx(2000.0 / (np.sqrt(4.0 * np.pi) * 1.3), rel=0.1)
    assert statistics["diff_psf_misfit"] < 2.5
    assert statistics["diff_negative_near"] == 0
    assert statistics["diff_peak_offset"] == 0.0


def test_shape_tells_elongation_and_size():
    round_, long = measure_one(3000.0 * source(0, 0, 1.3, 1.3)), measure_one(3000.0 * source(0, 0, 2.4, 1.0))
    assert long["diff_axis_ratio"] < 0.65 < round_["diff_axis_ratio"]
    assert long["diff_width"] > 1.2 * round_["diff_width"]
    assert long["diff_psf_misfit"] > 10.0 * round_["diff_psf_misfit"]


def test_turning_the_stamp_keeps_the_shape(stamps):
    upright = measure(stamps, SEEING)
    turned = measure(Stamps(*(np.rot90(images, axes=(1, 2)).copy() for images in stamps)), SEEING)
    for name in ("diff_axis_ratio", "diff_width", "diff_snr", "diff_asymmetry", "diff_flux"):
        np.testing.assert_allclose(turned[name], upright[name], rtol=1e-3, atol=1e-3)


def test_dipole_has_two_signs():
    statistics = measure_one(3000.0 * (source(-1, 0, 1.3, 1.3) - source(1, 0, 1.3, 1.3)))
    assert abs(statistics["diff_sign_balance"]) < 0.1
    assert statistics["diff_asymmetry"] > 1.9
    assert statistics["diff_negative_near"] > 10


def test_empty_images_give_finite_statistics():
    empty = np.zeros((2, STAMP, STAMP), dtype=np.float32)
    with np.errstate(invalid="ignore"):
        statistics = measure(Stamps(empty, empty, empty), SEEING[:2])
    undefined = {name for name, values in statistics.items() if not np.isfinite(values).all()}
    assert undefined <= {"diff_kurtosis", "diff_sign_balance", "diff_asymmetry"}  # ratios to an exact zero


def test_magnitude_falls_with_flux_and_takes_any_sign():
    flux = np.array([-50.0, 0.0, 50.0, 5000.0])
    values = magnitude(flux)
    assert np.all(np.diff(values) < 0.0)
    assert values[1] == 0.0
    # Far above the noise it is the usual magnitude: a hundred times the flux is five magnitudes.
    np.testing.assert_allclose(magnitude(np.array([1e4]))[0] - magnitude(np.array([1e6]))[0], 5.0, atol=1e-4)
