"""`select`: the same attributes as from Python."""

import numpy as np
import pyarrow as pa

from cli_tables import NAMES, TARGET, make_table
from rulegrove import RuleAttributeSelector
from rulegrove.cli.reading import read_table
from rulegrove.estimators.presets import find_settings

FAST = ("--n-candidates", "60", "--n-repeats", "3", "--min-votes", "2", "--n-jobs", "1")


def test_equals_the_selector(run, read_json, write, tmp_path):
    table = make_table()
    data = write(table)
    document = read_json("select", data, "-t", TARGET, "-o", tmp_path / "small.parquet", *FAST)
    selector = RuleAttributeSelector(n_candidates=60, n_repeats=3, min_votes=2, n_jobs=1, random_state=0)
    selector.fit(table.drop_columns([TARGET]), table[TARGET].to_pylist())
    names, votes = selector.feature_names_in_.tolist(), selector.votes_.tolist()
    found = {one["attribute"]: one for one in document["attributes"]}
    assert [found[name]["votes"] for name in names] == votes
    assert [found[name]["kept"] for name in names] == selector.get_support().tolist()
    by_rank = [names[place] for place in np.argsort(selector.ranking_)]
    assert [one["attribute"] for one in document["attributes"]] == by_rank
    small = read_table(tmp_path / "small.parquet")
    assert small.column_names == [*selector.get_feature_names_out(), TARGET]
    assert small[TARGET].to_pylist() == table[TARGET].to_pylist()
    printed = run("select", data, "-t", TARGET, *FAST)
    assert printed.stdout.count(" kept") == selector.get_support().sum()
    assert "attributes" in printed.stderr


def test_a_preset_is_told(run, read_json, write):
    data = write(make_table())
    options = ("select", data, "-t", TARGET, "--preset", "readable", *FAST)
    settings = find_settings(RuleAttributeSelector(preset="readable", n_candidates=60))
    assert read_json(*options)["settings"] == settings
    assert "Preset 'readable': max_conditions=" in run(*options).stderr
    assert "Preset" not in run("select", data, "-t", TARGET, *FAST).stderr


def test_weights_and_dropped_columns_are_no_attributes(run, read_json, write, tmp_path):
    table = make_table(target="number").append_column("w", pa.array(np.linspace(0.5, 1.5, 300)))
    data = write(table)
    options = ["-t", TARGET, "--weights", "w", "--drop", NAMES[3], "-o", tmp_path / "small.csv", *FAST]
    document = read_json("select", data, *options)
    assert {one["attribute"] for one in document["attributes"]} == {*NAMES, "Farbe"} - {NAMES[3]}
    assert read_table(tmp_path / "small.csv").column_names[-2:] == ["w", TARGET]
    result = run("select", data, *options, "-q")
    assert (result.stdout, result.stderr) == ("", "")


def test_what_cannot_be_done_is_one_line(run, write, tmp_path):
    data = write(make_table())
    for options, says in [
        (["-t", "Ziel"], "Did you mean"),
        (["-t", TARGET, "--min-votes", "9"], "`--min-votes`=9"),
        (["-t", TARGET, "-o", tmp_path / "a.json"], "must end in one of"),
    ]:
        result = run("select", data, *options, "-q", code=1)
        assert says in result.stderr
        assert result.stderr.count("\n") == 1
