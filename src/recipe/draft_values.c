/* draft_values.c: values of a source as text of a recipe: columns with units and signs, poses, motion. */
#include "recipe/draft.h"

#include <ctype.h>
#include <math.h>

typedef ct__draft_writer writer;

/* ---- words ---- */

void ct__draft_put_word(ct__text *out, const char *word)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/";
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789./-* ";
    if (strspn(word, LETTERS) && !word[strspn(word, PLAIN)]) {
        ct__text_put(out, word);
        return;
    }
    ct__text_put(out, "\"");
    for (const char *p = word; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            ct__text_printf(out, "\\x%02x", (unsigned)(unsigned char)*p);
        else if (*p == '"' || *p == '\\')
            ct__text_printf(out, "\\%c", *p);
        else
            ct__text_bytes(out, p, 1);
    }
    ct__text_put(out, "\"");
}

static const char *default_unit(ct__meaning m)
{
#define X(constant, unit) unit,
    static const char *const UNIT[] = {CT__MEANING_LIST(X)};
#undef X
    return UNIT[m];
}

/* "heading in deg", "-depth", "lat * 1e-07"; the number 0 for a meaning that the source does not have. */
static void value_of(const ct__draft_source *s, ct__meaning m, double sign, char text[600])
{
    const char *unit = s->unit[m], *field = s->field[m];
    const double factor = sign * (s->factor[m] != 0 ? s->factor[m] : 1);
    const int same = !unit || !strcmp(unit, default_unit(m));
    char scaled[500];
    if (!field)
        snprintf(text, 600, "0");
    else {
        if (factor == 1)
            snprintf(scaled, sizeof scaled, "%s", field);
        else if (factor == -1)
            snprintf(scaled, sizeof scaled, strpbrk(field, "+-/ ") && field[0] != '`' ? "-(%s)" : "-%s", field);
        else
            snprintf(scaled, sizeof scaled, "%s * %.12g", field, factor);
        snprintf(text, 600, same ? "%s" : "%s in %s", scaled, unit);
    }
}

static void put_value(writer *w, const ct__draft_source *s, ct__meaning m, double sign)
{
    char text[600];
    value_of(s, m, sign, text);
    if (strcmp(text, "0"))
        ct__draft_put_word(&w->out, text);
    else
        ct__text_put(&w->out, text);
}

#define CHECK_UNITS " # check: columns or units, guessed from values"

void ct__draft_put_values(writer *w, const ct__draft_source *s, const char *key, int count, const ct__meaning m[])
{
    int guessed = 0;
    ct__text_printf(&w->out, "%s: ", key);
    if (count > 1) ct__text_put(&w->out, "[");
    for (int i = 0; i < count; i++) {
        if (i) ct__text_put(&w->out, ", ");
        put_value(w, s, m[i], 1);
        guessed |= s->guessed[m[i]];
    }
    ct__text_put(&w->out, count > 1 ? "]" : "");
    ct__text_put(&w->out, guessed ? CHECK_UNITS "\n" : "\n");
}

/* ---- sources ---- */

/* Is a column of this name the stamp, without a word about it? t, time, timestamp, stamp, with a unit behind or not. */
static int is_stamp_name(const char *field)
{
    char word[40] = "";
    snprintf(word, sizeof word, "%.39s", field);
    for (char *p = word; *p; p++) *p = (char)tolower((unsigned char)*p);
    if (ct__word_find("t time timestamp stamp", word) >= 0) return 1;
    char *end = strrchr(word, '_');
    if (!end || ct__word_find("s sec secs second seconds ms msec us usec ns nsec", end + 1) < 0) return 0;
    *end = 0;
    return ct__word_find("t time timestamp stamp", word) >= 0;
}

