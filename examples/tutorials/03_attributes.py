"""
Which attributes can I stop measuring?
======================================

Every attribute costs something: a sensor, a laboratory test, a question that somebody has to answer. Importance does
not show which attributes a model can do without: if two of them carry the same information, both are important, but
you need only one. ``RuleAttributeSelector`` measures how much is lost when an attribute is taken away.
"""

# %%
# A table with useless attributes
# -------------------------------
# These simulated supernova candidates have 39 attributes. Nine of them are pure noise, and several others repeat what
# another one says.

import pandas as pd
from sklearn.model_selection import train_test_split

from rulegrove import RuleAttributeSelector, RuleEnsembleClassifier
from rulegrove.datasets import SUPERNOVA_UNINFORMATIVE, make_supernova_candidates

data = make_supernova_candidates(1200, 1200, random_state=0)
X = pd.DataFrame(data.X, columns=data.feature_names)
X_train, X_test, y_train, y_test = train_test_split(X, data.y, test_size=0.4, stratify=data.y, random_state=0)

# %%
# Take away one after the other
# -----------------------------
# The selector grows rules on halves of the rows. On each half it removes the attribute that is missed least, then the
# next one, as long as the remaining ones can take over. Each half then votes for the attributes that it cannot do
# without.

selector = RuleAttributeSelector(n_candidates=400, random_state=0).fit(X_train, y_train)
kept = list(selector.get_feature_names_out())
print(f"{len(kept)} of {X.shape[1]} attributes are kept:", ", ".join(kept))
print("Noise among them:", [name for name in kept if name in SUPERNOVA_UNINFORMATIVE] or "none")

# %%
# How much each attribute would be missed:

from rulegrove.plots import VotesDisplay

VotesDisplay.from_estimator(selector)

# %%
# What does it cost?
# ------------------
# This is the error on rows that neither the selector nor the fit has seen: with all attributes, with those that were
# kept, and with the ten that are needed most.

ten = [name for _, name in sorted(zip(selector.ranking_, X.columns, strict=True))[:10]]
for words, columns in (("all", list(X.columns)), ("kept", kept), ("ten", ten)):
    model = RuleEnsembleClassifier(preset="fast", max_terms=None, random_state=0).fit(X_train[columns], y_train)
    print(f"{words:>5}: {len(columns):2} attributes, error {1 - model.score(X_test[columns], y_test):.1%}")

# %%
# In a pipeline
# -------------
# The selector works like every selector of scikit-learn: ``make_pipeline(RuleAttributeSelector(),
# RandomForestClassifier())`` selects attributes for any other model. In a cross-validation it selects anew in each
# fold, as it should. :doc:`/insight` compares the selector's criteria.
