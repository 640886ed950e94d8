"""`datasets`: the bundled tables listed and written."""

from rulegrove.cli.reading import read_table
from rulegrove.datasets import load, names


def test_lists_all(run, read_json):
    assert [line.split()[0] for line in run("datasets").stdout.splitlines() if line[:1].isalpha()][1:] == list(names())
    pima = next(one for one in read_json("datasets") if one["name"] == "pima")
    assert (pima["rows"], pima["attributes"], pima["classes"]) == (768, 8, 2)


def test_writes_one(run, read_json, tmp_path):
    result = run("datasets", "iris", "-o", tmp_path / "iris.csv")
    assert "150 rows written" in result.stderr
    expected = load("iris").frame("pyarrow").to_pydict()
    assert read_table(tmp_path / "iris.csv").to_pydict() == expected
    (tmp_path / "printed.csv").write_bytes(run("datasets", "iris").stdout_bytes)
    assert read_table(tmp_path / "printed.csv").to_pydict() == expected
    assert read_json("datasets", "iris")["rows"] == 150


def test_what_cannot_be_done_is_one_line(refuse, tmp_path):
    refuse("datasets", "Iriss", says="Did you mean 'iris'?")
    refuse("datasets", "iris", "-o", tmp_path / "iris.xls", says="must end in one of")
