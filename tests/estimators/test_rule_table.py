"""The ranked table: its numbers, its frames, its two ways to be shown."""

import html.parser
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.optimize import brentq, root

from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove.estimators.calibration import Curves
from rulegrove.estimators.model_file import dump_model, parse_model
from rulegrove.estimators.rule_table import RankedTerm, RuleTable
from rulegrove.exceptions import InvalidInputError
from rulegrove.rules.parse import parse_rule
from rulegrove.rules.rule import Condition, Rule


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    """Room for words beside the figures, whatever terminal the tests run in."""
    monkeypatch.setenv("COLUMNS", "120")


HOSTILE = "<script>alert('x')</script> & \"co\""


OF_NO_CLASS = dict.fromkeys(["speaks_for", "confidence", "base_rate", "probability_from", "probability_to"])


def make_term(rank=1, **changes):
    fields = {
        "rank": rank,
        "kind": "rule",
        "text": "a <= 0.123456789",
        "coefficient": 0.5,
        "importance": 0.25 / rank,
        "support": 0.5,
        "confidence": 0.75,
        "base_rate": 0.625,
        "probability_from": 0.625,
        "probability_to": 0.7294,
        "mean_target": None,
        "speaks_for": "yes",
        "aliases": (),
        "term": Rule((Condition(0, upper=0.123456789),)),
    }
    return RankedTerm(**fields | changes)


def fit_hostile(kind):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({HOSTILE: rng.normal(size=80), "<b>": rng.choice(["<i>x</i>", "&amp;"], 80)})
    y = frame[HOSTILE] + (frame["<b>"] == "&amp;") + 0.1 * rng.normal(size=80)
    y = np.where(y > 0.5, "<u>", "no") if kind is RuleEnsembleClassifier else y
    return kind(n_candidates=30, selection="min", random_state=0, n_jobs=1).fit(frame, y)


def test_a_table_is_a_sequence():
    table = RuleTable([make_term(k) for k in (1, 2, 3)])
    assert len(table) == 3
    assert [term.rank for term in table] == [1, 2, 3]
    assert table[-1].rank == 3
    assert isinstance(table[:2], RuleTable)
    assert len(table[:2]) == 2


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
@pytest.mark.parametrize("label", ["yes", np.str_("yes"), np.int64(1), np.bool_(True), 2.5])
def test_frames_of_every_kind_hold_the_same(backend, kind, label):
    linear = make_term(2, kind="linear", confidence=None, base_rate=None, support=1.0, text="b (linear from 0 to 1)")
    table = RuleTable([make_term(1, speaks_for=label), *([linear] if label == "yes" else [])])
    frame = table.to_frame(backend)
    assert isinstance(frame, kind)
    names = ["rank", "kind", "rule", "coefficient", "importance", "support", "class", "confidence", "base_rate"]
    names += ["probability_from", "probability_to"]
    assert list(frame.column_names if backend == "pyarrow" else frame.columns) == names
    first = {name: table.to_dict()[name][0] for name in names}
    if backend == "pandas":
        assert frame.iloc[0].to_dict() == first
    else:
        assert (frame.to_pylist() if backend == "pyarrow" else frame.to_dicts())[0] == first


def test_the_frame_of_a_regression_tells_the_mean_target():
    table = RuleTable([make_term(**OF_NO_CLASS, mean_target=7.5)])
    assert list(table.to_frame().columns)[-1] == "mean_target"
    assert table.to_frame()["mean_target"].tolist() == [7.5]
    assert isinstance(table.to_frame(), pd.DataFrame)


def test_a_frame_keeps_thresholds_exact():
    assert RuleTable([make_term()]).to_frame()["rule"][0] == "a <= 0.123456789"


def test_an_unknown_backend_is_refused():
    with pytest.raises((InvalidInputError, ValueError), match="nothing"):
        RuleTable([make_term()]).to_frame("nothing")


def test_an_empty_table_says_so():
    table = RuleTable([])
    assert "intercept alone" in repr(table)
    assert len(table.to_frame()) == 0
    assert "<table>" in table._repr_html_()


def test_printed_lines_fit_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    long = " and ".join(f"column_{k} <= {k}" for k in range(20))
    table = RuleTable([make_term(k, text=long) for k in range(1, 31)])
    lines = repr(table).splitlines()
    assert max(map(len, lines)) <= 100
    assert "... and 10 more" in lines[-1]
    assert lines[0].split() == ["importance", "coefficient", "support", "confidence", "probability", "class", "rule"]


def test_printed_numbers_are_rounded_but_thresholds_and_importance_is_relative():
    words = repr(RuleTable([make_term(1), make_term(2)])).splitlines()
    assert words[1].split(maxsplit=8) == [
        *["1", "100.0", "+0.5", "50.0%", "75.0%", "62", "->", "73%", "yes  a <= 0.123456789"]
    ]
    assert words[2].split()[:2] == ["2", "50.0"]


