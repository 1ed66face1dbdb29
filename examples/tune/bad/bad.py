#!/usr/bin/env python3
"""Runs an estimator and spoils what it wrote: the estimator that tuning must survive.

    bad.py [options] --seed N --estimate FILE -- COMMAND ...

COMMAND writes FILE: rows of time, x, y, z, ... (TUM). Random numbers are drawn from what it wrote and from N: the same
run gives the same again, another seed another.
"""
import argparse
import hashlib
import math
import os
import random
import signal
import subprocess
import sys
import time


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", required=True)
    parser.add_argument("--estimate", required=True)
    parser.add_argument("--noise", type=float, default=0, help="sigma of a slow error of x and y, in m")
    parser.add_argument("--crash", type=float, default=0, help="probability of a segmentation fault")
    parser.add_argument("--hang", type=float, default=0, help="probability that it never ends")
    parser.add_argument("--nan", type=float, default=0, help="probability that positions are nan")
    parser.add_argument("--half", type=float, default=0, help="probability that the second half is not written")
    parser.add_argument("--empty", type=float, default=0, help="probability that nothing is written")
    parser.add_argument("--slow", type=float, default=0, help="mean of the seconds that it waits")
    parser.add_argument("--digits", type=int, default=17, help="digits of a number that is written")
    parser.add_argument("--count", help="file to which every run appends a line when it begins and when it ends")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def slow_error(draw, sigma, n):
    """n numbers of this sigma: the sum of four sines of random phase, with one to four periods."""
    phases = [draw.uniform(0, 2 * math.pi) for _ in range(4)]
    size = [draw.gauss(0, sigma / math.sqrt(2)) for _ in range(4)]
    return [sum(a * math.sin(p + 2 * math.pi * (k + 1) * i / n) for k, (a, p) in enumerate(zip(size, phases)))
            for i in range(n)]


def spoil(options, draw, rows):
    n = len(rows)
    if options.noise > 0:
        for axis in (1, 2):
            for row, error in zip(rows, slow_error(draw, options.noise, n)):
                row[axis] += error
    if draw.random() < options.nan:
        for row in rows:
            row[1] = math.nan
    if draw.random() < options.half:
        rows = rows[:n // 2]
    if draw.random() < options.empty:
        rows = []
    return rows


def count(options, text):
    if options.count:
        with open(options.count, "a", encoding="utf-8") as file:
            file.write(text + "\n")


def main():
    options = read_options()
    count(options, "begin")
    ended = subprocess.run(options.command, check=False).returncode
    if ended != 0:
        sys.exit(ended if ended > 0 else 1)
    with open(options.estimate, encoding="utf-8") as file:
        text = file.read()
    draw = random.Random(hashlib.sha256((options.seed + text).encode()).digest())
    time.sleep(draw.expovariate(1 / options.slow) if options.slow > 0 else 0)
    if draw.random() < options.crash:
        print("bad.py: about to crash", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if draw.random() < options.hang:
        signal.pause()
    rows = [[float(word) for word in line.split()] for line in text.splitlines() if not line.startswith("#")]
    with open(options.estimate, "w", encoding="utf-8") as file:
        for row in spoil(options, draw, rows):
            # Stamps stay as they are: six digits of seconds since 1970 are hours.
            file.write(f"{row[0]:.17g} " + " ".join(f"{x:.{options.digits}g}" for x in row[1:]) + "\n")
    count(options, "end")


if __name__ == "__main__":
    main()
