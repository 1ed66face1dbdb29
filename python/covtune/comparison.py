"""Several learning methods on one dataset."""
from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any, Callable, Sequence

import numpy as np

from . import _tables as t
from ._arrays import columns, html_table, plain
from ._factor import raise_pending
from ._inference import DIFFERENCES, SOLVERS
from ._library import ArgumentError, Error, call, choice, count, free_memory, in_use, instance, lib
from ._progress import Watch
from .data import Dataset
from .evaluation import Figures, figures_of, truth_sigma_of
from .learning import _METHODS, _pairs, jobs_of, theta_options
from .noise import Noise

# Variants that studies use: method, from the table, without a prior, loss, gradient.
_VARIANTS = {"lm-alone": ("lm", 1, True, None, None), "fw-left": ("fw", 1, False, "left", None),
             "fw-numeric": ("fw", 1, False, None, t.CT_GRADIENT_NUMERIC)}
_OWN_START = ("lm", "closed-form", "likelihood")


@dataclass(frozen=True)
class Compared:
    """A row of a comparison: the start values, an oracle, or a method under bounds."""

    method: str
    bounds: str
    test: Figures | None
    """Of the test sequences; None: the method does not support the request."""
    train_loss: float
    failed: int
    spread: float
    solves: int
    evaluations: int
    seconds: float
    stop: str
    reason: str
    """Why there are no numbers."""
    noise: Noise | None


class Comparison:
    """Methods beside each other on test sequences."""

    def __init__(self, rows: list[Compared], cancelled: bool) -> None:
        self.rows = rows
        self.cancelled = cancelled
        """Did Ctrl-C or the callback end it early? The rows that are done are there."""

    def best(self, figure: str = "translation", bounds: str | None = None) -> Compared | None:
        """The method with the smallest figure, of those under these bounds."""
        if figure not in Figures.__dataclass_fields__:
            raise ArgumentError(f"figures are {', '.join(Figures.__dataclass_fields__)}; found {figure!r:.80}")
        sign = -1 if figure == "log_density" else 1
        rows = [(sign * getattr(r.test, figure), i) for i, r in enumerate(self.rows)
                if r.test is not None and r.bounds and bounds in (None, r.bounds)]
        found = min((row for row in rows if not math.isnan(row[0])), default=None)
        return None if found is None else self.rows[found[1]]

    def table(self) -> dict[str, np.ndarray]:
        """A line a row, as a dict of columns; pandas.DataFrame takes it."""
        names = ("method", "bounds", *Figures.__dataclass_fields__, "train_loss", "failed", "spread", "solves",
                 "evaluations", "seconds", "stop", "reason")
        nothing = [math.nan] * len(Figures.__dataclass_fields__)
        return columns(names, [(r.method, r.bounds, *(vars(r.test).values() if r.test else nothing), r.train_loss,
                                r.failed, r.spread, r.solves, r.evaluations, r.seconds, r.stop, r.reason)
                               for r in self.rows])

    def to_dict(self) -> dict[str, Any]:
        """Texts, numbers and lists, for JSON."""
        return {"rows": plain(self.rows), "cancelled": self.cancelled}

    def _repr_html_(self) -> str:
        rows = [(r.method, r.bounds, *((r.test.translation, r.test.rotation, r.test.loss, r.test.nees)
                                       if r.test else [math.nan] * 4), r.seconds, r.reason or r.stop)
                for r in self.rows]
        return html_table(("method", "bounds", "translation", "rotation", "loss", "NEES", "s", "stop"), rows)

    def __repr__(self) -> str:
        return f"Comparison({len(self.rows)} rows: {', '.join(sorted({r.method for r in self.rows}))})"


