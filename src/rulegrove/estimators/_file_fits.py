"""What weighted the terms of a model, and its parameters, as plain JSON values, and back."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.estimators._checked_json import Value, encode_numbers
from rulegrove.estimators.calibration import Curves, Sigmoid, Steps, Temperature
from rulegrove.exceptions import InvalidInputError
from rulegrove.selection import Selection
from rulegrove.solvers import SOLVERS, Parameter, Path, Solver, Status

_SOLVERS: dict[str, Callable[..., Any]] = {solver.__name__: solver for solver in SOLVERS.values()}
_PATH_NUMBERS = ("penalties", "intercepts", "gaps", "residuals", "risks")


def encode_path(path: Path, max_cells: int) -> dict[str, Any]:
    """Return a path, the coefficients of each point as columns and values; see `decode_path` for `max_cells`."""
    if path.coefs.size > max_cells:
        raise InvalidInputError(
            f"A path of the model has {path.coefs.size} coefficients; a model file may have {max_cells} an output. "
            "Fit it with fewer candidates, or fewer points of the path."
        )
    supports = [np.flatnonzero(coef) for coef in path.coefs]
    fields: dict[str, Any] = {
        "parameter": path.parameter.name,
        "values": encode_numbers(path.parameter.values),
        **{name: encode_numbers(getattr(path, name)) for name in _PATH_NUMBERS},
        "iterations": np.asarray(path.iterations).tolist(),
        "status": [status.name for status in path.status],
        "coefs": [
            [columns.tolist(), coef[columns].tolist()] for columns, coef in zip(supports, path.coefs, strict=True)
        ],
        "seconds": path.seconds,
        "weight": float(path.weight),
    }
    return fields if path.relaxed is None else {**fields, "relaxed": encode_path(path.relaxed, max_cells)}


def decode_path(value: Value, n_terms: int, max_cells: int, *, relaxed: bool = True) -> Path:
    """Return a path over so many candidates; one that is itself the relaxed part of another has no such part.

    A path of more than `max_cells` coefficients is refused: most are zero and take no room in the file, but they do
    in memory.
    """
    names = ["parameter", "values", *_PATH_NUMBERS, "iterations", "status", "coefs", "seconds", "weight"]
    fields = value.fields(names, ["relaxed"] if relaxed else [])
    values = fields["values"].numbers(special=True)
    n_points = len(values)
    if n_points == 0 or n_points * n_terms > max_cells:
        fields["values"].refuse(f"the points of a path: at least one, and no more than {max_cells} coefficients in all")
    coefs = np.zeros((n_points, n_terms))
    for coef, point in zip(coefs, fields["coefs"].items(n_points), strict=True):
        columns, weights = point.items(2)
        places = columns.positions(n_terms)
        coef[places] = weights.numbers(len(places))
    status = tuple(Status[item.text(list(Status.__members__))] for item in fields["status"].items(n_points))
    iterations = [item.integer(0, 2**53) for item in fields["iterations"].items(n_points)]
    return Path(
        parameter=Parameter(fields["parameter"].text(), values),
        coefs=coefs,
        iterations=np.array(iterations, dtype=np.int64),
        status=status,
        seconds=fields["seconds"].number(0.0),
        weight=fields["weight"].number(0.0),
        relaxed=decode_path(fields["relaxed"], n_terms, max_cells, relaxed=False) if "relaxed" in fields else None,
        **{name: fields[name].numbers(n_points, special=True) for name in _PATH_NUMBERS},
    )


def encode_selection(selection: Selection) -> dict[str, Any]:
    """Return the chosen point and the cross-validated errors; the coefficients of the folds are left out."""
    fields: dict[str, Any] = {"index": int(selection.index), "rule": selection.rule, "mix": float(selection.mix)}
    if selection.errors is not None:
        fields["errors"] = encode_numbers(selection.errors)
    if selection.standard_errors is not None:
        fields["standard_errors"] = encode_numbers(selection.standard_errors)
    if selection.fold_errors is not None:
        fields["fold_errors"] = [encode_numbers(errors) for errors in selection.fold_errors]
    return fields


def decode_selection(value: Value, n_points: int) -> Selection:
    """Return the chosen point of a path."""
    fields = value.fields(["index", "rule", "mix"], ["errors", "standard_errors", "fold_errors"])
    folds = None
    if "fold_errors" in fields:
        rows = [item.numbers(n_points, special=True) for item in fields["fold_errors"].items()]
        folds = np.array(rows, dtype=np.float64).reshape(len(rows), n_points)

    def errors(name: str) -> FloatArray | None:
        return fields[name].numbers(n_points, special=True) if name in fields else None

    return Selection(
        fields["index"].integer(0, n_points - 1),
        fields["rule"].text(),
        errors("errors"),
        errors("standard_errors"),
        folds,
        fields["mix"].number(0.0, 1.0),
    )


def encode_solver(solver: Any) -> dict[str, Any]:
    """Return one of rulegrove's solvers as its name and parameters."""
    name = type(solver).__name__
    if type(solver) not in SOLVERS.values():
        raise InvalidInputError(
            f"The solver {name} is none of {', '.join(_SOLVERS)}; a model file holds no code, so it cannot be saved."
        )
    return {"solver": name, "parameters": encode_parameters(solver.get_params(deep=False))}


