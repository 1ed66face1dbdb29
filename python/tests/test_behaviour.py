"""What people expect of a Python package: types, texts, threads, fork, pickling, Ctrl-C, no growth, no crash."""
import ast
import copy
import doctest
import gc
import importlib
import inspect
import json
import multiprocessing
import os
import pickle
import pkgutil
import pydoc
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import covtune as ct
import numpy as np

PACKAGE = Path(ct.__file__).parent
HERE = Path(__file__).parent


def small(train=3, test=2, poses=40):
    return ct.simulate_nav("D1", train=train, test=test, poses=poses)


def public():
    """Every public function, class, and member of a class, by name."""
    for name in ct.__all__:
        thing = getattr(ct, name)
        yield name, thing
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, (property, classmethod))):
                    yield f"{name}.{member}", value


class Texts(unittest.TestCase):
    def test_everything_public_is_documented(self):
        missing = [name for name, thing in public() if not inspect.getdoc(
            thing.__func__ if isinstance(thing, classmethod) else thing)]
        self.assertEqual(missing, [])

    def test_everything_public_is_typed(self):
        missing = []
        for name, thing in public():
            function = thing.__func__ if isinstance(thing, classmethod) else thing.fget if isinstance(thing, property) \
                else thing
            if inspect.isclass(function) or inspect.ismodule(function):
                continue
            signature = inspect.signature(function)
            bare = [p for p in signature.parameters.values()
                    if p.annotation is p.empty and p.name not in ("self", "cls")]
            if bare or signature.return_annotation is signature.empty:
                missing.append(name)
        self.assertEqual(missing, [])
        self.assertTrue((PACKAGE / "py.typed").exists())

    @unittest.skipUnless(shutil.which("mypy"), "mypy is not there")
    def test_types_are_right(self):
        with tempfile.TemporaryDirectory() as folder:
            user = Path(folder, "user.py")
            user.write_text("import covtune as ct\nresult: ct.LearnResult = ct.learn(ct.simulate_nav())\n"
                            "wrong: int = ct.models()\n")
            out = subprocess.run(
                ["mypy", "--strict", "--allow-any-generics", "--no-warn-return-any", "--no-warn-unused-ignores",
                 "--python-executable", sys.executable, "--cache-dir", folder, str(PACKAGE), str(user)],
                capture_output=True, text=True, cwd=PACKAGE.parent)
        self.assertEqual(out.stdout.count("error:"), 1, out.stdout)
        self.assertIn("user.py:3", out.stdout)

    def test_help_reads(self):
        for thing in (ct, ct.learn, ct.Graph, ct.LearnResult, ct.plot):
            text = pydoc.render_doc(thing, renderer=pydoc.plaintext)
            self.assertGreater(len(text), 200)
            self.assertNotIn("_tables", text.replace("package contents", "").split("PACKAGE CONTENTS")[0])

    def test_examples_of_docstrings(self):
        for module in pkgutil.iter_modules([str(PACKAGE)]):
            if module.name in ("_tables", "libcovtune"):
                continue
            found = importlib.import_module(f"covtune.{module.name}")
            scope = {**vars(found), **{n: getattr(ct, n) for n in ct.__all__}}
            result = doctest.testmod(found, extraglobs=scope, verbose=False)
            self.assertEqual(result.failed, 0, module.name)

    def test_sources_are_of_python_3_9(self):
        for path in PACKAGE.glob("*.py"):
            ast.parse(path.read_text(), feature_version=(3, 9))
            if path.name != "_tables.py":
                self.assertIn("from __future__ import annotations", path.read_text() + (
                    "from __future__ import annotations" if path.name == "__init__.py" else ""), path.name)

    def test_reprs_say_sizes(self):
        data = small()
        graph = data.train[0].graph()
        for thing, text in ((data, "3 training and 2 test"), (graph, "40 variables, 79 factors"),
                            (data.noise, "3 models"), (data.train[0], "40 variables"), (graph.solver(), "40 variables"),
                            (graph.evaluate()[0], "factors"), (data.train[0].estimate(), "40 poses"),
                            (ct.evaluate(data), "2 sequences"), (ct.learn(data, method="closed-form"), "6 rows")):
            self.assertIn(text, repr(thing))
            self.assertLess(len(repr(thing)), 300)


