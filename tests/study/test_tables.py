"""The tables beside those of the paper."""

from rulegrove.study.results import Results
from rulegrove.study.tables import TABLES, count_wins, make_tables, tabulate_errors


def test_every_table_has_rows_as_wide_as_its_header(measured, lines_of_sets):
    found = make_tables(Results([*measured, *lines_of_sets]))
    assert sum(len(tables) for tables in found.values()) == len(TABLES)
    for tables in found.values():
        for table in tables:
            assert table.rows, table.title
            assert {len(row) for row in table.rows} == {len(table.header)}, table.title


def test_errors_stand_beside_the_papers(lines_of_sets):
    table = tabulate_errors(lines_of_sets.where(part="ten-sets"))
    by_name = {row[0]: dict(zip(table.header, row, strict=True)) for row in table.rows}
    assert by_name["glass"]["Pathbuild"] == "**1.00 ± 0.00** (37.99)"
    assert by_name["iris"]["bagging, single trees"].endswith("(5.51)")
    assert by_name["wins"]["Pathbuild"] == "10 (1)"
    assert by_name["pima"]["Glmnet, multi-class trees"] == ""
    assert by_name["mean of the sets"]["Pathbuild"] == "1.00"


def test_ties_are_wins_of_each_and_what_was_not_run_has_none():
    nan = float("nan")
    assert count_wins({"a": [1.0, 2.0, nan], "b": [1.0, 3.0, 1.0]}) == {"a": 2, "b": 2}


def test_parts_without_results_have_no_table(measured):
    assert list(make_tables(measured.where(part="timing"))) == ["timing"]


def test_five_rules_beside_the_papers(measured):
    rules = make_tables(measured)["sparsity"][1]
    assert [row[0] for row in rules.rows] == ["1", "2", "3", "4", "5"]
    assert rules.rows[0][3] == "x2 >= -0.315 and x18 >= 0.047"
