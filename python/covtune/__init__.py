"""covtune: noise models of state estimators, learned from logs.

    import covtune as ct

    data = ct.Dataset.read("logs")                # or from_recipe, or of arrays: Dataset.add
    result = ct.learn(data)                       # noise models with standard errors, held-out table, findings
    ct.evaluate(data, result.noise)               # accuracy on the test sequences
    result.write("noise.json")

Graphs are built of arrays (Graph, Noise, FactorModel) and solved in batch or step by step (Smoother). `tune` learns the
parameters of any estimator that is a Python function. `plot` has pictures, where matplotlib is installed.
docs/python.md is a tutorial, docs/python-api.md lists everything.
"""
from . import _tables, plot
from ._factor import FactorModel
from ._library import (ArgumentError, BusyError, EmptyError, Error, FileError, LimitError, NoiseError, OutOfMemory,
                       ParseError, SingularError, UnsupportedError, lib as _lib)
from ._tune import Candidate, LogFigures, Parameter, Tuned, TuneResult, tune
from .comparison import Compared, Comparison, compare
from .data import Dataset, ImportCount, ImportReport, Sequence, draft_recipe, simulate_nav
from .diagnosis import Correction, Diagnosis, Evidence, doctor
from .estimate import Estimate
from .evaluation import Evaluation, Figures, SequenceFigures, evaluate
from .findings import Finding
from .graph import Block, Graph, Solver, SolveResult
from .learning import HeldOut, LearnResult, Row, learn
from .noise import Noise, NoiseModel
from .smoother import Smoother, UpdateResult
from .trajectory import score

__version__ = _tables.VERSION

__all__ = [
    "ArgumentError", "Block", "BusyError", "Candidate", "Compared", "Comparison", "Correction", "Dataset", "Diagnosis",
    "EmptyError", "Error", "Estimate", "Evaluation", "Evidence", "FactorModel", "Figures", "FileError", "Finding",
    "Graph", "HeldOut", "ImportCount", "ImportReport", "LearnResult", "LimitError", "LogFigures", "Noise", "NoiseError",
    "NoiseModel", "OutOfMemory", "Parameter", "ParseError", "Row", "Sequence", "SequenceFigures", "SingularError",
    "Smoother", "Solver", "SolveResult", "Tuned", "TuneResult", "UnsupportedError", "UpdateResult", "compare", "doctor",
    "draft_recipe", "evaluate", "learn", "models", "plot", "score", "simulate_nav", "tune",
]


def models() -> list[str]:
    """Names of the built-in measurement models: "between_se2", "position_se2", ..."""
    names: list[str] = []
    while True:
        ops = _lib.ct_factor_at(len(names))
        if not ops:
            return names
        names.append(ops.contents.name.decode())
