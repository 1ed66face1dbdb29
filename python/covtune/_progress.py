"""Progress of long calls: a function of the user, a bar, and Ctrl-C."""
from __future__ import annotations

import sys
import time
from typing import Any, Callable

from ._library import ArgumentError, flag, interruptible

_WIDTH = 30  # of the bar, in characters
_PAUSE = 0.1  # seconds between two drawings
_SOON = 0.02  # seconds after which a call is one that lasts


class _Line:
    """A bar on one line of stderr, where tqdm is not importable."""

    def __init__(self, what: str) -> None:
        self._what, self._last = what, 0.0

    def show(self, done: float, text: str, end: bool = False) -> None:
        if not end and time.monotonic() - self._last < _PAUSE:
            return
        self._last = time.monotonic()
        full = int(round(_WIDTH * done))
        sys.stderr.write(f"\r{self._what} [{'#' * full}{'.' * (_WIDTH - full)}] {100 * done:3.0f} % {text:.60}\x1b[K")
        sys.stderr.flush()

    def close(self, done: float, text: str) -> None:
        self.show(done, text, end=True)
        sys.stderr.write("\n")


class _Tqdm:
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def show(self, done: float, text: str) -> None:
        self._bar.set_postfix_str(text[:60], refresh=False)
        self._bar.update(round(100 * done) - self._bar.n)

    def close(self, done: float, text: str) -> None:
        self.show(done, text)
        self._bar.close()


def _new_bar(what: str) -> Any:
    try:
        from tqdm.auto import tqdm  # type: ignore[import]
    except ImportError:
        return _Line(what)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of notebooks without widgets
        return _Tqdm(tqdm(total=100, desc=what, unit="%", bar_format="{desc} {percentage:3.0f}%|{bar}| {postfix}"))


class Watch:
    """What a long call reports to, and asks whether to stop. What the user's function raises stops the call and is
    raised after it; its true value stops at the best so far, as Ctrl-C does."""

    def __init__(self, what: str, callback: Callable[[dict[str, Any]], Any] | None, progress: bool,
                 lazy: bool = False) -> None:
        if callback is not None and not callable(callback):
            raise ArgumentError(f"callback must be a function of one dict, found {type(callback).__name__}")
        self._callback, self._what, self._wanted = callback, what, flag(progress) == 1
        self._bar: Any = None
        self._done, self._text = 0.0, ""
        self.interrupt = interruptible()
        self._lazy, self._asleep, self._next = lazy, lazy, 0.0
        self.raised: list[BaseException] = []

    def __enter__(self) -> "Watch":
        if self._lazy:
            self._next = time.monotonic() + _SOON
        else:
            self.interrupt.__enter__()
        if self._wanted:
            self._bar = _new_bar(self._what)
        return self

    def __exit__(self, *why: Any) -> None:
        if not self._asleep:
            self.interrupt.__exit__(*why)
        if self._bar is not None:
            self._bar.close(1.0 if why[0] is None and not self.stopped() else self._done, self._text)

    def stopped(self) -> bool:
        """Was Ctrl-C pressed, or did the function raise?"""
        return bool(self.raised) or self.interrupt.stopped()

    def tell_nothing(self) -> int:
        """`tell` of a call that may take less than a millisecond, in the thread that waits for it: without a callback
        and a bar. Ctrl-C is looked for every now and then; its handler is set up for calls that last."""
        try:
            if time.monotonic() < self._next:
                return 0
            self._next = time.monotonic() + _SOON
            if self._asleep:
                self._asleep = False
                self.interrupt.__enter__()
            return 1 if self.stopped() else 0
        except KeyboardInterrupt:
            self.interrupt.hit = True
            return 1

    @property
    def silent(self) -> bool:
        """There is neither a callback nor a bar."""
        return self._callback is None and not self._wanted

    def tell(self, state: Callable[[], dict[str, Any]], done: float, text: str = "") -> int:
        """1: stop. `state` makes the dict that the function gets, `done` is 0 to 1."""
        try:
            if self._asleep:
                self._asleep = False
                self.interrupt.__enter__()
            if self.stopped():
                return 1
            if self._bar is not None and done == done:
                self._done, self._text = min(max(done, self._done, 0.0), 1.0), text
                self._bar.show(self._done, text)
            return 1 if self._callback is not None and self._callback(state()) else 0
        except KeyboardInterrupt:
            self.interrupt.hit = True
            return 1
        except BaseException as why:
            self.raised.append(why)
            return 1

    def raise_pending(self) -> None:
        """After the call: what the function raised. Nothing keeps it here: its frames know the callback, which knows
        this object, and cycles through callbacks of ctypes are not collected."""
        if self.raised:
            why = self.raised[0]
            self.raised.clear()
            try:
                raise why
            finally:
                del why
