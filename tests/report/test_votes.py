"""Votes of a selector for the page."""

import numpy as np
import pytest

from rulegrove import RuleAttributeSelector
from rulegrove.exceptions import InvalidInputError
from rulegrove.report._votes import describe_votes


@pytest.mark.parametrize("settings", [{}, {"criterion": "votes"}, {"n_features_to_select": 1}])
def test_votes_are_those_of_the_selector(settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5))
    y = X[:, 1] + (X[:, 3] > 0)
    selector = RuleAttributeSelector(n_candidates=60, n_repeats=3, min_votes=2, random_state=0, n_jobs=1, **settings)
    selector.fit(X, y)
    told = describe_votes(selector)
    places = [int(name[1:]) for name in told["names"]]
    assert told["votes"] == selector.votes_[places].tolist()
    assert told["kept"] == selector.get_support()[places].tolist()
    assert told["votes"] == sorted(told["votes"], reverse=True)
    by_votes = np.array_equal(selector.get_support(), selector.votes_ >= 2)
    how = "those of at least 2 votes" if by_votes else "as many as were asked for"
    assert f"{selector.get_support().sum()} of 5 attributes were kept: {how}." in told["words"]


def test_what_is_no_selector():
    assert describe_votes(None) is None
    with pytest.raises(InvalidInputError, match="`selector` needs a RuleAttributeSelector; got str"):
        describe_votes("votes")
