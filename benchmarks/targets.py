"""What the benchmark must show, and why it does not where it does not."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.findings import (
    H2O,
    READABLE_TERMS,
    RULEFIT,
    Evidence,
    Finding,
    at_least,
    best_rank,
    faster_than_boosting,
    fewer_terms_at_equal_error,
    lower_error_at_same_candidates,
    lower_on_every_binary_set,
    near_the_forest,
    readable_error,
    readable_size,
    within_limits,
)
from benchmarks.methods import ACCURATE, BOOSTING, DEFAULT, FAST, FOREST, named

# Why a target is missed, by its key; a sentence or two.
CAUSES: dict[str, str] = {
    "rulefit-error": "On ion, with 175 rows to learn from, by 0.6 points, with a standard error of 0.3.",
    "rulefit-same": 'By default "fast" is a short list, too: 30 terms at 20,000 rows.',
    "rulefit-terms": "On ion 28 terms do what RuleFit does with 26; on sonar the default has 36 for its 29, and 3.6 "
    "points less error.",
    "readable-error": "Lists that are level or ahead are so by less than a standard error of these few folds.",
    "readable-all": "On breast-w H2O's seven linear terms are ahead by 0.8 points, with a standard error of 0.2. On "
    "glass and ion the differences are at most 1.3 standard errors of these few folds.",
    "boosting": "The default grows two pools of 2,000 rules, with a fold and without it, solves for both, and makes "
    "and judges lists of every length, which takes about a second of the processor whatever the rows. "
    '`preset="fast"` has the 600 candidates that the target was set for.',
    "boosting-fast": "It makes and judges lists of every length as well.",
    "boosting-1m": "More than three times as many candidates as the target was set for, and lists of every length.",
    "boosting-1m-fast": "Lists of every length, which are made and judged as well.",
}


@dataclass(frozen=True)
class Target:
    """Something to reach; `judge` says whether it is."""

    key: str
    goal: str
    judge: Callable[[Evidence], Finding]

    def cause(self, finding: Finding) -> str:
        """Return why it is missed; nothing if it is not."""
        return CAUSES.get(self.key, "") if finding.met is False else ""


_CAPPED = ("imodels FIGS", "imodels FIGS, 25 rules", "imodels RuleFit, 25 terms", "RUG", "RUG, depth 2")
_RULEFIT_SIZES = ("5,000 rows, 600 candidates", "20,000 rows, 600 candidates")

TARGETS = (
    Target(
        "rulefit-5k",
        f"{RULEFIT}, the same 600 candidates, 5,000 rows: at least 100 times its speed",
        at_least(100, "RuleFit", _RULEFIT_SIZES[0], RULEFIT, DEFAULT, FAST),
    ),
    Target(
        "rulefit-20k",
        f"{RULEFIT}, the same 600 candidates, 20,000 rows: at least 200 times its speed",
        at_least(200, "RuleFit", _RULEFIT_SIZES[1], RULEFIT, DEFAULT, FAST),
    ),
    Target(
        "rulefit-same", f'{RULEFIT}, the same 600 candidates: lower error of "fast"', lower_error_at_same_candidates
    ),
    Target(
        "rulefit-error",
        f"{RULEFIT}, both at their defaults: lower error on every problem of two classes",
        lower_on_every_binary_set("error", 2),
    ),
    Target(
        "rulefit-loss",
        f"{RULEFIT}, both at their defaults: lower log loss on every problem of two classes",
        lower_on_every_binary_set("log_loss", 3),
    ),
    Target(
        "rulefit-terms",
        f"{RULEFIT}: one of our models has fewer terms at no more error, on every problem of two classes",
        fewer_terms_at_equal_error,
    ),
    Target("rank", "best mean rank of error among glass-box methods: default settings", best_rank(DEFAULT)),
    Target("rank-accurate", 'best mean rank of error among glass-box methods: "accurate"', best_rank(ACCURATE)),
    Target(
        "forest",
        f"mean error over the ten sets within 0.5 points of the better of {FOREST} and {BOOSTING}: default settings",
        near_the_forest(DEFAULT),
    ),
    Target("forest-accurate", 'the same: "accurate"', near_the_forest(ACCURATE)),
    Target("readable-size", f'"readable": at most {READABLE_TERMS} terms a class', readable_size),
    Target(
        "readable-error",
        f'"readable": lower error than {", ".join(_CAPPED)}, where these have at most {READABLE_TERMS} terms a class, '
        "on at least 8 of the ten sets",
        readable_error(_CAPPED),
    ),
    Target(
        "readable-all",
        f"the same against every rule learner that has at most {READABLE_TERMS} terms a class",
        readable_error(named(lambda method: method.kind == "rules")),
    ),
    Target(
        "boosting",
        f"fit at most half as long as {BOOSTING} from 10,000 rows on: default settings",
        faster_than_boosting(DEFAULT, 2, 10_000),
    ),
    Target("boosting-fast", 'the same: "fast"', faster_than_boosting(FAST, 2, 10_000)),
    Target(
        "boosting-1m",
        f"fit at most a fifth as long as {BOOSTING} at 1,000,000 rows x 39: default settings",
        faster_than_boosting(DEFAULT, 5, 1_000_000),
    ),
    Target("boosting-1m-fast", 'the same: "fast"', faster_than_boosting(FAST, 5, 1_000_000)),
    Target(
        "h2o",
        f"{H2O}, 200,000 rows x 20: at least 10 times its speed",
        at_least(10, "H2O", "200,000 rows x 20", H2O, DEFAULT, FAST),
    ),
    Target("import", "import in less than 0.4 s", within_limits("s")),
    Target(
        "latency",
        "`predict` of a single row less than 0.2 ms above LogisticRegression's",
        within_limits("ms", ": predict"),
    ),
)
