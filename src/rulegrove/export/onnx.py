"""A model as an ONNX graph, for any runtime that has one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.export._scoring import check_exposure, need_package, read_scoring, state_hazards

if TYPE_CHECKING:
    import onnx


def to_onnx(model: BaseRuleEnsemble, *, exposure: str | None = None, times: Sequence[float] = ()) -> "onnx.ModelProto":
    """Return an ONNX model.

    Inputs: where all columns are numbers one matrix ``X`` of float64, shape (n_rows, n_features), columns as in
    the fit. Otherwise one input for each column, named as it and of shape (n_rows, 1): float64 for numbers, strings for
    categories that are texts, int64 for dates and times, as whole seconds since 1970-01-01 UTC. NaN is a missing
    number, the empty string a missing text, the smallest int64 a missing time. The model's description lists them.

    Outputs: of a regressor ``prediction``, (n_rows,) or of several numbers (n_rows, n_outputs), and of rates and
    hazards, which are exponentials, also ``scores`` (n_rows,); of survival times with `times` also ``survival``,
    (n_rows, n_times); of a classifier ``label`` (n_rows,), ``scores`` (n_rows,) or (n_rows, n_classes), and
    ``probabilities`` (n_rows, n_classes).

    Thresholds and inputs are float64, so no row goes another way than in the model, and the sum is made in the order of
    the model: in onnxruntime scores are those of `decision_function` bit for bit. Probabilities and rates differ by the
    last places of `exp`. Write it with ``onnx.save(to_onnx(model), "model.onnx")``.

    Parameters
    ----------
    model : RuleEnsembleClassifier, RuleEnsembleRegressor or RuleEnsembleSurvival
        A fitted estimator.
    exposure : str, optional
        Name of one more input, float64 of shape (n_rows, 1), that multiplies the rates of losses such as "poisson"; one
        that is already the input of a number is read from it. Where it is not a number above 0 the prediction is NaN.
    times : sequence of float
        Times at which a model of survival times tells the chance to be without the event.

    Returns
    -------
    onnx.ModelProto

    Notes
    -----
    Plain comparisons are written instead of ``TreeEnsemble``: its older form has float32 thresholds and scores, and no
    form says in which order trees are added up.

    Examples
    --------
    >>> import onnxruntime
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> X, y = load("iris", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=50, max_terms=3, random_state=0).fit(X, y)
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> session.run(["label"], {"X": X[:2]})[0].tolist()
    ['Iris-setosa', 'Iris-setosa']
    """
    need_package("onnx", "onnx")
    from rulegrove.export._onnx_graph import write_graph

    scoring = read_scoring(model)
    check_exposure(scoring, exposure)
    return write_graph(scoring, exposure, state_hazards(model, times))
