"""Learning noise models from a dataset."""
from __future__ import annotations

import ctypes
import math
import os
from dataclasses import dataclass
from typing import Any, Callable, Mapping

import numpy as np

from . import _tables as t
from ._arrays import columns, doubles, html_table, plain, scratch
from ._factor import raise_pending
from ._inference import DIFFERENCES, ENTRIES, SOLVERS, STARTS, table as names_of
from ._library import (ArgumentError, Error, call, choice, count, encode, flag, free_memory, in_use, instance, lib,
                       names, real)
from ._progress import Watch
from .data import Dataset
from .findings import Finding, findings_html, findings_of
from .noise import Noise

_METHODS = names_of(lib.ct_learn_method_name, t.CT_LEARN_COUNT)
_SCALES = names_of(lib.ct_scale_name, t.CT_SCALE_COUNT)
_SCALES_FROM = names_of(lib.ct_scale_from_name, t.CT_SCALE_FROM_COUNT)
_GRADIENTS = names_of(lib.ct_gradient_name, t.CT_GRADIENT_COUNT)
_HESSIANS = names_of(lib.ct_hessian_name, t.CT_HESSIAN_COUNT)


@dataclass(frozen=True)
class Row:
    """A learned row of a noise model; an isotropic model has one row."""

    model: str
    name: str
    unit: str
    sigma_start: float
    sigma: float
    sigma_error: float
    """Standard error; infinite: the data do not determine it; NaN: none."""
    lower: float
    upper: float
    """Bounds of sigma; NaN: a full model, whose eigenvalues are bounded."""
    at_bound: int
    """-1: sigma is at lower, 1: at upper, 0: neither."""

    @property
    def label(self) -> str:
        """"odom.x"; of an isotropic model its name."""
        return f"{self.model}.{self.name}" if self.name else self.model


@dataclass(frozen=True)
class HeldOut:
    """A candidate of cross-validation: a weight of the prior, or values that are not learned."""

    candidate: str
    prior: float
    """Weight of the prior; infinite: the closed form (or the likelihood); 0: none; NaN: the start values."""
    loss: float
    """Mean held-out loss of a sequence."""
    loss_error: float
    translation: float
    """Held-out errors, m and rad; NaN: not known."""
    rotation: float
    log_ratio: float
    """Of losses to those of the chosen one, over recordings: robust mean, and its standard error."""
    log_ratio_error: float
    failed: int
    chosen: bool
    verdict: str
    meaning: str


