"""Two models beside each other: which rules they share, and for whom their predictions differ."""

from rulegrove._lazy import load_later
from rulegrove.comparing.record import ComparedTerm, Comparison

__all__ = ["ComparedTerm", "Comparison", "compare"]

__getattr__ = load_later(globals(), {"compare": "rulegrove.comparing.models"})  # it loads what predicts
