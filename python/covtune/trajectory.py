"""Trajectories as arrays: compared with a truth, and residual vectors of them."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _tables as t
from ._arrays import doubles
from ._library import ArgumentError, call, encode, flag, lib, real
from .graph import from_fields

_libc = ctypes.CDLL(None)
_libc.malloc.restype = ctypes.c_void_p
_libc.malloc.argtypes = [ctypes.c_size_t]


def library_memory(array: np.ndarray) -> int:
    """A copy of an array in memory that the library frees."""
    where = _libc.malloc(max(array.nbytes, 1))
    if not where:
        raise MemoryError
    ctypes.memmove(where, array.ctypes.data, array.nbytes)
    return where


class _Trajectory:
    """A ct_trajectory made of rows (t, x, y, yaw), (t, x, y, z, qx, qy, qz, qw), (t, x, y) or (t, x, y, z).

    Four columns are ambiguous: they are a planar pose. Rows with NaN are left out, as readers of files do.
    """

    def __init__(self, rows: Any, what: str, covariance: Any = None) -> None:
        array = doubles(rows, (None, None), what)
        if array.shape[1] not in (3, 4, 8):
            raise ArgumentError(f"{what} must have 3 columns (t, x, y), 4 (t, x, y, yaw) or 8 (t, x, y, z, qx, qy, qz, "
                                f"qw), found {array.shape[1]}")
        keep = np.isfinite(array).all(axis=1)
        array = array[keep]
        if not len(array):
            raise ArgumentError(f"{what} has no row of finite numbers")
        if np.abs(array[:, 0]).max() > 9e9:
            raise ArgumentError(f"{what}: column 0 is a time in seconds, found "
                                f"{array[np.abs(array[:, 0]).argmax(), 0]:g}")
        stamps = np.round(array[:, 0] * 1e9).astype(np.int64)
        late = np.flatnonzero(np.diff(stamps) <= 0)
        if len(late):
            raise ArgumentError(f"{what}: times must rise, found {array[late[0] + 1, 0]:.9g} after "
                                f"{array[late[0], 0]:.9g}")
        poses = np.zeros((len(array), 7))
        poses[:, :2], poses[:, 6] = array[:, 1:3], 1
        if array.shape[1] == 4:
            poses[:, [6, 5]] = from_fields(t.CT_SO2, array[:, 3:] / 2, what)
        elif array.shape[1] == 8:
            norm = np.linalg.norm(array[:, 4:], axis=1)
            if not (norm > 0).all():
                raise ArgumentError(f"{what}: the quaternion of row {int(np.argmin(norm))} is zero")
            poses[:, 2], poses[:, 3:] = array[:, 3], array[:, 4:] / norm[:, None]
        out = ctypes.c_void_p()
        call("ct_trajectory_new", len(array), int(array.shape[1] != 3), ctypes.byref(out))
        self._at = ctypes.cast(out, ctypes.POINTER(t.ct_trajectory))
        own = self._at.contents
        own.planar = int(array.shape[1] != 8)
        ctypes.memmove(own.stamp, stamps.ctypes.data, stamps.nbytes)
        ctypes.memmove(own.pose, poses.ctypes.data, poses.nbytes)
        if covariance is not None:
            dim = {3: 2, 4: 3, 8: 6}[array.shape[1]]
            blocks = np.ascontiguousarray(doubles(covariance, (len(keep), dim, dim), f"covariances of {what}")[keep])
            own.covariance = ctypes.cast(library_memory(blocks), type(own.covariance))
            own.covariance_dim = dim

    def __del__(self) -> None:
        at, self._at = getattr(self, "_at", None), None  # type: ignore[assignment]
        if at:
            lib.ct_trajectory_free(at)


def choice(find: str, what: str, value: str, known: str) -> int:
    """An enumeration's number by name."""
    number = getattr(lib, find)(encode(value, what))
    if number < 0:
        raise ArgumentError(f"{value!r} is no {what}: there are {known}")
    return number