class LearnResult:
    """What learning gave: noise models, their rows with standard errors, losses, the held-out table, findings.

    It keeps nothing of the dataset, and can be pickled.
    """

    stop: str
    meaning: str
    noise: Noise
    start: Noise
    rows: list[Row]
    parameters: list[str]
    covariance: np.ndarray
    standard_errors: np.ndarray
    heldout: list[HeldOut]
    history: list[dict[str, Any]]
    findings: list[Finding]
    losses: dict[str, float]

    def __init__(self, run: "_Run", history: list[dict[str, Any]]) -> None:
        r = run.result
        self._file = run.text()
        self.method: str = lib.ct_learn_method_name(r.method).decode()
        self.stop = lib.ct_learn_stop_name(r.stop).decode()
        """Why learning ended: "step", "closed_form", "cancelled", ..."""
        self.meaning = lib.ct_learn_stop_meaning(r.stop).decode()
        self.evaluations: int = r.evaluations
        self.iterations: int = r.iterations
        self.inner_solves: int = r.inner_solves
        self.seconds: float = r.seconds
        self.losses = {"start": r.loss_start, "answer": r.loss_train, "closed_form": r.loss_closed_form,
                       "heldout": r.loss_heldout, "heldout_start": r.loss_heldout_start,
                       "heldout_closed_form": r.loss_heldout_closed_form, "deployment": r.loss_deployment}
        self.chi_squared: float = r.chi_after
        self.nees: float = r.nees_after
        """Per coordinate, on held-out sequences where there were any: 1 if the sigmas are right."""
        self.scale: float = r.scale_applied
        """The common factor of variances that consistency gave."""
        self.prior: float = r.prior
        self.spread: float = r.spread
        self.noise = run.noise.copy()
        """The learned table."""
        self.start = run.start.copy()
        """The table that learning started from."""
        self.rows = run.rows()
        """Learned rows with standard errors."""
        self.parameters = run.names
        """Names of the learned parameters: log variances, of full models the entries of log Sigma."""
        m = r.parameters
        self.values = _vector(r.p, m)
        self.standard_errors = _vector(r.standard_error, m)
        """Of each parameter, so of log variances; infinite: not determined; NaN: none, at a bound."""
        self.covariance = _vector(r.covariance, m * m).reshape(m, m)
        """Of the parameters: their squares on the diagonal. NaN beside what has no finite one."""
        self.heldout = [_candidate(r.candidate[i], r) for i in range(r.candidates)]
        """The table that cross-validation chose from; empty: there was none."""
        self.history = history
        """A dict for every evaluation: phase, iteration, train, heldout, done, seconds, values."""
        self.findings = findings_of(r.findings) + run.mistakes
        """What one should know about the data and the result."""

    @property
    def sigmas(self) -> dict[str, float]:
        """Learned sigmas by "model.row"."""
        return {row.label: row.sigma for row in self.rows}

    @property
    def sigma_errors(self) -> dict[str, float]:
        """Their standard errors."""
        return {row.label: row.sigma_error for row in self.rows}

    def write(self, path: Any) -> None:
        """Write the noise file, as covtune learn does: with bounds, start values and standard errors."""
        name = os.fsdecode(encode(path, "a path"))
        try:
            with open(f"{name}.part", "wb") as file:
                file.write(self._file)
            os.replace(f"{name}.part", name)
        except OSError as why:
            from ._library import FileError

            raise FileError(f"{name}: {why.strerror or why}") from None

    def table(self, what: str = "rows") -> dict[str, np.ndarray]:
        """"rows", "heldout" or "history" as a dict of columns; pandas.DataFrame takes it."""
        if what == "rows":
            return columns(tuple(Row.__dataclass_fields__), [tuple(vars(r).values()) for r in self.rows])
        if what == "heldout":
            return columns(tuple(HeldOut.__dataclass_fields__), [tuple(vars(h).values()) for h in self.heldout])
        if what == "history":
            keys = ("phase", "iteration", "train", "heldout", "done", "seconds")
            return columns(keys, [tuple(h[key] for key in keys) for h in self.history])
        raise ArgumentError(f"there are tables rows, heldout, history; found {what!r:.80}")

    def to_dict(self) -> dict[str, Any]:
        """Texts, numbers and lists, for JSON."""
        skip = ("_file", "noise", "start")
        out = {key: plain(value) for key, value in vars(self).items() if key not in skip}
        return {**out, "noise": self.noise.to_dict()}

    def _repr_html_(self) -> str:
        rows = [(r.label, r.sigma_start, r.sigma, "not determined" if math.isinf(r.sigma_error) else r.sigma_error,
                 r.unit) for r in self.rows]
        table = html_table(("row", "start sigma", "sigma", "standard error", "unit"), rows)
        held = html_table(("candidate", "held-out loss", "verdict"),
                          [(h.candidate, h.loss, h.meaning) for h in self.heldout]) if self.heldout else ""
        return f"<p>{self.meaning}: loss {self.losses['start']:.6g} to {self.losses['answer']:.6g}</p>{table}{held}" \
               f"{findings_html(self.findings)}"

    def __repr__(self) -> str:
        return f"LearnResult({self.stop}, loss {self.losses['start']:.6g} -> {self.losses['answer']:.6g}, " \
               f"{len(self.rows)} rows, {len(self.findings)} findings)"


