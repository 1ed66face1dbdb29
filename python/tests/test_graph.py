"""Graphs, noise models, own measurement models: values of the library, exceptions with its sentences, no crash."""
import gc
import pickle
import threading
import unittest

import covtune as ct
import numpy as np


def chain(n=50, model="between_se2", seed=1):
    """A noisy walk with its noise table."""
    rng = np.random.default_rng(seed)
    noise = ct.Noise()
    noise.add("prior", sigma=[0.1, 0.1, 0.05])
    noise.add("odom", sigma=[0.1, 0.1, 0.02])
    graph = ct.Graph(noise)
    v = graph.add_variables("SE2", np.zeros((n, 3)))
    graph.add_prior(v[:1], [[1, 2, 0.3]], noise="prior")
    steps = np.column_stack([np.ones(n - 1), np.zeros(n - 1), np.full(n - 1, 0.1)]) + 0.01 * rng.normal(size=(n - 1, 3))
    graph.add_factors(model, np.column_stack([v[:-1], v[1:]]), steps, noise="odom")
    return graph, v, steps


def compose(a, b):
    c, s = np.cos(a[2]), np.sin(a[2])
    return np.array([a[0] + c * b[0] - s * b[1], a[1] + s * b[0] + c * b[1], a[2] + b[2]])


