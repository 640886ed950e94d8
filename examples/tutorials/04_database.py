"""
A rule list into the database
=============================

Your customers are in a database, and you want to score them there: every night, without Python, with a query that the
people who run the database can read. A list of rules can be written as such a query. This page uses DuckDB;
PostgreSQL, SQLite, Spark and BigQuery are supported as well.
"""

# %%
# A table in a database
# ---------------------

import duckdb

from rulegrove import RuleEnsembleClassifier, datasets
from rulegrove.export import to_sql

table = datasets.load("vehicle").frame("pandas")
table.insert(0, "id", range(1000, 1000 + len(table)))
database = duckdb.connect()
database.register("arrived", table)
database.execute("CREATE TABLE vehicles AS SELECT * EXCLUDE class FROM arrived")

# %%
# Fit on one half
# ---------------
# The table describes the silhouettes of vehicles. The question is whether a vehicle is a van.

past = table.sample(frac=0.5, random_state=0)
is_van = past["class"].eq("van").map({True: "van", False: "other"})
model = RuleEnsembleClassifier(terms="rules", max_terms=3, max_conditions=2, random_state=0)
model.fit(past.drop(columns=["id", "class"]), is_van)
print(model.rules_)

# %%
# The query
# ---------
# All names are quoted, so they may contain anything. Thresholds are written with enough digits that the database reads
# exactly the same number.

query = to_sql(model, "vehicles", dialect="duckdb", keep=["id"], outputs=["score", "class"])
print(query)

# %%
# As a view
# ---------
# Anyone who reads the view gets the score of each row as it is now.

database.execute(f"CREATE VIEW scored AS {query}")
scored = database.execute("SELECT * FROM scored ORDER BY id").df()
scored.head()

# %%
# Is it the same?
# ---------------
# Yes, the classes are exactly the same. The tests of the library compare thousands of difficult rows, with missing
# values and with values on thresholds (:doc:`/export`).

X = table.drop(columns=["id", "class"])
print("rows:", len(scored), "different:", int((scored["class"] != model.predict(X)).sum()))

# %%
# A new list, next year
# ---------------------
# Use ``DROP VIEW scored`` and create the new view. The view contains nothing but this text. To see what would change,
# run both queries side by side first, or keep the old model with ``model.save("2026.json")``.

# sphinx_gallery_thumbnail_path = "gallery/rules.png"