class Exceptions(unittest.TestCase):
    def test_types_follow_the_status(self):
        for kind, also in ((ct.ArgumentError, ValueError), (ct.FileError, OSError), (ct.ParseError, ValueError),
                           (ct.OutOfMemory, MemoryError), (ct.SingularError, ArithmeticError),
                           (ct.UnsupportedError, NotImplementedError), (ct.EmptyError, LookupError)):
            self.assertTrue(issubclass(kind, ct.Error) and issubclass(kind, also))
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "bad.json").write_text("{")
            self.assertRaises(ct.ParseError, ct.Noise.read, Path(folder, "bad.json"))
            Path(folder, "bad.g2o").write_text("EDGE_SE2 0 1 nonsense\n")
            self.assertRaisesRegex(ct.ParseError, "bad.g2o:1", ct.Dataset.read, Path(folder, "bad.g2o"))
        self.assertRaises(ct.FileError, small().write, "/proc/nowhere")
        self.assertEqual(ct.FileError("x").status, "io")

    def test_memory_that_is_not_there_is_an_exception(self):
        text = "import covtune as ct, resource\nresource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n" \
               "try:\n    ct.Graph().add_variables('SE3', 10**8)\nexcept MemoryError as why:\n    print(type(why))\n"
        out = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env={
            **os.environ, "PYTHONPATH": str(PACKAGE.parent)})
        self.assertIn("OutOfMemory", out.stdout, out.stderr)


class Import(unittest.TestCase):
    def imported(self, change, library=None):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(PACKAGE, Path(folder, "covtune"), ignore=shutil.ignore_patterns("__pycache__"))
            tables = Path(folder, "covtune", "_tables.py")
            tables.write_text(change(tables.read_text()))
            environment = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
            if library is not None:
                environment["COVTUNE_LIBRARY"] = library
            return subprocess.run([sys.executable, "-c", "import covtune"], capture_output=True, text=True,
                                  env=environment).stderr.strip().splitlines()[-1:]

    def test_another_version_is_an_import_error_with_a_sentence(self):
        self.assertEqual(self.imported(lambda text: text), [])
        said = self.imported(lambda text: text.replace(f"VERSION = '{ct.__version__}'", "VERSION = '0.0.1'"))
        self.assertRegex(said[0], "ImportError: covtune: the package is of version 0.0.1, its library of version")
        said = self.imported(lambda text: text.replace("'ct_run_learn'", "'ct_not_there'"))
        self.assertRegex(said[0], "ImportError: covtune: the library .* has no ct_not_there")

    def test_a_library_that_is_none_is_an_import_error(self):
        self.assertRegex(self.imported(lambda text: text, "/nowhere/lib.so")[0], "ImportError: .*cannot be loaded")
        self.assertRegex(self.imported(lambda text: text, "libc.so.6")[0], "ImportError: .*not covtune's library")


class Pickling(unittest.TestCase):
    def test_results_and_noise_tables_survive(self):
        data = small()
        result = ct.learn(data, folds=2)
        for thing in (result, ct.evaluate(data), ct.doctor(data), ct.compare(data, ["closed-form"], bounds="wide"),
                      data.train[0].estimate(), data.noise, data.noise["odom"], data.train[0].graph().solve()):
            again = pickle.loads(pickle.dumps(thing))
            self.assertEqual(repr(again), repr(thing))
            self.assertEqual(json.dumps(again.to_dict()), json.dumps(thing.to_dict()))
        self.assertEqual(pickle.loads(pickle.dumps(result)).noise, result.noise)
        self.assertEqual(copy.deepcopy(result).noise, result.noise)

    def test_handles_say_that_they_cannot(self):
        data = small()
        for thing in (data, data.train[0].graph(), ct.Smoother(data.noise)):
            self.assertRaisesRegex(TypeError, "cannot be pickled", pickle.dumps, thing)
            self.assertRaisesRegex(TypeError, "cannot be copied", copy.copy, thing)


