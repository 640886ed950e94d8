"""Every picture of every target: drawn in its own words and on its own scale, or refused in a sentence."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from rulegrove import Glmnet, RuleEnsembleRegressor
from rulegrove.exceptions import InvalidInputError
from rulegrove.plots import (
    ComparisonDisplay,
    DependenceDisplay,
    ExplanationDisplay,
    FrontDisplay,
    ImportanceDisplay,
    InteractionDisplay,
    PathDisplay,
    RulesDisplay,
    SelectionDisplay,
)
from target_models import KINDS, NAMES, RATES, fit

OUTPUTS = {"quantiles": 0.9, "several": NAMES[1], "separate": NAMES[1]}
WORDS = {"quantiles": "the 90 % quantile", "several": NAMES[1], "separate": NAMES[1]}
FACTORS = [*RATES, "survival"]
every_kind = pytest.mark.parametrize("kind", KINDS)


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def shown(text):
    return text.replace("\n", " ").replace(r"\$", "$")


@every_kind
def test_rules(kind):
    model = fit(kind)[0]
    display = RulesDisplay.from_estimator(model, target=OUTPUTS.get(kind))
    numbers = [text.get_text() for text in display.ax_.texts]
    assert "None" not in " ".join(numbers)
    raised = {
        "gamma": "the amount",
        "quantile": "the 90 % quantile",
        "absolute": "the median",
        "huber": "the prediction",
    }
    raised |= {"poisson": "the rate", "tweedie": "the rate", "survival": "the hazard ratio", **WORDS}
    assert {shown(word).split(" ", 1)[1] for word in words(display.ax_)} == {raised[kind]}
    if kind in FACTORS:
        for term, number in zip(display.rules, numbers, strict=True):
            assert number == f"x {term.factor:.3g}{'  end to end' * (term.kind == 'linear')}"
            assert (term.factor > 1.0) == (display.coefs[term.rank - 1] > 0.0)
    if kind in ("several", "separate"):
        assert display.ax_.get_xlabel() == "Importance for all numbers together"
        known = {term.text: term.importance for term in model.rules_}
        assert display.importances.tolist() == [known[term.text] for term in display.rules]
    else:
        assert display.ax_.get_xlabel() == f"Importance{' for the 90 % quantile' * (kind == 'quantiles')}"


@every_kind
def test_comparison_and_path_name_what_coefficients_are_for(kind):
    model = fit(kind)[0]
    target = OUTPUTS.get(kind)
    display = ComparisonDisplay.from_estimators([model, model], target=target, top=100)
    names = {"poisson": "rate", "tweedie": "rate", "gamma": "amount", "survival": "hazard ratio"}
    whose = WORDS.get(kind, {"quantile": "the 90 % quantile", "absolute": "the median"}.get(kind))
    if kind in FACTORS:
        assert shown(display.ax_.get_xlabel()) == f"Coefficient (for the logarithm of the {names[kind]})"
    else:
        assert shown(display.ax_.get_xlabel()) == ("Coefficient" if whose is None else f"Coefficient (for {whose})")
    path = PathDisplay.from_estimator(model, target=target)
    assert shown(path.ax_.get_ylabel()) == (f"Coefficient (for {WORDS[kind]})" if kind in WORDS else "Coefficient")
    units = {
        **dict.fromkeys(("poisson", "tweedie"), " of rates over their mean"),
        "gamma": " of amounts over their mean",
        "survival": " of hazards over their mean",
        **dict.fromkeys(("quantile", "quantiles", "absolute", "huber"), " of the pulls of the loss"),
        **dict.fromkeys(("several", "separate"), " in standard deviations"),
    }
    label = SelectionDisplay.from_estimator(model, target=target).ax_.get_ylabel()
    assert shown(label) == f"Held-out squared error{units[kind]}"


def test_the_loss_of_a_solver_that_is_named_is_told():
    """Losses of rates had no name, so that the picture failed."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.random.default_rng(1).poisson(np.exp(X[:, 0]))
    model = RuleEnsembleRegressor(loss="poisson", solver=Glmnet(loss="poisson"), n_candidates=20, cv=2, random_state=0)
    display = SelectionDisplay.from_estimator(model.fit(X, y))
    assert shown(display.ax_.get_ylabel()) == "Held-out Poisson loss of rates over their mean"


@every_kind
@pytest.mark.parametrize("measure", ["error", "loss"])
def test_front_counts_terms_of_a_number_where_each_has_its_list(kind, measure):
    display = FrontDisplay.from_estimator(fit(kind)[0], measure=measure)
    assert display.ax_.get_xlabel() == ("Terms of a number" if kind == "separate" else "Terms")
    assert any("a number" in word for word in words(display.ax_)) == (kind == "separate")
    assert not any("class" in word for word in words(display.ax_))


