"""Reference values of lifelines and scikit-survival for tests/survival; see survival_README.md beside this file.

Run in an environment of their own, in this folder: python survival_lifelines.py
"""

import json
import math
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from lifelines import CoxPHFitter, KaplanMeierFitter, NelsonAalenFitter
from lifelines.utils import concordance_index
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import concordance_index_censored

TIGHT = {"precision": 1e-14, "r_precision": 1e-14, "max_steps": 500}


def make_table(seed, n, unit, *, late=False, weighted=False):
    """A table of doubles that are short in decimals; the smaller the unit of time, the fewer ties."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.random(n) < 0.4, np.round(rng.random(n), 3), np.round(rng.normal(size=n), 3)]).astype(
        float
    )
    lived = rng.exponential(np.exp(-x @ [0.8, -1.2, 0.3]))
    watched = 2.0 * rng.random(n)
    entered = 0.5 * rng.random(n) * (rng.random(n) < 0.7) if late else np.zeros(n)
    entry = np.ceil(entered / unit)
    time = entry + np.ceil(np.minimum(lived, watched) / unit)
    weights = np.round(0.25 + 2.0 * rng.random(n), 2) if weighted else np.ones(n)
    scores = np.round(x @ [0.5, -0.75, 0.25], 1)  # some are equal
    return {
        "x": x.tolist(),
        "entry": entry.tolist() if late else None,
        "time": time.tolist(),
        "event": (lived <= watched).astype(int).tolist(),
        "weights": weights.tolist(),
        "scores": scores.tolist(),
    }


def fit_lifelines(table):
    """Efron's ties, which are the only ones there."""
    frame = pd.DataFrame(table["x"], columns=["a", "b", "c"])
    frame["time"], frame["event"], frame["weights"] = table["time"], table["event"], table["weights"]
    late = table["entry"] is not None
    if late:
        frame["entry"] = table["entry"]
    fitter = CoxPHFitter()
    fitter.fit(
        frame,
        "time",
        "event",
        weights_col="weights",
        entry_col="entry" if late else None,
        robust=False,
        fit_options=TIGHT,
    )
    return {"coef": fitter.params_.tolist(), "largest": float(fitter.log_likelihood_)}


def draw_curves(table):
    """The curves at the event times."""
    at = sorted({time for time, event in zip(table["time"], table["event"], strict=True) if event})
    given = {"event_observed": table["event"], "entry": table["entry"], "weights": np.array(table["weights"])}
    survival = KaplanMeierFitter(alpha=0.1).fit(table["time"], **given)
    band = survival.confidence_interval_survival_function_
    hazard = NelsonAalenFitter(nelson_aalen_smoothing=False).fit(table["time"], **given)
    return {
        "at": at,
        "level": 0.9,
        "surv": survival.survival_function_at_times(at).tolist(),
        "lower": [None if math.isnan(one) else one for one in band.iloc[:, 0].loc[at].tolist()],
        "upper": [None if math.isnan(one) else one for one in band.iloc[:, 1].loc[at].tolist()],
        "hazard": hazard.cumulative_hazard_at_times(at).tolist(),
    }


def fit_sksurv(table, ties):
    """Coefficients and baseline, which know neither weights nor late entry."""
    event, time = np.array(table["event"]) == 1, np.array(table["time"])
    y = np.array(list(zip(event, time, strict=True)), dtype=[("event", "?"), ("time", "f8")])
    model = CoxPHSurvivalAnalysis(ties=ties, tol=1e-14, n_iter=200).fit(np.array(table["x"]), y)
    baseline = model.cum_baseline_hazard_
    return {"ties": ties, "coef": model.coef_.tolist(), "x": baseline.x.tolist(), "y": baseline.y.tolist()}


def make_case(name, table):
    time, event, scores = (np.array(table[key]) for key in ("time", "event", "scores"))
    found = {"name": name, **table, "lifelines": fit_lifelines(table), "curves": draw_curves(table)}
    if table["entry"] is None:
        found["concordance"] = concordance_index(time, -scores, event)
        found["concordance_sksurv"] = float(concordance_index_censored(event == 1, time, scores)[0])
        if set(table["weights"]) == {1.0}:
            found["sksurv"] = [fit_sksurv(table, ties) for ties in ("efron", "breslow")]
    return found


if __name__ == "__main__":
    tables = {
        "no ties": make_table(0, 40, 1e-4),
        "ties": make_table(1, 60, 0.125),
        "many ties": make_table(2, 60, 0.5),
        "weights": make_table(3, 60, 0.125, weighted=True),
        "late entry": make_table(4, 80, 0.125, late=True),
        "late entry and weights": make_table(5, 80, 0.25, late=True, weighted=True),
    }
    versions = {name: version(name) for name in ("lifelines", "scikit-survival")}
    cases = [make_case(name, table) for name, table in tables.items()]
    Path("survival_lifelines.json").write_text(json.dumps({"versions": versions, "cases": cases}) + "\n")
