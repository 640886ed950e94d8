"""The paper's statements on the supernova candidates."""

import functools

import numpy as np

from rulegrove.study.claims.base import Claim, Finding, add_to, curve, each_mean, listed, noise
from rulegrove.study.parts.attributes import ALL
from rulegrove.study.parts.sweeps import SUBSAMPLES
from rulegrove.study.results import Results
from rulegrove.study.tables import AT_EQUAL_ERROR

_LASSO = ("glmnet", "spgl1", "fpc")
_HALF = next(iter(SUBSAMPLES))

CLAIMS: list[Claim] = []
_claim = functools.partial(add_to, CLAIMS)


@_claim("6.1", "tree-size", "Ensembles of larger trees have higher error")
def _large_trees(results: Results) -> Finding:
    half = results.where(method=_HALF)
    grid, means, _ = curve(half)
    rise, least = means[-1] - means[0], grid[int(np.argmin(means))]
    ours = f"{means[0]:.2f} % at {grid[0]:g} leaves, {means[-1]:.2f} % at {grid[-1]:g}; least at {least:g}"
    return Finding(ours, rise > noise(half), rise > 0, "the paper: 3 to 4.2 % at 5 leaves, 4 to 7 % at 40")


@_claim("6.1", "tree-size", "The variance of the error increases with larger trees", of_spread=True)
def _large_trees_vary(results: Results) -> Finding:
    grid, _, spreads = curve(results.where(method=_HALF))
    ours = f"standard deviation {spreads[0]:.2f} points at {grid[0]:g} leaves, {spreads[-1]:.2f} at {grid[-1]:g}"
    return Finding(ours, spreads[-1] > 1.5 * spreads[0], spreads[-1] > spreads[0])


@_claim("6.1", "tree-size", "The size of the trees has no strong effect on the error")
def _size_matters_little(results: Results) -> Finding:
    span = np.ptp(curve(results.where(method=_HALF))[1])
    return Finding(f"range of the means {span:.2f} points", span < 1.0)


@_claim("6.1", "tree-size", "Subsamples of 500 in place of 2,500 rows do not change the error for any size of trees")
def _subsample(results: Results) -> Finding:
    half, tenth = (np.array(curve(results.where(method=method))[1]) for method in SUBSAMPLES)
    off, limit = tenth - half, noise(results)
    ours = f"500 rows less 2,500 rows a tree: {off.min():+.2f} to {off.max():+.2f} points over the sizes of trees"
    return Finding(ours, off.max() < limit, off.min() < limit, f"noise of a difference: {limit:.2f}")


@_claim("6.1", "rule-count", "From 100 to 600 rules the error is nearly halved")
def _more_rules(results: Results) -> Finding:
    grid, means, _ = curve(results)
    at_600 = means[grid.index(600.0)]
    ours = f"{means[0]:.2f} % with {grid[0]:g} rules, {at_600:.2f} % with 600, {means[-1]:.2f} % with {grid[-1]:g}"
    return Finding(ours, at_600 < 0.65 * means[0], at_600 < means[0] - noise(results), "the paper: nearly halved")


@_claim("6.1", "rule-count", "Beyond 600 rules the error does not fall substantially")
def _no_more_rules(results: Results) -> Finding:
    grid, means, _ = curve(results)
    gain = means[grid.index(600.0)] - means[-1]
    ours = f"from 600 to {grid[-1]:g} rules the error falls by {gain:.2f} points"
    return Finding(ours, gain < max(noise(results), 0.15))


@_claim("6.1", "rule-count", "More rules, less variance of the error", of_spread=True)
def _more_rules_vary_less(results: Results) -> Finding:
    grid, _, spreads = curve(results)
    ours = f"standard deviation {spreads[0]:.2f} points with {grid[0]:g} rules, {spreads[-1]:.2f} with {grid[-1]:g}"
    return Finding(ours, spreads[-1] < spreads[0])


