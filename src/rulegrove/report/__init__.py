"""HTML pages of one file: a fitted model with its path, its rules and rows, and two models beside each other."""

from typing import TYPE_CHECKING

from rulegrove._lazy import load_later

if TYPE_CHECKING:
    from rulegrove.report.comparison import make_comparison, write_comparison
    from rulegrove.report.writing import make_report, write_report

__all__ = ["make_comparison", "make_report", "write_comparison", "write_report"]

__getattr__ = load_later(
    globals(),
    {
        "make_comparison": "rulegrove.report.comparison",  # it loads nothing that predicts
        "make_report": "rulegrove.report.writing",
        "write_comparison": "rulegrove.report.comparison",
        "write_report": "rulegrove.report.writing",
    },
)
