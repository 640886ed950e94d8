"""Statistics of a fit as a file: arrays and a checked JSON header. Reading it runs nothing."""

import contextlib
import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import IO, Any, NoReturn

import numpy as np

from rulegrove._files import open_file, written_whole
from rulegrove._typing import AnyArray
from rulegrove.columns import Feature
from rulegrove.design.statistics import Statistics
from rulegrove.design.terms import Terms
from rulegrove.engines.keeping import FitStatistics, PoolStatistics
from rulegrove.estimators import _file_terms as file_terms
from rulegrove.estimators._checked_json import MAX_BYTES, Value, check_size, encode, parse, quote
from rulegrove.estimators._sampling import HashFolds, TargetCode
from rulegrove.exceptions import InvalidInputError

FORMAT = "rulegrove statistics"
VERSION = 1
MOST_FOLDS = 10_000
MOST_NUMBERS = 2**30  # of all arrays together, 8 GB: 26 classes with 2,000 rules each over 5 folds have half of it
_FIELDS = ["format", "version", "features", "target", "weights", "classes", "class_weights", "offset", "weighted"]
_FIELDS += ["fold_seed", "n_folds", "n_positions", "pools"]
_SLACK = 1e-6  # of weights and products, which are sums: rounding may take them that far from what they should be
_STEP = 2**17  # numbers that are read at a time: a megabyte
_STRIP = 256  # rules whose pairs are checked at a time
_MAGIC = b"\x93NUMPY\x01\x00"
_ABOUT = re.compile(
    rb"\{'descr': '(\|u1|[<>][if]8)', 'fortran_order': (True|False), "
    rb"'shape': \((\d{1,19}(?:, \d{1,19}){0,2}),?\), \} *\n"
)


