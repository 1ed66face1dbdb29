"""NumPy arrays as the library wants them: contiguous, of one type, of a stated shape, finite where that matters."""
from __future__ import annotations

import contextlib
import ctypes
import html
import math
import os
import tempfile
from typing import Any, Iterable, Iterator, Sequence

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
        exact = given.size == 0 or given.dtype.kind in "iubf" and bool((given == array).all())
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
        found = " x ".join(map(str, array.shape)) or "one number"
        raise ArgumentError(f"{what} must have shape {wanted}, found {found}")
    return array


def address(array: np.ndarray | None) -> ctypes.c_void_p | None:
    return None if array is None else ctypes.c_void_p(array.ctypes.data)


def view(pointer: Any, shape: Sequence[int], owner: Any = None) -> np.ndarray:
    """A copy of doubles that the library owns."""
    if not pointer or 0 in shape:
        return np.zeros(tuple(shape))
    return np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_double)), tuple(shape)).copy()


# ---- tables ----------------------------------------------------------------------------------------------------------


def columns(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, np.ndarray]:
    """Rows as a dict of columns: numbers and texts are arrays of their type."""
    turned = list(zip(*rows)) or [()] * len(names)
    return {name: np.array(column) for name, column in zip(names, turned)}


def html_table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table for notebooks. Texts are escaped."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(short(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def short(value: Any) -> str:
    """A number as people read it; NaN is empty."""
    if isinstance(value, (bool, np.bool_)) or value is None:
        return "yes" if value else ""
    if isinstance(value, (float, np.floating)):
        return "" if math.isnan(value) else f"{value:.4g}"
    return str(value)


def plain(value: Any) -> Any:
    """Arrays, tuples and dataclasses as lists and dicts, for JSON."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "__dataclass_fields__"):
        return {key: plain(getattr(value, key)) for key in value.__dataclass_fields__}
    return value


@contextlib.contextmanager
def scratch() -> Iterator[str]:
    """A folder for files that the library reads or writes on the way; in memory where there is such a place."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="covtune", dir=memory) as folder:
        yield folder
