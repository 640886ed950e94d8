"""The comparison that the paper could not make: its four solvers in one language, at one level of optimisation.

``python -m benchmarks.solvers [certificates | gap | error | rules | NAME ...]`` prints its tables.
"""

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import spgl1
from sklearn.linear_model import enet_path
from threadpoolctl import threadpool_limits

from benchmarks.comparisons import Line, faster
from benchmarks.problems import RuleProblem, rule_problem
from benchmarks.timing import best_seconds, compare
from rulegrove import Fpc, Glmnet, Pathbuild, Spgl1
from rulegrove.columns import Feature
from rulegrove.datasets import make_supernova_candidates
from rulegrove.solvers import Path, Problem
from rulegrove.solvers.base import join_paths
from rulegrove.solvers.certificates import duality_gap

SIZES = ((5000, 1000), (20_000, 2000))
SHARES = np.geomspace(0.5, 0.01, 13)  # of the largest penalty: the useful range, in as many points as the paper takes


@dataclass(frozen=True)
class Dense:
    """The centred matrix that solvers without statistics work on."""

    X: np.ndarray
    y: np.ndarray

    @classmethod
    def of(cls, data: RuleProblem) -> "Dense":
        """Centre the columns, which stands for an intercept."""
        X = data.columns.astype(np.float64)
        return cls(np.asfortranarray(X - X.mean(axis=0)), data.y - data.y.mean())

    def lasso(self, radius: float, tol: float) -> np.ndarray:
        """Solve over an l1 ball by the package spgl1."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(spgl1.spg_lasso(self.X, self.y, radius, opt_tol=tol, verbosity=0, iter_lim=10_000)[0])


def _excess(data: RuleProblem, coef: np.ndarray, best: np.ndarray) -> float:
    """Residual sum of squares above that of the best known solution over the same ball, over that of no terms."""
    problem = data.problem

    def rss(a: np.ndarray) -> float:
        return float(a @ problem.gram @ a - 2 * problem.x_y @ a)

    return (rss(coef) - rss(best)) / problem.y_y


# --- lines with targets -----------------------------------------------------------------------------------------------


def glmnet_lines() -> list[Line]:
    """Follow a lasso path of 100 points beside scikit-learn's, both from the Gram, to the same gap."""
    lines = []
    for n_rows, n_rules in SIZES:
        data = rule_problem(n_rows, n_rules)
        problem, dense = data.problem, Dense.of(data)
        solver = Glmnet(penalty_ratio=1e-2, tol=1e-6)
        penalties = solver.grid(problem)
        gram, cross = dense.X.T @ dense.X, dense.X.T @ dense.y

        def theirs(dense: Dense = dense, penalties: Any = penalties, gram: Any = gram, cross: Any = cross) -> Any:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return enet_path(
                    dense.X,
                    dense.y,
                    l1_ratio=1.0,
                    alphas=penalties,
                    precompute=gram,
                    Xy=cross,
                    tol=1e-6,
                    max_iter=100_000,
                )[1]

        ours, other = compare(lambda solver=solver, problem=problem: solver.path(problem), theirs)
        work = f"Glmnet, 100 points, {n_rows:,} x {n_rules:,}, against enet_path(precompute=Gram)"
        lines.append(faster(work, ours, other, 5))
        null = 0.5 * problem.y_y
        gap = max(solver.path(problem).gaps)
        their_gap = max(duality_gap(problem, a, p) / null for a, p in zip(theirs().T, penalties, strict=True))
        lines.append(Line("  its largest duality gap", f"{gap:.1e}", f"{their_gap:.1e}", gap / their_gap, 1.0, False))
    return lines


