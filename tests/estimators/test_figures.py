"""What a fit tells of rows that it held out: equal to scikit-learn's figures, in every mode, kept in the model file."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.calibration import calibration_curve
from sklearn.metrics import (
    accuracy_score,
    auc,
    confusion_matrix,
    log_loss,
    r2_score,
    roc_auc_score,
    roc_curve,
    root_mean_squared_error,
)
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor, engines
from rulegrove.datasets import load, make_waveform
from rulegrove.estimators import autos
from rulegrove.estimators.autos import CALIBRATION_ROWS
from rulegrove.estimators.figures import MAX_POINTS, ClassFigures, judge_classes, judge_numbers, tell_held_out
from rulegrove.estimators.model_file import dump_model, parse_model
from rulegrove.exceptions import InvalidInputError

FAST = {"n_candidates": 60, "random_state": 0, "n_jobs": 1}


def draw_probabilities(n_classes, n_rows=400, seed=0):
    """Classes and probabilities that know something of them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n_rows)
    raw = rng.random((n_rows, n_classes)) + 0.7 * (codes[:, None] == np.arange(n_classes))
    return codes, raw / raw.sum(axis=1, keepdims=True), rng.uniform(0.2, 2.0, n_rows)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_figures_of_classes_are_those_of_scikit_learn(n_classes, weighted):
    codes, shares, weights = draw_probabilities(n_classes)
    weights = weights if weighted else None
    predicted = shares.argmax(axis=1)
    figures = judge_classes(codes, predicted, shares, weights)
    assert figures.n_rows == 400
    assert figures.weighted == weighted
    assert figures.accuracy == pytest.approx(accuracy_score(codes, predicted, sample_weight=weights))
    assert figures.log_loss == pytest.approx(log_loss(codes, shares, sample_weight=weights))
    if n_classes == 2:
        expected = roc_auc_score(codes, shares[:, 1], sample_weight=weights)
    else:
        each = [roc_auc_score(codes == k, shares[:, k], sample_weight=weights) for k in range(n_classes)]
        expected = np.mean(each)
        if not weighted:
            assert expected == pytest.approx(roc_auc_score(codes, shares, multi_class="ovr", average="macro"))
    assert figures.auc == pytest.approx(expected)
    np.testing.assert_array_equal(figures.counts, confusion_matrix(codes, predicted))
    base = np.bincount(codes, weights) / (400 if weights is None else weights.sum())
    np.testing.assert_allclose(figures.shares, base)
    assert figures.base_accuracy == pytest.approx(base.max())
    assert figures.base_log_loss == pytest.approx(-(base * np.log(base)).sum())


def test_curves():
    codes, shares, _ = draw_probabilities(2, 5000)
    figures = judge_classes(codes, shares[:, 1] > 0.5, shares)
    (roc,), (bins,) = figures.rocs, figures.reliabilities
    assert len(roc.false_positives) <= MAX_POINTS
    for shape in (roc.false_positives, roc.true_positives):
        assert (shape[0], shape[-1]) == (0.0, 1.0)
        assert (np.diff(shape) >= 0).all()
    assert np.trapezoid(roc.true_positives, roc.false_positives) == pytest.approx(roc.area, abs=1e-3)
    observed, predicted = calibration_curve(codes, shares[:, 1], n_bins=10)
    np.testing.assert_allclose(bins.observed, observed, atol=1e-6)
    np.testing.assert_allclose(bins.predicted, predicted, atol=1e-6)
    assert bins.sizes.sum() == 5000


@pytest.mark.parametrize("weights", ["none", "any", "some are zero"])
@pytest.mark.parametrize("n_levels", [1, 2, 7, 150])
def test_roc_is_that_of_scikit_learn(n_levels, weights):
    """Few different probabilities, so that rows of both kinds tie, and few enough for a curve that is not thinned."""
    codes, shares, own = draw_probabilities(2, 300)
    levels = np.floor(n_levels * shares[:, 1]) / n_levels
    own = {"none": None, "any": own, "some are zero": np.where(own < 0.8, 0.0, own)}[weights]
    (roc,) = judge_classes(codes, codes, np.column_stack([1 - levels, levels]), own).rocs
    wrong, right, _ = roc_curve(codes, levels, sample_weight=own, drop_intermediate=False)
    assert roc.area == pytest.approx(auc(wrong, right), rel=1e-12)
    curve, expected = np.array([roc.false_positives, roc.true_positives]), np.array([wrong, right])
    nearest = np.abs(curve[:, :, None] - expected[:, None, :]).max(axis=0)
    assert nearest.min(axis=1).max() < 1e-6
    if n_levels < 10:
        assert nearest.min(axis=0).max() < 1e-6


