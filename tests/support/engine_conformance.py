"""What every engine must do, whatever it runs on: subclass `EngineConformance` and give it a `make_engine`.

The fixture `small_pool` is that of ``tests/engines/conftest.py``.
"""

from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from rulegrove import Glmnet, RuleEnsembleClassifier, RuleEnsembleRegressor
from rulegrove._hashing import hash_positions
from rulegrove.columns import Feature
from rulegrove.design.bits import compile_rules
from rulegrove.design.linear import fit_linear_terms
from rulegrove.engines.base import Batch
from rulegrove.engines.counting import CodedRows, CountTask
from rulegrove.engines.fitting import fit_over
from rulegrove.engines.predicting import make_task
from rulegrove.engines.reading import Layout
from rulegrove.engines.sampling import DrawTask, draw_sample
from rulegrove.engines.scoring import score_over
from rulegrove.estimators import autos
from rulegrove.estimators._design import Request
from rulegrove.estimators._sampling import HashFolds, RowCode, TargetCode
from rulegrove.estimators._training import make_rng
from rulegrove.rules.rule import Condition, Rule
from small_pools import shrink_pool

N_ROWS = 3000
CUTS = {
    "one": [N_ROWS],
    "three": [1000, 1500, 500],
    "empty and single": [0, 1, 0, 1400, 1, 1, 1597, 0],
    "many": [200] * 15,
}
SMALL = {"n_candidates": 30, "random_state": 0, "n_jobs": 1, "cv": 2}


def make_rows(n_rows=N_ROWS, seed=0):
    """Numbers with and without missing values, whole numbers, text; three targets, weights."""
    rng = np.random.default_rng(seed)
    a, e = rng.normal(size=n_rows), rng.normal(size=n_rows).astype(np.float32)
    b, c = rng.integers(0, 9, n_rows), rng.choice(["x", "y", "z"], n_rows)
    score = a + (c == "x") * b / 4 + e / 2 + rng.normal(size=n_rows) / 2
    table = pa.table(
        {
            "a": pa.array(a, mask=rng.random(n_rows) < 0.1),
            "b": b,
            "c": pa.array(c, mask=rng.random(n_rows) < 0.1),
            "e": e,
            "number": score,
            "two": np.where(score > 0.4, "yes", "no"),
            "three": np.digitize(score, [-0.3, 0.9]),
            "counts": rng.choice([0.0, 1.0, 2.0], n_rows),
            "floats": rng.random(n_rows),
        }
    )
    # The last rows are of one class: some partitions know no other.
    last = np.where(np.arange(n_rows) >= n_rows - 200, "no", table["two"].to_numpy(zero_copy_only=False))
    return table.set_column(table.column_names.index("two"), "two", pa.array(last.tolist()))


FIGURES = ("loss", "loss_se", "error", "error_se", "excess_se", "fidelity")
TARGETS = ("number", "two", "three")
WEIGHTS = ("counts", "floats")


def take(table, target, weights=None):
    """The attributes with one target and one column of weights."""
    names = ["a", "b", "c", "e", target, *([] if weights is None else [weights])]
    return table.select(names)


def in_memory(model, table, target, weights=None):
    """The same fit of the table in memory."""
    y = table[target].to_numpy(zero_copy_only=False)
    return model.fit(table.select(["a", "b", "c", "e"]), y, None if weights is None else table[weights].to_numpy())


@cache
def expect(target, weights=None):
    """The fit in memory to a table beyond a pool, with the settings that tests begin with; many tests share it."""
    with pytest.MonkeyPatch.context() as patch:
        shrink_pool(patch, 1000)
        return in_memory(make_model(target), make_rows(), target, weights)


def make_model(target, **parameters):
    kind = RuleEnsembleRegressor if target == "number" else RuleEnsembleClassifier
    return kind(**{**SMALL, **parameters})


