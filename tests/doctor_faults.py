"""Faults that are put into simulated tables (covtune simulate nav2d --tables), for tests/check_doctor_faults.

A set is {file name: (header, rows)}, with the recipe's text under "recipe.yaml". A fault changes the set in place and
says what the doctor is expected to find. Sizes are 1 (about ten standard errors or more of what four runs of 120 s can
resolve) and 3. Standard library only.
"""
import csv
import math
import os

import delay_scan


class Expected:
    """A finding: accepted codes, the noise model (None: any), and named values with a size that they should have.

    `values` {name: expected}; with `about` (0 for a bias, 1 for a scale) the tolerance is a tenth of the distance to it.
    `vector`: names whose length counts, and that length. `mends`: a recipe can mend it. `own_world`: the set without fault
    is made by the same function, with a size of 0."""

    def __init__(self, codes, model=None, values=None, about=0., vector=None, mends=False, slack=0., own_world=False):
        self.codes, self.model, self.values, self.about = codes.split(), model, values or {}, about
        self.vector, self.mends, self.slack, self.own_world = vector, mends, slack, own_world


# ---- files ----

def read_set(folder):
    tables = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(".csv"):
            with open(path, newline="") as file:
                lines = list(csv.reader(file))
            tables[name] = (lines[0], [[float(w) for w in line] for line in lines[1:]])
        elif name == "recipe.yaml":
            with open(path) as file:
                tables[name] = file.read()
    return tables


def write_set(tables, folder):
    os.makedirs(folder, exist_ok=True)
    for name, content in tables.items():
        with open(os.path.join(folder, name), "w") as file:
            if name == "recipe.yaml":
                file.write(content)
                continue
            file.write(",".join(content[0]) + "\n")
            for row in content[1]:
                file.write(",".join("%.10g" % v for v in row) + "\n")


def files(tables, what):
    return [name for name in tables if name.startswith(what + "-")]


def each(tables, what):
    """Rows of all tables of a kind."""
    for name in files(tables, what):
        yield from tables[name][1]


def runs(tables):
    return [name[len("truth-"):-len(".csv")] for name in files(tables, "truth")]


def recipe(tables, old, new):
    assert old in tables["recipe.yaml"], old
    tables["recipe.yaml"] = tables["recipe.yaml"].replace(old, new)


def truth_at(tables, run, t):
    """Pose at t, linear between the rows of 20 Hz."""
    rows = tables["truth-%s.csv" % run][1]
    step = rows[1][0] - rows[0][0]
    k = max(0, min(len(rows) - 2, int(t / step)))
    a, b, u = rows[k], rows[k + 1], (t - rows[k][0]) / step
    turn = math.remainder(b[3] - a[3], 2 * math.pi)
    return a[1] + u * (b[1] - a[1]), a[2] + u * (b[2] - a[2]), a[3] + u * turn


def add(tables, what, column, amount):
    for row in each(tables, what):
        row[column] += amount


def multiply(tables, what, column, factor):
    for row in each(tables, what):
        row[column] *= factor


# ---- time ----

def delay(what, model, seconds):
    def put(tables, size, draw):
        add(tables, what, 0, -seconds * size)  # stamped early
        return Expected("sensor_delay", model, {"size": seconds * size}, mends=True)
    return put


def delay_of_part_of_a_record(tables, size, draw):
    """Wheels at 25 Hz, states at 10 Hz, and a truth of few digits. Errors of interpolated truth are smaller than those of
    the truth itself, and records that a state divides have less noise: neither may pass for a delay, or hide one."""
    rates = lambda t, a: (.6 + .3 * math.sin(.81 * t + a), .35 * math.sin(.53 * t + a) + .25 * math.cos(1.41 * t))
    early, h = .01 * size, 1e-3
    for run in runs(tables):
        phase, x, y, yaw = draw.uniform(0, 6), 0., 0., 0.
        truth, wheels = [], []
        for k in range(120000):
            t = k * h
            if k % 100 == 0:
                truth.append([t, round(x, 4), round(y, 4), yaw])
            if k % 40 == 0:  # the velocity in the middle of the time for which it holds
                v, w = rates(t + .02, phase)
                wheels.append([t - early, v + draw.gauss(0, .03), 0., w + draw.gauss(0, .02)])
            v, w = rates(t + h / 2, phase)
            x, y, yaw = x + h * v * math.cos(yaw + w * h / 2), y + h * v * math.sin(yaw + w * h / 2), yaw + w * h
        tables["truth-%s.csv" % run][1][:], tables["odometry-%s.csv" % run][1][:] = truth, wheels
        for what in ("gps", "ranges"):
            del tables["%s-%s.csv" % (what, run)][1][:]
        tables["gps-%s.csv" % run][1][:] = [r[:1] + [r[1] + draw.gauss(0, .5), r[2] + draw.gauss(0, .5)] for r in truth[::10]]
    recipe(tables, "  every: 0.5\n", "  every: 0.1\n")
    return Expected("sensor_delay", "odom", {"size": early}, mends=True, own_world=True)


