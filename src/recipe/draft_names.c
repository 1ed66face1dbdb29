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
    static const char *const UNIT[][2] = {{"deg", "deg"},     {"degree", "deg"}, {"degrees", "deg"},    {"rad", "rad"},
                                          {"mm", "mm"},       {"cm", "cm"},      {"km", "km"},          {"ns", "ns"},
                                          {"nsec", "ns"},     {"nsecs", "ns"},   {"nanoseconds", "ns"}, {"us", "us"},
                                          {"usec", "us"},     {"ms", "ms"},      {"msec", "ms"},        {"kmh", "km/h"},
                                          {"kph", "km/h"},    {"mph", "mph"},    {"kn", "kn"},          {"ft", "ft"},
                                          {"dps", "deg/s"},   {"mps", "m/s"},    {"meters", "m"},       {"metres", "m"},
                                          {"radians", "rad"}, {"seconds", "s"}};
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

/* "vx", "qw", "wz", "dx": a letter and an axis. */
static ct__meaning short_name(const char *word)
{
    static const struct {
        const char *word;
        ct__meaning meaning;
    } SHORT[] = {{"qx", CT__MEANS_QX},
                 {"qy", CT__MEANS_QY},
                 {"qz", CT__MEANS_QZ},
                 {"qw", CT__MEANS_QW},
                 {"vx", CT__MEANS_VX},
                 {"vy", CT__MEANS_VY},
                 {"vz", CT__MEANS_VZ},
                 {"wx", CT__MEANS_WX},
                 {"wy", CT__MEANS_WY},
                 {"wz", CT__MEANS_WZ},
                 {"dx", CT__MEANS_DX},
                 {"dy", CT__MEANS_DY},
                 {"dyaw", CT__MEANS_DYAW},
                 {"dtheta", CT__MEANS_DYAW},
                 {"dheading", CT__MEANS_DYAW},
                 {"dth", CT__MEANS_DYAW},
                 {"dpsi", CT__MEANS_DYAW},
                 {"yawrate", CT__MEANS_WZ},
                 {"turnrate", CT__MEANS_WZ},
                 {"omega", CT__MEANS_WZ},
                 {"w", CT__MEANS_WZ},
                 {"gz", CT__MEANS_WZ},
                 {"m11", CT__MEANS_MATRIX},
                 {"lat", CT__MEANS_LATITUDE},
                 {"latitude", CT__MEANS_LATITUDE},
                 {"lon", CT__MEANS_LONGITUDE},
                 {"lng", CT__MEANS_LONGITUDE},
                 {"long", CT__MEANS_LONGITUDE},
                 {"longitude", CT__MEANS_LONGITUDE},
                 {"alt", CT__MEANS_HEIGHT},
                 {"altitude", CT__MEANS_HEIGHT},
                 {"height", CT__MEANS_HEIGHT},
                 {"roll", CT__MEANS_ROLL},
                 {"pitch", CT__MEANS_PITCH},
                 {"elevation", CT__MEANS_ELEVATION},
                 {"valid", CT__MEANS_VALID}};
    for (size_t i = 0; i < sizeof SHORT / sizeof *SHORT; i++)
        if (!strcmp(word, SHORT[i].word)) return SHORT[i].meaning;
    return CT__MEANS_NOTHING;
}

#define ANGLES "yaw theta heading psi th orientation course compass"
#define SPEEDS "v vel velocity speed"

/* Names that end in an axis: of a quaternion, a velocity, a turn rate, a position. */
static ct__meaning with_axis(const words *w, const char *last)
{
    const int axis = axis_of(last);
    if (any_of(w, "q quat quaternion orientation rotation") && (axis >= 0 || !strcmp(last, "w")))
        return axis < 0 ? CT__MEANS_QW : (ct__meaning)(CT__MEANS_QX + axis);
    if (axis < 0) return CT__MEANS_NOTHING;
    if (any_of(w, "w omega angular gyro gyr gyroscope rate rates")) return (ct__meaning)(CT__MEANS_WX + axis);
    if (any_of(w, "v vel velocity linear speed")) return (ct__meaning)(CT__MEANS_VX + axis);
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

static ct__meaning of_words(const words *w)
{
    const char *last = w->word[w->count - 1];
    if (w->count <= 3 && pixel_name(w) != CT__MEANS_NOTHING) return pixel_name(w);
    if (any_of(w,
               "std dev stdev stddev sigma cov covariance var variance err error acc accel acceleration accuracy snr "
               "bias mag magnetic ba bg b seq"))
        return CT__MEANS_NOTHING;
    if (w->count == 1 && is_one_of(last, "t time timestamp stamp timestamps secs sec rostime unixtime"))
        return CT__MEANS_TIME;
    if (any_of(w, ANGLES) && any_of(w, "rate dot velocity vel")) return CT__MEANS_WZ;
    if (any_of(w, "turn angular") && any_of(w, "rate velocity vel speed") && axis_of(last) < 0) return CT__MEANS_WZ;
    const ct__meaning axis = with_axis(w, last), plain = w->count <= 2 ? short_name(last) : CT__MEANS_NOTHING;
    if (axis != CT__MEANS_NOTHING) return axis;
    if (plain != CT__MEANS_NOTHING) return plain;
    if (any_of(w, ANGLES) && any_of(w, "d delta")) return CT__MEANS_DYAW;
    if (any_of(w, ANGLES)) return CT__MEANS_YAW;
    if (is_one_of(last, SPEEDS) && w->count <= 3) return CT__MEANS_VX;
    if (any_of(w, "range rho dist distance ranges")) return CT__MEANS_RANGE;
    if (is_one_of(last, "bearing azimuth angle phi")) return CT__MEANS_BEARING;
    if (any_of(w, "landmark beacon barcode marker anchor subject feature target tag")) return CT__MEANS_ID;
    if (is_one_of(last, "id ids")) return CT__MEANS_ID;
    if (any_of(w, "time timestamp stamp") && w->count <= 3) return CT__MEANS_TIME;
    return CT__MEANS_NOTHING;
}

ct__meaning ct__draft_meaning(const char *name, const char **unit)
{
    words w = cut(name);
    *unit = NULL;
    const char *array = strstr(name, "[]"); /* but "q_RS_w []" has no unit, as EuRoC writes it */
    if (!w.count || (array && (array == name || array[-1] != ' '))) return CT__MEANS_NOTHING;
    if (w.count > 1 && (*unit = unit_of(w.word[w.count - 1])))
        w.count--;
    else if (w.count > 1 && is_one_of(w.word[w.count - 1], "m s"))
        w.count--; /* x_m, t_s */
    return of_words(&w);
}
