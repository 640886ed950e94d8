"""
Which attributes can I stop measuring?
======================================

Every attribute costs something: a sensor, a laboratory test, a question that somebody must answer. Importance does
not tell which of them a model can do without, for two attributes that tell the same thing are both important, and
each of them can go. ``RuleAttributeSelector`` asks what is lost without them.
"""

# %%
# A table in which some say nothing
# ---------------------------------
# Of the 39 attributes of these simulated supernova candidates nine are pure noise, and several others are repeats.

import pandas as pd
from sklearn.model_selection import train_test_split

from rulegrove import RuleAttributeSelector, RuleEnsembleClassifier
from rulegrove.datasets import SUPERNOVA_UNINFORMATIVE, make_supernova_candidates

data = make_supernova_candidates(1200, 1200, random_state=0)
X = pd.DataFrame(data.X, columns=data.feature_names)
X_train, X_test, y_train, y_test = train_test_split(X, data.y, test_size=0.4, stratify=data.y, random_state=0)

# %%
# Take away, one after the other
# ------------------------------
# Rules are grown on halves of the rows. Attributes go one by one, each time the one that is missed least, as long as
# the others can take over; each half votes for those it cannot do without.

selector = RuleAttributeSelector(n_candidates=400, random_state=0).fit(X_train, y_train)
kept = list(selector.get_feature_names_out())
print(f"{len(kept)} of {X.shape[1]} attributes are kept:", ", ".join(kept))
print("Noise among them:", [name for name in kept if name in SUPERNOVA_UNINFORMATIVE] or "none")

# %%
# How much each of them would be missed:

from rulegrove.plots import VotesDisplay

VotesDisplay.from_estimator(selector)

# %%
# What does it cost?
# ------------------
# The error on rows that neither the selection nor the fit has seen, with all attributes, with those that were kept,
# and with the ten that are needed most:

ten = [name for _, name in sorted(zip(selector.ranking_, X.columns, strict=True))[:10]]
for words, columns in (("all", list(X.columns)), ("kept", kept), ("ten", ten)):
    model = RuleEnsembleClassifier(preset="fast", max_terms=None, random_state=0).fit(X_train[columns], y_train)
    print(f"{words:>5}: {len(columns):2} attributes, error {1 - model.score(X_test[columns], y_test):.1%}")

# %%
# In a pipeline
# -------------
# The selector is one of scikit-learn's: ``make_pipeline(RuleAttributeSelector(), RandomForestClassifier())`` selects
# before any other model, and in a cross-validation anew in each fold, as it should. How the criteria compare on many
# draws is in :doc:`/insight`.
