#!/usr/bin/env python3
"""An extended Kalman filter of a planar robot: odometry and GPS. The estimator that examples/tune/ekf tunes.

    ekf.py CONFIG ODOMETRY.csv GPS.csv ESTIMATE.csv
    ekf.py --server                  runs line by line, without a start of Python each (docs/tune.md)

State (x, y, yaw) in the world. A record of odometry (t, vx, vy, omega) holds from its stamp to the next. A record of GPS
has (t, x, y, yaw). Nothing here knows of covtune.
"""
import configparser
import json
import math
import sys

import numpy as np


def read_noise(path):
    """Variances of a record of odometry (vx, vy, omega) and of GPS (x, y, yaw)."""
    file = configparser.ConfigParser(inline_comment_prefixes=("#",))
    with open(path, encoding="utf-8") as text:
        file.read_file(text)
    odometry, gps = file["odometry"], file["gps"]
    sigmas = [float(odometry[name]) for name in ("vx", "vy", "omega")]
    sigmas += [float(gps[name]) for name in ("position", "position", "yaw")]
    return np.square(sigmas[:3]), np.square(sigmas[3:])


def read_table(path):
    return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)


def wrap(angle):
    return (angle + math.pi) % (2 * math.pi) - math.pi


def predict(x, P, velocity, variance, dt, period):
    """Moves by velocity * dt. The errors of a record hold for its period: of a part of it the share dt / period."""
    heading = x[2] + velocity[2] * dt / 2
    c, s = math.cos(heading), math.sin(heading)
    dx = (c * velocity[0] - s * velocity[1]) * dt
    dy = (s * velocity[0] + c * velocity[1]) * dt
    F = np.array([[1, 0, -dy], [0, 1, dx], [0, 0, 1]])
    G = np.array([[c, -s, -dy / 2], [s, c, dx / 2], [0, 0, 1]])
    Q = (G * (variance * dt * period)) @ G.T
    return np.array([x[0] + dx, x[1] + dy, wrap(x[2] + velocity[2] * dt)]), F @ P @ F.T + Q


def update(x, P, z, variance):
    """Pose measured with these variances."""
    residual = z - x
    residual[2] = wrap(residual[2])
    K = np.linalg.solve(P + np.diag(variance), P).T
    x = x + K @ residual
    x[2] = wrap(x[2])
    A = np.eye(3) - K
    return x, A @ P @ A.T + (K * variance) @ K.T


def run(odometry_variance, gps_variance, odometry, gps):
    """Rows t, x, y, yaw and the covariance in the world's axes, at the stamps of odometry after the first GPS record."""
    t, x, P = gps[0, 0], gps[0, 1:4].copy(), np.diag(gps_variance)
    rows, next_gps = [], 1
    for record, end in zip(odometry, odometry[1:, 0]):
        if end <= t:
            continue
        period, velocity = end - record[0], record[1:4]
        while next_gps < len(gps) and gps[next_gps, 0] <= end:
            x, P = predict(x, P, velocity, odometry_variance, gps[next_gps, 0] - t, period)
            x, P = update(x, P, gps[next_gps, 1:4], gps_variance)
            t, next_gps = gps[next_gps, 0], next_gps + 1
        x, P = predict(x, P, velocity, odometry_variance, end - t, period)
        t = end
        rows.append((t, *x, *P.ravel()))
    return np.array(rows)


def estimate(config, odometry, gps, out):
    rows = run(*read_noise(config), read_table(odometry), read_table(gps))
    names = "t,x,y,yaw," + ",".join(f"P{i}{j}" for i in range(3) for j in range(3))
    np.savetxt(out, rows, fmt="%.9g", delimiter=",", header=names, comments="")


def serve():
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"id": request["id"], "ok": True}
        try:
            log = request["log"]
            estimate(request["files"]["params"], log["log"], log["gps"], request["estimate"])
        except (OSError, ValueError, KeyError, np.linalg.LinAlgError) as trouble:
            answer.update(ok=False, message=str(trouble))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--server"]:
        serve()
    elif len(sys.argv) == 5:
        estimate(*sys.argv[1:])
    else:
        sys.exit(__doc__)
