"""How a card is told: words, tables, SQL."""

import duckdb
import numpy as np
import pandas as pd
import pytest

import rulegrove
from rulegrove import RuleEnsembleClassifier
from rulegrove.estimators.calibration import Sigmoid
from rulegrove.scorecards.card import WIDTH, Card, CardFigures, show_chance


def make_card(points, slope=0.8, shift=-1.0, label="yes", texts=None):
    points = np.array(points)
    totals = {0}
    for own in points.tolist():
        totals |= {total + own for total in totals}
    reached = np.array(sorted(totals))
    figures = CardFigures(0.9, 0.3)
    texts = tuple(f"x{place} > 1" for place in range(len(points))) if texts is None else texts
    nothing = np.zeros(len(reached))
    return Card(label, (), texts, points, Sigmoid(slope, shift), reached, nothing, nothing, figures, figures, 0.69)


def test_steps_cover_every_total_once():
    card = make_card([5, 4, 3, 1, -2, -5])
    steps = card.steps
    assert steps[0][0].endswith(" or less")
    assert steps[-1][0].endswith(" or more")
    assert len({chance for _, chance in steps}) == len(steps)
    for total, chance in zip(card.totals.tolist(), card.chances.tolist(), strict=True):
        assert sum(holds(words, total) and words_of == show_chance(chance) for words, words_of in steps) == 1


def holds(words, total):
    """Whether a range in words has a total."""
    if words.endswith(" or less"):
        return total <= int(words.removesuffix(" or less"))
    if words.endswith(" or more"):
        return total >= int(words.removesuffix(" or more"))
    first, _, last = words.partition(" to ")
    return int(first) <= total <= int(last or first)


def test_a_card_of_one_chance_is_told_so():
    assert make_card([2], slope=0.0).steps == [("any", "27%")]


def test_lines_fit():
    card = make_card([5, 4, 3, 2, 1, -1, -2, -3, -4, -5], texts=("word " * 60,) * 10, slope=0.1)
    assert max(map(len, card.lines[:-1])) <= WIDTH


def test_control_characters_are_escaped():
    assert "\x1b" not in "\n".join(make_card([1], label="a\x1b[31m").lines)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({'a "b"': rng.normal(size=300).round(2), "colour": rng.choice(["red", "it's"], 300)})
    y = np.where((frame['a "b"'] > 0.2) & (frame["colour"] == "it's") | (frame['a "b"'] > 1), "<yes>", "# no")
    y[:30] = "# no"
    return frame, y


def test_the_query_gives_totals_and_chances(table):
    frame, y = table
    model = RuleEnsembleClassifier(n_candidates=60, cv=2, random_state=0, n_jobs=1).fit(frame, y)
    found = rulegrove.scorecard(model, frame, y, max_rules=3)
    query = found.to_sql("my rows", dialect="duckdb")
    database = duckdb.connect()
    database.register("my rows", frame)
    rows = database.execute(query).fetchall()
    np.testing.assert_array_equal([row[0] for row in rows], found.totals(frame))
    np.testing.assert_allclose([row[1:] for row in rows], found.predict_proba(frame), rtol=1e-12)
    assert '"a ""b"""' in query


def test_what_is_shown_in_a_notebook_is_escaped(table):
    frame, y = table
    model = RuleEnsembleClassifier(n_candidates=60, cv=2, random_state=0, n_jobs=1).fit(frame, y)
    found = rulegrove.scorecard(model, frame, y, max_rules=3)
    shown, page = found._repr_html_(), found.to_html("R & <D>")
    for text in (shown, page):
        assert "<yes>" not in text
    assert "&lt;yes&gt;" in shown
    assert "<h1>R &amp; &lt;D&gt;</h1>" in page
    assert page.count('<td class="box">') == len(found.cards[0].rules)


def test_the_page_is_written_whole(table, tmp_path):
    frame, y = table
    model = RuleEnsembleClassifier(n_candidates=60, cv=2, random_state=0, n_jobs=1).fit(frame, y)
    found = rulegrove.scorecard(model, frame, y)
    found.save(tmp_path / "card.html")
    assert (tmp_path / "card.html").read_text(encoding="utf-8") == found.to_html()
    assert list(tmp_path.iterdir()) == [tmp_path / "card.html"]
    with pytest.raises(OSError, match="missing"):
        found.save(tmp_path / "missing" / "card.html")
