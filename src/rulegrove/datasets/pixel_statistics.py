"""Statistics of the stamps of supernova candidates: distribution of the pixels, shape and colour."""

import numpy as np
import numpy.typing as npt

from rulegrove._typing import FloatArray, IntArray
from rulegrove.datasets.stamps import STAMP, Images, Stamps, gaussian_profiles

_Flat = npt.NDArray[np.float32]  # (n_candidates, pixels)

_PIXELS = np.arange(STAMP) - STAMP // 2
_ROW, _COLUMN = (grid.ravel() for grid in np.meshgrid(_PIXELS, _PIXELS, indexing="ij"))
_RADIUS = np.hypot(_ROW, _COLUMN)
_REACH = np.maximum(np.abs(_ROW), np.abs(_COLUMN))
_APERTURE = np.flatnonzero(_RADIUS <= 4.0)
_CORE = np.flatnonzero(_REACH <= 1)
_NEAR = np.flatnonzero(_REACH <= 3)
_WIDE = np.flatnonzero(_REACH <= 6)
_WINDOW_WIDTH = 2.5
_WINDOW = np.exp(-0.5 * (_RADIUS[_NEAR] / _WINDOW_WIDTH) ** 2).astype(np.float32)
_BORDER = np.flatnonzero(_REACH >= 8)


def measure(stamps: Stamps, seeing: FloatArray) -> dict[str, FloatArray]:
    """Compute the statistics that come from the images, by name; `seeing` is that of the new exposure in pixels."""
    reference, new, difference = (images.reshape(len(images), -1) for images in stamps)
    sigma = _robust_sigma(_select(difference, _BORDER))
    scaled = difference / sigma[:, None]
    statistics = {
        **_brightness(reference, new, difference, sigma),
        **_distribution(scaled),
        **_shape(scaled, seeing),
        "new_laplacian": _sharpest_pixel(stamps.new, sigma),
        "new_half_maximum": np.count_nonzero(
            _select(new, _WIDE) > 0.5 * _select(new, _WIDE).max(axis=1, keepdims=True), axis=1
        ),
        "reference_peak_distance": _RADIUS[_WIDE][np.argmax(_select(reference, _WIDE), axis=1)],
    }
    return {name: np.asarray(values, dtype=np.float64) for name, values in statistics.items()}


def magnitude(flux: FloatArray) -> FloatArray:
    """Turn a flux into an asinh magnitude, which unlike a logarithm takes the fluxes near and below zero too."""
    return np.asarray(-2.5 / np.log(10.0) * np.arcsinh(flux / 20.0))


def _select(images: _Flat, pixels: IntArray) -> _Flat:
    """Take some pixels of each image, one image after the other in memory.

    Fancy indexing would lay them out pixel after pixel, and how sums round would depend on the number of images.
    """
    return np.take(images, pixels, axis=1)


def _robust_sigma(values: _Flat) -> _Flat:
    """Estimate the standard deviation of the noise from the quartiles, which a trail or a neighbour moves little."""
    low, high = np.percentile(values, (25, 75), axis=1).astype(np.float32)
    return np.asarray(np.maximum((high - low) / np.float32(1.349), np.float32(0.05)))


def _brightness(reference: _Flat, new: _Flat, difference: _Flat, sigma: _Flat) -> dict[str, npt.NDArray[np.floating]]:
    """Fluxes in the aperture, and the colour: how the brightness of the core changed between the exposures."""
    core_new, core_reference = _select(new, _CORE).mean(axis=1), _select(reference, _CORE).mean(axis=1)
    return {
        "diff_flux": _select(difference, _APERTURE).sum(axis=1),
        "new_flux": _select(new, _APERTURE).sum(axis=1),
        "reference_flux": _select(reference, _APERTURE).sum(axis=1),
        "colour_core": np.arcsinh(core_new / sigma) - np.arcsinh(core_reference / sigma),
    }


