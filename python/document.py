#!/usr/bin/env python3
"""Writes docs/python-api.md from the docstrings of the package.

    PYTHONPATH=build/python python3 python/document.py docs/python-api.md
"""
import inspect
import sys
from pathlib import Path

SECTIONS = [
    ("Noise models", ["Noise", "NoiseModel"]),
    ("Graphs", ["Graph", "FactorModel", "Solver", "Smoother", "SolveResult", "UpdateResult", "Block", "models"]),
    ("Datasets", ["Dataset", "Sequence", "Estimate", "ImportReport", "ImportCount", "draft_recipe", "simulate_nav"]),
    ("Learning", ["learn", "LearnResult", "Row", "HeldOut", "evaluate", "Evaluation", "Figures", "SequenceFigures",
                  "compare", "Comparison", "Compared", "doctor", "Diagnosis", "Correction", "Evidence", "Finding"]),
    ("Tuning", ["tune", "Parameter", "TuneResult", "Tuned", "Candidate", "LogFigures", "score"]),
    ("Errors", ["Error", "ArgumentError", "FileError", "ParseError", "NoiseError", "LimitError", "SingularError",
                "UnsupportedError", "BusyError", "EmptyError", "OutOfMemory"]),
]


def signature(name, function):
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return name
    shown = [p.replace(annotation=p.empty) for p in found.parameters.values()
             if p.name not in ("self", "cls") and not p.name.startswith("_")]
    return f"{name}{found.replace(parameters=shown, return_annotation=found.empty)}".replace("*, )", ")") \
        .replace("(*)", "()")


def text(thing):
    """A docstring, its examples as a block."""
    out, block = [], False
    for line in (inspect.getdoc(thing) or "").splitlines():
        example = line.startswith((">>>", "...")) or block and bool(line.strip())
        if example != block:
            out.append("```")
        block = example
        out.append(line)
    return "\n".join(out + ["```"] * block)


def members(kind):
    for name, value in vars(kind).items():
        if name.startswith("_"):
            continue
        if isinstance(value, property):
            yield f"`{name}`", value
        elif isinstance(value, classmethod):
            yield f"`{kind.__name__}.{signature(name, getattr(kind, name))}`", value.__func__
        elif inspect.isfunction(value):
            yield f"`{signature(name, value)}`", value


def fields(kind):
    return [f"`{name}`" for name in getattr(kind, "__dataclass_fields__", {}) if not name.startswith("_")]


def entry(out, name, thing):
    out += [f"### {name}", ""]
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        if "__dataclass_fields__" not in vars(thing) and not name.endswith(("Result", "Sequence", "Comparison",
                                                                            "Evaluation", "Diagnosis")):
            out += [f"`{signature(name, thing.__init__)}`", ""]
        out += [text(thing), ""]
        if fields(thing):
            out += ["Fields: " + ", ".join(fields(thing)) + ".", ""]
        for title, value in members(thing):
            out += [f"- {title}: " + " ".join(text(value).split("```")[0].split()), ""]
    elif inspect.isclass(thing):
        out += [f"{text(thing)} Bases: {', '.join(b.__name__ for b in thing.__bases__)}.", ""]
    else:
        out += [f"`{signature(name, thing)}`", "", text(thing), ""]


def page(package):
    out = ["# The Python package", "", "Written by `python/document.py` from the docstrings; [python.md](python.md) is "
           "the tutorial.", ""]
    for title, names in SECTIONS:
        out += [f"## {title}", ""]
        for name in names:
            entry(out, name, getattr(package, name))
    out += ["## Pictures: covtune.plot", "", " ".join(package.plot.__doc__.split()), ""]
    for name in package.plot.__all__:
        entry(out, name, getattr(package.plot, name))
    missing = set(package.__all__) - {n for _, names in SECTIONS for n in names} - {"plot"}
    if missing:
        raise SystemExit(f"document.py: no section has {', '.join(sorted(missing))}")
    return "\n".join(line.rstrip() for line in "\n".join(out).splitlines()) + "\n"


if __name__ == "__main__":
    sys.path.pop(0)  # the sources beside this file have no tables

    import covtune

    Path(sys.argv[1]).write_text(page(covtune))