def _vector(pointer: Any, n: int) -> np.ndarray:
    return np.ctypeslib.as_array(pointer, (n,)).copy() if pointer and n else np.full(n, np.nan)


def _candidate(c: t.ct_learn_candidate, r: t.ct_learn_result) -> HeldOut:
    name = "start values" if math.isnan(c.prior) else lib.ct_reference_name(r.reference).decode() \
        if math.isinf(c.prior) else "no prior" if c.prior == 0 else f"prior {c.prior:g}"
    return HeldOut(name, c.prior, c.heldout, c.heldout_error, c.translation, c.rotation, c.log_ratio,
                   c.log_ratio_error, c.failed, bool(c.chosen), lib.ct_choice_name(c.verdict).decode(),
                   lib.ct_choice_meaning(c.verdict).decode())


# ---- Options ---------------------------------------------------------------------------------------------------------


def _bounds(bounds: Any) -> tuple[bytes | None, bytes | None]:
    """bounds and bound of the command line, from "tight", (lower, upper), or a dict of such pairs."""
    if bounds is None or isinstance(bounds, (str, bytes)):
        return (None if bounds is None else encode(bounds, "bounds")), None

    def pair(value: Any, what: str) -> str:
        low, high = doubles(value, (2,), what).tolist()
        return f"{low!r}:{high!r}"

    if isinstance(bounds, Mapping):
        items = [f"{name}={value if isinstance(value, str) else pair(value, f'bounds of {name}')}"
                 for name, value in bounds.items()]
        return None, names(items, "bounds")
    return pair(bounds, "bounds").encode(), None


def _pairs(value: Any, what: str) -> bytes | None:
    """"a=b,c=d" of such a text, or of a list of pairs."""
    if value is None or isinstance(value, (str, bytes)):
        return names(value, what)
    items = value.items() if isinstance(value, Mapping) else value
    try:
        return names([word if isinstance(word, str) else "=".join(word) for word in items], what)
    except TypeError:
        raise ArgumentError(f"{what} must be a text or a list of pairs, found {value!r:.80}") from None


def theta_options(given: Mapping[str, Any]) -> t.ct_theta_options:
    """What is learned, within which bounds."""
    options = lib.ct_theta_defaults()
    options.bounds, options.bound = _bounds(given.get("bounds"))
    if given.get("bound") is not None:
        options.bound = _pairs(given["bound"], "bound")
    for name in ("learn", "freeze", "full", "diagonal", "isotropic"):
        setattr(options, name, names(given.get(name), name))
    options.tie = _pairs(given.get("tie"), "tie")
    if given.get("spread") is not None:
        options.spread = real(given["spread"], "spread", 1)
    return options


def _outer_options(given: Mapping[str, Any]) -> t.ct_outer_options:
    options = lib.ct_outer_defaults()
    options.loss.difference = choice(given["loss"], "loss", DIFFERENCES)
    if given["weights"] is not None:
        weights = doubles(given["weights"], (2,), "weights")
        options.loss.translation, options.loss.rotation = (real(w, "a weight", 0, 1e12) for w in weights)
    options.gradient = choice(given["gradient"], "gradient", _GRADIENTS)
    options.hessian = choice(given["hessian"], "hessian", _HESSIANS)
    options.incremental = choice(given["inner"], "inner", {"batch": 0, "isam2": 1})
    if given["entry"] is not None:
        options.replay.entry = choice(given["entry"], "entry", ENTRIES)
    options.jobs = jobs_of(given["jobs"])
    options.no_truth = int(not given["truth"])
    return options


def jobs_of(jobs: Any) -> int:
    """Threads; None: one a processor."""
    return min(os.cpu_count() or 1, 256) if jobs is None else count(jobs, "jobs", 1, 10000)


