"""The tables of the benchmark's page, from its results alone."""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.findings import Evidence, binary_sets, smallest_at_equal_error
from benchmarks.methods import CUBIST, DEFAULT, METHODS
from benchmarks.real_tables import TABLES
from benchmarks.summaries import (
    ALL_SETS,
    GLASS_PEERS,
    OURS,
    OUTSIDE,
    TEN_SETS,
    Results,
    compare_pair,
    fit_ratio,
    fit_seconds,
    rank_methods,
)
from benchmarks.targets import TARGETS

NONE = "-"  # where there is no number
STATES = {"failed": "fails", "time": "time", "skipped": "skipped", "": NONE}
GLASS = (*OURS, *GLASS_PEERS)


@dataclass(frozen=True)
class Table:
    """A table: a header and rows of cells; all columns but the first `n_words` are numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_words: int = 1

    def markdown(self) -> str:
        """Return the table as Markdown; a bar within a cell would end it."""
        ruler = [":--" if place < self.n_words else "--:" for place in range(len(self.header))]
        rows = [self.header, ruler, *self.rows]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def show(number: float, digits: int = 2) -> str:
    """Return a number, or a dash where there is none."""
    return NONE if math.isnan(number) else f"{number:,.{digits}f}"


def show_short(number: float) -> str:
    """Return a number with about three digits."""
    if math.isnan(number):
        return NONE
    digits = 0 if number >= 100 else 1 if number >= 10 else 2 if number >= 0.1 else 3
    return f"{number:,.{digits}f}"


def state(results: Results, group: str, problem: str, method: str) -> str:
    """Say in a word why a cell has no number."""
    return STATES.get(results.status(group, problem, method), NONE)


def _mean(numbers: Iterable[float]) -> float:
    known = [number for number in numbers if not math.isnan(number)]
    return sum(known) / len(known) if known else math.nan


# --- targets ----------------------------------------------------------------------------------------------------------


def tabulate_targets(evidence: Evidence) -> Table:
    """Return what must be reached, what was measured, whether it is met, and why not."""
    rows = []
    for target in TARGETS:
        finding = target.judge(evidence)
        rows.append([target.goal, finding.words or NONE, finding.verdict, target.cause(finding)])
    return Table(("to reach", "measured", "", "cause, if missed"), rows, n_words=4)


def tabulate_smaller(results: Results) -> Table:
    """Return on each problem of two classes the smallest of our models that is as good as RuleFit of imodels."""
    rows = []
    for problem in binary_sets(results):
        one = smallest_at_equal_error(results, problem)
        if one is not None:
            own = ["none", NONE, NONE] if one.method is None else [one.method, show(one.error), show(one.terms, 0)]
            rows.append([problem, *own, show(one.their_error), show(one.their_terms, 0)])
    return Table(("problem", "our model", "error %", "terms", "RuleFit: error %", "terms"), rows, n_words=2)


def tabulate_duels(results: Results) -> Table:
    """Return the defaults beside every other method: on how many problems each has the lower error."""
    rows = []
    for method in results.methods("sets"):
        duel = compare_pair(results, DEFAULT, method) if method not in OURS else None
        if duel is not None:
            rows.append([method, str(duel.lower), str(duel.equal), str(duel.higher), f"{duel.difference:+.2f}"])
    return Table(("against", "lower error", "equal", "higher error", "mean difference, points"), rows)


# --- problems ---------------------------------------------------------------------------------------------------------


def tabulate_by_problem(
    results: Results, of_problem: Callable[[str, str], float], digits: int, *, bold: bool = True
) -> Table:
    """Return a figure of all methods on all problems, and its mean over the ten sets; the least of glass boxes bold."""
    methods, problems = results.methods("sets"), results.problems("sets")
    best = {p: min((n for m in methods if m in GLASS and (n := of_problem(p, m)) == n), default=0.0) for p in problems}
    rows = []
    for method in methods:
        cells = []
        for problem in problems:
            number = of_problem(problem, method)
            text = (
                STATES.get(results.status("sets", problem, method), NONE)
                if math.isnan(number)
                else show(number, digits)
            )
            is_best = bold and method in GLASS and math.isclose(number, best[problem])
            cells.append(f"**{text}**" if is_best else text)
        ten = [of_problem(problem, method) for problem in TEN_SETS]
        mean = NONE if any(map(math.isnan, ten)) else show(sum(ten) / len(ten), digits)
        rows.append([method, *cells, mean])
    return Table(("method", *problems, "mean of the ten sets"), rows)


def tabulate_error(results: Results) -> Table:
    """Return the error in percent, with the mean rank among glass boxes."""
    table = tabulate_by_problem(results, lambda p, m: results.mean("sets", p, m, "error"), 2)
    ranks = glass_ranks(results, "error")
    return Table(
        (*table.header, "mean rank"), [[*row, show(ranks.get(row[0], math.nan))] for row in table.rows], table.n_words
    )


def tabulate_log_loss(results: Results) -> Table:
    """Return the log loss."""
    return tabulate_by_problem(results, lambda p, m: results.mean("sets", p, m, "log_loss"), 3)


def tabulate_terms(results: Results) -> Table:
    """Return the terms a class."""
    return tabulate_by_problem(results, lambda p, m: _mean(results.terms_a_class("sets", p, m).values()), 0, bold=False)


def glass_ranks(results: Results, field: str) -> dict[str, float]:
    """Return the mean ranks of glass boxes: of a peer beside our defaults, of each of ours beside all peers."""
    ranks = rank_methods(results, (DEFAULT, *GLASS_PEERS), field).means
    for ours in OURS:
        ranks |= {ours: mean} if (mean := rank_methods(results, (ours, *GLASS_PEERS), field).means.get(ours)) else {}
    return ranks


def tabulate_measures(results: Results) -> Table:
    """Return the means of all measures over the problems that a method has."""
    by_error, by_loss = glass_ranks(results, "error"), glass_ranks(results, "log_loss")
    rows = []
    for method in results.methods("sets"):

        def over_problems(field: str, method: str = method) -> float:
            return _mean(results.mean("sets", problem, method, field) for problem in ALL_SETS)

        count = sum(results.status("sets", problem, method) == "ok" for problem in ALL_SETS)
        terms = _mean(_mean(results.terms_a_class("sets", problem, method).values()) for problem in ALL_SETS)
        rows.append(
            [
                method,
                str(count),
                show(over_problems("error")),
                show(by_error.get(method, math.nan)),
                show(over_problems("auc"), 3),
                show(over_problems("log_loss"), 3),
                show(by_loss.get(method, math.nan)),
                show(over_problems("calibration_error"), 3),
                show(terms, 0),
                show(over_problems("conditions"), 0),
            ]
        )
    header = ("method", "problems", "error %", "rank", "AUC", "log loss", "rank", "calibration error")
    return Table((*header, "terms a class", "conditions"), rows)


def tabulate_measure(results: Results, group: str, field: str, scale: float, digits: int) -> Table:
    """Return one measure of the methods that have it, over the problems that have it."""
    problems = [
        p for p in results.problems(group) if any(results.numbers(group, p, m, field) for m in results.methods(group))
    ]
    rows = []
    for method in results.methods(group):
        numbers = [scale * results.mean(group, problem, method, field) for problem in problems]
        if not all(map(math.isnan, numbers)):
            rows.append([method, *(show(number, digits) for number in numbers)])
    return Table(("method", *problems), rows)


def tabulate_stability(results: Results) -> Table:
    """Return how much fits of three seeds agree: rows with the same prediction, rules in common, in percent."""
    agreement, shared = (tabulate_measure(results, "stability", field, 100, 1) for field in ("agreement", "jaccard"))
    rules = {row[0]: row[1:] for row in shared.rows}
    names = agreement.header[1:]
    absent = [NONE] * len(shared.header[1:])
    rows = [[*row, *rules.get(row[0], absent)] for row in agreement.rows]
    header = [f"{name}: agreement" for name in names] + [f"{name}: shared rules" for name in shared.header[1:]]
    return Table(("method", *header), rows)


# --- real tables ------------------------------------------------------------------------------------------------------


def tabulate_real_tables() -> Table:
    """Return the list of the real tables."""
    rows = []
    for table in TABLES.values():
        shape = table.shape
        drawn = f", {table.n_drawn:,} rows drawn at random" if table.n_drawn else ""
        kind = f"{shape.n_classes} classes" if shape.n_classes else "numbers"
        words = [table.name, table.what + drawn, table.wheel.requirement.replace("==", " "), f"`{table.target}`", kind]
        missing = f"{100 * shape.n_missing / (shape.n_rows * shape.n_columns):.1f}" if shape.n_missing else "0"
        rows.append([*words, f"{shape.n_rows:,}", str(shape.n_columns), str(shape.n_categorical), missing])
    header = ("table", "a row, and what is predicted", "package", "target", "kind")
    return Table((*header, "rows", "columns", "of categories", "empty cells, %"), rows, n_words=5)


def tabulate_left_out() -> Table:
    """Return the columns of the real tables that are left out, and why."""
    rows = []
    for table in TABLES.values():
        for reason in dict.fromkeys(table.dropped.values()):
            names = ", ".join(f"`{name}`" for name, own in table.dropped.items() if own == reason)
            rows.append([table.name, names, reason])
    return Table(("table", "left out", "because"), rows, n_words=3)


def tabulate_real_errors(results: Results, names: Sequence[str]) -> Table:
    """Return the errors on some of the real tables, and the mean ranks on those that all methods were tried on.

    Cubist is ranked where all targets are numbers, for it knows no classes.
    """
    only_numbers = all(TABLES[name].kind == "numbers" for name in names)
    here = Results([line for line in results.lines if line["group"] == "tables" and line["problem"] in names])
    methods = [method for method in here.methods("tables") if method != CUBIST or only_numbers]
    ranking = rank_methods(here, methods, "error", "tables")
    rows = []
    for method in methods:
        cells = [_mean_or_state(here, "tables", name, method, "error", 2) for name in here.problems("tables")]
        rows.append([method, *cells, show(ranking.means.get(method, math.nan))])
    return Table(("method", *here.problems("tables"), f"mean rank of {ranking.n_problems}"), rows)


def _mean_or_state(results: Results, group: str, problem: str, method: str, field: str, digits: int) -> str:
    """Return the mean of a measure, or a word where there is none."""
    number = results.mean(group, problem, method, field)
    return state(results, group, problem, method) if math.isnan(number) else show(number, digits)


# --- time -------------------------------------------------------------------------------------------------------------


def tabulate_growth(results: Results, group: str) -> Table:
    """Return the seconds of a fit as something grows, and in parentheses how many times ours they are."""
    problems = results.problems(group)
    rows = []
    for method in results.methods(group):
        cells = []
        for problem in problems:
            seconds = results.mean(group, problem, method, "fit_seconds")
            ratio = fit_ratio(results, group, problem, method, DEFAULT)
            text = state(results, group, problem, method) if math.isnan(seconds) else show_short(seconds)
            cells.append(text if ratio is None or method == DEFAULT else f"{text} ({ratio})")
        rows.append([method, *cells])
    return Table(("method", *problems), rows)


def tabulate_costs(results: Results) -> Table:
    """Return what methods cost beside the fit on large tables."""
    sizes = results.problems("rows")
    middle = next((size for size in sizes if size.startswith("20,000 ")), None)
    methods = dict.fromkeys([*results.methods("sets"), *results.methods("rows")])
    rows = []
    for method in (name for name in METHODS if name in methods):
        fits = [fit_seconds(results, problem, method) for problem in TEN_SETS]
        latencies = sorted(n for p in ALL_SETS for n in results.numbers("sets", p, method, "latency_ms").values())
        imports = [
            float(line["import_seconds"])
            for line in results.lines
            if line["method"] == method and line["import_seconds"]
        ]
        predict = results.mean("rows", middle, method, "predict_seconds") if middle else math.nan
        peaks = [_largest(results, size, method) for size in (middle, sizes[-1] if sizes else None)]
        rows.append(
            [
                method,
                NONE if any(map(math.isnan, fits)) else show_short(sum(fits)) + (" *" if method in OUTSIDE else ""),
                show_short(predict),
                *("elsewhere" if method in OUTSIDE else show(peak, 0) for peak in peaks),
                show_short(latencies[len(latencies) // 2] if latencies else math.nan),
                show_short(min(imports, default=math.nan)),
            ]
        )
    header = ("method", "ten sets, one fit each: s", "predict 20,000 rows: s", "memory at 20,000 rows: MB")
    largest = sizes[-1] if sizes else "the largest table"
    return Table((*header, f"memory at {largest}: MB", "one row: ms", "import: s"), rows)


def _largest(results: Results, problem: str | None, method: str) -> float:
    numbers = results.numbers("rows", problem, method, "peak_mb").values() if problem else ()
    return max(numbers, default=math.nan)


# --- what ran, and what did not ---------------------------------------------------------------------------------------


def tabulate_methods(results: Results) -> Table:
    """Return the methods with their versions and settings."""
    rows = []
    for name, method in METHODS.items():
        versions = sorted({line["version"] for line in results.lines if line["method"] == name and line["version"]})
        settings = ", ".join(f"{key}={value!r}" for key, value in method.parameters.items() if key != "n_jobs")
        many = "one against the rest" if method.binary else "its own way" if method.for_classes else "numbers alone"
        cells = [name, method.kind, method.package, ", ".join(versions) or "not measured"]
        rows.append([*cells, f"`{settings}`" if settings else "defaults", many, "1" if method.slow else "2"])
    header = ("method", "kind", "package", "version", "settings", "more than two classes", "repetitions")
    return Table(header, rows, n_words=6)


def tabulate_failures(results: Results) -> Table:
    """Return the cells that came to nothing, those of one method and message together."""
    lines = [line for line in results.lines if line["status"] != "ok"]
    order = {name: place for place, name in enumerate(METHODS)}

    def what(line: Mapping[str, str]) -> tuple[int, str, str, str]:
        return order.get(line["method"], len(order)), line["method"], line["status"], line["message"]

    rows = []
    for (_, method, status, message), group in itertools.groupby(sorted(lines, key=what), key=what):
        where = dict.fromkeys(f"{line['group']}: {line['problem']}" for line in group)
        rows.append([method, {"time": "time limit"}.get(status, status), "; ".join(where), f"`{_plain(message)}`"])
    return Table(("method", "what", "where", "message"), rows, n_words=4)


def _plain(message: str) -> str:
    """Return a message that ends no code mark."""
    return message.replace("`", "'") or "none"


def tabulate_kernels(lines: Iterable[Mapping[str, str]]) -> Table:
    """Return the figures of the kernels beside the machine's limits."""
    rows = []
    for line in lines:
        limit, share = ("", "") if not line["limit"] else (f"{float(line['limit']):.3g}", f"{float(line['share']):.0%}")
        rows.append([line["name"], f"{float(line['figure']):.3g}", line["unit"], limit, share])
    return Table(("what", "figure", "unit", "limit", "share"), rows)
