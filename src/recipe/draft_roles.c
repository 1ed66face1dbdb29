/* draft_roles.c: what each source is, by its fields, its name and its type; and what it is called in the recipe. */
#include "recipe/draft.h"

#include <math.h>

#define OTHER_WORDS "filtered map amcl" /* topics that another program computed */

static int is_named(const ct__draft_source *s, const char *words)
{
    if (s->topic) return ct__draft_has_word(s->topic, words) || (s->each && ct__draft_has_word(s->type, words));
    return s->kind ? ct__draft_has_word(s->kind, words) : ct__draft_has_word(s->pattern, words);
}

int ct__draft_has_rotation(const ct__draft_source *s)
{
    return ct__draft_has(s, CT__MEANS_YAW) || (ct__draft_has(s, CT__MEANS_QW) && !s->zero_rotation);
}

static int has_position(const ct__draft_source *s)
{
    return (ct__draft_has(s, CT__MEANS_X) && ct__draft_has(s, CT__MEANS_Y)) || ct__draft_has(s, CT__MEANS_MATRIX);
}

static int has_fix(const ct__draft_source *s)
{
    return ct__draft_has(s, CT__MEANS_LATITUDE) && ct__draft_has(s, CT__MEANS_LONGITUDE);
}

/* Without stamps: a map of landmarks, or a table of their names. */
static ct__draft_role untimed_role(ct__draft_source *s)
{
    if (ct__draft_has(s, CT__MEANS_ID) && has_position(s)) return CT__DRAFT_MAP;
    if (ct__draft_has(s, CT__MEANS_ID) && ct__draft_has(s, CT__MEANS_ID2)) return CT__DRAFT_IDS;
    for (int m = CT__MEANS_X; m < CT__MEANS_COUNT && !s->why_unused; m++)
        if (ct__draft_has(s, (ct__meaning)m) && m != CT__MEANS_ID)
            s->why_unused = "no column was recognised as the stamp; name it: time: COLUMN";
    return CT__DRAFT_UNUSED;
}

static ct__draft_role sighting_role(const ct__draft_source *s)
{
    const int range = ct__draft_has(s, CT__MEANS_RANGE), bearing = ct__draft_has(s, CT__MEANS_BEARING);
    if (!ct__draft_has(s, CT__MEANS_ID)) return CT__DRAFT_UNUSED;
    if (ct__draft_has(s, CT__MEANS_U) && ct__draft_has(s, CT__MEANS_V))
        return ct__draft_has(s, CT__MEANS_U_RIGHT) && ct__draft_has(s, CT__MEANS_V_RIGHT) ? CT__DRAFT_STEREO
                                                                                          : CT__DRAFT_PIXEL;
    return range && bearing ? CT__DRAFT_RANGE_BEARING
           : range          ? CT__DRAFT_RANGE
           : bearing        ? CT__DRAFT_BEARING
                            : CT__DRAFT_UNUSED;
}

/* Speeds of two wheels: their mean, and their difference over the track. */
static ct_status from_wheel_speeds(ct__draft *d, ct__draft_source *s)
{
    const char *left = s->field[CT__MEANS_LEFT_SPEED], *right = s->field[CT__MEANS_RIGHT_SPEED];
    s->field[CT__MEANS_VX] = ct__draft_print(d, "(%s + %s) / 2", left, right);
    s->field[CT__MEANS_WZ] = ct__draft_print(d, "(%s - %s) / 0.5", right, left);
    s->unit[CT__MEANS_VX] = s->unit[CT__MEANS_LEFT_SPEED];
    s->unit[CT__MEANS_WZ] = s->unit[CT__MEANS_LEFT_SPEED] && strcmp(s->unit[CT__MEANS_LEFT_SPEED], "m/s")
                                ? ct__draft_print(d, "%s", s->unit[CT__MEANS_LEFT_SPEED])
                                : NULL;
    s->guess = 1;
    return s->field[CT__MEANS_VX] && s->field[CT__MEANS_WZ] ? CT_OK : CT_E_MEMORY;
}

