"""
Counts and survival times
=========================

Not every target is a class or a plain number. Insurance claims are counted over periods that differ from policy to
policy, and some machines have not failed yet. For such targets the rules say "rate x 1.4" and "hazard x 2.1".
"""

# %%
# Claims of drivers
# -----------------
# The data are made up: young drivers of powerful cars have more claims. Each policy was insured for a part of a year,
# which is its *exposure*.

import numpy as np
import pandas as pd

from rulegrove import RuleEnsembleRegressor, RuleEnsembleSurvival

rng = np.random.default_rng(0)
X = pd.DataFrame({"age": rng.integers(18, 80, 8000), "power": rng.normal(90, 25, 8000).round()})
X["region"] = rng.choice(["north", "south", "west"], 8000)
years = rng.uniform(0.1, 1.0, 8000)
score = 0.9 * ((X["age"] < 26) & (X["power"] > 80)) + 0.4 * (X["region"] == "north")
claims = rng.poisson(years * np.exp(score - 1.5))
past, new = slice(0, 5000), slice(5000, 8000)

model = RuleEnsembleRegressor(loss="poisson", terms="rules", random_state=0)
model.fit(X[past], claims[past], exposure=years[past])
print(model.rules_)

# %%
# "rate x 1.4" means that a rule multiplies the claims per year by 1.4. Predictions are rates; if you give the exposure,
# they are totals:

print("claims a year: ", model.predict(X[new])[:3].round(3))
print("in their time: ", model.predict(X[new], exposure=years[new])[:3].round(3))
print(f"explained deviance: {model.score(X[new], claims[new], exposure=years[new]):.3f}")

# %%
# Are the predicted rates right? Each point stands for a tenth of the policies.

from rulegrove.plots import CalibrationDisplay

CalibrationDisplay.from_estimator(model, X[new], claims[new], exposure=years[new])

# %%
# Machines until they fail
# ------------------------
# Some machines were still at work when they were last seen, so all we know is that they last longer than that. The
# target is a table with two columns: the time, and whether the event happened.

X = pd.DataFrame({"load": rng.uniform(0, 100, 1500).round(), "age": rng.uniform(0, 20, 1500).round(1)})
X["oil"] = rng.choice(["mineral", "synthetic"], 1500)
score = 1.2 * ((X["load"] > 70) & (X["oil"] == "mineral")) + 0.6 * (X["age"] > 12)
failed, seen = rng.exponential(8 * np.exp(-score)), rng.uniform(1, 12, 1500)
y = pd.DataFrame({"time": np.minimum(failed, seen), "event": failed <= seen})
past, new = slice(0, 1000), slice(1000, 1500)

model = RuleEnsembleSurvival(terms="rules", random_state=0).fit(X[past], y[past])
print(model.rules_)
print(f"concordance on new machines: {model.score(X[new], y[new]):.3f} (0.5 is a guess)")

# %%
# The first rule as a picture: how many machines are still at work where the rule holds and where it does not, as
# predicted and as observed.

from rulegrove.plots import SurvivalDisplay

SurvivalDisplay.from_estimator(model, X[new], y[new], rule=1)

# %%
# :doc:`/targets` has amounts, totals that may be zero, quantiles, and several numbers at once.
