"""What was measured of each target of the benchmark."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.methods import BOOSTING, DEFAULT, FAST, FOREST, METHODS, READABLE
from benchmarks.problems import PROBLEMS
from benchmarks.summaries import (
    ALL_SETS,
    GLASS_PEERS,
    OURS,
    TEN_SETS,
    Ratio,
    Results,
    fit_ratio,
    rank_methods,
)

RULEFIT, H2O = "imodels RuleFit", "H2O RuleFit"
READABLE_TERMS = 25


@dataclass(frozen=True)
class Evidence:
    """All that was measured.

    Attributes
    ----------
    results : Results
        Of the peers.
    kernels : sequence of dict
        Lines of ``kernels.csv``: name, figure, unit, limit, share.
    """

    results: Results
    kernels: Sequence[Mapping[str, str]] = ()


@dataclass(frozen=True)
class Finding:
    """What was measured of a target.

    Attributes
    ----------
    words : str
    met : bool, optional
        None without data.
    whole : bool
        Whether all that it asks for was measured.
    """

    words: str
    met: bool | None
    whole: bool = True

    @property
    def verdict(self) -> str:
        """Say in a word or two whether it is met."""
        if self.met is None:
            return "not measured"
        word = "met" if self.met else "**missed**"
        return word if self.whole else f"{word} so far, measured in part"


NOTHING = Finding("", None)


# --- beside RuleFit of imodels ----------------------------------------------------------------------------------------


def binary_sets(results: Results) -> list[str]:
    """Return the problems of two classes."""
    return [problem for problem in ALL_SETS if results.n_classes("sets", problem) == 2]


def _all_tried(results: Results, problems: Iterable[str], methods: Sequence[str]) -> bool:
    """Whether every method has a line on every problem."""
    return all(results.status("sets", problem, method) for problem in problems for method in methods)


def at_least(least: float, group: str, problem: str, theirs: str, *ours: str) -> Callable[[Evidence], Finding]:
    """Judge how many times as long as each of ours another method takes to fit."""

    def judge(evidence: Evidence) -> Finding:
        return _judge_ratios(
            {line: fit_ratio(evidence.results, group, problem, theirs, line) for line in ours or (DEFAULT,)}, least
        )

    return judge


def _judge_ratios(ratios: Mapping[str, Ratio | None], least: float) -> Finding:
    found = {name: ratio for name, ratio in ratios.items() if ratio is not None}
    if not found:
        return NOTHING
    words = ", ".join(f"{name}: {ratio} times" for name, ratio in found.items())
    return Finding(words, all(ratio.value >= least for ratio in found.values()), len(found) == len(ratios))


def lower_error_at_same_candidates(evidence: Evidence) -> Finding:
    """Judge the error where both choose from 600 candidates, ours by the preset that is made for so few."""
    problems = evidence.results.problems("RuleFit")
    pairs = {p: evidence.results.common_means("RuleFit", p, (FAST, RULEFIT), "error") for p in problems}
    pairs = {problem: pair for problem, pair in pairs.items() if len(pair) == 2}
    if not pairs:
        return NOTHING
    words = "; ".join(f"{p}: {pair[FAST]:.2f} against {pair[RULEFIT]:.2f} %" for p, pair in pairs.items())
    return Finding(words, all(pair[FAST] < pair[RULEFIT] for pair in pairs.values()), len(pairs) == 2)


def lower_on_every_binary_set(field: str, digits: int) -> Callable[[Evidence], Finding]:
    """Judge whether the defaults have the lower figure on every problem of two classes."""

    def judge(evidence: Evidence) -> Finding:
        results = evidence.results
        pairs = {p: results.common_means("sets", p, (DEFAULT, RULEFIT), field) for p in binary_sets(results)}
        pairs = {problem: pair for problem, pair in pairs.items() if len(pair) == 2}
        if not pairs:
            return NOTHING
        missed = [
            f"{problem} ({pair[DEFAULT]:.{digits}f} against {pair[RULEFIT]:.{digits}f})"
            for problem, pair in pairs.items()
            if not pair[DEFAULT] < pair[RULEFIT]
        ]
        words = f"lower on {len(pairs) - len(missed)} of {len(pairs)}"
        words += f"; not on {', '.join(missed)}" if missed else ""
        return Finding(words, not missed, _all_tried(results, ALL_SETS, (DEFAULT, RULEFIT)))

    return judge


@dataclass(frozen=True)
class Smaller:
    """The smallest of our models whose error is no higher than RuleFit's; `method` is None if there is none."""

    their_error: float
    their_terms: float
    method: str | None = None
    error: float = math.nan
    terms: float = math.nan


