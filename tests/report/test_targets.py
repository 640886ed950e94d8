"""Pages of rates, quantiles, several numbers and survival times: words, tenths, curves by rule, rows."""

import numpy as np
import pytest
from sklearn.metrics import d2_pinball_score, d2_tweedie_score, r2_score

from rulegrove import load_model
from rulegrove.exceptions import InvalidInputError
from rulegrove.inspection import partial_dependence
from rulegrove.inspection.tenths import count_below, count_means, count_survivors
from rulegrove.report import make_report
from rulegrove.report._given import read_given
from rulegrove.report._rows import MAX_DOTS
from rulegrove.report._summary import describe_words
from rulegrove.report._tenths import POINTS, RULES
from rulegrove.survival import count_at_risk, estimate_curve, read_survival
from target_models import KINDS, NAMES, RATES, fit, make_rows

SEVERAL = ["several", "separate"]
LEVELS = {"quantile": [0.9], "quantiles": [0.1, 0.5, 0.9], "absolute": [0.5]}


def make_page(kind, read_page, seed=1, **more):
    """A model, rows that it has not seen, and what the page of these holds."""
    model = fit(kind)[0]
    X, y, known = make_rows(kind, seed=seed)
    return model, X, y, known, read_page(make_report(model, X, y, **known, **more))


def chosen_line(model, report):
    return report["lines"][model.front_.chosen]


@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_model_gives_the_same_page(kind, tmp_path):
    model = fit(kind)[0]
    X, y, known = make_rows(kind, seed=1)
    model.save(tmp_path / "model.json")
    page = make_report(model, X, y, title="same", **known)
    assert make_report(load_model(tmp_path / "model.json"), X, y, title="same", **known) == page


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_of_the_page_is_the_page_of_the_shortened_model(kind, read_page):
    model, X, y, known, report = make_page(kind, read_page)
    for max_terms in (1, 3, None):
        short = model.shorten(max_terms)
        assert read_page(make_report(short, X, y, **known))["lines"] == report["lines"]
        for own, output in zip(
            np.atleast_2d(short.coef_), report["lines"][short.front_.chosen]["outputs"], strict=True
        ):
            assert output["coefs"] == own[own != 0].tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_figures_are_those_of_scikit_learn(kind, read_page):
    model, X, y, known, report = make_page(kind, read_page)
    table = dict([line[0], line[-1]] for line in chosen_line(model, report)["check"]["table"]["lines"])
    said = model.predict(X)
    if kind in RATES:
        exposure, power = known.get("exposure", np.ones(len(y))), {"poisson": 1.0, "gamma": 2.0, "tweedie": 1.5}[kind]
        weights = exposure ** (2.0 - power)
        d2 = d2_tweedie_score(y / exposure, said, sample_weight=weights, power=power)
        assert table["Explained deviance (D²)"] == f"{100 * d2:.1f} %"
    elif kind in LEVELS:
        for level, own in zip(LEVELS[kind], said.reshape(len(y), -1).T, strict=True):
            name = "median" if level == 0.5 else f"{100 * level:g} % quantile"
            assert table[f"Rows below the {name}"] == f"{100 * np.mean(y <= own):.1f} %"
        if kind == "absolute":
            assert table["Explained pinball loss (D²)"] == f"{100 * d2_pinball_score(y, said, alpha=0.5):.1f} %"
    elif kind in SEVERAL:
        assert table[f"R² of {NAMES[1]}"] == f"{r2_score(y[NAMES[1]], said[:, 1]):.3f}"
    elif kind == "survival":
        assert table["Concordance (guessing: 0.5)"] == f"{model.score(X, y):.3f}"
        assert table["Events"] == str(int(y["event"].sum()))
    else:
        assert table["R²"] == f"{r2_score(y, said):.3f}"


