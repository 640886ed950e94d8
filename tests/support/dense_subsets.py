"""What a subset of terms leaves of the scores of a model, by least squares on the rows."""

import numpy as np

from rulegrove.subset import LEAST_GAIN


def unexplained(dense, scores, terms, ridge):
    """Least of ``|scores - mean - X b|^2 / N + ridge |b|^2`` over b, added up over the columns of the scores."""
    stacked, wanted, coefs = _solve(dense, scores, terms, ridge)
    return float(np.sum((wanted - stacked @ coefs) ** 2))


def solve_last(dense, score, terms, ridge):
    """Return the coefficient of the last term in those least squares, for one column of scores."""
    return float(_solve(dense, score, terms, ridge)[2][-1, 0])


def _solve(dense, scores, terms, ridge):
    """Return the least-squares problem of a subset, the ridge as further rows, and its coefficients."""
    n_rows = len(dense)
    X = dense[:, list(terms)] - dense[:, list(terms)].mean(axis=0)
    targets = scores - scores.mean(axis=0)
    stacked = np.vstack([X / np.sqrt(n_rows), np.sqrt(ridge) * np.eye(X.shape[1])])
    wanted = np.vstack([targets / np.sqrt(n_rows), np.zeros((X.shape[1], targets.shape[1]))])
    return stacked, wanted, np.linalg.lstsq(stacked, wanted, rcond=None)[0]


def search_naively(dense, scores, lengths, ridge, signs, forced):
    """Subsets by one least-squares fit for each try: the best further term each time."""

    def gain(others, term):
        return sum(
            unexplained(dense, score, others, ridge) - unexplained(dense, score, [*others, term], ridge)
            for score in scores.T[:, :, None]
            if signs is None or signs[term] * solve_last(dense, score, [*others, term], ridge) >= 0.0
        )

    terms, found = sorted(forced), []
    most = max(gain([], term) for term in range(dense.shape[1]))
    for length in lengths:
        while len(terms) < length:
            outside = [term for term in range(dense.shape[1]) if term not in terms]
            best = max(outside, key=lambda term: gain(terms, term))
            if gain(terms, best) <= LEAST_GAIN * most:
                break
            terms = [*terms, best]
        found.append(sorted(terms))
    return found
