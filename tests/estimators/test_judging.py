"""Lines judged on held-out rows: sums that add up, and that tell what the rows themselves tell."""

from functools import reduce

import numpy as np
import pytest
from scipy.special import expit, softmax
from scipy.stats import entropy
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove._hashing import deal_folds
from rulegrove.estimators._judging import LineSums
from rulegrove.estimators._sampling import Chance
from rulegrove.estimators._shortening import Shortening
from rulegrove.estimators.classes import Classes
from rulegrove.estimators.number import Number
from small_pools import shrink_pool

N_ROWS = 2000
SMALL = {"n_candidates": 20, "cv": 2, "terms": "rules", "random_state": 0, "n_jobs": 1}


def make_sums(rng, n_lines=4, n_rows=50, n_outputs=2, weights=None):
    """Sums of random rows, and the rows."""
    measured = rng.gamma(2.0, size=(2, n_lines, n_rows)) * rng.uniform(1.0, 3.0, (2, n_lines, 1))
    said, targets = rng.normal(size=(n_lines, n_rows, n_outputs)), rng.normal(size=(n_rows, n_outputs))
    return LineSums.of(measured, said, targets, weights), measured, said, targets


@pytest.mark.parametrize("weighted", [False, True])
def test_lines_are_told_as_rows_tell(weighted):
    """Whole weights are counts of rows for the means; standard errors are those of a weighted mean."""
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, 50).astype(np.float64) if weighted else None
    sums, (losses, errors), *_ = make_sums(rng, weights=weights)
    told = sums.tell(np.zeros((2, 4)), 4)
    times = np.ones(50, dtype=int) if weights is None else weights.astype(int)
    best = int(np.argmin(np.repeat(losses, times, axis=1).mean(axis=1)))
    for name, values in (("loss", losses), ("error", errors)):
        np.testing.assert_allclose(told[name], np.repeat(values, times, axis=1).mean(axis=1))
    share = times / times.sum()
    for name, values in (("loss_se", losses), ("error_se", errors), ("excess_se", losses - losses[best])):
        means = [float(np.sum(share * row)) for row in values]
        expected = [
            np.sqrt(sum((own * (value - mean)) ** 2 for own, value in zip(share, row, strict=True)))
            for row, mean in zip(values, means, strict=True)
        ]
        np.testing.assert_allclose(told[name], expected)
    assert told["excess_se"][best] == 0.0
    if not weighted:
        np.testing.assert_allclose(told["loss_se"], losses.std(axis=1) / np.sqrt(50))


def test_the_best_line_is_one_of_the_lists():
    rng = np.random.default_rng(2)
    sums, (losses, _), *_ = make_sums(rng)
    best = int(np.argmin(losses[:2].mean(axis=1)))
    assert sums.tell(np.zeros((2, 4)), 2)["excess_se"][best] == 0.0


def test_weights_that_are_all_alike_are_none():
    plain, heavy = (make_sums(np.random.default_rng(1), weights=own)[0] for own in (None, np.full(50, 7.0)))
    for name, values in plain.tell(np.zeros((2, 4)), 4).items():
        np.testing.assert_allclose(values, heavy.tell(np.zeros((2, 4)), 4)[name])


def test_centres_change_nothing_and_save_digits():
    """Losses that differ in their eighth digit have a standard error all the same."""
    rng = np.random.default_rng(3)
    losses = 1.0 + 1e-8 * rng.random((3, 40))
    measured, rest = np.array([losses, losses]), (np.zeros((3, 40, 1)), np.zeros((40, 1)), None)
    centres = np.full((2, 3), 1.0)
    told = LineSums.of(measured - centres[:, :, None], *rest).tell(centres, 3)
    np.testing.assert_allclose(told["loss"], losses.mean(axis=1), rtol=1e-15)
    np.testing.assert_allclose(told["loss_se"], losses.std(axis=1) / np.sqrt(40), rtol=1e-6)


