/* draft_names.c: names of columns and of fields of messages to meanings. A name is cut into words: "p_RS_R_x" is p, rs,
 * r, x; "twist.twist.linear.x" is twist, twist, linear, x. The last word, and words before it, tell the meaning. */
#include "recipe/draft.h"

#include <ctype.h>
#include <stdarg.h>

char *ct__draft_print(ct__draft *d, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    char *to = ct__tree_alloc(d->pool, (int64_t)strlen(text) + 1, 1);
    if (to)
        strcpy(to, text);
    else
        ct__no_memory(d->err, "names", 1);
    return to;
}

/* ---- words ---- */

#define WORDS_MAX 12
#define WORD_SIZE 24

typedef struct {
    int count;
    char word[WORDS_MAX][WORD_SIZE];
} words;

/* Lower-case words of letters and digits; a capital after a small letter begins one ("yawRate"). */
static words cut(const char *name)
{
    words w = {0};
    size_t n = 0;
    char before = 0;
    for (const char *p = name;; p++) {
        const int in = isalnum((unsigned char)*p) != 0;
        if (n && (!in || (isupper((unsigned char)*p) && islower((unsigned char)before)))) w.count++, n = 0;
        if (!*p || w.count == WORDS_MAX) return w;
        if (in && n + 1 < WORD_SIZE) w.word[w.count][n++] = (char)tolower((unsigned char)*p);
        before = *p;
    }
}

static int is_one_of(const char *word, const char *list) { return ct__word_find(list, word) >= 0; }

static int any_of(const words *w, const char *list)
{
    for (int i = 0; i < w->count; i++)
        if (is_one_of(w->word[i], list)) return 1;
    return 0;
}

int ct__draft_has_word(const char *text, const char *list)
{
    words w = cut(text);
    for (int i = 0; i < w.count; i++) { /* "odom2", "odometry01" */
        char *end = w.word[i] + strlen(w.word[i]);
        while (end > w.word[i] && isdigit((unsigned char)end[-1])) *--end = 0;
    }
    return any_of(&w, list);
}

/* ---- units ---- */

static const char *unit_of(const char *word)
{
    static const char *const UNIT[][2] = {
        {"deg", "deg"},   {"degree", "deg"},      {"degrees", "deg"},     {"rad", "rad"},        {"radians", "rad"},
        {"mm", "mm"},     {"cm", "cm"},           {"km", "km"},           {"ft", "ft"},          {"meter", "m"},
        {"meters", "m"},  {"metres", "m"},        {"metre", "m"},         {"ns", "ns"},          {"nsec", "ns"},
        {"nsecs", "ns"},  {"nanosec", "ns"},      {"nanos", "ns"},        {"nanoseconds", "ns"}, {"us", "us"},
        {"usec", "us"},   {"micros", "us"},       {"microseconds", "us"}, {"ms", "ms"},          {"msec", "ms"},
        {"millis", "ms"}, {"milliseconds", "ms"}, {"seconds", "s"},       {"kmh", "km/h"},       {"kph", "km/h"},
        {"mph", "mph"},   {"kn", "kn"},           {"kts", "kn"},          {"knots", "kn"},       {"mps", "m/s"},
        {"dps", "deg/s"}, {"degps", "deg/s"},     {"degs", "deg/s"},      {"radps", "rad/s"},    {"rads", "rad/s"},
        {"rpm", "rpm"}};
    for (size_t i = 0; i < sizeof UNIT / sizeof *UNIT; i++)
        if (!strcmp(word, UNIT[i][0])) return UNIT[i][1];
    return NULL;
}

/* ---- meanings ---- */

static int axis_of(const char *word)
{
    static const char *const AXIS[] = {"x px posx xpos tx east easting e", "y py posy ypos ty north northing n",
                                       "z pz posz zpos tz up u"};
    for (int k = 0; k < 3; k++)
        if (is_one_of(word, AXIS[k])) return k;
    return -1;
}