@_claim("6.1", "terms", "Rules are six times more accurate than linear terms")
def _rules_beat_lines(results: Results) -> Finding:
    rules, linear = each_mean(results, ("rules", "linear")).values()
    ours = f"linear {linear:.2f} %, rules {rules:.2f} %, {linear / rules:.1f} times"
    others = "linear terms are winsorised here, and these are other candidates than the paper's"
    return Finding(ours, linear > 4 * rules, linear > rules, f"the paper: 30 % and 5 %; {others}")


@_claim("6.1", "terms", "Linear terms are biased: their false negative rate is close to zero")
def _lines_are_biased(results: Results) -> Finding:
    here = results.where(method="linear")
    positive, negative = here.mean("false positive"), here.mean("false negative")
    ours = f"linear terms: false positive {positive:.2f} %, false negative {negative:.2f} %"
    return Finding(ours, negative < 0.1 * positive, negative < positive)


@_claim("6.1", "threshold", "Error increases with τ")
def _threshold_costs(results: Results) -> Finding:
    grid, means, _ = curve(results)
    ours = f"{means[0]:.2f} % at τ = {grid[0]:g}, {means[-1]:.2f} % at τ = {grid[-1]:g}"
    return Finding(ours, means[-1] > means[0] + noise(results), means[-1] > means[0])


@_claim("6.1", "threshold", "Up to τ = 0.3 or 0.4 the accuracy is not compromised")
def _threshold_is_free_at_first(results: Results) -> Finding:
    grid, means, _ = curve(results)
    rise = max(mean for value, mean in zip(grid, means, strict=True) if value <= 0.4) - means[0]
    return Finding(f"up to τ = 0.4 the error rises by {rise:.2f} points at most", rise < max(noise(results), 0.1))


@_claim("6.1", "threshold", "The variance of the error increases with τ", of_spread=True)
def _threshold_varies(results: Results) -> Finding:
    grid, _, spreads = curve(results)
    ours = f"standard deviation {spreads[0]:.2f} points at τ = {grid[0]:g}, {spreads[-1]:.2f} at τ = {grid[-1]:g}"
    return Finding(ours, spreads[-1] > 1.2 * spreads[0], spreads[-1] > spreads[0])


@_claim("6.2", "penalty", "Error falls with λ and is stable below 0.01")
def _weak_penalty(results: Results) -> Finding:
    grid, means, _ = curve(results)
    small = [mean for value, mean in zip(grid, means, strict=True) if value < 0.01]
    ours = f"{means[-1]:.2f} % at λ = {grid[-1]:g}; below 0.01 between {min(small):.2f} and {max(small):.2f} %"
    falls = means[-1] > max(small)
    return Finding(ours, falls and max(small) - min(small) < 0.5, falls)


@_claim("6.2", "penalty", "The variance is about constant over λ", of_spread=True)
def _constant_variance(results: Results) -> Finding:
    grid, _, spreads = curve(results)
    small = [spread for value, spread in zip(grid, spreads, strict=True) if value < 0.05]
    ours = f"standard deviation from {min(small):.2f} to {max(small):.2f} points below λ = 0.05"
    return Finding(ours, max(small) < 2 * min(small), max(small) < 4 * min(small))


@_claim("6.2", "penalty", "False positive rates are more than twice the false negative rates")
def _more_false_positives(results: Results) -> Finding:
    weakest = results.at(min(results.grid()))
    positive, negative = weakest.mean("false positive"), weakest.mean("false negative")
    ours = f"Glmnet at the weakest penalty: false positive {positive:.2f} %, false negative {negative:.2f} %"
    why = "rates within a class do not depend on how many of it are tested; training is balanced"
    return Finding(ours, positive > 2 * negative, positive > negative, why)


@_claim("6.3", "radius", "Error falls as the radius grows")
def _larger_radius(results: Results) -> Finding:
    grid, means, _ = curve(results)
    ours = f"{means[0]:.2f} % at a radius of {grid[0]:g}, {means[-1]:.2f} % at {grid[-1]:g}, least {min(means):.2f} %"
    return Finding(ours, means[-1] < means[0])


