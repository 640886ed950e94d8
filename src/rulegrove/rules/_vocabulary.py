"""The words that a table gives to rules, its names and labels, found where a text has them."""

import bisect
import functools
from collections.abc import Iterable, Iterator, Sequence

from rulegrove._words import printable
from rulegrove.columns import Feature
from rulegrove.rules.rule import ANY_OTHER, write_label


class Spellings:
    """Words, and what each may stand for; however many there are, those at a place of a text are found at once."""

    def __init__(self, meanings: Iterable[tuple[str, int]]):
        self._meanings: dict[str, list[int]] = {}
        for word, meaning in meanings:
            self._meanings.setdefault(word, []).append(meaning)
        self._words = sorted(self._meanings)
        self._longest = max(map(len, self._words), default=0)
        # Sorted, a word comes after all its beginnings: the last one that is still open is the longest of them.
        self._beginnings: list[int] = []
        for place, word in enumerate(self._words):
            before = place - 1
            while before >= 0 and not word.startswith(self._words[before]):
                before = self._beginnings[before]
            self._beginnings.append(before)

    @functools.cached_property
    def leads(self) -> list[int]:
        """Numbers of blanks that words begin with."""
        return sorted({len(word) - len(word.lstrip()) for word in self._words})

    def of(self, word: str) -> list[int]:
        """Return what a word stands for."""
        return self._meanings.get(word, [])

    def at(self, text: str, start: int) -> Iterator[tuple[int, int]]:
        """Yield what the words at a place stand for and where they end, the shortest first.

        Of all words up to the text in their order, the last one has every word that the text begins with among its own
        beginnings.
        """
        text_here = text[start : start + self._longest]
        place = bisect.bisect_right(self._words, text_here) - 1
        found = []
        while place >= 0:
            if text_here.startswith(self._words[place]):
                found.append(self._words[place])
            place = self._beginnings[place]
        for word in reversed(found):
            end = start + len(word)
            if _ends_word(word, text, end):
                yield from ((meaning, end) for meaning in self._meanings[word])


class Labels:
    """The categories of an attribute, as rules print them and as people type them."""

    def __init__(self, feature: Feature):
        labels = feature.categories or ()
        pooled = [(ANY_OTHER, len(labels))] if feature.pooled else []
        printed = [(word, code) for code, label in enumerate(labels) for word in (write_label(label), repr(label))]
        self.printed = Spellings([*printed, *pooled])
        self.bare = Spellings((str(label), code) for code, label in enumerate(labels) if str(label))
        self._numbers: dict[float, list[int]] = {}
        for code, label in enumerate(labels):
            if isinstance(label, (int, float)) and not isinstance(label, bool):
                self._numbers.setdefault(float(label), []).append(code)

    def of_number(self, number: float) -> list[int]:
        """Return the categories that are this number."""
        return self._numbers.get(number, [])


class Vocabulary:
    """The names of attributes and the labels of their categories."""

    def __init__(self, features: Sequence[Feature]):
        self.features = features
        self.names = Spellings(
            (name, position)
            for position, feature in enumerate(features)
            for name in dict.fromkeys((feature.name, printable(feature.name)))
        )
        self._labels: dict[int, Labels] = {}

    def labels(self, feature: int) -> Labels:
        """Return the categories of an attribute."""
        if feature not in self._labels:
            self._labels[feature] = Labels(self.features[feature])
        return self._labels[feature]


def _ends_word(word: str, text: str, end: int) -> bool:
    """Whether a word that ends here is not the beginning of a longer one."""
    return not (word and _is_letter(word[-1]) and end < len(text) and _is_letter(text[end]))


def _is_letter(character: str) -> bool:
    """Whether a character is part of a word."""
    return character.isalnum() or character == "_"