static ct__draft_role motion_role(ct__draft *d, ct__draft_source *s)
{
    const int turns = ct__draft_has(s, CT__MEANS_DYAW), moves = ct__draft_has(s, CT__MEANS_VX);
    if (turns && !ct__draft_has(s, CT__MEANS_DX) && ct__draft_has(s, CT__MEANS_RANGE)) { /* distance, dheading */
        s->field[CT__MEANS_DX] = s->field[CT__MEANS_RANGE];
        s->unit[CT__MEANS_DX] = s->unit[CT__MEANS_RANGE];
        s->field[CT__MEANS_RANGE] = NULL;
    }
    if (s->interval > 1 && has_position(s) && ct__draft_has(s, CT__MEANS_YAW)) { /* a record is from stamp to stamp */
        static const ct__meaning MOVED[][2] = {
            {CT__MEANS_X, CT__MEANS_DX}, {CT__MEANS_Y, CT__MEANS_DY}, {CT__MEANS_YAW, CT__MEANS_DYAW}};
        for (int i = 0; i < 3; i++)
            s->field[MOVED[i][1]] = s->field[MOVED[i][0]], s->unit[MOVED[i][1]] = s->unit[MOVED[i][0]];
        return CT__DRAFT_ODOMETRY_INCREMENT;
    }
    if (turns && ct__draft_has(s, CT__MEANS_DX)) return CT__DRAFT_ODOMETRY_INCREMENT;
    if (moves && ct__draft_has(s, CT__MEANS_WZ)) return CT__DRAFT_ODOMETRY_VELOCITY;
    if (ct__draft_has(s, CT__MEANS_LEFT) && ct__draft_has(s, CT__MEANS_RIGHT)) return CT__DRAFT_ODOMETRY_WHEELS;
    if (ct__draft_has(s, CT__MEANS_LEFT_SPEED) && ct__draft_has(s, CT__MEANS_RIGHT_SPEED))
        return from_wheel_speeds(d, s) == CT_OK ? CT__DRAFT_ODOMETRY_VELOCITY : CT__DRAFT_UNUSED;
    const int still = has_position(s) || has_fix(s) || ct__draft_has(s, CT__MEANS_RANGE);
    if (moves && !still && !s->topic) return CT__DRAFT_ODOMETRY_VELOCITY; /* without a turn rate */
    if (ct__draft_has(s, CT__MEANS_WZ) && !still && !ct__draft_has_rotation(s))
        s->why_unused = "turn rates without speeds: no odometry needs them";
    return CT__DRAFT_UNUSED;
}

static ct__draft_role timed_role(ct__draft *d, ct__draft_source *s)
{
    const int transform = s->each != NULL;
    if (is_named(s, CT__DRAFT_TRUTH_WORDS) && (has_position(s) || has_fix(s))) return CT__DRAFT_TRUTH;
    if (transform)
        return ct__draft_has_word(s->type, "odom") && ct__draft_has_word(s->type, "base footprint link")
                   ? CT__DRAFT_ODOMETRY_POSE
                   : CT__DRAFT_UNUSED;
    if (s->topic && is_named(s, "static")) return CT__DRAFT_UNUSED;
    if (s->topic && is_named(s, "gps") && has_position(s)) return CT__DRAFT_POSITION;
    const ct__draft_role motion = s->topic && is_named(s, OTHER_WORDS) ? CT__DRAFT_UNUSED : motion_role(d, s);
    if (motion != CT__DRAFT_UNUSED) return motion;
    if (has_fix(s)) return CT__DRAFT_GEODETIC;
    const ct__draft_role sighting = sighting_role(s);
    if (sighting != CT__DRAFT_UNUSED) return sighting;
    if (s->topic && is_named(s, OTHER_WORDS)) {
        s->why_unused = "another program's estimate, it seems";
        return CT__DRAFT_UNUSED;
    }
    if (has_position(s) && (ct__draft_has_rotation(s) || ct__draft_has(s, CT__MEANS_MATRIX)))
        return is_named(s, CT__DRAFT_ODOMETRY_WORDS) ? CT__DRAFT_ODOMETRY_POSE : CT__DRAFT_POSE;
    if (has_position(s)) return CT__DRAFT_POSITION;
    if (ct__draft_has_rotation(s)) return CT__DRAFT_HEADING;
    const int height = ct__draft_has(s, CT__MEANS_HEIGHT) || ct__draft_has(s, CT__MEANS_DOWN);
    return height && !s->why_unused ? CT__DRAFT_HEIGHT : CT__DRAFT_UNUSED;
}

