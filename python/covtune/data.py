"""Datasets: sequences with truth, and their noise table."""
from __future__ import annotations

import ctypes
import json
import os
from dataclasses import dataclass
from typing import Any, Callable, Mapping

import numpy as np

from . import _tables as t
from ._arrays import address, columns, doubles, html_table, plain
from ._inference import part_of
from ._library import (ArgumentError, EmptyError, Handle, call, changing, choice, count, encode,
                       flag, in_use, instance, lib, names, reading, real, take_text)
from ._progress import Watch
from .estimate import Estimate, estimate, pose_places, residuals_at, residuals_at_truth, true_poses
from .findings import Finding, findings_html, findings_of
from .graph import Graph, from_fields, kind_of, stored_rows
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
        """Its name in the dataset, of its file."""
        with reading(self._dataset):
            return lib.ct_sequence_label(ctypes.byref(self._seq)).decode("utf-8", "replace")

    @property
    def recording(self) -> str:
        """Sequences of one recording are not independent; they are held out together."""
        buffer = ctypes.create_string_buffer(256)
        with reading(self._dataset):
            return lib.ct_sequence_recording(ctypes.byref(self._seq), buffer, 256).decode("utf-8", "replace")

    @property
    def variables(self) -> int:
        """Number of variables."""
        return lib.ct_graph_variables(self._seq.graph)

    @property
    def factors(self) -> int:
        """Number of factors."""
        return lib.ct_graph_factors(self._seq.graph)

    @property
    def note(self) -> str:
        """What the reader added or assumed."""
        return (self._seq.note or b"").decode("utf-8", "replace")

    @property
    def times(self) -> np.ndarray:
        """Seconds of each variable; NaN: not known."""
        with reading(self._dataset):
            stamp, n = self._seq.stamp, self.variables
            return np.ctypeslib.as_array(stamp, (n,)).copy() if stamp and n else np.full(n, np.nan)

    @property
    def truth(self) -> np.ndarray | None:
        """True poses as rows of fields, in the order of the variables, NaN where they are not fully known; None: there
        is no truth."""
        with reading(self._dataset):
            return true_poses(self._seq)

    @property
    def initial(self) -> np.ndarray:
        """Initial poses as rows of fields."""
        with reading(self._dataset):
            graph = self._seq.graph
            kind, _, offsets = pose_places(graph)
            size = lib.ct_graph_size(graph)
            x = np.ctypeslib.as_array(ctypes.cast(lib.ct_graph_initial(graph), ctypes.POINTER(ctypes.c_double)),
                                      (size,)) if size else np.zeros(0)
            return stored_rows(x, kind, offsets)

    def graph(self) -> Graph:
        """A copy of its factor graph, with a copy of the dataset's noise table."""
        out = ctypes.c_void_p()
        with reading(self._dataset):
            call("ct_graph_copy", self._seq.graph, ctypes.byref(out))
            graph = Graph(self._dataset.noise, _handle=out)
            graph._models = list(self._dataset._keep)
        return graph

    def estimate(self, noise: Noise | None = None, *, start: str = "measurements", solver: str = "auto",
                 covariances: bool = True) -> Estimate:
        """The estimate under a noise table (None: the dataset's own), as `evaluate` and the program make it: poses,
        their covariances, NEES."""
        if noise is not None:
            instance(noise, Noise, "noise")
        return estimate(self, noise, start=start, solver=solver, covariances=covariances)

    def __repr__(self) -> str:
        if self._dataset.closed:
            return "Sequence(of a closed dataset)"
        return f"Sequence({self.name!r}, {self.variables} variables, {self.factors} factors, " \
               f"{'with' if self._seq.truth else 'without'} truth)"


@dataclass(frozen=True)
class ImportCount:
    """What an import made of one sensor, or of the truth (the last)."""

    sensor: str
    records: int
    factors: int
    """Of the truth: states that have one."""
    dropped: dict[str, int]
    """Why records became nothing, and how many."""
    rate: float
    """Hz; NaN: unknown."""


