"""How much lists from other rows have in common, and what it costs: ``python -m benchmarks.steadiness [NAME ...]``.

Each of the paper's ten sets is split into disjoint halves, each half gets a list of exactly ten terms a class (the line
of that length on the front), and the two lists are compared in three ways: by their exact words; by attribute, side and
decile of all rows; by coverage, whether a rule of one holds on nearly the rows of a rule of the other (Jaccard index of
at least 0.8). The figure is what both have over what either has, the mean over classes. A linear term is the same where
it is of the same attribute. The error is that on the other half.

SIRUS fits the same halves, ten rules a class, in the environment of the peers (``make bench-peers``); of several
classes each has a list of its own against the rest. Writes ``benchmarks/results/steadiness.csv``, a line a split, and
prints the means of the sets; lines of other sets, splits and methods that are there stay. ``--table`` prints those of a
file that is there.
"""

import argparse
import csv
import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "steadiness.csv"
PEERS = ROOT / ".venv-peers" / "bin" / "python"
N_TERMS = 10
N_SPLITS = 5
SIRUS = "SIRUS"
METHODS: dict[str, dict[str, Any]] = {
    "default": {},
    "rules": {"terms": "rules"},
    **{f"stable={own}": {"stable": own} for own in (0.2, 0.35, 0.45, 0.5, 0.65, 0.8, 0.9, 0.95)},
    **{f"stable={own}, rules": {"stable": own, "terms": "rules"} for own in (0.5, 0.8, 0.95)},
}
FIELDS = ("set", "method", "split", "words", "deciles", "coverage", "error", "error_other", "terms")
# A term: bounds of attributes, (attribute, lower, upper) each, lower bounds being outside; a linear term has none.
Bounds = list[list[Any]]


def halve(y: np.ndarray, split: int) -> list[np.ndarray]:
    """Return the rows of two disjoint halves with the same shares of classes."""
    from sklearn.model_selection import StratifiedKFold

    splitter = StratifiedKFold(2, shuffle=True, random_state=split)
    return list(next(iter(splitter.split(np.zeros((len(y), 1)), y))))


def fit_ours(settings: dict[str, Any], X: np.ndarray, y: np.ndarray, rows: np.ndarray, split: int) -> dict[str, Any]:
    """Return the terms of each class of a list of ten terms, and what it predicts on all rows."""
    from rulegrove import RuleEnsembleClassifier

    model = RuleEnsembleClassifier(random_state=split, n_jobs=1, max_terms=N_TERMS, **settings).fit(X[rows], y[rows])
    line = max((line for line in model.front_ if line.terms <= N_TERMS), key=lambda line: line.terms)
    own = line.fitted.model
    predicted = own.decide(own.score(model.read_columns(X)))
    coefs = np.atleast_2d(own.coefs)
    lists = [[tell_term(own.terms[place]) for place in np.flatnonzero(coef)] for coef in coefs]
    return {"lists": lists, "predicted": np.asarray(predicted).tolist()}


def tell_term(term: Any) -> Bounds:
    """Return the bounds of a rule or of a linear term, which has none."""
    if not hasattr(term, "conditions"):
        return [[int(term.feature), None, None]]
    return [[int(one.feature), float(one.lower), float(one.upper)] for one in term.conditions]


def fit_sirus(X: np.ndarray, y: np.ndarray, rows: np.ndarray, split: int) -> dict[str, Any]:
    """Return the same of SIRUS; of several classes each against the rest."""
    import sirus

    labels = np.unique(y)
    outputs = [labels[-1:], *()] if labels.size == 2 else [labels[place : place + 1] for place in range(labels.size)]
    lists, scores = [], []
    for label in outputs:
        model = sirus.SirusClassifier(num_rules=N_TERMS, random_state=split, n_jobs=1)
        model.fit(X[rows], (y[rows] == label).astype(int))
        lists.append([[tell_condition(one) for one in rule.conditions] for rule in model.rules_])
        scores.append(model.predict_proba(X)[:, 1])
    best = (scores[0] > 0.5).astype(int) if labels.size == 2 else np.argmax(scores, axis=0)
    return {"lists": lists, "predicted": labels[best].tolist()}


