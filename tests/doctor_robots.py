"""Recordings of robots that `covtune simulate` does not have, for tests/check_doctor_robots.

A robot is a function of (draw, fault) that gives {file name: (header, rows)} with the recipe's text under "recipe.yaml".
Paths are integrated at 100 Hz from smooth random speeds and turn rates. A velocity is the mean over the time that its
record holds, plus white noise, so that nothing is wrong with it. `fault` is a key of FAULTS, or None. Standard library
only.
"""
import math
import os

H = .01  # s, of the path
RUNS, SECONDS = 4, 120.

# fault: (what is done to speed, turn rate or stamps of odometry, or to positions; code, subject, value, expected, about)
FAULTS = {
    "scale": ("sensor_scale", "odom.x", "size", 1.05, 1.),
    "delay": ("sensor_delay", "odom", "size", .1, 0.),
    "bias": ("rate_bias", "odom.yaw", "size", .01, 0.),
    "gyro bias": ("sensor_bias", "gyro.omega", "size", .01, 0.),
    "wheel": ("sensor_scale", "odom.left", "size", 1.04, 1.),
    "sign": ("sensor_axes", "odom.yaw", "first", -1., 0.),
    "truth noise": ("truth_noise", "odom", "position", .015, 0.),
    "truth late": ("sensor_delay", "truth", "size", -.7, 0.),
    "frame": ("sensor_in_other_frame", "gps", "x", -30., 0.),
}


def smooth(draw, mean, size, slowest=.25, fastest=1.6):
    """A sum of six sines with random frequencies, and its value at a time."""
    terms = [(draw.uniform(slowest, fastest), draw.uniform(0, 2 * math.pi)) for _ in range(6)]
    scale = size / math.sqrt(3.)
    return lambda t: mean + scale * sum(math.sin(w * t + a) for w, a in terms)


def moving(t):
    """1 while it moves, 0 at rest: 15 s each, with ramps of 1 s."""
    phase = t % 30.
    return max(0., min(1., phase, 15. - phase))


def drive(draw, speed, turn, rest=False):
    """Path of a planar body: t, x, y, yaw every H, and speed and turn rate in the middle of each step."""
    v, w = smooth(draw, speed, .35 * speed), smooth(draw, 0., turn)
    x, y, yaw, path, rates = draw.uniform(-20, 20), draw.uniform(-20, 20), draw.uniform(-3, 3), [], []
    for k in range(int(SECONDS / H) + 1):
        t = k * H
        path.append((t, x, y, yaw))
        share = moving(t + H / 2) if rest else 1.
        u, o = share * max(0., v(t + H / 2)), share * w(t + H / 2)
        rates.append((u, o))
        x, y, yaw = x + H * u * math.cos(yaw + o * H / 2), y + H * u * math.sin(yaw + o * H / 2), yaw + o * H
    return path, rates


def velocities(draw, rates, period, noise, fault, silent_at_rest=False):
    """Records t, v, omega: means over the period, with white noise and the fault."""
    n, rows = round(period / H), []
    for k in range(0, len(rates) - n, n):
        v = sum(r[0] for r in rates[k:k + n]) / n
        w = sum(r[1] for r in rates[k:k + n]) / n
        still = silent_at_rest and v == 0
        v += 0. if still else draw.gauss(0, noise[0])
        w += 0. if still else draw.gauss(0, noise[1])
        rows.append(spoil([k * H, v, w], fault))
    return rows


def spoil(row, fault):
    if fault == "scale":
        row[1] *= 1.05
    elif fault == "delay":
        row[0] -= .1
    elif fault == "bias":
        row[-1] += .01
    elif fault == "sign":
        row[-1] *= -1
    return row


def fixes(draw, path, period, sigma, first=.25):
    rows = []
    for k in range(round(first / H), len(path), round(period / H)):
        rows.append([path[k][0]] + [p + draw.gauss(0, sigma) for p in path[k][1:3]])
    return rows


LATE = .7  # s, by which stamps of the truth are late


def truth(draw, path, period, sigma=0., digits=5, late=0.):
    """Rows t, x, y, yaw. Yaw is unwrapped in the path."""
    rows = []
    for t, x, y, yaw in path[::round(period / H)]:
        rows.append([t + late, round(x + draw.gauss(0, sigma), digits), round(y + draw.gauss(0, sigma), digits),
                     round(math.remainder(yaw, 2 * math.pi), 6)])
    return rows


