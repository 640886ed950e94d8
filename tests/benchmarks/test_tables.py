"""Tables of the page from few lines."""

import math

from benchmarks.findings import Evidence
from benchmarks.summaries import Results
from benchmarks.tables import (
    Table,
    show,
    show_short,
    tabulate_error,
    tabulate_failures,
    tabulate_growth,
    tabulate_kernels,
    tabulate_measure,
    tabulate_methods,
    tabulate_stability,
    tabulate_targets,
)
from benchmarks.targets import TARGETS

from benchmark_lines import folds, line


def test_a_bar_does_not_end_a_cell():
    assert Table(("a", "b"), [["x|y", "1"]]).markdown() == "| a | b |\n| :-- | --: |\n| x\\|y | 1 |"


def test_numbers():
    assert [show(1234.5, 1), show(math.nan)] == ["1,234.5", "-"]
    assert [show_short(n) for n in (0.0123, 0.5, 12.34, 1234.5)] == ["0.012", "0.50", "12.3", "1,234"]


def test_the_least_error_of_glass_boxes_is_bold():
    lines = [*folds("rulegrove", errors=[20]), *folds("EBM", errors=[21]), *folds("RandomForest", errors=[19])]
    lines += [line("RUG", status="failed"), *folds("RUG", "sonar", errors=[30])]
    table = tabulate_error(Results(lines))
    assert table.header == ("method", "pima", "sonar", "mean of the ten sets", "mean rank")
    assert {row[0]: row[1] for row in table.rows} == {
        "rulegrove": "**20.00**",
        "EBM": "21.00",
        "RUG": "fails",
        "RandomForest": "19.00",
    }
    assert {row[0]: row[-1] for row in table.rows} == {
        "rulegrove": "1.00",
        "EBM": "2.00",
        "RUG": "3.00",
        "RandomForest": "-",
    }


def test_failures_of_one_message_stand_together():
    lines = [line("RUG", name, status="failed", message="no `way`") for name in ("pima", "sonar")]
    table = tabulate_failures(Results([*lines, *folds("EBM", errors=[1])]))
    assert table.rows == [["RUG", "failed", "sets: pima; sets: sonar", "`no 'way'`"]]


def test_growth_tells_seconds_and_ratios():
    cell = {"group": "rows", "problem": "10,000 rows"}
    lines = [line("rulegrove", **cell, fit_seconds=0.5), line("EBM", **cell, fit_seconds=20)]
    lines += [
        line("RUG", **cell, status="time", message="not done within 300 s"),
        line("RUG", "1,000 rows", group="rows", fit_seconds=3),
    ]
    table = tabulate_growth(Results(lines), "rows")
    assert table.rows == [
        ["rulegrove", "-", "0.50"],
        ["EBM", "-", "20.0 (40)"],
        ["RUG", "3.00", "time (more than 600)"],
    ]


def test_stability_leaves_out_rules_where_there_are_none():
    lines = [
        line("RUG", group="stability", agreement=0.9, jaccard=0.25),
        line("Boomer", group="stability", agreement=1),
    ]
    table = tabulate_stability(Results(lines))
    assert table.header == ("method", "pima: agreement", "pima: shared rules")
    assert table.rows == [["Boomer", "100.0", "-"], ["RUG", "90.0", "25.0"]]


def test_a_measure_is_told_where_it_was_measured():
    lines = [line("RUG", "rules", hit_rate=0.5), line("RUG", "pima"), line("EBM", "rules")]
    table = tabulate_measure(Results(lines), "sets", "hit_rate", 100, 0)
    assert (table.header, table.rows) == (("method", "rules"), [["RUG", "50"]])


def test_versions_are_those_of_the_lines():
    rows = {row[0]: row for row in tabulate_methods(Results([line("RUG", version="1.2.1")])).rows}
    assert rows["RUG"][2:5] == ["ruleopt", "1.2.1", "`max_depth=3`"]
    assert rows["EBM"][3] == "not measured"


def test_a_target_a_row():
    table = tabulate_targets(Evidence(Results([])))
    assert [row[0] for row in table.rows] == [target.goal for target in TARGETS]
    assert {row[2] for row in table.rows} == {"not measured"}


def test_kernels_without_a_limit():
    lines = [
        {"name": "a", "figure": "1.5", "unit": "s", "limit": "3", "share": "0.5"},
        {"name": "b", "figure": "1234.5", "unit": "ms", "limit": "", "share": ""},
    ]
    assert tabulate_kernels(lines).rows == [["a", "1.5", "s", "3", "50%"], ["b", "1.23e+03", "ms", "", ""]]
