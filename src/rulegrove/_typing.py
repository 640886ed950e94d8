"""Names for the array types that travel between the stages."""

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]
ByteArray = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
AnyArray = npt.NDArray[Any]
