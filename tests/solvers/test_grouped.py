"""Several targets that share their terms, against scikit-learn and optimality conditions."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import MultiTaskElasticNet, MultiTaskLasso, Ridge

from rulegrove.exceptions import InvalidInputError, NotConvergedWarning
from rulegrove.solvers import Glmnet, Status
from rulegrove.solvers.grouped import grouped_path, grouped_penalties
from solver_problems import KINDS, build, make_problem, nested_rules


def several(problem, n_targets=3):
    """Problems with the terms of one and targets ``c y + X b``, whose sums follow from those of y."""
    rng = np.random.default_rng(7)
    problems = [problem]
    used = np.flatnonzero(problem.gram.diagonal())[:5]
    for _ in range(n_targets - 1):
        c, b = rng.normal(), np.zeros(problem.n_terms)
        b[used] = rng.normal(size=len(used)) / np.sqrt(problem.gram.diagonal()[used]) * np.sqrt(problem.y_y)
        square = c**2 * problem.y_y + 2 * c * b @ problem.x_y + b @ problem.gram @ b
        x_y = c * problem.x_y + problem.gram @ b
        problems.append(replace(problem, x_y=x_y, y_y=float(square), y_mean=c * problem.y_mean + b @ problem.x_mean))
    return problems


def problems_of(X, Y, weights=None):
    """Problems of dense columns that share their Gram."""
    problems = [make_problem(X, y, weights) for y in Y.T]
    return [replace(problem, gram=problems[0].gram, x_mean=problems[0].x_mean) for problem in problems]


def joint(paths):
    """Coefficients of shape (n_points, n_targets, n_terms)."""
    return np.stack([path.coefs for path in paths], axis=1)


def objective(problems, coef, penalty, l1_ratio=1.0):
    rss = sum(p.y_y - 2 * p.x_y @ a + a @ p.gram @ a for p, a in zip(problems, coef, strict=True))
    norm = l1_ratio * np.linalg.norm(coef, axis=0).sum() + 0.5 * (1 - l1_ratio) * (coef**2).sum()
    return 0.5 * rss + penalty * norm


def gap(problems, coef, penalty, l1_ratio=1.0):
    """Relative duality gap, plainly: the better of two multiples of residuals."""
    l1, l2 = penalty * l1_ratio, penalty * (1 - l1_ratio)
    x_y, y_y = np.array([p.x_y for p in problems]), sum(p.y_y for p in problems)
    grad = x_y - coef @ problems[0].gram
    target = y_y - (x_y * coef).sum()
    rss = max(target - (grad * coef).sum(), 0.0)
    augmented = rss + l2 * (coef**2).sum()
    longest = np.linalg.norm(grad - l2 * coef, axis=0).max()
    best = max(target, 0.0) / augmented if augmented > 0 else 1.0
    scale = best if best * longest <= l1 else l1 / longest
    bound = scale * target - 0.5 * scale**2 * augmented
    if l2 > 0:
        excess = np.maximum(np.linalg.norm(grad, axis=0) - l1, 0.0)
        bound = max(bound, target - 0.5 * rss - 0.5 * (excess**2).sum() / l2)
    return (objective(problems, coef, penalty, l1_ratio) - bound) / (0.5 * y_y)


def kkt_violation(problems, coef, penalty, l1_ratio=1.0):
    """Largest distance of any group from its optimality condition, in units of the penalty."""
    l1, l2 = penalty * l1_ratio, penalty * (1 - l1_ratio)
    grad = np.array([p.x_y for p in problems]) - coef @ problems[0].gram - l2 * coef
    size = np.linalg.norm(coef, axis=0)
    inside = np.linalg.norm(grad - l1 * coef / np.where(size > 0, size, 1.0), axis=0)
    off = np.where(size > 0, inside, np.maximum(np.linalg.norm(grad, axis=0) - l1, 0.0))
    return off.max() / penalty


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.01])
@pytest.mark.parametrize("kind", KINDS)
def test_every_point_carries_its_certificate(kind, l1_ratio):
    problems = several(build(kind))
    penalties = grouped_penalties(problems, l1_ratio, n_penalties=25, ratio=1e-2)
    paths = grouped_path(problems, penalties, l1_ratio=l1_ratio)
    assert paths[0].status == (Status.CONVERGED,) * 25
    assert paths[0].gaps.max() <= 1e-5
    assert paths[0].n_terms[0] == 0
    assert paths[0].n_terms[-1] > 0
    for penalty, coef, own in zip(penalties, joint(paths), paths[0].gaps, strict=True):
        assert gap(problems, coef, penalty, l1_ratio) == pytest.approx(own, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_targets_share_all_but_their_coefficients(kind):
    problems = several(build(kind))
    paths = grouped_path(problems, grouped_penalties(problems, n_penalties=12, ratio=1e-2))
    assert len(paths) == 3
    for problem, path in zip(problems, paths, strict=True):
        assert path.parameter.name == "penalty"
        np.testing.assert_array_equal(path.penalties, paths[0].penalties)
        np.testing.assert_array_equal(path.coefs != 0, paths[0].coefs != 0)
        np.testing.assert_array_equal(path.gaps, paths[0].gaps)
        np.testing.assert_array_equal(path.iterations, paths[0].iterations)
        assert path.status == paths[0].status
        np.testing.assert_allclose(path.intercepts, problem.y_mean - path.coefs @ problem.x_mean)
        errors = [problem.y_y - 2 * problem.x_y @ a + a @ problem.gram @ a for a in path.coefs]
        np.testing.assert_allclose(path.risks, errors, atol=1e-10 * problem.y_y)
        np.testing.assert_allclose(path.residuals, np.sqrt(problem.weight * path.risks))


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_tight_tolerance_meets_the_optimality_conditions(kind, l1_ratio):
    problems = several(build(kind))
    penalties = grouped_penalties(problems, l1_ratio, n_penalties=8, ratio=1e-2)
    paths = grouped_path(problems, penalties, l1_ratio=l1_ratio, tol=1e-12)
    violations = [kkt_violation(problems, c, p, l1_ratio) for p, c in zip(penalties, joint(paths), strict=True)]
    assert max(violations) < 1e-3


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("kind", KINDS)
def test_one_target_gives_the_path_of_glmnet(kind, l1_ratio):
    problem = build(kind)
    solver = Glmnet(l1_ratio=l1_ratio, n_penalties=15, penalty_ratio=1e-2, tol=1e-12)
    np.testing.assert_allclose(grouped_penalties([problem], l1_ratio, 15, 1e-2), solver.grid(problem), rtol=1e-14)
    (path,) = grouped_path([problem], solver.grid(problem), l1_ratio=l1_ratio, tol=1e-12)
    expected = solver.path(problem)
    assert path.status == expected.status
    # Where columns depend on each other the minimiser is not unique, its fit is.
    np.testing.assert_allclose(path.risks, expected.risks, atol=1e-7 * problem.y_y)
    if l1_ratio < 1.0 or kind not in {"duplicated", "tree rules"}:
        np.testing.assert_allclose(path.coefs, expected.coefs, atol=1e-4 * np.abs(expected.coefs).max())
        np.testing.assert_allclose(path.intercepts, expected.intercepts, atol=1e-3)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
def test_agrees_with_scikit_learn(l1_ratio):
    """The objectives are the same, so is ``alpha``; scikit-learn's tolerance is relative to ``|Y|^2``."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(70, 10)) + 0.5 * rng.normal(size=(70, 1)) + 3.0
    Y = X[:, :4] @ rng.normal(size=(4, 3)) + rng.normal(size=(70, 3)) - 2.0
    problems = problems_of(X, Y)
    penalties = grouped_penalties(problems, l1_ratio, n_penalties=8, ratio=1e-2)
    paths = grouped_path(problems, penalties, l1_ratio=l1_ratio, tol=1e-13)
    for point, penalty in enumerate(penalties[1:], start=1):
        limits = {"alpha": penalty, "tol": 1e-12, "max_iter": 100_000}
        theirs = MultiTaskLasso(**limits) if l1_ratio == 1.0 else MultiTaskElasticNet(l1_ratio=l1_ratio, **limits)
        theirs.fit(X, Y)
        np.testing.assert_allclose(joint(paths)[point], theirs.coef_, atol=1e-5)
        np.testing.assert_allclose([path.intercepts[point] for path in paths], theirs.intercept_, atol=1e-4)