def test_fidelity_is_what_is_left_of_the_large_models_variance():
    """Weights are counts of rows; who says nothing has none, the large model has all, even where it is constant."""
    rng = np.random.default_rng(0)
    large = rng.normal(size=(30, 2))
    said = np.stack([np.tile(large.mean(axis=0), (30, 1)), large + 0.1 * rng.normal(size=(30, 2)), large])

    def tell(said, weights=None):
        n_lines, n_rows, n_outputs = said.shape
        sums = LineSums.of(np.zeros((2, n_lines, n_rows)), said, np.zeros((n_rows, n_outputs)), weights)
        return sums.tell(np.zeros((2, n_lines)), n_lines)["fidelity"]

    told = tell(said)
    assert told[0] == pytest.approx(0.0, abs=1e-12)
    left = np.sum((said[1] - large) ** 2) / np.sum((large - large.mean(axis=0)) ** 2)
    assert told[1:] == pytest.approx([1.0 - left, 1.0])
    times = rng.integers(1, 4, 30)
    np.testing.assert_allclose(tell(said, times.astype(np.float64)), tell(np.repeat(said, times, axis=1)))
    assert tell(np.ones((2, 5, 1))).tolist() == [1.0, 1.0]


def test_sums_add_up_however_the_rows_are_divided():
    rng = np.random.default_rng(4)
    weights = rng.random(50)
    whole, measured, said, targets = make_sums(rng, weights=weights)
    places = np.split(np.arange(50), [7, 7, 30])
    parts = [LineSums.of(measured[:, :, own], said[:, own], targets[own], weights[own]) for own in places]
    one, *others = parts
    left = reduce(LineSums.merge, parts)
    right = one.merge(reduce(LineSums.merge, others))
    for name, values in vars(whole).items():
        np.testing.assert_allclose(getattr(left, name), values)
        np.testing.assert_allclose(getattr(right, name), values)
        np.testing.assert_array_equal(getattr(LineSums.zeros(4, 2).merge(whole), name), values)


def test_the_loss_of_saying_the_mean():
    rng = np.random.default_rng(5)
    numbers = rng.normal(size=(40, 1))
    assert Number().base_loss(numbers.mean(axis=0), (numbers**2).mean(axis=0)) == pytest.approx(numbers.var())
    for n_classes in (2, 3):
        codes = rng.integers(n_classes, size=40)
        members = codes[:, None] == np.arange(n_classes)
        outputs = np.where(members, 1.0, -1.0)[:, 1 - (n_classes > 2) :]
        found = Classes().base_loss(outputs.mean(axis=0), (outputs**2).mean(axis=0))
        assert found == pytest.approx(log_loss(codes, np.tile(members.mean(axis=0), (40, 1))))
    assert Classes().base_loss(np.array([-1.0]), np.array([1.0])) == 0.0


def make_table(target):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    number = X[:, 0] + 2 * (X[:, 1] > 0) + rng.normal(size=N_ROWS) / 2
    return X, {"number": number, "two": number > 1.0, "three": np.digitize(number, [0.3, 1.7])}[target]


def make_model(target, **parameters):
    kind = RuleEnsembleRegressor if target == "number" else RuleEnsembleClassifier
    return kind(**{**SMALL, **parameters})


@pytest.fixture
def made(monkeypatch):
    """The large model and the lists of each call of `Shortening.make`: those of all rows, then of each fold."""
    shrink_pool(monkeypatch, 500)
    calls, make = [], Shortening.make

    def watch(self, data, rows, large, *arguments):
        lists = make(self, data, rows, large, *arguments)
        calls.append((data.offsets[0], large, lists))
        return lists

    monkeypatch.setattr(Shortening, "make", watch)
    return calls


def score_rows(X, offset, large, points):
    """Scores of rows, rule by rule."""
    columns = []
    for terms, (coef, intercept) in zip(large.terms, points, strict=True):
        held = np.array([rule.holds(X.T) for rule in terms.rules], dtype=np.float64)
        columns.append(offset + intercept + coef @ held)
    return np.column_stack(columns)


