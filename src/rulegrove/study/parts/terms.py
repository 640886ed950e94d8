"""Rules, linear terms, both."""

from rulegrove.study.config import Config
from rulegrove.study.parts.base import Outcome, Part, Task, candidate_tasks
from rulegrove.study.parts.solver_sweeps import measure_pathbuild
from rulegrove.study.parts.trees import THRESHOLD

KINDS = ("rules", "linear", "both")


def _list_tasks(config: Config) -> list[Task]:
    return candidate_tasks("terms", config, methods=KINDS, cost=1.5)


def _measure(task: Task, config: Config) -> list[Outcome]:
    return measure_pathbuild(task, config, THRESHOLD, terms=task.method)


TERMS = Part("terms", _list_tasks, _measure)