static void put_time(writer *w, const ct__draft_source *s)
{
    char text[300];
    ct__text *out = &w->out;
    const char *field = s->field[CT__MEANS_TIME], *unit = s->unit[CT__MEANS_TIME];
    if (field && (s->guessed[CT__MEANS_TIME] || !is_stamp_name(field))) {
        snprintf(text, sizeof text, unit && strcmp(unit, "s") ? "%s in %s" : "%s", field, unit);
        ct__text_put(out, "\n    time: ");
        ct__draft_put_word(out, text);
        if (s->guessed[CT__MEANS_TIME] && unit) ct__text_put(out, " # check: the unit, guessed from values");
    } else if (!field && ct__draft_has(s, CT__MEANS_FRAME) && !s->topic) {
        snprintf(text, sizeof text, "%s / %g", s->field[CT__MEANS_FRAME], s->rate_hz > 0 ? s->rate_hz : 100);
        ct__text_put(out, "\n    time: ");
        ct__draft_put_word(out, text);
        ct__text_put(out, s->rate_hz > 0 ? " # frames a second, as above the table" : " # check: frames a second");
    }
    if (s->clock)
        ct__text_printf(out, "\n    # check: its stamps have nothing in common with those of %s: another clock?",
                        s->clock);
}

void ct__draft_put_source(writer *w, const ct__draft_source *s)
{
    ct__text *out = &w->out;
    const char *field = s->field[CT__MEANS_TIME];
    const int valid = ct__draft_has(s, CT__MEANS_VALID);
    const int time = field ? s->guessed[CT__MEANS_TIME] || !is_stamp_name(field) : ct__draft_has(s, CT__MEANS_FRAME);
    ct__text_printf(out, "  %s:", s->name);
    if (!s->topic && !time && !valid && !s->skip && !s->clock && s->format == CT_SOURCE_AUTO) {
        ct__text_put(out, " ");
        ct__draft_put_word(out, s->pattern);
        ct__text_put(out, "\n");
        return;
    }
    ct__text_put(out, "\n    files: ");
    ct__draft_put_word(out, s->pattern);
    if (s->skip) ct__text_printf(out, "\n    skip: %lld # lines above the names of columns", (long long)s->skip);
    if (s->format != CT_SOURCE_AUTO) {
        ct__text_printf(out, "\n    format: %s", ct_source_format_name(s->format));
        if (s->format == CT_SOURCE_KITTI) ct__text_put(out, " # check: without stamps, lines are numbered: 1 a second");
    }
    if (s->topic) {
        ct__text_put(out, "\n    topic: ");
        ct__draft_put_word(out, s->topic);
        ct__text_printf(out, " # %s", s->type);
    }
    if (s->each) ct__text_printf(out, "\n    each: %s", s->each);
    if (s->where) {
        ct__text_put(out, "\n    where: ");
        ct__draft_put_word(out, s->where);
    } else if (valid)
        ct__text_printf(out, "\n    where: %s == 1", s->field[CT__MEANS_VALID]);
    put_time(w, s);
    ct__text_put(out, "\n");
}

/* ---- poses ---- */

#define MATRIX "[m11, m12, m13, m14, m21, m22, m23, m24, m31, m32, m33, m34]"

/* Columns are north, east, down, and the rotation is that of a body with z down. */
static int has_ned_columns(const ct__draft_source *s) { return s->ned && ct__draft_has(s, CT__MEANS_DOWN); }

static int has_euler(const ct__draft_source *s)
{
    return ct__draft_has(s, CT__MEANS_YAW) && ct__draft_has(s, CT__MEANS_ROLL) && ct__draft_has(s, CT__MEANS_PITCH);
}

static int has_quaternion(const ct__draft_source *s) { return ct__draft_has(s, CT__MEANS_QW) && !s->zero_rotation; }

