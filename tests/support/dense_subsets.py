"""What a subset of terms leaves of the scores of a model, by least squares on the rows."""

import numpy as np

from rulegrove.subset import LEAST_GAIN


def unexplained(dense, scores, terms, ridges, weights=None):
    """Least of the mean of ``|scores - mean - X b|^2`` plus ``ridges b^2`` over b, added up over columns of scores."""
    stacked, wanted, coefs = _solve(dense, scores, terms, ridges, weights)
    return float(np.sum((wanted - stacked @ coefs) ** 2))


def solve_last(dense, score, terms, ridges, weights=None):
    """Return the coefficient of the last term in those least squares, for one column of scores."""
    return float(_solve(dense, score, terms, ridges, weights)[2][-1, 0])


def _solve(dense, scores, terms, ridges, weights):
    """Return the least-squares problem of a subset, the ridge as further rows, and its coefficients."""
    shares = np.full(len(dense), 1.0 / len(dense)) if weights is None else weights / weights.sum()
    own = dense[:, list(terms)]
    X, targets = (np.sqrt(shares)[:, None] * (values - shares @ values) for values in (own, scores))
    held = np.sqrt(np.broadcast_to(ridges, dense.shape[1])[list(terms)])
    stacked = np.vstack([X, np.diag(held)])
    wanted = np.vstack([targets, np.zeros((len(held), targets.shape[1]))])
    return stacked, wanted, np.linalg.lstsq(stacked, wanted, rcond=None)[0]


def search_naively(dense, scores, lengths, ridges, signs, forced, weights=None, prices=None, alike=None):
    """Subsets by one least-squares fit for each try: the best further term each time, unless it is like another."""
    prices = np.ones(dense.shape[1]) if prices is None else prices
    alike = np.zeros((dense.shape[1], dense.shape[1]), dtype=bool) if alike is None else alike

    def gain(others, term):
        given = ridges, weights
        return prices[term] * sum(
            unexplained(dense, score, others, *given) - unexplained(dense, score, [*others, term], *given)
            for score in scores.T[:, :, None]
            if signs is None or signs[term] * solve_last(dense, score, [*others, term], *given) >= 0.0
        )

    terms, found = sorted(forced), []
    most = max(gain([], term) for term in range(dense.shape[1]))
    for length in lengths:
        while len(terms) < length:
            outside = [term for term in range(dense.shape[1]) if term not in terms and not alike[term, terms].any()]
            if not outside:
                break
            best = max(outside, key=lambda term: gain(terms, term))
            if gain(terms, best) <= LEAST_GAIN * most:
                break
            terms = [*terms, best]
        found.append(sorted(terms))
    return found
