"""Words are found at a place of a text as if each had been tried."""

from hypothesis import given, settings
from hypothesis import strategies as st

from rulegrove.columns import Feature
from rulegrove.rules._vocabulary import Labels, Spellings

LETTERS = st.text("ab_ .", max_size=6)


@settings(max_examples=300)
@given(st.lists(LETTERS, max_size=12), LETTERS, LETTERS)
def test_words_at_a_place_are_those_the_text_goes_on_with(words, before, after):
    text, start = before + after, len(before)
    found = list(Spellings((word, place) for place, word in enumerate(words)).at(text, start))

    def ends(word):
        end = start + len(word)
        return not (word[-1:].isalpha() or word[-1:] == "_") or (text[end : end + 1] or " ")[0] not in "ab_"

    naive = [(k, start + len(word)) for k, word in enumerate(words) if text.startswith(word, start) and ends(word)]
    assert sorted(found) == sorted(naive)
    assert [end for _, end in found] == sorted(end for _, end in found)


def test_a_label_is_known_by_all_its_spellings():
    labels = Labels(Feature("grade", (1.0, True, "x y"), pooled=True))
    assert set(labels.printed.at("{1.0}", 1)) == {(0, 2), (0, 4)}
    assert list(labels.printed.at("any other", 0)) == [(3, 9)]
    assert labels.bare.of("x y") == [2]
    assert labels.of_number(1.0) == [0]
