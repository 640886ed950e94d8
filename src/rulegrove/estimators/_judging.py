"""The lines of a front, judged on held-out rows: sums that add up over blocks, batches and machines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from rulegrove._threads import one_blas_thread, run_tasks
from rulegrove._typing import FloatArray, IntArray
from rulegrove.columns import Columns
from rulegrove.design.statistics import divide_rows
from rulegrove.estimators._lists import Scorer
from rulegrove.estimators._training import NEVER_HELD_OUT
from rulegrove.estimators._units import shift
from rulegrove.estimators.calibration import Link
from rulegrove.estimators.target import Target

JUDGED_ROWS = 4096  # rows whose scores by all lines exist at a time, in each thread
_BLOCKS = 64  # whose sums wait to be added up


@dataclass(frozen=True, eq=False)
class LineSums:
    """What held-out rows tell of the L lines of a front, whose targets have J outputs; a state.

    Losses and errors are told as what they exceed a centre by, one near the mean of each line, so that their squares
    lose no digits.

    Parameters
    ----------
    weight : float
        Sum of the weights.
    sums : ndarray of shape (2, L)
        Weighted sums of losses and of errors.
    products : ndarray of shape (1 + 2 * L, 1 + 2 * L)
        Sums by squared weight of the products of a one, the losses and the errors.
    distances : ndarray of shape (L,)
        Weighted sums of squared differences between what a line says and what the last one says.
    said, targets : ndarray of shape (2, J)
        Weighted sums of what the last line says, and of the targets; and of the squares of both.

    Examples
    --------
    >>> measured = np.array([[[0.0, 1.0], [0.5, 0.5]], [[0.0, 1.0], [0.0, 0.0]]])  # losses, then errors, of two lines
    >>> sums = LineSums.of(measured, np.zeros((2, 2, 1)), np.array([[-1.0], [1.0]]), None)
    >>> sums.merge(sums).tell(np.zeros((2, 2)), n_lists=2)["error"]
    array([0.5, 0. ])
    """

    weight: float
    sums: FloatArray
    products: FloatArray
    distances: FloatArray
    said: FloatArray
    targets: FloatArray

    @classmethod
    def zeros(cls, n_lines: int, n_outputs: int) -> "LineSums":
        """Return the sums of no rows."""
        return cls.of(
            np.zeros((2, n_lines, 0)), np.zeros((n_lines, 0, n_outputs)), np.zeros((0, n_outputs)), weights=None
        )

    @classmethod
    def of(cls, measured: FloatArray, said: FloatArray, targets: FloatArray, weights: FloatArray | None) -> "LineSums":
        """Return the sums of some rows.

        Parameters
        ----------
        measured : ndarray of shape (2, n_lines, n_rows)
            Losses and errors, less their centres.
        said : ndarray of shape (n_lines, n_rows, n_outputs)
            Probabilities or numbers that each line gives.
        targets : ndarray of shape (n_rows, n_outputs)
        weights : ndarray of shape (n_rows,), optional
        """
        own = np.ones(len(targets)) if weights is None else weights
        weighted = np.vstack([np.ones((1, own.size)), *measured]) * own
        large = said[-1]
        return cls(
            float(own.sum()),
            measured @ own,
            weighted @ weighted.T,
            ((said - large) ** 2).sum(axis=2) @ own,
            np.array([own @ large, own @ large**2]),
            np.array([own @ targets, own @ targets**2]),
        )

    def merge(self, other: "LineSums") -> "LineSums":
        """Return the sums of both sets of rows."""
        return LineSums(
            **{field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)}
        )

    def tell(self, centres: FloatArray, n_lists: int) -> dict[str, FloatArray]:
        """Return what `FrontLine` tells of every line.

        Parameters
        ----------
        centres : ndarray of shape (2, n_lines)
            Of the losses and errors.
        n_lists : int
            Lines that are lists, the first ones; what a loss exceeds that of the best list by has a standard error.
        """
        means = self.sums / self.weight
        losses, errors = centres + means
        less = np.hstack([-means.reshape(-1, 1), np.eye(means.size)])  # takes the means from losses and errors
        covariances = less @ self.products @ less.T / self.weight**2
        variances = np.diagonal(covariances)
        best = int(np.argmin(losses[:n_lists]))
        n_lines = losses.size
        excess = variances[:n_lines] + variances[best] - 2.0 * covariances[best, :n_lines]
        loss_se, error_se = np.sqrt(np.maximum(variances, 0.0)).reshape(2, -1)
        return {
            "loss": losses,
            "loss_se": loss_se,
            "error": errors,
            "error_se": error_se,
            "excess_se": np.sqrt(np.maximum(excess, 0.0)),
            "fidelity": self._tell_fidelity(),
        }

    def _tell_fidelity(self) -> FloatArray:
        """Return how much of what the last line says each line says too; 1 where it says the same of all rows."""
        means, squares = self.said / self.weight
        spread = float(np.sum(squares - means**2))
        return np.ones(self.distances.size) if spread <= 0.0 else 1.0 - self.distances / self.weight / spread


@dataclass(frozen=True, eq=False)
class Judging:
    """What judges the lines of a front on all rows that are held out, in blocks; a `Measure`.

    Attributes
    ----------
    target : Target
    scorers : tuple of Scorer
        Of the lines that were made without each fold; the last line of each is its large model.
    links : tuple of Temperature, Curves or None
        Of the lines.
    centres : ndarray of shape (2, n_lines)
        Losses and errors near their means.
    unit : int
        Exponent of the power of two in whose units losses are told.
    target_unit : int
        That of the targets that are to come; scores are in the units of the user.
    """

    target: Target
    scorers: tuple[Scorer, ...]
    links: tuple[Link | None, ...]
    centres: FloatArray
    unit: int
    target_unit: int

    def empty(self) -> LineSums:
        """Return the sums of no rows."""
        return LineSums.zeros(len(self.links), len(self.scorers[0].outputs))

    def __call__(
        self,
        columns: Columns,
        targets: FloatArray,
        weights: FloatArray | None,
        folds: IntArray,
        n_threads: int = 1,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> LineSums:
        """Return the sums of those rows that are held out.

        Parameters
        ----------
        columns : Columns
        targets : ndarray of shape (n_rows, n_outputs)
        weights : ndarray of shape (n_rows,), optional
        folds : ndarray of shape (n_rows,)
            Fold of each row; beyond those of the scorers a row is not held out.
        n_threads : int
            Threads to use; the result does not depend on it.
        on_progress : callable, optional
            Called with the rows done and the rows in all.
        """

        def measure(block: tuple[int, IntArray | slice]) -> LineSums:
            fold, rows = block
            assert not isinstance(rows, slice)
            own = shift(targets[rows], self.target_unit - self.unit)
            scores = shift(self.scorers[fold].score(columns, rows), -self.unit)
            measured, said = measure_lines(self.target, scores, self.links, own)
            bases = self.target.lose_base(own)
            return LineSums.of(
                measured - self.centres[:, :, None],
                said,
                bases,
                None if weights is None else weights[rows],
            )

        judged = np.where(folds < len(self.scorers), folds, NEVER_HELD_OUT)
        blocks = list(divide_rows(columns.n_rows, judged, None, JUDGED_ROWS))
        sums = self.empty()
        with one_blas_thread():
            for start in range(0, len(blocks), _BLOCKS):
                for part in run_tasks(measure, blocks[start : start + _BLOCKS], n_threads):
                    sums = sums.merge(part)
                if on_progress is not None:
                    on_progress(min(start + _BLOCKS, len(blocks)), len(blocks))
        return sums


def measure_lines(
    target: Target, scores: FloatArray, links: Sequence[Link | None], targets: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return losses and errors of rows by every line, and what each line says of them.

    Parameters
    ----------
    target : Target
    scores : ndarray of shape (n_lines, n_rows, n_outputs)
    links : sequence of Temperature, Curves or None
    targets : ndarray of shape (n_rows, n_outputs)

    Returns
    -------
    measured : ndarray of shape (2, n_lines, n_rows)
    said : ndarray of shape (n_lines, n_rows, n_outputs)
    """
    said = np.array([target.goals(own, link) for own, link in zip(scores, links, strict=True)])
    pairs = [target.measure_rows(own, words, targets) for own, words in zip(scores, said, strict=True)]
    return np.array(pairs).transpose(1, 0, 2), target.liken(said)
