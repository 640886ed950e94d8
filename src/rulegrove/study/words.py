"""The words of the report."""

from rulegrove import __version__
from rulegrove.study.config import Config
from rulegrove.study.results import Results

INTRODUCTION = (
    "DeMasi, Meza and Bailey, “Dimension reduction using rule ensemble machine learning methods: a "
    "numerical study of three ensemble methods”, rerun with rulegrove: every table and figure of its "
    "sections 4 to 6, on the same protocols, and what it left for later. A rule ensemble grows many small"
    " trees, takes every node of them as an IF-THEN rule, and weights the rules by a sparse regression.",
    "Numbers are percent of test rows that are misclassified unless said otherwise. The **error** is over"
    " all test rows, the **false positive rate** over the negative ones, the **false negative rate** over"
    " the positive ones.",
)

PART_TITLES = {
    "sets": "Data sets",
    "ten-sets": "Ten sets: rules, bagging, boosting",
    "vehicle": "Vehicle: each class against the rest",
    "tree-size": "Size of the trees",
    "rule-count": "Number of rules",
    "terms": "Rules, linear terms, both",
    "threshold": "Pathbuild: the threshold",
    "penalty": "Glmnet: the penalty",
    "radius": "Spgl1: the radius",
    "fit-weight": "Fpc: the fit weight",
    "fit-weight-tree-size": "Fpc: fit weight by size of trees",
    "sparsity": "Four solvers at equal error",
    "attributes": "Attributes by the votes of rules",
    "selection": "Beyond: which penalty",
    "robustness": "Beyond: wrong labels",
    "timing": "Beyond: seconds",
}

_CANDIDATES = (
    "Supernova candidates: training rows are as many of each class, all others are test rows; every "
    "repetition draws anew."
)

PART_WORDS: dict[str, tuple[str, ...]] = {
    "sets": ("The sets of the paper's table 1; all but the generated one are bundled with the package.",),
    "ten-sets": (
        "Two-fold cross-validations with classes in equal proportion; each half trains once and tests once.",
        "Bagging and boosting grow full trees with a random square root of the attributes at each split. "
        "Trees **vote**, or their **probabilities are averaged**, or the **single trees** are judged one "
        "by one and their errors averaged.",
        "The last figure is beyond the paper: it proposed multi-class trees for rules that all classes share.",
    ),
    "vehicle": ("Every class is told from the rest by a binary model, bagging included; the same folds for all.",),
    "tree-size": (_CANDIDATES,),
    "rule-count": (_CANDIDATES,),
    "terms": (_CANDIDATES, "A model of linear terms alone is a multiple linear regression of the labels."),
    "threshold": (_CANDIDATES, "Each step moves the coefficients whose gradient is at least τ times the largest."),
    "penalty": (_CANDIDATES, "The lasso at each λ; small λ fits more closely."),
    "radius": (_CANDIDATES, "Least squares with the sum of sizes of the coefficients at most the radius."),
    "fit-weight": (_CANDIDATES, "Sum of sizes of the coefficients plus μ/2 times the squared error."),
    "fit-weight-tree-size": (_CANDIDATES,),
    "sparsity": (
        _CANDIDATES,
        "The four solvers weight the same rules. The paper compares them at τ = 0.4, μ = 0.11, a radius "
        "of 8.5 and λ = 0.014, which are not one point of one path (μ = 0.11 is λ = 0.0018 for 5,000 "
        "rows); here they are compared at equal test error.",
    ),
    "attributes": (
        _CANDIDATES,
        "**Votes**, as in the paper: at 13 fit weights the rules of the 20 largest coefficients vote; an "
        "attribute is kept if 3 of 5 repetitions have it in a voted rule. **Loss** is the default of "
        "`RuleAttributeSelector`: attributes are spared one after the other while the error of a ridge "
        "fit of the rules that are left rises by no more than 0.3 % of the target's variance, or by no "
        "more than it does for shuffled copies.",
    ),
    "selection": (
        "The paper: “it is not clear how to pick the penalty weight”. Five folds of the training rows "
        "choose it: the sparsest model within one standard error of the least held-out error (**1se**), "
        "or the least (**min**). Honest folds grow the rules anew without the held-out rows.",
    ),
    "robustness": (
        "A share of the training labels is flipped at random; folds of the flipped labels choose the "
        "point of the path.",
    ),
    "timing": (
        "What the paper could not compare, its parts being written in several languages. These tasks run alone.",
    ),
}

DEPARTURES = (
    "The paper's supernova table was never published. The default is a simulation of images with the same"
    " counts (39 statistics, 5,000 positive and 19,988 negative candidates); `--autoscan` takes a real "
    "survey table. Levels of error on it cannot be compared with the paper's, shapes of curves can.",
    "Waveform is drawn from its generator. Glass has six classes; the seventh label has no row.",
    "Rules that are equal or complementary on the training rows are one candidate; the paper kept them, "
    "which leaves the lasso's solution free to share weight among them.",
    "Pathbuild takes 5,000 steps of at most 0.01 (1,000 in a quick study) where its threshold or the "
    "trees are varied, and a number of steps chosen on folds on the ten sets. Its intercept follows each "
    "step.",
    "Trees have 2 plus the whole part of an exponential number of leaves, so that the mean is exact.",
    "Settings of the paper's ten sets are not printed; here 600 rules from trees of 10 leaves on average.",
    "The paper gives 2,500 rows as 25 % of the training rows of a tree; they are half of 5,000. Half and "
    "a tenth are used.",
    "Solvers at equal error: the paper compares overall error. The simulated test rows are seven "
    "negatives to a positive, and at equal overall error the lasso needed 1 to 2 % of the rules in a "
    "first trial; the balanced error was added after that was seen, and both are reported.",
    "Votes of rules: the grid of weights is that of the error curve, as in the paper. With the selector's"
    " own, wider grid no rule was among the 20 largest at every weight in a first trial.",
    "Boosting is AdaBoost for several classes by weighted resampling of fully grown trees, 50 of them.",
)

ERRATA = (
    "Pseudo-code of Pathbuild: its two cases are swapped, the absolute values and τ are missing, the "
    "gradient must be the negative one, and a_0 is an argmin. The training risk cannot rise with a small "
    "enough step; a stop needs held-out rows.",
    "Appendix, last line of the update: x_nj* must be x_nj. As printed, the relative error of the gradient reaches 58.",
    "Glmnet's objective lacks the square of the norm and the factor 1/2; μ = 2/(Nλ) belongs to an "
    "objective without the 1/2, for Glmnet's own it is 1/(Nλ).",
    "Rule generation: F_{m-i} is F_{m-1}; an exponential number of leaves can be below two.",
    "The column “Average” of table 2 is the mean error of single trees, not that of averaged predictions.",
    "“Opel is easier to distinguish than van” is the other way round on this data.",
    "Phoneme is no UCI set; glass has six classes that occur.",
)


def describe_run(results: Results, config: Config) -> str:
    """Return the sentence that every page carries: mode, repetitions, candidates, version."""
    where = "simulated candidates" if config.table == "simulation" else f"the survey table ({config.table})"
    tasks = {one.task: one.seconds for one in results}
    work = f"{len(tasks)} tasks, {sum(tasks.values()) / 60:.1f} minutes of work in all"
    return f"{config.words} On {where}; rulegrove {__version__}; {work}."
