"""A table as people have it."""

import numpy as np
import pandas as pd


def make_dirty(n_rows=700, seed=0):
    """A table as people have it: identifiers, dates typed and as text, many towns, amounts with signs, gaps."""
    rng = np.random.default_rng(seed)
    sold = np.datetime64("1969-03-01") + rng.integers(0, 600 * 24, n_rows).astype("timedelta64[h]")
    amounts = rng.integers(500, 9000, n_rows)
    frame = pd.DataFrame(
        {
            "Unnamed: 0": np.arange(n_rows),
            "customer": [f"C-{k:05d}" for k in rng.permutation(n_rows)],
            "sold": sold.astype("datetime64[us]"),
            "first visit": [str(day) for day in np.datetime64("2020-01-01") + rng.integers(0, 900, n_rows)],
            "town": [f"town {k}" for k in np.minimum(rng.zipf(1.4, n_rows), 5000)],
            "amount": [f"${value:,}" for value in amounts],
            "member": rng.random(n_rows) < 0.4,
        }
    )
    months = frame["sold"].dt.month.to_numpy()
    y = 2.0 * (months > 6) + 1.5 * (frame["town"] == "town 1") + amounts / 4000 + 1.2 * frame["member"]
    y += 1.0 * (frame["first visit"] > "2021-03-01") + 0.2 * rng.normal(size=n_rows)
    frame.loc[rng.random(n_rows) < 0.05, "sold"] = pd.NaT
    frame.loc[rng.random(n_rows) < 0.05, "town"] = None
    frame.loc[3, "amount"] = "unknown"
    return frame, y.to_numpy()