class _Job:
    """The sequences and options that all rows share."""

    def __init__(self, dataset: Dataset, given: dict[str, Any], watch: Watch) -> None:
        data = self.data = dataset._data
        if not data.trains:
            raise ArgumentError("there are no training sequences to learn from")
        self.dataset, self.given, self.watch = dataset, given, watch
        self.tests, self.test = (data.tests, data.test) if data.tests else (data.trains, data.train)
        everywhere = lib.ct_loss_defaults()
        self.blind = not any(lib.ct_loss_terms(ctypes.byref(everywhere), self.test[i]) for i in range(self.tests))
        self.untold = not any(data.train[i].contents.truth for i in range(data.trains))
        options = self.options = lib.ct_trial_defaults()
        options.outer.jobs = options.test.jobs = jobs_of(given["jobs"])
        options.outer.loss.difference = options.test.loss.difference = choice(given["loss"], "loss", DIFFERENCES)
        options.test.inference.incremental = options.learn.deployment.incremental = \
            choice(given["deployment"], "deployment", SOLVERS)
        options.test.conditioning, options.test.nees, options.test.innovations = 1, int(not self.blind), int(self.blind)
        options.outer.no_truth, options.learn.seed = int(self.untold), count(given["seed"], "seed", 0, 2**63 - 1)
        if given["max_iterations"] is not None:
            options.learn.max_iterations = count(given["max_iterations"], "max_iterations")
        options.trace = 0
        options.cancel = type(options.cancel)(lambda _user: int(watch.stopped()))
        call("ct_inference_choose", self.tests, self.test, ctypes.byref(options.test.inference))

    def theta(self, noise: Noise, bounds: str) -> ctypes.c_void_p:
        options, out, own = theta_options({**self.given, "bounds": bounds}), ctypes.c_void_p(), self.data.noise
        self.data.noise = noise._handle
        try:
            call("ct_dataset_theta", self.dataset._pointer, ctypes.byref(options), ctypes.byref(out))
        finally:
            self.data.noise = own
        return out

    def table(self, name: str, noise: Noise) -> Compared:
        """A row of a noise table as it is."""
        options = self.options.test
        each, test, train = (t.ct_evaluation * self.tests)(), t.ct_summary(), t.ct_summary()
        options.progress = type(options.progress)(lambda *_: int(self.watch.stopped()))
        call("ct_evaluate", self.tests, self.test, noise._pointer, ctypes.byref(options), each, ctypes.byref(test))
        if not self.untold:
            inner = lib.ct_evaluate_defaults()
            inner.inference, inner.loss = lib.ct_outer_inference(ctypes.byref(self.options.outer)), options.loss
            inner.jobs, inner.progress = options.jobs, options.progress
            call("ct_evaluate", self.data.trains, self.data.train, noise._pointer, ctypes.byref(inner), None,
                 ctypes.byref(train))
        return Compared(name, "", figures_of(test), math.nan if self.untold else train.loss, test.failed, math.nan, -1,
                        -1, math.nan, "", "", noise)

    def method(self, name: str, bounds: str, noise: Noise, theta: ctypes.c_void_p) -> Compared:
        """A row of a method."""
        options = t.ct_trial_options.from_buffer_copy(self.options)
        own, table, alone, loss, gradient = _VARIANTS.get(name, (name, 1, False, None, None))
        options.learn.method = _METHODS[own]
        options.learn.from_table = -1 if name in _OWN_START else table
        if alone:
            options.learn.prior = 0.0
        if loss is not None:
            options.outer.loss.difference = DIFFERENCES[loss]
        if gradient is not None:
            options.outer.gradient = gradient
        trial = t.ct_trial()
        try:
            call("ct_trial_run", self.data.trains, self.data.train, self.tests, self.test, noise._pointer, theta,
                 ctypes.byref(options), ctypes.byref(trial))
            result, copy = trial.result, ctypes.c_void_p()
            call("ct_noise_copy", trial.noise, ctypes.byref(copy))
            return Compared(name, bounds, figures_of(trial.test), trial.train.loss, trial.test.failed, result.spread,
                            result.inner_solves, result.evaluations, trial.seconds,
                            lib.ct_learn_stop_name(result.stop).decode(), "", Noise(_handle=copy))
        except MemoryError:
            raise
        except Error as why:  # the method does not support the request: the row has the reason
            return Compared(name, bounds, None, math.nan, 0, math.nan, 0, 0, math.nan, "", str(why), None)
        finally:
            lib.ct_trial_free(ctypes.byref(trial))


