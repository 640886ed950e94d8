"""What a part of the study is: tasks, and how to measure one."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from threadpoolctl import threadpool_limits

from rulegrove._typing import AnyArray
from rulegrove.study.config import Config
from rulegrove.study.results import Line, describe_settings
from rulegrove.study.splits import Split, error_rates, split_candidates


@dataclass(frozen=True)
class Task:
    """A piece of work for one process, done as a whole or not at all."""

    part: str
    data: str  # data set, or the table of candidates
    repetition: int
    method: str = ""  # what is measured; empty for a task that measures several methods on the same rows
    value: str = ""  # place on the part's grid, if a task measures one place
    cost: float = 1.0  # guess of its seconds, for the order of tasks and the time left

    @property
    def key(self) -> str:
        """What the task is known by in the file of results."""
        names = (self.part, self.data, self.method, self.value, str(self.repetition))
        return "/".join(name for name in names if name)


@dataclass(frozen=True)
class Outcome:
    """One number of a task; what is None is as the task has it."""

    metric: str
    result: float
    method: str | None = None
    value: str | None = None
    fold: int = 0
    settings: dict[str, Any] = field(default_factory=dict)


Grid = Callable[[Config], Sequence[float]]
Measure = Callable[[Task, Config], Sequence[Outcome]]
MeasureRows = Callable[[Task, Config, Split], Sequence[Outcome]]


@dataclass(frozen=True)
class Part:
    """A theme of the study."""

    name: str  # as `--only` takes it
    list_tasks: Callable[[Config], Sequence[Task]]  # from the configuration to the tasks
    measure: Measure  # from a task and the configuration to its outcomes
    alone: bool = False  # whether its tasks must have the machine to themselves, as those that time something


def run_task(part: Part, task: Task, config: Config) -> list[Line]:
    """Measure a task on one thread and return the lines for the file of results."""
    start = time.perf_counter()
    with warnings.catch_warnings(), threadpool_limits(1):
        # Constant columns of a half, solvers at their limits: expected on thousands of fits, and told by the results.
        warnings.simplefilter("ignore")
        outcomes = part.measure(task, config)
    seconds = time.perf_counter() - start
    return [
        Line(
            part=task.part,
            task=task.key,
            data=task.data,
            method=task.method if outcome.method is None else outcome.method,
            value=task.value if outcome.value is None else outcome.value,
            repetition=task.repetition,
            fold=outcome.fold,
            metric=outcome.metric,
            result=outcome.result,
            seed=config.seed + task.repetition,
            seconds=round(seconds, 3),
            n_lines=len(outcomes),
            settings=describe_settings(outcome.settings),
            mode=config.mode,
            table=config.table,
        )
        for outcome in outcomes
    ]


def candidate_part(
    name: str, measure: MeasureRows, cost: float, grid: Grid = lambda config: (), methods: Sequence[str] = ("",)
) -> Part:
    """Return a part on the candidates: a task for each repetition, place on a grid and method, on that split's rows."""

    def list_tasks(config: Config) -> list[Task]:
        places = [f"{value:g}" for value in grid(config)] or [""]
        return [
            Task(name, config.table, repetition, method, place, cost)
            for repetition in range(config.n_repetitions)
            for place in places
            for method in methods
        ]

    return Part(name, list_tasks, on_candidates(measure))


def on_candidates(measure: MeasureRows) -> Measure:
    """Return what measures a task on the rows of its repetition's split of the candidates."""
    return lambda task, config: measure(task, config, split_candidates(config, task.repetition))


def rates(
    y: AnyArray, predicted: AnyArray, method: str | None = None, value: str | None = None, **settings: Any
) -> list[Outcome]:
    """Return the rates of errors as outcomes."""
    found = error_rates(y, predicted)
    return [Outcome(metric, result, method, value, settings=settings) for metric, result in found.items()]
