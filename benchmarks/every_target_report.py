"""The tables of `benchmarks.every_target`: our share of what the best peer explains, and differences of concordance."""

from collections.abc import Iterable

import numpy as np

from benchmarks.every_target_methods import METHODS
from benchmarks.every_target_tables import PROBLEMS, Problem

Line = dict[str, str]
Key = tuple[str, str]  # repetition and fold
OURS = METHODS["rulegrove"].name


class Values:
    """What was measured by the same folds: for each problem and line of the report, the value of each fold."""

    def __init__(self, lines: Iterable[Line], n_folds: int | None = None):
        self.values: dict[tuple[Problem, str], dict[Key, float]] = {}
        self.terms: dict[tuple[Problem, str], list[float]] = {}
        self.seconds: dict[tuple[Problem, str], list[float]] = {}
        for line in lines:
            if n_folds is not None and int(line["folds"]) != n_folds:
                continue
            place = Problem(line["kind"], line["table"], float(line["level"])), line["line"]
            self.values.setdefault(place, {})[line["repetition"], line["fold"]] = float(line["value"])
            self.seconds.setdefault(place, []).append(float(line["fit_seconds"]))
            if line["terms"]:
                self.terms.setdefault(place, []).append(float(line["terms"]))

    def problems(self, survival: bool) -> list[Problem]:
        """Return the problems that something was measured on."""
        known = {problem for problem, _ in self.values}
        return [problem for problem in PROBLEMS if problem in known and (problem.kind == "survival") == survival]

    def names(self, problems: Iterable[Problem], ours: bool) -> list[str]:
        """Return the lines of the report that are ours, or those of peers, as they came."""
        chosen = set(problems)
        names = dict.fromkeys(name for problem, name in self.values if problem in chosen)
        return [name for name in names if name.startswith(OURS) == ours]

    def mean(self, problem: Problem, name: str) -> float:
        """Return the mean over folds; NaN where nothing was measured."""
        found = self.values.get((problem, name), {})
        return float(np.mean(list(found.values()))) if found else float("nan")

    def pairs(self, problem: Problem, one: str, other: str) -> np.ndarray:
        """Return the values of two lines on the folds that both have, side by side."""
        a, b = self.values.get((problem, one), {}), self.values.get((problem, other), {})
        both = sorted(a.keys() & b.keys(), key=lambda key: tuple(map(int, key)))
        return np.array([[a[key], b[key]] for key in both]).reshape(-1, 2)


def difference(pairs: np.ndarray, n_folds: int) -> tuple[float, float, float]:
    """Return the mean difference of pairs, its standard error, and the same as if only rows of test folds were new.

    The first error takes the folds for independent; the second is that of Nadeau and Bengio (2003) [1]_, who count
    that training sets overlap: the variance of a difference times ``1 / n + 1 / (n_folds - 1)``.

    References
    ----------
    .. [1] Nadeau, Bengio (2003). "Inference for the generalization error". Machine Learning 52, 239-281.
    """
    apart = pairs[:, 0] - pairs[:, 1]
    variance = float(np.var(apart, ddof=1)) if len(apart) > 1 else float("nan")
    corrected = variance * (1 / len(apart) + 1 / (n_folds - 1))
    return float(apart.mean()), float(np.sqrt(variance / len(apart))), float(np.sqrt(corrected))


def share_of_best(values: Values, problem: Problem, ours: str, peers: list[str]) -> float:
    """Return our mean over that of the peer that does best on the folds that both have."""
    shares = []
    for peer in peers:
        pairs = values.pairs(problem, ours, peer)
        if len(pairs) and pairs[:, 1].mean() > 0:
            shares.append(float(pairs[:, 0].mean() / pairs[:, 1].mean()))
    return min(shares) if shares else float("nan")


def report(lines: list[Line], n_folds: int) -> str:
    """Return the tables."""
    values = Values(lines, n_folds)
    parts = [explained_table(values), survival_table(values, n_folds), seconds_table(values)]
    return "\n\n".join(part for part in parts if part)


def explained_table(values: Values) -> str:
    """Return D² of all methods in percent; for ours also the share of the best peer's, and the terms."""
    problems = values.problems(survival=False)
    peers, ours = (values.names(problems, ours=one) for one in (False, True))
    rows = [[*("target", "table"), *peers, "best peer", *ours]]
    for problem in problems:
        means = {name: values.mean(problem, name) for name in peers}
        known = {name: mean for name, mean in means.items() if not np.isnan(mean)}
        cells = [percent(means[name]) for name in peers]
        best = max(known, key=lambda name: known[name]) if known else "-"
        for name in ours:
            share = share_of_best(values, problem, name, list(known))
            terms = np.mean(values.terms.get((problem, name), [np.nan]))
            own = values.mean(problem, name)
            cells.append("-" if np.isnan(own) else f"{percent(own)} ({share:.0%}, {terms:.0f})")
        rows.append([problem.name, problem.table, *cells[: len(peers)], best, *cells[len(peers) :]])
    told = "D² in percent, means over folds (of ours as a share of the best peer's, and the terms):"
    return f"{told}\n\n{markdown(rows)}" if problems else ""


def survival_table(values: Values, n_folds: int) -> str:
    """Return Harrell's concordance, and our differences from each peer with paired standard errors."""
    problems = values.problems(survival=True)
    peers, ours = (values.names(problems, ours=one) for one in (False, True))
    rows = [[*("table", "method", "concordance", "terms"), *(f"minus {peer}" for peer in peers)]]
    for problem in problems:
        for name in [*peers, *ours]:
            own = values.mean(problem, name)
            if np.isnan(own):
                continue
            terms = values.terms.get((problem, name))
            cells = [problem.table, name, f"{own:.4f}", f"{np.mean(terms):.1f}" if terms else ""]
            for peer in peers:
                pairs = values.pairs(problem, name, peer)
                if name == peer or not len(pairs):
                    cells.append("")
                    continue
                apart, plain, corrected = difference(pairs, n_folds)
                cells.append(f"{apart:+.4f} ± {plain:.4f} ({corrected:.4f})")
            rows.append(cells)
    told = (
        "Concordance, means over folds; differences ± paired standard errors (corrected for overlapping training rows):"
    )
    return f"{told}\n\n{markdown(rows)}" if problems else ""


def seconds_table(values: Values) -> str:
    """Return mean processor seconds of a fit."""
    problems = [problem for survival in (False, True) for problem in values.problems(survival)]
    names = [name for one in (False, True) for name in values.names(problems, ours=one)]
    names = [name for name in names if not name.startswith(OURS) or name.endswith("default")]
    rows = [["target", "table", *names]]
    for problem in problems:
        found = [values.seconds.get((problem, name)) for name in names]
        rows.append([problem.name, problem.table, *("-" if one is None else f"{np.mean(one):.2f}" for one in found)])
    return f"Processor seconds of a fit (ours: all three lengths):\n\n{markdown(rows)}" if problems else ""


def percent(value: float) -> str:
    """Return a share in percent."""
    return "-" if np.isnan(value) else f"{100 * value:.2f}"


def markdown(rows: list[list[str]]) -> str:
    """Return a table in Markdown; the first row is its head."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
