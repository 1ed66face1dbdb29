"""The estimate of one sequence: poses, covariances, consistency."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _tables as t
from ._arrays import address, plain
from ._factor import raise_pending
from ._inference import set_inference
from ._library import call, flag, in_use, lib
from .graph import from_fields, places, stored_rows

if TYPE_CHECKING:
    from .data import Sequence
    from .noise import Noise


@dataclass(frozen=True, repr=False)
class Estimate:
    """The estimate of a sequence under a noise table."""

    name: str
    stop: str
    converged: bool
    variables: np.ndarray
    """Indices of the poses, n."""
    poses: np.ndarray
    """Rows (x, y, yaw) or (x, y, z, qx, qy, qz, qw), n."""
    truth: np.ndarray | None
    """The same of the truth; NaN where it is not known. None: there is none."""
    times: np.ndarray
    """Seconds, NaN where unknown."""
    covariances: np.ndarray | None
    """Of each pose in its own frame, n x 3 x 3 (x, y, yaw) or n x 6 x 6 (rotation, translation); None: undetermined or
    not asked for."""
    nees: np.ndarray | None
    """Normalised estimation error squared of each pose; its expectation is `degrees`."""
    degrees: np.ndarray | None
    values: np.ndarray
    """All variables as the library stores them."""

    @property
    def positions(self) -> np.ndarray:
        """n x 2 or n x 3, m."""
        return self.poses[:, :2 if self.poses.shape[1] == 3 else 3]

    @property
    def planar(self) -> bool:
        """Are the poses in the plane?"""
        return self.poses.shape[1] == 3

    def position_covariances(self) -> np.ndarray | None:
        """Covariances of positions along the axes of the world, n x 2 x 2 or n x 3 x 3."""
        if self.covariances is None:
            return None
        if self.planar:
            c, s = from_fields(t.CT_SE2, self.poses, "poses")[:, 2:].T
            R = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], 1)
            P = self.covariances[:, :2, :2]
        else:
            R, P = rotations(self.poses[:, 3:]), self.covariances[:, 3:, 3:]
        return np.einsum("nij,njk,nlk->nil", R, P, R)

    def table(self) -> dict[str, np.ndarray]:
        """A line a pose, as a dict of columns; pandas.DataFrame takes it."""
        names = ["x", "y", "yaw"] if self.planar else ["x", "y", "z", "qx", "qy", "qz", "qw"]
        out = {"variable": self.variables, "time": self.times, **{n: self.poses[:, i] for i, n in enumerate(names)}}
        if self.truth is not None:
            out.update({f"true_{n}": self.truth[:, i] for i, n in enumerate(names)})
        if self.nees is not None:
            out["nees"] = self.nees
        return out

    def to_dict(self) -> dict[str, Any]:
        """Texts, numbers and lists, for JSON."""
        return {key: plain(getattr(self, key)) for key in self.__dataclass_fields__}

    def __repr__(self) -> str:
        return f"Estimate({self.name!r}, {len(self.poses)} poses, {self.stop})"


def rotations(q: np.ndarray) -> np.ndarray:
    """Matrices of quaternions (x, y, z, w), n x 3 x 3."""
    x, y, z, w = q.T
    return np.stack([np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], -1),
                     np.stack([2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)], -1),
                     np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], -1)], 1)


def pose_places(graph: Any) -> tuple[int, np.ndarray, np.ndarray]:
    """The kind of poses of a graph, their variables, and where their values begin."""
    kinds, offsets = places(graph)
    for kind in (t.CT_SE2, t.CT_SE3):
        index = np.flatnonzero(kinds == kind)
        if len(index):
            return kind, index.astype(np.int32), offsets[index]
    return t.CT_SE2, np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)


def true_poses(seq: t.ct_sequence) -> np.ndarray | None:
    """True poses as rows of fields, NaN where they are not fully known; None: there is no truth."""
    if not seq.truth:
        return None
    kind, index, offsets = pose_places(seq.graph)
    size = lib.ct_graph_size(seq.graph)
    x = np.ctypeslib.as_array(seq.truth, (size,)) if size else np.zeros(0)
    rows = stored_rows(x, kind, offsets)
    whole = (1 << lib.ct_kind_dim(kind)) - 1
    known = np.ctypeslib.as_array(seq.known, (lib.ct_graph_variables(seq.graph),))[index] if len(index) else index
    rows[(known & whole) != whole] = np.nan
    return rows


def estimate(sequence: "Sequence", noise: "Noise | None", *, start: str, solver: str, covariances: bool) -> Estimate:
    dataset = sequence._dataset
    inference, found, engine = lib.ct_inference_defaults(), t.ct_inference_result(), ctypes.c_void_p()
    set_inference(inference, start=start, solver=solver, entry=None, method=None)
    with in_use(dataset, *([] if noise is None else [noise])):
        seq, table = sequence._seq, dataset._data.noise if noise is None else noise._pointer
        graph, at = seq.graph, ctypes.byref(seq)
        call("ct_graph_check_noise", graph, table)
        call("ct_solver_new", graph, None, ctypes.byref(engine))
        try:
            x = np.zeros(max(lib.ct_graph_size(graph), 1))
            call("ct_infer", at, table, engine, ctypes.byref(inference), address(x), ctypes.byref(found))
            raise_pending(dataset._keep)
            converged = bool(lib.ct_solve_usable(ctypes.byref(found.solve)))
            kind, index, offsets = pose_places(graph)
            blocks = _marginals(engine, table, x, kind, index) if flag(covariances) and converged else None
            nees, degrees = _nees(at, table, engine, x, index) if blocks is not None and seq.truth else (None, None)
            return Estimate(sequence.name, lib.ct_stop_name(found.solve.stop).decode(), converged, index,
                            stored_rows(x, kind, offsets), true_poses(seq), sequence.times[index], blocks, nees,
                            degrees, x[:lib.ct_graph_size(graph)])
        finally:
            lib.ct_solver_free(engine)


def _marginals(engine: Any, table: Any, x: np.ndarray, kind: int, index: np.ndarray) -> np.ndarray | None:
    from ._library import SingularError

    dim = lib.ct_kind_dim(kind)
    blocks = np.zeros((len(index), dim, dim))
    slots = (ctypes.c_void_p * max(len(index), 1))(*(blocks.ctypes.data + i * blocks.strides[0]
                                                     for i in range(len(index))))
    try:
        call("ct_solver_linearise", engine, table, address(x))
        call("ct_solver_marginals", engine, len(index), address(index), slots)
    except SingularError:
        return None
    return blocks


def _nees(seq: Any, table: Any, engine: Any, x: np.ndarray, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n = lib.ct_graph_variables(seq._obj.graph)
    nees, degrees = np.zeros(n), np.zeros(n, dtype=np.intc)
    call("ct_nees_each", seq, table, engine, address(x), address(nees), address(degrees))
    return nees[index], degrees[index]


def residuals_at_truth(seq: Any, model: int, dim: int, table: Any) -> np.ndarray:
    """Residuals of a noise model at the truth, n x dim; whitened with a table."""
    count = lib.ct_truth_residuals(seq, model, table, 0, None)
    out = np.zeros((max(count, 0), dim))
    if len(out):
        lib.ct_truth_residuals(seq, model, table, count, address(out))
    return out


def residuals_at(graph: Any, model: int, table: Any, x: np.ndarray) -> list[np.ndarray]:
    """Whitened residuals of a noise model's factors at values x, a block a measurement model."""
    out: list[np.ndarray] = []
    i = 0
    while True:
        ops = lib.ct_graph_model(graph, i)
        if not ops:
            return out
        count, i = lib.ct_graph_factors_of(graph, ops, None, None), i + 1
        number = np.empty(count, dtype=np.int32)
        lib.ct_graph_factors_of(graph, ops, address(number), None)
        number = np.array([f for f in number.tolist() if lib.ct_graph_factor(graph, f).noise == model], dtype=np.int32)
        if not len(number):
            continue
        r = np.empty((len(number), ops.contents.rows))
        call("ct_graph_evaluate", graph, table, address(x), len(number), address(number), address(r), None)
        out.append(r)
