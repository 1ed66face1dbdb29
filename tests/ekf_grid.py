"""Grid search of the noise of examples/tune/ekf: all sigmas of the grid are filtered at once, one array entry each.

Written apart from ekf.py: covariances by entries, and the update one coordinate after the other (GPS has independent
errors), so that it checks the filter as well. Only ratios of sigmas move the estimate: GPS positions have sigma 1.
"""
import itertools

import numpy as np

NAMES = ("vx", "vy", "omega", "yaw")


def wrap(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


def predict(x, P, u, var, dt, period):
    h = x[2] + u[2] * dt / 2
    c, s = np.cos(h), np.sin(h)
    dx, dy = (c * u[0] - s * u[1]) * dt, (s * u[0] + c * u[1]) * dt
    q = [v * dt * period for v in var]
    xx, xy, xa, yy, ya, aa = P
    # F P F', F = [1 0 -dy; 0 1 dx; 0 0 1], and the record's errors turned into the world.
    new = [xx - 2 * dy * xa + dy * dy * aa + c * c * q[0] + s * s * q[1] + dy * dy / 4 * q[2],
           xy + dx * xa - dy * ya - dx * dy * aa + c * s * (q[0] - q[1]) - dx * dy / 4 * q[2],
           xa - dy * aa - dy / 2 * q[2],
           yy + 2 * dx * ya + dx * dx * aa + s * s * q[0] + c * c * q[1] + dx * dx / 4 * q[2],
           ya + dx * aa + dx / 2 * q[2],
           aa + q[2]]
    return [x[0] + dx, x[1] + dy, x[2] + u[2] * dt], new


def update(x, P, z, var):
    index = ((0, 1, 2), (1, 3, 4), (2, 4, 5))
    for i in range(3):
        column = [P[index[i][j]] for j in range(3)]
        e = z[i] - x[i] if i < 2 else wrap(z[i] - x[i])
        S = column[i] + var[i]
        x = [x[j] + column[j] / S * e for j in range(3)]
        P = [P[index[j][k]] - column[j] * column[k] / S for j, k in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    return x, P


def losses(sigmas, odometry, gps, truth, rotation):
    """sigmas: n x 4, of NAMES. Mean over the stamps of odometry of |position error|^2 + rotation * yaw error^2."""
    var = np.square(sigmas).T
    one = np.ones(len(sigmas))
    gps_var = [one, one, var[3]]
    t, x, P = gps[0, 0], [gps[0, i] * one for i in (1, 2, 3)], [one, 0 * one, 0 * one, one, 0 * one, var[3]]
    total, count, k = 0 * one, 0, 1
    true = {round(row[0], 6): row[1:] for row in truth}
    for record, end in zip(odometry, odometry[1:, 0]):
        if end <= t:
            continue
        period, u = end - record[0], record[1:]
        while k < len(gps) and gps[k, 0] <= end:
            x, P = predict(x, P, u, var[:3], gps[k, 0] - t, period)
            x, P = update(x, P, gps[k, 1:], gps_var)
            t, k = gps[k, 0], k + 1
        x, P = predict(x, P, u, var[:3], end - t, period)
        t = end
        at = true[round(end, 6)]
        total += (x[0] - at[0]) ** 2 + (x[1] - at[1]) ** 2 + rotation * wrap(x[2] - at[2]) ** 2
        count += 1
    return total / count


def search(logs, rotation, centre, steps=(2.5, 1.5, 1.15), width=2):
    """The sigmas with the least mean loss over logs: grids of 2 width + 1 points an axis, each finer around the last.
    A sigma whose best is at the edge is not pursued: beyond 1 / 6 of the centre it is without influence."""
    best = np.log(centre)
    for step in steps:
        offsets = np.array(list(itertools.product(range(-width, width + 1), repeat=len(NAMES))))
        grid = np.exp(best + np.log(step) * offsets)
        mean = np.mean([losses(grid, *log, rotation) for log in logs], axis=0)
        best, least = np.log(grid[np.argmin(mean)]), mean.min()
    return np.exp(best), least
