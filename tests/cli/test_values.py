"""Words of the command line as values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulegrove import Glmnet, Pathbuild
from rulegrove.cli.values import read_groups, read_settings, read_solver, read_value
from rulegrove.exceptions import InvalidInputError


@given(st.one_of(st.integers(), st.floats(allow_nan=False), st.booleans(), st.none()))
def test_values_come_back(value):
    assert read_value(str(value)) == value
    assert type(read_value(str(value))) is type(value)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("auto", "auto"),
        ("glmnet", "glmnet"),
        ("Glmnet", "glmnet"),
        ("Glmnet()", Glmnet()),
        ("glmnet(l1_ratio=0.9, relax=True)", Glmnet(l1_ratio=0.9, relax=True)),
        ("Pathbuild(threshold=-0.4, loss='ramp')", Pathbuild(threshold=-0.4, loss="ramp")),
        ("Glmnet(penalties=[0.5, 0.1])", Glmnet(penalties=[0.5, 0.1])),
    ],
)
def test_solvers_are_written_as_in_python(word, expected):
    found = read_solver(word)
    assert repr(found) == repr(expected)


@given(st.text(max_size=40))
def test_settings_of_a_solver_are_never_run(words):
    for word in (words, f"glmnet({words})", f"Glmnet(tol={words})"):
        try:
            read_solver(word)
        except InvalidInputError as error:
            assert "`--solver`" in str(error)  # noqa: PT017
        except ValueError as error:
            assert "Invalid parameter" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["age,mass"], [["age", "mass"]]),
        (["age , body mass", "glucose"], [["age", "body mass"], ["glucose"]]),
        (['["income, net", "age"]', "age,3"], [["income, net", "age"], ["age", "3"]]),
        (["no_interactions"], "no_interactions"),
        (["pairwise", "age"], [["pairwise"], ["age"]]),
    ],
)
def test_groups_of_attributes(words, expected):
    assert read_groups(words) == expected


def test_a_group_that_is_no_json_is_refused():
    with pytest.raises(InvalidInputError, match="is no JSON"):
        read_groups(['["age", mass]'])


def test_only_what_was_given_is_set():
    assert read_settings({"cv": None, "selection": "1se"}) == {"random_state": 0, "selection": "1se"}
    assert read_settings({"random_state": 3}) == {"random_state": 3}
