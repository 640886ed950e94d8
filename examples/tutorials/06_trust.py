"""
Choose a list, and know how far to trust it
===========================================

Three questions come before anyone acts on a rule: is this the right length, would other rows have given the same
list, and does the rule hold on rows that did not choose it? Each has a number.
"""

# %%
# Once more the women of the Pima, some of whom have diabetes.

from rulegrove import RuleEnsembleClassifier, datasets

X = datasets.load("pima").frame("pandas")
y = X.pop("class")
model = RuleEnsembleClassifier(terms="rules", n_resamples=50, random_state=0).fit(X, y)

# %%
# Which length?
# -------------
# The front has the error and the log loss of every length on rows that no rule of it has seen. By default the
# shortest list within one standard error of the best is taken.

from rulegrove.plots import FrontDisplay

FrontDisplay.from_estimator(model)

# %%
# Would other rows say it, too?
# -----------------------------
# ``n_resamples=50`` has made fifty lists anew, each from a half of the rows. The column "comes back" tells in how
# many lists from other rows a rule would be found, and below the rule stands where its thresholds lie there. A rule
# that seldom comes back is one of many that would have done as well: use it to predict, but do not build a theory on
# it.

print(model.rules_)

# %%
# A list made to come back
# ------------------------
# ``stable=True`` prefers short rules at few thresholds, which other rows of the same kind lead to as well. It costs
# some error, and the front tells how much.

steady = RuleEnsembleClassifier(terms="rules", stable=True, n_resamples=50, random_state=0).fit(X, y)
print(steady.rules_)
for words, one in (("as it is", model), ("stable=True", steady)):
    print(f"{words:>12}: {len(one.rules_)} rules, held-out error {1 - one.held_out_.accuracy:.1%}")

# %%
# Does a rule hold where it was not chosen?
# -----------------------------------------
# Confidence on the rows that chose a rule flatters it. ``evidence="split"`` lets one half of the rows choose and the
# other half test, and allows for the number of tests.

tested = RuleEnsembleClassifier(terms="rules", max_terms=8, evidence="split", random_state=0).fit(X, y)
print(tested.evidence_)

# %%
# What each of these promises, and what it does not, is in :doc:`/insight`.
