"""Short lists: their rows against the table, their terms and coefficients against a dense twin, their scores."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit, softmax

from dense_lists import NEAR, divergence, fill_words, list_terms, null_divergence
from dense_subsets import search_naively
from rulegrove import projection as projections
from rulegrove.columns import Columns, Feature
from rulegrove.design.linear import fit_linear_terms
from rulegrove.design.terms import Terms
from rulegrove.estimators._constraints import NO_CONSTRAINTS, Constraints
from rulegrove.estimators._lists import (
    EVERY_LENGTH,
    EXCHANGED,
    GROWTH,
    RIDGE_OF_LINES,
    Large,
    Maker,
    Sheet,
    list_lengths,
    score_large,
    score_lists,
)
from rulegrove.estimators._training import Encoded, TrainingData
from rulegrove.estimators.front import LONGEST
from rulegrove.estimators.model import RuleModel
from rulegrove.estimators.steady import ALIKE
from rulegrove.projection import LEAST_SURE, OfNumbers, OfProbabilities
from rulegrove.rules.rule import Condition, Rule
from rulegrove.subset import RIDGE

N_ROWS = 90


def make_lists(sheet, goals, large, lengths, projection, constraints, *, joint=False, n_threads=1, **more):
    steadiness, n_lines_first = more.get("steadiness", 0.0), more.get("n_lines_first", 0)
    return Maker(projection, constraints, joint, steadiness, n_threads).make(
        sheet, goals, large, lengths, n_lines_first
    )


def find_families(held, n_terms):
    """Which of some terms are rules that hold on nearly the same rows."""
    alike = np.zeros((n_terms, n_terms), dtype=bool)
    n_rules = held.shape[1]
    shared = held.T @ held
    either = shared.diagonal()[:, None] + shared.diagonal() - shared
    alike[:n_rules, :n_rules] = (shared >= ALIKE * either) & (either > 0)
    return alike


def make_data(seed=0, *, weighted=False, n_rows=N_ROWS):
    """Return rows of five attributes: the third and fourth are read from one column, the last says nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    features = [
        Feature("a"),
        Feature("b"),
        Feature("day.month", column="day", part="month"),
        Feature("day.year", column="day", part="year"),
        Feature("idle"),
    ]
    weights = rng.choice([0.5, 1.0, 4.0], n_rows) if weighted else None
    data = TrainingData.of(Columns(features, X), Encoded(rng.normal(size=(n_rows, 1)), 0.0, weights))
    return data, X


def make_large(X, seed=0, n_outputs=1, *, shared=False):
    """Return a large model with rules and lines of the first four attributes; outputs share their terms or do not."""
    rng = np.random.default_rng([seed, 1])
    terms, points = [], []
    for output in range(n_outputs):
        if not (shared and output):
            rules = tuple(
                Rule(
                    (Condition(k % 4, upper=float(rng.normal(0, 0.6))), *[Condition((k + 1) % 4, lower=-0.5)] * (k % 2))
                )
                for k in range(8)
            )
            linear = fit_linear_terms(X.T, None, np.zeros(5, dtype=np.int64)).take(np.array([0, 1]))
            own = Terms(rules, linear, ((),) * len(rules))
        terms.append(own)
        points.append((rng.normal(size=len(own)) * (rng.random(len(own)) < 0.8), float(rng.normal())))
    return Large(tuple(terms), tuple(points))


def make_dense(terms, X):
    """Return all terms on all rows, as the design has them."""
    lines = terms.linear.evaluate(X.T[terms.linear.features])
    return np.column_stack([*(rule.holds(X.T) for rule in terms.rules), lines]).astype(np.float64)


def ridges_of(terms):
    """Return how much of the usual ridge each term has."""
    return np.where(np.arange(len(terms)) < len(terms.rules), 1.0, RIDGE_OF_LINES)


