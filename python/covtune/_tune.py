"""Parameters of an estimator that is a Python function, learned from its runs on logs."""
from __future__ import annotations

import ctypes
import html
import math
import os
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import _tables as t
from ._arrays import columns, html_table, plain
from ._library import ArgumentError, Error, call, encode, flag, lib
from ._progress import Watch
from ._runs import DONE, TIME, Ended, Inline, Processes, Threads
from .findings import Finding, findings_html, findings_of
from .trajectory import Sites, _Trajectory, choice, library_memory, track_options

_SHORT = 0.5  # share of poses below which an estimate is no answer
_QUANTITIES = "sigma, variance, information, density, number"


@dataclass(frozen=True)
class Parameter:
    """A number of the estimator: its start, hard bounds, and what it is.

    Without bounds they are a thousandth and a thousand times the start (of a variance or an information their squares);
    a plain number needs them. `same_as` names an earlier parameter that it is `times` times.
    """

    start: float
    lower: float | None = None
    upper: float | None = None
    quantity: str = "sigma"
    """"sigma", "variance", "information", "density" or "number"."""
    log: bool | None = None
    """Searched in its logarithm; None: all but plain numbers."""
    same_as: str | None = None
    times: float = 1.0


@dataclass(frozen=True)
class Tuned:
    """A learned parameter."""

    name: str
    start: float
    value: float
    standard_error: float
    """Of the logarithm where it was searched in it (relative error), else of the value. Infinite: not determined."""
    at_bound: int
    """-1, 0, 1: at its lower bound, between, at its upper."""


@dataclass(frozen=True)
class Candidate:
    """What held-out logs decided between."""

    prior: float
    """Weight of the prior; NaN: the start values."""
    heldout: float
    log_ratio: float
    """Of losses to those of the start, over recordings: robust mean."""
    log_ratio_error: float
    failed: int
    chosen: bool
    verdict: str


@dataclass(frozen=True)
class LogFigures:
    """One log before and after."""

    log: str
    test: bool
    end_before: str
    end_after: str
    loss_before: float
    loss_after: float
    translation_before: float
    translation_after: float
    rotation_before: float
    rotation_after: float


class TuneResult:
    """What tuning gave: values with standard errors, and how they do on every log."""

    def __init__(self, result: t.ct_tune_result, names: Sequence[str], starts: Sequence[float],
                 logs: Sequence[tuple[str, bool]], failures: Sequence[str]) -> None:
        n = len(names)
        self.stop: str = lib.ct_tune_stop_name(result.stop).decode()
        self.meaning: str = lib.ct_tune_stop_meaning(result.stop).decode()
        self.points: int = result.points
        self.runs: int = result.runs
        self.failed: dict[str, int] = {lib.ct_tune_end_name(i).decode(): result.failed[i]
                                       for i in range(1, t.CT_TUNE_END_COUNT) if result.failed[i]}
        self.failures: list[str] = list(failures)
        """Sentences of the first failed runs."""
        self.seconds: float = result.seconds
        self.loss_start: float = result.loss_start
        self.loss: float = result.loss
        self.noise: float = result.noise
        """Relative standard deviation of the loss from run to run."""
        self.parameters: list[Tuned] = [
            Tuned(names[i], starts[i], result.value[i], result.standard_error[i] if result.standard_error else math.nan,
                  result.at_bound[i] if result.at_bound else 0) for i in range(n)] if result.value else []
        self.best: dict[str, float] = {names[i]: result.best[i] for i in range(n)} if result.best else {}
        """The minimum of the training loss, whether held-out logs chose it or not."""
        self.candidates: list[Candidate] = [
            Candidate(c.prior, c.heldout, c.log_ratio, c.log_ratio_error, c.failed, bool(c.chosen),
                      lib.ct_choice_name(c.verdict).decode())
            for c in (result.candidate[i] for i in range(result.candidates))]
        self.logs: list[LogFigures] = [self._log(result, i, *log) for i, log in enumerate(logs)] \
            if result.before and result.after else []
        self.findings: list[Finding] = findings_of(result.findings)

    @staticmethod
    def _log(result: t.ct_tune_result, i: int, name: str, test: bool) -> LogFigures:
        a, b = result.before[i], result.after[i]
        return LogFigures(name, test, lib.ct_tune_end_name(a.end).decode(), lib.ct_tune_end_name(b.end).decode(),
                          a.loss, b.loss, a.translation, b.translation, a.rotation, b.rotation)

    @property
    def values(self) -> dict[str, float]:
        """The answer, to be given to the estimator."""
        return {p.name: p.value for p in self.parameters}

    def to_dict(self) -> dict[str, Any]:
        """Texts, numbers and lists, for JSON."""
        return {"stop": self.stop, "points": self.points, "runs": self.runs, "failed": dict(self.failed),
                "loss_start": self.loss_start, "loss": self.loss, "noise": self.noise, "seconds": self.seconds,
                "parameters": [dict(p.__dict__) for p in self.parameters], "best": dict(self.best),
                "candidates": plain(self.candidates), "logs": plain(self.logs),
                "failures": list(self.failures),
                "findings": plain(self.findings)}

    def table(self, what: str = "parameters") -> dict[str, np.ndarray]:
        """"parameters", "candidates" or "logs" as a dict of columns; pandas.DataFrame takes it."""
        kinds: dict[str, tuple[Any, Any]] = {"parameters": (Tuned, self.parameters), "logs": (LogFigures, self.logs),
                                             "candidates": (Candidate, self.candidates)}
        if what not in kinds:
            raise ArgumentError(f"there are tables {', '.join(kinds)}; found {what!r:.80}")
        kind, items = kinds[what]
        return columns(tuple(kind.__dataclass_fields__), [tuple(vars(item).values()) for item in items])

    def _repr_html_(self) -> str:
        table = html_table(("parameter", "start", "value", "standard error"),
                           [(p.name, p.start, p.value, p.standard_error) for p in self.parameters])
        logs = html_table(("log", "", "loss before", "after"),
                          [(g.log, "test" if g.test else "train", g.loss_before, g.loss_after) for g in self.logs])
        return f"<p>{html.escape(self.meaning)}</p>{table}{logs}{findings_html(self.findings)}"

    def __repr__(self) -> str:
        values = ", ".join(f"{p.name}={p.value:.4g}" for p in self.parameters)
        return f"TuneResult({self.stop}, loss {self.loss_start:.4g} -> {self.loss:.4g}, {self.runs} runs; {values})"


