"""A session in which a fitted list is edited: who knows better changes it, and sees at once what that costs."""

import copy
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from rulegrove._words import printable
from rulegrove.editing.finishing import finish_model, rank_terms
from rulegrove.editing.judging import find_moves, judge
from rulegrove.editing.operations import OPERATIONS, Edited
from rulegrove.editing.reading import count_rows, find_family, read_rows
from rulegrove.editing.state import Listed, State
from rulegrove.estimators._constraints import resolve_monotonic
from rulegrove.estimators.edits import SPENT, Cost, Edit, Edits
from rulegrove.estimators.rule_table import RuleTable
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.rule import Rule

if TYPE_CHECKING:
    from rulegrove.estimators._base import BaseRuleEnsemble

ABOUT = ("note", "author")  # what a step may tell beside its arguments


class EditSession:
    """A session in which a fitted list is edited, with the rows that show what each edit costs.

    `model.edit(X, y)` opens a session. Terms are called by the numbers that are printed and keep them through all
    edits: the number of a dropped term is not used again, and added rules get the next numbers. An edit that is refused
    changes nothing. From the first edit on, weights maximise a likelihood with a small ridge (see
    `rulegrove.editing.solving`). The model on which the session was opened does not change.

    Parameters
    ----------
    model : RuleEnsembleClassifier, RuleEnsembleRegressor
        Fitted.
    X, y, sample_weight, groups, exposure, offset
        Rows, as in `fit`. Without rows, you can only drop terms, forbid attributes and fix weights.

    Attributes
    ----------
    log : Edits
        The opening and all edits that were not undone, each with its cost.
    rules : RuleTable
        The list as it is, each term ranked by its number.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleClassifier
    >>> from rulegrove.datasets import load
    >>> table = load("pima").frame()
    >>> X, y = table.drop(columns="class"), table["class"]
    >>> model = RuleEnsembleClassifier(n_candidates=200, max_terms=5, terms="rules", random_state=0).fit(X, y)
    >>> edit = model.edit(X, y)
    >>> edit.add("mass > 30 and age > 40", note="known to every clinic").operation
    'add'
    >>> edit.drop(2).change.n_rows
    768
    >>> edited = edit.finish()
    >>> [row.text for row in edited.rules_ if row.text == "mass > 30 and age > 40"], len(edited.rules_)
    (['mass > 30 and age > 40'], 5)
    >>> [own.operation for own in edited.edits_]
    ['open', 'add', 'drop']
    """

    def __init__(
        self,
        model: "BaseRuleEnsemble",
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        exposure: Any = None,
        offset: Any = None,
    ) -> None:
        target, fitted = model.recall_target(), model.model_
        find_family(target)
        self._model = model
        words = tuple(map(str, fitted.labels)) if len(fitted.labels) > 2 else ("",)
        self._about = Edited(target, fitted.names, words)
        state = recall_state(model)
        step: dict[str, Any] = {"operation": "open"}
        self._states, self._baseline = [state], state
        if X is None:
            if any(own is not None for own in (y, sample_weight, groups, exposure, offset)):
                raise InvalidInputError(
                    "`edit` was given a target or weights without X; give X as well, or none of them."
                )
            self._edits = [self._describe(step, "Opened without rows")]
            return
        rows = read_rows(model, X, y, sample_weight, groups, exposure, offset)
        counts = count_rows(rows, fitted.terms)
        self._baseline = replace(state, counts=counts).choose_ridge()
        self._states = [replace(state, counts=counts, ridge=self._baseline.ridge)]
        n_rows, used = rows.n_rows, counts.rows.n_rows
        drawn = (
            "" if used == n_rows else f" drawn from {n_rows:,}, because the list has linear terms or very many rules"
        )
        cost = judge(target, self._baseline, self._baseline).after
        step |= {"rows": used, "folds": rows.n_folds, "ridge": self._baseline.ridge}
        told = f"Opened on {used:,} rows{drawn}, in {rows.n_folds} folds, with a ridge of {self._baseline.ridge:g}"
        self._edits = [replace(self._describe(step, told), honest=recall_cost(model), after=cost)]

    def drop(self, number: int, *, note: str | None = None, author: str | None = None) -> Edit:
        """Drop a term.

        Parameters
        ----------
        number : int
            Number of the term, as printed.
        note, author : str, optional
            Why, and who did it; the log of the model keeps both.

        Returns
        -------
        Edit
            What was done, and what it changed.
        """
        return self._do("drop", {"number": number}, note, author)

    def replace(self, number: int, rule: str, *, note: str | None = None, author: str | None = None) -> Edit:
        """Replace a term by another rule, which takes its number.

        Parameters
        ----------
        number : int
        rule : str
            The rule in words, as printed, such as ``"age > 40 and mass > 30"``.
        note, author : str, optional
            As in `drop`.
        """
        return self._do("replace", {"number": number, "rule": rule}, note, author)

    def round(
        self, thresholds: int | Mapping[int, int] = 2, *, note: str | None = None, author: str | None = None
    ) -> Edit:
        """Round the thresholds of rules. Rows between an old and a new threshold are then decided differently.

        Parameters
        ----------
        thresholds : int or mapping, default=2
            Significant digits for all rules, or for some rules by number: ``{2: 1}``.
        note, author : str, optional
            As in `drop`.
        """
        return self._do("round", {"thresholds": thresholds}, note, author)

    def merge(self, first: int, second: int, *, note: str | None = None, author: str | None = None) -> Edit:
        """Replace two rules by one, which takes the number of the first.

        It has conditions on the attributes that both rules use, each loosened to cover both. So it holds wherever one
        of the two holds, and on some more rows.

        Parameters
        ----------
        first, second : int
        note, author : str, optional
            As in `drop`.
        """
        return self._do("merge", {"first": first, "second": second}, note, author)

    def add(self, rule: str, *, note: str | None = None, author: str | None = None) -> Edit:
        """Add a rule, which gets the next number. With more than two classes it has a weight for each.

        Parameters
        ----------
        rule : str
            As in `replace`.
        note, author : str, optional
            As in `drop`.
        """
        return self._do("add", {"rule": rule}, note, author)

    def forbid(self, attribute: str, *, note: str | None = None, author: str | None = None) -> Edit:
        """Drop all terms that use an attribute, and refuse later rules that use it.

        Parameters
        ----------
        attribute : str
        note, author : str, optional
            As in `drop`.
        """
        return self._do("forbid", {"attribute": attribute}, note, author)

    def fix(
        self,
        number: int,
        coefficient: float | Mapping[Any, float] | None,
        *,
        note: str | None = None,
        author: str | None = None,
    ) -> Edit:
        """Fix the weight of a term. The other weights are solved for with it.

        Parameters
        ----------
        number : int
        coefficient : float, mapping or None
            The weight; with more than two classes, a weight by class. None frees the weight again.
        note, author : str, optional
            As in `drop`.
        """
        return self._do("fix", {"number": number, "coefficient": coefficient}, note, author)

    def monotone(self, attribute: str, direction: str, *, note: str | None = None, author: str | None = None) -> Edit:
        """Make the score only rise, or only fall, with an attribute, like `monotonic` in a fit.

        Rules with a lower and an upper bound on the attribute are dropped, because they go both ways. A weight that
        would have the wrong sign becomes 0, and its term is left out of the finished model.

        Parameters
        ----------
        attribute : str
        direction : {"increasing", "decreasing"}
        note, author : str, optional
            As in `drop`.
        """
        return self._do("monotone", {"attribute": attribute, "direction": direction}, note, author)

    def undo(self) -> Edit:
        """Undo the last edit and return it. The session is then exactly what it was before."""
        if len(self._edits) == 1:
            raise InvalidInputError("There is no edit to undo.")
        self._states.pop()
        return self._edits.pop()

    def finish(self) -> "BaseRuleEnsemble":
        """Return the edited list as a fitted model like any other, with the log of edits as `edits_`.

        If the session has rows, all figures of the terms are computed on these rows. Scores are log odds (or logarithms
        of rates, or numbers) and need no calibration. `held_out_` is cross-validated with the terms given. The model
        has no front, because the lists of other lengths do not have the edits.
        """
        log = self._earlier()
        if len(self._edits) == 1:
            same = copy.copy(self._model)
            same.edits_ = log
            return same
        return finish_model(self._model, self._states[0], self._states[-1], log)

    def script(self) -> list[dict[str, Any]]:
        """Return the edits as plain values, which `apply` repeats and, as JSON, ``rulegrove edit --script``."""
        return [copy.deepcopy(dict(edit.step)) for edit in self._edits[1:]]

    def apply(self, script: Sequence[Mapping[str, Any]]) -> Edits:
        """Make the edits of a script, all of them or none.

        Parameters
        ----------
        script : sequence of mapping
            Each an operation with its arguments: ``{"operation": "drop", "number": 3, "note": "no medical sense"}``.

        Returns
        -------
        Edits
            The edits that were made.
        """
        if isinstance(script, (str, bytes, Mapping)) or not isinstance(script, Sequence):
            raise InvalidInputError("A script is a list of steps, such as [{'operation': 'drop', 'number': 3}].")
        states, edits = list(self._states), list(self._edits)
        try:
            for place, step in enumerate(script, start=1):
                try:
                    operation, arguments, about = _read_step(step)
                    self._do(operation, arguments, about["note"], about["author"])
                except InvalidInputError as error:
                    raise InvalidInputError(f"Step {place} of the script: {error} No step was taken.") from None
        except BaseException:
            self._states, self._edits = states, edits
            raise
        return Edits(self._edits[len(edits) :])

    @property
    def log(self) -> Edits:
        """The opening and all edits that were not undone."""
        return Edits(self._edits)

    @property
    def rules(self) -> RuleTable:
        """The list as it is, each term with its number as its rank, in the order of the numbers."""
        if len(self._edits) == 1:
            return self._model.rules_
        table, numbers = rank_terms(self._model, self._states[0], self._states[-1])
        rows = sorted(
            (replace(row, rank=number) for row, number in zip(table, numbers, strict=True)), key=lambda row: row.rank
        )
        return RuleTable(rows, table.about, table.told)

    def __repr__(self) -> str:
        return f"{self.rules!r}\n{self._edits[-1]!r}\n{SPENT}"

    def _repr_html_(self) -> str:
        return self.rules._repr_html_() + self._edits[-1]._repr_html_()

    def _earlier(self) -> Edits:
        """Return the log with that of earlier sessions."""
        return Edits([*(self._model.edits_ or ()), *self._edits])

    def _do(self, operation: str, arguments: Mapping[str, Any], note: Any, author: Any) -> Edit:
        """Change the list, solve for its weights and tell what that changes; an error leaves all as it was."""
        step = _make_step(operation, arguments, note, author)
        last = self._states[-1]
        changed, words = OPERATIONS[operation](last, self._about, **arguments)
        edit = self._describe(step, words)
        if changed.counts is None:
            state = _keep_level(self._model, last, changed)
        else:
            before = self._baseline if last.solved is None else last
            state = changed.solve(changed.ridge, before)
            judged = judge(self._about.target, before, state)
            moved = find_moves(before, state, self._about.outputs)
            edit = replace(edit, **judged._asdict(), honest=self._edits[0].honest, moved=moved)
        self._states.append(state)
        self._edits.append(edit)
        return edit

    def _describe(self, step: Mapping[str, Any], words: str) -> Edit:
        """Return a record of the log, without what it changes."""
        meaning = self._about.target.meaning
        name = "error" if meaning.error_is_share else meaning.error_words
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return Edit(step, printable(words), now, name, meaning.loss_words)


