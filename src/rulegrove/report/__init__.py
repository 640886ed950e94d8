"""One HTML page that tells of a fitted model: its path, its rules, and how it does on given rows."""

from rulegrove.report.writing import make_report, write_report

__all__ = ["make_report", "write_report"]
