"""The tables: each from raw results alone, every number of ours beside the paper's."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rulegrove.study import paper
from rulegrove.study.results import Results

READINGS = ("voting", "averaged probabilities", "single trees")
LABELS = {
    "pathbuild": "Pathbuild",
    "fpc": "Fpc",
    "spgl1": "Spgl1",
    "glmnet": "Glmnet",
    "shared": "Glmnet, multi-class trees",
    "default": "default settings",
    **{f"{name}, {reading}": f"{name}, {reading}" for name in ("bagging", "boosting") for reading in READINGS},
}


@dataclass(frozen=True)
class Table:
    """A table of the report.

    Attributes
    ----------
    title : str
    header : sequence of str
    rows : sequence of sequence of str
    note : str
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def tabulate_sets(results: Results) -> Table:
    """Return the data sets, beside the paper's counts where they differ."""
    rows = []
    for number, name in enumerate(results.distinct("data"), start=1):
        here = results.where(data=name)
        counts = [int(here.mean(metric)) for metric in ("attributes", "observations", "classes")]
        cells = [
            f"{ours}" if ours == theirs else f"{ours} (paper: {theirs})"
            for ours, theirs in zip(counts, paper.SETS[name], strict=True)
        ]
        rows.append([str(number), name, *cells, f"{int(here.mean('missing cells'))}"])
    return Table(
        "The ten data sets",
        ("set", "name", "attributes", "observations", "classes", "missing cells"),
        rows,
        "Glass has seven labels, one of which never occurs. Waveform is drawn from its generator.",
    )


def tabulate_errors(results: Results) -> Table:
    """Return the error of every method on the ten sets: mean, spread, the paper's number, wins."""
    methods = [method for method in LABELS if len(results.where(method=method))]
    sets = results.distinct("data")
    means = {method: _means_by_set(results, method, sets) for method in methods}
    rows = []
    for place, name in enumerate(sets):
        best = np.nanmin([means[method][place] for method in methods])
        cells = [_error_cell(results.where(data=name), method, best) for method in methods]
        rows.append([name, str(paper.SETS[name][2]), *cells])
    ours = count_wins(means)
    wins = [f"{ours[method]}" + (f" ({paper.WINS[method]})" if method in paper.WINS else "") for method in methods]
    averages = [f"{np.nanmean(means[method]):.2f}" for method in methods]
    rows += [["mean of the sets", "", *averages], ["wins", "", *wins]]
    return Table(
        "Error on the ten sets",
        ("set", "classes (paper)", *(LABELS[method] for method in methods)),
        rows,
        "Percent of test rows misclassified: mean ± standard deviation over the folds, in parentheses the"
        " paper's number; bold is the least of a row. Pathbuild to multi-class trees use the paper's kind"
        " of rules, the point of the path chosen by 1se. The paper's column “Average” stands at “single "
        "trees”, which it is by its size. Boosting is AdaBoost by weighted resampling of fully grown "
        "trees. With two classes multi-class trees are those of the one problem, and the column is "
        "Glmnet's. Ties are wins of each.",
    )


def _means_by_set(results: Results, method: str, sets: Sequence[str]) -> list[float]:
    """Mean error on each set; NaN where the method was not run."""
    return [results.where(data=name, method=method).mean("error") for name in sets]


def _error_cell(here: Results, method: str, best: float) -> str:
    """Write one error beside the paper's."""
    found = here.where(method=method)
    mean = found.mean("error")
    if np.isnan(mean):
        return ""
    name = here.distinct("data")[0]
    printed = paper.ERRORS.get(method, {}).get(name)
    words = f"{mean:.2f} ± {found.spread('error'):.2f}"
    words = f"**{words}**" if mean <= best + 1e-9 else words
    return words + (f" ({printed:.2f})" if printed is not None else "")


def count_wins(means: dict[str, list[float]]) -> dict[str, int]:
    """Count on how many sets each method has the least error; ties count for all.

    Examples
    --------
    >>> count_wins({"a": [1.0, 2.0], "b": [1.0, 3.0]})
    {'a': 2, 'b': 1}
    """
    table = np.array(list(means.values()))
    best = np.nanmin(table, axis=0)
    return {method: int((row <= best + 1e-9).sum()) for method, row in zip(means, table, strict=True)}


def tabulate_rules(results: Results) -> Table:
    """Return the five most important rules, beside the paper's."""
    ours = [line for line in results if line.metric == "five largest"]
    rows = [
        [str(rank), line.value, f"{abs(line.result):.4f}", theirs, f"{size:.4f}"]
        for rank, (line, (theirs, size)) in enumerate(zip(ours, paper.TOP_RULES, strict=False), start=1)
    ]
    return Table(
        "The five most important rules",
        ("rank", "rule", "size of the coefficient", "the paper's rule", "its coefficient"),
        rows,
        "Fpc at a fit weight μ of 0.25, first repetition. The paper's data and names are not public, so only the "
        "form can be compared.",
    )


