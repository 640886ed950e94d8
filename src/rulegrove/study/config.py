"""What a study measures, how often and on how much."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

THIRTEEN_FIT_WEIGHTS = (0.002, 0.004, 0.008, 0.015, 0.03, 0.05, 0.07, 0.09, 0.11, 0.13, 0.16, 0.19, 0.25)
THIRTEEN_PENALTIES = tuple(float(f"{value:.3g}") for value in np.geomspace(0.2, 0.001, 13))
THIRTEEN_RADII = tuple(float(f"{value:.3g}") for value in np.geomspace(0.25, 20.0, 13))


@dataclass(frozen=True)
class Config:
    """Sizes and grids of a study; the defaults are the full one."""

    mode: str = "full"  # or "quick"; every page says it
    seed: int = 0  # of repetition 0; repetition r has ``seed + r``
    autoscan: str | None = None  # file of the real candidates; None simulates them
    table: str = "simulation"  # name of the table of candidates; a real one is told from another by its content
    # n_positive, n_negative: simulated candidates, as many as in the paper.
    n_positive: int = 5000
    n_negative: int = 19988
    n_training: int = 2500  # training rows of each class of the candidates; all others are test rows
    n_repetitions: int = 10  # splits of the candidates
    n_cross_validations: int = 5  # two-fold cross-validations of the ten sets
    # n_bagged, n_boosted: trees of the baselines.
    n_bagged: int = 1000
    n_boosted: int = 50
    n_default_candidates: int = 2000  # rules grown by our default settings
    # Rules of the paper's kind of ensemble on the candidates; beyond 600 the paper sees no more gain.
    n_rules: int = 600
    n_set_rules: int = 600  # rules of the paper's kind of ensemble on the ten sets
    n_steps: int = 5000  # most steps of Pathbuild, and all of them where no folds choose their number
    n_timings: int = 2  # runs of what is timed, of which the best counts
    # leaves, rule_counts, thresholds, penalties, radii, fit_weights, flipped: grids of the sweeps.
    leaves: tuple[int, ...] = (5, 10, 20, 40, 60, 80)
    rule_counts: tuple[int, ...] = (100, 200, 300, 400, 500, 600, 800, 1000)
    thresholds: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    penalties: tuple[float, ...] = THIRTEEN_PENALTIES
    radii: tuple[float, ...] = THIRTEEN_RADII
    fit_weights: tuple[float, ...] = THIRTEEN_FIT_WEIGHTS
    flipped: tuple[float, ...] = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)

    @property
    def words(self) -> str:
        """The sentence that every page carries."""
        splits = f"{self.n_repetitions} splits of the candidates, {self.n_cross_validations} two-fold cross-validations"
        trees = f"bagging of {self.n_bagged:,} trees, boosting of {self.n_boosted}"
        rules = (
            f"{self.n_default_candidates:,} candidate rules by default and {self.n_set_rules} otherwise on the ten sets"
        )
        start = "Full study" if self.mode == "full" else "QUICK study, too few repetitions to quote"
        return f"{start}: {splits}, {trees}, {rules}."


QUICK: dict[str, Any] = {
    "mode": "quick",
    "n_repetitions": 2,
    "n_cross_validations": 1,
    "n_bagged": 100,
    "n_default_candidates": 200,
    "n_set_rules": 200,
    "n_steps": 1000,
    "n_timings": 1,
    "leaves": (5, 20, 80),
    "rule_counts": (100, 300, 600, 1000),
    "thresholds": (0.0, 0.3, 0.6, 1.0),
    "flipped": (0.0, 0.15, 0.3),
}


def make_config(*, quick: bool = False, autoscan: str | os.PathLike[str] | None = None) -> Config:
    """Return the full study, or a quick one with fewer repetitions, trees, candidate rules and points.

    Parameters
    ----------
    quick : bool, default=False
    autoscan : str or path, optional
        CSV file of the real candidates, see `rulegrove.datasets.load_autoscan`.

    Examples
    --------
    >>> make_config().n_repetitions, make_config(quick=True).n_repetitions
    (10, 2)
    """
    sizes = QUICK if quick else {}
    if autoscan is None:
        return Config(**sizes)
    path = Path(autoscan).resolve()
    return Config(autoscan=str(path), table=f"autoscan-{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}", **sizes)
