"""Losses: what an error costs, how it changes with the score, and the score that is best without any attribute.

Methods take targets `y` and scores `score` of one shape, ``(n_samples,)`` or ``(n_samples, n_outputs)``, and work
element by element. Losses of classification expect targets -1 and +1. Squares carry no factor 1/2: the objective
``loss / (2 N)`` of the solvers supplies it.

A loss of your own is a subclass of `SmoothLoss` with five methods; ``Glmnet(loss=YourLoss())`` then solves for it.
"""

from rulegrove.exceptions import InvalidInputError
from rulegrove.losses.base import ClassificationLoss, Loss, SmoothLoss
from rulegrove.losses.classes import Logistic, Ramp, Squared, SquaredHinge
from rulegrove.losses.cox import Cox
from rulegrove.losses.numbers import Absolute, Huber, Quantile
from rulegrove.losses.rates import Gamma, Poisson, Tweedie

__all__ = [
    "LOSSES",
    "Absolute",
    "ClassificationLoss",
    "Cox",
    "Gamma",
    "Huber",
    "Logistic",
    "Loss",
    "Poisson",
    "Quantile",
    "Ramp",
    "SmoothLoss",
    "Squared",
    "SquaredHinge",
    "Tweedie",
    "find_loss",
]

LOSSES: dict[str, type[Loss]] = {
    loss.name: loss
    for loss in (Squared, Ramp, SquaredHinge, Huber, Logistic, Poisson, Gamma, Tweedie, Absolute, Quantile, Cox)
}


def find_loss(loss: str | Loss) -> Loss:
    """Return the loss with this name; a `Loss` object is returned as it is.

    Examples
    --------
    >>> find_loss("logistic"), find_loss(Huber(delta=2.0))
    (Logistic(), Huber(delta=2.0))
    """
    if isinstance(loss, Loss):
        return loss
    if loss not in LOSSES:
        raise InvalidInputError(f"`loss` must be one of {', '.join(LOSSES)} or a `Loss` object; got {loss!r}.")
    return LOSSES[loss]()