def clock_drift(tables, size, draw):
    drift = 4e-3 * size
    for name in files(tables, "gps"):
        rows = tables[name][1]
        first = rows[0][0]
        for row in rows:  # true time = stamp + drift (stamp - first)
            row[0] = first + (row[0] - first) / (1 + drift)
    return Expected("clock_drift", "gps", {"size": drift}, mends=True)


def stamps_repeated(tables, size, draw):
    share = .02 * size
    for name in files(tables, "odometry"):
        rows = tables[name][1]
        for k in range(1, len(rows)):
            if draw.random() < share:
                rows[k][0] = rows[k - 1][0]
    return Expected("stamps_repeated", None)


# ---- values ----

def scale(what, column, model, factor):
    def put(tables, size, draw):
        by = 1 + (factor - 1) * size
        multiply(tables, what, column, by)
        return Expected("sensor_scale", model, {"size": by}, about=1., mends=True)
    return put


def bias(what, column, model, amount, code="sensor_bias"):
    def put(tables, size, draw):
        add(tables, what, column, amount * size)
        return Expected(code, model, {"size": amount * size}, mends=True)
    return put


def unit(what, columns, model, factors):
    """The two sizes are two units."""
    def put(tables, size, draw):
        factor = factors[0 if size == 1 else 1]
        for column in columns:
            multiply(tables, what, column, factor)
        return Expected("sensor_units", model, {"factor": factor}, mends=True)
    return put


def flip(what, column, model):
    def put(tables, size, draw):
        multiply(tables, what, column, -1)
        return Expected("sensor_axes", model, mends=True)
    return put


def swap(what, a, b, model):
    def put(tables, size, draw):
        for row in each(tables, what):
            row[a], row[b] = row[b], row[a]
        return Expected("sensor_axes", model, mends=True)
    return put


# ---- frames ----

def truth_shifted(tables, size, draw):
    for row in each(tables, "truth"):
        row[1] += 1. * size
        row[2] -= .5 * size
    return Expected("sensor_in_other_frame", None, vector=(("x", "y"), math.hypot(1, .5) * size), mends=True)


def truth_turned(tables, size, draw):
    c, s = math.cos(.03 * size), math.sin(.03 * size)
    for row in each(tables, "truth"):
        row[1], row[2], row[3] = c * row[1] - s * row[2], s * row[1] + c * row[2], row[3] + .03 * size
    return Expected("sensor_in_other_frame", None, {"angle": .03 * size}, mends=True)


def gps_shifted(tables, size, draw):
    add(tables, "gps", 1, 1. * size)
    return Expected("sensor_in_other_frame sensor_bias", "gps", vector=(("x", "y"), 1. * size), mends=True)


def lever_arm(tables, size, draw):
    arm = (.5 * size, .2 * size)
    for run in runs(tables):
        for row in tables["gps-%s.csv" % run][1]:
            yaw = truth_at(tables, run, row[0])[2]
            row[1] += math.cos(yaw) * arm[0] - math.sin(yaw) * arm[1]
            row[2] += math.sin(yaw) * arm[0] + math.cos(yaw) * arm[1]
    return Expected("sensor_mount", "gps", {"x": arm[0], "y": arm[1]}, mends=True)


def as_quaternions(tables):
    """Truth as t, x, y, z and a quaternion, scalar last, as it is in space."""
    if "quaternion" in tables["recipe.yaml"]:
        return
    for name in files(tables, "truth"):
        rows = [[t, x, y, 0., 0., 0., math.sin(yaw / 2), math.cos(yaw / 2)] for t, x, y, yaw in tables[name][1]]
        tables[name] = (["t", "x", "y", "z", "qx", "qy", "qz", "qw"], rows)
    recipe(tables, "position: [x, y]\n  yaw: yaw", "position: [x, y, z]\n  quaternion: [qx, qy, qz, qw]")


