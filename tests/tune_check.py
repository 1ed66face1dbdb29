"""What the checks of covtune tune share: scratch folders, simulated logs of tests/kalman_estimator.c, runs of covtune."""
import json
import math
import os
import random
import shutil
import signal
import subprocess
import time

FAILED = []


def complain(text):
    FAILED.append(text)
    print("FAILED", text, flush=True)


def scratch_folder(build, name):
    path = os.path.join(build, name)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def covtune(*words, cwd=None, timeout=600):
    """(exit code, stdout, stderr) of covtune, which is first in PATH."""
    done = subprocess.run(["covtune", *words], cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def simulate(folder, name, seed, poses=150, sigmas=(0.1, 0.3, 1.0)):
    """A log of kalman_estimator and its truth. sigmas: of the motion of each coordinate; positions have sigma 1."""
    draw = random.Random(seed)
    x = [0.0, 0.0, 0.0]
    log, truth = [], []
    for k in range(poses):
        motion = [math.cos(0.1 * k + i) for i in range(3)] if k else [0.0] * 3
        x = [a + u for a, u in zip(x, motion)]
        words = [f"{0.1 * k:.3f}"]
        for a, u, s in zip(x, motion, sigmas):
            words += [f"{u + draw.gauss(0, s):.12g}", f"{a + draw.gauss(0, 1):.12g}"]
        log.append(" ".join(words))
        truth.append(f"{0.1 * k:.3f} {x[0]:.12g} {x[1]:.12g} {x[2]:.12g} 0 0 0 1")
    write(f"{folder}/{name}.log", "\n".join(log) + "\n")
    write(f"{folder}/{name}.tum", "\n".join(truth) + "\n")


PARAMETERS = "# sigmas of the motion\nq1 = 1.5   # x\nq2 = 0.02\nq3 = 0.1\n"


def estimator_problem(folder, build, train=5, test=2, options=(), extra=""):
    """Writes logs, the estimator's parameters and tune.yaml into a folder."""
    for k in range(train):
        simulate(folder, f"train{k}", 100 + k)
    for k in range(test):
        simulate(folder, f"test{k}", 200 + k)
    write(f"{folder}/noise.ini", PARAMETERS)
    words = [f"{build}/tests/kalman_estimator", "{params}", "{log}", "{estimate}", *options]
    write(f"{folder}/tune.yaml", "format: covtune-tune\nversion: 1\ncommand: " + json.dumps(words) + """
files: {params: noise.ini}
parameters:
  q1: {key: q1}
  q2: {key: q2}
  q3: {key: q3}
logs:
  train: {log: "train{run}.log", truth: "train{run}.tum"}
  test: {log: "test{run}.log", truth: "test{run}.tum"}
estimate: {format: tum}
loss: {rotation: 0}
""" + extra)


def processes(mark):
    """Processes whose command line or folder has this text, other than this one: {pid: (state, command line)}."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    line = file.read().replace(b"\0", b" ").decode(errors="replace")
                with open(f"/proc/{name}/stat", "rb") as file:
                    state = file.read().rsplit(b")", 1)[1].split()[0]
                place = os.readlink(f"/proc/{name}/cwd")
            except OSError:
                continue
            if (mark in line or mark in place) and state != b"Z":
                found[int(name)] = state.decode(), line
    return found


def none_left(mark, what, patience_s=5):
    """Complains of processes with this mark that are there, after some patience, and ends them. One that waits for the
    disk (state D) ends when the disk lets it."""
    begin = time.monotonic()
    while left := processes(mark):
        waits = all(state == "D" for state, _ in left.values())
        if time.monotonic() > begin + (60 if waits else patience_s):
            break
        time.sleep(0.02)
    for pid, (state, line) in left.items():
        complain(f"{what}: process {pid} is left in state {state}: {line}")
        os.kill(pid, signal.SIGKILL)


def without_times(value, also=()):
    """A JSON value without what may differ between runs that come to the same: seconds, and runs from a journal."""
    if isinstance(value, dict):
        return {k: without_times(v, also) for k, v in value.items()
                if not (k.endswith("seconds") or k.endswith("_s") or
                        k in ("cached", "time", "jobs", "date", "folder", *also))}
    if isinstance(value, list):
        return [without_times(v, also) for v in value]
    return value


def same_result(a, b, what, also=()):
    """The files of two run folders agree but for times, and what `also` names."""
    one, two = (without_times(json.loads(read(f"{folder}/tune.json")), also) for folder in (a, b))
    if one != two:
        complain(f"{what}: {a}/tune.json and {b}/tune.json differ: {first_difference(one, two)}")
    for name in sorted(os.listdir(f"{a}/best")):
        if read(f"{a}/best/{name}") != read(f"{b}/best/{name}"):
            complain(f"{what}: best/{name} differs")


def first_difference(one, two, path=""):
    if isinstance(one, dict) and isinstance(two, dict):
        for key in sorted(set(one) | set(two)):
            if one.get(key) != two.get(key):
                return first_difference(one.get(key), two.get(key), f"{path}.{key}")
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for i, (x, y) in enumerate(zip(one, two)):
            if x != y:
                return first_difference(x, y, f"{path}[{i}]")
    return f"{path or 'all'}: {str(one)[:200]} and {str(two)[:200]}"
