"""A model as the source of a Python module that needs nothing but Python."""

import keyword
import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from rulegrove._typing import FloatArray
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.calibration import Steps
from rulegrove.exceptions import InvalidInputError
from rulegrove.export._python_functions import (
    EXPONENTIAL,
    LABEL,
    LOGARITHM,
    NORMALISE,
    NUMBER,
    PART,
    SIGMOID,
    STEPS,
    SURVIVAL,
)
from rulegrove.export._scoring import (
    Logistic,
    Scoring,
    is_only_missing,
    is_text,
    kind_of,
    nonzero,
    read_scoring,
    split_categories,
    steps_parts,
)
from rulegrove.rules.rule import Condition, Rule

_OWN_NAME = re.compile(r"row|value|number|label|part|min|max|total(_\d+)?")  # what `score` calls things itself

_READERS = {"number": ("number", NUMBER), "text": ("label", LABEL), "time": ("part", PART)}


def to_python(model: BaseRuleEnsemble) -> str:
    """Return the source of a Python module that scores rows without rulegrove, NumPy or anything else.

    It has ``score(row)``, which takes a dict of values by column name and returns the score (several: a list, one a
    class or number), and ``predict(row)``; that of a classifier also ``probabilities(row)``. Of rates it is
    ``predict(row, exposure=1.0)``, and of survival times there is ``survival(row, time)``, too. ``None``, NaN and
    pandas' ``NA`` and ``NaT`` are missing values. Dates and times may be those of Python, pandas and NumPy, or texts in
    ISO format. Scores are those of `decision_function` (of a regressor that predicts them: `predict`) bit for bit;
    probabilities, rates and hazards differ by no more than the last places of `exp` and `log`.

    Parameters
    ----------
    model : RuleEnsembleClassifier, RuleEnsembleRegressor or RuleEnsembleSurvival
        A fitted estimator.

    Returns
    -------
    str

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> X, y = load("iris", return_X_y=True)
    >>> model = RuleEnsembleClassifier(n_candidates=50, max_terms=3, random_state=0).fit(X, y)
    >>> module = {}
    >>> exec(to_python(model), module)
    >>> module["predict"]({"x0": 5.1, "x1": 3.5, "x2": 1.4, "x3": 0.2})
    'Iris-setosa'
    """
    scoring = read_scoring(model)
    names = _variables(scoring)
    kinds = {kind_of(feature) for feature in scoring.used.values()}
    n_terms = len(scoring.rules) + len(scoring.linear)
    modules = ["bisect"] * (scoring.baseline is not None) + ["datetime"] * ("time" in kinds) + ["math"]
    parts = [
        f'"""{type(model).__name__}, written by rulegrove: {n_terms} terms, nothing needed but Python."""\n',
        "".join(f"import {module}\n" for module in modules),
        *(helper for kind, (_, helper) in _READERS.items() if kind in kinds),
        "\n".join(_score(scoring, names)),
    ]
    if scoring.classes:
        parts += [f"\nCLASSES = {_labels(scoring.classes)}\n", *_classes(scoring)]
    else:
        parts += _numbers(scoring)
    return "\n".join(parts) + "\n"


def _labels(labels: Sequence[Any]) -> str:
    """Return labels as a tuple in Python."""
    return f"({', '.join(_literal(label) for label in labels)}{',' * (len(labels) == 1)})"


def _literal(value: Any) -> str:
    """Return a label as a Python literal, in ASCII so that no character can be lost."""
    if type(value) in (str, bool, int) or (isinstance(value, float) and math.isfinite(value)):
        return ascii(value)
    raise InvalidInputError(f"The label {value!r} has no Python literal; use texts, numbers or booleans as labels.")


def _variables(scoring: Scoring) -> dict[int, str]:
    """Return a variable for each attribute: its name as far as Python allows, made unique."""
    names: dict[int, str] = {}
    for place, feature in scoring.used.items():
        plain = re.sub(r"\W", "_", feature.name, flags=re.ASCII).strip("_").lower()[:40] or "x"
        if plain[0].isdigit() or keyword.iskeyword(plain) or _OWN_NAME.fullmatch(plain):
            plain = f"x_{plain}"
        taken = {*names.values()}
        names[place] = plain if plain not in taken else f"{plain}_{place}"
        while names[place] in taken:
            names[place] += "_"
    return names


def _score(scoring: Scoring, names: dict[int, str]) -> Iterator[str]:
    """Write the function `score`."""
    single = scoring.n_outputs == 1
    totals = ["total"] if single else [f"total_{output}" for output in range(scoring.n_outputs)]
    yield "\ndef score(row):"
    several = "s by class" if scoring.classes else "s"
    yield f'    """Return the score{"" if single else several} of a row: a dict of values by column name."""'
    for place, feature in scoring.used.items():
        read, _ = _READERS[kind_of(feature)]
        asked = "" if feature.part is None else f", {feature.part!r}"
        yield f"    {names[place]} = {read}(row, {feature.source!a}{asked})"
    yield from (f"    {total} = 0.0" for total in totals)
    for rule, coefs in zip(scoring.rules, scoring.rule_coefs.T, strict=True):
        yield f"    if {_rule(rule, scoring, names)}:"
        yield from (f"        {totals[output]} += {coef!r}" for output, coef in nonzero(coefs))
    for total, start in zip(totals, scoring.intercepts.tolist(), strict=True):
        yield f"    {total} = {start!r} + {total}"
    for term, coefs in zip(scoring.linear, scoring.linear_coefs.T, strict=True):
        x = names[term.feature]
        yield f"    value = {term.fill!r} if {x} != {x} else min(max({x}, {term.lower!r}), {term.upper!r})"
        yield from (f"    {totals[output]} += {coef!r} * value" for output, coef in nonzero(coefs))
    yield f"    return {totals[0] if single else '[' + ', '.join(totals) + ']'}\n"


