"""The graph of a model: conditions as comparisons, rules as counts of them, scores as running sums."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from rulegrove._typing import AnyArray
from rulegrove.columns import Feature, Part
from rulegrove.design.terms import Linear
from rulegrove.estimators.calibration import Steps
from rulegrove.exceptions import InvalidInputError
from rulegrove.export._scoring import (
    Logistic,
    Scoring,
    describe_columns,
    is_text,
    is_unicode,
    kind_of,
    split_categories,
)
from rulegrove.rules.rule import Condition

OPSET = 19  # the first in which texts can be compared
IR_VERSION = 9  # what came with it: newer ones would shut out older runtimes
MISSING_TEXT = ""  # ONNX has no missing text
MISSING_TIME = -(2**63)  # nor a missing integer
_TYPES = {  # what is fed for each kind of column
    "number": (TensorProto.DOUBLE, "float64, NaN where missing"),
    "text": (TensorProto.STRING, "string, empty where missing"),
    "time": (TensorProto.INT64, f"int64, whole seconds since 1970-01-01 UTC, {MISSING_TIME} where missing"),
}
_EXPOSURE = "number above 0, float64, the exposure that multiplies the rate"
_output = helper.make_tensor_value_info
_OWN_NAMES = {"label", "scores", "probabilities", "prediction", "survival"}  # of the outputs


class _Graph:
    """Nodes and constants in the making."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, operator: str, *inputs: Any, **attributes: Any) -> str:
        """Add a node; return its output. Inputs are names of values, or arrays and numbers: constants."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        name = f"rg_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, names, [name], **attributes))
        return name

    def constant(self, value: Any) -> str:
        """Add a constant; return its name."""
        name = f"rg_constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def name(self, value: str, name: str) -> None:
        """Give a value the name of an output."""
        self.nodes.append(helper.make_node("Identity", [value], [name]))

    def shift(self, values: str, by: Any) -> str:
        """Add a constant, by an operator from which onnxruntime does not drop what float32 takes for 0."""
        return self.add("Sum", by, values)

    def scale(self, values: str, by: Any) -> str:
        """Multiply by a constant; a single one is doubled, or onnxruntime would drop what float32 takes for 1."""
        if np.size(by) > 1:
            return self.add("Mul", by, values)
        factors = self.constant([float(np.ravel(by)[0])] * 2)
        return self.add("Gather", self.add("Mul", factors, self.add("Unsqueeze", values, [-1])), 0, axis=-1)

    def divide(self, values: str, by: int) -> str:
        """Divide whole numbers and round down; ``Div`` rounds towards zero."""
        return self.add("Div", self.add("Sub", values, self.add("Mod", values, by)), by)

    def as_float32(self, values: str) -> str:
        """Return yes and no as 1 and 0."""
        return self.add("Cast", values, to=TensorProto.FLOAT)


def write_graph(scoring: Scoring, exposure: str | None = None, hazards: Sequence[float] = ()) -> onnx.ModelProto:
    """Return the ONNX model of what `read_scoring` and `state_hazards` give; see `to_onnx`."""
    _check_unicode(scoring, exposure)
    graph = _Graph()
    inputs, columns, words = _read_inputs(graph, scoring.features)
    more, known = _read_exposure(inputs, exposure)
    scores = _write_scores(graph, scoring, columns)
    if scoring.classes:
        outputs = _write_classes(graph, scoring, scores)
    else:
        outputs = _write_numbers(graph, scoring, scores, more, hazards)
    inputs, words = [*inputs, *known], words + "".join(f"\n{one.name}: {_EXPOSURE}" for one in known)
    body = helper.make_graph(graph.nodes, "rulegrove", inputs, outputs, graph.constants)
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="rulegrove")
    model.ir_version = IR_VERSION
    model.doc_string = words
    onnx.checker.check_model(model)
    return model


def _write_classes(graph: _Graph, scoring: Scoring, scores: str) -> list[onnx.ValueInfoProto]:
    """Name and declare the outputs of a classifier."""
    n_outputs, labels = scoring.n_outputs, _label_array(scoring.classes)
    kind = helper.np_dtype_to_tensor_dtype(labels.dtype) if labels.dtype != object else TensorProto.STRING
    label = graph.constant(labels)
    graph.name(graph.add("Gather", label, _largest(graph, scores, n_outputs)), "label")
    named = _name_numbers(graph, scoring, scores, "scores")
    graph.name(_write_probabilities(graph, scoring, scores), "probabilities")
    chances = _output("probabilities", TensorProto.DOUBLE, ["n_rows", len(scoring.classes)])
    return [_output("label", kind, ["n_rows"]), named, chances]


def _write_numbers(
    graph: _Graph, scoring: Scoring, scores: str, exposure: str | None, hazards: Sequence[float]
) -> list[onnx.ValueInfoProto]:
    """Name and declare the outputs of a regressor; an exposure multiplies what is predicted."""
    if not scoring.exponential:
        return [_name_numbers(graph, scoring, scores, "prediction")]
    logarithms = scores
    if exposure is not None:
        above, finite = graph.add("Greater", exposure, 0.0), graph.add("Less", exposure, np.inf)
        known = graph.add("Where", graph.add("And", above, finite), exposure, np.nan)
        logarithms = graph.add("Add", scores, graph.add("Log", known))
    rates = graph.add("Exp", logarithms)
    outputs = [_name_numbers(graph, scoring, rates, "prediction"), _name_numbers(graph, scoring, scores, "scores")]
    if not hazards:
        return outputs
    graph.name(graph.add("Exp", graph.scale(rates, [[-hazard for hazard in hazards]])), "survival")
    return [*outputs, _output("survival", TensorProto.DOUBLE, ["n_rows", len(hazards)])]


def _name_numbers(graph: _Graph, scoring: Scoring, values: str, name: str) -> onnx.ValueInfoProto:
    """Name and declare an output of one number a score, (n_rows,) or (n_rows, n_outputs)."""
    several = scoring.n_outputs > 1
    graph.name(values if several else _first_column(graph, values), name)
    return _output(name, TensorProto.DOUBLE, ["n_rows", *[scoring.n_outputs] * several])


def _label_array(labels: Sequence[Any]) -> AnyArray:
    """Return labels as an array that ONNX has."""
    for kind, dtype in ((str, object), (bool, np.bool_), (int, np.int64), (float, np.float64)):
        if all(type(label) is kind for label in labels):
            return np.array(labels, dtype=dtype)
    kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
    raise InvalidInputError(f"ONNX has labels of one type: texts, integers, floats or booleans; got {kinds}.")


def _check_unicode(scoring: Scoring, exposure: str | None) -> None:
    """Refuse texts that ONNX cannot hold."""
    names = (text for feature in scoring.features for text in (feature.source, *(feature.categories or ())))
    for text in (exposure, *names, *scoring.classes):
        if isinstance(text, str) and not is_unicode(text):
            raise InvalidInputError(
                f"The text {text!r} of a column name, category or class holds a lone surrogate, which ONNX cannot "
                "write; replace it and fit again."
            )


def _read_inputs(graph: _Graph, features: Sequence[Feature]) -> tuple[list[onnx.ValueInfoProto], list[str], str]:
    """Declare the inputs; return them, for each attribute a column of shape (n_rows, 1), and what to feed in words."""
    kinds = describe_columns(features)
    if all(feature.categories is None and feature.part is None for feature in features):  # all of one type
        columns = [graph.add("Gather", "X", [k], axis=1) for k in range(len(features))]
        words = "X: one column for each of these numbers, NaN where missing: " + ", ".join(kinds)
        return [_output("X", TensorProto.DOUBLE, ["n_rows", len(features)])], columns, words
    for feature in features:
        name = feature.source
        _check_name(name)
        if MISSING_TEXT in (feature.categories or ()):
            raise InvalidInputError(
                f"Column '{name}' has the empty text as a category, which stands for a missing one in ONNX; "
                "replace it by another text and fit again."
            )
    types = {feature.source: _TYPES[kind_of(feature)] for feature in features}
    inputs = [_output(name, kind, ["n_rows", 1]) for name, (kind, _) in types.items()]
    words = "\n".join(f"{name}: {kinds[name]}, {form}" for name, (_, form) in types.items())
    return inputs, [_read_column(graph, feature) for feature in features], words


def _check_name(name: str) -> None:
    """Refuse names that an input cannot have."""
    if not name or name.startswith("rg_") or name in _OWN_NAMES:
        raise InvalidInputError(f"The name {name!r} of a column cannot be that of an ONNX input; rename it.")


def _read_exposure(
    inputs: Sequence[onnx.ValueInfoProto], exposure: str | None
) -> tuple[str | None, list[onnx.ValueInfoProto]]:
    """Return the value of an exposure, and its input if that is not also one of an attribute."""
    if exposure is None:
        return None, []
    _check_name(exposure)
    same = next((one for one in inputs if one.name == exposure), None)
    if same is None:
        return exposure, [_output(exposure, TensorProto.DOUBLE, ["n_rows", 1])]
    if exposure == "X" or same.type.tensor_type.elem_type != TensorProto.DOUBLE:
        raise InvalidInputError(
            f"The exposure cannot be read from the input {exposure!r}, which is not one number a row; rename it."
        )
    return exposure, []


def _read_column(graph: _Graph, feature: Feature) -> str:
    return feature.source if feature.part is None else _write_part(graph, feature.source, feature.part)


def _write_part(graph: _Graph, seconds: str, part: Part) -> str:
    """Return what times tell as float64, NaN where they are missing."""
    missing = graph.add("Equal", seconds, MISSING_TIME)
    known = graph.add("Where", missing, 0, seconds)
    days = graph.divide(known, 86400)
    if part == "hour":
        told = graph.add("Div", graph.add("Mod", known, 86400), 3600)
    elif part == "weekday":  # 1970-01-01 was a Thursday
        told = graph.add("Add", graph.add("Mod", graph.add("Add", days, 3), 7), 1)
    else:
        told = days if part == "date" else _write_calendar(graph, days)[part]
    nothing = graph.constant(np.nan)
    return graph.add("Where", missing, nothing, graph.add("Cast", told, to=TensorProto.DOUBLE))


def _write_calendar(graph: _Graph, days: str) -> dict[Part, str]:
    """Return year and month of days since 1970-01-01.

    Years are counted from March, so that the leap day is their last, in eras of 400 years, which are all of one length
    (Howard Hinnant's `civil_from_days <https://howardhinnant.github.io/date_algorithms.html>`_).
    """
    add = graph.add
    since = add("Add", days, 719468)  # 0000-03-01
    era, day = graph.divide(since, 146097), add("Mod", since, 146097)
    leaps = add("Sub", add("Div", day, 1460), add("Div", day, 36524))
    leaps = add("Add", leaps, add("Div", day, 146096))
    year = add("Div", add("Sub", day, leaps), 365)  # of the era
    before = add("Sub", add("Div", year, 4), add("Div", year, 100))
    before = add("Add", add("Mul", year, 365), before)
    day = add("Sub", day, before)  # of the year
    month = add("Div", add("Add", add("Mul", day, 5), 2), 153)  # from March
    late = add("Less", month, 10)
    plain, carried = add("Where", late, 3, -9), add("Where", late, 0, 1)
    year = add("Add", year, add("Mul", era, 400))
    return {"year": add("Add", year, carried), "month": add("Add", month, plain)}


def _write_conditions(graph: _Graph, scoring: Scoring, columns: Sequence[str]) -> tuple[str, dict[Condition, int]]:
    """Return where each distinct condition holds, (n_rows, n_conditions), and the column of each condition."""
    places: dict[Condition, int] = {}
    held = []
    distinct = {condition for rule in scoring.rules for condition in rule.conditions}
    for feature in sorted({condition.feature for condition in distinct}):
        conditions = sorted(condition for condition in distinct if condition.feature == feature)
        places.update({condition: len(places) + k for k, condition in enumerate(conditions)})
        compare = _compare_numbers if conditions[0].categories is None else _compare_labels
        held.append(compare(graph, scoring.features[feature], columns[feature], conditions))
    return graph.add("Concat", *held, axis=1), places


def _or_missing(graph: _Graph, known: str, absent: str, conditions: Sequence[Condition]) -> str:
    """Let a missing value satisfy the conditions that say so."""
    if not any(condition.missing for condition in conditions):
        return known
    allowed = graph.constant([[condition.missing for condition in conditions]])
    return graph.add("Or", known, graph.add("And", absent, allowed))


def _compare_numbers(graph: _Graph, feature: Feature, x: str, conditions: Sequence[Condition]) -> str:
    """Return where conditions on a number hold; NaN is neither above nor below."""
    above = graph.add("Greater", x, [[float(condition.lower) for condition in conditions]])
    below = graph.add("LessOrEqual", x, [[float(condition.upper) for condition in conditions]])
    return _or_missing(graph, graph.add("And", above, below), graph.add("IsNaN", x), conditions)


def _compare_labels(graph: _Graph, feature: Feature, x: str, conditions: Sequence[Condition]) -> str:
    """Return where conditions on a category hold."""
    text = is_text(feature)
    labels = feature.categories or (MISSING_TEXT,)  # if there are none, one that no condition is about
    equal = graph.add("Equal", x, np.array([labels], object if text else np.float64))
    members, turned = np.zeros((len(labels), len(conditions)), np.float32), []
    for k, condition in enumerate(conditions):
        listed, others = split_categories(condition, feature)
        members[[labels.index(label) for label in listed], k] = 1.0
        turned.append(others)
    hits = graph.add("MatMul", graph.as_float32(equal), members)
    known = graph.add("Greater", hits, np.float32(0.5))
    absent = graph.add("Equal", x, np.array([[MISSING_TEXT]], object)) if text else graph.add("IsNaN", x)
    if any(turned):
        known = graph.add("Xor", known, [turned])
        known = graph.add("And", known, graph.add("Not", absent))
    return _or_missing(graph, known, absent, conditions)


def _write_rules(graph: _Graph, scoring: Scoring, columns: Sequence[str]) -> str:
    """Return where each rule holds, (n_rows, 1, n_rules): where as many of its conditions hold as it has."""
    held, places = _write_conditions(graph, scoring, columns)
    parts = np.zeros((len(places), len(scoring.rules)), np.float32)
    for k, rule in enumerate(scoring.rules):
        parts[[places[condition] for condition in rule.conditions], k] = 1.0
    counts = graph.add("MatMul", graph.as_float32(held), parts)
    all_hold = graph.add("Greater", counts, parts.sum(axis=0) - np.float32(0.5))
    return graph.add("Unsqueeze", all_hold, [1])


def _last_sum(graph: _Graph, parts: str) -> str:
    """Add up along the last axis, strictly from the left: (n_rows, n_outputs, n_parts) to (n_rows, n_outputs)."""
    return graph.add("Gather", graph.add("CumSum", parts, 2), -1, axis=2)


def _write_scores(graph: _Graph, scoring: Scoring, columns: Sequence[str]) -> str:
    """Return the scores, (n_rows, n_outputs)."""
    intercepts = scoring.intercepts[None, :]
    if scoring.rules:
        held = _write_rules(graph, scoring, columns)
        scores = graph.shift(_last_sum(graph, graph.add("Where", held, scoring.rule_coefs[None], 0.0)), intercepts)
    else:  # one row of intercepts for each row of the input
        n_rows = graph.add("Shape", columns[0], start=0, end=1)
        shape = graph.add("Concat", n_rows, [scoring.n_outputs], axis=0)
        scores = graph.add("Expand", intercepts, shape)
    if not scoring.linear:
        return scores
    values = [_write_linear(graph, term, columns[term.feature]) for term in scoring.linear]
    spread = graph.add("Unsqueeze", graph.add("Concat", *values, axis=1), [1])
    lines = graph.scale(spread, scoring.linear_coefs[None])
    start = graph.add("Unsqueeze", scores, [2])
    return _last_sum(graph, graph.add("Concat", start, lines, axis=2))


def _write_linear(graph: _Graph, term: Linear, x: str) -> str:
    """Return a winsorised attribute, (n_rows, 1), its mean where it is missing."""
    bounded = graph.add("Min", graph.add("Max", x, term.lower), term.upper)
    return graph.add("Where", graph.add("IsNaN", x), term.fill, bounded)


def _first_column(graph: _Graph, values: str) -> str:
    return graph.add("Gather", values, 0, axis=1)


def _largest(graph: _Graph, scores: str, n_outputs: int) -> str:
    """Return the position of each row's class."""
    if n_outputs > 1:
        return graph.add("ArgMax", scores, axis=1, keepdims=0)
    positive = graph.add("Greater", _first_column(graph, scores), 0.0)
    return graph.add("Cast", positive, to=TensorProto.INT64)


def _write_probabilities(graph: _Graph, scoring: Scoring, scores: str) -> str:
    """Return the probabilities, (n_rows, n_classes)."""
    curves = scoring.curves
    if scoring.softmax is not None:
        return graph.add("Softmax", graph.scale(scores, scoring.softmax), axis=1)
    if len(curves) == 1:
        positive = _write_curve(graph, curves[0], scores)
        return graph.add("Concat", graph.add("Sub", 1.0, positive), positive, axis=1)
    each = [graph.add("Gather", scores, [k], axis=1) for k in range(len(curves))]
    shares = [_write_curve(graph, curve, score) for curve, score in zip(curves, each, strict=True)]
    joined = graph.add("Concat", *shares, axis=1)
    units = graph.constant(np.eye(len(curves)))
    winner = graph.add("Gather", units, _largest(graph, scores, len(curves)))
    axis = graph.constant([1])
    nothing = graph.add("Equal", graph.add("ReduceSum", joined, axis, keepdims=1), 0.0)
    shares_or_winner = graph.add("Where", nothing, winner, joined)
    return graph.add("Div", shares_or_winner, graph.add("ReduceSum", shares_or_winner, axis, keepdims=1))


def _write_curve(graph: _Graph, curve: Logistic | Steps, score: str) -> str:
    """Return the probability that a curve gives to scores of shape (n_rows, 1)."""
    if isinstance(curve, Logistic):
        odds = graph.scale(score, curve.slope)
        return graph.add("Sigmoid", odds if curve.shift is None else graph.shift(odds, curve.shift))
    x, y = curve.scores, curve.probabilities
    # Piece k begins at x[k - 1]: before the first point and after the last one the slope is 0.
    slopes = np.concatenate([[0.0], np.diff(y) / np.diff(x), [0.0]])
    starts, levels = np.concatenate([x[:1], x]), np.concatenate([y[:1], y])
    reached = graph.add("Cast", graph.add("GreaterOrEqual", score, x[None]), to=TensorProto.INT64)
    piece = graph.add("ReduceSum", reached, [1], keepdims=1)
    slope, start, level = (graph.add("Gather", part, piece) for part in (slopes, starts, levels))
    return graph.add("Add", graph.add("Mul", slope, graph.add("Sub", score, start)), level)
