"""The query that scores a table: clean inputs, the sum in steps, the class, the probabilities."""

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce

from sqlglot import exp

from rulegrove._words import printable
from rulegrove.columns import Feature
from rulegrove.estimators.calibration import Steps
from rulegrove.exceptions import InvalidInputError
from rulegrove.export._scoring import Logistic, Scoring, describe_columns, nonzero, steps_parts
from rulegrove.export._sql_inputs import ANSI, BIGQUERY, DUCKDB, POSTGRES, SPARK, SQLITE
from rulegrove.export._sql_terms import TABLE, Database, Terms, add, all_of, choose, column, divide, multiply

EXPOSURE = "rg_exposure"  # a column of the steps
LARGEST = sys.float_info.max
CHUNK_TERMS = 200  # added up in one expression; databases limit how deep one may be (SQLite to 1,000)
LEAST_EXPONENT = -700.0  # PostgreSQL makes an error of an exponential that underflows; exp(-700) is 1e-304
MOST_EXPONENT = 709.0  # and, as others do, of one that is too large; exp(709) is 8e307

DATABASES = {
    "ansi": Database("postgres", "none", ANSI),
    "bigquery": Database("bigquery", "tested", BIGQUERY, folded="all"),
    "duckdb": Database("duckdb", "largest", DUCKDB, folded="ascii", collation='"C"'),
    "postgres": Database(
        "postgres", "equal", POSTGRES, bare_columns=True, cast_numbers=True, materialised=True, collation='"C"'
    ),
    "spark": Database("spark", "equal", SPARK, folded="all"),
    "sqlite": Database(
        "sqlite", "none", SQLITE, folded="ascii", dyadic_numbers=True, materialised=True, collation="BINARY"
    ),
}


def write_query(
    scoring: Scoring,
    database: Database,
    table: Sequence[str],
    keep: Sequence[str],
    outputs: Sequence[str],
    exposure: str | None,
    hazards: Mapping[float, float],
) -> str:
    """Return the query; see `to_sql`. `hazards` are cumulative ones of a score of 0 by times."""
    _check_names(scoring, database, exposure)
    query = _Query(database, table, keep)
    names = _write_scores(query, scoring, exposure)
    scores = [column(name) for name in names]
    results = dict(zip(names, scores, strict=True)) if "score" in outputs else {}
    if "class" in outputs:
        results["class"] = _write_class(database, scoring, scores)
    if "probability" in outputs:
        chances = _write_probabilities(query, scoring, names)
        results |= {f"probability_{place}": chance for place, chance in enumerate(chances)}
    if "prediction" in outputs:
        results |= _write_predictions(query, scoring, names, exposure)
    if hazards:
        results |= _write_survival(query, names[0], hazards.values())
    return _write_types(scoring, exposure, hazards) + query.text(results)


def _check_names(scoring: Scoring, database: Database, exposure: str | None) -> None:
    """Refuse columns that are one column to the database, which would read one of them for both."""
    more = set() if exposure is None else {exposure}
    sources = {feature.source for feature in scoring.features} | more
    for name in sorted({feature.source for feature in scoring.used.values()} | more):
        others = sorted(other for other in sources - {name} if database.fold(other) == database.fold(name))
        if others:
            raise InvalidInputError(
                f"The columns {name!r} and {others[0]!r} of the model differ by upper and lower case alone, and are "
                "one column in this dialect of SQL; rename one and fit again."
            )


def _write_types(scoring: Scoring, exposure: str | None, times: Iterable[float]) -> str:
    """Return a comment that names each column that is read, with its type, and the times that are told of."""
    used = [*describe_columns(scoring.used.values()).items()]
    used += [] if exposure is None else [(exposure, "number above 0, the exposure")]
    lines = [f'--   "{printable(name)}": {kind}\n' for name, kind in used]
    head = ["-- Columns that are read, and their types:\n"] if lines else []
    told = [
        f"-- survival_{place}: the chance to be without the event at {time!r}\n" for place, time in enumerate(times)
    ]
    return "".join([*head, *lines, *told])


class _Query:
    """A query in the making: steps, each of which selects from the one before."""

    def __init__(self, database: Database, table: Sequence[str], keep: Sequence[str]):
        name, *above = [exp.to_identifier(part, quoted=True) for part in reversed(table)]
        self.database = database
        self._keep = {name: database.source(name) for name in keep}
        self._steps: list[exp.Select] = []
        self._source = exp.alias_(exp.Table(this=name, **dict(zip(("db", "catalog"), above, strict=False))), TABLE)

    def _select(self, columns: dict[str, exp.Expression]) -> exp.Select:
        named = [
            value if isinstance(value, exp.Column) and value.name == name else exp.alias_(value, name, quoted=True)
            for name, value in {**self._keep, **columns}.items()
        ]
        return exp.select(*(named or [exp.alias_(exp.Literal.number(1), "rg_row")])).from_(self._source, copy=False)

    def step(self, new: dict[str, exp.Expression], carried: Sequence[str] = ()) -> None:
        """Add a step that computes columns and carries others on."""
        self._steps.append(self._select({**{name: column(name) for name in carried}, **new}))
        self._source = exp.to_table(f"rg_step_{len(self._steps)}")
        self._keep = {name: column(name) for name in self._keep}

    def text(self, results: dict[str, exp.Expression]) -> str:
        """Return the query with these results."""
        query = self._select(results)
        for place, step in enumerate(self._steps):
            # The first step, if it is but casts, is cheaper made anew for each term that asks for it than kept.
            costly = place or any(not read.name.startswith("CAST(") for read in step.find_all(exp.Var))
            once = True if self.database.materialised and costly else None
            query = query.with_(f"rg_step_{place + 1}", as_=step, materialized=once, copy=False)
        return query.sql(dialect=self.database.dialect, pretty=True)


