"""Small sky images of supernova candidates: what stands in each scene, and how a telescope would see it.

A candidate is seen on three stamps: a deep *reference* taken earlier, a *new* exposure, and their *difference* after
the reference was blurred to the seeing of the new exposure. Fluxes are in units of the typical sky noise of a new pixel.
"""

import enum
from dataclasses import dataclass, fields
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from rulegrove._typing import FloatArray, IntArray

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


class Kind(enum.IntEnum):
    """What a candidate is: a supernova, or the artefact that was taken for one."""

    SUPERNOVA = 0
    COSMIC_RAY = 1
    HOT_PIXEL = 2
    DIPOLE = 3  # a bright source, badly aligned between the two exposures
    RESIDUAL = 4  # a bright source, badly matched in seeing
    TRAIL = 5
    SATURATED = 6
    NOISE_PEAK = 7
    GHOST = 8  # a diffuse reflection


ARTEFACT_SHARES = {
    Kind.COSMIC_RAY: 0.22,
    Kind.HOT_PIXEL: 0.11,
    Kind.DIPOLE: 0.24,
    Kind.RESIDUAL: 0.18,
    Kind.TRAIL: 0.08,
    Kind.SATURATED: 0.08,
    Kind.NOISE_PEAK: 0.05,
    Kind.GHOST: 0.04,
}


@dataclass(frozen=True)
class Scenes:
    """The numbers that describe each candidate's scene, one entry a candidate; positions in pixels from the centre."""

    seeing_new: FloatArray
    seeing_reference: FloatArray
    noise: FloatArray
    calibration: FloatArray  # brightness of the reference relative to the new exposure
    shift_x: FloatArray  # of the reference relative to the new exposure
    shift_y: FloatArray
    kernel_error: FloatArray  # relative error of the blur that matches the two exposures
    galaxy_flux: FloatArray
    galaxy_radius: FloatArray
    galaxy_axis_ratio: FloatArray
    galaxy_angle: FloatArray
    galaxy_x: FloatArray
    galaxy_y: FloatArray
    star_flux: FloatArray
    star_x: FloatArray
    star_y: FloatArray
    blob_flux: FloatArray  # the supernova, a peak of the noise or a ghost: only in the new exposure
    blob_width: FloatArray
    blob_x: FloatArray
    blob_y: FloatArray
    line_height: FloatArray  # cosmic ray, hot pixel, trail or bleeding column: only in the new exposure
    line_width: FloatArray
    line_length: FloatArray
    line_angle: FloatArray
    line_x: FloatArray
    line_y: FloatArray

    def batch(self, rows: slice) -> Self:
        """Return some of the scenes."""
        return type(self)(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})


class Stamps(NamedTuple):
    """The three images of each candidate, float32 of shape (n_candidates, STAMP, STAMP)."""

    reference: Images
    new: Images
    difference: Images


def draw_kinds(n_negative: int, rng: np.random.Generator) -> IntArray:
    """Draw what the negative candidates are."""
    kinds = np.array([int(kind) for kind in ARTEFACT_SHARES])
    return rng.choice(kinds, size=n_negative, p=list(ARTEFACT_SHARES.values()))


