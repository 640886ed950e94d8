"""Statistics of a fit as a file: arrays and a checked JSON header. Reading it runs nothing."""

import io
import json
import os
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from rulegrove._files import write_whole
from rulegrove._typing import AnyArray
from rulegrove.design.statistics import Statistics
from rulegrove.design.terms import Terms
from rulegrove.engines.keeping import FitStatistics, PoolStatistics
from rulegrove.estimators import _file_terms as file_terms
from rulegrove.estimators._checked_json import Value, encode_number, encode_numbers, parse
from rulegrove.estimators._sampling import HashFolds, TargetCode
from rulegrove.exceptions import InvalidInputError

FORMAT = "rulegrove statistics"
VERSION = 1
MOST_FOLDS = 10_000
_FIELDS = ["format", "version", "features", "target", "weights", "classes", "class_weights", "offset", "weighted"]
_FIELDS += ["fold_seed", "n_folds", "n_positions", "pools"]


def save_statistics(kept: FitStatistics, path: str | os.PathLike[str]) -> None:
    """Write statistics to a file, whole or not at all.

    Parameters
    ----------
    kept : FitStatistics
    path : str or path
    """
    code = kept.code
    header = {
        "format": FORMAT,
        "version": VERSION,
        "features": [file_terms.encode_feature(feature) for feature in kept.features],
        "target": kept.target,
        "weights": kept.weights,
        "classes": None if code.classes is None else file_terms.encode_classes(code.classes),
        "class_weights": None if code.class_weights is None else encode_numbers(code.class_weights),
        "offset": encode_number(code.offset),
        "weighted": kept.weighted,
        "fold_seed": str(kept.folds.seed),
        "n_folds": kept.folds.n_folds,
        "n_positions": kept.n_positions,
        "pools": [
            {"output": pool.output, "candidates": file_terms.encode_candidates(pool.terms)} for pool in kept.pools
        ],
    }
    arrays: dict[str, AnyArray] = {"header": np.frombuffer(json.dumps(header, allow_nan=False).encode(), np.uint8)}
    for place, pool in enumerate(kept.pools):
        for field in fields(Statistics):
            arrays[f"{place}.{field.name}"] = getattr(pool.statistics, field.name)
        if pool.shares is not None:
            arrays[f"{place}.shares"] = pool.shares
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    write_whole(path, buffer.getvalue())


def load_statistics(path: str | os.PathLike[str]) -> FitStatistics:
    """Read the statistics of a fit from a file.

    Parameters
    ----------
    path : str or path
        Of a file that `FitStatistics.save` has written. Everything in it is checked, and nothing is run.

    Returns
    -------
    FitStatistics

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> from rulegrove import RuleEnsembleRegressor, engines
    >>> table = pa.table({"a": [float(k) for k in range(100)], "y": [float(k > 40) for k in range(100)]})
    >>> model = RuleEnsembleRegressor(n_candidates=10, random_state=0)
    >>> model = engines.fit(model, table, "y", keep_statistics=True)
    >>> path = tempfile.mkdtemp() + "/statistics.npz"
    >>> model.statistics_.save(path)
    >>> engines.load_statistics(path).n_rows
    100
    """
    name = f"'{path}'"
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InvalidInputError(f"{name} cannot be read: {error.strerror}.") from None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        text = arrays.pop("header").tobytes().decode()
    except (ValueError, KeyError, OSError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise InvalidInputError(f"{name} is no statistics file, or a damaged one: {error}.") from None
    try:
        return _decode(parse(text, name), arrays)
    except InvalidInputError as error:
        words = str(error).replace("model file", "statistics file").replace("Save the model", "Save the statistics")
        raise InvalidInputError(words) from None


def _decode(document: Value, arrays: dict[str, AnyArray]) -> FitStatistics:
    """Return the statistics of a header and its arrays."""
    raw = document.raw
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise InvalidInputError(f"{document.file} is no statistics file: it has another `format` or none.")
    if raw.get("version") != VERSION:
        raise InvalidInputError(
            f"{document.file} has the layout {raw.get('version')!r} of statistics files; this rulegrove reads "
            f"{VERSION}."
        )
    parts = document.fields(_FIELDS)
    features = tuple(file_terms.decode_feature(item) for item in parts["features"].items())
    if not features:
        parts["features"].refuse("a list of attributes")
    classes = None if parts["classes"].is_null else file_terms.decode_classes(parts["classes"])
    class_weights = None
    if classes is not None and not parts["class_weights"].is_null:
        class_weights = parts["class_weights"].numbers(len(classes), 0.0)
    code = TargetCode(classes, class_weights, parts["offset"].number())
    seed = parts["fold_seed"].text()
    if not seed.isdigit() or int(seed) >= 2**64:
        parts["fold_seed"].refuse("an integer below 2**64, as text")
    folds = HashFolds(int(seed), parts["n_folds"].integer(1, MOST_FOLDS))
    weighted = parts["weighted"].boolean()
    pools = []
    for place, item in enumerate(parts["pools"].items()):
        pool = item.fields(["output", "candidates"])
        output = None if pool["output"].is_null else pool["output"].integer(0, code.n_outputs - 1)
        terms = file_terms.decode_candidates(pool["candidates"], features)
        n_outputs = code.n_outputs if output is None else 1
        statistics = _decode_statistics(arrays, place, terms, folds.n_folds, n_outputs, document.file)
        shares = arrays.get(f"{place}.shares")
        if shares is not None:
            _check_array(shares, (len(terms.rules), code.n_outputs), "f", f"{place}.shares", document.file)
        pools.append(PoolStatistics(terms, output, statistics, shares))
    if len(pools) not in (1, code.n_outputs):
        parts["pools"].refuse(f"a list of 1 or {code.n_outputs}")
    return FitStatistics(
        features,
        parts["target"].text(),
        None if parts["weights"].is_null else parts["weights"].text(),
        code,
        weighted,
        folds,
        parts["n_positions"].integer(0, 2**62),
        tuple(pools),
    )


def _decode_statistics(
    arrays: dict[str, Any], place: int, terms: Terms, n_folds: int, n_outputs: int, name: str
) -> Statistics:
    """Return the statistics of a pool, every array of the shape and kind that it must have."""
    empty = Statistics.zeros(n_folds, len(terms.rules), terms.linear.n_terms, n_outputs)
    found = {}
    for field in fields(Statistics):
        key, like = f"{place}.{field.name}", getattr(empty, field.name)
        if key not in arrays:
            raise InvalidInputError(f"{name} is no valid statistics file: it has no array '{key}'.")
        kinds = "if" if field.name == "rule_gram" else like.dtype.kind
        _check_array(arrays[key], like.shape, kinds, key, name)
        found[field.name] = arrays[key]
    return Statistics(**found)


def _check_array(array: AnyArray, shape: tuple[int, ...], kinds: str, key: str, name: str) -> None:
    """Refuse an array of another shape or kind, or one with values that are not finite."""
    if array.shape != shape or array.dtype.kind not in kinds or array.dtype.itemsize != 8:
        raise InvalidInputError(
            f"{name} is no valid statistics file: the array '{key}' must have the shape {shape} and 64 bits a number; "
            f"got {array.shape} of {array.dtype}."
        )
    if not np.isfinite(array).all():
        raise InvalidInputError(
            f"{name} is no valid statistics file: the array '{key}' has values that are not finite."
        )