def test_a_class_whose_rows_have_no_weight_has_no_roc():
    codes = np.array([0, 0, 1, 1])
    figures = judge_classes(codes, codes, np.full((4, 2), 0.5), codes.astype(np.float64))
    assert np.isnan(figures.auc)
    assert figures.rocs[0].false_positives.size == 0


def test_a_class_that_no_row_has():
    """The only row of a class is never held out: the other classes still have an AUC; of one class there is none."""
    codes, shares, _ = draw_probabilities(3)
    two = codes < 2
    figures = judge_classes(codes[two], shares[two].argmax(axis=1), shares[two])
    assert np.isnan(figures.rocs[2].area)
    assert figures.auc == pytest.approx(np.mean([figures.rocs[0].area, figures.rocs[1].area]))
    one = judge_classes(codes[codes == 1], codes[codes == 1], shares[codes == 1])
    assert np.isnan(one.auc)
    assert "AUC" not in one.words


def test_figures_of_numbers_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y, weights = rng.normal(size=100), rng.uniform(0.1, 2.0, 100)
    predicted = y + rng.normal(size=100)
    for own in (None, weights):
        figures = judge_numbers(y, predicted, own)
        assert figures.r2 == pytest.approx(r2_score(y, predicted, sample_weight=own))
        assert figures.rmse == pytest.approx(root_mean_squared_error(y, predicted, sample_weight=own))
    assert judge_numbers(y, predicted).deviation == pytest.approx(y.std())
    assert np.isnan(judge_numbers(np.ones(3), np.zeros(3)).r2)


def test_held_out_is_worse_than_training_and_close_to_new_rows():
    """The training loss flatters; what the folds' models say of held-out rows is near the truth.

    Each half of a table is new to the model of the other, so that it does not matter which half is the harder one.
    """
    X, y = load("pima", return_X_y=True)
    told, true = [], []
    for mine, others in ((slice(0, None, 2), slice(1, None, 2)), (slice(1, None, 2), slice(0, None, 2))):
        model = RuleEnsembleClassifier(n_candidates=200, terms="rules", random_state=0).fit(X[mine], y[mine])
        figures, shares = model.held_out_, model.predict_proba(X[others])
        assert figures.honest
        assert figures.n_rows == 384
        assert figures.accuracy == np.trace(figures.counts) / 384 > figures.base_accuracy
        assert figures.log_loss > log_loss(y[mine], model.predict_proba(X[mine])) + 0.02
        told.append((figures.log_loss, figures.auc, figures.accuracy))
        true.append(
            (log_loss(y[others], shares), roc_auc_score(y[others], shares[:, 1]), model.score(X[others], y[others]))
        )
    np.testing.assert_allclose(np.mean(told, axis=0), np.mean(true, axis=0), atol=0.03)


@pytest.mark.parametrize(
    "options",
    [
        {"multiclass": "ovr"},
        {"multiclass": "ovr", "solver": Glmnet(loss="logistic")},
        {"multiclass": "shared"},
        {"multiclass": "shared", "max_terms": 8},
        {"multiclass": "shared", "solver": Glmnet(loss="logistic"), "honest_cv": False},
        {"multiclass": "grouped", "solver": Glmnet(l1_ratio=0.9), "max_terms": 6},
        {"multiclass": "ovr", "solver": "pathbuild", "calibration": "isotonic"},
        {"multiclass": "shared", "calibration": None, "solver": Glmnet()},
    ],
    ids=str,
)
def test_every_mode_of_many_classes(options):
    X, y = make_waveform(300, random_state=1)
    model = RuleEnsembleClassifier(**FAST, **options).fit(X, y)
    figures = model.held_out_
    assert figures.n_rows == figures.counts.sum() == 300
    assert figures.honest == options.get("honest_cv", True)
    assert figures.counts.sum(axis=1).tolist() == np.bincount(y).tolist()
    assert 0.65 < figures.accuracy < 0.95
    assert figures.accuracy == pytest.approx(np.trace(figures.counts) / 300)
    assert 0.8 < figures.auc < 1.0
    assert figures.log_loss < figures.base_log_loss or options.get("calibration", "auto") != "auto"
    assert len(figures.rocs) == len(figures.reliabilities) == 3


@pytest.mark.parametrize("estimator", [RuleEnsembleClassifier, RuleEnsembleRegressor])
def test_a_given_point_holds_nothing_out(estimator):
    X, y = load("iris")
    model = estimator(**FAST).fit(X, np.unique(y, return_inverse=True)[1])
    assert model.held_out_.n_rows == 150
    given = clone(model).set_params(selection=0.05).fit(X, np.unique(y, return_inverse=True)[1])
    assert given.held_out_ is None
    assert parse_model(dump_model(given).encode()).held_out_ is None