def quaternion_order(tables, size, draw):
    as_quaternions(tables)
    for row in each(tables, "truth"):
        row[4:8] = row[7:8] + row[4:7]
    return Expected("quaternion_order", None, mends=True)


def camera_axes(tables, size, draw):
    as_quaternions(tables)
    for row in each(tables, "truth"):  # camera: x right, y down, z ahead; a turn about up is one about -y
        t, x, y, z, qx, qy, qz, qw = row
        row[1:8] = [-y, -z, x, -qy, -qz, qx, qw]
    return Expected("camera_axes", None, mends=True)


def add_poses(tables, draw):
    """A sensor of poses at 2 Hz, "slam": x, y, z and a quaternion, with noise of 0.2 m and 0.02 rad."""
    space = "quaternion" in tables["recipe.yaml"]
    for run in runs(tables):
        rows = []
        for row in tables["truth-%s.csv" % run][1][5::10]:
            if space:
                q, e = row[4:8], [draw.gauss(0, .01) for _ in range(3)]  # half angles of a small rotation on the right
                qx = q[0] + q[3] * e[0] + q[1] * e[2] - q[2] * e[1]
                qy = q[1] + q[3] * e[1] + q[2] * e[0] - q[0] * e[2]
                qz = q[2] + q[3] * e[2] + q[0] * e[1] - q[1] * e[0]
                qw = q[3] - q[0] * e[0] - q[1] * e[1] - q[2] * e[2]
                n = math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
                z, q = row[3], [qx / n, qy / n, qz / n, qw / n]
            else:
                yaw = row[3] + draw.gauss(0, .02)
                z, q = 0., [0., 0., math.sin(yaw / 2), math.cos(yaw / 2)]
            place = [row[1] + draw.gauss(0, .2), row[2] + draw.gauss(0, .2), z + (draw.gauss(0, .2) if space else 0.)]
            rows.append([row[0]] + place + q)
        tables["slam-%s.csv" % run] = (["t", "x", "y", "z", "qx", "qy", "qz", "qw"], rows)
    recipe(tables, "sources:\n", "sources:\n  slam: slam-{run}.csv\n")
    recipe(tables, "  gps:\n    type", "  slam:\n    type: pose\n    source: slam\n    position: [x, y, z]\n"
           "    quaternion: [qx, qy, qz, qw]\n  gps:\n    type")


def poses(change, code, values=None):
    """A change of each row of the sensor of poses."""
    def put(tables, size, draw):
        add_poses(tables, draw)
        for row in each(tables, "slam"):
            change(row, size)
        return Expected(code, "slam", values(size) if values else {}, mends=True)
    return put


def quaternion_order_everywhere(tables, size, draw):
    """Truth and the sensor of poses are of one program, whose scalar is first: they agree with each other."""
    add_poses(tables, draw)
    for what in ("truth", "slam"):
        for row in each(tables, what):
            scalar_first(row, size)
    return Expected("quaternion_order", "slam", mends=True)


def scalar_first(row, size):
    row[4:8] = row[7:8] + row[4:7]


def as_camera(row, size):
    t, x, y, z, qx, qy, qz, qw = row
    row[1:8] = [-y, -z, x, -qy, -qz, qx, qw]


def other_unit(row, size):
    row[1:4] = [v * (1000. if size == 1 else 100.) for v in row[1:4]]


def swapped(row, size):
    row[1], row[2] = row[2], row[1]


def commands(lag):
    """Odometry is what was commanded, without noise, and early. The body follows with a lag, and errors that last 0.3 s.
    With a lag no delay is the true one: it is the one whose residuals over a step of the states scatter least."""
    def put(tables, size, draw):
        found = [follow(tables, run, .05 * size, lag, draw) for run in runs(tables)]
        recipe(tables, "  every: 0.5\n", "  every: 0.5\n  gap: 5\n")
        return Expected("sensor_delay", "odom", {"size": sum(found) / len(found)}, slack=.01)
    return put


