"""Small sky images of supernova candidates: a scene as a telescope would see it.

A candidate is seen on three stamps: a deep *reference* taken earlier, a *new* exposure, and their *difference* after
the reference was blurred to the seeing of the new exposure. Fluxes are in units of the typical sky noise of a pixel.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rulegrove._typing import FloatArray, IntArray
from rulegrove.datasets.scenes import Scenes

Images = npt.NDArray[np.float32]  # (n_candidates, rows, columns)

STAMP = 21  # pixels a side of a finished stamp
_MARGIN = 2  # more pixels a side while blurring, so that the edge of a finished stamp is clean
_KERNEL_RADIUS = 4
_SIDE = STAMP + 2 * _MARGIN
_FULL_WELL_NEW, _FULL_WELL_REFERENCE = 1500.0, 1100.0
_GAIN = 3.0  # photo-electrons for one unit of flux
_HALO_SHARE, _HALO_WIDTH = 0.12, 2.0  # light of a star in the wings of the point spread function, and their width

# Three Gaussians (width in half-light radii, share of the light) follow the profile exp(-1.678 r) of a disc galaxy, so
# that its image under a Gaussian seeing has a closed form.
_DISC = ((0.187, 0.032), (0.526, 0.322), (1.125, 0.646))


class Stamps(NamedTuple):
    """The three images of each candidate, float32 of shape (n_candidates, STAMP, STAMP)."""

    reference: Images
    new: Images
    difference: Images


def render(scenes: Scenes, noise_reference: Images, noise_new: Images) -> Stamps:
    """Take the two exposures and subtract them; the noise arrays are standard normal, of shape `noise_shape(n)`."""
    x, y = scenes.shift_x, scenes.shift_y
    reference = _galaxies(scenes, scenes.seeing_reference, x, y) + _stars(scenes, scenes.seeing_reference, x, y)
    reference *= _column(scenes.calibration)
    zero = np.zeros_like(x)
    new = _galaxies(scenes, scenes.seeing_new, zero, zero) + _stars(scenes, scenes.seeing_new, zero, zero)
    new += _point_sources(scenes.blob_flux, scenes.blob_width, scenes.blob_x, scenes.blob_y)
    drawn = np.flatnonzero(scenes.line_height)
    new[drawn] += _lines(scenes, drawn)
    # The reference is a stack of many exposures: less sky noise and less noise of the sources.
    reference = _expose(reference, 0.45 * scenes.noise, 4.0 * _GAIN, noise_reference, _FULL_WELL_REFERENCE)
    new = _expose(new, scenes.noise, _GAIN, noise_new, _FULL_WELL_NEW)
    matched = np.sqrt(np.maximum(scenes.seeing_new**2 - scenes.seeing_reference**2, 0.06))
    difference = new - _blur(reference, matched * (1.0 + scenes.kernel_error))
    inner = (slice(None), slice(_MARGIN, -_MARGIN), slice(_MARGIN, -_MARGIN))
    return Stamps(reference[inner], new[inner], difference[inner])


def noise_shape(n_candidates: int) -> tuple[int, int, int]:
    """Shape of the noise that `render` wants for so many candidates."""
    return n_candidates, _SIDE, _SIDE


def gaussian_profiles(center: FloatArray, width: FloatArray, side: int) -> npt.NDArray[np.float32]:
    """One-dimensional Gaussians of unit area on the pixels of a stamp, one row a candidate."""
    pixels = np.arange(side, dtype=np.float32) - side // 2
    width32, center32 = width.astype(np.float32)[:, None], center.astype(np.float32)[:, None]
    scaled = (pixels - center32) / width32
    return np.asarray(np.exp(-0.5 * scaled * scaled) / (np.float32(np.sqrt(2.0 * np.pi)) * width32))


def _column(values: FloatArray) -> Images:
    """Give one number a candidate the shape that multiplies its image."""
    return values.astype(np.float32)[:, None, None]


def _point_sources(flux: FloatArray, width: FloatArray, x: FloatArray, y: FloatArray) -> Images:
    """Draw round sources of the given width: a Gaussian core and a wider halo."""
    image = np.zeros((flux.size, _SIDE, _SIDE), dtype=np.float32)
    for share, scale in ((1.0 - _HALO_SHARE, 1.0), (_HALO_SHARE, _HALO_WIDTH)):
        rows = gaussian_profiles(y, scale * width, _SIDE) * (share * flux).astype(np.float32)[:, None]
        image += rows[:, :, None] * gaussian_profiles(x, scale * width, _SIDE)[:, None, :]
    return image


def _stars(scenes: Scenes, seeing: FloatArray, shift_x: FloatArray, shift_y: FloatArray) -> Images:
    """Draw the star of each scene as one exposure sees it."""
    return _point_sources(scenes.star_flux, seeing, scenes.star_x + shift_x, scenes.star_y + shift_y)


def _galaxies(scenes: Scenes, seeing: FloatArray, shift_x: FloatArray, shift_y: FloatArray) -> Images:
    """Draw inclined disc galaxies, blurred by the core of the point spread function."""
    image = np.zeros((seeing.size, _SIDE, _SIDE), dtype=np.float32)
    drawn = np.flatnonzero(scenes.galaxy_flux)
    pixels = np.arange(_SIDE, dtype=np.float32) - _SIDE // 2
    dx = (pixels - (scenes.galaxy_x + shift_x)[drawn, None].astype(np.float32))[:, None, :]
    dy = (pixels - (scenes.galaxy_y + shift_y)[drawn, None].astype(np.float32))[:, :, None]
    cos, sin = np.cos(scenes.galaxy_angle[drawn]), np.sin(scenes.galaxy_angle[drawn])
    disc = np.zeros((drawn.size, _SIDE, _SIDE), dtype=np.float32)
    for width, share in _DISC:
        major = (width * scenes.galaxy_radius[drawn]) ** 2
        minor = major * scenes.galaxy_axis_ratio[drawn] ** 2
        blur = seeing[drawn] ** 2
        xx, yy = major * cos**2 + minor * sin**2 + blur, major * sin**2 + minor * cos**2 + blur
        xy = (major - minor) * cos * sin
        determinant = xx * yy - xy**2
        exponent = _column(-0.5 * yy / determinant) * dx * dx + _column(-0.5 * xx / determinant) * dy * dy
        exponent += _column(xy / determinant) * dx * dy
        disc += _column(share * scenes.galaxy_flux[drawn] / (2.0 * np.pi * np.sqrt(determinant))) * np.exp(exponent)
    image[drawn] = disc
    return image


def _lines(scenes: Scenes, drawn: IntArray) -> Images:
    """Draw straight segments with a Gaussian cross-section; length zero is a dot."""
    pixels = np.arange(_SIDE, dtype=np.float32) - _SIDE // 2
    dx = pixels[None, None, :] - _column(scenes.line_x[drawn])
    dy = pixels[None, :, None] - _column(scenes.line_y[drawn])
    cos, sin = _column(np.cos(scenes.line_angle[drawn])), _column(np.sin(scenes.line_angle[drawn]))
    along, across = dx * cos + dy * sin, dy * cos - dx * sin
    beyond = np.maximum(np.abs(along) - _column(0.5 * scenes.line_length[drawn]), 0.0)
    squared = (across * across + beyond * beyond) * _column(-0.5 / scenes.line_width[drawn] ** 2)
    return np.asarray(_column(scenes.line_height[drawn]) * np.exp(squared), dtype=np.float32)


def _expose(light: Images, sky_noise: FloatArray, gain: float, noise: Images, full_well: float) -> Images:
    """Add the noise of sky and sources, then saturate."""
    variance = light / np.float32(gain) + _column(sky_noise) ** 2
    return np.asarray(np.minimum(light + noise * np.sqrt(variance), np.float32(full_well)))


def _blur(images: Images, width: FloatArray) -> Images:
    """Convolve each image with its own Gaussian, rows then columns; pixels beyond the edge repeat the edge."""
    kernel = gaussian_profiles(np.zeros_like(width), width, 2 * _KERNEL_RADIUS + 1)
    kernel /= kernel.sum(axis=1, keepdims=True)
    around = ((0, 0), (_KERNEL_RADIUS, _KERNEL_RADIUS), (_KERNEL_RADIUS, _KERNEL_RADIUS))
    padded = np.pad(images, around, mode="edge")
    weights = kernel[:, :, None, None]
    rows = weights[:, 0] * padded[:, :_SIDE]
    for k in range(1, kernel.shape[1]):
        rows += weights[:, k] * padded[:, k : k + _SIDE]
    blurred = weights[:, 0] * rows[:, :, :_SIDE]
    for k in range(1, kernel.shape[1]):
        blurred += weights[:, k] * rows[:, :, k : k + _SIDE]
    return blurred
