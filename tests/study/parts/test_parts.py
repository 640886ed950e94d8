"""What the parts measure, on a study of seconds.

One file for `attributes.py`, `beyond.py`, `sparsity.py`, `sweeps.py`, `ten_sets.py` and `timing.py`, which one run
measures together.
"""

import json

import numpy as np
import pytest

from rulegrove import datasets
from rulegrove.exceptions import InvalidInputError
from rulegrove.study.config import make_config
from rulegrove.study.paper import SETS
from rulegrove.study.parts import PARTS, choose_parts
from rulegrove.study.parts.base import run_task
from rulegrove.study.parts.ten_sets import BASELINES, RULE_METHODS
from rulegrove.study.results import Results


@pytest.mark.parametrize("quick", [False, True])
def test_tasks_have_names_of_their_own(quick):
    config = make_config(quick=quick)
    keys = [task.key for part in PARTS.values() for task in part.list_tasks(config)]
    assert len(set(keys)) == len(keys)
    for part in PARTS.values():
        assert {task.part for task in part.list_tasks(config)} == {part.name}


def test_an_unknown_part_lists_the_known_ones():
    with pytest.raises(InvalidInputError, match=r"no part 'treesize'.*ten-sets.*Did you mean 'tree-size'"):
        choose_parts(["treesize"])


def test_parts_come_in_the_order_of_the_study():
    assert [part.name for part in choose_parts(["timing", "sets"])] == ["sets", "timing"]
    assert len(choose_parts([])) == len(PARTS)


def test_every_part_has_lines(measured):
    assert set(measured.distinct("part")) == set(PARTS) - {"ten-sets", "vehicle"}
    assert all(np.isfinite(line.result) for line in measured)


@pytest.mark.parametrize("method", [*RULE_METHODS, *BASELINES])
def test_ten_sets_measure_both_folds(method, tiny):
    task = next(t for t in PARTS["ten-sets"].list_tasks(tiny) if (t.data, t.method) == ("iris", method))
    results = Results(run_task(PARTS["ten-sets"], task, tiny))
    errors = results.where(metric="error")
    assert {line.fold for line in errors} == {0, 1}
    assert all(0.0 <= line.result < 70.0 for line in errors)
    assert len(errors.distinct("method")) == (3 if method in BASELINES else 1)
    assert results.mean("fit seconds") > 0
    settings = json.loads(next(iter(errors)).settings)
    assert settings["n_trees" if method in BASELINES else "n_candidates"] > 0


def test_multi_class_trees_run_where_there_are_several_classes(tiny):
    sets = {task.data for task in PARTS["ten-sets"].list_tasks(tiny) if task.method == "shared"}
    assert sets == {name for name in datasets.names() if SETS[name][2] > 2}


def test_vehicle_tells_one_class_from_the_rest(tiny):
    tasks = PARTS["vehicle"].list_tasks(tiny)
    assert {task.value for task in tasks} == {"bus", "opel", "saab", "van"}
    for task in tasks[:3]:
        results = Results(run_task(PARTS["vehicle"], task, tiny))
        assert results.numbers("error").size == 2
        assert results.mean("error") < 30.0, "worse than never saying the class"


def test_the_sets_are_described(measured):
    glass = measured.where(part="sets", data="glass")
    assert [glass.mean(metric) for metric in ("attributes", "observations", "classes")] == [9, 214, 6]


def test_sweeps_have_every_point_with_more_terms_along_the_way(measured, tiny):
    for part, grid in (("penalty", tiny.penalties), ("radius", tiny.radii), ("fit-weight", tiny.fit_weights)):
        here = measured.where(part=part)
        assert here.grid() == pytest.approx(sorted(grid))
        ends = [here.at(value).mean("terms") for value in (grid[0], grid[-1])]
        assert ends[0] < ends[1], part


def test_the_fit_weight_by_size_of_trees_has_a_curve_a_size(measured, tiny):
    assert measured.where(part="fit-weight-tree-size").distinct("method") == [f"{size} leaves" for size in tiny.leaves]


def test_solvers_meet_at_the_same_error(measured):
    here = measured.where(part="sparsity")
    target = here.where(method="all").mean("target")
    for name in ("glmnet", "fpc", "spgl1"):
        assert here.where(method=name).mean("reached") == 1.0
        assert here.where(method=name).mean("balanced error") <= target + 1e-9
    assert here.where(method="fpc, spgl1").mean("shared top ten") <= 10
    assert len(here.where(metric="five largest")) == 5
    sizes = [abs(line.result) for line in here.where(metric="five largest")]
    assert sizes == sorted(sizes, reverse=True)


def test_votes_of_rules_and_attributes_are_counted(measured, tiny):
    here = measured.where(part="attributes")
    votes = here.where(metric="attribute votes", method="votes")
    assert len(votes) == 39
    assert {line.result for line in votes} <= set(range(6))
    assert [line.number for line in here.where(metric="rules with so many votes")] == list(range(1, 14))
    assert here.where(method="votes").mean("kept") <= 39
    assert here.where(method="all attributes", metric="error").grid() == pytest.approx(sorted(tiny.fit_weights))


def test_no_choice_beats_the_best_in_hindsight(measured):
    here = measured.where(part="selection")
    best = here.where(method="best on the test rows").numbers("balanced error")
    for method in ("1se", "min"):
        assert (here.where(method=method).numbers("balanced error") >= best - 1e-9).all()


def test_flipped_labels_cost(measured):
    here = measured.where(part="robustness")
    assert here.at(0.3).mean("error") > here.at(0.0).mean("error")


def test_what_is_timed_runs_alone(measured):
    assert [part.name for part in PARTS.values() if part.alone] == ["timing"]
    here = measured.where(part="timing")
    assert (here.numbers("path seconds") > 0).all()
    assert (here.numbers("predict seconds") > 0).all()
