"""The tool that measures the source tree, on a package of a few lines.

Beyond the mirror of the package: the tool is not part of it.
"""

import ast

import pytest
from tools.measure_code import Code, count_lines, reach, tell_functions, tell_habits, tell_knowing

TEXTS = {
    "rulegrove.estimators.base": '''
"""A base."""

from typing import Any

from rulegrove.solvers import Lasso, solve

ROWS = 2**16  # switch
UNUSED = 1000


class Base:
    def fit(self, X: "Any", y: dict[str, Any]) -> Any:
        # the rows
        self._model = solve(X) if len(X) < ROWS else self._large(Lasso(1))
        return self

    def _large(self, solver):
        def run():
            return solver.path(getattr(solver, "loss", None))

        return run()
''',
    "rulegrove.solvers": "from rulegrove.solvers.lasso import Lasso, solve\n",
    "rulegrove.solvers.lasso": """
def solve(X):
    return isinstance(X, Lasso) or hasattr(X, "shape")


def unused():
    return Lasso(2)


class Lasso:
    def __init__(self, penalty):
        self.penalty = penalty

    def path(self, loss):
        return loss
""",
    "rulegrove.plots": "def plot(model):\n    return model._model.path()\n",
}


@pytest.fixture(scope="module")
def code():
    return Code(TEXTS)


def test_count_lines():
    text = TEXTS["rulegrove.estimators.base"]
    assert count_lines(text, ast.parse(text)) == {"code": 12, "docstring": 1, "comment": 1, "blank": 8}


def test_reach_follows_imports_constructors_and_methods(code):
    ends = {"base.Base.fit", "base.Base._large", "lasso.solve", "lasso.Lasso.__init__", "lasso.Lasso.path"}
    assert {name.split(".", 2)[2] for name in reach(code, "rulegrove.estimators.base.Base.fit")} == ends


def test_functions_are_counted_nested_ones_too(code):
    assert tell_functions(code)["functions"] == 8


def test_habits(code):
    switches, *counts, users = tell_habits(code).values()
    assert switches == ["rulegrove.estimators.base.ROWS=65536"]
    assert counts == [1, 1, 1, 3, 1]  # getattr, hasattr, isinstance, Any, modules that use `_model`
    assert users == ["rulegrove.plots"]


def test_modules_that_know_of_a_kind():
    texts = {"rulegrove.a": "if isinstance(solver, Glmnet):\n    pass", "rulegrove.b": "solver.path(problem)"}
    assert tell_knowing(Code(texts))["modules that know of a solver"] == ["rulegrove.a"]
