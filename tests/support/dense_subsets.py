"""What a subset of terms leaves of the scores of a model, by least squares on the rows."""

import itertools

import numpy as np


def unexplained(dense, scores, terms, ridge):
    """Least of ``|scores - mean - X b|^2 / N + ridge |b|^2`` over b, added up over the columns of the scores."""
    n_rows = len(dense)
    X = dense[:, list(terms)] - dense[:, list(terms)].mean(axis=0)
    targets = scores - scores.mean(axis=0)
    stacked = np.vstack([X / np.sqrt(n_rows), np.sqrt(ridge) * np.eye(X.shape[1])])
    wanted = np.vstack([targets / np.sqrt(n_rows), np.zeros((X.shape[1], targets.shape[1]))])
    coefs = np.linalg.lstsq(stacked, wanted, rcond=None)[0]
    return float(np.sum((wanted - stacked @ coefs) ** 2))


def best_exchange(dense, scores, terms, ridge, fixed=()):
    """What is left unexplained after the best exchange of one term for another."""
    inside = [term for term in terms if term not in fixed]
    outside = [term for term in range(dense.shape[1]) if term not in terms]
    return min(
        unexplained(dense, scores, [*(term for term in terms if term != leaves), enters], ridge)
        for leaves, enters in itertools.product(inside, outside)
    )
