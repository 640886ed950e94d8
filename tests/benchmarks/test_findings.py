"""Whether targets are met, from few lines."""

import pytest
from benchmarks.findings import Evidence, Finding, binary_sets, small_peers, smallest_at_equal_error
from benchmarks.methods import METHODS
from benchmarks.summaries import ALL_SETS, TEN_SETS, Results
from benchmarks.targets import CAUSES, TARGETS

from benchmark_lines import folds, line

BY_KEY = {target.key: target for target in TARGETS}


def judge(key, lines, kernels=()):
    return BY_KEY[key].judge(Evidence(Results(lines), kernels))


@pytest.mark.parametrize("key", BY_KEY)
def test_without_data_nothing_is_claimed(key):
    finding = judge(key, [])
    assert finding.verdict == "not measured"
    assert BY_KEY[key].cause(finding) == ""


def test_causes_belong_to_targets():
    assert set(CAUSES) <= set(BY_KEY)


def test_a_cause_is_told_only_where_a_target_is_missed(monkeypatch):
    monkeypatch.setitem(CAUSES, "h2o", "Java was awake.")
    assert BY_KEY["h2o"].cause(Finding("", False)) == "Java was awake."
    assert BY_KEY["h2o"].cause(Finding("", True)) == ""


@pytest.mark.parametrize(
    ("met", "whole", "verdict"),
    [
        (True, True, "met"),
        (False, True, "**missed**"),
        (True, False, "met so far, measured in part"),
        (None, True, "not measured"),
    ],
)
def test_verdicts(met, whole, verdict):
    assert Finding("", met, whole).verdict == verdict


@pytest.mark.parametrize(("theirs", "met"), [(30.0, True), (29.9, False)])
def test_speed_beside_rulefit(theirs, met):
    cell = {"group": "RuleFit", "problem": "5,000 rows, 600 candidates"}
    lines = [line("rulegrove", **cell, fit_seconds=0.3), line("imodels RuleFit", **cell, fit_seconds=theirs)]
    assert judge("rulefit-5k", lines).met is met


def test_boosting_must_be_beaten_at_every_size():
    def lines(ratios):
        return [
            line(method, size, group="rows", fit_seconds=seconds)
            for size, ratio in zip(("1,000 rows", "10,000 rows", "20,000 rows"), ratios, strict=True)
            for method, seconds in (("rulegrove", 1.0), ("HistGradientBoosting", ratio))
        ]

    assert judge("boosting", lines((0.5, 2.0, 3.0))).verdict == "met so far, measured in part"
    assert judge("boosting", lines((9.0, 2.0, 1.9))).met is False


class TestBesideRuleFit:
    def test_a_tie_is_not_lower_and_is_named(self):
        lines = [*folds("rulegrove", "pima", errors=[20]), *folds("imodels RuleFit", "pima", errors=[20])]
        lines += [*folds("rulegrove", "sonar", errors=[20]), *folds("imodels RuleFit", "sonar", errors=[21])]
        finding = judge("rulefit-error", lines)
        assert finding.met is False
        assert finding.words == "lower on 1 of 2; not on pima (20.00 against 20.00)"

    def test_only_problems_of_two_classes_count(self):
        lines = folds("rulegrove", "iris", errors=[9], n_classes=3) + folds("rulegrove", "pima", errors=[9])
        assert binary_sets(Results(lines)) == ["pima"]

    def test_the_smallest_model_that_is_as_good(self):
        lines = [
            *folds("imodels RuleFit", errors=[20, 22], terms=30),
            *folds("rulegrove", errors=[18, 18], terms=200),
            *folds("rulegrove readable", errors=[21, 21], terms=25),
            *folds("rulegrove, 10 terms", errors=[25, 25], terms=10),
        ]
        found = smallest_at_equal_error(Results(lines), "pima")
        assert (found.method, found.error, found.terms) == ("rulegrove readable", 21, 25)
        assert judge("rulefit-terms", lines).met is True

    def test_no_model_is_as_good(self):
        lines = [*folds("imodels RuleFit", errors=[20], terms=30), *folds("rulegrove", errors=[25], terms=9)]
        assert smallest_at_equal_error(Results(lines), "pima").method is None
        assert judge("rulefit-terms", lines).words == "fewer on 0 of 1; not on pima"


