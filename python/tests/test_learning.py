"""Datasets, learning, evaluation: the same numbers as the program."""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import covtune as ct
import numpy as np

PROGRAM = os.environ.get("COVTUNE_PROGRAM")


class Learning(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name, "data")
        simulated = ct.simulate_nav("D1", train=3, test=3, poses=80, seed=4)
        simulated.write(cls.path)
        cls.data = ct.Dataset.read(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_a_dataset_is_read_as_it_was_written(self):
        self.assertEqual((len(self.data.train), len(self.data.test)), (3, 3))
        sequence = self.data.train[0]
        self.assertEqual(sequence.truth.shape, (80, 3))
        self.assertEqual(sequence.factors, 79 + 79 + 1)
        self.assertIn("odom", self.data.noise)

    @unittest.skipUnless(PROGRAM, "COVTUNE_PROGRAM names no program")
    def test_learning_gives_the_bits_of_the_program(self):
        out = Path(self.folder.name, "run")
        subprocess.run([PROGRAM, "learn", str(self.path), "--out", str(out), "--quiet"], check=True)
        theirs = ct.Noise.read(out / "noise.json")
        mine = ct.learn(ct.Dataset.read(self.path)).noise
        for name in ("odom", "gps"):
            self.assertTrue((mine[name].covariance == theirs[name].covariance).all(), name)

    @unittest.skipUnless(PROGRAM, "COVTUNE_PROGRAM names no program")
    def test_evaluation_gives_the_numbers_of_the_program(self):
        text = subprocess.run([PROGRAM, "eval", str(self.path), "--json", "--nees"], check=True, capture_output=True,
                              text=True).stdout
        mine = ct.evaluate(self.data)
        for figure in ("translation", "rotation", "loss", "nees"):
            self.assertIn(repr(getattr(mine, figure))[:12], text)

    def test_a_far_start_is_learned(self):
        far = ct.Dataset.read(self.path)
        noise = far.noise
        noise.set("odom", sigma=3 * noise["odom"].sigma)
        other = ct.Dataset(noise)
        self.assertIn("odom", other.noise)
        result = ct.learn(far, method="lm", folds=0)
        self.assertTrue(result.rows and all(np.isfinite(r.sigma) for r in result.rows))
        self.assertEqual(json.loads(json.dumps(result.to_dict()))["stop"], result.stop)
        self.assertIn("<table>", result._repr_html_())

    def test_progress_stops_at_the_best_so_far(self):
        self.assertEqual(ct.learn(self.data, folds=0, method="lm", callback=lambda p: True).stop, "cancelled")
        with self.assertRaises(ZeroDivisionError):
            ct.learn(self.data, callback=lambda p: 1 / 0)

    def test_a_dataset_from_arrays(self):
        noise = ct.Noise()
        noise.add("first_pose", sigma=[1e-3] * 3)
        noise.add("odom", sigma=[0.3, 0.3, 0.3])
        noise.add("gps", sigma=[0.3, 0.3])
        data, rng = ct.Dataset(noise), np.random.default_rng(5)
        for k in range(4):
            n = 60
            truth = np.column_stack([np.arange(n), np.zeros(n), np.zeros(n)]).astype(float)
            graph = ct.Graph(noise)
            v = graph.add_variables("SE2", truth)
            graph.add_prior(v[:1], truth[:1], noise="first_pose")
            graph.add_between(v[:-1], v[1:], [1, 0, 0] + rng.normal(size=(n - 1, 3)) * [0.05, 0.02, 0.01], noise="odom")
            seen = truth[1:, :2] + rng.normal(size=(n - 1, 2)) * 0.5
            graph.add_factors("position_se2", v[1:, None], seen, noise="gps")
            data.add(graph, truth, times=np.arange(n) * 0.1, part="train" if k < 3 else "test", recording=f"run{k}")
        result = ct.learn(data, method="closed-form")
        sigma = {(r.model, r.name): r.sigma for r in result.rows}
        self.assertAlmostEqual(sigma["gps", "x"] / 0.5, 1, delta=0.2)
        self.assertAlmostEqual(sigma["odom", "x"] / 0.05, 1, delta=0.2)
        self.assertEqual(data.test[0].recording, "run3")
        np.testing.assert_allclose(data.test[0].times, np.arange(60) * 0.1)
        with self.assertRaisesRegex(ct.ArgumentError, "shape"):
            data.add(graph, truth[:3])

    def test_the_doctor_has_nothing_to_say_about_simulated_data(self):
        self.assertEqual([f.code for f in ct.doctor(self.data) if f.severity != "info"], [])


if __name__ == "__main__":
    unittest.main()
