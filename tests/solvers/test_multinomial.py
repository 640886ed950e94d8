"""The multinomial loss against R's glmnet, scikit-learn, the logistic loss, optimality conditions and a naive gap."""

import json
import pathlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, logsumexp, softmax, xlogy
from sklearn.linear_model import LogisticRegression

from rulegrove.design.rows import Rows
from rulegrove.exceptions import InvalidInputError
from rulegrove.solvers import Glmnet, Problem
from rulegrove.solvers._multinomial import Dual, MultinomialNet, best_shifts, largest_penalty, null_intercepts
from rulegrove.solvers._penalty import Penalty

REFERENCE = pathlib.Path(__file__).parents[1] / "reference" / "multinomial.json"


def build(kind, seed=0):
    """Dense rules, linear terms, codes, number of classes and weights."""
    rng = np.random.default_rng(seed)
    n_rows, n_rules, n_classes, weights = 200, 20, 4, np.ones(200)
    z = rng.normal(size=(n_rows, 4))
    rules = np.column_stack(
        [(z[:, k % 4] <= rng.normal()) & (z[:, (k + 1) % 4] > rng.normal()) for k in range(n_rules)]
    ).astype(float)
    score = np.column_stack([z[:, 0] + z[:, 1] * z[:, 2], z[:, 1], -z[:, 0], z[:, 3] ** 2 - 1])
    codes = (score + 0.7 * rng.gumbel(size=(n_rows, 4))).argmax(axis=1)
    match kind:
        case "duplicated":
            rules = np.hstack([rules, rules[:, :5]])
        case "constant and zero columns":
            rules[:, 2], rules[:, 5] = 1.0, 0.0
        case "wide":
            rules = (rng.random((n_rows, 300)) < 0.3).astype(float)
        case "weights":
            weights = rng.uniform(0.0, 3.0, n_rows) * (rng.random(n_rows) < 0.8)
        case "three classes":
            n_classes, codes = 3, codes % 3
        case "two classes":
            n_classes, codes = 2, codes % 2
        case "twelve classes":
            n_classes, codes = 12, 3 * codes + np.digitize(z[:, 2], [-0.3, 0.5])
        case "few of one class":
            codes = np.where(np.arange(n_rows) % 60 == 0, 3, codes % 3)
        case "separable":
            n_classes, codes = 3, np.where(rules[:, 0] > 0, 2, rules[:, 1]).astype(int)
        case "no linear terms":
            z = z[:, :0]
    return rules, 0.4 * z[:, :2], codes, n_classes, weights


KINDS = [
    "random",
    "duplicated",
    "constant and zero columns",
    "wide",
    "weights",
    "three classes",
    "two classes",
    "twelve classes",
    "few of one class",
    "separable",
    "no linear terms",
]


def make_rows(rules, linear, codes, weights):
    """The rows, with the codes that belong to them."""
    rows = Rows.from_dense(rules, linear, np.zeros(len(codes)), weights)
    return rows, np.pad(np.asarray(codes, dtype=np.int64), (0, rows.bits.n_rows - len(codes)))


def follow(rows, codes, n_classes, penalties=None, *, l1_ratio=1.0, tol=1e-9, max_iter=500, start=None):
    """The path from the null model, by default down to 0.03 of the largest penalty."""
    if penalties is None:
        penalties = largest_penalty(rows, codes, n_classes, l1_ratio) * np.geomspace(1.0, 0.03, 7)
    net = MultinomialNet(rows, codes, n_classes, l1_ratio, tol, max_iter)
    coefs, intercepts = np.zeros((n_classes, rows.n_terms)), null_intercepts(rows, codes, n_classes)
    return np.asarray(penalties), net.follow(np.asarray(penalties), *((coefs, intercepts) if start is None else start))


def objective(X, codes, weights, coefs, intercepts, penalty, l1_ratio):
    F = X @ coefs.T + intercepts
    risk = weights @ (logsumexp(F, axis=1) - F[np.arange(len(F)), codes]) / weights.sum()
    return risk + penalty * (l1_ratio * np.abs(coefs).sum() + (1 - l1_ratio) / 2 * (coefs**2).sum())