def decode_solver(value: Value) -> Solver:
    """Return a solver, its parameters checked."""
    fields = value.fields(["solver", "parameters"])
    make = _SOLVERS[fields["solver"].text(list(_SOLVERS))]
    solver = make(**decode_parameters(fields["parameters"], make, solvers=False))
    try:
        solver.check()
    except (ValueError, TypeError) as error:
        value.blame(error)
    checked: Solver = solver
    return checked


# Parameters of estimators and solvers.


def encode_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of an estimator or a solver."""
    return {name: _encode_parameter(value) for name, value in parameters.items()}


def _is_plain(value: Any) -> bool:
    """Whether JSON has such a value."""
    plain = value.item() if isinstance(value, np.generic) else value
    return plain is None or isinstance(plain, (bool, str, float)) or (isinstance(plain, int) and abs(plain) < 10**18)


def _encode_plain(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    return {"float": repr(plain)} if isinstance(plain, float) and not np.isfinite(plain) else plain


def _encode_parameter(value: Any) -> Any:
    """Return a parameter: plain values, flat lists and dicts of them, solvers; of others only the name of the type."""
    if _is_plain(value):
        return _encode_plain(value)
    if isinstance(value, (list, tuple, np.ndarray)) and all(_is_plain(item) for item in value):
        return [_encode_plain(item) for item in value]
    if isinstance(value, dict) and all(_is_plain(item) for pair in value.items() for item in pair):
        return {"pairs": [[_encode_plain(key), _encode_plain(item)] for key, item in value.items()]}
    if type(value) in SOLVERS.values():
        return encode_solver(value)
    return {"omitted": type(value).__name__}


def decode_parameters(value: Value, make: Callable[..., Any], *, solvers: bool = True) -> dict[str, Any]:
    """Return the parameters for a constructor; one that the file omits has its default.

    Those of a solver hold no solvers: they could be nested without end.
    """
    known = inspect.signature(make).parameters
    parameters = {}
    for name, item in value.keyed().items():
        if name not in known:
            item.refuse(f"a parameter of {make.__name__}")
        if not (isinstance(item.raw, dict) and "omitted" in item.raw):
            parameters[name] = _decode_parameter(item, solvers=solvers)
    return parameters


def _decode_plain(value: Value) -> Any:
    if isinstance(value.raw, dict):
        return value.fields(["float"])["float"].number(special=True)
    if isinstance(value.raw, list):
        value.refuse("a plain value")
    return value.number() if isinstance(value.raw, float) else value.raw


def _decode_parameter(value: Value, *, solvers: bool) -> Any:
    if isinstance(value.raw, list):
        return [_decode_plain(item) for item in value.items()]
    if isinstance(value.raw, dict) and "pairs" in value.raw:
        pairs = [tuple(pair.items(2)) for pair in value.fields(["pairs"])["pairs"].items()]
        decoded = [(_decode_plain(key), _decode_plain(item)) for key, item in pairs]
        return dict(decoded)
    if solvers and isinstance(value.raw, dict) and "solver" in value.raw:
        return decode_solver(value)
    return _decode_plain(value)


# What turns scores into probabilities.


def encode_calibration(calibration: Temperature | Curves | None) -> dict[str, Any] | None:
    """Return what turns scores into probabilities."""
    if calibration is None:
        return None
    if isinstance(calibration, Temperature):
        return {"slope": calibration.slope}
    return {"curves": [_encode_curve(curve) for curve in calibration.curves]}


def _encode_curve(curve: Any) -> dict[str, Any]:
    if isinstance(curve, Sigmoid):
        return {"slope": curve.slope, "shift": curve.shift}
    assert isinstance(curve, Steps)
    return {"scores": curve.scores.tolist(), "probabilities": curve.probabilities.tolist()}


def decode_calibration(value: Value, n_outputs: int) -> Temperature | Curves | None:
    """Return what turns scores of so many outputs into probabilities."""
    if value.is_null:
        return None
    fields = value.fields([], ["slope", "curves"])
    if len(fields) != 1:
        value.refuse("null, or an object with either a slope or curves")
    if "slope" in fields:
        return Temperature(fields["slope"].number())
    return Curves(tuple(_decode_curve(item) for item in fields["curves"].items(n_outputs)))


def _decode_curve(value: Value) -> Sigmoid | Steps:
    if isinstance(value.raw, dict) and "slope" in value.raw:
        fields = value.fields(["slope", "shift"])
        return Sigmoid(fields["slope"].number(), fields["shift"].number())
    fields = value.fields(["scores", "probabilities"])
    scores = fields["scores"].numbers()
    if not scores.size or (np.diff(scores) <= 0).any():
        fields["scores"].refuse("one rising number or more")
    return Steps(scores, fields["probabilities"].numbers(len(scores), 0.0, 1.0))