def save_statistics(kept: FitStatistics, path: str | os.PathLike[str]) -> None:
    """Write statistics to a file, whole or not at all."""
    code = kept.code
    header = {
        "format": FORMAT,
        "version": VERSION,
        "features": [file_terms.encode_feature(feature) for feature in kept.features],
        "target": kept.target,
        "weights": kept.weights,
        "classes": file_terms.encode_classes(code.classes),
        "class_weights": encode(code.class_weights),
        "offset": encode(float(code.offset)),
        "weighted": kept.weighted,
        "fold_seed": str(kept.folds.seed),
        "n_folds": kept.folds.n_folds,
        "n_positions": kept.n_positions,
        "pools": [
            {"output": pool.output, "candidates": file_terms.encode_candidates(pool.terms)} for pool in kept.pools
        ],
    }
    content = json.dumps(header, allow_nan=False).encode()
    check_size(content, "The description of the statistics", "statistics")
    arrays: dict[str, AnyArray] = {"header": np.frombuffer(content, np.uint8)}
    for place, pool in enumerate(kept.pools):
        for field in fields(Statistics):
            arrays[f"{place}.{field.name}"] = getattr(pool.statistics, field.name)
        if pool.shares is not None:
            arrays[f"{place}.shares"] = pool.shares
    if (n_numbers := sum(array.size for array in arrays.values())) > MOST_NUMBERS:
        raise InvalidInputError(f"The statistics have {n_numbers} numbers; a statistics file may have {MOST_NUMBERS}.")
    with written_whole(path) as draft, draft.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def load_statistics(path: str | os.PathLike[str]) -> FitStatistics:
    """Read the statistics of a fit from a file.

    Everything in it is checked, and nothing is run: sizes before memory is taken, the checksum of each array, and
    that the sums can be those of rows. What does not fit is an `InvalidInputError` that names the file.

    Parameters
    ----------
    path : str or path
        Of a file that `FitStatistics.save` has written.

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
        file = open_file(path)
    except OSError as error:
        raise InvalidInputError(f"{name} cannot be read: {error.strerror}.") from None
    with file, _reading(name), zipfile.ZipFile(file) as archive:
        arrays = _Arrays.of(archive, name)
        return _decode(parse(arrays.header(), name, "statistics"), arrays)


@contextlib.contextmanager
def _reading(name: str) -> Iterator[None]:
    """Tell in our own words what goes wrong with the archive."""
    try:
        yield
    except InvalidInputError:
        raise
    except MemoryError:
        raise InvalidInputError(f"{name} holds statistics that are larger than the memory of this machine.") from None
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError) as error:
        words = ascii(str(error))[1:-1] or type(error).__name__
        raise InvalidInputError(f"{name} is no statistics file, or a damaged one: {words[:200]}.") from None


@dataclass(frozen=True, slots=True)
class _Arrays:
    """The arrays of a file, read one at a time into memory of the size that they must have."""

    archive: zipfile.ZipFile
    members: dict[str, zipfile.ZipInfo]
    name: str

    @classmethod
    def of(cls, archive: zipfile.ZipFile, name: str) -> "_Arrays":
        """Find the arrays of an archive, which holds nothing else."""
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if "header" not in members or len(members) < len(archive.infolist()):
            raise InvalidInputError(f"{name} is no statistics file: it has no header, or an array twice.")
        return cls(archive, members, name)

    def header(self) -> bytes:
        """Return the header, JSON."""
        size = self.members["header"].file_size
        if size > MAX_BYTES:
            self.refuse(f"its header has {size} bytes")
        with self.archive.open(self.members["header"]) as stream:
            self._about(stream, "header")
            return stream.read()

    def read(self, key: str, room: AnyArray, kinds: str) -> AnyArray:
        """Return an array of the shape of `room`, which holds zeros and becomes it, and of one of the kinds."""
        if key not in self.members:
            self.refuse(f"it has no array '{key}'")
        with self.archive.open(self.members[key]) as stream:
            dtype, by_columns, shape = self._about(stream, key)
            if shape != room.shape or dtype.kind not in kinds:
                self.refuse(
                    f"the array '{key}' must have the shape {room.shape} and 64 bits a number; got {shape} of {dtype}"
                )
            self._fill(room.reshape(-1).view(dtype), stream, key)
        array = room.view(dtype)
        array = array.reshape(shape[::-1]).T if by_columns else array
        return array.astype(dtype.newbyteorder("="), copy=False)

    def _fill(self, room: AnyArray, stream: IO[bytes], key: str) -> None:
        """Read finite numbers in the place of zeros, just as many."""
        for start in range(0, room.size, _STEP):
            place = room[start : start + _STEP]
            part = stream.read(place.nbytes)
            if len(part) < place.nbytes:
                self.refuse(f"the array '{key}' ends too early")
            if not np.isfinite(found := np.frombuffer(part, room.dtype)).all():
                self.refuse(f"the array '{key}' has values that are not finite")
            if found.view(np.uint64).any():  # zeros are there already, and memory never written to is not taken
                place[:] = found
        if stream.read(1):  # at its end the stream has compared the checksum
            self.refuse(f"the array '{key}' does not end where it should")

    def _about(self, stream: IO[bytes], key: str) -> tuple[np.dtype[Any], bool, tuple[int, ...]]:
        """Read type, order and shape of an array, as NumPy writes them."""
        start = stream.read(len(_MAGIC) + 2)
        about = _ABOUT.fullmatch(stream.read(int.from_bytes(start[len(_MAGIC) :], "little")))
        if not start.startswith(_MAGIC) or about is None:
            self.refuse(f"'{key}' is no array of 64-bit numbers")
        kind, by_columns, sizes = about.groups()
        return np.dtype(kind.decode()), by_columns == b"True", tuple(int(size) for size in sizes.split(b","))

    def refuse(self, words: str) -> NoReturn:
        """Say what is wrong with the file."""
        raise InvalidInputError(f"{self.name} is no valid statistics file: {words}. Save the statistics anew.")


def _decode(document: Value, arrays: _Arrays) -> FitStatistics:
    """Return the statistics of a header and its arrays."""
    raw = document.raw
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise InvalidInputError(f"{document.file} is no statistics file: it has another `format` or none.")
    if raw.get("version") != VERSION:
        raise InvalidInputError(
            f"{document.file} has the layout {quote(raw.get('version'))} of statistics files; this rulegrove reads "
            f"{VERSION}."
        )
    parts = document.fields(_FIELDS)
    features = tuple(file_terms.decode_feature(item) for item in parts["features"].items())
    if not features:
        parts["features"].refuse("a list of attributes")
    code = TargetCode(parts["classes"].maybe(file_terms.decode_classes), offset=parts["offset"].number())
    code = replace(code, class_weights=parts["class_weights"].maybe(lambda own: own.numbers(len(code.labels), 0.0)))
    seed = parts["fold_seed"].text()
    if not re.fullmatch("[0-9]{1,20}", seed) or int(seed) >= 2**64:
        parts["fold_seed"].refuse("an integer below 2**64, as text")
    folds = HashFolds(int(seed), parts["n_folds"].integer(1, MOST_FOLDS))
    weighted = parts["weighted"].boolean()
    n_positions = parts["n_positions"].integer(0, 2**62)
    pools = _decode_pools(parts["pools"], features, code, folds.n_folds, n_positions, arrays)
    return FitStatistics(
        features,
        parts["target"].text(),
        None if parts["weights"].is_null else parts["weights"].text(),
        code,
        weighted,
        folds,
        n_positions,
        pools,
    )


def _decode_pools(
    value: Value, features: tuple[Feature, ...], code: TargetCode, n_folds: int, n_positions: int, arrays: _Arrays
) -> tuple[PoolStatistics, ...]:
    """Return the counted pools, which are all of the same rows; memory is taken once it is known to be bounded."""
    if len(value) not in (1, code.n_outputs):
        value.refuse(f"a list of 1 or {code.n_outputs}")
    known: list[tuple[int | None, Terms]] = []
    for place, item in enumerate(value.items()):
        pool = item.fields(["output", "candidates"])
        if len(value) == 1 and not pool["output"].is_null:
            pool["output"].refuse("null")
        output = None if len(value) == 1 else pool["output"].integer(place, place)
        known.append((output, file_terms.decode_candidates(pool["candidates"], features)))
    if len(arrays.members) > 1 + len(known) * (len(fields(Statistics)) + (len(code.labels) > 2)):
        arrays.refuse("it has arrays that no such file has")
    n_numbers = sum(n_folds * len(terms) * (len(terms) + code.n_outputs + 2) for _, terms in known)
    if n_numbers > MOST_NUMBERS:
        value.refuse(f"rules and folds of no more than {MOST_NUMBERS} numbers in all, not of {n_numbers}")
    pools: list[PoolStatistics] = []
    for place, (output, terms) in enumerate(known):
        statistics = _read_statistics(arrays, place, terms, n_folds, code.n_outputs if output is None else 1)
        _check_sums(statistics, n_positions, f"{place}.", arrays)
        if pools and (statistics.n_rows != pools[0].statistics.n_rows).any():
            arrays.refuse(f"the arrays '0.n_rows' and '{place}.n_rows' differ")
        pools.append(PoolStatistics(terms, output, statistics, _read_shares(arrays, place, terms, len(code.labels))))
    return tuple(pools)


def _read_statistics(arrays: _Arrays, place: int, terms: Terms, n_folds: int, n_outputs: int) -> Statistics:
    """Return the statistics of a pool, every array of the shape and kind that it must have."""
    empty = Statistics.zeros(n_folds, len(terms.rules), terms.linear.n_terms, n_outputs)
    found = {}
    for field in fields(Statistics):
        room = getattr(empty, field.name)
        kinds = "if" if field.name == "rule_gram" else room.dtype.kind
        found[field.name] = arrays.read(f"{place}.{field.name}", room, kinds)
    return Statistics(**found)


def _read_shares(arrays: _Arrays, place: int, terms: Terms, n_classes: int) -> AnyArray | None:
    """Return the shares of more than two classes."""
    if n_classes < 3:
        return None
    shares = arrays.read(f"{place}.shares", np.zeros((len(terms.rules), n_classes)), "f")
    if (np.abs(shares - 0.5) > 0.5 + _SLACK).any():
        arrays.refuse(f"the array '{place}.shares' has values that are no shares")
    return shares


def _check_sums(statistics: Statistics, n_positions: int, prefix: str, arrays: _Arrays) -> None:
    """Refuse sums that no rows can have."""

    def check(fits: Any, field: str, words: str) -> None:
        if not np.all(fits):
            arrays.refuse(f"the array '{prefix}{field}' {words}")

    n_rows, support, weight = statistics.n_rows, statistics.support, statistics.weight
    check(n_rows >= 0, "n_rows", "has negative counts")
    check(sum(n_rows.tolist()) <= n_positions, "n_rows", f"counts more rows than the {n_positions} of the table")
    check(support >= 0, "support", "has negative counts")
    check(support <= n_rows[:, None], "support", "counts more rows than the fold has")
    check(weight >= 0, "weight", "has negative weights")
    check(statistics.y_y >= 0, "y_y", "has negative squares")
    exact = statistics.rule_gram.dtype.kind == "i"  # then all weights are one
    check(not exact or weight == n_rows, "weight", "has other weights than the rows, which are all of weight one")
    for fold, shared in enumerate(statistics.rule_gram):
        slack = 0 if exact else _SLACK * weight[fold]
        own = np.diagonal(shared)
        check(own == support[fold] if exact else own <= weight[fold] + slack, "rule_gram", "disagrees with the support")
        for start in range(0, len(shared), _STRIP):
            strip, mirror = shared[start : start + _STRIP], shared[:, start : start + _STRIP].T
            check(strip >= 0, "rule_gram", "has negative counts")
            check(strip <= own + slack, "rule_gram", "has pairs of rules on more rows than one of the two")
            check(np.abs(strip - mirror) <= slack, "rule_gram", "is not symmetric")
    for products in statistics.linear_gram:
        squares = np.diagonal(products)
        check(squares >= 0, "linear_gram", "has negative squares")
        room = _SLACK * np.sqrt(squares)[:, None] * np.sqrt(squares)
        check(np.abs(products - products.T) <= room, "linear_gram", "is not symmetric")
