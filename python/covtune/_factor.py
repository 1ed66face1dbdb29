"""Measurement models written in Python."""
from __future__ import annotations

import ctypes
from typing import Any, Callable, Sequence

import numpy as np

from . import _tables as t
from ._arrays import address, doubles
from ._library import ArgumentError, call, count, encode, flag, instance, lib, real

_DOUBLE = ctypes.sizeof(ctypes.c_double)


def _array(where: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Memory of the library as an array, without a copy."""
    count = 1
    for n in shape:
        count *= n
    memory: Any = (ctypes.c_double * count).from_address(where)
    return np.frombuffer(memory, dtype=np.float64).reshape(shape)


def _address(pointer: Any) -> int | None:
    return ctypes.cast(pointer, ctypes.c_void_p).value if pointer else None


class FactorModel:
    """A measurement model: a residual as a function of variables and a measurement, for all its factors at once.

    `function(z, x, jacobians)` gets lists of arrays: z[k] is part k of the measurements (n x size), x[i] the values of
    variable i (n x size). It returns the residuals, n x rows; with `derivatives=True` and jacobians true it returns
    (residuals, [J0, J1, ...]), J_i n x rows x dimension, the derivative by a right perturbation x o Exp(d). Otherwise
    derivatives are central differences.

    With `in_place=True` the function writes instead of returning, which saves copies: `function(z, x, r, J)` fills r
    (n x rows) and, where J is not None, every entry of J[i]. It returns None. J is None without `derivatives`.

    Sizes are those of stored values: R1 to R3 coordinates; SO2 (cos, sin); SE2 (x, y, cos, sin); SO3 (qx, qy, qz, qw);
    SE3 (x, y, z, qx, qy, qz, qw). Dimensions: SE2 (x, y, yaw), SE3 (rotation, translation).

    >>> def height(z, x, jacobians):
    ...     return x[0][:, 2:3] - z[0]
    >>> FactorModel("height", ["SE3"], ["R1"], rows=1, function=height)
    FactorModel('height', SE3, 1 row, numeric derivatives)
    """

    def __init__(self, name: str, variables: Sequence[str], measurement: Sequence[str], rows: int,
                 function: Callable[..., Any], *, derivatives: bool = False, in_place: bool = False,
                 absolute: bool = False, coordinates: Sequence[str] | None = None,
                 units: Sequence[str] | None = None) -> None:
        if not callable(function):
            raise ArgumentError(f"{name!r:.80}: its function cannot be called")
        for words, what in ((variables, "variables"), (measurement, "parts of the measurement"),
                            (coordinates, "coordinates"), (units, "units")):
            if words is not None and not isinstance(words, (list, tuple)):
                raise ArgumentError(f"{name!r:.80}: {what} are a list of texts, found {words!r:.80}")
        rows, derivatives, absolute = count(rows, "rows", 1, t.CT_ROWS_MAX), flag(derivatives) == 1, flag(absolute) == 1
        if not 1 <= len(variables) <= t.CT_ARITY_MAX:
            raise ArgumentError(f"{name}: 1 to {t.CT_ARITY_MAX} variables, found {len(variables)}")
        if len(measurement) > t.CT_FIELDS_MAX:
            raise ArgumentError(f"{name}: at most {t.CT_FIELDS_MAX} parts of a measurement, found {len(measurement)}")
        from .graph import kind_of

        self.name, self.rows, self.function, self.derivatives = name, rows, function, derivatives
        self.in_place = flag(in_place) == 1
        self._kinds, self._fields = [kind_of(k) for k in variables], [kind_of(k) for k in measurement]
        self._sizes = [lib.ct_kind_size(k) for k in self._kinds]
        self._dims = [lib.ct_kind_dim(k) for k in self._kinds]
        self._parts = [lib.ct_kind_size(k) for k in self._fields]
        self._pending: list[BaseException] = []
        ops = self._ops = t.ct_factor_ops()
        self._texts = [encode(name)] + [encode(c) for c in coordinates or [f"r{i}" for i in range(rows)]] + \
            [encode(u) for u in units or [""] * rows]
        if len(self._texts) != 1 + 2 * rows:
            raise ArgumentError(f"{name}: every one of {rows} rows needs a coordinate and a unit")
        ops.name, ops.rows, ops.arity = self._texts[0], rows, len(self._kinds)
        ops.fields = ops.required = len(self._fields)
        ops.absolute = int(absolute)
        ops.jacobian = t.CT_JACOBIAN_ANALYTIC if derivatives else t.CT_JACOBIAN_NUMERIC
        for i, kind in enumerate(self._kinds):
            ops.kind[i] = kind
        for i, kind in enumerate(self._fields):
            ops.field[i] = kind
        for i in range(rows):
            ops.coordinate[i], ops.unit[i] = self._texts[1 + i], self._texts[1 + rows + i]
        ops.eval = type(ops.eval)(self._eval_one)
        ops.eval_many = type(ops.eval_many)(self._eval_many)

    # ---- called by the library, from any thread

    def _eval_one(self, z: Any, context: Any, x: Any, r: Any, J: Any) -> None:
        self._eval_many(1, z, context, x, r, J)

    def _eval_many(self, n: int, z: Any, context: Any, x: Any, r: Any, J: Any) -> None:
        out = None
        try:
            out = _array(_address(r), (n, self.rows))
            pointers = ctypes.cast(x, ctypes.POINTER(ctypes.c_void_p))
            slots = ctypes.cast(J, ctypes.POINTER(ctypes.c_void_p)) if J else None
            measured = _array(_address(z), (n, sum(self._parts))) if self._parts else np.zeros((n, 0))
            measured.flags.writeable = False
            parts, at = [], 0
            for size in self._parts:
                parts.append(measured[:, at:at + size])
                at += size
            values = [_array(pointers[i], (n, size)) for i, size in enumerate(self._sizes)]
            for value in values:
                value.flags.writeable = False
            self._fill(parts, values, out, slots, n)
        except BaseException as why:  # raised again by whoever called the library
            self._pending.append(why)
            if out is not None:
                out[:] = np.nan

    def _fill(self, z: list, x: list, out: np.ndarray, slots: Any, n: int) -> None:
        if self.in_place:
            self._fill_in_place(z, x, out, slots, n)
            return
        if not (slots and self.derivatives):
            result = self.function(z, x, False)
            out[:] = self._residuals(result[0] if isinstance(result, tuple) else result, n)
            return
        result = self.function(z, x, True)
        if not isinstance(result, tuple) or len(result) != 2:
            raise ArgumentError(f"{self.name}: with derivatives the function returns (residuals, jacobians)")
        out[:] = self._residuals(result[0], n)
        if len(result[1]) != len(self._dims):
            raise ArgumentError(f"{self.name}: {len(self._dims)} Jacobians, found {len(result[1])}")
        for i, (block, dim) in enumerate(zip(result[1], self._dims)):
            if slots[i]:
                _array(slots[i], (n, self.rows, dim))[:] = \
                    doubles(block, (n, self.rows, dim), f"{self.name}: its Jacobian by variable {i}")

    def _fill_in_place(self, z: list, x: list, out: np.ndarray, slots: Any, n: int) -> None:
        blocks = None
        if slots and self.derivatives:
            blocks = [_array(slots[i], (n, self.rows, dim)) if slots[i] else np.empty((n, self.rows, dim))
                      for i, dim in enumerate(self._dims)]
        if self.function(z, x, out, blocks) is not None:
            raise ArgumentError(f"{self.name}: with in_place=True the function fills r and J, and returns None")

    def _residuals(self, value: Any, n: int) -> np.ndarray:
        return doubles(value, (n, self.rows), f"{self.name}: its residuals")

    # ---- for users

    def check(self, z: Any, x: Sequence[Any], tolerance: float = 1e-6) -> None:
        """Compare derivatives with differences at one point: z and x are fields, as in add_factors. Raises with the
        entry that is wrong."""
        from .graph import Graph, from_fields, one_row

        stored = Graph._measurements(self._ops, one_row(z), 1)
        if len(instance(x, (list, tuple, np.ndarray), "x")) != len(self._kinds):
            raise ArgumentError(f"{self.name} has {len(self._kinds)} variables, found {len(x)}")
        values = [from_fields(k, one_row(v), "values") for k, v in zip(self._kinds, x)]
        slots = (ctypes.c_void_p * t.CT_ARITY_MAX)(*(v.ctypes.data for v in values))
        try:
            call("ct_factor_check", ctypes.byref(self._ops), address(stored), None, slots,
                 real(tolerance, "tolerance", 0))
        finally:
            raise_pending([self])

    def __repr__(self) -> str:
        kinds = ", ".join(lib.ct_kind_name(k).decode() for k in self._kinds)
        return f"FactorModel({self.name!r}, {kinds}, {self.rows} row{'s' * (self.rows > 1)}, " \
               f"{'own' if self.derivatives else 'numeric'} derivatives)"


def raise_pending(models: Sequence[FactorModel]) -> None:
    """Raise what a model's function raised while the library called it."""
    for model in models:
        if model._pending:
            why = model._pending[0]
            model._pending.clear()
            try:
                raise why
            finally:
                del why
