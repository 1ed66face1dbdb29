"""Factor graphs: variables, factors, estimates, covariances."""
from __future__ import annotations

import ctypes
import weakref
from dataclasses import dataclass, field
from typing import Any, Callable, Sequence

import numpy as np

from . import _tables as t
from ._arrays import address, doubles, html_table, indices, plain
from ._factor import FactorModel, raise_pending
from ._library import (ArgumentError, Handle, call, changing, count as whole, encode, flag, in_use, instance, lib,
                       reading, real)
from ._progress import Watch
from .noise import Noise


def kind_of(name: str) -> int:
    """The number of a manifold by name: "R1", "R2", "R3", "SO2", "SO3", "SE2", "SE3"."""
    kind = lib.ct_kind_find(encode(name, "a kind"))
    if kind < 0:
        known = ", ".join(lib.ct_kind_name(k).decode() for k in range(t.CT_KIND_COUNT))
        raise ArgumentError(f"{name!r} is no kind of variable: there are {known}")
    return kind


def find_model(model: str | FactorModel) -> t.ct_factor_ops:
    """The description of a measurement model, a built-in one by name or an own one."""
    if isinstance(model, FactorModel):
        return model._ops
    pointer = lib.ct_factor_find(encode(model, "a measurement model"))
    if not pointer:
        raise ArgumentError(f"there is no measurement model {model!r}; covtune.models() lists them")
    return pointer.contents


def dimensions(value: Any) -> int:
    """np.ndim, where lists may be ragged."""
    try:
        return np.ndim(value)
    except ValueError:
        return -1


def one_row(value: Any) -> Any:
    """A single value as one row."""
    return [value] if dimensions(value) < 2 else value


def from_fields(kind: int, fields: Any, what: str) -> np.ndarray:
    """Stored values of rows of fields: (x, y, yaw), (x, y, z, qx, qy, qz, qw), an angle, or coordinates. The library
    converts them: sines of NumPy differ in their last digits from one place in memory to another."""
    rows = doubles(fields, (None, lib.ct_kind_fields(kind)), what)
    out = np.empty((len(rows), lib.ct_kind_size(kind)))
    read = lib.ct_kind_from_rows(kind, len(rows), address(rows), address(out))
    if read < len(rows):
        why = "is not finite" if not np.isfinite(rows[read]).all() else "has a quaternion that is zero"
        raise ArgumentError(f"{what}: row {read} {why}")
    return out


def to_fields(kind: int, stored: np.ndarray) -> np.ndarray:
    """The inverse of from_fields."""
    stored = np.ascontiguousarray(stored, dtype=float)
    out = np.empty((len(stored), lib.ct_kind_fields(kind)))
    lib.ct_kind_to_rows(kind, len(stored), address(stored), address(out))
    return out