/* "vx", "qw", "wz", "dx": a letter and an axis; words that need no other. vf, vl, vu and wf, wl, wu: ahead, left, up.
 * Quaternions q0 .. q3 have their scalar first. */
static ct__meaning short_name(const char *word)
{
    static const struct {
        const char *words;
        ct__meaning meaning;
    } SHORT[] = {{"qx q1", CT__MEANS_QX},
                 {"qy q2", CT__MEANS_QY},
                 {"qz q3", CT__MEANS_QZ},
                 {"qw q0", CT__MEANS_QW},
                 {"vx vf surge linear", CT__MEANS_VX},
                 {"vy vl sway", CT__MEANS_VY},
                 {"vz vu heave", CT__MEANS_VZ},
                 {"wx wf gyrox gx rollrate rollspeed", CT__MEANS_WX},
                 {"wy wl gyroy gy pitchrate pitchspeed", CT__MEANS_WY},
                 {"wz wu w gz gyroz gyro omega yawrate yawspeed turnrate angular", CT__MEANS_WZ},
                 {"dx", CT__MEANS_DX},
                 {"dy", CT__MEANS_DY},
                 {"dyaw dtheta dheading dth dpsi", CT__MEANS_DYAW},
                 {"m11", CT__MEANS_MATRIX},
                 {"lat latitude", CT__MEANS_LATITUDE},
                 {"lon lng long longitude", CT__MEANS_LONGITUDE},
                 {"alt altitude height hmsl", CT__MEANS_HEIGHT},
                 {"depth down", CT__MEANS_DOWN},
                 {"roll rx", CT__MEANS_ROLL},
                 {"pitch ry", CT__MEANS_PITCH},
                 {"rz", CT__MEANS_YAW},
                 {"elevation", CT__MEANS_ELEVATION},
                 {"valid", CT__MEANS_VALID}};
    for (size_t i = 0; i < sizeof SHORT / sizeof *SHORT; i++)
        if (is_one_of(word, SHORT[i].words)) return SHORT[i].meaning;
    return CT__MEANS_NOTHING;
}

#define COMPASS "heading hdg course compass cog head"
#define ANGLES  "yaw theta psi th orientation " COMPASS
#define SPEEDS  "v vel velocity speed spd gspeed"
#define NOISE                                                                                                          \
    "std dev stdev stddev sigma cov covariance var variance err error acc accel acceleration accuracy snr bias "       \
    "mag magnetic magnetometer ba bg b seq pdop hdop vdop dop status"
#define TIMES                                                                                                          \
    "t time timestamp stamp timestamps ts secs sec rostime unixtime utime epoch tow zeit datetime elapsed uptime"

int ct__draft_is_compass(const char *name) { return ct__draft_has_word(name, COMPASS); }

/* Names that end in an axis: of a quaternion, a velocity, a turn rate, a position. Velocities along axes of the world
 * (north, east) are none of the body. */
static ct__meaning with_axis(const words *w, const char *last)
{
    const int axis = axis_of(last), world = is_one_of(last, "e n u east easting north northing up");
    if (any_of(w, "q quat quaternion orientation rotation") && (axis >= 0 || !strcmp(last, "w")))
        return axis < 0 ? CT__MEANS_QW : (ct__meaning)(CT__MEANS_QX + axis);
    const int turn = any_of(w, "w omega angular ang gyro gyr gyroscope rate rates");
    const int speed = any_of(w, "v vel velocity linear lin speed");
    if ((turn || speed) && (any_of(w, "ned enu world global down") || world)) return CT__MEANS_NOTHING;
    if (is_one_of(last, "d") && any_of(w, "pos position ned")) return CT__MEANS_DOWN;
    if (axis < 0) return CT__MEANS_NOTHING;
    if (turn) return (ct__meaning)(CT__MEANS_WX + axis);
    if (speed) return (ct__meaning)(CT__MEANS_VX + axis);
    if (any_of(w, "d delta") && axis < 2) return (ct__meaning)(CT__MEANS_DX + axis);
    if (w->count == 1 && is_one_of(last, "e n u")) return CT__MEANS_NOTHING; /* too short to tell */
    return (ct__meaning)(CT__MEANS_X + axis);
}

