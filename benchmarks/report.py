"""The page of the public benchmark, from its results alone: ``python -m benchmarks.report``.

Reads ``peers.csv``, ``machine.json`` and ``kernels.csv`` of ``benchmarks/results`` and writes ``docs/benchmarks.md``
with its plots in ``docs/benchmarks/``. The same results make the same page.
"""

import argparse
import csv
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import figures, run, tables, words
from benchmarks.findings import Evidence
from benchmarks.real_tables import CLASSES, NUMBERS
from benchmarks.summaries import ALL_SETS, Results
from benchmarks.targets import TARGETS
from benchmarks.terms_figure import draw_error_against_terms
from rulegrove._files import write_whole

PAGE = run.ROOT / "docs" / "benchmarks.md"
GROWTH = {  # titles of the groups that are timed
    "rows": "Rows",
    "attributes": "Attributes",
    "rules": "Candidate rules",
    "classes": "Classes",
    "RuleFit": "RuleFit of imodels, the same 600 candidates",
    "H2O": "RuleFit of H2O",
}


def read_kernels(path: Path) -> list[dict[str, str]]:
    """Return the lines of the kernels' figures, if they were measured."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def say_machine(machine: Mapping[str, Any]) -> str:
    """Say what the figures were measured on."""
    if not machine:
        return "The machine is not known."
    return (
        f"Measured on {machine['cores']} cores of {machine['processor']}, {machine['memory_gb']} GB of memory, "
        f"{machine['system']}, Python {machine['python']}, last on {machine['date']}."
    )


def section(title: str, *parts: str) -> str:
    """Return a heading and what follows it."""
    return "\n\n".join([f"## {title}", *parts])


def titled(title: str, what: str, table: tables.Table) -> str:
    """Return a table with its title and what it shows."""
    return f"### {title}\n\n{what}\n\n{body(table)}"


def body(table: tables.Table, otherwise: str = "Not measured.") -> str:
    """Return a table, or a word where it would be empty."""
    return table.markdown() if table.rows else otherwise


def picture(pictures: Mapping[str, str], name: str, caption: str) -> str:
    """Return a plot, or a word where there is none."""
    return f"![{caption}]({pictures[name]})" if name in pictures else "*No plot: not measured.*"


def write_page(evidence: Evidence, machine: Mapping[str, Any], pictures: Mapping[str, str]) -> str:
    """Return the whole page; `pictures` has the place of each plot that was drawn."""
    results = evidence.results
    protocol = words.PROTOCOL.format(n_sets=len(ALL_SETS), repetitions=run.REPETITIONS)
    sections = [
        words.TITLE,
        summarise(evidence),
        section("How it is measured", protocol, say_machine(machine)),
        section("Methods and versions", words.METHODS, tables.tabulate_methods(results).markdown()),
        tell_errors(results),
        tell_real_tables(results),
        section(
            "Error against number of terms",
            words.TERMS_PLOT,
            picture(pictures, "terms", "Error against terms a class, a panel a problem"),
            words.FRONTS,
            titled("Terms a class", words.TERMS, tables.tabulate_terms(results)),
        ),
        section("Stability over seeds", words.STABILITY, body(tables.tabulate_stability(results))),
        tell_time(results, pictures),
        section("What failed", words.FAILURES, body(tables.tabulate_failures(results), "Nothing.")),
        section("Kernels", words.KERNELS, body(tables.tabulate_kernels(evidence.kernels))),
    ]
    return "\n\n".join(sections) + "\n"


def summarise(evidence: Evidence) -> str:
    """Return the targets and what was reached of them."""
    return section(
        "Summary: targets and figures",
        words.TARGETS,
        tables.tabulate_targets(evidence).markdown(),
        titled(
            "Terms at equal error, beside RuleFit of imodels", words.SMALLER, tables.tabulate_smaller(evidence.results)
        ),
        titled("One against one", words.DUELS, tables.tabulate_duels(evidence.results)),
    )


def tell_errors(results: Results) -> str:
    """Return errors, probabilities and rules found."""
    return section(
        "Error and probabilities",
        titled("Error, %", words.ERROR, tables.tabulate_error(results)),
        titled("Log loss", words.LOG_LOSS, tables.tabulate_log_loss(results)),
        titled("All measures", words.MEASURES, tables.tabulate_measures(results)),
        titled("True rules found, %", words.HITS, tables.tabulate_measure(results, "sets", "hit_rate", 100, 0)),
    )


def tell_real_tables(results: Results) -> str:
    """Return the list of the real tables, and what was measured on them."""
    of_classes, of_numbers = ([table.name for table in tables_of] for tables_of in (CLASSES, NUMBERS))
    lists = tables.tabulate_real_tables(), tables.tabulate_left_out()
    listed = section("Real tables", words.REAL_TABLES, *(table.markdown() for table in lists))
    if not results.problems("tables"):
        return f"{listed}\n\n{words.NOT_YET}"
    return "\n\n".join(
        [
            listed,
            titled("All: error, %", words.REAL_ALL, tables.tabulate_real_errors(results, of_classes + of_numbers)),
            titled("Numbers: error, %", words.REAL_NUMBERS, tables.tabulate_real_errors(results, of_numbers)),
            titled("Classes: log loss", words.LOG_LOSS, tables.tabulate_measure(results, "tables", "log_loss", 1, 3)),
            titled("Terms", words.REAL_TERMS, tables.tabulate_measure(results, "tables", "terms", 1, 0)),
            titled(
                "Seconds", words.REAL_SECONDS, tables.tabulate_measure(results, "tables", "fit_processor_seconds", 1, 1)
            ),
        ]
    )


def tell_time(results: Results, pictures: Mapping[str, str]) -> str:
    """Return seconds and memory, with the plots."""
    return section(
        "Time and memory",
        words.GROWTH_PLOTS,
        picture(pictures, "rows", "Seconds of a fit against rows, logarithmic axes"),
        picture(pictures, "growth", "Seconds of a fit against attributes, candidate rules, classes, logarithmic axes"),
        *(titled(title, words.GROWTH, tables.tabulate_growth(results, group)) for group, title in GROWTH.items()),
        titled("Other costs", words.COSTS, tables.tabulate_costs(results)),
    )


def draw_all(results: Results) -> dict[str, bytes]:
    """Return the plots that there is something to draw of."""
    drawn = {
        "terms": draw_error_against_terms(results) if results.problems("sets") else None,
        "rows": figures.draw_growth(results, ("rows",)),
        "growth": figures.draw_growth(results, ("attributes", "rules", "classes")),
    }
    return {name: figures.as_png(figure) for name, figure in drawn.items() if figure is not None}


def write_report(results_path: Path, page: Path) -> list[str]:
    """Make all of the page, then write it; return the targets that are missed without a cause."""
    folder = results_path.parent
    machine = folder / "machine.json"
    evidence = Evidence(Results(run.read(results_path)), read_kernels(folder / "kernels.csv"))
    plots = draw_all(evidence.results)
    places = {name: f"{page.stem}/{name}.png" for name in plots}
    text = write_page(evidence, json.loads(machine.read_text()) if machine.exists() else {}, places)
    (page.parent / page.stem).mkdir(parents=True, exist_ok=True)
    for name, content in plots.items():
        write_whole(page.parent / places[name], content)
    write_whole(page, text)
    findings = {target: target.judge(evidence) for target in TARGETS}
    return [target.key for target, found in findings.items() if found.met is False and not target.cause(found)]


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=run.RESULTS, help="the results to tell of")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page to write")
    chosen = parser.parse_args()
    if not chosen.results.exists():
        sys.exit(f"There are no results in {chosen.results}; measure first: make bench-peers.")
    unexplained = write_report(chosen.results, chosen.out)
    print(f"Wrote {chosen.out}.")
    if unexplained:
        print(f"Missed without a cause in benchmarks/targets.py: {', '.join(unexplained)}.", file=sys.stderr)


if __name__ == "__main__":
    main()
