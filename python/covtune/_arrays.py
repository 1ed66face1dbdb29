"""NumPy arrays as the library wants them: contiguous, of one type, of a stated shape, finite where that matters."""
from __future__ import annotations

import ctypes
from typing import Any, Sequence

import numpy as np

from ._library import ArgumentError


def doubles(value: Any, shape: Sequence[int | None], what: str) -> np.ndarray:
    """A C-contiguous array of doubles of that shape; None: any size. No copy where the layout is right."""
    try:
        array = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError) as why:
        raise ArgumentError(f"{what} must be numbers: {why}") from None
    return _shaped(array, value, shape, what)


def indices(value: Any, shape: Sequence[int | None], what: str) -> np.ndarray:
    """The same for 32-bit integers; numbers that are not whole or do not fit are refused."""
    try:
        given = np.asarray(value)
        array = np.ascontiguousarray(given, dtype=np.int32)
        exact = given.size == 0 or (given.dtype.kind in "iub" or given.dtype.kind == "f") and bool((given == array).all())
    except (TypeError, ValueError, OverflowError) as why:
        raise ArgumentError(f"{what} must be integers: {why}") from None
    if not exact:
        raise ArgumentError(f"{what} must be integers of at most 32 bits, found {given.dtype}")
    return _shaped(array, value, shape, what)


def _shaped(array: np.ndarray, value: Any, shape: Sequence[int | None], what: str) -> np.ndarray:
    if np.ndim(value) == 0 and len(shape) == 1 and shape[0] in (1, None):
        array = array.reshape(1)
    good = array.ndim == len(shape) and all(n is None or n == m for n, m in zip(shape, array.shape))
    if not good:
        wanted = " x ".join("n" if n is None else str(n) for n in shape) or "one number"
        raise ArgumentError(f"{what} must have shape {wanted}, found {' x '.join(map(str, array.shape)) or 'one number'}")
    return array


def address(array: np.ndarray | None) -> ctypes.c_void_p | None:
    return None if array is None else ctypes.c_void_p(array.ctypes.data)


def view(pointer: Any, shape: Sequence[int], owner: Any = None) -> np.ndarray:
    """A copy of doubles that the library owns."""
    if not pointer or 0 in shape:
        return np.zeros(tuple(shape))
    return np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_double)), tuple(shape)).copy()
