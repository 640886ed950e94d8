"""Which attributes and rules come back: the selector and the stable option.

``python -m benchmarks.attributes selection [--table FILE] [--repeats 10]``
    Attributes kept against error for both criteria of `RuleAttributeSelector`, on simulated candidates and on the real
    table if its file is given: 2,500 + 2,500 training rows, the rest (or as many again) for testing. Errors are those
    of the default model and of the paper's: 600 rules of trees of 20 leaves, weighted by Fpc.
``python -m benchmarks.attributes halves [--table FILE] [--repeats 10]``
    Jaccard index of the selections on two disjoint halves of those training rows.
``python -m benchmarks.attributes rules [--table FILE] [--repeats 5]``
    Jaccard index of the rules over six seeds and over disjoint halves, and the error, of the stable option beside the
    default.

Each prints a table and writes ``benchmarks/results/attributes_<command>.csv``, one line a measurement. Fits run on one
thread.
"""

import argparse
import csv
import functools
import itertools
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_selection import mutual_info_classif

from rulegrove import RuleAttributeSelector, RuleEnsembleClassifier, datasets
from rulegrove.inspection import jaccard, stability_report
from rulegrove.study.config import Config
from rulegrove.study.ensembles import paper_ensemble

RESULTS = Path(__file__).parent / "results"
N_TRAINING = 2500  # of each class
SIZES = (10, 15, 18, 21, 24)
SMALL_SETS = ("pima", "breast-w", "ion", "sonar", "phoneme")
N_SEEDS = 6


