"""One record for each output of a model, in one shape however many outputs there are."""

from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")
SHOWN_OUTPUTS = 1  # in a console


class PerOutput(Generic[T]):
    """A sequence with one item for each output: a single one for a number or two classes, else one per class.

    The attributes of a single item, or of one that all outputs share, can be used directly, as in ``model.path_.gaps``.

    Parameters
    ----------
    items : iterable
        One item for each output. Outputs that share an item have the same object.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> X, y = load("pima", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=50, random_state=0).fit(X, y)
    >>> len(model.path_), model.path_.gaps is model.path_[0].gaps
    (1, True)
    """

    def __init__(self, items: Iterable[T]):
        self._items = tuple(items)

    @overload
    def __getitem__(self, output: int) -> T: ...

    @overload
    def __getitem__(self, output: slice) -> "PerOutput[T]": ...

    def __getitem__(self, output: int | slice) -> "T | PerOutput[T]":
        return PerOutput(self._items[output]) if isinstance(output, slice) else self._items[output]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copies and pickles ask for such names before there are items
            raise AttributeError(name)
        if len(self.distinct) == 1:
            return getattr(self._items[0], name)
        raise AttributeError(f"There are {len(self._items)} outputs; choose one of them, as in [0].{name}.")

    def __repr__(self) -> str:
        shown = list(map(repr, self._items[:SHOWN_OUTPUTS]))
        hidden = len(self) - len(shown)
        return f"PerOutput([{', '.join([*shown, *([f'... and {hidden} more'] if hidden else [])])}])"

    @property
    def distinct(self) -> list[T]:
        """The items without repeats of the same object, such as candidates that all outputs share."""
        return list({id(item): item for item in self._items}.values())
