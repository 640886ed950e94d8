"""What stands in the images of supernova candidates, drawn at random: the sky, its sources, and what went wrong."""

import enum
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from rulegrove._typing import BoolArray, FloatArray, IntArray

_REACH = 10.0  # galaxies and stars that are not at the centre lie within so many pixels of it, a side


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


def draw_kinds(n_negative: int, rng: np.random.Generator) -> IntArray:
    """Draw what the negative candidates are."""
    kinds = np.array([int(kind) for kind in ARTEFACT_SHARES])
    return rng.choice(kinds, size=n_negative, p=list(ARTEFACT_SHARES.values()))


def draw_scenes(kinds: IntArray, rng: np.random.Generator) -> Scenes:
    """Draw a scene for each candidate, of the kind asked for."""
    draw = _Draw(kinds, rng)
    night = _night(draw)
    # A dipole or a residual needs a bright source at the centre: a star, or the core of a galaxy.
    faulty = np.isin(kinds, (Kind.DIPOLE, Kind.RESIDUAL))
    on_star = faulty & draw.chance(0.5)
    return Scenes(
        **night,
        **_mismatch(draw),
        **_galaxies(draw, faulty & ~on_star),
        **_stars(draw, on_star),
        **_blobs(draw, night["noise"], night["seeing_new"]),
        **_lines(draw, night["noise"], night["seeing_new"]),
    )


class _Draw:
    """Random numbers, one a candidate; all are drawn for every candidate, and the kind decides which are used."""

    def __init__(self, kinds: IntArray, rng: np.random.Generator) -> None:
        self.kinds, self.rng, self.n = kinds, rng, kinds.size

    def chance(self, probability: float | FloatArray) -> BoolArray:
        return np.asarray(self.rng.uniform(size=self.n) < probability)

    def uniform(self, low: float, high: float) -> FloatArray:
        return self.rng.uniform(low, high, self.n)

    def normal(self, scale: float) -> FloatArray:
        return self.rng.normal(0.0, scale, self.n)

    def lognormal(self, median: float, spread: float) -> FloatArray:
        return np.asarray(median * np.exp(self.normal(spread)))

    def by_kind(self, choices: dict[Kind, FloatArray | float], otherwise: FloatArray | float = 0.0) -> FloatArray:
        """Take each candidate's number from the choice for its kind."""
        values = np.broadcast_to(np.asarray(otherwise, dtype=np.float64), (self.n,))
        for kind, choice in choices.items():
            values = np.where(self.kinds == kind, choice, values)
        return values


def _night(draw: _Draw) -> dict[str, FloatArray]:
    """Seeing and noise."""
    return {
        "seeing_new": np.clip(draw.lognormal(1.2, 0.16), 0.9, 2.0),
        "seeing_reference": np.clip(draw.lognormal(1.05, 0.08), 0.85, 1.3),
        "noise": draw.lognormal(1.0, 0.15),
    }


def _mismatch(draw: _Draw) -> dict[str, FloatArray]:
    """How far the two exposures fail to match: a little always, much in some artefacts."""
    usual, dipole, saturated = draw.normal(0.08), draw.normal(0.35), draw.normal(0.2)
    shift = draw.by_kind({Kind.DIPOLE: 0.2 + np.abs(dipole), Kind.SATURATED: np.abs(saturated)}, np.abs(usual))
    direction = draw.uniform(0.0, 2.0 * np.pi)
    residual = np.where(draw.chance(0.5), 1.0, -1.0) * (0.16 + np.abs(draw.normal(0.25)))
    return {
        "calibration": np.exp(draw.normal(0.012)),
        "shift_x": shift * np.cos(direction),
        "shift_y": shift * np.sin(direction),
        "kernel_error": draw.by_kind({Kind.RESIDUAL: residual}, draw.normal(0.03)),
    }


