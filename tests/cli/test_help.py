"""Help fits the terminal, shows what most people use, and ends with commands that can be run."""

import contextlib
import io
import re
import shlex

import pytest
import typer
from typer.main import get_command

from rulegrove.cli.app import COMMANDS, app
from rulegrove.cli.help import RARE, fold_example, split_examples
from rulegrove.cli.parameters import BASIC, ensemble_options, selector_options

WIDTHS = (60, 80)
LONGEST = 60  # lines of a help without `--help-all`


GROUP = get_command(app)


@pytest.fixture
def group():
    """A run of the program."""
    return GROUP.make_context("rulegrove", ["datasets"])


@pytest.fixture(params=COMMANDS)
def command(request, group):
    """A command as typer has it."""
    return GROUP.get_command(group, request.param)


@pytest.fixture
def show(monkeypatch):
    """The lines of a help in a terminal of some width."""

    def show(command, option, width=80):
        monkeypatch.setenv("COLUMNS", str(width))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), pytest.raises(typer.Exit):
            command.make_context(command.name, [option], parent=GROUP.make_context("rulegrove", ["datasets"]))
        return printed.getvalue().splitlines()

    return show


def read_flags(lines):
    """Return the options that a help lists."""
    return {flag for line in lines for flag in re.findall(r"--[a-z][a-z-]*", line[:40]) if line.startswith("  -")}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("option", ["--help", "--help-all"])
def test_nothing_is_wider_than_the_terminal(command, show, option, width):
    lines = show(command, option, width)
    assert lines[0].startswith(f"Usage: rulegrove {command.name}")
    assert max(map(len, lines)) <= width
    assert not any(line.rstrip().endswith("-") for line in lines)  # no name is broken at a hyphen


@pytest.mark.parametrize("width", WIDTHS)
def test_the_list_of_commands_has_whole_sentences(monkeypatch, group, width):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = GROUP.get_help(group).splitlines()
    assert max(map(len, lines)) <= width
    listed = " ".join(" ".join(lines[lines.index("Commands:") :]).split())
    assert "..." not in listed
    assert "Show what each rule adds to the prediction of a row." in listed


def test_help_is_short_and_all_of_it_is_complete(command, show):
    short, long = show(command, "--help"), show(command, "--help-all")
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    assert len(short) < LONGEST
    assert read_flags(short) <= read_flags(long)
    flags = {flag for one in options for flag in (*one.opts, *one.secondary_opts) if flag.startswith("--")}
    assert read_flags(long) == flags | {"--help"}
    rare = [one for one in options if one.rich_help_panel in RARE]
    assert any("--help-all also shows" in line for line in short) == bool(rare)
    assert not any("also shows" in line for line in long)


def test_every_option_says_something(command):
    for one in command.params:
        assert getattr(one, "hidden", False) or one.help.strip().endswith((".", "none")), one.name


def test_examples_are_commands_that_are_understood(command):
    _, examples = split_examples(command.help)
    assert examples
    for example in examples:
        program, name, *words = shlex.split(example)
        assert (program, name) == ("rulegrove", command.name)
        given = command.make_context(name, words).params
        assert all(given[one.name] is not None for one in command.params if one.required)


@pytest.mark.parametrize("width", [20, 40, 58, 78])
def test_a_folded_example_is_the_same_command(command, width):
    for example in split_examples(command.help)[1]:
        folded = fold_example(example, width)
        assert shlex.split("\n".join(folded).replace("\\\n", "")) == shlex.split(example)
        assert all(len(line) <= width for line in folded if line.strip().count(" ") > 2)


def test_what_has_words_of_its_own_is_a_parameter():
    names = {one.name for one in (*ensemble_options(), *selector_options())}
    assert names >= set(BASIC)