def spgl1_lines() -> list[Line]:
    """Solve over one l1 ball beside the package spgl1, which works on X."""
    lines = []
    for (n_rows, n_rules), share in zip(SIZES, (0.015, 0.05), strict=True):
        data = rule_problem(n_rows, n_rules)
        radius = float(Glmnet(tol=1e-9).path(data.problem, [share * np.abs(data.problem.x_y).max()]).l1_norms[0])
        best = Spgl1(tol=1e-11).path(data.problem, [radius]).coefs[0]
        solver, dense = Spgl1(tol=1e-6), Dense.of(data)
        ours = best_seconds(lambda: solver.path(data.problem, [radius]))  # noqa: B023
        start = time.perf_counter()
        theirs = dense.lasso(radius, 1e-6)
        seconds = time.perf_counter() - start
        mine = solver.path(data.problem, [radius]).coefs[0]
        work = f"Spgl1, {n_rows:,} x {n_rules:,}, {np.count_nonzero(best)} terms, against the package on X"
        lines.append(faster(work, ours, seconds, 10))
        excess = _excess(data, mine, best), _excess(data, theirs, best)
        gram_seconds = best_seconds(lambda: data.problem.rows.bits.gram())  # noqa: B023
        lines.append(
            faster("  the same, with our Gram of the rules inside the clock", ours + gram_seconds, seconds, 10)
        )
        ours_off, theirs_off = (f"{off:.0e}" for off in excess)
        lines.append(
            Line("  excess of the rss over that of no terms", ours_off, theirs_off, excess[0], 1e-6, False, "")
        )
    return lines


def fpc_lines() -> list[Line]:
    """Follow the path of 13 points, after the Gram."""
    lines = []
    for n_rows, n_rules in SIZES:
        problem = rule_problem(n_rows, n_rules).problem
        penalties = SHARES * np.abs(problem.x_y).max()
        for tol in (1e-5, 1e-8):
            solver = Fpc(tol=tol)
            seconds = best_seconds(lambda: solver.path(problem, penalties))  # noqa: B023
            work = f"Fpc, 13 points, {n_rows:,} x {n_rules:,}, after the Gram, to a gap of {tol:.0e}"
            lines.append(Line(work, f"{seconds:.3f} s", "", seconds, 1.0, False, "s"))
    return lines


def naive_descent(X: np.ndarray, y: np.ndarray, threshold: float, step: float, n_steps: int) -> np.ndarray:
    """Pathbuild's ramp loss with the gradient computed from all rows at every step."""
    coef, intercept, c = np.zeros(X.shape[1]), y.mean(), 2 / len(y)
    for _ in range(n_steps):
        scores = intercept + X @ coef
        on_ramp = np.abs(scores) < 1
        grad = c * (X.T @ (on_ramp * (y - scores)))
        chosen = np.abs(grad) >= threshold * np.abs(grad).max() * (1 - 1e-10)
        coef[chosen] += step * grad[chosen]
    return coef


def pathbuild_lines(n_steps: int = 1000, n_naive: int = 40) -> list[Line]:
    """Take 1,000 steps of the ramp loss beside a naive loop, of which few steps are timed and scaled up."""
    lines = []
    data = rule_problem(20_000, 2000)
    X = data.columns.astype(np.float64)
    step = 0.5 / data.problem.raw_curvature
    for threshold in (1.0, 0.8, 0.6, 0.4, 0.2, 0.0):
        solver = Pathbuild(threshold=threshold, step=step, intercept="fixed")
        few = solver.path(data.problem, [n_naive]).coefs[0]
        off = float(np.abs(few - naive_descent(X, data.y, threshold, step, n_naive)).max())
        assert off <= 1e-10, f"the paths differ by {off}"
        ours = best_seconds(lambda: solver.path(data.problem, [n_steps]), repeats=2)  # noqa: B023
        for threads in (1, 2):
            with threadpool_limits(threads, "blas"):
                start = time.perf_counter()
                naive_descent(X, data.y, threshold, step, n_naive)
                theirs = (time.perf_counter() - start) * n_steps / n_naive
            work = f"Pathbuild, ramp, threshold {threshold}, 1,000 steps, against NumPy with BLAS on {threads} threads"
            lines.append(faster(work, ours, theirs, 10))
    return lines


