"""What the parameters of an estimator ask of a fit, as one record."""

from dataclasses import dataclass, fields
from typing import Any, Self

from rulegrove.columns import Reading
from rulegrove.exceptions import InvalidInputError


@dataclass(frozen=True)
class Settings:
    """The parameters of a fit that do not depend on the kind of target, as the estimators document them.

    Examples
    --------
    >>> from rulegrove import RuleEnsembleRegressor
    >>> Settings.of(RuleEnsembleRegressor(max_terms=10)).max_terms
    10
    """

    n_candidates: int = 2000
    max_terms: int | str | None = "auto"
    max_rules: int | None = None
    n_runs: int = 1
    mean_leaves: float = 4.0
    subsample: str | int | float = "auto"
    shrinkage: float = 0.03
    max_features: str | int | float | None = None
    min_samples_leaf: int = 5
    min_impurity: float = 0.0
    max_conditions: int | None = None
    max_attributes: int | None = None
    interactions: Any = None
    max_bins: int = 255
    max_correlation: float = 0.9
    stable: bool | float = False
    n_resamples: int = 0
    monotonic: Any = None
    terms: str = "both"
    trees: Any = None
    rules: Any = None
    force_rules: bool = False
    tree_loss: str = "auto"
    categorical_features: Any = "auto"
    numeric_features: Any = None
    identifiers: Any = "auto"
    solver: Any = "auto"
    selection: str | float = "auto"
    cv: Any = 5
    honest_cv: bool | str = "auto"
    evidence: str | None = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Return the settings that the parameters of an estimator stand for."""
        return cls(**{field.name: getattr(estimator, field.name) for field in fields(cls)})

    def __post_init__(self) -> None:
        if self.terms == "linear" and (self.trees is not None or self.rules is not None):
            name = "rules" if self.rules is not None else "trees"
            raise InvalidInputError(
                f"A model with terms='linear' has no rules, so it cannot use `{name}`; set terms='both'."
            )
        if self.trees is not None and self.n_candidates == 0:
            raise InvalidInputError("n_candidates=0 takes no rules from `trees`; raise it, or leave `trees` out.")
        if self.trees is not None and self.honest_cv != "auto" and self.honest_cv:
            raise InvalidInputError(
                "honest_cv=True grows rules separately for each fold, which is not possible with given `trees`; use "
                "'auto' or False."
            )
        if self.trees is not None and self.evidence is not None:
            raise InvalidInputError(
                "evidence='split' sets rows apart, but the given `trees` may have seen them; give separate rows to "
                "`fit`."
            )
        if self.force_rules and (self.rules is None or len(self.rules) == 0):
            raise InvalidInputError("force_rules=True puts `rules` into the model, but there are none; give some.")
        alone = self.n_candidates == 0 and self.rules is not None
        if self.trees is None and self.n_candidates < 2 and self.terms != "linear" and not alone:
            ways = "at least 2, or 0 together with `rules` of your own or terms='linear'"
            raise InvalidInputError(f"`n_candidates` must be {ways}; got {self.n_candidates}.")

    @property
    def grows(self) -> bool:
        """Whether rules are grown; given ones are the same for all outputs and folds."""
        return self.trees is None and (self.n_candidates > 0 or self.terms == "linear")

    @property
    def validates(self) -> bool:
        """Whether the point of the path is chosen by cross-validation; one that is given needs none."""
        return isinstance(self.selection, str)

    @property
    def reading(self) -> Reading:
        """What is said about the columns; given trees have seen every one of them."""
        return Reading(
            categorical=self.categorical_features,
            numeric=self.numeric_features,
            identifiers=self.identifiers if self.trees is None else None,
            max_categories=self.max_bins,
        )

    def is_open(self, name: str) -> bool:
        """Whether a setting is left to be settled by the data."""
        value = getattr(self, name)
        return is_auto(value) or (name == "cv" and value is None)


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to be settled by the data."""
    return isinstance(value, str) and value == "auto"
