"""Data to try rules on: the ten sets of the paper, their generators, and candidates for supernovae.

The bundled sets live compressed in ``data/``; ``data/ORIGINS.md`` tells where each comes from and under which terms.
"""

from rulegrove.datasets.autoscan import AUTOSCAN_FEATURES, load_autoscan
from rulegrove.datasets.bundled import load, names
from rulegrove.datasets.record import Dataset
from rulegrove.datasets.supernova import (
    SUPERNOVA_INFORMATIVE,
    SUPERNOVA_REDUNDANT,
    SUPERNOVA_UNINFORMATIVE,
    make_supernova_candidates,
)
from rulegrove.datasets.waveform import make_waveform

__all__ = [
    "AUTOSCAN_FEATURES",
    "SUPERNOVA_INFORMATIVE",
    "SUPERNOVA_REDUNDANT",
    "SUPERNOVA_UNINFORMATIVE",
    "Dataset",
    "load",
    "load_autoscan",
    "make_supernova_candidates",
    "make_waveform",
    "names",
]