# ---- The problem -----------------------------------------------------------------------------------------------------


def _parameter(name: Any, given: Any) -> Parameter:
    if isinstance(given, Parameter):
        return given
    try:
        if isinstance(given, Mapping):
            return Parameter(**given)
        if isinstance(given, (tuple, list)):
            return Parameter(*given)
        return Parameter(float(given))
    except (TypeError, ValueError) as why:
        raise ArgumentError(f"parameter {name!r}: a start, (start, lower, upper), a dict or a Parameter is wanted: "
                            f"{why}") from None


def _write_parameter(out: t.ct_tune_parameter, name: str, p: Parameter, names: Sequence[str]) -> None:
    text = encode(name, "a parameter's name")
    if not 0 < len(text) < t.ct_tune_parameter.name.size:
        raise ArgumentError(f"parameter {name!r}: a name has 1 to {t.ct_tune_parameter.name.size - 1} bytes")
    out.name, out.quantity = text, choice("ct_quantity_find", "quantity", p.quantity, _QUANTITIES)
    number = out.quantity == t.CT_QUANTITY_NUMBER
    far = 1e6 if p.quantity in ("variance", "information") else 1e3
    if number and (p.lower is None or p.upper is None):
        raise ArgumentError(f"parameter {name!r}: a plain number needs lower and upper bounds")
    try:
        out.start = float(p.start)
        out.lower = float(p.lower) if p.lower is not None else out.start / far
        out.upper = float(p.upper) if p.upper is not None else out.start * far
        out.factor = float(p.times)
    except (TypeError, ValueError) as why:
        raise ArgumentError(f"parameter {name!r}: {why}") from None
    out.log = int(not number if p.log is None else bool(p.log))
    out.tie, out.group = -1, -1
    if p.same_as is not None:
        if p.same_as not in names:
            raise ArgumentError(f"parameter {name!r}: there is no parameter {p.same_as!r} before it")
        out.tie = list(names).index(p.same_as)


def _named(logs: Any, what: str, first: int) -> list[tuple[str, Any]]:
    if isinstance(logs, Mapping):
        return [(str(name), log) for name, log in logs.items()]
    try:
        return [(f"{what}{first + i}", log) for i, log in enumerate(logs)]
    except TypeError:
        raise ArgumentError(f"logs must be a list or a dict, found {type(logs).__name__}") from None


def _aligned(given: Any, logs: list[tuple[str, Any]], what: str) -> list[Any]:
    """Something for each log: a list in their order, a dict by name, or a function of the log."""
    if given is None:
        return [None] * len(logs)
    if callable(given):
        return [given(log) for _, log in logs]
    if isinstance(given, Mapping):
        missing = [name for name, _ in logs if name not in given]
        if missing:
            raise ArgumentError(f"{what}: there is none for log {missing[0]!r}")
        return [given[name] for name, _ in logs]
    items = list(given)
    if len(items) != len(logs):
        raise ArgumentError(f"{what}: {len(logs)} logs, but {len(items)} entries")
    return items


