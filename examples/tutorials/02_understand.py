"""
Understand a phenomenon
=======================

A survey telescope takes a picture of the same part of the sky again and again and looks for what has changed. Most of
what it finds is no supernova but an artefact: a badly subtracted galaxy, a cosmic ray, a bright star's spike. The
study that rulegrove comes from asked rules to tell them apart, and what tells them apart. Its candidates had 39
attributes measured on each picture; here is a simulation of them.
"""

# %%
# Candidates
# ----------

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from rulegrove import RuleEnsembleClassifier
from rulegrove.datasets import make_supernova_candidates

data = make_supernova_candidates(1500, 1500, random_state=0)
X = pd.DataFrame(data.X, columns=data.feature_names)
y = pd.Series(data.y).map({-1: "artefact", 1: "supernova"})
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
print(X.shape, y.value_counts().to_dict())

# %%
# One fit, two models
# -------------------
# To understand, take the short list for what it says and the large model for what there is: the list was made to
# repeat the large one.

model = RuleEnsembleClassifier(terms="rules", max_terms=8, max_conditions=3, random_state=0).fit(X_train, y_train)
large = model.shorten(max_terms=None)
for name, one in (("list", model), ("large model", large)):
    print(f"{name}: {len(one.rules_)} rules, error {1 - one.score(X_test, y_test):.1%}")
print(model.rules_)

# %%
# What matters?
# -------------
# The importance of an attribute adds up what the rules about it do. That of the large model is the whole story.

from rulegrove.plots import ImportanceDisplay

ImportanceDisplay.from_estimator(large, top=12)

# %%
# In which direction?
# -------------------
# Partial dependence is exact here: a sum over rules and not a sample. Each step is a threshold.

from rulegrove.inspection import importances
from rulegrove.plots import DependenceDisplay

first, second = importances(large, X_train).to_frame().iloc[:2, 0]
DependenceDisplay.from_estimator(large, X_train, first)

# %%
# What works together?
# --------------------
# H is the share of the joint effect of two attributes that is more than the sum of their separate effects.

from rulegrove.inspection import interactions

interactions(model, X_train).to_frame().head()

# %%
# The two attributes that matter most, together:

DependenceDisplay.from_estimator(large, X_train, (first, second))

# %%
# What about this one?
# --------------------
# The candidate of which the model is least certain, and why:

unsure = np.abs(large.predict_proba(X_test)[:, 1] - 0.5).argmin()
print(model.explain(X_test.iloc[[unsure]])[0])

# %%
# All statements of the paper, with what became of them when the study was run again, are on :doc:`a page of their own
# </study>`.
