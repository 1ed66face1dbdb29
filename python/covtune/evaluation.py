"""Accuracy and consistency of estimates under a noise table."""
from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from . import _tables as t
from ._arrays import columns, doubles, html_table, plain
from ._factor import raise_pending
from ._inference import DIFFERENCES, part_of, set_inference
from ._library import ArgumentError, call, choice, count, flag, in_use, instance, lib, real
from ._progress import Watch
from .data import Dataset
from .findings import Finding, findings_html, findings_of
from .learning import jobs_of
from .noise import Noise


@dataclass(frozen=True)
class Figures:
    """Numbers of one sequence, or means over several. NaN: not known, or not asked for."""

    translation: float
    """Root mean square of the coordinates of position errors, m."""
    rotation: float
    """Of angles, rad."""
    ape_translation: float
    """Root mean square of distances, m."""
    loss: float
    chi_squared: float
    """Per degree of freedom: 1 if the noise models are right."""
    nees: float
    """Per coordinate: 1 if claimed and real errors agree."""
    innovation: float
    """Normalised squares of held-out measurements, per row: 1 if they are predicted as well as claimed."""
    log_density: float
    """Of held-out measurements: a score, larger is better."""
    condition: float

    def to_dict(self) -> dict[str, float]:
        """Numbers by name."""
        return dict(vars(self))


@dataclass(frozen=True)
class SequenceFigures:
    """The evaluation of one sequence."""

    name: str
    stop: str
    failed: bool
    """No minimum was found, or it diverged."""
    reason: str
    seconds: float
    figures: Figures


class Evaluation:
    """How well a noise table estimates sequences: means, and a line a sequence."""

    def __init__(self, sequences: list[SequenceFigures], summary: t.ct_summary, findings: list[Finding],
                 incremental: bool, cancelled: bool) -> None:
        self.sequences = sequences
        """A line a sequence."""
        self.figures = _figures(summary)
        """Means over the sequences that have an estimate."""
        self.count: int = summary.sequences
        self.failed: int = summary.failed
        self.diverged: int = summary.diverged
        self.seconds: float = summary.seconds
        self.findings = findings
        self.incremental = incremental
        """Were estimates made incrementally?"""
        self.cancelled = cancelled
        """Did Ctrl-C or the callback end it early?"""

    def __getattr__(self, name: str) -> float:
        if name in Figures.__dataclass_fields__:
            return float(getattr(self.figures, name))
        raise AttributeError(f"an Evaluation has no {name}")

    def table(self) -> dict[str, np.ndarray]:
        """A line a sequence, as a dict of columns; pandas.DataFrame takes it."""
        names = ("sequence", "stop", "failed", "seconds", *Figures.__dataclass_fields__)
        return columns(names, [(s.name, s.stop, s.failed, s.seconds, *vars(s.figures).values())
                               for s in self.sequences])

    def to_dict(self) -> dict[str, Any]:
        """Texts, numbers and lists, for JSON."""
        return {**self.figures.to_dict(), "count": self.count, "failed": self.failed, "diverged": self.diverged,
                "seconds": self.seconds, "incremental": self.incremental, "cancelled": self.cancelled,
                "sequences": plain(self.sequences), "findings": plain(self.findings)}

    def _repr_html_(self) -> str:
        known = [(k, v) for k, v in self.figures.to_dict().items() if not math.isnan(v)]
        rows = [("sequences", self.count), ("failed", self.failed), *known]
        return html_table(("mean", "value"), rows) + findings_html(self.findings)

    def __repr__(self) -> str:
        known = ", ".join(f"{k} {v:.4g}" for k, v in self.figures.to_dict().items() if not math.isnan(v))
        return f"Evaluation({self.count} sequences, {self.failed} failed; {known})"


def _figures(s: t.ct_summary) -> Figures:
    n = s.innovation
    return Figures(s.accuracy.translation, s.accuracy.rotation, s.accuracy.ape_translation, s.loss, s.chi_squared,
                   s.nees, n.normalised / n.rows if n.rows else math.nan,
                   n.log_density / n.measurements if n.rows and n.measurements else math.nan, s.condition)


def figures_of(summary: t.ct_summary) -> Figures:
    """Numbers of a summary."""
    return _figures(summary)


def _one(seq: Any, evaluation: t.ct_evaluation) -> SequenceFigures:
    shown, summary = t.ct_evaluation.from_buffer_copy(evaluation), t.ct_summary()
    shown.diverged = t.CT_DIVERGED_NO  # its numbers are shown, though they are in no mean
    call("ct_summarise", 1, ctypes.byref(shown), None, ctypes.byref(summary))
    at, failed = ctypes.byref(evaluation), bool(lib.ct_evaluation_failed(ctypes.byref(evaluation)))
    return SequenceFigures(lib.ct_sequence_label(seq).decode("utf-8", "replace"),
                           lib.ct_stop_name(evaluation.solve.stop).decode(), failed,
                           lib.ct_evaluation_reason(at).decode() if failed else "", evaluation.solve.seconds,
                           _figures(summary))