def test_lengths_are_all_small_ones_and_then_grow_by_a_share():
    assert list_lengths(0, 0) == []
    assert list_lengths(5, 0) == [0, 1, 2, 3, 4]
    assert list_lengths(5, 3) == [3, 4]
    assert list_lengths(3, 5) == []
    assert list_lengths(5, 3, whole=True) == [3, 4, 5]
    assert list_lengths(0, 0, whole=True) == list_lengths(2, 3, whole=True) == []
    assert list_lengths(61, 0, whole=True) == list_lengths(61, 0)
    lengths = list_lengths(10**6, 0)
    assert lengths[: EVERY_LENGTH + 1] == list(range(EVERY_LENGTH + 1))
    steps = np.array(lengths[EVERY_LENGTH + 1 :]) / lengths[EVERY_LENGTH:-1]
    np.testing.assert_allclose(steps, GROWTH, atol=0.5 / EVERY_LENGTH)
    assert lengths[-2] < LONGEST <= lengths[-1] <= GROWTH * LONGEST


def test_a_large_model_knows_its_size_and_what_it_reads():
    _, X = make_data()
    large = make_large(X)
    (terms,), ((coef, _),) = large.terms, large.points
    assert large.n_terms == np.count_nonzero(coef)
    read = {feature for column in np.flatnonzero(coef) for feature in terms[column].features}
    assert large.used_features.tolist() == sorted(read)
    one = Large((terms, terms), ((np.eye(10)[0], 0.0), (np.eye(10)[9] + np.eye(10)[0], 1.0)))
    assert one.n_terms == 2
    assert one.used_features.tolist() == sorted({*terms[0].features, *terms[9].features})


@pytest.mark.parametrize("weighted", [False, True])
def test_real_rows_come_first_and_imagined_ones_mix_them(weighted):
    data, X = make_data(weighted=weighted)
    rows = np.arange(5, 80)
    sheet = Sheet.of(data, rows, make_large(X), n_imagined=10 * rows.size + 3)
    assert sheet.columns.n_rows == 10 * rows.size
    assert sheet.rows.tolist() == list(range(10 * rows.size))
    values, own = sheet.columns.take(slice(None)), X[rows].T
    np.testing.assert_array_equal(values[:4, : rows.size], own[:4])
    assert not values[4].any()  # nobody asks for it
    if weighted:
        np.testing.assert_array_equal(sheet.weights, np.tile(data.weights[rows], 10))
    else:
        assert sheet.weights is None
    copies = values.reshape(5, 10, rows.size)[:4, 1:]
    exchanged = copies != own[:4, None]
    assert all(np.isin(copy, real).all() for copy, real in zip(copies, own, strict=False))
    assert np.abs(exchanged.mean(axis=(1, 2)) - EXCHANGED).max() < 4 * np.sqrt(EXCHANGED / exchanged[0].size)
    np.testing.assert_array_equal(exchanged[2], exchanged[3])  # one column of the table: a month stays with its year
    pairs = {tuple(pair) for pair in own[2:4].T}
    assert all(tuple(pair) in pairs for pair in copies[2:].reshape(2, -1).T)
    assert (exchanged[0] != exchanged[1]).any()  # columns do not move as one


