"""`fit`: the same model as from Python, from any kind of file, whatever the columns are called."""

import re

import numpy as np
import pyarrow as pa
import pytest

from cli_tables import FAST, NAMES, SETTINGS, TARGET, make_table
from rulegrove import Pathbuild, RuleEnsembleClassifier, RuleEnsembleRegressor, load_model
from rulegrove.estimators.presets import OF_CLASSIFIER

FOLDS = ("--selection", "min", "--cv", "3", "--honest-cv", "false")


def split(table, *others):
    return table.drop_columns([TARGET, *others]), np.asarray(table[TARGET].to_pylist())


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet", "a.feather", "a.jsonl"])
def test_equals_the_estimator(run, write, tmp_path, name):
    table = make_table()
    run("fit", write(table, name), "-t", TARGET, "-o", tmp_path / "model.json", *FAST)
    X, y = split(table)
    expected = RuleEnsembleClassifier(**SETTINGS).fit(X, y)
    model = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    assert model.feature_names_in_.tolist() == [*NAMES, "Farbe"]


def test_passes_parameters_on(run, write, tmp_path):
    table = make_table(target="number").append_column("w", pa.array(np.linspace(0.5, 1.5, 300)))
    data = write(table)
    dropped = ["--drop", NAMES[4], "--drop", NAMES[3], "--weights", "w"]
    options = ["--solver", "Pathbuild(loss='huber', threshold=0.4)", "--subsample", "0.5", "--max-features", "none"]
    options += ["--max-terms", "6", "--random-state", "7", "--terms", "rules", "--selection", "40"]
    run("fit", data, "-t", TARGET, "-o", tmp_path / "model.json", *dropped, *FAST, *options)
    X, y = split(table, "w", NAMES[4], NAMES[3])
    expected = RuleEnsembleRegressor(
        n_candidates=60,
        solver=Pathbuild(loss="huber", threshold=0.4),
        subsample=0.5,
        max_features=None,
        terms="rules",
        max_terms=6,
        selection=40,
        random_state=7,
        n_jobs=1,
    ).fit(X, y, sample_weight=table["w"].to_numpy())
    model = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


def test_a_preset_is_told(run, read_json, write, tmp_path):
    table = make_table()
    data, model = write(table), tmp_path / "model.json"
    result = run("fit", data, "-t", TARGET, "-o", model, "--preset", "readable", "--max-conditions", "2", *FAST)
    X, y = split(table)
    expected = RuleEnsembleClassifier(**SETTINGS, preset="readable", max_conditions=2).fit(X, y)
    loaded = load_model(model)
    np.testing.assert_array_equal(loaded.decision_function(X), expected.decision_function(X))
    assert "max_terms" in expected.settings_
    assert f"Preset 'readable': max_terms={OF_CLASSIFIER['readable']['max_terms']}.\n" in result.stderr
    assert "Settled:" not in result.stderr
    assert (loaded.preset, repr(loaded.settings_)) == ("readable", repr(expected.settings_))
    document = read_json("rules", model)
    assert document["preset"] == "readable"
    assert document["settings"]["max_terms"] == OF_CLASSIFIER["readable"]["max_terms"]
    assert document["settings"]["solver"] == repr(expected.settings_["solver"])
    plain = read_json("fit", data, "-t", TARGET, *FAST)
    assert plain["preset"] is None
    assert plain["settings"]["max_terms"] == plain["front"]["terms"][plain["front"]["chosen"]] == plain["n_terms"]
    told = run("fit", data, "-t", TARGET, "--verbose", *FAST).stderr
    assert f"Settled: solver={expected.settings_['solver']!r}, " in told


def test_tells_what_it_read_and_found(run, write):
    result = run("fit", write(make_table()), "-t", TARGET, "--top", 2, *FAST, *FOLDS)
    assert "300 rows, 6 attributes" in result.stderr
    assert "'Farbe (3)'" in result.stderr
    assert f"'{TARGET}': classification, ja (" in result.stderr
    assert "new\\nline" in result.stderr
    figures = r"accuracy [\d.]+% \(base rate [\d.]+%\), AUC 0\.\d+, log loss [\d.]+ \(base rate [\d.]+\)\."
    assert re.search(f"On 300 held-out rows: {figures}", result.stderr)
    assert "variation explained" not in result.stderr
    assert len([line for line in result.stdout.splitlines() if line[:1].isdigit()]) == 2