class TagCounter(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.words = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("kind", [RuleEnsembleClassifier, RuleEnsembleRegressor])
def test_hostile_names_cannot_escape_from_the_notebook(kind):
    """Names of columns, categories and classes are data, never markup."""
    fitted = fit_hostile(kind)
    reader = TagCounter()
    reader.feed(fitted.rules_._repr_html_())
    assert reader.tags <= {"table", "thead", "tbody", "tr", "th", "td", "p"}
    assert any(HOSTILE in words for words in reader.words)  # and the reader sees the name as it is
    assert "<script>alert" not in fitted._repr_html_()
    assert HOSTILE in fitted.rules_[0].text + fitted.rules_[1].text
    assert repr(fitted.rules_)


def test_a_label_with_control_characters_does_not_reach_the_terminal():
    """ESC, tabs and marks that turn the direction of letters came through as they were."""
    label = "y\x1b[31m\te\u202es\n"
    table = RuleTable([make_term(speaks_for=label, against=True)])
    for words in (repr(table), table._repr_html_(), table[0].sentence):
        assert "y\\x1b[31m\\te\\u202es\\n" in words
        assert words.replace("\n", "").isprintable()
    assert len(repr(table).splitlines()) == 2


def test_names_with_control_characters_do_not_reach_the_terminal():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a\x1b[2J\nb": rng.normal(size=120), "c\u202e": rng.choice(["x\x1b]0;t\x07", "y\u2066", "z"], 120)}
    )
    y = frame.iloc[:, 0] + (frame.iloc[:, 1] == "z") + 0.1 * rng.normal(size=120)
    model = RuleEnsembleRegressor(n_candidates=30, selection="min", random_state=0, n_jobs=1).fit(frame, y)
    row = model.explain(frame)[0]
    shown = [repr(model.rules_), model.rules_._repr_html_(), repr(row), row._repr_html_(), *row.sentences]
    assert all(words.replace("\n", "").isprintable() for words in shown)
    assert "a\\x1b[2J\\nb" in shown[0]
    rules = [ranked for ranked in model.rules_ if ranked.kind == "rule"]
    assert [parse_rule(ranked.text, model.model_.features) for ranked in rules] == [ranked.term for ranked in rules]


