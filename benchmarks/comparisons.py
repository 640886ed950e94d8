"""What is measured: each function runs one comparison and returns its measured lines."""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold

from benchmarks import problems
from benchmarks.timing import best_seconds, compare, in_new_process
from rulegrove import RuleEnsembleClassifier, datasets
from rulegrove.design.bits import BitMatrix


@dataclass(frozen=True)
class Line:
    """One measured figure beside its target."""

    work: str
    ours: str
    theirs: str
    figure: float
    target: float
    at_least: bool = True
    unit: str = "x"

    @property
    def met(self) -> bool:
        """Whether the target is reached."""
        return self.figure >= self.target if self.at_least else self.figure <= self.target


def faster(work: str, ours: float, theirs: float, target: float) -> Line:
    """Return the line of a comparison of seconds."""
    return Line(work, f"{ours:.3f} s", f"{theirs:.3f} s", theirs / ours, target)


def _model() -> RuleEnsembleClassifier:
    return RuleEnsembleClassifier(n_candidates=600, random_state=0)


def imodels_rulefit() -> list[Line]:
    """Fit 5,000 rows beside imodels' RuleFit, and compare the errors on other rows."""
    from imodels import RuleFitClassifier

    X, y = problems.candidates(10_000)
    train, test = slice(0, 5000), slice(5000, None)
    ours = _model()
    ours.fit(X[train], y[train])
    start = time.perf_counter()
    ours.fit(X[train], y[train])
    seconds = time.perf_counter() - start
    theirs = RuleFitClassifier(max_rules=600, n_estimators=200, tree_size=6, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        theirs.fit(X[train], (y[train] > 0).astype(int))
        their_seconds = time.perf_counter() - start
        their_error = float(np.mean((theirs.predict(X[test]) > 0.5) != (y[test] > 0)))
    error = float(np.mean(ours.predict(X[test]) != y[test]))
    return [
        faster("fit 5,000 rows, against imodels RuleFitClassifier", seconds, their_seconds, 100),
        Line(
            "  its error on 5,000 other rows",
            f"{error:.2%}",
            f"{their_error:.2%}",
            100 * error,
            100 * their_error,
            False,
            "%",
        ),
    ]


def hist_gradient_boosting(n_rows: int, target: float, repeats: int) -> list[Line]:
    """Fit beside scikit-learn's gradient boosting."""
    X, y = problems.candidates(n_rows) if n_rows <= 50_000 else problems.many_candidates(n_rows)
    work = f"fit {n_rows:,} rows, against HistGradientBoostingClassifier"
    ours, theirs = compare(
        lambda: _model().fit(X, y), lambda: HistGradientBoostingClassifier(random_state=0).fit(X, y), repeats
    )
    return [faster(work, ours, theirs, target)]


DEFAULT_RATIOS = {10_000: 2.0, 20_000: 2.0, 100_000: 3.0, 1_000_000: 6.0}  # of our speed to theirs
DEFAULT_SECONDS = {"pima": 0.4, "iris": 0.7, "glass": 0.7, "vehicle": 0.7}


def default_fits() -> list[Line]:
    """Fit with default settings: large tables beside scikit-learn's gradient boosting, small ones against the clock."""
    lines = []
    for n_rows, target in DEFAULT_RATIOS.items():
        X, y = problems.candidates(n_rows) if n_rows <= 50_000 else problems.many_candidates(n_rows)
        ours, theirs = compare(
            lambda X=X, y=y: RuleEnsembleClassifier(random_state=0).fit(X, y),
            lambda X=X, y=y: HistGradientBoostingClassifier(random_state=0).fit(X, y),
            2 if n_rows > 50_000 else 5,
        )
        lines.append(faster(f"default fit of {n_rows:,} rows, against the same", ours, theirs, target))
    for name, limit in DEFAULT_SECONDS.items():
        X, y = datasets.load(name, return_X_y=True)
        seconds = best_seconds(lambda X=X, y=y: RuleEnsembleClassifier(random_state=0).fit(X, y))
        lines.append(Line(f"default fit of {name}", f"{seconds:.2f} s", "", seconds, limit, at_least=False, unit="s"))
    return lines


def shared_classes(repeats: int = 3) -> list[Line]:
    """Fit ten classes with one pool of rules beside scikit-learn's gradient boosting; half of pendigits."""
    X, y = datasets.load("pendigits", return_X_y=True)
    train, _ = next(StratifiedKFold(2, shuffle=True, random_state=0).split(X, y))
    model = RuleEnsembleClassifier(multiclass="shared", random_state=0)
    ours, theirs = compare(
        lambda: model.fit(X[train], y[train]),
        lambda: HistGradientBoostingClassifier(random_state=0).fit(X[train], y[train]),
        repeats,
    )
    work = "fit pendigits, rules shared by ten classes, against HistGradientBoostingClassifier"
    return [Line(work, f"{ours:.2f} s", f"{theirs:.2f} s", ours / theirs, 3, at_least=False)]


def peak_memory(n_rows: int = 1_000_000) -> list[Line]:
    """Peak memory of a fit, in tables."""
    seen = in_new_process("benchmarks.memory", str(n_rows))
    table, peak = seen["table"], seen["peak"]
    work = f"peak memory of fitting {n_rows:,} rows, table included"
    return [Line(work, f"{peak / 1e6:.0f} MB", f"{table / 1e6:.0f} MB table", peak / table, 2.5, at_least=False)]


def gram(n_rules: int = 2000, n_rows: int = 100_000) -> list[Line]:
    """Gram of rules beside NumPy's float32 product."""
    columns = problems.rule_columns(n_rules, n_rows)
    octets = np.packbits(columns, axis=0, bitorder="little").T
    words = np.zeros((n_rules, -(-n_rows // 64)), dtype=np.uint64)
    words.view(np.uint8)[:, : octets.shape[1]] = octets
    bits = BitMatrix(words, n_rows)
    dense = columns.astype(np.float32)
    ours, theirs = compare(lambda: bits.gram(n_threads=os.cpu_count() or 1), lambda: dense.T @ dense)
    assert np.array_equal(bits.gram(), (dense.T @ dense).astype(np.int64)), "the two Grams differ"
    target = 8 if "avx512_vpopcntdq" in _cpu_flags() else 3
    return [faster(f"Gram of {n_rules:,} rules x {n_rows:,} rows, against float32 X.T @ X", ours, theirs, target)]


def _cpu_flags() -> str:
    """Features of the processor, as Linux lists them."""
    listing = Path("/proc/cpuinfo")
    lines = listing.read_text().splitlines() if listing.exists() else []
    return next((line for line in lines if line.startswith("flags")), "")


def predict(n_rows: int = 1_000_000, n_terms: int = 100) -> list[Line]:
    """Predict beside scikit-learn's gradient boosting."""
    X, y = problems.many_candidates(n_rows)
    few = slice(0, 20_000)
    model = RuleEnsembleClassifier(n_candidates=600, terms="rules", selection=1e-6, max_terms=n_terms, random_state=0)
    model.fit(X[few], y[few])
    boosted = HistGradientBoostingClassifier(random_state=0, early_stopping=False).fit(X[few], y[few])
    ours, theirs = compare(lambda: model.predict(X), lambda: boosted.predict(X))
    work = f"predict {n_rows:,} rows, {len(model.rules_)} terms, against HistGradientBoostingClassifier"
    return [faster(work, ours, theirs, 3)]


def first_fit() -> list[Line]:
    """Time the first fit of a new process, with an empty cache of kernels and with a full one."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-m", "benchmarks.first_fit"]
        runs = [subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(4)]
    compiled, *cached = (json.loads(run.stdout.splitlines()[-1])["extra"] for run in runs)
    return [
        Line("first compile after installation", f"{compiled:.1f} s", "", compiled, 20, False, "s"),
        Line(
            "first fit of a new process, beyond a warm fit",
            f"{min(cached):.2f} s",
            "",
            min(cached),
            0.5,
            False,
            "s",
        ),
    ]