def test_rank_is_told_beside_the_best_peer():
    lines = [
        one
        for problem in ALL_SETS
        for method, error in (("rulegrove", 10), ("EBM", 11), ("RUG", 12))
        for one in folds(method, problem, errors=[error], log_loss=20 - error)
    ]
    finding = judge("rank", lines)
    assert (finding.met, finding.whole) == (True, True)
    assert finding.words == "1.00 (best peer: EBM, 2.00); of log loss 3.00 (best peer: RUG, 1.00)"


@pytest.mark.parametrize(("error", "met"), [(10.5, True), (10.6, False)])
def test_half_a_point_from_the_better_black_box(error, met):
    errors = {"rulegrove": error, "RandomForest": 10.0, "HistGradientBoosting": 12.0}
    lines = [one for name in TEN_SETS for method, e in errors.items() for one in folds(method, name, errors=[e])]
    finding = judge("forest", lines)
    assert (finding.met, finding.whole) == (met, True)


class TestReadable:
    def test_every_model_counts_not_their_mean(self):
        lines = [line("rulegrove readable", fold=0, terms=5), line("rulegrove readable", fold=1, terms=26)]
        assert judge("readable-size", lines).met is False

    def test_size_is_a_class(self):
        lines = [line("rulegrove readable", "vehicle", n_classes=4, terms=100)]
        assert judge("readable-size", lines).met is True

    def test_small_peers_are_rule_learners_of_at_most_25_terms_a_class(self):
        lines = [
            line("RUG", "vehicle", n_classes=4, terms=100),
            line("Boomer", "vehicle", n_classes=4, terms=101),
            line("LogisticRegression", "vehicle", n_classes=4, terms=9),
        ]
        assert small_peers(Results(lines), "vehicle") == ["RUG"]

    @pytest.mark.parametrize(("n_lost", "met"), [(2, True), (3, False)])
    def test_lower_error_on_eight_of_ten(self, n_lost, met):
        lines = []
        for number, name in enumerate(TEN_SETS):
            lines += folds("rulegrove readable", name, errors=[10], terms=20)
            lines += folds("RUG", name, errors=[10 if number < n_lost else 11], terms=20)
            lines += folds("Boomer", name, errors=[1], terms=999)
            lines += [
                line(other, name, status="failed")
                for other, method in METHODS.items()
                if method.kind == "rules" and other not in ("RUG", "Boomer")
            ]
        finding = judge("readable-error", lines)
        assert (finding.met, finding.whole) == (met, True)
        assert f"{TEN_SETS[0]} (RUG 10.00 against 10.00)" in finding.words


class TestKernels:
    def kernel(self, name, figure, unit, limit):
        share = "" if limit == "" else str(figure / limit)
        return {"name": name, "figure": str(figure), "unit": unit, "limit": str(limit), "share": share}

    def test_every_import_with_a_limit_counts(self):
        kernels = [self.kernel("import rulegrove", 0.1, "s", 0.4), self.kernel("numba", 0.9, "s", "")]
        assert judge("import", [], kernels).met is True
        assert judge("import", [], [*kernels, self.kernel("the class", 0.5, "s", 0.4)]).met is False

    def test_single_rows_are_those_of_predict(self):
        kernels = [
            self.kernel("one row, 2 classes: predict", 0.2, "ms", 0.25),
            self.kernel("one row, 2 classes: predict_proba", 0.3, "ms", 0.25),
        ]
        assert judge("latency", [], kernels).met is True
