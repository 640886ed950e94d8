"""The paper's statements on the supernova candidates."""

import numpy as np

from rulegrove.study.claims.base import Claim, Verdict, curve, judge, judge_spread, noise
from rulegrove.study.parts.attributes import ALL
from rulegrove.study.parts.trees import SUBSAMPLES
from rulegrove.study.results import Results

_OTHERS = "linear terms are winsorised here, and these are other candidates than the paper's"


def _large_trees(results: Results) -> Verdict:
    half = results.where(method=next(iter(SUBSAMPLES)))
    grid, means, _ = curve(half)
    rise = means[-1] - means[0]
    least = grid[int(np.argmin(means))]
    ours = f"{means[0]:.2f} % at {grid[0]:g} leaves, {means[-1]:.2f} % at {grid[-1]:g}; least at {least:g}"
    return Verdict(ours, judge(rise > noise(half), rise > 0), "the paper: 3 to 4.2 % at 5 leaves, 4 to 7 % at 40")


def _large_trees_vary(results: Results) -> Verdict:
    grid, _, spreads = curve(results.where(method=next(iter(SUBSAMPLES))))
    ours = f"standard deviation {spreads[0]:.2f} points at {grid[0]:g} leaves, {spreads[-1]:.2f} at {grid[-1]:g}"
    return Verdict(ours, judge_spread(results, spreads[-1] > 1.5 * spreads[0], spreads[-1] > spreads[0]))


def _size_matters_little(results: Results) -> Verdict:
    _, means, _ = curve(results.where(method=next(iter(SUBSAMPLES))))
    return Verdict(f"range of the means {max(means) - min(means):.2f} points", judge(max(means) - min(means) < 1.0))


def _subsample(results: Results) -> Verdict:
    half, tenth = (curve(results.where(method=method)) for method in SUBSAMPLES)
    off = np.array(tenth[1]) - np.array(half[1])
    limit = noise(results)
    ours = f"500 rows less 2,500 rows a tree: {off.min():+.2f} to {off.max():+.2f} points over the sizes of trees"
    return Verdict(
        ours, judge(bool((off < limit).all()), bool((off < limit).any())), f"noise of a difference: {limit:.2f}"
    )


def _more_rules(results: Results) -> Verdict:
    grid, means, _ = curve(results)
    at_600 = means[grid.index(600.0)]
    ours = f"{means[0]:.2f} % with {grid[0]:g} rules, {at_600:.2f} % with 600, {means[-1]:.2f} % with {grid[-1]:g}"
    return Verdict(
        ours, judge(at_600 < 0.65 * means[0], at_600 < means[0] - noise(results)), "the paper: nearly halved"
    )


def _no_more_rules(results: Results) -> Verdict:
    grid, means, _ = curve(results)
    gain = means[grid.index(600.0)] - means[-1]
    ours = f"from 600 to {grid[-1]:g} rules the error falls by {gain:.2f} points"
    return Verdict(ours, judge(gain < max(noise(results), 0.15)))


def _more_rules_vary_less(results: Results) -> Verdict:
    grid, _, spreads = curve(results)
    ours = f"standard deviation {spreads[0]:.2f} points with {grid[0]:g} rules, {spreads[-1]:.2f} with {grid[-1]:g}"
    return Verdict(ours, judge_spread(results, spreads[-1] < spreads[0]))


def _rules_beat_lines(results: Results) -> Verdict:
    rules, linear = (results.where(method=kind).mean("error") for kind in ("rules", "linear"))
    ours = f"linear {linear:.2f} %, rules {rules:.2f} %, {linear / rules:.1f} times"
    return Verdict(ours, judge(linear > 4 * rules, linear > rules), f"the paper: 30 % and 5 %; {_OTHERS}")


def _lines_are_biased(results: Results) -> Verdict:
    here = results.where(method="linear")
    positive, negative = here.mean("false positive"), here.mean("false negative")
    ours = f"linear terms: false positive {positive:.2f} %, false negative {negative:.2f} %"
    return Verdict(ours, judge(negative < 0.1 * positive, negative < positive))


def _threshold_costs(results: Results) -> Verdict:
    grid, means, _ = curve(results)
    ours = f"{means[0]:.2f} % at τ = {grid[0]:g}, {means[-1]:.2f} % at τ = {grid[-1]:g}"
    return Verdict(ours, judge(means[-1] > means[0] + noise(results), means[-1] > means[0]))


