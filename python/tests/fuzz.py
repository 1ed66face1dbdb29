"""Random calls with random arguments: whatever is raised is an exception, and the interpreter lives.

    python3 fuzz.py [CALLS] [SEED]

Every public function and method of every object is called with values of all types and shapes, among them NaN, closed
objects, objects of other classes and arrays of odd layouts. Calls that are right as well as wrong are in it: arguments
that fit are drawn as often as others. Allowed are exceptions of covtune, TypeError (a wrong number of arguments),
ImportError (gtsam) and MemoryError; anything else is a mistake of the package, and a crash is one of the library.
"""
import inspect
import os
import random
import sys
import tempfile
import warnings

import covtune as ct
import numpy as np

ALLOWED = (ct.Error, TypeError, ImportError, MemoryError)
KINDS = ["R1", "R2", "R3", "SO2", "SO3", "SE2", "SE3"]
WORDS = KINDS + ["odom", "gps", "prior", "lm", "gn", "dogleg", "batch", "isam2", "train", "test", "all", "closed-form",
                 "between_se2", "prior_se2", "position_se2", "range_se2_r2", "huber:1", "truth", "estimate", "D1",
                 "tight", "ros", "g2o", "rows", "heldout", "", "?", "\0", "\ud800", "a" * 300, "1:2", "odom.x=odom.y"]
# Closed objects come by themselves; tune runs functions for long; results are made by functions.
SKIP = {"close", "tune", "Evaluation", "LearnResult", "TuneResult", "Diagnosis", "Comparison", "Sequence"}


def residual(z, x, jacobians):
    return x[0][:, :1] - z[0][:, :1]


def failing(*_):
    raise ct.ArgumentError("own")


