"""
A table larger than memory
==========================

The rows are in a folder of Parquet files and do not fit into memory. The fit reads the files in parts, a few times,
and holds one part at a time. The model is the same as the one from a fit in memory. The files on this page are small,
so that it runs in seconds; with large files the code would be the same.
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
    """Return the customers of one month; those who are new and call often are likely to leave."""
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
# Name the target and the columns to leave out. Instead of a list of files, you can pass a folder, a pattern such as
# ``"2026-*.parquet"``, a pyarrow dataset or a DuckDB relation.

model = RuleEnsembleClassifier(terms="rules", n_candidates=600, random_state=0)
engines.fit(model, past, "churn", drop=["customer"])
print(model.rules_)
print(model.held_out_.words)

# %%
# Predict from file to file
# -------------------------
# Only the columns that the rules use are read.

engines.predict(model, new, folder / "scored.parquet", keep=["customer"])
pd.read_parquet(folder / "scored.parquet").head()

# %%
# How good is the list on the new file, and which rules hold there? Each answer takes one pass over the rows.

print(f"accuracy {engines.score(model, new, 'churn'):.1%}")
print(engines.rule_evidence(model, new, "churn"))

# %%
# How long a fit takes
# --------------------
# Rules are grown on a sample of the rows and then counted on all of them. A rule takes one bit per row, so a million
# rows with 39 attributes take seconds (:doc:`/speed`). :doc:`/scale` explains clusters, how to keep and merge the
# statistics of a fit, and what is guaranteed to be the same everywhere.

# sphinx_gallery_thumbnail_path = "gallery/rules_classes.png"
