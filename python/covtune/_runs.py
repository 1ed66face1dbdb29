"""Runs of a Python function: in this thread, in threads, or each in a process of its own."""
from __future__ import annotations

import concurrent.futures
import multiprocessing
import multiprocessing.connection
import os
import signal
import time
import traceback
from typing import Any, Callable

from ._library import ArgumentError

DONE, CRASHED, TIME = "done", "crashed", "time"


class Ended:
    """How a call of the function ended: with its value, or with a sentence."""

    def __init__(self, end: str, value: Any, seconds: float, message: str = "", code: int = 0) -> None:
        self.end, self.value, self.seconds, self.message, self.code = end, value, seconds, message, code


def _last_line(why: BaseException) -> str:
    """The last line of the traceback and where it was raised."""
    text = "".join(traceback.format_exception_only(type(why), why)).strip().splitlines()
    frames = traceback.extract_tb(why.__traceback__)
    where = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}: " if frames else ""
    return where + (text[-1] if text else type(why).__name__)


def _call(function: Callable[..., Any], arguments: tuple) -> Ended:
    start = time.perf_counter()
    try:
        return Ended(DONE, function(*arguments), time.perf_counter() - start)
    except Exception as why:
        return Ended(CRASHED, None, time.perf_counter() - start, _last_line(why), 1)
    except SystemExit as why:
        return Ended(CRASHED, None, time.perf_counter() - start, f"the estimator left by {why!r}", 1)


class Inline:
    """One after the other in the thread that waits, so that Ctrl-C reaches the function itself."""

    slots = 1

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._waiting: list[tuple[Any, tuple]] = []

    def submit(self, key: Any, arguments: tuple) -> None:
        self._waiting.append((key, arguments))

    def collect(self, wait: float) -> tuple[Any, Ended] | None:
        if not self._waiting:
            return None
        key, arguments = self._waiting.pop(0)
        return key, _call(self._function, arguments)

    def abandon(self) -> None:
        self._waiting.clear()


class Threads:
    """Worker threads: for functions that release the GIL."""

    def __init__(self, function: Callable[..., Any], workers: int) -> None:
        self._function, self.slots = function, workers
        self._pool: concurrent.futures.ThreadPoolExecutor | None = None
        self._running: dict[Any, Any] = {}

    def submit(self, key: Any, arguments: tuple) -> None:
        if self._pool is None:
            self._pool = concurrent.futures.ThreadPoolExecutor(self.slots, thread_name_prefix="covtune")
        self._running[self._pool.submit(_call, self._function, arguments)] = key

    def collect(self, wait: float) -> tuple[Any, Ended] | None:
        done, _ = concurrent.futures.wait(self._running, wait, concurrent.futures.FIRST_COMPLETED)
        for future in done:
            key = self._running.pop(future)
            try:
                return key, future.result()
            except BaseException as why:  # KeyboardInterrupt of the function itself
                return key, Ended(CRASHED, None, 0, _last_line(why), 1)
        return None

    def abandon(self) -> None:
        """A thread cannot be stopped: calls under way end in the background, and nobody reads them."""
        for future in self._running:
            future.cancel()
        self._running.clear()
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)


def _child(function: Callable[..., Any], arguments: tuple, pipe: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    ended = _call(function, arguments)
    try:
        pipe.send(ended)
    except Exception as why:
        pipe.send(Ended(CRASHED, None, ended.seconds, f"the value cannot be sent: {_last_line(why)}", 1))
    pipe.close()


class Processes:
    """A forked process a run. The function, the log and closures need no pickling; its value does. A process that dies
    or exceeds the time limit is an outcome."""

    def __init__(self, function: Callable[..., Any], workers: int, timeout: float | None) -> None:
        if "fork" not in multiprocessing.get_all_start_methods():
            raise ArgumentError("processes need fork, which this system lacks: use threads")
        self._function, self.slots, self._timeout = function, workers, timeout
        self._context = multiprocessing.get_context("fork")
        self._running: dict[Any, tuple[Any, Any, float]] = {}

    def submit(self, key: Any, arguments: tuple) -> None:
        mine, theirs = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_child, args=(self._function, arguments, theirs), daemon=True)
        process.start()
        theirs.close()
        self._running[mine] = (key, process, time.perf_counter())

    def collect(self, wait: float) -> tuple[Any, Ended] | None:
        until = time.perf_counter() + wait
        while self._running:
            now = time.perf_counter()
            if self._timeout is not None:
                for pipe, (_, _, start) in self._running.items():
                    if now - start > self._timeout:
                        return self._end(pipe, True)
            for pipe in multiprocessing.connection.wait(list(self._running), max(0.0, min(until - now, 0.1))):
                return self._end(pipe, False)
            if time.perf_counter() >= until:
                return None
        return None

    def _end(self, pipe: Any, late: bool) -> tuple[Any, Ended]:
        key, process, start = self._running.pop(pipe)
        seconds = time.perf_counter() - start
        ended = Ended(TIME, None, seconds, f"stopped after {self._timeout:g} s" if late else "", -int(signal.SIGKILL))
        if late:
            process.kill()
        else:
            try:
                ended = pipe.recv()
            except Exception as why:  # EOF: it died; else its value cannot be unpickled
                process.join()
                code = process.exitcode or 0
                text = f"the process ended by signal {-code}" if code < 0 else \
                    f"the process ended with exit code {code}" if isinstance(why, EOFError) else _last_line(why)
                ended = Ended(CRASHED, None, seconds, text, code)
        process.join()
        pipe.close()
        return key, ended

    def abandon(self) -> None:
        for _, process, _ in self._running.values():
            process.kill()
        for pipe, (_, process, _) in self._running.items():
            process.join()
            pipe.close()
        self._running.clear()
