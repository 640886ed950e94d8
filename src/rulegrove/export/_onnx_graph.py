"""The graph of a model: conditions as comparisons, rules as counts of them, scores as running sums."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from rulegrove._typing import AnyArray
from rulegrove.columns import Feature, Part
from rulegrove.estimators.calibration import Curve, Curves, Sigmoid, Steps, Temperature
from rulegrove.exceptions import InvalidInputError
from rulegrove.export._scoring import Scoring, describe_columns, is_text, is_unicode, split_categories
from rulegrove.rules.rule import Condition

OPSET = 19  # the first in which texts can be compared
IR_VERSION = 9  # what came with it: newer ones would shut out older runtimes
MISSING_TEXT = ""  # ONNX has no missing text
MISSING_TIME = -(2**63)  # nor a missing integer
_OWN_NAMES = {"label", "scores", "probabilities", "prediction"}  # of the outputs


class _Graph:
    """Nodes and constants in the making."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node; return its output."""
        name = f"rg_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def name(self, value: str, name: str) -> str:
        """Give a value the name of an output."""
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        return name

    def shift(self, values: str, by: Any) -> str:
        """Add a constant, by an operator from which onnxruntime does not drop what float32 takes for 0."""
        return self.add("Sum", self.constant(by), values)

    def scale(self, values: str, by: Any) -> str:
        """Multiply by a constant; a single one is doubled, or onnxruntime would drop what float32 takes for 1."""
        if np.size(by) > 1:
            return self.add("Mul", self.constant(by), values)
        factor = float(np.ravel(by)[0])
        twice = self.add(
            "Mul", self.constant([factor, factor]), self.add("Unsqueeze", values, self.constant([-1], np.int64))
        )
        return self.add("Gather", twice, self.constant(0, np.int64), axis=-1)

    def integers(self, operator: str, values: str, by: int) -> str:
        """Combine whole numbers with a constant."""
        return self.add(operator, values, self.constant(by, np.int64))

    def divide(self, values: str, by: int) -> str:
        """Divide whole numbers and round down; ``Div`` rounds towards zero."""
        return self.integers("Div", self.add("Sub", values, self.integers("Mod", values, by)), by)

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Add a constant; return its name."""
        name = f"rg_constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype=dtype), name))
        return name


def write_graph(scoring: Scoring) -> onnx.ModelProto:
    """Return the ONNX model of what `read_scoring` gives; see `to_onnx`."""
    _check_unicode(scoring)
    graph = _Graph()
    inputs, columns = _read_inputs(graph, scoring.features)
    scores = _write_scores(graph, scoring, columns)
    n_outputs = scoring.n_outputs
    if scoring.classes is None:
        outputs = [_output("prediction", TensorProto.DOUBLE, ["n_rows"])]
        graph.name(_first_column(graph, scores), "prediction")
    else:
        labels = _label_array(scoring.classes)
        kind = helper.np_dtype_to_tensor_dtype(labels.dtype) if labels.dtype != object else TensorProto.STRING
        shape: list[str | int] = ["n_rows"] if n_outputs == 1 else ["n_rows", n_outputs]
        outputs = [
            _output("label", kind, ["n_rows"]),
            _output("scores", TensorProto.DOUBLE, shape),
            _output("probabilities", TensorProto.DOUBLE, ["n_rows", len(labels)]),
        ]
        graph.name(
            graph.add("Gather", graph.constant(labels, labels.dtype), _largest(graph, scores, n_outputs)), "label"
        )
        graph.name(_first_column(graph, scores) if n_outputs == 1 else scores, "scores")
        graph.name(_write_probabilities(graph, scoring, scores), "probabilities")
    body = helper.make_graph(graph.nodes, "rulegrove", inputs, outputs, graph.constants)
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="rulegrove")
    model.ir_version = IR_VERSION
    model.doc_string = _describe_inputs(inputs, scoring.features)
    onnx.checker.check_model(model)
    return model


def _output(name: str, kind: int, shape: Sequence[str | int]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def _label_array(labels: Sequence[Any]) -> AnyArray:
    """Return labels as an array that ONNX has."""
    for kind, dtype in ((str, object), (bool, np.bool_), (int, np.int64), (float, np.float64)):
        if all(type(label) is kind for label in labels):
            return np.array(labels, dtype=dtype)
    kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
    raise InvalidInputError(f"ONNX has labels of one type: texts, integers, floats or booleans; got {kinds}.")


def _check_unicode(scoring: Scoring) -> None:
    """Refuse texts that ONNX cannot hold."""
    names = (text for feature in scoring.features for text in (feature.source, *(feature.categories or ())))
    for text in (*names, *(scoring.classes or ())):
        if isinstance(text, str) and not is_unicode(text):
            raise InvalidInputError(
                f"The text {text!r} of a column name, category or class holds a lone surrogate, which ONNX cannot "
                "write; replace it and fit again."
            )


def _describe_inputs(inputs: Sequence[onnx.ValueInfoProto], features: Sequence[Feature]) -> str:
    """Say what to feed."""
    kinds = describe_columns(features)
    if [one.name for one in inputs] == ["X"] and not _by_column(features):
        return "X: one column for each of these numbers, NaN where missing: " + ", ".join(kinds)
    forms: dict[int, str] = {
        TensorProto.DOUBLE: "float64, NaN where missing",
        TensorProto.STRING: "string, empty where missing",
        TensorProto.INT64: f"int64, whole seconds since 1970-01-01 UTC, {MISSING_TIME} where missing",
    }
    lines = (f"{one.name}: {kinds[one.name]}, {forms[one.type.tensor_type.elem_type]}" for one in inputs)
    return "\n".join(lines)


def _by_column(features: Sequence[Feature]) -> bool:
    """Whether each column is an input of its own, because they are of different types."""
    return any(feature.categories is not None or feature.part is not None for feature in features)


def _read_inputs(graph: _Graph, features: Sequence[Feature]) -> tuple[list[onnx.ValueInfoProto], list[str]]:
    """Declare the inputs; return them and one column of shape (n_rows, 1) an attribute."""
    if not _by_column(features):
        declared = helper.make_tensor_value_info("X", TensorProto.DOUBLE, ["n_rows", len(features)])
        return [declared], [
            graph.add("Gather", "X", graph.constant([k], np.int64), axis=1) for k in range(len(features))
        ]
    kinds = {}
    for feature in features:
        name = feature.source
        if not name or name.startswith("rg_") or name in _OWN_NAMES:
            raise InvalidInputError(f"The name {name!r} of a column cannot be that of an ONNX input; rename it.")
        if MISSING_TEXT in (feature.categories or ()):
            raise InvalidInputError(
                f"Column '{name}' has the empty text as a category, which stands for a missing one in ONNX; "
                "replace it by another text and fit again."
            )
        other = TensorProto.STRING if is_text(feature) else TensorProto.DOUBLE
        kinds[name] = other if feature.part is None else TensorProto.INT64
    inputs = [_output(name, kind, ["n_rows", 1]) for name, kind in kinds.items()]
    columns = (
        feature.source if feature.part is None else _write_part(graph, feature.source, feature.part)
        for feature in features
    )
    return inputs, list(columns)


def _write_part(graph: _Graph, seconds: str, part: Part) -> str:
    """Return what times tell as float64, NaN where they are missing."""
    missing = graph.integers("Equal", seconds, MISSING_TIME)
    known = graph.add("Where", missing, graph.constant(0, np.int64), seconds)
    days = graph.divide(known, 86400)
    if part == "hour":
        told = graph.integers("Div", graph.integers("Mod", known, 86400), 3600)
    elif part == "weekday":  # 1970-01-01 was a Thursday
        told = graph.integers("Add", graph.integers("Mod", graph.integers("Add", days, 3), 7), 1)
    else:
        told = days if part == "date" else _write_calendar(graph, days)[part]
    return graph.add("Where", missing, graph.constant(np.nan), graph.add("Cast", told, to=TensorProto.DOUBLE))


def _write_calendar(graph: _Graph, days: str) -> dict[Part, str]:
    """Return year and month of days since 1970-01-01.

    Years are counted from March, so that the leap day is their last, in eras of 400 years, which are all of one length
    (Howard Hinnant's `civil_from_days <https://howardhinnant.github.io/date_algorithms.html>`_).
    """
    since = graph.integers("Add", days, 719468)  # 0000-03-01
    era, day = graph.divide(since, 146097), graph.integers("Mod", since, 146097)
    leaps = graph.add("Sub", graph.integers("Div", day, 1460), graph.integers("Div", day, 36524))
    leaps = graph.add("Add", leaps, graph.integers("Div", day, 146096))
    year = graph.integers("Div", graph.add("Sub", day, leaps), 365)  # of the era
    before = graph.add("Sub", graph.integers("Div", year, 4), graph.integers("Div", year, 100))
    before = graph.add("Add", graph.integers("Mul", year, 365), before)
    day = graph.add("Sub", day, before)  # of the year
    month = graph.integers("Div", graph.integers("Add", graph.integers("Mul", day, 5), 2), 153)  # from March
    late = graph.integers("Less", month, 10)
    plain = graph.add("Where", late, graph.constant(3, np.int64), graph.constant(-9, np.int64))
    carried = graph.add("Where", late, graph.constant(0, np.int64), graph.constant(1, np.int64))
    year = graph.add("Add", year, graph.integers("Mul", era, 400))
    return {"year": graph.add("Add", year, carried), "month": graph.add("Add", month, plain)}


def _write_conditions(graph: _Graph, scoring: Scoring, columns: Sequence[str]) -> tuple[str, dict[Condition, int]]:
    """Return where each distinct condition holds, (n_rows, n_conditions), and the column of each condition."""
    places: dict[Condition, int] = {}
    held = []
    distinct = {condition for rule in scoring.rules for condition in rule.conditions}
    for feature in sorted({condition.feature for condition in distinct}):
        own = sorted(condition for condition in distinct if condition.feature == feature)
        places.update({condition: len(places) + k for k, condition in enumerate(own)})
        compare = _compare_numbers if own[0].categories is None else _compare_labels
        held.append(compare(graph, scoring.features[feature], columns[feature], own))
    return graph.add("Concat", *held, axis=1), places


def _or_missing(graph: _Graph, known: str, absent: str, own: Sequence[Condition]) -> str:
    """Let a missing value satisfy the conditions that say so."""
    if not any(condition.missing for condition in own):
        return known
    allowed = graph.constant([[condition.missing for condition in own]], np.bool_)
    return graph.add("Or", known, graph.add("And", absent, allowed))


def _compare_numbers(graph: _Graph, feature: Feature, x: str, own: Sequence[Condition]) -> str:
    """Return where conditions on a number hold; NaN is neither above nor below."""
    above = graph.add("Greater", x, graph.constant([[condition.lower for condition in own]]))
    below = graph.add("LessOrEqual", x, graph.constant([[condition.upper for condition in own]]))
    return _or_missing(graph, graph.add("And", above, below), graph.add("IsNaN", x), own)


def _compare_labels(graph: _Graph, feature: Feature, x: str, own: Sequence[Condition]) -> str:
    """Return where conditions on a category hold."""
    text = is_text(feature)
    labels = feature.categories or (MISSING_TEXT,)  # if there are none, one that no condition is about
    equal = graph.add("Equal", x, graph.constant([labels], object if text else np.float64))
    members, turned = np.zeros((len(labels), len(own))), []
    for k, condition in enumerate(own):
        listed, others = split_categories(condition, feature)
        members[[labels.index(label) for label in listed], k] = 1.0
        turned.append(others)
    hits = graph.add("MatMul", graph.add("Cast", equal, to=TensorProto.FLOAT), graph.constant(members, np.float32))
    known = graph.add("Greater", hits, graph.constant(0.5, np.float32))
    absent = graph.add("Equal", x, graph.constant([[MISSING_TEXT]], object)) if text else graph.add("IsNaN", x)
    if any(turned):
        known = graph.add("Xor", known, graph.constant([turned], np.bool_))
        known = graph.add("And", known, graph.add("Not", absent))
    return _or_missing(graph, known, absent, own)


def _write_rules(graph: _Graph, scoring: Scoring, columns: Sequence[str]) -> str:
    """Return where each rule holds, (n_rows, 1, n_rules): where as many of its conditions hold as it has."""
    held, places = _write_conditions(graph, scoring, columns)
    parts = np.zeros((len(places), len(scoring.rules)))
    for k, rule in enumerate(scoring.rules):
        parts[[places[condition] for condition in rule.conditions], k] = 1.0
    counts = graph.add("MatMul", graph.add("Cast", held, to=TensorProto.FLOAT), graph.constant(parts, np.float32))
    all_hold = graph.add("Greater", counts, graph.constant(parts.sum(axis=0) - 0.5, np.float32))
    return graph.add("Unsqueeze", all_hold, graph.constant([1], np.int64))


def _last_sum(graph: _Graph, parts: str) -> str:
    """Add up along the last axis, strictly from the left: (n_rows, n_outputs, n_parts) to (n_rows, n_outputs)."""
    sums = graph.add("CumSum", parts, graph.constant(2, np.int64))
    return graph.add("Gather", sums, graph.constant(-1, np.int64), axis=2)


def _write_scores(graph: _Graph, scoring: Scoring, columns: Sequence[str]) -> str:
    """Return the scores, (n_rows, n_outputs)."""
    intercepts = scoring.intercepts[None, :]
    if scoring.rules:
        held = _write_rules(graph, scoring, columns)
        parts = graph.add("Where", held, graph.constant(scoring.rule_coefs[None]), graph.constant(0.0))
        scores = graph.shift(_last_sum(graph, parts), intercepts)
    else:  # one row of intercepts for each row of the input
        n_rows = graph.add("Shape", columns[0], start=0, end=1)
        shape = graph.add("Concat", n_rows, graph.constant([scoring.n_outputs], np.int64), axis=0)
        scores = graph.add("Expand", graph.constant(intercepts), shape)
    if not scoring.linear:
        return scores
    values = graph.add(
        "Concat", *(_write_linear(graph, term, columns[term.feature]) for term in scoring.linear), axis=1
    )
    spread = graph.add("Unsqueeze", values, graph.constant([1], np.int64))
    lines = graph.scale(spread, scoring.linear_coefs[None])
    start = graph.add("Unsqueeze", scores, graph.constant([2], np.int64))
    return _last_sum(graph, graph.add("Concat", start, lines, axis=2))


def _write_linear(graph: _Graph, term: Any, x: str) -> str:
    """Return a winsorised attribute, (n_rows, 1), its mean where it is missing."""
    bounded = graph.add("Min", graph.add("Max", x, graph.constant(term.lower)), graph.constant(term.upper))
    return graph.add("Where", graph.add("IsNaN", x), graph.constant(term.fill), bounded)


def _first_column(graph: _Graph, values: str) -> str:
    return graph.add("Gather", values, graph.constant(0, np.int64), axis=1)


def _largest(graph: _Graph, scores: str, n_outputs: int) -> str:
    """Return the position of each row's class."""
    if n_outputs > 1:
        return graph.add("ArgMax", scores, axis=1, keepdims=0)
    positive = graph.add("Greater", _first_column(graph, scores), graph.constant(0.0))
    return graph.add("Cast", positive, to=TensorProto.INT64)


def _write_probabilities(graph: _Graph, scoring: Scoring, scores: str) -> str:
    """Return the probabilities, (n_rows, n_classes)."""
    link, single = scoring.link, scoring.n_outputs == 1
    if isinstance(link, Temperature):
        odds = graph.scale(scores, link.slope)
        if not single:
            return graph.add("Softmax", odds, axis=1)
        return _both(graph, graph.add("Sigmoid", odds))
    assert isinstance(link, Curves)
    if single:
        return _both(graph, _write_curve(graph, link.curves[0], scores))
    one = [graph.add("Gather", scores, graph.constant([k], np.int64), axis=1) for k in range(scoring.n_outputs)]
    shares = [_write_curve(graph, curve, score) for curve, score in zip(link.curves, one, strict=True)]
    joined = graph.add("Concat", *shares, axis=1)
    winner = graph.add("Gather", graph.constant(np.eye(len(one))), _largest(graph, scores, len(one)))
    axis = graph.constant([1], np.int64)
    nothing = graph.add("Equal", graph.add("ReduceSum", joined, axis, keepdims=1), graph.constant(0.0))
    shares_or_winner = graph.add("Where", nothing, winner, joined)
    return graph.add("Div", shares_or_winner, graph.add("ReduceSum", shares_or_winner, axis, keepdims=1))


def _both(graph: _Graph, positive: str) -> str:
    """Return the probabilities of two classes."""
    return graph.add("Concat", graph.add("Sub", graph.constant(1.0), positive), positive, axis=1)


def _write_curve(graph: _Graph, curve: Curve, score: str) -> str:
    """Return the probability that a curve gives to scores of shape (n_rows, 1)."""
    if isinstance(curve, Sigmoid):
        return graph.add("Sigmoid", graph.shift(graph.scale(score, curve.slope), curve.shift))
    assert isinstance(curve, Steps)
    x, y = curve.scores, curve.probabilities
    # Piece k begins at x[k - 1]: before the first point and after the last one the slope is 0.
    slopes = np.concatenate([[0.0], np.diff(y) / np.diff(x), [0.0]])
    starts, levels = np.concatenate([x[:1], x]), np.concatenate([y[:1], y])
    reached = graph.add("Cast", graph.add("GreaterOrEqual", score, graph.constant(x[None])), to=TensorProto.INT64)
    piece = graph.add("ReduceSum", reached, graph.constant([1], np.int64), keepdims=1)
    slope, start, level = (graph.add("Gather", graph.constant(part), piece) for part in (slopes, starts, levels))
    return graph.add("Add", graph.add("Mul", slope, graph.add("Sub", score, start)), level)
