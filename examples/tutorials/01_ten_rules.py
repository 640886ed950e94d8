"""
Ten rules for my boss
=====================

You have a table and a question, and somebody who will decide by the answer wants to read it: on one page, in words,
with a number that says how good it is. Here the table has 768 women of the Pima, and the question is who has
diabetes.
"""

# %%
# The table
# ---------
# A data frame as it comes, one column of it being the answer. A third of the rows is put aside, to see at the end
# whether the rules hold.

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
# The preset asks for a list to print and sign, of at most ten terms with at most three conditions; ``terms="rules"``
# asks for rules alone. Ten is a ceiling: a shorter list is taken where it is as good.

model = RuleEnsembleClassifier(preset="readable", terms="rules", random_state=0).fit(X_train, y_train)
print(model.rules_)

# %%
# :doc:`/how-to-read` explains the columns. In whole sentences, for the page that you hand in:

for term in model.rules_:
    print(f"{term.rank}. {term.sentence}")

# %%
# The same as a picture: length is importance, colour is what a rule speaks for.

from rulegrove.plots import RulesDisplay

RulesDisplay.from_estimator(model)

# %%
# How good is it?
# ---------------
# The fit has held rows out by itself and tells what it got right there, beside a guess that knows nothing but how
# common diabetes is.

print(model.held_out_.words)

# %%
# And on the rows that were put aside before anything began:

print(f"accuracy {model.score(X_test, y_test):.1%}, AUC {roc_auc_score(y_test, model.predict_proba(X_test)[:, 1]):.3f}")

# %%
# "Can it be shorter?"
# --------------------
# The question always comes. One fit has a list of every length and knows what each of them costs:

model.front_.to_frame().head(12)

# %%
# Any of them is a model, at once and without the data:

three = model.shorten(max_terms=3)
print(three.rules_)
print(f"accuracy {three.score(X_test, y_test):.1%}")

# %%
# "And why this one?"
# -------------------
# For a single person, the rules that hold and what each of them added:

print(model.explain(X_test)[0])

# %%
# To hand it over
# ---------------
# ``write_report(model, "report.html", X_test, y_test)`` of :mod:`!rulegrove.report` writes all of this as one page
# with a slider from few rules to small error, which opens in any browser: :doc:`/report`.
