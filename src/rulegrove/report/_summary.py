"""What was fitted, on what, and how well it does, in words."""

import inspect
import re
from typing import Any

import numpy as np

from rulegrove.design.terms import Linear
from rulegrove.estimators._base import BaseRuleEnsemble
from rulegrove.estimators.figures import DOUBT, show_number
from rulegrove.inspection._sample import name_lists, name_output, refer_to
from rulegrove.report._given import Given
from rulegrove.report._lines import Line

MAX_LETTERS = 80  # of the value of a parameter
MAX_CLASSES = 12
DIGITS = 4  # of parameters that are fractions
LONG_FRACTION = re.compile(r"\b\d+\.\d{5,}(e[-+]?\d+)?")
UNTOLD = ("n_jobs", "verbose")  # parameters that change no result
RULES_OF_CHOICE = {
    "min": "the point with the smallest held-out error was taken",
    "1se": "the sparsest point within one standard error of the smallest held-out error was taken",
}


def summarise(model: BaseRuleEnsemble, given: Given | None) -> list[str]:
    """Return what is true of all lengths, in sentences."""
    return [_tell_choice(model), *_tell_doubt(model), _tell_parameters(model), *_tell_given(model, given)]


def tell_figures(model: BaseRuleEnsemble, line: Line) -> list[list[str]]:
    """Return numbers of one length to see first, with what they are."""
    weight, timed = model.path_[0].weight, model.recall_target().timed
    counts = weight == round(weight) and not (line.held_out is not None and line.held_out.weighted)
    figures = [
        [f"{len(line.rules):,}", "terms"],
        [f"{len(line.model.features):,}", "attributes"],
        *([] if timed else [[f"{weight:,.0f}", "training rows" if counts else "weight of the training rows"]]),
    ]
    headlines = {} if line.held_out is None else line.held_out.headlines
    return [*figures, *([figure, what] for what, figure in headlines.items())]


def tell_model(model: BaseRuleEnsemble, line: Line) -> str:
    """Say what the model of one length is."""
    terms = line.model.terms
    lines = sum(isinstance(term, Linear) for term in terms)
    parts = f"{_count(len(terms) - lines, 'rule')} and {_count(lines, 'linear term')}"
    return model.recall_target().meaning.introduce(parts)


def describe_words(model: BaseRuleEnsemble) -> dict[str, Any]:
    """Return what the page calls what is predicted, for each output, what terms change, and what is told of rules."""
    own, meaning = model.model_, model.recall_target().meaning
    places = range(len(own.score_words))
    return {
        "names": [name_output(model, output) for output in places],
        "references": [refer_to(model, output) for output in places],
        "main": own.main_output,
        "noun": meaning.noun,
        "multiplies": own.multiplies,
        "told": "" if own.labels else meaning.evidence_head,
        "lists": name_lists(model),
        "outputs": "Number" if own.numbers else "Quantile" if own.outputs else "Class",
    }


def _tell_choice(model: BaseRuleEnsemble) -> str:
    """Say among what the terms were chosen, and how."""
    candidates = _count(sum(len(pool) for pool in model.candidates_.distinct), "candidate")
    chosen = model.selection_[0]
    if chosen.errors is None:
        how = f"the point was given ({chosen.rule}), without cross-validation"
    else:
        folds = "" if chosen.fold_errors is None else f" in cross-validation with {len(chosen.fold_errors)} folds"
        how = f"{RULES_OF_CHOICE.get(chosen.rule, chosen.rule)}{folds}"
    solver = _show(model.solver_[0])
    start = f"from {candidates}, their coefficients from {solver} on a path from sparse to dense models; {how}."
    front = model.front_
    if front is None or len(front) < 2:
        return f"The terms come {start}"
    own_lists = name_lists(model)
    each = f" for each {own_lists}" if own_lists else ""
    length = _count(front[front.chosen].terms, "term")
    own = "the large one itself" if front.chosen == len(front) - 1 else f"the list of {length}{each}"
    return (
        f"The fit made a large model of {_count(front[-1].rules, 'term')} first, its terms {start} Lists of up to "
        f"{_count(front[-2].terms, 'term')}{each} were then made from it, each as close as possible to its "
        f"predictions. The chosen model is {own}."
    )


def _tell_doubt(model: BaseRuleEnsemble) -> list[str]:
    """Say how far held-out figures can be believed, where there are such."""
    if model.held_out_ is None:
        return []
    if not model.held_out_.honest:
        return [DOUBT]
    return [
        "No rule was grown on the rows that it is judged on. Held-out figures are therefore honest, except that the "
        "length of the list was chosen by them."
    ]


def _tell_parameters(model: BaseRuleEnsemble) -> str:
    """Name the parameters that are not the defaults."""
    defaults = inspect.signature(type(model)).parameters
    told = []
    for name, value in model.get_params(deep=False).items():
        words = _show(value)
        if name not in UNTOLD and words != _show(defaults[name].default):
            told.append(f"{name}={words if len(words) <= MAX_LETTERS else f'{words[: MAX_LETTERS - 1]}…'}")
    start = f"{type(model).__name__} with"
    words = f"{start} {', '.join(told)}; all else has its default." if told else f"{start} default parameters."
    settled = ", ".join(f"{name}={_show(value)}" for name, value in model.settings_.items())
    return f"{words} The fit settled what was left open: {settled}." if settled else words


def _tell_given(model: BaseRuleEnsemble, given: Given | None) -> list[str]:
    """Say what the table is that the report was given."""
    if given is None:
        return []
    if given.training:
        rows = f"This report was made with {_count(given.n_rows, 'row')} that the model was fitted on"
        end = "The figures on them are too good; the held-out figures show what to expect of new rows."
    else:
        rows = f"“On the {_count(given.n_rows, 'row')} given” means the table that this report was made with"
        end = "If the model was fitted on some of these rows, the figures on them are too good."
    about = ""
    if given.codes is not None:
        labels = list(model.model_.labels)
        sizes = np.bincount(given.codes, minlength=len(labels))
        pairs = [f"{label} ({size:,})" for label, size in zip(labels, sizes.tolist(), strict=True)]
        more = f" and {len(pairs) - MAX_CLASSES} more classes" if len(pairs) > MAX_CLASSES else ""
        about = f": {', '.join(pairs[:MAX_CLASSES])}{more}"
    elif given.times is not None:
        n_events, last = int(given.times.event.sum()), show_number(float(given.times.time.max()))
        about = f": {_count(n_events, 'event')}, the latest time is {last}"
    elif given.targets is not None and given.targets.shape[1] == 1:
        y = given.targets[:, 0]
        mean_y = np.average(y, weights=given.weights)
        low, high, mean = (show_number(float(value)) for value in (y.min(), y.max(), mean_y))
        noun = model.recall_target().meaning.noun if model.model_.multiplies else "target"
        about = f": the {noun} goes from {low} to {high} with a mean of {mean}"
    return [f"{rows}{about}. {end}"]


def _count(number: int, noun: str) -> str:
    """Return a number of things."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _show(value: Any) -> str:
    """Return a value of a parameter in one line, its long fractions rounded.

    Examples
    --------
    >>> _show({"l1_ratio": 0.018000350897724997, "tol": 1e-07})
    "{'l1_ratio': 0.018, 'tol': 1e-07}"
    """
    words = " ".join(repr(value).split())
    return LONG_FRACTION.sub(lambda match: f"{float(match[0]):.{DIGITS}g}", words)
