"""Noise models: what covtune learns."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Iterator

import numpy as np

from . import _tables as t
from ._arrays import address, doubles
from ._library import ArgumentError, Handle, call, encode, lib

_KINDS = {t.CT_NOISE_ISOTROPIC: "isotropic", t.CT_NOISE_DIAGONAL: "diagonal", t.CT_NOISE_FULL: "full"}


@dataclass(frozen=True)
class NoiseModel:
    """One model of a table, as it is now. Later changes of the table do not change it."""

    name: str
    kind: str
    """"isotropic", "diagonal" or "full"."""
    covariance: np.ndarray
    robust: str
    """"none", or a kernel and its width: "huber:1.345"."""

    @property
    def dim(self) -> int:
        return len(self.covariance)

    @property
    def variance(self) -> np.ndarray:
        return np.diag(self.covariance).copy()

    @property
    def sigma(self) -> np.ndarray:
        return np.sqrt(np.diag(self.covariance))

    @property
    def information(self) -> np.ndarray:
        return np.linalg.inv(self.covariance)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "kind": self.kind, "sigma": self.sigma.tolist(),
                "covariance": self.covariance.tolist(), "robust": self.robust}

    def to_ros(self, size: int = 6) -> list[float]:
        """Row-major covariance of a ROS pose or twist message: x y z, then rotations. Models of dimension 3 are planar
        poses (x, y, yaw) with size 6, or positions with size 3; of dimension 6 they are reordered from covtune's
        rotation first."""
        if size == self.dim == 3:
            return self.covariance.reshape(-1).tolist()
        if size != 6 or self.dim not in (3, 6):
            raise ArgumentError(f"{self.name}: a model of dimension {self.dim} has no place in {size} x {size} numbers")
        place = [0, 1, 5] if self.dim == 3 else [3, 4, 5, 0, 1, 2]
        out = np.zeros((6, 6))
        out[np.ix_(place, place)] = self.covariance
        return out.reshape(-1).tolist()

    def to_gtsam(self) -> Any:
        """A gtsam noise model. Needs the module gtsam."""
        import gtsam

        if self.kind == "full":
            base = gtsam.noiseModel.Gaussian.Covariance(self.covariance)
        else:
            base = gtsam.noiseModel.Diagonal.Sigmas(self.sigma)
        if self.robust == "none":
            return base
        kernel, _, width = self.robust.partition(":")
        names = {"huber": "Huber", "cauchy": "Cauchy", "geman_mcclure": "GemanMcClure", "tukey": "Tukey"}
        estimator = getattr(gtsam.noiseModel.mEstimator, names[kernel]).Create(float(width))
        return gtsam.noiseModel.Robust.Create(estimator, base)

    def __repr__(self) -> str:
        sigma = ", ".join(f"{s:.4g}" for s in self.sigma)
        robust = "" if self.robust == "none" else f", {self.robust}"
        return f"NoiseModel({self.name!r}, {self.kind}, sigma=[{sigma}]{robust})"


def _robust(text: str | None) -> t.ct_robust:
    if text is None or text == "none":
        return t.ct_robust(t.CT_ROBUST_NONE, 0)
    kernel, _, width = text.partition(":")
    kind = lib.ct_robust_find(encode(kernel, "a robust kernel"))
    if kind < 0:
        raise ArgumentError(f"{text!r} is no robust kernel: there are huber, cauchy, geman_mcclure, tukey, with a "
                            "width as in huber:1.345")
    try:
        k = float(width) if width else lib.ct_robust_default_width(kind)
    except ValueError:
        raise ArgumentError(f"{text!r}: the width of the kernel is no number") from None
    return t.ct_robust(kind, k)


class Noise(Handle):
    """A table of noise models, by name. Factors refer to them; solving and learning take a table.

    >>> noise = Noise()
    >>> noise.add("odom", sigma=[0.1, 0.1, 0.02])
    0
    >>> noise["odom"].variance
    array([0.01  , 0.01  , 0.0004])
    """

    _free = "ct_noise_free"

    def __init__(self, _handle: Any = None) -> None:
        if _handle is None:
            _handle = ctypes.c_void_p()
            call("ct_noise_new", ctypes.byref(_handle))
        super().__init__(_handle)

    @classmethod
    def read(cls, path: Any) -> "Noise":
        """A noise file, as covtune learn writes it."""
        noise = cls()
        call("ct_noise_read", noise._pointer, encode(path, "a path"))
        return noise

    def write(self, path: Any) -> None:
        """Write the noise file; an existing one is replaced in one step."""
        call("ct_noise_write", self._pointer, encode(path, "a path"))

    def copy(self) -> "Noise":
        out = ctypes.c_void_p()
        call("ct_noise_copy", self._pointer, ctypes.byref(out))
        return Noise(out)

    def add(self, name: str, *, sigma: Any = None, variance: Any = None, covariance: Any = None,
            information: Any = None, dim: int | None = None, robust: str | None = None) -> int:
        """Add a model and return its index. Give one of sigma, variance (a number a row; with `dim` one number for all
        rows), covariance or information (matrices)."""
        given = [(k, v) for k, v in (("sigma", sigma), ("variance", variance), ("covariance", covariance),
                                     ("information", information)) if v is not None]
        if len(given) != 1:
            raise ArgumentError(f"{name}: one of sigma, variance, covariance, information is given, found "
                                f"{', '.join(k for k, _ in given) or 'none'}")
        self._idle()
        what, value = given[0]
        index, text, kernel = ctypes.c_int32(), encode(name), _robust(robust)
        if what in ("covariance", "information"):
            matrix = doubles(value, (None, None), f"{name}: its {what}")
            if matrix.shape[0] != matrix.shape[1]:
                raise ArgumentError(f"{name}: its {what} must be square, found {matrix.shape[0]} x {matrix.shape[1]}")
            function = "ct_noise_add_full" if what == "covariance" else "ct_noise_add_information"
            call(function, self._pointer, text, len(matrix), address(matrix), ctypes.byref(index))
        elif dim is not None:
            one = doubles(value, (1,), f"{name}: its {what}")[0]
            call("ct_noise_add_isotropic", self._pointer, text, int(dim), one * one if what == "sigma" else one,
                 ctypes.byref(index))
        else:
            rows = doubles(value, (None,), f"{name}: its {what}")
            rows = rows * rows if what == "sigma" else rows
            call("ct_noise_add_diagonal", self._pointer, text, len(rows), address(rows), ctypes.byref(index))
        if kernel.kind != t.CT_ROBUST_NONE:
            call("ct_noise_set_robust", self._pointer, index.value, kernel)
        return index.value

    def set(self, name: str | int, *, sigma: Any = None, variance: Any = None, covariance: Any = None,
            robust: str | None = None) -> None:
        """Change a model in place."""
        self._idle()
        index = self.index(name)
        dim = self._model(index).dim
        if sigma is not None or variance is not None:
            rows = doubles(sigma if variance is None else variance, (dim,), f"{name}: its rows")
            rows = rows * rows if variance is None else rows
            call("ct_noise_set_variance", self._pointer, index, address(rows))
        if covariance is not None:
            call("ct_noise_set_covariance", self._pointer, index,
                 address(doubles(covariance, (dim, dim), f"{name}: its covariance")))
        if robust is not None:
            call("ct_noise_set_robust", self._pointer, index, _robust(robust))

    def index(self, name: str | int) -> int:
        """The index of a model by name or index."""
        if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
            if 0 <= name < len(self):
                return int(name)
            raise ArgumentError(f"there is no noise model {name}: the table has {len(self)}")
        index = lib.ct_noise_find(self._pointer, encode(name))
        if index < 0:
            raise ArgumentError(f"there is no noise model {name!r}: there are {', '.join(self.names) or 'none'}")
        return index

    def _model(self, index: int) -> t.ct_noise_model:
        return lib.ct_noise_get(self._pointer, index).contents

    @property
    def names(self) -> list[str]:
        return [self._model(i).name.decode() for i in range(len(self))]

    def __len__(self) -> int:
        return lib.ct_noise_count(self._pointer)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and lib.ct_noise_find(self._pointer, encode(name)) >= 0

    def __iter__(self) -> Iterator[NoiseModel]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, name: str | int) -> NoiseModel:
        index = self.index(name)
        pointer = lib.ct_noise_get(self._pointer, index)
        model = pointer.contents
        covariance = np.array([[lib.ct_noise_covariance(pointer, i, j) for j in range(model.dim)]
                               for i in range(model.dim)])
        robust = "none" if model.robust.kind == t.CT_ROBUST_NONE else \
            f"{lib.ct_robust_name(model.robust.kind).decode()}:{model.robust.width:.6g}"
        return NoiseModel(model.name.decode(), _KINDS[model.kind], covariance, robust)

    def to_dict(self) -> dict[str, Any]:
        return {model.name: model.to_dict() for model in self}

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{m.name}</td><td>{m.kind}</td><td>{', '.join(f'{s:.4g}' for s in m.sigma)}</td>"
                       f"<td>{m.robust}</td></tr>" for m in self)
        return f"<table><tr><th>model</th><th>kind</th><th>sigma</th><th>kernel</th></tr>{rows}</table>"

    def __repr__(self) -> str:
        return f"Noise({len(self)} models: {', '.join(self.names)})" if self._handle else "Noise(closed)"
