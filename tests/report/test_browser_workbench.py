"""The workbench in a real browser: what is clicked and dragged there is what a session in Python does."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import lsq_linear

import target_models
from inspected_models import fit
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, load_model
from rulegrove.exceptions import InvalidInputError
from rulegrove.report import write_report
from rulegrove.rules.parse import parse_rule

KINDS = {"two": "two classes", "three": "three classes", "number": "regression"}
DIRECTED = ["rising classes", "rising counts"]
ALL = [*KINDS, *target_models.RATES, *DIRECTED]
ATTACK = "</script><img src=x onerror=\"document.title='hacked'\">"
every_kind = pytest.mark.parametrize("kind", ALL)


def make_hostile():
    """A list whose names try to become markup."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({ATTACK: rng.normal(size=200).round(2), "it's <b>": rng.normal(size=200).round(2)})
    y = np.where(table[ATTACK] + (table["it's <b>"] > 0.3) > 0.4, f"a{ATTACK}", "b & c")
    settings = {"n_candidates": 40, "max_terms": 6, "terms": "rules", "honest_cv": False, "random_state": 0}
    return RuleEnsembleClassifier(**settings, n_jobs=1).fit(table, y), table, y


def make_words():
    """Days, truth values, missing ones, categories, and whole numbers whose bounds are told as "at least"."""
    rng = np.random.default_rng(2)
    n_rows = 300
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), unit="D")
    table = pd.DataFrame(
        {
            "sold": days,
            "is_member": rng.random(n_rows) < 0.5,
            "town": rng.choice(["Bonn", "Kiel", "black and white"], n_rows),
            "age": rng.integers(20, 60, n_rows).astype(float),
        }
    )
    score = (days > "2022-03-01") + 1.5 * table["is_member"] * (table["age"] > 40) + (table["town"] == "Bonn")
    table.loc[rng.random(n_rows) < 0.2, "age"] = np.nan
    y = np.where(score + 0.5 * rng.normal(size=n_rows) > 1.4, "yes", "no")
    given = ["age >= 40 and is_member", "30 < age <= 50 or missing", "sold >= 2022-03-01", "town in {Bonn, Kiel}"]
    settings = {"n_candidates": 60, "max_terms": 12, "terms": "rules", "honest_cv": False, "random_state": 0}
    model = RuleEnsembleClassifier(**settings, n_jobs=1, rules=given, force_rules=True)
    return model.fit(table, y), table, y


def make_directed(kind):
    """A list of single bounds that went against the directions which are asked of it now, so that weights are 0."""
    rng = np.random.default_rng(4)
    a = rng.normal(size=400)
    table = pd.DataFrame({"a": a, "b": a + 0.4 * rng.normal(size=400), "c": rng.normal(size=400)}).round(2)
    score = 2.0 * (table["a"] > 0) + 1.5 * (table["a"] > 0.8) - 1.2 * (table["b"] > 0.3) + 0.3 * table["c"]
    settings = {"n_candidates": 80, "max_terms": 10, "mean_leaves": 2.0, "honest_cv": False, "random_state": 0}
    if kind == "rising counts":
        y = rng.poisson(np.exp(score / 2.0)).astype(float)
        model = RuleEnsembleRegressor(**settings, loss="poisson").fit(table, y)
    else:
        y = score + rng.logistic(size=400) > 1.0
        model = RuleEnsembleClassifier(**settings).fit(table, y)
    return model.set_params(monotonic={"b": 1, "c": -1}), table, y


