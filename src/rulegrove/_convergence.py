"""The one warning whose base is scikit-learn's, apart from the others: that takes a second to load."""

from sklearn.exceptions import ConvergenceWarning

from rulegrove.exceptions import RulegroveWarning


class NotConvergedWarning(RulegroveWarning, ConvergenceWarning):
    """A solver reached its limit before its tolerance; the message says by how much."""
