"""Fits over files: what bad input says, what a limit of rows means, and losses that need rows."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.model_selection import KFold

from damaged_files import flip_bit, write_checked
from engine_conformance import N_ROWS, in_memory, make_model, make_rows, take
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, engines
from rulegrove._hashing import hash_positions
from rulegrove.engines import counting, fitting, keeping, sources
from rulegrove.engines.fitting import find_gram_limit
from rulegrove.estimators import autos
from rulegrove.estimators._training import make_rng
from rulegrove.exceptions import InvalidInputError, SampleWarning


@pytest.fixture(autouse=True)
def small_parts(small_pool, monkeypatch):
    monkeypatch.setattr(sources, "PARTITION_ROWS", 700)


@pytest.fixture
def write(tmp_path):
    """Write a table as files of a thousand rows."""

    def write(table):
        for start in range(0, table.num_rows, 1000):
            pq.write_table(table.slice(start, 1000), tmp_path / f"{start}.parquet", row_group_size=500)
        return tmp_path

    return write


def set_value(table, name, row, value):
    values = table[name].to_pylist()
    values[row] = value
    return table.set_column(table.column_names.index(name), name, pa.array(values))


def test_files_of_very_many_columns_have_the_same_strongest_ones(write, monkeypatch):
    monkeypatch.setattr(autos, "MOST_SPLIT", 2)
    monkeypatch.setattr(autos, "MOST_LINEAR", 1)
    table = take(make_rows(), "two")
    found, expected = engines.fit(make_model("two"), write(table), "two"), in_memory(make_model("two"), table, "two")
    assert found.candidates_.rules == expected.candidates_.rules
    assert len({feature for rule in found.candidates_.rules for feature in rule.features}) == 2
    np.testing.assert_array_equal(found.candidates_.linear.features, expected.candidates_.linear.features)
    assert found.candidates_.linear.n_terms == 1


@pytest.mark.parametrize("row", range(2300, 2308))  # some of them are drawn, the others met when rules are counted
def test_an_infinite_value_names_the_file_and_the_column(write, row):
    folder = write(set_value(take(make_rows(), "two"), "a", row, np.inf))
    with pytest.raises(InvalidInputError, match=r"2000\.parquet', row group 0: Column 0 \('a'\) must be finite"):
        engines.fit(make_model("two"), folder, "two")


@pytest.mark.parametrize(
    ("change", "arguments", "words"),
    [
        (None, {"target": "twoo"}, "`target` names 'twoo', which is no column"),
        (None, {"weights": "w"}, "`weights` names 'w', which is no column"),
        (None, {"drop": ["a", "b", "c", "e"]}, "no column left"),
        (None, {"max_gram_rows": 5}, "`max_gram_rows` must be a whole number of at least 1,000; got 5"),
        (None, {"max_gram_rows": 1e7}, "`max_gram_rows` must be a whole number .*; got 10000000.0"),
        (None, {"max_gram_rows": "all"}, "`max_gram_rows` must be a whole number .*; got 'all'"),
        (None, {"batch_rows": 0}, "`batch_rows` must be a whole number of at least 1; got 0"),
        (None, {"batch_rows": -1}, "`batch_rows` must be a whole number of at least 1; got -1"),
        (None, {"batch_rows": 2.5}, "`batch_rows` must be a whole number of at least 1; got 2.5"),
        (None, {"n_threads": 0}, "`n_threads` must be a whole number of at least 1; got 0"),
        (None, {"n_threads": True}, "`n_threads` must be a whole number of at least 1; got True"),
        (None, {"n_threads": "2"}, "`n_threads` must be a whole number of at least 1; got '2'"),
        (
            lambda table: set_value(table.append_column("w", pa.array(np.ones(N_ROWS))), "w", 1500, -1.0),
            {"weights": "w"},
            r"1000\.parquet'.*column 'w' must be numbers from 0 on; row 1500",
        ),
        (lambda table: table.append_column("w", pa.array(np.zeros(N_ROWS))), {"weights": "w"}, "nothing to fit"),
        (lambda table: table.set_column(4, "two", pa.nulls(N_ROWS, pa.string())), {}, "nothing to fit"),
        (lambda table: table.set_column(4, "two", pa.array(["x"] * N_ROWS)), {}, "one class only"),
        (lambda table: table.set_column(4, "two", pa.array([[1]] * N_ROWS)), {}, "must be numbers or text"),
        (lambda table: table.set_column(0, "a", pa.array([[1]] * N_ROWS)), {}, "neither numeric nor categorical"),
        (
            lambda table: set_value(table, "two", 9, "rare").filter(
                pa.array((np.asarray(table["two"]) != "no") | (np.arange(N_ROWS) == 9))
            ),
            {},
            "Class 'rare' has 1 of",
        ),
    ],
)
def test_bad_input_is_one_sentence(write, change, arguments, words):
    table = take(make_rows(), "two")
    folder = write(table if change is None else change(table))
    arguments = {"target": "two", **arguments}
    with pytest.raises(InvalidInputError, match=words) as caught:
        engines.fit(make_model("two"), folder, **arguments)
    assert "\n" not in str(caught.value)


def test_a_target_of_numbers_is_no_text(write):
    with pytest.raises(InvalidInputError, match=r"0\.parquet'.*Column 'two' must be numbers; got string"):
        engines.fit(make_model("number"), write(take(make_rows(), "two")), "two")


def test_a_regression_target_is_no_class(write):
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        engines.fit(make_model("two"), write(take(make_rows(), "number")), "number")


def test_splitters_need_the_rows(write):
    with pytest.raises(InvalidInputError, match="give their number as `cv`"):
        engines.fit(make_model("two", cv=KFold(3)), write(take(make_rows(), "two")), "two")


def test_splitters_work_in_memory():
    table = take(make_rows(), "number")
    model = make_model("number", cv=KFold(4)).fit(table.drop_columns(["number"]), table["number"].to_numpy())
    assert len(model.selection_.fold_points) == 3  # which hold out two thousand rows


def test_fractions_of_a_huge_table_are_refused(write, monkeypatch):
    monkeypatch.setattr("rulegrove.estimators.autos.MOST_DRAWN", 1500)
    with pytest.raises(InvalidInputError, match=r"`subsample`=0.7 of 3,000 rows"):
        engines.fit(make_model("two", subsample=0.7), write(take(make_rows(), "two")), "two")


def test_a_damaged_row_group_is_named(write):
    folder = write(take(make_rows(), "two"))
    path = folder / "1000.parquet"
    content = bytearray(path.read_bytes())
    column = pq.ParquetFile(path).metadata.row_group(1).column(0)
    start = column.dictionary_page_offset or column.data_page_offset
    content[start : start + 40] = b"\xff" * 40
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"1000\.parquet', row group 1: "):
        engines.fit(make_model("two"), folder, "two")


def test_a_file_that_goes_away_is_named(write):
    folder = write(take(make_rows(), "two"))
    engine = engines.local.LocalEngine(folder)
    (folder / "2000.parquet").unlink()
    with pytest.raises(InvalidInputError, match=r"2000\.parquet'"):
        engines.fitting.fit_over(engine, make_model("two"), "two")


def test_a_limit_of_rows_is_kept_and_uniform():
    table = take(make_rows(), "number")
    model = engines.fit(make_model("number"), table, "number", max_gram_rows=2000, keep_statistics=True)
    n_rows = model.statistics_.n_rows
    assert 1700 < n_rows <= 2000
    all_rows = engines.fit(make_model("number"), table, "number")
    X, y = table.drop_columns(["number"]), table["number"].to_numpy()
    assert model.score(X, y) == pytest.approx(all_rows.score(X, y), abs=0.02)
    assert find_gram_limit(None, 10) == find_gram_limit(10, 10) == 2**64


def test_losses_that_need_rows_go_by_a_sample(monkeypatch):
    monkeypatch.setattr(autos, "SAMPLE_ROWS", 1800)
    table = take(make_rows(), "two")
    model = engines.fit(make_model("two", solver="pathbuild", n_candidates=20), table, "two")
    X = table.drop_columns(["two"])
    for row in model.rules_:
        if row.kind == "rule":  # supports are those of all rows
            assert row.support == pytest.approx(model.transform_rules(X)[:, row.rank - 1].mean(), abs=1e-12)


def test_a_sample_unlike_the_rest_is_told(monkeypatch):
    """The squared error of all rows comes from their statistics; here the rows not drawn are of another kind."""
    monkeypatch.setattr(autos, "SAMPLE_ROWS", 1800)
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.normal(size=N_ROWS), "b": rng.normal(size=N_ROWS)})
    a = table["a"].to_numpy()
    seed = int(make_rng(0).spawn(3)[2].integers(2**63, size=2)[1])
    ranks = np.argsort(np.argsort(hash_positions(seed, np.arange(N_ROWS))))
    y = np.where((a > 0) != (ranks >= 1800), "yes", "no")
    with pytest.warns(SampleWarning, match="sample of 1,800 rows"):
        RuleEnsembleClassifier(solver="pathbuild", n_candidates=20, random_state=0, cv=3, n_jobs=1).fit(table, y)


def test_rare_classes_among_many_do_no_harm():
    table = take(make_rows(), "three")
    table = set_value(set_value(table, "three", 0, 9), "three", 1, 9)
    model = engines.fit(make_model("three"), table, "three")
    assert model.classes_.tolist() == [0, 1, 2, 9]
    X, y = table.drop_columns(["three"]), table["three"].to_numpy()
    assert model.score(X, y) > 0.5


def test_progress_is_shown(capsys, write):
    engines.fit(make_model("number", verbose=1), write(take(make_rows(), "number")), "number")
    told = capsys.readouterr().err
    assert [line.split("  ")[0] for line in told.splitlines()] == [
        "Drawing rows",
        "Growing trees",
        "Screening rules",
        "Solving",
        "Counting rules",
        "Solving again",
        "Shortening",
        "Judging lists",
    ]


def test_one_fit_reads_the_rows_three_times(monkeypatch):
    passes = []
    table = take(make_rows(), "three")

    def read():
        passes.append(1)
        return table.to_reader(500)

    engines.fit(make_model("three"), read, "three")
    # To count them, for a stream does not tell; to draw; to count the rules of all classes; to judge the lists.
    assert sum(passes) == 4


def test_names_are_kept():
    table = take(make_rows(), "number")
    model = engines.fit(RuleEnsembleRegressor(n_candidates=20, random_state=0), table, "number", drop=["b"])
    assert model.feature_names_in_.tolist() == ["a", "c", "e"]
    assert model.n_features_in_ == 3


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all"])
def test_the_jobs_of_a_model_are_checked_where_they_are_threads(n_jobs):
    table = take(make_rows(), "number")
    model = in_memory(make_model("number", n_candidates=4), table, "number").set_params(n_jobs=n_jobs)
    for call in (engines.fit, engines.score):
        with pytest.raises(InvalidInputError, match="`n_jobs` must be None or a whole number other than 0; got"):
            call(model, table, "number")


@pytest.mark.parametrize("column", [0, 4])  # an attribute and the target
def test_a_flipped_bit_ends_a_fit(tmp_path, column):
    """Eight of ten damaged files were fitted without a word, though each page has a checksum."""
    path = tmp_path / "rows.parquet"
    write_checked(take(make_rows(), "number"), path, row_group_size=500)
    flip_bit(path, column, group=3)
    with pytest.raises(InvalidInputError, match=r"rows\.parquet', row group 3: The file is damaged \(.*CRC checksum"):
        engines.fit(make_model("number"), path, "number")


@pytest.mark.parametrize("n_rows", [900, N_ROWS])
def test_a_stream_that_ends_earlier_the_second_time_is_refused(n_rows):
    table = take(make_rows(), "two").slice(0, n_rows)
    lengths = iter([n_rows, n_rows, n_rows - 100] if n_rows == N_ROWS else [n_rows, n_rows - 100])
    with pytest.raises(InvalidInputError, match=r"^the stream: .* rows came where .* came before"):
        engines.fit(make_model("two"), lambda: table.slice(0, next(lengths)).to_reader(500), "two")


@pytest.mark.parametrize("target", ["number", "two", "three"])
@pytest.mark.parametrize("n_rows", [900, N_ROWS])
def test_rows_in_another_order_the_second_time_are_refused(target, n_rows):
    """Rows that were drawn, dealt out to folds and counted by their positions were not the same rows."""
    table = take(make_rows(), target).slice(0, n_rows)
    swapped = table.take([1200 % n_rows, *range(1, n_rows)])
    if swapped[target][0] == table[target][0]:
        swapped = table.take(list(range(n_rows - 1, -1, -1)))
    passes = iter([table, table, swapped])  # to count, to draw, to count the rules
    with pytest.raises(InvalidInputError, match=f"The target '{target}' had other values, or its rows another order"):
        engines.fit(make_model(target, solver="fpc"), lambda: next(passes).to_reader(500), target, keep_statistics=True)


def interrupt(*args, **kwargs):
    raise KeyboardInterrupt


def refuse(*args, **kwargs):
    raise InvalidInputError("no")


@pytest.mark.parametrize("preset", [None, "fast"])
@pytest.mark.parametrize("fail", [interrupt, refuse])
@pytest.mark.parametrize(
    ("n_rows", "module", "name"),
    [
        (N_ROWS, fitting, "count_over"),
        (N_ROWS, fitting, "keep_pools"),
        (900, keeping, "count_over"),
        (900, counting, "collect_statistics"),
    ],
)
def test_a_fit_that_fails_leaves_the_model_as_it_was(monkeypatch, n_rows, module, name, fail, preset):
    """A fit that was interrupted left names, classes and a `statistics_` of the new table beside the old rules."""
    old = take(make_rows(), "two").slice(0, 400)
    model = engines.fit(make_model("two", n_candidates=20, preset=preset), old, "two", keep_statistics=True)
    before, predicted = dict(vars(model)), model.predict_proba(old.drop_columns(["two"]))
    table = take(make_rows(seed=1), "three").slice(0, n_rows).rename_columns(["p", "q", "r", "s", "three"])
    monkeypatch.setattr(module, name, fail)
    with pytest.raises((KeyboardInterrupt, InvalidInputError)):
        engines.fit(model, table, "three", keep_statistics=True)
    assert list(vars(model)) == list(before)
    assert all(vars(model)[key] is value for key, value in before.items())
    np.testing.assert_array_equal(model.predict_proba(old.drop_columns(["two"])), predicted)


def test_the_statistics_of_several_runs_are_not_kept(write):
    with pytest.raises(InvalidInputError, match=r"keeps the statistics of one run, but n_runs=2"):
        engines.fit(make_model("two", n_runs=2), write(take(make_rows(), "two")), "two", keep_statistics=True)