def _galaxies(draw: _Draw, central: BoolArray) -> dict[str, FloatArray]:
    """Draw the host of a supernova, a bright galaxy under an artefact, or one that happens to be there."""
    present = draw.chance(draw.by_kind({Kind.SUPERNOVA: 0.9}, 0.35)) | central
    radius = draw.lognormal(2.0, 0.35)
    flux = draw.lognormal(350.0, 1.1) * np.where(central, draw.lognormal(8.0, 0.6), 1.0)
    distance, around = radius * draw.rng.rayleigh(0.7, draw.n), draw.uniform(0.0, 2.0 * np.pi)
    x = draw.by_kind({Kind.SUPERNOVA: distance * np.cos(around)}, draw.uniform(-_REACH, _REACH))
    y = draw.by_kind({Kind.SUPERNOVA: distance * np.sin(around)}, draw.uniform(-_REACH, _REACH))
    return {
        "galaxy_flux": np.where(present, flux, 0.0),
        "galaxy_radius": radius,
        "galaxy_axis_ratio": draw.uniform(0.3, 1.0),
        "galaxy_angle": draw.uniform(0.0, np.pi),
        "galaxy_x": np.where(central, draw.normal(0.5), x),
        "galaxy_y": np.where(central, draw.normal(0.5), y),
    }


def _stars(draw: _Draw, central: BoolArray) -> dict[str, FloatArray]:
    """Draw a bright star under an artefact, or a faint one that happens to be there."""
    flux = np.where(draw.chance(0.12), draw.lognormal(200.0, 1.0), 0.0)
    flux = np.where(central, draw.lognormal(3500.0, 0.9), flux)
    central = central | (draw.kinds == Kind.SATURATED)
    return {
        "star_flux": draw.by_kind({Kind.SATURATED: draw.lognormal(45000.0, 0.7)}, flux),
        "star_x": np.where(central, draw.normal(0.5), draw.uniform(-_REACH, _REACH)),
        "star_y": np.where(central, draw.normal(0.5), draw.uniform(-_REACH, _REACH)),
    }


def _blobs(draw: _Draw, noise: FloatArray, seeing: FloatArray) -> dict[str, FloatArray]:
    """Draw the supernova, or what is round and new like one."""
    # A matched filter sees a point source at flux / one_sigma standard deviations.
    one_sigma = noise * np.sqrt(4.0 * np.pi) * seeing
    significance = draw.by_kind(
        {
            Kind.SUPERNOVA: 5.0 + draw.lognormal(10.0, 0.9),
            Kind.NOISE_PEAK: 3.5 + draw.rng.exponential(1.2, draw.n),
            Kind.GHOST: draw.lognormal(80.0, 0.5),
        }
    )
    width = draw.by_kind({Kind.NOISE_PEAK: draw.uniform(0.45, 1.1), Kind.GHOST: draw.uniform(2.5, 5.0)}, 1.0)
    return {
        "blob_flux": one_sigma * significance,
        "blob_width": seeing * width,
        "blob_x": draw.uniform(-0.6, 0.6),
        "blob_y": draw.uniform(-0.6, 0.6),
    }


def _lines(draw: _Draw, noise: FloatArray, seeing: FloatArray) -> dict[str, FloatArray]:
    """Draw what is straight: cosmic rays, hot pixels (single or in pairs), trails, and columns that bleed."""
    height = draw.by_kind(
        {
            Kind.COSMIC_RAY: noise * (8.0 + draw.lognormal(25.0, 0.9)),
            Kind.HOT_PIXEL: noise * (8.0 + draw.lognormal(30.0, 1.0)),
            Kind.TRAIL: noise * (2.0 + draw.lognormal(6.0, 0.7)),
            Kind.SATURATED: np.where(draw.chance(0.6), draw.lognormal(400.0, 0.5), 0.0),
        }
    )
    pair = np.where(draw.chance(0.25), 1.0, 0.0)
    right_across = 10.0 * _REACH
    return {
        "line_height": height,
        "line_width": draw.by_kind({Kind.HOT_PIXEL: 0.3, Kind.TRAIL: seeing}, 0.45),
        "line_length": draw.by_kind(
            {Kind.COSMIC_RAY: draw.rng.exponential(1.6, draw.n), Kind.HOT_PIXEL: pair}, right_across
        ),
        "line_angle": draw.by_kind({Kind.SATURATED: np.pi / 2.0}, draw.uniform(0.0, np.pi)),
        "line_x": draw.normal(0.5),
        "line_y": draw.normal(0.5),
    }
