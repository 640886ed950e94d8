"""Parameters of the estimators as options: names, defaults and help are read from their source, not written again.

Importing an estimator takes a second or two, with scikit-learn and numba behind it; reading the text of its constructor
and docstring takes some milliseconds, so that ``--help`` and completion stay quick.
"""

import ast
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Annotated, Any

import typer

from rulegrove.cli.options import Columns
from rulegrove.cli.words import suggest
from rulegrove.exceptions import InvalidInputError

PANEL = "More about the fit"
MODEL = "The model"  # the panel of those that most people use, in words for a terminal
BASIC = {
    "loss": "For numbers: squared (the mean), absolute (the median), huber (outliers count less), quantile, poisson "
    "(counts), gamma (amounts) or tweedie (totals with zeros).",
    "preset": "Aim for a low error (accurate), for few and short rules (readable), or for little time (fast).",
    "max_terms": "At most this many terms. auto is the shortest list that does as well on held-out rows; none is "
    "the large model.",
    "terms": "Rules, lines (a line is a weight times a number), or both.",
    "evidence": "With split, half of the rows are kept to test the rules on.",
    "n_resamples": "Learn this many further lists, each from half of the rows, to see how often a rule comes back.",
    "random_state": "Seed of all random choices.",
    "n_features_to_select": "How many attributes to keep: a number, or a share such as 0.5.",
    "criterion": "How attributes are judged: by the error without them (loss), or by the rules that use them (votes).",
}
SEED = 0
MOST_LETTERS = 45  # of words that an option may be; a help of 60 columns has no room for more
OF_COLUMNS = ("categorical_features", "numeric_features", "identifiers", "task")
OWN_OPTIONS = (*OF_COLUMNS, "verbose", "trees", "rules", "force_rules", "interactions")

RATES = ("poisson", "gamma", "tweedie")
OF_SURVIVAL = ("ties",)  # options that are for survival times
OWN_LOSSES = {"power": "tweedie", "quantile": "quantile"}  # of options that are for one loss

# Words of all other annotations are read by `values`.
_TYPES = {"int": int, "int | None": int, "float": float, "bool": bool}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a constructor.

    Attributes
    ----------
    name : str
    annotation : str
    default : object
    kind : str
        What the docstring says of its type: ``{"both", "rules", "linear"}``.
    help : str
    """

    name: str
    annotation: str
    default: Any
    kind: str = ""
    help: str = ""

    @property
    def choices(self) -> list[str]:
        """Words that the docstring has in quotes."""
        return re.findall(r'"(.*?)"', self.kind)

    def option(self, shown_default: str = "") -> inspect.Parameter:
        """Return the option, perhaps with other words for its default; None stands for one that was not given."""
        choices, kind, flag = self.choices, _TYPES.get(self.annotation, str), self.name.replace("_", "-")
        several = "sequence of float" in self.kind
        once = " May be repeated." if several else ""
        kind = list[str] if several else kind
        option = typer.Option(
            f"--{flag}/--no-{flag}" if kind is bool else f"--{flag}",
            help=f"{self.help}{once}",
            metavar="NUMBER" if several else self._metavar(choices) if kind is str else None,
            show_default=shown_default or _word(self.default),
            autocompletion=(lambda: choices) if kind is str and choices else None,
            rich_help_panel=MODEL if self.name in BASIC else PANEL,
        )
        annotation = Annotated[kind | None, option]  # type: ignore[valid-type]
        return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)

    def _metavar(self, choices: list[str]) -> str | None:
        """Return what may be given where words may."""
        kinds = {"int": "N", "float": "NUMBER", "bool": "true|false", "dict": "JSON", "none": "none"}
        found = re.findall(rf"\b(?:{'|'.join(kinds)})\b", self.kind.lower())
        words = "|".join([*choices, *(kinds[one] for one in found)])
        return (words if len(words) <= MOST_LETTERS else "WORD") or None


@functools.cache
def read_parameters(module: str, name: str) -> tuple[Parameter, ...]:
    """Return the parameters of a class in a module of `rulegrove.estimators`, from its source."""
    tree = ast.parse(files("rulegrove.estimators").joinpath(f"{module}.py").read_text(encoding="utf-8"))
    found = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    init = next(node for node in found.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    told = _read_docstring(ast.get_docstring(found) or "")
    return tuple(
        Parameter(given.arg, ast.unparse(given.annotation), ast.literal_eval(default), *told.get(given.arg, ()))
        for given, default in zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True)
        if given.annotation is not None and default is not None
    )


def _read_docstring(text: str) -> dict[str, tuple[str, str]]:
    """Return type and description of each parameter of a numpydoc docstring."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^(\w[\w, ]*?)(?: : (.*))?\n((?:[ ]+.*\n?)+)", section[1] if section else "", re.MULTILINE)
    told = {}
    for names, kind, words in entries:
        description = " ".join(words.split()).replace("``", "")
        told.update({name: (re.sub(r", default=.*", "", kind), description) for name in names.split(", ")})
    return told


