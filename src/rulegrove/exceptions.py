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
    """A column was read as it is, although its cells look like something else; the message says what to do."""


class PooledCategoriesWarning(RulegroveWarning):
    """A column has so many categories that the rare ones were pooled into one."""


class UnknownCategoryWarning(RulegroveWarning):
    """No row of a column has a category that the model knows."""


class DroppedRuleWarning(RulegroveWarning):
    """Given rules were left out, because they hold on all rows or on none, or use too many attributes."""


class SampleWarning(RulegroveWarning):
    """A model that was fitted on a sample of the rows does much better or worse on all rows."""


class KernelCacheWarning(RulegroveWarning):
    """Compiled kernels cannot be kept on disk, so every process compiles them again."""


class InvalidInputError(ValueError):
    """The data or a parameter cannot be used; the message names it, what was expected and the way out."""


__getattr__ = load_later(globals(), {"NotConvergedWarning": "rulegrove._convergence"})
