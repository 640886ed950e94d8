"""The rule ensembles that are compared, and what a whole path of one does on test rows."""

from typing import Any

import numpy as np

from rulegrove import Fpc, Glmnet, Pathbuild, RuleEnsembleClassifier, Spgl1
from rulegrove._typing import AnyArray, FloatArray
from rulegrove.design.terms import Linear
from rulegrove.study.config import Config
from rulegrove.study.splits import error_rates

MEAN_LEAVES = 20.0  # of section 6's comparison of solvers
MEAN_LEAVES_OF_SETS = 10.0  # the paper is silent on the ten sets
SHRINKAGE = 0.01  # of every tree, as in Friedman and Popescu
THRESHOLD = 0.4  # at which the paper's last figure compares Pathbuild with the others
SOLVERS = ("pathbuild", "fpc", "spgl1", "glmnet")


def paper_ensemble(config: Config, repetition: int, **settings: Any) -> RuleEnsembleClassifier:
    """Return a rule ensemble as the paper has it: rules alone, all attributes at a split, no look-alikes dropped.

    A repetition has its seed. Settings are the solver, and what is not the study's 600 rules from trees of 20 leaves.
    """
    fixed: dict[str, Any] = {
        "n_candidates": config.n_rules,
        "max_terms": None,  # the paper is about all rules that a penalty keeps, not about a short list of them
        "mean_leaves": MEAN_LEAVES,
        "shrinkage": SHRINKAGE,
        "terms": "rules",
        "max_features": None,
        "max_correlation": 1.0,
        "multiclass": "ovr",
        "honest_cv": False,
        "calibration": None,
        "random_state": config.seed + repetition,
        "n_jobs": 1,
    }
    return RuleEnsembleClassifier(**(fixed | settings))


def default_ensemble(config: Config, repetition: int) -> RuleEnsembleClassifier:
    """Return our default settings, but the large model, as the paper's are; a quick study grows fewer rules."""
    seed = config.seed + repetition
    return RuleEnsembleClassifier(n_candidates=config.n_default_candidates, max_terms=None, random_state=seed, n_jobs=1)


def chosen_on_folds(name: str, config: Config) -> Any:
    """Return a solver by name, for an estimator that chooses the point of its path on folds."""
    if name == "pathbuild":
        return Pathbuild(threshold=THRESHOLD, n_steps=config.n_steps)
    return {"fpc": Fpc, "spgl1": Spgl1, "glmnet": Glmnet}[name]()


def set_ensemble(solver: str, config: Config, repetition: int, multiclass: str = "ovr") -> RuleEnsembleClassifier:
    """Return the paper's kind of ensemble for one of the ten sets, the point of its path chosen on folds by 1se.

    Each class has trees of its own, as in the paper, or "shared" multi-class trees.
    """
    return paper_ensemble(
        config,
        repetition,
        solver=chosen_on_folds(solver, config),
        n_candidates=config.n_set_rules,
        mean_leaves=MEAN_LEAVES_OF_SETS,
        selection="1se",
        multiclass=multiclass,
    )


def sweep(name: str, config: Config, n_rows: int) -> dict[str, Any]:
    """Return solver and selection of a fit whose path stops at every point of the study's grid.

    By the number of training rows a fit weight is a penalty.
    """
    if name == "glmnet":
        return {"solver": Glmnet(penalties=config.penalties), "selection": config.penalties[-1]}
    if name == "spgl1":
        return {"solver": Spgl1(l1_radius=config.radii), "selection": config.radii[-1]}
    if name == "fpc":
        return {"solver": Fpc(fit_weight=config.fit_weights), "selection": 1.0 / (n_rows * config.fit_weights[-1])}
    return {"solver": Pathbuild(threshold=THRESHOLD, n_steps=config.n_steps), "selection": float(config.n_steps)}


def path_scores(model: RuleEnsembleClassifier, X: FloatArray) -> FloatArray:
    """Return the score of each row at each point of a fitted binary model's path, shape (n_samples, n_points)."""
    terms, path = model.candidates_[0], model.path_[0]
    used = np.flatnonzero(path.coefs.any(axis=0))
    block = np.ascontiguousarray(X.T)
    values = np.empty((len(X), used.size))
    for place, column in enumerate(used):
        term = terms[int(column)]
        values[:, place] = term.values(block[term.feature]) if isinstance(term, Linear) else term.holds(block)
    design = (values - terms.centers[used]) * terms.scales[used]
    return np.asarray(design @ path.coefs[:, used].T + path.intercepts)


def path_predictions(model: RuleEnsembleClassifier, X: FloatArray) -> AnyArray:
    """Return the class of each row at each point of a fitted binary model's path, shape (n_samples, n_points)."""
    return np.asarray(model.classes_[(path_scores(model, X) > 0).astype(int)])


def balanced_errors(y: AnyArray, predicted: AnyArray) -> FloatArray:
    """Return the balanced error in percent at each point of a path, shape (n_points,); `predicted` has its columns."""
    return np.array([error_rates(y, answers)["balanced error"] for answers in predicted.T])
