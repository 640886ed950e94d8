"""Options that commands share are the same in each."""

import dataclasses

import pytest

from rulegrove.cli.options import Columns


@pytest.mark.parametrize("command", ["fit", "select"])
def test_options_about_columns_stand_in_their_order(run, command):
    words = run(command, "--help-all").stdout.split()
    flags = [f"--{field.name.replace('_', '-')}" for field in dataclasses.fields(Columns)]
    places = [words.index(flag) for flag in flags]
    panels = [places[:2], places[2:]]  # those that most people use come first
    assert panels == [sorted(places[:2]), sorted(places[2:])]