def follow(tables, run, delay_s, lag, draw):
    """New orders, and the truth, GPS and ranges of a body that follows them. Returns the delay that fits best."""
    beacons = {int(r[0]): r[1:] for r in tables["beacons.csv"][1]}
    orders, t, truth = [], -2., tables["truth-%s.csv" % run][1]
    while t < 130:
        orders.append([t, draw.uniform(.3, 2.), 0., draw.uniform(-.5, .5)])
        t = round(t + .05 * draw.randrange(20, 80), 2)
    pose, k, error, now = [0., 0., 0.], 0, [0., 0.], [1., 0.]
    for row in truth:
        while orders[k + 1][0] <= row[0] + 1e-9:
            k += 1
        row[1:4] = pose[:2] + [math.remainder(pose[2], 2 * math.pi)]
        error = [.85 * e + draw.gauss(0, .05) for e in error]
        part = 1 - math.exp(-.05 / lag) if lag else 1.
        now = [now[0] + part * (orders[k][1] - now[0]), now[1] + part * (orders[k][3] - now[1])]
        v, w = now[0] + error[0], now[1] + .5 * error[1]
        middle = pose[2] + .025 * w
        pose = [pose[0] + .05 * v * math.cos(middle), pose[1] + .05 * v * math.sin(middle), pose[2] + .05 * w]
    for row in tables["gps-%s.csv" % run][1]:
        row[1:3] = [v + draw.gauss(0, .5) for v in truth_at(tables, run, row[0])[:2]]
    for row in tables["ranges-%s.csv" % run][1]:
        at, place = beacons[int(row[1])], truth_at(tables, run, row[0])
        row[2] = abs(math.hypot(at[0] - place[0], at[1] - place[1]) + draw.gauss(0, .2))
    for row in orders:
        row[0] -= delay_s
    tables["odometry-%s.csv" % run] = (["t", "vx", "vy", "omega"], orders)
    return delay_scan.delay([[o[0], o[1], o[3]] for o in orders], truth, .5, least=0., most=.6, longest=5.)


# ---- truth ----

def truth_copies(tables, size, draw):
    """The heading of the truth is integrated from the odometry's."""
    for run in runs(tables):
        truth, odometry = tables["truth-%s.csv" % run][1], tables["odometry-%s.csv" % run][1]
        yaw = truth[0][3]
        for k in range(1, len(truth)):
            yaw += odometry[k - 1][3] * (truth[k][0] - truth[k - 1][0])
            truth[k][3] = math.remainder(yaw, 2 * math.pi)
    return Expected("truth_copies_sensor", "odom")


def truth_gaps(tables, size, draw):
    for name in files(tables, "truth"):
        begin = 20 + 60 * draw.random()
        tables[name] = (tables[name][0], [r for r in tables[name][1] if not begin <= r[0] < begin + 6 * size])
    return Expected("truth_gaps", None, {"seconds": 6. * size}, slack=1.)


def truth_unrelated(tables, size, draw):
    """Two recordings have each other's truth; size 3: every one has that of the next."""
    names = files(tables, "truth")
    names = names if size == 3 else names[:2]
    rows = [tables[n][1] for n in names]
    for k, name in enumerate(names):
        tables[name] = (tables[name][0], rows[(k + 1) % len(names)])
    return Expected("truth_unrelated", None)


def truth_jumps(tables, size, draw):
    for name in files(tables, "truth"):
        begin = 20 + 60 * draw.random()
        for row in tables[name][1]:
            if row[0] >= begin:
                row[1] += .5 * size
    return Expected("truth_jumps", None, {"size": .5 * size}, slack=.1 * size)


# ---- noise ----

def outliers(tables, size, draw):
    for row in each(tables, "gps"):
        if draw.random() < .03 * size:
            row[1] += draw.gauss(0, 6)
            row[2] += draw.gauss(0, 6)
    return Expected("outliers heavy_tails", "gps", {"share": 3. * size} if size > 1 else {}, slack=3., mends=True)


def heavy_tails(tables, size, draw):
    """Student's distribution in place of Gaussian noise: 4 and 2.5 degrees."""
    degrees = 4. if size == 1 else 2.5
    for run in runs(tables):
        for row in tables["gps-%s.csv" % run][1]:
            x, y, _ = truth_at(tables, run, row[0])
            widen = math.sqrt(degrees / (2 * draw.gammavariate(degrees / 2, 1)))
            row[1], row[2] = x + (row[1] - x) * widen, y + (row[2] - y) * widen
    return Expected("heavy_tails outliers", "gps", mends=True)


def rows_correlated(tables, size, draw):
    rho = .3 * size
    for run in runs(tables):
        for row in tables["gps-%s.csv" % run][1]:
            x, y, _ = truth_at(tables, run, row[0])
            a, b = row[1] - x, row[2] - y
            row[2] = y + rho * a + math.sqrt(1 - rho * rho) * b
    return Expected("rows_correlated", "gps", {"rho": rho}, slack=.1, mends=True)


