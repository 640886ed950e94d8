"""The engine over dask collections, on a cluster of two processes."""

import itertools
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1

from damaged_files import flip_bit, write_checked
from dirty_tables import make_dirty
from engine_conformance import EngineConformance, assert_same_front
from rulegrove import RuleEnsembleClassifier, RuleEnsembleRegressor, RuleEnsembleSurvival, engines, load_model
from rulegrove.datasets import load
from rulegrove.estimators import autos
from rulegrove.exceptions import InvalidInputError, RulegroveWarning
from rulegrove.inspection import rule_evidence
from small_pools import shrink_pool

dask = pytest.importorskip("dask", reason="needs dask: pip install 'rulegrove[dask]'")
distributed = pytest.importorskip("distributed", reason="needs distributed: pip install 'rulegrove[dask]'")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

import rulegrove.engines.dask as on_dask  # noqa: E402
from rulegrove.engines import _dask_engine as on_cluster  # noqa: E402
from rulegrove.engines import fitting  # noqa: E402
from rulegrove.engines._dask_engine import DaskEngine  # noqa: E402
from rulegrove.engines._dask_tables import _as_type, make_table  # noqa: E402
from rulegrove.engines.counting import CountTask  # noqa: E402

N_ROWS = 3000
SMALL = {"n_candidates": 30, "cv": 2, "random_state": 0, "n_jobs": 1}
FEW = {**SMALL, "terms": "rules", "max_terms": 6, "honest_cv": False}


@pytest.fixture(scope="module")
def cluster():
    # The loggers of this process get their levels back when the cluster closes.
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=logging.CRITICAL
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


