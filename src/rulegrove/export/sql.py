"""A model as one SQL query, for the database where the data live."""

import re
from collections.abc import Sequence
from typing import Literal

from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.exceptions import InvalidInputError
from rulegrove.export._scoring import Scoring, check_exposure, is_unicode, need_package, read_scoring, state_hazards

Dialect = Literal["ansi", "bigquery", "duckdb", "postgres", "spark", "sqlite"]
Output = Literal["score", "class", "probability", "prediction"]


def to_sql(
    model: BaseRuleEnsemble,
    table: str | Sequence[str],
    *,
    dialect: Dialect = "ansi",
    keep: Sequence[str] = (),
    outputs: Sequence[Output] | None = None,
    exposure: str | None = None,
    times: Sequence[float] = (),
) -> str:
    """Return a SELECT that scores the rows of a table.

    Columns of the result: those of `keep`; ``score``, or ``score_0, score_1, ...`` in the order of `classes_` for more
    than two classes; ``class``; ``probability_0, probability_1, ...`` likewise. A regressor has ``prediction``, or
    ``prediction_0, prediction_1, ...`` for several numbers, and of rates and hazards, which are exponentials, also the
    ``score``, if it is asked for. With `times` there are ``survival_0, survival_1, ...``, one for each.

    The sum is made in the order of the model, so scores equal `decision_function` bit for bit where the
    database computes with IEEE doubles, as DuckDB, SQLite, PostgreSQL and Spark do. Probabilities and rates differ by
    the last places of `exp`; rates are at least 1e-304 and at most 8e307, because some databases make errors of smaller
    and larger ones. NULL and NaN are missing values. Infinite values, which the estimator refuses, count as large ones.

    The query begins with a comment that names the columns it reads and their types. Columns that the table lacks or
    that are of another type are an error; dates may be dates, timestamps or ISO texts. See ``docs/export.md``.

    Parameters
    ----------
    model : RuleEnsembleClassifier, RuleEnsembleRegressor or RuleEnsembleSurvival
        A fitted estimator.
    table : str or sequence of str
        Name of the table, or its parts: ``("schema", "table")``. All names are quoted.
    dialect : {"ansi", "bigquery", "duckdb", "postgres", "spark", "sqlite"}, default="ansi"
    keep : sequence of str
        Columns of the table to keep beside the outputs, such as a key.
    outputs : sequence of {"score", "class", "probability", "prediction"}, optional
        What to give: of a classifier all but predictions, by default all of it; of a regressor "prediction", and also
        "score" where that is the exponential of a score, by default the predictions alone.
    exposure : str, optional
        Column of the table that multiplies the rates of losses such as "poisson". Where it is not a number above 0,
        which `predict` refuses, the prediction is NULL.
    times : sequence of float
        Times at which a model of survival times tells the chance to be without the event.

    Returns
    -------
    str

    Examples
    --------
    >>> import duckdb
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> X, y = load("iris", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=50, max_terms=3, random_state=0).fit(X, y)
    >>> database = duckdb.connect()
    >>> _ = database.execute("CREATE TABLE flowers AS SELECT 5.1 AS x0, 3.5 AS x1, 1.4 AS x2, 0.2 AS x3")
    >>> database.execute(to_sql(model, "flowers", dialect="duckdb", outputs=["class"])).fetchall()
    [('Iris-setosa',)]
    """
    need_package("sqlglot", "sql")
    from rulegrove.export._sql_query import DATABASES, write_query

    if dialect not in DATABASES:
        raise InvalidInputError(f"`dialect` must be one of {', '.join(DATABASES)}; got {dialect!r}.")
    scoring = read_scoring(model)
    wanted = _check_outputs(scoring, outputs)
    check_exposure(scoring, exposure)
    names, kept, hazards = _check_table(table), _check_keep(keep), state_hazards(model, times)
    stated = dict(zip(map(float, times), hazards, strict=True))
    return write_query(scoring, DATABASES[dialect], names, kept, wanted, exposure, stated)


def _check_outputs(scoring: Scoring, outputs: Sequence[str] | None) -> list[str]:
    """Return what to give, in the order of the columns."""
    known = ["score", "class", "probability"] if scoring.classes else ["prediction"]
    wanted = known if outputs is None else list(outputs)
    if scoring.exponential:
        known = ["score", *known]
    elif "score" in wanted and not scoring.classes:
        raise InvalidInputError("The scores of this model are its predictions; leave `outputs` out.")
    unknown = [output for output in wanted if output not in known]
    if unknown or not wanted:
        raise InvalidInputError(f"`outputs` must be some of {', '.join(known)}; got {outputs!r}.")
    return [output for output in known if output in wanted]


def _check_table(table: str | Sequence[str]) -> list[str]:
    """Return the parts of the table's name."""
    parts = [table] if isinstance(table, str) else list(table)
    named = all(isinstance(part, str) and part and "\0" not in part and is_unicode(part) for part in parts)
    if not 1 <= len(parts) <= 3 or not named:
        raise InvalidInputError(f"`table` must be a name, or up to three parts of one; got {table!r}.")
    return parts


def _check_keep(keep: Sequence[str]) -> list[str]:
    """Return the columns to keep, refusing names that the query gives itself."""
    kept = [keep] if isinstance(keep, str) else list(keep)
    for name in kept:
        if re.fullmatch(r"class|(prediction|score)(_\d+)?|(probability|survival)_\d+|rg_.*", name.lower()):
            raise InvalidInputError(
                f"`keep` has {name!r}, a name that the query has for a column of its own; rename it."
            )
    if len({name.lower() for name in kept}) < len(kept):
        raise InvalidInputError("`keep` names a column twice; name each once.")
    return kept
