"""Errors and warnings of rulegrove, each catchable by what scikit-learn's users already catch."""

from typing import TYPE_CHECKING

from rulegrove._lazy import load_later

if TYPE_CHECKING:
    from rulegrove._convergence import NotConvergedWarning as NotConvergedWarning


class RulegroveWarning(UserWarning):
    """Base of every warning that rulegrove raises."""


class DroppedColumnWarning(RulegroveWarning):
    """A column cannot carry information (constant, all missing, an identifier) and was left out."""


class DoubtfulColumnWarning(RulegroveWarning):
    """A column was read as it stands, though its cells look like something else; the message says how to tell."""


class PooledCategoriesWarning(RulegroveWarning):
    """A column has so many categories that the rare ones were pooled into one."""


class UnknownCategoryWarning(RulegroveWarning):
    """No row of a column has a category that the model knows."""


class DroppedRuleWarning(RulegroveWarning):
    """Rules that were given are left out: they hold on all rows or on none, or are about too many attributes."""


class SampleWarning(RulegroveWarning):
    """A model fitted on a sample of the rows does not do as well, or as badly, on all of them."""


class KernelCacheWarning(RulegroveWarning):
    """Compiled kernels cannot be kept on disk, so that every process compiles them anew."""


class InvalidInputError(ValueError):
    """The data or a parameter cannot be used; the message names it, what was expected and the way out."""


__getattr__ = load_later(globals(), {"NotConvergedWarning": "rulegrove._convergence"})