def naive_bound(X, codes, weights, coefs, intercepts, penalty, l1_ratio):
    """The dual value of the probabilities at hand, made feasible; says so if they are not."""
    l1, l2 = penalty * l1_ratio, penalty * (1 - l1_ratio)
    share = weights / weights.sum()
    target = np.eye(len(coefs))[codes]
    p = softmax(X @ coefs.T + intercepts, axis=1)
    imbalance = np.stack([(share[codes == c, None] * (target - p)[codes == c]).sum(axis=0) for c in range(len(coefs))])
    t = np.abs(np.linalg.svd(imbalance.T)[2][-1])  # imbalance.T @ t = 0
    r = (t / t.max())[codes, None] * (target - p)
    assert np.abs(share @ r).max() <= 1e-14
    grad = X.T @ (share[:, None] * r)
    bounds = []
    for scale in (min(1.0, l1 / np.abs(grad).max()), 1.0):
        excess = np.maximum(scale * np.abs(grad) - l1, 0)
        if l2 > 0 or excess.max() <= 1e-15:
            q = target - scale * r
            assert q.min() >= -1e-16
            price = (excess**2).sum() / (2 * l2) if l2 > 0 else 0.0
            bounds.append(-share @ xlogy(q, np.maximum(q, 1e-300)).sum(axis=1) - price)
    return max(bounds)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_every_point_carries_its_certificate(kind, l1_ratio):
    rules, linear, codes, n_classes, weights = build(kind)
    rows, padded = make_rows(rules, linear, codes, weights)
    X = np.hstack([rules, linear])
    penalties, found = follow(rows, padded, n_classes, l1_ratio=l1_ratio)
    assert (found.gaps <= 1e-9).all()
    assert not found.coefs[0].any()
    assert found.coefs[-1].any()
    np.testing.assert_allclose(found.intercepts.sum(axis=1), 0.0, atol=1e-12)
    share = weights / weights.sum()
    for penalty, coefs, intercepts, gap, risk in zip(
        penalties, found.coefs, found.intercepts, found.gaps, found.risks, strict=True
    ):
        assert risk == pytest.approx(objective(X, codes, weights, coefs, intercepts, 0.0, 1.0), abs=1e-12)
        primal = objective(X, codes, weights, coefs, intercepts, penalty, l1_ratio)
        # The bound kept is the best of all sweeps, so the last one may be a little worse.
        naive = primal - naive_bound(X, codes, weights, coefs, intercepts, penalty, l1_ratio)
        assert -1e-13 <= gap <= naive + 1e-13
        residuals = share[:, None] * (np.eye(n_classes)[codes] - softmax(X @ coefs.T + intercepts, axis=1))
        grad = (X.T @ residuals).T - penalty * (1 - l1_ratio) * coefs
        l1 = penalty * l1_ratio
        violation = np.where(coefs == 0, np.maximum(np.abs(grad) - l1, 0), np.abs(grad - l1 * np.sign(coefs)))
        assert violation.max() <= 1e-3 * l1
        assert np.abs(residuals.sum(axis=0)).max() <= 1e-3 * l1


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("max_iter", [0, 1, 2])
def test_gap_is_never_less_than_what_is_missing(max_iter, l1_ratio):
    rules, linear, codes, n_classes, weights = build("weights")
    rows, padded = make_rows(rules, linear, codes, weights)
    X = np.hstack([rules, linear])
    penalties, rough = follow(rows, padded, n_classes, l1_ratio=l1_ratio, max_iter=max_iter)
    _, exact = follow(rows, padded, n_classes, l1_ratio=l1_ratio, tol=1e-13)
    assert (rough.iterations <= max_iter).all()
    assert rough.gaps.max() > 1e-9
    for penalty, *points, gap in zip(
        penalties, rough.coefs, rough.intercepts, exact.coefs, exact.intercepts, rough.gaps, strict=True
    ):
        reached = objective(X, codes, weights, *points[:2], penalty, l1_ratio)
        missing = reached - objective(X, codes, weights, *points[2:], penalty, l1_ratio)
        assert -1e-13 <= missing <= gap + 1e-13


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
def test_dual_point_far_from_the_optimum_is_that_of_numpy(l1_ratio):
    rules, linear, codes, n_classes, weights = build("weights")
    rows, padded = make_rows(rules, linear, codes, weights)
    X = np.hstack([rules, linear])
    rng = np.random.default_rng(1)
    penalty = 0.1 * largest_penalty(rows, padded, n_classes)
    for size in (0.0, 0.1, 1.0):
        coefs, intercepts = size * rng.normal(size=(n_classes, rows.n_terms)), rng.normal(size=n_classes)
        scores = np.stack([rows.scores(coef, intercept) for coef, intercept in zip(coefs, intercepts, strict=True)])
        dual = Dual.at(scores, padded, rows.weights)
        grads = np.stack([rows.sums(pull * dual.shares) for pull in dual.pulls]) / rows.weight
        bound = Penalty(l1_ratio, 1.0 - l1_ratio).at(penalty).bound(np.abs(grads), dual.entropy)
        naive = naive_bound(X, codes, weights, coefs, intercepts, penalty, l1_ratio)
        assert bound == pytest.approx(naive, abs=1e-12)


