"""Evidence on the page: the sentences and a line for each rule, or nothing."""

import numpy as np

from inspected_models import fit, make_table
from rulegrove.inspection import rule_evidence
from rulegrove.report import make_report
from rulegrove.report._evidence import describe_evidence


def with_evidence(kind):
    """Return a copy of a model, with what other rows say of its rules."""
    model, *_ = fit(kind)
    table, y, _ = make_table(150, seed=1)
    told = model.shorten("auto" if model.max_terms == "auto" else model.max_terms)
    told.evidence_ = rule_evidence(model, table, np.where(y > 0, "yes", "no") if model.model_.labels else y)
    return told


def test_the_page_says_what_is_established(read_page):
    for kind in ("two classes", "regression"):
        model = with_evidence(kind)
        told = read_page(make_report(model))["evidence"]
        assert told == describe_evidence(model)
        assert told["sentences"][1:] == list(model.evidence_.sentences)
        assert [line[0] for line in told["lines"]] == [str(rule.rank) for rule in model.evidence_.rules]
        assert [line[1] for line in told["lines"]] == list(model.evidence_.verdicts)


def test_without_rows_set_apart_there_is_none(read_page):
    assert read_page(make_report(fit("two classes")[0]))["evidence"] is None


def test_a_list_without_rules_has_sentences_alone(read_page):
    told = read_page(make_report(with_evidence("linear only")))["evidence"]
    assert told["sentences"][1] == "The list has no rule to test."
    assert told["lines"] == []
