"""`scorecard`: the card of the library, printed or as a page."""

import json

import pyarrow.csv
import pytest

import rulegrove
from cli_tables import TARGET
from rulegrove import load_model

of_classes = pytest.mark.parametrize("fitted", ["classes", "three"], indirect=True)


@of_classes
def test_is_what_the_library_does(run, read_json, fitted, tmp_path):
    path, data = fitted
    page, asked = tmp_path / "card.html", ("--data", data, "--target", TARGET, "--points", -3, 3, "--max-rules", 4)
    result = run("scorecard", path, *asked, "-o", page, "--title", "Who & when")
    table = pyarrow.csv.read_csv(data)
    card = rulegrove.scorecard(
        load_model(path), table.drop_columns([TARGET]), table[TARGET].to_numpy(), points=(-3, 3), max_rules=4
    )
    assert result.stdout == f"{card}\n"
    assert f"Written to '{page}'" in result.stderr
    assert page.read_text(encoding="utf-8") == card.to_html("Who & when")
    found = read_json("scorecard", path, *asked)
    assert found == {**json.loads(json.dumps(card.to_dict(), default=str)), "page": None}
    assert run("scorecard", path, *asked, "-o", page, "-q").stdout == ""


@of_classes
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--points", 2, 5), "`points` must be two whole numbers"),
        (("--max-rules", 0), "must be a whole number from 1 to 64"),
        (("--target", TARGET), "`--target` was given 2 times"),
        (("--weights", "nothing"), "`--weights` names 'nothing'"),
    ],
)
def test_bad_options_are_refused(refuse, fitted, words, says):
    path, data = fitted
    refuse("scorecard", path, "--data", data, "--target", TARGET, *words, says=says)


@pytest.mark.parametrize("fitted", ["number"], indirect=True)
def test_numbers_have_no_card(refuse, fitted):
    refuse("scorecard", fitted[0], "--data", fitted[1], "-t", TARGET, says="it needs a RuleEnsembleClassifier; got a")


@of_classes
def test_the_page_is_not_written_over_what_is_read(refuse, fitted):
    path, data = fitted
    before = data.read_bytes()
    refuse("scorecard", path, "--data", data, "-t", TARGET, "-o", data, says="`--output`")
    assert data.read_bytes() == before
