"""How predictions are judged; needs NumPy and scikit-learn alone."""

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score


def count_classes(y: np.ndarray) -> int:
    """Return the number of classes, which are whole numbers from 0; 0 where the target is a number."""
    return 0 if y.dtype.kind == "f" else int(y.max()) + 1


def judge_numbers(y: np.ndarray, predicted: np.ndarray) -> float:
    """Return the root mean square error in percent of the standard deviation of the target."""
    return 100 * float(np.sqrt(np.mean((predicted - y) ** 2)) / np.std(y))


def judge(y: np.ndarray, probability: np.ndarray, n_classes: int) -> dict[str, float]:
    """Return AUC (of each class against the rest, averaged), log loss and calibration error."""
    probability = np.clip(probability, 1e-12, 1.0)
    probability /= probability.sum(axis=1, keepdims=True)
    scores = probability[:, 1] if n_classes == 2 else probability
    auc = roc_auc_score(y, scores, multi_class="ovr", labels=np.arange(n_classes) if n_classes > 2 else None)
    return {
        "auc": float(auc),
        "log_loss": float(log_loss(y, probability, labels=np.arange(n_classes))),
        "calibration_error": calibration_error(y, np.arange(n_classes), probability),
    }


def calibration_error(y: np.ndarray, classes: np.ndarray, probability: np.ndarray, n_bins: int = 15) -> float:
    """Return the expected calibration error of the predicted class: confidence against accuracy over equal bins."""
    confidence = probability.max(axis=1)
    correct = classes[probability.argmax(axis=1)] == y
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    error = 0.0
    for one in np.unique(bins):
        here = bins == one
        error += here.mean() * abs(confidence[here].mean() - correct[here].mean())
    return float(error)
