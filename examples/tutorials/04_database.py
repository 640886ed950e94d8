"""
A rule list into the database
=============================

The customers are in the database, and there they should be scored: every night, without Python, by a query that
whoever runs the database can read. A list of rules is such a query. Here the database is DuckDB; PostgreSQL, SQLite,
Spark and BigQuery have dialects of their own.
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
# Fit on a half
# -------------
# The outlines of vehicles in silhouette; the question is whether it is a van.

past = table.sample(frac=0.5, random_state=0)
is_van = past["class"].eq("van").map({True: "van", False: "other"})
model = RuleEnsembleClassifier(terms="rules", max_terms=3, max_conditions=2, random_state=0)
model.fit(past.drop(columns=["id", "class"]), is_van)
print(model.rules_)

# %%
# The query
# ---------
# Names are quoted whatever they hold, and thresholds are written so that they are read back as the same number.

query = to_sql(model, "vehicles", dialect="duckdb", keep=["id"], outputs=["score", "class"])
print(query)

# %%
# As a view
# ---------
# Whoever reads the view has the score of the row as it is now.

database.execute(f"CREATE VIEW scored AS {query}")
scored = database.execute("SELECT * FROM scored ORDER BY id").df()
scored.head()

# %%
# Is it the same?
# ---------------
# To the last bit, for classes; the tests of the library compare thousands of awkward rows with missing values and
# values on thresholds (:doc:`/export`).

X = table.drop(columns=["id", "class"])
print("rows:", len(scored), "different:", int((scored["class"] != model.predict(X)).sum()))

# %%
# A new list, next year
# ---------------------
# ``DROP VIEW scored`` and make the new one: the model is nothing but this text. To see first what would change, run
# both queries side by side, or keep ``model.save("2026.json")`` beside it.

# sphinx_gallery_thumbnail_path = "gallery/rules.png"
