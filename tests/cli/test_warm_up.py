"""`warm-up`: says what was compiled; what that covers is tested in test_warming.py."""


def test_the_second_time_there_is_nothing_to_do(run, read_json):
    assert run("warm-up").stdout == ""
    assert run("warm-up").stderr == "Everything was compiled already.\n"
    assert run("warm-up", "-q").stderr == ""
    assert read_json("warm-up")["compiled"] == 0