def tell_condition(condition: Any) -> list[Any]:
    """Return the bounds of a condition of SIRUS, ``<`` or ``>=`` a value."""
    edge = float(np.nextafter(condition.value, -np.inf))
    below = condition.op == "<"
    return [int(condition.feature), -np.inf if below else edge, edge if below else np.inf]


def ask_peers(X: np.ndarray, y: np.ndarray, rows: np.ndarray, split: int) -> dict[str, Any]:
    """Fit SIRUS in its own environment; missing values, which it cannot have, are medians."""
    X = np.where(np.isnan(X), np.nanmedian(X[rows], axis=0), X)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "request.npz"
        np.savez(path, X=X, y=y, rows=rows, split=split)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        command = [str(PEERS), "-m", "benchmarks.steadiness", "--request", str(path)]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def answer(path: Path) -> None:
    """Fit SIRUS to what a request asks for."""
    warnings.simplefilter("ignore")
    with np.load(path, allow_pickle=False) as own:
        print(json.dumps(fit_sirus(own["X"], own["y"], own["rows"], int(own["split"]))))


def name_words(term: Bounds) -> Any:
    """Return what is the same for terms of the same words."""
    return tuple(sorted(map(tuple, term), key=repr))


def name_deciles(term: Bounds, tenths: np.ndarray) -> Any:
    """Return what is the same for terms of the same attributes, sides and deciles."""
    sides = []
    for feature, lower, upper in term:
        if lower is None:
            sides.append((feature, "line", 0))
            continue
        for side, bound in ((">", lower), ("<=", upper)):
            if np.isfinite(bound):
                sides.append((feature, side, int(np.searchsorted(tenths[:, feature], bound))))
    return tuple(sorted(sides))


def hold(term: Bounds, X: np.ndarray) -> np.ndarray:
    """Return the rows on which a rule holds."""
    return np.all([(X[:, feature] > lower) & (X[:, feature] <= upper) for feature, lower, upper in term], axis=0)


def jaccard(one: Iterable[Any], other: Iterable[Any]) -> float:
    """Return what both have over what either has."""
    one, other = set(one), set(other)
    return len(one & other) / len(one | other) if one or other else 1.0