def test_certain_rows_have_a_dual_point():
    """Probabilities that are rounded to 0 and 1 leave a chain in which no state leads to another."""
    codes = np.arange(64) % 3
    scores = np.where(codes == np.arange(3)[:, None], 2000.0, 0.0)
    dual = Dual.at(scores, codes, np.ones(64))
    assert dual.risk == 0.0
    assert dual.entropy(1.0) == 0.0


@pytest.mark.parametrize("case", json.loads(REFERENCE.read_text())["cases"], ids=lambda case: case["name"])
def test_path_is_that_of_r(case):
    rules, linear, weights = (np.array(case[key], dtype=float) for key in ("rules", "linear", "weights"))
    coefs = np.array(case["coefs"], dtype=float).transpose(1, 0, 2)
    intercepts = np.array(case["intercepts"], dtype=float)
    n_classes = coefs.shape[1]
    rows, codes = make_rows(rules, linear.reshape(len(rules), -1), case["codes"], weights)
    _, found = follow(rows, codes, n_classes, case["lambda"], l1_ratio=case["alpha"], tol=1e-11)
    scale = np.abs(coefs).max()
    if n_classes % 2 == 0 and case["alpha"] == 1:
        # Any shift between the two middle coefficients is as good; R takes another one, and its probabilities are ours.
        coefs, ours = coefs - coefs.mean(axis=1, keepdims=True), found.coefs - found.coefs.mean(axis=1, keepdims=True)
        assert (found.coefs != 0).sum() <= (np.abs(np.array(case["coefs"])) > 1e-6 * scale).sum()
    else:
        ours = found.coefs
    np.testing.assert_allclose(ours, coefs, atol=5e-5 * scale)
    np.testing.assert_allclose(found.intercepts, intercepts, atol=5e-5 * scale)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
def test_path_is_that_of_scikit_learn(l1_ratio):
    rules, linear, codes, n_classes, weights = build("three classes")
    rows, padded = make_rows(rules, linear, codes, weights)
    top = largest_penalty(rows, padded, n_classes, l1_ratio)
    penalties, found = follow(rows, padded, n_classes, top * np.array([0.5, 0.1]), l1_ratio=l1_ratio, tol=1e-12)
    X = np.hstack([rules, linear])
    for penalty, coefs, intercepts in zip(penalties, found.coefs, found.intercepts, strict=True):
        model = LogisticRegression(
            C=1 / (weights.sum() * penalty), l1_ratio=l1_ratio, solver="saga", tol=1e-9, max_iter=50_000
        ).fit(X, codes, sample_weight=weights)
        np.testing.assert_allclose(coefs, model.coef_, atol=1e-5)
        np.testing.assert_allclose(intercepts, model.intercept_ - model.intercept_.mean(), atol=1e-5)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
