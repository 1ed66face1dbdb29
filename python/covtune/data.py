"""Datasets: sequences with truth, and their noise table."""
from __future__ import annotations

import ctypes
import json
from typing import Any, Sequence as Items

import numpy as np

from . import _tables as t
from ._arrays import address, doubles
from ._library import ArgumentError, Handle, call, encode, lib
from .graph import Graph, from_fields, places, stored_rows
from .noise import Noise


class Sequence:
    """A sequence of a dataset: a graph with truth and times. It belongs to its dataset."""

    def __init__(self, dataset: "Dataset", pointer: Any) -> None:
        self._dataset, self._at = dataset, pointer

    @property
    def _seq(self) -> t.ct_sequence:
        self._dataset._pointer  # a closed dataset raises
        return self._at.contents

    @property
    def name(self) -> str:
        return lib.ct_sequence_label(ctypes.byref(self._seq)).decode("utf-8", "replace")

    @property
    def recording(self) -> str:
        """Sequences of one recording are not independent; they are held out together."""
        buffer = ctypes.create_string_buffer(256)
        return lib.ct_sequence_recording(ctypes.byref(self._seq), buffer, 256).decode("utf-8", "replace")

    @property
    def variables(self) -> int:
        return lib.ct_graph_variables(self._seq.graph)

    @property
    def factors(self) -> int:
        return lib.ct_graph_factors(self._seq.graph)

    @property
    def times(self) -> np.ndarray:
        """Seconds of each variable; NaN: not known."""
        stamp = self._seq.stamp
        return np.full(self.variables, np.nan) if not stamp else \
            np.ctypeslib.as_array(stamp, (self.variables,)).copy() if self.variables else np.zeros(0)

    def _poses(self, values: Any) -> np.ndarray:
        graph = self._seq.graph
        size = lib.ct_graph_size(graph)
        x = np.ctypeslib.as_array(ctypes.cast(values, ctypes.POINTER(ctypes.c_double)), (size,))
        kinds, offsets = places(graph)
        for kind in (t.CT_SE2, t.CT_SE3):
            if (kinds == kind).any():
                return stored_rows(x, kind, offsets[kinds == kind])
        return np.zeros((0, 3))

    @property
    def truth(self) -> np.ndarray | None:
        """True poses as rows of fields, in the order of the variables; None: there is no truth."""
        return self._poses(self._seq.truth) if self._seq.truth else None

    @property
    def initial(self) -> np.ndarray:
        """Initial poses as rows of fields."""
        return self._poses(lib.ct_graph_initial(self._seq.graph))

    def __repr__(self) -> str:
        return f"Sequence({self.name!r}, {self.variables} variables, {self.factors} factors, " \
               f"{'with' if self._seq.truth else 'without'} truth)"


