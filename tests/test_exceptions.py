"""Errors and warnings can be caught as what scikit-learn's users catch already."""

import inspect

import pytest
from sklearn.exceptions import ConvergenceWarning

from rulegrove import exceptions

KINDS = dict(inspect.getmembers(exceptions, lambda found: getattr(found, "__module__", "") == exceptions.__name__))


@pytest.mark.parametrize("name", KINDS)
def test_a_name_tells_how_it_is_caught(name):
    base = exceptions.RulegroveWarning if name.endswith("Warning") else ValueError
    assert issubclass(KINDS[name], base)
    assert issubclass(exceptions.RulegroveWarning, UserWarning)


def test_a_solver_at_its_limit_warns_as_those_of_scikit_learn_do():
    assert issubclass(exceptions.NotConvergedWarning, ConvergenceWarning)