def _threshold_is_free_at_first(results: Results) -> Verdict:
    grid, means, _ = curve(results)
    rise = max(mean for value, mean in zip(grid, means, strict=True) if value <= 0.4) - means[0]
    return Verdict(
        f"up to τ = 0.4 the error rises by {rise:.2f} points at most", judge(rise < max(noise(results), 0.1))
    )


def _threshold_varies(results: Results) -> Verdict:
    grid, _, spreads = curve(results)
    ours = f"standard deviation {spreads[0]:.2f} points at τ = {grid[0]:g}, {spreads[-1]:.2f} at τ = {grid[-1]:g}"
    return Verdict(ours, judge_spread(results, spreads[-1] > 1.2 * spreads[0], spreads[-1] > spreads[0]))


def _weak_penalty(results: Results) -> Verdict:
    grid, means, _ = curve(results)
    small = [mean for value, mean in zip(grid, means, strict=True) if value < 0.01]
    ours = f"{means[-1]:.2f} % at λ = {grid[-1]:g}; below 0.01 between {min(small):.2f} and {max(small):.2f} %"
    falls = means[-1] > max(small)
    return Verdict(ours, judge(falls and max(small) - min(small) < 0.5, falls))


def _constant_variance(results: Results) -> Verdict:
    grid, _, spreads = curve(results)
    small = [spread for value, spread in zip(grid, spreads, strict=True) if value < 0.05]
    ours = f"standard deviation from {min(small):.2f} to {max(small):.2f} points below λ = 0.05"
    return Verdict(ours, judge_spread(results, max(small) < 2 * min(small), max(small) < 4 * min(small)))


def _more_false_positives(results: Results) -> Verdict:
    weakest = results.at(min(results.grid()))
    positive, negative = weakest.mean("false positive"), weakest.mean("false negative")
    ours = f"Glmnet at the weakest penalty: false positive {positive:.2f} %, false negative {negative:.2f} %"
    why = "rates within a class do not depend on how many of it are tested; training is balanced"
    return Verdict(ours, judge(positive > 2 * negative, positive > negative), why)


def _larger_radius(results: Results) -> Verdict:
    grid, means, _ = curve(results)
    ours = f"{means[0]:.2f} % at a radius of {grid[0]:g}, {means[-1]:.2f} % at {grid[-1]:g}, least {min(means):.2f} %"
    return Verdict(ours, judge(means[-1] < means[0]))


def _larger_fit_weight(results: Results) -> Verdict:
    grid, means, _ = curve(results)
    late = [mean for value, mean in zip(grid, means, strict=True) if value >= 0.05]
    ours = f"{means[0]:.2f} % at μ = {grid[0]:g}; from 0.05 on between {min(late):.2f} and {max(late):.2f} %"
    return Verdict(ours, judge(means[0] > max(late) and max(late) - min(late) < 0.5, means[0] > min(late)))


def _nonzero_levels_off(results: Results) -> Verdict:
    grid, terms, _ = curve(results, "terms")
    total = results.mean("candidates")
    zero = 100.0 * (1.0 - terms[int(np.argmin(np.abs(np.array(grid) - 0.19)))] / total)
    grown = (terms[-1] - terms[-4]) / max(terms[-1], 1.0)
    ours = f"{terms[0]:.0f} terms at μ = {grid[0]:g}, {terms[-1]:.0f} at {grid[-1]:g} of {total:.0f}"
    ours += f"; {zero:.0f} % are zero at 0.19"
    return Verdict(
        ours, judge(abs(zero - 78.0) < 10.0 and grown < 0.2, zero > 50.0), "the paper: 78 % are zero at 0.19"
    )


def _fpc_and_tree_size(results: Results) -> Verdict:
    ends = []
    for method in results.distinct("method"):
        here = results.where(method=method)
        ends.append(here.at(max(here.grid())).mean("error"))
    ours = f"at the largest μ the means lie between {min(ends):.2f} and {max(ends):.2f} %"
    return Verdict(ours, judge(max(ends) - min(ends) < 0.5, max(ends) - min(ends) < 1.0))


