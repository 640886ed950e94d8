"""Simulated supernova candidates, in place of the paper's own, which were not published."""

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.datasets.checks import check_count
from rulegrove.datasets.pixel_statistics import magnitude, measure
from rulegrove.datasets.record import Dataset
from rulegrove.datasets.scenes import Kind, Scenes, draw_kinds, draw_scenes
from rulegrove.datasets.stamps import noise_shape, render
from rulegrove.exceptions import InvalidInputError

#: Statistics measured on the images.
SUPERNOVA_INFORMATIVE: tuple[str, ...] = (
    "colour_core",
    "diff_asymmetry",
    "diff_axis_ratio",
    "diff_border_mean",
    "diff_column_median",
    "diff_flux",
    "diff_kurtosis",
    "diff_minimum",
    "diff_negative_near",
    "diff_negative_wide",
    "diff_peak",
    "diff_peak_offset",
    "diff_psf_misfit",
    "diff_sharpness",
    "diff_sign_balance",
    "diff_snr",
    "diff_width",
    "new_flux",
    "new_half_maximum",
    "new_laplacian",
    "reference_flux",
    "reference_peak_distance",
)

#: Functions of informative statistics, six exact and two with noise: they tell nothing that the others do not.
SUPERNOVA_REDUNDANT: tuple[str, ...] = (
    "diff_ellipticity",
    "diff_fwhm",
    "diff_log_snr",
    "diff_magnitude",
    "diff_peak_again",
    "magnitude_change",
    "new_magnitude",
    "reference_magnitude",
)

#: Entries of the image header, drawn independently of the label, of the images and of each other.
SUPERNOVA_UNINFORMATIVE: tuple[str, ...] = (
    "airmass",
    "amplifier",
    "ccd",
    "column_phase",
    "dome_temperature",
    "focus_offset",
    "minute_of_hour",
    "moon_phase",
    "row_phase",
)

_BATCH_ROWS = 512  # images of a batch fit in the processor's cache


def make_supernova_candidates(
    n_positive: int = 5000, n_negative: int = 19988, random_state: int | np.random.Generator | None = None
) -> Dataset:
    """Simulate images of supernova candidates and describe each by 39 statistics.

    A candidate is seen on a deep reference image, on a new image and on their difference, 21 by 21 pixels each, with a
    host galaxy, a field star, noise, and the seeing of the night. A positive is a point source that appeared near its
    host. A negative is an artefact: a cosmic ray, hot pixels, the dipole of a bad alignment, the ring of a badly
    matched seeing, a trail, the remains of a saturated star, a peak of the noise or a ghost. The classes overlap where
    supernovae are faint or sit on the core of a bright galaxy.

    Parameters
    ----------
    n_positive, n_negative : int, default=5000 and 19988
        Number of candidates of either class; the defaults are the paper's.
    random_state : int, numpy.random.Generator or None, default=None
        Seed or source of the randomness; None draws a new sample at every call.

    Returns
    -------
    Dataset
        39 features in alphabetical order, labels +1 (supernova) and -1 (artefact), rows in random order.

    Notes
    -----
    The paper's images were never published; this set has its shape, not its content. Lengths are in pixels, fluxes in
    units of the typical sky noise of a pixel; "near" is the central 7 by 7 pixels, "wide" the central 13 by 13. Pixels
    of the difference are divided by its noise, except in ``diff_flux``.

    *Informative* (`SUPERNOVA_INFORMATIVE`, 22), measured on the images:

    ============================  =====================================================================================
    ``diff_flux``                 sum within 4 pixels of the centre; also ``new_flux`` and ``reference_flux``
    ``colour_core``               change in brightness (asinh) of the central 3 by 3 pixels from reference to new
    ``diff_peak``                 brightest near pixel; ``diff_minimum`` the darkest
    ``diff_peak_offset``          distance of the brightest near pixel from the centre
    ``diff_negative_near``        near pixels below -2; ``diff_negative_wide`` wide pixels below -3
    ``diff_sign_balance``         sum of the near pixels over the sum of their absolute values
    ``diff_kurtosis``             kurtosis of the wide pixels
    ``diff_column_median``        largest absolute median of one of the seven central columns
    ``diff_border_mean``          mean of the outer three rings of pixels
    ``diff_width``                length of the major axis from second moments, in units of the seeing
    ``diff_axis_ratio``           minor over major axis
    ``diff_asymmetry``            change under a half turn, relative to the absolute sum
    ``diff_snr``                  signal to noise of a fitted point source
    ``diff_psf_misfit``           mean square that the fitted point source leaves
    ``diff_sharpness``            brightest near pixel over the peak of the fitted point source
    ``new_laplacian``             largest excess of a near pixel over its four neighbours
    ``new_half_maximum``          wide pixels above half the maximum
    ``reference_peak_distance``   distance of the brightest wide pixel of the reference from the centre
    ============================  =====================================================================================

    *Redundant* (`SUPERNOVA_REDUNDANT`, 8), functions of those: ``diff_magnitude``, ``new_magnitude`` and
    ``reference_magnitude`` are asinh magnitudes of the fluxes, ``magnitude_change`` is the new less the reference
    magnitude, ``diff_log_snr`` the asinh of ``diff_snr``, ``diff_ellipticity`` is 1 - ``diff_axis_ratio``;
    ``diff_fwhm`` is 2.355 ``diff_width`` with 2 % noise, ``diff_peak_again`` is ``diff_peak`` with 3 % noise.

    *Uninformative* (`SUPERNOVA_UNINFORMATIVE`, 9), header entries drawn independently of everything else: ``airmass``,
    ``amplifier``, ``ccd``, ``column_phase``, ``row_phase``, ``dome_temperature``, ``focus_offset``, ``minute_of_hour``
    and ``moon_phase``.

    Examples
    --------
    >>> from rulegrove.datasets import make_supernova_candidates
    >>> candidates = make_supernova_candidates(50, 200, random_state=0)
    >>> candidates
    Dataset('supernova', 250 rows, 39 features, 2 classes)
    >>> int(candidates.y.sum())
    -150
    """
    n_positive, n_negative = check_count("n_positive", n_positive), check_count("n_negative", n_negative)
    if not n_positive + n_negative:
        raise InvalidInputError("`n_positive` and `n_negative` are both 0; ask for at least one candidate.")
    # One stream a purpose: the pixels, drawn batch after batch, then do not depend on the size of a batch.
    scene_rng, reference_rng, new_rng, header_rng = np.random.default_rng(random_state).spawn(4)
    kinds = np.concatenate([np.full(n_positive, int(Kind.SUPERNOVA)), draw_kinds(n_negative, scene_rng)])
    scene_rng.shuffle(kinds)
    columns = _measure_in_batches(draw_scenes(kinds, scene_rng), kinds.size, reference_rng, new_rng)
    columns |= _redundant(columns, header_rng)
    columns |= _header(kinds.size, header_rng)
    feature_names = tuple(sorted(columns))
    return Dataset(
        name="supernova",
        description="Statistics of simulated images of candidates; supernova (+1) or artefact (-1).",
        X=np.column_stack([columns[name] for name in feature_names]),
        y=np.where(kinds == Kind.SUPERNOVA, 1, -1),
        feature_names=feature_names,
    )