@pytest.mark.parametrize(("target", "shown"), [("classes", r"error [\d.]+ %"), ("number", r"squared error [\d.]+")])
def test_the_list_is_told_beside_the_large_model(run, write, target, shown):
    data = write(make_table(target=target))
    told = run("fit", data, "-t", TARGET, "--max-terms", 3, *FAST, *FOLDS).stderr
    found = re.search(rf"A list of (\d) terms?, .*{shown} on held-out rows; the large model of (\d+) terms has", told)
    assert 1 <= int(found[1]) <= 3 < int(found[2])
    told = run("fit", data, "-t", TARGET, "--max-terms", 3, *FAST).stderr  # the point is given, so nothing is held out
    assert re.search(r"A list of 3 terms; the large model has \d+ terms\.\n", told)
    assert "A list of" not in run("fit", data, "-t", TARGET, "--max-terms", "none", *FAST, *FOLDS).stderr


def test_lengths_are_words_or_numbers(run, write, tmp_path):
    table = make_table(target="three")
    data, model, (X, y) = write(table), tmp_path / "model.json", split(table)
    solver = ("--solver", "glmnet")  # the default one takes its time for classes that rules tell apart
    for words, parameters in [
        (["--max-terms", "none"], {"max_terms": None}),
        (["--max-terms", "auto"], {}),
        (["--max-terms", "2", "--max-rules", "4"], {"max_terms": 2, "max_rules": 4}),
    ]:
        result = run("fit", data, "-t", TARGET, "-o", model, "--verbose", *words, *FAST, *FOLDS, *solver)
        settings = {**SETTINGS, "selection": "min", "cv": 3, "honest_cv": False, "solver": "glmnet", **parameters}
        expected = RuleEnsembleClassifier(**settings).fit(X, y)
        np.testing.assert_array_equal(load_model(model).predict_proba(X), expected.predict_proba(X))
        settled = f"max_terms={expected.settings_['max_terms']}" if not parameters else "Settled"
        assert settled in result.stderr


def test_groups_are_lists_of_names(run, write, tmp_path):
    table = make_table()
    data, model, (X, y) = write(table), tmp_path / "model.json", split(table)
    for words, parameters in [
        (
            ["--interactions", f"{NAMES[0]}, Farbe", "--interactions", '["a,b", "Farbe"]'],
            [[NAMES[0], "Farbe"], ["a,b", "Farbe"]],
        ),
        (["--interactions", "pairwise"], "pairwise"),
    ]:
        run("fit", data, "-t", TARGET, "-o", model, *words, "--max-attributes", "2", *FAST)
        expected = RuleEnsembleClassifier(**SETTINGS, interactions=parameters, max_attributes=2).fit(X, y)
        loaded = load_model(model)
        np.testing.assert_array_equal(loaded.decision_function(X), expected.decision_function(X))
        assert (loaded.interactions, loaded.max_attributes) == (parameters, 2)
    told = run("fit", data, "-t", TARGET, "--interactions", "Farbe,Form", *FAST, code=1).stderr
    assert "Error: `interactions` names 'Form', which is not an attribute" in told


def test_json_holds_the_whole_model(read_json, write, tmp_path):
    model = tmp_path / "model.json"
    document = read_json("fit", write(make_table()), "-t", TARGET, "-o", model, *FAST, *FOLDS)
    assert document["data"]["categories"] == {"Farbe": 3}
    assert document["data"]["numbers"] == list(NAMES)
    assert document["classes"] == ["ja", "nein"]
    fitted = load_model(model)
    assert [term["rule"] for term in document["terms"]] == [term.text for term in fitted.rules_]
    assert [term["coefficient"] for term in document["terms"]] == fitted.coef_.tolist()
    figures = fitted.held_out_
    assert document["held_out"]["accuracy"] == figures.accuracy
    assert document["held_out"]["base_log_loss"] == figures.base_log_loss
    assert document["held_out"]["counts"] == figures.counts.tolist()


def test_numbers_are_told_beside_the_spread_of_the_target(run, write):
    result = run("fit", write(make_table(target="number")), "-t", TARGET, *FAST, *FOLDS)
    assert re.search(
        r"R² -?[\d.]+, root mean squared error [\d.,]+ \(standard deviation of the target [\d.,]+\)", result.stderr
    )


