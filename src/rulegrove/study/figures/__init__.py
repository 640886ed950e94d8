"""The figures: each from raw results alone."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rulegrove._files import written_whole
from rulegrove.study.figures import candidates, sets
from rulegrove.study.figures.style import by_method, by_rate, draw_sweep, one_curve
from rulegrove.study.results import Results
from rulegrove.study.words import PICTURES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 100

#: What draws a figure, by the name that it has in `words.toml`.
DRAWERS: "dict[str, Callable[[Results], Figure]]" = {
    "vehicle": sets.draw_vehicle,
    "against_trees": sets.draw_against_trees,
    "solvers": sets.draw_solvers,
    "multiclass": sets.draw_multiclass,
    "tree_size": partial(draw_sweep, curves=by_method, x="Mean leaves of a tree"),
    "rule_count": partial(draw_sweep, curves=one_curve("error"), x="Rules grown"),
    "terms": candidates.draw_terms,
    "threshold": partial(draw_sweep, curves=by_rate, x="Threshold τ"),
    "penalty": candidates.draw_penalty,
    "radius": partial(draw_sweep, curves=by_rate, x="Radius of the l1 ball", log_x=True),
    "fit_weight": partial(draw_sweep, curves=by_rate, x="Fit weight μ", log_x=True),
    "fit_weight_tree_size": partial(draw_sweep, curves=by_method, x="Fit weight μ", log_x=True, points=False),
    "nonzero": candidates.draw_nonzero,
    "coefficients": candidates.draw_coefficients,
    "votes": candidates.draw_votes,
    "attributes": partial(draw_sweep, curves=candidates.by_attributes, x="Fit weight μ", log_x=True, points=False),
    "selection": candidates.draw_selection,
    "robustness": partial(draw_sweep, curves=by_method, x="Share of training labels flipped"),
    "timing": candidates.draw_timing,
}


def draw_pictures(results: Results, directory: Path) -> dict[str, Path]:
    """Draw every figure whose part has results; return their files by name."""
    directory.mkdir(exist_ok=True)
    files = {}
    for picture in PICTURES:
        here = results.where(part=picture.part)
        if len(here):
            files[picture.name] = directory / f"{picture.name}.png"
            with written_whole(files[picture.name]) as draft:
                DRAWERS[picture.name](here).savefig(draft, dpi=_DPI, format="png", pil_kwargs={"optimize": True})
    return files