_ALIGNMENTS = "none, first, yaw, se2, se3, sim3"


class Sites:
    """The times of one log at which estimates are compared with its truth, fixed by the first estimate."""

    def __init__(self, truth: _Trajectory, first: _Trajectory, options: t.ct_track_options) -> None:
        out = ctypes.c_void_p()
        call("ct_sites_choose", truth._at, first._at, ctypes.byref(options), ctypes.byref(out))
        self._handle: ctypes.c_void_p | None = out
        self.rows: int = lib.ct_sites_rows(out)

    def residuals(self, estimate: _Trajectory) -> tuple[np.ndarray, t.ct_score]:
        residual, score = np.empty(self.rows), t.ct_score()
        call("ct_sites_residuals", self._handle, estimate._at, residual.ctypes.data, ctypes.byref(score))
        return residual, score

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            lib.ct_sites_free(handle)


def track_options(loss: str = "local", align: str = "none", delta: str | None = None, translation: float = 1,
                  rotation: float = 1, gap: float | None = None) -> t.ct_track_options:
    options = lib.ct_track_defaults()
    options.type = choice("ct_track_loss_find", "loss", loss, "local, left, relative")
    options.align = choice("ct_alignment_find", "alignment", align, _ALIGNMENTS)
    options.translation, options.rotation = real(translation, "translation", 0), real(rotation, "rotation", 0)
    if gap is not None:
        options.gap_s = real(gap, "gap", 0)
    if delta is not None:
        options.delta, options.delta_unit = _delta(delta)
    return options


def _delta(text: str) -> tuple[float, int]:
    value, unit = ctypes.c_double(), ctypes.c_int()
    if not lib.ct_delta_find(encode(text, "a delta"), ctypes.byref(value), ctypes.byref(unit)):
        raise ArgumentError(f"{text!r} is no delta: write 10f, 0.5s or 100m")
    return value.value, unit.value


def score(estimate: Any, truth: Any, *, covariance: Any = None, align: str = "none", associate: str | None = None,
          tolerance: float = 0.01, delta: str | None = None, all_pairs: bool = False) -> dict[str, Any]:
    """Absolute and relative pose errors of a trajectory, as `covtune score` and evo give them. Trajectories are rows
    (t, x, y, yaw), (t, x, y, z, qx, qy, qz, qw) or (t, x, y). `covariance`: of each pose, n x 3 x 3 (x, y, yaw in the
    body's axes) or n x 6 x 6, for NEES.

    >>> import numpy as np
    >>> truth = np.column_stack([np.arange(5), np.arange(5), np.zeros(5), np.zeros(5)])
    >>> score(truth + [0, 0, 0.1, 0], truth)["ape_translation"]["rmse"].__round__(6)
    0.1
    """
    options, out = lib.ct_score_defaults(), t.ct_score()
    options.align = choice("ct_alignment_find", "alignment", align, _ALIGNMENTS)
    if associate is not None:
        options.associate = choice("ct_associate_find", "association", associate, "nearest, interpolate, index")
    options.tolerance_s, options.all_pairs = real(tolerance, "tolerance", 0), flag(all_pairs)
    if delta is not None:
        options.delta, options.delta_unit = _delta(delta)
    mine, theirs = _Trajectory(estimate, "the estimate", covariance), _Trajectory(truth, "the truth")
    call("ct_score_trajectory", mine._at, theirs._at, ctypes.byref(options), ctypes.byref(out))
    figures = {name: {key: getattr(getattr(out, name), key) for key in
                      ("rmse", "mean", "median", "sd", "min", "max", "count")}
               for name in ("ape_translation", "ape_rotation", "rpe_translation", "rpe_rotation")}
    return {**figures, "poses": out.poses, "lost": out.lost, "covered": out.covered, "nees": out.nees,
            "length": out.length_m, "scale": out.scale}
