"""Files in the layout of public recordings of which there are none here: EuRoC, and a robot's bag (MCAP, ROS 2).

A body on a smooth path, without noise: what is imported must agree with the path. Standard library only; the MCAP and
CDR writers share nothing with the program's readers.
"""
import math
import os
import struct

LEVER = (.0748903, -.0184772, -.120209)  # recipes/euroc.yaml
ANTENNA = (.2, 0., 0.)                   # recipes/robot-localization.yaml
ORIGIN = (48.137, 11.575, 520.)
START = 1403636579763555584              # ns: stamps of 19 digits do not fit a double


def position(t, planar=False):
    return (6 * math.sin(.2 * t), 4 * math.sin(.4 * t + .3), 0. if planar else 1 + .5 * math.sin(.3 * t))


def euler(t, planar=False):
    """Roll, pitch, yaw."""
    yaw = .8 * math.sin(.25 * t) + .3 * t
    return (0., 0., yaw) if planar else (.2 * math.sin(.5 * t), .1 * math.cos(.4 * t), yaw)


def quaternion(angles):
    """qx qy qz qw of Rz(yaw) Ry(pitch) Rx(roll)."""
    cr, sr, cp, sp, cy, sy = [f(a / 2) for a in angles for f in (math.cos, math.sin)]
    return (sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy)


def rotate(q, v):
    x, y, z, w = q
    u = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return (v[0] + w * u[0] + y * u[2] - z * u[1], v[1] + w * u[1] + z * u[0] - x * u[2],
            v[2] + w * u[2] + x * u[1] - y * u[0])


def place(t, arm, planar=False):
    at, r = position(t, planar), rotate(quaternion(euler(t, planar)), arm)
    return tuple(a + b for a, b in zip(at, r))


# ---- EuRoC ----

def write_euroc(folder, sequences=("MH_01_easy", "MH_02_easy", "MH_03_medium"), seconds=12):
    for number, name in enumerate(sequences):
        base, shift = os.path.join(folder, name), 10. * number
        for part in ("mav0/leica0", "mav0/state_groundtruth_estimate0"):
            os.makedirs(os.path.join(base, part))
        with open(os.path.join(base, "mav0/leica0/data.csv"), "w") as file:
            file.write("#timestamp [ns],p_RS_R_x [m],p_RS_R_y [m],p_RS_R_z [m]\r\n")
            for k in range(1, 20 * seconds):
                ns = 50000000 * k + 7000000
                file.write("%d,%.9f,%.9f,%.9f\r\n" % (START + ns, *place(ns * 1e-9 + shift, LEVER)))
        with open(os.path.join(base, "mav0/state_groundtruth_estimate0/data.csv"), "w") as file:
            file.write("#timestamp, p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w [], q_RS_x [], q_RS_y [], q_RS_z []\r\n")
            for k in range(200 * seconds):
                t = .005 * k + shift
                x, y, z, w = quaternion(euler(t))
                file.write("%d,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f\r\n" % (START + 5000000 * k, *position(t), w, x, y, z))
        with open(os.path.join(base, "odometry.txt"), "w") as file:
            for k in range(20 * seconds):
                file.write("%d.%09d %.9f %.9f %.9f %.9f %.9f %.9f %.9f\n" % (
                    *divmod(START + 50000000 * k, 1000000000), *position(.05 * k + shift), *quaternion(euler(.05 * k + shift))))


# ---- the earth ----

A, F = 6378137., 1 / 298.257223563
E2 = F * (2 - F)


def ecef(latitude, longitude, height):
    n = A / math.sqrt(1 - E2 * math.sin(latitude) ** 2)
    return ((n + height) * math.cos(latitude) * math.cos(longitude),
            (n + height) * math.cos(latitude) * math.sin(longitude), (n * (1 - E2) + height) * math.sin(latitude))


def geodetic(enu):
    """Latitude, longitude (deg) and height of a point in the tangent frame at ORIGIN."""
    b, l = math.radians(ORIGIN[0]), math.radians(ORIGIN[1])
    o, (e, n, u) = ecef(b, l, ORIGIN[2]), enu
    x = o[0] - math.sin(l) * e - math.sin(b) * math.cos(l) * n + math.cos(b) * math.cos(l) * u
    y = o[1] + math.cos(l) * e - math.sin(b) * math.sin(l) * n + math.cos(b) * math.sin(l) * u
    z = o[2] + math.cos(b) * n + math.sin(b) * u
    p, latitude, height = math.hypot(x, y), b, ORIGIN[2]
    for _ in range(20):
        curvature = A / math.sqrt(1 - E2 * math.sin(latitude) ** 2)
        height = p / math.cos(latitude) - curvature
        latitude = math.atan2(z, p * (1 - E2 * curvature / (curvature + height)))
    return math.degrees(latitude), math.degrees(math.atan2(y, x)), height


# ---- a bag ----

HEADER = "================\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n" \
         "================\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