def _learn_options(given: Mapping[str, Any], method: str) -> t.ct_learn_options:
    options = lib.ct_learn_defaults()
    options.method = choice(method, "method", _METHODS)
    if given["max_iterations"] is not None:
        options.max_iterations = count(given["max_iterations"], "max_iterations")
    options.deployment.incremental = choice(given["deployment"], "deployment", SOLVERS)
    options.deployment.start = choice(given["deployment_start"], "deployment_start", STARTS)
    options.deployment.replay.entry = lib.ct_outer_defaults().replay.entry if given["entry"] is None else \
        choice(given["entry"], "entry", ENTRIES)
    options.scale = choice(given["scale"], "scale", _SCALES)
    options.scale_from = choice(given["scale_from"], "scale_from", _SCALES_FROM)
    options.learn_kernels = flag(given["learn_kernels"])
    if given["start"] is not None:
        options.from_table = choice(given["start"], "start", {"closed-form": 0, "table": 1})
    if given["prior"] is not None and not (isinstance(given["prior"], str) and given["prior"] == "auto"):
        options.prior = real(given["prior"], "prior", 0, 1e12)
    if given["folds"] is not None:
        options.folds = count(given["folds"], "folds", 0, 1000)
    if given["seed"] is not None:
        options.seed = count(given["seed"], "seed", 0, 2**63 - 1)
    if given["space"] is not None:
        options.space = choice(given["space"], "space", {"variance": t.CT_SPACE_VARIANCE, "log": t.CT_SPACE_LOG})
    return options


# ---- A run -----------------------------------------------------------------------------------------------------------


