"""Conventions that are put into simulated tables, for tests/check_doctor_faults: inverse poses, degrees, compass headings,
north-east-down. They have no size: with size 3 another form of the same is taken, and with size 0 the fault is left out,
for the set to compare with. Standard library only.
"""
import math

import doctor_faults as faults
from doctor_faults import Expected, each, files, recipe, runs

DEGREES = 180 / math.pi
HALF = math.sqrt(.5)


# ---- rotations ----

def multiply(a, b):
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return [aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz]


def conjugate(q):
    return [-q[0], -q[1], -q[2], q[3]]


def turn(q, v):
    return multiply(multiply(q, list(v) + [0.]), conjugate(q))[:3]


def vector_of(q):
    q = [-c for c in q] if q[3] < 0 else q
    n = math.sqrt(sum(c * c for c in q[:3]))
    return [c / n * 2 * math.atan2(n, q[3]) if n else 0. for c in q[:3]]


def euler_of(q):
    x, y, z, w = q
    return [math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), math.asin(max(-1, min(1, 2 * (w * y - z * x)))),
            math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))]


def ned_rotation(q):
    """Of x ahead, y right, z down against north, east, down."""
    return multiply(multiply([HALF, HALF, 0., 0.], q), [1., 0., 0., 0.])


# ---- poses of a row: [t, x, y, z, qx, qy, qz, qw] ----

def inverted(pose):
    q = conjugate(pose[3:7])
    return turn(q, [-c for c in pose[:3]]) + q


def ned(pose):
    x, y, z = pose[:3]
    return [y, x, -z] + ned_rotation(pose[3:7])


def compass(pose):
    return list(pose[:3]) + ned_rotation(pose[3:7])


def clockwise(pose):
    return list(pose[:3]) + conjugate(pose[3:7])


def scalar_first(pose):
    return list(pose[:3]) + [pose[6]] + list(pose[3:6])


def same(pose):
    return list(pose)


FORMS = {  # of a rotation: columns, key of the recipe, numbers of a quaternion
    "quaternion": (["qx", "qy", "qz", "qw"], "quaternion: [qx, qy, qz, qw]", list),
    "yaw": (["yaw"], "yaw: yaw", lambda q: [euler_of(q)[2]]),
    "euler": (["roll", "pitch", "yaw"], "euler: [roll, pitch, yaw]", euler_of),
    "vector": (["rx", "ry", "rz"], "rotation_vector: [rx, ry, rz]", vector_of),
}


def set_poses(tables, what, change, form, unit=1., positive=False):
    """Rows of `what` become their poses after the change, with a rotation of this form, in this unit."""
    columns, key, numbers = FORMS[form]
    old = FORMS["quaternion"][1] if "quaternion" in block_of(tables, what) else FORMS["yaw"][1]
    for name in files(tables, what):
        rows = []
        for row in tables[name][1]:
            pose = row[1:8] if len(row) == 8 else [row[1], row[2], 0., 0., 0., math.sin(row[3] / 2), math.cos(row[3] / 2)]
            pose = change(pose)
            angles = [v * unit for v in numbers(pose[3:7])]
            if positive:  # 0 to 360 degrees
                angles = [a % (2 * math.pi * unit) for a in angles]
            rows.append([row[0]] + pose[:3] + angles)
        tables[name] = (["t", "x", "y", "z"] + columns, rows)
    begin, text = tables["recipe.yaml"].index(block_of(tables, what)), block_of(tables, what)
    after = text.replace(old, key).replace("position: [x, y]\n", "position: [x, y, z]\n")
    tables["recipe.yaml"] = tables["recipe.yaml"][:begin] + after + tables["recipe.yaml"][begin + len(text):]


def block_of(tables, what):
    """The recipe's text on the truth, or on the sensor of poses."""
    text = tables["recipe.yaml"]
    begin = text.index("\ntruth:\n") if what == "truth" else text.index("  %s:\n    type" % what)
    end = text.find("\n", text.index("yaw: yaw" if "yaw: yaw" in text[begin:begin + 200] else "quaternion:", begin))
    return text[begin:end]


def convention(code, what, change, forms, unit=1., positive=False, slam=False, values=None):
    """The poses of `what` (truth, slam, both) under a change, in one of two forms."""
    def put(tables, size, draw):
        if slam or what != "truth":
            faults.add_poses(tables, draw)
        for one in ("truth", "slam") if what == "both" else (what,):
            set_poses(tables, one, change if size else same, forms[size == 3], unit if size else 1., positive and size)
        return Expected(code, "slam" if what == "both" else what, values, mends=True, own_world=True)
    return put


