"""Draw every picture of docs/gallery.md, docs/targets.md, docs/index.md and docs/how-to-read.md into docs/gallery/.

The examples of docs/targets.md are run as they stand there, and what they print is written beneath them.
"""

import contextlib
import io
import re
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split

from rulegrove import (
    Fpc,
    Glmnet,
    Pathbuild,
    RuleAttributeSelector,
    RuleEnsembleClassifier,
    RuleEnsembleRegressor,
    RuleEnsembleSurvival,
    Spgl1,
    datasets,
)
from rulegrove.estimators.rule_table import RankedTerm
from rulegrove.plots import (
    CalibrationDisplay,
    ComparisonDisplay,
    DependenceDisplay,
    Display,
    ExplanationDisplay,
    FrontDisplay,
    ImportanceDisplay,
    InteractionDisplay,
    PathDisplay,
    RulesDisplay,
    SelectionDisplay,
    SurvivalDisplay,
    VotesDisplay,
)

FOLDER = Path(__file__).parents[1] / "docs" / "gallery"
TARGETS = FOLDER.parent / "targets.md"
EXAMPLE = re.compile(  # its code, what it prints, and its picture
    r"```python\n(?P<code>.*?)```\n\n```text\n.*?```\n(?P<rest>(?:\n!\[[^]]*\]\(gallery/(?P<picture>\w+)\.png\))?)",
    re.DOTALL,
)


def save(display: Display, name: str) -> None:
    """Write a small PNG and close the figure."""
    display.figure_.savefig(FOLDER / f"{name}.png", dpi=100, pil_kwargs={"optimize": True})
    plt.close(display.figure_)
    print(f"{name}.png")


def draw_first_rules() -> None:
    """Tumours of the breast: the list of the first page, and one of its rules with its figures explained."""
    X = datasets.load("breast-w").frame("pandas")
    y = X.pop("class")
    X_train, _, y_train, _ = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    model = RuleEnsembleClassifier(terms="rules", random_state=0).fit(X_train, y_train)
    save(RulesDisplay.from_estimator(model), "first")
    explain_rule(model.rules_[1])


def explain_rule(rule: RankedTerm) -> None:
    """Write what each figure of a rule of two classes means, above the way that it takes the probability."""
    figure, (words, axis) = plt.subplots(2, 1, figsize=(9, 4.6), height_ratios=(3, 1.4), layout="constrained")
    words.axis("off")
    words.text(0, 1, f"IF   {rule.text}", fontsize=15, weight="bold", va="top")
    base, alone = rule.base_rate, rule.probability_to
    for row, (figures, meaning) in enumerate(
        [
            (f"coefficient {rule.coefficient:+.2f}", "what it adds to the score of a row where it holds"),
            (f"class {rule.speaks_for}", "what it speaks for"),
            (f"probability {base:.0%} → {alone:.0%}", "what it does alone, from the base rate to where it holds"),
            (f"support {rule.support:.1%}", "on how many of the rows it holds"),
            (
                f"confidence {rule.confidence:.1%}",
                f"how many of those rows are {rule.speaks_for}, other rules included",
            ),
        ]
    ):
        words.text(0.02, 0.74 - 0.17 * row, figures, fontsize=12, color="#0072b2", weight="bold", va="top")
        words.text(0.36, 0.74 - 0.17 * row, meaning, fontsize=12, va="top")
    axis.set(xlim=(0, 1), ylim=(-1, 1.4), yticks=[], xlabel=f"probability of {rule.speaks_for}")
    axis.xaxis.set_major_formatter("{x:.0%}")
    axis.spines[["left", "right", "top"]].set_visible(False)
    axis.annotate("", (alone, 0), (base, 0), arrowprops={"arrowstyle": "-|>", "color": "#0072b2", "lw": 3})
    for place, name, side in ((base, "base rate", "right"), (alone, "with this rule alone", "right")):
        axis.plot(place, 0, "o", color="#0072b2")
        axis.text(place, 0.35, f"{name}: {place:.0%}", ha=side, fontsize=12)
    axis.plot(rule.confidence, 0, "|", color="#d55e00", ms=18, mew=3)
    axis.text(rule.confidence, -0.85, f"confidence: {rule.confidence:.1%}", ha="right", fontsize=12, color="#d55e00")
    figure.savefig(FOLDER / "how_to_read.png", dpi=100, pil_kwargs={"optimize": True})
    plt.close(figure)
    print("how_to_read.png")


