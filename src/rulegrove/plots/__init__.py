"""Pictures of what a model has learned.

Each is a Display: a class method such as ``RulesDisplay.from_estimator(model)`` computes its numbers, keeps them as
attributes and draws them, on `ax` if one is given; `plot` draws them again. matplotlib is imported when something is
drawn: ``pip install 'rulegrove[plot]'``.
"""

from rulegrove.plots._display import Display
from rulegrove.plots.attributes import ImportanceDisplay, InteractionDisplay
from rulegrove.plots.calibration import CalibrationDisplay
from rulegrove.plots.dependence import DependenceDisplay
from rulegrove.plots.explanation import ExplanationDisplay
from rulegrove.plots.front import FrontDisplay
from rulegrove.plots.path import PathDisplay, SelectionDisplay
from rulegrove.plots.rules import ComparisonDisplay, RulesDisplay
from rulegrove.plots.survival import SurvivalDisplay
from rulegrove.plots.tenths import TenthsDisplay
from rulegrove.plots.votes import VotesDisplay

__all__ = [
    "CalibrationDisplay",
    "ComparisonDisplay",
    "DependenceDisplay",
    "Display",
    "ExplanationDisplay",
    "FrontDisplay",
    "ImportanceDisplay",
    "InteractionDisplay",
    "PathDisplay",
    "RulesDisplay",
    "SelectionDisplay",
    "SurvivalDisplay",
    "TenthsDisplay",
    "VotesDisplay",
]