# --- tables without targets -------------------------------------------------------------------------------------------


def certificates() -> None:
    """Print every solver on every kind of problem: gap or gradient, terms, seconds."""
    rng = np.random.default_rng(0)
    X, y, one = rng.normal(size=(400, 60)), rng.normal(size=400), np.ones(400)
    y = y + X[:, :5] @ np.array([2.0, -1.5, 1.0, 0.5, -0.5])
    wide = rng.normal(size=(100, 400))
    constant = X.copy()
    constant[:, 3], constant[:, 7] = 0.1, 0.0
    kinds = {
        "random": (X, y, one),
        "duplicated": (np.hstack([X, X, -X[:, :9]]), y, one),
        "constant and all-zero columns": (constant, y, one),
        "wide, K = 4 N": (wide, wide[:, 0] - wide[:, 5] + 0.3 * rng.normal(size=100), np.ones(100)),
        "single informative column": (X, 3 * X[:, 4] + 0.01 * rng.normal(size=400), one),
        "weights": (X, y, rng.uniform(0.0, 3.0, 400)),
    }
    problems = {}
    for kind, (columns, target, w) in kinds.items():
        moments = (w.sum(), w @ columns, (columns.T * w) @ columns, columns.T @ (w * target), w @ target, w @ target**2)
        problems[kind] = Problem.from_moments(*moments)
    for n_rows, n_rules in SIZES:
        problems[f"tree rules, {n_rows:,} x {n_rules:,}"] = rule_problem(n_rows, n_rules).problem
    print(
        "13 points from 0.5 to 0.01 of the largest penalty, tol 1e-6; gap: the largest, over the objective of no terms"
    )
    print(f"{'problem':<32} {'solver':<12} {'gap':>8} {'terms':>6} {'seconds':>8}  status")
    for kind, problem in problems.items():
        penalties = SHARES * np.abs(problem.x_y).max()
        radii = Glmnet(tol=1e-9).path(problem, penalties).l1_norms
        for name, solver, points in (
            ("Glmnet", Glmnet(tol=1e-6), penalties),
            ("Spgl1", Spgl1(tol=1e-6), radii),
            ("Fpc", Fpc(tol=1e-6), penalties),
            ("Fpc basic", Fpc(tol=1e-6, method="basic"), penalties),
            ("Pathbuild", Pathbuild(loss="squared", threshold=0.4), np.array([1000.0])),
        ):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                path = solver.path(problem, points)
            gap, end = f"{path.gaps.max():.1e}", sorted({str(status.value) for status in path.status})[0]
            if name == "Pathbuild":
                gap, end = "-", f"largest gradient {2 * path.penalties[-1]:.1e} after 1,000 steps, threshold 0.4"
            print(f"{kind:<32} {name:<12} {gap:>8} {path.n_terms[-1]:>6} {path.seconds:>8.3f}  {end}")


def to_the_same_gap() -> None:
    """Print the time of all convex solvers to several gaps on the rules of trees."""
    print("Seconds of 13 points, after the Gram")
    print(f"{'':<18} {'gap':>6} {'Glmnet':>9} {'Spgl1':>9} {'Fpc':>9} {'Fpc basic':>10}")
    for n_rows, n_rules in SIZES:
        problem = rule_problem(n_rows, n_rules).problem
        penalties = SHARES * np.abs(problem.x_y).max()
        radii = Glmnet(tol=1e-10).path(problem, penalties).l1_norms
        for tol in (1e-3, 1e-5, 1e-7):
            times = [
                best_seconds(lambda: solver.path(problem, points))  # noqa: B023
                for solver, points in ((Glmnet(tol=tol), penalties), (Spgl1(tol=tol), radii), (Fpc(tol=tol), penalties))
            ]
            basic = ""
            if tol > 1e-7:
                path = Fpc(tol=tol, method="basic").path(problem, penalties)
                basic = f"{path.seconds:.2f}"
            row = " ".join(f"{seconds:>9.4f}" for seconds in times)
            print(f"{f'{n_rows:,} x {n_rules:,}':<18} {tol:>6.0e} {row} {basic:>10}")