def _sparsity(results: Results) -> Verdict:
    shares = {name: results.where(method=name).mean("share") for name in ("pathbuild", "glmnet", "spgl1", "fpc")}
    overall = {name: results.where(method=name).mean("share at equal overall error") for name in shares}
    reached = results.where(method="pathbuild").mean("reached")
    ours = "at equal balanced error " + ", ".join(f"{name} {share:.0f} %" for name, share in shares.items())
    ours += f" (Pathbuild got there in {reached:.0%} of the repetitions); at equal overall error "
    ours += ", ".join(f"{name} {share:.0f} %" for name, share in overall.items())
    apart = [own["pathbuild"] > 2 * max(own["glmnet"], own["spgl1"], own["fpc"]) for own in (shares, overall)]
    near = 10.0 < max(shares["glmnet"], overall["glmnet"]) < 21.0 and 35.0 < shares["pathbuild"] < 55.0
    why = "the order of the solvers; the shares themselves depend on which error is held equal"
    return Verdict(ours, judge(all(apart) and near and reached == 1.0, all(apart)), why)


def _spgl1_is_sparsest(results: Results) -> Verdict:
    terms = {name: results.where(method=name).mean("terms") for name in ("glmnet", "spgl1", "fpc")}
    ours = ", ".join(f"{name} {count:.0f} terms" for name, count in terms.items())
    why = "the three minimise one objective and meet at equal error, repeats among the rules being dropped"
    return Verdict(ours, judge(terms["spgl1"] < 0.95 * min(terms["glmnet"], terms["fpc"])), why)


def _similar_orders(results: Results) -> Verdict:
    pairs = ("fpc, spgl1", "fpc, glmnet", "spgl1, glmnet", "pathbuild, fpc")
    shared = {pair: results.where(method=pair).mean("shared top ten") for pair in pairs}
    ours = "of the ten largest shared: " + ", ".join(f"{pair} {count:.1f}" for pair, count in shared.items())
    alike = shared["fpc, spgl1"] >= 7
    why = "Glmnet agrees too once repeated and complementary rules are dropped; Pathbuild differs"
    return Verdict(ours, judge(alike and shared["fpc, glmnet"] < 7, alike), why)


def _fewer_attributes(results: Results) -> Verdict:
    lines = results.where(metric="error")
    weight = max(lines.grid())
    every, votes = (lines.where(method=method).at(weight).mean("error") for method in (ALL, "votes"))
    loss = lines.where(method="loss").at(weight).mean("error")
    kept = {method: results.where(method=method).mean("kept") for method in ("votes", "loss")}
    ours = (
        f"all: {every:.2f} %; votes keep {kept['votes']:.1f} attributes: {votes:.2f} %; by loss "
        f"{kept['loss']:.1f} are kept: {loss:.2f} %"
    )
    limit = noise(lines.where(method=ALL))
    better = min(votes, loss) < every - limit
    return Verdict(ours, judge(better, min(votes, loss) < every + limit), "the paper: 21 of 39, for a lower error")


def _steady_rules(results: Results) -> Verdict:
    counts = {line.number: line.result for line in results if line.metric == "rules with so many votes"}
    always, total = counts.get(max(counts), 0.0), sum(counts.values())
    return Verdict(f"{always:.0f} of {total:.0f} voted rules are among the 20 largest at every μ", judge(always > 0))


def _choosing(results: Results) -> Verdict:
    best, chosen = (results.where(method=method) for method in ("best on the test rows", "1se"))
    cost = chosen.mean("balanced error") - best.mean("balanced error")
    point = f"λ = {chosen.mean('penalty'):.4f}, {chosen.mean('terms'):.0f} terms"
    ours = f"1se takes {point}, {cost:+.2f} points of balanced error from the best"
    why = (
        "folds choose it; the cost is within what splits differ by" if cost < 2 * best.spread("balanced error") else ""
    )
    return Verdict(ours, judge(cost > 0.5), why)


def _training_time(results: Results) -> Verdict:
    seconds = {
        name: results.where(method=f"ensemble: {name}").mean("fit seconds")
        for name in ("default", "bagging", "boosting")
    }
    ours = ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
    return Verdict(
        ours, judge(seconds["default"] > min(seconds["bagging"], seconds["boosting"])), "fit on 5,000 rows, one thread"
    )