def test_quiet_says_nothing_when_the_model_is_saved(run, write, tmp_path):
    data = write(make_table())
    result = run("fit", data, "-t", TARGET, "-o", tmp_path / "model.json", "--quiet", *FAST)
    assert (result.stdout, result.stderr) == ("", "")
    result = run("fit", data, "-t", TARGET, "--quiet", *FAST)
    assert result.stdout
    assert result.stderr == ""


def test_the_task_is_guessed_and_can_be_told(read_json, write):
    three = write(make_table(target="three"))
    assert read_json("fit", three, "-t", TARGET, *FAST)["estimator"] == "RuleEnsembleClassifier"
    told = read_json("fit", three, "-t", TARGET, "--task", "regression", *FAST)
    assert told["estimator"] == "RuleEnsembleRegressor"
    assert told["data"]["task"] == "regression"
    assert read_json("fit", write(make_table(target="number")), "-t", TARGET, *FAST)["data"]["task"] == "regression"


def test_rows_without_a_target_are_left_out(read_json, write, tmp_path):
    table = make_table(target="number")
    y = table[TARGET].to_numpy().copy()
    y[::10] = np.nan
    holes = table.set_column(table.num_columns - 1, TARGET, pa.array(y))  # NaN in Parquet, which is no null
    document = read_json("fit", write(holes, "a.parquet"), "-t", TARGET, "-o", tmp_path / "model.json", *FAST)
    assert document["data"]["rows"] == 270
    assert document["data"]["rows_without_target"] == 30
    X, y = split(table.filter(pa.array(np.isfinite(y))))
    expected = RuleEnsembleRegressor(**SETTINGS).fit(X, y)
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict(X), expected.predict(X))


def test_numbers_can_be_categories(read_json, write):
    rng = np.random.default_rng(0)
    code = rng.integers(0, 6, 300)
    table = pa.table({"code": code, "x": rng.normal(size=300), "y": np.isin(code, [1, 4])})
    document = read_json("fit", write(table), "-t", "y", "--categorical", "code", *FAST)
    assert document["data"]["categories"] == {"code": 6}
    assert any(re.search(r"code (not )?in \{|code [=!]= \d", term["rule"]) for term in document["terms"])
    assert document["classes"] == [False, True]


def test_class_weights_go_by_the_words_of_the_labels(run, write, tmp_path):
    table = make_table(target="three")
    weights, words = {0: 1, 1: 2, 2: 1.5}, '{"0": 1, "1": 2, "2": 1.5}'
    run("fit", write(table), "-t", TARGET, "-o", tmp_path / "m.json", "--class-weight", words, *FAST)
    X, y = split(table)
    expected = RuleEnsembleClassifier(**SETTINGS, class_weight=weights).fit(X, y)
    np.testing.assert_array_equal(load_model(tmp_path / "m.json").decision_function(X), expected.decision_function(X))


def write_rules(folder, *lines):
    path = folder / "rules.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_rules_of_ones_own_come_from_a_file(run, write, tmp_path):
    table = make_table()
    words = [f"`{NAMES[0]}` >= 0.5", "Farbe in {rot, grün}", f"{NAMES[2]} > 1 or missing"]
    own = write_rules(tmp_path, "\ufeff# what we know", words[0], "", *words[1:], "  # the end")
    options = ["--rules", own, "--force-rules", "--n-candidates", "40", "--n-jobs", "1"]
    run("fit", write(table), "-t", TARGET, "-o", tmp_path / "m.json", *options)
    X, y = split(table)
    expected = RuleEnsembleClassifier(rules=words, force_rules=True, n_candidates=40, random_state=0).fit(X, y)
    model = load_model(tmp_path / "m.json")
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    assert {f"{NAMES[0]} >= 0.5", "Farbe != blau", f"{NAMES[2]} > 1 or missing"} <= {row.text for row in model.rules_}


def test_rules_of_ones_own_can_be_all(read_json, write, tmp_path):
    own = write_rules(tmp_path, "Farbe == grün")
    options = ["--rules", own, "--n-candidates", "0", "--terms", "rules", "--selection", "0.01"]
    document = read_json("fit", write(make_table()), "-t", TARGET, *options)
    assert [term["rule"] for term in document["terms"]] == ["Farbe = grün"]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (
            ["Farbe == rot", "Farb > 3"],
            "Rule 2: \"Farb > 3\": 'Farb' is no column (character 1). Did you mean 'Farbe'?",
        ),
        (["# nothing"], "has no rule; write one a line"),
    ],
)
def test_a_file_of_rules_that_cannot_be_read(refuse, write, tmp_path, lines, says):
    own = write_rules(tmp_path, *lines)
    refuse("fit", write(make_table()), "-t", TARGET, "-q", "--rules", own, *FAST, says=says)