def draw_two_classes() -> None:
    """Diabetes among the Pima."""
    X = datasets.load("pima").frame("pandas")
    y = X.pop("class")
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    model = RuleEnsembleClassifier(terms="rules", n_resamples=100, random_state=0).fit(X_train, y_train)
    save(RulesDisplay.from_estimator(model, top=12), "rules")
    save(FrontDisplay.from_estimator(model), "front")
    save(PathDisplay.from_estimator(model), "path")
    save(SelectionDisplay.from_estimator(model), "selection")
    save(ImportanceDisplay.from_estimator(model), "importance")
    save(DependenceDisplay.from_estimator(model, X_train, "glucose"), "dependence")
    save(DependenceDisplay.from_estimator(model, X_train, ("glucose", "mass")), "dependence_pair")
    save(CalibrationDisplay.from_estimator(model, X_test, y_test), "calibration")

    save(ExplanationDisplay.from_estimator(model.shorten(max_terms=25), X_test, 4, top=8), "explanation")

    solvers = (Glmnet(), Spgl1(), Fpc(), Pathbuild(threshold=0.5))
    settings = {"n_candidates": 300, "max_terms": None, "selection": "1se", "random_state": 0}
    models = [RuleEnsembleClassifier(solver=solver, **settings).fit(X_train, y_train) for solver in solvers]
    save(ComparisonDisplay.from_estimators(models, top=8), "comparison")


def draw_three_classes() -> None:
    """Three kinds of iris."""
    X = datasets.load("iris").frame("pandas")
    y = X.pop("class")
    model = RuleEnsembleClassifier(n_resamples=100, random_state=0).fit(X, y)
    save(RulesDisplay.from_estimator(model, top=10), "rules_classes")
    save(DependenceDisplay.from_estimator(model, X, "petal_width"), "dependence_classes")


def draw_regression() -> None:
    """Ten attributes of which five matter, two of them together."""
    X, y = make_friedman1(2000, random_state=0)
    model = RuleEnsembleRegressor(max_terms=None, random_state=0).fit(X, y)
    save(InteractionDisplay.from_estimator(model, X), "interaction")


def draw_rates() -> None:
    """Claims of drivers who were insured for a part of the year, made at random."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 80, 20000), "power": rng.normal(90, 25, 20000).round()})
    X["density"], X["region"] = rng.lognormal(5, 1.2, 20000).round(), rng.choice(["north", "south", "west"], 20000)
    score = 0.9 * (X["age"] < 26) + 0.5 * (X["power"] > 110) + 0.2 * np.log(X["density"] / 150)
    exposure = rng.uniform(0.1, 1.0, 20000)
    claims = rng.poisson(exposure * np.exp(score - 1.5 + 0.4 * ((X["region"] == "north") & (X["age"] > 60))))
    past, new = slice(0, 10000), slice(10000, 20000)
    model = RuleEnsembleRegressor(loss="poisson", random_state=0)
    model.fit(X[past], claims[past], exposure=exposure[past])
    save(CalibrationDisplay.from_estimator(model, X[new], claims[new], exposure=exposure[new]), "calibration_rates")
    save(RulesDisplay.from_estimator(model, top=8), "rules_rates")


def draw_survival() -> None:
    """Machines until they fail, some of them still at work when they were last seen, made at random."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"load": rng.uniform(0, 100, 1500).round(), "age": rng.uniform(0, 20, 1500).round(1)})
    X["oil"] = rng.choice(["mineral", "synthetic"], 1500)
    score = 1.2 * ((X["load"] > 70) & (X["oil"] == "mineral")) + 0.6 * (X["age"] > 12)
    failed, seen = rng.exponential(8 * np.exp(-score)), rng.uniform(1, 12, 1500)
    y = pd.DataFrame({"time": np.minimum(failed, seen), "event": failed <= seen})
    past, new = slice(0, 1000), slice(1000, 1500)
    model = RuleEnsembleSurvival(terms="rules", random_state=0).fit(X[past], y[past])
    save(SurvivalDisplay.from_estimator(model, X[new], y[new], rule=1), "survival")


def draw_selection() -> None:
    """Draw the votes on simulated supernova candidates, nine of whose attributes say nothing."""
    data = datasets.make_supernova_candidates(1000, 1000, random_state=0)
    frame = pd.DataFrame(data.X, columns=data.feature_names)
    save(
        VotesDisplay.from_estimator(RuleAttributeSelector(n_candidates=300, random_state=0).fit(frame, data.y)), "votes"
    )


def draw_targets() -> None:
    """Run the examples of docs/targets.md, draw their pictures, and write beneath them what they print."""
    page = TARGETS.read_text()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        TARGETS.write_text(EXAMPLE.sub(_run_example, page))


def _run_example(example: re.Match[str]) -> str:
    """Return an example with what it prints now, its picture drawn."""
    names: dict[str, Any] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example["code"], TARGETS.name, "exec"), names)
    if example["picture"]:
        save(names["display"], example["picture"])
    told = "\n".join(line.rstrip() for line in printed.getvalue().splitlines())
    return f"```python\n{example['code']}```\n\n```text\n{told}\n```\n{example['rest']}"


if __name__ == "__main__":
    mpl.use("Agg")
    FOLDER.mkdir(exist_ok=True)
    draw_first_rules()
    draw_two_classes()
    draw_three_classes()
    draw_regression()
    draw_rates()
    draw_survival()
    draw_selection()
    draw_targets()