def smallest_at_equal_error(results: Results, problem: str) -> Smaller | None:
    """Find the smallest of our models with at most RuleFit's error; None if RuleFit or all of ours are missing."""
    errors = results.common_means("sets", problem, (RULEFIT, *OURS), "error")
    terms = results.common_means("sets", problem, (RULEFIT, *OURS), "terms")
    if RULEFIT not in errors or len(errors) < 2:
        return None
    as_good = [name for name in errors if name != RULEFIT and errors[name] <= errors[RULEFIT] + 1e-9]
    theirs = errors[RULEFIT], terms[RULEFIT]
    if not as_good:
        return Smaller(*theirs)
    best = min(as_good, key=lambda name: terms[name])
    return Smaller(*theirs, best, errors[best], terms[best])


def fewer_terms_at_equal_error(evidence: Evidence) -> Finding:
    """Judge whether some model of ours is at least as good as RuleFit with fewer terms, on every binary problem."""
    problems = binary_sets(evidence.results)
    found = {problem: smallest_at_equal_error(evidence.results, problem) for problem in problems}
    known = {problem: one for problem, one in found.items() if one is not None}
    if not known:
        return NOTHING
    missed = [problem for problem, one in known.items() if not one.terms < one.their_terms]
    words = f"fewer on {len(known) - len(missed)} of {len(known)}" + (f"; not on {', '.join(missed)}" if missed else "")
    return Finding(words, not missed, _all_tried(evidence.results, ALL_SETS, (RULEFIT, *OURS)))


# --- beside all -------------------------------------------------------------------------------------------------------


def best_rank(ours: str) -> Callable[[Evidence], Finding]:
    """Judge the mean rank of one of our lines among all glass-box peers."""

    def judge(evidence: Evidence) -> Finding:
        ranking = rank_methods(evidence.results, (ours, *GLASS_PEERS), "error")
        by_loss = rank_methods(evidence.results, (ours, *GLASS_PEERS), "log_loss")
        if ours not in ranking.means or len(ranking.means) < 2:
            return NOTHING
        words = f"{_told(ranking.means, ours)}; of log loss {_told(by_loss.means, ours)}"
        if ranking.n_problems < len(ALL_SETS):
            words += f"; over {ranking.n_problems} of {len(ALL_SETS)} problems"
        met = ranking.means[ours] <= min(ranking.means.values())
        return Finding(words, met, ranking.n_problems == len(ALL_SETS))

    return judge


def _told(means: Mapping[str, float], ours: str) -> str:
    peer = min((name for name in means if name != ours), key=lambda name: means[name])
    return f"{means[ours]:.2f} (best peer: {peer}, {means[peer]:.2f})"


def near_the_forest(ours: str, most: float = 0.5) -> Callable[[Evidence], Finding]:
    """Judge the mean error over the ten sets beside the better of forest and boosting."""

    def judge(evidence: Evidence) -> Finding:
        methods = (ours, FOREST, BOOSTING)
        rows = [evidence.results.common_means("sets", problem, methods, "error") for problem in TEN_SETS]
        rows = [row for row in rows if len(row) == len(methods)]
        if not rows:
            return NOTHING
        means = {method: sum(row[method] for row in rows) / len(rows) for method in methods}
        better = min((FOREST, BOOSTING), key=lambda name: means[name])
        gap = means[ours] - means[better]
        words = f"{means[ours]:.2f} % against {means[better]:.2f} % ({better}): {gap:+.2f} points"
        return Finding(words, gap <= most, len(rows) == len(TEN_SETS))

    return judge