class Fuzzer:
    def __init__(self, seed, folder):
        self.rng, self.random = np.random.default_rng(seed), random.Random(seed)
        self.folder = folder
        self.objects = []
        self.counts = {"ok": 0, "raised": 0}
        self.mistakes = {}

    # ---- arguments

    def array(self):
        r = self.random
        shape = r.choice([(), (0,), (1,), (2,), (3,), (5,), (4, 1), (4, 2), (4, 3), (4, 7), (5, 3), (0, 3), (3, 3),
                          (2, 2), (2, 3, 3)])
        kind = r.randrange(10)
        if kind < 4:
            return self.rng.normal(size=shape)
        if kind == 4:
            return self.rng.integers(-2, 6, size=shape)
        if kind == 5:
            return np.full(shape, r.choice([np.nan, np.inf, -np.inf, 0, 1e300, -1e-300]))
        if kind == 6:
            return np.arange(int(np.prod(shape))).reshape(shape)[..., None][::-1]
        if kind == 7:
            return np.asfortranarray(self.rng.normal(size=shape)).astype(r.choice(["f4", ">f8", "c16", "i8", "O", "?"]))
        return self.rng.normal(size=shape).tolist()

    def value(self):
        r = self.random
        return r.choice([
            self.array, self.array, self.array, lambda: r.choice(WORDS), lambda: r.choice(WORDS),
            lambda: r.randrange(-3, 7), lambda: r.choice([0, 1, 2]), lambda: r.choice([2**31, -2**31, 2**63, 10**30]),
            lambda: r.choice([0.0, 0.5, -1.0, 1e308, float("nan"), float("inf")]), lambda: None,
            lambda: r.choice([True, False]),
            lambda: r.choice(WORDS).encode("utf-8", "replace"), lambda: {}, lambda: {"odom": (1e-3, 1)}, lambda: {1: 2},
            lambda: [r.choice(WORDS) for _ in range(r.randrange(3))], lambda: object(), lambda: residual,
            lambda: failing,
            lambda: os.path.join(self.folder, r.choice(["a", "b", "data", "missing/x"])), lambda: [[1, 2], [3]],
            self.object, self.object, lambda: np.arange(r.randrange(4), dtype=np.int32), lambda: [[0, 1], [1, 2]],
            lambda: [[0, 0, 0]] * r.randrange(4)])()

    def object(self):
        return self.random.choice(self.objects) if self.objects else None

    # ---- good objects, so that deep code is reached

    def fresh(self):
        noise = ct.Noise()
        noise.add("prior", sigma=[0.1] * 3)
        noise.add("odom", sigma=[0.1, 0.1, 0.02])
        noise.add("gps", sigma=[0.5, 0.5], robust=self.random.choice([None, "huber"]))
        graph = ct.Graph(noise)
        x = graph.add_variables("SE2", np.zeros((4, 3)))
        graph.add_prior(x[:1], [[0, 0, 0]], noise="prior")
        graph.add_between(x[:-1], x[1:], self.rng.normal(size=(3, 3)), noise="odom")
        data = ct.Dataset(noise)
        data.add(graph, np.zeros((4, 3)), name="a")
        smoother = ct.Smoother(noise.copy())
        smoother.add_prior(smoother.add_variables("SE2", [[0, 0, 0]]), [[0, 0, 0]], noise="prior")
        model = ct.FactorModel("own", ["SE2"], ["R1"], 1, residual, absolute=True)
        self.objects += [noise, graph, data, data.train[0], smoother, model, noise["odom"], graph.solver(),
                         ct.simulate_nav("D1", train=2, test=1, poses=5)]
        if len(self.objects) > 60:
            self.random.shuffle(self.objects)
            for old in [self.objects.pop() for _ in range(20)]:
                if hasattr(old, "close") and self.random.random() < 0.5:
                    try:
                        old.close()
                    except ct.Error:
                        pass
                if self.random.random() < 0.3:
                    self.objects.append(old)  # closed, or in use by others

    def target(self):
        """A function and its name."""
        r = self.random
        if r.random() < 0.15:
            name = r.choice([n for n in ct.__all__ if n not in SKIP and n != "plot"])
            return getattr(ct, name), name
        owner = self.object()
        names = [n for n in dir(type(owner)) if n not in SKIP and (not n.startswith("_") or n in
                 ("__len__", "__getitem__", "__contains__", "__repr__", "_repr_html_", "__iter__", "__reduce__"))]
        if not names:
            return (lambda *a, **k: repr(owner)), "repr"
        name = r.choice(names)
        found = inspect.getattr_static(type(owner), name)
        if not callable(getattr(type(owner), name, None)) or isinstance(found, property):
            return (lambda *a, **k: getattr(owner, name)), f"{type(owner).__name__}.{name}"
        return getattr(owner, name), f"{type(owner).__name__}.{name}"

    def arguments(self, function):
        r = self.random
        try:
            parameters = [p for p in inspect.signature(function).parameters.values() if not p.name.startswith("_")]
        except (TypeError, ValueError):
            return [self.value() for _ in range(r.randrange(3))], {}
        given, named = [], {}
        for p in parameters:
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                continue
            if p.default is not p.empty and r.random() < 0.7:
                continue
            if p.kind == p.KEYWORD_ONLY or named:
                named[p.name] = self.fitting(p.name)
            else:
                given.append(self.fitting(p.name))
        if r.random() < 0.03:
            given.append(self.value())
        return given, named

    def fitting(self, name):
        """Half the time what the parameter's name suggests."""
        r = self.random
        if r.random() < 0.5:
            return self.value()
        classes = {"noise": ct.Noise, "table": ct.Noise, "other": ct.Noise, "graph": ct.Graph, "dataset": ct.Dataset,
                   "model": ct.FactorModel}
        if name in classes:
            found = [o for o in self.objects if isinstance(o, classes[name])]
            return r.choice(found + ["odom", "prior", 0]) if found else None
        good = {"variables": lambda: r.choice([[0], [0, 1], [[0, 1]], [[0], [1]]]), "a": lambda: [0], "b": lambda: [1],
                "measurements": lambda: [[1, 0, 0]], "values": lambda: [[0, 0, 0]], "kind": lambda: r.choice(KINDS),
                "sigma": lambda: [0.1, 0.2, 0.3], "name": lambda: r.choice(WORDS[7:10]),
                "truth": lambda: np.zeros((4, 3)),
                "jobs": lambda: r.choice([1, 2]), "method": lambda: r.choice(["lm", "closed-form"]), "folds": lambda: 0,
                "poses": lambda: 4, "train": lambda: 1, "test": lambda: 1, "lags": lambda: 1, "index": lambda: [0, 1],
                "path": lambda: os.path.join(self.folder, "f"), "folder": lambda: os.path.join(self.folder, "d"),
                "callback": lambda: r.choice([None, failing, lambda s: True]), "progress": lambda: False,
                "max_iterations": lambda: r.choice([1, 3]), "methods": lambda: ["closed-form"],
                "bounds": lambda: "wide"}
        return good[name]() if name in good else self.value()

    def call(self):
        function, name = self.target()
        given, named = self.arguments(function)
        if name in ("simulate_nav", "Graph.add_variables", "Solver.run", "Graph.solve"):
            given = [4 if isinstance(g, int) and abs(g) > 1000 else g for g in given]  # memory is not the question
            named = {k: 4 if isinstance(v, int) and abs(v) > 1000 else v for k, v in named.items()}
        named.pop("progress", None)
        if "max_iterations" in named or name in ("learn", "compare", "LearnResult.write"):
            named.setdefault("max_iterations", 2) if name in ("learn", "compare") else None
        try:
            result = function(*given, **named)
            self.counts["ok"] += 1
            if isinstance(result, (ct.Noise, ct.Graph, ct.Dataset, ct.Sequence, ct.LearnResult, ct.Evaluation)):
                self.objects.append(result)
        except ALLOWED:
            self.counts["raised"] += 1
        except BaseException as why:
            if isinstance(why, KeyboardInterrupt) and named.get("callback") is not None or \
                    isinstance(why, StopIteration):
                return
            text = f"{name}{tuple(given)!r:.300} {named!r:.300}: {type(why).__name__}: {why}"
            self.mistakes.setdefault((name, type(why)), text)


def main(calls, seed):
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        fuzzer = Fuzzer(seed, folder)
        try:
            for i in range(calls):
                if i % 60 == 0:
                    fuzzer.fresh()
                fuzzer.call()
        finally:
            os.chdir("/")
    return fuzzer


if __name__ == "__main__":
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    found = main(calls, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print(f"{calls} calls: {found.counts['ok']} returned, {found.counts['raised']} raised as they may")
    print("\n".join(found.mistakes.values()))
    sys.exit(1 if found.mistakes else 0)