@dataclass(frozen=True, repr=False)
class ImportReport:
    """What an import read, made, left out and found."""

    counts: list[ImportCount]
    recordings: int
    states: int
    landmarks: int
    findings: list[Finding]

    def table(self) -> dict[str, np.ndarray]:
        """A line a sensor, as a dict of columns."""
        return columns(("sensor", "records", "factors", "dropped", "rate"),
                       [(c.sensor, c.records, c.factors, sum(c.dropped.values()), c.rate) for c in self.counts])

    def to_dict(self) -> dict[str, Any]:
        """Texts, numbers and lists, for JSON."""
        return {key: plain(getattr(self, key)) for key in self.__dataclass_fields__}

    def _repr_html_(self) -> str:
        rows = [(c.sensor, c.records, c.factors, ", ".join(f"{n} {why}" for why, n in c.dropped.items()), c.rate)
                for c in self.counts]
        return html_table(("sensor", "records", "factors", "left out", "Hz"), rows) + findings_html(self.findings)

    def __repr__(self) -> str:
        return f"ImportReport({self.recordings} recordings, {self.states} states, {len(self.counts)} sources, " \
               f"{len(self.findings)} findings)"


def _report(result: t.ct_import_result) -> ImportReport:
    counts = []
    for i in range(result.counts):
        c = result.count[i]
        dropped = {lib.ct_drop_name(k).decode(): c.dropped[k] for k in range(t.CT_DROP_COUNT) if c.dropped[k]}
        counts.append(ImportCount(c.name.decode("utf-8", "replace"), c.records, c.factors, dropped, c.rate_hz))
    return ImportReport(counts, result.recordings, result.states, result.landmarks, findings_of(result.findings))


def parse_recipe(recipe: Any, folder: Any) -> ctypes.c_void_p:
    """A ct_recipe of a dict, a YAML text or a path; the caller frees it."""
    handle = ctypes.c_void_p()
    where = None if folder is None else encode(folder, "a folder")
    if isinstance(recipe, Mapping):
        try:
            recipe = json.dumps(recipe) + "\n"
        except (TypeError, ValueError, RecursionError) as why:
            raise ArgumentError(f"a recipe has texts, numbers, lists and dicts: {why}") from None
    if isinstance(recipe, str) and "\n" in recipe:
        call("ct_recipe_parse", encode(recipe, "a recipe"), b"recipe", where, ctypes.byref(handle))
    else:
        call("ct_recipe_read", encode(recipe, "a recipe"), ctypes.byref(handle))
    return handle


def draft_recipe(*paths: Any) -> str:
    """A first recipe for files of your own, with comments: `covtune import --init`."""
    texts = [encode(path, "a path") for path in paths]
    out = ctypes.c_void_p()
    call("ct_recipe_draft", (ctypes.c_char_p * max(len(texts), 1))(*texts), len(texts), ctypes.byref(out))
    return take_text(out)