def autocorrelated(tables, size, draw):
    rho = .3 * size
    for run in runs(tables):
        last = None
        for row in tables["gps-%s.csv" % run][1]:
            place = truth_at(tables, run, row[0])
            e = [row[1 + i] - place[i] for i in range(2)]
            last = e if last is None else [rho * last[i] + math.sqrt(1 - rho * rho) * e[i] for i in range(2)]
            row[1], row[2] = place[0] + last[0], place[1] + last[1]
    return Expected("errors_autocorrelated", "gps", {"rho": rho}, slack=.1)


def depends(what, on, model):
    """Noise that is 1 + size (range - 15 m) / 15 m, or (speed - 1) of itself, not below a quarter."""
    def put(tables, size, draw):
        beacons = {int(r[0]): r[1:] for r in tables["beacons.csv"][1]}
        for run in runs(tables):
            for row in tables["%s-%s.csv" % (what, run)][1]:
                place = truth_at(tables, run, row[0])
                if what == "ranges":
                    at = beacons[int(row[1])]
                    true = math.hypot(at[0] - place[0], at[1] - place[1])
                    by = max(.25, 1 + size * (true - 15) / 15)
                    row[2] = abs(true + (row[2] - true) * by)
                else:
                    by = max(.25, 1 + size * row[0] / 120)
                    for i in range(2):
                        row[1 + i] = place[i] + (row[1 + i] - place[i]) * by
        return Expected("noise_depends", model)
    return put


def two_populations(tables, size, draw):
    """Loop closures with 10 (30) times the sigmas of an odometry step of 0.5 s, in the odometry's model."""
    for run in runs(tables):
        rows = []
        for k in range(60):
            a = .5 * draw.randrange(0, 100)
            b = a + .5 * draw.randrange(20, 130)
            if b > 115:
                continue
            x, y = truth_at(tables, run, a), truth_at(tables, run, b)
            c, s, dx, dy = math.cos(x[2]), math.sin(x[2]), y[0] - x[0], y[1] - x[1]
            sigma = (.0158 * 10 * size, .0079 * 10 * size, .0047 * 10 * size)
            turn = y[2] - x[2]
            e, f = draw.gauss(0, sigma[0]), draw.gauss(0, sigma[1])  # in the frame of the later pose
            rows.append([b, a, b, c * dx + s * dy + math.cos(turn) * e - math.sin(turn) * f,
                         -s * dx + c * dy + math.sin(turn) * e + math.cos(turn) * f,
                         math.remainder(turn + draw.gauss(0, sigma[2]), 2 * math.pi)])
        tables["loops-%s.csv" % run] = (["t", "a", "b", "dx", "dy", "dyaw"], sorted(rows))
    recipe(tables, "sources:\n", "sources:\n  loops: loops-{run}.csv\n")
    recipe(tables, "  gps:\n    type", "  loop:\n    type: relative_pose\n    source: loops\n    from: a\n    to: b\n"
           "    position: [dx, dy]\n    yaw: dyaw\n    noise: {model: odom}\n  gps:\n    type")
    return Expected("two_populations", "odom", {"ratio": 10. * size}, slack=2. * size)


def repeated(tables, size, draw):
    for name in files(tables, "gps"):
        rows = tables[name][1]
        for k in range(1, len(rows)):
            if draw.random() < .2 * size:
                rows[k][1:] = rows[k - 1][1:]
    return Expected("measurements_repeated", "gps", {"share": 20. * size}, slack=5.)


def without_influence(tables, size, draw):
    for run in runs(tables):
        for row in tables["gps-%s.csv" % run][1]:
            place = truth_at(tables, run, row[0])
            for i in range(2):
                row[1 + i] = place[i] + (row[1 + i] - place[i]) * 300 * size
    recipe(tables, "position: [x, y]\n    noise: {sigma: 1}", "position: [x, y]\n    noise: {sigma: %g}" % (150 * size))
    return Expected("sensor_without_influence", "gps")


def undetermined(tables, size, draw):
    """GPS alone: nothing measures the heading. States at its stamps; size 3: at those of the truth, most without GPS."""
    for sensor, source in (("odom", "odometry"), ("range", "ranges")):
        text = tables["recipe.yaml"]
        begin = text.index("  %s:\n    type" % sensor)
        end = text.index("    noise:", begin)
        tables["recipe.yaml"] = text[:begin] + text[text.index("\n", end) + 1:]
        recipe(tables, "  %s: %s-{run}.csv\n" % (source, source), "")
    recipe(tables, "  beacons: beacons.csv\n", "")
    recipe(tables, "landmarks:\n  beacons: {source: beacons, id: beacon, position: [x, y]}\n", "")
    recipe(tables, "  every: 0.5\n", "  at: %s\n" % ("gps" if size == 1 else "truth"))
    return Expected("states_undetermined", None)


