"""Whether evidence holds, on simulated tables whose truth is known: ``python -m benchmarks.evidence``.

Each table is fitted with ``evidence="split"``. What its rules are worth in the population is computed from 200,000 rows
without noise. A rule on attributes that have nothing to do with the target, nor with any attribute that has, is one
without effect, against the base rate and given the other terms. The tables of docs/measured.md.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import expit

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.estimators._given_others import OfNumbers, OfShares, TargetSums
from rulegrove.estimators._tails import count_tail
from rulegrove.estimators.evidence import RuleEvidence

N_TABLES = 200  # of each design
N_ROWS = 400  # of which half are counted
N_POPULATION = 200_000
N_ATTRIBUTES = 8
LEVELS = (0.01, 0.05, 0.1)
RATE = 0.1  # false discoveries that are allowed
# Folds that share rules keep some even of noise, so that there is something to be tested.
FEW = {"max_terms": 10, "cv": 3, "honest_cv": False, "n_jobs": 1}
GIVEN = [
    "x0 > 0.6 and x1 > 0.3",
    "x2 > 0.5",
    "x3 < 0.3",
    "x4 > 0.5",
    "x4 > 0.5 and x5 > 0.3",
    "x5 < 0.6",
    "x6 > 0.8 and x4 < 0.7",
    "x7 < 0.06",
    "x6 > 0.5",
    "x7 > 0.4 and x6 > 0.3",
]


@dataclass(frozen=True)
class Design:
    """How tables are made.

    Attributes
    ----------
    classes : bool
        Whether the target is one of two classes.
    made : bool
        Whether three rules on the first four attributes make it, or nothing does.
    noise : callable, optional
        Given the random numbers and the attributes, what is added to a target of numbers.
    given : bool
        Whether the list is `GIVEN`, of which 3 rules have an effect and 7 have none, instead of grown.
    terms : {"rules", "both"}
    shift : float
        Log odds of the second class without any rule.
    """

    classes: bool
    made: bool
    noise: Callable[[np.random.Generator, np.ndarray], np.ndarray] | None = None
    given: bool = False
    terms: str = "rules"
    shift: float = -0.5

    def score(self, X: np.ndarray) -> np.ndarray:
        """Return what the made rules add up to."""
        if not self.made:
            return np.zeros(len(X))
        rules = (X[:, 0] > 0.6) & (X[:, 1] > 0.3), X[:, 2] > 0.5, X[:, 3] < 0.3
        return rules[0] * 1.5 + rules[1] * 1.0 - rules[2] * 0.8

    def expect(self, X: np.ndarray) -> np.ndarray:
        """Return the mean target of each row."""
        return expit(self.score(X) + self.shift) if self.classes else self.score(X)

    def make(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return a table."""
        X = rng.uniform(size=(N_ROWS, N_ATTRIBUTES))
        if self.classes:
            return X, (rng.random(N_ROWS) < self.expect(X)).astype(int)
        assert self.noise is not None
        return X, self.expect(X) + self.noise(rng, X)

    def fit(self, seed: int) -> Any:
        """Return a model of one table."""
        X, y = self.make(np.random.default_rng(seed))
        kind = RuleEnsembleClassifier if self.classes else RuleEnsembleRegressor
        more = {"rules": GIVEN, "force_rules": True, "n_candidates": 0} if self.given else {"n_candidates": 200}
        return kind(evidence="split", random_state=seed, terms=self.terms, **FEW, **more).fit(X, y)