class _Run:
    """The parts of a learning run, of which a result is made; freed with it."""

    def __init__(self, dataset: Dataset, given: Mapping[str, Any], method: str) -> None:
        self.dataset, self.given, self.result = dataset, given, t.ct_learn_result()
        self.options, self._outer_options = _learn_options(given, method), _outer_options(given)
        self._theta_options = theta_options(given)
        self.theta, self.outer = ctypes.c_void_p(), ctypes.c_void_p()
        self.mistakes: list[Finding] = []
        self._digest = 0
        self.names: list[str] = []
        self._sigmas: list[tuple[Any, list[float]]] = []

    def prepare(self) -> None:
        """Pool numbered models, take start values and kernels, and set up the outer problem. The dataset's own table
        has the pooled models afterwards, and is otherwise unchanged."""
        data, pooled, models = self.dataset._data, ctypes.c_void_p(), ctypes.c_int32()
        if not data.trains:
            raise ArgumentError("the dataset has no training sequences to learn from")
        if self.given["truth"] and not any(data.train[i].contents.truth for i in range(data.trains)):
            raise ArgumentError("no sequence has truth to learn from; truth=False learns from the measurements alone")
        options = ctypes.byref(self._theta_options)
        call("ct_dataset_pool_learned", self.dataset._pointer, options, ctypes.byref(pooled), ctypes.byref(models))
        free_memory(pooled)
        self.noise = self.dataset.noise
        if self.given["noise"] is not None:
            self.noise.update(self.given["noise"])
        call("ct_robust_list_apply", _pairs(self.given["robust"], "robust"), b"", self.noise._pointer)
        self.start = self.noise.copy()
        self._set_truth_sigma()
        own, data.noise = data.noise, self.noise._handle
        try:
            call("ct_dataset_theta", self.dataset._pointer, options, ctypes.byref(self.theta))
            call("ct_outer_new", data.trains, data.train, self.noise._pointer, self.theta,
                 ctypes.byref(self._outer_options), ctypes.byref(self.outer))
            call("ct_learn_default_bounds", self.outer, self.options.method, self.theta)
        finally:
            data.noise = own
        self._digest = lib.ct_outer_digest(self.outer, None)
        buffer = ctypes.create_string_buffer(256)
        self.names = [lib.ct_theta_name(self.theta, i, buffer, 256).decode("utf-8", "replace")
                      for i in range(lib.ct_theta_count(self.theta))]

    def _set_truth_sigma(self) -> None:
        sigma = self.given["truth_sigma"]
        if sigma is None:
            return
        pair = [real(v, "truth_sigma", 0, 1e9) for v in doubles(sigma, (2,), "truth_sigma")]
        for i in range(self.dataset._data.trains):
            seq = self.dataset._data.train[i].contents
            self._sigmas.append((seq, list(seq.truth_sigma)))
            seq.truth_sigma[:] = pair

    def examine(self, watch: Watch) -> None:
        """The doctor's examination in brief. It is no condition of learning."""
        if not self.given["doctor"] or not self.given["truth"]:
            return
        options, out = lib.ct_doctor_defaults(), ctypes.c_void_p()
        options.brief, options.threads = 1, self._outer_options.jobs
        options.progress = type(options.progress)(lambda *_: int(watch.stopped()))
        try:
            call("ct_doctor_examine", self.dataset._pointer, ctypes.byref(options), ctypes.byref(out))
        except MemoryError:
            raise
        except Error:
            return
        diagnosis = ctypes.cast(out, ctypes.POINTER(t.ct_diagnosis))
        self.mistakes = [f for f in findings_of(diagnosis.contents.findings) if f.severity != "info"]
        lib.ct_diagnosis_free(diagnosis)

    def learn(self) -> None:
        call("ct_learn", self.outer, ctypes.byref(self.options), self.noise._pointer, ctypes.byref(self.result))
        said = lib.ct_findings_find(ctypes.byref(self.result.findings), t.CT_FINDING_TRUTH_IN_OTHER_FRAME) >= 0
        self.mistakes = [f for f in self.mistakes if not (said and f.code == "sensor_in_other_frame")]

    def values(self, p: Any) -> dict[str, float]:
        """Parameters of a point as log variances by name."""
        return {name: p[i] for i, name in enumerate(self.names)}

    def rows(self) -> list[Row]:
        out: list[Row] = []
        for index, model in enumerate(self.noise):
            if not lib.ct_theta_learns(self.theta, index):
                continue
            errors, bounds = (ctypes.c_double * t.CT_NOISE_DIM_MAX)(), (ctypes.c_int8 * t.CT_NOISE_DIM_MAX)()
            lib.ct_learn_rows(self.theta, ctypes.byref(self.result), index, errors, bounds)
            for r in range(1 if model.kind == "isotropic" else model.dim):
                parameter = lib.ct_theta_find(self.theta, index, r)
                if model.kind != "full" and parameter < 0:
                    continue
                low, high = ctypes.c_double(math.nan), ctypes.c_double(math.nan)
                if model.kind != "full":
                    lib.ct_theta_bounds(self.theta, parameter, ctypes.byref(low), ctypes.byref(high))
                unit, sigma = lib.ct_theta_unit(self.theta, index, r), float(model.sigma[r])
                out.append(Row(model.name, model.rows[r] if model.rows and model.kind != "isotropic" else "",
                               model.units[r] if model.units else "", float(self.start[index].sigma[r]), sigma,
                               0.5 * errors[r] * sigma, math.sqrt(low.value) * unit, math.sqrt(high.value) * unit,
                               bounds[r]))
        return out

    def text(self) -> bytes:
        """The noise file."""
        origin = t.ct_learn_origin(None, self.dataset._data.path, self._digest,
                                   int(self.result.stop != t.CT_LEARN_STOP_CANCELLED))
        with scratch() as folder:
            path = os.path.join(folder, "noise.json")
            call("ct_learn_write_noise", self.theta, self.noise._pointer, self.start._pointer,
                 ctypes.byref(self.result), ctypes.byref(origin), encode(path))
            with open(path, "rb") as file:
                return file.read()

    def free(self) -> None:
        for seq, sigma in self._sigmas:
            seq.truth_sigma[:] = sigma
        lib.ct_learn_result_free(ctypes.byref(self.result))
        lib.ct_outer_free(self.outer)
        lib.ct_theta_free(self.theta)


