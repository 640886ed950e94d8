"""
Understand a phenomenon
=======================

A survey telescope takes pictures of the same part of the sky again and again and looks for changes. Most of what it
finds is not a supernova but an artefact: a galaxy that was badly subtracted, a cosmic ray, or the spike of a bright
star. The study that rulegrove grew out of used rules to tell supernovae from artefacts, and to learn what makes the
difference. Its candidates had 39 attributes, measured on each picture. This page uses a simulation of them.
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
# A fit gives you two models. The short list is easy to read; the large model, which the list was made to imitate, shows
# everything that was found.

model = RuleEnsembleClassifier(terms="rules", max_terms=8, max_conditions=3, random_state=0).fit(X_train, y_train)
large = model.shorten(max_terms=None)
for name, one in (("list", model), ("large model", large)):
    print(f"{name}: {len(one.rules_)} rules, error {1 - one.score(X_test, y_test):.1%}")
print(model.rules_)

# %%
# What matters?
# -------------
# The importance of an attribute is the sum of what the rules about it contribute. The large model gives the complete
# picture.

from rulegrove.plots import ImportanceDisplay

ImportanceDisplay.from_estimator(large, top=12)

# %%
# In which direction?
# -------------------
# Partial dependence is exact here, because it is a sum over rules and not an estimate from a sample. Each step of the
# curve is a threshold.

from rulegrove.inspection import importances
from rulegrove.plots import DependenceDisplay

first, second = importances(large, X_train).to_frame().iloc[:2, 0]
DependenceDisplay.from_estimator(large, X_train, first)

# %%
# What works together?
# --------------------
# H is the part of the joint effect of two attributes that goes beyond the sum of their separate effects.

from rulegrove.inspection import interactions

interactions(model, X_train).to_frame().head()

# %%
# These are the two most important attributes together:

DependenceDisplay.from_estimator(large, X_train, (first, second))

# %%
# Why this prediction?
# --------------------
# Here is the candidate about which the model is least certain, and what the rules say about it:

unsure = np.abs(large.predict_proba(X_test)[:, 1] - 0.5).argmin()
print(model.explain(X_test.iloc[[unsure]])[0])

# %%
# :doc:`The study page </study>` lists all statements of the paper and what we found when we ran the study again.
