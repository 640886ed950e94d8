"""Everything that there is, for every kind of target: it works, or a sentence says what to do.

Each kind has a file of its own for what it alone has; `test_model_file.py` has the files of all of them.
"""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rulegrove import Glmnet
from rulegrove.estimators._file_figures import encode_figures
from rulegrove.exceptions import InvalidInputError
from small_pools import shrink_pool
from target_kinds import KINDS, N_ROWS, NUMBERS, PARAMETERS, RATES, draw, make, scores_of

ROUNDING = 1e-9


@cache
def fitted(kind, max_terms="auto"):
    return make(kind, max_terms=max_terms).fit(*draw(kind))


@cache
def forest():
    X, _ = draw("huber")
    return RandomForestRegressor(n_estimators=5, max_depth=2, random_state=0).fit(X, X[:, 0] + (X[:, 1] > 0))


def assert_works(model, X, y):
    """Predictions are finite, and those of totals and risks positive; explanations add up to them."""
    predicted = model.predict(X)
    assert len(predicted) == len(X)
    assert np.isfinite(predicted).all()
    assert np.isfinite(model.score(X, y))
    scores, explanation = scores_of(model, X), model.explain(X)
    np.testing.assert_allclose(explanation.scores, scores, rtol=ROUNDING, atol=ROUNDING)
    values = model.transform_rules(X)
    np.testing.assert_allclose(model.intercept_ + values @ model.coef_.T, scores, rtol=ROUNDING, atol=ROUNDING)
    assert len(model.rules_) == values.shape[1]
    repr(model.rules_), repr(model.front_), repr(explanation[0])


OPTIONS = {
    "plain": {},
    "the large model": {"max_terms": None},
    "no terms": {"max_terms": 0},
    "few rules": {"max_rules": 3},
    "two runs": {"n_runs": 2},
    "accurate": {"preset": "accurate"},
    "readable": {"preset": "readable"},
    "fast": {"preset": "fast"},
    "stable": {"stable": True},
    "resampled": {"n_resamples": 20, "n_candidates": 30},
    "trees of a forest": {"trees": forest()},
    "rules beside others": {"rules": ["x0 > 0.5", "x1 <= 0.2 and x0 > -1"]},
    "rules alone": {"rules": ["x0 > 0.5", "x1 > 0"], "n_candidates": 0, "terms": "rules"},
    "no linear terms": {"terms": "rules"},
    "linear terms alone": {"terms": "linear"},
    "no interactions": {"interactions": "no_interactions"},
    "the sparser point": {"selection": "1se"},
    "folds that share rules": {"honest_cv": False},
    "one attribute a rule": {"max_attributes": 1},
    "given folds": {"cv": GroupKFold(2)},
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_works_for_all(kind, option):
    X, y = draw(kind)
    groups = np.arange(N_ROWS) // 4 if option == "given folds" else None
    model = make(kind, **OPTIONS[option]).fit(X, y, groups=groups)
    assert_works(model, X, y)
    if option == "no terms":
        assert len(model.rules_) == 0
        assert np.ptp(model.predict(X), axis=0) == pytest.approx(0.0)
    if option == "few rules":
        assert len(model.rules_) <= 3
    if option == "resampled":
        assert all(0.0 <= row.returns <= 1.0 for row in model.rules_)
        assert all(row.thresholds is not None for row in model.rules_ if row.kind == "rule")


REFUSED = {
    "monotonic": ({"quantiles", "shared"}, {"monotonic": {0: 1}}, "`monotonic` cannot be used"),
    "forced rules": (
        {"quantiles", "shared"},
        {"rules": ["x0 > 0.5"], "force_rules": True},
        "`force_rules` cannot be used",
    ),
    "evidence": (
        {"absolute", "quantile", "quantiles", "shared", "separate", "survival"},
        {"evidence": "split"},
        "leave `?evidence|Leave `evidence`|leave it out",
    ),
    "a penalty": ({"huber", "absolute", "quantile", "quantiles"}, {"selection": 0.05}, "set selection='1se' or 'min'"),
    "glmnet": ({"huber", "absolute", "quantile", "quantiles"}, {"solver": "glmnet"}, "leave out solver='glmnet'"),
    "fpc": (set(KINDS) - {"shared", "separate"}, {"solver": "fpc"}, "leave out solver|leave `solver` out"),
    "spgl1": (set(KINDS) - {"shared", "separate"}, {"solver": "spgl1"}, "leave out solver|leave `solver` out"),
    "pathbuild": (set(KINDS) - {"shared", "separate"}, {"solver": "pathbuild"}, "leave out solver|leave `solver` out"),
    "another loss": (set(KINDS), {"solver": Glmnet(loss="logistic")}, "give it loss=|leave out solver"),
}


@pytest.mark.parametrize("option", REFUSED)
@pytest.mark.parametrize("kind", KINDS)
def test_what_works_for_some_is_refused_for_others_with_the_way_out(kind, option):
    others, parameters, message = REFUSED[option]
    X, y = draw(kind)
    model = make(kind, **parameters)
    if kind not in others:
        assert_works(model.fit(X, y), X, y)
        return
    with pytest.raises(InvalidInputError, match=message) as raised:
        model.fit(X, y)
    assert str(raised.value).count("\n") == 0


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"gamma"}))
def test_trees_of_another_loss_are_refused(kind):
    with pytest.raises(ValueError, match="tree_loss"):
        make(kind, tree_loss="gamma").fit(*draw(kind))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"quantiles", "shared"}))
