from dataclasses import replace

from rulegrove.study.claims import CLAIMS, check_claims, tabulate_claims
from rulegrove.study.claims.base import FAILS, HOLDS, IN_PART, UNDECIDED, curve, judge, noise
from rulegrove.study.parts import PARTS
from rulegrove.study.results import Results


def test_every_statement_gets_a_verdict(measured, lines_of_sets):
    checked = check_claims(Results([*measured, *lines_of_sets]))
    assert len(checked) == len(CLAIMS)
    for claim, verdict in checked:
        assert verdict.holds in (HOLDS, IN_PART, FAILS, UNDECIDED), claim.statement
        assert any(letter.isdigit() for letter in verdict.ours) or ":" in verdict.ours, claim.statement
        assert "nan" not in verdict.ours, claim.statement


def test_statements_belong_to_parts_and_differ():
    assert {claim.part for claim in CLAIMS} <= set(PARTS)
    assert len({claim.statement for claim in CLAIMS}) == len(CLAIMS)


def test_made_up_errors_decide_as_they_must(lines_of_sets):
    """Pathbuild has 1 % everywhere, bagging 7 % and more, boosting 8 %."""
    verdicts = {claim.statement: verdict for claim, verdict in check_claims(lines_of_sets)}
    beats = verdicts["The rule ensemble beats bagging for the majority of the vehicle classes"]
    assert (beats.holds, beats.ours[:25]) == (HOLDS, "lower error on 4 of 4 cla")
    assert verdicts["If the trees vote, the rule ensemble is better on some sets but not others"].holds == FAILS
    assert verdicts["Much stronger than the tree ensembles if each tree's predictions are averaged"].holds == HOLDS


def test_the_table_is_a_line_a_statement(measured):
    table = tabulate_claims(measured)
    assert len(table.rows) == sum(claim.part in measured.distinct("part") for claim in CLAIMS)


def test_words_and_curves(measured):
    assert [judge(True), judge(False, True), judge(False)] == [HOLDS, IN_PART, FAILS]
    here = measured.where(part="threshold")
    grid, means, spreads = curve(here)
    assert grid == [0.0, 1.0]
    assert means[0] == here.at(0.0).mean("error")
    assert noise(here) == 2.0 * (sum(spreads) / 2)


def test_two_repetitions_decide_nothing_about_a_variance(measured):
    verdicts = {claim.statement: verdict.holds for claim, verdict in check_claims(measured)}
    assert verdicts["The variance of the error increases with larger trees"] == UNDECIDED
    assert verdicts["More rules, less variance of the error"] == UNDECIDED


def test_equal_accuracy_is_not_claimed_where_it_was_not_reached(measured):
    """Pathbuild with few steps stays above the error of the others; its share is then not one at equal error."""
    missed = Results(
        replace(line, result=0.0) if (line.method, line.metric) == ("pathbuild", "reached") else line
        for line in measured.where(part="sparsity")
    )
    statement = "At equal accuracy Pathbuild keeps 40 to 50 %, the others 12 to 19 %"
    verdict = {claim.statement: verdict for claim, verdict in check_claims(missed)}[statement]
    assert verdict.holds != HOLDS
    assert "got there in 0%" in verdict.ours