def test_rules_must_be_a_text_file(refuse, write, tmp_path):
    data = write(make_table())
    refuse("fit", data, "-t", TARGET, "-q", "--rules", tmp_path / "rule.txt", *FAST, says="There is no file")
    (tmp_path / "raw").write_bytes(b"\xff\xfe\x00")
    refuse("fit", data, "-t", TARGET, "-q", "--rules", tmp_path / "raw", *FAST, says="must be text in UTF-8")


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line(run, write):
    table = make_table().append_column("same", pa.array([1.0] * 300))
    result = run("fit", write(table), "-t", TARGET, *FAST)
    assert [line for line in result.stderr.splitlines() if line.startswith("Warning: ") and "'same'" in line]
    result = run("fit", write(table), "-t", TARGET, "-q", *FAST)
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["-t", "Ziel"], f"Did you mean '{TARGET}'?"),
        (["-t", "nothing alike"], "It has 'Größe \"x\"', 'a,b'"),
        (["-t", TARGET, "--drop", "farbe"], "Did you mean 'Farbe'?"),
        (["-t", TARGET, "--categorical", "farbe"], "`--categorical` names 'farbe'"),
        (["-t", TARGET, "--weights", "Farbe"], "`--weights` must name a column of numbers; 'Farbe' is string"),
        (["-t", TARGET, "--solver", "glmnt"], "Did you mean 'glmnet'?"),
        (["-t", TARGET, "--solver", "Glmnet(print())"], "'Pathbuild(threshold=0.4)'"),
        (["-t", TARGET, "--solver", "Glmnet(tol=__import__('os'))"], "'Pathbuild(threshold=0.4)'"),
        (["-t", TARGET, "--solver", "Glmnet(thrshold=1)"], "Invalid parameter 'thrshold'"),
        (["-t", TARGET, "--subsample", "half"], "The 'subsample' parameter"),
        (["-t", TARGET, "--max-terms", "-1"], "The 'max_terms' parameter"),
        (["-t", TARGET, "--max-terms", "few"], "The 'max_terms' parameter"),
        (["-t", TARGET, "--preset", "quick"], "The 'preset' parameter"),
        (["-t", TARGET, "--class-weight", '{"jaa": 1}'], "Did you mean 'ja'?"),
        (["-t", TARGET, "--class-weight", "{ja: 1}"], "is no JSON"),
        (
            ["-t", TARGET, "--task", "regression"],
            "holds text, such as 'nein', so it cannot be a regression",
        ),
        (["-t", NAMES[0], "--multiclass", "ovr"], "`--multiclass` is for classes"),
        (["-t", NAMES[0], "--task", "classification"], "Unknown label type"),
        (["-t", TARGET, "-o", "no/such/folder/model.json"], "There is no folder 'no/such/folder'"),
        (["-t", TARGET, "-o", "."], "is a folder"),
    ],
)
def test_what_cannot_be_done_is_one_line(run, write, options, says):
    result = run("fit", write(make_table()), *options, "-q", code=1)
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert says in result.stderr, result.stderr


def test_a_constant_target_is_refused(refuse, write):
    for value in ("same", 1.5):
        table = pa.table({"x": np.arange(50.0), "y": [value] * 50})
        refuse("fit", write(table), "-t", "y", "-q", says="has one value only")
    empty = pa.table({"x": np.arange(50.0), "y": pa.nulls(50)})
    refuse("fit", write(empty), "-t", "y", "-q", says="has no value in any row")
    refuse("fit", write(pa.table({"y": [1, 2] * 9})), "-t", "y", "-q", says="no column left")


def test_wrong_usage_is_exit_code_2(run, write):
    data = write(make_table())
    assert "Missing option '--target'" in run("fit", data, code=2).stderr
    assert "Missing argument" in run("fit", code=2).stderr
    assert "--n-candidates" in run("fit", data, "-t", TARGET, "--n-candidates", "many", code=2).stderr
    assert "No such option" in run("fit", data, "-t", TARGET, "--n-candidate", "60", code=2).stderr
    assert "No such command" in run("fitt", data, code=2).stderr
