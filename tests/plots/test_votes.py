import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from rulegrove import RuleAttributeSelector
from rulegrove.exceptions import InvalidInputError
from rulegrove.plots import VotesDisplay


class GivenVotes(RuleAttributeSelector):
    """A selector whose votes and kept attributes are told."""

    def __init__(self, votes, kept=None, min_votes=3):
        self.votes = votes
        self.kept = kept
        self.min_votes = min_votes

    def fit(self, X=None, y=None):
        self.votes_ = np.asarray(self.votes)
        self.n_features_in_ = len(self.votes_)
        return self

    def _get_support_mask(self):
        return self.votes_ >= self.min_votes if self.kept is None else np.asarray(self.kept)


def test_votes_are_drawn_in_order():
    display = VotesDisplay.from_estimator(GivenVotes([0, 5, 3, 2, 4]).fit())
    assert [bar.get_width() for bar in display.ax_.patches] == [5, 4, 3, 2]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["x1", "x4", "x2", "x3"]
    assert [bar.get_alpha() for bar in display.ax_.patches] == [1.0, 1.0, 1.0, 0.3]
    assert list(display.ax_.lines[0].get_xdata()) == [3, 3]
    assert display.ax_.get_xlabel() == "Votes (3 of 5 attributes kept)"
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["kept", "left out", "needed: 3"]


def test_another_criterion_has_no_line():
    display = VotesDisplay.from_estimator(GivenVotes([5, 4, 1, 0], kept=[True, False, True, True]).fit())
    assert display.min_votes is None
    assert not display.ax_.lines
    assert display.order.tolist() == [0, 1, 2, 3]


def test_names_are_kept_from_being_formulas():
    selector = GivenVotes([3, 1]).fit()
    selector.feature_names_in_ = np.array(["price_$", "$cost$"], dtype=object)
    display = VotesDisplay.from_estimator(selector)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [r"price_\$", r"\$cost\$"]


def test_most_attributes_to_draw():
    assert len(VotesDisplay.from_estimator(GivenVotes(list(range(1, 61))).fit(), top=7).ax_.patches) == 7


def test_no_votes():
    display = VotesDisplay.from_estimator(GivenVotes([0, 0]).fit())
    assert display.ax_.texts[0].get_text() == "No attribute has any votes."


def test_bad_input():
    with pytest.raises(InvalidInputError, match="VotesDisplay needs a RuleAttributeSelector; got dict"):
        VotesDisplay.from_estimator({})
    with pytest.raises(NotFittedError):
        VotesDisplay.from_estimator(GivenVotes([1]))