def places(graph: Any, index: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Kinds of variables of a ct_graph, and where their values begin; None: of all."""
    n = lib.ct_graph_variables(graph)
    kinds, offsets = np.empty(n, dtype=np.uint8), np.empty(n, dtype=np.int64)
    lib.ct_graph_describe_variables(graph, address(kinds), None, address(offsets))
    return (kinds, offsets) if index is None else (kinds[index], offsets[index])


def stored_rows(x: np.ndarray, kind: int, offsets: np.ndarray) -> np.ndarray:
    """Fields of variables of one kind from an array of stored values."""
    return to_fields(kind, x[offsets[:, None] + np.arange(lib.ct_kind_size(kind))])


@dataclass(frozen=True)
class SolveResult:
    """The outcome of a solve."""

    stop: str
    """Why it ended: "error", "step", "gradient" are minima."""
    converged: bool
    iterations: int
    initial_error: float
    final_error: float
    distance: float
    """Estimated distance from the minimum in standard deviations; NaN: not known."""
    seconds: float
    message: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Texts and numbers, for JSON."""
        return dict(self.__dict__)

    def _repr_html_(self) -> str:
        return html_table(("quantity", "value"), self.to_dict().items())

    def __repr__(self) -> str:
        return f"SolveResult({self.stop}, {self.iterations} iterations, error {self.initial_error:.6g} -> " \
               f"{self.final_error:.6g}, {self.seconds:.3g} s)"


@dataclass(frozen=True, repr=False)
class Block:
    """Residuals and Jacobians of the factors of one model."""

    model: str
    factors: np.ndarray
    """Numbers of the factors, n."""
    variables: np.ndarray
    """n x arity."""
    residuals: np.ndarray
    """n x rows."""
    jacobians: list[np.ndarray] = field(default_factory=list)
    """Of each variable: n x rows x dimension."""

    def to_dict(self) -> dict[str, Any]:
        """Lists, for JSON."""
        return {key: plain(value) for key, value in self.__dict__.items()}

    def __repr__(self) -> str:
        shapes = ", ".join(" x ".join(map(str, J.shape[1:])) for J in self.jacobians) or "none"
        return f"Block({self.model!r}, {len(self.factors)} factors of {self.residuals.shape[1]} rows; {shapes})"


class Graph(Handle):
    """A factor graph: variables, and factors between them. Values of poses are (x, y, yaw) in the plane and
    (x, y, z, qx, qy, qz, qw) in space.

    >>> graph, noise = Graph(), Noise()
    >>> _ = noise.add("prior", sigma=[0.1, 0.1, 0.1]), noise.add("odom", sigma=[0.1, 0.1, 0.02])
    >>> poses = graph.add_variables("SE2", [[0, 0, 0], [1, 0, 0]])
    >>> _ = graph.add_prior(poses[:1], [[0, 0, 0]], noise="prior", table=noise)
    >>> _ = graph.add_between(poses[:-1], poses[1:], [[1.1, 0.05, 0.02]], noise="odom", table=noise)
    >>> result = graph.solve(noise)
    >>> graph.values(poses)[1].round(3)
    array([1.1 , 0.05, 0.02])
    """

    _free = "ct_graph_free"

    def __init__(self, noise: Noise | None = None, *, _handle: Any = None) -> None:
        if _handle is None:
            _handle = ctypes.c_void_p()
            call("ct_graph_new", ctypes.byref(_handle))
        super().__init__(_handle)
        self.noise: Noise | None = None if noise is None else instance(noise, Noise, "noise")
        self._models: list[FactorModel] = []  # their functions must outlive the graph
        self._solver: Solver | None = None
        self._solvers: weakref.WeakSet[Solver] = weakref.WeakSet()  # all that use this graph

    # ---- variables

    def add_variables(self, kind: str, values: Any) -> np.ndarray:
        """Add a variable for each row of `values`; an integer adds so many at the identity. Returns their indices."""
        number = kind_of(kind)
        first = ctypes.c_int32()
        if isinstance(values, (int, np.integer)):
            count, stored = whole(values, "the number of variables"), None
        else:
            stored = from_fields(number, values, f"values of {kind}")
            count = len(stored)
        with changing(self):
            self._forget()
            call("ct_graph_add_variables", self._pointer, number, count, address(stored), ctypes.byref(first))
        return np.arange(first.value, first.value + count, dtype=np.int32)

    def add_variable(self, kind: str, value: Any = None, name: str | None = None, fixed: bool = False) -> int:
        """Add one variable, with a name. Returns its index."""
        number = kind_of(kind)
        index = ctypes.c_int32()
        stored = None if value is None else from_fields(number, one_row(value), "the value of a variable")
        if stored is not None and len(stored) != 1:
            raise ArgumentError(f"the value of a variable must be one row, found {len(stored)}")
        with changing(self):
            self._forget()
            call("ct_graph_add_variable", self._pointer, None if name is None else encode(name), number,
                 address(stored), ctypes.byref(index))
            if flag(fixed):
                lib.ct_graph_fix(self._pointer, index.value, 1)
        return index.value

    def fix(self, variables: Any, fixed: bool = True) -> None:
        """Hold variables at their values: they are not estimated."""
        with changing(self):
            index = self._check(variables)
            self._forget()
            for v in index:
                lib.ct_graph_fix(self._pointer, int(v), flag(fixed))

    def find(self, name: str) -> int:
        """The index of a variable by its name, as add_variable gave it; others are "x17", by index."""
        with reading(self):
            index = lib.ct_graph_find(self._pointer, encode(name))
        if index < 0:
            raise ArgumentError(f"there is no variable {name!r}")
        return int(index)

    def names(self) -> list[str]:
        """Names of all variables."""
        buffer = ctypes.create_string_buffer(256)
        with reading(self):
            return [lib.ct_graph_name(self._pointer, v, buffer, 256).decode("utf-8", "replace")
                    for v in range(self.variables)]

    def _check(self, variables: Any) -> np.ndarray:
        index = indices(variables, (None,), "variables")
        bad = index[(index < 0) | (index >= self.variables)]
        if len(bad):
            raise ArgumentError(f"there is no variable {bad[0]}: the graph has {self.variables}")
        return index

    def values(self, variables: Any = None) -> np.ndarray | list[np.ndarray]:
        """Present values as rows of fields: an array if all are of one kind, else a list. None: of all variables."""
        with reading(self):
            index = np.arange(self.variables, dtype=np.int32) if variables is None else self._check(variables)
            kinds, offsets = self._places(index)
            if len(index) and (kinds == kinds[0]).all():
                return stored_rows(self._values, int(kinds[0]), offsets)
            return [stored_rows(self._values, int(k), o[None])[0] for k, o in zip(kinds, offsets)]

    def _places(self, index: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Kinds and offsets of variables."""
        return places(self._pointer, index)

    def set_values(self, variables: Any, values: Any) -> None:
        """Change values, from which the next solve starts. All variables must be of one kind."""
        with changing(self):
            index = self._check(variables)
            kinds, offsets = self._places(index)
            if len(np.unique(kinds)) > 1:
                raise ArgumentError("variables of several kinds: set those of one kind at a time")
            for kind in np.unique(kinds).tolist():
                stored = from_fields(kind, values, "values")
                if len(stored) != len(index):
                    raise ArgumentError(f"{len(index)} variables, but {len(stored)} rows of values")
                if not np.isfinite(stored).all():
                    raise ArgumentError("values must be finite")
                self._values[offsets[:, None] + np.arange(stored.shape[1])] = stored

    @property
    def _values(self) -> np.ndarray:
        """The values in the library's own memory."""
        size = lib.ct_graph_size(self._pointer)
        if size == 0:
            return np.zeros(0)
        return np.ctypeslib.as_array(ctypes.cast(lib.ct_graph_initial(self._pointer), ctypes.POINTER(ctypes.c_double)),
                                     (size,))

    # ---- factors

    def add_factors(self, model: str | FactorModel, variables: Any, measurements: Any, noise: str | int,
                    table: Noise | None = None) -> np.ndarray:
        """Add factors of a model, a built-in one by name or an own one: variables are n x arity, measurements n rows of
        fields, parts one after the other; parts that files may leave out may be left out. Returns their numbers."""
        ops = find_model(model)
        names = [ops.kind[i] for i in range(ops.arity)]
        var = indices(variables, (None, None) if dimensions(variables) != 1 else (None,), "variables")
        var = np.ascontiguousarray(var.reshape(-1, len(names)) if var.ndim == 1 and len(names) == 1 else var)
        if var.ndim != 2 or var.shape[1] != len(names):
            raise ArgumentError(f"{ops.name.decode()} has {len(names)} variables: `variables` must be n x "
                                f"{len(names)}, found shape {var.shape}")
        z = self._measurements(ops, measurements, len(var))
        index = self._noise_index(noise, table)
        with changing(self):
            first = self.factors
            self._forget()
            if isinstance(model, FactorModel) and model not in self._models:
                self._models.append(model)
            call("ct_graph_add_factors", self._pointer, ctypes.byref(ops), len(var), address(var), address(z), None,
                 index)
        return np.arange(first, first + len(var), dtype=np.int32)

    @staticmethod
    def _measurements(ops: t.ct_factor_ops, fields: Any, count: int) -> np.ndarray:
        kinds = [ops.field[i] for i in range(ops.fields)]
        widths = [lib.ct_kind_fields(k) for k in kinds]
        name = ops.name.decode()
        what = f"measurements of {name}"
        rows = doubles(fields, (None, None) if dimensions(fields) == 2 else (None,), what)
        if rows.ndim == 1 and count and len(rows) % count == 0:
            rows = rows.reshape(count, -1)  # a number a factor, or one factor
        rows = doubles(rows, (count, None), what)
        given = 0
        while given < len(kinds) and sum(widths[:given]) < rows.shape[1]:
            given += 1
        if sum(widths[:given]) != rows.shape[1] or given < ops.required:
            raise ArgumentError(f"{name}: a measurement has {sum(widths[:ops.required])} to {sum(widths)} numbers, "
                                f"found {rows.shape[1]}")
        parts, at = [], 0
        for i, kind in enumerate(kinds):
            if i < given:
                parts.append(from_fields(kind, rows[:, at:at + widths[i]], what))
                at += widths[i]
            else:
                one = np.zeros(lib.ct_kind_size(kind))
                lib.ct_kind_identity(kind, address(one))
                parts.append(np.broadcast_to(one, (count, len(one))))
        return np.ascontiguousarray(np.column_stack(parts)) if parts else np.zeros((count, 1))

    def _noise_index(self, noise: str | int, table: Noise | None) -> int:
        table = instance(table, Noise, "table") if table is not None else self.noise
        if table is not None:
            return table.index(noise)
        if isinstance(noise, (int, np.integer)) and not isinstance(noise, bool) and noise >= 0:
            return int(noise)
        raise ArgumentError(f"noise {noise!r} is a name: give the graph its table, Graph(noise), or `table`")

    def add_prior(self, variables: Any, values: Any, noise: str | int, table: Noise | None = None) -> np.ndarray:
        """A direct measurement of each variable."""
        index = self._check(variables)
        return self.add_factors(self._by_kind("prior", index), index[:, None], values, noise, table)

    def add_between(self, a: Any, b: Any, measurements: Any, noise: str | int,
                    table: Noise | None = None) -> np.ndarray:
        """The motion from each variable of `a` to that of `b`, in the frame of `a`: odometry, loop closures."""
        first, second = self._check(a), self._check(b)
        if len(first) != len(second):
            raise ArgumentError(f"a has {len(first)} variables, b {len(second)}")
        return self.add_factors(self._by_kind("between", first), np.column_stack([first, second]), measurements, noise,
                                table)

    def _by_kind(self, model: str, index: np.ndarray) -> str:
        kind = lib.ct_graph_kind(self._pointer, int(index[0])) if len(index) else t.CT_SE2
        return f"{model}_{lib.ct_kind_name(kind).decode().lower()}"

    def set_multiplier(self, factors: Any, multipliers: Any) -> None:
        """Give factors m times the covariance of their model, for what is known beforehand: a step of m seconds."""
        number = indices(factors, (None,), "factors")
        m = doubles(multipliers, (None,), "multipliers")
        if len(m) not in (1, len(number)):
            raise ArgumentError(f"{len(number)} factors, but {len(m)} multipliers")
        with changing(self):
            for f, value in zip(number.tolist(), np.broadcast_to(m, number.shape).tolist()):
                call("ct_graph_set_multiplier", self._pointer, f, value)

    def set_feature(self, name: str, values: Any, factors: Any = None) -> None:
        """Give factors (all of them by default) a number each in the column `name`: range, speed, satellites. Noise
        models may depend on them."""
        self._idle()
        v = doubles(values, (None,), f"feature {name}")
        number = None if factors is None else indices(factors, (None,), "factors")
        if number is not None and len(number) != len(v):
            raise ArgumentError(f"feature {name}: {len(v)} values for {len(number)} factors")
        call("ct_graph_set_feature", self._pointer, encode(name, "a feature"), len(v),
             None if number is None else address(number), address(v))

    def features(self) -> dict[str, np.ndarray]:
        """All features by name: arrays with a number for each factor, NaN where it has none."""
        out = {}
        for column in range(lib.ct_graph_features(self._pointer)):
            value = np.empty(self.factors)
            lib.ct_graph_describe_feature(self._pointer, column, address(value))
            out[lib.ct_graph_feature_name(self._pointer, column).decode()] = value
        return out

    # ---- estimates

    def solve(self, noise: Noise | None = None, *, method: str = "lm", max_iterations: int | None = None,
              callback: Callable[[dict[str, Any]], Any] | None = None, progress: bool = False) -> SolveResult:
        """Minimise over all variables, from their present values, which become the estimate. Raises only where the
        problem is malformed; how it went is in the result. Methods: "lm", "gn", "dogleg", "newton". `callback` gets a
        dict after every iteration; where it returns true, and on Ctrl-C, the best so far is the estimate. `progress`
        shows a bar."""
        return self.solver().run(self._table(noise), method=method, max_iterations=max_iterations, callback=callback,
                                 progress=progress)

    def solver(self) -> "Solver":
        """The solver of this graph, analysed once and kept until the graph changes."""
        with reading(self):
            if self._solver is None or not self._solver._handle:
                self._solver = Solver(self)
            return self._solver

    def _table(self, noise: Noise | None) -> Noise:
        table = noise if noise is not None else self.noise
        if table is None:
            raise ArgumentError("the graph has no noise table: give one, Graph(noise) or solve(noise)")
        return instance(table, Noise, "noise")

    def _forget(self) -> None:
        """Before a change: a solver of the graph as it was is of no use."""
        self._idle()
        for solver in list(self._solvers):
            solver.close()
        self._solver = None

    def error(self, noise: Noise | None = None) -> float:
        """Half the sum of squared whitened residuals (of robust kernels: rho) at the present values."""
        table = self._table(noise)
        with in_use(self, table):
            call("ct_graph_check_noise", self._pointer, table._pointer)
            value = lib.ct_graph_error(self._pointer, table._pointer, lib.ct_graph_initial(self._pointer))
        raise_pending(self._models)
        return float(value)

    def marginals(self, variables: Any, noise: Noise | None = None, exact: bool = False) -> list[np.ndarray]:
        """Covariance of each variable at the present values, in its own frame (tangent order). `exact`: with second
        derivatives of the residuals. Raises SingularError where something is undetermined."""
        return self.solver().marginals(variables, self._table(noise), exact=exact)

    def evaluate(self, noise: Noise | None = None, jacobians: bool = True) -> list[Block]:
        """Residuals and Jacobians of all factors at the present values, a block for each model; with a noise table they
        are whitened."""
        if noise is not None:
            instance(noise, Noise, "noise")
        jacobians = flag(jacobians) == 1
        blocks: list[Block] = []
        with in_use(self, *([] if noise is None else [noise])):
            while True:
                found = lib.ct_graph_model(self._pointer, len(blocks))
                if not found:
                    return blocks
                blocks.append(self._evaluate(found, noise, jacobians))

    def _evaluate(self, found: Any, noise: Noise | None, jacobians: bool) -> Block:
        ops, pointer = found.contents, self._pointer
        count = lib.ct_graph_factors_of(pointer, found, None, None)
        number, var = np.empty(count, dtype=np.int32), np.empty((count, ops.arity), dtype=np.int32)
        lib.ct_graph_factors_of(pointer, found, address(number), address(var))
        r = np.empty((count, ops.rows))
        J = [np.empty((count, ops.rows, lib.ct_kind_dim(ops.kind[i]))) for i in range(ops.arity)] if jacobians else []
        slots = (ctypes.c_void_p * t.CT_ARITY_MAX)(*(a.ctypes.data for a in J)) if jacobians else None
        call("ct_graph_evaluate", pointer, None if noise is None else noise._pointer, lib.ct_graph_initial(pointer),
             count, address(number), address(r), slots)
        raise_pending(self._models)
        return Block(ops.name.decode(), number, var, r, J)

    def hessian(self, noise: Noise | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """The Gauss-Newton matrix J'J at the present values in compressed columns: (data, indices, indptr, n), for
        scipy.sparse.csc_matrix((data, indices, indptr), (n, n)). Scalars are those of the variables in order; fixed
        variables have none."""
        from ._sparse import hessian_csc

        return hessian_csc(self, self.evaluate(self._table(noise)))

    @property
    def variables(self) -> int:
        """Number of variables."""
        return lib.ct_graph_variables(self._pointer)

    @property
    def factors(self) -> int:
        """Number of factors."""
        return lib.ct_graph_factors(self._pointer)

    def close(self) -> None:
        """Free it now, with its solvers. A second call does nothing."""
        with reading():
            self._idle()
            self._forget()
            super().close()

    def __repr__(self) -> str:
        return f"Graph({self.variables} variables, {self.factors} factors)" if self._handle else "Graph(closed)"


class Solver(Handle):
    """A graph analysed for solving. Graph.solve makes and keeps one; it is needed alone only to share the analysis. It
    ends when its graph changes."""

    _free = "ct_solver_free"

    def __init__(self, graph: Graph) -> None:
        handle = ctypes.c_void_p()
        with reading(instance(graph, Graph, "graph")):
            graph._idle()
            call("ct_solver_new", graph._pointer, None, ctypes.byref(handle))
            super().__init__(handle)
            self._graph = graph
            graph._solvers.add(self)

    def run(self, noise: Noise, *, method: str = "lm", max_iterations: int | None = None,
            callback: Callable[[dict[str, Any]], Any] | None = None, progress: bool = False) -> SolveResult:
        """Graph.solve with a table."""
        options, result = lib.ct_solve_defaults(), t.ct_solve_result()
        options.method = lib.ct_method_find(encode(method, "a method"))
        if options.method < 0 or options.method >= t.CT_METHOD_COUNT:
            raise ArgumentError(f"{method!r} is no method: there are lm, gn, dogleg, newton")
        if max_iterations is not None:
            options.max_iterations = whole(max_iterations, "max_iterations")
        graph, watch = self._graph, Watch("solve", callback, progress, lazy=True)

        def tell(_user: Any, pointer: Any) -> int:
            if watch.silent:
                return watch.tell_nothing()
            p = pointer.contents
            return watch.tell(lambda: {"iteration": p.iteration, "error": p.error, "step": p.step,
                                       "seconds": p.seconds}, p.iteration / max(options.max_iterations, 1),
                              f"iteration {p.iteration}, error {p.error:.6g}")

        options.progress = type(options.progress)(tell)
        with in_use(instance(noise, Noise, "noise"), alone=(self, graph)):
            with watch:
                call("ct_solver_run", self._pointer, noise._pointer, lib.ct_graph_initial(graph._pointer),
                     ctypes.byref(options), ctypes.byref(result))
            raise_pending(graph._models)
            watch.raise_pending()
            message = lib.ct_stop_meaning(result.stop).decode()
            if result.stop == t.CT_STOP_RANK:
                buffer = ctypes.create_string_buffer(256)
                message = lib.ct_solver_undetermined_text(self._pointer, buffer, 256).decode("utf-8", "replace")
        return SolveResult(lib.ct_stop_name(result.stop).decode(), bool(lib.ct_solve_usable(ctypes.byref(result))),
                           result.iterations, result.initial_error, result.final_error, result.distance,
                           result.seconds, message)

    def marginals(self, index: Any, noise: Noise, exact: bool = False) -> list[np.ndarray]:
        """Graph.marginals with a table."""
        graph = self._graph
        with in_use(instance(noise, Noise, "noise"), alone=(self, graph)):
            var = graph._check(index)
            kinds = graph._places(var)[0]
            call("ct_solver_hessian" if flag(exact) else "ct_solver_linearise", self._pointer, noise._pointer,
                 lib.ct_graph_initial(graph._pointer))
            raise_pending(graph._models)
            dims = [lib.ct_kind_dim(kind) for kind in kinds.tolist()]
            out = [np.zeros((d, d)) for d in dims]
            slots = (ctypes.c_void_p * max(len(out), 1))(*(a.ctypes.data for a in out))
            call("ct_solver_marginals", self._pointer, len(out), address(var), slots)
        return out

    def __repr__(self) -> str:
        return f"Solver of {self._graph!r}" if self._handle else "Solver(closed)"
