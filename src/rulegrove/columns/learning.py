"""What each column of a training table is: a number, categories, dates; or an identifier, which is left out."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._typing import AnyArray, IntArray
from rulegrove._warn import warn_user
from rulegrove.columns.blocks import Columns, check_finite
from rulegrove.columns.dates import expand_dates, looks_like_dates, parse_times, read_part
from rulegrove.columns.encoding import encode_labels
from rulegrove.columns.feature import Feature
from rulegrove.columns.numbers import is_marked, read_distinct, read_numbers
from rulegrove.columns.tables import Cells, Table
from rulegrove.exceptions import (
    DoubtfulColumnWarning,
    DroppedColumnWarning,
    InvalidInputError,
    PooledCategoriesWarning,
)

FEW_ROWS = 10  # fewer rows than this may all differ by chance: no column is then taken for an identifier
FEW_LABELS = 100  # no more categories than this are nothing to wonder about
FEW_NUMBERS = 10  # text of no more different numbers is codes rather than measurements
EXACT_INTEGERS = 2**53  # from here on a float does not tell two integers apart

_LIKE_IDENTIFIER = re.compile(r"(?:^|.*[_ .-])(?:id|key|uuid|guid|index)|.*[a-z](?:Id|ID|Key)", re.DOTALL)
_NAMELESS = re.compile(r"|Unnamed: \d+")  # as pandas calls the index of a table that was written with it

Chosen = Any  # "auto", None, names, positions or a mask: what `categorical_features` takes


@dataclass(frozen=True)
class Reading:
    """What the user says about the columns."""

    # Names, positions or mask of the categorical columns. "auto" takes text and categorical columns of a data frame or
    # an object array.
    categorical: Chosen = "auto"
    # Names, positions or mask of text columns to read as numbers; words that are no numbers are missing.
    numeric: Chosen = None
    # Names, positions or mask of the columns to leave out; "auto" finds text and consecutive integers that differ in
    # every row.
    identifiers: Chosen = "auto"
    max_categories: int = 255  # most categories of a column; of more, the rarest are pooled


def learn_columns(
    X: Any, reading: Reading | None = None, *, rows: IntArray | None = None, n_rows: int | None = None
) -> Columns:
    """Read a training table and decide what each column is.

    It is learned from some of the `rows`, all by default; a category that these do not have is unknown, as in
    `encode_columns`. `n_rows` are those of the whole table, if `X` is only a sample of it.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, "red"], [2.0, "blue"], [3.0, None]], dtype=object)
    >>> columns = learn_columns(X)
    >>> columns.features[1].categories
    ('blue', 'red')
    >>> columns.take(slice(None))
    array([[ 1.,  2.,  3.],
           [ 1.,  0., nan]])
    """
    reading = Reading() if reading is None else reading
    table = Table(X)
    plain = all(told is None or isinstance(told, str) for told in (reading.categorical, reading.identifiers))
    if table.matrix is not None and plain and reading.numeric is None:
        columns = Columns([Feature(name, boolean=table.boolean) for name in table.names], table.matrix)
        columns.check_finite()
        return columns
    return _Learner(table, reading, rows, table.n_rows if n_rows is None else n_rows).learn()


class _Learner:
    """Goes through the columns of a table."""

    def __init__(self, table: Table, reading: Reading, rows: IntArray | None, n_rows: int):
        self.table, self.rows, self.n_rows = table, rows, n_rows
        self.reading = reading
        self.categorical = _choose(reading.categorical, table.names, "categorical_features")
        self.numeric = _choose(reading.numeric, table.names, "numeric_features")
        self.left_out = _choose(reading.identifiers, table.names, "identifiers")
        self.finds_identifiers = isinstance(reading.identifiers, str)
        both = sorted(self.categorical & self.numeric)
        if both:
            raise InvalidInputError(
                f"{table.place(both[0])} is in both `categorical_features` and `numeric_features`; list it in only "
                "one of them."
            )

    def learn(self) -> Columns:
        """Return the attributes, without identifiers unless there is nothing else."""
        found: list[tuple[Feature, AnyArray]] = []
        suspects: list[tuple[int, Cells, str]] = []
        for position in range(len(self.table.names)):
            if position in self.left_out:
                continue
            cells = self.table.read(position)
            reason = self._find_identifier(position, cells) if self.finds_identifiers else None
            if reason is None:
                found += self._learn(position, cells)
            else:
                suspects.append((position, cells, reason))
        if not found:
            found = [pair for position, cells, _ in suspects for pair in self._learn(position, cells)]
            suspects = []
        if not found:
            raise InvalidInputError("`identifiers` leaves out every column of X; keep at least one.")
        for position, _, reason in suspects:
            warn_user(f"{self.table.place(position)} {reason}", DroppedColumnWarning)
        features, values = [feature for feature, _ in found], [values for _, values in found]
        return Columns(features, values, self.table.n_rows, self.table.names)

    def _drawn(self, values: AnyArray) -> AnyArray:
        """Return the cells to learn from."""
        return values if self.rows is None else values[self.rows]

    def _find_identifier(self, position: int, cells: Cells) -> str | None:
        """Say why a column is an identifier, if it is; warn of one that may be."""
        if position in self.categorical or position in self.numeric:
            return None
        values, name = self._drawn(cells.values), self.table.names[position]
        if cells.kind == "text":
            present = _list_present(values)
            if len(present) < FEW_ROWS or len(set(present)) < len(present):
                return None
            if parse_times(values) is not None or looks_like_dates(values) or _count_numbers(values):
                return None
            return (
                "has a different text in every row, like names or identifiers, so it is left out. List it in "
                "`categorical_features` to keep it."
            )
        if cells.kind != "integer" or len(values) < FEW_ROWS:
            return None
        spread = np.ptp(values)  # NaN where one is missing; less than the number of rows where two are equal
        if not spread >= len(values) - 1 or len(np.unique(values)) < len(values):
            return None
        if spread < self.n_rows or _NAMELESS.fullmatch(name):
            return "numbers the rows like an identifier, so it is left out. Set `identifiers` to None to keep it."
        if _LIKE_IDENTIFIER.fullmatch(name):
            warn_user(
                f"{self.table.place(position)} has a different whole number in every row; if these are identifiers, "
                "list the column in `identifiers` to leave it out.",
                DoubtfulColumnWarning,
            )
        return None

    def _learn(self, position: int, cells: Cells) -> Iterator[tuple[Feature, AnyArray]]:
        """Yield the attributes of a column with their values."""
        name, place, values = self.table.names[position], self.table.place(position), cells.values
        if position in self.numeric and values.dtype == object:
            yield Feature(name, as_text=True), self._read_numbers(place, values)
        elif cells.kind == "mixed":
            kinds = ", ".join(sorted({type(value).__name__ for value in _list_present(values)}))
            raise TypeError(
                f"{place} is neither numeric nor categorical: each argument must be a string or a number, all of one "
                f"kind; got {kinds}. List it in `numeric_features` to treat other words as missing, or convert all of "
                "it to text."
            )
        elif position in self.categorical:
            if cells.kind == "time":
                raise InvalidInputError(
                    f"{place} contains dates, which cannot be categories; convert them to text first."
                )
            feature = self._categories(name, place, values)
            yield feature, encode_labels(values, feature)
        elif cells.kind == "time" or (cells.kind == "text" and parse_times(self._drawn(values)) is not None):
            times = parse_times(values) if cells.kind == "text" else values
            if times is None:
                raise InvalidInputError(
                    f"{place} has dates in the sampled rows, but not in all others; repair the values that are not "
                    "dates."
                )
            for feature in expand_dates(name, self._drawn(times), self.table.names):
                assert feature.part is not None
                yield feature, read_part(times, feature.part)
        elif cells.kind in ("text", "category"):
            if not isinstance(self.reading.categorical, str):
                raise InvalidInputError(
                    f"{place} holds text but is not in `categorical_features`={self.reading.categorical!r}; add it "
                    "there, or encode the text as numbers."
                )
            doubtful = cells.kind == "text" and self._doubt_text(place, values)
            feature = self._categories(name, place, values, quiet=doubtful)
            if cells.kind == "text" and not doubtful:
                self._doubt_categories(place, feature, values)
            yield feature, encode_labels(values, feature)
        else:
            check_finite(values, place)
            yield Feature(name, boolean=cells.kind == "boolean"), values

    def _read_numbers(self, place: str, values: AnyArray) -> AnyArray:
        """Return text as numbers, telling how much of it is none."""
        numbers = read_numbers(values)
        present = np.array([value is not None for value in values])
        odd = np.flatnonzero(present & np.isnan(numbers))
        if odd.size:
            warn_user(
                f"{place}: {odd.size:,} of {int(present.sum()):,} values "
                f"{'is not a number and counts' if odd.size == 1 else 'are not numbers and count'} as missing; the "
                f"first, in row {odd[0]}, is {str(values[odd[0]])[:40]!r}.",
                DoubtfulColumnWarning,
            )
        check_finite(numbers, place)
        return numbers

    def _doubt_text(self, place: str, values: AnyArray) -> bool:
        """Warn of text that seems to be numbers or dates; tell whether it does."""
        drawn = self._drawn(values)
        n_numbers, present = _count_numbers(drawn), _list_present(drawn)
        if n_numbers:
            odd = next(row for row, value in enumerate(values) if value is not None and is_marked(value))
            warn_user(
                f"{place}: {n_numbers:,} of {len(present):,} values are numbers; row {odd} has {values[odd][:40]!r}. "
                "Every different text is therefore a category; list the column in `numeric_features` to read the "
                "numbers and treat other words as missing.",
                DoubtfulColumnWarning,
            )
        elif looks_like_dates(drawn):
            warn_user(
                f"{place} looks like dates such as {present[0]!r}, but day and month cannot be told apart, so each "
                "date is a category. Write them as 2024-02-29 to have them read as dates.",
                DoubtfulColumnWarning,
            )
        else:
            return False
        return True

    def _categories(self, name: str, place: str, values: AnyArray, *, quiet: bool = False) -> Feature:
        """Return a categorical attribute: all labels, or of many the frequent ones, which is said unless `quiet`."""
        counts = _count_labels(self._drawn(values), place)
        labels = _sort_labels(counts, place)
        kept = _keep_frequent(labels, counts, self.reading.max_categories)
        if len(kept) == len(labels):
            return Feature(name, labels)
        if not quiet:
            n_rows = sum(counts.values())
            n_pooled = n_rows - sum(counts[label] for label in kept)
            warn_user(
                f"{place} has {len(labels):,} categories; the {len(kept):,} most frequent are kept, and the others "
                f"({n_pooled:,} of {n_rows:,} rows) become one category, 'any other'. List the column in "
                "`identifiers` to leave it out.",
                PooledCategoriesWarning,
            )
        return Feature(name, kept, pooled=True)

    def _doubt_categories(self, place: str, feature: Feature, values: AnyArray) -> None:
        """Warn of categories that hardly ever come twice."""
        n_labels, n_present = feature.n_categories, len(_list_present(self._drawn(values)))
        if self.finds_identifiers and not feature.pooled and n_labels > FEW_LABELS and 2 * n_labels > n_present:
            warn_user(
                f"{place} has {n_labels:,} categories on {n_present:,} rows, and most of them say nothing about other "
                "rows; list the column in `identifiers` to leave it out.",
                DoubtfulColumnWarning,
            )


def _list_present(values: AnyArray) -> list[Any]:
    """Return the cells of labels or text that are not missing."""
    return [value for value in values if value is not None]


def _keep_frequent(
    labels: Sequence[Hashable], counts: "Counter[Hashable]", max_categories: int
) -> tuple[Hashable, ...]:
    """Return the labels that are categories of their own: all, or the most frequent where there are too many."""
    if len(labels) <= max_categories:
        return tuple(labels)
    repeated = [code for code, label in enumerate(labels) if counts[label] > 1]  # one row says nothing of a category
    repeated.sort(key=lambda code: -counts[labels[code]])  # of equally frequent ones the first
    return tuple(labels[code] for code in sorted(repeated[: max_categories - 1]))


def _count_numbers(values: AnyArray) -> int:
    """Return how many cells of text are numbers, if that is most of them and not all as a program writes them."""
    present = _list_present(values)
    known = read_distinct(present)
    if np.count_nonzero(~np.isnan(list(known.values()))) <= FEW_NUMBERS or not any(map(is_marked, known)):
        return 0
    n_numbers = sum(not np.isnan(known[value]) for value in present)
    return n_numbers if 2 * n_numbers >= len(present) else 0


def _count_labels(values: AnyArray, place: str) -> "Counter[Hashable]":
    """Return how often each label occurs."""
    if values.dtype == object:
        return Counter(_list_present(values))
    labels, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    check_finite(labels, place)
    return Counter(dict(zip(labels.tolist(), counts.tolist(), strict=True)))


def _sort_labels(labels: Iterable[Hashable], place: str) -> tuple[Hashable, ...]:
    """Return labels sorted; refuse those that cannot be, and integers that a float would round."""
    found = list(labels)
    if any(isinstance(label, (int, float)) and abs(label) >= EXACT_INTEGERS for label in found):
        raise InvalidInputError(
            f"{place} has categories that are whole numbers of 2**53 or more, which other programs round; convert them "
            "to text."
        )
    try:
        return tuple(sorted(found))  # type: ignore[type-var]
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in found}))
        raise InvalidInputError(
            f"{place} mixes categories of different types: {kinds}. Convert them to text."
        ) from None


def _choose(told: Chosen, names: Sequence[str], parameter: str) -> frozenset[int]:
    """Return the positions of the columns that a parameter names."""
    if told is None or (isinstance(told, str) and told == "auto"):
        return frozenset()
    listed = [told] if isinstance(told, str) else list(told)
    if listed and all(isinstance(item, (bool, np.bool_)) for item in listed):
        if len(listed) != len(names):
            raise InvalidInputError(
                f"The mask `{parameter}` has {len(listed)} entries for {len(names)} columns; give one entry for each "
                "column."
            )
        return frozenset(np.flatnonzero(listed).tolist())
    places = {name: place for place, name in enumerate(names)}
    chosen = set()
    for item in listed:
        position = places.get(item) if isinstance(item, str) else item
        if not isinstance(position, (int, np.integer)) or not 0 <= position < len(names):
            raise InvalidInputError(f"`{parameter}` names {item!r}, which is not a column of X.")
        chosen.add(int(position))
    return frozenset(chosen)
