"""The words of the report belong to what is measured."""

from rulegrove.study.parts import PARTS
from rulegrove.study.words import PART_TITLES, PART_WORDS, PICTURES, describe_run


def test_every_part_has_words():
    assert set(PART_TITLES) == set(PART_WORDS) == set(PARTS)


def test_pictures_belong_to_parts_and_say_where_they_come_from():
    assert {picture.part for picture in PICTURES} <= set(PARTS)
    for picture in PICTURES:
        assert picture.long_caption.startswith(picture.caption)
        assert ("In the paper: “" if picture.place else "Not in the paper.") in picture.long_caption


def test_words_are_whole_sentences():
    for words in PART_WORDS.values():
        assert words
        assert all(paragraph.endswith(".") and "  " not in paragraph for paragraph in words)


def test_every_page_tells_how_much_was_measured(measured, tiny):
    told = describe_run(measured, tiny)
    assert told.startswith("QUICK study")
    assert f"{len(measured.distinct('task'))} tasks" in told