def tabulate_sparsity(results: Results) -> Table:
    """Return terms and their share for the four solvers at equal error."""
    rows = []
    for name in ("pathbuild", "glmnet", "spgl1", "fpc"):
        here = results.where(method=name)
        rows.append(
            [
                LABELS[name],
                f"{here.mean('balanced error'):.2f} ± {here.spread('balanced error'):.2f}",
                f"{here.mean('error'):.2f}",
                f"{here.mean('terms'):.0f} ± {here.spread('terms'):.0f}",
                f"{here.mean('share'):.1f} %",
                f"{paper.SHARES[name]} %",
                f"{here.mean('penalty'):.4f}",
                f"{here.mean('reached'):.0%}",
                f"{here.mean('share at equal overall error'):.1f} %",
                f"{here.mean('reached overall error'):.0%}",
            ]
        )
    target = results.where(method="all").mean("target")
    header = ("solver", "balanced error, %", "overall, %", "terms", "share", "share in the paper", "as a penalty λ")
    return Table(
        "Sparsity of the four solvers at equal error",
        (*header, "got there", "share at equal overall error", "got there (overall)"),
        rows,
        f"First point of each path with a balanced error (mean of both rates) of at most {target:.2f} % on average: "
        "the paper's 4 %, or 0.2 points above the least of the lasso's path where that is more. The last two columns "
        "do the same with the overall error. A solver that did not get there stands at its own least error.",
    )


def tabulate_selection(results: Results) -> Table:
    """Return what each choice of the penalty costs."""
    rows = [
        [
            method,
            f"{here.mean('penalty'):.4f}",
            f"{here.mean('terms'):.0f}",
            f"{here.mean('error'):.2f} ± {here.spread('error'):.2f}",
            f"{here.mean('false positive'):.2f}",
            f"{here.mean('false negative'):.2f}",
            f"{here.mean('balanced error'):.2f}",
        ]
        for method in results.distinct("method")
        for here in [results.where(method=method)]
    ]
    return Table(
        "Which penalty",
        ("choice", "penalty λ", "terms", "test error, %", "false positive, %", "false negative, %", "balanced, %"),
        rows,
        "The first line knows the test rows and is what no choice can reach but by luck.",
    )


def tabulate_timing(results: Results) -> Table:
    """Return seconds of solvers and ensembles."""
    rows = []
    for method in results.distinct("method"):
        here = results.where(method=method)
        cells = []
        for metric, digits in (("path seconds", 4), ("fit seconds", 2), ("predict seconds", 3), ("error", 2)):
            mean = here.mean(metric)
            cells.append("" if np.isnan(mean) else f"{mean:.{digits}f}")
        rows.append([method, *cells])
    return Table(
        "Seconds on one thread",
        ("what", "path", "fit", "predict", "test error, %"),
        rows,
        "A solver's path has 13 points to a duality gap of 1e-5, after the statistics; Pathbuild's has "
        "its steps. A fit of a rule ensemble includes its choice on five folds. Predictions are of all "
        "test rows.",
    )


def tabulate_attributes(results: Results) -> Table:
    """Return how many attributes each criterion keeps and what the error does."""
    weight = max(results.where(metric="error").grid())
    rows = []
    for method in results.distinct("method"):
        here = results.where(method=method)
        error = here.where(metric="error").at(weight)
        kept, blank = here.mean("kept"), here.mean("uninformative kept")
        rows.append(
            [
                method,
                "all" if np.isnan(kept) else f"{kept:.1f}",
                "" if np.isnan(blank) else f"{blank:.1f}",
                f"{error.mean('error'):.2f} ± {error.spread('error'):.2f}",
            ]
        )
    return Table(
        "Attributes by the votes of rules",
        ("attributes", "kept", "of them uninformative", f"test error at μ = {weight:g}, %"),
        rows,
        "The paper kept 21 of 39 by votes, for a lower error. Attributes are chosen from training rows alone.",
    )


TABLES: tuple[tuple[str, Callable[[Results], Table]], ...] = (
    ("sets", tabulate_sets),
    ("ten-sets", tabulate_errors),
    ("sparsity", tabulate_sparsity),
    ("sparsity", tabulate_rules),
    ("attributes", tabulate_attributes),
    ("selection", tabulate_selection),
    ("timing", tabulate_timing),
)


def make_tables(results: Results) -> dict[str, list[Table]]:
    """Return the tables of every part that has results."""
    found: dict[str, list[Table]] = {}
    for part, tabulate in TABLES:
        here = results.where(part=part)
        if len(here):
            found.setdefault(part, []).append(tabulate(here))
    return found
