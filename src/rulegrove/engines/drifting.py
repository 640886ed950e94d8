"""How often rules hold in new rows, beside how often they did."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rulegrove._frames import Backend, make_frame
from rulegrove._reprs import short_repr
from rulegrove.engines.keeping import FitStatistics
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Rule


@dataclass(frozen=True)
class RuleDrift:
    """How often a rule held, and holds.

    Attributes
    ----------
    text : str
        The rule in words.
    before, now : float
        Share of the rows on which it holds.
    z : float
        Their difference in standard errors of chance, were the rows of both times alike.
    """

    text: str
    before: float
    now: float
    z: float

    __repr__ = short_repr


@dataclass(frozen=True)
class Drift:
    """Drift of every rule, the most surprising first.

    Attributes
    ----------
    rows : tuple of RuleDrift
    """

    rows: tuple[RuleDrift, ...]

    __repr__ = short_repr

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return the rows as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which kind; None takes the first of them that is installed.
        """
        names = ("text", "before", "now", "z")
        return make_frame({name: [getattr(row, name) for row in self.rows] for name in names}, backend)


def drift(old: FitStatistics, new: FitStatistics) -> Drift:
    """Compare how often each rule held in two sets of rows.

    With shares p and q of n and m rows, and r of both together, ``z = (q - p) / sqrt(r (1 - r) (1 / n + 1 / m))``, the
    test of two proportions. Rows are counted without their weights. With many rules, some exceed 3 by chance alone.

    Parameters
    ----------
    old, new : FitStatistics
        Of the same rules; `new` as `rulegrove.engines.collect` returns it.

    Returns
    -------
    Drift

    Examples
    --------
    >>> import pyarrow as pa
    >>> from rulegrove import RuleEnsembleRegressor, engines
    >>> table = pa.table({"a": [float(k % 10) for k in range(200)], "y": [float(k % 10 > 4) for k in range(200)]})
    >>> model = engines.fit(
    ...     RuleEnsembleRegressor(n_candidates=4, terms="rules", random_state=0), table, "y", keep_statistics=True
    ... )
    >>> later = table.filter(pa.array([k % 10 > 2 for k in range(200)]))
    >>> found = engines.drift(model.statistics_, engines.collect(model, later))
    >>> abs(found.rows[0].z) > 3
    True
    """
    if not old.is_like(new):
        raise InvalidInputError("Drift compares statistics of the same rules; these are of different fits.")
    before, now = max(old.n_rows, 1), max(new.n_rows, 1)
    rows: dict[Rule, RuleDrift] = {}
    for one, other in zip(old.pools, new.pools, strict=True):
        had, has = one.statistics.support.sum(axis=0), other.statistics.support.sum(axis=0)
        both = (had + has) / (before + now)
        noise = np.sqrt(both * (1 - both) * (1 / before + 1 / now))
        for rule, p, q, error in zip(one.terms.rules, had / before, has / now, noise, strict=True):
            z = float((q - p) / error) if error > 0 else 0.0
            rows[rule] = RuleDrift(rule.text(old.features), float(p), float(q), z)
    return Drift(tuple(sorted(rows.values(), key=lambda row: -abs(row.z))))
