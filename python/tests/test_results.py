"""Results, conversions, recipes, comparisons, pictures: numbers against the program and against other routes."""
import json
import math
import os
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

import covtune as ct
import numpy as np

try:
    import matplotlib

    matplotlib.use("Agg")
except ImportError:
    matplotlib = None
PROGRAM = os.environ.get("COVTUNE_PROGRAM")


def far(data):
    """The dataset with start values that are far from the truth."""
    noise = data.noise
    for name in ("odom", "gps"):
        noise.set(name, sigma=3 * noise[name].sigma)
    data.noise = noise
    return data


class Learned(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.data = far(ct.simulate_nav("D1", train=4, test=2, poses=80))
        cls.result = ct.learn(cls.data)

    def test_tables_agree_with_each_other(self):
        r = self.result
        self.assertEqual(len(r.rows), 6)
        self.assertEqual(sum(h.chosen for h in r.heldout), 1)
        self.assertEqual(set(r.sigmas), {f"{m}.{row}" for m in ("odom", "gps") for row in ("x", "y", "yaw")})
        for row in r.rows:
            index = r.noise[row.model].rows.index(row.name)
            self.assertEqual(row.sigma, r.noise[row.model].sigma[index])
        table = r.table("history")
        self.assertEqual(len(table["train"]), len(r.history))
        self.assertTrue((np.diff(table["done"]) >= 0).all())
        np.testing.assert_allclose(np.sqrt(np.diag(r.covariance)), r.standard_errors, rtol=1e-12)
        self.assertGreater(np.linalg.eigvalsh(r.covariance).min(), -1e-12)
        json.dumps(r.to_dict())
        self.assertEqual(r._repr_html_().count("<table>"), 2 + bool(r.findings))

    def test_learning_leaves_the_dataset_as_it_was(self):
        before = self.data.noise
        ct.learn(self.data, method="closed-form", robust={"gps": "huber"}, truth_sigma=(0.01, 0.01),
                 noise=self.result.noise)
        self.assertEqual(self.data.noise, before)

    @unittest.skipUnless(PROGRAM, "COVTUNE_PROGRAM names no program")
    def test_options_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            self.data.write(Path(folder, "data"))
            for k, (words, options) in enumerate((
                    (["--full", "gps", "--tie", "odom.x=odom.y"], {"full": "gps", "tie": [("odom.x", "odom.y")]}),
                    (["--bounds", "0.001:10", "--method", "fw"], {"bounds": (0.001, 10), "method": "fw"}),
                    (["--truth", "none"], {"truth": False}),
                    (["--bound", "odom.x=1e-4:1", "--freeze", "gps.yaw", "--robust", "gps=huber:2"],
                     {"bounds": {"odom.x": (1e-4, 1)}, "freeze": ["gps.yaw"], "robust": {"gps": "huber:2"}}),
                    (["--prior", "none", "--from", "table", "--folds", "0", "--loss", "left", "--weights", "2:1"],
                     {"prior": 0, "start": "table", "folds": 0, "loss": "left", "weights": (2, 1)}))):
                run = Path(folder, f"run{k}")
                subprocess.run([PROGRAM, "learn", str(Path(folder, "data")), "--out", str(run), "--quiet", *words],
                               check=True)
                mine = ct.learn(ct.Dataset.read(Path(folder, "data"), "train"), **options)
                mine.write(Path(folder, "mine.json"))
                theirs = json.loads(Path(run, "noise.json").read_text())
                again = json.loads(Path(folder, "mine.json").read_text())
                for key in ("command", "digest", "dataset", "origin"):
                    theirs.pop(key, None), again.pop(key, None)
                for name in ("odom", "gps"):
                    self.assertTrue((ct.Noise.read(run / "noise.json")[name].covariance ==
                                     mine.noise[name].covariance).all(), (words, name))

    @unittest.skipUnless(PROGRAM, "COVTUNE_PROGRAM names no program")
    def test_comparisons_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            self.data.write(Path(folder, "data"))
            text = subprocess.run([PROGRAM, "compare", str(Path(folder, "data")), "--methods", "fw,lm", "--bounds",
                                   "loose", "--json"], check=True, capture_output=True, text=True).stdout
            mine = ct.compare(ct.Dataset.read(Path(folder, "data")), "fw,lm", bounds="loose")
        self.assertEqual([r.method for r in mine.rows], ["initial", "closed-form", "fw", "lm"])
        for row in mine.rows:
            self.assertIn(repr(row.test.translation)[:11], text, row.method)
            self.assertIn(repr(row.test.rotation)[:11], text, row.method)
        self.assertEqual(mine.best().test.translation, min(r.test.translation for r in mine.rows[1:]))
        self.assertEqual(len(mine.table()["method"]), 4)
        self.assertIn("spread", ct.compare(self.data, ["nelder-mead"], bounds="wide", spread=2).rows[-1].reason)

    def test_an_estimate_is_consistent(self):
        e = self.data.test[0].estimate(self.result.noise)
        self.assertEqual(e.poses.shape, (80, 3))
        self.assertEqual(e.covariances.shape, (80, 3, 3))
        mine = self.data.test[0].graph()
        mine.solve(self.result.noise)
        np.testing.assert_allclose(e.poses, mine.values(), atol=1e-5)
        # NEES by another route: local error of each pose against its covariance
        c, s = np.cos(e.truth[:, 2]), np.sin(e.truth[:, 2])
        d = e.positions - e.truth[:, :2]
        w = (e.poses[:, 2] - e.truth[:, 2] + np.pi) % (2 * np.pi) - np.pi
        half = np.where(np.abs(w) < 1e-9, 1e-9, w) / 2
        px, py, h = c * d[:, 0] + s * d[:, 1], c * d[:, 1] - s * d[:, 0], half / np.tan(half)
        error = np.column_stack([h * px + half * py, h * py - half * px, w])
        nees = np.einsum("ni,nij,nj->n", error, np.linalg.inv(e.covariances), error)
        np.testing.assert_allclose(e.nees[1:], nees[1:], rtol=1e-6)
        figures = ct.evaluate(self.data, self.result.noise, part="test")
        both = [s.estimate(self.result.noise) for s in self.data.test]
        mean = sum(e.nees.sum() for e in both) / sum(e.degrees.sum() for e in both)
        self.assertAlmostEqual(figures.nees, mean, places=6)


class Noises(unittest.TestCase):
    def test_two_component_noise_has_width_and_ratio(self):
        noise = ct.Noise()
        noise.add("a", sigma=[1.0, 2.0], robust="max_mixture:2.5:7")
        noise.add("b", sigma=[1.0], robust="max_mixture")
        self.assertEqual(noise["a"].robust, "max_mixture:2.5:7.0")
        self.assertEqual(noise["b"].robust, "max_mixture:3.0:10.0")
        again = ct.Noise.from_dict(json.loads(json.dumps(noise.to_dict())))
        self.assertEqual(again["a"], noise["a"])
        with self.assertRaisesRegex(ct.ArgumentError, "max_mixture alone takes a ratio"):
            noise.set("a", robust="huber:1:2")
        with self.assertRaisesRegex(ct.Error, "0.5 times as wide; it must be more than 1"):
            noise.set("a", robust="max_mixture:3:0.5")

    def test_forms_convert_into_each_other(self):
        rng = np.random.default_rng(1)
        A = rng.normal(size=(3, 3))
        S = A @ A.T + np.eye(3)
        noise = ct.Noise()
        noise.add("a", covariance=S, robust="cauchy:2.5")
        noise.add("b", information=np.linalg.inv(S))
        noise.add("c", sigma=2, dim=3)
        a = noise["a"]
        np.testing.assert_allclose(a.information @ S, np.eye(3), atol=1e-12)
        np.testing.assert_allclose(a.sqrt_information.T @ a.sqrt_information, a.information, atol=1e-12)
        np.testing.assert_allclose(noise["b"].covariance, S, rtol=1e-9)
        np.testing.assert_allclose(a.correlation * np.outer(a.sigma, a.sigma), S)
        self.assertEqual(noise["c"].kind, "isotropic")
        noise.set("a", information=np.diag([4.0, 1, 1]))
        np.testing.assert_allclose(noise["a"].sigma, [0.5, 1, 1])
        again = ct.Noise.from_dict(json.loads(json.dumps(noise.to_dict())))
        self.assertEqual(again, noise)
        with tempfile.TemporaryDirectory() as folder:
            noise.write(Path(folder, "n.json"))
            other = ct.Noise.read(Path(folder, "n.json"))
        self.assertTrue((other["a"].covariance == noise["a"].covariance).all())

    def test_ros_arrays_are_those_of_the_export(self):
        noise = ct.simulate_nav("D1", kind="SE3", train=1, test=0, poses=5).noise
        text = noise.export("ros", group="gps")
        mine = noise["gps"].to_ros()
        numbers = [float(w) for w in text[text.index("[") + 1:text.index("]")].split(",")]
        self.assertEqual(mine, numbers)
        self.assertEqual(np.reshape(mine, (6, 6))[0, 0], noise["gps"].variance[3])
        self.assertRaises(ct.ArgumentError, noise["gps"].to_ros, 3)

    def test_gtsam_models_are_those_of_the_export(self):
        class Call:
            def __init__(self, name):
                self.name = name

            def __getattr__(self, name):
                return Call(f"{self.name}.{name}")

            def __call__(self, *given):
                return (self.name, *(np.asarray(g).tolist() if not isinstance(g, tuple) else g for g in given))

        fake = types.ModuleType("gtsam")
        fake.noiseModel = Call("noiseModel")
        noise = ct.Noise()
        noise.add("pose", sigma=[0.1, 0.2, 0.3], rows=["x", "y", "yaw"])
        noise.add("landmark", sigma=[0.5, 0.1], rows=["range", "bearing"], robust="huber:1.5")
        noise.add("full", covariance=[[2, 1], [1, 3]], rows=["x", "y"])
        sys.modules["gtsam"] = fake
        try:
            mine, scope = noise.to_gtsam(), {}
            exec(noise.export("gtsam-python"), scope)
        finally:
            del sys.modules["gtsam"]
        theirs = [v for v in scope.values() if isinstance(v, tuple)] + \
            [v for d in scope.values() if isinstance(d, dict) for v in d.values() if isinstance(v, tuple)]
        for name, model in mine.items():
            self.assertIn(model, theirs, name)
        self.assertEqual(mine["landmark"][2][1][0], 0.1**2)

    def test_covariances_depend_on_features_as_the_file_says(self):
        L = math.log(20)
        function = {"kind": "linear", "rows": "matrix", "units": [1, 2],
                    "features": [{"name": n, "mean": 0, "deviation": 1, "low": -1, "high": 1} for n in ("c", "s")],
                    "terms": ["c", "s"], "weights": [[L, 0], [0, math.sqrt(2) * L], [-L, 0]]}
        groups = {"gps": {"kind": "diagonal", "variance": [1, 4], "function": function},
                  "odom": {"kind": "diagonal", "variance": [2, 3]}}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "noise.json")
            Path(path).write_text(json.dumps({"format": "covtune-noise", "version": 3, "groups": groups}))
            noise = ct.Noise.read(path)
        self.assertEqual(noise.features("gps"), ("c", "s"))
        self.assertEqual(noise.features("odom"), ())
        for angle in (0, 0.3, 1.2, 2.9):
            c, s = math.cos(2 * angle), math.sin(2 * angle)
            turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
            D = np.diag([1, 2])
            expected = D @ turn @ np.diag([20, 1 / 20]) @ turn.T @ D  # the ellipse, turned, in units of the rows
            np.testing.assert_allclose(noise.covariance_at("gps", {"c": c, "s": s}), expected, rtol=1e-11, atol=1e-12)
        np.testing.assert_array_equal(noise.covariance_at("odom"), np.diag([2, 3]))
        with self.assertRaisesRegex(ct.ArgumentError, "depends on c, s; s is missing"):
            noise.covariance_at("gps", {"c": 1})

