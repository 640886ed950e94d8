"""The paper's statements on the ten sets."""

import numpy as np

from rulegrove.study import paper
from rulegrove.study.claims.base import FAILS, HOLDS, IN_PART, Claim, Verdict, judge
from rulegrove.study.results import Results
from rulegrove.study.tables import LABELS, count_wins

_TREES = ("bagging", "boosting")
_PAPER_RULES = ("pathbuild", "fpc", "spgl1")


def _means(results: Results, method: str) -> np.ndarray:
    """Mean error of a method on each set."""
    return np.array([results.where(data=name, method=method).mean("error") for name in results.distinct("data")])


def _beats_bagging_by_class(results: Results) -> Verdict:
    classes = results.distinct("value")
    wins = {}
    for method in ("pathbuild", "default"):
        better = [
            results.where(method=method, value=one).mean("error")
            < results.where(method="bagging", value=one).mean("error")
            for one in classes
        ]
        wins[method] = sum(better)
    ours = f"lower error on {wins['pathbuild']} of {len(classes)} classes with Pathbuild, {wins['default']} by default"
    return Verdict(ours, judge(2 * wins["pathbuild"] > len(classes), 2 * max(wins.values()) > len(classes)))


def _opel_and_van(results: Results) -> Verdict:
    errors = {one: results.where(method="default", value=one).mean("error") for one in ("opel", "van")}
    ours = f"opel {errors['opel']:.1f} %, van {errors['van']:.1f} %"
    why = "bus and van are the easy classes for every method here, opel and saab the hard ones"
    return Verdict(ours, judge(errors["opel"] < errors["van"]), "" if errors["opel"] < errors["van"] else why)


def _stronger_than_averaging(results: Results) -> Verdict:
    rules = _means(results, "pathbuild")
    wins = [int((rules < _means(results, f"{name}, single trees")).sum()) for name in _TREES]
    proper = [int((rules < _means(results, f"{name}, averaged probabilities")).sum()) for name in _TREES]
    ours = (
        f"Pathbuild is better than the single trees of bagging on {wins[0]} and of boosting on {wins[1]} of "
        f"{rules.size} sets; than averaged probabilities on {proper[0]} and {proper[1]}"
    )
    why = "true only of “average” as the mean error of single trees; averaged probabilities are as good as votes"
    return Verdict(ours, judge(min(wins) >= 0.8 * rules.size), why)


def _some_but_not_others(results: Results) -> Verdict:
    words, mixed = [], []
    for method in ("pathbuild", "default"):
        for name in _TREES:
            wins = int((_means(results, method) < _means(results, f"{name}, voting")).sum())
            words.append(f"{LABELS[method]} beats {name} on {wins}")
            mixed.append(0 < wins < len(results.distinct("data")))
    return Verdict(", ".join(words) + f" of {len(results.distinct('data'))} sets", judge(all(mixed[:2]), any(mixed)))


def _voting_beats_averaging(results: Results) -> Verdict:
    votes = {name: _means(results, f"{name}, voting") for name in _TREES}
    single = [int((votes[name] < _means(results, f"{name}, single trees")).sum()) for name in _TREES]
    proper = [float((_means(results, f"{name}, averaged probabilities") - votes[name]).mean()) for name in _TREES]
    ours = (
        f"votes beat single trees on {single[0]} and {single[1]} sets; averaged probabilities differ from votes by "
        f"{proper[0]:+.2f} (bagging) and {proper[1]:+.2f} (boosting) points in the mean"
    )
    return Verdict(ours, judge(min(single) >= 9), "a difference to single trees, not between voting and averaging")


def _no_universal_win(results: Results) -> Verdict:
    methods = [method for method in LABELS if len(results.where(method=method))]
    wins = count_wins({method: _means(results, method).tolist() for method in methods})
    rules = sum(wins[method] for method in methods if not method.startswith(_TREES))
    ours = f"wins: rules {rules}, bagging {wins['bagging, voting']}, boosting {wins['boosting, voting']} (voting)"
    return Verdict(ours, judge(rules > 0))