def turned(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


def difference(z, x, jacobians):
    """A model of two points: x1 - x0 - z."""
    r = x[1] - x[0] - z[0]
    if not jacobians:
        return r
    identity = np.broadcast_to(np.eye(2), (len(r), 2, 2))
    return r, [-identity, identity]


POINTS = ct.FactorModel("own_difference", ["R2", "R2"], ["R2"], 2, difference, derivatives=True)


class Graphs(unittest.TestCase):
    def test_an_open_chain_is_composed(self):
        graph, v, steps = chain()
        result = graph.solve()
        self.assertTrue(result.converged, result.message)
        expected = [np.array([1, 2, 0.3])]
        for step in steps:
            expected.append(compose(expected[-1], step))
        found = graph.values(v)
        np.testing.assert_allclose(found[:, :2], np.array(expected)[:, :2], atol=1e-8)
        np.testing.assert_allclose(turned(found[:, 2] - np.array(expected)[:, 2]), 0, atol=1e-8)
        self.assertLess(result.final_error, 1e-12)

    def test_marginals_grow_along_the_chain_and_are_those_of_the_dense_inverse(self):
        graph, v, _ = chain(12)
        graph.solve()
        data, indices, indptr, n = graph.hessian()
        H = np.zeros((n, n))
        for c in range(n):
            H[indices[indptr[c]:indptr[c + 1]], c] = data[indptr[c]:indptr[c + 1]]
        np.testing.assert_allclose(H, H.T, rtol=1e-12, atol=1e-9)
        P = np.linalg.inv(H)
        for i, block in enumerate(graph.marginals(v)):
            np.testing.assert_allclose(block, P[3 * i:3 * i + 3, 3 * i:3 * i + 3], rtol=1e-6, atol=1e-12)

    def test_residuals_are_the_error(self):
        graph, _, _ = chain()
        total = sum((block.residuals**2).sum() / 2 for block in graph.evaluate(graph.noise, jacobians=False))
        self.assertAlmostEqual(total / graph.error(), 1, places=12)
        self.assertEqual([b.model for b in graph.evaluate()], ["prior_se2", "between_se2"])

    def test_features_are_columns_by_factor(self):
        noise = ct.Noise()
        noise.add("odom", sigma=[1, 1, 1])
        graph = ct.Graph(noise)
        x = graph.add_variables("SE2", np.zeros((3, 3)))
        f = graph.add_between(x[:-1], x[1:], np.ones((2, 3)), "odom")
        graph.set_feature("speed", [1.5, 2.5])
        graph.set_feature("turn", [0.25], f[1:])
        columns = graph.features()
        self.assertEqual(list(columns), ["speed", "turn"])
        np.testing.assert_array_equal(columns["speed"], [1.5, 2.5])
        np.testing.assert_array_equal(columns["turn"], [np.nan, 0.25])
        with self.assertRaisesRegex(ct.ArgumentError, "feature turn of factor 0 is nan"):
            graph.set_feature("turn", [np.nan], [0])
        with self.assertRaisesRegex(ct.ArgumentError, "2 values for 1 factors"):
            graph.set_feature("turn", [1, 2], [0])

    def test_rotations_in_space_keep_their_fields(self):
        graph = ct.Graph()
        pose = [[1, 2, 3, 0, 0, 2, 2]]
        v = graph.add_variables("SE3", pose)
        np.testing.assert_allclose(graph.values(v), [[1, 2, 3, 0, 0, 0.5**0.5, 0.5**0.5]])
        graph.set_values(v, [[0, 0, 0, 0, 0, 0, 1]])
        np.testing.assert_allclose(graph.values(v), [[0, 0, 0, 0, 0, 0, 1]])

    def test_undetermined_variables_are_named(self):
        noise = ct.Noise()
        noise.add("odom", sigma=[1, 1, 1])
        graph = ct.Graph(noise)
        v = graph.add_variables("SE2", 2)
        graph.add_between(v[:1], v[1:], [[1, 0, 0]], noise="odom")
        result = graph.solve()
        self.assertEqual((result.stop, result.converged), ("rank", False))
        self.assertIn("x0", result.message)
        self.assertRaises(ct.SingularError, graph.marginals, v)


class OwnModels(unittest.TestCase):
    def graph(self, model, n=2000):
        noise = ct.Noise()
        noise.add("prior", sigma=[0.1, 0.1])
        noise.add("step", sigma=[0.5, 0.2])
        graph = ct.Graph(noise)
        v = graph.add_variables("R2", n)
        graph.add_prior(v[:1], [[3, 4]], noise="prior")
        z = np.random.default_rng(3).normal(size=(n - 1, 2))
        graph.add_factors(model, np.column_stack([v[:-1], v[1:]]), z, noise="step")
        graph.add_factors(model, [[0, n - 1]], [[1, 1]], noise="step")
        self.assertTrue(graph.solve().converged)
        return graph.values(v)

    def test_an_own_model_gives_the_estimate_of_the_built_in_one(self):
        numeric = ct.FactorModel("own_numeric", ["R2", "R2"], ["R2"], 2, difference)
        built_in = self.graph("between_r2")
        np.testing.assert_allclose(self.graph(POINTS), built_in, atol=1e-12)
        np.testing.assert_allclose(self.graph(numeric), built_in, atol=1e-7)

    def test_a_model_that_writes_in_place_is_the_one_that_returns(self):
        def fills(z, x, r, J):
            value = difference(z, x, J is not None)
            r[:] = value[0] if J is not None else value
            for block, new in zip(J or [], value[1] if J is not None else []):
                block[:] = new

        built_in = self.graph("between_r2")
        for derivatives, tolerance in ((True, 1e-12), (False, 1e-7)):
            model = ct.FactorModel("own_in_place", ["R2", "R2"], ["R2"], 2, fills, derivatives=derivatives,
                                   in_place=True)
            np.testing.assert_allclose(self.graph(model), built_in, atol=tolerance)
            model.check([1, 2], [[0, 1], [2, 3]])
        with self.assertRaisesRegex(ct.ArgumentError, "own_returns: with in_place=True .* returns None"):
            self.graph(ct.FactorModel("own_returns", ["R2", "R2"], ["R2"], 2, lambda z, x, r, J: r, in_place=True))

    def test_the_checker_finds_a_wrong_derivative(self):
        POINTS.check([1, 2], [[0, 1], [2, 3]])

        def wrong(z, x, jacobians):
            out = difference(z, x, jacobians)
            return (out[0], [out[1][0], 2 * out[1][1]]) if jacobians else out

        model = ct.FactorModel("own_wrong", ["R2", "R2"], ["R2"], 2, wrong, derivatives=True)
        with self.assertRaisesRegex(ct.ArgumentError, "own_wrong.*differences give"):
            model.check([1, 2], [[0, 1], [2, 3]])

    def test_what_a_function_raises_is_raised_by_the_call(self):
        class Own(Exception):
            pass

        def fails(z, x, jacobians):
            raise Own("no")

        def short(z, x, jacobians):
            return np.zeros((1, 1))

        for function, expected in ((fails, Own), (short, ct.ArgumentError), (lambda *a: None, ct.ArgumentError)):
            with self.assertRaises(expected):
                self.graph(ct.FactorModel("own_failing", ["R2", "R2"], ["R2"], 2, function), n=10)

    def test_a_function_that_calls_back_is_refused_not_obeyed(self):
        graph, _, _ = chain(5)
        seen = []

        def nosy(z, x, jacobians):
            for action in (graph.solve, graph.close, lambda: graph.add_variables("SE2", 1), graph.noise.close):
                try:
                    action()
                except ct.ArgumentError as why:
                    seen.append(str(why))
            return x[0][:, :1] - z[0]

        graph.add_factors(ct.FactorModel("own_nosy", ["SE2"], ["R1"], 1, nosy, absolute=True), [[0]], [[1]],
                          noise=graph.noise.add("one", sigma=[1]))
        graph.solve()
        self.assertGreaterEqual(len(seen), 4)
        self.assertIn("in use", seen[0])

    def test_values_given_to_a_function_cannot_be_changed(self):
        def writes(z, x, jacobians):
            x[0][:] = 0
            return x[1] - x[0] - z[0]

        with self.assertRaises(ValueError):
            self.graph(ct.FactorModel("own_writing", ["R2", "R2"], ["R2"], 2, writes), n=5)


class Smoothers(unittest.TestCase):
    def grown(self, smoother, n=60, model="between_se2"):
        rng = np.random.default_rng(7)
        steps = np.tile([1, 0, 0.2], (n - 1, 1)) + 0.02 * rng.normal(size=(n - 1, 3))
        x, poses = smoother.add_variables("SE2", [[1, 2, 0.3]]), [np.array([1, 2, 0.3])]
        smoother.add_prior(x, [[1, 2, 0.3]], noise="prior")
        smoother.update()
        for k, step in enumerate(steps):
            poses.append(compose(poses[-1], step))
            new = smoother.add_variables("SE2", [poses[-1]])
            smoother.add_factors(model, [[k, new[0]]], [step], noise="odom")
            if k % 10 == 9:
                smoother.add_between([k - 8], new, [[0.1, 0.1, 1.9]], noise="loop")
            smoother.update()
        return steps

    def table(self):
        noise = ct.Noise()
        for name, sigma in (("prior", [0.1] * 3), ("odom", [0.1, 0.1, 0.02]), ("loop", [1, 1, 0.5])):
            noise.add(name, sigma=sigma)
        return noise

    def test_updates_lead_to_the_batch_estimate(self):
        noise = self.table()
        smoother = ct.Smoother(noise, relinearise=0, skip=1, wildfire=0)
        steps = self.grown(smoother)
        for _ in range(8):
            smoother.update(relinearise=True)
        graph = ct.Graph(noise)
        v = graph.add_variables("SE2", smoother.values())
        graph.add_prior(v[:1], [[1, 2, 0.3]], noise="prior")
        graph.add_between(v[:-1], v[1:], steps, noise="odom")
        loops = np.arange(9, 59, 10)
        graph.add_between(loops - 8, loops + 1, np.tile([0.1, 0.1, 1.9], (len(loops), 1)), noise="loop")
        self.assertTrue(graph.solve().converged)
        np.testing.assert_allclose(smoother.values(v), graph.values(v), atol=1e-7)
        self.assertLess(smoother.distance(), 1e-6)
        self.assertAlmostEqual(smoother.error() / graph.error(), 1, places=9)
        for mine, theirs in zip(smoother.marginals([0, 30, 59]), graph.marginals([0, 30, 59])):
            np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-12)

    def test_windows_removals_and_what_fails(self):
        noise = self.table()
        smoother = ct.Smoother(noise, window=20)
        self.grown(smoother)
        self.assertEqual(smoother.values().shape, (20, 3))
        self.assertRaisesRegex(ct.ArgumentError, "marginalised", smoother.values, [0])
        lone = smoother.add_variables("SE2", [[0, 0, 0]])
        self.assertRaises(ct.SingularError, smoother.update)
        smoother.add_prior(lone, [[5, 5, 0]], noise="prior")
        self.assertEqual(smoother.update().variables, 20)
        np.testing.assert_allclose(smoother.values(lone), [[5, 5, 0]], atol=1e-9)
        smoother.remove([10**6])
        self.assertRaises(ct.Error, smoother.update)
        smoother.discard()
        smoother.update()
        self.assertRaisesRegex(ct.ArgumentError, "needed", noise.close)
        smoother.close()
        noise.close()

    def test_own_models_in_a_smoother(self):
        noise = ct.Noise()
        noise.add("one", sigma=[1, 1])
        smoother = ct.Smoother(noise)
        x = smoother.add_variables("R2", [[0, 0], [0, 0]])
        smoother.add_prior(x[:1], [[1, 1]], noise="one")
        smoother.add_factors(POINTS, [x], [[2, 3]], noise="one")
        smoother.update()
        np.testing.assert_allclose(smoother.values(x), [[1, 1], [3, 4]], atol=1e-9)

        def fails(z, x, jacobians):
            raise KeyError("own")

        failing = ct.FactorModel("own_failing", ["R2"], ["R2"], 2, fails)
        smoother.add_factors(failing, x[:1, None], [[2, 3]], noise="one")
        self.assertRaises(KeyError, smoother.update)


