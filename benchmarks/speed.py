"""Speed beside others in one run, as a table: ``python -m benchmarks.speed [NAME ...]``."""

import sys
from collections.abc import Callable

from benchmarks import comparisons, solvers
from benchmarks.comparisons import Line

MEASUREMENTS: dict[str, Callable[[], list[Line]]] = {
    "imodels": comparisons.imodels_rulefit,
    "fit-20k": lambda: comparisons.hist_gradient_boosting(20_000, target=2, repeats=5),
    "fit-1m": lambda: comparisons.hist_gradient_boosting(1_000_000, target=5, repeats=2),
    "default": comparisons.default_fits,
    "classes": comparisons.shared_classes,
    "memory": comparisons.peak_memory,
    "gram": comparisons.gram,
    "glmnet": solvers.glmnet_lines,
    "spgl1": solvers.spgl1_lines,
    "fpc": solvers.fpc_lines,
    "pathbuild": solvers.pathbuild_lines,
    "predict": comparisons.predict,
    "first-fit": comparisons.first_fit,
}
HEADER = f"{'work':<96} {'ours':>9} {'theirs':>14} {'figure':>9} {'target':>9}  met"


def show(line: Line) -> str:
    """One line of the table."""
    sign = ">=" if line.at_least else "<="
    figure = f"{line.figure:.2f} {line.unit}" if line.figure < 10 else f"{line.figure:.1f} {line.unit}"
    met = "yes" if line.met else "NO"
    return f"{line.work:<96} {line.ours:>9} {line.theirs:>14} {figure:>9} {sign} {line.target:>4.3g} {line.unit}  {met}"


def main(names: list[str]) -> None:
    """Measure what is named, or everything."""
    unknown = sorted(set(names) - set(MEASUREMENTS))
    if unknown:
        sys.exit(f"Unknown measurement {unknown[0]!r}; there are {', '.join(MEASUREMENTS)}.")
    print(
        "39 numeric attributes; 600 candidate rules and 5-fold selection but for default fits; best of several runs "
        "after a warm-up."
    )
    print(HEADER)
    for name in names or MEASUREMENTS:
        for line in MEASUREMENTS[name]():
            print(show(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