def _number_names(word: str, scoring: Scoring) -> list[str]:
    """Return the columns of one number a score."""
    return [word] if scoring.n_outputs == 1 else [f"{word}_{output}" for output in range(scoring.n_outputs)]


def _write_scores(query: _Query, scoring: Scoring, exposure: str | None) -> list[str]:
    """Add the steps from the table to the scores; return their columns. An exposure is carried on beside them."""
    database, terms = query.database, Terms(query.database, scoring.features)
    sums = [_summands(database, terms, scoring, output) for output in range(scoring.n_outputs)]
    _write_inputs(query, scoring, exposure)
    kept = [] if exposure is None else [EXPOSURE]
    carried = [*kept, *(f"rg_x{feature}" for feature in scoring.used)]
    flags = terms.flags()
    if flags:
        carried = [*kept, *(f"rg_x{feature}" for feature in sorted({term.feature for term in scoring.linear}))]
        query.step(flags, carried)
        carried += flags
    names = _number_names("score" if scoring.classes or scoring.exponential else "prediction", scoring)
    starts = [database.number(float(intercept)) for intercept in scoring.intercepts]
    last = max(len(summands) - 1 for summands in sums) // CHUNK_TERMS
    for chunk in range(last + 1):
        partial = {}
        for output, (name, summands) in enumerate(zip(names, sums, strict=True)):
            so_far = column(f"rg_s{output}") if chunk else None
            for summand in summands[chunk * CHUNK_TERMS : (chunk + 1) * CHUNK_TERMS]:
                if summand is None:
                    so_far = starts[output] if so_far is None else add(starts[output], exp.Paren(this=so_far))
                else:
                    so_far = summand if so_far is None else add(so_far, summand)
            assert so_far is not None
            partial[name if chunk == last else f"rg_s{output}"] = so_far
        query.step(partial, carried if chunk < last else kept)
    return names


def _write_inputs(query: _Query, scoring: Scoring, exposure: str | None) -> None:
    """Add the steps from the table to clean attributes; what dates tell is read from times that are clean."""
    database = query.database
    plain: dict[str, exp.Expression] = {}
    parts: dict[str, exp.Expression] = {}
    times: dict[str, str] = {}
    for k, feature in scoring.used.items():
        if feature.part is None:
            plain[f"rg_x{k}"] = database.read(feature, yes_no=scoring.may_be_boolean(k))
        else:
            time = times.setdefault(feature.source, f"rg_t{len(times)}")
            parts[f"rg_x{k}"] = database.part(feature.part, column(time))
    if exposure is not None:
        plain[EXPOSURE] = database.read(Feature(exposure))
    query.step({**plain, **{name: database.moment(source) for source, name in times.items()}})
    if parts:
        query.step(parts, list(plain))


def _summands(database: Database, terms: Terms, scoring: Scoring, output: int) -> list[exp.Expression | None]:
    """Return what is added up to a score, in the order of the model: rules, None for the intercept, linear terms."""
    rules = [terms.rule(scoring.rules[place], coef) for place, coef in nonzero(scoring.rule_coefs[output])]
    lines = [
        multiply(database.number(coef), terms.linear(scoring.linear[place]))
        for place, coef in nonzero(scoring.linear_coefs[output])
    ]
    return [*rules, None, *lines]


def _of_largest(scores: Sequence[exp.Expression], values: Sequence[exp.Expression]) -> exp.Expression:
    """Return the value that stands at the place of the largest score, the first of equal ones."""
    # Asked in order: a score that is at least each later one is the first of the largest.
    cases = [
        (all_of([score >= later for later in scores[place + 1 :]]), values[place].copy())
        for place, score in enumerate(scores[:-1])
    ]
    return choose(cases, values[-1].copy())


def _write_class(database: Database, scoring: Scoring, scores: Sequence[exp.Expression]) -> exp.Expression:
    """Return the label of the class."""
    labels = [database.label(label) for label in scoring.classes]
    if len(scores) > 1:
        return _of_largest(scores, labels)
    return choose([(scores[0] > database.number(0.0), labels[1])], labels[0])