# ---- The queue -------------------------------------------------------------------------------------------------------


class _Queue:
    """A ct_tune_queue over a runner. Its functions are called by the library from the thread that called tune."""

    def __init__(self, runner: Any, names: Sequence[str], logs: Sequence[Any], truths: Sequence[_Trajectory | None],
                 options: t.ct_track_options, watch: Watch) -> None:
        self._runner, self._names, self._logs, self._truths, self._options = runner, names, logs, truths, options
        self._sites: list[Sites | None] = [None] * len(logs)
        self._rows: list[int | None] = [None] * len(logs)
        self._first: list[Any] = [None] * len(logs)
        self._early: list[tuple[Any, Ended]] = []  # ended before the first run of their log
        self._ready: list[tuple[Any, Ended]] = []
        self.watch, self.interrupt, self.raised = watch, watch.interrupt, watch.raised
        self.failures: list[str] = []
        struct = self.struct = t.ct_tune_queue()
        struct.slots = runner.slots
        fields: Any = dict(t.ct_tune_queue._fields_)  # type: ignore[arg-type]
        for name in ("submit", "collect", "abandon", "free"):
            setattr(struct, name, fields[name](getattr(self, f"_{name}")))

    def _fail(self, why: BaseException) -> int:
        if isinstance(why, KeyboardInterrupt):
            self.interrupt.hit = True
            return t.CT_OK
        self.raised.append(why)
        return t.CT_E_ARGUMENT

    def _submit(self, _user: Any, request: Any, _err: Any) -> int:
        try:
            r = request.contents
            key = (r.ticket, r.log)
            if self._first[r.log] is None:
                self._first[r.log] = key
            values = {name: r.value[i] for i, name in enumerate(self._names)}
            self._runner.submit(key, (values, self._logs[r.log]))
            return t.CT_OK
        except BaseException as why:
            return self._fail(why)

    def _next(self, wait: float) -> tuple[Any, Ended] | None:
        """A run whose log has its sites, or is the first of its log."""
        if self._ready:
            return self._ready.pop(0)
        self.interrupt.raises = isinstance(self._runner, Inline)
        try:
            found = self._runner.collect(wait)
        finally:
            self.interrupt.raises = False
        if found is None:
            return None
        log = found[0][1]
        if self._first[log] not in (found[0], True):
            self._early.append(found)
            return None
        if self._first[log] == found[0]:
            self._first[log] = True
            self._ready += [e for e in self._early if e[0][1] == log]
            self._early = [e for e in self._early if e[0][1] != log]
        return found

    def _collect(self, _user: Any, wait: float, ticket: Any, outcome: Any, _err: Any) -> int:
        slot = ctypes.cast(ticket, ctypes.POINTER(ctypes.c_int64))
        try:
            slot[0] = -1
            found = None if self.interrupt.stopped() else self._next(wait)
            if found is not None:
                (number, log), ended = found
                self._outcome(outcome.contents, log, ended)
                slot[0] = number
            return t.CT_OK
        except BaseException as why:
            return self._fail(why)

    def _abandon(self, _user: Any) -> None:
        try:
            self._runner.abandon()
            self._early.clear()
            self._ready.clear()
            self._first = [first if first is True else None for first in self._first]
        except BaseException as why:
            self._fail(why)

    def _free(self, _user: Any) -> None:
        pass

    # ---- outcomes

    def _outcome(self, out: t.ct_tune_outcome, log: int, ended: Ended) -> None:
        nan = math.nan
        out.translation = out.rotation = out.rpe_translation = out.rpe_rotation = out.nees = nan
        out.seconds, out.code, out.end = ended.seconds, ended.code, t.CT_TUNE_DONE
        try:
            if ended.end != DONE:
                self._ended(out, t.CT_TUNE_TIME if ended.end == TIME else t.CT_TUNE_CRASHED, ended.message)
            elif ended.value is None:
                self._ended(out, t.CT_TUNE_NO_ESTIMATE, "the estimator returned None")
            else:
                self._compare(out, log, ended.value)
        except Error as why:
            self._ended(out, t.CT_TUNE_BAD_ESTIMATE, str(why))
        truth = self._truths[log]
        if truth is not None and self._sites[log] is None:  # the first run failed: which one is next depends on time
            self._sites[log] = Sites(truth, truth, self._options)

    def _ended(self, out: t.ct_tune_outcome, end: int, message: str) -> None:
        out.end = end
        if len(self.failures) < 20 and message not in self.failures:
            self.failures.append(message)
        text = np.frombuffer(message.encode("utf-8", "replace").replace(b"\0", b"?") + b"\0", dtype=np.uint8)
        field: Any = dict(t.ct_tune_outcome._fields_)["message"]  # type: ignore[arg-type]
        ctypes.memmove(ctypes.addressof(out) + t.ct_tune_outcome.message.offset,
                       ctypes.byref(ctypes.c_void_p(library_memory(text))), ctypes.sizeof(field))

    def _compare(self, out: t.ct_tune_outcome, log: int, value: Any) -> None:
        covariance = None
        if isinstance(value, tuple) and len(value) == 2:
            value, covariance = value
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError) as why:
            raise ArgumentError(f"the estimator returned no array of numbers: {why}") from None
        truth = self._truths[log]
        if truth is None:
            residual = self._vector(array, log)
        else:
            estimate = _Trajectory(array, "the estimate", covariance)
            sites = self._sites[log]
            if sites is None:
                sites = self._sites[log] = Sites(truth, estimate, self._options)
            residual, score = sites.residuals(estimate)
            out.poses, out.lost, out.nees = score.poses, score.lost, score.nees
            out.translation, out.rotation = score.ape_translation.rmse, score.ape_rotation.rmse
            out.rpe_translation, out.rpe_rotation = score.rpe_translation.rmse, score.rpe_rotation.rmse
            if score.covered < _SHORT:
                self._ended(out, t.CT_TUNE_SHORT, f"{score.covered:.0%} of the poses have an estimate")
        if not np.isfinite(residual).all():
            self._ended(out, t.CT_TUNE_NOT_FINITE, "residuals are not finite")
            return
        out.rows = len(residual)
        out.residual = ctypes.cast(library_memory(residual), type(out.residual))

    def _vector(self, array: np.ndarray, log: int) -> np.ndarray:
        if array.ndim != 1 or not len(array):
            raise ArgumentError("without truth the estimator returns a vector of residuals, found shape "
                                f"{array.shape}; for a trajectory give `truth`")
        if self._rows[log] is None:
            self._rows[log] = len(array)
        if self._rows[log] != len(array):
            raise ArgumentError(f"a run returned {len(array)} residuals, the first of its log {self._rows[log]}")
        return np.ascontiguousarray(array)