@pytest.mark.parametrize("kind", ["duplicated", "tree rules", "wide"])
def test_objective_is_as_low_as_scikit_learns(kind):
    """On dependent columns the coefficients may differ, the objective may not."""
    rng = np.random.default_rng(1)
    X, y = nested_rules(rng, 150, 48) if kind == "tree rules" else (rng.normal(size=(15, 40)), rng.normal(size=15))
    if kind == "duplicated":
        X = np.hstack([X[:, :6], X[:, :6]])
    Y = np.column_stack([y, rng.normal(size=len(y)), y + X[:, 0]])
    problems = problems_of(X, Y)
    penalties = grouped_penalties(problems, n_penalties=6, ratio=1e-2)
    paths = grouped_path(problems, penalties, tol=1e-9)
    for penalty, coef in zip(penalties[1:], joint(paths)[1:], strict=True):
        theirs = MultiTaskLasso(alpha=penalty, tol=1e-9, max_iter=100_000).fit(X, Y)
        expected = objective(problems, theirs.coef_, penalty)
        assert objective(problems, coef, penalty) == pytest.approx(expected, rel=1e-7)


def test_weights_count_as_repeated_rows():
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(40, 6)), rng.normal(size=(40, 2))
    counts = rng.integers(1, 4, 40)
    weighted = problems_of(X, Y, counts.astype(float))
    repeated = problems_of(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0))
    penalties = grouped_penalties(weighted, n_penalties=6, ratio=1e-2)
    ours, theirs = (grouped_path(problems, penalties, tol=1e-13) for problems in (weighted, repeated))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.coefs, b.coefs, atol=1e-6)
        np.testing.assert_allclose(a.residuals, b.residuals)


