"""
A table larger than memory
==========================

The rows lie in a folder of Parquet files and do not fit into memory. The fit reads them in parts, a few times, and
holds one part at a time; the model is the one that a fit in memory would give. The files of this page are small, so
that it is done in seconds; nothing else about it would differ.
"""

# %%
# A folder of files
# -----------------

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from rulegrove import RuleEnsembleClassifier, engines

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)


def make_month(n_rows: int) -> pd.DataFrame:
    """Return customers of one month, of whom many leave who call often and have not been there for long."""
    month = pd.DataFrame({"customer": rng.integers(10**9, size=n_rows), "months": rng.integers(1, 60, n_rows)})
    month["calls"] = rng.poisson(2, n_rows)
    month["plan"] = rng.choice(["basic", "family", "business"], n_rows)
    odds = -2.5 + 2.2 * ((month["months"] < 12) & (month["calls"] > 3)) + 0.8 * (month["plan"] == "basic")
    month["churn"] = np.where(rng.random(n_rows) < 1 / (1 + np.exp(-odds)), "leaves", "stays")
    return month


for number in range(1, 7):
    make_month(15_000).to_parquet(folder / f"2026-{number:02}.parquet", row_group_size=5_000)
past, new = [folder / f"2026-{number:02}.parquet" for number in range(1, 6)], folder / "2026-06.parquet"

# %%
# Fit
# ---
# The target and the columns to leave out are named. A folder, a pattern such as ``"2026-*.parquet"``, a pyarrow
# dataset or a DuckDB relation would do as well.

model = RuleEnsembleClassifier(terms="rules", n_candidates=600, random_state=0)
engines.fit(model, past, "churn", drop=["customer"])
print(model.rules_)
print(model.held_out_.words)

# %%
# Predict, from file to file
# --------------------------
# Only the columns that the rules speak of are read.

engines.predict(model, new, folder / "scored.parquet", keep=["customer"])
pd.read_parquet(folder / "scored.parquet").head()

# %%
# How good, and which rules hold there? Both are one pass over the files.

print(f"accuracy {engines.score(model, new, 'churn'):.1%}")
print(engines.rule_evidence(model, new, "churn"))

# %%
# What a fit costs
# ----------------
# Rules are grown on a sample, and all rows are counted; a rule is one bit a row. A million rows of 39 attributes take
# seconds (:doc:`/speed`); clusters, statistics that are kept and merged, and what is the same everywhere are in
# :doc:`/scale`.

# sphinx_gallery_thumbnail_path = "gallery/rules_classes.png"
