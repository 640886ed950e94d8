"""Closed forms beside brute force: partial dependence against scikit-learn's, and H of all pairs of attributes.

``python -m benchmarks.inspection`` prints its table; every first, compiling call is outside the clock.
"""

import sklearn.inspection
from threadpoolctl import threadpool_limits

from benchmarks.timing import best_seconds, compare
from rulegrove import RuleEnsembleClassifier
from rulegrove.datasets import make_supernova_candidates
from rulegrove.inspection import importances, interactions, partial_dependence

N_ATTRIBUTES = 5  # the most important ones, timed one by one
N_POINTS = 100
PAIR_POINTS = 10  # of each of two attributes: scikit-learn scores all rows 100 times


def _compare_dependence(model: RuleEnsembleClassifier, X: object, features: list[int], n_points: int) -> None:
    """Print the time of both on scikit-learn's grid, and by how much their numbers differ."""

    def theirs() -> dict[str, object]:
        return sklearn.inspection.partial_dependence(
            model, X, features, method="brute", response_method="decision_function", grid_resolution=n_points
        )

    expected = theirs()
    grids = expected["grid_values"]

    def ours() -> object:
        grid = grids[0] if len(features) == 1 else grids
        return partial_dependence(model, X, features, grid=grid)

    seconds, their_seconds = compare(ours, theirs)
    apart = abs(ours().values - expected["average"][0]).max()
    names = " x ".join(f"x{place}" for place in features)
    sizes = " x ".join(str(len(grid)) for grid in grids)
    print(
        f"{names:<12} {sizes:>8} points {1e3 * seconds:>9.2f} ms {1e3 * their_seconds:>9.1f} ms "
        f"{their_seconds / seconds:>7.0f} x  apart {apart:.1e}"
    )


def main() -> None:
    """Fit 5,000 supernova candidates with 39 attributes and time what can be asked of the model."""
    data = make_supernova_candidates(2500, 2500, random_state=0)
    for n_jobs in (1, 2):
        model = RuleEnsembleClassifier(random_state=0, n_jobs=n_jobs).fit(data.X, data.y)
        n_rules = sum(row.kind == "rule" for row in model.rules_)
        print(f"{data.X.shape[0]:,} rows, {data.X.shape[1]} attributes, {n_rules} rules, n_jobs={n_jobs}")
        print(f"{'dependence':<28} {'rulegrove':>12} {'scikit-learn':>12}")
        top = (-model.feature_importances_).argsort()[:N_ATTRIBUTES].tolist()
        for place in top:
            _compare_dependence(model, data.X, [place], N_POINTS)
        _compare_dependence(model, data.X, top[:2], PAIR_POINTS)
        seconds = best_seconds(lambda: interactions(model, data.X))  # noqa: B023
        print(f"H of all attributes and all pairs: {seconds:.3f} s")
        print(f"importances: {1e3 * best_seconds(lambda: importances(model, data.X)):.2f} ms")  # noqa: B023
        print(f"explain: {1e3 * best_seconds(lambda: model.explain(data.X)):.1f} ms\n")  # noqa: B023


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