int ct__draft_is_odometry(const ct__draft_source *s)
{
    return s->role == CT__DRAFT_ODOMETRY_VELOCITY || s->role == CT__DRAFT_ODOMETRY_INCREMENT ||
           s->role == CT__DRAFT_ODOMETRY_POSE || s->role == CT__DRAFT_ODOMETRY_WHEELS;
}

static ct__draft_source *first_with(ct__draft *d, ct__draft_role role)
{
    for (int64_t i = 0; i < d->sources; i++)
        if (d->source[i].role == role) return &d->source[i];
    return NULL;
}

/* ---- one odometry ---- */

/* A turn rate counts most, then the name. */
static int odometry_rank(const ct__draft_source *s)
{
    const int turns = s->role != CT__DRAFT_ODOMETRY_VELOCITY || ct__draft_has(s, CT__MEANS_WZ);
    return 2 * turns + is_named(s, CT__DRAFT_ODOMETRY_WORDS);
}

static ct__draft_source *choose_odometry(ct__draft *d)
{
    ct__draft_source *best = NULL;
    for (int64_t i = 0; i < d->sources; i++) {
        ct__draft_source *s = &d->source[i];
        if (ct__draft_is_odometry(s) && (!best || odometry_rank(s) > odometry_rank(best))) best = s;
    }
    for (int64_t i = 0; i < d->sources; i++) {
        ct__draft_source *s = &d->source[i];
        if (s == best || !ct__draft_is_odometry(s)) continue;
        s->why_unused = "another source is the odometry";
        s->role = CT__DRAFT_UNUSED;
    }
    return best;
}

/* ---- turns from another source ---- */

static int has_turns_only(const ct__draft_source *s)
{
    return s->has_time && ct__draft_has(s, CT__MEANS_WZ) && !ct__draft_has(s, CT__MEANS_VX) && !has_position(s) &&
           !has_fix(s) && (s->role == CT__DRAFT_UNUSED || s->role == CT__DRAFT_HEADING);
}

/* Wheels have their turns by a track that nobody has told, a speed has none: a gyroscope measures them. */
static ct_status choose_turns(ct__draft *d, const ct__draft_source *odometry)
{
    const int own = !odometry || (odometry->role != CT__DRAFT_ODOMETRY_WHEELS &&
                                  (odometry->role != CT__DRAFT_ODOMETRY_VELOCITY ||
                                   (ct__draft_has(odometry, CT__MEANS_WZ) && !odometry->guess)));
    for (int64_t i = 0; i < d->sources; i++) {
        ct__draft_source *s = &d->source[i];
        if (!has_turns_only(s)) continue;
        if (own) {
            if (s->role == CT__DRAFT_UNUSED && odometry)
                s->why_unused = "turn rates, which the odometry has, too; `turn:` takes those of a sensor turn_rate";
            continue;
        }
        if (s->role == CT__DRAFT_UNUSED) {
            s->role = CT__DRAFT_TURN_RATE;
            s->why_unused = NULL;
            return CT_OK;
        }
        CT_TRY(ct__grow(&d->source, &d->capacity, d->sources + 1, sizeof *d->source, "sources", d->err));
        d->source[d->sources] = d->source[i]; /* its rotation stays a heading */
        d->source[d->sources++].role = CT__DRAFT_TURN_RATE;
        return CT_OK;
    }
    return CT_OK;
}

/* ---- one truth ---- */

static int is_absolute(const ct__draft_source *s)
{
    return s->role == CT__DRAFT_POSE || s->role == CT__DRAFT_POSITION || s->role == CT__DRAFT_GEODETIC;
}

