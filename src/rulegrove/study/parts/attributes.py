"""Attributes chosen by the votes of important rules, and the error with them alone."""

from collections import Counter
from typing import Any

import numpy as np

from rulegrove import Fpc, RuleAttributeSelector, datasets
from rulegrove._typing import BoolArray
from rulegrove.study.config import Config
from rulegrove.study.ensembles import MEAN_LEAVES
from rulegrove.study.parts.base import Outcome, Task, candidate_part
from rulegrove.study.parts.sweeps import fit_sweep, path_outcomes
from rulegrove.study.splits import Split, candidates

CRITERIA = ("votes", "loss")
ALL = "all attributes"


def _measure(task: Task, config: Config, rows: Split) -> list[Outcome]:
    outcomes = _sweep(rows, np.ones(rows.X.shape[1], dtype=bool), ALL, config, task.repetition)
    for criterion in CRITERIA:
        selector = _select(criterion, rows, config, config.seed + task.repetition)
        mask = selector.get_support()
        outcomes += _sweep(rows, mask, criterion, config, task.repetition)
        outcomes += _count_kept(selector, criterion, config)
        if task.repetition == 0:
            outcomes += _tell_votes(selector, criterion, config)
    return outcomes


def _select(criterion: str, rows: Split, config: Config, seed: int) -> RuleAttributeSelector:
    """Choose attributes from the training rows, with the paper's five repetitions, thirteen weights and top twenty."""
    solver: Any = "glmnet"  # of which the loss makes no use
    if criterion == "votes":
        # On half of the rows twice the weight is the same penalty. The selector skips a path's first point.
        solver = Fpc(fit_weight=[config.fit_weights[0], *(2.0 * weight for weight in config.fit_weights)])
    selector = RuleAttributeSelector(
        criterion=criterion,
        n_candidates=config.n_rules,
        mean_leaves=MEAN_LEAVES,
        penalties=len(config.fit_weights),
        solver=solver,
        random_state=seed,
        n_jobs=1,
    )
    return selector.fit(rows.X, rows.y)


def _sweep(rows: Split, mask: BoolArray, method: str, config: Config, repetition: int) -> list[Outcome]:
    """Error of Fpc over the fit weights with some of the attributes."""
    reduced = rows._replace(X=rows.X[:, mask], X_test=rows.X_test[:, mask])
    return path_outcomes(fit_sweep("fpc", reduced, config, repetition), reduced, method)


def _count_kept(selector: RuleAttributeSelector, criterion: str, config: Config) -> list[Outcome]:
    """How many attributes were kept, and in the simulation how many of those that know nothing."""
    kept = np.array(candidates(config).feature_names)[selector.get_support()]
    outcomes = [
        Outcome("kept", kept.size, criterion, ""),
        Outcome("attributes", selector.n_features_in_, criterion, ""),
    ]
    if config.autoscan is None:
        blank = int(np.isin(kept, datasets.SUPERNOVA_UNINFORMATIVE).sum())
        outcomes.append(Outcome("uninformative kept", blank, criterion, ""))
    return outcomes


def _tell_votes(selector: RuleAttributeSelector, criterion: str, config: Config) -> list[Outcome]:
    """Votes of every attribute, and for the paper's criterion how many rules got how many votes."""
    names = candidates(config).feature_names
    outcomes = [
        Outcome("attribute votes", votes, criterion, name)
        for name, votes in zip(names, np.asarray(selector.votes_).tolist(), strict=True)
    ]
    if criterion == "votes":
        counts = Counter(voted.votes for voted in selector.rule_votes_)
        outcomes += [
            Outcome("rules with so many votes", counts[votes], criterion, str(votes))
            for votes in range(1, selector.penalties + 1)
        ]
    return outcomes


ATTRIBUTES = candidate_part("attributes", _measure, 8.0)
