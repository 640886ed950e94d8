"""The list of the real tables, how their files are read, and what is told of them."""

import bz2
import re
import zipfile

import pandas as pd
import pytest
from benchmarks.methods import CUBIST
from benchmarks.problems import PROBLEMS
from benchmarks.real_tables import (
    CLASSES,
    NUMBERS,
    TABLES,
    RealTable,
    Shape,
    cache_folder,
    check_shape,
    load_frame,
    read_member,
)
from benchmarks.summaries import Results
from benchmarks.tables import tabulate_left_out, tabulate_real_errors, tabulate_real_tables

from benchmark_lines import folds, line
from benchmarks import report, run
from rulegrove import datasets


class TestList:
    def test_it_is_what_was_asked_for(self):
        """At least ten tables, half of them numbers, some with categories and with missing values."""
        assert len(TABLES) == len(CLASSES) + len(NUMBERS) >= 10
        assert len(CLASSES) == len(NUMBERS)
        for listed in (CLASSES, NUMBERS):
            assert sum(table.shape.n_categorical > 0 for table in listed) >= 2
            assert sum(table.shape.n_missing > 0 for table in listed) >= 2
        assert not set(TABLES).intersection(datasets.names())

    @pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
    def test_every_table_is_well_formed(self, table):
        assert 1000 <= table.shape.n_rows <= 20_000
        assert table.shape.n_categorical <= table.shape.n_columns
        assert table.n_drawn in (0, table.shape.n_rows)
        assert re.fullmatch(r"[0-9a-f]{64}", table.wheel.sha256)
        package, version = table.wheel.requirement.split("==")
        assert table.wheel.file_name == f"{package.lower().replace('-', '_')}-{version}-py3-none-any.whl"
        assert table.target not in table.dropped
        assert all(table.dropped.values())
        assert table.kind == ("classes" if table in CLASSES else "numbers")
        if table.names:
            assert len(table.names) == table.shape.n_columns + len(table.dropped) + 1
            assert {table.target, *table.dropped, *table.categories} <= set(table.names)

    def test_every_table_is_a_problem_of_the_benchmark(self):
        benches = {bench.name: bench for bench in PROBLEMS if bench.group == "tables"}
        assert list(benches) == list(TABLES)
        assert [name for name, bench in benches.items() if bench.of_numbers] == [table.name for table in NUMBERS]

    def test_cubist_is_asked_for_numbers_alone(self):
        asked = {
            bench.name for bench in PROBLEMS if CUBIST in [method.name for method in run.cells(bench, [CUBIST], 0)]
        }
        assert asked == {table.name for table in NUMBERS}


def small_table(**changed):
    known = {"wheel": None, "member": "table.csv", "target": "y", "shape": Shape(2, 2, 1, 1)}
    return RealTable("small", "a row", **{**known, **changed})


@pytest.fixture
def archive(tmp_path):
    """Return a function that makes an archive of some files."""

    def make(**files):
        path = tmp_path / "archive.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                archive.writestr(name.replace("_csv", ".csv").replace("_bz2", ".bz2"), content)
        return zipfile.ZipFile(path)

    return make


class TestFiles:
    rows = "1, ?, 3.5\n2, red, ?\n"

    def expect(self, frame):
        assert frame["a"].tolist() == [1, 2]
        assert frame["b"].isna().tolist() == [True, False]
        assert frame["y"].isna().tolist() == [False, True]

    def test_names_in_the_file(self, archive):
        self.expect(read_member(small_table(), archive(table_csv="a,b,y\n" + self.rows)))

    def test_names_of_the_list_and_another_separator(self, archive):
        table = small_table(names=("a", "b", "y"), separator=";")
        self.expect(read_member(table, archive(table_csv=self.rows.replace(",", ";"))))

    def test_names_in_a_file_beside_it(self, archive):
        names = "% words\n@attribute a numeric\n@attribute b {red}\n@attribute y numeric\n@data\n"
        table = small_table(names_member="names")
        self.expect(read_member(table, archive(table_csv=self.rows, names=names)))

    def test_a_compressed_file(self, archive):
        table = small_table(member="table.csv.bz2")
        self.expect(read_member(table, archive(table_csv_bz2=bz2.compress(("a,b,y\n" + self.rows).encode()))))

    def test_a_table_that_is_not_the_listed_one_is_refused(self):
        X = pd.DataFrame({"a": [1.0, None], "b": pd.Categorical(["red", "blue"])})
        check_shape(small_table(), X, pd.Series([0.5, 1.5]))
        for other in (X.assign(c=1), X.fillna(0), X.assign(b=0), X.iloc[:1]):
            with pytest.raises(SystemExit, match=r"The table 'small' must have Shape\(n_rows=2.+; got Shape"):
                check_shape(small_table(), other, pd.Series([0.5, 1.5]).iloc[: len(other)])
        with pytest.raises(SystemExit, match="n_classes=2"):
            check_shape(small_table(shape=Shape(2, 2, 1, 1, n_classes=3)), X, pd.Series(["a", "b"]))

    def test_rows_without_a_target_and_left_out_columns_go(self, monkeypatch, tmp_path, archive):
        content = "a,b,id,y\n1,red,7,0.5\n2,blue,8,\n,red,9,2.5\n"
        made = archive(table_csv=content).filename
        monkeypatch.setattr("benchmarks.real_tables.fetch", lambda wheel, folder: made)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        X, y = load_frame(small_table(dropped={"id": "an identifier"}))
        assert list(X) == ["a", "b"]
        assert X["b"].dtype == "category"
        assert y.tolist() == [0.5, 2.5]
        assert X["a"].isna().tolist() == [False, True]

    @pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
    def test_the_listed_table_is_in_its_wheel(self, table):
        if not (cache_folder() / table.wheel.file_name).exists():
            pytest.skip(f"{table.wheel.requirement} is not downloaded; python -m benchmarks.real_tables does it")
        X, y = load_frame(table)
        assert y.notna().all()
        assert (X.nunique(dropna=False) > 1).all(), "a constant column"
        copies = [name for name in X if X[name].astype(str).equals(y.astype(str))]
        assert copies == []