class Dataset(Handle):
    """Training and test sequences with one noise table: read from files, imported from recordings by a recipe, made of
    arrays (`add`), or simulated.

    >>> Dataset()
    Dataset(0 training and 0 test sequences; no noise models)
    """

    _free = "ct_dataset_free"

    def __init__(self, noise: Noise | None = None, *, _handle: Any = None) -> None:
        if _handle is None:
            _handle = ctypes.c_void_p()
            call("ct_dataset_new", ctypes.byref(_handle))
        super().__init__(_handle)
        self._keep: list[Any] = []
        self.imported: ImportReport | None = None
        self._recipe: tuple[str, str | None] | None = None  # its text, and the folder of its files
        if noise is not None:
            copy = instance(noise, Noise, "noise").copy()
            lib.ct_noise_free(self._data.noise)
            self._data.noise, copy._handle = copy._handle, None

    @property
    def _pointer(self) -> Any:
        return ctypes.cast(super()._pointer, ctypes.POINTER(t.ct_dataset))

    @property
    def _data(self) -> t.ct_dataset:
        return self._pointer.contents

    @classmethod
    def read(cls, path: Any, part: str = "all", *, repair: bool = False) -> "Dataset":
        """A folder with dataset.yaml, with folders train and test, of sequence files, or one such file. `repair`: raise
        eigenvalues of matrices that are not positive definite to 1e-6 of the largest."""
        out, options, number = ctypes.c_void_p(), lib.ct_read_defaults(), part_of(part)
        options.repair = flag(repair)
        call("ct_dataset_read_with", encode(path, "a path"), number, ctypes.byref(options), ctypes.byref(out))
        dataset, recipe = cls(_handle=out), ctypes.c_void_p()
        if os.path.isdir(path):
            call("ct_recipe_of_dataset", encode(path, "a path"), ctypes.byref(recipe))
        if recipe:
            dataset._recipe = (lib.ct_recipe_text(recipe).decode("utf-8", "replace"), None)
            lib.ct_recipe_free(recipe)
        return dataset

    @classmethod
    def from_recipe(cls, recipe: Any, folder: Any = None, *, only: Any = None,
                    callback: Callable[[dict[str, Any]], Any] | None = None, progress: bool = False) -> "Dataset":
        """Import recordings by a recipe (docs/import.md): the path of a YAML file, its text, or a dict of the same
        keys. `folder`: where the files are; without it paths are relative to the recipe's file, of a text or dict to
        the present folder. `only`: names of the recordings to import. What was made and left out is in `imported`."""
        handle, out, result = parse_recipe(recipe, folder), ctypes.c_void_p(), t.ct_import_result()
        watch, options = Watch("import", callback, progress), lib.ct_import_defaults()
        try:
            options.folder = None if folder is None else encode(folder, "a folder")
            options.only = names(only, "only")

            def tell(_user: Any, done: int, everything: int) -> int:
                return watch.tell(lambda: {"bytes": done, "all": everything}, done / everything if everything else 0,
                                  f"{done / 1e6:.1f} MB")

            options.progress = type(options.progress)(tell)
            try:
                with watch:
                    call("ct_recipe_dataset", handle, ctypes.byref(options), ctypes.byref(out), ctypes.byref(result))
            except EmptyError:
                watch.raise_pending()
                if watch.stopped():
                    raise KeyboardInterrupt from None
                raise
            dataset = cls(_handle=out)
            dataset.imported = _report(result)
            dataset._recipe = (lib.ct_recipe_text(handle).decode("utf-8", "replace"),
                               None if folder is None else os.fsdecode(encode(folder)))
            return dataset
        finally:
            lib.ct_import_result_free(ctypes.byref(result))
            lib.ct_recipe_free(handle)

    def write(self, folder: Any) -> None:
        """Write dataset.yaml, train/0000.ctseq, ... into a folder. Models of your own cannot be written."""
        with in_use(self):
            call("ct_dataset_write", self._pointer, encode(folder, "a path"))

    def add(self, graph: Graph, truth: Any = None, *, part: str = "train", times: Any = None, name: str | None = None,
            recording: str | None = None, truth_sigma: Any = None) -> Sequence:
        """Add a copy of a graph as a sequence. `truth`: rows of fields for the poses of the graph in their order, NaN
        rows where it is not known; `times`: seconds of the poses. Noise indices are those of the dataset's table.
        `truth_sigma`: standard deviations of the truth itself, (m, rad). Sequences of one `recording` are held out
        together."""
        choice(part, "part", {"train": 0, "test": 1})
        instance(graph, Graph, "graph")
        with changing(self), reading(graph):
            return self._add(graph, truth, part, times, name, recording, truth_sigma)

    def _add(self, graph: Graph, truth: Any, part: str, times: Any, name: Any, recording: Any, sigma: Any) -> Sequence:
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
            if sigma is not None:
                at.contents.truth_sigma[:] = [real(v, "truth_sigma", 0, 1e9)
                                              for v in doubles(sigma, (2,), "truth_sigma")]
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
        """Sequences to learn from."""
        with reading(self):
            return self._sequences(self._data.train, self._data.trains)

    @property
    def test(self) -> list[Sequence]:
        """Sequences that learning does not see."""
        with reading(self):
            return self._sequences(self._data.test, self._data.tests)

    def sequences(self, part: str = "all") -> list[Sequence]:
        """Those of a part, each once."""
        with reading(self):
            out = (ctypes.c_void_p * max(self._data.trains + self._data.tests, 1))()
            count = lib.ct_dataset_sequences(self._pointer, part_of(part), out)
            return [Sequence(self, ctypes.cast(out[i], ctypes.POINTER(t.ct_sequence))) for i in range(count)]

    @property
    def noise(self) -> Noise:
        """A copy of the noise table, which learning starts from. Assigning a table takes its numbers for the models of
        the same names."""
        out = ctypes.c_void_p()
        with reading(self):
            call("ct_noise_copy", self._data.noise, ctypes.byref(out))
        return Noise(_handle=out)

    @noise.setter
    def noise(self, noise: Noise) -> None:
        copy = self.noise
        copy.update(instance(noise, Noise, "noise"))
        with changing(self):
            old, self._data.noise, copy._handle = self._data.noise, copy._handle, None
            lib.ct_noise_free(old)

    @property
    def note(self) -> str:
        """What the readers added or assumed."""
        return (self._data.note or b"").decode("utf-8", "replace")

    def residuals(self, model: str | int, *, noise: Noise | None = None, part: str = "train", whitened: bool = True,
                  at: str = "truth") -> list[np.ndarray]:
        """Residuals of a noise model's factors at the truth, samples of its noise: for each sequence n x rows, in their
        order. `whitened` by a table (None: the dataset's own): standard normal if the model is right. `at="estimate"`:
        at the estimate under that table, where there is no truth; whitened always."""
        choice(at, "at", {"truth": 0, "estimate": 1})
        table = self.noise if noise is None else instance(noise, Noise, "noise")
        index, out = table.index(model), []
        dim = table[index].dim
        for sequence in self.sequences(part):
            if at == "estimate":
                x = sequence.estimate(table, covariances=False).values
            with in_use(self, table):
                if at == "truth":
                    out.append(residuals_at_truth(ctypes.byref(sequence._seq), index, dim,
                                                  table._pointer if flag(whitened) else None))
                else:
                    blocks = residuals_at(sequence._seq.graph, index, table._pointer, x)
                    out.append(np.concatenate(blocks) if blocks else np.zeros((0, dim)))
        return out

    def table(self) -> dict[str, np.ndarray]:
        """A line a sequence, as a dict of columns; pandas.DataFrame takes it."""
        tests = {ctypes.addressof(s._seq) for s in self.test}
        return columns(("sequence", "part", "recording", "variables", "factors", "truth"),
                       [(s.name, "test" if ctypes.addressof(s._seq) in tests else "train", s.recording, s.variables,
                         s.factors, bool(s._seq.truth)) for s in self.sequences()])

    def to_dict(self) -> dict[str, Any]:
        """Sizes and noise models, for JSON; `write` writes all of it."""
        return {"sequences": plain(self.table()), "noise": self.noise.to_dict()}

    def _repr_html_(self) -> str:
        if self.closed:
            return repr(self)
        rows = list(zip(*self.table().values()))
        more = f"<p>and {len(rows) - 20} more</p>" if len(rows) > 20 else ""
        return html_table(tuple(self.table()), rows[:20]) + more + self.noise._repr_html_()

    def __repr__(self) -> str:
        if not self._handle:
            return "Dataset(closed)"
        names = ", ".join(self.noise.names) or "no noise models"
        return f"Dataset({self._data.trains} training and {self._data.tests} test sequences; {names})"