@pytest.fixture(scope="module")
def benches(tmp_path_factory):
    """One page of each kind, which holds every row by itself, with what it was made of."""
    folder = tmp_path_factory.mktemp("benches")
    made = {kind: fit(name)[:3] for kind, name in KINDS.items()}
    made = {kind: (model.shorten(8), table, y) for kind, (model, table, y) in made.items()}
    made |= {"hostile": make_hostile(), "words": make_words()}
    made |= {kind: make_directed(kind) for kind in DIRECTED}
    made = {name: (*own, {}) for name, own in made.items()}
    made |= {kind: target_models.fit(kind) for kind in target_models.RATES}
    for name, (model, table, y, known) in made.items():
        write_report(model, folder / f"{name}.html", table, y, workbench=1, **known)
    model, table, y, _ = made["two"]
    write_report(model, folder / "lines.html", table, pd.Series(y, name="it's well"), workbench=True)
    write_report(model, folder / "without.html", table, y)
    return folder, made


@pytest.fixture
def show(browser, benches):
    """Open a page and its workbench; at the end nothing may have been complained about or asked for."""
    complaints, contexts = [], []

    def show(name, width=1200, *, opened=True):
        settings = {"viewport": {"width": width, "height": 900}, "reduced_motion": "reduce"}
        contexts.append(browser.new_context(**settings, permissions=["clipboard-read", "clipboard-write"]))
        page = contexts[-1].new_page()
        page.on("console", lambda said: complaints.append(said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url) if "http" in request.url[:4] else None)
        page.goto((benches[0] / f"{name}.html").as_uri())
        page.wait_for_selector("html[data-ready]")
        if opened:
            page.locator("#bench-switch").click()
        return page

    yield show
    for context in contexts:
        context.close()
    assert complaints == []


def card(page, number):
    return page.locator(f"#bench-list li[data-number='{number}']")


def wait(page, truth):
    """Wait until something is true; the page lets nobody evaluate a text, so that it is asked again and again."""
    for _ in range(200):
        if page.evaluate(truth):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never became true: {truth}")


def switch(page, number):
    card(page, number).locator("input[type=checkbox]").click()


def read_script(page):
    return json.loads(page.locator("#bench-script").text_content().split("\n\n")[1])


def sliders(page):
    return page.locator("#bench-list li:not(.bench-off) input[type=range]:enabled")


def drag(page, place, share):
    """Drag the thumb of a slider with the mouse to a share of its width."""
    slider = sliders(page).nth(place)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    low, high, value = slider.evaluate("own => [own.min, own.max, own.value].map(Number)")
    x = box["x"] + 8 + (box["width"] - 16) * (value - low) / (high - low)
    page.mouse.move(x, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 8 + (box["width"] - 16) * share, box["y"] + box["height"] / 2, steps=8)
    page.mouse.up()


def change_list(page):
    """Drag a threshold, switch a rule off, and merge two where the list has any that go together."""
    numbers = [
        int(own) for own in page.locator("#bench-list li").evaluate_all("all => all.map(own => own.dataset.number)")
    ]
    drag(page, 0, 0.3)
    switch(page, numbers[-1])
    return numbers


@every_kind
def test_the_page_does_what_a_session_does(show, benches, kind):
    """Weights, error, loss and rows that are predicted otherwise: of the page, and of the script in Python."""
    page = show(kind)
    model, table, y, known = benches[1][kind]
    change_list(page)
    script = read_script(page)
    assert [step["operation"] for step in script] == ["replace", "drop"]
    session = model.edit(table, y, **known)
    session.apply(script)
    found = page.evaluate("[workbench.now.solved, costOf(workbench.now), compareCosts(workbench.base, workbench.now)]")
    solved, cost, apart = found
    np.testing.assert_allclose(solved, session._states[-1].solved, atol=1e-9)
    np.testing.assert_array_equal(np.equal(solved, 0.0), session._states[-1].solved == 0.0)
    assert np.equal(solved[0], 0.0).any() or kind not in DIRECTED
    after, first = session.log[-1].after, session.log[0].after
    assert cost["error"] == pytest.approx(after.error, rel=1e-9)
    assert cost["loss"] == pytest.approx(after.loss, rel=1e-9)
    assert apart["error"] == pytest.approx(after.error - first.error, abs=1e-6)
    assert apart["loss"] == pytest.approx(after.loss - first.loss, abs=1e-6)
    words = page.locator("#bench-words").inner_text()
    assert words.startswith(f"2 edits, {len(session.rules)} terms: ")