class Dataset(Handle):
    """Training and test sequences with one noise table.

    >>> Dataset()
    Dataset(0 training and 0 test sequences; no noise models)
    """

    _free = "ct_dataset_free"

    def __init__(self, noise: Noise | None = None, _handle: Any = None) -> None:
        if _handle is None:
            _handle = ctypes.c_void_p()
            call("ct_dataset_new", ctypes.byref(_handle))
        super().__init__(_handle)
        self._keep: list[Any] = []
        if noise is not None:
            copy = noise.copy()
            lib.ct_noise_free(self._data.noise)
            self._data.noise, copy._handle = copy._handle, None

    @property
    def _pointer(self) -> Any:
        return ctypes.cast(super()._pointer, ctypes.POINTER(t.ct_dataset))

    @property
    def _data(self) -> t.ct_dataset:
        return self._pointer.contents

    @classmethod
    def read(cls, path: Any, part: str = "all") -> "Dataset":
        """A folder with dataset.yaml, with folders train and test, of sequence files, or one such file."""
        parts = {"train": t.CT_DATASET_TRAIN, "test": t.CT_DATASET_TEST, "all": t.CT_DATASET_ALL}
        if part not in parts:
            raise ArgumentError(f"{part!r} is no part of a dataset: there are train, test, all")
        out = ctypes.c_void_p()
        call("ct_dataset_read", encode(path, "a path"), parts[part], ctypes.byref(out))
        return cls(_handle=out)

    @classmethod
    def from_recipe(cls, recipe: Any, folder: Any = None) -> "Dataset":
        """Import recordings by a recipe (docs/import.md): the path of a YAML file, its text, or a dict. `folder`: where
        the files are."""
        handle, out = ctypes.c_void_p(), ctypes.c_void_p()
        where = None if folder is None else encode(folder, "a folder")
        if isinstance(recipe, dict):
            call("ct_recipe_parse", json.dumps(recipe).encode(), b"recipe", where, ctypes.byref(handle))
        elif isinstance(recipe, str) and "\n" in recipe:
            call("ct_recipe_parse", encode(recipe, "a recipe"), b"recipe", where, ctypes.byref(handle))
        else:
            call("ct_recipe_read", encode(recipe, "a path"), ctypes.byref(handle))
        try:
            options = lib.ct_import_defaults()
            options.folder = where
            call("ct_recipe_dataset", handle, ctypes.byref(options), ctypes.byref(out), None)
        finally:
            lib.ct_recipe_free(handle)
        return cls(_handle=out)

    def write(self, folder: Any) -> None:
        """Write dataset.yaml, train/0000.ctseq, ... into a folder."""
        call("ct_dataset_write", self._pointer, encode(folder, "a path"))

    def add(self, graph: Graph, truth: Any = None, *, part: str = "train", times: Any = None, name: str | None = None,
            recording: str | None = None) -> Sequence:
        """Add a copy of a graph as a sequence. `truth`: rows of fields for the poses of the graph in their order, NaN
        rows where it is not known; `times`: seconds of the poses. Noise indices are those of the dataset's table."""
        if part not in ("train", "test"):
            raise ArgumentError(f"{part!r}: a sequence is added to train or test")
        self._idle()
        copy, seq = ctypes.c_void_p(), ctypes.c_void_p()
        call("ct_graph_copy", graph._pointer, ctypes.byref(copy))
        try:
            call("ct_sequence_new", copy, ctypes.byref(seq))
        except Exception:
            lib.ct_graph_free(copy)
            raise
        at = ctypes.cast(seq, ctypes.POINTER(t.ct_sequence))
        try:
            self._describe(at, graph, truth, times)
            call("ct_sequence_set_name", at, None if name is None else encode(name),
                 None if recording is None else encode(recording))
            call("ct_dataset_add", self._pointer, at, t.CT_DATASET_TRAIN if part == "train" else t.CT_DATASET_TEST)
        except BaseException:
            lib.ct_sequence_free(at)
            raise
        self._keep.extend(m for m in graph._models if m not in self._keep)
        return Sequence(self, at)

    @staticmethod
    def _describe(seq: Any, graph: Graph, truth: Any, times: Any) -> None:
        kinds, offsets = graph._places()
        poses = np.flatnonzero((kinds == t.CT_SE2) | (kinds == t.CT_SE3))
        if truth is not None:
            if len(set(kinds[poses])) > 1:
                raise ArgumentError("truth of poses of two kinds cannot be given as one array")
            kind = int(kinds[poses[0]]) if len(poses) else t.CT_SE2
            rows = doubles(truth, (len(poses), lib.ct_kind_fields(kind)), "truth")
            known = np.isfinite(rows).all(axis=1)
            x, bits = np.array(graph._values), np.zeros(len(kinds), dtype=np.uint8)
            bits[poses[known]] = (1 << lib.ct_kind_dim(kind)) - 1
            stored = from_fields(kind, rows[known], "truth")
            x[offsets[poses[known]][:, None] + np.arange(stored.shape[1])] = stored
            call("ct_sequence_set_truth", seq, address(x), address(bits))
        if times is not None:
            stamps = np.full(len(kinds), np.nan)
            stamps[poses] = doubles(times, (len(poses),), "times")
            call("ct_sequence_set_times", seq, address(stamps))

    def _sequences(self, list_of: Any, count: int) -> list[Sequence]:
        slots = ctypes.cast(list_of, ctypes.POINTER(ctypes.POINTER(t.ct_sequence)))
        return [Sequence(self, slots[i]) for i in range(count)]

    @property
    def train(self) -> list[Sequence]:
        return self._sequences(self._data.train, self._data.trains)

    @property
    def test(self) -> list[Sequence]:
        return self._sequences(self._data.test, self._data.tests)

    @property
    def noise(self) -> Noise:
        """A copy of the noise table."""
        out = ctypes.c_void_p()
        call("ct_noise_copy", self._data.noise, ctypes.byref(out))
        return Noise(out)

    def __repr__(self) -> str:
        if not self._handle:
            return "Dataset(closed)"
        names = ", ".join(self.noise.names) or "no noise models"
        return f"Dataset({self._data.trains} training and {self._data.tests} test sequences; {names})"


def simulate_nav(preset: str = "D1", kind: str = "SE2", *, train: int = 5, test: int = 5, poses: int | None = None,
                 seed: int = 1) -> Dataset:
    """Simulated navigation with known truth and noise: the paper's D1 to D4."""
    options, dataset = t.ct_nav_options(), Dataset()
    from .graph import kind_of

    if not lib.ct_nav_preset(encode(preset), kind_of(kind), ctypes.byref(options)):
        raise ArgumentError(f"{preset!r} is no preset: there are D1, D2, D3, D4")
    options.seed = int(seed)
    if poses is not None:
        options.least = options.most = int(poses)
    for i in range(train + test):
        seq = ctypes.c_void_p()
        call("ct_simulate_nav", ctypes.byref(options), i, dataset._data.noise, ctypes.byref(seq))
        call("ct_dataset_add", dataset._pointer, ctypes.cast(seq, ctypes.POINTER(t.ct_sequence)),
             t.CT_DATASET_TRAIN if i < train else t.CT_DATASET_TEST)
    return dataset