TRIPLE = "================\nMSG: geometry_msgs/%s\nfloat64 x\nfloat64 y\nfloat64 z\n"
QUATERNION = "================\nMSG: geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"
SCHEMAS = {
    "nav_msgs/msg/Odometry":
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\n"
        "geometry_msgs/TwistWithCovariance twist\n" + HEADER +
        "================\nMSG: geometry_msgs/PoseWithCovariance\nPose pose\nfloat64[36] covariance\n"
        "================\nMSG: geometry_msgs/Pose\nPoint position\nQuaternion orientation\n" + TRIPLE % "Point" +
        QUATERNION + "================\nMSG: geometry_msgs/TwistWithCovariance\nTwist twist\nfloat64[36] covariance\n"
        "================\nMSG: geometry_msgs/Twist\nVector3 linear\nVector3 angular\n" + TRIPLE % "Vector3",
    "sensor_msgs/msg/Imu":
        "std_msgs/Header header\ngeometry_msgs/Quaternion orientation\nfloat64[9] orientation_covariance\n"
        "geometry_msgs/Vector3 angular_velocity\nfloat64[9] angular_velocity_covariance\n"
        "geometry_msgs/Vector3 linear_acceleration\nfloat64[9] linear_acceleration_covariance\n" + HEADER + QUATERNION +
        TRIPLE % "Vector3",
    "sensor_msgs/msg/NavSatFix":
        "uint8 COVARIANCE_TYPE_UNKNOWN=0\nstd_msgs/Header header\nsensor_msgs/NavSatStatus status\nfloat64 latitude\n"
        "float64 longitude\nfloat64 altitude\nfloat64[9] position_covariance\nuint8 position_covariance_type\n" + HEADER +
        "================\nMSG: sensor_msgs/NavSatStatus\nint8 STATUS_NO_FIX=-1\nint8 status\nuint16 service\n",
}


class Cdr:
    """Little-endian CDR: values are aligned to their size, counted after the header of four bytes."""

    def __init__(self):
        self.bytes = b""

    def put(self, code, *values):
        size = struct.calcsize(code)
        for value in values:
            self.bytes += b"\0" * (-len(self.bytes) % size) + struct.pack("<" + code, value)
        return self

    def text(self, text):
        self.put("I", len(text) + 1)
        self.bytes += text.encode() + b"\0"
        return self

    def header(self, ns):
        return self.put("i", ns // 1000000000).put("I", ns % 1000000000).text("base_link")

    def message(self):
        return b"\0\1\0\0" + self.bytes


def odometry(ns, at, q, linear, angular):
    return Cdr().header(ns).text("base_link").put("d", *at, *q, *[0.] * 36, *linear, *angular, *[0.] * 36).message()


def imu(ns, q):
    return Cdr().header(ns).put("d", *q, *[0.] * 9, *[0.] * 24).message()


def fix(ns, status, place_):
    return Cdr().header(ns).put("b", status).put("H", 1).put("d", *place_, *[0.] * 9).put("B", 0).message()


def record(code, body):
    return struct.pack("<BQ", code, len(body)) + body


def text(words):
    return struct.pack("<I", len(words)) + words.encode()


def write_mcap(path, messages):
    """messages: (ns, topic, type, bytes)."""
    types, topics = sorted({m[2] for m in messages}), sorted({(m[1], m[2]) for m in messages})
    out = b"\x89MCAP0\r\n" + record(1, text("ros2") + text("tests"))
    for i, name in enumerate(types):
        out += record(3, struct.pack("<H", i + 1) + text(name) + text("ros2msg") + text(SCHEMAS[name]))
    for i, (topic, name) in enumerate(topics):
        out += record(4, struct.pack("<HH", i, types.index(name) + 1) + text(topic) + text("cdr") + struct.pack("<I", 0))
    number = {topic: i for i, (topic, _) in enumerate(topics)}
    parts = [out]
    for k, (ns, topic, _, body) in enumerate(sorted(messages)):
        parts.append(record(5, struct.pack("<HIQQ", number[topic], k, ns, ns) + body))
    parts += [record(15, struct.pack("<I", 0)), record(2, struct.pack("<QQI", 0, 0, 0)), b"\x89MCAP0\r\n"]
    with open(path, "wb") as file:
        file.write(b"".join(parts))


def body_velocity(t, dt):
    """Held from t to t + dt: the planar motion's logarithm over dt."""
    a, b, (_, _, yaw), (_, _, after) = position(t, True), position(t + dt, True), euler(t, True), euler(t + dt, True)
    c, s, dx, dy = math.cos(yaw), math.sin(yaw), b[0] - a[0], b[1] - a[1]
    x, y, half = c * dx + s * dy, -s * dx + c * dy, (after - yaw) / 2
    k = half / math.tan(half) if abs(half) > 1e-9 else 1.
    return (k * x + half * y) / dt, (-half * x + k * y) / dt, 2 * half / dt


def write_bags(folder, names=("monday", "tuesday", "friday"), seconds=12):
    os.makedirs(folder)
    for number, name in enumerate(names):
        messages, shift = [], 10. * number
        for k in range(50 * seconds):  # velocities and truth at 50 Hz
            ns, t = START + 20000000 * k, .02 * k + shift
            vx, vy, omega = body_velocity(t, .02)
            messages.append((ns, "/odometry/wheel", "nav_msgs/msg/Odometry", odometry(
                ns, (0, 0, 0), (0, 0, 0, 1), (vx, vy, 0), (0, 0, omega))))
            messages.append((ns, "/ground_truth", "nav_msgs/msg/Odometry", odometry(
                ns, position(t, True), quaternion(euler(t, True)), (0, 0, 0), (0, 0, 0))))
        for k in range(10 * seconds):
            ns = START + 100000000 * k + 3000000
            messages.append((ns, "/imu/data", "sensor_msgs/msg/Imu", imu(
                ns, quaternion(euler((ns - START) * 1e-9 + shift, True)))))
        for k in range(2 * seconds):
            ns = START + 500000000 * k + 11000000
            at = geodetic(place((ns - START) * 1e-9 + shift, ANTENNA, True)) if k % 8 else (0., 0., 0.)
            messages.append((ns, "/gps/fix", "sensor_msgs/msg/NavSatFix", fix(ns, 0 if k % 8 else -1, at)))
        write_mcap(os.path.join(folder, name + ".mcap"), messages)
