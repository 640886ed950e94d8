"""The weights of a list depend on the list alone, and not on the way to it."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edited_lists import draw, fit, freeze
from rulegrove.exceptions import InvalidInputError

NUMBERS = st.integers(1, 7)
RULES = st.sampled_from(["x0 > 0.5", "x1 <= 0 and x2 > -1", "x2 > 0.8", "-0.5 < x0 <= 1", "x1 > 1 and x0 <= 0.3"])
STEPS = st.one_of(
    st.builds(lambda n: {"operation": "drop", "number": n}, NUMBERS),
    st.builds(lambda n, r: {"operation": "replace", "number": n, "rule": r}, NUMBERS, RULES),
    st.builds(lambda r: {"operation": "add", "rule": r}, RULES),
    st.builds(lambda a, b: {"operation": "merge", "first": a, "second": b}, NUMBERS, NUMBERS),
    st.builds(lambda n: {"operation": "round", "thresholds": n}, st.integers(1, 3)),
    st.builds(lambda n, w: {"operation": "fix", "number": n, "coefficient": w}, NUMBERS, st.floats(-1, 1)),
    st.builds(lambda a: {"operation": "forbid", "attribute": a}, st.sampled_from(["x0", "x1", "x2"])),
    st.builds(
        lambda a: {"operation": "monotone", "attribute": a, "direction": "increasing"}, st.sampled_from(["x0", "x1"])
    ),
)


@pytest.mark.parametrize("kind", ["two", "number", "poisson"])
@settings(max_examples=15, deadline=None)
@given(steps=st.lists(STEPS, max_size=6))
def test_any_edits_can_be_repeated_and_undone(kind, steps):
    model, (X, y) = fit(kind), draw(kind)
    session = model.edit(X, y)
    states = [freeze(session)]
    for step in steps:
        before = freeze(session)
        try:
            session.apply([step])
            states.append(freeze(session))
        except InvalidInputError:
            assert freeze(session) == before
    again = model.edit(X, y)
    again.apply(session.script())
    assert freeze(again)[:4] == freeze(session)[:4]
    if len(session.log) > 1:
        cold = session._states[-1].solve(session._states[-1].ridge)  # from no weights at all
        warm = session._states[-1]
        unit = float(np.std(y)) if kind == "number" else 1.0
        for number, own in warm.terms.items():
            np.testing.assert_allclose(own.coefs, cold.terms[number].coefs, atol=1e-6 * unit)
        np.testing.assert_array_equal(session.finish().predict(X), again.finish().predict(X))
    for state in reversed(states[:-1]):
        session.undo()
        assert freeze(session)[:4] == state[:4]
    with contextlib.suppress(InvalidInputError):
        session.undo()
    assert freeze(session) == states[0]
