"""covtune: noise models of state estimators, learned from logs."""
from . import _tables
from ._factor import FactorModel
from ._library import (ArgumentError, BusyError, EmptyError, Error, FileError, LimitError, NoiseError, OutOfMemory,
                       ParseError, SingularError, UnsupportedError, lib as _lib)
from ._tune import Candidate, LogFigures, Parameter, Tuned, TuneResult, tune
from .data import Dataset, Sequence, simulate_nav
from .graph import Block, Graph, Solver, SolveResult
from .learning import Finding, LearnResult, Row, doctor, evaluate, learn
from .noise import Noise, NoiseModel
from .smoother import Smoother, UpdateResult
from .trajectory import score

__version__ = _tables.VERSION


def models() -> list[str]:
    """Names of the built-in measurement models."""
    names, i = [], 0
    while True:
        ops = _lib.ct_factor_at(i)
        if not ops:
            return names
        names.append(ops.contents.name.decode())
        i += 1
