"""An attribute, and the columns of a table that attributes are read from."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rulegrove._typing import IntArray

Part = Literal["date", "year", "month", "weekday", "hour"]


@dataclass(frozen=True, slots=True)
class Feature:
    """An attribute that rules speak of, and how it is read from a column of the table."""

    name: str
    # Labels of a categorical attribute, in the order of their codes. Any other label has the code ``len(categories)``;
    # a missing value has none.
    categories: tuple[Hashable, ...] | None = None
    # Whether all labels that are not among `categories` form one more category, which rules may hold for: those that
    # were rare in the training table, and those that it did not have.
    pooled: bool = False
    column: str | None = None  # the column that the attribute is read from, if that has another name
    # What the attribute tells of a column of dates or times: whole days since 1970-01-01, the year, the month from 1 to
    # 12, the day of the week from 1 (Monday) to 7, or the hour from 0 to 23. Times with a zone are read in UTC.
    part: Part | None = None
    as_text: bool = False  # whether the column holds numbers written as text, such as "35%" or "$1,234"
    boolean: bool = False  # whether the column holds truth values, read as 1 (true) and 0 (false)

    @property
    def source(self) -> str:
        """Name of the column that the attribute is read from."""
        return self.name if self.column is None else self.column

    @property
    def n_categories(self) -> int:
        """Categories that rules may hold for, the pooled one included; 0 for a number."""
        return 0 if self.categories is None else len(self.categories) + self.pooled


def call_column(position: int, name: str) -> str:
    """Return what messages call a column.

    Examples
    --------
    >>> call_column(3, "age")
    "Column 3 ('age')"
    """
    return f"Column {position} ('{name}')"


def list_sources(features: Iterable[Feature]) -> tuple[str, ...]:
    """Return the columns that attributes are read from, each once, in their order.

    Examples
    --------
    >>> list_sources([Feature("sold", part="date"), Feature("sold.year", column="sold", part="year"), Feature("age")])
    ('sold', 'age')
    """
    return tuple(dict.fromkeys(feature.source for feature in features))


def locate_sources(features: Iterable[Feature], names: Sequence[str]) -> IntArray:
    """Return for each attribute the position of its column among the columns of the table.

    Examples
    --------
    >>> locate_sources([Feature("sold.year", column="sold", part="year"), Feature("age")], ["id", "sold", "age"])
    array([1, 2])
    """
    places = {name: place for place, name in enumerate(names)}
    return np.array([places[feature.source] for feature in features], dtype=np.int64)
