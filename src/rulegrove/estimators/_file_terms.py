"""Labels, attributes and terms of a model as plain JSON values, and back."""

import itertools
from collections.abc import Hashable, Sequence
from typing import Any, cast, get_args

import numpy as np

from rulegrove._typing import AnyArray, FloatArray
from rulegrove.columns import Feature, Part
from rulegrove.design.linear import LinearTerms
from rulegrove.design.terms import Linear, Term, Terms
from rulegrove.estimators._checked_json import Value, encode
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Alias, Condition, Rule

_SHARE_SLACK = 1e-6  # shares of weights are sums, which rounding may take beyond 0 or 1
_KINDS: dict[str, tuple[type, ...]] = {  # what labels of each type are in Python
    "bool": (bool,),
    "str": (str,),
    **{f"{kind}{bits}": (int,) for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": (int, float) for bits in (16, 32, 64)},
}


# Labels of classes and categories.


def encode_label(label: Any, what: str) -> Any:
    """Return a label that JSON keeps with its type."""
    plain = label.item() if isinstance(label, np.generic) else label
    if isinstance(plain, float) and not np.isfinite(plain):
        return {"float": repr(plain)}
    if type(plain) in (str, bool, int, float):
        return plain
    raise InvalidInputError(
        f"{what} {label!r} is a {type(plain).__name__}; a model file keeps texts, numbers and booleans. "
        "Convert the labels to text and fit again."
    )


def decode_label(value: Value) -> Any:
    """Return a label."""
    if isinstance(value.raw, dict):
        return value.fields(["float"])["float"].number(special=True)
    if isinstance(value.raw, float):
        return value.number()
    if type(value.raw) not in (str, bool, int):
        value.refuse("a text, a number or a boolean")
    return value.raw


def encode_classes(classes: AnyArray | None) -> dict[str, Any] | None:
    """Return the labels of the classes and their type; None where there are none."""
    if classes is None:
        return None
    dtype = "str" if classes.dtype.kind == "U" else classes.dtype.name
    return {"dtype": dtype, "labels": [encode_label(label, "The class") for label in classes]}


def decode_classes(value: Value) -> AnyArray:
    """Return the classes as the array they were."""
    fields = value.fields(["dtype", "labels"])
    name = fields["dtype"].text()
    labels = [decode_label(item) for item in fields["labels"].items()]
    if len(labels) < 2 or len(set(labels)) < len(labels):
        fields["labels"].refuse("at least two different labels")
    if name == "object":
        classes = np.empty(len(labels), dtype=object)
        classes[:] = labels
        return classes
    if name not in _KINDS:
        fields["dtype"].refuse("a type of labels such as 'str', 'int64' or 'bool'")
    if not all(type(label) in _KINDS[name] for label in labels):
        fields["labels"].refuse(f"a list of labels of the type {name}")
    try:
        return np.array(labels, dtype=name)
    except OverflowError:
        return fields["labels"].refuse(f"a list of labels within the range of {name}")


def encode_feature(feature: Feature) -> dict[str, Any]:
    """Return an attribute."""
    fields: dict[str, Any] = {"name": feature.name}
    if feature.categories is not None:
        what = f"Column '{feature.name}' cannot be saved: its category"
        fields["categories"] = [encode_label(label, what) for label in feature.categories]
    told = {
        "pooled": feature.pooled,
        "column": feature.column,
        "part": feature.part,
        "as_text": feature.as_text,
        "boolean": feature.boolean,
    }
    return {**fields, **{name: value for name, value in told.items() if value not in (None, False)}}


def decode_feature(value: Value) -> Feature:
    """Return an attribute."""
    defaults = {
        "categories": None,
        "pooled": False,
        "column": None,
        "part": None,
        "as_text": False,
        "boolean": False,
    }
    fields = value.fields(["name"], defaults)
    labels = fields["categories"].maybe(_decode_categories)
    feature = Feature(
        fields["name"].text(),
        labels,
        pooled=fields["pooled"].boolean(),
        column=fields["column"].maybe(Value.text),
        part=cast(Part | None, fields["part"].maybe(lambda part: part.text(get_args(Part)))),
        as_text=fields["as_text"].boolean(),
        boolean=fields["boolean"].boolean(),
    )
    kinds = (labels is not None, feature.part is not None, feature.as_text, feature.boolean)
    if (feature.pooled and labels is None) or sum(kinds) > 1:
        value.refuse("an attribute that is either a number, categories, truth values or a part of dates")
    return feature


def _decode_categories(value: Value) -> tuple[Hashable, ...]:
    labels = tuple(decode_label(item) for item in value.items())
    if len(set(labels)) < len(labels):
        value.refuse("a list of different labels")
    return labels


# Terms.


def _encode_condition(condition: Condition) -> dict[str, Any]:
    """Return a condition; an open side is left out."""
    fields: dict[str, Any] = {"feature": condition.feature}
    if condition.categories is not None:
        fields["categories"] = list(condition.categories)
    if condition.lower > -np.inf:
        fields["lower"] = encode(condition.lower)
    if condition.upper < np.inf:
        fields["upper"] = encode(condition.upper)
    if condition.missing:
        fields["missing"] = True
    return fields


def _decode_condition(value: Value, features: Sequence[Feature]) -> Condition:
    fields = value.fields(["feature"], {"categories": None, "lower": "-inf", "upper": "inf", "missing": False})
    place = fields["feature"].integer(0, len(features) - 1)
    feature = features[place]
    if fields["categories"].is_null != (feature.categories is None):
        kind = "numbers" if feature.categories is None else "categories"
        value.refuse(f"a condition on {kind}, as its attribute has them")
    codes = fields["categories"].maybe(lambda codes: tuple(codes.positions(feature.n_categories).tolist()))
    lower, upper = fields["lower"].number(special=True), fields["upper"].number(special=True)
    missing = fields["missing"].boolean()
    if codes is not None and (lower, upper) != (-np.inf, np.inf):
        value.refuse("a condition on categories, without bounds")
    if not (lower < upper or (missing and (lower == np.inf or upper == -np.inf))):
        value.refuse("a condition whose lower bound lies below its upper one")
    return Condition(place, lower, upper, codes, missing)


def encode_rule(rule: Rule) -> list[dict[str, Any]]:
    """Return the conditions of a rule."""
    return [_encode_condition(condition) for condition in rule.conditions]


def decode_rule(value: Value, features: Sequence[Feature]) -> Rule:
    """Return a rule, its conditions sorted by attribute."""
    conditions = tuple(_decode_condition(item, features) for item in value.items())
    if not conditions or any(one.feature >= other.feature for one, other in itertools.pairwise(conditions)):
        value.refuse("conditions sorted by attribute, one for each attribute")
    return Rule(conditions)


def encode_term(term: Term) -> dict[str, Any]:
    """Return a rule or a linear term as fields."""
    if isinstance(term, Rule):
        return {"conditions": encode_rule(term)}
    return {"linear": encode(term)}


def decode_linear(value: Value, features: Sequence[Feature]) -> Linear:
    """Return a linear term on a numeric attribute."""
    fields = value.fields(["feature", "lower", "upper", "fill"])
    feature = fields["feature"].integer(0, len(features) - 1)
    if features[feature].categories is not None:
        fields["feature"].refuse("a numeric attribute")
    lower = fields["lower"].number()
    return Linear(feature, lower, fields["upper"].number(low=lower), fields["fill"].number())


def encode_coefs(coefs: FloatArray) -> list[Any]:
    """Return the coefficients of each output; most of several outputs are zero and left out."""
    supports = [(np.flatnonzero(coef), coef) for coef in np.atleast_2d(coefs)]
    return [[kept.tolist(), coef[kept].tolist()] for kept, coef in supports]


def decode_coefs(value: Value, n_outputs: int, n_terms: int) -> FloatArray:
    """Return the coefficients of each output, zeros included."""
    coefs = np.zeros((n_outputs, n_terms))
    for row, item in zip(coefs, value.items(n_outputs), strict=True):
        kept, values = item.items(2)
        columns = kept.positions(n_terms)
        row[columns] = values.numbers(len(columns))
    return coefs


def encode_candidates(terms: Terms) -> dict[str, Any]:
    """Return the candidates of a pool."""
    return {
        "rules": [encode_rule(rule) for rule in terms.rules],
        "aliases": [encode_aliases(aliases) for aliases in terms.aliases],
        "linear": encode(terms.linear),
    }


def decode_candidates(value: Value, features: Sequence[Feature]) -> Terms:
    """Return the candidates of a pool."""
    fields = value.fields(["rules", "aliases", "linear"])
    rules = tuple(decode_rule(item, features) for item in fields["rules"].items())
    aliases = tuple(decode_aliases(item, features) for item in fields["aliases"].items(len(rules)))
    names = ["lower", "upper", "center", "scale"]
    parts = fields["linear"].fields(["features", *names])
    places = parts["features"].positions(len(features))
    return Terms(rules, LinearTerms(places, *(parts[name].numbers(len(places)) for name in names)), aliases)


def encode_aliases(aliases: Sequence[Alias]) -> list[dict[str, Any]]:
    """Return other names of a rule."""
    return [{"conditions": encode_rule(alias.rule), "opposite": alias.opposite} for alias in aliases]


def decode_aliases(value: Value, features: Sequence[Feature]) -> tuple[Alias, ...]:
    """Return other names of a rule."""
    return tuple(_decode_alias(item, features) for item in value.items())


def _decode_alias(value: Value, features: Sequence[Feature]) -> Alias:
    fields = value.fields(["conditions", "opposite"])
    return Alias(decode_rule(fields["conditions"], features), fields["opposite"].boolean())


def decode_support(value: Value) -> float:
    """Return the share of the rows on which a rule holds."""
    return value.number(0.0, 1.0 + _SHARE_SLACK)


def decode_shares(value: Value, n_classes: int) -> FloatArray:
    """Return the share of each class."""
    return value.numbers(n_classes, -_SHARE_SLACK, 1.0 + _SHARE_SLACK)