def check_survival(columns: Columns, parameters: Mapping[str, Any], beside: Mapping[str, str | None]) -> bool:
    """Tell whether a fit is one of survival times; refuse what does not go with these, or with other targets.

    `beside` are the columns that were named, by their options without dashes.

    Examples
    --------
    >>> check_survival(Columns(), {"ties": "efron"}, {"event": "died"}), check_survival(Columns(), {}, {})
    (True, False)
    """
    if beside.get("event") is None:
        alone = [name for name in (*OF_SURVIVAL, "entry") if parameters.get(name, beside.get(name)) is not None]
        if alone:
            raise InvalidInputError(
                f"`--{alone[0]}` is for survival times; name the column of events by `--event`, too."
            )
        return False
    given = [name for name in ("exposure", "offset") if beside.get(name) is not None]
    given += [name for name in ("loss", *OWN_LOSSES) if parameters.get(name) is not None]
    given += ["task"] if columns.task != "auto" else []
    if given:
        raise InvalidInputError(
            f"`--{given[0]}` is not for survival times, which `--event` makes of the target; leave one of the two out."
        )
    return True


def settle_task(columns: Columns, parameters: Mapping[str, Any], exposure: str | None, n_targets: int = 1) -> Columns:
    """Return how columns are to be read with a loss, or with several numbers; refuse what does not go with it.

    Both make a regression.
    """
    loss = parameters.get("loss")
    if n_targets == 1 and parameters.get("multioutput") is not None:
        raise InvalidInputError(
            "`--multioutput` is for several numbers; give `--target` once for each, or leave it out."
        )
    if n_targets > 1 and (loss not in (None, "squared") or columns.task == "classification"):
        option = "--task classification" if columns.task == "classification" else f"--loss {loss}"
        raise InvalidInputError(
            f"`{option}` is for one `--target`; fit each column by itself, or leave the option out for several numbers."
        )
    for option, own in OWN_LOSSES.items():
        if parameters.get(option) is not None and loss != own:
            raise InvalidInputError(f"`--{option}` is for `--loss {own}`; add that, or leave it out.")
    if exposure is not None and loss not in RATES:
        raise InvalidInputError(
            "`--exposure` is for rates; add `--loss poisson` for counts, `--loss gamma` for amounts or "
            "`--loss tweedie` for totals that may be 0."
        )
    if loss is None:
        return columns if n_targets == 1 else replace(columns, task="regression")
    losses = next(one.choices for one in read_parameters("regressor", "RuleEnsembleRegressor") if one.name == "loss")
    if loss not in losses:
        raise InvalidInputError(f"`--loss` must be one of {', '.join(losses)}; got '{loss}'.{suggest(loss, losses)}")
    if columns.task == "classification":
        raise InvalidInputError(
            f"`--loss {loss}` is for a regression and `--task` asks for classes; leave one of the two out."
        )
    return replace(columns, task="regression")


def ensemble_options() -> list[inspect.Parameter]:
    """Return options for the parameters of the rule ensembles, first those of regression or survival times alone."""
    regression = {one.name: one for one in _suited("regressor", "RuleEnsembleRegressor")}
    options = []
    for one in _suited("classifier", "RuleEnsembleClassifier"):
        other = regression.pop(one.name, one).default
        both = f"{_word(one.default)}, {_word(other)} for regression"
        options.append(one.option("" if other == one.default else both))
    alone = [replace(one, help=f"For regression. {one.help}").option() for one in regression.values()]
    survival = [one for one in read_parameters("survival", "RuleEnsembleSurvival") if one.name in OF_SURVIVAL]
    alone += [replace(one, help=f"For survival times. {one.help}").option() for one in survival]
    return [*alone, *options]


def selector_options() -> list[inspect.Parameter]:
    """Return options for the parameters of the attribute selector; what it shares with the classifier is told there."""
    shared = {one.name: one for one in read_parameters("classifier", "RuleEnsembleClassifier")}
    suited = _suited("attributes", "RuleAttributeSelector")
    return [(one if one.kind else replace(shared[one.name], default=one.default)).option() for one in suited]


def _suited(module: str, name: str) -> Iterator[Parameter]:
    """Leave out what the commands have options of their own for, and fix the seed: equal calls give equal rules."""
    for one in read_parameters(module, name):
        if one.name == "random_state":
            yield replace(one, annotation="int", default=SEED)
        elif one.name not in OWN_OPTIONS:
            yield one


def takes_parameters(options: Iterable[inspect.Parameter]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command these options for its ``**parameters``, and those of its `columns`."""

    def extend(command: Callable[..., None]) -> Callable[..., None]:
        of_columns = inspect.signature(Columns).parameters
        signature = inspect.signature(command)
        shown: list[inspect.Parameter] = []
        for one in signature.parameters.values():
            if one.annotation is Columns:
                shown += of_columns.values()
            elif one.kind is not inspect.Parameter.VAR_KEYWORD:
                shown.append(one)

        @functools.wraps(command)
        def run(**given: Any) -> None:
            command(columns=Columns(**{name: given.pop(name) for name in of_columns}), **given)

        keywords = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*shown, *options)]
        run.__signature__ = signature.replace(parameters=keywords)  # type: ignore[attr-defined]
        return run

    return extend


def _word(value: Any) -> str:
    """Return a default as one would type it."""
    if isinstance(value, float):
        return f"{value:g}"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
