"""Names in a sentence."""

from rulegrove.cli.words import list_names, suggest


def test_of_many_names_the_first_are_shown():
    assert list_names([str(k) for k in range(8)]).endswith("'7'")
    assert list_names([str(k) for k in range(11)]).endswith("'7' and 3 more")


def test_a_name_is_meant_whatever_its_case_and_spaces():
    assert suggest(" GLUCOSE ", ["age", "Glucose"]) == " Did you mean 'Glucose'?"
    assert suggest("glucose", ["age"]) == ""