static int is_other_sensor(const ct__draft_source *s)
{
    return is_absolute(s) || s->role == CT__DRAFT_RANGE || s->role == CT__DRAFT_BEARING ||
           s->role == CT__DRAFT_RANGE_BEARING || s->role == CT__DRAFT_PIXEL || s->role == CT__DRAFT_STEREO;
}

/* The name of a file; with its folder if it is one that every folder has. */
static const char *last_name(const char *pattern)
{
    const char *slash = strrchr(pattern, '/');
    return slash && strncmp(slash + 1, "data.", 5) ? slash + 1 : pattern;
}

int ct__draft_is_geodetic_truth(const ct__draft *d, const ct__draft_source *s)
{
    int others = 0;
    if (s->role != CT__DRAFT_TRUTH || !has_fix(s)) return 0;
    for (int64_t i = 0; i < d->sources; i++) others += d->source[i].role == CT__DRAFT_GEODETIC;
    return others || !has_position(s);
}

/* How likely an absolute sensor is the truth by what it is: an inertial navigation system; poses beside odometry at
 * 20 Hz or more; the densest positions, if something slower is left to measure. 0: it is a sensor. */
static int truth_rank(const ct__draft *d, const ct__draft_source *s)
{
    int others = 0;
    const char *name = s->topic ? s->topic : s->kind ? s->kind : last_name(s->pattern);
    if (!is_absolute(s) || ct__draft_has_word(name, CT__DRAFT_GPS_WORDS " fix uwb amcl usbl slam")) return 0;
    for (int64_t i = 0; i < d->sources; i++) {
        const ct__draft_source *o = &d->source[i];
        others += o != s && is_other_sensor(o) && !(is_absolute(o) && o->period_s <= s->period_s);
    }
    if (is_named(s, CT__DRAFT_INS_WORDS)) return 4;
    if (s->role == CT__DRAFT_POSE && (s->period_s < 0.055 || (others && s->period_s < 0.25))) return 3;
    return others && s->role != CT__DRAFT_POSE && s->period_s < 0.11 ? 2 : 0;
}

static ct__draft_source *choose_truth(ct__draft *d, int odometry)
{
    ct__draft_source *truth = NULL, *best = NULL;
    for (int64_t i = 0; i < d->sources; i++) {
        ct__draft_source *s = &d->source[i];
        if (s->role != CT__DRAFT_TRUTH) continue;
        if (!truth)
            truth = s;
        else {
            s->why_unused = "another source is the truth";
            s->role = CT__DRAFT_UNUSED;
        }
    }
    if (truth || !odometry) return truth;
    for (int64_t i = 0; i < d->sources; i++) {
        ct__draft_source *s = &d->source[i];
        const int better = best && truth_rank(d, s) == truth_rank(d, best) && s->period_s < best->period_s;
        if (truth_rank(d, s) > (best ? truth_rank(d, best) : 0) || better) best = s;
    }
    if (best) best->role = CT__DRAFT_TRUTH, best->guess = 1;
    return best;
}

/* Without odometry, poses are it; without anything else, the truth is. */
static ct_status choose_roles(ct__draft *d)
{
    const int graph = first_with(d, CT__DRAFT_GRAPH) != NULL;
    ct__draft_source *odometry = choose_odometry(d), *truth = choose_truth(d, odometry != NULL);
    ct__draft_source *other = odometry || graph ? NULL : first_with(d, CT__DRAFT_POSE);
    const int sensors = first_with(d, CT__DRAFT_POSITION) || first_with(d, CT__DRAFT_GEODETIC) ||
                        first_with(d, CT__DRAFT_RANGE) || first_with(d, CT__DRAFT_RANGE_BEARING);
    if (!odometry && !graph && !other && !sensors) other = truth;
    const int pose = other && has_position(other);
    if (pose && (ct__draft_has_rotation(other) || ct__draft_has(other, CT__MEANS_MATRIX)))
        other->role = CT__DRAFT_ODOMETRY_POSE;
    const int64_t sources = d->sources;
    for (int64_t i = 0; i < sources; i++) { /* a yaw beside latitudes is a heading; a course over ground is none */
        if (d->source[i].role != CT__DRAFT_GEODETIC || !ct__draft_has(&d->source[i], CT__MEANS_YAW)) continue;
        if (ct__draft_has_word(d->source[i].field[CT__MEANS_YAW], "course cog head")) continue;
        CT_TRY(ct__grow(&d->source, &d->capacity, d->sources + 1, sizeof *d->source, "sources", d->err));
        d->source[d->sources] = d->source[i];
        d->source[d->sources++].role = CT__DRAFT_HEADING;
    }
    for (int64_t i = 0; i < d->sources; i++)
        if (ct__draft_is_odometry(&d->source[i])) return choose_turns(d, &d->source[i]);
    return CT_OK;
}