def compare(dataset: Dataset, methods: Sequence[str] | str | None = None, *,
            bounds: Sequence[str] | str = ("loose", "tight"), oracle: Noise | None = None, robust: Any = None,
            full: Any = None, learn: Any = None, freeze: Any = None, spread: float | None = None, loss: str = "local",
            truth_sigma: Any = None, deployment: str = "auto", max_iterations: int | None = None, seed: int = 1,
            jobs: int | None = None, callback: Callable[[dict[str, Any]], Any] | None = None,
            progress: bool = False) -> Comparison:
    """Learn with each method under each pair of bounds from the training sequences, and evaluate on the test sequences:
    accuracy, consistency, conditioning, cost, as `covtune compare`. The first rows are the start values, the oracle
    (the true noise, where it is known) and the closed form.

    Methods are those of `learn` (None: nelder-mead, powell, leo, fw, lm; likelihood where there is no truth), and
    lm-alone, fw-left, fw-numeric. `callback` gets a dict after every row; Ctrl-C gives the rows that are done.

    >>> data = simulate_nav("D1", train=2, test=2, poses=40)
    >>> compare(data, ["lm"], bounds="wide")
    Comparison(3 rows: closed-form, initial, lm)
    """
    given = dict(locals())
    instance(dataset, Dataset, "dataset")
    listed = _words(methods, "methods") if methods is not None else ["nelder-mead", "powell", "leo", "fw", "lm"]
    for name in listed:
        if name not in _METHODS and name not in _VARIANTS:
            raise ArgumentError(f"methods are {', '.join([*_METHODS, *_VARIANTS])}; found {name!r:.80}")
    if oracle is not None:
        instance(oracle, Noise, "oracle")
    watch = Watch("compare", callback, progress)
    with in_use(alone=(dataset,)):
        data = dataset._data
        every = [many[i].contents for many, n in ((data.train, data.trains), (data.test, data.tests)) for i in range(n)]
        with truth_sigma_of(every, truth_sigma), watch:
            job = _Job(dataset, given, watch)
            if methods is None and job.untold:
                listed = ["likelihood"]
            rows, cancelled = _rows(job, listed, _words(bounds, "bounds"), oracle, robust)
        raise_pending(dataset._keep)
        watch.raise_pending()
    return Comparison(rows, cancelled)


def _words(value: Any, what: str) -> list[str]:
    words = value.split(",") if isinstance(value, str) else list(value) if isinstance(value, (list, tuple)) else None
    if not words or not all(isinstance(word, str) for word in words):
        raise ArgumentError(f"{what} must be a text or a list of texts, found {value!r:.80}")
    return words


def _rows(job: _Job, methods: list[str], bounds: list[str], oracle: Noise | None,
          robust: Any) -> tuple[list[Compared], bool]:
    columns_ = ([] if job.untold else ["closed-form"]) + [m for m in methods if m != "closed-form" or job.untold]
    options, pooled, models = theta_options({**job.given, "bounds": bounds[0]}), ctypes.c_void_p(), ctypes.c_int32()
    call("ct_dataset_pool_learned", job.dataset._pointer, ctypes.byref(options), ctypes.byref(pooled),
         ctypes.byref(models))
    free_memory(pooled)
    noise, kernels, rows = job.dataset.noise, _pairs(robust, "robust"), []
    call("ct_robust_list_apply", kernels, b"", noise._pointer)
    tables = [("initial", noise)]
    if oracle is not None:
        tables.append(("oracle", job.dataset.noise))
        tables[1][1].update(oracle)
        call("ct_robust_list_apply", kernels, b"", tables[1][1]._pointer)
    total = len(tables) + len(bounds) * len(columns_)

    def add(row: Compared) -> bool:
        if job.watch.stopped():
            return False
        rows.append(row)
        return not job.watch.tell(lambda: {"row": row, "done": len(rows), "rows": total}, len(rows) / total,
                                  f"{row.method} {row.bounds}")

    for name, table in tables:
        if not add(job.table(name, table)):
            return rows, True
    for bound in bounds:
        theta = job.theta(noise, bound)
        try:
            for name in columns_:
                if not add(job.method(name, bound, noise, theta)):
                    return rows, True
        finally:
            lib.ct_theta_free(theta)
    return rows, False