def assert_same(found, expected):
    """The same rules and supports; coefficients and what follows from them but for rounding."""
    assert [row.text for row in found.rules_] == [row.text for row in expected.rules_]
    assert len(found.rules_) > 0
    np.testing.assert_allclose([r.support for r in found.rules_], [r.support for r in expected.rules_], atol=1e-15)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=0, atol=1e-9)
    if hasattr(expected, "classes_"):
        assert found.classes_.tolist() == expected.classes_.tolist()
        assert type(found.calibration_) is type(expected.calibration_)
        if expected.calibration_ is not None:
            assert found.calibration_.slope == pytest.approx(expected.calibration_.slope, rel=1e-9)
    assert_same_front(found.front_, expected.front_)


def assert_same_front(found, expected):
    """The same list of every length, and the same choice among them."""
    if found is None:  # of a model without one, such as a refit, there is nothing to compare
        return
    assert (len(found), found.chosen) == (len(expected), expected.chosen)
    for line, other in zip(found, expected, strict=True):
        own, others = line.fitted.model, other.fitted.model
        assert set(own.terms) == set(others.terms)
        places = [own.terms.index(term) for term in others.terms]  # ranks of equal importance may differ
        np.testing.assert_allclose(own.coefs.T[places], others.coefs.T, rtol=0, atol=1e-9)
        np.testing.assert_allclose(own.intercept, others.intercept, rtol=0, atol=1e-9)
        for name in FIGURES:
            own_figure, other_figure = getattr(line, name), getattr(other, name)
            assert own_figure == pytest.approx(other_figure, rel=1e-6, abs=1e-9, nan_ok=True), name
    assert found.base_loss == pytest.approx(expected.base_loss, rel=1e-12, nan_ok=True)


