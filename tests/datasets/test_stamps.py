"""The image simulation: light is conserved, equal exposures cancel, artefacts look as they should."""

import dataclasses

import numpy as np
import pytest
from scipy import ndimage

from rulegrove.datasets.scenes import Scenes
from rulegrove.datasets.stamps import STAMP, _blur, _galaxies, gaussian_profiles, noise_shape, render

CENTER = STAMP // 2


def scene(**values):
    """One empty scene under a steady sky, with some numbers changed."""
    steady = {field.name: 0.0 for field in dataclasses.fields(Scenes)}
    steady |= {"seeing_new": 1.3, "seeing_reference": 1.0, "calibration": 1.0, "galaxy_radius": 2.0}
    steady |= {"galaxy_axis_ratio": 1.0, "blob_width": 1.3, "line_width": 0.45}
    return Scenes(**{name: np.array([value]) for name, value in (steady | values).items()})


def quiet(scenes):
    """Render without noise."""
    zeros = np.zeros(noise_shape(scenes.noise.size), dtype=np.float32)
    return render(scenes, zeros, zeros)


def test_supernova_is_all_that_differs():
    stamps = quiet(scene(blob_flux=100.0, galaxy_flux=300.0, galaxy_x=1.0))
    assert stamps.difference.shape == (1, STAMP, STAMP)
    assert stamps.difference.dtype == np.float32
    assert stamps.difference.sum() == pytest.approx(100.0, rel=0.03)
    assert np.unravel_index(stamps.difference[0].argmax(), (STAMP, STAMP)) == (CENTER, CENTER)


def test_static_sky_cancels_when_the_exposures_match():
    stamps = quiet(scene(galaxy_flux=1000.0, galaxy_axis_ratio=0.5, galaxy_angle=0.7))
    assert np.abs(stamps.difference).max() < 0.02 * stamps.new.max()


def test_bad_alignment_leaves_a_dipole():
    stamps = quiet(scene(galaxy_flux=1000.0, shift_x=0.5))
    light = stamps.difference[0]
    assert light[:, :CENTER].sum() > 0.0 > light[:, CENTER + 1 :].sum()
    assert abs(light.sum()) < 0.01 * np.abs(light).sum()


@pytest.mark.parametrize(("error", "sign"), [(0.4, 1.0), (-0.4, -1.0)])
def test_bad_matching_leaves_a_ring(error, sign):
    light = quiet(scene(star_flux=1000.0, kernel_error=error)).difference[0]
    assert sign * light[CENTER, CENTER] > 0.0 > sign * light[CENTER, CENTER + 3]


def test_lines_end_where_they_should():
    light = quiet(scene(line_height=50.0, line_length=6.0, line_angle=np.pi / 2.0)).difference[0]
    assert np.all(light[CENTER - 3 : CENTER + 4, CENTER] > 45.0)
    assert np.abs(light[: CENTER - 5]).max() < 0.1
    assert np.abs(light[:, CENTER + 3 :]).max() < 0.1


def test_bright_stars_saturate():
    stamps = quiet(scene(star_flux=1e5))
    assert np.count_nonzero(stamps.new == stamps.new.max()) > 9
    assert stamps.reference.max() < stamps.new.max()


def test_noise_has_the_level_of_the_sky():
    rng = np.random.default_rng(0)
    scenes = scene(noise=1.5)
    many = Scenes(**{f.name: np.repeat(getattr(scenes, f.name), 40) for f in dataclasses.fields(Scenes)})
    shape = noise_shape(40)
    stamps = render(many, rng.standard_normal(shape, dtype=np.float32), rng.standard_normal(shape, dtype=np.float32))
    assert stamps.new.std() == pytest.approx(1.5, rel=0.03)
    assert stamps.reference.std() == pytest.approx(0.45 * 1.5, rel=0.03)


def test_blur_equals_scipy():
    image = np.random.default_rng(0).normal(size=noise_shape(2)).astype(np.float32)
    blurred = _blur(image, np.array([0.6, 1.1]))
    for k, width in enumerate((0.6, 1.1)):
        expected = ndimage.gaussian_filter(image[k].astype(float), width, mode="nearest", radius=4)
        np.testing.assert_allclose(blurred[k], expected, atol=2e-6)


def test_galaxy_keeps_its_light_shape_and_direction():
    scenes = scene(galaxy_flux=100.0, galaxy_radius=1.5, galaxy_axis_ratio=0.4, galaxy_angle=np.pi / 2.0)
    light = _galaxies(scenes, np.array([1.0]), np.zeros(1), np.zeros(1))[0].astype(float)
    assert light.sum() == pytest.approx(100.0, rel=0.01)
    pixels = np.arange(light.shape[0]) - light.shape[0] // 2
    along = (light.sum(axis=1) * pixels**2).sum() / light.sum()
    across = (light.sum(axis=0) * pixels**2).sum() / light.sum()
    assert (across - 1.0) / (along - 1.0) == pytest.approx(0.16, abs=0.03)


def test_profiles_have_unit_area():
    profiles = gaussian_profiles(np.array([0.0, 0.4]), np.array([1.0, 2.0]), 25)
    np.testing.assert_allclose(profiles.sum(axis=1), 1.0, atol=1e-5)