def recall_state(model: "BaseRuleEnsemble") -> State:
    """Return the list as it was fitted, without rows."""
    fitted = model.model_
    coefs = np.atleast_2d(fitted.coefs).T
    directions = resolve_monotonic(model.monotonic, fitted.features, fitted.names)
    return State(
        fitted.features,
        {
            number: Listed(term, own, own != 0.0, np.full(len(own), np.nan))
            for number, (term, own) in enumerate(zip(fitted.terms, coefs, strict=True), start=1)
        },
        np.atleast_1d(np.asarray(fitted.intercept, dtype=np.float64)),
        len(fitted.terms) + 1,
        frozenset(),
        np.zeros(len(fitted.features), np.int64) if directions is None else directions,
    )


def _make_step(operation: str, arguments: Mapping[str, Any], note: Any, author: Any) -> dict[str, Any]:
    """Return an edit as plain values, as JSON has them."""
    step = {"operation": operation, **arguments}
    for name, value in zip(ABOUT, (note, author), strict=True):
        if value is not None:
            if not isinstance(value, str):
                raise InvalidInputError(f"`{name}` must be text; got {value!r}.")
            step[name] = value
    return {name: _plain(value) for name, value in step.items()}


def _plain(value: Any) -> Any:
    """Return an argument as JSON has it, with texts as keys; what it has not is left to the operation to refuse."""
    if isinstance(value, Mapping):
        return {str(key): _plain(own) for key, own in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def _read_step(step: Any) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return the operation of a step of a script, its arguments, and what else it tells."""
    if not isinstance(step, Mapping) or not isinstance(step.get("operation"), str):
        raise InvalidInputError(f"It must be an object with an 'operation'; got {json.dumps(step, default=repr)}.")
    arguments = dict(step)
    operation = arguments.pop("operation")
    about = {name: arguments.pop(name, None) for name in ABOUT}
    if operation not in OPERATIONS:
        raise InvalidInputError(f"{operation!r} is not an operation; use one of {', '.join(OPERATIONS)}.")
    signature = inspect.signature(getattr(EditSession, operation))
    known = [name for name in signature.parameters if name not in ("self", *ABOUT)]
    unknown = [name for name in arguments if name not in known]
    missing = [
        name
        for name in known
        if name not in arguments and signature.parameters[name].default is inspect.Parameter.empty
    ]
    if unknown or missing:
        wrong = f"has no argument {unknown[0]!r}" if unknown else f"lacks {missing[0]!r}"
        raise InvalidInputError(f"{operation!r} {wrong}; it takes {', '.join(known)}.")
    return operation, arguments, about


def recall_cost(model: "BaseRuleEnsemble") -> Cost | None:
    """Return the honest error and loss of the fitted list on held-out rows, if they are known."""
    if model.front_ is None:
        return None
    line = model.front_[model.front_.chosen]
    return None if np.isnan(line.loss) else Cost(*map(float, (line.error, line.error_se, line.loss, line.loss_se)))


def _keep_level(model: "BaseRuleEnsemble", before: State, after: State) -> State:
    """Return a list without rows with an intercept that leaves the mean score of the training rows as it was."""
    means = {row.term: row.support if isinstance(row.term, Rule) else row.term.fill for row in model.rules_}

    def add_up(state: State) -> Any:
        return sum((own.coefs * means[own.term] for own in state.terms.values()), np.zeros(state.n_outputs))

    return replace(after, intercepts=before.intercepts + add_up(before) - add_up(after))