class Processes(unittest.TestCase):
    def test_objects_work_on_both_sides_of_a_fork(self):
        data = small()
        graph = data.train[0].graph()
        expected = graph.solve().final_error

        def child(pipe):
            other = data.train[0].graph()
            pipe.send((other.solve().final_error, graph.solve().final_error, ct.learn(data, jobs=2).stop))
            graph.close()

        context = multiprocessing.get_context("fork")
        mine, theirs = context.Pipe()
        process = context.Process(target=child, args=(theirs,))
        process.start()
        self.assertTrue(mine.poll(60))
        first, second, _ = mine.recv()
        process.join()
        self.assertEqual(process.exitcode, 0)
        self.assertEqual(first, expected)
        self.assertAlmostEqual(second / expected, 1, places=9)
        self.assertEqual(graph.variables, 40)

    def test_a_fork_while_another_thread_is_in_the_library(self):
        data, stop = small(), threading.Event()

        def busy():
            while not stop.is_set():
                data.train[0].graph().solve()
                data.noise

        thread = threading.Thread(target=busy)
        thread.start()
        try:
            for _ in range(10):
                pid = os.fork()
                if pid == 0:
                    ok = len(ct.simulate_nav(train=1, test=0, poses=5).noise) == 3
                    os._exit(0 if ok else 1)
                deadline = time.monotonic() + 20
                while True:
                    done, status = os.waitpid(pid, os.WNOHANG)
                    if done or time.monotonic() > deadline:
                        break
                    time.sleep(0.01)
                if not done:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                self.assertTrue(done and status == 0, "the child hangs")
        finally:
            stop.set()
            thread.join()

    def test_the_end_of_the_interpreter_with_open_objects(self):
        text = "import covtune as ct, threading\nd = ct.simulate_nav(train=2, test=1, poses=20)\n" \
               "g = d.train[0].graph(); g.solve(); s = ct.Smoother(d.noise)\n" \
               "threading.Thread(target=lambda: ct.learn(d), daemon=True).start()\n"
        out = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env={
            **os.environ, "PYTHONPATH": str(PACKAGE.parent)})
        self.assertEqual(out.returncode, 0, out.stderr)


class Threads(unittest.TestCase):
    def test_long_calls_let_other_threads_run(self):
        data, ticks, done = small(train=6, poses=400), [], threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.002)

        thread = threading.Thread(target=tick)
        thread.start()
        start = time.monotonic()
        ct.learn(data, method="nelder-mead", jobs=1, max_iterations=60, doctor=False)
        seconds = time.monotonic() - start
        done.set()
        thread.join()
        self.assertGreater(len(ticks), 0.1 * seconds / 0.002, f"{seconds} s")

    def test_one_graph_in_many_threads_is_refused_or_solved(self):
        graph = small(train=1, poses=300).train[0].graph()
        said, values = [], graph.values()

        def work(k):
            for i in range(60):
                try:
                    action = (k + i) % 5
                    if action == 0:
                        graph.solve()
                    elif action == 1:
                        graph.set_values(np.arange(300), values)
                    elif action == 2:
                        graph.marginals([3])
                    elif action == 3:
                        graph.add_variables("R2", 1)
                    else:
                        graph.values()[0]
                    said.append("ok")
                except ct.ArgumentError as why:
                    said.append(str(why))
                except ct.SingularError:
                    said.append("ok")

        threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(said), 360)
        self.assertEqual([s for s in said if s != "ok" and "in use" not in s and "closed" not in s], [])

    def test_datasets_and_tables_in_many_threads(self):
        data, stops = small(), []

        def work(k):
            for _ in range(5):
                try:
                    if k % 3 == 0:
                        stops.append(ct.learn(data, method="closed-form", doctor=False).stop)
                    elif k % 3 == 1:
                        data.noise["odom"].sigma
                        [s.truth for s in data.sequences()]
                    else:
                        data.noise = data.noise
                except ct.ArgumentError as why:
                    self.assertIn("in use", str(why))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTrue(stops)