@pytest.mark.parametrize("kind", KINDS)
def test_tenths_of_new_rows(kind, read_page):
    model, X, y, known, report = make_page(kind, read_page)
    found, said = chosen_line(model, report)["tenths"], model.predict(X).reshape(len(X), -1).T
    assert found["rows"] == "rows given"
    assert found["levels"] == LEVELS.get(kind)
    if kind == "survival":
        times = read_survival(y)
        moment = float(np.median(times.time[times.event]))
        expected = [count_survivors(times, said[0], model.baseline_, moment)]
        assert found["said"] == [f"Predicted share at time {moment:.4g}"]
    elif kind in LEVELS:
        expected = [count_below(y, own) for own in said]
    elif kind in SEVERAL:
        expected = [count_means(true, own) for true, own in zip(y.to_numpy().T, said, strict=True)]
        assert found["said"] == [f"Predicted {name}" for name in NAMES]
    else:
        exposure, power = known.get("exposure", np.ones(len(y))), {"poisson": 1.0, "tweedie": 1.5}.get(kind, 2.0)
        expected = [count_means(y / exposure, said[0], exposure ** (2.0 - power))]
    for line, own in zip(found["lines"], expected, strict=True):
        for name in ("predicted", "observed", "low", "high", "sizes"):
            np.testing.assert_allclose(np.array(line[name], dtype=float), getattr(own, name), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_without_new_rows_tenths_are_of_held_out_ones(kind, read_page):
    model, X, y, known = fit(kind)
    for report in (read_page(make_report(model)), read_page(make_report(model, X, y, training=True, **known))):
        found = chosen_line(model, report)["tenths"]
        if kind in RATES:
            assert found["rows"] == "held-out rows"
            np.testing.assert_allclose(found["lines"][0]["observed"], model.held_out_.reliability.observed, rtol=1e-5)
            assert set(found["lines"][0]["low"]) == {None}
        else:
            assert (found is None) == (report["rows"] is None)
    assert report["given_name"] == "training rows"
    assert chosen_line(model, read_page(make_report(model, X)))["tenths"] is None or kind in RATES


@pytest.mark.parametrize("kind", ["poisson", "tweedie", "quantiles", "several"])
def test_training_rows_are_recognised_by_what_they_weigh(kind):
    model, X, y, known = fit(kind)
    assert read_given(model, X, y, **known).training
    other, target, beside = make_rows(kind, seed=1)
    assert not read_given(model, other, target, **beside).training


def test_survival_where_rules_hold(read_page):
    model, X, y, _, report = make_page("survival", read_page)
    found, times = report["survival"], read_survival(y)
    ranked = [term.text for term in model.rules_ if term.kind == "rule"][:RULES]
    drawn = {report["terms"]["texts"][int(place)]: pair for place, pair in found["curves"].items()}
    assert set(ranked) <= set(drawn)
    assert found["moments"][0] == 0
    assert found["moments"][-1] == pytest.approx(times.time.max(), rel=1e-5)
    for text in ranked:
        rank = next(term.rank for term in model.rules_ if term.text == text)
        held = model.transform_rules(X)[:, rank - 1] == 1.0
        for told, rows in zip(drawn[text], (held, ~held), strict=True):
            curve = estimate_curve(times.take(rows))
            places = [int(np.argmin(np.abs(curve.x - x))) for x in told["x"]]
            assert (places[0], places[-1]) == (0, len(curve.x) - 1)
            assert len(places) == min(len(curve.x), POINTS)
            for name in ("x", "share", "low", "high"):
                np.testing.assert_allclose(told[name], getattr(curve, name)[places], rtol=1e-5, atol=1e-9)
            assert (told["n_rows"], told["n_events"]) == (rows.sum(), times.event[rows].sum())
            moments = np.linspace(0.0, times.time.max(), 5)
            assert told["at_risk"] == count_at_risk(times.take(rows), moments).tolist()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "survival"])
def test_only_survival_times_have_such_curves(kind, read_page):
    assert make_page(kind, read_page)[-1]["survival"] is None


@pytest.mark.parametrize("kind", KINDS)
def test_rows_and_what_is_true_of_them(kind, read_page):
    model, X, y, known, report = make_page(kind, read_page)
    rows = report["rows"]["numbers"]
    if kind == "survival":
        pairs = zip(y["time"].iloc[rows], y["event"].iloc[rows], strict=True)
        assert report["rows"]["truths"] == [
            f"{'an event at' if own else 'no event until'} time {t:.6g}" for t, own in pairs
        ]
        assert report["observed"] is None
        return
    true = np.asarray(y, dtype=float) / (known["exposure"] if known else 1.0)
    np.testing.assert_allclose(report["rows"]["truths"], true[rows], rtol=1e-5)
    observed = np.array(report["observed"])
    assert observed.shape == ((2 if kind in SEVERAL else 1), min(len(X), MAX_DOTS))
    assert len(chosen_line(model, report)["predicted"]) == len(model.model_.score_words)


@pytest.mark.parametrize("kind", KINDS)
def test_dependence_is_on_the_scale_of_predictions(kind, read_page):
    model, X, _, _, report = make_page(kind, read_page)
    curve = chosen_line(model, report)["dependence"][0]
    name = report["features"][curve["feature"]]
    expected = partial_dependence(model, X, name).predictions
    np.testing.assert_allclose(curve["values"], np.atleast_2d(expected), rtol=1e-5, atol=1e-9)


def test_words(read_page):
    told = {kind: describe_words(fit(kind)[0]) for kind in KINDS}
    assert [
        told[kind]["told"] for kind in ("poisson", "gamma", "quantile", "quantiles", "huber", "several", "survival")
    ] == [
        "mean rate",
        "mean amount",
        "90 % quantile",
        "median",
        "mean target",
        "",
        "",
    ]
    assert {kind for kind in KINDS if told[kind]["multiplies"]} == {*RATES, "survival"}
    assert told["quantiles"]["main"] == 1
    assert told["separate"]["lists"] == "number"
    report = make_page("survival", read_page)[-1]
    assert not any("training rows" in what for line in report["lines"] for _, what in line["figures"])
    assert any("events, the latest time is" in sentence for sentence in report["summary"])
    report = make_page("poisson", read_page)[-1]
    assert any("the rate goes from 0 to" in sentence for sentence in report["summary"])
    assert any(what == "weight of the training rows" for _, what in report["lines"][0]["figures"])


@pytest.mark.parametrize("kind", SEVERAL)
def test_importance_of_several_numbers_is_for_all_of_them(kind, read_page):
    """Coefficients in units of their own cannot tell which number a term matters most to."""
    model, _, _, _, report = make_page(kind, read_page)
    known = {term.text: term.importance for term in model.rules_}
    for output in chosen_line(model, report)["outputs"]:
        texts = [report["terms"]["texts"][place] for place in output["terms"]]
        assert output["importances"] == [known[text] for text in texts]


def test_bad_input():
    model, X, y, known = fit("poisson")
    with pytest.raises(InvalidInputError, match="`exposure` and `offset` belong to `y`; give that as well"):
        make_report(model, X, **known)
    model, X, y, _ = fit("survival")
    with pytest.raises(InvalidInputError, match="`exposure`"):
        make_report(model, X, y, **known)
    with pytest.raises(InvalidInputError, match="X has 400 rows but y has 10"):
        make_report(model, X, y[:10])