def test_a_printed_threshold_decides_as_the_stored_one():
    """A table printed `<= 4050` for 4049.5 and `1.042e+04` for 10421.5, which decide otherwise on whole numbers."""
    x = np.r_[np.full(40, 4049.0), np.full(40, 4050.0), np.full(40, 10421.0), np.full(40, 10422.0)]
    y = np.repeat([0.0, 1.0, 5.0, 3.0], 40)
    model = RuleEnsembleRegressor(n_candidates=20, terms="rules", selection=1e-3, random_state=0, n_jobs=1)
    model.fit(x[:, None], y)
    shown = repr(model.rules_) + repr(model.explain(x[:1, None])[0])
    assert re.search(r"x0 <= 4049\b|x0 > 4049\b|\b4049 < x0", shown)
    assert re.search(r"x0 <= 10421\b|x0 > 10421\b|\b10421 < x0", shown)
    assert not re.search(r"e\+04|\b4050\b|\b10422\b|\b10420\b", shown)
    assert all(parse_rule(ranked.text, model.model_.features) == ranked.term for ranked in model.rules_)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_confidence_stands_beside_the_base_rate(n_classes, weighted):
    """59 % is much where 35 % are usual: nothing told so."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(300, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=300), [0.8, 1.5][: n_classes - 1])
    weights = rng.random(300) + 0.5 if weighted else None
    model = RuleEnsembleClassifier(n_candidates=60, solver="glmnet", random_state=1, n_jobs=1).fit(
        X, y, sample_weight=weights
    )
    np.testing.assert_allclose(model.class_shares_, np.bincount(y, weights) / np.sum(np.bincount(y, weights)))
    assert any(ranked.kind == "rule" for ranked in model.rules_)
    for ranked in model.rules_:
        share = model.class_shares_[ranked.speaks_for]
        expected = None if ranked.kind == "linear" else 1.0 - share if ranked.against else share
        assert ranked.base_rate == expected
    assert model.rules_.to_dict()["base_rate"] == [ranked.base_rate for ranked in model.rules_]


def read_links(model):
    """The tables of a model and of all its lengths that have terms, each with the model that it tells of."""
    front = model.front_
    lines = [(front.list_rules(place), line.fitted.model) for place, line in enumerate(front) if line.rules]
    return [(model.rules_, model.model_), *lines]


def find_score(curve, share):
    """The score at which a curve has a probability, searched for: in the middle of where it is level."""
    ends = [brentq(lambda s, p=p: curve(np.array([s]))[0] - p, -1e5, 1e5) for p in (share - 1e-10, share + 1e-10)]
    return np.mean(ends)


def find_start(model, shares):
    """Scores at which the link gives these probabilities."""
    if len(shares) == 2:
        return find_score(lambda scores: model.probabilities(scores)[:, 1], shares[1])
    if isinstance(model.link, Curves):
        return np.array([find_score(*pair) for pair in zip(model.link.curves, shares, strict=True)])

    def miss(scores):
        return (model.probabilities(np.array([[0.0, *scores]]))[0] - shares)[1:]

    return np.array([0.0, *root(miss, np.zeros(len(shares) - 1), tol=1e-13).x])


@pytest.mark.parametrize(
    ("n_classes", "changes"),
    [
        (2, {}),
        (2, {"solver": "glmnet", "class_weight": "balanced"}),
        (2, {"calibration": "isotonic"}),
        (3, {}),
        (3, {"solver": "glmnet", "multiclass": "ovr", "calibration": "sigmoid"}),
    ],
)
def test_terms_tell_what_they_do_to_the_base_rate(n_classes, changes):
    """Few people can read log odds; the twin moves the score and asks the link, for every length of the list."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(200, 3))
    y = np.digitize(X[:, 0] + (X[:, 1] > 0) + 0.7 * rng.normal(size=200), [0.8, 1.5][: n_classes - 1])
    model = RuleEnsembleClassifier(n_candidates=30, cv=2, honest_cv=False, random_state=0, n_jobs=1, **changes)
    model.fit(X, y)
    kinds = set()
    for table, own in read_links(model):
        start = find_start(own, model.class_shares_)
        for row, coefs in zip(table, np.atleast_2d(own.coefs).T, strict=True):
            line = row.term
            ends = (0.0, 1.0) if row.kind == "rule" else (line.lower - line.fill, line.upper - line.fill)
            scores = np.array([start + end * (coefs if n_classes > 2 else coefs[0]) for end in ends])
            told = own.probabilities(scores)[:, model.classes_.tolist().index(row.speaks_for)]
            expected = 1.0 - told if row.against else told
            np.testing.assert_allclose([row.probability_from, row.probability_to], expected, atol=1e-8)
            if row.kind == "rule":
                assert row.probability_from == pytest.approx(row.base_rate)
            kinds.add(row.kind)
    assert kinds == {"rule", "linear"}
    loaded = parse_model(dump_model(model).encode())
    for (table, _), (again, _) in zip(read_links(model), read_links(loaded), strict=True):
        assert table.to_dict() == again.to_dict()


@pytest.mark.parametrize(
    ("ends", "shown"),
    [((0.349, 0.612), "35 -> 61%"), ((0.004, 0.123), "0.4 -> 12%"), ((0.9512, 0.9987), "95.1 -> 99.9%")],
)
def test_probabilities_are_shown_short_but_for_rare_classes(ends, shown):
    table = RuleTable([make_term(probability_from=ends[0], probability_to=ends[1])])
    assert table.to_cells()["probability"] == [shown]


def test_a_table_without_base_rates_has_no_column_for_what_starts_there():
    terms = [make_term(base_rate=None, probability_from=None, probability_to=None)]
    header = repr(RuleTable(terms, ("speaks_for", "confidence", "probability_to"))).splitlines()[0].split()
    assert header == ["importance", "coefficient", "support", "confidence", "class", "rule"]


def test_a_sentence_tells_the_base_rate():
    more = "(+0.5, on 50.0% of the rows, 75.0% of them yes against 62.5% of all)."
    assert make_term().sentence.endswith(f": yes is more likely, from 62.5% to 72.9% {more}")
    assert make_term(probability_from=None, probability_to=None).sentence.endswith(f": yes is more likely {more}")
    assert make_term(base_rate=None).sentence.endswith("75.0% of them yes).")
    assert ": yes is less likely, from 37.5% to 27.1% (" in make_term(against=True).sentence


def test_the_page_shows_what_the_print_shows():
    table = RuleTable([make_term(k) for k in (1, 2)])
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", table._repr_html_())
    shown = ["1", "100.0", "+0.5", "50.0%", "75.0%", "62 -&gt; 73%", "yes", "a &lt;= 0.123456789"]
    assert cells[:8] == shown


