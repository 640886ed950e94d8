"""Error against the size of the trees, the rows a tree sees, and the number of rules."""

from rulegrove.study.config import Config
from rulegrove.study.parts.base import Outcome, Part, Task, candidate_tasks
from rulegrove.study.parts.solver_sweeps import measure_pathbuild

THRESHOLD = 0.5  # of the paper's figure
N_RULES = 500
MEAN_LEAVES = 50.0  # while the number of rules varies
SUBSAMPLES = {"half of the rows a tree": 0.5, "a tenth of the rows a tree": 0.1}  # 2,500 and 500 of 5,000


def _list_tree_sizes(config: Config) -> list[Task]:
    return candidate_tasks("tree-size", config, config.leaves, tuple(SUBSAMPLES), cost=0.8)


def _measure_tree_size(task: Task, config: Config) -> list[Outcome]:
    settings = {"n_candidates": N_RULES, "mean_leaves": float(task.value), "subsample": SUBSAMPLES[task.method]}
    return measure_pathbuild(task, config, THRESHOLD, **settings)


def _list_rule_counts(config: Config) -> list[Task]:
    return candidate_tasks("rule-count", config, config.rule_counts, cost=0.8)


def _measure_rule_count(task: Task, config: Config) -> list[Outcome]:
    return measure_pathbuild(task, config, THRESHOLD, n_candidates=int(task.value), mean_leaves=MEAN_LEAVES)


TREE_SIZE = Part("tree-size", _list_tree_sizes, _measure_tree_size)
RULE_COUNT = Part("rule-count", _list_rule_counts, _measure_rule_count)
