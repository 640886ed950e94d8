"""Error against what one varies: the trees, the rules, the kind of terms, and what each solver has to set."""

from collections.abc import Callable, Sequence
from typing import Any

from rulegrove import Pathbuild, RuleEnsembleClassifier
from rulegrove.estimators._base import fit_chosen
from rulegrove.study.config import Config
from rulegrove.study.ensembles import paper_ensemble, path_predictions, sweep
from rulegrove.study.parts.base import Grid, Outcome, Part, Task, candidate_part, on_candidates, rates
from rulegrove.study.splits import Split

THRESHOLD = 0.5  # of the paper's figures on trees and terms
N_RULES = 500  # while the size of the trees varies
MEAN_LEAVES = 50.0  # while the number of rules varies
SUBSAMPLES = {"half of the rows a tree": 0.5, "a tenth of the rows a tree": 0.1}  # 2,500 and 500 of 5,000


def fitted_outcomes(model: RuleEnsembleClassifier, rows: Split) -> list[Outcome]:
    """Return error rates of a fitted binary ensemble on the test rows, its terms and its candidates."""
    return [
        *rates(rows.y_test, model.predict(rows.X_test), **model.get_params()),
        Outcome("terms", len(model.rules_)),
        Outcome("candidates", len(model.candidates_[0])),
    ]


def _vary_pathbuild(
    name: str,
    cost: float,
    settings: Callable[[Task], dict[str, Any]],
    grid: Grid = lambda config: (),
    methods: Sequence[str] = ("",),
) -> Part:
    """Return a part of Pathbuild after all of the study's steps; a task's threshold and other settings are given."""

    def measure(task: Task, config: Config, rows: Split) -> list[Outcome]:
        chosen = {"threshold": THRESHOLD, **settings(task)}
        solver = Pathbuild(threshold=chosen.pop("threshold"), n_steps=config.n_steps)
        model = paper_ensemble(config, task.repetition, solver=solver, selection=float(config.n_steps), **chosen)
        return fitted_outcomes(fit_chosen(model, rows.X, rows.y), rows)

    return candidate_part(name, measure, cost, grid, methods)


def fit_sweep(solver: str, rows: Split, config: Config, repetition: int, **settings: Any) -> RuleEnsembleClassifier:
    """Fit an ensemble whose path stops at every point of the study's grid.

    A repetition's rules are the same for every solver: they are grown before any of them comes in, from the same seed.
    """
    fixed = sweep(solver, config, len(rows.y))
    return fit_chosen(paper_ensemble(config, repetition, **(fixed | settings)), rows.X, rows.y)


def path_outcomes(model: RuleEnsembleClassifier, rows: Split, method: str | None = None) -> list[Outcome]:
    """Return error rates and terms at every point of a fitted path."""
    predicted = path_predictions(model, rows.X_test)
    path, settings = model.path_, model.get_params()
    outcomes: list[Outcome] = []
    for point, value in enumerate(path.parameter.values):
        place = f"{value:.6g}"
        outcomes += rates(rows.y_test, predicted[:, point], method, place, **(settings if point == 0 else {}))
        outcomes.append(Outcome("terms", int(path.n_terms[point]), method, place))
        outcomes.append(Outcome("candidates", len(model.candidates_[0]), method, place))
    return outcomes


def _measure_path(task: Task, config: Config, rows: Split) -> list[Outcome]:
    return path_outcomes(fit_sweep(task.method, rows, config, task.repetition), rows)


def _list_tree_sizes(config: Config) -> list[Task]:
    sizes = [f"{size} leaves" for size in config.leaves]
    return [
        Task("fit-weight-tree-size", config.table, repetition, size, cost=0.6)
        for repetition in range(config.n_repetitions)
        for size in sizes
    ]


def _measure_tree_size(task: Task, config: Config, rows: Split) -> list[Outcome]:
    leaves = float(task.method.removesuffix(" leaves"))
    return path_outcomes(fit_sweep("fpc", rows, config, task.repetition, mean_leaves=leaves), rows)


SWEEPS = (
    _vary_pathbuild(
        "tree-size",
        0.8,
        lambda task: {
            "n_candidates": N_RULES,
            "mean_leaves": float(task.value),
            "subsample": SUBSAMPLES[task.method],
        },
        lambda config: config.leaves,
        tuple(SUBSAMPLES),
    ),
    _vary_pathbuild(
        "rule-count",
        0.8,
        lambda task: {"n_candidates": int(task.value), "mean_leaves": MEAN_LEAVES},
        lambda config: config.rule_counts,
    ),
    _vary_pathbuild("terms", 1.5, lambda task: {"terms": task.method}, methods=("rules", "linear", "both")),
    _vary_pathbuild(
        "threshold",
        1.5,
        lambda task: {"threshold": float(task.value)},
        lambda config: config.thresholds,
        ("pathbuild",),
    ),
    candidate_part("penalty", _measure_path, 0.6, methods=("glmnet",)),
    candidate_part("radius", _measure_path, 0.6, methods=("spgl1",)),
    candidate_part("fit-weight", _measure_path, 0.6, methods=("fpc",)),
    Part("fit-weight-tree-size", _list_tree_sizes, on_candidates(_measure_tree_size)),
)
