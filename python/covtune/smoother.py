"""Incremental estimation of a growing graph (iSAM2)."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _tables as t
from ._arrays import address, doubles, indices
from ._factor import FactorModel, raise_pending
from ._library import ArgumentError, Handle, call, changing, count, flag, in_use, instance, lib, real
from .graph import Graph, find_model, from_fields, kind_of, to_fields
from .noise import Noise


@dataclass(frozen=True)
class UpdateResult:
    """Statistics of an update."""

    variables: int
    factors: int
    eliminated: int
    """Variables that were eliminated again."""
    relinearised: int
    """Variables whose linearisation points moved."""
    marginalised: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Numbers, for JSON."""
        return dict(self.__dict__)


class Smoother(Handle):
    """iSAM2: variables and factors are added, and `update` brings the estimate up to date by what they affect alone.

    What is added waits for the next update. An update that fails changes nothing, and what waits is kept: add what
    lacks and update again, or `discard` it. `relinearise`: threshold in m and rad, looked at every `skip` updates.
    `window`: number of variables kept, older ones are marginalised; 0: all. The noise table stays in use until it is
    closed.

    >>> noise = Noise()
    >>> _ = noise.add("prior", sigma=[0.1] * 3), noise.add("odom", sigma=[0.1, 0.1, 0.02])
    >>> smoother = Smoother(noise)
    >>> x = smoother.add_variables("SE2", [[0, 0, 0]])
    >>> smoother.add_prior(x, [[0, 0, 0]], noise="prior").tolist()
    [0]
    >>> for k in range(3):
    ...     x = np.append(x, smoother.add_variables("SE2", [[k + 1, 0, 0]]))
    ...     _ = smoother.add_between(x[-2:-1], x[-1:], [[1, 0, 0.1]], noise="odom")
    ...     _ = smoother.update()
    >>> smoother.values(x)[-1].round(3)
    array([2.975, 0.299, 0.3  ])
    """

    _free = "ct_smoother_free"

    def __init__(self, noise: Noise, *, relinearise: float = 0.1, skip: int = 10, wildfire: float = 0.001,
                 window: int = 0) -> None:
        instance(noise, Noise, "noise")
        options, handle = lib.ct_smoother_defaults(), ctypes.c_void_p()
        for kind in range(t.CT_KIND_COUNT):
            options.relinearise[kind] = real(relinearise, "relinearise", 0)
        options.skip, options.window = count(skip, "skip"), count(window, "window")
        options.wildfire = real(wildfire, "wildfire", 0)
        with changing(noise):
            call("ct_smoother_new", noise._pointer, ctypes.byref(options), ctypes.byref(handle))
            noise._pins += 1
        super().__init__(handle)
        self.noise = noise
        self._models: list[FactorModel] = []
        self._kinds: list[int] = []
        self._discard()

    def _discard(self) -> None:
        self._variables: list[tuple[int, np.ndarray]] = []
        self._factors: list[tuple[t.ct_factor_ops, np.ndarray, np.ndarray, int]] = []
        self._removals: list[int] = []
        self._marginals: list[int] = []
        self._count = [0, 0]  # of variables and factors that wait

    def discard(self) -> None:
        """Forget what waits for the next update."""
        with changing(self):
            self._discard()

    # ---- what waits

    def add_variables(self, kind: str, values: Any) -> np.ndarray:
        """Variables with initial values, one a row of fields. Returns their indices."""
        with changing(self):
            number = kind_of(kind)
            stored = np.array(from_fields(number, values, f"values of {kind}"))
            first = self.variables + self._count[0]
            self._variables.append((number, stored))
            self._count[0] += len(stored)
            return np.arange(first, first + len(stored), dtype=np.int32)

    def add_factors(self, model: str | FactorModel, variables: Any, measurements: Any, noise: str | int) -> np.ndarray:
        """Factors of a model, as Graph.add_factors. Returns their numbers."""
        with changing(self):
            ops = find_model(model)
            if isinstance(model, FactorModel) and model not in self._models:
                self._models.append(model)
            var = np.array(indices(variables, (None, None), "variables"))
            if var.shape[1] != ops.arity:
                raise ArgumentError(f"{ops.name.decode()} has {ops.arity} variables: `variables` must be n x "
                                    f"{ops.arity}, found shape {var.shape}")
            bad = var[(var < 0) | (var >= self.variables + self._count[0])]
            if len(bad):
                raise ArgumentError(f"there is no variable {bad[0]}: there are {self.variables + self._count[0]}")
            z = np.array(Graph._measurements(ops, measurements, len(var)))
            first = self.factors + self._count[1]
            self._factors.append((ops, var, z, self.noise.index(noise)))
            self._count[1] += len(var)
            return np.arange(first, first + len(var), dtype=np.int32)

    def add_prior(self, variables: Any, values: Any, noise: str | int) -> np.ndarray:
        """A direct measurement of each variable."""
        index = indices(variables, (None,), "variables")
        return self.add_factors(self._by_kind("prior", index), index[:, None], values, noise)

    def add_between(self, a: Any, b: Any, measurements: Any, noise: str | int) -> np.ndarray:
        """The motion from each variable of `a` to that of `b`, in the frame of `a`."""
        first, second = indices(a, (None,), "a"), indices(b, (None,), "b")
        if len(first) != len(second):
            raise ArgumentError(f"a has {len(first)} variables, b {len(second)}")
        return self.add_factors(self._by_kind("between", first), np.column_stack([first, second]), measurements, noise)

    def _by_kind(self, model: str, index: np.ndarray) -> str:
        kind = self._kind(int(index[0])) if len(index) else t.CT_SE2
        return f"{model}_{lib.ct_kind_name(kind).decode().lower()}"

    def _kind(self, var: int) -> int:
        at = var - self.variables
        if 0 <= var < self.variables:
            return self._kinds[var]
        for kind, stored in self._variables:
            if 0 <= at < len(stored):
                return kind
            at -= len(stored)
        raise ArgumentError(f"there is no variable {var}: there are {self.variables + self._count[0]}")

    def remove(self, factors: Any) -> None:
        """Remove factors at the next update."""
        with changing(self):
            self._removals += indices(factors, (None,), "factors").tolist()

    def marginalise(self, variables: Any) -> None:
        """Remove variables at the next update; what their factors know stays as a prior on their neighbours."""
        with changing(self):
            self._marginals += indices(variables, (None,), "variables").tolist()

    # ---- updates

    def update(self, relinearise: bool = False) -> UpdateResult:
        """Apply what waits. `relinearise`: all variables, as a Gauss-Newton iteration."""
        with in_use(self.noise, alone=(self,)):
            increment, stats = self._increment(), t.ct_smoother_stats()
            increment.relinearise = flag(relinearise)
            try:
                call("ct_smoother_update", self._pointer, ctypes.byref(increment), ctypes.byref(stats))
            finally:
                raise_pending(self._models)
            for kind, stored in self._variables:
                self._kinds += [kind] * len(stored)
            self._discard()
        return UpdateResult(stats.variables, stats.factors, stats.eliminated, stats.relinearised, stats.marginalised,
                            stats.seconds)

    def _increment(self) -> t.ct_increment:
        variables = (t.ct_new_variable * max(self._count[0], 1))()
        factors = (t.ct_new_factor * max(self._count[1], 1))()
        value_type: Any = dict(t.ct_new_variable._fields_)["value"]  # type: ignore[arg-type]
        types: Any = dict(t.ct_new_factor._fields_)  # type: ignore[arg-type]
        at = 0
        for kind, stored in self._variables:
            for row in range(len(stored)):
                variables[at].kind = kind
                variables[at].value = ctypes.cast(stored.ctypes.data + row * stored.strides[0], value_type)
                at += 1
        at = 0
        for ops, var, z, noise in self._factors:
            for row in range(len(var)):
                one = factors[at]
                one.ops, one.noise = ctypes.pointer(ops), noise
                one.var = ctypes.cast(var.ctypes.data + row * var.strides[0], types["var"])
                one.z = ctypes.cast(z.ctypes.data + row * z.strides[0], types["z"])
                at += 1
        removal = (ctypes.c_int32 * max(len(self._removals), 1))(*self._removals)
        marginal = (ctypes.c_int32 * max(len(self._marginals), 1))(*self._marginals)
        return t.ct_increment(self._count[0], self._count[1], len(self._removals), len(self._marginals), variables,
                              factors, removal, marginal)

    def renew(self) -> None:
        """After numbers of the noise table were changed: everything is whitened and eliminated again."""
        with in_use(self.noise, alone=(self,)):
            try:
                call("ct_smoother_renew", self._pointer)
            finally:
                raise_pending(self._models)

    # ---- estimates

    @property
    def variables(self) -> int:
        """Indices given so far to variables; those that wait do not count."""
        return lib.ct_smoother_variables(self._pointer)

    @property
    def factors(self) -> int:
        """Numbers given so far to factors."""
        return lib.ct_smoother_factors(self._pointer)

    def _check(self, variables: Any) -> np.ndarray:
        index = indices(variables, (None,), "variables")
        for v in index.tolist():
            if not 0 <= v < self.variables:
                raise ArgumentError(f"there is no variable {v}: there are {self.variables} after the last update")
            if not lib.ct_smoother_has(self._pointer, v):
                raise ArgumentError(f"variable {v} was marginalised")
        return index

    def values(self, variables: Any = None) -> np.ndarray | list[np.ndarray]:
        """Estimates as rows of fields: an array if all are of one kind, else a list. None: of all that are kept."""
        with changing(self):
            if variables is None:
                kept = [v for v in range(self.variables) if lib.ct_smoother_has(self._pointer, v)]
                index = np.array(kept, dtype=np.int32)
            else:
                index = self._check(variables)
            kinds = [self._kinds[v] for v in index]
            rows = np.zeros((len(index), t.CT_SIZE_MAX))
            for row, v in enumerate(index.tolist()):
                lib.ct_smoother_estimate(self._pointer, v, rows.ctypes.data + row * rows.strides[0])
            if len(set(kinds)) == 1:
                return to_fields(kinds[0], rows[:, :lib.ct_kind_size(kinds[0])])
            return [to_fields(k, rows[i:i + 1, :lib.ct_kind_size(k)])[0] for i, k in enumerate(kinds)]

    def marginals(self, variables: Any) -> list[np.ndarray]:
        """Covariance of each variable in its own frame, at the linearisation points."""
        with in_use(alone=(self,)):
            out = []
            for v in self._check(variables).tolist():
                dim = lib.ct_kind_dim(self._kinds[v])
                block = np.zeros((dim, dim))
                call("ct_smoother_marginal", self._pointer, v, address(block))
                out.append(block)
            return out

    def error(self) -> float:
        """Sum of rho over the factors at the estimate."""
        with in_use(self.noise, alone=(self,)):
            value = lib.ct_smoother_error(self._pointer)
        raise_pending(self._models)
        return value

    def distance(self) -> float:
        """Distance from the minimum in standard deviations: what thresholds leave."""
        largest, distance = ctypes.c_double(), ctypes.c_double()
        with in_use(self.noise, alone=(self,)):
            try:
                call("ct_smoother_stationarity", self._pointer, ctypes.byref(largest), ctypes.byref(distance))
            finally:
                raise_pending(self._models)
        return distance.value

    def close(self) -> None:
        """Free it now, and release the noise table."""
        with changing():
            open_before = bool(self._handle)
            super().close()
            if open_before:
                self.noise._pins -= 1

    def __repr__(self) -> str:
        if not self._handle:
            return "Smoother(closed)"
        waiting = f"{self._count[0]} and {self._count[1]} wait"
        return f"Smoother({self.variables} variables, {self.factors} factors; {waiting})"
