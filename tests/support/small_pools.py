"""A pool that few rows exceed, so that small tables are read as those beyond a pool."""

from rulegrove.estimators import autos


def shrink_pool(monkeypatch, n_rows):
    """Let so many rows be a pool, two fifths of it what trees see at least and probabilities are fitted to.

    Coefficients of classes are then solved for once more on a draw of three fifths.
    """
    monkeypatch.setattr(autos, "POOL_ROWS", n_rows)
    monkeypatch.setattr(autos, "POOL_SUBSAMPLES", 1)
    monkeypatch.setattr(autos, "AUTO_SUBSAMPLE", 2 * n_rows // 5)
    monkeypatch.setattr(autos, "CALIBRATION_ROWS", 2 * n_rows // 5)
    monkeypatch.setattr(autos, "REFIT_ROWS", 3 * n_rows // 5)
