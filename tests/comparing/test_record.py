"""Which terms are paired, and what is told of it."""

import numpy as np
import pytest

from rulegrove.columns import Feature
from rulegrove.comparing.record import Errors, Side, compare_sides, find_share, pair_terms
from rulegrove.design.terms import Linear
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.rule_table import RankedTerm
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Condition, Rule

FEATURES = (Feature("age"), Feature("<mass>"))
YOUNG, OLD = Rule((Condition(0, upper=40.0),)), Rule((Condition(0, lower=60.0),))
HEAVY = Rule((Condition(1, lower=30.0),))


def make_side(terms, coefs=None, estimator="RuleEnsembleRegressor", **changes):
    coefs = np.arange(1.0, len(terms) + 1.0) if coefs is None else np.asarray(coefs)
    model = RuleModel(FEATURES, tuple(terms), coefs, 0.0, **changes)
    ranked = [
        RankedTerm(k, "rule" if isinstance(term, Rule) else "linear", term.text(FEATURES), 0.0, 1.0, 1.0, (), term)
        for k, term in enumerate(terms)
    ]
    return Side(estimator, model, ranked, None)


def test_terms_are_shared_word_for_word():
    line, other_line = Linear(1, 0.0, 9.0, 5.0), Linear(1, 1.0, 8.0, 4.0)
    found = compare_sides(make_side([YOUNG, line, OLD]), make_side([HEAVY, other_line, YOUNG]))
    told = [(term.how, term.coefficient_a, term.coefficient_b) for term in found.terms]
    assert told == [("words", 1.0, 3.0), ("words", 2.0, 2.0), ("a", 3.0, 0.0), ("b", 0.0, 1.0)]
    assert found.shared == {"words": 0.5}
    assert "They share 2 word for word; only in a: 1, only in b: 1." in found.sentences[0]
    assert "(b: <mass> (linear from 1 to 8))" in repr(found)
    assert "<mass>" not in found._repr_html_()
    assert found.to_frame()["how"].tolist() == ["words", "words", "a", "b"]


@pytest.mark.parametrize("seed", range(20))
def test_each_term_is_told_once(seed):
    """Whatever is alike: by the strictest identity first, one to one, and nothing that could be paired is left."""
    rng = np.random.default_rng(seed)
    rules = [Rule((Condition(0, upper=float(bound)),)) for bound in range(8)]
    sides = [make_side([rules[k] for k in rng.choice(8, rng.integers(0, 7), replace=False)]) for _ in range(2)]
    keys = [[int(term.term.conditions[0].upper) // 3 for term in side.ranked] for side in sides]
    alike = rng.random((len(keys[0]), len(keys[1]))) < 0.3
    words = [side.words for side in sides]
    terms = pair_terms(*sides, [("words", *words), ("deciles", *keys)], alike)
    for name, side in zip(("text_a", "text_b"), sides, strict=True):
        assert sorted(filter(None, (getattr(term, name) for term in terms))) == sorted(t.text for t in side.ranked)
    texts = [[own.text for own in side.ranked] for side in sides]
    assert sum(term.how == "words" for term in terms) == len(set(texts[0]) & set(texts[1]))
    left = [[term for term in terms if term.how == own] for own in ("a", "b")]
    for one in left[0]:
        for other in left[1]:
            places = texts[0].index(one.text_a), texts[1].index(other.text_b)
            assert keys[0][places[0]] != keys[1][places[1]]
            assert not alike[places]
    for term in terms:
        if term.how == "deciles":
            assert keys[0][texts[0].index(term.text_a)] == keys[1][texts[1].index(term.text_b)]
        if term.how == "rows":
            assert alike[texts[0].index(term.text_a), texts[1].index(term.text_b)]


def test_of_several_classes_the_largest_coefficient_is_told():
    coefs = np.array([[0.1], [-2.0], [0.5]])
    sides = [
        make_side([YOUNG], factor * coefs, "RuleEnsembleClassifier", classes=np.array(["x", "y", "z"]))
        for factor in (1, 2)
    ]
    [term] = compare_sides(*sides).terms
    assert (term.about, term.coefficient_a, term.coefficient_b) == ("y", -2.0, -4.0)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"estimator": "RuleEnsembleSurvival"}, "a is a RuleEnsembleRegressor, b is a RuleEnsembleSurvival"),
        ({"outputs": ("height", "weight")}, "same outputs can be compared; a has one number, b has height, weight."),
        ({"classes": np.array(["no", "yes"])}, "same classes can be compared; a has one number, b has no, yes."),
        ({"inverse": np.exp}, "the terms of one multiply a rate"),
    ],
)
def test_other_targets_are_refused(changes, says):
    with pytest.raises(InvalidInputError, match=says):
        compare_sides(make_side([YOUNG]), make_side([YOUNG], **changes))


def test_shares():
    assert find_share([], []) == 1.0
    assert find_share([1, 2], [2, 3, 4]) == 0.25


def test_errors_are_told_with_what_they_can_say():
    assert Errors("Log loss", 0.5, 0.4, 0.1, 0.01).words.endswith("a minus b is +0.1 ± 0.01, so b is better.")
    assert Errors("Log loss", 0.3, 0.4, -0.1, 0.01).words.endswith("so a is better.")
    assert Errors("Log loss", 0.5, 0.4, 0.1, 0.06).words.endswith("so these rows cannot tell them apart.")