void ct__draft_put_position(writer *w, const ct__draft_source *s, const char *indent)
{
    const int px4 = s->ned && ct__draft_has(s, CT__MEANS_Z); /* x is north, y east, z down */
    ct__text_put(&w->out, indent);
    if (px4) {
        ct__text_put(&w->out, "position: [");
        put_value(w, s, CT__MEANS_Y, 1);
        ct__text_put(&w->out, ", ");
        put_value(w, s, CT__MEANS_X, 1);
        if (w->space) ct__text_put(&w->out, ", ");
        if (w->space) put_value(w, s, CT__MEANS_Z, -1);
        ct__text_put(&w->out, "] # check: x is north, y east, z down\n");
        return;
    }
    if (!w->space || (!ct__draft_has(s, CT__MEANS_Z) && !ct__draft_has(s, CT__MEANS_DOWN))) {
        CT__DRAFT_PUT(w, s, "position", CT__MEANS_X, CT__MEANS_Y);
        return;
    }
    if (ct__draft_has(s, CT__MEANS_Z)) {
        CT__DRAFT_PUT(w, s, "position", CT__MEANS_X, CT__MEANS_Y, CT__MEANS_Z);
        return;
    }
    ct__text_put(&w->out, "position: [");
    put_value(w, s, CT__MEANS_X, 1);
    ct__text_put(&w->out, ", ");
    put_value(w, s, CT__MEANS_Y, 1);
    ct__text_put(&w->out, ", ");
    put_value(w, s, CT__MEANS_DOWN, -1);
    ct__text_put(&w->out, "]\n");
}

/* A heading runs clockwise from north, a yaw counter-clockwise from x. */
void ct__draft_put_yaw(writer *w, const ct__draft_source *s, const char *indent)
{
    char value[600], text[700];
    const int north = s->compass || (s->ned && s->north);
    value_of(s, CT__MEANS_YAW, 1, value);
    ct__text_put(&w->out, indent);
    if (!north) {
        CT__DRAFT_PUT(w, s, "yaw", CT__MEANS_YAW);
        if (s->north)
            ct__text_printf(&w->out, "%s# check: counter-clockwise from east. Clockwise from north: pi/2 - (%s)\n",
                            indent, value);
        return;
    }
    snprintf(text, sizeof text, strchr(value, ' ') ? "pi/2 - (%s)" : "pi/2 - %s", value);
    ct__text_put(&w->out, "yaw: ");
    ct__draft_put_word(&w->out, text);
    ct__text_printf(&w->out, " # check: clockwise from north%s; counter-clockwise from x: %s\n",
                    s->guessed[CT__MEANS_YAW] ? ", unit guessed from values" : "", value);
}

void ct__draft_put_pose(writer *w, const ct__draft_source *s, const char *indent)
{
    ct__text *out = &w->out;
    if (ct__draft_has(s, CT__MEANS_MATRIX)) {
        ct__text_printf(out, "%smatrix: %s\n%saxes: camera # check: body, if x is ahead\n", indent, MATRIX, indent);
        return;
    }
    const int ned = s->ned && (has_quaternion(s) || (w->space && has_euler(s)));
    if (ned && has_ned_columns(s)) {
        ct__text_put(out, indent);
        CT__DRAFT_PUT(w, s, "position", CT__MEANS_Y, CT__MEANS_X, CT__MEANS_DOWN);
    } else if (ned && ct__draft_has(s, CT__MEANS_Z)) {
        ct__text_put(out, indent);
        CT__DRAFT_PUT(w, s, "position", CT__MEANS_X, CT__MEANS_Y, CT__MEANS_Z);
    } else
        ct__draft_put_position(w, s, indent);
    if (has_quaternion(s)) {
        ct__text_put(out, indent);
        CT__DRAFT_PUT(w, s, "quaternion", CT__MEANS_QX, CT__MEANS_QY, CT__MEANS_QZ, CT__MEANS_QW);
    } else if (has_euler(s) && w->space) {
        ct__text_put(out, indent);
        CT__DRAFT_PUT(w, s, "euler", CT__MEANS_ROLL, CT__MEANS_PITCH, CT__MEANS_YAW);
    } else if (ct__draft_has(s, CT__MEANS_YAW) && !w->space)
        ct__draft_put_yaw(w, s, indent);
    if (ned) ct__text_printf(out, "%saxes: ned # check: body, if z is up\n", indent);
}

