"""Means over cells, ranks, ratios, sizes."""

import math

import pytest
from benchmarks.summaries import Ratio, Results, compare_pair, fit_ratio, fit_seconds, rank, rank_methods

from benchmark_lines import folds, line


def test_ties_share_their_mean_rank_and_the_failed_share_the_last():
    ranks = rank({"a": 2.0, "b": 1.0, "c": 2.0}, failed=["d", "e"])
    assert ranks == {"a": 2.5, "b": 1.0, "c": 2.5, "d": 4.5, "e": 4.5}


def test_means_are_over_the_cells_that_all_have():
    """A slow method has one repetition; the others must not be judged by folds that it never saw."""
    lines = [*folds("rulegrove", errors=[10, 20]), *folds("rulegrove", errors=[90, 90], repetition=1)]
    results = Results([*lines, *folds("EBM", errors=[12, 22])])
    assert results.common_means("sets", "pima", ("rulegrove", "EBM", "RUG"), "error") == {"rulegrove": 15, "EBM": 17}
    assert results.mean("sets", "pima", "rulegrove", "error") == 52.5
    assert math.isnan(results.mean("sets", "pima", "RUG", "error"))


def test_cells_without_overlap_give_no_means():
    results = Results([*folds("rulegrove", errors=[10]), *folds("EBM", errors=[12], repetition=1)])
    assert results.common_means("sets", "pima", ("rulegrove", "EBM"), "error") == {}


def test_numbers_that_are_not_finite_are_none():
    results = Results(folds("rulegrove", errors=["nan", 5.0, "inf"]))
    assert results.numbers("sets", "pima", "rulegrove", "error") == {("0", "1"): 5.0}


def test_status_tells_the_reason():
    results = Results([line("RUG", status="time"), line("EBM"), line("EBM", repetition=1, status="failed")])
    assert results.status("sets", "pima", "RUG") == "time"
    assert results.status("sets", "pima", "EBM") == "ok"
    assert results.status("sets", "pima", "Boomer") == ""


@pytest.mark.parametrize(("n_classes", "expected"), [(2, 40), (4, 10)])
def test_terms_are_counted_a_class_beyond_two(n_classes, expected):
    results = Results([line("RUG", n_classes=n_classes, terms=40)])
    assert results.terms_a_class("sets", "pima", "RUG") == {("0", "0"): expected}


class TestMeanRanks:
    def test_failed_is_last_and_untried_problems_do_not_count(self):
        lines = [
            *folds("rulegrove", "pima", errors=[20]),
            *folds("RUG", "pima", errors=[30]),
            line("EBM", "pima", status="failed"),
            *folds("rulegrove", "sonar", errors=[20]),
            *folds("RUG", "sonar", errors=[20]),
            *folds("EBM", "sonar", errors=[10]),
            *folds("rulegrove", "iris", errors=[90]),  # nobody else was tried
        ]
        ranking = rank_methods(Results(lines), ("rulegrove", "RUG", "EBM", "Boomer"), "error")
        assert ranking.n_problems == 2
        assert ranking.means == {"rulegrove": 1.75, "EBM": 2.0, "RUG": 2.25}
        assert next(iter(ranking.means)) == "rulegrove"

    def test_a_skipped_problem_does_not_count(self):
        lines = [line("H2O RuleFit", "pima", status="skipped"), *folds("H2O RuleFit", "sonar", errors=[1])]
        lines += [*folds("RUG", "pima", errors=[1]), *folds("RUG", "sonar", errors=[2])]
        ranking = rank_methods(Results(lines), ("RUG", "H2O RuleFit"), "error")
        assert (ranking.n_problems, ranking.means) == (1, {"H2O RuleFit": 1.0, "RUG": 2.0})

    def test_nothing_to_rank(self):
        assert rank_methods(Results([]), ("RUG",), "error").means == {}


SIZE = {"group": "rows", "problem": "10,000 rows"}


class TestRatios:
    def ratio(self, *lines):
        return fit_ratio(Results(lines), "rows", "10,000 rows", "EBM", "rulegrove")

    def test_theirs_over_ours(self):
        lines = line("rulegrove", **SIZE, fit_seconds=0.5), line("EBM", **SIZE, fit_seconds=20)
        assert self.ratio(*lines) == Ratio(40.0)

    def test_who_ran_out_of_time_took_at_least_the_limit(self):
        stopped = line("EBM", **SIZE, status="time", message="not done within 300 s")
        ratio = self.ratio(line("rulegrove", **SIZE, fit_seconds=0.5), stopped)
        assert ratio == Ratio(600.0, bound=True)
        assert str(ratio) == "more than 600"

    def test_who_was_not_tried_took_at_least_the_limit_of_the_smaller_problem(self):
        smaller = line("EBM", "1,000 rows", group="rows", status="time", message="not done within 60 s")
        words = "not tried: not done within the limit at 1,000 rows"
        not_tried = line("EBM", **SIZE, status="time", message=words)
        ratio = self.ratio(line("rulegrove", **SIZE, fit_seconds=0.5), smaller, not_tried)
        assert ratio == Ratio(120.0, bound=True)

    def test_nothing_without_both(self):
        assert self.ratio(line("EBM", **SIZE, fit_seconds=20)) is None
        assert self.ratio(line("rulegrove", **SIZE, fit_seconds=20)) is None
        assert self.ratio(line("rulegrove", **SIZE, fit_seconds=20), line("EBM", status="failed")) is None


def test_seconds_of_what_works_elsewhere_are_by_the_clock():
    times = {"fit_seconds": 9, "fit_processor_seconds": 1}
    results = Results([line("H2O RuleFit", **times), line("RUG", **times)])
    assert fit_seconds(results, "pima", "H2O RuleFit") == 9
    assert fit_seconds(results, "pima", "RUG") == 1


def test_one_against_one():
    lines = [
        *(folds("rulegrove", "pima", errors=[10]) + folds("RUG", "pima", errors=[12])),
        *(folds("rulegrove", "sonar", errors=[10]) + folds("RUG", "sonar", errors=[10])),
        *(folds("rulegrove", "ion", errors=[10]) + folds("RUG", "ion", errors=[9])),
        *folds("rulegrove", "iris", errors=[10]),
    ]
    duel = compare_pair(Results(lines), "rulegrove", "RUG")
    assert (duel.lower, duel.equal, duel.higher) == (1, 1, 1)
    assert duel.difference == pytest.approx(-1 / 3)
    assert compare_pair(Results(lines), "rulegrove", "EBM") is None
