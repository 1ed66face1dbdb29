"""Learning, evaluation, the doctor."""
from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass, field
from typing import Any, Callable

from . import _tables as t
from ._factor import raise_pending
from ._library import ArgumentError, call, encode, in_use, interruptible, lib
from .data import Dataset
from .noise import Noise


@dataclass(frozen=True)
class Finding:
    """A fact that a result reports beside its numbers."""

    code: str
    severity: str
    """"info", "warning" or "error"."""
    text: str
    values: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text


def _finding(pointer: Any) -> Finding:
    f = pointer.contents
    info = lib.ct_finding_get_info(f.code).contents
    buffer = ctypes.create_string_buffer(4096)
    lib.ct_finding_text(pointer, buffer, 4096)
    values = {}
    for i in range(t.CT_FINDING_VALUES_MAX):
        if not info.value[i]:
            break
        values[info.value[i].decode()] = f.value[i]
    return Finding(info.name.decode(), lib.ct_severity_name(info.severity).decode(),
                   buffer.value.decode("utf-8", "replace"), values)


@dataclass(frozen=True)
class Row:
    """A learned row of a noise model."""

    model: str
    name: str
    unit: str
    sigma_start: float
    sigma: float
    sigma_error: float
    """Standard error; infinite: the data do not determine it; NaN: none."""
    lower: float
    upper: float
    at_bound: int


class LearnResult:
    """What learning gave: noise models, standard errors, findings, losses."""

    def __init__(self, run: ctypes.c_void_p) -> None:
        try:
            info = t.ct_run_info()
            call("ct_run_get_info", run, ctypes.byref(info))
            self.stop: str = info.stop.decode()
            self.meaning: str = info.meaning.decode()
            self.evaluations: int = info.evaluations
            self.losses: dict[str, float] = {
                "start": info.loss_start, "answer": info.loss, "closed_form": info.loss_closed_form,
                "heldout": info.loss_heldout, "heldout_start": info.loss_heldout_start,
                "heldout_closed_form": info.loss_heldout_closed_form}
            self.chi_squared: float = info.chi_squared
            self.nees: float = info.nees
            self.rows: list[Row] = [self._row(run, i) for i in range(info.rows)]
            self.findings: list[Finding] = [_finding(lib.ct_run_finding(run, i)) for i in range(info.findings)]
            copy = ctypes.c_void_p()
            call("ct_noise_copy", lib.ct_run_noise(run), ctypes.byref(copy))
            self.noise = Noise(copy)
            self._run: ctypes.c_void_p | None = run
        except BaseException:
            lib.ct_run_free(run)
            raise

    @staticmethod
    def _row(run: ctypes.c_void_p, i: int) -> Row:
        row = t.ct_row()
        call("ct_run_row", run, i, ctypes.byref(row))
        return Row(row.model.decode(), row.name.decode(), row.unit.decode(), row.sigma_start, row.sigma,
                   row.sigma_error, row.lower, row.upper, row.at_bound)

    def write(self, path: Any) -> None:
        """Write the noise file, as covtune learn does."""
        call("ct_run_write", self._run, encode(path, "a path"))

    def to_dict(self) -> dict[str, Any]:
        return {"stop": self.stop, "losses": dict(self.losses), "chi_squared": self.chi_squared, "nees": self.nees,
                "rows": [dict(r.__dict__) for r in self.rows],
                "findings": [{"code": f.code, "severity": f.severity, "text": f.text} for f in self.findings]}

    def _repr_html_(self) -> str:
        def number(x: float) -> str:
            return "" if math.isnan(x) else "not determined" if math.isinf(x) else f"{x:.3g}"

        rows = "".join(f"<tr><td>{r.model}</td><td>{r.name}</td><td>{number(r.sigma_start)}</td>"
                       f"<td>{number(r.sigma)} &plusmn; {number(r.sigma_error)}</td><td>{r.unit}</td></tr>"
                       for r in self.rows)
        notes = "".join(f"<li>{f.severity}: {f.text}</li>" for f in self.findings)
        return f"<p>{self.meaning}</p><table><tr><th>model</th><th>row</th><th>start</th><th>sigma</th><th></th></tr>" \
               f"{rows}</table><ul>{notes}</ul>"

    def __repr__(self) -> str:
        return f"LearnResult({self.stop}, loss {self.losses['start']:.6g} -> {self.losses['answer']:.6g}, " \
               f"{len(self.rows)} rows, {len(self.findings)} findings)"

    def __del__(self) -> None:
        run, self._run = getattr(self, "_run", None), None
        if run:
            lib.ct_run_free(run)

    def __reduce__(self) -> Any:
        raise TypeError("a LearnResult cannot be pickled: it lives in this process. Use to_dict() or write().")


