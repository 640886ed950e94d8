"""Second derivatives of a mean loss on a working set, counted over all rows or a sample of them."""

from dataclasses import dataclass, replace

import numpy as np

from rulegrove._typing import BoolArray, FloatArray, IntArray
from rulegrove.design.rows import Rows, rows_of_words

_SAMPLE_WORDS = 512  # words of rows, at most, that pairs of terms are counted on
_SHRINKAGE = 0.02  # of correlations that come from a sample
_TINY = np.finfo(np.float64).tiny


@dataclass
class Curvature:
    """Second derivatives of the loss on a working set, of rows weighted by what they were when it was counted.

    Attributes
    ----------
    row_weights : ndarray of shape (n_rows,)
        Weight times curvature, over all parts.
    weight : float
        Their sum.
    sums : ndarray of shape (n_members,)
        Weighted sums of the terms.
    gram : ndarray of shape (n_members, n_members)
        Centred by these sums, over N: the intercept, or that of each part, is profiled out.
    ratios : ndarray of shape (n_members,)
        Standard deviations over those of the sample.
    sample : ndarray of shape (n_words,)
        Words of rows that the pairs were counted on.
    parts : ndarray of shape (n_rows, n_parts), optional
        Of `row_weights`, where a loss has several; see `SmoothLoss.model_weights`.
    first_share : float
        Share of the gap that the first step with it left; a sample allows no better.
    """

    row_weights: FloatArray
    weight: float
    sums: FloatArray
    gram: FloatArray
    ratios: FloatArray
    sample: IntArray
    parts: FloatArray | None = None
    first_share: float = 0.0

    @classmethod
    def count(cls, members: Rows, row_weights: FloatArray, sample: IntArray) -> "Curvature":
        """Count pairs of terms on the rows of some words, everything else on all rows.

        With all words the curvature is exact. With some, the correlations of the terms are those of the sample, a
        little shrunk, and their variances are exact: good enough for a model whose gradient is exact.

        Parameters
        ----------
        members : Rows
            The terms of the working set.
        row_weights : ndarray of shape (n_rows,) or (n_rows, n_parts)
            Weight times curvature, in all or in each of several parts.
        sample : ndarray of shape (n_words,)
            Words to count on.
        """
        parts = row_weights if row_weights.ndim == 2 else None
        row_weights = row_weights if parts is None else parts.sum(axis=1)
        part, part_weights = _sampled(members, row_weights, sample)
        moments = part.moments(part_weights)
        if parts is None:
            centred = moments.gram - np.outer(moments.x_sum, moments.x_sum) / moments.weight
        else:
            means = _means(part, _sampled(members, parts, sample)[1])
            centred = moments.gram - means @ means.T
        if part is members:
            gram = np.ascontiguousarray(centred / members.weight)
            np.fill_diagonal(gram, np.maximum(gram.diagonal(), 0.0))
            return cls(row_weights, moments.weight, moments.x_sum, gram, np.ones(len(gram)), sample, parts)
        sums = members.sums(row_weights)
        deviations = _deviations(members, row_weights, sums, parts)
        ratios = _over_sample(deviations, centred.diagonal())
        gram = (1.0 - _SHRINKAGE) * centred * np.outer(ratios, ratios)
        np.fill_diagonal(gram, deviations**2)
        return cls(row_weights, float(row_weights.sum()), sums, np.ascontiguousarray(gram), ratios, sample, parts)

    def move(self, members: Rows, inside: BoolArray, wanted: BoolArray) -> "Curvature":
        """Return the curvature of another working set, counted for no more than what is new in it.

        Parameters
        ----------
        members : Rows
            The terms of the new set.
        inside, wanted : ndarray of shape (n_terms,), bool
            Both sets among all terms.
        """
        kept, new = self._take(wanted[inside]), ~inside[wanted]
        return kept._extend(members, new) if new.any() else kept

    def _take(self, terms: BoolArray) -> "Curvature":
        """Return the curvature of some of the terms."""
        gram = np.ascontiguousarray(self.gram[np.ix_(terms, terms)])
        return replace(self, sums=self.sums[terms], gram=gram, ratios=self.ratios[terms])

    def _extend(self, members: Rows, new: BoolArray) -> "Curvature":
        """Return the curvature of more terms: pairs with a new one are counted under the weights of the others.

        Parameters
        ----------
        members : Rows
            All terms, those that were there before among them.
        new : ndarray of shape (n_members,), bool
        """
        part, part_weights = _sampled(members, self.row_weights, self.sample)
        few = part.take(np.flatnonzero(new))
        weighted = np.column_stack([few.bits.to_dense(), few.linear]) * part_weights[:, None]
        crossed = np.concatenate([part.bits.sums(weighted), part.linear.T @ weighted])
        part_sums = part.sums(part_weights)
        if self.parts is None:
            crossed -= np.outer(part_sums, part_sums[new] / part_weights.sum())
        else:
            means = _means(part, _sampled(members, self.parts, self.sample)[1])
            crossed -= means @ means[new].T
        sums = part_sums if part is members else members.sums(self.row_weights)
        ratios = np.ones(len(new))
        if part is not members:
            deviations = _deviations(members, self.row_weights, sums, self.parts)[new]
            ratios[~new], ratios[new] = self.ratios, _over_sample(deviations, crossed[new].diagonal())
            crossed *= (1.0 - _SHRINKAGE) * np.outer(ratios, ratios[new])
            crossed[new, np.arange(new.sum())] = deviations**2
        else:
            crossed /= members.weight
            crossed[new, np.arange(new.sum())] = np.maximum(crossed[new].diagonal(), 0.0)
        gram = np.empty((len(new), len(new)))
        gram[np.ix_(~new, ~new)] = self.gram
        gram[:, new] = crossed
        gram[new] = crossed.T
        return replace(self, sums=sums, gram=gram, ratios=ratios)