RECIPE = """format: covtune-recipe
version: 1
sources: {odometry: "odom-{run}.csv", positions: "gps-{run}.csv", reference: "truth-{run}.csv"}
states: {type: SE2, every: %g}
sensors:
  odom: {type: odometry, source: odometry, %s}
  gps: {type: position, source: positions, position: [x, y]}
truth: {source: reference, position: [x, y]%s}
split: {test: ["3"]}
"""


def planar(draw, fault, speed=1., turn=.3, odometry=.05, noise=(.05, .03), gps=(.5, .3), reference=.05, every=.5,
           yaw=True, sigma=0., declared=True, rest=False, silent=True):
    files = {}
    for run in range(RUNS):
        path, rates = drive(draw, speed, turn, rest)
        files["odom-%d.csv" % run] = (["t", "v", "omega"], velocities(draw, rates, odometry, noise, fault, rest and silent))
        places = fixes(draw, path, *gps)
        if fault == "frame":
            places = [[t, x + 30., y] for t, x, y in places]
        files["gps-%d.csv" % run] = (["t", "x", "y"], places)
        files["truth-%d.csv" % run] = (["t", "x", "y", "yaw"], truth(draw, path, reference, sigma,
                                                                           late=LATE if fault == "truth late" else 0.))
    tail = (", yaw: yaw" if yaw else "") + (", sigma: [%g, 0.001]" % sigma if sigma and declared else "")
    files["recipe.yaml"] = RECIPE % (every, "velocity: [v, 0, omega]", tail)
    return files


def differential(draw, fault):
    return planar(draw, fault, sigma=.015 if fault == "truth noise" else 0., declared=False, noise=(.02, .01))


def car(draw, fault):
    """Speed and yaw rate at 50 Hz."""
    return planar(draw, fault, speed=10., turn=.15, odometry=.02, noise=(.1, .005), gps=(.2, 1.), every=.2)


def resting(draw, fault):
    """Stands still half of the time; wheels then give exactly 0."""
    return planar(draw, fault, rest=True)


def traffic(draw, fault):
    """A car that waits half of the time, with noise as large as in motion."""
    return planar(draw, fault, speed=10., turn=.15, odometry=.02, noise=(.2, .01), gps=(1., 1.5), rest=True, silent=False)


def positions_alone(draw, fault):
    """A truth without headings."""
    return planar(draw, fault, yaw=False)


def noisy_truth(draw, fault):
    """A truth with 1.5 cm of noise, which is declared. It is at the stamps of the states."""
    return planar(draw, fault, sigma=.015, reference=.5)


def slow_gps(draw, fault):
    return planar(draw, fault, gps=(5., 2.))


def ticks(draw, fault):
    """Wheel encoders of 2 mm a tick at 20 Hz, from counts that are rounded down; slip of each wheel."""
    files, track, tick = {}, .4, .002
    for run in range(RUNS):
        path, rates = drive(draw, 1., .3)
        left = right = 0.
        last, rows, n = (0, 0), [], 5
        for k in range(0, len(rates) - n, n):
            for v, w in rates[k:k + n]:
                left += H * (v - w * track / 2)
                right += H * (v + w * track / 2)
            left, right = left + draw.gauss(0, .003), right + draw.gauss(0, .003)
            now = math.floor(left / tick), math.floor(right / tick)
            a, b = (now[i] - last[i] for i in (0, 1))
            last = now
            rows.append(spoil([k * H, (a + b) / 2 * tick / .05, (b - a) * tick / track / .05], fault))
        files["odom-%d.csv" % run] = (["t", "v", "omega"], rows)
        files["gps-%d.csv" % run] = (["t", "x", "y"], fixes(draw, path, .5, .3))
        files["truth-%d.csv" % run] = (["t", "x", "y", "yaw"], truth(draw, path, .05))
    files["recipe.yaml"] = RECIPE % (.5, "velocity: [v, 0, omega]", ", yaw: yaw")
    return files


