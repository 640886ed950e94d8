"""The record in which every data set arrives."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np

from rulegrove._typing import AnyArray, FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table of labelled observations.

    Parameters
    ----------
    name : str
        Short name of the data set.
    description : str
        One sentence: what a row is, and what is to be told.
    X : ndarray of shape (n_samples, n_features)
        Attributes, float64; missing cells are NaN.
    y : ndarray of shape (n_samples,)
        Class labels, integers or strings.
    feature_names : tuple of str
        Name of each column of `X`.

    Examples
    --------
    >>> from rulegrove.datasets import load
    >>> iris = load("iris")
    >>> iris
    Dataset('iris', 150 rows, 4 features, 3 classes)
    >>> iris.X[0], str(iris.y[0])
    (array([5.1, 3.5, 1.4, 0.2]), 'Iris-setosa')
    >>> X, y = iris
    """

    name: str
    description: str
    X: FloatArray
    y: AnyArray
    feature_names: tuple[str, ...]

    def __iter__(self) -> Iterator[AnyArray]:
        """Unpack as ``X, y``."""
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        n_rows, n_features = self.X.shape
        n_classes = np.unique(self.y).size
        return f"{type(self).__name__}({self.name!r}, {n_rows} rows, {n_features} features, {n_classes} classes)"

    def frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return features and labels as one data frame; the labels are its last column, ``class``.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
            Library of the frame; it must be installed.

        Returns
        -------
        DataFrame
            Frame of `backend`.

        Examples
        --------
        >>> from rulegrove.datasets import load
        >>> load("iris").frame().columns.to_list()
        ['sepal_length', 'sepal_width', 'petal_length', 'petal_width', 'class']
        """
        columns: dict[str, Any] = dict(zip(self.feature_names, self.X.T.copy(), strict=True))
        return nw.from_dict({**columns, "class": self.y}, backend=backend).to_native()
