"""Bagging and boosting of trees, and the readings of many trees' answers that the paper compares."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from rulegrove._typing import AnyArray, FloatArray, IntArray

MAX_FEATURES = "sqrt"  # attributes tried at a split: the paper's "random forests for growing trees"


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """Fully grown trees that answer with the code of a class, and the weight of each one's vote."""

    classes: AnyArray  # (n_classes,)
    trees: Sequence[DecisionTreeClassifier]
    weights: FloatArray  # (n_trees,)

    def _shares(self, X: FloatArray) -> Iterator[tuple[float, FloatArray]]:
        """Give the weight of each tree, and the share of each class in the leaf of each row."""
        single = _single_precision(X)
        for tree, weight in zip(self.trees, self.weights, strict=True):
            yield weight, _answers(tree, single)

    def predict(self, X: FloatArray) -> AnyArray:
        """Return the class with the most (weighted) votes."""
        votes, rows = np.zeros((len(X), len(self.classes))), np.arange(len(X))
        for weight, shares in self._shares(X):
            votes[rows, shares.argmax(axis=1)] += weight
        return np.asarray(self.classes[votes.argmax(axis=1)])

    def errors(self, X: FloatArray, y: AnyArray) -> dict[str, float]:
        """Return the error in percent of each reading of the trees' answers, in one pass over them.

        ``voting``: the class with the most votes, weighted in boosting. ``averaged probabilities``: the class of the
        largest mean probability. ``single trees``: the mean of the single trees' errors, which is what the paper's
        column "Average" holds, as its size shows.
        """
        codes, rows = np.searchsorted(self.classes, y), np.arange(len(X))
        votes, mean = np.zeros((2, len(X), len(self.classes)))
        wrong = []
        for weight, shares in self._shares(X):
            answer = shares.argmax(axis=1)
            votes[rows, answer] += weight
            mean += shares
            wrong.append(np.mean(answer != codes))
        return {
            "voting": 100.0 * float(np.mean(votes.argmax(axis=1) != codes)),
            "averaged probabilities": 100.0 * float(np.mean(mean.argmax(axis=1) != codes)),
            "single trees": 100.0 * float(np.mean(wrong)),
        }


def bag(X: FloatArray, y: AnyArray, n_trees: int, seed: int) -> TreeEnsemble:
    """Grow trees on bootstrap samples, with random attributes at each split."""
    forest = RandomForestClassifier(n_trees, max_features=MAX_FEATURES, random_state=seed, n_jobs=1).fit(X, y)
    return TreeEnsemble(forest.classes_, forest.estimators_, np.ones(n_trees))


def boost(X: FloatArray, y: AnyArray, n_trees: int, seed: int) -> TreeEnsemble:
    """Grow trees one after the other, each on a sample drawn by weights that misclassified rows gain.

    Multi-class AdaBoost [1]_ by resampling [2]_. A fully grown tree makes no error on the rows it was grown on, so with
    weights alone boosting would end after one tree; drawn rows leave about a third of the table out of each tree, which
    is where its errors show.

    References
    ----------
    .. [1] Zhu, Zou, Rosset, Hastie (2009). "Multi-class AdaBoost". Statistics and Its Interface 2(3), algorithm 2.
    .. [2] Freund, Schapire (1996). "Experiments with a new boosting algorithm". ICML, section 3.
    """
    classes, codes = np.unique(y, return_inverse=True)
    rng = np.random.default_rng(seed)
    chance, least = 1.0 - 1.0 / len(classes), 0.5 / len(y)
    shares = np.full(len(y), 1.0 / len(y))
    trees, weights = [], []
    single = _single_precision(X)
    for _ in range(n_trees):
        tree = _grow_on_drawn(single, codes, shares, rng)
        wrong = _answers(tree, single).argmax(axis=1) != codes
        error = max(float(shares @ wrong), least)  # a tree without errors must not have all the say
        if error >= chance:  # no better than guessing: begin again with equal weights
            shares, weight = np.full(len(y), 1.0 / len(y)), 0.0
        else:
            weight = float(np.log((1.0 - error) / error) + np.log(len(classes) - 1.0))
            shares = shares * np.exp(weight * wrong)
            shares /= shares.sum()
        trees.append(tree)
        weights.append(weight)
    return TreeEnsemble(classes, trees, np.array(weights))


def _grow_on_drawn(
    X: AnyArray, codes: IntArray, shares: FloatArray, rng: np.random.Generator
) -> DecisionTreeClassifier:
    """Grow one tree on rows drawn with replacement; how often a row was drawn is its weight."""
    counts = rng.multinomial(len(codes), shares / shares.sum())
    seed = int(rng.integers(2**31))
    return DecisionTreeClassifier(max_features=MAX_FEATURES, random_state=seed).fit(X, codes, counts)


def _single_precision(X: FloatArray) -> AnyArray:
    """Return the rows as trees read them, converted once for all trees."""
    return np.ascontiguousarray(X, dtype=np.float32)


def _answers(tree: DecisionTreeClassifier, X: AnyArray) -> FloatArray:
    """Return the share of each class in the leaf of each row."""
    return np.asarray(tree.predict_proba(X, check_input=False))
