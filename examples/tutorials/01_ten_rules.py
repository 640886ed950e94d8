"""
Ten rules for my boss
=====================

You have a table and a question, and somebody who has to decide wants to read the answer: on one page, in words, and
with a number that says how good it is. The table on this page has 768 women of the Pima people. The question is who
has diabetes.
"""

# %%
# The table
# ---------
# Start with a data frame in which one column is the answer. A third of the rows is set aside, so that we can check at
# the end whether the rules hold.

from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from rulegrove import RuleEnsembleClassifier, datasets

X = datasets.load("pima").frame("pandas")
y = X.pop("class")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
X_train.head()

# %%
# Ten short rules
# ---------------
# ``preset="readable"`` asks for a short list: at most ten terms with at most three conditions each. ``terms="rules"``
# asks for rules only, without linear terms. Ten is an upper limit; if a shorter list is as good, you get the shorter
# one.

model = RuleEnsembleClassifier(preset="readable", terms="rules", random_state=0).fit(X_train, y_train)
print(model.rules_)

# %%
# :doc:`/how-to-read` explains the columns. Each rule is also available as a sentence, for the page that you hand in:

for term in model.rules_:
    print(f"{term.rank}. {term.sentence}")

# %%
# Here are the same rules as a picture. The length of a bar is the importance of the rule, and its colour is the class
# that the rule speaks for.

from rulegrove.plots import RulesDisplay

RulesDisplay.from_estimator(model)

# %%
# How good is it?
# ---------------
# The fit holds out rows on its own and reports how well the list predicts them. For comparison, it also reports a guess
# that knows only how common diabetes is.

print(model.held_out_.words)

# %%
# These are the figures for the rows that we set aside at the start:

print(f"accuracy {model.score(X_test, y_test):.1%}, AUC {roc_auc_score(y_test, model.predict_proba(X_test)[:, 1]):.3f}")

# %%
# "Can it be shorter?"
# --------------------
# Somebody always asks. One fit contains a list of every length and knows how good each of them is:

model.front_.to_frame().head(12)

# %%
# You can have any of them as a model, immediately and without the data:

three = model.shorten(max_terms=3)
print(three.rules_)
print(f"accuracy {three.score(X_test, y_test):.1%}")

# %%
# "And why this one?"
# -------------------
# For a single person, you can see which rules hold and how much each of them adds:

print(model.explain(X_test)[0])

# %%
# Hand it over
# ------------
# ``write_report(model, "report.html", X_test, y_test)`` of :mod:`!rulegrove.report` puts all of this on one page that
# opens in any browser. A slider goes from few rules to a small error: see :doc:`/report`.