def simulate_nav(preset: str = "D1", kind: str = "SE2", *, train: int = 5, test: int = 5, poses: int | None = None,
                 seed: int = 1) -> Dataset:
    """Simulated navigation with known truth and noise: the paper's D1 to D4, in the plane ("SE2") or in space ("SE3").

    >>> simulate_nav("D3", train=2, test=1, poses=50)
    Dataset(2 training and 1 test sequences; first_pose, odom@0, gps@0, odom@1, gps@1)
    """
    options, dataset = t.ct_nav_options(), Dataset()
    if not lib.ct_nav_preset(encode(preset), kind_of(kind), ctypes.byref(options)):
        raise ArgumentError(f"{preset!r} in {kind!r} is no preset: there are D1, D2, D3, D4 in SE2 and SE3")
    options.seed = count(seed, "seed", 0, 2**63 - 1)
    if poses is not None:
        options.least = options.most = count(poses, "poses", 2, 10**7)
    train = count(train, "train")
    for i in range(train + count(test, "test")):
        seq = ctypes.c_void_p()
        call("ct_simulate_nav", ctypes.byref(options), i, dataset._data.noise, ctypes.byref(seq))
        call("ct_dataset_add", dataset._pointer, ctypes.cast(seq, ctypes.POINTER(t.ct_sequence)),
             t.CT_DATASET_TRAIN if i < train else t.CT_DATASET_TEST)
    return dataset
