"""tune: functions as estimators, how their runs end, threads and processes, Ctrl-C."""
import json
import os
import signal
import threading
import time
import unittest

import covtune as ct
import numpy as np

TRUE = {"odom": 0.1, "gps": 0.5}


def curved(values, log):
    """Residuals that vanish at the true values."""
    rng = np.random.default_rng(log)
    A = rng.normal(size=(40, 2))
    d = np.array([np.log(values[n] / TRUE[n]) for n in ("odom", "gps")])
    return A @ d + 0.1 * d[0] ** 2 + 1e-3 * rng.normal(size=40)


def filtered(values, log):
    """A scalar Kalman filter of a position: rows (t, x, y, yaw)."""
    z, x, P, out = log["z"], 0.0, 1.0, []
    for k, (u, m) in enumerate(zip(log["u"], z)):
        x, P = x + u, P + values["odom"] ** 2
        gain = P / (P + values["gps"] ** 2)
        x, P = x + gain * (m - x), (1 - gain) * P
        out.append((0.1 * k, x, 0.0, 0.0))
    return np.array(out)


def recorded(seed, n=400):
    rng = np.random.default_rng(seed)
    truth = np.cumsum(np.ones(n) * 0.1)
    log = {"u": np.full(n, 0.1) + 0.02 * rng.normal(size=n), "z": truth + 0.5 * rng.normal(size=n)}
    return log, np.column_stack([0.1 * np.arange(n), truth, np.zeros(n), np.zeros(n)])


START = {"odom": (1.0, 1e-3, 10), "gps": (0.05, 1e-3, 10)}


class Tune(unittest.TestCase):
    def test_residual_vectors_lead_to_their_zero(self):
        result = ct.tune(curved, START, [1, 2, 3], test=[4])
        for name, value in TRUE.items():
            self.assertAlmostEqual(result.values[name] / value, 1, delta=0.02)
        self.assertLess(result.loss, 1e-3 * result.loss_start)
        self.assertTrue(all(np.isfinite(p.standard_error) for p in result.parameters))
        self.assertEqual([(g.log, g.test) for g in result.logs],
                         [("log0", False), ("log1", False), ("log2", False), ("test0", True)])
        self.assertTrue(all(g.loss_after < g.loss_before for g in result.logs))
        self.assertEqual(json.loads(json.dumps(result.to_dict()))["runs"], result.runs)
        self.assertIn("<table>", result._repr_html_())
        self.assertEqual(sum(c.chosen for c in result.candidates), 1)

    def test_a_filter_is_tuned_by_its_trajectories(self):
        logs, truths = zip(*(recorded(seed) for seed in range(6)))
        result = ct.tune(filtered, {"odom": (0.5, 1e-3, 10), "gps": ct.Parameter(0.5, 0.5, 0.5 + 1e-9)}, logs[:4],
                         truth=truths[:4], test=logs[4:], test_truth=truths[4:])
        self.assertLess(result.values["odom"], 0.1)
        for g in result.logs:
            self.assertLess(g.translation_after, 0.7 * g.translation_before)

    def test_threads_and_processes_change_no_bit(self):
        answers = [ct.tune(curved, START, [1, 2, 3], **how).to_dict()
                   for how in ({}, {"workers": 3}, {"workers": 2, "processes": True})]
        for answer in answers:
            answer.pop("seconds")
            self.assertEqual(repr(answer), repr(answers[0]))

    def test_exceptions_are_outcomes(self):
        def fragile(values, log):
            if values["gps"] > 2:
                raise FloatingPointError("the gain is not finite")
            return curved(values, log)

        start = {"odom": (1.0, 1e-3, 10), "gps": (1.5, 1e-3, 10)}
        result = ct.tune(fragile, start, [1, 2], whole_box=True)
        self.assertGreater(result.failed.get("crashed", 0), 0)
        self.assertRegex(result.failures[0], r"test_tune.py:\d+: FloatingPointError: the gain is not finite")
        self.assertAlmostEqual(result.values["gps"] / 0.5, 1, delta=0.05)

    def test_estimators_that_never_work(self):
        for estimator, text in ((lambda v, g: 1 / 0, "ZeroDivision"), (lambda v, g: None, "None"),
                                (lambda v, g: "no", "numbers"), (lambda v, g: [], "shape"),
                                (lambda v, g: [np.nan], "finite"), (lambda v, g: np.zeros((3, 3)), "shape")):
            try:
                result = ct.tune(estimator, START, [1, 2], points=5)
                self.assertIn(text, " ".join(result.failures))
                self.assertEqual(result.values, {"odom": 1.0, "gps": 0.05})
            except ct.Error as why:
                self.assertTrue(str(why))

    def test_processes_that_die_or_hang_are_outcomes(self):
        def dies(values, log):
            if values["gps"] > 2:
                os.kill(os.getpid(), signal.SIGKILL)
            if values["odom"] > 0.5:
                time.sleep(60)
            return curved(values, log)

        start = {"odom": (0.2, 1e-3, 10), "gps": (1.5, 1e-3, 10)}
        result = ct.tune(dies, start, [1], processes=True, workers=2, timeout=0.3, whole_box=True, points=30)
        self.assertGreater(result.failed.get("crashed", 0), 0)
        self.assertGreater(result.failed.get("time", 0), 0)
        self.assertIn("the process ended by signal 9", result.failures)

    def test_sentences(self):
        for arguments, text in (((None, START, [1]), "called"), ((curved, {}, [1]), "at least one"),
                                ((curved, {"a": "x"}, [1]), "'a'"), ((curved, {"a": (1, 2, 3)}, [1]), "a"),
                                ((curved, START, []), "log"), ((curved, START, 3), "list"),
                                ((curved, {"a" * 99: 1}, [1]), "bytes"),
                                ((curved, {"a": ct.Parameter(1, quantity="number")}, [1]), "bounds")):
            with self.assertRaisesRegex(ct.ArgumentError, text):
                ct.tune(*arguments)
        for options, text in (({"method": "adam"}, "adam"), ({"truth": [1, 2]}, "truth"), ({"workers": 0}, "workers"),
                              ({"timeout": 3}, "processes"), ({"points": -1}, "points"), ({"loss": "l"}, "loss")):
            with self.assertRaisesRegex(ct.ArgumentError, text):
                ct.tune(curved, START, [1], **options)

    def test_progress_stops_and_may_raise(self):
        seen = []

        def tell(state):
            seen.append(state)
            return state["runs"] >= 10

        result = ct.tune(curved, START, [1, 2, 3], callback=tell)
        self.assertEqual(result.stop, "cancelled")
        self.assertLess(result.runs, 20)
        self.assertTrue({"phase", "runs", "loss", "values"} <= set(seen[0]))
        with self.assertRaises(KeyError):
            ct.tune(curved, START, [1], callback=lambda s: {}["own"])

    def test_an_interrupt_gives_the_best_so_far_within_a_second(self):
        def slow(values, log):
            time.sleep(0.1)
            return curved(values, log)

        for how in ({}, {"workers": 2}, {"workers": 2, "processes": True}):
            timer = threading.Timer(1.2, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            start = time.monotonic()
            result = ct.tune(slow, START, [1, 2, 3], **how)
            self.assertEqual(result.stop, "cancelled", how)
            self.assertLess(time.monotonic() - start, 2.2)
            self.assertEqual(set(result.values), {"odom", "gps"})
            self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)


if __name__ == "__main__":
    unittest.main()