@every_kind
def test_the_saved_model_says_what_the_page_says(show, benches, kind, tmp_path):
    """The file is read by `load_model`, predicts as the page does, as the script does, and has the log."""
    page = show(kind)
    model, table, y, known = benches[1][kind]
    numbers = change_list(page)
    card(page, numbers[-1]).locator("input[type=text]").fill("no sense")
    page.locator("#bench-author").fill("A. B.")
    with page.expect_download() as waiting:
        page.locator("#bench-save").click()
    waiting.value.save_as(tmp_path / "edited.json")
    edited = load_model(tmp_path / "edited.json")
    shown = page.evaluate("report.rows.numbers")
    scores = page.evaluate(
        "shown => shown.map((_, row) => scoresOfRow(workbench.now.list, giveBack(workbench.now.solved[0]), row))", shown
    )
    if hasattr(model, "classes_"):
        own = edited.decision_function(table)
    else:
        own = np.log(edited.predict(table)) if edited.model_.multiplies else edited.predict(table)
    np.testing.assert_allclose(np.reshape(own, (len(table), -1))[shown], scores, atol=1e-9)
    session = model.edit(table, y, **known)
    session.apply(read_script(page))
    expected = session.finish()
    if not hasattr(model, "classes_"):
        np.testing.assert_allclose(edited.predict(table), expected.predict(table), atol=1e-6)
    else:
        np.testing.assert_allclose(edited.predict_proba(table), expected.predict_proba(table), atol=1e-6)
    assert [row.text for row in edited.rules_] == [row.text for row in expected.rules_]
    for row, other in zip(edited.rules_, expected.rules_, strict=True):
        assert (row.importance, row.support) == pytest.approx((other.importance, other.support), abs=1e-6)
    for own, other in zip(edited.edits_[1:], expected.edits_[1:], strict=True):
        assert (own.step, own.words) == (other.step, other.words)
        assert own.change.loss == pytest.approx(other.change.loss, abs=1e-6)
        assert own.change.loss_se == pytest.approx(other.change.loss_se, abs=1e-6)
        assert own.change.error_se == pytest.approx(other.change.error_se, abs=1e-6)
        assert own.change.n_otherwise == other.change.n_otherwise
        assert [move.number for move in own.moved[:1]] == [move.number for move in other.moved[:1]]
    assert (edited.edits_[-1].note, edited.edits_[-1].author) == ("no sense", "A. B.")


def test_undo_and_redo_go_back_and_forth(show):
    """A drag is one step, however far it goes; the list is in the end what it was at first."""
    page = show("two")
    texts = page.locator(".bench-rule").all_inner_texts()
    drag(page, 0, 0.9)
    moved = page.locator(".bench-rule").all_inner_texts()
    assert moved != texts
    switch(page, 1)
    for expected in (moved, texts):
        page.locator("#bench-undo").click()
        assert page.locator(".bench-rule").all_inner_texts() == expected
    assert page.locator("#bench-undo").is_disabled()
    assert page.locator("#bench-save").is_disabled()
    assert page.locator("#bench-words").inner_text().startswith("The list as it was fitted")
    page.locator("#bench-redo").click()
    page.locator("#bench-redo").click()
    assert page.locator(".bench-rule").all_inner_texts() == moved
    assert card(page, 1).get_attribute("class") == "bench-off"
    switch(page, 1)
    assert [step["operation"] for step in read_script(page)] == ["replace"]