/* Several sources of latitudes share the origin of the first. */
static void put_origin(writer *w, const ct__draft_source *s, const char *indent)
{
    const ct__draft_source *first = NULL;
    int count = 0;
    for (int64_t i = 0; i < w->d->sources; i++) {
        const ct__draft_source *o = &w->d->source[i];
        if (o->role != CT__DRAFT_GEODETIC && !ct__draft_is_geodetic_truth(w->d, o)) continue;
        if (!count++) first = o;
    }
    if (count > 1 && isfinite(first->first[CT__MEANS_LATITUDE]) && isfinite(first->first[CT__MEANS_LONGITUDE])) {
        double v[3];
        static const ct__meaning M[] = {CT__MEANS_LATITUDE, CT__MEANS_LONGITUDE, CT__MEANS_HEIGHT};
        for (int i = 0; i < 3; i++)
            v[i] = (isfinite(first->first[M[i]]) ? first->first[M[i]] : 0) *
                   (first->factor[M[i]] != 0 ? first->factor[M[i]] : 1);
        ct__text_printf(&w->out, "%sorigin: [%.7f, %.7f, %.2f] # the same for all of them\n", indent, v[0], v[1], v[2]);
    } else if (s->role == CT__DRAFT_GEODETIC)
        ct__text_printf(&w->out,
                        "%s# origin: [latitude, longitude, height] of the truth's zero, if that is not the first fix\n",
                        indent);
}

void ct__draft_put_geodetic(writer *w, const ct__draft_source *s, const char *indent)
{
    ct__text_put(&w->out, indent);
    if (ct__draft_has(s, CT__MEANS_HEIGHT))
        CT__DRAFT_PUT(w, s, "geodetic", CT__MEANS_LATITUDE, CT__MEANS_LONGITUDE, CT__MEANS_HEIGHT);
    else
        CT__DRAFT_PUT(w, s, "geodetic", CT__MEANS_LATITUDE, CT__MEANS_LONGITUDE);
    put_origin(w, s, indent);
}

/* ---- motion ---- */

/* Distances that the wheels have travelled so far, of counts or of metres. */
static void put_wheels(writer *w, const ct__draft_source *s)
{
    static const ct__meaning SIDE[] = {CT__MEANS_LEFT, CT__MEANS_RIGHT};
    const int metres = ct__draft_has_word(s->field[CT__MEANS_LEFT], "m mm cm dist distance travel") ||
                       (s->unit[CT__MEANS_LEFT] && strcmp(s->unit[CT__MEANS_LEFT], "1"));
    ct__text_put(&w->out, "    wheels: [");
    for (int i = 0; i < 2; i++) {
        char text[300];
        const char *unit = s->unit[SIDE[i]], *field = s->field[SIDE[i]];
        if (metres)
            snprintf(text, sizeof text, unit && strcmp(unit, "m") ? "%s in %s" : "%s", field, unit);
        else
            snprintf(text, sizeof text, "%s * 0.001", field);
        if (i) ct__text_put(&w->out, ", ");
        ct__draft_put_word(&w->out, text);
    }
    ct__text_put(&w->out,
                 metres ? "]\n" : "] # check: 0.001 m a tick, 2 pi times the radius over the ticks of a turn\n");
    if (!w->turns) ct__text_put(&w->out, "    track: 0.5 # check: m between the wheels\n");
}

static void put_turn(writer *w)
{
    ct__text_printf(&w->out, "    turn: %s # its turn rates, of another source\n", w->turns->sensor);
}

