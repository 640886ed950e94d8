"""Tables as arrays, and back."""

import json

import numpy as np
import pandas as pd
from benchmarks.frames import pack, unpack
from hypothesis import given
from hypothesis import strategies as st

CELLS = st.one_of(st.none(), st.floats(-1e9, 1e9))
WORDS = st.one_of(st.none(), st.sampled_from(["blue", "green", "red, or", 'a "word"']))


@given(st.lists(st.tuples(CELLS, WORDS), min_size=1, max_size=8))
def test_what_is_packed_comes_back(rows):
    """Also after a way through JSON, by which names and categories go to a cell."""
    frame = pd.DataFrame(
        {
            "number": np.array([number for number, _ in rows], dtype=np.float64),
            "word": pd.Categorical([word for _, word in rows]),
        }
    )
    X, columns = pack(frame)
    assert X.shape == (len(rows), 2)
    back = unpack(X, json.loads(json.dumps(columns)))
    assert back["number"].equals(frame["number"])
    assert back["word"].astype(object).equals(frame["word"].astype(object))
    assert isinstance(back["word"].dtype, pd.CategoricalDtype)


def test_categories_that_are_numbers_become_words():
    X, columns = pack(pd.DataFrame({"code": pd.Categorical([3, 1, 3])}))
    assert columns == (("code", ("1", "3")),)
    assert unpack(X, columns)["code"].tolist() == ["3", "1", "3"]