# ---- tune ------------------------------------------------------------------------------------------------------------


def _options(given: Mapping[str, Any]) -> t.ct_tune_options:
    options = lib.ct_tune_defaults()
    if given["method"] is not None:
        options.method = choice("ct_tune_method_find", "method", given["method"],
                                "dfgn, lm, fw, bobyqa, nelder-mead, powell, global, random")
    for name in ("points", "folds", "repeats", "seed"):
        if given[name] is not None:
            value = int(given[name])
            if not 0 <= value < 2**31:
                raise ArgumentError(f"{name} is 0 to 2147483647, found {value}")
            setattr(options, name, value)
    for name in ("prior", "relative", "step"):
        if given[name] is not None:
            setattr(options, name, float(given[name]))
    if given["whole_box"] is not None:
        setattr(options, "global", flag(given["whole_box"]))
    return options


def _progress(queue: _Queue, names: Sequence[str]) -> Callable[[Any, Any], int]:
    def report(_user: Any, pointer: Any) -> int:
        p = pointer.contents
        return queue.watch.tell(
            lambda: {"phase": p.phase.decode(), "runs": p.runs, "failed": p.failed, "expected": p.expected,
                     "loss_start": p.loss_start, "loss": p.loss, "seconds": p.seconds,
                     "values": {n: p.value[i] for i, n in enumerate(names)} if p.value else None},
            p.runs / p.expected if p.expected > 0 else 0.0, f"{p.runs} runs, loss {p.loss:.4g}")

    return report


def _runner(estimator: Callable[..., Any], workers: int | None, processes: bool, timeout: float | None) -> Any:
    count = (os.cpu_count() or 1) if workers is None else int(workers)
    if not 1 <= count <= 10000:
        raise ArgumentError(f"workers are 1 to 10000, found {count}")
    if timeout is not None and not (processes and timeout > 0):
        raise ArgumentError("a timeout is positive and needs processes=True: a thread cannot be stopped")
    if processes:
        return Processes(estimator, count, timeout)
    return Inline(estimator) if count == 1 else Threads(estimator, count)


