"""``python -m rulegrove.demo``: rules learned from a bundled table, judged beside a forest, and shown on a page."""

import argparse
import statistics
import sys
import time
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from rulegrove._typing import FloatArray
from rulegrove.datasets import load
from rulegrove.estimators.classifier import RuleEnsembleClassifier
from rulegrove.exceptions import InvalidInputError
from rulegrove.report import write_report

PAGE = "rulegrove-demo.html"
FRAMES = ("pyarrow", "pandas", "polars")


@dataclass(frozen=True)
class Demo:
    """What the demo found.

    Attributes
    ----------
    model : RuleEnsembleClassifier
    errors : dict of str to float
        The share of held-out rows that each model tells wrong.
    report : Path
        The page about the model.
    """

    model: RuleEnsembleClassifier = field(repr=False)
    errors: dict[str, float] = field(repr=False)
    report: Path


def run_demo(path: str | PathLike[str] = PAGE, say: Callable[[str], object] | None = None, *, verbose: int = 0) -> Demo:
    """Learn rules about tumours, compare them with a forest on rows held out, and write a page about them.

    Parameters
    ----------
    path : str or path
        The page to write; its folder must exist.
    say : callable, optional
        Gets each line that is to be shown; by default nothing is.
    verbose : int
        1 shows progress on standard error.

    Returns
    -------
    Demo

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rulegrove.demo import run_demo
    >>> demo = run_demo(Path(tempfile.mkdtemp()) / "report.html")
    >>> demo.errors["these rules"] < 0.06, demo.report.exists()
    (True, True)
    """
    tell, page = say or (lambda words: None), Path(path).resolve()
    if not page.parent.is_dir():
        raise InvalidInputError(f"There is no folder '{page.parent}' to write the page to; make it first.")
    data = load("breast-w")
    train, X_test, y_train, y_test = train_test_split(data.X, data.y, test_size=0.3, stratify=data.y, random_state=0)
    names = data.feature_names
    X_train, X_shown = _name(train, names), _name(X_test, names)
    tell(f"{data.name}: {len(y_train)} rows to learn from, {len(y_test)} held out, {len(names)} attributes\n")

    start = time.perf_counter()
    model = RuleEnsembleClassifier(terms="rules", random_state=0, verbose=verbose).fit(X_train, y_train)
    seconds = time.perf_counter() - start
    n_candidates, n_rules = len(model.candidates_[0]), len(model.rules_)
    tell(f"\nThe {n_rules} rules that {n_candidates} candidates came down to, in {seconds:.1f} s:\n\n{model.rules_}\n")

    models = {
        "these rules": model,
        "shorten(max_terms=None)": model.shorten(max_terms=None),  # from the same fit, in milliseconds
        "by default, with lines": RuleEnsembleClassifier(random_state=0).fit(X_train, y_train),
        "a forest of 500 trees": RandomForestClassifier(500, random_state=0).fit(train, y_train),
    }
    tell(f"{'On held-out rows':26} {'terms':>8}    error  log loss")
    errors = {}
    for name, one in models.items():
        rows = X_shown if hasattr(one, "rules_") else X_test
        errors[name] = float(np.mean(one.predict(rows) != y_test))
        length = f"{len(one.rules_)}" if hasattr(one, "rules_") else ""
        tell(f"  {name:24} {length:>8}  {errors[name]:7.1%}  {log_loss(y_test, one.predict_proba(rows)):8.3f}")
    tell(f"  {'always the larger class':24} {'':>8}  {np.mean(y_test != statistics.mode(y_train)):7.1%}\n")
    by_attribute = sorted(zip(model.feature_importances_, names, strict=True), reverse=True)
    tell("What matters: " + ", ".join(f"{name} {share:.0%}" for share, name in by_attribute if share >= 0.05))

    write_report(model, page, X_shown, y_test, training=False, title="Tumours of the breast: benign or malignant?")
    tell(f"\nThe report of the model, a page to look at: {page}")
    return Demo(model, errors, page)


def show_page(page: Path) -> str:
    """Open a page in the browser; return a sentence for who has none."""
    return "" if webbrowser.open(page.as_uri()) else "No browser was found; open the page by hand."


def _name(X: FloatArray, names: tuple[str, ...]) -> Any:
    """Return a data frame of the library that is installed, so that rules have the names of attributes."""
    library: Any = next((name for name in FRAMES if find_spec(name) is not None), None)
    if library is None:
        raise InvalidInputError(
            "The demo needs a library of data frames; install one with: pip install 'rulegrove[cli]'"
        )
    return nw.from_dict(dict(zip(names, X.T.copy(), strict=True)), backend=library).to_native()


def main() -> None:
    """Run the demo from the shell."""
    about = "Learn rules from a bundled table, compare them with a forest, and open a page about them."
    parser = argparse.ArgumentParser(prog="python -m rulegrove.demo", description=about)
    parser.add_argument("-o", "--output", metavar="FILE", default=PAGE, help=f"save the page to this file ({PAGE})")
    parser.add_argument("--no-open", action="store_true", help="do not open the page")
    asked = parser.parse_args()
    try:
        demo = run_demo(asked.output, say, verbose=1)
    except (InvalidInputError, OSError) as error:
        sys.exit(f"Error: {error}")
    if not asked.no_open:
        say(show_page(demo.report))


def say(words: str) -> None:
    """Print a line at once: what comes next may take a while."""
    if words:
        sys.stdout.write(f"{words}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