@every_kind
def test_importance_and_interaction(kind):
    model, X, _, _ = fit(kind, max_terms=None)
    target = OUTPUTS.get(kind)
    display = ImportanceDisplay.from_estimator(model, X, target=target)
    whose = f" for {WORDS[kind]}" if kind in WORDS else ""
    assert shown(display.ax_.get_xlabel()).startswith(f"Mean importance{whose} on 400 rows")
    assert InteractionDisplay.from_estimator(model, X, target=target).pairs.shape == (3, 3)
    assert ImportanceDisplay.from_estimator(model).importances.sum() == pytest.approx(1.0)
    if kind in ("several", "separate"):
        for draw in (ImportanceDisplay, InteractionDisplay):
            with pytest.raises(InvalidInputError, match="each in a unit of its own"):
                draw.from_estimator(model, X)
    with pytest.raises(InvalidInputError, match="`target` is for the importance on rows; give `X`, too"):
        ImportanceDisplay.from_estimator(model, target="x")


@every_kind
@pytest.mark.parametrize("feature", ["age", "colour"])
def test_dependence_is_told_on_the_scale_of_predictions(kind, feature):
    model, X, _, _ = fit(kind)
    display = DependenceDisplay.from_estimator(model, X, feature)
    axis = display.ax_.yaxis if feature == "age" else display.ax_.xaxis
    label = {
        **dict.fromkeys(("poisson", "tweedie"), "Predicted rate (geometric mean)"),
        "gamma": "Predicted amount (geometric mean)",
        "survival": "Predicted hazard ratio (geometric mean)",
        "quantile": "Mean predicted 90 % quantile",
        "absolute": "Mean predicted median",
        "quantiles": "Mean predicted quantile",
        "huber": "Mean prediction",
        **dict.fromkeys(("several", "separate"), "Mean predicted wait"),
    }[kind]
    assert axis.get_label_text().replace("\n", " ") == label
    assert len(display.values) == (3 if kind == "quantiles" else 1)
    display.figure_.draw_without_rendering()
    low, high = axis.get_view_interval()
    ticks = [(place, text) for place, text in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)]
    assert [place for place, _ in ticks if low <= place <= high]
    if kind in FACTORS:
        for place, text in ticks:
            assert float(text.get_text().replace(",", "")) == pytest.approx(np.exp(place), rel=1e-5)


@pytest.mark.parametrize("span", [0.001, 0.3, 3.0, 9.0, 40.0])
def test_logarithms_are_told_by_round_rates(span):
    from rulegrove.plots._labels import tell_exponentials

    _, ax = plt.subplots()
    ax.set_ylim(-1.0, -1.0 + span)
    tell_exponentials(ax.yaxis)
    ax.figure.draw_without_rendering()
    places, rates = (
        np.array(ax.get_yticks()),
        [float(text.get_text().replace(",", "")) for text in ax.get_yticklabels()],
    )
    assert 2 <= len(places) <= 20
    assert ((places >= -1.0) & (places <= -1.0 + span)).all()
    np.testing.assert_allclose(np.exp(places), rates, rtol=1e-5)
    assert all(len(f"{rate:g}".replace(".", "").strip("0")) <= 5 for rate in rates)


@every_kind
def test_heat_map(kind):
    model, X, _, _ = fit(kind)
    display = DependenceDisplay.from_estimator(model, X, ("age", "size"), target=OUTPUTS.get(kind))
    assert display.multiplies == (kind in FACTORS)
    if kind in OUTPUTS:
        assert display.axis == f"Mean predicted {'90 % quantile' if kind == 'quantiles' else NAMES[1]}"


@every_kind
def test_explanation_adds_up_or_multiplies_to_the_prediction(kind):
    model, X, _, _ = fit(kind)
    target = OUTPUTS.get(kind)
    place = 0 if target is None else model.model_.score_labels.index(target)
    said = model.predict(X.iloc[[3]]).reshape(-1)[place]
    display = ExplanationDisplay.from_estimator(model, X, 3, target=target)
    parts = display.parts
    name = {"gamma": "amount", "survival": "hazard ratio", "huber": "prediction", "absolute": "median", **WORDS}
    name |= {"poisson": "rate", "tweedie": "rate", "quantile": "90 % quantile", "quantiles": "90 % quantile"}
    assert display.texts[-1] == name[kind]
    numbers = [text.get_text() for text in display.ax_.texts]
    if kind in FACTORS:
        assert np.exp(parts[:-1]).prod() == pytest.approx(said)
        assert display.texts[0] == "to start from"
        assert numbers[-1] == f"{said:.3g}"
        assert all(number.startswith("x ") for number in numbers[1:-1])
        assert display.ax_.get_xlabel() == f"{name[kind].capitalize()}, on a scale of factors"
    else:
        assert parts[:-1].sum() == pytest.approx(said)
        assert shown(display.ax_.get_xlabel()) == name[kind][0].upper() + name[kind][1:]
    if kind in OUTPUTS:  # the middle quantile, the first number
        main = 1 if kind == "quantiles" else 0
        one = ExplanationDisplay.from_estimator(model, X, 3)
        assert one.parts[-1] == pytest.approx(model.predict(X.iloc[[3]]).reshape(-1)[main])