def _predicting_time(results: Results) -> Verdict:
    seconds = {
        name: results.where(method=f"ensemble: {name}").mean("predict seconds")
        for name in ("default", "bagging", "boosting")
    }
    ours = ", ".join(f"{name} {value:.3f} s" for name, value in seconds.items())
    fastest = seconds["default"] < 0.5 * min(seconds["bagging"], seconds["boosting"])
    return Verdict(ours, judge(fastest, seconds["default"] < seconds["bagging"]), "all test rows, one thread")


def _ramp_suits(results: Results) -> Verdict:
    words, better = [], []
    for share in (min(results.grid()), max(results.grid())):
        here = results.at(share)
        ramp, squared = (here.where(method=f"{loss}, Pathbuild").numbers("error") for loss in ("ramp", "squared"))
        off = ramp - squared
        limit = 2.0 * float(off.std(ddof=1)) / np.sqrt(off.size)
        better.append(bool(off.mean() < -limit))
        words.append(f"{off.mean():+.2f} ± {limit:.2f} points with {share:.0%} of the labels flipped")
    why = "± is two standard errors of the paired difference"
    ours = "ramp less squared loss, same rules: " + ", ".join(words)
    return Verdict(ours, judge_spread(results, all(better), any(better)), why)


CLAIMS = (
    Claim("Ensembles of larger trees have higher error", "6.1", "tree-size", _large_trees),
    Claim("The variance of the error increases with larger trees", "6.1", "tree-size", _large_trees_vary),
    Claim("The size of the trees has no strong effect on the error", "6.1", "tree-size", _size_matters_little),
    Claim(
        "Subsamples of 500 in place of 2,500 rows do not change the error for any size of trees",
        "6.1",
        "tree-size",
        _subsample,
    ),
    Claim("From 100 to 600 rules the error is nearly halved", "6.1", "rule-count", _more_rules),
    Claim("Beyond 600 rules the error does not fall substantially", "6.1", "rule-count", _no_more_rules),
    Claim("More rules, less variance of the error", "6.1", "rule-count", _more_rules_vary_less),
    Claim("Rules are six times more accurate than linear terms", "6.1", "terms", _rules_beat_lines),
    Claim("Linear terms are biased: their false negative rate is close to zero", "6.1", "terms", _lines_are_biased),
    Claim("Error increases with τ", "6.1", "threshold", _threshold_costs),
    Claim("Up to τ = 0.3 or 0.4 the accuracy is not compromised", "6.1", "threshold", _threshold_is_free_at_first),
    Claim("The variance of the error increases with τ", "6.1", "threshold", _threshold_varies),
    Claim("Error falls with λ and is stable below 0.01", "6.2", "penalty", _weak_penalty),
    Claim("The variance is about constant over λ", "6.2", "penalty", _constant_variance),
    Claim("False positive rates are more than twice the false negative rates", "6.2", "penalty", _more_false_positives),
    Claim("Error falls as the radius grows", "6.3", "radius", _larger_radius),
    Claim("Error falls as μ grows, then is stable", "6.4", "fit-weight", _larger_fit_weight),
    Claim(
        "Non-zero coefficients grow with μ, then level off; 78 % are zero at μ = 0.19",
        "6.4",
        "fit-weight",
        _nonzero_levels_off,
    ),
    Claim(
        "With Fpc the size of the trees matters little, so simple rules do",
        "6.4",
        "fit-weight-tree-size",
        _fpc_and_tree_size,
    ),
    Claim("At equal accuracy Pathbuild keeps 40 to 50 %, the others 12 to 19 %", "7", "sparsity", _sparsity),
    Claim("Spgl1 returns the sparsest solutions", "7", "sparsity", _spgl1_is_sparsest),
    Claim("Fpc and Spgl1 order coefficients alike; Glmnet and Pathbuild less so", "7", "sparsity", _similar_orders),
    Claim("Certain rules are important at every μ", "6.5", "attributes", _steady_rules),
    Claim("Fewer attributes, chosen by rules, give a lower error", "6.5", "attributes", _fewer_attributes),
    Claim("It is not clear how to choose the penalty", "6.2, 6.4", "selection", _choosing),
    Claim("The rule ensemble will not reduce the time of training", "7", "timing", _training_time),
    Claim("With rules pruned it is likely to run substantially more quickly", "7", "timing", _predicting_time),
    Claim(
        "The ramp loss is particularly well suited to binary classification (beyond the paper: with wrong labels)",
        "1.1",
        "robustness",
        _ramp_suits,
    ),
)