class Interrupts(unittest.TestCase):
    def interrupted(self, call, after=0.5):
        used = []  # seconds of processors until the signal: a second on a loaded machine is less

        def interrupt():
            used.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(after, interrupt)
        timer.start()
        try:
            result = call()
        finally:
            timer.join()
        self.assertLess(time.process_time() - used[0], 1.0)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)
        return result

    def test_learning_gives_the_best_so_far(self):
        data = small(train=8, poses=1500)
        result = self.interrupted(lambda: ct.learn(data, method="nelder-mead", jobs=2, doctor=False))
        self.assertEqual(result.stop, "cancelled")
        self.assertLessEqual(result.losses["answer"], result.losses["start"] * (1 + 1e-9))
        self.assertTrue(all(np.isfinite(row.sigma) for row in result.rows))

    def test_a_solve_gives_the_best_so_far(self):
        graph = small(train=1, poses=200).train[0].graph()
        graph.set_values(np.arange(200), np.random.default_rng(1).normal(size=(200, 3)))
        before = graph.error()
        result = self.interrupted(lambda: graph.solve(callback=lambda state: time.sleep(0.2)))
        self.assertEqual(result.stop, "cancelled")
        self.assertLess(result.final_error, before)

    def test_comparisons_give_finished_rows(self):
        data = small(train=8, poses=800)
        rows = self.interrupted(lambda: ct.compare(data, ["crs", "powell"], jobs=1, callback=None))
        self.assertTrue(rows.cancelled)
        self.assertTrue(all(row.method in ("initial", "closed-form") for row in rows.rows))

    def test_a_handler_of_the_caller_is_left_alone(self):
        seen = []
        old = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
        try:
            os.kill(os.getpid(), signal.SIGINT)
            ct.learn(small(), method="closed-form")
            self.assertEqual(seen, [1])
        finally:
            signal.signal(signal.SIGINT, old)


class Progress(unittest.TestCase):
    def test_a_bar_is_shown_where_it_is_wanted(self):
        text = "import sys\n{}\nimport covtune as ct\nd = ct.simulate_nav(train=2, test=2, poses=30)\n" \
               "ct.learn(d, progress=True); ct.evaluate(d, progress=True); d.train[0].graph().solve(progress=True)\n"
        for first in ("", "sys.modules['tqdm'] = None; sys.modules['tqdm.auto'] = None"):
            out = subprocess.run([sys.executable, "-c", text.format(first)], capture_output=True, text=True, env={
                **os.environ, "PYTHONPATH": str(PACKAGE.parent)})
            self.assertEqual((out.returncode, out.stdout), (0, ""), out.stderr)
            for word in ("learn", "evaluate", "solve", "100"):
                self.assertIn(word, out.stderr)

    def test_callbacks_get_plain_dicts_that_they_may_keep(self):
        seen = []
        ct.learn(small(), callback=lambda state: seen.append(state) and None)
        self.assertTrue(seen and {"phase", "iteration", "train", "done", "values"} <= set(seen[0]))
        json.dumps(seen)
        self.assertLessEqual(seen[0]["done"], seen[-1]["done"])

    def test_what_a_callback_raises_is_raised_once_and_kept_by_nobody(self):
        class Own(Exception):
            pass

        def fails(state):
            raise Own

        data, graph = small(), small().train[0].graph()
        for call in (lambda: ct.learn(data, callback=fails), lambda: ct.evaluate(data, callback=fails),
                     lambda: graph.solve(callback=fails), lambda: ct.compare(data, ["lm"], callback=fails)):
            with self.assertRaises(Own):
                call()
        gc.collect()
        self.assertEqual([o for o in gc.get_objects() if isinstance(o, Own)], [])
        graph.solve()


class Scripts(unittest.TestCase):
    """The short forms of leaks.py and fuzz.py, each in a process of its own."""

    def run_script(self, *words):
        out = subprocess.run([sys.executable, "-X", "faulthandler", str(HERE / words[0]), *words[1:]],
                             capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)})
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)

    def test_objects_come_and_go_without_growth(self):
        self.run_script("leaks.py", "200")

    def test_random_calls_raise_and_do_not_crash(self):
        self.run_script("fuzz.py", "1500", "7")


if __name__ == "__main__":
    unittest.main()