# --- few terms --------------------------------------------------------------------------------------------------------


def readable_size(evidence: Evidence) -> Finding:
    """Judge whether every model of the preset "readable" is small enough."""
    largest = {
        problem: max(sizes.values())
        for problem in ALL_SETS
        if (sizes := evidence.results.terms_a_class("sets", problem, READABLE))
    }
    if not largest:
        return NOTHING
    problem = max(largest, key=lambda name: largest[name])
    words = f"at most {largest[problem]:.1f} ({problem})"
    return Finding(words, largest[problem] <= READABLE_TERMS, len(largest) == len(ALL_SETS))


def small_peers(results: Results, problem: str) -> list[str]:
    """Return the rule learners whose models of a problem have at most 25 terms a class on average."""
    sizes = {
        name: list(results.terms_a_class("sets", problem, name).values())
        for name, method in METHODS.items()
        if method.kind == "rules"
    }
    return [name for name, own in sizes.items() if own and sum(own) / len(own) <= READABLE_TERMS]


def readable_error(peers: Sequence[str], least: int = 8) -> Callable[[Evidence], Finding]:
    """Judge on how many of the ten sets "readable" has lower error than each of some peers, if small."""

    def judge(evidence: Evidence) -> Finding:
        results = evidence.results
        tried = [problem for problem in TEN_SETS if results.status("sets", problem, READABLE) == "ok"]
        if not tried:
            return NOTHING
        missed = [
            f"{problem} ({', '.join(better)})"
            for problem in tried
            if (better := _better_small_peers(results, problem, peers))
        ]
        words = f"lower on {len(tried) - len(missed)} of {len(tried)}"
        words += f"; not on {'; '.join(missed)}" if missed else ""
        return Finding(words, len(tried) - len(missed) >= least, _all_tried(results, TEN_SETS, (READABLE, *peers)))

    return judge


def _better_small_peers(results: Results, problem: str, peers: Sequence[str]) -> list[str]:
    """Return the small peers that are at least as good, each over the cells that both have."""
    better = []
    for peer in small_peers(results, problem):
        means = results.common_means("sets", problem, (READABLE, peer), "error")
        if peer in peers and means and not means[READABLE] < means[peer]:
            better.append(f"{peer} {means[peer]:.2f} against {means[READABLE]:.2f}")
    return better


# --- time -------------------------------------------------------------------------------------------------------------


def faster_than_boosting(ours: str, least: float, from_rows: int) -> Callable[[Evidence], Finding]:
    """Judge the ratio of fit times at every size from some rows on."""
    sizes = [bench.name for bench in PROBLEMS if bench.group == "rows" and bench.value >= from_rows]

    def judge(evidence: Evidence) -> Finding:
        return _judge_ratios({size: fit_ratio(evidence.results, "rows", size, BOOSTING, ours) for size in sizes}, least)

    return judge


def within_limits(unit: str, ending: str = "") -> Callable[[Evidence], Finding]:
    """Judge the figures of ``kernels.csv`` of some unit, with a name of some ending, that have a limit."""

    def judge(evidence: Evidence) -> Finding:
        named = [line for line in evidence.kernels if line["unit"] == unit and line["name"].endswith(ending)]
        lines = [line for line in named if line["limit"]]
        words = "; ".join(
            f"{line['name']}: {float(line['figure']):.3f} {unit} (limit {float(line['limit']):.3f})" for line in lines
        )
        return Finding(words, all(float(line["share"]) <= 1 for line in lines)) if lines else NOTHING

    return judge
