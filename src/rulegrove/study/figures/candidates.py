"""Figures of the supernova candidates that are more than curves over a grid."""

from typing import TYPE_CHECKING

import numpy as np

from rulegrove.study.figures.style import (
    COLOURS,
    MARKERS,
    RATES,
    Curves,
    by_method,
    by_rate,
    draw_bars,
    draw_sweep,
    finish,
    new_figure,
    one_curve,
)
from rulegrove.study.results import Results
from rulegrove.study.tables import AT_EQUAL_ERROR, LABELS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_terms(results: Results) -> "Figure":
    """Error rates of rules, linear terms and both."""
    figure, ax = new_figure()
    kinds = results.distinct("method")
    here = [results.where(method=kind) for kind in kinds]
    series = {label: [one.numbers(metric) for one in here] for metric, label in RATES.items()}
    draw_bars(ax, [{"linear": "linear terms"}.get(kind, kind) for kind in kinds], series)
    finish(ax, "Terms of the model", "Test error, %")
    return figure


def draw_penalty(results: Results) -> "Figure":
    """Error rates of Glmnet against its penalty, the weaker to the right."""
    figure = draw_sweep(results, by_rate, "Penalty λ (weaker to the right)", log_x=True)
    figure.axes[0].invert_xaxis()
    return figure


def draw_nonzero(results: Results) -> "Figure":
    """Coefficients that are not zero against Fpc's weight of the fit."""
    figure = draw_sweep(results, one_curve("terms"), "Fit weight μ", "Coefficients that are not zero", log_x=True)
    figure.axes[0].set_ylim(bottom=0.0)
    return figure


def draw_votes(results: Results) -> "Figure":
    """How many rules were among the twenty largest at how many weights, and the votes of the attributes."""
    figure, axes = new_figure(2, height=1.5)
    first = results.where(method="votes")
    counts = {line.number: line.result for line in first if line.metric == "rules with so many votes"}
    axes[0].bar(list(counts), list(counts.values()), color=COLOURS[0])
    finish(axes[0], "Fit weights at which a rule is among the 20 largest", "Rules, over 5 halves", legend=False)
    votes = {line.value: line.result for line in first if line.metric == "attribute votes" and line.result > 0}
    order = sorted(votes, key=lambda name: votes[name])
    axes[1].barh(order, [votes[name] for name in order], color=[COLOURS[votes[name] < 3] for name in order])
    axes[1].axvline(2.5, color="black", linestyle="--", linewidth=0.8)
    finish(axes[1], "Repetitions that vote for the attribute (3 keep it)", "", legend=False)
    axes[1].tick_params(axis="y", labelsize=7)
    return figure


def by_attributes(results: Results) -> Curves:
    """Return the error with all attributes and with the chosen ones."""
    curves = []
    for method, here, metric in by_method(results):
        kept = here.mean("kept")
        label = method if np.isnan(kept) else f"chosen by {method}: {kept:.1f} attributes"
        curves.append((label, here.where(metric=metric), metric))
    return curves


def draw_coefficients(results: Results) -> "Figure":
    """Coefficients of the rules that are among the ten largest of any solver, side by side."""
    lines = [line for line in results if line.metric == "coefficient"]
    rules = list(dict.fromkeys(line.value for line in lines))
    figure, axes = new_figure(len(AT_EQUAL_ERROR), height=max(1.0, len(rules) / 17), share_y=True)
    figure.set_figwidth(13.0)
    for number, (ax, solver) in enumerate(zip(axes, AT_EQUAL_ERROR, strict=True)):
        sizes = {line.value: abs(line.result) for line in lines if line.method == solver}
        ax.barh(range(len(rules)), [sizes[rule] for rule in rules], color=COLOURS[number])
        finish(ax, "Size of the coefficient", "", legend=False)
        ax.set_title(LABELS[solver], fontsize="medium")
    shown = [rule if len(rule) < 70 else rule[:66] + " ..." for rule in rules]
    axes[0].set_yticks(range(len(rules)), shown, fontsize=7)
    axes[0].invert_yaxis()
    return figure


def draw_selection(results: Results) -> "Figure":
    """Penalty and test error of each choice, a point a repetition."""
    figure, ax = new_figure()
    for number, method in enumerate(results.distinct("method")):
        here = results.where(method=method)
        style = {"color": COLOURS[number], "label": f"{method} ({here.mean('terms'):.0f} terms)"}
        ax.plot(here.numbers("penalty"), here.numbers("balanced error"), MARKERS[number], alpha=0.8, **style)
    finish(ax, "Chosen penalty λ", "Balanced test error, %", log_x=True)
    return figure


def draw_timing(results: Results) -> "Figure":
    """Seconds of the solvers, and of the ensembles to fit and to predict."""
    figure, axes = new_figure(2)
    groups = (
        ("solver: ", (("path seconds", "path of 13 points"),)),
        ("ensemble: ", (("fit seconds", "fit"), ("predict seconds", "predict"))),
    )
    for ax, (kind, metrics) in zip(axes, groups, strict=True):
        methods = [method for method in results.distinct("method") if method.startswith(kind)]
        for number, (metric, label) in enumerate(metrics):
            means = [results.where(method=method).mean(metric) for method in methods]
            places = [place + (number - (len(metrics) - 1) / 2) * 0.4 for place in range(len(methods))]
            ax.barh(places, means, 0.36, color=COLOURS[number], label=label)
        ax.set_yticks(range(len(methods)), [method.removeprefix(kind) for method in methods])
        ax.invert_yaxis()
        ax.set_xscale("log")
        finish(ax, "Seconds, one thread", "")
    return figure