def test_what_a_rule_costs_is_what_dropping_it_costs(show, benches):
    page = show("two")
    model, table, y, _ = benches[1]["two"]
    wait(page, "workbench.costs.size === fittedList.length")
    costs = page.evaluate("Object.fromEntries(workbench.costs)")
    session = model.edit(table, y)
    for number in range(1, len(model.rules_) + 1):
        change = session.drop(number).change
        session.undo()
        assert costs[str(number)]["loss"] == pytest.approx(change.loss, abs=1e-6)
        assert costs[str(number)]["loss_se"] == pytest.approx(change.loss_se, abs=1e-6)
    assert "If dropped: log loss " in card(page, 1).inner_text()


def test_rules_are_merged_and_parted(show, benches):
    """Two rules with a bound in common become one, as Python merges them; others are refused in a sentence."""
    page = show("two")
    model, table, y, _ = benches[1]["two"]
    rules = [place for place, row in enumerate(model.rules_, start=1) if row.kind == "rule"]
    done = {True: 0, False: 0}
    for first, second in itertools.combinations(rules, 2):
        session = model.edit(table, y)
        try:
            session.merge(first, second)
        except InvalidInputError as error:
            refused = str(error)
        else:
            refused = None
        if done[refused is None] == 2:
            continue
        done[refused is None] += 1
        card(page, second).locator("select").select_option(str(first))
        script = read_script(page)
        if refused is not None:
            assert script == []
            assert page.locator("#bench-words").inner_text()[:40] == refused[:40]
            continue
        assert script == session.script()
        np.testing.assert_allclose(page.evaluate("workbench.now.solved"), session._states[-1].solved, atol=1e-6)
        assert card(page, first).locator(".bench-rule").inner_text() == session.rules[first - 1].text
        assert card(page, second).locator("input[type=checkbox]").is_disabled()
        card(page, second).locator("select").select_option("not merged")
        assert read_script(page) == []
    assert done[True] == 2


def test_the_page_follows_the_list(show, benches):
    """Rules, confusion, calibration, dependence and single rows are those of the edited list."""
    page = show("two")
    model, table, y, _ = benches[1]["two"]
    change_list(page)
    wait(page, "state.edited !== null && state.edited.outputs[0].terms.length === workbench.now.list.length")
    session = model.edit(table, y)
    session.apply(read_script(page))
    edited = session.finish()
    shown = page.locator("#rule-rows tr td:nth-child(2) > span:first-child").all_inner_texts()
    assert sorted(shown) == sorted(" ".join(row.text.split()) for row in edited.rules_)
    counts = page.evaluate("state.edited.check.charts.counts")
    assert counts == edited.held_out_.by_class.counts.tolist()
    (roc,) = page.evaluate("state.edited.check.charts.roc")
    assert roc["area"] == pytest.approx(edited.held_out_.by_class.rocs[0].area, abs=1e-6)
    (bins,) = page.evaluate("state.edited.check.charts.calibration")
    assert sum(bins["sizes"]) == len(table)
    chosen = page.evaluate("state.edited.probabilities")
    np.testing.assert_allclose(chosen, edited.predict_proba(table)[page.evaluate("report.rows.numbers")], atol=1e-9)
    for curve in page.evaluate("state.edited.dependence"):
        name = edited.model_.features[curve["feature"]].name
        for point, value in list(zip(curve["grid"], curve["values"][0], strict=True))[::7]:
            held = table.assign(**{name: point})
            assert value == pytest.approx(edited.decision_function(held).mean(), abs=1e-6)
    page.locator("#bench-undo").click()
    page.locator("#bench-undo").click()
    wait(page, "state.edited === null")


