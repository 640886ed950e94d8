"""A task of any part becomes lines of results."""

import json
import time
import warnings

from rulegrove.study.parts.base import Outcome, Part, Task, run_task


def test_a_task_becomes_lines_that_tell_where_they_come_from(tiny):
    def measure(task, config):
        time.sleep(0.01)
        warnings.warn("a column is constant", UserWarning, stacklevel=1)
        return [
            Outcome("error", 1.0, settings={"solver": object}),
            Outcome("terms", 3.0, method="other", value="7", fold=1),
        ]

    task = Task("p", "d", 1, "m", "5")
    first, second = run_task(Part("p", lambda config: [task], measure), task, tiny)
    assert (first.part, first.data, first.method, first.value, first.fold) == ("p", "d", "m", "5", 0)
    assert (second.method, second.value, second.fold, second.result) == ("other", "7", 1, 3.0)
    assert {first.n_lines, second.n_lines} == {2}
    assert first.task == second.task == "p/d/m/5/1"
    assert first.seed == tiny.seed + 1
    assert (first.mode, first.table) == ("quick", "simulation")
    assert "solver" in json.loads(first.settings)
    assert 0.01 <= first.seconds == second.seconds
