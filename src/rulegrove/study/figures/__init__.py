"""The figures: each from raw results alone."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rulegrove._files import written_whole
from rulegrove.study.figures import beyond, candidates, sets
from rulegrove.study.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 100


@dataclass(frozen=True)
class Picture:
    """A figure of the report.

    Attributes
    ----------
    name : str
        Of its file.
    part : str
        Whose results it shows.
    draw : callable
        From the part's results to the figure.
    caption : str
        What is seen, for who has not read the code.
    place : str
        Of the figure in the paper that it redoes; empty beyond the paper.
    """

    name: str
    part: str
    draw: "Callable[[Results], Figure]"
    caption: str
    place: str = ""


PICTURES = (
    Picture(
        "vehicle",
        "vehicle",
        sets.draw_vehicle,
        "Each class of the vehicle set against the rest. Bars are means over the folds, whiskers a standard deviation.",
        "Binary tests on each class of vehicle data",
    ),
    Picture(
        "against_trees",
        "ten-sets",
        sets.draw_against_trees,
        "A point a set, mean over the folds; below the diagonal the rules have the lower error.",
        "Rule ensemble against boosting and bagging",
    ),
    Picture(
        "solvers",
        "ten-sets",
        sets.draw_solvers,
        "Error on the ten sets by solver; whiskers are a standard deviation over the folds.",
        "Solvers on the ten sets",
    ),
    Picture(
        "multiclass",
        "ten-sets",
        sets.draw_multiclass,
        "Rules from trees of each class against rules from multi-class trees, the same lasso and settings otherwise.",
    ),
    Picture(
        "tree_size",
        "tree-size",
        candidates.draw_tree_size,
        "Pathbuild, τ = 0.5, 500 rules. Points are repetitions, the line their mean. Two sizes of the "
        "sample of a tree.",
        "Error against tree size, and the text on subsamples of 2,500 and 500",
    ),
    Picture(
        "rule_count",
        "rule-count",
        candidates.draw_rule_count,
        "Pathbuild, τ = 0.5, trees of 50 leaves on average.",
        "Error against number of rules",
    ),
    Picture(
        "terms",
        "terms",
        candidates.draw_terms,
        "Pathbuild on rules, on linear terms (winsorised attributes), on both; whiskers are a standard deviation.",
        "Rules, linear terms, both",
    ),
    Picture(
        "threshold",
        "threshold",
        candidates.draw_threshold,
        "Pathbuild, 600 rules from trees of 20 leaves. A higher threshold moves fewer coefficients at a step.",
        "Error against τ",
    ),
    Picture(
        "penalty",
        "penalty",
        candidates.draw_penalty,
        "Glmnet on the rules of the figure before.",
        "Error against λ",
    ),
    Picture("radius", "radius", candidates.draw_radius, "Spgl1 on the same rules.", "Error against the radius"),
    Picture("fit_weight", "fit-weight", candidates.draw_fit_weight, "Fpc on the same rules.", "Error against μ"),
    Picture(
        "fit_weight_tree_size",
        "fit-weight-tree-size",
        candidates.draw_fit_weight_tree_size,
        "Fpc on rules from trees of different size.",
        "Error against μ for several sizes of trees",
    ),
    Picture(
        "nonzero",
        "fit-weight",
        candidates.draw_nonzero,
        "How many of the rules Fpc keeps.",
        "Number of non-zero coefficients against μ",
    ),
    Picture(
        "coefficients",
        "sparsity",
        candidates.draw_coefficients,
        "Rules that are among the ten largest coefficients of any solver, at equal test error, first repetition.",
        "Ten largest coefficients of the solvers",
    ),
    Picture(
        "votes",
        "attributes",
        candidates.draw_votes,
        "Left: rules by the number of fit weights at which they are among the 20 largest. Right: votes of attributes.",
        "Votes histogram",
    ),
    Picture(
        "attributes",
        "attributes",
        candidates.draw_attributes,
        "Fpc with all attributes, with those that the paper's votes keep, and with those whose loss would be felt.",
        "Error with the selected attributes against all",
    ),
    Picture(
        "selection",
        "selection",
        beyond.draw_selection,
        "Where folds of the training rows put the penalty, beside the best point in hindsight.",
    ),
    Picture(
        "robustness",
        "robustness",
        beyond.draw_robustness,
        "Test labels are right. The first three weight the same rules.",
    ),
    Picture("timing", "timing", beyond.draw_timing, "Means of the repetitions, each the best of some runs."),
)


def draw_pictures(results: Results, directory: Path) -> dict[str, Path]:
    """Draw every figure whose part has results; return their files by name."""
    directory.mkdir(exist_ok=True)
    files = {}
    for picture in PICTURES:
        here = results.where(part=picture.part)
        if len(here):
            files[picture.name] = directory / f"{picture.name}.png"
            with written_whole(files[picture.name]) as draft:
                picture.draw(here).savefig(draft, dpi=_DPI, format="png", pil_kwargs={"optimize": True})
    return files