def wheels(draw, fault):
    """Ways of two wheels, in m, with slip that grows with the way."""
    files, track = {}, .4
    for run in range(RUNS):
        path, rates = drive(draw, 1., .3)
        ways, rows = [0., 0.], []
        for k, (v, w) in enumerate(rates):
            if k % 4 == 0:
                rows.append([k * H, ways[0] * (1.04 if fault == "wheel" else 1.), ways[1]])
            for i, side in enumerate((-track / 2, track / 2)):
                ways[i] += H * (v + side * w) + draw.gauss(0, .0005)
        files["odom-%d.csv" % run] = (["t", "left", "right"], rows)
        files["gps-%d.csv" % run] = (["t", "x", "y"], fixes(draw, path, .5, .3))
        files["truth-%d.csv" % run] = (["t", "x", "y", "yaw"], truth(draw, path, .05))
    files["recipe.yaml"] = RECIPE % (.5, "wheels: [left, right], track: %g" % track, ", yaw: yaw")
    return files


def holonomic(draw, fault):
    """Wheels that go sideways; a turn rate that is poor for the speed."""
    files = {}
    for run in range(RUNS):
        path, rates, side = [], [], smooth(draw, 0., .4)
        v, w = smooth(draw, 1., .4), smooth(draw, 0., .3)
        x, y, yaw = draw.uniform(-20, 20), draw.uniform(-20, 20), draw.uniform(-3, 3)
        for k in range(int(SECONDS / H) + 1):
            t = k * H
            path.append((t, x, y, yaw))
            u, s, o = v(t + H / 2), side(t + H / 2), w(t + H / 2)
            rates.append((u, s, o))
            c, d = math.cos(yaw + o * H / 2), math.sin(yaw + o * H / 2)
            x, y, yaw = x + H * (c * u - d * s), y + H * (d * u + c * s), yaw + H * o
        rows = []
        for k in range(0, len(rates) - 5, 5):
            mean = [sum(r[i] for r in rates[k:k + 5]) / 5 + draw.gauss(0, (.03, .03, .06)[i]) for i in range(3)]
            rows.append(spoil([k * H] + mean, fault))
        files["odom-%d.csv" % run] = (["t", "v", "side", "omega"], rows)
        files["gps-%d.csv" % run] = (["t", "x", "y"], fixes(draw, path, .5, .3))
        files["truth-%d.csv" % run] = (["t", "x", "y", "yaw"], truth(draw, path, .05))
    files["recipe.yaml"] = RECIPE % (.5, "velocity: [v, side, omega]", ", yaw: yaw")
    return files


def gyro(draw, fault, given=", noise: {sigma: [100, 100, 0.01], learn: false}"):
    """Wheels, and a gyro whose sigma is given: no statement about its bias."""
    files = planar(draw, None)
    for run in range(RUNS):
        yaw, rows = [row[3] for row in files["truth-%d.csv" % run][1]], []
        for k, (a, b) in enumerate(zip(yaw, yaw[1:])):  # the mean over the 0.05 s of a record
            rate = math.remainder(b - a, 2 * math.pi) / .05 + draw.gauss(0, .004)
            rows.append([k * .05, rate + (.01 if fault == "gyro bias" else 0.)])
        files["gyro-%d.csv" % run] = (["t", "rate"], rows)
    files["recipe.yaml"] = (files["recipe.yaml"]
                            .replace("sources: {", 'sources: {rates: "gyro-{run}.csv", ')
                            .replace("  gps: {", "  gyro: {type: velocity, source: rates, velocity: [0, 0, rate]%s}\n"
                                                 "  gps: {" % given))
    return files


def gyro_learned(draw, fault):
    return gyro(draw, fault, "")


# ---- in space ----

def floor(draw, fault):
    """Wheels on a floor, with states in space: nothing tilts or rises."""
    files = planar(draw, fault)
    for run in range(RUNS):
        name = "gps-%d.csv" % run
        files[name] = (["t", "x", "y", "z"], [row + [draw.gauss(0, .3)] for row in files[name][1]])
    files["recipe.yaml"] = (RECIPE.replace("SE2", "SE3").replace("positions, position: [x, y]", "positions, position: [x, y, z]")
                            .replace("reference, position: [x, y]", "reference, position: [x, y, 0]")
                            % (.5, "velocity: [v, 0, 0], angular_velocity: [0, 0, omega]", ", rotation_vector: [0, 0, yaw]"))
    return files


