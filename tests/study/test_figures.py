"""One file for the package `figures`: every figure of every module is drawn from the same measured results."""

import pytest
from matplotlib.image import imread

from rulegrove.study.figures import DRAWERS, draw_pictures
from rulegrove.study.figures.style import check_matplotlib, draw_curve, new_figure
from rulegrove.study.words import PICTURES


def test_every_figure_is_drawn(drawn):
    files = list((drawn / "figures").iterdir())
    assert {file.stem for file in files} == {picture.name for picture in PICTURES} == set(DRAWERS)
    for file in files:
        pixels = imread(file)
        assert min(pixels.shape[:2]) > 200, file.name
        assert pixels[..., :3].std() > 0.02, f"{file.name} is blank"


def test_parts_without_results_are_not_drawn(measured, tmp_path):
    assert set(draw_pictures(measured.where(part="fit-weight"), tmp_path)) == {"fit_weight", "nonzero"}


def test_every_repetition_is_a_point(measured):
    _, ax = new_figure()
    here = measured.where(part="threshold")
    draw_curve(ax, here, "error", "words", 0)
    drawn = [y for line in ax.get_lines()[:-1] for y in line.get_ydata()]
    assert sorted(drawn) == sorted(here.numbers("error"))
    assert list(ax.get_lines()[-1].get_xdata()) == here.grid()


def test_matplotlib_is_asked_for_by_name(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'rulegrove\[plot\]'"):
        check_matplotlib()
