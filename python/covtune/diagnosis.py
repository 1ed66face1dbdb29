"""The doctor: mistakes in a dataset that no covariance mends."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from . import _tables as t
from ._arrays import html_table, plain
from ._factor import raise_pending
from ._library import EmptyError, Error, call, flag, in_use, instance, lib, real, take_text
from ._progress import Watch
from .data import Dataset, parse_recipe
from .findings import Finding, findings_of
from .learning import jobs_of


@dataclass(frozen=True)
class Correction:
    """What a recipe can mend: `key: values` of a sensor."""

    sensor: str
    recording: str
    """"": all recordings."""
    key: str
    """"delay", "scale", "bias", "mount", ..."""
    values: tuple[float, ...]
    standard_error: float
    """Of the first value."""
    mends: bool
    """Of a mistake. Else it is a model of noise to try, which the corrected recipe does not have."""


@dataclass(frozen=True, repr=False)
class Evidence:
    """The evidence of a finding, for a picture: points, and the line that was fitted."""

    finding: Finding
    x_label: str
    y_label: str
    x: np.ndarray
    y: np.ndarray
    line_x: np.ndarray
    line_y: np.ndarray

    def __repr__(self) -> str:
        return f"Evidence({self.finding.code}, {len(self.x)} points)"


class Diagnosis:
    """What the doctor found. It is a sequence of findings."""

    def __init__(self, d: t.ct_diagnosis, recipe: str | None) -> None:
        self.findings: list[Finding] = findings_of(d.findings)
        self.corrections: list[Correction] = [
            Correction(c.sensor.decode(), c.recording.decode(), lib.ct_correction_key(c.kind).decode(),
                       tuple(c.value[:c.count]), d.correction_error[i], i < d.mending)
            for i, c in enumerate(d.correction[i] for i in range(d.corrections))]
        """What a recipe can mend."""
        self.evidence: list[Evidence] = [self._evidence(d.evidence[i]) for i in range(d.evidences)]
        """Points and lines of findings, for pictures."""
        self.imports: int = d.imports
        self.tests: int = d.tests
        """Number of hypotheses tested."""
        self.recipe = recipe
        """The recipe with the corrections; None: the dataset has none."""

    def _evidence(self, e: t.ct_evidence) -> Evidence:
        def array(pointer: Any, n: int) -> np.ndarray:
            return np.ctypeslib.as_array(pointer, (n,)).copy() if pointer and n else np.zeros(0)

        return Evidence(self.findings[e.finding], e.x_label.decode("utf-8", "replace"),
                        e.y_label.decode("utf-8", "replace"), array(e.x, e.points), array(e.y, e.points),
                        array(e.line_x, e.lines), array(e.line_y, e.lines))

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, i: int) -> Finding:
        return self.findings[i]

    @property
    def mistakes(self) -> list[Finding]:
        """Findings that are more than information."""
        return [f for f in self.findings if f.severity != "info"]

    def to_dict(self) -> dict[str, Any]:
        """Texts, numbers and lists, for JSON."""
        return {"findings": plain(self.findings), "corrections": plain(self.corrections), "imports": self.imports,
                "tests": self.tests, "recipe": self.recipe}

    def _repr_html_(self) -> str:
        return html_table(("", "finding"), [(f.severity, f.text) for f in self.findings]) if self.findings else \
            "<p>Nothing was found.</p>"

    def __repr__(self) -> str:
        return f"Diagnosis({len(self.mistakes)} mistakes, {len(self.findings)} findings, " \
               f"{len(self.corrections)} corrections, {self.tests} tests)"


def doctor(dataset: Dataset, *, recipe: Any = None, folder: Any = None, level: float = 0.01, brief: bool = False,
           jobs: int | None = None, callback: Callable[[dict[str, Any]], Any] | None = None,
           progress: bool = False) -> Diagnosis:
    """Look for mistakes in the data that no covariance mends: delays, scales, biases, units, axes, frames, lever arms,
    outliers, lasting errors, with sizes and standard errors, as `covtune doctor`.

    Of a dataset that was imported, the recipe is used too: it is imported again with the corrections until they stay.
    `recipe` and `folder`: another one, and where its files are. `level`: chance of one false finding or more. `brief`:
    one pass without imports. A callback that returns true, and Ctrl-C, stop with KeyboardInterrupt.

    >>> doctor(simulate_nav("D1", train=3, test=0, poses=80)).mistakes
    []
    """
    instance(dataset, Dataset, "dataset")
    options, out, handle = lib.ct_doctor_defaults(), ctypes.c_void_p(), ctypes.c_void_p()
    watch, stopped = Watch("doctor", callback, progress), []
    options.level, options.brief = real(level, "level", 1e-12, 0.5), flag(brief)
    options.threads = jobs_of(jobs)

    def tell(_user: Any, share: float, what: bytes) -> int:
        text = (what or b"").decode("utf-8", "replace")
        if watch.tell(lambda: {"done": share, "what": text}, share, text):
            stopped.append(True)
        return len(stopped)

    options.progress = type(options.progress)(tell)
    if recipe is None and dataset._recipe is not None and not brief:
        text, where = dataset._recipe
        recipe, folder = text if "\n" in text else text + "\n", folder if folder is not None else where
    if recipe is not None:
        handle = parse_recipe(recipe, folder)
        options.recipe = handle
    try:
        with in_use(dataset), watch:
            try:
                call("ct_doctor_examine", dataset._pointer, ctypes.byref(options), ctypes.byref(out))
            except Error as why:
                watch.raise_pending()
                if stopped or watch.stopped() and isinstance(why, EmptyError):
                    raise KeyboardInterrupt from None
                raise
            finally:
                raise_pending(dataset._keep)
        watch.raise_pending()
        diagnosis = ctypes.cast(out, ctypes.POINTER(t.ct_diagnosis))
        try:
            return Diagnosis(diagnosis.contents, _corrected(handle, diagnosis.contents))
        finally:
            lib.ct_diagnosis_free(diagnosis)
    finally:
        lib.ct_recipe_free(handle)


def _corrected(recipe: ctypes.c_void_p, d: t.ct_diagnosis) -> str | None:
    if not recipe:
        return None
    text = ctypes.c_void_p()
    call("ct_recipe_correct", recipe, d.correction, d.mending, ctypes.byref(text))
    return take_text(text)