def _first_good(data: RuleProblem, path: Path, limit: float) -> int | None:
    """First point whose error on other rows is no more than a limit."""
    good = data.errors(path.coefs, path.intercepts) <= limit
    return int(np.argmax(good)) if good.any() else None


def to_the_same_error() -> None:
    """Print what each solver needs to come within 0.2 points of the least error of the lasso path on other rows."""
    for n_rows, n_rules in SIZES:
        data = rule_problem(n_rows, n_rules)
        problem = data.problem
        lasso = Glmnet(penalty_ratio=1e-2).path(problem)
        least = float(data.errors(lasso.coefs, lasso.intercepts).min())
        limit = least + 0.002
        print(f"\n{n_rows:,} x {n_rules:,}: to an error of {limit:.2%} on as many other rows (lasso: {least:.2%})")
        print(f"{'solver':<34} {'seconds':>8} {'error':>7} {'terms':>6} {'share':>6} {'l1 norm':>8}  point")
        solvers: list[tuple[str, Any, Any]] = [
            ("Glmnet", Glmnet(penalty_ratio=1e-2), None),
            ("Glmnet, logistic", Glmnet(penalty_ratio=1e-2, loss="logistic", tol=1e-4), None),
            ("Spgl1", Spgl1(), lasso.l1_norms),
            ("Fpc", Fpc(penalty_ratio=1e-2), None),
        ]
        solvers += [
            (
                f"Pathbuild, {loss}, threshold {threshold}",
                Pathbuild(loss=loss, threshold=threshold, n_steps=10_000),
                None,
            )
            for loss in ("squared", "ramp", "squared_hinge")
            for threshold in ((1.0, 0.7, 0.4, 0.1) if loss == "ramp" else (0.4,))
        ]
        for name, solver, points in solvers:
            points = solver.grid(problem) if points is None else points
            path = _walk_until(data, solver, points, limit)
            errors = data.errors(path.coefs, path.intercepts)
            place = _first_good(data, path, limit)
            if place is None:
                print(f"{name:<34} {path.seconds:>8.3f} {errors.min():>7.2%}  (not reached)")
                continue
            work: Callable[[], Path] = lambda: solver.path(problem, points[: place + 1])  # noqa: B023, E731
            seconds = best_seconds(work) if path.seconds < 5 else work().seconds
            share, point = path.n_terms[place] / n_rules, f"{path.parameter.name} {path.parameter.values[place]:.4g}"
            sizes = f"{path.n_terms[place]:>6} {share:>6.1%} {path.l1_norms[place]:>8.2f}"
            print(f"{name:<34} {seconds:>8.3f} {errors[place]:>7.2%} {sizes}  {point}")


def _walk_until(data: RuleProblem, solver: Any, points: np.ndarray, limit: float) -> Path:
    """Follow the path in pieces until the error on other rows is low enough."""
    parts: list[Path] = []
    for first in range(0, len(points), 5):
        parts.append(solver.path(data.problem, points[first : first + 5], parts[-1] if parts else None))
        if (data.errors(parts[-1].coefs, parts[-1].intercepts) <= limit).any():
            break
    return join_paths(parts)


