"""What an edit tells, in words, as a table and as HTML."""

from rulegrove.estimators.edits import SPENT, Change, Cost, Edit, Edits, Move

ABOUT = {
    "words": "Dropped 3: a > 1",
    "time": "2030-01-01T00:00:00+00:00",
    "error_name": "error",
    "loss_name": "log loss",
}
DROPPED = Edit(
    {"operation": "drop", "number": 3, "note": "no <b>sense</b>", "author": "A. B."},
    **ABOUT,
    honest=Cost(0.25, 0.01, 0.5, 0.02),
    before=Cost(0.2, 0.01, 0.45, 0.02),
    after=Cost(0.21, 0.01, 0.451, 0.02),
    change=Change(0.01, 0.004, 0.001, 0.0005, 12, 1200),
    moved=tuple(Move(number, "", 0.5, 0.25) for number in (1, 2, 4, 5)),
)


def test_tells_all_in_a_few_lines():
    assert repr(DROPPED).split("\n") == [
        "Dropped 3: a > 1.",
        "with the terms given: error 20.0 % -> 21.0 % (+1.00 ± 0.40); log loss 0.45 -> 0.451 (+0.001 ± 0.0005)",
        "the fitted list on rows that it has not seen: error 25.0 %; log loss 0.5",
        "12 of 1,200 rows are predicted differently",
        "weights that moved most: 1 +0.5 -> +0.25; 2 +0.5 -> +0.25; 4 +0.5 -> +0.25",
    ]
    assert (DROPPED.operation, DROPPED.note, DROPPED.author) == ("drop", "no <b>sense</b>", "A. B.")


def test_what_does_not_change_is_not_told_in_powers_of_ten():
    same = Edit(
        {"operation": "round"},
        **ABOUT,
        before=DROPPED.before,
        after=DROPPED.before,
        change=Change(0.0, 0.0, 3e-12, 1e-12, 0, 9),
    )
    assert "error 20.0 % (as before); log loss 0.45 (as before)" in repr(same)


def test_an_error_that_is_the_loss_is_told_once():
    names = {**ABOUT, "error_name": "mean deviance", "loss_name": "mean deviance"}
    rate = Edit({"operation": "drop"}, **names, before=DROPPED.before, after=DROPPED.after, change=DROPPED.change)
    assert repr(rate).count("mean deviance") == 1
    assert list(rate.to_cells()) == ["mean deviance", "rows otherwise", "done"]


def test_the_table_has_notes_below_what_was_done():
    edits = Edits([Edit({"operation": "open"}, **{**ABOUT, "words": "Opened"}, after=DROPPED.before), DROPPED])
    cells = edits.to_cells()
    assert cells[""] == ["0", "1"]
    assert cells["error"] == ["20.0 %", "20.0 % -> 21.0 % (+1.00 ± 0.40)"]
    assert cells["done"][1].split("\n")[-1] == "A. B.: no <b>sense</b>"
    page = edits._repr_html_()
    assert "no &lt;b&gt;sense" in page
    assert SPENT in page
    assert "<b>" not in page
    assert "The fitted list on rows that it has not seen: error 25.0 %; log loss 0.5.</p>" in page
    assert "<th" in DROPPED._repr_html_()
    assert repr(edits).endswith(SPENT)
    assert isinstance(edits[:1], Edits)
    assert repr(Edits()) == "Edits: none"