def test_a_sheet_is_the_same_every_time_and_many_rows_need_no_imagined_ones():
    data, X = make_data()
    rows, large = np.arange(50), make_large(X)
    one, other = (Sheet.of(data, rows, large, 200).columns.take(slice(None)) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    for n_imagined in (0, 50, 99):
        plain = Sheet.of(data, rows, large, n_imagined)
        np.testing.assert_array_equal(plain.columns.take(slice(None))[:4], X[rows, :4].T)


@pytest.mark.parametrize("projection", [OfNumbers(), OfProbabilities()])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n_outputs", "joint"), [(1, False), (3, False), (3, True)])
def test_lists_are_those_of_a_dense_twin(projection, weighted, n_outputs, joint, monkeypatch):
    """Terms by a naive search on the rows, then coefficients for all outputs at once, with a digit more than usual."""
    monkeypatch.setattr(projections, "SETTLED", 0.1 * projections.SETTLED)
    data, X = make_data(1, weighted=weighted)
    large = make_large(X, 1, n_outputs, shared=joint)
    sheet = Sheet.of(data, data.rows, large, 0)
    scores = score_large(sheet, large)
    if isinstance(projection, OfNumbers):
        goals = scores
    else:
        goals = expit(scores) if n_outputs == 1 else softmax(scores, axis=1)
    lengths, weights = [0, 1, 2, 3, 5], np.ones(N_ROWS) if data.weights is None else data.weights
    lists = make_lists(sheet, goals, large, lengths, projection, NO_CONSTRAINTS, joint=joint, n_threads=1)
    assert len(lists) == len(lengths)
    dense = [make_dense(terms, X) for terms in large.terms]
    subsets = []
    for output in range(n_outputs):
        together = range(n_outputs) if joint else [output]
        used = np.flatnonzero(np.any([large.points[own][0] for own in together], axis=0))
        own, wanted, curved = dense[output][:, used], goals[:, together], weights
        if isinstance(projection, OfProbabilities):
            near = np.clip(wanted, LEAST_SURE, 1.0 - LEAST_SURE)
            wanted, curved = logit(near), weights * np.mean(near * (1.0 - near), axis=1)
        ridge = RIDGE * np.average((own - np.average(own, axis=0, weights=curved)) ** 2, axis=0, weights=curved).mean()
        ridges = ridge * ridges_of(large.terms[output])[used]
        n_rules = int(np.searchsorted(used, len(large.terms[output].rules)))
        alike = find_families(own[:, :n_rules], used.size)
        found = search_naively(own, wanted, lengths, ridges, None, [], curved, alike=alike)
        subsets.append([used[places] for places in found])
    filled = fill_words(goals.T), fill_words(weights / weights.sum())
    for place, points in enumerate(lists):
        chosen = [subset[place] for subset in subsets]
        outputs = []
        for output, (terms, own) in enumerate(zip(chosen, dense, strict=True)):
            n_rules = np.searchsorted(terms, len(large.terms[output].rules))
            columns, ridges = own[:, terms], ridges_of(large.terms[output])[terms]
            outputs.append(
                list_terms(columns[:, :n_rules], columns[:, n_rules:], goals[:, output], weights, ridges=ridges)
            )
        expected = projection.solve(outputs, *filled)
        short = [(coef[terms], intercept) for (coef, intercept), terms in zip(points, chosen, strict=True)]
        for (coef, _), terms in zip(points, chosen, strict=True):
            np.testing.assert_array_equal(np.flatnonzero(coef), terms)
        if isinstance(projection, OfProbabilities):
            found, least = (divergence(outputs, *filled, own) for own in (short, expected))
            assert abs(found - least) <= NEAR * null_divergence(*filled)
            continue
        for (coef, intercept), (twin, other) in zip(short, expected, strict=True):
            np.testing.assert_allclose(coef, twin, rtol=1e-6, atol=1e-9)
            assert intercept == pytest.approx(other, rel=1e-6, abs=1e-9)


def test_lines_come_first_where_that_is_asked_for():
    data, X = make_data(1)
    large = make_large(X, 1)
    large = replace(large, points=((np.where(large.points[0][0] == 0.0, 0.5, large.points[0][0]), 0.0),))
    sheet = Sheet.of(data, data.rows, large, 0)
    goals = score_large(sheet, large)
    given = (sheet, goals, large, [1, 2, 3, 5], OfNumbers(), NO_CONSTRAINTS)
    both = make_lists(*given, joint=False, n_threads=1, n_lines_first=4)
    used = [set(np.flatnonzero(points[0][0])) for points in both]
    mixed, ordered = used[:4], used[4:]
    assert ordered[1] == {8, 9} != mixed[1]
    assert ordered[0] < ordered[1] < ordered[2] < ordered[3]
    for n_first in (0, 2):
        fewer = make_lists(*given, joint=False, n_threads=1, n_lines_first=n_first)
        for one, other in zip(fewer, both[: 4 + n_first], strict=True):
            np.testing.assert_array_equal(one[0][0], other[0][0])


def test_lists_do_not_depend_on_threads():
    data, X = make_data(2)
    large = make_large(X, 2, 3)
    sheet = Sheet.of(data, data.rows, large, 500)
    goals = score_large(sheet, large)
    one, many = (
        make_lists(sheet, goals, large, [1, 3], OfNumbers(), NO_CONSTRAINTS, joint=False, n_threads=n) for n in (1, 3)
    )
    for left, right in zip(one, many, strict=True):
        for (coef, intercept), (twin, other) in zip(left, right, strict=True):
            np.testing.assert_array_equal(coef, twin)
            assert intercept == other


@pytest.mark.parametrize("projection", [OfNumbers(), OfProbabilities()])
def test_forced_rules_are_in_every_list_and_signs_are_kept(projection):
    """A forced rule is there though the large model gives it nothing."""
    data, X = make_data(3)
    large = make_large(X, 3)
    (terms,), ((coef, intercept),) = large.terms, large.points
    large = Large((terms,), ((np.where(np.arange(10) == 2, 0.0, coef), intercept),))
    constraints = Constraints(forced=frozenset([terms.rules[2]]))
    sheet = Sheet.of(data, data.rows, replace(large, points=((np.ones(10), 0.0),)), 0)
    scores = score_large(sheet, large)
    goals = scores if isinstance(projection, OfNumbers) else expit(scores)
    lists = make_lists(sheet, goals, large, [1, 2, 4], projection, constraints, joint=False, n_threads=1)
    assert [np.count_nonzero(points[0][0]) for points in lists] == [1, 2, 4]
    assert all(points[0][0][2] for points in lists)
    falling = Constraints(monotonic=np.array([-1, 0, 0, 0, 0]))
    allowed = np.array([falling.sign(terms[column]) is not None for column in range(10)])
    held = Large((terms.take(np.flatnonzero(allowed)),), ((coef[allowed], intercept),))
    signs = np.array([falling.sign(held.terms[0][column]) for column in range(allowed.sum())])
    assert signs.any()
    for points in make_lists(sheet, goals, held, range(1, 6), projection, falling, joint=False, n_threads=1):
        assert (signs * points[0][0] >= 0.0).all()


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_scores_of_lists_are_those_of_models(n_outputs):
    """Model terms have units of their own, lists those of the design."""
    data, X = make_data(4)
    X[::7, 1] = np.nan
    large = make_large(np.nan_to_num(X), 4, n_outputs)
    rng = np.random.default_rng(4)
    lists = [
        [(rng.normal(size=10) * (rng.random(10) < share), float(rng.normal())) for _ in range(n_outputs)]
        for share in (0.0, 0.3, 1.0)
    ]
    rows = np.array([3, 4, 80, 11])
    scores = score_lists(data.columns, rows, large, lists, 1)
    assert scores.shape == (3, 4, n_outputs)
    for own, points in zip(scores, lists, strict=True):
        for output, (coef, intercept) in enumerate(points):
            terms = large.terms[output]
            model = RuleModel(
                data.columns.features,
                tuple(terms[column] for column in range(10)),
                coef * terms.scales,
                intercept - float(coef * terms.scales @ terms.centers),
            )
            np.testing.assert_allclose(own[:, output], model.score_rows(data.columns, rows), rtol=1e-12, atol=1e-12)


def test_a_model_that_has_no_shorter_lists_has_no_scores_of_them():
    """A model of at most one term had an array of no dimensions in place of no coefficients."""
    data, X = make_data(4)
    large = make_large(X, 4)
    sheet = Sheet.of(data, data.rows, large, 0)
    lists = make_lists(sheet, score_large(sheet, large), large, [], OfNumbers(), NO_CONSTRAINTS)
    assert lists == []
    assert score_lists(data.columns, np.arange(7), large, lists, 1).shape == (0, 7, 1)


def test_the_large_model_scores_real_and_imagined_rows():
    data, X = make_data(5)
    large = make_large(X, 5, 2)
    sheet = Sheet.of(data, np.arange(20, 60), large, 120)
    scores = score_large(sheet, large)
    assert scores.shape == (120, 2)
    expected = score_lists(data.columns, np.arange(20, 60), large, [large.points], 1)[0]
    np.testing.assert_allclose(scores[:40], expected, rtol=1e-12)
    table = sheet.columns.take(slice(None)).T
    for output, (coef, intercept) in enumerate(large.points):
        expected = make_dense(large.terms[output], table) @ coef + intercept
        np.testing.assert_allclose(scores[:, output], expected, rtol=1e-12, atol=1e-12)