/* The steering angle in the table of a speed without turn rates, which may be a source of its own; NULL: none. */
static const ct__draft_source *steering_of(const writer *w, const ct__draft_source *s)
{
    for (int64_t i = 0; i < w->d->sources; i++) {
        const ct__draft_source *o = &w->d->source[i];
        if (ct__draft_has(o, CT__MEANS_STEER) && !o->topic && !s->topic && !strcmp(o->pattern, s->pattern)) return o;
    }
    return NULL;
}

/* A car turns by speed times tan(steering) over its wheelbase. */
static void put_steered(writer *w, const ct__draft_source *s, const ct__draft_source *steering)
{
    char speed[600], angle[600], turn[1300];
    value_of(s, CT__MEANS_VX, 1, speed);
    value_of(steering, CT__MEANS_STEER, 1, angle);
    snprintf(turn, sizeof turn, "(%s) * tan(%s) / 2.7", speed, angle);
    ct__text_put(&w->out, "velocity: [");
    ct__draft_put_word(&w->out, speed);
    ct__text_put(&w->out, ", 0, ");
    ct__draft_put_word(&w->out, turn);
    ct__text_put(&w->out, "]\n");
    ct__text_put(&w->out, "    # check: 2.7 is the wheelbase, m; the angle is that of the front wheels, to the left\n");
}

void ct__draft_put_motion(writer *w, const ct__draft_source *s)
{
    if (s->role == CT__DRAFT_ODOMETRY_POSE) {
        ct__draft_put_pose(w, s, "    ");
        return;
    }
    if (s->role == CT__DRAFT_ODOMETRY_WHEELS) {
        put_wheels(w, s);
        if (w->turns) put_turn(w);
        return;
    }
    ct__text_put(&w->out, "    ");
    if (s->role == CT__DRAFT_ODOMETRY_INCREMENT) {
        CT__DRAFT_PUT(w, s, "increment", CT__MEANS_DX, CT__MEANS_DY, CT__MEANS_DYAW);
        if (s->interval > 1) ct__text_put(&w->out, "    # check: the stamp is that of the end of the step\n");
    } else if (w->turns) {
        if (w->space)
            CT__DRAFT_PUT(w, s, "velocity", CT__MEANS_VX, CT__MEANS_VY, CT__MEANS_VZ);
        else
            CT__DRAFT_PUT(w, s, "velocity", CT__MEANS_VX, CT__MEANS_VY);
        put_turn(w);
        return;
    } else if (w->space) {
        CT__DRAFT_PUT(w, s, "velocity", CT__MEANS_VX, CT__MEANS_VY, CT__MEANS_VZ);
        ct__text_put(&w->out, "    ");
        CT__DRAFT_PUT(w, s, "angular_velocity", CT__MEANS_WX, CT__MEANS_WY, CT__MEANS_WZ);
    } else if (!ct__draft_has(s, CT__MEANS_WZ) && steering_of(w, s)) {
        put_steered(w, s, steering_of(w, s));
        return;
    } else
        CT__DRAFT_PUT(w, s, "velocity", CT__MEANS_VX, CT__MEANS_VY, CT__MEANS_WZ);
    if (s->role != CT__DRAFT_ODOMETRY_VELOCITY) return;
    if (w->truth && w->truth->ned && !s->topic && ct__draft_has(s, CT__MEANS_VZ))
        ct__text_put(&w->out, "    axes: ned # check: as those of the truth; body, if y is to the left and z up\n");
    if (s->guess) ct__text_put(&w->out, "    # check: 0.5 is the track, m between the wheels\n");
    if (!ct__draft_has(s, CT__MEANS_WZ) && !w->space)
        ct__text_put(&w->out,
                     "    noise: {sigma: [0.05, 0.05, 1]} # check: the table has no turn rate; it counts as 0\n");
    if (s->factor[CT__MEANS_VY] < 0) ct__text_put(&w->out, "    # check: sway is to the right, y to the left\n");
}