def heading(code, change, values=None):
    """The heading that comes with GPS."""
    def put(tables, size, draw):
        for row in each(tables, "gps"):
            row[3] = change(row[3], size) if size else row[3]
        return Expected(code, "heading", values, mends=True, own_world=True)
    return put


# ---- odometry as increments, poses, loops ----

def exponential(w, v):
    """The pose after a second of a body velocity, by its series: position and quaternion."""
    angle = math.sqrt(sum(c * c for c in w))
    q = [c / angle * math.sin(angle / 2) for c in w] + [math.cos(angle / 2)] if angle > 1e-12 else [0., 0., 0., 1.]
    a, b = (.5, 1 / 6) if angle < 1e-4 else ((1 - math.cos(angle)) / angle ** 2, (angle - math.sin(angle)) / angle ** 3)
    cross = lambda p, r: [p[1] * r[2] - p[2] * r[1], p[2] * r[0] - p[0] * r[2], p[0] * r[1] - p[1] * r[0]]
    wv = cross(w, v)
    wwv = cross(w, wv)
    return [v[i] + a * wv[i] + b * wwv[i] for i in range(3)] + q


def compose(a, b):
    moved = turn(a[3:7], b[:3])
    return [a[i] + moved[i] for i in range(3)] + multiply(a[3:7], b[3:7])


def steps_of(tables, run):
    """Stamps, and motion from each record of odometry to the next."""
    rows = tables["odometry-%s.csv" % run][1]
    for a, b in zip(rows, rows[1:]):
        dt = b[0] - a[0]
        v, w = (a[1:4], a[4:7]) if len(a) == 7 else ([a[1], a[2], 0.], [0., 0., a[3]])
        yield b[0], exponential([c * dt for c in w], [c * dt for c in v])


def replace_odometry(tables, keys):
    text = tables["recipe.yaml"]
    begin = text.index("    velocity:", text.index("  odom:\n"))
    end = text.index("    noise:", begin)
    tables["recipe.yaml"] = text[:begin] + keys + text[end:]


def increments(code, change, unit=1., values=None):
    """Odometry as the motion since the record before."""
    def put(tables, size, draw):
        space = "nav3d" in tables["recipe.yaml"] or "type: SE3" in tables["recipe.yaml"]
        for run in runs(tables):
            first = tables["odometry-%s.csv" % run][1][0][0]
            rows = [[first] + [0.] * (6 if space else 3) + ([1.] if space else [])]
            for t, step in steps_of(tables, run):
                step = change(step) if size else step
                yaw = euler_of(step[3:7])[2] * (unit if size else 1.)
                rows.append([t] + (step if space else step[:2] + [yaw]))
            header = ["t", "x", "y", "z", "qx", "qy", "qz", "qw"] if space else ["t", "dx", "dy", "dyaw"]
            tables["odometry-%s.csv" % run] = (header, rows)
        replace_odometry(tables, "    increment: [%s]\n" % ", ".join(header[1:]))
        return Expected(code, "odom", values, mends=True, own_world=True)
    return put


def dead_reckoning(code, change):
    """Odometry as poses, which are differenced."""
    def put(tables, size, draw):
        for run in runs(tables):
            pose = [1., 2., .5, 0., 0., math.sin(.4), math.cos(.4)]
            rows = [[tables["odometry-%s.csv" % run][1][0][0]] + (change(pose) if size else pose)]
            for t, step in steps_of(tables, run):
                pose = compose(pose, step)
                rows.append([t] + (change(pose) if size else pose))
            tables["odometry-%s.csv" % run] = (["t", "x", "y", "z", "qx", "qy", "qz", "qw"], rows)
        replace_odometry(tables, "    position: [x, y, z]\n    quaternion: [qx, qy, qz, qw]\n")
        return Expected(code, "odom", mends=True, own_world=True)
    return put


def loops(tables, size, draw):
    """Relative poses of a model of their own, the earlier pose in the later one's frame."""
    faults.two_populations(tables, .1, draw)
    recipe(tables, "    noise: {model: odom}\n", "")
    for row in each(tables, "loops"):
        pose = [row[3], row[4], 0., 0., 0., math.sin(row[5] / 2), math.cos(row[5] / 2)]
        pose = inverted(pose) if size else pose
        row[3:6] = pose[:2] + [euler_of(pose[3:7])[2]]
    return Expected("inverse_poses", "loop", mends=True, own_world=True)