class TestSummary:
    def results(self):
        lines = []
        errors = {"loans": (10, 20), "wine": (30, 60), "bikes": (40, 50)}
        for name, (ours, theirs) in errors.items():
            known = {"group": "tables", "n_classes": TABLES[name].shape.n_classes}
            lines += folds("rulegrove", name, errors=[ours], **known)
            lines += folds("EBM", name, errors=[theirs], **known)
        lines += folds(CUBIST, "wine", errors=[20], group="tables", n_classes=0)
        lines.append(line(CUBIST, "bikes", group="tables", n_classes=0, status="failed"))
        return Results(lines)

    def test_ranks_of_all_are_without_cubist(self):
        table = tabulate_real_errors(self.results(), list(TABLES))
        assert table.header == ("method", "loans", "wine", "bikes", "mean rank of 3")
        assert table.rows == [
            ["rulegrove", "10.00", "30.00", "40.00", "1.00"],
            ["EBM", "20.00", "60.00", "50.00", "2.00"],
        ]

    def test_ranks_of_numbers_are_with_cubist_and_who_failed_is_last(self):
        table = tabulate_real_errors(self.results(), [table.name for table in NUMBERS])
        assert table.header == ("method", "wine", "bikes", "mean rank of 2")
        assert table.rows == [
            ["rulegrove", "30.00", "40.00", "1.50"],
            ["EBM", "60.00", "50.00", "2.50"],
            [CUBIST, "20.00", "fails", "2.00"],
        ]

    def test_other_groups_do_not_count(self):
        lines = folds("rulegrove", "wine", errors=[1]) + folds("rulegrove", "pima", errors=[1])
        assert tabulate_real_errors(Results(lines), list(TABLES)).rows == []

    def test_the_list_has_a_row_a_table_and_every_column_left_out(self):
        rows = {row[0]: row for row in tabulate_real_tables().rows}
        assert list(rows) == list(TABLES)
        assert rows["income"][4:] == ["2 classes", "10,000", "13", "8", "1.0"]
        assert "10,000 rows drawn at random" in rows["income"][1]
        told = " ".join(row[1] for row in tabulate_left_out().rows)
        assert all(f"`{name}`" in told for table in TABLES.values() for name in table.dropped)

    def test_the_page_tells_the_list_and_what_was_measured(self):
        assert "Nothing is measured on these tables yet" in report.tell_real_tables(Results([]))
        told = report.tell_real_tables(self.results())
        assert "Nothing is measured" not in told
        assert "| Cubist | 20.00 | fails | 2.00 |" in told
        assert re.findall(r"^### (.+)$", told, re.MULTILINE) == [
            *("All: error, %", "Numbers: error, %", "Classes: log loss", "Terms", "Seconds")
        ]


def test_the_command_prints_what_is_measured_already(tmp_path, monkeypatch, capsys):
    from benchmarks.real_tables import main

    path = tmp_path / "results.csv"
    run.append(folds("rulegrove", "wine", errors=[30], group="tables", n_classes=0), path)
    monkeypatch.setattr("sys.argv", ["real_tables", "--report", "--results", str(path)])
    main()
    assert "| rulegrove | 30.00 | 1.00 |" in capsys.readouterr().out


def test_the_command_measures_what_it_is_asked_to(tmp_path, monkeypatch):
    from benchmarks.real_tables import main

    asked = []
    monkeypatch.setattr(run, "measure", lambda *arguments: asked.append(arguments))
    words = ["--tables", "wine", "loans", "--methods", "EBM", "--repeats", "3", "--results"]
    monkeypatch.setattr("sys.argv", ["real_tables", *words, str(tmp_path / "results.csv")])
    main()
    ((benches, methods, _, results, again, repetitions),) = asked
    assert [bench.name for bench in benches] == ["loans", "wine"]
    assert (methods, results, again, repetitions) == (["EBM"], tmp_path / "results.csv", False, 3)
