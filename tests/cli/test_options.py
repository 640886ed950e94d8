"""Options that commands share are the same in each."""

import dataclasses

import pytest

from rulegrove.cli.options import Columns


@pytest.mark.parametrize("command", ["fit", "select"])
def test_options_about_columns_stand_in_their_order(run, command):
    words = run(command, "--help").stdout.split()
    flags = [f"--{field.name.replace('_', '-')}" for field in dataclasses.fields(Columns)]
    places = [words.index(flag) for flag in flags]
    assert places == sorted(places)
