"""How the coefficients of a model were fitted, and its parameters, as plain JSON values, and back."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from rulegrove._typing import FloatArray
from rulegrove.estimators._checked_json import Value, encode
from rulegrove.estimators._file_terms import decode_label
from rulegrove.exceptions import InvalidInputError
from rulegrove.losses import LOSSES, Loss
from rulegrove.selection import Selection
from rulegrove.solvers import SOLVERS, Parameter, Path, Solver, Status

_SOLVERS: dict[str, Callable[..., Any]] = {solver.__name__: solver for solver in SOLVERS.values()}
_PATH_NUMBERS = ("penalties", "intercepts", "gaps", "residuals", "risks")
_ERRORS = ("errors", "standard_errors", "fold_errors")


def encode_path(path: Path, max_cells: int) -> dict[str, Any]:
    """Return a path, the coefficients of each point as columns and values; see `decode_path` for `max_cells`."""
    if path.coefs.size > max_cells:
        raise InvalidInputError(
            f"A path of the model has {path.coefs.size} coefficients; a model file may have {max_cells} for each "
            "output. Fit it with fewer candidates, or fewer points of the path."
        )
    supports = [np.flatnonzero(coef) for coef in path.coefs]
    fields: dict[str, Any] = {
        "parameter": path.parameter.name,
        "values": encode(path.parameter.values),
        **{name: encode(getattr(path, name)) for name in _PATH_NUMBERS},
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
    fields = value.fields(names, {"relaxed": None} if relaxed else {})
    values = fields["values"].numbers(special=True)
    n_points = len(values)
    if n_points == 0 or n_points * n_terms > max_cells:
        fields["values"].refuse(f"the points of a path: at least one, and no more than {max_cells} coefficients in all")
    coefs = np.zeros((n_points, n_terms))
    for row, point in zip(coefs, fields["coefs"].items(n_points), strict=True):
        columns, numbers = point.items(2)
        places = columns.positions(n_terms)
        row[places] = numbers.numbers(len(places))
    return Path(
        parameter=Parameter(fields["parameter"].text(), values),
        coefs=coefs,
        iterations=fields["iterations"].integers(0, 2**53, n_points),
        status=tuple(Status[item.text(list(Status.__members__))] for item in fields["status"].items(n_points)),
        seconds=fields["seconds"].number(0.0),
        weight=fields["weight"].number(0.0),
        relaxed=fields["relaxed"].maybe(lambda path: decode_path(path, n_terms, max_cells, relaxed=False))
        if relaxed
        else None,
        **{name: fields[name].numbers(n_points, special=True) for name in _PATH_NUMBERS},
    )


def encode_selection(selection: Selection) -> dict[str, Any]:
    """Return the chosen point and the cross-validated errors; the coefficients of the folds are left out."""
    errors = {name: encode(getattr(selection, name)) for name in _ERRORS}
    known = {name: value for name, value in errors.items() if value is not None}
    return {"index": int(selection.index), "rule": selection.rule, "mix": float(selection.mix), **known}


def decode_selection(value: Value, n_points: int) -> Selection:
    """Return the chosen point of a path."""
    fields = value.fields(["index", "rule", "mix"], dict.fromkeys(_ERRORS))

    def numbers(errors: Value) -> FloatArray:
        return errors.numbers(n_points, special=True)

    def table(folds: Value) -> FloatArray:
        return np.array([numbers(fold) for fold in folds.items()], dtype=np.float64).reshape(-1, n_points)

    return Selection(
        fields["index"].integer(0, n_points - 1),
        fields["rule"].text(),
        fields["errors"].maybe(numbers),
        fields["standard_errors"].maybe(numbers),
        fields["fold_errors"].maybe(table),
        fields["mix"].number(0.0, 1.0),
    )


def encode_solver(solver: Any) -> dict[str, Any]:
    """Return one of rulegrove's solvers as its name and parameters."""
    name = type(solver).__name__
    if type(solver) not in SOLVERS.values():
        raise InvalidInputError(
            f"The solver {name} is not one of {', '.join(_SOLVERS)}; a model file contains no code, so it cannot be "
            "saved."
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
    return cast(Solver, solver)


def _encode_loss(loss: Loss) -> dict[str, Any]:
    """Return one of rulegrove's losses as its name and parameters."""
    if type(loss) is not LOSSES.get(loss.name):
        raise InvalidInputError(
            f"The loss {type(loss).__name__} of the solver is not one of {', '.join(LOSSES)}; a model file contains "
            "no code, so it cannot be saved."
        )
    return {"loss": loss.name, "parameters": encode_parameters(vars(loss))}


def _decode_loss(value: Value) -> Loss:
    """Return a loss, its parameters checked."""
    fields = value.fields(["loss", "parameters"])
    make = LOSSES[fields["loss"].text(list(LOSSES))]
    numbers = {name: item.number() for name, item in fields["parameters"].keyed().items()}
    try:
        return make(**numbers)
    except (ValueError, TypeError) as error:
        value.blame(error)


# Parameters of estimators and solvers.


def encode_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of an estimator or a solver."""
    return {name: _encode_parameter(value) for name, value in parameters.items()}


def _plain(value: Any, depth: int = 0) -> Any:
    """Return a value that JSON has, lists in lists up to so deep; one that it has not is a TypeError."""
    if depth > 0 and isinstance(value, (list, tuple, set, frozenset, np.ndarray)):
        ordered = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
        return [_plain(item, depth - 1) for item in ordered]
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and not np.isfinite(plain):
        return {"float": repr(plain)}
    if plain is None or isinstance(plain, (bool, str, float)) or (isinstance(plain, int) and abs(plain) < 10**18):
        return plain
    raise TypeError


def _encode_parameter(value: Any) -> Any:
    """Return a parameter: plain values, lists of them, dicts, solvers, losses; of others only the name of the type."""
    if type(value) in SOLVERS.values():
        return encode_solver(value)
    if isinstance(value, Loss):
        return _encode_loss(value)
    try:
        if isinstance(value, dict):
            return {"pairs": [[_plain(key), _plain(item)] for key, item in value.items()]}
        return _plain(value, depth=2)
    except TypeError:  # also that of an array of no dimensions
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


def _decode_parameter(value: Value, *, solvers: bool) -> Any:
    if isinstance(value.raw, list):
        return [_decode_item(item) for item in value.items()]
    if isinstance(value.raw, dict) and "pairs" in value.raw:
        pairs = (pair.items(2) for pair in value.fields(["pairs"])["pairs"].items())
        return {key.maybe(decode_label): item.maybe(decode_label) for key, item in pairs}
    if solvers and isinstance(value.raw, dict) and "solver" in value.raw:
        return decode_solver(value)
    if isinstance(value.raw, dict) and "loss" in value.raw:
        return _decode_loss(value)
    return value.maybe(decode_label)


def _decode_item(value: Value) -> Any:
    """Return an item of a list, which may be a list itself."""
    if isinstance(value.raw, list):
        return [item.maybe(decode_label) for item in value.items()]
    return value.maybe(decode_label)
