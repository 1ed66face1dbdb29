"""Noise models: what covtune learns."""
from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from . import _tables as t
from ._arrays import address, columns, doubles, html_table, scratch
from ._library import (ArgumentError, Handle, call, changing, choice, count, encode, flag, instance, lib,
                       names as list_of_names, reading, real, take_text)

_KINDS = {t.CT_NOISE_ISOTROPIC: "isotropic", t.CT_NOISE_DIAGONAL: "diagonal", t.CT_NOISE_FULL: "full"}


# Places of rows in ROS messages: x, y, z, then rotations about X, Y, Z; of poses and of twists.
_ROS = {name: i % 6 for i, name in enumerate("x y z rx ry rz vx vy vz wx wy wz".split())}
_ROS.update(roll=3, pitch=4, yaw=5, theta=5, heading=5, omega=5)
_GTSAM_KERNELS = {"huber": "Huber", "cauchy": "Cauchy", "geman_mcclure": "GemanMcClure", "tukey": "Tukey"}


@dataclass(frozen=True)
class NoiseModel:
    """One model of a table, as it is now. Later changes of the table do not change it.

    >>> noise = Noise()
    >>> _ = noise.add("gps", sigma=[0.5, 0.5])
    >>> noise["gps"].information
    array([[4., 0.],
           [0., 4.]])
    """

    name: str
    kind: str
    """"isotropic", "diagonal" or "full"."""
    covariance: np.ndarray
    robust: str
    """"none", or a kernel and its numbers: "huber:1.345", "max_mixture:3.0:10.0"."""
    rows: tuple[str, ...] = ()
    """Names of the rows: ("x", "y", "yaw"); empty: not known."""
    units: tuple[str, ...] = ()
    measurement: str | None = None
    """The measurement model that uses it: "between_se2"; None: not known."""
    learned: bool | None = None
    """Were its numbers learned? None: not known."""

    @property
    def dim(self) -> int:
        """Number of rows."""
        return len(self.covariance)

    @property
    def variance(self) -> np.ndarray:
        """A number a row."""
        return np.diag(self.covariance).copy()

    @property
    def sigma(self) -> np.ndarray:
        """Standard deviations, a number a row."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def information(self) -> np.ndarray:
        """The inverse of the covariance."""
        if self.kind != "full":
            return np.diag(1 / np.diag(self.covariance))
        inverse = np.linalg.inv(self.covariance)
        return (inverse + inverse.T) / 2

    @property
    def sqrt_information(self) -> np.ndarray:
        """R, upper triangular, with R'R the information: R r is the whitened residual."""
        if self.kind != "full":
            return np.diag(1 / self.sigma)
        return np.linalg.cholesky(self.information).T.copy()

    @property
    def correlation(self) -> np.ndarray:
        """The covariance over the product of sigmas."""
        return self.covariance / np.outer(self.sigma, self.sigma)

    def to_dict(self) -> dict[str, Any]:
        """Texts, numbers and lists, for JSON. Noise.from_dict reads it back to the bit."""
        return {"name": self.name, "kind": self.kind, "sigma": self.sigma.tolist(),
                "covariance": self.covariance.tolist(), "robust": self.robust, "rows": list(self.rows),
                "units": list(self.units), "measurement": self.measurement, "learned": self.learned}

    def to_ros(self, size: int = 6, unmeasured: float = 1e6) -> list[float]:
        """The covariance array of a ROS message, row-major, as `covtune export --to ros` writes it. Size 6: of a pose
        or twist, (x, y, z, rotations about X, Y, Z); size 3: of a position. Rows go to their places by name, without
        names by dimension: 3 are (x, y, yaw), 6 are rotation first. Coordinates that the model does not have get the
        variance `unmeasured`.

        >>> noise = Noise()
        >>> _ = noise.add("gps", sigma=[0.5, 0.5], rows=["x", "y"])
        >>> noise["gps"].to_ros(size=3)
        [0.25, 0.0, 0.0, 0.0, 0.25, 0.0, 0.0, 0.0, 1000000.0]
        """
        size = count(size, "size")
        names = self.rows or {2: ("x", "y"), 3: ("x", "y", "z") if size == 3 else ("x", "y", "yaw"),
                              6: ("rx", "ry", "rz", "x", "y", "z")}.get(self.dim, ("?",) * self.dim)
        place = [_ROS.get(name, 99) for name in names]
        if size not in (3, 6) or max(place) >= size or len(set(place)) != len(place):
            raise ArgumentError(f"{self.name}: rows {', '.join(names)} have no place in {size!r} x {size!r} numbers of "
                                "a ROS message")
        out = np.diag(np.full(size, real(unmeasured, "unmeasured", 0)))
        out[np.ix_(place, place)] = self.covariance
        return out.reshape(-1).tolist()

    def to_gtsam(self) -> Any:
        """A gtsam noise model, with its kernel. GTSAM has a bearing before a range: such rows are exchanged. Needs the
        module gtsam."""
        import gtsam  # type: ignore[import]

        turn = self.rows[:1] == ("range",) and self.dim > 1
        order = [*range(1, self.dim), 0] if turn else list(range(self.dim))
        if self.kind == "full":
            base = gtsam.noiseModel.Gaussian.Covariance(self.covariance[np.ix_(order, order)])
        elif self.kind == "isotropic":
            base = gtsam.noiseModel.Isotropic.Variance(self.dim, float(self.covariance[0, 0]))
        else:
            base = gtsam.noiseModel.Diagonal.Variances(self.variance[order])
        if self.robust == "none":
            return base
        kernel, _, width = self.robust.partition(":")
        if kernel not in _GTSAM_KERNELS:
            raise ArgumentError(f"{self.name}: GTSAM has no place for its {kernel} kernel; robust=\"none\" leaves it out")
        estimator = getattr(gtsam.noiseModel.mEstimator, _GTSAM_KERNELS[kernel]).Create(float(width))
        return gtsam.noiseModel.Robust.Create(estimator, base)

    def __repr__(self) -> str:
        sigma = ", ".join(f"{s:.4g}" for s in self.sigma)
        robust = "" if self.robust == "none" else f", {self.robust}"
        return f"NoiseModel({self.name!r}, {self.kind}, sigma=[{sigma}]{robust})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NoiseModel) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