def test_two_classes_are_the_logistic_loss(l1_ratio):
    """Of coefficients with a given difference b, the least penalty is that of b/2 and -b/2.

    Their L1 norm is ``|b|`` and half their squared L2 norm ``b^2 / 4``, so the ridge part counts half.
    """
    rules, linear, codes, _, weights = build("two classes")
    rows, padded = make_rows(rules, linear, codes, weights)
    penalties, found = follow(rows, padded, 2, l1_ratio=l1_ratio, tol=1e-12)
    problem = Problem.from_rows(Rows.from_dense(rules, linear, 2.0 * codes - 1.0, weights))
    l1, l2 = l1_ratio, 0.5 * (1 - l1_ratio)
    path = Glmnet(loss="logistic", l1_ratio=l1 / (l1 + l2), tol=1e-11).path(problem, (l1 + l2) * penalties)
    X = np.hstack([rules, linear])
    for coefs, intercepts, coef, intercept in zip(
        found.coefs, found.intercepts, path.coefs, path.intercepts, strict=True
    ):
        ours = softmax(X @ coefs.T + intercepts, axis=1)[:, 1]
        np.testing.assert_allclose(ours, expit(intercept + X @ coef), atol=1e-5)
        if l1_ratio == 1.0:
            assert not (coefs != 0).all(axis=0).any(), "one class of each term can do without it"


def test_a_weight_of_two_is_a_row_twice():
    rules, linear, codes, n_classes, _ = build("three classes")
    twice = np.arange(200) % 3 == 0
    order = np.r_[np.arange(200), np.flatnonzero(twice)]
    _, heavy = follow(*make_rows(rules, linear, codes, 1.0 + twice), n_classes, tol=1e-12)
    repeated = make_rows(rules[order], linear[order], codes[order], np.ones(len(order)))
    np.testing.assert_allclose(heavy.coefs, follow(*repeated, n_classes, tol=1e-12)[1].coefs, atol=1e-5)


def test_held_out_rows_count_nowhere():
    rules, linear, codes, n_classes, weights = build("three classes")
    rows, padded = make_rows(rules, linear, codes, weights)
    kept, _ = rows.hold_out(64, 128)
    inside = np.r_[0:64, 128:200]
    alone = make_rows(rules[inside], linear[inside], codes[inside], weights[inside])
    expected = follow(*alone, n_classes, tol=1e-12)[1].coefs
    for wrong in (0, 2):
        padded[64:128] = wrong
        np.testing.assert_allclose(follow(kept, padded, n_classes, tol=1e-12)[1].coefs, expected, atol=1e-5)


def test_chunks_started_warm_equal_the_whole_path():
    rules, linear, codes, n_classes, weights = build("three classes")
    rows, padded = make_rows(rules, linear, codes, weights)
    penalties, whole = follow(rows, padded, n_classes, tol=1e-12)
    _, first = follow(rows, padded, n_classes, penalties[:4], tol=1e-12)
    start = first.coefs[-1], first.intercepts[-1]
    before = [array.copy() for array in start]
    _, second = follow(rows, padded, n_classes, penalties[4:], tol=1e-12, start=start)
    np.testing.assert_allclose(np.concatenate([first.coefs, second.coefs]), whole.coefs, atol=1e-5)
    for array, copy in zip(start, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_threads_share_nothing():
    rules, linear, codes, n_classes, weights = build("random")
    rows, padded = make_rows(rules, linear, codes, weights)
    alone = follow(rows, padded, n_classes)[1]
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: follow(rows, padded, n_classes)[1], range(4)):
            np.testing.assert_array_equal(found.coefs, alone.coefs)


@pytest.mark.parametrize("kind", ["random", "weights", "few of one class"])
def test_curvature_from_a_sample_leads_to_the_same_minimum(kind, monkeypatch):
    rules, linear, codes, n_classes, weights = build(kind)
    rows, padded = make_rows(rules, linear, codes, weights)
    exact = follow(rows, padded, n_classes, l1_ratio=0.9)[1]
    monkeypatch.setattr("rulegrove.solvers._curvature._SAMPLE_WORDS", 1)
    sampled = follow(rows, padded, n_classes, l1_ratio=0.9)[1]
    assert (sampled.gaps <= 1e-9).all()
    np.testing.assert_allclose(sampled.coefs, exact.coefs, atol=1e-3)
    assert not np.array_equal(sampled.coefs, exact.coefs), "the sample must have been used"