class EngineConformance:
    """Tests of an engine; a subclass has the fixture `make_engine`.

    ``make_engine(table, sizes)`` returns an engine whose partitions have these sizes.
    """

    @pytest.fixture
    def rows(self):
        return make_rows()

    @pytest.mark.parametrize("cuts", CUTS)
    def test_rows_are_drawn_by_their_positions(self, make_engine, rows, cuts):
        table = take(rows, "two", "counts")
        layout = Layout.of(table.column_names, "two", "counts", values="classes")
        found = draw_sample(make_engine(table, CUTS[cuts]), layout, 7, lambda n_counted: n_counted // 3)
        counted = np.flatnonzero(table["counts"].to_numpy() > 0)
        ranked = counted[np.argsort(hash_positions(7, counted))[: counted.size // 3]]
        expected = np.sort(ranked)
        np.testing.assert_array_equal(found.positions, expected)
        np.testing.assert_array_equal(expected[np.argsort(found.ranks)], ranked)
        assert found.rows["c"].to_pylist() == table["c"].take(pa.array(expected)).to_pylist()
        labels, counts = np.unique(table["two"].to_numpy(zero_copy_only=False).astype(str), return_counts=True)
        assert found.summary.labels.tolist() == labels.tolist()
        assert found.summary.counts.tolist() == counts.tolist()
        assert found.summary.n_rows == counted.size

    @pytest.mark.parametrize("cuts", CUTS)
    def test_counts_are_those_of_numpy_bit_for_bit(self, make_engine, rows, cuts):
        table = take(rows, "three")
        names = ("a", "b", "e")
        code = RowCode(
            tuple(map(Feature, names)),
            TargetCode(np.arange(3)),
            False,
            HashFolds(5, 3),
        )
        rules = (Rule((Condition(0, upper=0.3),)), Rule((Condition(1, lower=2.5), Condition(2, upper=0.5))))
        block = np.array([table[name].to_numpy(zero_copy_only=False) for name in names], dtype=np.float64)
        linear = fit_linear_terms(block, None, np.zeros(3, dtype=np.int64))
        layout = Layout(names, "three", None, "classes")
        engine = make_engine(table, CUTS[cuts])
        [found] = engine.map_reduce(CountTask(CodedRows(layout, code), (Request(rules, linear),))).sums
        held = np.array([rule.holds(block) for rule in rules])
        folds = (hash_positions(5, np.arange(N_ROWS)) % np.uint64(3)).astype(int)
        codes = table["three"].to_numpy()
        targets = np.where(codes[:, None] == np.arange(3), 1.0, -1.0)
        for fold in range(3):
            here = folds == fold
            part = held[:, here].astype(np.int64)
            np.testing.assert_array_equal(found.rule_gram[fold], part @ part.T)
            np.testing.assert_array_equal(found.x_y[fold, :2], part @ targets[here])
            np.testing.assert_array_equal(found.n_rows[fold], here.sum())
            values = linear.evaluate(block[:, here])
            np.testing.assert_allclose(found.rule_linear[fold], part @ values, rtol=0, atol=1e-10)
        assert compile_rules(rules, 3).n_rules == found.n_rules

    @pytest.mark.usefixtures("small_pool")
    @pytest.mark.parametrize("cuts", CUTS)
    @pytest.mark.parametrize("target", TARGETS)
    def test_a_fit_is_the_one_in_memory(self, make_engine, rows, target, cuts):
        table = take(rows, target)
        found = fit_over(make_engine(table, CUTS[cuts]), make_model(target), target)
        assert_same(found, expect(target))

    @pytest.mark.usefixtures("small_pool")
    @pytest.mark.parametrize("weights", WEIGHTS)
    @pytest.mark.parametrize("target", TARGETS)
    def test_a_weighted_fit_is_the_one_in_memory(self, make_engine, rows, target, weights):
        table = take(rows, target, weights)
        found = fit_over(make_engine(table, CUTS["empty and single"]), make_model(target), target, weights=weights)
        assert_same(found, expect(target, weights))

    @pytest.mark.usefixtures("small_pool")
    @pytest.mark.parametrize(
        ("target", "parameters"),
        [
            ("two", {"solver": Glmnet(loss="logistic")}),
            ("two", {"solver": "pathbuild", "n_candidates": 20}),
            ("two", {"class_weight": "balanced"}),
            ("two", {"honest_cv": True}),
            ("two", {"selection": 0.02}),
            ("two", {"terms": "linear"}),
            ("two", {"rules": ["a > 0.5 and b <= 4"], "force_rules": True}),
            ("two", {"calibration": "isotonic"}),
            ("two", {"interactions": [["a", "b"], ["b", "c"]], "max_attributes": 2}),
            ("three", {"multiclass": "shared"}),
            ("three", {"class_weight": {0: 1.0, 1: 2.0, 2: 0.0}}),
            ("number", {"tree_loss": "huber"}),
            ("number", {"subsample": 0.2, "terms": "rules"}),
            ("number", {"categorical_features": ["b", "c"]}),
        ],
    )
    def test_every_kind_of_fit_is_the_one_in_memory(self, make_engine, rows, monkeypatch, target, parameters):
        monkeypatch.setattr(autos, "SAMPLE_ROWS", 1800)
        table = take(rows, target)
        found = fit_over(make_engine(table, CUTS["three"]), make_model(target, **parameters), target)
        expected = in_memory(make_model(target, **parameters), table, target)
        if parameters.get("calibration") == "isotonic":
            found.calibration_ = expected.calibration_ = None
        assert_same(found, expected)

    @pytest.mark.parametrize("target", TARGETS)
    def test_a_small_table_is_read_and_fitted_as_ever(self, make_engine, rows, target):
        table = take(rows, target).slice(0, 300)
        found = fit_over(make_engine(table, [100, 0, 199, 1]), make_model(target), target)
        expected = in_memory(make_model(target), table, target)
        np.testing.assert_array_equal(found.coef_, expected.coef_)
        assert [row.text for row in found.rules_] == [row.text for row in expected.rules_]

    @pytest.mark.usefixtures("small_pool")
    def test_rows_without_a_target_are_left_out(self, make_engine, rows):
        table = take(rows, "two")
        lost = np.random.default_rng(0).random(N_ROWS) < 0.3
        labels = pa.array(table["two"].to_pylist(), mask=lost)
        gaps = table.set_column(4, "two", labels)
        weighted = table.append_column("w", pa.array(1.0 - lost))
        found = fit_over(make_engine(gaps, CUTS["three"]), make_model("two"), "two")
        expected = fit_over(make_engine(weighted, CUTS["one"]), make_model("two"), "two", weights="w")
        assert_same(found, expected)

    @pytest.mark.usefixtures("small_pool")
    def test_a_category_that_no_drawn_row_has_is_unknown(self, make_engine, rows):
        table = take(rows, "two")
        letters = table["c"].to_pylist()
        layout = Layout.of(table.column_names, "two", None, values="classes")
        plain = expect("two")
        seed = int(make_rng(0).spawn(3)[2].integers(2**63, size=2)[1])
        drawn = draw_sample(make_engine(table, CUTS["one"]), layout, seed, lambda n_counted: 1400).positions
        others = np.setdiff1d(np.arange(N_ROWS), drawn)[:20]
        for row in others:
            letters[row] = "new"
        found = fit_over(
            make_engine(table.set_column(2, "c", pa.array(letters)), CUTS["three"]), make_model("two"), "two"
        )
        assert found.model_.features == plain.model_.features

    @pytest.mark.usefixtures("small_pool")
    @pytest.mark.parametrize("target", TARGETS)
    def test_predictions_and_scores_are_those_in_memory(self, make_engine, rows, target):
        table = take(rows, target, "floats")
        model = expect(target)
        engine = make_engine(table, CUTS["empty and single"])
        task = make_task(model, engine.schema, keep=["b"])
        found = pa.Table.from_batches(list(engine.map_batches(task)), task.schema)
        X = table.select(["a", "b", "c", "e"])
        assert found["b"].to_pylist() == table["b"].to_pylist()
        assert found["prediction"].to_pylist() == model.predict(X).tolist()
        if target != "number":
            shares = np.column_stack([found[f"probability of {label}"].to_numpy() for label in model.classes_])
            np.testing.assert_array_equal(shares, model.predict_proba(X))
        y, weights = table[target].to_numpy(zero_copy_only=False), table["floats"].to_numpy()
        assert score_over(engine, model, target) == pytest.approx(model.score(X, y), abs=1e-12)
        weighted = score_over(engine, model, target, weights="floats")
        assert weighted == pytest.approx(model.score(X, y, sample_weight=weights), abs=1e-12)

    def test_progress_reaches_the_end(self, make_engine, rows):
        seen = []
        table = take(rows, "two")
        layout = Layout.of(table.column_names, "two", None, values="classes")
        engine = make_engine(table, CUTS["three"])
        engine.map_reduce(DrawTask(layout, 0, 2**64), lambda done, total: seen.append((done, total)))
        assert seen[-1] == (N_ROWS, N_ROWS)
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)

    def test_partitions_are_named_in_errors(self, make_engine, rows):
        table = take(rows, "two")
        values = table["a"].to_numpy(zero_copy_only=False).copy()
        values[1200] = np.inf
        engine = make_engine(table.set_column(0, "a", pa.array(values)), CUTS["three"])
        code = RowCode(
            tuple(map(Feature, ("a", "b", "e"))), TargetCode(np.array(["no", "yes"])), False, HashFolds(0, 1)
        )
        linear = fit_linear_terms(np.empty((3, 0)), None, np.zeros(3, dtype=np.int64))
        rule = Rule((Condition(0, upper=0.0),))
        coded = CodedRows(Layout(("a", "b", "e"), "two", None, "classes"), code)
        task = CountTask(coded, (Request((rule,), linear),))
        with pytest.raises(ValueError, match="must be finite") as caught:
            engine.map_reduce(task)
        assert str(caught.value).startswith(engine.name_partition(1))

    def test_tasks_see_all_rows_once_and_in_order(self, make_engine, rows):
        engine = make_engine(take(rows, "two"), CUTS["empty and single"])
        assert list(engine.count_rows()) in (
            CUTS["empty and single"],
            [size for size in CUTS["empty and single"] if size],
        )
        found = engine.map_reduce(Listing())
        assert found.values == tuple(rows["b"].to_pylist())
        assert found.positions == tuple(range(N_ROWS))


class Listed:
    """All values of a column; a state."""

    def __init__(self, values=(), positions=()):
        self.values, self.positions = tuple(values), tuple(positions)

    def merge(self, other):
        return Listed(self.values + other.values, self.positions + other.positions)


class Listing:
    """List the column `b`."""

    columns = ("b",)

    def __call__(self, batches, n_threads=1):
        found = Listed()
        for batch in batches:
            assert isinstance(batch, Batch)
            positions = range(batch.start, batch.start + batch.rows.num_rows)
            found = found.merge(Listed(batch.rows.column("b").to_pylist(), positions))
        return found