def skewed(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Return exponential noise."""
    return rng.exponential(size=len(X)) - 1.0


def uneven(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """Return noise that grows with an attribute of no effect."""
    return rng.normal(size=len(X)) * (0.3 + 2.0 * X[:, 5])


DESIGNS = {
    "classes, none": Design(classes=True, made=False),
    "rare class, none": Design(classes=True, made=False, shift=-2.5),
    "classes, made": Design(classes=True, made=True),
    "classes, made and given": Design(classes=True, made=True, given=True),
    "skewed numbers, none": Design(classes=False, made=False, noise=skewed),
    "uneven numbers, made, lines": Design(classes=False, made=True, noise=uneven, terms="both"),
    "skewed numbers, made and given": Design(classes=False, made=True, noise=skewed, given=True),
}


@dataclass(frozen=True)
class Judged:
    """What became of one table; an entry for each rule.

    Attributes
    ----------
    alone, beside, randomised : ndarray
        P-values against the base rate, given the others, and randomised ones against the base rate (classes).
    null_alone, null_beside : ndarray of bool
        Whether there is no effect at all.
    true_alone, true_beside : ndarray of bool
        Whether what the rule claims holds in the population.
    found_alone, found_beside : ndarray of bool
        Whether it is called established.
    covered : dict of bool
        Whether the intervals for all rules at once hold for all of them.
    """

    alone: np.ndarray
    beside: np.ndarray
    randomised: np.ndarray
    null_alone: np.ndarray
    null_beside: np.ndarray
    true_alone: np.ndarray
    true_beside: np.ndarray
    found_alone: np.ndarray
    found_beside: np.ndarray
    covered: dict[str, bool]


@cache
def populate() -> np.ndarray:
    """Return the attributes of the population."""
    return np.random.default_rng(2**20).uniform(size=(N_POPULATION, N_ATTRIBUTES))


def judge(name: str, seed: int) -> Judged | None:
    """Fit one table and compare its evidence with the population; None where the list has no rule."""
    design, model = DESIGNS[name], DESIGNS[name].fit(seed)
    evidence = model.evidence_
    if not evidence.rules:
        return None
    places = np.array([rule.rank - 1 for rule in evidence.rules])
    X = populate()
    goals, values = design.expect(X), model.transform_rules(X).astype(np.float64)
    held = values[:, places]
    means, base = held.T @ goals / held.sum(axis=0), goals.mean()
    signs = np.sign([rule.coefficient for rule in evidence.rules])
    coefs = solve(values, goals, classes=design.classes)[places]
    null_alone, null_beside = find_nulls(model, places, design)
    return Judged(
        alone=evidence.p_value,
        beside=evidence.p_value_given_others,
        randomised=randomise(evidence, np.random.default_rng(seed)),
        null_alone=null_alone,
        null_beside=null_beside,
        true_alone=~null_alone & (signs * (means - base) > 0.0),
        true_beside=~null_beside & (signs * coefs > 0.0),
        found_alone=evidence.established,
        found_beside=evidence.established_given_others,
        covered=cover(evidence, signs, means, base, coefs, held.mean(axis=0)),
    )


def solve(values: np.ndarray, goals: np.ndarray, *, classes: bool) -> np.ndarray:
    """Return the population coefficients of all terms."""
    spreads = values.std(axis=0)
    columns = np.column_stack(
        [np.ones(len(values)), (values - values.mean(axis=0)) / np.where(spreads > 0, spreads, 1)]
    )
    ones = np.ones(len(goals))
    sums = TargetSums(ones, ones, ones, ones, goals, goals, goals, goals, goals)
    return (OfShares() if classes else OfNumbers()).fit(columns, sums).coef[1:] / np.where(spreads > 0, spreads, np.inf)


def find_nulls(model: Any, places: np.ndarray, design: Design) -> tuple[np.ndarray, np.ndarray]:
    """Tell which rules are about attributes of no effect, and which of these no chain of terms links to an effect."""
    of_terms = [set(term.features) for term in model.model_.terms]
    signal = set(range(4)) if design.made else set()
    linked = set(signal)
    for _ in of_terms:
        linked = linked.union(*(own for own in of_terms if own & linked))
    alone = np.array([not of_terms[place] & signal for place in places])
    return alone, np.array([not of_terms[place] & linked for place in places])


def randomise(evidence: RuleEvidence, rng: np.random.Generator) -> np.ndarray:
    """Return p-values of exact tests that are uniform: of as many events a share by chance."""
    if evidence.confidence is None or evidence.base_rate is None:
        return np.full(len(evidence.rules), np.nan)
    found = np.rint(np.nan_to_num(evidence.confidence.values) * evidence.n_held).astype(int)
    events = np.rint(evidence.base_rate * evidence.n_rows).astype(int)
    sizes = zip(found.tolist(), evidence.n_held.tolist(), events.tolist(), strict=True)
    tails = [count_tail(*counts, evidence.n_rows) for counts in sizes]
    return np.array([one.more + rng.random() * one.equal for one in tails])


def cover(
    evidence: RuleEvidence, signs: np.ndarray, means: np.ndarray, base: float, coefs: np.ndarray, supports: np.ndarray
) -> dict[str, bool]:
    """Tell of which quantities the intervals for all rules at once hold."""
    truths = {"support": supports, "coefficient": coefs, "mean_target": means}
    if evidence.confidence is not None:
        truths["confidence"] = np.where(signs > 0, means, 1.0 - means)
        truths["lift"] = truths["confidence"] / np.where(signs > 0, base, 1.0 - base)
    covered = {}
    for name, truth in truths.items():
        if (own := getattr(evidence, name)) is not None:
            slack = 1e-9 + 0.002 * np.abs(truth)  # of the population, which has an end too
            covered[name] = bool(((own.low_all - slack <= truth) & (truth <= own.high_all + slack)).all())
    return covered


def share(tables: Sequence[Judged], chosen: str, counted: Callable[[Judged], np.ndarray]) -> tuple[float, float]:
    """Return the share of some rules, and its standard error; rules of one table are not independent."""
    hits = np.array([(counted(one) & getattr(one, chosen)).sum() for one in tables], dtype=float)
    sizes = np.array([getattr(one, chosen).sum() for one in tables], dtype=float)
    if not sizes.sum():
        return np.nan, np.nan
    rate = hits.sum() / sizes.sum()
    return rate, float(np.sqrt(((hits - rate * sizes) ** 2).sum()) / sizes.sum())


def tell(rate: tuple[float, float]) -> str:
    """Return a share in percent with its standard error."""
    return "" if np.isnan(rate[0]) else f"{100 * rate[0]:.2f} ± {100 * rate[1]:.2f}"


def tell_levels(tables: Sequence[Judged]) -> dict[str, str]:
    """Return how often p-values of rules without effect are as small as levels."""
    cells = {}
    for test, chosen in (("alone", "null_alone"), ("randomised", "null_alone"), ("beside", "null_beside")):
        if any(np.isnan(getattr(one, test)).any() for one in tables):
            continue
        for level in LEVELS:
            cells[f"{test} {level:g}"] = tell(
                share(tables, chosen, lambda one, test=test, level=level: getattr(one, test) <= level)
            )
    return cells


def tell_rates(tables: Sequence[Judged]) -> dict[str, str]:
    """Return false discovery rates, power, and how often intervals hold for all rules."""
    cells = {}
    for test in ("alone", "beside"):
        parts = [(getattr(one, f"found_{test}"), getattr(one, f"true_{test}")) for one in tables]
        false = np.array([(found & ~true).sum() / max(found.sum(), 1) for found, true in parts])
        cells[f"false {test}"] = tell((float(false.mean()), float(false.std() / np.sqrt(len(false)))))
        cells[f"power {test}"] = tell(
            share(tables, f"true_{test}", lambda one, test=test: getattr(one, f"found_{test}"))
        )
    for name in ("confidence", "lift", "mean_target", "coefficient"):
        covered = [one.covered[name] for one in tables if name in one.covered]
        if covered:
            rate = float(np.mean(covered))
            cells[f"{name} covered"] = tell((rate, float(np.sqrt(rate * (1 - rate) / len(covered)))))
    return cells


def run(names: Iterable[str], n_tables: int, n_workers: int) -> dict[str, list[Judged]]:
    """Return what became of all tables that have a list with rules."""
    found = {}
    with ProcessPoolExecutor(n_workers) as pool:
        for name in names:
            judged = pool.map(judge, [name] * n_tables, range(n_tables), chunksize=10)
            found[name] = [one for one in judged if one is not None]
            print(f"{name}: {len(found[name])} of {n_tables} lists have rules", flush=True)
    return found


def print_table(rows: dict[str, dict[str, str]]) -> None:
    """Print a table of percentages."""
    heads = list(dict.fromkeys(head for cells in rows.values() for head in cells))
    print(f"\n| % | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 1)}")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells.get(head, '') for head in heads)} |")


def main() -> None:
    """Print how often p-values of nothing are small, false discoveries, power and coverage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=N_TABLES, help="tables of each design")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("designs", nargs="*", default=list(DESIGNS), help="some of the designs")
    given = parser.parse_args()
    found = run(given.designs, given.tables, given.workers)
    print_table({name: tell_levels(tables) for name, tables in found.items() if tables})
    print_table({name: tell_rates(tables) for name, tables in found.items() if tables})


if __name__ == "__main__":
    main()