def _rule(rule: Rule, scoring: Scoring, names: dict[int, str]) -> str:
    """Write a rule as a Python condition."""
    parts = [_condition(condition, scoring, names[condition.feature]) for condition in rule.conditions]
    if len(parts) > 1:
        parts = [f"({part})" if " or " in part else part for part in parts]
    return " and ".join(parts) or "True"


def _condition(condition: Condition, scoring: Scoring, x: str) -> str:
    """Write a condition; comparisons with NaN are false, and NaN differs from itself."""
    feature = scoring.features[condition.feature]
    absent, present = (f"{x} is None", f"{x} is not None") if is_text(feature) else (f"{x} != {x}", f"{x} == {x}")
    if is_only_missing(condition):
        return absent if condition.missing else "False"
    known = present
    if condition.categories is not None:
        labels, others = split_categories(condition, feature)
        if not others:
            known = f"{x} in {_labels(labels)}"
        elif labels:
            known = f"{present} and {x} not in {_labels(labels)}"
    elif condition.upper < math.inf:
        known = f"{condition.lower!r} < " * (condition.lower > -math.inf) + f"{x} <= {condition.upper!r}"
    elif condition.lower > -math.inf:
        known = f"{x} > {condition.lower!r}"
    return f"{known} or {absent}" if condition.missing else known


def _numbers(scoring: Scoring) -> Iterator[str]:
    """Write the functions `predict` and `survival` of what is no classifier."""
    if not scoring.exponential:
        several = "s" if scoring.n_outputs > 1 else ""
        yield f'\ndef predict(row):\n    """Return the prediction{several} for a row."""\n    return score(row)'
        return
    yield EXPONENTIAL
    if scoring.takes_exposure:
        yield LOGARITHM
        yield '\ndef predict(row, exposure=1.0):\n    """Return the rate of a row times its exposure."""'
        yield "    return exponential(score(row) + logarithm(exposure))"
    else:
        yield '\ndef predict(row):\n    """Return how many times the hazard of a row is that of the baseline."""'
        yield "    return exponential(score(row))"
    if scoring.baseline is not None:
        yield f"\n\nTIMES = {_list_numbers(scoring.baseline.times)}"
        yield f"HAZARDS = {_list_numbers(scoring.baseline.hazards)}"
        yield SURVIVAL


def _list_numbers(numbers: FloatArray) -> str:
    """Write numbers as a tuple, some on each line."""
    lines = textwrap.wrap(" ".join(f"{number!r}," for number in numbers.tolist()), 110, break_on_hyphens=False)
    return f"({''.join(f'{chr(10)}    {line}' for line in lines)}\n)"


def _classes(scoring: Scoring) -> Iterator[str]:
    """Write the functions `predict` and `probabilities` of a classifier."""
    single, curves = scoring.n_outputs == 1, scoring.curves
    yield "\ndef predict(row):"
    yield '    """Return the class of a row."""'
    if single:
        yield "    return CLASSES[1 if score(row) > 0.0 else 0]\n"
    else:
        yield "    scores = score(row)\n    return CLASSES[scores.index(max(scores))]\n"
    if any(isinstance(curve, Logistic) for curve in curves):
        yield SIGMOID
    if any(isinstance(curve, Steps) for curve in curves):
        yield STEPS
    if curves and not single:
        yield NORMALISE
    yield "\ndef probabilities(row):"
    yield '    """Return the probability of each class, in the order of CLASSES."""'
    if single:
        yield "    total = score(row)"
        yield f"    positive = {_curve(curves[0], 'total')}\n    return [1.0 - positive, positive]"
    elif not curves:
        yield f"    scores = [{scoring.softmax!r} * one for one in score(row)]"
        yield "    shares = [math.exp(one - max(scores)) for one in scores]"
        yield "    return [share / sum(shares) for share in shares]"
    else:
        yield "    scores = score(row)\n    shares = ["
        yield from (f"        {_curve(curve, f'scores[{output}]')}," for output, curve in enumerate(curves))
        yield "    ]\n    return normalise(shares, scores)"


def _curve(curve: Logistic | Steps, score: str) -> str:
    """Write a curve on a score."""
    if isinstance(curve, Logistic):
        shift = "" if curve.shift is None else f" + {curve.shift!r}"
        return f"sigmoid({curve.slope!r} * {score}{shift})"
    pieces = ", ".join(repr(piece) for piece in steps_parts(curve))
    first, last = float(curve.probabilities[0]), float(curve.probabilities[-1])
    return f"curve({score}, {first!r}, [{pieces}], {last!r})"