def draw_scenes(kinds: IntArray, rng: np.random.Generator) -> Scenes:
    """Draw a scene for each candidate; every draw is made for all of them, the kind decides which is used."""
    n = kinds.size

    def uniform(low: float, high: float) -> FloatArray:
        return rng.uniform(low, high, n)

    def normal(scale: float) -> FloatArray:
        return rng.normal(0.0, scale, n)

    def lognormal(median: float, spread: float) -> FloatArray:
        return median * np.exp(normal(spread))

    def pick(otherwise: FloatArray, by_kind: dict[Kind, FloatArray]) -> FloatArray:
        return np.select([kinds == kind for kind in by_kind], list(by_kind.values()), default=otherwise)

    seeing_new = np.clip(lognormal(1.2, 0.16), 0.9, 2.0)
    seeing_reference = np.clip(lognormal(1.05, 0.08), 0.85, 1.3)
    noise = lognormal(1.0, 0.15)
    # A matched filter sees a point source at flux / (noise * sqrt(4 pi) * seeing) standard deviations.
    one_sigma = noise * np.sqrt(4.0 * np.pi) * seeing_new
    wide = (_SIDE - 5) / 2.0
    direction, around = uniform(0.0, 2.0 * np.pi), uniform(0.0, 2.0 * np.pi)

    on_star = uniform(0.0, 1.0) < 0.5  # a dipole or residual sits on a star or on the core of a galaxy
    faulty = np.isin(kinds, (Kind.DIPOLE, Kind.RESIDUAL))
    shift = pick(np.abs(normal(0.08)), {Kind.DIPOLE: 0.20 + np.abs(normal(0.35)), Kind.SATURATED: np.abs(normal(0.2))})
    mismatch = np.sign(normal(1.0)) * (0.16 + np.abs(normal(0.25)))

    has_galaxy = uniform(0.0, 1.0) < pick(np.full(n, 0.35), {Kind.SUPERNOVA: np.full(n, 0.9)})
    has_galaxy |= faulty & ~on_star
    galaxy_radius = lognormal(2.0, 0.35)
    host_distance = galaxy_radius * rng.rayleigh(0.7, n)
    near_x, near_y = normal(0.5), normal(0.5)
    galaxy_flux = lognormal(350.0, 1.1) * np.where(faulty, lognormal(8.0, 0.6), 1.0)

    has_star = uniform(0.0, 1.0) < 0.12
    star_flux = np.where(has_star, lognormal(200.0, 1.0), 0.0)
    on_fault = faulty & on_star
    star_flux = np.where(on_fault, lognormal(3500.0, 0.9), star_flux)
    star_flux = np.where(kinds == Kind.SATURATED, lognormal(45000.0, 0.7), star_flux)
    star_central = on_fault | (kinds == Kind.SATURATED)

    supernova = one_sigma * (5.0 + lognormal(10.0, 0.9))
    noise_peak = one_sigma * (3.5 + rng.exponential(1.2, n))
    ghost = one_sigma * lognormal(80.0, 0.5)

    long = np.full(n, 4.0 * _SIDE)
    line_angle = pick(direction, {Kind.SATURATED: np.full(n, np.pi / 2.0)})
    offset = uniform(-1.0, 1.0)  # a trail crosses the stamp near, not at, the centre
    has_bleed = uniform(0.0, 1.0) < 0.6
    line_height = pick(
        np.zeros(n),
        {
            Kind.COSMIC_RAY: noise * (8.0 + lognormal(25.0, 0.9)),
            Kind.HOT_PIXEL: noise * (8.0 + lognormal(30.0, 1.0)),
            Kind.TRAIL: noise * (2.0 + lognormal(6.0, 0.7)),
            Kind.SATURATED: np.where(has_bleed, lognormal(400.0, 0.5), 0.0),
        },
    )
    cosmic_ray_length = rng.exponential(1.6, n)
    hot_pixel_length = np.where(uniform(0.0, 1.0) < 0.25, 1.0, 0.0)
    return Scenes(
        seeing_new=seeing_new,
        seeing_reference=seeing_reference,
        noise=noise,
        calibration=np.exp(normal(0.012)),
        shift_x=shift * np.cos(direction),
        shift_y=shift * np.sin(direction),
        kernel_error=pick(normal(0.03), {Kind.RESIDUAL: mismatch}),
        galaxy_flux=np.where(has_galaxy, galaxy_flux, 0.0),
        galaxy_radius=galaxy_radius,
        galaxy_axis_ratio=uniform(0.3, 1.0),
        galaxy_angle=uniform(0.0, np.pi),
        galaxy_x=np.where(faulty, near_x, pick(uniform(-wide, wide), {Kind.SUPERNOVA: host_distance * np.cos(around)})),
        galaxy_y=np.where(faulty, near_y, pick(uniform(-wide, wide), {Kind.SUPERNOVA: host_distance * np.sin(around)})),
        star_flux=star_flux,
        star_x=np.where(star_central, near_x, uniform(-wide, wide)),
        star_y=np.where(star_central, near_y, uniform(-wide, wide)),
        blob_flux=pick(np.zeros(n), {Kind.SUPERNOVA: supernova, Kind.NOISE_PEAK: noise_peak, Kind.GHOST: ghost}),
        blob_width=seeing_new * pick(np.ones(n), {Kind.NOISE_PEAK: uniform(0.45, 1.1), Kind.GHOST: uniform(2.5, 5.0)}),
        blob_x=uniform(-0.6, 0.6),
        blob_y=uniform(-0.6, 0.6),
        line_height=line_height,
        line_width=pick(np.full(n, 0.45), {Kind.HOT_PIXEL: np.full(n, 0.3), Kind.TRAIL: seeing_new}),
        line_length=pick(long, {Kind.COSMIC_RAY: cosmic_ray_length, Kind.HOT_PIXEL: hot_pixel_length}),
        line_angle=line_angle,
        line_x=pick(near_x, {Kind.TRAIL: -offset * np.sin(direction)}),
        line_y=pick(near_y, {Kind.TRAIL: offset * np.cos(direction)}),
    )


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
