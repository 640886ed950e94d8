"""Names of a module that are loaded when they are first asked for (PEP 562)."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def load_later(names: dict[str, Any], homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module, some names of which live in others that are slow to load.

    Parameters
    ----------
    names : dict
        The `globals` of the module, which keep what was loaded.
    homes : mapping of str to str
        Module in which each name is found; one that ends in the name is what is asked for itself.

    Examples
    --------
    >>> load = load_later({"__name__": "mine"}, {"InvalidInputError": "rulegrove.exceptions"})
    >>> load("InvalidInputError").__name__
    'InvalidInputError'
    >>> load("nothing")
    Traceback (most recent call last):
        ...
    AttributeError: module 'mine' has no attribute 'nothing'
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{names['__name__']}' has no attribute {name!r}")
        module = import_module(homes[name])
        names[name] = module if homes[name].endswith(f".{name}") else getattr(module, name)
        return names[name]

    return load