def make_frame(n_rows=N_ROWS, seed=0):
    """Numbers, whole numbers, missing values, text and categories; the last rows are of one class."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n_rows), "b": rng.integers(0, 9, n_rows)})
    frame["c"] = rng.choice(["x", "y", "z"], n_rows)
    frame["d"] = pd.Categorical(rng.choice(["low", "high"], n_rows))
    frame["e"] = rng.normal(size=n_rows).astype(np.float32)
    score = frame["a"] + (frame["c"] == "x") * frame["b"] / 4 - (frame["d"] == "low") + frame["e"] / 2
    frame.loc[rng.random(n_rows) < 0.1, "a"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "c"] = None
    frame["y"] = np.where(score + rng.normal(size=n_rows) / 2 > 0.3, "yes", "no")
    frame.loc[frame.index[-50:], "y"] = "no"
    frame["w"] = rng.choice([0.0, 1.0, 2.0], n_rows)
    frame.index = rng.permutation(n_rows)
    return frame


def same(part):
    return part


def cut(frame, sizes):
    """Partitions of given sizes, with divisions that dask does not know and categories of their own."""
    stops = np.cumsum([0, *sizes])
    assert stops[-1] == len(frame)
    parts = [frame.iloc[a:b] for a, b in itertools.pairwise(stops)]
    if "d" in frame:
        parts = [part.assign(d=part["d"].cat.remove_unused_categories()) for part in parts]
    meta = dask.dataframe.from_pandas(frame.iloc[:1], npartitions=1)
    meta = (meta.assign(d=meta["d"].cat.as_unknown()) if "d" in frame else meta)._meta
    return dd.from_map(same, parts, meta=meta, enforce_metadata=False)


SIZES = {
    "many": [300] * 9 + [290, 10],
    "empty": [0, 1400, 0, 0, 1600, 0],
}


def rules_of(model):
    """Candidate rules of each pool."""
    return [terms.rules for terms in (model.candidates_)]


def assert_same(model, reference, rounded=False):
    """Rules and counts are equal, coefficients up to rounding."""
    assert [row.text for row in model.rules_] == [row.text for row in reference.rules_]
    exact = {} if rounded else {"rtol": 0, "atol": 0}
    np.testing.assert_allclose(
        [row.support for row in model.rules_], [row.support for row in reference.rules_], **exact
    )
    assert rules_of(model) == rules_of(reference)
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, reference.intercept_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.feature_importances_, reference.feature_importances_, rtol=0, atol=1e-9)
    assert_same_front(model.front_, reference.front_)


@dataclass(frozen=True)
class Seen:
    """Rows in the order of their merging: start and content of each batch."""

    batches: tuple = ()

    def merge(self, other):
        return Seen(self.batches + other.batches)


@dataclass(frozen=True)
class See:
    """A task that only looks."""

    columns: tuple
    seconds: float = 0.0

    def __call__(self, batches, n_threads=1):
        time.sleep(self.seconds)
        return Seen(tuple((batch.start, batch.rows.select(self.columns).to_pydict()) for batch in batches))


DOUBLED = pa.schema([("b", pa.int64())])


@dataclass(frozen=True)
class Double:
    """A task on batches."""

    columns: tuple = ("b",)
    schema: pa.Schema = DOUBLED

    def __call__(self, batch):
        return pa.record_batch({"b": [2 * value for value in batch.rows["b"].to_pylist()]}, self.schema)


class TestConformance(EngineConformance):
    @pytest.fixture
    def make_engine(self, client):
        def make(table, sizes):
            return DaskEngine(make_table(cut(table.to_pandas(), sizes), table.column_names[4]), client, batch_rows=700)

        return make


class TestEngine:
    @pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
    def test_rows_are_where_they_say(self, client, sizes):
        frame = make_frame()
        engine = DaskEngine(make_table(cut(frame, sizes), "y"), client, batch_rows=100)
        assert list(engine.count_rows()) == sizes
        assert engine.schema.names == list(frame.columns)
        seen = engine.map_reduce(See(("b", "c", "d")))
        for name in seen.batches[0][1]:
            values = []
            for start, content in seen.batches:
                assert start == len(values)
                assert len(content[name]) <= 100
                values += content[name]
            assert values == frame[name].astype(object).where(frame[name].notna(), None).tolist()
        doubled = pa.Table.from_batches(engine.map_batches(Double()))
        assert doubled["b"].to_pylist() == (2 * frame["b"]).tolist()

    def test_progress_tells_rows(self, client):
        told = []
        engine = DaskEngine(make_table(cut(make_frame(), SIZES["empty"]), "y"), client)
        engine.map_reduce(See(("b",)), lambda done, total: told.append((done, total)))
        assert told[-1] == (N_ROWS, N_ROWS)
        assert [done for done, _ in told] == sorted(done for done, _ in told)

    def test_only_asked_columns_are_read(self, client, tmp_path):
        """Parquet gives the columns of the task alone, and the counting reads one."""
        make_frame().to_parquet(tmp_path / "part.parquet")
        table = make_table(dd.read_parquet(tmp_path), "y")
        (part,) = table.partitions(["b"])
        assert list(part[0].compute().columns) == ["b"]
        assert DaskEngine(table, client).n_rows == N_ROWS

    def test_blocks_of_known_size_are_not_counted(self):
        X = da.zeros((10, 4), chunks=(3, 2))
        engine = DaskEngine(make_table(X, da.arange(10, chunks=5)), client=None)
        assert list(engine.count_rows()) == [3, 3, 3, 1]
        assert engine.schema.names == ["x0", "x1", "x2", "x3", "target"]

    def test_types_of_objects_are_those_of_all_partitions(self, client):
        with dask.config.set({"dataframe.convert-string": False}):
            frame = pd.DataFrame(
                {"n": [None, None, 1, 2.5], "t": [None, None, "u", "v"], "o": [None] * 4}, dtype=object
            )
            frame["k"] = pd.Categorical([1, 1, 2, 3])
            table = make_table(dd.from_pandas(frame.assign(y=1.0), npartitions=2, sort=False), "y")
            found = DaskEngine(table, client).schema
        number, text = pa.float64(), pa.large_string()
        assert found.types == [number, text, number, pa.dictionary(pa.int32(), pa.int64()), number]


def test_times_of_other_units_are_the_same_times():
    days = pa.array([0, 19_000, None], pa.int32()).cast(pa.date32())
    for kind in (pa.timestamp("ns"), pa.timestamp("s")):
        assert _as_type(days, kind, "t").cast(pa.date32()) == days
        assert _as_type(days.cast(pa.timestamp("us")), kind, "t").type == kind
    with pytest.raises(InvalidInputError, match="Column 't' is timestamp"):
        _as_type(days.cast(pa.timestamp("us", "UTC")), pa.timestamp("us"), "t")


@pytest.fixture(scope="module")
def reference():
    """The fit in memory that the others must equal."""
    with pytest.MonkeyPatch.context() as patch:
        shrink_pool(patch, 1000)
        frame = make_frame()
        return RuleEnsembleClassifier(**SMALL).fit(frame.drop(columns=["y", "w"]), frame["y"])


@pytest.mark.usefixtures("small_pool")
class TestFit:
    @pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
    def test_equals_fit_in_memory(self, client, reference, sizes):
        table = cut(make_frame(), sizes).drop(columns="w")
        model = on_dask.fit(RuleEnsembleClassifier(**SMALL), table, "y", client=client)
        assert_same(model, reference)
        assert model.feature_names_in_.tolist() == ["a", "b", "c", "d", "e"]

    def test_target_beside_the_attributes_of_one_parquet_table(self, client, tmp_path):
        """Dask would join the files of a column that is read alone, so the two would not be in the same partitions."""
        frame = make_frame().drop(columns=["d", "w"])
        for place, part in enumerate(np.array_split(np.arange(N_ROWS), 4)):
            frame.iloc[part].to_parquet(tmp_path / f"{place}.parquet", index=False)
        table = dd.read_parquet(tmp_path)
        found = on_dask.fit(RuleEnsembleClassifier(**SMALL), table.drop(columns="y"), table["y"], client=client)
        X = frame.drop(columns="y")
        assert_same(found, RuleEnsembleClassifier(**SMALL).fit(X, frame["y"]))

    def test_killed_worker_changes_nothing(self, client, reference, monkeypatch):
        """A worker dies in the middle of the counting, with the states that it has made."""
        killed, map_reduce = [], DaskEngine.map_reduce

        def kill_midway(engine, task, on_progress=None):
            def kill(done, total):
                if isinstance(task, CountTask) and done > total / 3 and not killed:
                    killed.append(max(client.run(os.getpid).values()))
                    os.kill(killed[0], signal.SIGKILL)

            return map_reduce(engine, task, kill)

        def slow(part):
            time.sleep(0.05)
            return part

        monkeypatch.setattr(DaskEngine, "map_reduce", kill_midway)
        table = cut(make_frame().drop(columns="w"), SIZES["many"])
        parts = [dask.delayed(slow)(part) for part in table.to_delayed()]
        slowly = dd.from_delayed(parts, meta=table._meta, verify_meta=False)
        model = on_dask.fit(RuleEnsembleClassifier(**SMALL), slowly, "y", client=client)
        assert killed
        assert killed[0] not in client.run(os.getpid).values()
        assert_same(model, reference)

    def test_regressor_on_arrays(self, client):
        X, y = make_friedman1(N_ROWS, random_state=0)
        reference = RuleEnsembleRegressor(**SMALL).fit(X, y)
        blocks = da.from_array(X, chunks=(700, 3)), da.from_array(y, chunks=1000)
        model = on_dask.DaskRuleEnsembleRegressor(**SMALL, client=client).fit(*blocks)
        assert_same(model, reference)
        assert not hasattr(model, "feature_names_in_")
        assert (model.predict(blocks[0]).compute() == model.to_local().predict(X)).all()
        assert model.score(*blocks) == pytest.approx(reference.score(X, y), abs=1e-9)

    def test_three_classes_of_unknown_blocks(self, client):
        whole_X, whole_y = (values[:1500] for values in load("waveform", return_X_y=True))
        reference = RuleEnsembleClassifier(**SMALL).fit(whole_X, whole_y)
        X, y = da.from_array(whole_X, chunks=(400, -1)), da.from_array(whole_y, chunks=400)
        X, y = X[y != "none"], y[y != "none"]
        assert np.isnan(X.shape[0])
        model = on_dask.DaskRuleEnsembleClassifier(**SMALL, client=client).fit(X, y)
        assert_same(model, reference)
        lazy = model.predict_proba(X)
        assert lazy.shape[1] == 3
        assert (lazy.compute() == model.to_local().predict_proba(whole_X)).all()

    def test_statistics_are_kept_and_merged(self, client):
        frame = make_frame().drop(columns="w")
        whole = on_dask.fit(
            RuleEnsembleClassifier(**SMALL), cut(frame, SIZES["many"]), "y", keep_statistics=True, client=client
        )
        assert_same(engines.refit(whole, whole.statistics_), whole.shorten(None))
        again = on_dask.collect(whole.statistics_, cut(frame, SIZES["empty"]), "y", client=client)
        expected = engines.collect(whole.statistics_, pa.Table.from_pandas(frame, preserve_index=False))
        for found, known in zip(again.pools, expected.pools, strict=True):
            assert (found.statistics.rule_gram == known.statistics.rule_gram).all()
        assert again.merge(again).n_rows == 2 * N_ROWS

    def test_columns_are_dropped(self, client, reference):
        model = on_dask.fit(
            RuleEnsembleClassifier(**SMALL), cut(make_frame(), SIZES["empty"]), "y", drop=["w"], client=client
        )
        assert_same(model, reference)

    def test_weights(self, client):
        frame = make_frame()
        X = frame.drop(columns=["y", "w"])
        reference = RuleEnsembleClassifier(**SMALL).fit(X, frame["y"], frame["w"])
        table = cut(frame, SIZES["many"])
        named = on_dask.DaskRuleEnsembleClassifier(**SMALL, client=client).fit(table, "y", "w")
        beside = on_dask.DaskRuleEnsembleClassifier(**SMALL, client=client)
        beside.fit(table[list(X.columns)], table["y"], sample_weight=table["w"])
        assert_same(named, reference)
        assert_same(beside, reference)
        assert named.score(table, "y", "w") == pytest.approx(reference.score(X, frame["y"], frame["w"]), abs=1e-12)


def test_fit_beyond_the_pool(client):
    """More rows than a pool, for real."""
    n_rows = autos.POOL_ROWS + 4000
    frame = make_frame(n_rows).drop(columns="w")
    reference = RuleEnsembleClassifier(**SMALL).fit(frame.drop(columns="y"), frame["y"])
    table = dd.from_pandas(frame.reset_index(drop=True), npartitions=5)
    model = on_dask.DaskRuleEnsembleClassifier(**SMALL, client=client).fit(table, "y")
    assert_same(model, reference)
    assert (model.predict(table).compute().to_numpy() == reference.predict(frame.drop(columns="y"))).all()


def test_fit_within_the_pool(client):
    """Few rows are read into memory."""
    frame = make_frame(800).drop(columns="w")
    reference = RuleEnsembleClassifier(**SMALL).fit(frame.drop(columns="y"), frame["y"])
    model = on_dask.fit(RuleEnsembleClassifier(**SMALL), cut(frame, [0, 300, 1, 499]), "y", client=client)
    assert_same(model, reference)
    assert (model.coef_ == reference.coef_).all()


@pytest.fixture(scope="module")
def frame():
    return make_frame(900).drop(columns="w")


@pytest.fixture(scope="module")
def model(frame):
    return RuleEnsembleClassifier(**SMALL).fit(frame.drop(columns="y"), frame["y"])


class TestPredict:
    @pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
    def test_frame(self, model, frame, method):
        lazy = on_dask.predict(model, cut(frame, [0, 400, 1, 499]), method=method)
        whole = lazy.compute()
        expected = getattr(model, method)(frame.drop(columns="y"))
        assert np.array_equal(whole.to_numpy(), expected)
        assert whole.index.equals(frame.index)
        if method == "predict_proba":
            assert list(lazy.columns) == list(whole.columns) == ["no", "yes"]
            assert (lazy.dtypes == whole.dtypes).all()
        else:
            assert lazy.dtype == whole.dtype
            assert lazy.name == whole.name == method

    def test_is_lazy(self, model, frame):
        def refuse(part):
            raise AssertionError

        table = dd.from_pandas(frame, npartitions=2, sort=False)
        never = table.map_partitions(refuse, meta=table._meta)
        assert on_dask.predict(model, never).npartitions == 2

    def test_order_of_columns_does_not_matter(self, model, frame):
        table = dd.from_pandas(frame[frame.columns[::-1]], npartitions=2, sort=False)
        assert (on_dask.predict(model, table).compute() == model.predict(frame.drop(columns="y"))).all()

    @pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba"])
    def test_array_with_empty_blocks(self, method):
        X, y = load("iris", return_X_y=True)
        model = RuleEnsembleClassifier(**SMALL).fit(X, y)
        blocks = da.from_array(X, chunks=((0, 100, 50), (2, 2)))
        lazy = on_dask.predict(model, blocks, method=method)
        whole = lazy.compute()
        assert lazy.dtype == whole.dtype
        assert lazy.shape == whole.shape
        assert np.array_equal(whole, getattr(model, method)(X))

    def test_on_the_cluster(self, model, frame, client):
        lazy = on_dask.predict(model, dd.from_pandas(frame, npartitions=3, sort=False), method="decision_function")
        assert np.array_equal(client.compute(lazy).result(), model.decision_function(frame.drop(columns="y")))

    def test_bad_tables(self, model, frame):
        table = dd.from_pandas(frame, npartitions=1, sort=False)
        with pytest.raises(InvalidInputError, match="no column 'b', which the model was fitted on"):
            on_dask.predict(model, table.drop(columns="b"))
        with pytest.raises(InvalidInputError, match="3 columns but the model was fitted on 5"):
            on_dask.predict(model, da.zeros((4, 3)))
        X, y = load("iris", return_X_y=True)
        with pytest.raises(InvalidInputError, match="fitted on an array; give it one too"):
            on_dask.predict(RuleEnsembleClassifier(**SMALL).fit(X, y), table)
        with pytest.raises(InvalidInputError, match="dask DataFrame or a dask Array; got pandas"):
            on_dask.predict(model, frame)
        with pytest.raises(InvalidInputError, match="`method` must be one of 'predict', 'predict_proba', 'decision_f"):
            on_dask.predict(model, table, method="fit")

    @pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
    def test_only_what_the_terms_speak_of_is_needed(self, frame, method):
        """Every column of the fit had to be there, those that no term asks about too."""
        X = frame.drop(columns="y")
        rules = ["e > 0 and b <= 4", "c in {'x', 'y'}"]
        model = RuleEnsembleClassifier.from_rules(rules, forced=True, terms="rules").fit(X, frame["y"])
        table = dd.from_pandas(frame[["c", "e", "y", "b"]], npartitions=2, sort=False)
        assert np.array_equal(on_dask.predict(model, table, method=method).compute(), getattr(model, method)(X))
        with pytest.raises(InvalidInputError, match="no column 'b', which the model was fitted on and uses"):
            on_dask.predict(model, table.drop(columns="b"))
        with pytest.raises(InvalidInputError, match="3 columns but the model was fitted on 5"):
            on_dask.predict(model, da.zeros((4, 3)))

    @pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
    def test_a_model_without_terms_needs_no_column(self, frame, method):
        X = frame.drop(columns="y")
        model = RuleEnsembleClassifier(**SMALL, selection=1e6).fit(X, frame["y"])
        assert len(model.rules_) == 0
        lazy = on_dask.predict(model, dd.from_pandas(frame[["y"]], npartitions=2, sort=False), method=method)
        assert np.array_equal(lazy.compute(), getattr(model, method)(X))

    def test_scores_need_only_what_the_terms_speak_of(self, frame, client):
        X = frame.drop(columns="y")
        model = RuleEnsembleClassifier.from_rules(["e > 0", "b > 3"], forced=True, terms="rules").fit(X, frame["y"])
        table = dd.from_pandas(frame[["e", "y", "b"]], npartitions=2, sort=False)
        assert on_dask.score(model, table, "y", client=client) == pytest.approx(model.score(X, frame["y"]))


def make_claims(n_rows=N_ROWS):
    """Counts over the years of each row, which are a column too, as are their logarithms."""
    frame, rng = make_frame(n_rows).drop(columns="w"), np.random.default_rng(1)
    frame["years"] = rng.uniform(0.1, 2.0, n_rows)
    rate = np.exp(0.7 * (frame["e"] > 0) + 0.4 * (frame["b"] > 5))
    frame["y"] = rng.poisson(frame["years"] * rate).astype(float)
    return frame.assign(log_years=np.log(frame["years"]))


OF_RATES = {**SMALL, "loss": "poisson"}
BESIDE = ["y", "years", "log_years"]


@pytest.fixture(scope="module")
def claims():
    return make_claims()


@pytest.fixture(scope="module")
def rates(claims):
    """The fit in memory."""
    with pytest.MonkeyPatch.context() as patch:
        shrink_pool(patch, 1000)
        X = claims.drop(columns=BESIDE)
        return RuleEnsembleRegressor(**OF_RATES).fit(X, claims["y"], exposure=claims["years"])


class TestExposure:
    @pytest.mark.usefixtures("small_pool")
    @pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
    def test_a_fit_of_rates_is_the_one_in_memory(self, client, claims, rates, sizes):
        table = cut(claims, sizes)
        found = on_dask.fit(
            RuleEnsembleRegressor(**OF_RATES), table, "y", exposure="years", drop=["log_years"], client=client
        )
        assert_same(found, rates, rounded=True)
        model = on_dask.DaskRuleEnsembleRegressor(**OF_RATES, client=client)
        model.fit(table.drop(columns=BESIDE), table["y"], offset=table["log_years"])
        assert_same(model, rates, rounded=True)
        expected = rates.score(claims.drop(columns=BESIDE), claims["y"], exposure=claims["years"])
        assert model.score(table, "y", exposure="years") == pytest.approx(expected, rel=1e-9)
        assert model.score(claims.drop(columns=BESIDE), claims["y"], exposure=claims["years"]) == pytest.approx(
            expected
        )

    @pytest.mark.usefixtures("small_pool")
    def test_arrays(self, client):
        X, y = make_friedman1(N_ROWS, random_state=0)
        years = np.random.default_rng(0).uniform(0.5, 2.0, N_ROWS)
        expected = RuleEnsembleRegressor(**OF_RATES).fit(X, y * years, exposure=years)
        blocks = [da.from_array(values, chunks=700) for values in (X, y * years, years)]
        model = on_dask.DaskRuleEnsembleRegressor(**OF_RATES, client=client)
        assert_same(model.fit(*blocks[:2], exposure=blocks[2]), expected, rounded=True)
        lazy = model.predict(blocks[0], exposure=blocks[2])
        assert lazy.chunks == blocks[1].chunks
        np.testing.assert_array_equal(lazy.compute(), model.to_local().predict(X, exposure=years))
        with pytest.raises(InvalidInputError, match="The exposure must be a dask Array here"):
            model.predict(blocks[0], exposure=dd.from_dask_array(blocks[2]))

    @pytest.mark.parametrize(
        "given", [{}, {"exposure": "years"}, {"exposure": "years", "offset": "log_years"}], ids=str
    )
    @pytest.mark.parametrize("beside", [False, True])
    def test_predictions_are_totals_with_an_exposure(self, claims, rates, given, beside):
        table = cut(claims, SIZES["empty"])
        known = {name: table[column] if beside else column for name, column in given.items()}
        lazy = on_dask.predict(rates, table.drop(columns=BESIDE) if beside else table, **known)
        whole = lazy.compute()
        values = {name: claims[column] for name, column in given.items()}
        np.testing.assert_array_equal(whole.to_numpy(), rates.predict(claims.drop(columns=BESIDE), **values))
        assert whole.index.equals(claims.index)
        assert lazy.npartitions == table.npartitions
        assert lazy.dtype == whole.dtype

    def test_what_is_wrong_is_named(self, client, claims, rates):
        table = dd.from_pandas(claims.assign(years=claims["years"].where(claims["e"] < 2)), npartitions=3, sort=False)
        with pytest.raises(
            InvalidInputError, match=r"^Partition \d .*column 'years' must be a number above 0; row .* none"
        ):
            on_dask.fit(RuleEnsembleRegressor(**OF_RATES), table, "y", exposure="years", client=client)
        with pytest.raises(InvalidInputError, match=r"^Partition \d .*column 'years' must be a number above 0"):
            on_dask.score(rates, table, "y", exposure="years", client=client)
        with pytest.raises(
            InvalidInputError, match=r"^In a partition, whose rows .*column 'years' must be a number above"
        ):
            on_dask.predict(rates, table, exposure="years").compute(scheduler="synchronous")
        with pytest.raises(InvalidInputError, match="X has no column 'year' to be the exposure"):
            on_dask.predict(rates, table, exposure="year")
        with pytest.raises(InvalidInputError, match="X has 3 partitions but the exposure has 2"):
            on_dask.predict(rates, table, exposure=dd.from_pandas(claims["years"], npartitions=2, sort=False))
        classifier = on_dask.DaskRuleEnsembleClassifier(**SMALL, client=client)
        with pytest.raises(InvalidInputError, match="`exposure` needs a RuleEnsembleRegressor with loss="):
            classifier.fit(table, "d", exposure="years")


def make_patients():
    """Attributes without categories, times with their events, entries, and weights."""
    frame, rng = make_frame().drop(columns=["d", "y"]), np.random.default_rng(1)
    years = rng.exponential(np.exp(-0.9 * (frame["e"] > 0) - 0.6 * (frame["b"] > 5)))
    seen = rng.exponential(1.2, N_ROWS)
    frame["years"], frame["died"] = np.minimum(years, seen), (years < seen).astype(bool)
    frame["since"] = 0.3 * frame["years"] * (rng.random(N_ROWS) < 0.5)
    return frame


TIMES = ["years", "died", "since", "w"]


@pytest.fixture(scope="module")
def patients():
    return make_patients()


@pytest.fixture(scope="module")
def hazards(patients):
    """The fit in memory."""
    with pytest.MonkeyPatch.context() as patch:
        shrink_pool(patch, 1000)
        y = patients["since"], patients["years"], patients["died"]
        return RuleEnsembleSurvival(**SMALL).fit(patients.drop(columns=TIMES), y)


class TestSurvival:
    @pytest.mark.usefixtures("small_pool")
    @pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
    def test_a_fit_is_the_one_in_memory(self, client, patients, hazards, sizes):
        table = cut(patients, sizes)
        found = on_dask.fit(
            RuleEnsembleSurvival(**SMALL),
            table,
            "years",
            event="died",
            entry="since",
            drop=["w"],
            client=client,
        )
        assert_same(found, hazards, rounded=True)
        model = on_dask.DaskRuleEnsembleSurvival(**SMALL, client=client)
        model.fit(table.drop(columns=TIMES), (table["since"], table["years"], table["died"]))
        assert_same(model, hazards, rounded=True)
        np.testing.assert_allclose(model.baseline_.hazards, hazards.baseline_.hazards, rtol=1e-9)
        assert model.settings_["n_times"] == hazards.settings_["n_times"]
        X, y = patients.drop(columns=TIMES), (patients["since"], patients["years"], patients["died"])
        expected = hazards.score(X, y, patients["w"])
        assert model.score(table, ("since", "years", "died"), "w") == pytest.approx(expected, rel=1e-12)
        assert model.score(X, y, patients["w"]) == pytest.approx(expected, rel=1e-12)

    @pytest.mark.usefixtures("small_pool")
    def test_arrays(self, client):
        X, score = make_friedman1(N_ROWS, random_state=0)
        rng = np.random.default_rng(0)
        years, seen = rng.exponential(np.exp(-score / 5.0)), rng.exponential(0.2, N_ROWS)
        time, died = np.minimum(years, seen), years < seen
        blocks = [da.from_array(values, chunks=700) for values in (X, time, died)]
        model = on_dask.DaskRuleEnsembleSurvival(**SMALL, client=client).fit(blocks[0], tuple(blocks[1:]))
        expected = RuleEnsembleSurvival(**SMALL).fit(X, (time, died))
        assert_same(model, expected, rounded=True)
        assert model.score(blocks[0], tuple(blocks[1:])) == pytest.approx(expected.score(X, (time, died)), rel=1e-12)

    def test_predictions_are_risks(self, patients, hazards, tmp_path):
        table, X = cut(patients, SIZES["empty"]), patients.drop(columns=TIMES)
        lazy = on_dask.predict(hazards, table)
        np.testing.assert_array_equal(lazy.compute().to_numpy(), hazards.predict(X))
        model = on_dask.DaskRuleEnsembleSurvival(**SMALL)
        vars(model).update({**vars(hazards), "client": None})
        np.testing.assert_array_equal(model.predict(table).compute().to_numpy(), hazards.predict(X))
        for method in ("predict_survival_function", "predict_cumulative_hazard"):
            with pytest.raises(InvalidInputError, match=f"`{method}` is for tables in memory; of dask collections"):
                getattr(model, method)(table)
            found = getattr(model, method)(X[:20], return_array=True)
            np.testing.assert_array_equal(found, getattr(hazards, method)(X[:20], return_array=True))
        model.save(tmp_path / "model.json")
        np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict(X), hazards.predict(X))
        copied = clone(on_dask.DaskRuleEnsembleSurvival(ties="breslow", client="any"))
        assert (copied.ties, copied.client) == ("breslow", "any")

    def test_what_is_wrong_is_named(self, client, patients, hazards):
        table = dd.from_pandas(patients, npartitions=3, sort=False)
        model = on_dask.DaskRuleEnsembleSurvival(**SMALL, client=client)
        with pytest.raises(InvalidInputError, match=r"y must be a tuple \(time, event\) or .* got a str"):
            model.fit(table, "years")
        with pytest.raises(InvalidInputError, match="`groups` are for tables in memory"):
            model.fit(table, ("years", "died"), groups=[1])
        with pytest.raises(InvalidInputError, match="X has no column 'dead' to be the event"):
            model.fit(table, ("years", "dead"))
        with pytest.raises(InvalidInputError, match=r"^Partition \d .*Entry must be earlier than time; got entry"):
            model.fit(table, ("years", "since", "died"))
        with pytest.raises(InvalidInputError, match="Survival times need `event`"):
            on_dask.fit(RuleEnsembleSurvival(**SMALL), table, "years", client=client)
        with pytest.raises(InvalidInputError, match="`event` is for a RuleEnsembleSurvival"):
            on_dask.fit(RuleEnsembleRegressor(**SMALL), table, "years", event="died", client=client)


class TestSeveral:
    @pytest.mark.usefixtures("small_pool")
    @pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
    def test_a_fit_is_the_one_in_memory(self, client, patients, sizes):
        frame = patients.drop(columns=["died", "since", "w"]).assign(more=3.0 * patients["e"] + patients["b"])
        X, y = frame.drop(columns=["years", "more"]), frame[["years", "more"]]
        expected = RuleEnsembleRegressor(**SMALL).fit(X, y)
        table = cut(frame, sizes)
        found = on_dask.fit(RuleEnsembleRegressor(**SMALL), table, ["years", "more"], client=client)
        assert_same(found, expected, rounded=True)
        model = on_dask.DaskRuleEnsembleRegressor(**SMALL, client=client)
        model.fit(table.drop(columns=["years", "more"]), table[["years", "more"]])
        assert_same(model, expected, rounded=True)
        assert model.model_.numbers == ("years", "more")
        assert model.score(table, ["years", "more"]) == pytest.approx(expected.score(X, y), rel=1e-12)
        whole = model.predict(table).compute()
        assert list(whole.columns) == ["years", "more"]
        np.testing.assert_array_equal(whole.to_numpy(), model.to_local().predict(X))

    @pytest.mark.usefixtures("small_pool")
    def test_arrays(self, client):
        X, one = make_friedman1(N_ROWS, random_state=0)
        y = np.column_stack([one, X[:, 0] - one / 9.0])
        expected = RuleEnsembleRegressor(**SMALL).fit(X, y)
        rows, targets = da.from_array(X, chunks=700), da.from_array(y, chunks=(900, 1))
        model = on_dask.DaskRuleEnsembleRegressor(**SMALL, client=client).fit(rows, targets)
        assert_same(model, expected, rounded=True)
        assert model.model_.numbers == expected.model_.numbers == ("y0", "y1")
        assert model.score(rows, targets) == pytest.approx(expected.score(X, y), rel=1e-12)
        np.testing.assert_array_equal(model.predict(rows).compute(), model.to_local().predict(X))

    def test_what_is_wrong_is_named(self, client, patients):
        table = dd.from_pandas(patients, npartitions=3, sort=False)
        with pytest.raises(InvalidInputError, match="One column is predicted here; `target` names 'died', 'c'"):
            on_dask.fit(RuleEnsembleClassifier(**SMALL), table, ["died", "c"], client=client)
        with pytest.raises(InvalidInputError, match="X has no column 'dead' to be the target"):
            on_dask.fit(RuleEnsembleRegressor(**SMALL), table, ["years", "dead"], client=client)


@pytest.mark.usefixtures("small_pool")
class TestEvidence:
    @pytest.mark.parametrize("sizes", [SIZES["empty"]])
    def test_rows_set_apart_are_those_in_memory(self, client, sizes):
        frame = make_frame().drop(columns="w")
        expected = RuleEnsembleClassifier(evidence="split", **FEW).fit(frame.drop(columns="y"), frame["y"])
        model = on_dask.DaskRuleEnsembleClassifier(evidence="split", client=client, **FEW)
        found = model.fit(cut(frame, sizes), "y")
        assert_same(found, expected)
        assert found.evidence_.rules
        assert found.evidence_.weighted_by == expected.evidence_.weighted_by
        np.testing.assert_allclose(found.evidence_.p_value, expected.evidence_.p_value, rtol=1e-9)
        given_others = (one.evidence_.p_value_given_others for one in (found, expected))
        np.testing.assert_allclose(*given_others, rtol=1e-6)

    def test_other_rows_are_counted_as_in_memory(self, client):
        frame = make_frame().drop(columns="w")
        model = RuleEnsembleClassifier(**FEW).fit(frame.drop(columns="y")[:1500], frame["y"][:1500])
        table = dd.from_pandas(frame[1500:], npartitions=3, sort=False)
        found = on_dask.rule_evidence(model, table, "y", level=0.9, client=client)
        expected = rule_evidence(model, frame.drop(columns="y")[1500:], frame["y"][1500:], level=0.9)
        np.testing.assert_allclose(found.p_value, expected.p_value, rtol=1e-9)
        np.testing.assert_allclose(found.lift.high_all, expected.lift.high_all, rtol=1e-9)

    def test_rows_of_their_own_are_not_for_fit(self, client):
        table = dd.from_pandas(make_frame().drop(columns="w"), npartitions=2, sort=False)
        model = on_dask.DaskRuleEnsembleClassifier(client=client, **FEW)
        with pytest.raises(InvalidInputError, match=r"count rows of your own by engines.dask.rule_evidence"):
            model.fit(table, "y", evidence=(table, "y"))


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, about what dask does
class TestFiles:
    @pytest.fixture
    def folder(self, tmp_path):
        """Three files of 300 rows, of which one has a bit that changed."""
        table = pa.Table.from_pandas(make_frame(900).drop(columns=["d", "w"]), preserve_index=False)
        for place in range(3):
            write_checked(table.slice(300 * place, 300), tmp_path / f"{place}.parquet", row_group_size=100)
        return tmp_path

    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"filters": [("b", ">", 1)]},
            {"split_row_groups": True},
            {"filesystem": "arrow"},
            {"filesystem": "arrow", "filters": [("b", ">", 1)]},
        ],
        ids=str,
    )
    def test_a_flipped_bit_is_found_by_the_checksum_of_its_page(self, client, folder, options):
        """Dask reads pages without a look at their checksums, so that damaged numbers were taken for data."""
        table = dd.read_parquet(folder, **options)
        model = on_dask.fit(RuleEnsembleClassifier(**SMALL), table, "y", client=client)
        frame = table.compute().reset_index(drop=True)
        assert_same(model, RuleEnsembleClassifier(**SMALL).fit(frame.drop(columns="y"), frame["y"]))
        same = on_dask.verify_files(table)
        pd.testing.assert_frame_equal(same.compute().reset_index(drop=True), frame)
        assert same.npartitions == table.npartitions
        flip_bit(folder / "1.parquet", group=2)
        table = dd.read_parquet(folder, **options)
        words = r"^'.*1\.parquet': The file is damaged \(.*CRC checksum"
        before = dict(vars(model))
        with pytest.raises(InvalidInputError, match=words):
            on_dask.fit(model, table, "y", client=client)
        assert vars(model) == before
        with pytest.raises(InvalidInputError, match=words):
            on_dask.fit(model, table[["b", "c", "e"]], table["a"] > 0, client=client)
        with pytest.raises(InvalidInputError, match=words):
            on_dask.score(model, table, "y", client=client)
        with pytest.raises(InvalidInputError, match=words):
            on_dask.predict(model, on_dask.verify_files(table)).compute(scheduler="synchronous")

    def test_folders_that_are_columns(self, folder, tmp_path):
        for place in range(3):
            (tmp_path / f"k={place}").mkdir()
            (tmp_path / f"{place}.parquet").rename(tmp_path / f"k={place}" / "part.parquet")
        table = dd.read_parquet(tmp_path)
        pd.testing.assert_frame_equal(on_dask.verify_files(table).compute(), table.compute())
        flip_bit(tmp_path / "k=1" / "part.parquet")
        with pytest.raises(InvalidInputError, match=r"k=1/part\.parquet': The file is damaged"):
            on_dask.verify_files(dd.read_parquet(tmp_path)).compute(scheduler="synchronous")

    def test_verified_files_stay_in_line_with_their_predictions(self, folder, model):
        table = on_dask.verify_files(dd.read_parquet(folder, filesystem="arrow"))
        table = table.assign(d="low")
        scored = table.assign(found=on_dask.predict(model, table)).compute()
        assert (scored["found"] == model.predict(scored[["a", "b", "c", "d", "e"]])).all()


def unlike(part, count):
    """A partition that is another one each time it is computed."""
    with count.open("a") as file:
        file.write("x")
    n_reads = len(count.read_text())
    if count.suffix == ".rows":
        return part.iloc[: len(part) - n_reads]
    return part.assign(y=np.roll(part["y"].to_numpy(), n_reads))


class TestUnlikeRows:
    @pytest.mark.parametrize(
        ("name", "words"),
        [
            (
                "count.rows",
                r"^Partition 1 \(counted from 0, of 2\): 1,49\d rows came where 1,49\d came before; call `persist`",
            ),
            (
                "count.order",
                "^The target 'y' had other values, or its rows another order, when the rows were read again",
            ),
        ],
    )
    def test_a_partition_that_comes_out_otherwise_is_refused(self, client, small_pool, tmp_path, name, words):
        """The rows that were drawn and those that were counted were not the same ones."""
        table = cut(make_frame().drop(columns="w"), [1500, 1500])
        first, second = table.to_delayed()
        parts = [first, dask.delayed(unlike, pure=False)(second, tmp_path / name)]
        odd = dd.from_delayed(parts, meta=table._meta, verify_meta=False)
        with pytest.raises(InvalidInputError, match=words):
            on_dask.fit(RuleEnsembleClassifier(**SMALL), odd, "y", client=client)


class TestFailedFits:
    @pytest.mark.parametrize("error", [KeyboardInterrupt, InvalidInputError, ConnectionError])
    @pytest.mark.parametrize("own", [True, False], ids=["estimator", "function"])
    def test_the_model_is_as_it_was(self, client, small_pool, monkeypatch, error, own):
        old = make_frame(400).drop(columns="w")
        X = old.drop(columns="y")
        model = on_dask.DaskRuleEnsembleClassifier(**SMALL, client=client) if own else RuleEnsembleClassifier(**SMALL)
        on_dask.fit(model, cut(old, [150, 250]), "y", keep_statistics=True, client=client)
        before, predicted = dict(vars(model)), model.predict_proba(X)
        table = cut(make_frame(seed=1).rename(columns={"a": "z"}), SIZES["many"])

        def fail(*args, **kwargs):
            raise error

        monkeypatch.setattr(fitting, "count_over", fail)
        with pytest.raises(error):
            model.fit(table, "c", "w") if own else on_dask.fit(model, table, "c", weights="w", client=client)
        assert list(vars(model)) == list(before)
        assert all(vars(model)[key] is value for key, value in before.items())
        np.testing.assert_array_equal(model.predict_proba(X), predicted)

    def test_nothing_of_an_earlier_fit_stays(self, client):
        """Statistics and names of the fit before stayed with a model that was fitted again without any."""
        frame = make_frame(400)[["a", "e", "y"]].dropna()
        model = on_dask.DaskRuleEnsembleClassifier(**SMALL, client=client)
        on_dask.fit(model, cut(frame, [100, len(frame) - 100]), "y", keep_statistics=True, client=client)
        assert hasattr(model, "statistics_")
        X, y = (da.from_array(part.to_numpy(), chunks=200) for part in (frame[["a", "e"]], frame["y"] == "yes"))
        model.fit(X, y)
        assert not hasattr(model, "statistics_")
        assert not hasattr(model, "feature_names_in_")
        assert model.client is client


@pytest.mark.parametrize("pool", [None, 400])
def test_dirty_tables_are_read_as_in_memory(client, monkeypatch, pool):
    """Dates, pooled categories, identifiers and numbers in text, in a small table and in one beyond a pool."""
    if pool is not None:
        shrink_pool(monkeypatch, pool)
    frame, y = make_dirty(1200)
    told = {"max_bins": 60, "numeric_features": ["amount"], "terms": "rules", **SMALL}
    with pytest.warns(RulegroveWarning):
        expected = RuleEnsembleRegressor(**told).fit(frame, y)
    table = dd.from_pandas(frame.assign(y=y), npartitions=3, sort=False)
    with pytest.warns(RulegroveWarning):
        model = on_dask.fit(RuleEnsembleRegressor(**told), table, "y", client=client)
    assert [row.text for row in model.rules_] == [row.text for row in expected.rules_]
    np.testing.assert_allclose(model.predict(frame), expected.predict(frame), rtol=1e-9)
    lazy = on_dask.predict(model, table.drop(columns=["customer", "y"]))
    np.testing.assert_array_equal(lazy.compute(), model.predict(frame))


class TestEstimators:
    def test_parameters_are_those_of_the_base_and_the_client(self):
        for kind, base in (
            (on_dask.DaskRuleEnsembleClassifier, RuleEnsembleClassifier),
            (on_dask.DaskRuleEnsembleRegressor, RuleEnsembleRegressor),
        ):
            assert kind().get_params() == {**base().get_params(), "client": None}
            assert kind(n_candidates=7).set_params(max_terms=3).max_terms == 3
            with pytest.raises(TypeError, match="n_candidate"):
                kind(n_candidate=7)

    def test_client_is_neither_copied_nor_stored(self, client):
        model = on_dask.DaskRuleEnsembleClassifier(n_candidates=7, client=client)
        copy = clone(model)
        assert copy.client is client
        assert copy.n_candidates == 7
        assert pickle.loads(pickle.dumps(model)).client is None
        assert model.client is client

    def test_preset(self, client, monkeypatch):
        settings = {"max_terms": 4, "max_conditions": 2}
        monkeypatch.setattr(RuleEnsembleClassifier, "_presets", {"readable": settings})
        frame = make_frame(300).drop(columns="w")
        table = dd.from_pandas(frame, npartitions=2, sort=False)
        model = on_dask.DaskRuleEnsembleClassifier(**SMALL, preset="readable", client=client).fit(table, "y")
        assert_same(model, RuleEnsembleClassifier(**SMALL, **settings).fit(frame.drop(columns="y"), frame["y"]))
        assert (model.preset, model.max_terms) == ("readable", "auto")
        assert settings.items() <= model.settings_.items()

    def test_shortens(self, client, tmp_path):
        """Without the rows, to the list that a fit in memory has; the client stays."""
        frame = make_frame(300).drop(columns="w")
        X, table = frame.drop(columns="y"), dd.from_pandas(frame, npartitions=2, sort=False)
        model = on_dask.DaskRuleEnsembleClassifier(**SMALL, client=client).fit(table, "y")
        short = model.shorten(4)
        assert_same(short, RuleEnsembleClassifier(**SMALL, max_terms=4).fit(X, frame["y"]))
        assert (type(short), short.client, short.max_terms) == (type(model), client, 4)
        assert np.array_equal(short.predict_proba(table).compute(), short.predict_proba(X))
        model.save(tmp_path / "model.json")
        assert np.array_equal(load_model(tmp_path / "model.json").shorten(4).predict_proba(X), short.predict_proba(X))

    def test_leaves_dask(self, client, tmp_path):
        frame = make_frame(300).drop(columns="w")
        X, table = frame.drop(columns="y"), dd.from_pandas(frame, npartitions=2, sort=False)
        with client.as_current():
            model = on_dask.DaskRuleEnsembleClassifier(**SMALL).fit(table, "y")
            assert model.score(table, "y") == pytest.approx(model.score(X, frame["y"]), abs=1e-12)
        model.save(tmp_path / "model.json")
        for local in (model.to_local(), load_model(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
            assert np.array_equal(local.predict_proba(X), model.predict_proba(X))
        assert type(model.to_local()) is RuleEnsembleClassifier
        assert model.explain(X[:2])[0].prediction == model.predict(X[:1])[0]


class TestBadInput:
    @pytest.fixture
    def fit(self, client):
        return lambda X, y="y", **options: on_dask.fit(RuleEnsembleClassifier(**SMALL), X, y, client=client, **options)

    def test_clients(self, cluster):
        table = cut(make_frame(), [N_ROWS])

        def fit(client):
            on_dask.fit(RuleEnsembleClassifier(**SMALL), table, "y", client=client)

        with pytest.raises(InvalidInputError, match="No Dask client is running; start one"):
            fit(None)
        with pytest.raises(InvalidInputError, match=r"must be a distributed\.Client; got a LocalCluster"):
            fit(cluster)
        closed = distributed.Client(cluster, set_as_default=False)
        closed.close()
        with pytest.raises(InvalidInputError, match="The Dask client is closed; start a new one"):
            fit(closed)

    def test_no_worker(self, monkeypatch):
        """No worker at the start, and none left in the middle."""
        monkeypatch.setattr(on_cluster, "PATIENCE_SECONDS", 0.1)
        monkeypatch.setattr(on_cluster, "POLL_SECONDS", 0.1)
        table = make_table(cut(make_frame(), SIZES["many"]), "y")
        with (
            distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            with pytest.raises(InvalidInputError, match="The Dask cluster has no worker; add some"):
                on_cluster.find_client(client)
            with pytest.raises(ConnectionError, match="has had no worker for 0 seconds; add workers"):
                DaskEngine(table, client).count_rows()

    def test_client_closed_midway(self, cluster):
        client = distributed.Client(cluster, set_as_default=False)
        engine = DaskEngine(make_table(cut(make_frame(), SIZES["many"]), "y"), client)
        engine.count_rows()
        threading.Timer(0.3, client.close).start()
        with pytest.raises(ConnectionError, match="client was closed, or its tasks were cancelled, before"):
            engine.map_reduce(See(("b",), seconds=0.3))

    def test_partition_that_kills_its_workers(self):
        class Killed:
            status = "error"

            def exception(self):
                return distributed.KilledWorker("task", None, 4)

        with pytest.raises(InvalidInputError, match="Partition 2 ended every worker that ran it, most likely for lack"):
            on_cluster._refuse(Killed(), "Partition 2")

    def test_partition_that_cannot_be_computed(self, fit):
        def spoil(part, partition_info=None):
            if partition_info is not None and partition_info["number"] == 3:
                raise OSError("Unexpected end of stream")
            return part

        table = cut(make_frame(), SIZES["many"])
        with pytest.raises(
            InvalidInputError, match=r"^Partition 3 \(counted from 0, of 11\) .*OSError: Unexpected end"
        ):
            fit(table.map_partitions(spoil, meta=table._meta))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda part: part.drop(columns="a"), "'a'"),
            (lambda part: part.assign(a="text"), "Column 'a' is large_string here but double in the table; convert it"),
            (lambda part: part.assign(b=part["b"] + 0.5), "Column 'b' is double here but int64 in the table"),
            (lambda part: part.assign(d=1.0), "Column 'd' is double here but large_string"),
        ],
        ids=["missing", "text for numbers", "fractions for integers", "numbers for categories"],
    )
    def test_odd_partition(self, fit, change, message):
        table = cut(make_frame(), SIZES["many"])
        parts = table.to_delayed()
        parts[4] = dask.delayed(change)(parts[4])
        odd = dd.from_delayed(parts, meta=table._meta, verify_meta=False)
        with pytest.raises(InvalidInputError, match=rf"^Partition 4 \(counted from 0, of 11\).*{message}"):
            fit(odd)

    def test_other_rows_in_the_target(self, fit):
        frame = make_frame().drop(columns="w")
        X, y = cut(frame.drop(columns="y"), [1000, 2000]), cut(frame[["a", "y"]], [1500, 1500])["y"]
        with pytest.raises(
            InvalidInputError, match=r"^Partition [01] .*X has [12]000 rows here but the target has 1500"
        ):
            fit(X, y)
        with pytest.raises(InvalidInputError, match="X has 2 partitions but the target has 1"):
            fit(X, cut(frame[["a", "y"]], [N_ROWS])["y"])
        with pytest.raises(InvalidInputError, match="X has 10 rows but the target has 9"):
            fit(da.zeros((10, 2)), da.zeros(9))

    @pytest.mark.parametrize(
        "options", [{"batch_rows": 0}, {"batch_rows": 1.5}, {"max_gram_rows": 0}, {"max_gram_rows": "all"}], ids=str
    )
    def test_counts_that_are_none(self, fit, options):
        [name] = options
        with pytest.raises(InvalidInputError, match=f"`{name}` must be a whole number of at least"):
            fit(cut(make_frame(), [N_ROWS]), **options)

    def test_what_is_no_table(self, fit):
        frame = make_frame()
        table = cut(frame, [N_ROWS])
        with pytest.raises(InvalidInputError, match="dask DataFrame or a dask Array; got pandas"):
            fit(frame)
        with pytest.raises(InvalidInputError, match="no column 'z' to be the target; it has a, b, c"):
            fit(table, "z")
        with pytest.raises(InvalidInputError, match="The target must be a column name, a dask Series or"):
            fit(table, frame["y"])
        with pytest.raises(InvalidInputError, match="columns have no names; give the weights as a dask Array"):
            fit(da.zeros((10, 2)), da.zeros(10), weights="w")
        with pytest.raises(InvalidInputError, match="two dimensions that holds numbers; got 2 dimensions of <U1"):
            fit(da.from_array(np.array([["a"]])), da.zeros(1))
        with pytest.raises(InvalidInputError, match="must be text and unique; got 7"):
            fit(table.rename(columns={"a": 7}))

    def test_without_dask(self):
        """The package does without dask, and says what is missing where it is asked for."""
        script = (
            "import sys, rulegrove, rulegrove.engines\n"
            "assert not {'dask', 'distributed'} & set(sys.modules)\n"
            "sys.modules['distributed'] = None\n"
            "import rulegrove.engines.dask"
        )
        found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        expected = "ModuleNotFoundError: rulegrove.engines.dask needs dask: pip install 'rulegrove[dask]'."
        assert found.stderr.splitlines()[-1] == expected