def test_ridge_alone_has_its_closed_form():
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(60, 5)), rng.normal(size=(60, 3))
    paths = grouped_path(problems_of(X, Y), [1.0, 0.1], l1_ratio=0.0, tol=1e-13)
    for point, penalty in enumerate([1.0, 0.1]):
        np.testing.assert_allclose(joint(paths)[point], Ridge(alpha=60 * penalty).fit(X, Y).coef_, atol=1e-6)


def test_orthogonal_terms_are_shrunk_as_groups():
    x_ys = np.array([[3.0, 0.3], [4.0, 0.4]])
    problems = [replace(make_problem(np.eye(2), np.eye(2)[0]), gram=np.eye(2), x_y=x_y, y_y=30.0) for x_y in x_ys]
    problems[1] = replace(problems[1], gram=problems[0].gram)
    first, second = grouped_path(problems, [5.0, 1.0, 0.25], tol=1e-14)
    np.testing.assert_allclose(first.coefs, [[0.0, 0.0], [2.4, 0.0], [2.85, 0.15]], atol=1e-12)
    np.testing.assert_allclose(second.coefs, [[0.0, 0.0], [3.2, 0.0], [3.8, 0.2]], atol=1e-12)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
@pytest.mark.parametrize("kind", ["random", "strongly correlated", "wide"])
def test_chunks_started_warm_equal_the_whole_path(kind, l1_ratio):
    problems = several(build(kind))
    penalties = grouped_penalties(problems, l1_ratio, n_penalties=20, ratio=1e-2)
    whole = grouped_path(problems, penalties, l1_ratio=l1_ratio, tol=1e-12)
    first = grouped_path(problems, penalties[:10], l1_ratio=l1_ratio, tol=1e-12)
    second = grouped_path(problems, penalties[10:], l1_ratio=l1_ratio, tol=1e-12, start=first)
    np.testing.assert_array_equal(joint(first), joint(whole)[:10])
    np.testing.assert_allclose(joint(second), joint(whole)[10:], atol=1e-5 * np.abs(joint(whole)).max())
    again = grouped_path(problems, penalties[-1:], l1_ratio=l1_ratio, tol=1e-12, start=whole)
    assert again[0].iterations[0] == 0
    np.testing.assert_array_equal(joint(again)[0], joint(whole)[-1])


@pytest.mark.parametrize("kind", ["random", "constant and zero columns", "tree rules"])
def test_any_start_leads_to_the_minimum(kind):
    problems = several(build(kind))
    start = 10.0 * np.random.default_rng(0).normal(size=(3, problems[0].n_terms))
    before = start.copy()
    penalties = np.array([0.2, 0.05]) * grouped_penalties(problems)[0]
    far, near = grouped_path(problems, penalties, tol=1e-9, start=start), grouped_path(problems, penalties, tol=1e-9)
    assert far[0].gaps.max() <= 1e-9
    np.testing.assert_array_equal(start, before)
    for penalty, a, b in zip(penalties, joint(far), joint(near), strict=True):
        assert objective(problems, a, penalty) == pytest.approx(objective(problems, b, penalty), rel=1e-8)


def test_threads_share_nothing():
    problems = several(build("tree rules"))
    penalties = grouped_penalties(problems, n_penalties=20, ratio=1e-2)
    before = [(p.gram.copy(), p.x_y.copy()) for p in problems]
    alone = joint(grouped_path(problems, penalties))
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: joint(grouped_path(problems, penalties)), range(8)))
    for coefs in together:
        np.testing.assert_array_equal(coefs, alone)
    for problem, (gram, x_y) in zip(problems, before, strict=True):
        np.testing.assert_array_equal(problem.gram, gram)
        np.testing.assert_array_equal(problem.x_y, x_y)


