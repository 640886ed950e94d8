"""What people changed of a list, on the page."""

from rulegrove import RuleEnsembleClassifier, load_model
from rulegrove.datasets import load
from rulegrove.report import make_report
from rulegrove.report._edits import describe_edits


def make_edited():
    X, y = load("pima", return_X_y=True)
    model = RuleEnsembleClassifier(n_candidates=60, terms="rules", max_terms=4, random_state=0, n_jobs=1).fit(X, y)
    session = model.edit(X, y)
    session.drop(2, note="</script><b>no sense</b>", author="Dr. Lee")
    return model, session.finish()


def test_a_page_has_the_log_of_an_edited_list(tmp_path):
    model, edited = make_edited()
    assert describe_edits(model) is None
    told = describe_edits(edited)
    assert told["heads"][-1] == "done"
    assert [row[0] for row in told["rows"]] == ["0", "1"]
    assert told["rows"][1][-1].endswith("Dr. Lee: </script><b>no sense</b>")
    assert "cross-validated with the terms given" in told["words"]
    edited.save(tmp_path / "edited.json")
    assert describe_edits(load_model(tmp_path / "edited.json")) == told
    page = make_report(edited)
    assert "Dr. Lee" in page
    assert "<b>no sense" not in page
