"""The paper's statements on the ten sets."""

import functools

import numpy as np

from rulegrove.study import paper
from rulegrove.study.claims.base import Claim, Finding, add_to, each_mean, listed
from rulegrove.study.results import Results
from rulegrove.study.tables import LABELS, count_wins, means_by_set

_TREES = ("bagging", "boosting")
_PAPER_RULES = ("pathbuild", "fpc", "spgl1")

CLAIMS: list[Claim] = []
_claim = functools.partial(add_to, CLAIMS)


@_claim("5.1", "vehicle", "The rule ensemble beats bagging for the majority of the vehicle classes")
def _beats_bagging_by_class(results: Results) -> Finding:
    by_class = [
        each_mean(results.where(value=one), ("pathbuild", "default", "bagging")) for one in results.distinct("value")
    ]
    wins = {m: sum(errors[m] < errors["bagging"] for errors in by_class) for m in ("pathbuild", "default")}
    total = len(by_class)
    ours = f"lower error on {wins['pathbuild']} of {total} classes with Pathbuild, {wins['default']} by default"
    return Finding(ours, 2 * wins["pathbuild"] > total, 2 * max(wins.values()) > total)


@_claim("5.1", "vehicle", "Some classes are easier: opel is easier to distinguish than van")
def _opel_and_van(results: Results) -> Finding:
    opel, van = (results.where(method="default", value=one).mean("error") for one in ("opel", "van"))
    why = "bus and van are the easy classes for every method here, opel and saab the hard ones"
    return Finding(f"opel {opel:.1f} %, van {van:.1f} %", opel < van, why="" if opel < van else why)


@_claim("5.2", "ten-sets", "Errors of the three rule ensembles (table 2)")
def _reproduces_the_columns(results: Results) -> Finding:
    theirs = {m: [paper.ERRORS[m][name] for name in results.distinct("data")] for m in _PAPER_RULES}
    off = {LABELS[m]: float(np.mean(means_by_set(results, m) - theirs[m])) for m in _PAPER_RULES}
    ours = f"mean difference in points: {listed(off, '+.2f')}"
    return Finding(ours, max(off.values()) < 0.5, min(off.values()) < 0.5, "negative is better than the paper")


@_claim("5.2", "ten-sets", "Much stronger than the tree ensembles if each tree's predictions are averaged")
def _stronger_than_averaging(results: Results) -> Finding:
    rules = means_by_set(results, "pathbuild")
    wins = [_count_wins(results, "pathbuild", f"{name}, single trees") for name in _TREES]
    proper = [_count_wins(results, "pathbuild", f"{name}, averaged probabilities") for name in _TREES]
    ours = (
        f"Pathbuild is better than the single trees of bagging on {wins[0]} and of boosting on {wins[1]} of "
        f"{rules.size} sets; than averaged probabilities on {proper[0]} and {proper[1]}"
    )
    why = "true only of “average” as the mean error of single trees; averaged probabilities are as good as votes"
    return Finding(ours, min(wins) >= 0.8 * rules.size, why=why)


def _count_wins(results: Results, method: str, other: str) -> int:
    """Count the sets on which a method has a lower error than another."""
    return int((means_by_set(results, method) < means_by_set(results, other)).sum())


@_claim("5.2", "ten-sets", "If the trees vote, the rule ensemble is better on some sets but not others")
def _some_but_not_others(results: Results) -> Finding:
    total = len(results.distinct("data"))
    wins = {
        f"{LABELS[method]} beats {name} on": _count_wins(results, method, f"{name}, voting")
        for method in ("pathbuild", "default")
        for name in _TREES
    }
    mixed = [0 < n < total for n in wins.values()]
    return Finding(f"{listed(wins, 'd')} of {total} sets", all(mixed[:2]), any(mixed))


@_claim("5.2", "ten-sets", "Voting is clearly better than averaging")
def _voting_beats_averaging(results: Results) -> Finding:
    single = [_count_wins(results, f"{name}, voting", f"{name}, single trees") for name in _TREES]
    averaged = [
        means_by_set(results, f"{name}, averaged probabilities") - means_by_set(results, f"{name}, voting")
        for name in _TREES
    ]
    ours = (
        f"votes beat single trees on {single[0]} and {single[1]} sets; averaged probabilities differ from votes by "
        f"{averaged[0].mean():+.2f} (bagging) and {averaged[1].mean():+.2f} (boosting) points in the mean"
    )
    return Finding(ours, min(single) >= 9, why="a difference to single trees, not between voting and averaging")


@_claim("5.2", "ten-sets", "Neither boosting nor bagging is a universal win")
def _no_universal_win(results: Results) -> Finding:
    wins = count_wins({m: means_by_set(results, m) for m in LABELS if len(results.where(method=m))})
    rules = sum(n for method, n in wins.items() if not method.startswith(_TREES))
    ours = f"wins: rules {rules}, bagging {wins['bagging, voting']}, boosting {wins['boosting, voting']} (voting)"
    return Finding(ours, rules > 0)


@_claim("5.2", "ten-sets", "Glass is the most difficult set for all methods")
def _glass_is_hard(results: Results) -> Finding:
    sets, methods = results.distinct("data"), ("pathbuild", "default", "bagging, voting", "boosting, voting")
    hardest = {LABELS[method]: sets[int(np.argmax(means_by_set(results, method)))] for method in methods}
    ours = ", ".join(f"{label}: {name}" for label, name in hardest.items())
    return Finding(ours, {*hardest.values()} == {"glass"}, "glass" in hardest.values())


@_claim("7", "ten-sets", "The gap to voting trees is largest with many classes (pendigits)")
def _gap_grows_with_classes(results: Results) -> Finding:
    sets = results.distinct("data")
    best = np.minimum(means_by_set(results, "bagging, voting"), means_by_set(results, "boosting, voting"))
    gaps, default = means_by_set(results, "pathbuild") / best, means_by_set(results, "default") / best
    largest, digits = sets[int(np.argmax(gaps))], sets.index("pendigits")
    ours = (
        f"pendigits: {gaps[digits]:.1f} times the error of the better tree ensemble with Pathbuild, "
        f"{default[digits]:.1f} times by default; largest ratio on {largest}"
    )
    return Finding(ours, largest == "pendigits", why="the paper: 6.94 against 0.87 %, 8 times")


@_claim("7", "ten-sets", "Multi-class trees might yield better rules, and one set of rules is more efficient")
def _multiclass_trees(results: Results) -> Finding:
    sets = [name for name in results.distinct("data") if paper.SETS[name][2] > 2]
    better, faster = 0, []
    for name in sets:
        single, shared = (results.where(data=name, method=method) for method in ("glmnet", "shared"))
        better += shared.mean("error") < single.mean("error")
        faster.append(single.mean("fit seconds") / shared.mean("fit seconds"))
    ours = f"lower error on {better} of {len(sets)} sets, fits {min(faster):.1f} to {max(faster):.1f} times faster"
    why = "perhaps because each class has fewer rules made for it; not tested"
    return Finding(ours, 2 * better > len(sets), min(faster) > 1.0, why)
