"""The shared library: found, checked against the tables made from its headers, and bound."""
from __future__ import annotations

import ctypes
import math
import operator
import os
import signal
import threading
from pathlib import Path
from typing import Any, Mapping, Sequence, TypeVar

from . import _tables as t


class Error(Exception):
    """A sentence of the library. `status` is the name of its code, such as "argument"."""

    status = "error"


class ArgumentError(Error, ValueError):
    """An argument is outside its domain."""

    status = "argument"


class FileError(Error, OSError):
    """A file could not be read or written."""

    status = "io"


class ParseError(Error, ValueError):
    """A file does not follow its format."""

    status = "parse"


class NoiseError(Error, ValueError):
    """A noise model is not usable."""

    status = "noise"


class LimitError(Error, OverflowError):
    """Something is larger than this build can hold."""

    status = "limit"


class SingularError(Error, ArithmeticError):
    """The measurements leave something undetermined."""

    status = "singular"


class UnsupportedError(Error, NotImplementedError):
    """A format or a build has no place for what was asked for."""

    status = "unsupported"


class BusyError(Error):
    """Another process uses it."""

    status = "busy"


class EmptyError(Error, LookupError):
    """There is nothing of the kind that was asked for."""

    status = "empty"


class OutOfMemory(Error, MemoryError):
    """There is no memory."""

    status = "memory"


_ERRORS = {
    t.CT_E_MEMORY: OutOfMemory, t.CT_E_ARGUMENT: ArgumentError, t.CT_E_IO: FileError, t.CT_E_PARSE: ParseError,
    t.CT_E_NOISE: NoiseError, t.CT_E_LIMIT: LimitError, t.CT_E_SINGULAR: SingularError,
    t.CT_E_UNSUPPORTED: UnsupportedError, t.CT_E_BUSY: BusyError, t.CT_E_EMPTY: EmptyError,
}


def _candidates() -> list[str]:
    given = os.environ.get("COVTUNE_LIBRARY")
    if given:
        return [given]
    here = Path(__file__).parent
    names = ["libcovtune.so", "libcovtune.dylib", "covtune.dll"]
    return [str(here / name) for name in names if (here / name).exists()] + names[:1]


def _load() -> ctypes.CDLL:
    tried = []
    for path in _candidates():
        try:
            return ctypes.CDLL(path)
        except OSError as why:
            tried.append(str(why))
    raise ImportError("covtune: its library libcovtune.so cannot be loaded: " + "; ".join(tried) +
                      ". Install the package again, or name the library in COVTUNE_LIBRARY.")


def _bind(library: ctypes.CDLL) -> ctypes.CDLL:
    try:
        library.ct_version.restype = ctypes.c_char_p
    except AttributeError:
        raise ImportError(f"covtune: {library._name} is not covtune's library: it has no ct_version.") from None
    library.ct_version.argtypes = []
    version = library.ct_version().decode()
    if version != t.VERSION:
        raise ImportError(f"covtune: the package is of version {t.VERSION}, its library of version {version}. "
                          "Install both from one source.")
    for name, (result, arguments) in t.FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"covtune: the library {library._name} has no {name}: it is of another build than "
                              "the package. Install both from one source.") from None
        function.restype = result
        function.argtypes = arguments
    return library


lib = _bind(_load())
free_memory = ctypes.CDLL(None).free  # of what the library gives away
free_memory.restype = None
free_memory.argtypes = [ctypes.c_void_p]


def call(name: str, *arguments: Any) -> None:
    """A function that returns a status and has ct_err * as its last argument. Raises the library's sentence."""
    err = t.ct_err()
    check(getattr(lib, name)(*arguments, ctypes.byref(err)), err)


def check(status: int, err: t.ct_err) -> None:
    if status != t.CT_OK:
        text = err.text.decode("utf-8", "replace") or lib.ct_status_text(status).decode()
        raise _ERRORS.get(status, Error)(text)


def encode(text: Any, what: str = "a name") -> bytes:
    """Bytes of a text or path; texts with NUL cannot be passed on."""
    try:
        data = os.fsencode(text) if isinstance(text, (str, os.PathLike)) else text
    except UnicodeEncodeError as why:
        raise ArgumentError(f"{what} has characters that cannot be encoded: {why}") from None
    if not isinstance(data, bytes):
        raise ArgumentError(f"{what} must be a text, found {type(text).__name__}")
    if b"\0" in data:
        raise ArgumentError(f"{what} has a NUL character: {text!r}")
    return data


def count(value: Any, what: str, least: int = 0, most: int = 2**31 - 1) -> int:
    """A whole number within a range."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{what} must be a whole number, found {value!r:.80}") from None
    if isinstance(value, bool) or not least <= number <= most:
        raise ArgumentError(f"{what} must be a whole number of {least} to {most}, found {value!r:.80}")
    return number


def real(value: Any, what: str, least: float = -math.inf, most: float = math.inf) -> float:
    """A number within a range; NaN is none."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{what} must be a number, found {value!r:.80}") from None
    if not least <= number <= most:
        raise ArgumentError(f"{what} must be a number of {least:g} to {most:g}, found {number:g}")
    return number


def flag(value: Any) -> int:
    """1 or 0; arrays are neither true nor false."""
    try:
        return 1 if value else 0
    except ValueError:
        raise ArgumentError(f"a switch is true or false, found {value!r:.80}") from None


def choice(value: Any, what: str, known: Mapping[str, int]) -> int:
    """The number of a name."""
    if not isinstance(value, str) or value not in known:
        raise ArgumentError(f"{what} is one of {', '.join(known)}; found {value!r:.80}")
    return known[value]