def test_predictions_go_one_way_where_they_must(kind, sign):
    X, y = draw(kind)
    model = make(kind, monotonic={0: sign}, max_terms=None).fit(X, y)
    grid = X[:15].repeat(25, axis=0).reshape(15, 25, 3)
    grid[:, :, 0] = np.linspace(-4.0, 4.0, 25)
    steps = np.diff(scores_of(model, grid.reshape(-1, 3)).reshape(15, 25, -1), axis=1)
    assert (sign * steps >= -ROUNDING).all()


@settings(deadline=None, max_examples=30)
@given(
    kind=st.sampled_from(KINDS),
    rows=st.lists(st.tuples(*[st.floats(-1e9, 1e9) | st.just(float("nan"))] * 3), min_size=1, max_size=5),
)
def test_explanations_add_up_however_far_out(kind, rows):
    model, far = fitted(kind, None), np.array(rows)
    explanation = model.explain(far)
    scores = scores_of(model, far)
    np.testing.assert_allclose(explanation.scores, scores, rtol=ROUNDING, atol=ROUNDING)
    predicted = model.predict(far)
    assert np.isfinite(predicted).all()
    if kind in RATES or kind == "survival":
        assert (predicted > 0.0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_another_length_is_that_of_a_fit_with_that_length(kind):
    X, y = draw(kind)
    large = make(kind, max_terms=None, n_resamples=4).fit(X, y)
    for max_terms in (1, 3, "auto"):
        short, own = large.shorten(max_terms), make(kind, max_terms=max_terms, n_resamples=4).fit(X, y)
        np.testing.assert_array_equal(short.predict(X), own.predict(X))
        assert repr(short.rules_) == repr(own.rules_)
        assert repr(short.front_) == repr(own.front_)
        assert encode_figures(short.held_out_) == encode_figures(own.held_out_)
        np.testing.assert_array_equal(short.shorten(None).predict(X), large.predict(X))
        if kind == "survival":
            np.testing.assert_array_equal(short.baseline_.hazards, own.baseline_.hazards)


@pytest.mark.parametrize("kind", KINDS)
def test_fronts_have_errors_that_come_down_from_those_of_no_terms(kind):
    front = fitted(kind).front_
    frame = front.to_frame("pandas")
    assert frame["terms"].iloc[0] == 0
    assert np.isfinite(frame.drop(columns="fidelity")).all(axis=None)
    assert frame["error"].iloc[front.chosen] < frame["error"].iloc[0]
    assert front.base_loss == pytest.approx(front[0].loss, rel=0.1)
    assert frame["fidelity"].iloc[-1] == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_clones_fit_to_the_same(kind):
    X, y = draw(kind)
    twin = clone(fitted(kind))
    assert not hasattr(twin, "coef_")
    assert all(twin.get_params()[name] == value for name, value in PARAMETERS[kind].items())
    np.testing.assert_array_equal(twin.fit(X, y).predict(X), fitted(kind).predict(X))
    other = clone(twin).set_params(random_state=7, n_candidates=40).fit(X, y)
    assert not np.array_equal(other.candidates_[0].rules, twin.candidates_[0].rules)


@pytest.mark.parametrize("kind", KINDS)
def test_threads_do_not_matter(kind):
    X, y = draw(kind)
    np.testing.assert_array_equal(make(kind, n_jobs=2).fit(X, y).predict(X), fitted(kind).predict(X))


@pytest.mark.parametrize("kind", KINDS)
def test_frames_with_missing_values_and_categories(kind):
    X, y = draw(kind)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(d=np.where(X[:, 0] > 0.0, "up", "down"))
    frame.loc[::7, "a"] = np.nan
    frame.loc[::9, "d"] = None
    model = make(kind).fit(frame, y)
    assert_works(model, frame, y)
    assert set(model.feature_names_in_) == {"a", "b", "c", "d"}
    names = ["time", "event"] if kind == "survival" else ["y0", "y1"]
    targets = [pd.Series(y), pl.Series(y)] if y.ndim == 1 else [pd.DataFrame(y, columns=names), pl.DataFrame(y, names)]
    for table, target in zip((frame, pl.from_pandas(frame)), targets, strict=True):
        other = make(kind).fit(table, target)
        np.testing.assert_array_equal(other.predict(table), model.predict(frame))
        assert other.score(table, target) == model.score(frame, y)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_weight_do_not_count(kind):
    X, y = draw(kind)
    weights = (np.arange(N_ROWS) % 4 > 0).astype(float)
    spoilt = y.copy()
    spoilt[weights == 0.0] = [1e3, 1.0] if kind == "survival" else 1e3
    one, other = (make(kind, max_terms=None).fit(X, target, sample_weight=weights) for target in (y, spoilt))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    assert one.held_out_.n_rows == other.held_out_.n_rows <= np.count_nonzero(weights)
    assert one.score(X, y, weights) == pytest.approx(other.score(X, spoilt, weights))


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"survival"}))
def test_the_unit_of_weights_does_not_matter(kind):
    X, y = draw(kind)
    weights = np.random.default_rng(0).exponential(size=N_ROWS)
    model = make(kind).fit(X, y, sample_weight=weights)
    for unit in (0.25, 2.0**300, 2.0**-300):
        np.testing.assert_array_equal(make(kind).fit(X, y, sample_weight=unit * weights).predict(X), model.predict(X))
    halves = make(kind).fit(X, y, sample_weight=np.full(N_ROWS, 0.5))
    np.testing.assert_array_equal(halves.predict(X), fitted(kind).predict(X))


