/* draft_roles.c: what each source is, by its fields, its name and its type; and what it is called in the recipe. */
#include "recipe/draft.h"

#include <math.h>

#define OTHER_WORDS "filtered map amcl" /* topics that another program computed */

static int is_named(const ct__draft_source *s, const char *words)
{
    if (s->topic) return ct__draft_has_word(s->topic, words) || (s->each && ct__draft_has_word(s->type, words));
    return s->kind ? ct__draft_has_word(s->kind, words) : ct__draft_has_word(s->pattern, words);
}

static int has_rotation(const ct__draft_source *s)
{
    return ct__draft_has(s, CT__MEANS_YAW) || (ct__draft_has(s, CT__MEANS_QW) && !s->zero_rotation);
}

static int has_position(const ct__draft_source *s)
{
    return (ct__draft_has(s, CT__MEANS_X) && ct__draft_has(s, CT__MEANS_Y)) || ct__draft_has(s, CT__MEANS_MATRIX);
}

/* Without stamps: a map of landmarks, or a table of their names. */
static ct__draft_role untimed_role(const ct__draft_source *s)
{
    if (ct__draft_has(s, CT__MEANS_ID) && has_position(s)) return CT__DRAFT_MAP;
    if (ct__draft_has(s, CT__MEANS_ID) && ct__draft_has(s, CT__MEANS_ID2)) return CT__DRAFT_IDS;
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

static ct__draft_role motion_role(ct__draft_source *s)
{
    const int turns = ct__draft_has(s, CT__MEANS_DYAW);
    if (turns && !ct__draft_has(s, CT__MEANS_DX) && ct__draft_has(s, CT__MEANS_RANGE)) { /* distance, dheading */
        s->field[CT__MEANS_DX] = s->field[CT__MEANS_RANGE];
        s->unit[CT__MEANS_DX] = s->unit[CT__MEANS_RANGE];
        s->field[CT__MEANS_RANGE] = NULL;
    }
    if (turns && ct__draft_has(s, CT__MEANS_DX)) return CT__DRAFT_ODOMETRY_INCREMENT;
    if (ct__draft_has(s, CT__MEANS_VX) && ct__draft_has(s, CT__MEANS_WZ)) return CT__DRAFT_ODOMETRY_VELOCITY;
    return CT__DRAFT_UNUSED;
}

static ct__draft_role timed_role(ct__draft_source *s)
{
    const int transform = s->each != NULL;
    if (is_named(s, CT__DRAFT_TRUTH_WORDS) && has_position(s)) return CT__DRAFT_TRUTH;
    if (transform)
        return ct__draft_has_word(s->type, "odom") && ct__draft_has_word(s->type, "base footprint link")
                   ? CT__DRAFT_ODOMETRY_POSE
                   : CT__DRAFT_UNUSED;
    if (s->topic && is_named(s, "static")) return CT__DRAFT_UNUSED;
    if (s->topic && is_named(s, "gps") && has_position(s)) return CT__DRAFT_POSITION;
    const ct__draft_role motion = s->topic && is_named(s, OTHER_WORDS) ? CT__DRAFT_UNUSED : motion_role(s);
    if (motion != CT__DRAFT_UNUSED) return motion;
    if (ct__draft_has(s, CT__MEANS_LATITUDE) && ct__draft_has(s, CT__MEANS_LONGITUDE)) return CT__DRAFT_GEODETIC;
    const ct__draft_role sighting = sighting_role(s);
    if (sighting != CT__DRAFT_UNUSED) return sighting;
    if (s->topic && is_named(s, OTHER_WORDS)) {
        s->why_unused = "another program's estimate, it seems";
        return CT__DRAFT_UNUSED;
    }
    if (has_position(s) && (has_rotation(s) || ct__draft_has(s, CT__MEANS_MATRIX)))
        return is_named(s, CT__DRAFT_ODOMETRY_WORDS) ? CT__DRAFT_ODOMETRY_POSE : CT__DRAFT_POSE;
    if (has_position(s)) return CT__DRAFT_POSITION;
    return has_rotation(s) ? CT__DRAFT_HEADING : CT__DRAFT_UNUSED;
}

static int is_odometry(ct__draft_role role)
{
    return role == CT__DRAFT_ODOMETRY_VELOCITY || role == CT__DRAFT_ODOMETRY_INCREMENT ||
           role == CT__DRAFT_ODOMETRY_POSE;
}

static ct__draft_source *first_with(ct__draft *d, ct__draft_role role)
{
    for (int64_t i = 0; i < d->sources; i++)
        if (d->source[i].role == role) return &d->source[i];
    return NULL;
}

/* One truth, one odometry; without odometry, poses are it; without anything else, the truth is. */
static void choose_roles(ct__draft *d)
{
    ct__draft_source *truth = NULL, *odometry = NULL;
    for (int64_t i = 0; i < d->sources; i++) {
        ct__draft_source *s = &d->source[i];
        const int second = (s->role == CT__DRAFT_TRUTH && truth) || (is_odometry(s->role) && odometry);
        if (s->role == CT__DRAFT_TRUTH && !truth)
            truth = s;
        else if (is_odometry(s->role) && !odometry)
            odometry = s;
        if (!second) continue;
        s->why_unused = s->role == CT__DRAFT_TRUTH ? "another source is the truth" : "another source is the odometry";
        s->role = CT__DRAFT_UNUSED;
    }
    if (odometry || first_with(d, CT__DRAFT_GRAPH)) return;
    ct__draft_source *other = first_with(d, CT__DRAFT_POSE);
    if (!other && truth && !first_with(d, CT__DRAFT_POSITION) && !first_with(d, CT__DRAFT_GEODETIC) &&
        !first_with(d, CT__DRAFT_RANGE) && !first_with(d, CT__DRAFT_RANGE_BEARING))
        other = truth;
    if (other && (has_rotation(other) || ct__draft_has(other, CT__MEANS_MATRIX))) other->role = CT__DRAFT_ODOMETRY_POSE;
}

/* ---- names ---- */

static const char *const NAME[][2] = {
    [CT__DRAFT_UNUSED] = {"unused", ""},
    [CT__DRAFT_ODOMETRY_VELOCITY] = {"odometry", "odom"},
    [CT__DRAFT_ODOMETRY_INCREMENT] = {"odometry", "odom"},
    [CT__DRAFT_ODOMETRY_POSE] = {"odometry", "odom"},
    [CT__DRAFT_POSE] = {"poses", "pose"},
    [CT__DRAFT_POSITION] = {"positions", "position"},
    [CT__DRAFT_GEODETIC] = {"fixes", "gps"},
    [CT__DRAFT_HEADING] = {"headings", "heading"},
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

void ct__draft_roles(ct__draft *d)
{
    for (int64_t i = 0; i < d->sources; i++) {
        ct__draft_source *s = &d->source[i];
        if (s->role == CT__DRAFT_GRAPH || s->why_unused) continue;
        s->role = s->has_time ? timed_role(s) : untimed_role(s);
    }
    choose_roles(d);
    name_sources(d);
}