def _sampled(members: Rows, row_weights: FloatArray, sample: IntArray) -> tuple[Rows, FloatArray]:
    """Return the rows of some words and their weights; all as they are if these are all the words."""
    if len(sample) == members.bits.words.shape[1]:
        return members, row_weights
    return members.take_words(sample), row_weights[rows_of_words(sample)]


def _means(members: Rows, parts: FloatArray) -> FloatArray:
    """Return the weighted mean of each term in each part times the root of the weight of that part."""
    sums = np.concatenate([members.bits.sums(np.ascontiguousarray(parts)), members.linear.T @ parts])
    return np.asarray(sums / np.sqrt(np.maximum(parts.sum(axis=0), _TINY)))


def _deviations(
    members: Rows, row_weights: FloatArray, sums: FloatArray, parts: FloatArray | None = None
) -> FloatArray:
    """Return the weighted standard deviations of terms within parts, over N as the Gram is."""
    squares = np.concatenate([sums[: members.n_rules], row_weights @ members.linear**2])
    means = sums**2 / row_weights.sum() if parts is None else (_means(members, parts) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(squares - means, 0.0) / members.weight))


def _over_sample(deviations: FloatArray, squares: FloatArray) -> FloatArray:
    """Return standard deviations over the roots of centred squares in a sample, 0 for terms that do not vary there."""
    spread = np.sqrt(np.maximum(squares, 0.0))
    return np.asarray(np.divide(deviations, spread, out=np.zeros_like(spread), where=spread > 0.0))


def sample_words(rows: Rows) -> IntArray:
    """Return the words of rows that pairs of terms are counted on first: all, or a fixed draw of many."""
    words = np.flatnonzero(rows.counted)
    if len(words) <= _SAMPLE_WORDS:
        return np.arange(rows.bits.words.shape[1])
    return np.sort(np.random.default_rng(0).choice(words, _SAMPLE_WORDS, replace=False))