@pytest.mark.parametrize("kind", KINDS)
def test_tables_beyond_a_pool(monkeypatch, kind):
    """Of which rows are drawn, by weights that let some rows count for nothing, with what is known of each."""
    shrink_pool(monkeypatch, 150)
    X, y = draw(kind, 500)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 500) * (np.arange(500) % 5 > 0)
    known = {"exposure": np.random.default_rng(1).uniform(0.5, 2.0, 500)} if kind in RATES else {}
    model = make(kind).fit(X, y, sample_weight=weights, **known)
    assert_works(model, X, y)
    assert len(model.rules_)
    spoilt = y.copy()
    spoilt[weights == 0.0] = [1e3, 1.0] if kind == "survival" else 1e3
    for n_jobs, target in ((2, y), (1, spoilt)):
        other = make(kind, n_jobs=n_jobs).fit(X, target, sample_weight=weights, **known)
        np.testing.assert_array_equal(other.predict(X), model.predict(X))


@pytest.mark.parametrize("n_rows", [2, 3, 5, 9])
@pytest.mark.parametrize("kind", KINDS)
def test_tiny_tables(kind, n_rows):
    X, y = draw(kind)
    place = int(np.argmax(y[:, 1] == 1)) if kind == "survival" else int(np.argmax(y > 0)) if y.ndim == 1 else 0
    rows = np.unique(np.append(np.arange(n_rows - 1) + 1 + place, place))  # one with an event or a count
    model = make(kind, n_candidates=20).fit(X[rows], y[rows])
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("value", [1.0, 0.1, 3e-9, 7e11])
@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"survival"}))
def test_targets_that_do_not_vary(kind, value):
    X, y = draw(kind)
    flat = np.full_like(y, value)
    model = make(kind).fit(X, flat)
    assert len(model.rules_) == 0
    np.testing.assert_allclose(model.predict(X), np.full_like(model.predict(X), value), rtol=1e-12)
    assert "nan" not in model.held_out_.words


@pytest.mark.parametrize("kind", KINDS)
def test_ties_everywhere(kind):
    X, y = draw(kind)
    X, y = np.round(X), np.ceil(2.0 * y)
    if kind == "survival":
        y[:, 1] = draw(kind)[1][:, 1]
    assert_works(make(kind).fit(X, y), X, y)


