"""The parametric bootstrap: interaction stands out where it is, and not where it is not."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import interaction_null, interactions
from rulegrove.inspection.interaction_null import NullDistribution, _fit_additive

PARAMETERS = {"n_candidates": 80, "honest_cv": False, "cv": 3, "random_state": 0, "n_jobs": 1}


def make_product():
    """The first two of three attributes together, and the third by itself."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    return X, 3.0 * (X[:, 0] > 0) * (X[:, 1] > 0) + X[:, 2] + 0.3 * rng.normal(size=300)


def test_a_product_stands_out_in_regression():
    X, y = make_product()
    model = RuleEnsembleRegressor(**PARAMETERS).fit(X, y)
    null = interaction_null(model, X, y, n_repeats=9, random_state=0)
    assert null.total.replicates.shape == (9, 3)
    assert null.pairs.replicates.shape == (9, 3, 3)
    assert null.names == ("x0", "x1", "x2")
    assert null.pairs.share[0, 1] == 0.1
    assert (null.total.share[:2] == 0.1).all()
    assert null.total.observed[0] > null.total.mean[0] + 5 * null.total.sd[0]
    observed = interactions(model, X)
    np.testing.assert_array_equal(null.observed.pairs, observed.pairs)
    np.testing.assert_array_equal(null.pairs.observed, observed.pairs)


def test_a_sum_does_not_stand_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + 2.0 * (X[:, 1] > 0) + np.abs(X[:, 2]) + 0.5 * rng.normal(size=300)
    model = RuleEnsembleRegressor(**{**PARAMETERS, "n_candidates": 200, "random_state": 7}).fit(
        X, y
    )  # fewer lack a part
    null = interaction_null(model, X, y, n_repeats=9, random_state=0)
    assert (null.total.share > 0.1).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_drawn_from_the_additive_model(n_classes):
    X, y = make_product()
    labels = np.array(["a", "b", "c"])[np.searchsorted([0.0, 1.5] if n_classes == 3 else [1.0], y)]
    settings = {"multiclass": "ovr", "solver": "glmnet", "max_terms": None}  # a fast one, with all interactions
    model = RuleEnsembleClassifier(**settings, **PARAMETERS).fit(X, labels)
    null = interaction_null(model, X, labels, n_repeats=5, random_state=0)
    assert null.pairs.replicates.shape == (5, 3, 3)
    assert null.pairs.share[0, 1] == pytest.approx(1 / 6)
    assert (null.total.observed[:2] > (null.total.mean + 2 * null.total.sd)[:2]).all()


def test_class_weights_do_not_change_how_often_a_class_is_drawn():
    X, y = make_product()
    labels = y > 2.5
    model = RuleEnsembleClassifier(class_weight="balanced", max_terms=3, max_rules=3, **PARAMETERS).fit(X, labels)
    additive = _fit_additive(model, X, labels, None, 0)
    assert additive.predict_proba(X)[:, 1].mean() == pytest.approx(labels.mean(), abs=0.02)
    assert all(len(row.term.features) == 1 for row in additive.rules_)
    assert len(additive.rules_) > 3
    assert model.class_weight == "balanced"


def test_the_same_seed_gives_the_same_null_and_weights_count():
    X, y = make_friedman1(120, n_features=5, random_state=0)
    weights = np.random.default_rng(0).uniform(size=120)
    model = RuleEnsembleRegressor(**PARAMETERS, terms="rules").fit(X, y, sample_weight=weights)
    first, second = (
        interaction_null(model, X, y, n_repeats=2, random_state=3, sample_weight=weights) for _ in range(2)
    )
    np.testing.assert_array_equal(first.pairs.replicates, second.pairs.replicates)
    assert not np.array_equal(first.pairs.replicates[0], first.pairs.replicates[1])
    other = interaction_null(model, X, y, n_repeats=2, random_state=3)
    assert not np.array_equal(first.pairs.replicates, other.pairs.replicates)


def test_a_dropped_column_is_not_told_again():
    X, y = make_product()
    X[:, 2] = 1.0
    with pytest.warns(UserWarning, match="constant"):
        model = RuleEnsembleRegressor(**PARAMETERS).fit(X, y)
    assert interaction_null(model, X, y, n_repeats=2, random_state=0).total.share[2] == 1.0


def test_a_linear_model_has_nothing_to_compare():
    X, y = make_product()
    model = RuleEnsembleRegressor(terms="linear", **PARAMETERS).fit(X, y)
    null = interaction_null(model, X, y, n_repeats=2, random_state=0)
    assert not null.pairs.observed.any()
    assert (null.pairs.share == 1.0).all()
    assert len(null.to_frame()) == 0


def test_mean_deviation_and_share_of_replicates():
    null = NullDistribution(np.array([2.0, 0.0]), np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]))
    assert null.mean.tolist() == [2.0, 0.0]
    assert null.sd.tolist() == [1.0, 0.0]
    assert null.share.tolist() == [0.75, 1.0]


def test_the_frame_stands_beside_the_observations():
    X, y = make_product()
    model = RuleEnsembleRegressor(**PARAMETERS).fit(X, y)
    frame = interaction_null(model, X, y, n_repeats=2, random_state=0).to_frame()
    assert list(frame.columns) == ["attribute", "with", "h", "spread", "null_mean", "null_sd", "share"]
    assert frame.iloc[0][["attribute", "with"]].tolist() == ["x0", "x1"]


def test_one_repeat_is_too_few():
    X, y = make_product()
    model = RuleEnsembleRegressor(**PARAMETERS).fit(X, y)
    with pytest.raises(InvalidInputError, match=r"`n_repeats` must be at least 2.*got 1"):
        interaction_null(model, X, y, n_repeats=1)
