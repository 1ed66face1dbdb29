"""Recorded logs as covtune datasets. Used by scripts/real-logs; needs the standard library only.

Each function yields sequences: a name, the recording it belongs to, and the lines of a covtune sequence file. Noise
models are written with the sigmas that an engineer would set by hand. The first pose of every sequence is known. Angles
are in radians, lengths in metres, times in seconds.
"""
import bisect
import csv
import decimal
import math
import os
import subprocess
import tempfile


# ---- planar poses ----

def compose(a, b):
    c, s = math.cos(a[2]), math.sin(a[2])
    return (a[0] + c * b[0] - s * b[1], a[1] + s * b[0] + c * b[1], a[2] + b[2])


def between(a, b):
    c, s = math.cos(a[2]), math.sin(a[2])
    dx, dy = b[0] - a[0], b[1] - a[1]
    return (c * dx + s * dy, -s * dx + c * dy, b[2] - a[2])


def arc(v, w, dt):
    """Motion of constant speed v and turn rate w over dt: Exp((v, 0, w) dt)."""
    turn = w * dt
    if abs(turn) < 1e-9:
        return (v * dt, 0.5 * v * dt * turn, turn)
    return (v / w * math.sin(turn), v / w * (1 - math.cos(turn)), turn)


def wrap(angle):
    return math.atan2(math.sin(angle), math.cos(angle))


def share(z, u):
    """Part u of a motion z of constant velocity: Exp(u Log z). Negative: backwards."""
    half = z[2] / 2
    k = 1 - half * half / 3 if abs(half) < 1e-4 else half / math.tan(half)
    vx, vy = k * z[0] + half * z[1], -half * z[0] + k * z[1]
    turn = u * z[2]
    a, b = (1 - turn * turn / 6, turn / 2) if abs(turn) < 1e-4 else (math.sin(turn) / turn, (1 - math.cos(turn)) / turn)
    return (u * (a * vx - b * vy), u * (b * vx + a * vy), turn)


