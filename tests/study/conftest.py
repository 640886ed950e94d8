"""A study so small that its tests are quick."""

from pathlib import Path

import pytest

from rulegrove.study.config import Config
from rulegrove.study.parts import PARTS
from rulegrove.study.parts.base import run_task
from rulegrove.study.report import write_report
from rulegrove.study.results import Line, Results


@pytest.fixture(scope="session")
def tiny() -> Config:
    """Return a configuration of seconds: few candidates, few trees, two points of every grid."""
    return Config(
        mode="quick",
        n_positive=100,
        n_negative=160,
        n_training=80,
        n_repetitions=2,
        n_cross_validations=1,
        n_bagged=5,
        n_boosted=4,
        n_default_candidates=10,
        n_rules=40,
        n_set_rules=20,
        n_steps=20,
        n_timings=1,
        leaves=(4, 8),
        rule_counts=(40, 600),
        thresholds=(0.0, 1.0),
        flipped=(0.0, 0.3),
    )


@pytest.fixture(scope="session")
def measured(tiny) -> Results:
    """Return the results of all parts but those of the ten sets, which take longest."""
    return Results(
        line
        for part in PARTS.values()
        if part.name not in ("ten-sets", "vehicle")
        for task in part.list_tasks(tiny)
        for line in run_task(part, task, tiny)
    )


@pytest.fixture(scope="session")
def drawn(measured, lines_of_sets, tiny, tmp_path_factory) -> Path:
    """Return the directory of a report with every part."""
    directory = tmp_path_factory.mktemp("study")
    write_report(Results([*measured, *lines_of_sets]), directory, tiny)
    return directory


@pytest.fixture(scope="session")
def lines_of_sets(tiny) -> Results:
    """Return made-up results of the parts on the ten sets: the k-th method has an error of k percent on every set."""
    lines = []
    for name in ("ten-sets", "vehicle"):
        tasks = PARTS[name].list_tasks(tiny)
        methods = list(dict.fromkeys(task.method for task in tasks))
        for task in tasks:
            lines += _made_up(task, float(1 + methods.index(task.method)))
    return Results(lines)


def _made_up(task, error):
    trees = task.method in ("bagging", "boosting") and task.part == "ten-sets"
    readings = [f"{task.method}, {r}" for r in ("voting", "averaged probabilities", "single trees")]
    found = [(method, "error", error + place) for place, method in enumerate(readings if trees else [task.method])]
    found.append((found[0][0], "fit seconds", 2.0))
    return [
        Line(task.part, task.key, task.data, method, task.value, 0, fold, metric, result, 0, 0.1, 2 * len(found), "{}",
             "quick", "simulation")
        for fold in (0, 1)
        for method, metric, result in found
    ]  # fmt: skip