def _robust(text: str | None) -> t.ct_robust:
    if text is not None:
        text = encode(text, "a robust kernel").decode("utf-8", "replace")
    if text is None or text == "none":
        return t.ct_robust(t.CT_ROBUST_NONE, 0, 0)
    kernel, _, numbers = text.partition(":")
    width, _, ratio = numbers.partition(":")
    kind = lib.ct_robust_find(encode(kernel, "a robust kernel"))
    if kind < 0:
        raise ArgumentError(f"{text!r} is no robust kernel: there are huber, cauchy, geman_mcclure, tukey, with a "
                            "width as in huber:1.345, and max_mixture, with width and ratio as in max_mixture:3:10")
    if ratio and kind != t.CT_ROBUST_MAX_MIXTURE:
        raise ArgumentError(f"{text!r}: max_mixture alone takes a ratio after the width")
    try:
        k = float(width) if width else lib.ct_robust_default_width(kind)
        q = float(ratio) if ratio else lib.ct_robust_default_ratio(kind)
    except ValueError:
        raise ArgumentError(f"{text!r}: the width of the kernel is no number") from None
    return t.ct_robust(kind, k, q)


class Noise(Handle):
    """A table of noise models, by name. Factors refer to them; solving and learning take a table.

    >>> noise = Noise()
    >>> noise.add("odom", sigma=[0.1, 0.1, 0.02])
    0
    >>> noise["odom"].variance
    array([0.01  , 0.01  , 0.0004])
    """

    _free = "ct_noise_free"

    def __init__(self, *, _handle: Any = None) -> None:
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
        with reading(self):
            call("ct_noise_write", self._pointer, encode(path, "a path"))

    def copy(self) -> "Noise":
        """A table of its own with the same models."""
        out = ctypes.c_void_p()
        with reading(self):
            call("ct_noise_copy", self._pointer, ctypes.byref(out))
        return Noise(_handle=out)

    def add(self, name: str, *, sigma: Any = None, variance: Any = None, covariance: Any = None,
            information: Any = None, dim: int | None = None, robust: str | None = None,
            rows: Sequence[str] | None = None, units: Sequence[str] | None = None) -> int:
        """Add a model and return its index. Give one of sigma, variance (a number a row; with `dim` one number for all
        rows), covariance or information (matrices). `robust`: a kernel and its width in sigmas, "huber:1.345". `rows`
        and `units` name the rows, for tables and exports; learning names them from the factors."""
        given = [(k, v) for k, v in (("sigma", sigma), ("variance", variance), ("covariance", covariance),
                                     ("information", information)) if v is not None]
        if len(given) != 1:
            raise ArgumentError(f"{name}: one of sigma, variance, covariance, information is given, found "
                                f"{', '.join(k for k, _ in given) or 'none'}")
        what, value = given[0]
        index, text, kernel = ctypes.c_int32(), encode(name), _robust(robust)
        with changing(self):
            if what in ("covariance", "information"):
                matrix = _square(value, f"{name}: its {what}")
                function = "ct_noise_add_full" if what == "covariance" else "ct_noise_add_information"
                call(function, self._pointer, text, len(matrix), address(matrix), ctypes.byref(index))
            elif dim is not None:
                one = doubles(value, (1,), f"{name}: its {what}")[0]
                call("ct_noise_add_isotropic", self._pointer, text, count(dim, "dim", 1),
                     one * one if what == "sigma" else one, ctypes.byref(index))
            else:
                row = doubles(value, (None,), f"{name}: its {what}")
                row = row * row if what == "sigma" else row
                call("ct_noise_add_diagonal", self._pointer, text, len(row), address(row), ctypes.byref(index))
            if kernel.kind != t.CT_ROBUST_NONE:
                call("ct_noise_set_robust", self._pointer, index.value, kernel)
            if rows is not None:
                self._name_rows(index.value, rows, units)
        return index.value

    def set(self, name: str | int, *, sigma: Any = None, variance: Any = None, covariance: Any = None,
            information: Any = None, robust: str | None = None, rows: Sequence[str] | None = None,
            units: Sequence[str] | None = None) -> None:
        """Change a model in place: numbers (one of sigma, variance, covariance, information), kernel, names of rows."""
        numbers = [v for v in (sigma, variance, covariance, information) if v is not None]
        if len(numbers) > 1:
            raise ArgumentError(f"{name!r}: one of sigma, variance, covariance, information is given, found "
                                f"{len(numbers)}")
        with changing(self):
            index = self.index(name)
            model = self._model(index)
            dim, what = model.dim, f"{name!r}: its numbers"
            if sigma is not None or variance is not None:
                one = model.kind == t.CT_NOISE_ISOTROPIC and np.ndim(numbers[0]) == 0
                row = doubles(numbers[0], (1 if one else dim,), what)
                row = row * row if sigma is not None else row
                if model.kind == t.CT_NOISE_ISOTROPIC and not one:
                    if (row == row[0]).all():
                        row = row[:1]
                    else:
                        call("ct_noise_set_covariance", self._pointer, index, address(np.diag(row).copy()))
                call("ct_noise_set_variance", self._pointer, index, address(np.ascontiguousarray(row)))
            if covariance is not None:
                call("ct_noise_set_covariance", self._pointer, index, address(doubles(covariance, (dim, dim), what)))
            if information is not None:
                with Noise() as other:
                    call("ct_noise_add_information", other._pointer, b"inverse", dim,
                         address(doubles(information, (dim, dim), what)), None)
                    call("ct_noise_set_covariance", self._pointer, index, address(other[0].covariance))
            if robust is not None:
                call("ct_noise_set_robust", self._pointer, index, _robust(robust))
            if rows is not None:
                self._name_rows(index, rows, units)

    def _name_rows(self, index: int, rows: Any, units: Any) -> None:
        dim = self._model(index).dim
        units = [""] * len(rows) if units is None else units
        texts = [[encode(word, "the name of a row") for word in words] for words in (rows, units)]
        if [len(words) for words in texts] != [dim, dim]:
            raise ArgumentError(f"{dim} rows have {dim} names and units, found {len(texts[0])} and {len(texts[1])}")
        lists = [(ctypes.c_char_p * dim)(*words) for words in texts]
        lib.ct_noise_set_rows(self._pointer, index, *lists)

    def index(self, name: str | int) -> int:
        """The index of a model by name or index."""
        if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
            if 0 <= name < len(self):
                return int(name)
            raise ArgumentError(f"there is no noise model {name}: the table has {len(self)}")
        with reading(self):
            index = lib.ct_noise_find(self._pointer, encode(name))
        if index < 0:
            raise ArgumentError(f"there is no noise model {name!r}: there are {', '.join(self.names) or 'none'}")
        return index

    def _model(self, index: int) -> t.ct_noise_model:
        return lib.ct_noise_get(self._pointer, index).contents

    @property
    def names(self) -> list[str]:
        """Names of the models, in order."""
        with reading(self):
            return [self._model(i).name.decode("utf-8", "replace") for i in range(len(self))]

    def __len__(self) -> int:
        return int(lib.ct_noise_count(self._pointer))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and lib.ct_noise_find(self._pointer, encode(name)) >= 0

    def __iter__(self) -> Iterator[NoiseModel]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, name: str | int) -> NoiseModel:
        with reading(self):
            index = self.index(name)
            pointer = lib.ct_noise_get(self._pointer, index)
            model = pointer.contents
            covariance = np.array([[lib.ct_noise_covariance(pointer, i, j) for j in range(model.dim)]
                                   for i in range(model.dim)])
            robust = "none" if model.robust.kind == t.CT_ROBUST_NONE else \
                f"{lib.ct_robust_name(model.robust.kind).decode()}:{model.robust.width!r}" + \
                (f":{model.robust.ratio!r}" if model.robust.ratio else "")
            rows = [(model.row[i].name.decode(), model.row[i].unit.decode()) for i in range(model.dim)] \
                if model.row else []
            return NoiseModel(model.name.decode("utf-8", "replace"), _KINDS[model.kind], covariance, robust,
                              tuple(name for name, _ in rows), tuple(unit for _, unit in rows),
                              model.measurement.decode() if model.measurement else None,
                              None if model.learned < 0 else bool(model.learned))

    def features(self, name: str | int) -> tuple[str, ...]:
        """Features of a factor that the covariance of a model depends on, in order; empty: it is constant."""
        with reading(self):
            function = self._model(self.index(name)).function
            if not function:
                return ()
            return tuple(function.contents.feature[i].name.decode() for i in range(function.contents.features))

    def covariance_at(self, name: str | int, features: Mapping[str, float] | None = None) -> np.ndarray:
        """The covariance of a model for a measurement with these features: {"hdop": 1.4}. Constant models need none."""
        if features is not None and not isinstance(features, Mapping):
            raise ArgumentError(f"features are a dict of numbers by name, found {type(features).__name__}")
        given = dict(features or {})
        with reading(self):
            names = self.features(name)
            missing = [word for word in names if word not in given]
            if missing:
                raise ArgumentError(f"noise model {name!r} depends on {', '.join(names)}; {', '.join(missing)} is missing")
            pointer = lib.ct_noise_get(self._pointer, self.index(name))
            x = doubles([given[word] for word in names] or [0.0], (None,), "features")
            out = np.zeros((pointer.contents.dim, pointer.contents.dim))
            lib.ct_noise_covariance_at(pointer, address(x), address(out))
            return out

    def update(self, other: "Noise") -> None:
        """Take the numbers of another table for models of the same names; "odom@1" takes those of "odom" where the
        other has no "odom@1". New names are added. As `--noise FILE` does."""
        instance(other, Noise, "the other table")
        with scratch() as folder, changing(self):
            path = os.path.join(folder, "noise.json")
            other.write(path)
            call("ct_noise_read", self._pointer, encode(path))

    # ---- other forms

    def to_dict(self) -> dict[str, Any]:
        """A dict by name, of texts, numbers and lists, for JSON."""
        return {model.name: model.to_dict() for model in self}

    @classmethod
    def from_dict(cls, models: Mapping[str, Mapping[str, Any]]) -> "Noise":
        """The inverse of to_dict, to the bit. A model needs a covariance, a sigma or a variance; the rest may lack."""
        noise = cls()
        try:
            for name, m in models.items():
                noise._add_dict(name, m)
        except (AttributeError, TypeError, KeyError) as why:
            raise ArgumentError(f"a dict of noise models by name is wanted: {why}") from None
        return noise

    def _add_dict(self, name: str, m: Mapping[str, Any]) -> None:
        given = next((key for key in ("covariance", "variance", "sigma") if m.get(key) is not None), "covariance")
        value, more = m[given], {key: m.get(key) or None for key in ("robust", "rows", "units")}
        kind = m.get("kind", "full" if given == "covariance" else "diagonal")
        if given == "covariance" and kind in ("diagonal", "isotropic"):
            given, value = "variance", np.diag(np.asarray(value, dtype=float))
        if kind == "isotropic":
            index = self.add(name, **{given: np.ravel(value)[0]}, dim=np.size(value), **more)  # type: ignore[arg-type]
        else:
            index = self.add(name, **{given: value}, **more)  # type: ignore[arg-type]
        if m.get("measurement"):
            lib.ct_noise_set_measurement(self._pointer, index, encode(m["measurement"]))
        if m.get("learned") is not None:
            lib.ct_noise_set_learned(self._pointer, index, flag(m["learned"]))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Covariance matrices by name."""
        return {model.name: model.covariance for model in self}

    def to_gtsam(self) -> dict[str, Any]:
        """gtsam noise models by name. Needs the module gtsam."""
        return {model.name: model.to_gtsam() for model in self}

    def table(self) -> dict[str, np.ndarray]:
        """A line a row of each model, as a dict of columns; pandas.DataFrame takes it."""
        lines = [(m.name, m.rows[i] if m.rows else str(i), m.units[i] if m.units else "", m.sigma[i], m.variance[i],
                  m.kind, m.robust) for m in self for i in range(m.dim)]
        return columns(("model", "row", "unit", "sigma", "variance", "kind", "robust"), lines)

    def export(self, target: str, *, group: str | None = None, all: bool = False, diagonal: bool = False,
               digits: int = 0, dt: float = 0) -> str:
        """The text of `covtune export`: "json", "gtsam-cpp", "gtsam-python", "robot-localization", "ros", "g2o", "c",
        "python", "ros-node".
        `group`: these models alone; `all`: also those that were not learned where others were; `digits`: 0 all;
        `dt`: seconds of a step, which ROS wants as a twist."""
        known = {lib.ct_export_name(i).decode(): i for i in range(t.CT_EXPORT_COUNT)}
        options, text = lib.ct_export_defaults(), ctypes.c_void_p()
        options.group = list_of_names(group, "a group")
        setattr(options, "all", flag(all))
        options.diagonal, options.digits = flag(diagonal), count(digits, "digits", 0, 17)
        options.dt_s = real(dt, "dt", 0)
        with reading(self):
            call("ct_export_string", self._pointer, choice(target, "a target", known), ctypes.byref(options),
                 ctypes.byref(text))
        return take_text(text)

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Noise) or self.closed or other.closed:
            return self is other
        return self.to_dict() == other.to_dict()

    __hash__ = Handle.__hash__

    def __copy__(self) -> "Noise":
        return self.copy()

    def __reduce__(self) -> Any:
        return Noise.from_dict, (self.to_dict(),)

    def _repr_html_(self) -> str:
        return html_table(("model", "kind", "sigma", "kernel"),
                          [(m.name, m.kind, ", ".join(f"{s:.4g}" for s in m.sigma), m.robust) for m in self])

    def __repr__(self) -> str:
        return f"Noise({len(self)} models: {', '.join(self.names)})" if self._handle else "Noise(closed)"


def _square(value: Any, what: str) -> np.ndarray:
    matrix = doubles(value, (None, None), what)
    if matrix.shape[0] != matrix.shape[1]:
        raise ArgumentError(f"{what} must be square, found {matrix.shape[0]} x {matrix.shape[1]}")
    return matrix
