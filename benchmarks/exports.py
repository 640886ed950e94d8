"""Scoring a million rows where they live: the exported query in DuckDB beside `predict`.

Run with ``python -m benchmarks.exports``. All runs take turns in one process, on as many threads, and the best of each
counts; seconds of the processors are printed beside those of the clock, for machines that have other things to do.
"""

import time

import duckdb
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from rulegrove import RuleEnsembleClassifier
from rulegrove.export import to_sql

N_ROWS = 1_000_000
N_COLUMNS = 20
N_TERMS = 100
N_THREADS = 2
REPEATS = 7


def fit_model() -> RuleEnsembleClassifier:
    """Return a model of about a hundred terms."""
    X, y = make_classification(20_000, N_COLUMNS, n_informative=10, random_state=0)
    frame = pd.DataFrame(X, columns=[f"column {k}" for k in range(N_COLUMNS)])
    model = RuleEnsembleClassifier(n_candidates=500, max_terms=N_TERMS, honest_cv=False, random_state=0)
    return model.set_params(n_jobs=N_THREADS).fit(frame, y)


def make_table(connection: duckdb.DuckDBPyConnection, missing: float) -> pd.DataFrame:
    """Fill the table "rows" and return it."""
    rng = np.random.default_rng(1)
    values = 2.0 * rng.normal(size=(N_ROWS, N_COLUMNS))
    values[rng.random(values.shape) < missing] = np.nan
    frame = pd.DataFrame(values, columns=[f"column {k}" for k in range(N_COLUMNS)])
    connection.register("frame", frame)
    connection.execute('CREATE OR REPLACE TABLE "rows" AS SELECT * FROM frame')
    return frame


def main() -> None:
    """Print best times and the number of rows that differ."""
    model = fit_model()
    n_conditions = sum(len(term.features) for term in model.model_.terms)
    print(f"{len(model.rules_)} terms, {n_conditions} conditions, {N_ROWS} rows x {N_COLUMNS}, {N_THREADS} threads")
    connection = duckdb.connect(config={"threads": N_THREADS})
    scores = to_sql(model, "rows", dialect="duckdb", outputs=["score"])
    classes = to_sql(model, "rows", dialect="duckdb", outputs=["class"])
    for missing in (0.0, 0.1):
        frame = make_table(connection, missing)
        runs = {
            "SQL, class into a table": lambda: connection.execute(f"CREATE OR REPLACE TABLE scored AS {classes}"),
            "SQL, score into a table": lambda: connection.execute(f"CREATE OR REPLACE TABLE scored AS {scores}"),
            "predict(frame)": lambda frame=frame: model.predict(frame),
            "predict, rows from and to DuckDB": lambda: round_trip(connection, model),
        }
        best = dict.fromkeys(runs, (np.inf, np.inf))
        for _ in range(REPEATS):
            for name, run in runs.items():
                clock, processors = time.perf_counter(), time.process_time()
                run()
                taken = (time.perf_counter() - clock, time.process_time() - processors)
                best[name] = tuple(map(min, best[name], taken))
        result = connection.execute(scores).fetchnumpy()["score"]
        different = int((result != model.decision_function(frame)).sum())
        print(f"\n{missing:.0%} missing; rows compared {len(frame)}, rows different {different}")
        print(f"{'':35s}{'clock':>8}{'processors':>12}")
        for name, (clock, processors) in best.items():
            print(f"{name:35s}{clock:8.3f}{processors:12.3f}")


def round_trip(connection: duckdb.DuckDBPyConnection, model: RuleEnsembleClassifier) -> None:
    """Score the table without SQL: fetch it, predict, write the classes back."""
    predicted = pd.DataFrame({"class": model.predict(connection.execute('SELECT * FROM "rows"').df())})
    connection.register("predicted", predicted)
    connection.execute("CREATE OR REPLACE TABLE scored AS SELECT * FROM predicted")


if __name__ == "__main__":
    main()