@pytest.mark.parametrize("kind", ["three classes", "few of one class", "separable"])
def test_small_penalties_take_few_sweeps(kind):
    """A joint step that would cross several zeros may not descend by staying at all of them: that took 400 sweeps."""
    for seed in (1, 2):
        rules, linear, codes, n_classes, weights = build(kind, seed)
        rows, padded = make_rows(rules, linear, codes, weights)
        penalties = largest_penalty(rows, padded, n_classes) * np.geomspace(1.0, 1e-3, 12)
        _, found = follow(rows, padded, n_classes, penalties, tol=1e-8)
        assert (found.gaps <= 1e-8).all()
        assert found.iterations.max() <= 60


@pytest.mark.parametrize("n_classes", [2, 3, 4, 7])
def test_shifts_make_the_penalty_smallest(n_classes):
    rng = np.random.default_rng(n_classes)
    coefs = rng.normal(size=(n_classes, 30)) * (rng.random((n_classes, 30)) < 0.7)
    for l1, l2 in ((1.0, 0.0), (1.0, 0.3), (0.2, 1.0), (0.0, 1.0)):
        for column, shift in zip(coefs.T, best_shifts(coefs, l1, l2), strict=True):

            def penalty(c, column=column, l1=l1, l2=l2):
                return l1 * np.abs(column - c).sum() + l2 / 2 * ((column - c) ** 2).sum()

            least = minimize_scalar(penalty, bounds=(column.min() - 1, column.max() + 1), method="bounded")
            assert penalty(shift) <= least.fun + 1e-9
            assert l2 > 0.0 or shift in column, "a median is one of the coefficients, so that there is a zero"


def test_largest_penalty_is_the_smallest_without_terms():
    rules, linear, codes, n_classes, weights = build("weights")
    rows, padded = make_rows(rules, linear, codes, weights)
    top = largest_penalty(rows, padded, n_classes, 0.5)
    _, found = follow(rows, padded, n_classes, [1.001 * top, 0.99 * top], l1_ratio=0.5)
    assert not found.coefs[0].any()
    assert found.coefs[1].any()
    share = np.bincount(codes, weights) / weights.sum()
    np.testing.assert_allclose(softmax(found.intercepts[0]), share)


def test_without_terms_the_shares_are_all():
    codes = np.arange(128) % 3
    rows, _ = make_rows(np.empty((128, 0)), np.empty((128, 0)), codes, np.ones(128))
    assert largest_penalty(rows, codes, 3) == 0.0
    start = np.zeros((3, 0)), np.array([1.0, 0.0, -1.0])
    _, found = follow(rows, codes, 3, [0.1], start=start)
    np.testing.assert_allclose(found.intercepts[0], null_intercepts(rows, codes, 3), atol=1e-4)
    assert found.gaps[0] <= 1e-9


@pytest.mark.parametrize(
    ("codes", "n_classes", "message"),
    [
        (np.zeros(64, dtype=int), 1, "`n_classes` must be at least 2; got 1"),
        (np.arange(10), 10, r"`codes` must hold one class for each of 64 rows; got \(10,\)"),
        (np.arange(64) % 4, 3, "`codes` must be from 0 to 2; got 0 to 3"),
        (np.arange(64) % 2 * 2, 3, "Every class needs rows with weight; class 1 has none"),
    ],
)
def test_classes_must_fit_the_rows(codes, n_classes, message):
    rows = Rows.from_dense(np.ones((64, 1)), np.empty((64, 0)), np.zeros(64))
    for call in (
        lambda: null_intercepts(rows, codes, n_classes),
        lambda: largest_penalty(rows, codes, n_classes),
        lambda: MultinomialNet(rows, codes, n_classes, 1.0, 1e-6, 10).follow(
            np.array([0.1]), np.zeros((n_classes, 1)), np.zeros(n_classes)
        ),
    ):
        with pytest.raises(InvalidInputError, match=message):
            call()