def say(line, scores):
    """What a line says by its scores, and the class or number that it predicts."""
    if line.fitted.model.link is None:
        return scores, scores[:, 0]
    slope = line.fitted.model.link.slope
    if scores.shape[1] == 1:
        return expit(slope * scores), (scores[:, 0] > 0).astype(int)
    return softmax(slope * scores, axis=1), scores.argmax(axis=1)


@pytest.mark.parametrize(
    ("target", "weighted", "fixed"),
    [
        ("number", False, True),
        ("number", True, False),
        ("two", False, False),
        ("two", True, False),
        ("three", True, False),
    ],
)
def test_all_held_out_rows_of_a_large_table_judge_its_lists(made, target, weighted, fixed):
    """Each row by the lists of its fold, not those alone that were drawn; rows never held out have no say."""
    X, y = make_table(target)
    weights = np.random.default_rng(1).choice([0.0, 1.0, 2.5], N_ROWS) if weighted else np.ones(N_ROWS)
    folds = deal_folds(Chance.of(0).fold_seed, np.arange(N_ROWS), 2)
    if fixed:
        folds = np.arange(N_ROWS) % 3 - 1
    model = make_model(target, cv=PredefinedSplit(folds) if fixed else 2).fit(X, y, weights if weighted else None)
    front = model.front_
    _, *of_folds = made
    assert len(of_folds) == 2
    said = np.empty((len(front), N_ROWS, 3 if target == "three" else 1))
    predicted = np.empty((len(front), N_ROWS))
    for fold, (offset, large, lists) in enumerate(of_folds):
        here = np.flatnonzero(folds == fold)
        for place, (line, points) in enumerate(zip(front, [*lists, large.points], strict=True)):
            said[place, here], predicted[place, here] = say(line, score_rows(X[here], offset, large, points))
    kept = np.flatnonzero((folds >= 0) & (weights > 0))
    assert kept.size > 1200  # many more than the 200 that were drawn for it
    said, predicted, share, y = said[:, kept], predicted[:, kept], weights[kept] / weights[kept].sum(), y[kept]
    codes = y.astype(int)
    if target == "number":
        losses = errors = (y - predicted) ** 2
    else:
        shares = np.dstack([1.0 - said, said]) if target == "two" else said
        true = shares[:, np.arange(len(y)), codes]
        losses, errors = -np.log(true), (predicted != codes).astype(float)

    def spread(values):
        return np.sqrt((values - (values @ share)[:, None]) ** 2 @ share**2)

    loss, error, error_se = losses @ share, errors @ share, spread(errors)
    if target == "number":
        error, error_se = np.sqrt(error), error_se / 2 / np.sqrt(error)
    large = said[-1]
    variance = np.sum((large - share @ large) ** 2, axis=1) @ share
    expected = {
        "loss": loss,
        "loss_se": spread(losses),
        "error": error,
        "error_se": error_se,
        "excess_se": spread(losses - losses[np.argmin(loss)]),
        "fidelity": 1.0 - np.sum((said - large) ** 2, axis=2) @ share / variance,
    }
    for name, values in expected.items():
        np.testing.assert_allclose([getattr(line, name) for line in front], values, rtol=1e-7, atol=1e-9, err_msg=name)
    base = share @ (y - share @ y) ** 2 if target == "number" else entropy(np.bincount(codes, share))
    assert front.base_loss == pytest.approx(base)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_huge_numbers_are_judged_in_their_units(made, n_jobs):
    """Squares of 2**600 are no numbers; threads change no digit."""
    X, y = make_table("number")
    plain = make_model("number").fit(X, y).front_
    huge = make_model("number", n_jobs=n_jobs).fit(X, np.ldexp(y, 600)).front_
    assert [line.error for line in huge] == pytest.approx([np.ldexp(line.error, 600) for line in plain])
    assert [line.fidelity for line in huge] == pytest.approx([line.fidelity for line in plain])