def compare_coverage(one: Sequence[Bounds], other: Sequence[Bounds], X: np.ndarray) -> float:
    """Return the largest share of terms that can be paired with one of the other list that says nearly the same."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    alike = np.zeros((len(one), len(other)), dtype=bool)
    for (i, a), (j, b) in itertools.product(enumerate(one), enumerate(other)):
        if a[0][1] is None or b[0][1] is None:
            alike[i, j] = a == b
        else:
            held, own = hold(a, X), hold(b, X)
            alike[i, j] = np.sum(held & own) >= 0.8 * max(1, np.sum(held | own))
    paired = int(np.sum(maximum_bipartite_matching(csr_array(alike), perm_type="column") >= 0)) if alike.size else 0
    return paired / max(1, len(one) + len(other) - paired)


def one_split(task: tuple[str, int, Sequence[str]]) -> list[dict[str, Any]]:
    """Compare the lists of two halves, of every method."""
    from rulegrove import datasets

    name, split, methods = task
    warnings.simplefilter("ignore")
    table, y = datasets.load(name, return_X_y=True)
    X, codes = np.asarray(table, dtype=np.float64), np.unique(y, return_inverse=True)[1]
    tenths = np.nanquantile(X, np.arange(1, 10) / 10, axis=0)
    halves = halve(codes, split)
    lines = []
    for method in methods:
        own = [
            ask_peers(X, codes, rows, split) if method == SIRUS else fit_ours(METHODS[method], X, codes, rows, split)
            for rows in halves
        ]
        pairs = list(zip(own[0]["lists"], own[1]["lists"], strict=True))
        errors = [
            100.0 * float(np.mean(np.asarray(one["predicted"])[rows] != codes[rows]))
            for one, rows in zip(own, halves[::-1], strict=True)
        ]
        named = [[{name_deciles(term, tenths) for term in terms} for terms in pair] for pair in pairs]
        lines.append(
            {
                "set": name,
                "method": method,
                "split": split,
                "words": np.mean([jaccard(map(name_words, a), map(name_words, b)) for a, b in pairs]),
                "deciles": np.mean([jaccard(a, b) for a, b in named]),
                "coverage": np.mean([compare_coverage(a, b, X) for a, b in pairs]),
                "error": errors[0],
                "error_other": errors[1],
                "terms": np.mean([len(terms) for pair in pairs for terms in pair]),
            }
        )
    return lines


def tell(lines: Sequence[dict[str, Any]]) -> None:
    """Print the means of each set and method, and of all sets."""
    figures = ("words", "deciles", "coverage")
    sets = list(dict.fromkeys(line["set"] for line in lines))
    methods = list(dict.fromkeys(line["method"] for line in lines))
    found: dict[tuple[str, str], np.ndarray] = {}
    for own, method in itertools.product(sets, methods):
        here = [line for line in lines if (line["set"], line["method"]) == (own, method)]
        if here:
            errors = [(float(line["error"]) + float(line["error_other"])) / 2 for line in here]
            rows = [[float(line[figure]) for figure in figures] for line in here]
            found[own, method] = np.array([*np.mean(rows, axis=0), np.mean(errors)])
    print(f"{'':12} " + " ".join(f"{method:>24}" for method in methods))
    for own in [*sets, "mean"]:
        cells = []
        for method in methods:
            known = [found[one, method] for one in (sets if own == "mean" else [own]) if (one, method) in found]
            a, b, c, error = np.mean(known, axis=0) if known else np.full(4, np.nan)
            cells.append(f"{a:.2f} / {b:.2f} / {c:.2f} {error:6.2f}")
        print(f"{own:12} " + " ".join(f"{cell:>24}" for cell in cells))
    for method in methods:
        if SIRUS in methods and method != SIRUS:
            both = [(found[own, method], found[own, SIRUS]) for own in sets if (own, SIRUS) in found]
            better = sum(bool(np.all(a[1:3] >= b[1:3]) and a[3] <= b[3]) for a, b in both)
            print(f"{method}: at least as stable as SIRUS by decile and by coverage, and no worse, on {better} sets")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="some of the sets")
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--methods", nargs="+", default=[*METHODS, SIRUS])
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--request", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.request:
        answer(given.request)
        return
    from rulegrove import datasets

    if not given.table:
        names = given.names or datasets.names()
        measure(list(itertools.product(names, range(given.splits), [given.methods])), given.out)
    tell(read(given.out))


def measure(tasks: Sequence[tuple[str, int, Sequence[str]]], path: Path) -> None:
    """Measure splits in two processes, and write their lines in place of those that are there, as they come."""
    asked = {(name, method, str(split)) for name, split, methods in tasks for method in methods}
    kept = [line for line in read(path) if (line["set"], line["method"], line["split"]) not in asked]
    with (
        ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool,
        path.open("w", newline="") as handle,
    ):
        writer = csv.DictWriter(handle, FIELDS)
        writer.writeheader()
        writer.writerows(kept)
        for part in pool.map(one_split, tasks):
            writer.writerows(part)
            handle.flush()
            print(f"{part[0]['set']} {part[0]['split']}", file=sys.stderr)


def read(path: Path) -> list[dict[str, Any]]:
    """Read lines that were written; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as handle:
        return list(csv.DictReader(handle))


if __name__ == "__main__":
    main()