def _distribution(scaled: _Flat) -> dict[str, npt.NDArray[np.generic]]:
    """How the pixels of the difference are distributed, in units of its noise."""
    near, wide = _select(scaled, _NEAR), _select(scaled, _WIDE)
    centred = wide - wide.mean(axis=1, keepdims=True)
    squares = centred * centred
    peak = np.argmax(near, axis=1)
    columns = np.abs(np.median(scaled.reshape(-1, STAMP, STAMP)[:, :, STAMP // 2 - 3 : STAMP // 2 + 4], axis=1))
    return {
        "diff_peak": near.max(axis=1),
        "diff_peak_offset": _RADIUS[_NEAR][peak],
        "diff_minimum": near.min(axis=1),
        "diff_negative_near": np.count_nonzero(near < -2.0, axis=1),
        "diff_negative_wide": np.count_nonzero(wide < -3.0, axis=1),
        "diff_sign_balance": near.sum(axis=1) / np.abs(near).sum(axis=1),
        "diff_kurtosis": (squares * squares).mean(axis=1) / squares.mean(axis=1) ** 2,
        "diff_column_median": columns.max(axis=1),
        "diff_border_mean": _select(scaled, _BORDER).mean(axis=1),
    }


def _shape(scaled: _Flat, seeing: FloatArray) -> dict[str, npt.NDArray[np.floating]]:
    """Second moments of the difference, its symmetry, and how well a point source fits."""
    near = _select(scaled, _NEAR)
    weight = np.maximum(near, np.float32(0.0)) * _WINDOW + np.float32(1e-6)
    row, column = _ROW[_NEAR].astype(np.float32), _COLUMN[_NEAR].astype(np.float32)
    total = weight.sum(axis=1)
    mean_row, mean_column = (weight * row).sum(axis=1) / total, (weight * column).sum(axis=1) / total
    off_row, off_column = row - mean_row[:, None], column - mean_column[:, None]
    row_row = (weight * off_row * off_row).sum(axis=1) / total
    column_column = (weight * off_column * off_column).sum(axis=1) / total
    row_column = (weight * off_row * off_column).sum(axis=1) / total
    middle = 0.5 * (row_row + column_column)
    spread = np.hypot(0.5 * (row_row - column_column), row_column)
    major = np.sqrt(middle + spread)
    minor = np.sqrt(np.maximum(middle - spread, 0.0))

    # The window draws the centroid of a point source towards the centre, by a factor known for Gaussians.
    undrawn = 1.0 + (seeing / _WINDOW_WIDTH) ** 2
    rows = gaussian_profiles(mean_row * undrawn, seeing, STAMP)
    columns = gaussian_profiles(mean_column * undrawn, seeing, STAMP)
    model = _select((rows[:, :, None] * columns[:, None, :]).reshape(len(scaled), -1), _NEAR)
    model_square = (model * model).sum(axis=1)
    flux = (near * model).sum(axis=1) / model_square
    misfit = near - flux[:, None] * model
    return {
        "diff_width": major / seeing,
        "diff_axis_ratio": minor / major,
        "diff_asymmetry": np.abs(near - near[:, ::-1]).sum(axis=1) / np.abs(near).sum(axis=1),
        "diff_snr": flux * np.sqrt(model_square),
        "diff_psf_misfit": (misfit * misfit).mean(axis=1),
        "diff_sharpness": near.max(axis=1) / np.maximum(flux * model.max(axis=1), 1.0),
    }


def _sharpest_pixel(new: Images, sigma: _Flat) -> npt.NDArray[np.float32]:
    """Largest excess of a pixel near the centre over its four neighbours, in units of the noise."""
    low, high = STAMP // 2 - 3, STAMP // 2 + 4
    here = new[:, low:high, low:high]
    above, below = new[:, low - 1 : high - 1, low:high], new[:, low + 1 : high + 1, low:high]
    left, right = new[:, low:high, low - 1 : high - 1], new[:, low:high, low + 1 : high + 1]
    excess = here - np.float32(0.25) * (above + below + left + right)
    return np.asarray(excess.max(axis=(1, 2)) / sigma)
