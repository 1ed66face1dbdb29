"""How estimates are made: options that several calls share."""
from __future__ import annotations

from typing import Any, Callable

from . import _tables as t
from ._library import ArgumentError, choice, lib

PARTS = {"train": t.CT_DATASET_TRAIN, "test": t.CT_DATASET_TEST, "all": t.CT_DATASET_ALL}
SOLVERS = {"auto": t.CT_INFERENCE_AUTO, "batch": 0, "isam2": 1}


def table(name: Callable[[int], bytes], count: int) -> dict[str, int]:
    """Names and numbers of an enumeration of the library."""
    return {name(i).decode(): i for i in range(count)}


STARTS = table(lib.ct_start_name, t.CT_START_COUNT)
ENTRIES = table(lib.ct_entry_name, t.CT_ENTRY_COUNT)
DIFFERENCES = table(lib.ct_difference_name, t.CT_DIFFERENCE_COUNT)
METHODS = table(lib.ct_method_name, t.CT_METHOD_COUNT)


def set_inference(inference: t.ct_inference, *, start: str, solver: str, entry: str | None, method: str | None) -> None:
    """Fill a ct_inference; an option of one kind of inference selects it, as on the command line."""
    inference.start = choice(start, "start", STARTS)
    inference.incremental = choice(solver, "solver", SOLVERS)
    if entry is not None and (method is not None or solver == "batch"):
        raise ArgumentError("entry is for isam2, method for batch: one of them")
    if method is not None and solver == "isam2":
        raise ArgumentError("method is for batch")
    if entry is not None:
        inference.replay.entry, inference.incremental = choice(entry, "entry", ENTRIES), 1
    if method is not None:
        inference.solve.method, inference.incremental = choice(method, "method", METHODS), 0


def part_of(part: Any) -> int:
    """A part of a dataset."""
    return choice(part, "part", PARTS)
