"""Objects come and go without growth.

    python3 leaks.py [CYCLES]

Every object of the package is made, used and dropped CYCLES times (10,000; the tests take fewer). The process may not
grow by more than a few bytes a cycle: the second half of the cycles is compared with the first.
"""
import gc
import pickle
import sys

import covtune as ct
import numpy as np

ALLOWED = 24  # bytes a cycle: less than the smallest object of the library


def resident():
    with open("/proc/self/smaps_rollup") as file:
        for line in file:
            if line.startswith("Pss_Anon:") or line.startswith("Anonymous:"):
                return int(line.split()[1]) * 1024
    raise SystemExit("there is no /proc/self/smaps_rollup")


def table():
    noise = ct.Noise()
    noise.add("prior", sigma=[0.1] * 3, rows=["x", "y", "yaw"])
    noise.add("odom", sigma=[0.1, 0.1, 0.02])
    return noise


def chain(noise):
    graph = ct.Graph(noise)
    x = graph.add_variables("SE2", np.zeros((4, 3)))
    graph.add_prior(x[:1], [[0, 0, 0]], noise="prior")
    graph.add_between(x[:-1], x[1:], [[1, 0, 0.1]] * 3, noise="odom")
    return graph, x


def make_noise():
    noise = table()
    noise.copy()
    noise["odom"].to_dict()
    noise.export("ros", group="prior")
    pickle.loads(pickle.dumps(noise))


def make_graph():
    graph, x = chain(NOISE)
    graph.solve()
    graph.marginals(x)
    graph.evaluate(NOISE)
    graph.hessian()


def make_model():
    model = ct.FactorModel("own", ["SE2"], ["R1"], 1, lambda z, x, j: x[0][:, :1] - z[0], absolute=True)
    graph, x = chain(NOISE)
    noise = table()
    noise.add("one", sigma=[1])
    graph.noise = noise
    graph.add_factors(model, x[:1, None], [[1]], noise="one")
    graph.solve()


def make_smoother():
    noise = table()
    smoother = ct.Smoother(noise)
    x = smoother.add_variables("SE2", [[0, 0, 0]])
    smoother.add_prior(x, [[0, 0, 0]], noise="prior")
    smoother.update()
    smoother.marginals(x)
    smoother.close()


def make_dataset():
    graph, _ = chain(NOISE)
    data = ct.Dataset(NOISE)
    data.add(graph, np.zeros((4, 3)), times=np.arange(4), name="a", recording="b")
    data.train[0].graph()
    data.train[0].estimate()
    data.residuals("odom")
    data.table()


def make_failures():
    for function in (lambda: NOISE.add("odom", sigma=[1]), lambda: ct.Noise.read("/nowhere"),
                     lambda: chain(NOISE)[0].solve(callback=lambda s: 1 / 0), lambda: ct.Dataset.read("/nowhere")):
        try:
            function()
        except (ct.Error, ZeroDivisionError):
            pass


def make_results():
    data = ct.simulate_nav("D1", train=2, test=1, poses=6)
    ct.learn(data, method="closed-form", jobs=1).table()
    ct.evaluate(data, jobs=1).table()


def make_reports():
    data = ct.simulate_nav("D1", train=2, test=1, poses=6)
    ct.doctor(data, jobs=1)
    ct.compare(data, ["closed-form"], bounds="wide", jobs=1)


def make_trajectories():
    rows = np.column_stack([np.arange(5), np.arange(5), np.zeros(5), np.zeros(5)])
    ct.score(rows, rows, covariance=np.tile(np.eye(3), (5, 1, 1)))


def make_tuning():
    ct.tune(lambda values, log: np.array([values["a"] - 1.0, 0.1]), {"a": (0.5, 0.1, 2)}, [1], points=3, folds=0)


NOISE = table()
EVERY = {make_results: 10, make_reports: 40, make_tuning: 10}  # these take longer: fewer cycles in the short form


def growth(function, cycles):
    """Bytes a cycle, over the second half."""
    for _ in range(cycles // 2):
        function()
    gc.collect()
    before = resident()
    for _ in range(cycles // 2):
        function()
    gc.collect()
    return (resident() - before) / (cycles // 2)


def main(cycles, whole):
    worst = 0
    for name, function in [(n, f) for n, f in globals().items() if n.startswith("make_")]:
        n = cycles if whole else max(20, cycles // EVERY.get(function, 1))
        found = growth(function, n)
        if found > ALLOWED + 400_000 / n:  # the allocator's own rounding: pages, arenas
            found = min(found, growth(function, n))  # a second look: what grows once is no leak
        bad = found > ALLOWED + 400_000 / n
        worst += bad
        print(f"{name[5:]:14s} {n:6d} cycles: {found:8.1f} bytes a cycle{'  LEAK' if bad else ''}", flush=True)
    return worst


if __name__ == "__main__":
    given = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    sys.exit(1 if main(given, given >= 10_000) else 0)
