"""Figures of the supernova candidates."""

from typing import TYPE_CHECKING

import numpy as np

from rulegrove.study.figures.style import (
    COLOURS,
    RATES,
    draw_bars,
    draw_curve,
    draw_curves,
    draw_rates,
    finish,
    new_figure,
)
from rulegrove.study.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOLVER_LABELS = {"pathbuild": "Pathbuild", "glmnet": "Glmnet", "spgl1": "Spgl1", "fpc": "Fpc"}


def draw_tree_size(results: Results) -> "Figure":
    """Error against the mean size of trees, for two sizes of sample."""
    return draw_curves(results, "Mean leaves of a tree")


def draw_rule_count(results: Results) -> "Figure":
    """Error against the number of rules."""
    figure, ax = new_figure()
    draw_curve(ax, results, "error", "mean; points are repetitions", 0)
    finish(ax, "Rules grown", "Test error, %")
    return figure


def draw_terms(results: Results) -> "Figure":
    """Error rates of rules, linear terms and both."""
    figure, ax = new_figure()
    kinds = results.distinct("method")
    here = [results.where(method=kind) for kind in kinds]
    series = {label: [one.numbers(metric) for one in here] for metric, label in RATES.items()}
    draw_bars(ax, [{"linear": "linear terms"}.get(kind, kind) for kind in kinds], series)
    finish(ax, "Terms of the model", "Test error, %")
    return figure


def draw_threshold(results: Results) -> "Figure":
    """Error rates of Pathbuild against its threshold."""
    figure, ax = new_figure()
    draw_rates(ax, results)
    finish(ax, "Threshold τ", "Test error, %")
    return figure


def draw_penalty(results: Results) -> "Figure":
    """Error rates of Glmnet against its penalty, the weaker to the right."""
    figure, ax = new_figure()
    draw_rates(ax, results)
    finish(ax, "Penalty λ (weaker to the right)", "Test error, %", log_x=True)
    ax.invert_xaxis()
    return figure


def draw_radius(results: Results) -> "Figure":
    """Error rates of Spgl1 against its radius."""
    figure, ax = new_figure()
    draw_rates(ax, results)
    finish(ax, "Radius of the l1 ball", "Test error, %", log_x=True)
    return figure


def draw_fit_weight(results: Results) -> "Figure":
    """Error rates of Fpc against its weight of the fit."""
    figure, ax = new_figure()
    draw_rates(ax, results)
    finish(ax, "Fit weight μ", "Test error, %", log_x=True)
    return figure


def draw_nonzero(results: Results) -> "Figure":
    """Coefficients that are not zero against Fpc's weight of the fit."""
    figure, ax = new_figure()
    draw_curve(ax, results, "terms", "mean; points are repetitions", 0)
    finish(ax, "Fit weight μ", "Coefficients that are not zero", log_x=True, zero=True)
    return figure


def draw_fit_weight_tree_size(results: Results) -> "Figure":
    """Mean error of Fpc against its weight of the fit, a curve a size of trees."""
    return draw_curves(results, "Fit weight μ", "Test error, %, mean of the repetitions", log_x=True, points=False)


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


def draw_attributes(results: Results) -> "Figure":
    """Error against the weight of the fit, with all attributes and with the chosen ones."""
    figure, ax = new_figure()
    for number, method in enumerate(results.distinct("method")):
        here = results.where(method=method, metric="error")
        kept = results.where(method=method).mean("kept")
        label = method if np.isnan(kept) else f"chosen by {method}: {kept:.1f} attributes"
        draw_curve(ax, here, "error", label, number, points=False)
    finish(ax, "Fit weight μ", "Test error, %, mean of the repetitions", log_x=True)
    return figure


def draw_coefficients(results: Results) -> "Figure":
    """Coefficients of the rules that are among the ten largest of any solver, side by side."""
    lines = [line for line in results if line.metric == "coefficient"]
    rules = list(dict.fromkeys(line.value for line in lines))
    figure, axes = new_figure(len(SOLVER_LABELS), height=max(1.0, len(rules) / 17), share_y=True)
    figure.set_figwidth(13.0)
    for number, (ax, (solver, label)) in enumerate(zip(axes, SOLVER_LABELS.items(), strict=True)):
        sizes = {line.value: abs(line.result) for line in lines if line.method == solver}
        ax.barh(range(len(rules)), [sizes[rule] for rule in rules], color=COLOURS[number])
        finish(ax, "Size of the coefficient", "", legend=False)
        ax.set_title(label, fontsize="medium")
    axes[0].set_yticks(
        range(len(rules)), [rule if len(rule) < 70 else rule[:66] + " ..." for rule in rules], fontsize=7
    )
    axes[0].invert_yaxis()
    return figure