def _measure_in_batches(
    scenes: Scenes, n_rows: int, reference_rng: np.random.Generator, new_rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Render and measure the scenes, keeping the statistics and dropping the images."""
    parts = []
    for start in range(0, n_rows, _BATCH_ROWS):
        batch = scenes.batch(slice(start, start + _BATCH_ROWS))
        shape = noise_shape(batch.noise.size)
        reference_noise = reference_rng.standard_normal(shape, dtype=np.float32)
        new_noise = new_rng.standard_normal(shape, dtype=np.float32)
        parts.append(measure(render(batch, reference_noise, new_noise), batch.seeing_new))
    return {name: np.concatenate([part[name] for part in parts]) for name in SUPERNOVA_INFORMATIVE}


def _redundant(columns: dict[str, FloatArray], rng: np.random.Generator) -> dict[str, FloatArray]:
    """Compute the statistics that follow from others."""
    n_rows = columns["diff_flux"].size
    new, reference = magnitude(columns["new_flux"]), magnitude(columns["reference_flux"])
    return {
        "diff_ellipticity": 1.0 - columns["diff_axis_ratio"],
        "diff_fwhm": 2.355 * columns["diff_width"] * (1.0 + rng.normal(0.0, 0.02, n_rows)),
        "diff_log_snr": np.arcsinh(columns["diff_snr"]),
        "diff_magnitude": magnitude(columns["diff_flux"]),
        "diff_peak_again": columns["diff_peak"] * (1.0 + rng.normal(0.0, 0.03, n_rows)),
        "magnitude_change": new - reference,
        "new_magnitude": new,
        "reference_magnitude": reference,
    }


def _header(n_rows: int, rng: np.random.Generator) -> dict[str, FloatArray]:
    """Draw the entries of the image header, which know nothing of the images."""
    return {
        "airmass": 1.0 + rng.gamma(2.0, 0.15, n_rows),
        "amplifier": rng.integers(1, 2, n_rows, endpoint=True).astype(np.float64),
        "ccd": rng.integers(1, 62, n_rows, endpoint=True).astype(np.float64),
        "column_phase": rng.uniform(-0.5, 0.5, n_rows),
        "dome_temperature": rng.normal(9.0, 3.0, n_rows),
        "focus_offset": rng.standard_t(5, n_rows),
        "minute_of_hour": rng.integers(0, 59, n_rows, endpoint=True).astype(np.float64),
        "moon_phase": rng.beta(0.7, 0.7, n_rows),
        "row_phase": rng.uniform(-0.5, 0.5, n_rows),
    }