@_claim("6.4", "fit-weight", "Error falls as μ grows, then is stable")
def _larger_fit_weight(results: Results) -> Finding:
    grid, means, _ = curve(results)
    late = [mean for value, mean in zip(grid, means, strict=True) if value >= 0.05]
    ours = f"{means[0]:.2f} % at μ = {grid[0]:g}; from 0.05 on between {min(late):.2f} and {max(late):.2f} %"
    return Finding(ours, means[0] > max(late) and max(late) - min(late) < 0.5, means[0] > min(late))


@_claim("6.4", "fit-weight", "Non-zero coefficients grow with μ, then level off; 78 % are zero at μ = 0.19")
def _nonzero_levels_off(results: Results) -> Finding:
    grid, terms, _ = curve(results, "terms")
    total = results.mean("candidates")
    zero = 100.0 * (1.0 - terms[int(np.argmin(np.abs(np.array(grid) - 0.19)))] / total)
    grown = (terms[-1] - terms[-4]) / max(terms[-1], 1.0)
    ours = f"{terms[0]:.0f} terms at μ = {grid[0]:g}, {terms[-1]:.0f} at {grid[-1]:g} of {total:.0f}"
    ours += f"; {zero:.0f} % are zero at 0.19"
    return Finding(ours, abs(zero - 78.0) < 10.0 and grown < 0.2, zero > 50.0, "the paper: 78 % are zero at 0.19")


@_claim("6.4", "fit-weight-tree-size", "With Fpc the size of the trees matters little, so simple rules do")
def _fpc_and_tree_size(results: Results) -> Finding:
    ends = each_mean(results.at(max(results.grid())), results.distinct("method")).values()
    span = max(ends) - min(ends)
    return Finding(
        f"at the largest μ the means lie between {min(ends):.2f} and {max(ends):.2f} %", span < 0.5, span < 1.0
    )


@_claim("7", "sparsity", "At equal accuracy Pathbuild keeps 40 to 50 %, the others 12 to 19 %")
def _sparsity(results: Results) -> Finding:
    shares = each_mean(results, AT_EQUAL_ERROR, "share")
    overall = each_mean(results, AT_EQUAL_ERROR, "share at equal overall error")
    reached = results.where(method="pathbuild").mean("reached")
    ours = (
        f"at equal balanced error {listed(shares, '.0f', ' %')} (Pathbuild got there in {reached:.0%} of the "
        f"repetitions); at equal overall error {listed(overall, '.0f', ' %')}"
    )
    apart = all(some["pathbuild"] > 2 * max(some[name] for name in _LASSO) for some in (shares, overall))
    near = 10.0 < max(shares["glmnet"], overall["glmnet"]) < 21.0 and 35.0 < shares["pathbuild"] < 55.0
    why = "the order of the solvers; the shares themselves depend on which error is held equal"
    return Finding(ours, apart and near and reached == 1.0, apart, why)


@_claim("7", "sparsity", "Spgl1 returns the sparsest solutions")
def _spgl1_is_sparsest(results: Results) -> Finding:
    terms = each_mean(results, _LASSO, "terms")
    why = "the three minimise one objective and meet at equal error, repeats among the rules being dropped"
    sparsest = terms["spgl1"] < 0.95 * min(terms["glmnet"], terms["fpc"])
    return Finding(listed(terms, ".0f", " terms"), sparsest, why=why)


@_claim("7", "sparsity", "Fpc and Spgl1 order coefficients alike; Glmnet and Pathbuild less so")
def _similar_orders(results: Results) -> Finding:
    pairs = ("fpc, spgl1", "fpc, glmnet", "spgl1, glmnet", "pathbuild, fpc")
    shared = each_mean(results, pairs, "shared top ten")
    alike = shared["fpc, spgl1"] >= 7
    why = "Glmnet agrees too once repeated and complementary rules are dropped; Pathbuild differs"
    ours = f"of the ten largest shared: {listed(shared, '.1f')}"
    return Finding(ours, alike and shared["fpc, glmnet"] < 7, alike, why)


