"""The scenes: kinds in their shares, each with its own fault."""

import dataclasses

import numpy as np
import pytest

from rulegrove.datasets.scenes import ARTEFACT_SHARES, Kind, Scenes, draw_kinds, draw_scenes


def test_kinds_follow_their_shares():
    assert sum(ARTEFACT_SHARES.values()) == pytest.approx(1.0)
    kinds = draw_kinds(20_000, np.random.default_rng(0))
    for kind in Kind:
        assert np.mean(kinds == kind) == pytest.approx(ARTEFACT_SHARES.get(kind, 0.0), abs=0.02)


def test_each_kind_has_its_fault_and_no_other():
    kinds = np.repeat([int(kind) for kind in Kind], 50)
    scenes = draw_scenes(kinds, np.random.default_rng(0))
    with_line = np.isin(kinds, (Kind.COSMIC_RAY, Kind.HOT_PIXEL, Kind.TRAIL, Kind.SATURATED))
    with_blob = np.isin(kinds, (Kind.SUPERNOVA, Kind.NOISE_PEAK, Kind.GHOST))
    assert not scenes.line_height[~with_line].any()
    assert scenes.line_height[with_line & (kinds != Kind.SATURATED)].all()
    np.testing.assert_array_equal(scenes.blob_flux > 0.0, with_blob)
    shift = np.hypot(scenes.shift_x, scenes.shift_y)
    assert shift[kinds == Kind.DIPOLE].min() >= 0.2
    assert np.abs(scenes.kernel_error[kinds == Kind.RESIDUAL]).min() >= 0.16


def test_batch_takes_the_same_rows_of_every_number():
    scenes = draw_scenes(np.arange(9), np.random.default_rng(0))
    part = scenes.batch(slice(2, 5))
    for field in dataclasses.fields(Scenes):
        np.testing.assert_array_equal(getattr(part, field.name), getattr(scenes, field.name)[2:5])