def which_rules_differ(n_rows: int = 5000, n_rules: int = 1000, n_top: int = 20) -> None:
    """Print how the four solvers weight the same rules at equal error."""
    data = rule_problem(n_rows, n_rules)
    problem = data.problem
    features = [Feature(name) for name in make_supernova_candidates(2, 2).feature_names]
    lasso = Glmnet(penalty_ratio=1e-2).path(problem)
    errors = data.errors(lasso.coefs, lasso.intercepts)
    place = int(np.argmax(errors <= errors.min() + 0.002))
    limit = float(errors[place])
    paths: dict[str, tuple[np.ndarray, float, str]] = {
        "Glmnet": (lasso.coefs[place], limit, f"penalty {lasso.penalties[place]:.3g}")
    }
    ball = Spgl1().path(problem, [lasso.l1_norms[place]])
    fixed = Fpc().path(problem, [lasso.penalties[place]])
    for name, path in (("Spgl1", ball), ("Fpc", fixed)):
        error = float(data.errors(path.coefs, path.intercepts)[0])
        paths[name] = path.coefs[0], error, f"{path.parameter.name} {path.parameter.values[0]:.3g}"
    for threshold in (0.4, 1.0):
        solver = Pathbuild(threshold=threshold, n_steps=20_000)
        path = _walk_until(data, solver, solver.grid(problem), limit)
        found = _first_good(data, path, limit)
        point = len(path.coefs) - 1 if found is None else found
        error = float(data.errors(path.coefs, path.intercepts)[point])
        label = f"threshold {threshold}, {path.parameter.values[point]:.0f} steps"
        paths[f"Pathbuild {threshold}"] = path.coefs[point], error, label
    spread = np.sqrt(np.diag(problem.gram))
    tops = {name: np.argsort(-np.abs(coef) * spread)[:n_top] for name, (coef, *_) in paths.items()}
    print(f"{n_rows:,} supernova candidates, {n_rules:,} distinct rules, error on as many other candidates")
    print(f"Last column: of the {n_top} most important rules, those shared with {', '.join(paths)}")
    print(f"{'solver':<14} {'error':>7} {'terms':>6} {'share':>6} {'l1':>6} {'for 90 %':>8}")
    for name, (coef, error, label) in paths.items():
        weight = np.sort(np.abs(coef) * spread)[::-1]
        most = int(np.searchsorted(np.cumsum(weight), 0.9 * weight.sum())) + 1
        shared = [len(set(tops[name]) & set(other)) for other in tops.values()]
        print(
            f"{name:<14} {error:>7.2%} {np.count_nonzero(coef):>6} {np.count_nonzero(coef) / n_rules:>6.1%} "
            f"{np.abs(coef).sum():>6.2f} {most:>8}  {shared}  {label}"
        )
    print("\nRules of the top ten of Glmnet and of Pathbuild 0.4 (importance over the largest of the solver):")
    union = list(dict.fromkeys([*tops["Glmnet"][:10], *tops["Pathbuild 0.4"][:10]]))
    print(f"{'':<74}" + "".join(f"{name:>15}" for name in paths))
    for term in union:
        cells = []
        for coef, *_ in paths.values():
            importance = coef * spread
            cells.append(f"{importance[term] / np.abs(importance).max():>+15.2f}")
        print(f"{data.rules[term].text(features, 3)[:73]:<74}{''.join(cells)}")
    correlations = np.abs(problem.gram / np.outer(spread, spread))
    np.fill_diagonal(correlations, 0.0)
    print("\nMean over the terms of a solver's model of the largest correlation with another of its terms:")
    for name, (coef, *_) in paths.items():
        used = np.flatnonzero(coef)
        print(f"  {name:<14} {correlations[np.ix_(used, used)].max(axis=1).mean():.3f}")


TABLES: dict[str, Callable[[], None]] = {
    "certificates": certificates,
    "gap": to_the_same_gap,
    "error": to_the_same_error,
    "rules": which_rules_differ,
}


def main(names: list[str]) -> None:
    """Print the tables that are named, or all."""
    unknown = sorted(set(names) - set(TABLES))
    if unknown:
        sys.exit(f"Unknown table {unknown[0]!r}; there are {', '.join(TABLES)}.")
    for name in names or TABLES:
        TABLES[name]()
        print(flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
