"""Scorecards: whole-number points for a few rules, and a table from their total to a chance."""

from rulegrove.scorecards.card import Card, Scorecard
from rulegrove.scorecards.making import scorecard

__all__ = ["Card", "Scorecard", "scorecard"]