def _gap_grows_with_classes(results: Results) -> Verdict:
    sets = results.distinct("data")
    best = np.minimum(_means(results, "bagging, voting"), _means(results, "boosting, voting"))
    gaps = dict(zip(sets, _means(results, "pathbuild") / best, strict=True))
    largest = max(gaps, key=lambda name: gaps[name])
    default = float(_means(results, "default")[sets.index("pendigits")] / best[sets.index("pendigits")])
    ours = (
        f"pendigits: {gaps['pendigits']:.1f} times the error of the better tree ensemble with Pathbuild, "
        f"{default:.1f} times by default; largest ratio on {largest}"
    )
    return Verdict(ours, judge(largest == "pendigits"), "the paper: 6.94 against 0.87 %, 8 times")


def _glass_is_hard(results: Results) -> Verdict:
    sets, methods = results.distinct("data"), ("pathbuild", "default", "bagging, voting", "boosting, voting")
    hardest = [sets[int(np.argmax(_means(results, method)))] for method in methods]
    return Verdict(
        ", ".join(f"{LABELS[m]}: {h}" for m, h in zip(methods, hardest, strict=True)),
        judge({*hardest} == {"glass"}, "glass" in hardest),
    )


def _reproduces_the_columns(results: Results) -> Verdict:
    sets = results.distinct("data")
    off = {
        method: float(np.mean(_means(results, method) - np.array([paper.ERRORS[method][name] for name in sets])))
        for method in _PAPER_RULES
    }
    ours = ", ".join(f"{LABELS[method]} {value:+.2f}" for method, value in off.items())
    verdict = HOLDS if max(off.values()) < 0.5 else IN_PART if min(off.values()) < 0.5 else FAILS
    return Verdict(f"mean difference in points: {ours}", verdict, "negative is better than the paper")


def _multiclass_trees(results: Results) -> Verdict:
    sets = [name for name in results.distinct("data") if paper.SETS[name][2] > 2]
    better, faster = 0, []
    for name in sets:
        own, shared = (results.where(data=name, method=method) for method in ("glmnet", "shared"))
        better += shared.mean("error") < own.mean("error")
        faster.append(own.mean("fit seconds") / shared.mean("fit seconds"))
    ours = (
        f"lower error on {better} of {len(sets)} sets, fits {np.min(faster):.1f} to {np.max(faster):.1f} times faster"
    )
    why = "perhaps because each class has fewer rules made for it; not tested"
    return Verdict(ours, judge(2 * better > len(sets), min(faster) > 1.0), why)


CLAIMS = (
    Claim(
        "The rule ensemble beats bagging for the majority of the vehicle classes",
        "5.1",
        "vehicle",
        _beats_bagging_by_class,
    ),
    Claim("Some classes are easier: opel is easier to distinguish than van", "5.1", "vehicle", _opel_and_van),
    Claim("Errors of the three rule ensembles (table 2)", "5.2", "ten-sets", _reproduces_the_columns),
    Claim(
        "Much stronger than the tree ensembles if each tree's predictions are averaged",
        "5.2",
        "ten-sets",
        _stronger_than_averaging,
    ),
    Claim(
        "If the trees vote, the rule ensemble is better on some sets but not others",
        "5.2",
        "ten-sets",
        _some_but_not_others,
    ),
    Claim("Voting is clearly better than averaging", "5.2", "ten-sets", _voting_beats_averaging),
    Claim("Neither boosting nor bagging is a universal win", "5.2", "ten-sets", _no_universal_win),
    Claim("Glass is the most difficult set for all methods", "5.2", "ten-sets", _glass_is_hard),
    Claim("The gap to voting trees is largest with many classes (pendigits)", "7", "ten-sets", _gap_grows_with_classes),
    Claim(
        "Multi-class trees might yield better rules, and one set of rules is more efficient",
        "7",
        "ten-sets",
        _multiclass_trees,
    ),
)