@_claim("6.5", "attributes", "Certain rules are important at every μ")
def _steady_rules(results: Results) -> Finding:
    counts = {line.number: line.result for line in results.where(metric="rules with so many votes")}
    always, total = counts[max(counts)], sum(counts.values())
    return Finding(f"{always:.0f} of {total:.0f} voted rules are among the 20 largest at every μ", always > 0)


@_claim("6.5", "attributes", "Fewer attributes, chosen by rules, give a lower error")
def _fewer_attributes(results: Results) -> Finding:
    lines = results.where(metric="error")
    every, votes, loss = each_mean(lines.at(max(lines.grid())), (ALL, "votes", "loss")).values()
    kept = each_mean(results, ("votes", "loss"), "kept")
    ours = (
        f"all: {every:.2f} %; votes keep {kept['votes']:.1f} attributes: {votes:.2f} %; by loss "
        f"{kept['loss']:.1f} are kept: {loss:.2f} %"
    )
    limit, least = noise(lines.where(method=ALL)), min(votes, loss)
    return Finding(ours, least < every - limit, least < every + limit, "the paper: 21 of 39, for a lower error")


@_claim("6.2, 6.4", "selection", "It is not clear how to choose the penalty")
def _choosing(results: Results) -> Finding:
    best, chosen = (results.where(method=method) for method in ("best on the test rows", "1se"))
    cost = chosen.mean("balanced error") - best.mean("balanced error")
    point = f"λ = {chosen.mean('penalty'):.4f}, {chosen.mean('terms'):.0f} terms"
    ours = f"1se takes {point}, {cost:+.2f} points of balanced error from the best"
    within = cost < 2 * best.spread("balanced error")
    return Finding(ours, cost > 0.5, why="folds choose it; the cost is within what splits differ by" if within else "")


def _seconds(results: Results, metric: str) -> dict[str, float]:
    """Return seconds of our default settings and of both tree ensembles."""
    return {n: results.where(method=f"ensemble: {n}").mean(metric) for n in ("default", "bagging", "boosting")}


@_claim("7", "timing", "The rule ensemble will not reduce the time of training")
def _training_time(results: Results) -> Finding:
    seconds = _seconds(results, "fit seconds")
    slower = seconds["default"] > min(seconds["bagging"], seconds["boosting"])
    return Finding(listed(seconds, ".2f", " s"), slower, why="fit on 5,000 rows, one thread")


@_claim("7", "timing", "With rules pruned it is likely to run substantially more quickly")
def _predicting_time(results: Results) -> Finding:
    seconds = _seconds(results, "predict seconds")
    fastest = seconds["default"] < 0.5 * min(seconds["bagging"], seconds["boosting"])
    faster = seconds["default"] < seconds["bagging"]
    return Finding(listed(seconds, ".3f", " s"), fastest, faster, "all test rows, one thread")


@_claim(
    "1.1",
    "robustness",
    "The ramp loss is particularly well suited to binary classification (beyond the paper: with wrong labels)",
    of_spread=True,
)
def _ramp_suits(results: Results) -> Finding:
    words, better = [], []
    for share in (min(results.grid()), max(results.grid())):
        here = results.at(share)
        ramp, squared = (here.where(method=f"{loss}, Pathbuild").numbers("error") for loss in ("ramp", "squared"))
        off = ramp - squared
        limit = 2.0 * float(off.std(ddof=1)) / np.sqrt(off.size)
        better.append(bool(off.mean() < -limit))
        words.append(f"{off.mean():+.2f} ± {limit:.2f} points with {share:.0%} of the labels flipped")
    ours = f"ramp less squared loss, same rules: {', '.join(words)}"
    return Finding(ours, all(better), any(better), "± is two standard errors of the paired difference")
