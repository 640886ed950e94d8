"""What terms say about classes, in words of a table; whole files are read in test_saved.py and test_model_file.py."""

import numpy as np
import pytest

from rulegrove.estimators.meaning import ClassMeaning
from rulegrove.rules.rule import Condition, Rule

RULE = Rule((Condition(0, upper=1.0),))


@pytest.mark.parametrize(
    ("coef", "speaks_for", "against"), [(2.0, "yes", False), (-2.0, "no", False), (0.0, "no", True)]
)
def test_a_term_of_two_classes_speaks_for_one_of_them(coef, speaks_for, against):
    meaning = ClassMeaning(np.array(["no", "yes"]), np.array([0.75, 0.25]))
    about = meaning.describe_term(RULE, np.array([coef]), np.array([0.4, 0.6]))
    assert about["speaks_for"] == speaks_for
    assert about["against"] is against
    assert about["coefficient"] == coef


def test_a_term_of_three_classes_speaks_for_the_strongest():
    meaning = ClassMeaning(np.arange(3), np.array([0.5, 0.3, 0.2]))
    about = meaning.describe_term(RULE, np.array([0.5, -2.0, 1.0]), np.array([0.1, 0.2, 0.7]))
    assert (about["speaks_for"], about["against"], about["coefficient"]) == (1, True, -2.0)
    assert about["confidence"] == pytest.approx(0.8)
    assert about["base_rate"] == pytest.approx(0.7)
    assert about["coefficients"] == {0: 0.5, 1: -2.0, 2: 1.0}