def turned(q, w):
    """Quaternion x, y, z, w times that of the rotation vector w."""
    angle = math.sqrt(sum(a * a for a in w))
    s = math.sin(angle / 2) / angle if angle > 0 else .5
    a, b, c, d = (s * w[0], s * w[1], s * w[2], math.cos(angle / 2))
    x, y, z, e = q
    return (e * a + x * d + y * c - z * b, e * b - x * c + y * d + z * a, e * c + x * b - y * a + z * d,
            e * d - x * a - y * b - z * c)


def moved(q, v):
    x, y, z, w = q
    t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2],
            v[2] + w * t[2] + x * t[1] - y * t[0]]


def drone(draw, fault):
    """Body velocities and rates at 50 Hz, positions at 5 Hz, a truth with quaternions."""
    files = {}
    for run in range(RUNS):
        velocity = [smooth(draw, 1.5, .5), smooth(draw, 0., .5), smooth(draw, 0., .4)]
        rate = [smooth(draw, 0., .12), smooth(draw, 0., .12), smooth(draw, 0., .4)]
        p, q, path, rates = [0., 0., 10.], (0., 0., 0., 1.), [], []
        for k in range(int(SECONDS / H) + 1):
            t = k * H + H / 2
            path.append((k * H, *p, *q))
            v, w = [f(t) for f in velocity], [f(t) for f in rate]
            rates.append(v + w)
            half = turned(q, [H * a / 2 for a in w])
            p = [a + H * b for a, b in zip(p, moved(half, v))]
            q = turned(q, [H * a for a in w])
        rows = []
        for k in range(0, len(rates) - 2, 2):
            mean = [(rates[k][i] + rates[k + 1][i]) / 2 + draw.gauss(0, .08 if i < 3 else .02) for i in range(6)]
            rows.append(spoil([k * H] + mean, fault))
        files["odom-%d.csv" % run] = (["t", "vx", "vy", "vz", "wx", "wy", "wz"], rows)
        files["gps-%d.csv" % run] = (["t", "x", "y", "z"], [[r[0]] + [a + draw.gauss(0, .2) for a in r[1:4]]
                                                         for r in path[10::20]])
        files["truth-%d.csv" % run] = (["t", "x", "y", "z", "qx", "qy", "qz", "qw"], [
            [r[0] + (LATE if fault == "truth late" else 0.), *r[1:]] for r in path[::5]])
    files["recipe.yaml"] = (RECIPE.replace("SE2", "SE3").replace("[x, y]", "[x, y, z]")
                            % (.2, "velocity: [vx, vy, vz], angular_velocity: [wx, wy, wz]",
                               ", quaternion: [qx, qy, qz, qw]"))
    return files


# name: (robot, faults that its recordings can show)
ROBOTS = {
    "differential": (differential, ("scale", "delay", "bias", "truth noise", "truth late")),
    "car": (car, ("scale", "delay", "bias", "truth late")),
    "resting": (resting, ("scale", "delay", "bias")),
    "traffic": (traffic, ("scale", "delay", "bias", "sign")),
    "positions alone": (positions_alone, ("scale", "delay", "frame")),  # headings are an estimate: no turn rates
    "noisy truth": (noisy_truth, ("scale", "delay", "bias")),
    "slow gps": (slow_gps, ("scale", "delay", "bias")),
    "ticks": (ticks, ("scale", "delay", "bias")),
    "wheels": (wheels, ("wheel",)),
    "holonomic": (holonomic, ("scale", "delay", "bias")),
    "gyro": (gyro, ("gyro bias",)),
    "gyro learned": (gyro_learned, ("gyro bias",)),
    "floor": (floor, ("scale", "delay", "bias")),
    "drone": (drone, ("scale", "delay", "bias", "truth late")),
}


def write(files, folder):
    os.makedirs(folder)
    for name, content in files.items():
        with open(os.path.join(folder, name), "w") as file:
            if isinstance(content, str):
                file.write(content)
                continue
            file.write(",".join(content[0]) + "\n")
            for row in content[1]:
                file.write(",".join("%.9g" % v for v in row) + "\n")