def test_target_without_variance_changes_nothing():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 4)), rng.normal(size=(50, 3))
    Y[:, 1] = 0.1
    problems = problems_of(X, Y)
    assert problems[1].y_y == 0.0
    penalties = grouped_penalties(problems, n_penalties=6)
    first, constant, last = grouped_path(problems, penalties)
    assert not constant.coefs.any()
    np.testing.assert_allclose(constant.intercepts, 0.1)
    np.testing.assert_array_equal(constant.risks, 0.0)
    np.testing.assert_array_equal(constant.gaps, first.gaps)
    for path, expected in zip((first, last), grouped_path(problems[::2], penalties), strict=True):
        np.testing.assert_array_equal(path.coefs, expected.coefs)


@pytest.mark.parametrize("start", [None, np.ones((2, 3))])
def test_constant_targets_give_constant_models(start):
    X = np.random.default_rng(0).normal(size=(30, 3))
    problems = problems_of(X, np.full((30, 2), [0.1, -3.0]))
    penalties = grouped_penalties(problems, n_penalties=5)
    assert penalties[0] == 1.0
    for path, mean in zip(grouped_path(problems, penalties, start=start), [0.1, -3.0], strict=True):
        assert not path.coefs.any()
        np.testing.assert_allclose(path.intercepts, mean)
        np.testing.assert_array_equal(path.gaps, 0.0)
        assert set(path.status) == {Status.CONVERGED}


def test_no_terms_gives_constant_models():
    problems = problems_of(np.empty((4, 0)), np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [6.0, 2.0]]))
    first, second = grouped_path(problems, grouped_penalties(problems, n_penalties=3))
    assert first.coefs.shape == second.coefs.shape == (3, 0)
    np.testing.assert_allclose(first.intercepts, 3.0)
    np.testing.assert_allclose(second.intercepts, 0.5)
    assert set(first.status) == {Status.CONVERGED}


def test_limit_warns_once_and_reports_how_far():
    problems = several(build("strongly correlated"))
    penalties = grouped_penalties(problems, n_penalties=10, ratio=1e-4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path, *_ = grouped_path(problems, penalties, max_iter=2)
    assert [w.category for w in caught] == [NotConvergedWarning]
    late = [status is Status.MAX_ITER for status in path.status]
    assert f"GroupedNet left {sum(late)} of 10" in str(caught[0].message)
    assert f"{path.gaps.max():.1e}" in str(caught[0].message)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(path.gaps > 1e-5, late)
    assert path.iterations.max() == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l1_ratio": 1.5}, "`l1_ratio` of GroupedNet must be between 0 and 1; got 1.5"),
        ({"tol": 0.0}, "`tol`"),
        ({"max_iter": 0}, "`max_iter`"),
        ({"penalties": [0.1, 0.5]}, "must be decreasing; got 0.1 before 0.5"),
        ({"penalties": [0.1, 0.0]}, "positive and finite"),
        ({"penalties": []}, "one row of numbers"),
        ({"problems": []}, "`problems` must hold at least one problem"),
        ({"start": [np.zeros(12)]}, "`start` must hold 3 paths or rows of coefficients; got 1"),
        ({"start": [np.zeros(12), np.zeros(12), np.zeros(3)]}, "12 finite coefficients"),
    ],
)
def test_wrong_arguments_are_named(parameters, message):
    arguments = {"problems": several(build("random")), "penalties": [0.5], **parameters}
    with pytest.raises(InvalidInputError, match=message):
        grouped_path(**arguments)


def test_one_path_is_no_start_for_several_targets():
    problems = several(build("random"))
    paths = grouped_path(problems, [0.5])
    with pytest.raises(InvalidInputError, match="3 paths or rows of coefficients; got a single Path"):
        grouped_path(problems, [0.4], start=paths[0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"n_penalties": 0}, "`n_penalties`"), ({"ratio": 1.0}, "`ratio`"), ({"l1_ratio": -0.1}, "`l1_ratio`")],
)
def test_wrong_grids_are_named(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        grouped_penalties(several(build("random")), **parameters)


@pytest.mark.parametrize("name", ["gram", "x_mean", "weight"])
def test_targets_must_share_their_terms(name):
    problems = several(build("random"))
    problems[2] = replace(problems[2], **{name: 2.0 * getattr(problems[2], name)})
    with pytest.raises(InvalidInputError, match=f"another `{name}` in problem 2 than in problem 0"):
        grouped_path(problems, [0.5])


def test_equal_statistics_need_not_be_the_same_arrays():
    problems = several(build("random"))
    copies = [replace(p, gram=p.gram.copy(), x_mean=p.x_mean.copy()) for p in problems]
    np.testing.assert_array_equal(joint(grouped_path(copies, [0.5])), joint(grouped_path(problems, [0.5])))