/* "u_left", "right_v", "ul": of one camera "pixel_u". Alone, u and v are velocities. */
static ct__meaning pixel_name(const words *w)
{
    const int u = any_of(w, "u ul ur"), v = any_of(w, "v vl vr");
    const int left = any_of(w, "left l ul vl pixel pix image img"), right = any_of(w, "right r ur vr");
    if (u == v || left == right) return CT__MEANS_NOTHING;
    return left ? (u ? CT__MEANS_U : CT__MEANS_V) : u ? CT__MEANS_U_RIGHT : CT__MEANS_V_RIGHT;
}

/* Wheels: counts or distances so far, or speeds. Differences of counts are none of them. */
static ct__meaning wheel_name(const words *w)
{
    const int left = any_of(w, "left l lw leftwheel"), right = any_of(w, "right r rw rightwheel");
    if (left == right || any_of(w, "d delta diff")) return CT__MEANS_NOTHING;
    if (any_of(w, SPEEDS " rate rpm omega")) return left ? CT__MEANS_LEFT_SPEED : CT__MEANS_RIGHT_SPEED;
    if (any_of(w, "tick ticks count counts enc encoder encoders pulse pulses wheel dist distance travel odo"))
        return left ? CT__MEANS_LEFT : CT__MEANS_RIGHT;
    return CT__MEANS_NOTHING;
}

static ct__meaning stamp_name(const words *w)
{
    const char *last = w->word[w->count - 1];
    if (w->count == 1 && is_one_of(last, TIMES)) return CT__MEANS_TIME;
    return any_of(w, "time timestamp stamp utime tow zeit") && w->count <= 4 ? CT__MEANS_TIME : CT__MEANS_NOTHING;
}

static ct__meaning of_words(const words *w)
{
    const char *last = w->word[w->count - 1];
    if (w->count <= 3 && pixel_name(w) != CT__MEANS_NOTHING) return pixel_name(w);
    if (any_of(w, NOISE)) return CT__MEANS_NOTHING;
    if (wheel_name(w) != CT__MEANS_NOTHING) return wheel_name(w);
    if (w->count == 1 && is_one_of(last, TIMES)) return CT__MEANS_TIME;
    if (any_of(w, "steer steering steeringangle steerangle"))
        return any_of(w, "rate vel velocity speed torque") ? CT__MEANS_NOTHING : CT__MEANS_STEER;
    if (any_of(w, "device")) return CT__MEANS_NOTHING;
    if (any_of(w, "frame")) return w->count == 1 ? CT__MEANS_FRAME : CT__MEANS_NOTHING;
    if (any_of(w, ANGLES) && any_of(w, "rate dot velocity vel speed")) return CT__MEANS_WZ;
    if (any_of(w, "roll") && any_of(w, "rate dot speed velocity vel")) return CT__MEANS_WX;
    if (any_of(w, "pitch") && any_of(w, "rate dot speed velocity vel")) return CT__MEANS_WY;
    if (any_of(w, "turn angular ang rotational") && any_of(w, "rate velocity vel speed") && axis_of(last) < 0)
        return CT__MEANS_WZ;
    const ct__meaning axis = with_axis(w, last), plain = w->count <= 3 ? short_name(last) : CT__MEANS_NOTHING;
    if (axis != CT__MEANS_NOTHING) return axis;
    if (any_of(w, "vn ve vd ned north east northing down") && any_of(w, SPEEDS " vn ve vd"))
        return CT__MEANS_NOTHING; /* along the world's axes */
    if (any_of(w, "ref home origin") && plain >= CT__MEANS_LATITUDE && plain <= CT__MEANS_HEIGHT)
        return CT__MEANS_NOTHING; /* of a frame */
    if (plain != CT__MEANS_NOTHING) return plain;
    if (is_one_of(last, "pos position coord") && w->count == 2 && axis_of(w->word[0]) >= 0)
        return (ct__meaning)(CT__MEANS_X + axis_of(w->word[0])); /* X_pos */
    if (any_of(w, ANGLES) && any_of(w, "d delta")) return CT__MEANS_DYAW;
    if (any_of(w, ANGLES)) return CT__MEANS_YAW;
    if (is_one_of(last, SPEEDS) && w->count <= 3) return CT__MEANS_VX;
    if (any_of(w, "alt altitude") && w->count <= 4) return CT__MEANS_HEIGHT;
    if (any_of(w, "range rho dist distance ranges")) return CT__MEANS_RANGE;
    if (is_one_of(last, "bearing azimuth azimut angle phi")) return CT__MEANS_BEARING;
    if (any_of(w, "landmark beacon barcode marker anchor subject feature target tag")) return CT__MEANS_ID;
    if (is_one_of(last, "id ids")) return CT__MEANS_ID;
    return stamp_name(w);
}