class truth_sigma_of:
    """A block in which the truth of sequences has another sigma."""

    def __init__(self, sequences: list[t.ct_sequence], sigma: Any) -> None:
        self._sequences = [] if sigma is None else sequences
        self._sigma = [] if sigma is None else [real(v, "truth_sigma", 0, 1e9)
                                                for v in doubles(sigma, (2,), "truth_sigma")]
        self._old: list[list[float]] = []

    def __enter__(self) -> None:
        self._old = [list(seq.truth_sigma) for seq in self._sequences]
        for seq in self._sequences:
            seq.truth_sigma[:] = self._sigma

    def __exit__(self, *why: Any) -> None:
        for seq, old in zip(self._sequences, self._old):
            seq.truth_sigma[:] = old


def evaluate(dataset: Dataset, noise: Noise | None = None, *, part: str = "test", nees: bool | None = None,
             innovations: bool | None = None, conditioning: bool = False, start: str = "measurements",
             solver: str = "auto", entry: str | None = None, method: str | None = None, loss: str = "local",
             truth_sigma: Any = None, seed: int = 1, jobs: int | None = None,
             callback: Callable[[dict[str, Any]], Any] | None = None, progress: bool = False) -> Evaluation:
    """Estimate the sequences of a part under a noise table (None: the dataset's own) and compare with their truth; the
    numbers are those of `covtune eval`. Models of `noise` replace the dataset's of the same names.

    `nees` (None: where there is truth) compares errors with marginal covariances; `innovations` (None: where a sequence
    has no truth) predicts held-out measurements; `conditioning` computes condition numbers. Estimates `start` from
    "measurements", "odometry", "file" or "truth", by `solver` "batch" or "isam2". Ctrl-C gives what is done.

    >>> data = simulate_nav("D1", train=0, test=3, poses=60)
    >>> evaluate(data).count
    3
    """
    instance(dataset, Dataset, "dataset")
    table = dataset.noise
    if noise is not None:
        table.update(instance(noise, Noise, "noise"))
    options, watch = lib.ct_evaluate_defaults(), Watch("evaluate", callback, progress)
    set_inference(options.inference, start=start, solver=solver, entry=entry, method=method)
    options.loss.difference = choice(loss, "loss", DIFFERENCES)
    options.conditioning, options.seed = flag(conditioning), count(seed, "seed", 0, 2**63 - 1)
    options.jobs = jobs_of(jobs)

    def tell(_user: Any, done: int, everything: int) -> int:
        return watch.tell(lambda: {"done": done, "sequences": everything}, done / max(everything, 1),
                          f"{done} of {everything} sequences")

    options.progress = type(options.progress)(tell)
    with in_use(alone=(dataset,)):
        pointers = (ctypes.c_void_p * max(dataset._data.trains + dataset._data.tests, 1))()
        number = lib.ct_dataset_sequences(dataset._pointer, part_of(part), pointers)
        if not number:
            raise ArgumentError(f"the dataset has no sequences of part {part}: it has {dataset._data.trains} training "
                                f"and {dataset._data.tests} test sequences")
        sequences = [ctypes.cast(pointers[i], ctypes.POINTER(t.ct_sequence)).contents for i in range(number)]
        for seq in sequences:
            call("ct_graph_check_noise", seq.graph, table._pointer)
        everywhere = lib.ct_loss_defaults()
        told = sum(lib.ct_loss_terms(ctypes.byref(everywhere), ctypes.byref(seq)) > 0 for seq in sequences)
        options.nees = int(told > 0 if nees is None else flag(nees))
        options.innovations = int(told < number if innovations is None else flag(innovations))
        with truth_sigma_of(sequences, truth_sigma):
            return _evaluate(dataset, sequences, pointers, table, options, watch)


def _evaluate(dataset: Dataset, sequences: list[t.ct_sequence], pointers: Any, table: Noise,
              options: t.ct_evaluate_options, watch: Watch) -> Evaluation:
    n, found = len(sequences), t.ct_findings()
    each, summary = (t.ct_evaluation * n)(), t.ct_summary()
    try:
        call("ct_inference_choose", n, pointers, ctypes.byref(options.inference))
        with watch:
            try:
                call("ct_evaluate", n, pointers, table._pointer, ctypes.byref(options), each, ctypes.byref(summary))
            finally:
                raise_pending(dataset._keep)
        watch.raise_pending()
        call("ct_truth_frame_findings", n, pointers, table._pointer, ctypes.byref(found))
        call("ct_diverged_find", n, pointers, each, ctypes.byref(found))
        findings = findings_of(found)
    finally:
        lib.ct_findings_free(ctypes.byref(found))
    unfinished = [e.solve.stop in (t.CT_STOP_NONE, t.CT_STOP_CANCELLED) for e in each]
    done = [_one(ctypes.byref(seq), e) for seq, e, late in zip(sequences, each, unfinished) if not late]
    return Evaluation(done, summary, findings, bool(options.inference.incremental), any(unfinished))