def learn(dataset: Dataset, *, method: str | None = None, deployment: str | None = None, loss: str | None = None,
          learn: str | None = None, freeze: str | None = None, full: str | None = None, tie: str | None = None,
          bounds: str | None = None, bound: str | None = None, spread: float | None = None,
          max_iterations: int | None = None, folds: int | None = None, seed: int | None = None, jobs: int = 1,
          progress: Callable[[dict], Any] | None = None) -> LearnResult:
    """Learn noise models from the training sequences. Options are those of `covtune learn`; `progress` gets a dict after
    every evaluation and stops at the best so far where it returns true. Ctrl-C does so too."""
    options = lib.ct_run_defaults()
    texts = {"method": method, "deployment": deployment, "loss": loss}
    for name, value in texts.items():
        if value is not None:
            setattr(options, name, encode(value, name))
    lists = {"learn": learn, "freeze": freeze, "full": full, "tie": tie, "bounds": bounds, "bound": bound}
    for name, value in lists.items():
        if value is not None:
            setattr(options.theta, name, encode(value, name))
    if spread is not None:
        options.theta.spread = float(spread)
    for name, number in {"max_iterations": max_iterations, "folds": folds, "seed": seed, "jobs": jobs}.items():
        if number is not None:
            setattr(options, name, int(number))
    raised: list[BaseException] = []
    interrupt = interruptible()

    def tell(_user: Any, pointer: Any) -> int:
        try:
            if interrupt.stopped():
                return 1
            p = pointer.contents
            state = {"iteration": p.iteration, "train": p.train, "heldout": p.heldout, "done": p.done,
                     "seconds": p.seconds}
            return 1 if progress is not None and progress(state) else 0
        except KeyboardInterrupt:
            interrupt.hit = True
            return 1
        except BaseException as why:
            raised.append(why)
            return 1

    options.progress = type(options.progress)(tell)
    out = ctypes.c_void_p()
    dataset._idle()
    with in_use(dataset), interrupt:
        try:
            call("ct_run_learn", dataset._pointer, ctypes.byref(options), ctypes.byref(out))
        finally:
            raise_pending(dataset._keep)
    if raised:
        lib.ct_run_free(out)
        raise raised[0]
    return LearnResult(out)


def evaluate(dataset: Dataset, noise: Noise | None = None, *, part: str = "test", nees: bool = True,
             jobs: int = 1) -> dict[str, Any]:
    """Accuracy of estimates with a noise table (None: the dataset's own) on a part of the dataset, as covtune eval."""
    parts = {"train": t.CT_DATASET_TRAIN, "test": t.CT_DATASET_TEST, "all": t.CT_DATASET_ALL}
    if part not in parts:
        raise ArgumentError(f"{part!r} is no part of a dataset: there are train, test, all")
    options, summary = lib.ct_evaluate_defaults(), t.ct_summary()
    options.nees, options.jobs = int(nees), int(jobs)
    dataset._idle()
    with in_use(dataset, *([noise] if noise is not None else [])):
        try:
            call("ct_dataset_evaluate", dataset._pointer, parts[part], None if noise is None else noise._pointer,
                 ctypes.byref(options), ctypes.byref(summary))
        finally:
            raise_pending(dataset._keep)
    return {"sequences": summary.sequences, "failed": summary.failed, "diverged": summary.diverged,
            "translation": summary.accuracy.translation, "rotation": summary.accuracy.rotation,
            "ape_translation": summary.accuracy.ape_translation, "loss": summary.loss,
            "chi_squared": summary.chi_squared, "nees": summary.nees, "seconds": summary.seconds}


def doctor(dataset: Dataset) -> list[Finding]:
    """Findings on a dataset: what no covariance mends, with sizes and standard errors."""
    out = ctypes.c_void_p()
    dataset._idle()
    with in_use(dataset):
        call("ct_doctor_examine", dataset._pointer, None, ctypes.byref(out))
    try:
        findings = ctypes.cast(out, ctypes.POINTER(t.ct_diagnosis)).contents.findings
        return [_finding(ctypes.pointer(findings.item[i])) for i in range(findings.count)]
    finally:
        lib.ct_diagnosis_free(ctypes.cast(out, ctypes.POINTER(t.ct_diagnosis)))