class Behaviour(unittest.TestCase):
    def test_sentences(self):
        graph, v, _ = chain(5)
        for call, kind, text in (
                (lambda: graph.add_variables("SE4", 1), ct.ArgumentError, "SE4"),
                (lambda: graph.add_variables("SE2", [[0, 0]]), ct.ArgumentError, "n x 3, found 1 x 2"),
                (lambda: graph.add_variables("SE2", [[0, 0, np.nan]]), ct.ArgumentError, "not finite"),
                (lambda: graph.add_between(v[:1], [99], [[0, 0, 0]], noise="odom"), ct.ArgumentError, "no variable 99"),
                (lambda: graph.add_between(v[:1], v[1:2], [[0, 0, 0]], noise="gps"), ct.ArgumentError, "prior, odom"),
                (lambda: graph.add_factors("between", [[0, 1]], [[0, 0, 0]], noise="odom"), ct.ArgumentError, "models"),
                (lambda: graph.solve(method="adam"), ct.ArgumentError, "adam"),
                (lambda: ct.Noise.read("/nowhere/noise.json"), ct.FileError, "nowhere"),
                (lambda: graph.noise.add("odom2", sigma=[-1e400]), ct.Error, "odom2"),
                (lambda: ct.Noise().add("a", covariance=[[1, 2], [2, 1]]), ct.NoiseError, "a"),
                (lambda: ct.Noise().add("a", sigma=1, variance=2), ct.ArgumentError, "one of")):
            with self.assertRaisesRegex(kind, text):
                call()

    def test_closed_objects_raise(self):
        graph, v, _ = chain(5)
        graph.close()
        graph.close()
        self.assertRaisesRegex(ct.ArgumentError, "closed", graph.solve)
        self.assertEqual(repr(graph), "Graph(closed)")

    def test_solvers_end_with_their_graph(self):
        graph, v, _ = chain(5)
        solver = ct.Solver(graph)
        solver.run(graph.noise)
        graph.add_variables("SE2", 1)
        self.assertRaisesRegex(ct.ArgumentError, "closed", solver.run, graph.noise)
        graph.close()

    def test_pickling_raises_a_sentence(self):
        graph, _, _ = chain(5)
        self.assertRaisesRegex(TypeError, "cannot be pickled", pickle.dumps, graph)

    def test_progress_can_cancel_and_may_raise(self):
        graph, _, _ = chain(40)
        self.assertEqual(graph.solve(callback=lambda p: True).stop, "cancelled")

        def fails(p):
            raise KeyError("own")

        with self.assertRaises(KeyError):
            graph.solve(callback=fails)

    def test_units_that_are_an_array_are_refused_with_a_sentence(self):
        noise = ct.Noise()
        noise.add("odom", sigma=[1, 1])
        for units in (np.zeros((2, 3)), np.zeros(2), [1, 2]):
            with self.assertRaises(ct.ArgumentError):
                noise.set("odom", sigma=[1, 1], rows=["x", "y"], units=units)

    def test_threads_solve_graphs_of_their_own(self):
        results = []

        def work(seed):
            graph, v, _ = chain(300, seed=seed)
            graph.solve()
            results.append((seed, graph.values(v)))

        threads = [threading.Thread(target=work, args=(i % 2,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 6)
        for seed in (0, 1):
            same = [values for s, values in results if s == seed]
            self.assertTrue(all((values == same[0]).all() for values in same))

    def test_values_do_not_depend_on_where_arrays_lie(self):
        kept, values = [], []
        for i in range(100):
            graph, v, steps = chain(257)
            values.append((graph.error(), graph.evaluate()[1].residuals))
            kept.append((graph, np.empty(i % 37)))
        self.assertTrue(all(error == values[0][0] and (r == values[0][1]).all() for error, r in values))

    def test_objects_come_and_go_without_growth(self):
        def memory():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1])

        def cycle(count):
            for _ in range(count):
                graph, v, _ = chain(5)
                graph.solve()
                ct.FactorModel("own", ["R1"], ["R1"], 1, lambda z, x, j: x[0])
            gc.collect()

        cycle(300)
        before = memory()
        cycle(1500)
        self.assertLess(memory() - before, 400, "pages")


if __name__ == "__main__":
    unittest.main()
