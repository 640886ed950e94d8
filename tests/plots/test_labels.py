import itertools

import matplotlib.pyplot as plt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.cbook import is_math_text

from rulegrove.plots import _labels
from rulegrove.plots._labels import escape, finish_bars, fit_texts, label_rows, legend_below, signed, wrap

words = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=60)


@given(words)
def test_escaped_text_is_no_formula(text):
    escaped = escape(text)
    assert not is_math_text(escaped)
    # What matplotlib draws of text that is no formula.
    assert escaped.replace(r"\$", "$") == text


@given(words, st.integers(6, 40), st.none() | st.integers(1, 4))
def test_wrapped_lines_fit(text, width, max_lines):
    lines = wrap(text, width, max_lines).split("\n")
    assert max(map(len, lines)) <= width
    if max_lines is not None:
        assert len(lines) <= max_lines


@given(words, st.integers(6, 40))
def test_wrapping_loses_nothing(text, width):
    assert "".join(wrap(text, width).split()) == "".join(text.replace("\N{NO-BREAK SPACE}", " ").split())


def test_cut_text_keeps_its_beginning():
    assert wrap("glucose > 100 and mass > 30", 16, 1) == "glucose > 100 …"
    assert wrap("glucose > 100 and mass > 30", 17, 1) == "glucose > 100 an…"
    assert wrap("a" * 30, 10, 1) == "aaaaaaaaa…"
    assert wrap("age > 3 and mass > 30", 10, 1) == "age > 3 …"


def test_signed():
    assert [signed(value) for value in (0.0, 1234.0, -1e-5)] == ["+0", "+1.2e+03", "\N{MINUS SIGN}1e\N{MINUS SIGN}05"]


@given(st.lists(words, min_size=1, max_size=5), st.floats(30, 600), st.floats(2, 200), st.floats(5, 14))
def test_fitted_texts_fit(texts, width, height, size):
    fitted, chosen = fit_texts(texts, width, height, size)
    assert len(fitted) == len(texts)
    assert _labels.SMALLEST <= chosen <= size
    for place, text in enumerate(fitted):
        if text and place + 1 < len(fitted) and height < _labels.LINE * _labels.SMALLEST:
            assert not fitted[place + 1]  # no room for each, so every other one at most
        if height >= (_labels.LINE + 0.3) * _labels.SMALLEST:
            assert (text.count("\n") + 1) * _labels.LINE * chosen <= height + 1e-9


def test_labels_of_rows_do_not_overlap():
    for n_rows in (3, 12, 40, 200):
        figure, ax = plt.subplots(figsize=(5, 4))
        ax.barh(range(n_rows), range(n_rows))
        label_rows(
            ax, [f"attribute_{row} > 3.25 and another_attribute <= {row}.5 and one more > 1" for row in range(n_rows)]
        )
        figure.draw_without_rendering()
        boxes = [label.get_window_extent() for label in ax.get_yticklabels() if label.get_text()]
        assert len(boxes) >= 3
        assert all(above.y0 >= below.y1 for above, below in itertools.pairwise(boxes))


@pytest.mark.parametrize("ends", [[3.0, 2.0, 0.1], [-3.0, 2.0, 1.0], [-1.0, -2.0], [0.0]])
def test_values_stay_inside(ends):
    figure, ax = plt.subplots()
    bars = ax.barh(range(len(ends)), ends)
    finish_bars(ax, bars, ["label"] * len(ends), [signed(end) for end in ends])
    figure.draw_without_rendering()
    assert [text.get_text() for text in ax.texts] == [signed(end) for end in ends]
    for text in ax.texts:
        box, inside = text.get_window_extent(), ax.get_window_extent()
        assert inside.x0 <= box.x0
        assert box.x1 <= inside.x1


def test_values_without_room_are_left_out():
    _, ax = plt.subplots(figsize=(1, 1))
    finish_bars(ax, ax.barh([0], [1.0]), ["label"], ["a long text that fits nowhere"])
    assert not ax.texts


def test_legend_takes_words_as_they_are():
    _, ax = plt.subplots()
    lines = ax.plot([[0, 1], [1, 0]])
    legend_below(ax, dict(zip(["_a$", "$b$"], lines, strict=True)))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [r"_a\$", r"\$b\$"]
