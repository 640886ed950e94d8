"""Made survival times for the tests of this folder."""

import numpy as np
import pytest

from rulegrove.survival import SurvivalTimes


def _draw(seed, n_rows, *, n_ticks=None, late=False):
    """Times of which about two thirds are events; with few ticks many are equal."""
    rng = np.random.default_rng(seed)
    time, event = rng.exponential(size=n_rows) + 0.01, rng.random(n_rows) < 0.65
    entry = time * rng.random(n_rows) * (rng.random(n_rows) < 0.7) if late else None
    if n_ticks is not None:
        time = np.ceil(n_ticks * time / time.max())
        entry = np.floor(n_ticks * entry / (entry.max() + 1e-9)) if late else None
        entry = np.minimum(entry, time - 1.0) if late else None
    event[rng.integers(n_rows)] = True
    return SurvivalTimes(time, event, entry)


@pytest.fixture(scope="session")
def draw_times():
    return _draw