@pytest.mark.parametrize("size", ["few", "capped", "none"])
def test_models_of_few_terms(size):
    X, y = load("pima", return_X_y=True)
    model = RuleEnsembleClassifier(**FAST, max_terms={"few": None, "capped": 3, "none": 0}[size]).fit(X, y)
    if size == "none":
        assert model.held_out_.accuracy == pytest.approx(model.held_out_.base_accuracy)
        assert model.held_out_.auc == pytest.approx(0.5, abs=0.05)
    else:
        assert model.held_out_.accuracy > 0.7


def test_whether_the_rules_have_seen_the_rows():
    X, y = load("pima", return_X_y=True)
    own = {"rules": ["x1 > 126", "x5 > 30 and x7 > 40"], "n_candidates": 0, "random_state": 0}
    shared, honest = (RuleEnsembleClassifier(**FAST, honest_cv=mode).fit(X, y) for mode in (False, True))
    for model in (shared, honest):
        assert model.held_out_.n_rows == len(y)
        assert model.held_out_.honest == (model is honest)
        assert ("optimistic" in tell_held_out(model.held_out_)) == (model is shared)
    assert RuleEnsembleClassifier(**own, honest_cv=False).fit(X, y).held_out_.honest  # an expert's rules
    tree = DecisionTreeClassifier(max_depth=3).fit(X, y)
    foreign = RuleEnsembleClassifier(trees=tree, random_state=0).fit(X, y)
    assert not foreign.held_out_.honest
    assert "a little optimistic" in tell_held_out(foreign.held_out_)


def test_weights_count():
    """Rows of weight zero are not judged; class weights move the base rate to that of the weighted rows."""
    X, y = load("pima", return_X_y=True)
    weights = np.where(np.arange(len(y)) % 4, 1.0, 0.0)
    figures = RuleEnsembleClassifier(**FAST).fit(X, y, weights).held_out_
    assert figures.n_rows == 576
    assert not figures.weighted
    figures = RuleEnsembleClassifier(**FAST, class_weight="balanced").fit(X, y).held_out_
    assert figures.weighted
    assert figures.shares == pytest.approx([0.5, 0.5])
    recalls = np.diagonal(figures.counts) / figures.counts.sum(axis=1)
    assert figures.accuracy == pytest.approx(recalls.mean())
    assert figures.base_log_loss == pytest.approx(np.log(2.0), rel=1e-3)


def test_rows_that_no_fold_holds_out_are_not_judged():
    X, y = load("pima", return_X_y=True)
    folds = [(np.setdiff1d(np.arange(len(y)), test), test) for _, test in StratifiedKFold(6).split(X, y)][:3]
    assert RuleEnsembleClassifier(**FAST, cv=folds).fit(X, y).held_out_.n_rows == 384


def test_tables_beyond_a_pool(monkeypatch, tmp_path):
    """Drawn rows that no tree has seen are honest; Parquet gives the same figures."""
    monkeypatch.setattr(autos, "POOL_ROWS", 2000)
    rng = np.random.default_rng(0)
    n_rows = 2000 + 16 * 300 + CALIBRATION_ROWS + 3000
    table = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=list("abcd"))
    y = (table["a"] + (table["b"] > 0) + rng.normal(size=n_rows) > 0.5).to_numpy().astype(int)
    model = RuleEnsembleClassifier(**FAST, subsample=300).fit(table, y)
    assert model.held_out_.honest
    assert 0.18 < model.held_out_.n_rows / (16 * 300 + CALIBRATION_ROWS) < 0.22  # the rows of one of five folds
    assert model.held_out_.accuracy == pytest.approx(model.score(table, y), abs=0.02)
    table.assign(target=y).to_parquet(tmp_path / "part.parquet")
    outside = engines.fit(RuleEnsembleClassifier(**FAST, subsample=300), tmp_path / "part.parquet", "target")
    assert outside.held_out_.accuracy == model.held_out_.accuracy
    few = RuleEnsembleClassifier(**FAST, subsample=300).fit(table[:6000], y[:6000])  # of two folds
    assert few.held_out_.honest


def test_a_refit_knows_of_no_rows():
    table = pa.Table.from_pandas(load("pima").frame())
    model = RuleEnsembleClassifier(n_candidates=60, random_state=0, solver="fpc")
    model = engines.fit(model, table, "class", keep_statistics=True)
    assert isinstance(model.held_out_, ClassFigures)
    assert engines.refit(model, model.statistics_).held_out_ is None


def test_files_from_before_have_no_figures():
    X, y = load("iris")
    document = json.loads(dump_model(RuleEnsembleClassifier(**FAST).fit(X, y)))
    assert parse_model(json.dumps(document).encode()).held_out_.n_rows == 150
    del document["held_out"], document["checksum"]
    assert parse_model(json.dumps(document).encode()).held_out_ is None
    document["held_out"] = {"accuracy": 1.0}
    with pytest.raises(InvalidInputError, match="`held_out` must be an object with the field 'n_rows'"):
        parse_model(json.dumps(document).encode())
