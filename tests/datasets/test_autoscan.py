"""The reader of the Dark Energy Survey's table."""

from pathlib import Path

import numpy as np
import pytest

from rulegrove.datasets import AUTOSCAN_FEATURES, load_autoscan
from rulegrove.exceptions import InvalidInputError

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "des_autoscan.csv"
HEADER = ",".join((*AUTOSCAN_FEATURES, "class"))
ROW = ",".join(str(k / 8) for k in range(38))


@pytest.fixture
def write(tmp_path):
    def write_lines(*lines):
        path = tmp_path / "table.csv"
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    return write_lines


def test_reads_numbers_missing_cells_and_labels(write):
    empty_first = "," + ROW.split(",", 1)[1]
    dataset = load_autoscan(str(write(HEADER, f"{ROW},1", f"{empty_first},-1", "")))
    assert dataset.feature_names == AUTOSCAN_FEATURES
    np.testing.assert_array_equal(dataset.X[0], np.arange(38) / 8)
    assert np.isnan(dataset.X[1, 0])
    assert not np.isnan(dataset.X[1, 1:]).any()
    assert dataset.y.tolist() == [1, -1]
    assert dataset.y.dtype == np.int64


def test_byte_order_mark_is_no_part_of_the_header(write):
    assert load_autoscan(write("\ufeff" + HEADER, f"{ROW},1")).y.tolist() == [1]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a,b,class", "1,2,1"], "got 3 columns, without AMP, .* with the unknown 'a', 'b'"),
        ([HEADER.replace("AMP,A_IMAGE", "A_IMAGE,AMP"), f"{ROW},1"], "in another order or repeated"),
        ([HEADER.replace("SNR,", ""), f"{ROW},1"], "got 38 columns, without SNR"),
        ([], "got 0 columns"),
        ([HEADER], "has a header but no rows"),
        ([HEADER, f"{ROW},1", "1,2,3"], "Line 3 must have 39 cells like the header; got 3"),
        ([HEADER, f"{ROW},1", f"{ROW},1".replace("0.125", "faint")], "'A_IMAGE' must be a number .*'faint' on line 3"),
        ([HEADER, f"{ROW},2"], "'class' must be -1 or 1; got '2' on line 2"),
        ([HEADER, f"{ROW},"], "'class' must be -1 or 1; got '' on line 2"),
    ],
)
def test_bad_file_is_a_clear_error(write, lines, message):
    with pytest.raises(InvalidInputError, match=message):
        load_autoscan(write(*lines))


def test_absent_file_is_a_clear_error(tmp_path):
    with pytest.raises(InvalidInputError, match=r"there is no file .*nowhere\.csv"):
        load_autoscan(tmp_path / "nowhere.csv")


def test_real_table():
    if not REAL.exists():
        pytest.skip("no table at hand: ../shared/data is absent")
    dataset = load_autoscan(REAL)
    assert dataset.X.shape == (14000, 38)
    assert (dataset.y == 1).sum() == 7093
    assert (dataset.y == -1).sum() == 6907
    assert np.isnan(dataset.X).sum() == 4375
    column = {name: dataset.X[:, k] for k, name in enumerate(dataset.feature_names)}
    known = ~np.isnan(column["MAG_REF"])
    difference = column["MAG_REF"] - column["MAG"] - column["MAGDIFF"]
    assert np.abs(difference[known]).max() < 1e-3