def learn(dataset: Dataset, *, method: str | None = None, noise: Noise | None = None, truth: bool = True,
          bounds: Any = None, bound: Any = None, learn: Any = None, freeze: Any = None, full: Any = None,
          diagonal: Any = None, isotropic: Any = None, tie: Any = None, spread: float | None = None,
          robust: Any = None, learn_kernels: bool = False, start: str | None = None,
          max_iterations: int | None = None, folds: int | None = None, prior: float | str | None = None,
          loss: str = "local", weights: Any = None, truth_sigma: Any = None, deployment: str = "auto",
          deployment_start: str = "measurements", inner: str = "batch", entry: str | None = None, scale: str = "fit",
          scale_from: str = "nees", space: str | None = None, seed: int | None = None, gradient: str = "adjoint",
          hessian: str = "exact", doctor: bool = True, jobs: int | None = None,
          callback: Callable[[dict[str, Any]], Any] | None = None, progress: bool = False) -> LearnResult:
    """Learn noise models from the training sequences of a dataset. Numbers are those of `covtune learn`, to the bit.

    What is learned: `learn` only these models, `freeze` these models or rows ("odom.yaw"), as `full` covariances, as
    `diagonal` ones or `isotropic`; each is a text "odom,gps" or a list; "all" is every model. `tie`: pairs with one
    value, "odom.x=odom.y". `bounds` of variances: "wide", "loose", "tight", (lower, upper), or a dict by model or row;
    `spread`: largest over smallest variance.

    Method: `method` is "lm" (default), "closed-form", "likelihood", "fw" and others, with `max_iterations`. `noise`:
    start values in place of the dataset's. `start` the search at the "closed-form" or the "table". `truth=False` learns
    from the measurements alone. `robust`: kernels, "gps=huber" or a dict; `learn_kernels`: their widths, too.

    Choice: `folds` of cross-validation, weight of the `prior` ("auto", or a number), `loss` "local" or "left" with
    `weights` (of m, of rad), `deployment` of held-out sequences "auto", "batch" or "isam2", common `scale` "fit",
    "free" or "none". `doctor` looks for mistakes in the data first. `jobs` threads (None: one a processor) change no
    bit.

    `callback` gets a dict after every evaluation; where it returns true, and on Ctrl-C, learning stops at the best so
    far, with stop "cancelled". What it raises is raised. `progress` shows a bar.

    >>> data = simulate_nav("D1", train=3, test=0, poses=60)
    >>> result = learn(data, method="closed-form")
    >>> result.rows[0].label, round(result.rows[0].sigma, 3)
    ('odom.x', 0.099)
    """
    given = dict(locals(), truth=flag(truth), doctor=flag(doctor))
    instance(dataset, Dataset, "dataset")
    if noise is not None:
        instance(noise, Noise, "noise")
    watch, history = Watch("learn", callback, progress), []
    run = _Run(dataset, given, method if method is not None else "lm" if given["truth"] else "likelihood")

    def tell(_user: Any, pointer: Any) -> int:
        p = pointer.contents
        state = {"phase": lib.ct_learn_phase_name(p.phase).decode(), "iteration": p.iteration,
                 "iterations": p.iterations, "train": p.train, "heldout": p.heldout, "spread": p.spread,
                 "done": p.done, "seconds": p.seconds, "values": run.values(p.p) if p.p else {}}
        history.append(state)
        return watch.tell(lambda: dict(state), p.done, f"{state['phase']}, loss {p.train:.5g}")

    run.options.progress = type(run.options.progress)(tell)
    with in_use(*([] if noise is None else [noise]), alone=(dataset,)):
        try:
            with watch:
                run.prepare()
                run.examine(watch)
                run.learn()
            return _finished(run, watch, history)
        finally:
            run.free()
            raise_pending(dataset._keep)


def _finished(run: _Run, watch: Watch, history: list[dict[str, Any]]) -> LearnResult:
    raise_pending(run.dataset._keep)
    watch.raise_pending()
    return LearnResult(run, history)