class Split(NamedTuple):
    """Training and test rows."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def simulation(repetition: int) -> Split:
    """Simulate candidates: the first of each class for training, as many for testing."""
    X, y = datasets.make_supernova_candidates(2 * N_TRAINING, 2 * N_TRAINING, random_state=repetition)
    return split(X, y, repetition, N_TRAINING)


def split(X: np.ndarray, y: np.ndarray, repetition: int, n_training: int) -> Split:
    """Draw so many training rows of each class; the rest is for testing."""
    rng = np.random.default_rng(repetition)
    drawn = [rng.permutation(np.flatnonzero(y == label))[:n_training] for label in np.unique(y)]
    training = rng.permutation(np.concatenate(drawn))
    test = np.setdiff1d(np.arange(len(y)), training)
    return Split(X[training], y[training], X[test], y[test])


def tables(path: str | None) -> dict[str, Callable[[int], Split]]:
    """Return the problems: the simulation, and the real table if there is one."""
    found: dict[str, Callable[[int], Split]] = {"simulation": simulation}
    if path is not None:
        X, y = datasets.load_autoscan(path)
        found["real table"] = lambda repetition: split(X, y, repetition, N_TRAINING)
    return found


def error(model: Any, rows: Split, kept: np.ndarray) -> float:
    """Return the test error in percent of a model that sees some of the attributes."""
    model.fit(rows.X[:, kept], rows.y)
    return 100.0 * float(np.mean(model.predict(rows.X_test[:, kept]) != rows.y_test))


def top_five(rows: Split) -> np.ndarray:
    """Return the five attributes with the most information about the class, estimated from all rows."""
    X, y = np.concatenate([rows.X, rows.X_test]), np.concatenate([rows.y, rows.y_test])
    return np.argsort(-mutual_info_classif(np.nan_to_num(X), y, random_state=0), kind="stable")[:5]


def measure_selection(path: str | None, n_repeats: int) -> Iterable[dict[str, Any]]:
    """Attributes kept and test error, for each criterion and some fixed numbers of attributes."""
    names = datasets.make_supernova_candidates(1, 1, random_state=0).feature_names
    uninformative = np.isin(names, datasets.SUPERNOVA_UNINFORMATIVE)
    for name, draw in tables(path).items():
        for repetition in range(n_repeats):
            rows = draw(repetition)
            best = top_five(rows)
            for method, mask in selections(rows, repetition).items():
                kept = np.flatnonzero(mask)
                yield {
                    "data": name,
                    "method": method,
                    "repetition": repetition,
                    "kept": int(mask.sum()),
                    "uninformative kept": int(mask[uninformative].sum()) if name == "simulation" else "",
                    "top five lost": int((~mask[best]).sum()),
                    "error": error(
                        RuleEnsembleClassifier(max_terms=None, random_state=repetition, n_jobs=1), rows, kept
                    ),
                    "error, paper's model": error(paper_ensemble(Config(), repetition, solver="fpc"), rows, kept),
                }


def selections(rows: Split, repetition: int) -> dict[str, np.ndarray]:
    """Return the masks that are compared."""
    n_features = rows.X.shape[1]
    loss = RuleAttributeSelector(random_state=repetition, n_jobs=1).fit(rows.X, rows.y)
    votes = RuleAttributeSelector(criterion="votes", random_state=repetition, n_jobs=1).fit(rows.X, rows.y)
    found = {"all": np.ones(n_features, dtype=bool), "votes": votes.get_support()}
    found["loss"] = loss.get_support()
    for size in SIZES:
        found[f"loss, {size}"] = loss.ranking_ <= size
        found[f"votes, {size}"] = votes.ranking_ <= size
    return found


def measure_halves(path: str | None, n_repeats: int) -> Iterable[dict[str, Any]]:
    """Jaccard index of the selections on two disjoint halves."""
    for name, draw in tables(path).items():
        for repetition, criterion in itertools.product(range(n_repeats), ("loss", "votes")):
            rows = draw(repetition)
            kept = []
            for half in (slice(0, None, 2), slice(1, None, 2)):
                selector = RuleAttributeSelector(criterion=criterion, random_state=repetition, n_jobs=1)
                kept.append(set(selector.fit(rows.X[half], rows.y[half]).get_support(indices=True).tolist()))
            yield {
                "data": name,
                "method": criterion,
                "repetition": repetition,
                "kept": sum(map(len, kept)) / 2,
                "jaccard": jaccard(*kept),
            }


def measure_rules(path: str | None, n_repeats: int) -> Iterable[dict[str, Any]]:
    """Jaccard index of rules over seeds and over halves, size and error, of the default and the stable option."""
    problems = tables(path)
    for name in SMALL_SETS:
        problems[name] = functools.partial(half_of, name)
    for (name, draw), repetition in itertools.product(problems.items(), range(n_repeats)):
        rows = draw(repetition)
        for method, stable in (("default", False), ("stable", True)):
            model = RuleEnsembleClassifier(stable=stable, max_terms=None, random_state=repetition, n_jobs=1)
            over_seeds = stability_report(
                model, rows.X, rows.y, vary="seeds", n_repeats=N_SEEDS, random_state=repetition
            )
            over_halves = stability_report(model, rows.X, rows.y, n_repeats=2, random_state=repetition)
            yield {
                "data": name,
                "method": method,
                "repetition": repetition,
                "seeds, rules": over_seeds.rule_jaccard,
                "halves, rules": over_halves.rule_jaccard,
                "halves, families": over_halves.family_jaccard,
                "halves, attributes": over_halves.attribute_jaccard,
                "terms": over_seeds.n_terms,
                "error": error(model, rows, np.arange(rows.X.shape[1])),
            }


def half_of(name: str, repetition: int) -> Split:
    """Split a bundled set at random: a half for training, a half for testing."""
    X, y = datasets.load(name, return_X_y=True)
    order = np.random.default_rng(repetition).permutation(len(y))
    training, test = np.array_split(order, 2)
    return Split(X[training], y[training], X[test], y[test])


COMMANDS = {"selection": measure_selection, "halves": measure_halves, "rules": measure_rules}


def report(lines: list[dict[str, Any]]) -> None:
    """Print the means by data and method, with the standard error over the repetitions."""
    values = [key for key in lines[0] if key not in ("data", "method", "repetition")]
    print("| data | method | " + " | ".join(values) + " |")
    print("|---" * (2 + len(values)) + "|")
    for data, method in dict.fromkeys((line["data"], line["method"]) for line in lines):
        cells = []
        for value in values:
            seen = [line[value] for line in lines if (line["data"], line["method"]) == (data, method)]
            numbers = np.array([number for number in seen if number != ""], dtype=float)
            spread = numbers.std(ddof=1) / np.sqrt(numbers.size) if numbers.size > 1 else 0.0
            cells.append(f"{numbers.mean():.2f} ± {spread:.2f}" if numbers.size else "")
        print(f"| {data} | {method} | " + " | ".join(cells) + " |")


def main() -> None:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--table", help="CSV file of the real candidates, see `rulegrove.datasets.load_autoscan`")
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = list(COMMANDS[options.command](options.table, options.repeats))
    with (RESULTS / f"attributes_{options.command}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, lines[0])
        writer.writeheader()
        writer.writerows(lines)
    report(lines)


if __name__ == "__main__":
    main()