def names(value: Any, what: str) -> bytes | None:
    """A list as on the command line, "a,b", of a text or of a list of texts."""
    if value is None:
        return None
    if not isinstance(value, (str, bytes)):
        try:
            value = ",".join(value)
        except TypeError:
            raise ArgumentError(f"{what} must be a text or a list of texts, found {value!r:.80}") from None
    return encode(value, what)


def instance(value: Any, kind: Any, what: str) -> Any:
    """The value, if it is of that type."""
    if not isinstance(value, kind):
        wanted = getattr(kind, "__name__", "list")
        raise ArgumentError(f"{what} must be a {wanted}, found {type(value).__name__}")
    return value


def take_text(pointer: ctypes.c_void_p) -> str:
    """The text of a char * that the caller owns, which is freed."""
    try:
        return ctypes.string_at(pointer).decode("utf-8", "replace")
    finally:
        free_memory(pointer)


def name_of(enum: str, value: int, prefix: str) -> str:
    """CT_STOP_STEP -> "step"."""
    for name, number in t.ENUMS[enum].items():
        if number == value:
            return name[len(prefix):].lower()
    return "?"


_lock = threading.RLock()  # held while handles are marked, changed or freed: never during a long call


def _new_lock() -> None:
    """In a forked child: the lock may have been held by a thread that does not exist there."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_new_lock)


class in_use:
    """A block in which handles are neither freed nor changed, by other threads or by callbacks. Those of `alone` are
    used by nobody else: the call changes them."""

    def __init__(self, *shared: "Handle", alone: Sequence["Handle"] = ()) -> None:
        self._alone, self._handles = alone, [*shared, *alone]

    def __enter__(self) -> None:
        with _lock:
            for handle in self._handles:
                handle._check_open()
            for handle in self._alone:
                handle._idle()
            for handle in self._handles:
                handle._uses += 1

    def __exit__(self, *why: Any) -> None:
        with _lock:
            for handle in self._handles:
                handle._uses -= 1


class changing:
    """A block of short calls that change handles, which nothing may be using. Other threads wait."""

    def __init__(self, *handles: "Handle") -> None:
        self._handles, self._lock = handles, _lock

    def __enter__(self) -> None:
        self._lock.acquire()
        try:
            for handle in self._handles:
                handle._check_open()
                handle._idle()
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, *why: Any) -> None:
        self._lock.release()


class reading(changing):
    """A block of short calls that read what other threads might free or move."""

    def __enter__(self) -> None:
        self._lock.acquire()
        try:
            for handle in self._handles:
                handle._check_open()
        except BaseException:
            self._lock.release()
            raise


class interruptible:
    """A block in which Ctrl-C is a wish to stop that callbacks ask for, from any thread, instead of an exception
    between any two of their lines. It changes nothing where the caller has a handler of their own, or in other
    threads."""

    def __init__(self) -> None:
        self.hit = False
        self.raises = False  # in a function of the user, in the main thread: Ctrl-C interrupts it
        self._old: Any = None
        self._pipe: tuple[int, int] | None = None
        self._wakeup = -1

    def __enter__(self) -> "interruptible":
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._pipe = os.pipe()
            for end in self._pipe:
                os.set_blocking(end, False)
            self._old = signal.signal(signal.SIGINT, self._handle)
            self._wakeup = signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        return self

    def _handle(self, number: int, frame: Any) -> None:
        self.hit = True
        if self.raises:
            self.raises = False
            raise KeyboardInterrupt

    def stopped(self) -> bool:
        """Was there a Ctrl-C? Python's handler runs in the main thread alone, which may wait in the library; the byte
        in the pipe is there at once."""
        if not self.hit and self._pipe is not None:
            try:
                self.hit = int(signal.SIGINT) in os.read(self._pipe[0], 512)
            except BlockingIOError:
                pass
        return self.hit

    def __exit__(self, *why: Any) -> None:
        if self._pipe is not None:
            self.stopped()
            signal.set_wakeup_fd(self._wakeup)
            signal.signal(signal.SIGINT, self._old)
            for end in self._pipe:
                os.close(end)
            self._pipe = None


_H = TypeVar("_H", bound="Handle")


class Handle:
    """An object of the library. It is freed once; using it afterwards raises."""

    _free = ""
    _handle: int | None = None
    _uses = 0  # calls under way
    _pins = 0  # objects that need it

    def __init__(self, handle: ctypes.c_void_p) -> None:
        if not isinstance(handle, ctypes.c_void_p):
            raise ArgumentError(f"a {type(self).__name__} is not made of a {type(handle).__name__}")
        self._handle = handle.value

    def _check_open(self) -> None:
        if not self._handle:
            raise ArgumentError(f"this {type(self).__name__} is closed")

    @property
    def _pointer(self) -> ctypes.c_void_p:
        self._check_open()
        return ctypes.c_void_p(self._handle)

    @property
    def closed(self) -> bool:
        """Was it freed? Other calls then raise."""
        return not self._handle

    def _idle(self) -> None:
        """Refuse a change while a call is under way, from a callback or another thread."""
        if self._uses:
            raise ArgumentError(f"this {type(self).__name__} is in use by a call that has not ended")

    def close(self) -> None:
        """Free it now. A second call does nothing."""
        with _lock:
            self._idle()
            if self._pins and self._handle:
                raise ArgumentError(
                    f"this {type(self).__name__} is needed by {self._pins} other objects: close them first")
            handle, self._handle = self._handle, None
            if handle:
                function = getattr(lib, self._free)
                function(ctypes.cast(handle, function.argtypes[0]))

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # the interpreter is ending
            pass

    def __enter__(self: _H) -> _H:
        return self

    def __exit__(self, *why: Any) -> None:
        self.close()

    def __copy__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be copied: two objects would free one handle")

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled: it lives in this process. Write it to a file.")
