"""The page in a real browser: slider, table, filters, classes, rows, themes, small screens, hostile names."""

import re

import numpy as np
import pandas as pd
import pytest

from rulegrove import Glmnet, RuleAttributeSelector, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.report import write_report

ATTACK = "</script><img src=x onerror=\"document.title='hacked'\">"
NAMES = (ATTACK, 'Größe "x"', "emoji 😀", "it's <b>bold</b> & more", "a very long name " + "w" * 60)
CLASSES = (f"a{ATTACK}", "b & c", "ü 😀")
MINUS, UNKNOWN = "\u2212", "\u2013"  # as the page writes them
SETTINGS = {"n_candidates": 60, "cv": 2, "random_state": 0, "n_jobs": 1, "honest_cv": False}


def make_table():
    """Numbers with missing values and a category, whose names try to become markup."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(dict(zip(NAMES, rng.normal(size=(5, 260)).round(3), strict=True)))
    score = table[NAMES[0]] + (table[NAMES[1]] > 0.3) + 0.3 * rng.normal(size=260)
    table.loc[rng.random(260) < 0.1, NAMES[1]] = np.nan
    table["colour"] = rng.choice(["red", "<i>green</i>", "blue"], 260)
    return table, (score + (table["colour"] == "blue")).to_numpy()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """One page of each kind, with the model, the rows and the target it was made of."""
    table, y = make_table()
    folder = tmp_path_factory.mktemp("reports")
    two, three = np.where(y > 1, CLASSES[0], CLASSES[1]), np.array(CLASSES)[np.digitize(y, [0.3, 1.2])]
    selector = RuleAttributeSelector(n_candidates=60, n_repeats=3, min_votes=2, random_state=0, n_jobs=1)
    selector.fit(table, two)
    made = {
        "two": (RuleEnsembleClassifier(**SETTINGS).fit(table, two, evidence=(table, two)), two, selector),
        "three": (RuleEnsembleClassifier(**SETTINGS, solver=Glmnet(l1_ratio="cv")).fit(table, three), three, None),
        "number": (RuleEnsembleRegressor(**SETTINGS).fit(table, y), y, None),
        "again": (RuleEnsembleClassifier(**SETTINGS, terms="rules", n_resamples=6).fit(table, three), three, None),
    }
    for name, (model, target, voted) in made.items():
        write_report(model, folder / f"{name}.html", table, target, selector=voted, title=f"{name} {ATTACK}")
    write_report(made["two"][0], folder / "bare.html")
    write_report(RuleEnsembleRegressor(**SETTINGS, selection=0.02).fit(table, y), folder / "unjudged.html")
    alone = made["three"][0].shorten(3)
    alone.front_ = None  # as from an older file
    write_report(alone, folder / "alone.html", table, three)
    for name, (model, rows, target) in make_large().items():
        write_report(model, folder / f"{name}.html", rows, target)
    return folder, table, made


def make_large():
    """Twenty-six classes, and categories of long names with a target of large numbers."""
    rng = np.random.default_rng(0)
    letters = np.array([f"class {letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"])
    codes = np.arange(520) % 26
    X = pd.DataFrame(rng.normal(size=(26, 4))[codes] + 0.3 * rng.normal(size=(520, 4)), columns=list("abcd"))
    many = RuleEnsembleClassifier(**{**SETTINGS, "n_candidates": 30}, multiclass="shared").fit(X, letters[codes])
    towns = np.array([f"{place}: a town whose name is far too long for any chart" for place in range(40)])
    table = pd.DataFrame({"town": towns[np.arange(800) % 40], "income": rng.lognormal(10, 0.5, 800).round()})
    price = 20_000.0 * (np.arange(800) % 40 % 7) + 3 * table["income"] + 1000 * rng.normal(size=800)
    return {
        "letters": (many, X, letters[codes]),
        "towns": (RuleEnsembleRegressor(**SETTINGS, solver="glmnet").fit(table, price), table, price),
    }


@pytest.fixture
def show(browser, reports):
    """Open a page; at the end nothing may have been complained about or asked for."""
    complaints, contexts = [], []

    def show(name, **settings):
        still = {"viewport": {"width": 1200, "height": 900}, "reduced_motion": "reduce"}
        contexts.append(browser.new_context(**{**still, **settings}))
        page = contexts[-1].new_page()
        page.on("console", lambda said: complaints.append(said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        requests = []
        page.goto((reports[0] / f"{name}.html").as_uri())
        page.wait_for_selector("html[data-ready]")
        assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
        return page

    yield show
    for context in contexts:
        context.close()
    assert complaints == []


def number(text):
    return float(text.replace(MINUS, "-").replace("+", "").split()[0])


def column(page, place):
    return page.locator(f"#rule-rows tr td:nth-child({place}) > span:first-child").all_inner_texts()


def count_terms(page):
    words = page.locator("#rules-count").inner_text()
    return 0 if words.startswith("No terms") else int(re.match(r"([\d,]+)", words)[1].replace(",", ""))


def test_the_slider_goes_along_the_front(show, reports):
    """At every length the page is that of the shortened model."""
    page = show("two")
    _, table, made = reports
    model = made["two"][0]
    assert count_terms(page) == len(model.rules_)
    assert "This is the chosen length." in page.locator("#line-words").inner_text()
    slider = page.locator("#line")
    slider.focus()
    page.keyboard.press("Home")
    for place in range(5):
        line = model.front_[place]
        words = page.locator("#line-words").inner_text()
        assert words.startswith(f"{line.terms} term")
        assert f"share of wrong classes held out {100 * line.error:.1f} % ±" in words
        assert count_terms(page) == line.rules
        texts = [" ".join(row.text.split()) for row in model.front_.list_rules(place)]
        assert column(page, 2) == texts
        assert page.locator("#figures dd").first.inner_text() == str(line.rules)
        cells = page.locator("#check-figures tr:nth-child(1) td").all_inner_texts()
        assert number(cells[1].replace("\xa0", " ")) == pytest.approx(100 * line.held_out.accuracy, abs=0.051)
        assert (page.locator("#dependence-charts figure").count() == 0) == (line.rules == 0)
        row = int(re.match(r"Row (\d+)", page.locator("#row option:checked").inner_text())[1])
        found = re.search(r"its probability ([\d.]+) %", page.locator("#row-words").inner_text())
        scores = line.fitted.model.score(model.read_columns(table.iloc[[row]]))
        share = line.fitted.model.probabilities(scores)[0, 1]
        assert float(found[1]) == pytest.approx(100 * share, abs=0.051)
        assert slider.get_attribute("aria-valuetext") == words
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    words = page.locator("#line-words").inner_text()
    assert f"{len(model.rules_)} terms fewer than the chosen one, share of wrong classes up by" in words
    assert page.locator("#attribute-bars").inner_text() == "No attribute is used."
    page.keyboard.press("End")
    assert page.locator("#line-words").inner_text().startswith(f"The large model: {model.front_[-1].terms} terms")
    assert count_terms(page) == model.front_[-1].rules
    page.locator("#back").click()
    assert count_terms(page) == len(model.rules_)
    assert page.evaluate("document.activeElement.id") == "line"
    assert page.locator("#back").is_disabled()


def test_the_chart_chooses_a_length(show, reports):
    page, model = show("number"), reports[2]["number"][0]
    chart = page.locator("#front-chart svg")
    texts = chart.locator("text").all_text_contents()
    assert "Terms" in texts
    assert "Root mean squared error held out" in texts
    box = chart.bounding_box()
    chart.click(position={"x": box["width"] - 14, "y": 80})
    assert count_terms(page) == model.front_[-1].rules
    chart.click(position={"x": 60, "y": 80})
    assert count_terms(page) <= model.front_[1].rules
    rows = page.locator("#front-numbers tbody tr")
    assert rows.count() == len(model.front_)
    assert f"{len(model.rules_)} (chosen)" in rows.nth(model.front_.chosen).text_content()


def overlap(one, other):
    """Whether two boxes do; words need not leave all the room that their font asks for."""
    across = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
    along = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
    return across > 0 and along > 0.2 * one["height"]


@pytest.mark.parametrize("width", [1200, 360])
@pytest.mark.parametrize("kind", ["two", "three", "number"])
def test_words_in_the_chart_do_not_overlap(show, kind, width):
    texts = show(kind, viewport={"width": width, "height": 900}).locator("#front-chart svg text")
    boxes = [text.bounding_box() for text in texts.all()]
    assert len(boxes) > 8
    assert not any(overlap(one, other) for place, one in enumerate(boxes) for other in boxes[:place])


def test_a_model_without_a_front_has_no_slider(show):
    page = show("alone")
    assert not page.locator("#front").is_visible()
    assert not page.locator("#line").is_visible()
    assert not page.locator("#front-link").is_visible()
    assert page.locator("#output").is_visible()
    assert count_terms(page) <= 3


def test_lengths_that_were_not_judged(show):
    page = show("unjudged")
    assert "No rows were held out" in page.locator("#front-about").inner_text()
    assert page.locator("#front-chart svg").count() == 0
    page.locator("#line").focus()
    page.keyboard.press("Home")
    assert count_terms(page) == 0
    assert page.locator("#line-words").inner_text().startswith("0 terms. ")


def test_the_table_is_that_of_the_model(show, reports):
    page, model = show("two"), reports[2]["two"][0]
    if page.locator("#rules-all").is_visible():
        page.locator("#rules-all").click()
    assert column(page, 2) == [" ".join(row.text.split()) for row in model.rules_]
    np.testing.assert_allclose([number(text) for text in column(page, 3)], model.coef_, rtol=5e-4)
    np.testing.assert_allclose(
        [number(text) for text in column(page, 4)], [t.importance for t in model.rules_], rtol=5e-3
    )
    known = [f"{100 * row.support:.1f} %" if row.kind == "rule" else UNKNOWN for row in model.rules_]
    assert column(page, 5) == known
    ends = [(100 * row.probability_from, 100 * row.probability_to) for row in model.rules_]
    assert column(page, 7) == [f"{first:.1f} % → {last:.1f} %" for first, last in ends]
    assert column(page, 8) == [str(row.speaks_for) for row in model.rules_]


def test_the_table_is_sorted_by_any_column(show):
    page = show("number")
    for place, key in enumerate(["rank", "text", "coefficient", "importance", "support", "mean"], 1):
        head = page.locator(f"#rule-heads th[data-key={key}]")
        head.locator("button").click()
        first = head.get_attribute("aria-sort")
        cells = column(page, place)
        head.locator("button").click()
        assert {first, head.get_attribute("aria-sort")} == {"ascending", "descending"}
        assert page.locator("#rule-heads th:not([aria-sort=none])").count() == 1
        if key != "text":
            values = [number(text) for text in cells if text != UNKNOWN]
            assert values == sorted(values, reverse=first == "descending")
            assert all(text == UNKNOWN for text in cells[len(values) :])


def test_filters(show):
    page = show("two")
    total = count_terms(page)
    page.locator("#rule-text").fill("GRÖßE")
    texts = column(page, 2)
    assert len(texts) > 0
    assert count_terms(page) < total
    assert all("Größe" in text for text in texts)
    page.locator("#rule-text").fill("")
    page.locator("#rule-attribute").select_option(label=ATTACK)
    assert all(ATTACK in text for text in column(page, 2))
    page.locator("#rule-attribute").select_option(label="any")
    assert count_terms(page) == total


def test_classes(show, reports):
    page, model = show("three"), reports[2]["three"][0]
    for label in CLASSES:
        page.locator("#output").select_option(label=label)
        place = model.classes_.tolist().index(label)
        assert count_terms(page) == np.count_nonzero(model.coef_[place])
        assert f"score of class {label}" in page.locator("#attributes-about").inner_text()
    words = page.locator("#line-words").inner_text()
    line = model.front_[model.front_.chosen]
    assert f"{line.terms} terms a class, {line.rules} different in all" in words
    page.locator("#line").focus()
    page.keyboard.press("ArrowRight")
    after = model.front_[model.front_.chosen + 1]
    assert count_terms(page) == np.count_nonzero(after.fitted.model.coefs[place])
    assert page.locator(".confusion tbody tr").count() == 3
    assert page.locator("#dependence-charts figure").count() > 0


@pytest.mark.parametrize("kind", ["two", "number"])
def test_rows_are_explained(show, reports, kind):
    page = show(kind)
    _, table, made = reports
    model, target, _ = made[kind]
    scores = model.predict(table) if kind == "number" else model.decision_function(table)
    page.locator("#row-after").click()
    page.locator("#row-after").click()
    row = int(re.match(r"Row (\d+)", page.locator("#row option:checked").inner_text())[1])
    parts = [number(text) for text in page.locator("#row-terms tbody td:nth-child(3)").all_inner_texts()]
    assert parts[-1] == pytest.approx(scores[row], rel=1e-4)
    assert sum(parts[:-1]) == pytest.approx(scores[row], abs=2e-3)
    words = page.locator("#row-words").inner_text()
    if kind == "two":
        assert f"Predicted {model.predict(table)[row]}" in words
        assert f"its probability {100 * model.predict_proba(table)[row, 1]:.1f} %" in words
    else:
        assert number(re.search(r"observed (\S+)\.", words)[1]) == pytest.approx(target[row], rel=1e-4)
    page.locator("#line").focus()
    page.keyboard.press("Home")
    assert page.locator("#row-terms tbody tr").count() == 2


def test_figures_on_the_rows_given(show, reports):
    _, table, made = reports
    model, target, selector = made["two"]
    page = show("two")
    right = (model.predict(table) == target).mean()
    cells = page.locator("#check-figures tr:nth-child(1) td").all_inner_texts()
    assert cells[0] == "Accuracy (base rate)"
    assert [number(cell.replace("\xa0", " ")) for cell in cells[1:]] == pytest.approx(
        [100 * model.held_out_.accuracy, 100 * right], abs=0.051
    )
    assert page.locator("#check-figures th").all_inner_texts() == [
        "",
        f"Held-out rows ({model.held_out_.n_rows})",
        "Training rows (260)",
    ]
    assert "held-out rows" in page.locator("#check-parts figure:first-child figcaption").inner_text()
    counts = page.locator(".confusion td").all_inner_texts()
    assert [int(text.split()[0].replace(",", "")) for text in counts] == model.held_out_.counts.ravel().tolist()
    assert page.locator("#check-parts svg").count() == 2  # calibration and ROC
    shares = page.locator("#attribute-bars tbody tr")
    names = shares.locator("td:nth-child(1)").all_inner_texts()
    found = [number(text) for text in shares.locator("td:nth-child(3)").all_inner_texts()]
    expected = dict(zip(table.columns, 100 * model.feature_importances_, strict=True))
    np.testing.assert_allclose(found, [expected[name] for name in names], atol=0.051)
    assert page.locator("#votes-bars tbody tr").count() >= selector.get_support().sum()
    for chart in page.locator("svg").all():
        assert chart.get_attribute("role") == "img"
        assert len(chart.get_attribute("aria-label")) > 20


def test_how_often_rules_come_back(show, reports):
    """The column is there, sorted on demand, with thresholds below, wherever the slider stands."""
    page, model = show("again"), reports[2]["again"][0]
    assert page.locator("#rules-returns").inner_text().startswith("“Comes back” is the chance")
    known = {" ".join(row.text.split()): row for row in model.rules_}
    head = page.locator("#rule-heads th[data-key=returns]")
    head.locator("button").click()
    assert page.evaluate("document.activeElement.innerText").startswith("Comes back")
    assert head.get_attribute("aria-sort") == "descending"
    told = [known[text] for text in column(page, 2)]
    assert [row.returns for row in told] == sorted((row.returns for row in told), reverse=True)
    assert column(page, 9) == [f"{100 * row.returns:.0f} %" for row in told]
    small = page.locator("#rule-rows td[data-key=returns]")
    shown = [cell.locator("small").all_text_contents() for cell in small.all()]
    assert shown == [[row.thresholds] if row.thresholds else [] for row in told]
    assert any(ATTACK in row.thresholds for row in told)
    page.locator("#line").focus()
    page.keyboard.press("Home")
    assert head.count() == 0
    assert not page.locator("#rules-returns").is_visible()
    assert page.locator("#rule-heads th[data-key=importance]").get_attribute("aria-sort") == "descending"
    for place in range(1, 4):
        page.keyboard.press("ArrowRight")
        own = {" ".join(row.text.split()): row for row in model.front_.list_rules(place)}
        assert column(page, 9) == [f"{100 * own[text].returns:.0f} %" for text in column(page, 2)]
    page.locator("#back").click()
    assert head.get_attribute("aria-sort") == "descending"


def test_bands_of_lists_from_other_rows(show, reports):
    """Areas around curves, whiskers on categories and bars, and words for them, at the chosen length."""
    page, model = show("again"), reports[2]["again"][0]
    kinds = [("path.band", "path.line"), ("line.whisker", "circle.dot")]
    for own, drawn in kinds:
        assert page.locator(f"#dependence-charts {own}").count() > 0
        assert page.locator(f"#dependence-charts {own}").count() == page.locator(f"#dependence-charts {drawn}").count()
    words = "9 of 10 lists from other rows"
    assert page.locator("#dependence-about .legend .sign").count() == 2
    assert words in page.locator("#dependence-about .legend").inner_text()
    assert words in page.locator("#attributes-about .legend").inner_text()
    assert words in page.locator("#dependence-charts figure:first-child th:nth-child(3)").text_content()
    for bar in page.locator("#attribute-bars .bar").all():
        box, whisker = bar.bounding_box(), bar.locator(".ends").bounding_box()
        assert whisker["x"] >= box["x"] - 1
        assert whisker["x"] + whisker["width"] <= box["x"] + box["width"] + 1
    bands = page.evaluate("currentLine().importance_bands[state.output]")
    shown = page.locator("#attribute-bars small").all_inner_texts()
    told = [f"{100 * low:.0f} to {100 * high:.0f} %" for low, high in bands.values()]
    assert sorted(shown) == sorted(told)
    page.locator("#output").select_option(label=CLASSES[2])
    assert page.locator("#attribute-bars .ends").count() == page.locator("#attribute-bars .bar").count() > 0
    page.locator("#line").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("state.line") == model.front_.chosen + 1
    assert page.locator(".legend, .ends, #dependence-charts .band, #dependence-charts .whisker").count() == 0


def test_without_lists_made_anew_there_is_no_trace_of_them(show):
    page = show("three")
    assert page.locator("#rule-heads th").count() == 8
    assert not page.locator("#rules-returns").is_visible()
    assert page.locator(".legend, .ends, #dependence-charts .band, #dependence-charts .whisker").count() == 0
    assert page.locator("#attribute-bars small").count() == 0


def test_thresholds_have_room_on_a_phone(show):
    page = show("again", viewport={"width": 390, "height": 844})
    for cell in page.locator("#rule-rows td[data-key=returns]").all():
        box = cell.bounding_box()
        assert box["x"] >= 0
        assert 300 <= box["width"] <= 390 - box["x"]


def test_a_page_without_rows(show):
    page = show("bare")
    assert "held-out row" in page.locator("#check-about").inner_text()
    assert page.locator("#check-parts figure").count() == 3
    for section in ("dependence", "rows"):
        assert "made without a table of rows" in page.locator(f"#{section}-about").inner_text()
    assert not page.locator("#votes").is_visible()
    assert page.locator("#evidence .firm").first.inner_text() == "established"
    page.locator("#line").focus()
    page.keyboard.press("End")
    assert page.locator("#line-words").inner_text().startswith("The large model: ")


def test_twenty_six_classes_are_readable(show):
    """The cells of a large confusion matrix held a count and a share each, many screens wide."""
    page = show("letters")
    assert page.locator(".confusion tbody tr").count() == 26
    box = page.locator(".confusion").bounding_box()
    assert box["width"] <= page.locator("main").bounding_box()["width"]
    assert box["height"] < 1000
    cell = page.locator(".confusion tbody tr:nth-child(2) td").nth(1)
    assert re.match(r"class B, predicted as class B: \d+ rows", cell.get_attribute("title"))
    page = show("letters", viewport={"width": 390, "height": 844})
    box = page.locator("#check-parts .scroll").first
    box.evaluate("node => { node.scrollLeft = 300 }")
    heads = page.locator(".confusion tbody th")
    assert heads.first.bounding_box()["x"] >= 0  # the true classes stay in sight


def test_long_names_of_categories(show):
    """Names ran into each other or stood cut to two letters; all of a name is there on hovering."""
    page = show("towns")
    names = page.locator("#dependence-charts figure.whole svg text[text-anchor=end]")
    assert names.count() == 24
    chart = page.locator("#dependence-charts figure.whole svg").bounding_box()
    for name in names.all():
        box = name.bounding_box()
        assert box["x"] >= chart["x"] - 1
        assert box["width"] < 0.5 * chart["width"]
    page = show("towns", viewport={"width": 390, "height": 844})
    first = page.locator("#dependence-charts figure.whole svg text[text-anchor=end]").first
    assert first.evaluate("node => node.firstChild.textContent").endswith("…")
    assert "far too long for any chart" in first.locator("title").evaluate("node => node.textContent")
    texts = page.locator("#rule-rows td[data-key=text]")
    long = texts.nth([text.endswith("show all of it") for text in texts.all_inner_texts()].index(True))
    before = len(long.inner_text())
    long.locator("button").click()
    assert len(long.inner_text()) > before
    assert long.locator("button").count() == 0


def test_large_numbers_have_separators(show):
    page = show("towns")
    means = [text for text in column(page, 6) if text != UNKNOWN]
    assert all(re.fullmatch(r"\d{1,3}(,\d{3})+", text) for text in means)
    assert re.search(r"root mean squared error held out; .* is [\d]+,\d{3}", page.locator("#figures").inner_text())


def test_a_phone_shows_the_numbers_of_every_rule(show, reports):
    """Importance, support and confidence stood beyond the right edge of a phone."""
    page, model = show("two", viewport={"width": 390, "height": 844}), reports[2]["two"][0]
    rows = page.locator("#rule-rows tr")
    for row in rows.all()[:5]:
        for key in ("importance", "support", "confidence", "probability"):
            cell = row.locator(f"td[data-key={key}]")
            assert cell.is_visible()
            box = cell.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
    place = next(place for place, row in enumerate(model.rules_) if row.kind == "rule")
    own, rate = model.rules_[place], model.held_out_.shares
    base = rate[model.classes_.tolist().index(own.speaks_for)]
    told = rows.nth(place).locator("td[data-key=confidence]").inner_text()
    assert f"{100 * own.confidence:.1f} %" in told
    assert f"base rate {100 * base:.1f} %" in told


@pytest.mark.parametrize("kind", ["two", "three", "number", "again", "bare"])
def test_hostile_names_on_a_phone(show, kind):
    """Names are text wherever they stand, and none is so long that the page must be scrolled sideways."""
    page = show(kind, viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    assert page.locator("#front-chart svg").bounding_box()["width"] <= 360
    assert page.locator("img").count() == 0
    assert page.locator("body b, body i").count() == 0
    assert page.evaluate("document.scripts.length") == 2
    if kind != "bare":
        assert page.title() == f"{kind} {ATTACK}"
        assert page.locator("h1").inner_text() == f"{kind} {ATTACK}"


# Relative luminance and contrast after WCAG 2.2, of every pair of text and ground.
CONTRAST = """() => {
  const texts = "p, td, th, dt, dd, h1, h2, a, label, button:enabled, summary, figcaption, svg text";
  const light = (colour) => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
    const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$|transparent/.test(colour)) return colour;
    }
    return getComputedStyle(document.documentElement).backgroundColor;
  };
  const found = [];
  for (const node of document.querySelectorAll(texts)) {
    const style = getComputedStyle(node);
    const [one, other] = [light(node instanceof SVGElement ? style.fill : style.color), light(ground(node))];
    found.push((Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05));
  }
  return Math.min(...found);
}"""


@pytest.mark.parametrize("kind", ["two", "again"])
def test_dark_and_light(show, kind):
    def ground(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = show(kind, color_scheme="light"), show(kind, color_scheme="dark")
    colours = ground(light), ground(dark)
    assert colours[0] != colours[1]
    assert min(page.evaluate(CONTRAST) for page in (light, dark)) >= 4.5
    for page, other in ((light, colours[1]), (dark, colours[0])):
        page.locator("#theme").click()
        assert ground(page) == other
    page.emulate_media(media="print")
    assert ground(page) == "rgb(255, 255, 255)"
    assert not page.locator("#line").is_visible()


def test_the_keyboard_reaches_everything(show):
    page = show("two")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        if "row-after" in reached:
            break
    assert {"line", "rule-text", "rule-attribute", "row"} <= reached


def test_printing_shows_every_rule(show, reports):
    page, model = show("two"), reports[2]["two"][0]
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#rule-rows tr").count() == len(model.rules_)
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("#rule-rows tr").count() == min(len(model.rules_), 25)
    assert len(page.pdf(format="A4")) > 20_000
