"""A pool that few rows exceed, so that small tables are read as those beyond a pool."""

from rulegrove.estimators import _base, _fitted, _growing


def shrink_pool(monkeypatch, n_rows):
    """Let so many rows be a pool, and two fifths of it what trees see at least and probabilities are fitted to."""
    monkeypatch.setattr(_growing, "POOL_ROWS", n_rows)
    monkeypatch.setattr(_growing, "POOL_SUBSAMPLES", 1)
    monkeypatch.setattr(_growing, "AUTO_SUBSAMPLE", 2 * n_rows // 5)
    for module in (_base, _fitted):
        monkeypatch.setattr(module, "CALIBRATION_ROWS", 2 * n_rows // 5)
