"""The files that examples of the pages read: where a page says "your table", there is one here."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from rulegrove import datasets

DOCS = Path(__file__).parents[2] / "docs"


def write_page_files(folder):
    """Write small tables of the names and columns that the pages speak of."""
    rng = np.random.default_rng(0)
    _customers(rng, 400).rename(columns={"churn": "y"}).to_csv(folder / "data.csv", index=False)
    for name in ("big", "holdout", "new", "2025", "2026-01"):
        _write(_customers(rng, 400), folder / name)
    policies, patients, fields = _policies(rng), _patients(rng), _fields(rng)
    _write(policies, folder / "policies")
    _write(policies, folder / "new-policies")
    policies.to_csv(folder / "policies.csv", index=False)
    _write(patients.drop(columns=["status", "outcome"]), folder / "patients")
    _write(patients.drop(columns=["status", "outcome"]), folder / "new-patients")
    patients.drop(columns=["died", "patient"]).to_csv(folder / "patients.csv", index=False)
    fields.to_csv(folder / "fields.csv", index=False)
    _write(fields.rename(columns={"yield": "wheat", "protein": "rye"}), folder / "fields")
    pima = datasets.load("pima").frame()
    pima[:399].to_csv(folder / "old.csv", index=False)
    pima[399:].to_csv(folder / "new.csv", index=False)
    (folder / "known.txt").write_text("calls > 3 and months <= 12\n")
    [edits] = re.findall(r"```json\n(\[\n  \{.operation.*?)```", (DOCS / "command-line.md").read_text(), re.DOTALL)
    (folder / "edits.json").write_text(edits)


def _write(table, folder):
    folder.mkdir()
    for part in range(2):
        table.iloc[part::2].to_parquet(folder / f"{part}.parquet", index=False)


def _customers(rng, n_rows):
    table = pd.DataFrame({"customer_id": rng.integers(10**9, size=n_rows), "months": rng.integers(1, 60, n_rows)})
    table["calls"], table["age"] = rng.poisson(2, n_rows), rng.integers(18, 80, n_rows)
    table["mass"] = rng.normal(28, 5, n_rows).round(1)
    table["glucose"], table["insulin"] = rng.integers(70, 200, n_rows), rng.integers(0, 300, n_rows)
    table["w"] = rng.uniform(0.5, 2, n_rows)
    leaves = rng.random(n_rows) < np.where((table["months"] < 13) & (table["calls"] > 2), 0.9, 0.2)
    table["churn"] = np.where(leaves, "yes", "no")
    return table


def _policies(rng, n_rows=1500):
    table = pd.DataFrame({"policy": rng.integers(10**9, size=n_rows), "age": rng.integers(18, 80, n_rows)})
    table["power"], table["km"] = rng.integers(50, 200, n_rows), 100 * rng.integers(10, 300, n_rows)
    table["region"], table["years"] = rng.choice(["north", "south", "west"], n_rows), rng.choice([0.25, 0.5, 1], n_rows)
    table["claims"] = rng.poisson(table["years"] * np.where(table["age"] <= 25, 0.9, 0.2))
    return table


def _patients(rng, n_rows=600):
    table = pd.DataFrame({"patient": rng.integers(10**9, size=n_rows), "age": rng.integers(30, 90, n_rows)})
    table["grade"], table["nodes"] = rng.integers(1, 4, n_rows), rng.poisson(3, n_rows)
    table["size"], table["hormones"] = rng.integers(5, 80, n_rows), rng.choice(["yes", "no"], n_rows)
    dies = rng.exponential(6 * np.exp(-0.5 * (table["nodes"] > 4) - 0.4 * (table["grade"] > 2)))
    seen = rng.uniform(1, 8, n_rows)
    table["years"], table["died"] = np.minimum(dies, seen).round(2) + 0.01, dies <= seen
    table["status"] = np.where(table["died"], "dead", "alive")
    table["outcome"] = np.where((table["nodes"] > 4) ^ (rng.random(n_rows) < 0.2), "worse", "better")
    return table


def _fields(rng, n_rows=400):
    table = pd.DataFrame({"rain": rng.integers(200, 700, n_rows), "nitrogen": rng.integers(0, 240, n_rows)})
    table["soil"] = rng.choice(["sand", "loam", "clay"], n_rows)
    table["yield"] = (4 + 1.2 * (table["nitrogen"] > 120) + (table["rain"] > 450) + rng.normal(0, 0.4, n_rows)).round(2)
    table["protein"] = (11 + 1.3 * (table["nitrogen"] > 120) + rng.normal(0, 0.4, n_rows)).round(2)
    return table