/* "q[0]", "gyro_rad[2]": the axis that an element of a vector is. PX4's quaternions have their scalar first. */
static int take_element(const char *name, words *w)
{
    const char *open = strrchr(name, '[');
    if (!open || open == name || strlen(open) != 3 || open[1] < '0' || open[1] > '3' || open[2] != ']') return 0;
    const int at = open[1] - '0';
    if (!w->count || !isdigit((unsigned char)w->word[w->count - 1][0])) return 0;
    w->count--; /* the number */
    const int q = any_of(w, "q quat quaternion orientation");
    if (!q && (at > 2 || !any_of(w, "position pos p xyz velocity vel v angular gyro omega rates linear"))) return -1;
    if (!q && any_of(w, "gyro angular rates omega") && w->count > 1 && unit_of(w->word[w->count - 1])) w->count--;
    snprintf(w->word[w->count++], WORD_SIZE, "%c", (q ? "wxyz" : "xyz")[at]);
    return 1;
}

ct__meaning ct__draft_meaning(const char *name, const char **unit)
{
    words w = cut(name);
    *unit = NULL;
    const char *array = strstr(name, "[]"); /* but "q_RS_w []" has no unit, as EuRoC writes it */
    if (!w.count || (array && (array == name || array[-1] != ' '))) return CT__MEANS_NOTHING;
    const int element = take_element(name, &w);
    if (element) return element < 0 ? CT__MEANS_NOTHING : of_words(&w);
    const char *last = w.word[w.count - 1];
    const int arduino = w.count <= 2 && is_one_of(last, "millis micros");
    if (arduino || (w.count == 1 && is_one_of(last, "ms msec us usec ns")))
        return *unit = unit_of(last), CT__MEANS_TIME;
    if (w.count == 2 && !strcmp(last, "tow") && !strcmp(w.word[0], "i")) return *unit = "ms", CT__MEANS_TIME; /* iTOW */
    if (is_one_of(last, "nsecs nsec nanosec nanosecs") && (w.count == 1 || is_one_of(w.word[w.count - 2], "stamp")))
        return CT__MEANS_NANOSECONDS;
    char *covariance = w.word[w.count - 1] + strlen(w.word[w.count - 1]); /* "covariance35" */
    if (strstr(last, "covariance")) {
        while (isdigit((unsigned char)covariance[-1])) *--covariance = 0;
    }
    if (w.count > 1 && (*unit = unit_of(last)))
        w.count--;
    else if (w.count > 1 && is_one_of(last, "m s e7"))
        w.count--; /* x_m, t_s, lat_e7 */
    return of_words(&w);
}