class Recipes(unittest.TestCase):
    @unittest.skipUnless(PROGRAM, "COVTUNE_PROGRAM names no program")
    def test_a_dict_a_text_and_a_file_are_one_dataset(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([PROGRAM, "simulate", "nav2d", "--tables", "--train", "3", "--test", "1", "--out", folder +
                            "/logs", "--quiet"], check=True)
            path = Path(folder, "logs", "recipe.yaml")
            sensor = {"source": "gps", "noise": {"sigma": 1}, "type": "position", "position": ["x", "y"]}
            recipe = {"format": "covtune-recipe", "version": 1,
                      "sources": {"odometry": "odometry-{run}.csv", "gps": "gps-{run}.csv", "truth": "truth-{run}.csv"},
                      "states": {"type": "SE2", "every": 0.5},
                      "sensors": {"odom": {"type": "odometry", "source": "odometry", "velocity": ["vx", "vy", "omega"],
                                           "noise": {"sigma": [0.05, 0.05, 0.02]}}, "gps": sensor},
                      "truth": {"source": "truth", "position": ["x", "y"], "yaw": "yaw", "gap": 0.5},
                      "split": {"train": ["train*"], "test": ["test*"]}}
            seen = []
            data = ct.Dataset.from_recipe(recipe, path.parent, callback=lambda state: seen.append(state) and None)
            self.assertEqual((len(data.train), len(data.test)), (3, 1))
            self.assertEqual(list(data.imported.table()["sensor"]), ["odom", "gps", "truth"])
            whole = [ct.Dataset.from_recipe(path), ct.Dataset.from_recipe(path.read_text(), path.parent)]
            self.assertEqual(repr(whole[0]), repr(whole[1]))
            self.assertTrue((whole[0].train[0].truth == data.train[0].truth).all())
            late = dict(recipe, corrections=[{"sensor": "gps", "delay": 0.4}])
            found = ct.doctor(ct.Dataset.from_recipe(late, path.parent))
            self.assertEqual([f.code for f in found.mistakes], ["sensor_delay"])
            self.assertAlmostEqual(found.corrections[0].values[0], 0, delta=0.05)
            self.assertIn('"delay"', found.recipe)
            self.assertTrue(len(found.evidence) and len(found.evidence[0].x) > 100)
            if matplotlib:
                ct.plot.evidence(found)
            self.assertIn("sources:", ct.draft_recipe(*sorted(path.parent.glob("gps-*.csv"))[:1]))
        for bad, kind in (({"format": "x"}, ct.Error), ({"a": object()}, ct.ArgumentError), (5, ct.ArgumentError),
                          ("/nowhere.yaml", ct.FileError), ({"format": "covtune-recipe", "version": math.nan},
                                                                                ct.Error)):
            self.assertRaises(kind, ct.Dataset.from_recipe, bad)


@unittest.skipUnless(matplotlib, "matplotlib is not there")
class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.data = far(ct.simulate_nav("D1", train=3, test=2, poses=60))
        cls.result = ct.learn(cls.data)
        cls.space = ct.simulate_nav("D1", kind="SE3", train=1, test=1, poses=40)

    def test_each_returns_axes_that_are_written(self):
        import matplotlib.pyplot as plt

        estimates, plot = [s.estimate(self.result.noise) for s in self.data.test], ct.plot
        tuned = ct.tune(lambda v, log: np.array([v["a"] - log, 0.1]), {"a": (0.5, 0.1, 5)}, [1, 2, 3])
        drawings = (lambda ax: plot.trajectory(estimates[0], ax), lambda ax: plot.sigmas(self.result, ax),
                    lambda ax: plot.sigmas(tuned, ax), lambda ax: plot.heldout(self.result, ax),
                    lambda ax: plot.heldout(tuned, ax), lambda ax: plot.history(self.result, ax),
                    lambda ax: plot.residuals(self.data, "gps", ax, noise=self.result.noise),
                    lambda ax: plot.whiteness(self.data, "odom", ax, at="estimate"),
                    lambda ax: plot.nees(estimates, ax), lambda ax: plot.trajectory(
                        self.space.test[0].estimate(), ax, plane="xz", every=5, probability=0.5))
        with tempfile.TemporaryDirectory() as folder:
            for k, draw in enumerate(drawings):
                ax = draw(None)
                self.assertIs(draw(ax), ax)
                for ending in ("png", "pdf", "svg"):
                    path = Path(folder, f"{k}.{ending}")
                    ax.figure.savefig(path)
                    self.assertGreater(path.stat().st_size, 2000)
                plt.close(ax.figure)

    def test_ellipses_have_the_claimed_share(self):
        covariance = np.array([[4.0, 1], [1, 2]])
        corners = ct.plot._ellipse(np.array([1.0, 2.0]), covariance, 3.0) - [1, 2]
        np.testing.assert_allclose(np.einsum("ni,ij,nj->n", corners, np.linalg.inv(covariance), corners), 9)

    def test_sentences(self):
        for call in (lambda: ct.plot.sigmas(3), lambda: ct.plot.trajectory([]), lambda: ct.plot.nees([]),
                     lambda: ct.plot.residuals(self.data, "lidar"), lambda: ct.plot.heldout(
                         ct.learn(self.data, method="closed-form")), lambda: ct.plot.history(self.result, ax=5)):
            self.assertRaises(ct.ArgumentError, call)


if __name__ == "__main__":
    unittest.main()
