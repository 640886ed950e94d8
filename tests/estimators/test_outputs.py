"""One record for each output."""

import copy
import pickle

import numpy as np
import pytest

from rulegrove import RuleEnsembleClassifier
from rulegrove.datasets import load
from rulegrove.estimators.outputs import PerOutput


def test_one_item_lends_its_names():
    one = PerOutput([np.arange(3)])
    assert one.size == 3
    assert one[0] is one[-1]
    assert len(one) == 1


def test_of_several_one_must_be_chosen():
    several = PerOutput([1.0, 2.0])
    with pytest.raises(AttributeError, match=r"There are 2 outputs; choose one of them, as in \[0\]\.real\."):
        _ = several.real
    assert list(several[1:]) == [2.0]


def test_shared_items_are_counted_once():
    shared, alone = [1], [1]
    assert PerOutput([shared, shared, alone]).distinct == [shared, alone]


@pytest.mark.parametrize("items", [[1.5], [1.5, 2.5]])
def test_copies_and_pickles(items):
    for again in (copy.deepcopy(PerOutput(items)), pickle.loads(pickle.dumps(PerOutput(items)))):
        assert list(again) == items


@pytest.mark.parametrize(("name", "n_outputs"), [("pima", 1), ("iris", 3)])
def test_fitted_records_have_one_shape(name, n_outputs):
    """`path_` was a `Path` or a list of them, and likewise the others, so that every reader had to ask which."""
    X, y = load(name, return_X_y=True)
    model = RuleEnsembleClassifier(n_candidates=30, random_state=0).fit(X, y)
    for records in (model.path_, model.selection_, model.solver_, model.candidates_):
        assert len(records) == n_outputs
    for path, selection, terms in zip(model.path_, model.selection_, model.candidates_, strict=True):
        assert path.coefs.shape[1] == len(terms)
        assert 0 <= selection.index < len(path.coefs)
