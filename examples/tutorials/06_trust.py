"""
Choose a list, and know how far to trust it
===========================================

Before anyone acts on a rule, three questions need an answer. Does the list have the right length? Would other rows
have led to the same list? Does the rule hold on rows that did not choose it? For each question there is a number.
"""

# %%
# This page uses the table of 768 women of the Pima people, some of whom have diabetes.

from rulegrove import RuleEnsembleClassifier, datasets

X = datasets.load("pima").frame("pandas")
y = X.pop("class")
model = RuleEnsembleClassifier(terms="rules", n_resamples=50, random_state=0).fit(X, y)

# %%
# Which length?
# -------------
# The front shows the error and the log loss of the lists of every length, on rows that were not used to make them. By
# default you get the shortest list that is within one standard error of the best.

from rulegrove.plots import FrontDisplay

FrontDisplay.from_estimator(model)

# %%
# Would other rows lead to the same rules?
# ----------------------------------------
# With ``n_resamples=50`` the fit makes fifty more lists, each from half of the rows. The column "comes back" says how
# likely a list from other rows is to contain the rule. The line below a rule shows where its thresholds lie in those
# lists. If a rule seldom comes back, many others would have done as well: use it to predict, but do not build a theory
# on it.

print(model.rules_)

# %%
# A list made to come back
# ------------------------
# ``stable=True`` prefers short rules with few possible thresholds, which other rows of the same kind lead to as well.
# This may cost some accuracy; the held-out errors show how much:

steady = RuleEnsembleClassifier(terms="rules", stable=True, n_resamples=50, random_state=0).fit(X, y)
print(steady.rules_)
for words, one in (("as it is", model), ("stable=True", steady)):
    print(f"{words:>12}: {len(one.rules_)} rules, held-out error {1 - one.held_out_.accuracy:.1%}")

# %%
# Does a rule hold on other rows?
# -------------------------------
# The rows that chose a rule make it look better than it is. With ``evidence="split"``, one half of the rows chooses the
# rules and the other half tests them. The result takes into account how many rules were tested.

tested = RuleEnsembleClassifier(terms="rules", max_terms=8, evidence="split", random_state=0).fit(X, y)
print(tested.evidence_)

# %%
# :doc:`/insight` explains what each of these numbers promises, and what it does not.