def test_a_rule_of_hundreds_of_categories_is_cut_where_it_is_shown():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": [f"town {k}" for k in rng.integers(0, 200, 900)], "a": rng.normal(size=900)})
    effect = frame["town"].str.len() + (frame["town"].str[-1] > "4")
    model = RuleEnsembleRegressor(n_candidates=30, terms="rules", selection="min", random_state=0, n_jobs=1)
    model.fit(frame, effect)
    longest = max(model.rules_, key=lambda term: len(term.text))
    assert len(longest.text) > 600
    for shown in (repr(model.rules_), repr(model.explain(frame)[0])):
        words = " ".join(shown.split())  # lines end where the terminal does
        assert "more letters)" in words
        assert longest.text not in words
    assert longest.text in model.rules_.to_frame("pandas")["rule"].tolist()


@pytest.mark.parametrize("about", [("speaks_for", "confidence", "base_rate"), ("mean_target",)])
def test_some_terms_of_a_table_have_its_columns_even_none(about):
    table = RuleTable([make_term(k, **OF_NO_CLASS) for k in (1, 2, 3)], about)
    assert [term.rank for term in table.take([2, 0])] == [3, 1]
    for part in (table.take([2, 0]), table.take([]), table[:0]):
        assert part.to_dict().keys() == table.to_dict().keys()


RECURRING = {"returns": 0.917, "thresholds": "a <= 0.1 to 0.15"}


def test_how_often_terms_come_back_is_a_column_and_thresholds_a_line_below_the_rule(monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    linear = make_term(2, kind="linear", text="b (linear from 0 to 1)", returns=0.25)
    table = RuleTable([make_term(1, **RECURRING), linear, make_term(3)])
    cells = table.to_cells()
    assert list(cells)[-2:] == ["comes back", "rule"]
    assert cells["comes back"] == ["92%", "25%", ""]
    assert cells["rule"] == ["a <= 0.123456789\n(a <= 0.1 to 0.15)", "b (linear from 0 to 1)", "a <= 0.123456789"]
    header, first, below, *_, note = repr(table).splitlines()
    assert header.endswith("comes back  rule")
    assert first.endswith("92%  a <= 0.123456789")
    assert below == " " * first.index("a <=") + "(a <= 0.1 to 0.15)"
    assert table.notes == [note]
    assert note.startswith("comes back: how many lists from other rows contain the term; in brackets")
    page = table._repr_html_()
    assert ">a &lt;= 0.123456789\n(a &lt;= 0.1 to 0.15)</td>" in page
    assert "white-space:pre-line" in page
    assert f"<p>{note}</p>" in page
    columns = table.to_dict()
    assert columns["returns"] == [0.917, 0.25, None]
    assert columns["thresholds"] == ["a <= 0.1 to 0.15", "", ""]


def test_a_table_says_nothing_of_other_rows_where_none_were_asked():
    table = RuleTable([make_term()])
    assert "comes back" not in table.to_cells()
    assert table.notes == []
    assert "comes back" not in repr(table) + table._repr_html_()
    assert not {"returns", "thresholds"} & table.to_dict().keys()


def test_words_stand_below_the_figures_where_the_terminal_is_narrow(monkeypatch):
    """They took 30 columns beside the figures, beyond the end of the lines."""
    monkeypatch.setenv("COLUMNS", "90")
    long = " and ".join(f"column_{k} <= {k}" for k in range(8))
    table = RuleTable([make_term(k, text=long, **RECURRING) for k in (1, 2)])
    lines = repr(table).splitlines()
    assert max(map(len, lines)) <= 90
    assert lines[:2] == [lines[0].rstrip(), "   rule"]
    place = next(place for place, line in enumerate(lines) if line.startswith("2 "))
    assert lines[place].endswith("92%")
    assert lines[place + 1].startswith("   column_0 <= 0 and column_1 <= 1")
    assert "   (a <= 0.1 to 0.15)" in lines[place + 2 :]


def test_names_in_thresholds_do_not_reach_the_terminal():
    table = RuleTable([make_term(returns=0.5, thresholds="a\x1b[2J\nb <= 1 to 2")])
    assert table.to_cells()["rule"] == ["a <= 0.123456789\n(a\\x1b[2J\\nb <= 1 to 2)"]


def test_a_quantile_is_called_by_its_name():
    """It was the "mean target"."""
    terms = [make_term(k, **OF_NO_CLASS, mean_target=float(k)) for k in (1, 2)]
    table = RuleTable(terms, ("mean_target",), "90 % quantile")
    for one in (table, table[:1], table.take([1])):
        assert "90 % quantile" in repr(one).splitlines()[0]
        assert ">90 % quantile</th>" in one._repr_html_()
        assert "mean_target" not in one.to_dict()
    assert table.to_frame()["90 % quantile"].tolist() == [1.0, 2.0]
    assert RuleTable(terms, ("mean_target",), "mean rate").to_dict()["mean_target"] == [1.0, 2.0]