def _write_probabilities(query: _Query, scoring: Scoring, names: Sequence[str]) -> list[exp.Expression]:
    """Add the steps to the probabilities; return these."""
    if scoring.softmax is not None:
        return _write_softmax(query, scoring.softmax, names)
    database, scores = query.database, [column(name) for name in names]
    logistic = {k: curve for k, curve in enumerate(scoring.curves) if isinstance(curve, Logistic)}
    if logistic:
        odds = {f"rg_z{k}": _odds(database, curve, scores[k]) for k, curve in logistic.items()}
        query.step(odds, names)
        query.step({f"rg_e{k}": _decay(database, column(f"rg_z{k}")) for k in logistic}, [*names, *odds])
    shares = {f"rg_p{k}": _share(database, curve, scores[k], k) for k, curve in enumerate(scoring.curves)}
    query.step(shares, names)
    if len(names) == 1:
        return [exp.Sub(this=database.number(1.0), expression=column("rg_p0")), column("rg_p0")]
    query.step({"rg_total": reduce(add, map(column, shares))}, [*names, *shares])
    return [_normalised(database, scores, place) for place in range(len(names))]


def _write_predictions(
    query: _Query, scoring: Scoring, names: Sequence[str], exposure: str | None
) -> dict[str, exp.Expression]:
    """Add the steps from scores to predictions; return these."""
    if not scoring.exponential:
        return {name: column(name) for name in names}
    database, logarithm = query.database, column(names[0])
    if exposure is not None:
        # NaN and infinity are above the largest number; of NULL the logarithm and all that follows is NULL.
        known = all_of([column(EXPOSURE) > database.number(0.0), column(EXPOSURE) <= database.number(LARGEST)])
        query.step({EXPOSURE: exp.Ln(this=exp.Case().when(known, column(EXPOSURE)))}, names)
        query.step({"rg_z": add(logarithm, column(EXPOSURE))}, names)
        logarithm = column("rg_z")
    return {"prediction": _exponential(database, logarithm)}


def _write_survival(query: _Query, score: str, hazards: Collection[float]) -> dict[str, exp.Expression]:
    """Add the step from the score to the hazard ratio; return the chance to be without the event at each time."""
    database = query.database
    query.step({"rg_ratio": _exponential(database, column(score))}, [score])
    return {
        f"survival_{place}": _exponential(database, multiply(database.number(-hazard), column("rg_ratio")))
        for place, hazard in enumerate(hazards)
    }


def _exponential(database: Database, logarithm: exp.Expression) -> exp.Expression:
    """Return ``exp(z)``, neither too large nor too small for any database."""
    least, most = database.number(LEAST_EXPONENT), database.number(MOST_EXPONENT)
    return exp.Exp(this=choose([(logarithm < least, least), (logarithm > most, most)], logarithm))


def _odds(database: Database, curve: Logistic, score: exp.Expression) -> exp.Expression:
    odds = multiply(database.number(curve.slope), score.copy())
    return add(odds, database.number(curve.shift)) if curve.shift else odds


def _decay(database: Database, odds: exp.Expression) -> exp.Expression:
    """Return ``exp(-|z|)``, which is never too large, and not too small for any database."""
    least, size = database.number(LEAST_EXPONENT), exp.Neg(this=exp.Abs(this=odds))
    return exp.Exp(this=choose([(size < least, least)], size))


def _share(database: Database, curve: Logistic | Steps, score: exp.Expression, place: int) -> exp.Expression:
    """Return the probability that a curve gives to a score."""
    number = database.number
    if isinstance(curve, Logistic):
        odds, decay = column(f"rg_z{place}"), column(f"rg_e{place}")
        below = exp.Paren(this=add(number(1.0), decay))
        return choose([(odds >= number(0.0), divide(number(1.0), below))], divide(decay.copy(), below.copy()))
    pieces = steps_parts(curve)
    first, last = number(float(curve.probabilities[0])), number(float(curve.probabilities[-1]))
    if not pieces:
        return last
    cases = [(score < number(pieces[0][2]), first)]
    for end, slope, start, level in pieces:
        along = exp.Paren(this=score - number(start))
        cases.append((score < number(end), add(multiply(number(slope), along), number(level))))
    return choose(cases, last)


def _normalised(database: Database, scores: Sequence[exp.Expression], place: int) -> exp.Expression:
    """Return a share over the sum of all; where that is 0 the largest score takes all."""
    winner = _of_largest(scores, [database.number(float(other == place)) for other in range(len(scores))])
    total = column("rg_total")
    return choose([(total.eq(database.number(0.0)), winner)], divide(column(f"rg_p{place}"), total))


def _write_softmax(query: _Query, slope: float, names: Sequence[str]) -> list[exp.Expression]:
    """Add the steps to the softmax of the scores times a slope; return the probabilities."""
    database = query.database
    odds = {f"rg_z{k}": multiply(database.number(slope), column(name)) for k, name in enumerate(names)}
    query.step(odds, names)
    columns = [column(name) for name in odds]
    query.step({"rg_top": _of_largest(columns, columns)}, [*names, *odds])
    below = [exp.Paren(this=column("rg_top") - one) for one in columns]
    sizes = {f"rg_e{k}": _decay(database, one) for k, one in enumerate(below)}
    query.step(sizes, names)
    query.step({"rg_total": reduce(add, map(column, sizes))}, [*names, *sizes])
    return [divide(column(size), column("rg_total")) for size in sizes]