def order_and_degrees(tables, size, draw):
    """Two mistakes that hide each other: the order of quaternions is recognised by turns of odometry."""
    set_poses(tables, "truth", scalar_first if size else same, "quaternion")
    rates = slice(4, 7) if "type: SE3" in tables["recipe.yaml"] else slice(3, 4)
    for row in each(tables, "odometry"):
        row[rates] = [v * (DEGREES if size else 1.) for v in row[rates]]
    return Expected("quaternion_order" if size != 3 else "sensor_units", None if size != 3 else "odom", mends=True,
                    own_world=True)


def positions_alone(change):
    """The truth has no rotation."""
    def put(tables, size, draw):
        for name in files(tables, "truth"):
            rows = [[r[0]] + (change(r[1:3] + [0., 0., 0., 0., 1.]) if size else r[1:3])[:2] for r in tables[name][1]]
            tables[name] = (["t", "x", "y"], rows)
        recipe(tables, "  yaw: yaw\n", "")
        return Expected("ned_axes", "truth", mends=True, own_world=True)
    return put


UNIT = {"factor": DEGREES}
PLANE, SPACE = ("yaw", "quaternion"), ("quaternion", "euler")
FAULTS = {
    "truth inverse": (convention("inverse_poses", "truth", inverted, PLANE), ()),
    "truth in degrees": (convention("sensor_units", "truth", same, ("yaw", "euler"), DEGREES, values=UNIT), ()),
    "truth compass": (convention("compass_heading", "truth", compass, PLANE), ()),
    "truth compass in degrees": (convention("compass_heading", "truth", compass, ("yaw", "yaw"), DEGREES, True), ()),
    "truth ned": (convention("ned_axes", "truth", ned, PLANE), ()),
    "truth clockwise": (convention("sensor_axes", "truth", clockwise, ("yaw", "yaw")), ()),
    "truth ned positions alone": (positions_alone(ned), ()),
    "poses inverse": (convention("inverse_poses", "slam", inverted, PLANE), ()),
    "poses in degrees": (convention("sensor_units", "slam", same, ("yaw", "vector"), DEGREES, values=UNIT), ()),
    "poses compass": (convention("compass_heading", "slam", compass, PLANE), ()),
    "poses ned": (convention("ned_axes", "slam", ned, PLANE), ()),
    "all poses inverse": (convention("inverse_poses", "both", inverted, PLANE), ()),
    "heading compass": (heading("compass_heading", lambda a, size: math.pi / 2 - a), ("--gps", ".5,.5,.05")),
    "heading compass in degrees": (heading("compass_heading", lambda a, size: (90 - a * DEGREES) % 360),
                                   ("--gps", ".5,.5,.05")),
    "increments inverse": (increments("inverse_poses", inverted), ()),
    "increments in degrees": (increments("sensor_units", same, DEGREES, UNIT), ()),
    "odometry poses inverse": (dead_reckoning("inverse_poses", inverted), ()),
    "loops inverse": (loops, ()),
    "order and degrees": (order_and_degrees, ()),
    "truth inverse in space": (convention("inverse_poses", "truth", inverted, SPACE), ("nav3d",)),
    "truth in degrees in space": (convention("sensor_units", "truth", same, ("euler", "vector"), DEGREES, values=UNIT),
                                  ("nav3d",)),
    "truth compass in space": (convention("compass_heading", "truth", compass, SPACE), ("nav3d",)),
    "truth ned in space": (convention("ned_axes", "truth", ned, SPACE), ("nav3d",)),
    "poses inverse in space": (convention("inverse_poses", "slam", inverted, SPACE), ("nav3d",)),
    "poses in degrees in space": (convention("sensor_units", "slam", same, ("euler", "vector"), DEGREES, values=UNIT),
                                  ("nav3d",)),
    "poses ned in space": (convention("ned_axes", "slam", ned, SPACE), ("nav3d",)),
    "all poses inverse in space": (convention("inverse_poses", "both", inverted, SPACE), ("nav3d",)),
    "increments inverse in space": (increments("inverse_poses", inverted), ("nav3d",)),
    "odometry poses inverse in space": (dead_reckoning("inverse_poses", inverted), ("nav3d",)),
    "order and degrees in space": (order_and_degrees, ("nav3d",)),
}
