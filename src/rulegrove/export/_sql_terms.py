"""Numbers, labels, conditions and terms in SQL, as sqlglot trees, for databases that differ in numbers and NaN."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from typing import Any, Literal

from sqlglot import exp
from sqlglot.generator import Generator

from rulegrove.columns import Feature, Part
from rulegrove.design.terms import Linear
from rulegrove.exceptions import InvalidInputError
from rulegrove.export._scoring import is_only_missing, is_text, is_unicode, split_categories
from rulegrove.export._sql_inputs import Inputs
from rulegrove.rules.rule import Condition, Rule

TABLE = "rg_rows"  # what the query calls the table
_SAFE_DIGITS = 15  # of a decimal that SQLite is sure to read well
_POWER_BITS = 50  # two to the power of this is a factor that SQLite reads exactly


@dataclass(frozen=True)
class Database:
    """What the exporter must know of a database."""

    dialect: str  # its name in sqlglot
    # What it makes of NaN: has none; NaN equals itself, so that NULLIF finds it; only a function finds it; equal to
    # itself and larger than all numbers, and comparisons should see it instead of NULL, which is slower.
    nan: Literal["none", "equal", "tested", "largest"]
    inputs: Inputs  # how it reads columns
    # Which letters of quoted names are the same in upper and lower case.
    folded: Literal["nothing", "ascii", "all"] = "nothing"
    # Whether ``rg_rows."count"`` counts the rows if there is no such column, so that columns stand without the table.
    # Elsewhere it is the table that tells a column from a text (SQLite) or from a result of the query (DuckDB).
    bare_columns: bool = False
    cast_numbers: bool = False  # whether 1.5e0 is a decimal there and must be cast
    # Whether its reader of decimals rounds badly, so that long ones are written as quotients of exact integers.
    dyadic_numbers: bool = False
    materialised: bool = False  # whether it must be told to compute a step once
    collation: str | None = None  # the collation that compares texts exactly, where columns may have another

    def number(self, value: float) -> exp.Expression:
        """Return a float that the database reads as exactly this double."""
        if self.dyadic_numbers and not _is_short(value):
            return _dyadic(value)
        text = repr(abs(float(value)))
        literal = _signed(text if "e" in text else f"{text}e0", math.copysign(1.0, value) < 0)
        return as_double(literal) if self.cast_numbers else literal

    def label(self, value: Any) -> exp.Expression:
        """Return a label as a literal."""
        if isinstance(value, bool):
            return exp.Boolean(this=value)
        if isinstance(value, int):
            return _signed(str(abs(value)), value < 0)
        if isinstance(value, float) and math.isfinite(value):
            return self.number(value)
        if isinstance(value, str) and "\0" not in value and is_unicode(value):
            return exp.Literal.string(value)
        raise InvalidInputError(
            f"The label {value!r} has no SQL literal; use Unicode texts (without NUL), finite numbers or booleans as "
            "labels."
        )

    def read(self, feature: Feature, yes_no: bool = False) -> exp.Expression:
        """Return an attribute as the terms want it: a double or a text, and one kind of missing value only."""
        source, inputs = feature.source, self.inputs
        if is_text(feature):
            text = self._fill(inputs.text, source, "text")
            return text if self.collation is None else exp.Collate(this=text, expression=exp.var(self.collation))
        words = inputs.yes_no if yes_no and inputs.yes_no is not None else inputs.number
        return self._one_missing(self._fill(words, source, "a number"))

    def moment(self, source: str) -> exp.Expression:
        """Return a column of dates or times as what `part` takes."""
        return self._fill(self.inputs.moment, source, "a date, a time or a text such as 2024-02-29 13:45:00")

    def part(self, part: Part, moment: exp.Expression) -> exp.Expression:
        """Return what a time tells, as a double."""
        words = self.inputs.parts[part].replace("{x}", moment.sql(self.dialect))
        return self._one_missing(as_double(exp.var(words)))

    def source(self, name: str) -> exp.Expression:
        """Return a column of the table itself."""
        return column(name, None if self.bare_columns else TABLE)

    def fold(self, name: str) -> str:
        """Return what names have in common that are one name to the database."""
        if self.folded == "ascii":
            return re.sub("[A-Z]", lambda letter: letter[0].lower(), name)
        return name.lower() if self.folded == "all" else name

    def _fill(self, words: str, source: str, kind: str) -> exp.Expression:
        """Return the words of `Inputs` about a column that must hold a kind of values."""
        given = {"x": self.source(source), "wrong": self.label(f'Column "{source}" must be {kind}; got ')}
        filled = re.sub(r"\{(x|wrong)\}", lambda place: given[place[1]].sql(self.dialect), words)
        return exp.var(filled.replace("\n", Generator.SENTINEL_LINE_BREAK))  # or it would be indented

    def _one_missing(self, double: exp.Expression) -> exp.Expression:
        """Return a double of which NULL and NaN are the same."""
        not_a_number = as_double(exp.Literal.string("NaN"))
        if self.nan == "largest":
            return exp.Coalesce(this=double, expressions=[not_a_number])
        if self.nan == "equal":
            return exp.Nullif(this=double, expression=not_a_number)
        if self.nan == "tested":
            return exp.Case().when(exp.IsNan(this=double), exp.null()).else_(double.copy())
        return double


def column(name: str, table: str | None = None) -> exp.Expression:
    """Return a column by its name, quoted."""
    if "\0" in name or not is_unicode(name):
        raise InvalidInputError(
            f"The column name {name!r} holds a NUL character or a lone surrogate, which no database takes; rename it."
        )
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=exp.to_identifier(table))


def as_double(value: exp.Expression) -> exp.Expression:
    """Cast to a float of 64 bits."""
    return exp.cast(value, "double")


def _signed(digits: str, negative: bool) -> exp.Expression:
    literal = exp.Literal.number(digits)
    return exp.Neg(this=literal) if negative else literal


def choose(cases: Iterable[tuple[exp.Expression, exp.Expression]], other: exp.Expression) -> exp.Expression:
    """Return the value of the first condition that holds, else another one."""
    ifs = [exp.If(this=condition, true=value) for condition, value in cases]
    return exp.Case(ifs=ifs, default=other)


def _is_short(value: float) -> bool:
    """Whether the decimal of a float is exactly it, and short."""
    decimal = Decimal(repr(value))
    return decimal == Decimal(value) and len(decimal.as_tuple().digits) <= _SAFE_DIGITS and 1e-15 < abs(value) < 1e15


def _dyadic(value: float) -> exp.Expression:
    """Return a float as an integer times or over powers of two: each step is exact in IEEE arithmetic."""
    if value == 0.0:
        return exp.Literal.number("0e0")
    fraction, exponent = math.frexp(abs(value))
    mantissa, exponent = int(math.ldexp(fraction, 53)), exponent - 53
    while mantissa % 2 == 0:
        mantissa, exponent = mantissa // 2, exponent + 1
    tree = _signed(f"{mantissa}.0", value < 0)
    step = exp.Div if exponent < 0 else exp.Mul
    for start in range(0, abs(exponent), _POWER_BITS):
        power = exp.Literal.number(f"{2 ** min(_POWER_BITS, abs(exponent) - start)}.0")
        tree = step(this=tree, expression=power, **({"typed": True} if exponent < 0 else {}))
    tree = exp.Paren(this=tree)
    tree.add_comments([repr(value)])
    return tree


def all_of(parts: Sequence[exp.Expression]) -> exp.Expression:
    """Join conditions by AND; none hold always."""
    return reduce(lambda one, other: exp.And(this=one, expression=other), parts) if parts else exp.Boolean(this=True)


def add(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    """Add, as it stands: sums are made from the left."""
    return exp.Add(this=one, expression=other)


def multiply(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    """Multiply."""
    return exp.Mul(this=one, expression=other)


def divide(one: exp.Expression, other: exp.Expression) -> exp.Expression:
    """Divide two floats."""
    return exp.Div(this=one, expression=other, typed=True)


def _input(part: Condition | Linear) -> exp.Expression:
    """Return the column of the clean attribute that is asked about."""
    return column(f"rg_x{part.feature}")


class Terms:
    """Rules and linear terms of a model in the SQL of a database.

    Parameters
    ----------
    database : Database
    features : sequence of Feature
    """

    def __init__(self, database: Database, features: Sequence[Feature]):
        self._database = database
        self._features = features
        self._flags: dict[exp.Expression, str] = {}

    def flags(self) -> dict[str, exp.Expression]:
        """Return the yes/no columns that the rules so far share, as bytes."""
        return {name: exp.cast(flag.copy(), exp.DataType.Type.UTINYINT) for flag, name in self._flags.items()}

    def rule(self, rule: Rule, coef: float) -> exp.Expression:
        """Return the coefficient where the rule holds, else 0."""
        number = self._database.number(coef)
        if self._database.nan != "largest":
            held = all_of([self._condition(part) for part in rule.conditions])
            return choose([(held, number)], self._database.number(0.0))
        # Bytes are joined and multiplied several times faster than a CASE picks rows, and each comparison is made once.
        names = [self._flag(flag) for condition in rule.conditions for flag in self._parts(condition)]
        if not names:
            return number
        joined = reduce(lambda one, other: exp.BitwiseAnd(this=one, expression=other), map(column, names))
        return multiply(as_double(joined), number)

    def _flag(self, flag: exp.Expression) -> str:
        """Return the column of a yes/no value."""
        return self._flags.setdefault(flag, f"rg_f{len(self._flags)}")

    def _members(self, condition: Condition) -> exp.Expression:
        """Return whether the attribute has one of the categories, or none of the others.

        Of a missing value that is NULL; of NaN it may be TRUE where every category but some will do.
        """
        feature, x = self._features[condition.feature], _input(condition)
        labels, others = split_categories(condition, feature)
        literals = [self._database.label(label) for label in (labels if is_text(feature) else map(float, labels))]
        if not literals:
            return x.eq(x)
        members = exp.In(this=x, expressions=literals)
        return exp.Not(this=members) if others else members

    def _condition(self, condition: Condition) -> exp.Expression:
        """Return a condition where missing values are NULL: what is not TRUE does not hold."""
        x, number = _input(condition), self._database.number
        missing = x.is_(exp.null())
        if is_only_missing(condition):
            return missing if condition.missing else exp.false()
        if condition.categories is not None:
            known = self._members(condition)
        else:
            above = [x > number(condition.lower)] if condition.lower > -math.inf else []
            below = [x <= number(condition.upper)] if condition.upper < math.inf else []
            known = all_of([*above, *below]) if above or below else exp.Not(this=missing.copy())
        return exp.Paren(this=exp.Or(this=known, expression=missing)) if condition.missing else known

    def _parts(self, condition: Condition) -> Iterable[exp.Expression]:
        """Go through the parts of a condition that must all hold, never NULL, where NaN is above all numbers."""
        x, number, missing = _input(condition), self._database.number, condition.missing
        text = is_text(self._features[condition.feature])
        absent = x.is_(exp.null()) if text else exp.IsNan(this=x)
        if is_only_missing(condition):
            yield absent if missing else exp.false()
        elif condition.categories is None:
            if condition.lower > -math.inf:
                yield x > number(condition.lower)
            if condition.upper < math.inf:
                below = x <= number(condition.upper)
                yield exp.Or(this=below, expression=absent) if missing else below
            elif not missing:
                yield x <= as_double(exp.Literal.string("Infinity"))
        else:
            members = self._members(condition)
            if text:  # of NULL the members are NULL
                yield exp.Coalesce(this=members, expressions=[exp.Boolean(this=missing)])
            elif missing:
                yield exp.Or(this=members, expression=absent)
            elif isinstance(members, exp.In):
                yield members
            else:
                yield all_of([members, exp.Not(this=absent)])

    def linear(self, term: Linear) -> exp.Expression:
        """Return the winsorised attribute, its mean where it is missing."""
        x, number = _input(term), self._database.number
        # Most rows are inside, so that few are asked twice. NULL is neither; NaN, where it is kept, is above.
        inside = all_of([x >= number(term.lower), x <= number(term.upper)])
        cases = [(inside, x.copy()), (x < number(term.lower), number(term.lower))]
        if self._database.nan == "largest":
            return choose([*cases, (exp.IsNan(this=x), number(term.fill))], number(term.upper))
        return choose([*cases, (x > number(term.upper), number(term.upper))], number(term.fill))