@pytest.mark.parametrize("kind", ["poisson", "tweedie"])
def test_rates_are_told_as_such(show, benches, kind):
    """Factors on the cards, one figure where error and loss are the same, and dependence of the edited list."""
    page = show(kind)
    model, table, y, known = benches[1][kind]
    assert card(page, 1).locator(".bench-weight").inner_text().startswith("rate x ")
    assert page.locator("#bench-figures tbody tr").count() == 1
    change_list(page)
    wait(page, "state.edited !== null && state.edited.outputs[0].terms.length === workbench.now.list.length")
    session = model.edit(table, y, **known)
    session.apply(read_script(page))
    edited = session.finish()
    for curve in page.evaluate("state.edited.dependence"):
        name = edited.model_.features[curve["feature"]].name
        for point, value in list(zip(curve["grid"], curve["values"][0], strict=True))[::7]:
            rates = edited.predict(table.assign(**{name: point}))
            assert value == pytest.approx(np.exp(np.log(rates).mean()), rel=1e-6)
    page.locator("#bench-compare summary").click()
    page.wait_for_selector("#bench-compared table")
    words = page.locator("#bench-compared").inner_text()
    n_otherwise = int((np.abs(edited.predict(table) / model.predict(table) - 1.0) > 0.1).sum())
    assert f"{n_otherwise} of {len(table)} rows are predicted differently, by more than a tenth." in words
    assert "--target COLUMN --exposure" in page.locator("#bench-script").text_content()


def test_comparing_with_the_fitted_model(show, benches):
    page = show("two")
    model, table, y, _ = benches[1]["two"]
    change_list(page)
    page.locator("#bench-compare summary").click()
    session = model.edit(table, y)
    session.apply(read_script(page))
    n_otherwise = int((session.finish().predict(table) != model.predict(table)).sum())
    words = page.locator("#bench-compared").inner_text()
    assert f"{n_otherwise} of {len(table)} rows are predicted differently" in words
    assert len(page.locator("#bench-compared tbody tr").all()) == len(model.rules_)


def test_a_closed_workbench_shows_the_fitted_list(show):
    """Closed, the page is of the fitted lists again; opened again, of the changed one."""
    page = show("two")
    count = page.locator("#rules-count").inner_text()
    switch(page, 1)
    wait(page, "state.edited !== null")
    assert page.locator("#rules-count").inner_text() != count
    assert page.locator("#line").is_hidden()
    page.locator("#bench-switch").click()
    assert page.locator("#rules-count").inner_text() == count
    assert page.locator("#line").is_visible()
    page.locator("#line").press("Home")
    page.locator("#bench-switch").click()
    assert page.locator("#rules-count").inner_text() != count
    assert card(page, 1).get_attribute("class") == "bench-off"


def test_an_edited_list_is_edited_again(browser, benches, tmp_path):
    """The page of an edited model, which has no front, has a workbench, and its file the logs of both sessions."""
    model, table, y, _ = benches[1]["two"]
    session = model.edit(table, y)
    session.drop(1)
    write_report(session.finish(), tmp_path / "again.html", table, y, workbench=True)
    page = browser.new_page()
    page.goto((tmp_path / "again.html").as_uri())
    page.locator("#bench-switch").click()
    switch(page, 2)
    with page.expect_download() as waiting:
        page.locator("#bench-save").click()
    waiting.value.save_as(tmp_path / "edited.json")
    page.close()
    edited = load_model(tmp_path / "edited.json")
    assert [own.operation for own in edited.edits_] == ["open", "drop", "open", "drop"]
    assert len(edited.rules_) == len(model.rules_) - 2


@pytest.mark.parametrize("name", ["words", "hostile", "two"])
def test_words_are_read_back_as_they_are_meant(show, benches, name):
    """Whatever a slider can say is read by Python as the very rule that holds on the page."""
    page = show(name)
    model = benches[1][name][0]
    features = model.model_.features
    said = page.evaluate("""() => fittedList.filter(term => term.conditions !== undefined).flatMap(term =>
      term.conditions.flatMap((own, k) => own.categories !== undefined || own.never ? [] :
        bench.columns[own.column].cuts.flatMap((_, place) => ["low", "high"].flatMap(side => {
          const moved = { ...own, [side]: own[side] === null ? null : place };
          if (moved.low !== null && moved.high !== null && moved.low >= moved.high) return [];
          const conditions = term.conditions.map((one, at) => at === k ? moved : one);
          return [[tellConditions(conditions), conditions.map(writeCondition)]];
        }))))""")
    assert len(said) > 40
    days = {place for place, feature in enumerate(features) if feature.part == "date"}
    for words, conditions in said:
        rule = parse_rule(words, features)
        assert rule.text(features) == words
        for own, other in zip(rule.conditions, conditions, strict=True):
            bounds = [other.get("lower", -np.inf), other.get("upper", np.inf)]
            assert own.feature == other["feature"]
            assert own.missing == other.get("missing", False)
            if own.feature not in days and not features[own.feature].boolean:
                assert [own.lower, own.upper] == bounds