@pytest.mark.parametrize("kind", NUMBERS)
def test_an_offset_is_added_to_predictions(kind):
    X, y = draw(kind)
    known = np.linspace(-2.0, 2.0, N_ROWS)
    wide = known if y.ndim == 1 else known[:, None]
    model = make(kind).fit(X, y + wide, offset=known)
    np.testing.assert_allclose(model.predict(X), fitted(kind).predict(X), atol=1e-8)
    of_all = model.predict(X) + (known if model.predict(X).ndim == 1 else known[:, None])
    np.testing.assert_allclose(model.predict(X, offset=known), of_all)
    for use in (lambda: make(kind).fit(X, y, exposure=known + 3.0), lambda: model.predict(X, exposure=known + 3.0)):
        with pytest.raises(InvalidInputError, match="`exposure` needs a RuleEnsembleRegressor with loss='poisson'"):
            use()


def test_exposure_is_routed():
    """Through a pipeline and its cross-validation to the fit and to the score; nothing where it is not asked for."""
    X, y = draw("poisson")
    exposure = np.random.default_rng(0).uniform(0.2, 3.0, N_ROWS)
    known = {"exposure": exposure, "sample_weight": exposure}
    with sklearn.config_context(enable_metadata_routing=True):
        model = make("poisson").set_fit_request(exposure=True, sample_weight=True)
        model.set_score_request(exposure=True, sample_weight=True).set_predict_request(exposure=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model).fit(X, y, **known)
        scores = cross_val_score(make_pipeline(scaler, model), X, y, cv=3, params=known)
        predicted = pipeline.predict(X, exposure=exposure)
        search = GridSearchCV(model, {"max_terms": [2, None]}, cv=2).fit(X, y, **known)
    scaled = StandardScaler().fit_transform(X)
    direct = make("poisson").fit(scaled, y, sample_weight=exposure, exposure=exposure)
    np.testing.assert_array_equal(predicted, direct.predict(scaled, exposure=exposure))
    own = make("poisson", **search.best_params_).fit(X, y, sample_weight=exposure, exposure=exposure)
    np.testing.assert_array_equal(search.best_estimator_.predict(X), own.predict(X))
    for (train, test), score in zip(KFold(3).split(X), scores, strict=True):
        scaler = StandardScaler().fit(X[train])
        weights = exposure[train]
        own = make("poisson").fit(scaler.transform(X[train]), y[train], sample_weight=weights, exposure=weights)
        known = {"sample_weight": exposure[test], "exposure": exposure[test]}
        assert score == own.score(scaler.transform(X[test]), y[test], **known)


@pytest.mark.parametrize("kind", KINDS)
def test_groups_are_held_out_together(kind):
    X, y = draw(kind)
    groups = np.arange(N_ROWS) // 8
    with sklearn.config_context(enable_metadata_routing=True):
        model = make(kind, cv=3).set_fit_request(groups=True)
        found = GridSearchCV(model, {"n_candidates": [30]}, cv=GroupKFold(2)).fit(X, y, groups=groups)
    own = make(kind, cv=3, n_candidates=30).fit(X, y, groups=groups)
    np.testing.assert_array_equal(found.best_estimator_.predict(X), own.predict(X))
    with pytest.raises(InvalidInputError, match="cv=3 folds need at least 3 groups"):
        make(kind, cv=3).fit(X, y, groups=np.arange(N_ROWS) // 100)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"survival"}))
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda y: y[:-1], "159"),
        (lambda y: None, "the target y is None"),
        (lambda y: np.where(np.arange(N_ROWS) == 3, np.nan, y.T).T, r"NaN or infinity \(row 3: nan\); drop or repair"),
        (lambda y: np.where(np.arange(N_ROWS) == 3, np.inf, y.T).T, r"NaN or infinity \(row 3: inf\)"),
        (lambda y: np.full(y.shape, "many"), "y must be numeric; got text such as 'many'"),
        (lambda y: np.full(N_ROWS, 1j), "Complex data not supported"),
        (
            lambda y: np.zeros(N_ROWS, dtype=[("died", "?"), ("time", "f8")]),
            "y is a structured array of 'died', 'time'; use RuleEnsembleSurvival for survival times",
        ),
    ],
)
def test_targets_that_are_none_are_refused(kind, spoil, message):
    X, y = draw(kind)
    with pytest.raises(InvalidInputError, match=message):
        make(kind).fit(X, spoil(y))