# name: (fault, options of simulate --tables beside the default; nav3d first: in space)
FAULTS = {
    "odometry delay": (delay("odometry", "odom", .05), ()),
    "delay within a record": (delay_of_part_of_a_record, ()),
    "gps delay": (delay("gps", "gps", .15), ()),
    "range delay": (delay("ranges", "range", .06), ()),
    "clock drift": (clock_drift, ()),
    "stamps repeated": (stamps_repeated, ()),
    "speed scale": (scale("odometry", 1, "odom", 1.02), ()),
    "turn rate scale": (scale("odometry", 3, "odom", 1.03), ()),
    "range scale": (scale("ranges", 2, "range", 1.01), ()),
    "gyro bias": (bias("odometry", 3, "odom", .006, "rate_bias"), ()),
    "speed bias": (bias("odometry", 1, "odom", .05, "rate_bias"), ()),
    "range bias": (bias("ranges", 2, "range", .15), ()),
    "heading bias": (bias("gps", 3, "heading", .03), ("--gps", ".5,.5,.05")),
    "turn rate in degrees": (unit("odometry", (3,), "odom", (57.29577951, 57.29577951)), ()),
    "ranges in other units": (unit("ranges", (2,), "range", (1000., 100.)), ()),
    "gps in other units": (unit("gps", (1, 2), "gps", (1000., 100.)), ()),
    "heading in degrees": (unit("gps", (3,), "heading", (57.29577951, 57.29577951)), ("--gps", ".5,.5,.05")),
    "turn rate flipped": (flip("odometry", 3, "odom"), ()),
    "sideways flipped": (flip("odometry", 2, "odom"), ()),
    "gps swapped": (swap("gps", 1, 2, "gps"), ()),
    "odometry swapped": (swap("odometry", 1, 2, "odom"), ()),
    "truth shifted": (truth_shifted, ()),
    "truth turned": (truth_turned, ()),
    "gps shifted": (gps_shifted, ()),
    "lever arm": (lever_arm, ()),
    "quaternion order": (quaternion_order, ()),
    "camera axes": (camera_axes, ()),
    "quaternion order in space": (quaternion_order, ("nav3d",)),
    "camera axes in space": (camera_axes, ("nav3d",)),
    "gyro bias in space": (bias("odometry", 6, "odom", .006, "rate_bias"), ("nav3d",)),
    "range scale in space": (scale("ranges", 2, "range", 1.01), ("nav3d",)),
    "gps delay in space": (delay("gps", "gps", .15), ("nav3d",)),
    "pose quaternion order": (poses(scalar_first, "quaternion_order"), ()),
    "pose camera axes": (poses(as_camera, "camera_axes"), ()),
    "poses in other units": (poses(other_unit, "sensor_units", lambda size: {"factor": 1000. if size == 1 else 100.}), ()),
    "poses swapped": (poses(swapped, "sensor_axes"), ()),
    "pose quaternion in space": (poses(scalar_first, "quaternion_order"), ("nav3d",)),
    "quaternion order everywhere": (quaternion_order_everywhere, ("nav3d",)),
    "pose camera in space": (poses(as_camera, "camera_axes"), ("nav3d",)),
    "poses in space in other units": (poses(other_unit, "sensor_units",
                                            lambda size: {"factor": 1000. if size == 1 else 100.}), ("nav3d",)),
    "commands delayed": (commands(0.), ()),
    "commands with a lag": (commands(.3), ()),
    "truth copies": (truth_copies, ()),
    "truth gaps": (truth_gaps, ()),
    "truth jumps": (truth_jumps, ()),
    "truth of another": (truth_unrelated, ()),
    "truth of another in space": (truth_unrelated, ("nav3d",)),
    "outliers": (outliers, ()),
    "heavy tails": (heavy_tails, ()),
    "rows correlated": (rows_correlated, ()),
    "errors last": (autocorrelated, ()),
    "noise by range": (depends("ranges", "range", "range"), ()),
    "noise by time": (depends("gps", "time", "gps"), ()),
    "two populations": (two_populations, ()),
    "gps repeated": (repeated, ()),
    "no influence": (without_influence, ()),
    "undetermined": (undetermined, ()),
}