def tune(estimator: Callable[[dict[str, float], Any], Any], parameters: Mapping[str, Any], logs: Any, *,
         truth: Any = None, test: Any = (), test_truth: Any = None, recordings: Any = None,
         workers: int | None = 1, processes: bool = False, timeout: float | None = None, method: str | None = None,
         points: int | None = None, folds: int | None = None, prior: float | None = None, repeats: int | None = None,
         whole_box: bool | None = None, seed: int | None = None, relative: float | None = None,
         step: float | None = None, loss: str = "local", align: str = "none", delta: str | None = None,
         translation: float = 1, rotation: float = 1, callback: Callable[[dict[str, Any]], Any] | None = None,
         progress: bool = False) -> TuneResult:
    """Learn parameters of any estimator that is a function of a dict of values and a log.

    Without `truth` it returns a vector of residuals, whose half square sum is the loss. With `truth` (for each log: a
    list, a dict by name, or a function of the log) it returns a trajectory: rows (t, x, y, yaw) or
    (t, x, y, z, qx, qy, qz, qw), or (rows, covariances). Logs are a list or a dict by name, of anything. `test` logs
    are never learned from. Logs of one of `recordings` are held out together.

    Parameters: a start, (start, lower, upper), a dict, or a Parameter. What the estimator raises is the outcome of that
    run, not of tuning. `workers` threads, or with `processes` forked processes, run at once (None: one a processor);
    one worker runs in the calling thread. `timeout`: seconds of a run, with processes. Ctrl-C, or a `callback` that
    returns true, stops at the best so far; `progress` shows a bar. Other options are those of TUNE.yaml (docs/tune.md).

    >>> import numpy as np
    >>> def estimator(values, log):
    ...     return log * (np.log(values["gps"]) - np.log(0.5)) + 0.01
    >>> result = tune(estimator, {"gps": (3.0, 0.01, 10)}, [np.ones(20), np.ones(20)], folds=0)
    >>> abs(result.values["gps"] - 0.5) < 0.02
    True
    """
    if not callable(estimator):
        raise ArgumentError("the estimator cannot be called: it is a function (parameters, log)")
    if not isinstance(parameters, Mapping) or not parameters:
        raise ArgumentError("parameters are a dict with at least one name")
    runner = _runner(estimator, workers, processes, timeout)
    train, tests = _named(logs, "log", 0), _named(test, "test", 0)
    names = [str(name) for name in parameters]
    table = (t.ct_tune_parameter * len(names))()
    for i, (name, given) in enumerate(parameters.items()):
        _write_parameter(table[i], str(name), _parameter(name, given), names[:i])
    truths = _aligned(truth, train, "truth") + _aligned(truth if callable(truth) else test_truth, tests, "test_truth")
    compared = [None if rows is None else _Trajectory(rows, f"the truth of log {name}")
                for rows, (name, _) in zip(truths, train + tests)]
    groups = _aligned(recordings, train, "recordings") + [None] * len(tests)
    everything = [(name, log, i >= len(train)) for i, (name, log) in enumerate(train + tests)]
    items = (t.ct_tune_log * max(len(everything), 1))()
    for i, (name, _, held) in enumerate(everything):
        items[i].name, items[i].test = encode(name, "a log's name"), int(held)
        items[i].recording = encode(name if groups[i] is None else str(groups[i]), "a recording's name")
    problem = t.ct_tune_problem(len(names), len(everything), 0, table, items, None)
    call("ct_tune_check", ctypes.byref(problem))
    options = _options({"method": method, "points": points, "folds": folds, "prior": prior, "repeats": repeats,
                        "seed": seed, "relative": relative, "step": step, "whole_box": whole_box})
    queue = _Queue(runner, names, [log for _, log, _ in everything], compared,
                   track_options(loss, align, delta, translation, rotation), Watch("tune", callback, progress))
    options.progress = type(options.progress)(_progress(queue, names))
    return _run(problem, options, queue, names, [p.start for p in table], [(n, h) for n, _, h in everything])


def _run(problem: t.ct_tune_problem, options: t.ct_tune_options, queue: _Queue, names: Sequence[str],
         starts: Sequence[float], logs: Sequence[tuple[str, bool]]) -> TuneResult:
    result = t.ct_tune_result()
    try:
        try:
            with queue.watch:
                call("ct_tune", ctypes.byref(problem), ctypes.byref(options), ctypes.byref(queue.struct),
                     ctypes.byref(result))
        except Error:
            queue.watch.raise_pending()
            raise
        queue.watch.raise_pending()
        return TuneResult(result, names, starts, logs, queue.failures)
    finally:
        queue._abandon(None)
        lib.ct_tune_result_free(ctypes.byref(result))