def pieces(count, parts, states):
    """First and last + 1 of each part: `parts` equal ones, or parts of so many states; a last half is left out."""
    if not states:
        return [(count * p // parts, count * (p + 1) // parts) for p in range(parts)]
    return [(first, min(first + states, count)) for first in range(0, count - states // 2, states)]


# ---- files ----

def table(path):
    with open(path, newline="") as file:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]


def columns(path, epoch=None):
    """Rows of numbers; with an epoch the first column counts from there, without rounding of its large stamps."""
    with open(path) as file:
        words = [line.split() for line in file if line.strip() and not line.startswith("#")]
    first = (lambda w: float(w)) if epoch is None else (lambda w: float(decimal.Decimal(w) - epoch))
    return [[first(row[0])] + [float(word) for word in row[1:]] for row in words]


def interpolate_pose(times, poses, t, gap):
    """The pose at t, linear between neighbours at most `gap` seconds apart; None outside or in a larger gap."""
    i = bisect.bisect_left(times, t)
    if i < len(times) and times[i] == t:
        return poses[i]
    if i == 0 or i == len(times) or times[i] - times[i - 1] > gap:
        return None
    u = (t - times[i - 1]) / (times[i] - times[i - 1])
    a, b = poses[i - 1], poses[i]
    return (a[0] + u * (b[0] - a[0]), a[1] + u * (b[1] - a[1]), a[2] + u * wrap(b[2] - a[2]))


def numbers(*values):
    return " ".join("%.12g" % v for v in values)


FIRST_POSE = .01  # sigma of the known first pose, m and rad


class Sequence:
    """Lines of a sequence file; poses are called x0, x1, ... Part k of a recording that is cut is RECORDING-segK."""

    def __init__(self, recording, models, segment=None):
        self.recording, self.models = recording, models
        self.name = recording if segment is None else "%s-seg%02d" % (recording, segment)
        self.lines = ["covtune-sequence 2", "recording " + recording]
        for model, (sigmas, kernel) in models.items():
            variances = numbers(*[s * s for s in sigmas])
            self.lines.append("noise %s diagonal %s%s" % (model, variances, kernel and " " + kernel))

    def pose2(self, i, value, t, truth=None, known=None):
        self.lines.append("var x%d SE2 %s t=%.9f" % (i, numbers(value[0], value[1], wrap(value[2])), t))
        if truth is not None:
            known = " known=" + known if known else ""
            self.lines.append("truth x%d %s%s" % (i, numbers(truth[0], truth[1], wrap(truth[2])), known))

    def first_pose(self, value):
        """The robot knows where it starts: a prior on x0."""
        self.lines.append("factor prior_se2 first_pose x0 " + numbers(value[0], value[1], wrap(value[2])))

    def add(self, line):
        self.lines.append(line)

    def text(self):
        return "\n".join(self.lines) + "\n"


# ---- Lost in the Woods: odometry, range and bearing to known landmarks ----

def lost_in_the_woods(folder, longest=math.inf, steps=600):
    constants = {r[0]: float(r[1]) for r in list(csv.reader(open(os.path.join(folder, "constants.csv"))))[1:]}
    landmark = {int(r["landmark"]): (r["x"], r["y"]) for r in table(os.path.join(folder, "landmarks.csv"))}
    odometry = table(os.path.join(folder, "odometry.csv"))
    truth = table(os.path.join(folder, "truth.csv"))
    seen = {}
    for r in table(os.path.join(folder, "range_bearing.csv")):
        seen.setdefault(round(r["t"] * 10), []).append(r)
    models = {"odom": ((.005, .002, .01), ""), "laser": ((.03, .03), ""), "first_pose": ((FIRST_POSE,) * 3, "")}
    for number, first in enumerate(range(0, len(odometry) - steps // 2, steps)):
        part = range(first, min(first + steps, len(odometry)))
        seq = Sequence("woods", models, number)
        pose, factors = None, []
        for i, k in enumerate(part):
            at = truth[k]
            true = (at["x"], at["y"], at["theta"])
            if pose is None:
                pose = start = true
            else:
                dt = odometry[k]["t"] - odometry[k - 1]["t"]
                z = (odometry[k]["v"] * dt, 0, odometry[k]["omega"] * dt)
                pose = compose(pose, z)
                factors.append("factor between_se2 odom x%d x%d %s" % (i - 1, i, numbers(*z)))
            seq.pose2(i, pose, odometry[k]["t"], true, None if at["valid"] else "none")
            for r in seen.get(round(odometry[k]["t"] * 10), []):
                if r["range"] < longest:
                    factors.append("factor range_bearing_se2_point laser x%d %s" % (i, numbers(
                        r["range"], r["bearing"], *landmark[int(r["landmark"])], constants["laser_offset_m"], 0, 0)))
        seq.first_pose(start)
        seq.lines += factors
        yield seq


# ---- UTIAS MRCLAM: odometry, range and bearing to known landmarks ----

def integrate(times, speed, turn, a, b):
    """Odometry from time a to b > a; commands hold until the next one."""
    pose, i, t = (0.0, 0.0, 0.0), bisect.bisect_right(times, a) - 1, a
    while t < b:
        until = min(b, times[i + 1] if i + 1 < len(times) else b)
        if until > t and i >= 0:
            pose = compose(pose, arc(speed[i], turn[i], until - t))
        t, i = max(until, t), i + 1
        if i >= len(times):
            break
    return pose


# Time stamp, forward speed and turn rate of odometry against the truth, robots 1 to 5.
MRCLAM_DELAY = {1: .175, 2: .175, 3: .175, 4: .2, 5: .2}
MRCLAM_SPEED = {1: .944, 2: .918, 3: .931, 4: .888, 5: .912}
MRCLAM_TURN = {1: .910, 2: .855, 3: .869, 4: .849, 5: .852}


def mrclam(folder, robot, kernel="", cut=1, dt=.2, epoch=None):
    """With an epoch stamps are exact; of records with one stamp the first counts, of two states as near the earlier."""
    subject = {int(b): int(s) for s, b in columns(os.path.join(folder, "Barcodes.dat"))}
    landmark = {int(r[0]): (r[1], r[2]) for r in columns(os.path.join(folder, "Landmark_Groundtruth.dat"))}
    read = lambda what: columns(os.path.join(folder, "Robot%d_%s.dat" % (robot, what)), epoch)
    truth, odometry, measured = read("Groundtruth"), read("Odometry"), read("Measurement")
    if epoch is not None:
        odometry = odometry[:1] + [b for a, b in zip(odometry, odometry[1:]) if b[0] > a[0]]
    true_t, true_x = [r[0] for r in truth], [tuple(r[1:4]) for r in truth]
    t_odom = [r[0] + MRCLAM_DELAY[robot] for r in odometry]
    speed = [r[1] * MRCLAM_SPEED[robot] for r in odometry]
    turn = [r[2] * MRCLAM_TURN[robot] for r in odometry]
    begin, end = max(true_t[0], t_odom[0]), min(true_t[-1], t_odom[-1])
    poses = int((end - begin) / dt) + 1
    models = {"odom": ((.01, .005, .02), ""), "sight": ((.15, .03), kernel), "first_pose": ((FIRST_POSE,) * 3, "")}
    for piece in range(cut):
        first, last = poses * piece // cut, poses * (piece + 1) // cut
        seq = Sequence("robot%d" % robot, models, piece if cut > 1 else None)
        stamps = [begin + dt * k for k in range(first, last)]
        while stamps and not interpolate_pose(true_t, true_x, stamps[0], 1.0):
            stamps.pop(0)
        pose, factors = None, []
        for i, t in enumerate(stamps):
            true = interpolate_pose(true_t, true_x, t, 1.0)
            if pose is None:
                pose = start = true
            else:
                z = integrate(t_odom, speed, turn, stamps[i - 1], t)
                pose = compose(pose, z)
                factors.append("factor between_se2 odom x%d x%d %s" % (i - 1, i, numbers(*z)))
            seq.pose2(i, pose, t, true or pose, None if true else "none")
        for t, barcode, distance, bearing in measured:
            known = landmark.get(subject.get(int(barcode), -1))
            i = round((t - stamps[0]) / dt)
            if epoch is not None:
                i = math.ceil(round((t - stamps[0]) / dt - .5, 6))
            if not known or i < 0 or i >= len(stamps):
                continue
            if t >= stamps[i]:
                sensor = integrate(t_odom, speed, turn, stamps[i], t)
            else:
                sensor = between(integrate(t_odom, speed, turn, t, stamps[i]), (0, 0, 0))
            factors.append("factor range_bearing_se2_point sight x%d %s" % (
                i, numbers(distance, bearing, *known, *sensor)))
        seq.first_pose(start)
        seq.lines += factors
        yield seq


# ---- Starry Night: velocities, stereo points, in space ----

def quaternion(w):
    """Exp of a rotation vector, qx qy qz qw."""
    angle = math.sqrt(sum(c * c for c in w))
    k = .5 if angle < 1e-12 else math.sin(angle / 2) / angle
    return (k * w[0], k * w[1], k * w[2], math.cos(angle / 2))


def quaternion_of(R):
    """Of a rotation matrix (rows)."""
    trace = R[0][0] + R[1][1] + R[2][2]
    candidates = [trace, R[0][0], R[1][1], R[2][2]]
    k = candidates.index(max(candidates))
    if k == 0:
        s = 2 * math.sqrt(1 + trace)
        return ((R[2][1] - R[1][2]) / s, (R[0][2] - R[2][0]) / s, (R[1][0] - R[0][1]) / s, s / 4)
    i, j, l = k - 1, k % 3, (k + 1) % 3
    s = 2 * math.sqrt(1 + R[i][i] - R[j][j] - R[l][l])
    q = [0, 0, 0, (R[l][j] - R[j][l]) / s]
    q[i], q[j], q[l] = s / 4, (R[i][j] + R[j][i]) / s, (R[i][l] + R[l][i]) / s
    return tuple(q)


def starry_night(folder, poses=158, pixels=False):
    c = {r[0]: float(r[1]) for r in list(csv.reader(open(os.path.join(folder, "constants.csv"))))[1:]}
    C = [[c["C_c_v_%d%d" % (i, j)] for j in range(3)] for i in range(3)]  # from the vehicle to the camera
    place, turned = [c["rho_v_c_v_%d" % i] for i in range(3)], [[C[j][i] for j in range(3)] for i in range(3)]
    camera = numbers(*place, *quaternion_of(turned))
    landmark = {int(r["landmark"]): (r["x"], r["y"], r["z"]) for r in table(os.path.join(folder, "landmarks.csv"))}
    truth, imu = table(os.path.join(folder, "truth.csv")), table(os.path.join(folder, "imu.csv"))
    index = {round(r["t"] * 1e6): i for i, r in enumerate(truth)}
    seen = {}
    for r in table(os.path.join(folder, "stereo.csv")):
        seen.setdefault(index[round(r["t"] * 1e6)], []).append(r)
    models = {"velocity": ((.1, .1, .1, .05, .05, .05), ""), "stereo": ((.02, .02, .05), ""),
              "first_pose": ((FIRST_POSE,) * 6, "")}
    if pixels:
        models["stereo"] = ((10.,) * 4, "")
    intrinsics = (c["fu"], c["fv"], c["cu"], c["cv"], c["b"])
    for number, first in enumerate(range(0, len(truth) - poses // 2, poses)):
        seq = Sequence("starry", models, number)
        factors = []
        for i, k in enumerate(range(first, min(first + poses, len(truth)))):
            r = truth[k]
            value = numbers(r["x"], r["y"], r["z"], *quaternion((r["theta1"], r["theta2"], r["theta3"])))
            seq.add("var x%d SE3 %s t=%.9f" % (i, value, r["t"]))
            seq.add("truth x%d %s" % (i, value))
            if i == 0:
                factors.append("factor prior_se3 first_pose x0 " + value)
            else:
                u = imu[k - 1]
                factors.append("factor velocity_se3 velocity x%d x%d %s" % (i - 1, i, numbers(
                    u["wx"], u["wy"], u["wz"], u["vx"], u["vy"], u["vz"], r["t"] - truth[k - 1]["t"])))
            for s in seen.get(k, []):
                if pixels:
                    factors.append("factor stereo_se3_point stereo x%d %s %s" % (i, numbers(
                        s["u_left"], s["v_left"], s["u_right"], s["v_right"], *intrinsics,
                        *landmark[int(s["landmark"])]), camera))
                    continue
                depth = c["fu"] * c["b"] / (s["u_left"] - s["u_right"])
                factors.append("factor point_se3_point stereo x%d %s %s" % (i, numbers(
                    (s["u_left"] - c["cu"]) * depth / c["fu"], (s["v_left"] - c["cv"]) * depth / c["fv"], depth,
                    *landmark[int(s["landmark"])]), camera))
        seq.lines += factors
        yield seq


# ---- Plaza 1: odometry, radio ranges, position-only truth ----

def plaza(folder, known=True, parts=6, states=None, unbiased=True, moved=False):
    """moved: states begin with the odometry; a range is taken from where the robot was between two states."""
    beacon = {int(r["beacon"]): (r["x"], r["y"]) for r in table(os.path.join(folder, "beacons.csv"))}
    odometry, ranges = table(os.path.join(folder, "odometry.csv")), table(os.path.join(folder, "range.csv"))
    truth = table(os.path.join(folder, "truth.csv"))
    still = sorted(r["dheading"] for r in odometry if abs(r["distance"]) < 1e-3)
    bias = still[len(still) // 2] if still and unbiased else 0
    stamps = [truth[0]["t"]] + [r["t"] for r in odometry]
    if moved:
        del stamps[0], truth[0]
    step = [(r["distance"], 0, r["dheading"] - bias) for r in odometry[1 if moved else 0:]]  # from state k to k + 1
    # The heading of the truth is the odometry's; it differs from the course by .015 rad.
    models = {"odom": ((.01, .01, .005), ""), "radio": ((.5,), ""), "first_pose": ((FIRST_POSE, FIRST_POSE, .02), "")}
    for part, (first, last) in enumerate(pieces(len(stamps), parts, states)):
        seq = Sequence("plaza1", models, part)
        factors, sighted = [], {}
        pose = None
        for i, k in enumerate(range(first, last)):
            true = (truth[k]["x"], truth[k]["y"], truth[k]["heading_not_independent"])
            if pose is None:
                pose = start = true
            else:
                pose = compose(pose, step[k - 1])
                factors.append("factor between_se2 odom x%d x%d %s" % (i - 1, i, numbers(*step[k - 1])))
            seq.pose2(i, pose, stamps[k], true, "x,y")
        for r in ranges:
            k = bisect.bisect_left(stamps, r["t"])
            k = k if k < len(stamps) and (k == 0 or stamps[k] - r["t"] <= r["t"] - stamps[k - 1]) else k - 1
            late = r["t"] - stamps[min(max(k, 0), len(stamps) - 1)]
            if not first <= k < last:
                continue
            place = ()
            if moved:
                a = k if late >= 0 and k + 1 < len(stamps) else k - 1
                place = share(step[a], late / (stamps[a + 1] - stamps[a]))[:2]
            at = beacon[int(r["beacon"])]
            if known:
                factors.append("factor range_se2_point radio x%d %s" % (k - first, numbers(
                    r["range"] / 1.0695, *at, *place)))
            else:
                sighted[int(r["beacon"])] = at
                factors.append("factor range_se2_r2 radio x%d b%d %s" % (
                    k - first, int(r["beacon"]), numbers(r["range"] / 1.0695, *place)))
        for b, at in sighted.items():
            seq.add("var b%d R2 %s" % (b, numbers(at[0] + 1, at[1] - 1)))
        seq.first_pose(start)
        seq.lines += factors
        yield seq


# ---- Labyrinth: wheel speeds, ultra-wideband ranges, position-only truth ----
# The readme calls the first wheel speed right, the second left, and the length 0.0785 m the distance between wheels. In
# libRSF, which the data come with, the turn rate is (second - first) / (2 * length). The truth agrees: between straight
# stretches it turns by pi or pi / 2, this by 1.03 times as much with the same sign. A speed holds from its stamp
# to the next: then the speed of the truth is .981 of it, scatter .051 m/s (.064 m/s otherwise).

def labyrinth(folder, parts=3, states=None):
    words = lambda name: [line.split() for line in open(os.path.join(folder, name)) if line.strip()]
    inputs = words("Indoor_UWB_Input.txt")
    wheels = [[float(w) for w in line[1:]] for line in inputs if line[0] == "odom2diff"]
    ranges = {float(line[1]): [float(w) for w in line[2:]] for line in inputs if line[0] == "range2"}
    truth = {float(line[1]): (float(line[2]), float(line[3])) for line in words("Indoor_UWB_GT.txt")}
    # The first heading is that of the next 5 cm of the truth.
    models = {"wheels": ((.05, .02, .05), ""), "uwb": ((.1,), ""), "first_pose": ((FIRST_POSE, FIRST_POSE, .1), "")}
    stamps = [w[0] for w in wheels]
    places = [truth[t] for t in stamps]
    for part, (first, last) in enumerate(pieces(len(stamps), parts, states)):
        seq = Sequence("labyrinth", models, part)
        ahead = next((p for p in places[first:] if math.dist(p, places[first]) > .05), places[-1])
        pose = start = (*places[first], math.atan2(ahead[1] - places[first][1], ahead[0] - places[first][0]))
        factors = []
        for i, k in enumerate(range(first, last)):
            t = stamps[k]
            if i:
                _, one, two, side, length = wheels[k - 1][:5]
                dt = t - stamps[k - 1]
                z = ((one + two) / 2, side, (two - one) / (2 * length))
                pose = compose(pose, arc(z[0], z[2], dt))
                factors.append("factor velocity_se2 wheels x%d x%d %s" % (i - 1, i, numbers(*z, dt)))
            seq.pose2(i, pose, t, (*places[k], pose[2]), "x,y")
            if t in ranges:
                r = ranges[t]
                factors.append("factor range_se2_point uwb x%d %s" % (i, numbers(r[0] - .12, r[2], r[3])))
        seq.first_pose(start)
        seq.lines += factors
        yield seq


def labyrinth_errors(folder, parts=3, states=None):
    """Of the ranges at the truth, for each part: what is measured without correction, less the distance."""
    for seq in labyrinth(folder, parts, states):
        place = {}
        errors = []
        for line in seq.lines:
            words = line.split()
            if words[0] == "truth":
                place[words[1]] = [float(w) for w in words[2:4]]
        for line in seq.lines:
            words = line.split()
            if words[:3] == ["factor", "range_se2_point", "uwb"]:
                range_, x, y = (float(w) for w in words[4:7])
                errors.append(range_ + .12 - math.dist(place[words[3]], (x, y)))
        yield errors


# ---- KITTI: stereo odometry and loop closures ----

def kitti(folder, number):
    truth = columns(os.path.join(folder, "gt_%s.txt" % number))
    poses = [(r[12], -r[4], math.atan2(-r[3], r[11])) for r in truth]  # X = (t_z, -t_x), yaw = atan2(-R13, R33)
    models = {"odom": ((.03, .03, .002), ""), "loop": ((.1, .1, .005), ""), "first_pose": ((FIRST_POSE,) * 3, "")}
    seq = Sequence("kitti%s" % number, models)
    with open(os.path.join(folder, "kitti_%s.g2o" % number)) as file:
        edges = [[float(w) for w in line.split()[1:6]] for line in file if line.startswith("EDGE_SE2")]
    step = {int(e[0]): e[2:5] for e in edges if e[1] == e[0] + 1}
    pose = poses[0]
    for i, true in enumerate(poses):
        if i:
            pose = compose(pose, step[i - 1])
        seq.pose2(i, pose, truth[i][0], true)
    seq.first_pose(poses[0])
    for e in edges:
        a, b = int(e[0]), int(e[1])
        seq.add("factor between_se2 %s x%d x%d %s" % ("odom" if b == a + 1 else "loop", a, b, numbers(*e[2:5])))
    yield seq


# ---- recorded pushes: an object pushed by a finger; covtune reads the tables ----

class Push:
    """One recorded push as covtune converts it, with its own noise models."""

    def __init__(self, path, program):
        self.name = self.recording = os.path.splitext(os.path.basename(path))[0]
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "push.ctseq")
            subprocess.run([program, "convert", path, out, "--quiet"], check=True, stderr=subprocess.DEVNULL)
            with open(out) as file:
                self.lines = file.read()
        self.models = {}

    def text(self):
        return self.lines


def pushes(folder, program):
    """In the order of their names, as the shell sorts them in the C locale."""
    return [Push(os.path.join(folder, name), program) for name in sorted(os.listdir(folder)) if name.endswith(".csv")]
