"""The delay of odometry against a truth, by scanning: for tests/check_recipes. Standard library only, nothing of covtune.

For a delay d the measured motion over a step is the integral of the velocity that holds, v(t - d). Its factor against the
true motion is by least squares. The delay is the one whose residuals scatter least: sum over speed and turn rate of the
logarithm of their standard deviation. It is scanned in steps of 10 ms; the minimum is that of the parabola.
"""
import math


def read(path):
    """Rows of numbers, stamps ascending."""
    rows = []
    with open(path) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                row = [float(w) for w in line.split()]
                if not rows or row[0] > rows[-1][0]:
                    rows.append(row)
    return rows


def interpolate(at, times, values):
    """Linear, at ascending times."""
    out, i = [], 0
    for t in at:
        while i + 2 < len(times) and times[i + 1] <= t:
            i += 1
        u = (t - times[i]) / (times[i + 1] - times[i])
        out.append(values[i] + u * (values[i + 1] - values[i]))
    return out


def sums(times, rates):
    """Integral of a rate that holds until the next one."""
    out = [0.]
    for k in range(len(times) - 1):
        out.append(out[-1] + rates[k] * (times[k + 1] - times[k]))
    return out


def true_steps(truth, at):
    """Forward motion and turn of each step, rows of the logarithm on SE(2)."""
    times = [r[0] for r in truth]
    yaw = [truth[0][3]]
    for a, b in zip(truth, truth[1:]):
        yaw.append(yaw[-1] + math.remainder(b[3] - a[3], 2 * math.pi))
    x, y, h = (interpolate(at, times, v) for v in ([r[1] for r in truth], [r[2] for r in truth], yaw))
    steps = []
    for k in range(len(at) - 1):
        turn = h[k + 1] - h[k]
        middle, arc = h[k] + turn / 2, 1 if abs(turn) < 1e-6 else turn / 2 / math.sin(turn / 2)
        steps.append((arc * (math.cos(middle) * (x[k + 1] - x[k]) + math.sin(middle) * (y[k + 1] - y[k])), turn))
    return steps


def scatter(measured, true):
    """Standard deviation of true - c measured, c by least squares."""
    c = sum(m * t for m, t in zip(measured, true)) / sum(m * m for m in measured)
    return math.sqrt(sum((t - c * m) ** 2 for m, t in zip(measured, true)) / len(true))


def delay(odometry, truth, step, least=.1, most=.3, longest=2.):
    """Of tables (t, v, omega) and (t, x, y, yaw), over steps of so many seconds. Gaps of the truth of half a second, and
    longer ones of the odometry than `longest`, are left out."""
    times = [r[0] for r in odometry]
    speed, turn = sums(times, [r[1] for r in odometry]), sums(times, [r[2] for r in odometry])
    first, last = max(times[0], truth[0][0]) + 1, min(times[-1], truth[-1][0]) - 1
    at = [first + step * k for k in range(int((last - first) / step))]
    true = true_steps(truth, at)
    gaps = [(a[0], b[0]) for a, b in zip(truth, truth[1:]) if b[0] - a[0] > .5]
    gaps += [(a, b + .5) for a, b in zip(times, times[1:]) if b - a > longest]
    use = [k for k in range(len(true)) if not any(at[k + 1] > a and at[k] < b for a, b in gaps)]
    grid = [least + .01 * k for k in range(int(round((most - least) / .01)) + 1)]
    loss = []
    for d in grid:
        v, w = (interpolate([t - d for t in at], times, s) for s in (speed, turn))
        loss.append(sum(math.log(scatter([m[k + 1] - m[k] for k in use], [true[k][i] for k in use]))
                        for i, m in enumerate((v, w))))
    i = min(range(1, len(grid) - 1), key=lambda k: loss[k])
    a, b, c = loss[i - 1:i + 2]
    return grid[i] + .005 * (a - c) / (a - 2 * b + c)