def test_copying_the_command(show):
    page = show("lines")
    switch(page, 1)
    page.locator("#bench-copy").click()
    wait(page, "document.getElementById('bench-told').textContent.startsWith('Copied')")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(
        "rulegrove edit model.json --script edits.json --data table.csv --target 'it'\\''s well' -o"
    )
    assert '"operation": "drop"' in copied


def test_keyboard_and_screen_reader(show):
    """Every control has a name, a slider moves by the arrows and says its condition, figures are a live region."""
    page = show("two")
    slider = sliders(page).first
    slider.focus()
    before = slider.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") != before
    assert slider.evaluate("own => own === document.activeElement")
    assert page.locator("#bench-words").get_attribute("aria-live") == "polite"
    unnamed = page.locator("#bench :is(input, select)").evaluate_all(
        "all => all.filter(own => !own.labels.length).length"
    )
    assert unnamed == 0


def test_bounds_do_not_pass_each_other(show):
    """A list is refused that would hold nowhere, or twice the same rule, and the slider stays."""
    page = show("hostile")
    for place in range(sliders(page).count()):
        for share in (0.0, 1.0):
            drag(page, place, share)
            held = page.evaluate("workbench.now.list.map(term => columnOf(term).reduce((sum, own) => sum + own, 0))")
            assert all(0 < count < 200 for count in held)
    assert page.title() == "Rule ensemble"


def test_a_phone(show):
    page = show("two", 380)
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    switch(page, 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_a_page_without_a_workbench(show):
    page = show("without", opened=False)
    assert page.evaluate("report.workbench") is None
    assert page.locator("#bench").is_hidden()
    assert page.locator("#bench-link").is_hidden()


def test_steps_within_signs_are_those_of_scipy(show):
    """The least value of a parabola where some weights keep their signs, from any point that has them."""
    page = show("two", opened=False)
    rng = np.random.default_rng(0)
    bound = 0
    for size in [*range(1, 12)] * 4:
        root = np.triu(rng.normal(size=(size, size))) + 2.0 * np.eye(size)
        signs = rng.integers(-1, 2, size)
        here = np.where(signs == 0, rng.normal(size=size), signs * np.maximum(rng.normal(size=size), 0.0))
        slope = 3.0 * rng.normal(size=size)
        low, high = np.where(signs > 0, -here, -np.inf), np.where(signs < 0, -here, np.inf)
        expected = lsq_linear(root, -np.linalg.solve(root.T, slope), (low, high), method="bvls", tol=1e-14).x
        given = [(root.T @ root).tolist(), slope.tolist(), here.tolist(), signs.tolist()]
        found = -np.array(page.evaluate("given => stepWithin(...given)", given))
        np.testing.assert_allclose(found, expected, atol=1e-10)
        there = here + found
        assert (signs * there >= 0.0).all()
        bound += np.count_nonzero(there[signs != 0] == 0.0)
    assert bound > 50


@pytest.mark.parametrize("kind", DIRECTED)
def test_directions_are_told(show, kind):
    page = show(kind)
    words = page.locator("#bench-about").inner_text()
    assert "may only rise with b and fall with c: a weight that would go against it is 0." in words