/* ---- names ---- */

static const char *const NAME[][2] = {
    [CT__DRAFT_UNUSED] = {"unused", ""},
    [CT__DRAFT_ODOMETRY_VELOCITY] = {"odometry", "odom"},
    [CT__DRAFT_ODOMETRY_INCREMENT] = {"odometry", "odom"},
    [CT__DRAFT_ODOMETRY_POSE] = {"odometry", "odom"},
    [CT__DRAFT_ODOMETRY_WHEELS] = {"odometry", "odom"},
    [CT__DRAFT_TURN_RATE] = {"turns", "gyro"},
    [CT__DRAFT_POSE] = {"poses", "pose"},
    [CT__DRAFT_POSITION] = {"positions", "position"},
    [CT__DRAFT_GEODETIC] = {"fixes", "gps"},
    [CT__DRAFT_HEADING] = {"headings", "heading"},
    [CT__DRAFT_HEIGHT] = {"heights", "height"},
    [CT__DRAFT_RANGE] = {"ranges", "range"},
    [CT__DRAFT_BEARING] = {"bearings", "bearing"},
    [CT__DRAFT_RANGE_BEARING] = {"sightings", "sighting"},
    [CT__DRAFT_PIXEL] = {"pixels", "camera"},
    [CT__DRAFT_STEREO] = {"pixels", "stereo"},
    [CT__DRAFT_TRUTH] = {"reference", ""},
    [CT__DRAFT_MAP] = {"map", ""},
    [CT__DRAFT_IDS] = {"codes", ""},
    [CT__DRAFT_GRAPH] = {"graph", ""},
};

static void name_sources(ct__draft *d)
{
    for (int64_t i = 0; i < d->sources; i++) {
        ct__draft_source *s = &d->source[i];
        int before = 0;
        for (int64_t k = 0; k < i; k++) before += !strcmp(NAME[d->source[k].role][0], NAME[s->role][0]);
        const char *name = s->role == CT__DRAFT_POSITION && is_named(s, CT__DRAFT_GPS_WORDS) ? "gps" : NAME[s->role][1];
        snprintf(s->name, sizeof s->name, before ? "%s%d" : "%s", NAME[s->role][0], before + 1);
        if (name[0]) snprintf(s->sensor, sizeof s->sensor, before ? "%s%d" : "%s", name, before + 1);
    }
    for (int64_t i = 0; i < d->sources; i++) /* a fix and positions may both be called gps */
        for (int64_t k = 0; k < i; k++)
            if (d->source[i].sensor[0] && !strcmp(d->source[i].sensor, d->source[k].sensor))
                snprintf(d->source[i].sensor, sizeof d->source[i].sensor, "%s", d->source[i].name);
}

ct_status ct__draft_roles(ct__draft *d)
{
    for (int64_t i = 0; i < d->sources; i++) {
        ct__draft_source *s = &d->source[i];
        if (s->role == CT__DRAFT_GRAPH || s->why_unused) continue;
        s->role = s->has_time ? timed_role(d, s) : untimed_role(s);
        if (s->role != CT__DRAFT_UNUSED) s->why_unused = NULL;
    }
    CT_TRY(choose_roles(d));
    name_sources(d);
    return CT_OK;
}
