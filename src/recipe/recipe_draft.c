/* recipe_draft.c: a first recipe, from what was found in files. What is a guess is marked "check:". */
#include "recipe/draft.h"

#include <math.h>

typedef ct__draft_writer writer;

#define ROLES(w, s) for (ct__draft_source *s = (w)->d->source; s < (w)->d->source + (w)->d->sources; s++)

static int is_camera(const ct__draft_source *s)
{
    return s->role == CT__DRAFT_PIXEL || s->role == CT__DRAFT_STEREO;
}

static int is_sighting(const ct__draft_source *s)
{
    return is_camera(s) || s->role == CT__DRAFT_RANGE || s->role == CT__DRAFT_BEARING ||
           s->role == CT__DRAFT_RANGE_BEARING;
}

/* ---- states ---- */

/* The next of 1, 2, 5, 10, ... from a value on. */
static double round_up(double value)
{
    static const double STEP[] = {1, 2, 5, 10};
    const double decade = pow(10, floor(log10(value)));
    for (int i = 0; i < 4; i++)
        if (STEP[i] * decade >= value * (1 - 1e-9)) return STEP[i] * decade;
    return 10 * decade;
}

static const ct__draft_source *first_sensor(const writer *w)
{
    ROLES(w, s) if (s->sensor[0]) return s;
    return NULL;
}

static void put_states(writer *w)
{
    const ct__draft_source *o = w->odometry;
    const int grid = o && o->role != CT__DRAFT_ODOMETRY_INCREMENT && o->period_s < 0.6;
    ct__text_printf(&w->out, "\nstates:\n  type: %s%s\n", w->space ? "SE3" : "SE2",
                    !w->space && o && o->topic ? " # check: SE3 if it leaves the plane" : "");
    const double every = grid ? round_up(fmax(0.1, 2 * o->period_s)) : o ? o->period_s : INFINITY;
    if (w->truth && w->truth->period_s > 1.5 * every)
        ct__text_put(&w->out, "  at: truth # it is slower than the odometry: between its records it is not known\n");
    else if (grid)
        ct__text_printf(&w->out, "  every: %g # s\n", every);
    else if (o)
        ct__text_printf(&w->out, "  at: %s # a state at each record of the odometry\n", o->sensor);
    else if (first_sensor(w))
        ct__text_printf(&w->out, "  at: %s # check: there is no odometry\n", first_sensor(w)->sensor);
    else
        ct__text_put(&w->out, "  every: 0.2 # s\n");
    if (o && 5 * o->period_s > 1) ct__text_printf(&w->out, "  gap: %g # s\n", round_up(10 * o->period_s));
}

/* ---- sensors ---- */

static void put_camera(writer *w, const ct__draft_source *s)
{
    ct__text_put(&w->out, "    ");
    if (s->role == CT__DRAFT_STEREO) {
        CT__DRAFT_PUT(w, s, "pixel", CT__MEANS_U, CT__MEANS_V, CT__MEANS_U_RIGHT, CT__MEANS_V_RIGHT);
        ct__text_put(&w->out,
                     "    intrinsics: [500, 500, 320, 240, 0.1] # check: fu, fv, cu, cv, and the baseline in m\n");
    } else {
        CT__DRAFT_PUT(w, s, "pixel", CT__MEANS_U, CT__MEANS_V);
        ct__text_put(&w->out, "    intrinsics: [500, 500, 320, 240] # check: fu, fv, cu, cv\n");
    }
}

static void put_sighting(writer *w, const ct__draft_source *s)
{
    ct__text_put(&w->out, "    landmarks: landmarks\n    id: ");
    ct__draft_put_word(&w->out, s->field[CT__MEANS_ID]);
    ct__text_put(&w->out, "\n");
    if (is_camera(s)) {
        put_camera(w, s);
        return;
    }
    if (s->role != CT__DRAFT_BEARING) {
        ct__text_put(&w->out, "    ");
        CT__DRAFT_PUT(w, s, "range", CT__MEANS_RANGE);
    }
    if (s->role != CT__DRAFT_RANGE) {
        ct__text_put(&w->out, "    ");
        CT__DRAFT_PUT(w, s, "bearing", CT__MEANS_BEARING);
    }
    if (s->role != CT__DRAFT_RANGE && w->space) {
        ct__text_put(&w->out, "    ");
        CT__DRAFT_PUT(w, s, "elevation", CT__MEANS_ELEVATION);
    }
}

static void put_heading(writer *w, const ct__draft_source *s)
{
    if (ct__draft_has(s, CT__MEANS_YAW)) {
        ct__draft_put_yaw(w, s, "    ");
        return;
    }
    ct__text_put(&w->out, "    ");
    CT__DRAFT_PUT(w, s, "quaternion", CT__MEANS_QX, CT__MEANS_QY, CT__MEANS_QZ, CT__MEANS_QW);
    if (s->ned) ct__text_put(&w->out, "    axes: ned # check: body, if z is up\n");
}

static void put_turn_rate(writer *w, const ct__draft_source *s)
{
    ct__text_put(&w->out, "    ");
    if (w->space)
        CT__DRAFT_PUT(w, s, "rate", CT__MEANS_WX, CT__MEANS_WY, CT__MEANS_WZ);
    else
        CT__DRAFT_PUT(w, s, "rate", CT__MEANS_WZ);
    ct__text_put(&w->out, "    # check: positive to the left (z up); else a minus before the rate\n");
}

static void put_height(writer *w, const ct__draft_source *s)
{
    const ct__meaning m = ct__draft_has(s, CT__MEANS_HEIGHT) ? CT__MEANS_HEIGHT : CT__MEANS_DOWN;
    char text[300];
    ct__text_put(&w->out, "    ");
    if (m == CT__MEANS_HEIGHT) {
        CT__DRAFT_PUT(w, s, "height", CT__MEANS_HEIGHT);
        return;
    }
    const char *unit = s->unit[m];
    snprintf(text, sizeof text, unit && strcmp(unit, "m") ? "-%s in %s" : "-%s", s->field[m], unit);
    ct__text_put(&w->out, "height: ");
    ct__draft_put_word(&w->out, text);
    ct__text_put(&w->out, " # depths are positive downwards\n");
}

static const char *type_of(const ct__draft_source *s)
{
    switch (s->role) {
    case CT__DRAFT_ODOMETRY_VELOCITY:
    case CT__DRAFT_ODOMETRY_INCREMENT:
    case CT__DRAFT_ODOMETRY_WHEELS:
    case CT__DRAFT_ODOMETRY_POSE: return "odometry";
    case CT__DRAFT_TURN_RATE: return "turn_rate";
    case CT__DRAFT_POSE: return "pose";
    case CT__DRAFT_POSITION: return "position";
    case CT__DRAFT_GEODETIC: return "geodetic";
    case CT__DRAFT_HEADING: return "heading";
    case CT__DRAFT_HEIGHT: return "height";
    case CT__DRAFT_RANGE: return "range";
    case CT__DRAFT_BEARING: return "bearing";
    case CT__DRAFT_RANGE_BEARING: return "range_bearing";
    case CT__DRAFT_PIXEL: return "pixel";
    case CT__DRAFT_STEREO: return "stereo";
    default: return NULL;
    }
}

/* The height of the sensor, where those of landmarks are: that of the truth, if it has one. */
static void put_mount_height(writer *w)
{
    const ct__draft_source *t = w->truth;
    const double            z = t && ct__draft_has(t, CT__MEANS_Z) ? t->first[CT__MEANS_Z] : NAN;
    const char             *unit = t ? t->unit[CT__MEANS_Z] : NULL;
    const double            m = unit && !strcmp(unit, "mm") ? 1e-3 : unit && !strcmp(unit, "cm") ? 1e-2 : 1;
    if (isfinite(z) && !t->ned && (!unit || m < 1 || !strcmp(unit, "m")))
        ct__text_printf(&w->out, "    mount_height: %.4g # check: of the sensor, m; the truth begins there\n", m * z);
    else
        ct__text_put(&w->out, "    mount_height: 0 # check: of the sensor, m, where landmarks have their z\n");
}

static void put_sensor(writer *w, const ct__draft_source *s)
{
    const char *type = type_of(s);
    ct__text_printf(&w->out, "  %s:\n    type: %s\n    source: %s\n", s->sensor, type, s->name);
    if (ct__draft_is_odometry(s))
        ct__draft_put_motion(w, s);
    else if (is_sighting(s))
        put_sighting(w, s);
    else if (s->role == CT__DRAFT_TURN_RATE)
        put_turn_rate(w, s);
    else if (s->role == CT__DRAFT_HEADING)
        put_heading(w, s);
    else if (s->role == CT__DRAFT_HEIGHT)
        put_height(w, s);
    else if (s->role == CT__DRAFT_POSE)
        ct__draft_put_pose(w, s, "    ");
    else if (s->role == CT__DRAFT_GEODETIC)
        ct__draft_put_geodetic(w, s, "    ");
    else
        ct__draft_put_position(w, s, "    ");
    if (s->role == CT__DRAFT_RANGE && w->map && !w->space && ct__draft_has(w->map, CT__MEANS_Z))
        put_mount_height(w);
    if (!ct__draft_is_odometry(s) && s->role != CT__DRAFT_TURN_RATE)
        ct__text_printf(&w->out, "    # mount: [x, y%s] if the sensor is not at the body's origin\n",
                        w->space ? ", z" : "");
}

/* ---- landmarks ---- */

/* How many names of one list are in another. */
static int shared(const char *const a[], const char *const b[])
{
    int n = 0;
    for (int i = 0; i < CT__DRAFT_IDS_MAX && a[i]; i++)
        for (int k = 0; k < CT__DRAFT_IDS_MAX && b[k]; k++) n += !strcmp(a[i], b[k]);
    return n;
}

static void put_landmarks(writer *w)
{
    const ct__draft_source *m = w->map, *c = w->codes, *s = NULL;
    ROLES(w, each) if (is_sighting(each) && !s) s = each;
    if (!s) return;
    if (!m) {
        ct__text_put(&w->out, "\nlandmarks:\n  landmarks: {} # check: no map was found; the points are estimated\n");
        return;
    }
    ct__text_printf(&w->out, "\nlandmarks:\n  landmarks:\n    source: %s\n    id: ", m->name);
    ct__draft_put_word(&w->out, m->field[CT__MEANS_ID]);
    ct__text_put(&w->out, "\n    ");
    int ranges = 0;
    ROLES(w, each) ranges += each->role == CT__DRAFT_RANGE;
    if (w->space || (ranges && ct__draft_has(m, CT__MEANS_Z)))
        CT__DRAFT_PUT(w, m, "position", CT__MEANS_X, CT__MEANS_Y, CT__MEANS_Z);
    else
        CT__DRAFT_PUT(w, m, "position", CT__MEANS_X, CT__MEANS_Y);
    if (!w->space && ranges && ct__draft_has(m, CT__MEANS_Z))
        ct__text_put(&w->out, "    # check: ranges are slant ranges to these heights; without z they are horizontal\n");
    if (!c) return;
    const int straight = shared(c->id[0], s->id[0]) >= shared(c->id[1], s->id[0]); /* which column is measured */
    ct__text_printf(&w->out, "    ids: {source: %s, from: ", c->name);
    ct__draft_put_word(&w->out, c->field[straight ? CT__MEANS_ID : CT__MEANS_ID2]);
    ct__text_put(&w->out, ", to: ");
    ct__draft_put_word(&w->out, c->field[straight ? CT__MEANS_ID2 : CT__MEANS_ID]);
    ct__text_put(&w->out, "}\n");
}

/* ---- the rest ---- */

static void put_truth(writer *w)
{
    const ct__draft_source *t = w->truth;
    if (!t) {
        ct__text_put(&w->out,
                     "\n# check: no truth was found. With one:\n# truth: {source: NAME, position: [x, y], yaw: yaw}\n");
        return;
    }
    ct__text_printf(&w->out, "\ntruth:\n  source: %s%s\n", t->name,
                    t->guess ? " # check: the truth is a guess, by the rate and kind of its records" : "");
    if (ct__draft_is_geodetic_truth(w->d, t)) {
        ct__draft_put_geodetic(w, t, "  ");
        if (ct__draft_has(t, CT__MEANS_YAW) && !w->space) ct__draft_put_yaw(w, t, "  ");
    } else
        ct__draft_put_pose(w, t, "  ");
    if (ct__draft_has_word(t->topic ? t->topic : t->pattern, "rtk ppk gnss gps ins oxts novatel applanix"))
        ct__text_put(&w->out,
                     "  # sigma: [0.02, 0.01] # m, rad: its own errors, so that they do not count as the sensors'\n");
    if (t->period_s > 0.2) ct__text_printf(&w->out, "  gap: %g # s\n", round_up(3 * t->period_s));
}

static const char *why_unused(const ct__draft_source *s)
{
    return s->why_unused ? s->why_unused : "no sensor was recognised by the names of its fields";
}

/* The columns that nothing was made of. */
static const char *columns_of(const ct__draft_source *s) { return !s->why_unused && s->columns ? s->columns : ""; }

static void put_unused(writer *w)
{
    int any = 0;
    ROLES(w, s)
    {
        const int steers = ct__draft_has(s, CT__MEANS_STEER) && w->odometry && !w->turns;
        if (s->role != CT__DRAFT_UNUSED || (steers && !ct__draft_has(w->odometry, CT__MEANS_WZ))) continue;
        if (!any++) ct__text_put(&w->out, "\n# not used:\n");
        ct__text_printf(&w->out, "#   %s%s%s%s%s: %s%s%s\n", s->pattern, s->topic ? " " : "", s->topic ? s->topic : "",
                        s->topic ? " " : "", s->topic ? s->type : "", why_unused(s), *columns_of(s) ? ": " : "",
                        columns_of(s));
    }
    for (int64_t i = 0; i < w->d->notes; i++) {
        if (!any++) ct__text_put(&w->out, "\n# not used:\n");
        ct__text_printf(&w->out, "#   %s\n", w->d->note[i]);
    }
}

/* ---- what fits together ---- */

static int is_spatial(const ct__draft_source *s)
{
    return ct__draft_has(s, CT__MEANS_MATRIX) ||
           (ct__draft_has(s, CT__MEANS_Z) && ct__draft_has(s, CT__MEANS_QW) && !s->zero_rotation);
}

static void leave_out(ct__draft_source *s, const char *why)
{
    s->role = CT__DRAFT_UNUSED;
    s->sensor[0] = 0;
    s->why_unused = why;
}

/* In space a position has three coordinates, a bearing an elevation. */
static void leave_out_planar(writer *w)
{
    ROLES(w, s)
    {
        const int sighted = s->role == CT__DRAFT_BEARING || s->role == CT__DRAFT_RANGE_BEARING;
        const int level = !ct__draft_has(s, CT__MEANS_Z) && !ct__draft_has(s, CT__MEANS_DOWN);
        if (s->role == CT__DRAFT_POSITION && level) leave_out(s, "positions have no z");
        if (s->role == CT__DRAFT_GEODETIC && !ct__draft_has(s, CT__MEANS_HEIGHT))
            leave_out(s, "positions have no height");
        if (sighted && !ct__draft_has(s, CT__MEANS_ELEVATION)) leave_out(s, "bearings have no elevation");
        if (s->role == CT__DRAFT_POSE && !is_spatial(s)) leave_out(s, "poses are in the plane");
        if (s->role == CT__DRAFT_MAP && !ct__draft_has(s, CT__MEANS_Z)) leave_out(s, "landmarks have no z");
    }
}

static int has_height(const writer *w, const ct__draft_source *s)
{
    return ct__draft_has(s, CT__MEANS_Z) || ct__draft_has(s, CT__MEANS_MATRIX) || ct__draft_has(s, CT__MEANS_DOWN) ||
           (ct__draft_is_geodetic_truth(w->d, s) && ct__draft_has(s, CT__MEANS_HEIGHT));
}

/* SE3: where the motion leaves the plane, or a camera sees points in space. Topics have all coordinates, whatever the
 * robot does. */
static int is_in_space(const writer *w)
{
    const ct__draft_source *o = w->odometry, *t = w->truth;
    int                     space = 0, cameras = 0;
    ROLES(w, s) cameras += is_camera(s);
    if (o && o->role == CT__DRAFT_ODOMETRY_POSE)
        space = !o->topic && is_spatial(o) && (cameras || !o->level);
    else if (o && o->role == CT__DRAFT_ODOMETRY_VELOCITY)
        space = !o->topic && ct__draft_has(o, CT__MEANS_VZ) && ct__draft_has(o, CT__MEANS_WX) && t &&
                has_height(w, t) && (cameras || !o->level);
    else if (!o)
        space = t && !t->topic && is_spatial(t) && (cameras || !t->level);
    return space && (!t || has_height(w, t));
}

static void choose(writer *w)
{
    int sightings = 0;
    ROLES(w, s)
    {
        if (s->role == CT__DRAFT_TRUTH) w->truth = s;
        if (ct__draft_is_odometry(s)) w->odometry = s;
        if (s->role == CT__DRAFT_TURN_RATE) w->turns = s;
    }
    w->space = is_in_space(w);
    if (w->space) leave_out_planar(w);
    ROLES(w, s) if (s->role == CT__DRAFT_HEIGHT && !w->space) leave_out(s, "heights are of states in space (SE3)");
    ROLES(w, s) sightings += is_sighting(s);
    ROLES(w, s)
    {
        if (s->role == CT__DRAFT_MAP && (!sightings || w->map))
            leave_out(s, "no sensor has landmarks");
        else if (s->role == CT__DRAFT_MAP)
            w->map = s;
    }
    ROLES(w, s)
    {
        if (s->role != CT__DRAFT_IDS) continue;
        int direct = 0, mapped = 0;
        ROLES(w, each)
        {
            if (!is_sighting(each) || !w->map) continue;
            direct += shared(each->id[0], w->map->id[0]);
            mapped += (int)fmax(fmin(shared(each->id[0], s->id[1]), shared(w->map->id[0], s->id[0])),
                                fmin(shared(each->id[0], s->id[0]), shared(w->map->id[0], s->id[1])));
        }
        if (mapped > direct && !w->codes)
            w->codes = s;
        else
            leave_out(s, "the names of landmarks are those of the map");
    }
}

/* ---- the whole ---- */

static void put_graphs(writer *w)
{
    int any = 0;
    ct__text_put(&w->out, "sequences:\n  files: [");
    ROLES(w, s)
    {
        if (s->role != CT__DRAFT_GRAPH) continue;
        ct__text_put(&w->out, any++ ? ", " : "");
        ct__draft_put_word(&w->out, s->pattern);
    }
    ct__text_put(&w->out, "]\n  split_loops: true # loop closures get a noise model of their own\n");
}

/* Robots of one run are one recording only if they measure each other. */
static void put_bodies(writer *w)
{
    ROLES(w, s)
    {
        const char *part = s->role == CT__DRAFT_UNUSED ? NULL : strstr(s->pattern, "{robot}");
        if (!part || (!strstr(s->pattern, "{run}") && !strstr(s->pattern, "{session}"))) continue;
        ct__text_put(&w->out, "# bodies: robot # if robots of one run measure each other\n");
        return;
    }
}

static void put_all(writer *w)
{
    int graphs = 0, sources = 0;
    ROLES(w, s) graphs += s->role == CT__DRAFT_GRAPH;
    ROLES(w, s)
    if (graphs && s->role != CT__DRAFT_GRAPH && s->role != CT__DRAFT_TRUTH && s->role != CT__DRAFT_UNUSED)
        leave_out(s, "the graph has the measurements");
    choose(w);
    ct__text_put(&w->out, "# A first recipe, by covtune import --init. What is marked \"check:\" is a guess.\n"
                          "# Keys and their defaults: docs/import.md\nformat: covtune-recipe\nversion: 1\n");
    if (w->d->folder) {
        ct__text_put(&w->out, "folder: ");
        ct__draft_put_word(&w->out, w->d->folder);
        ct__text_put(&w->out, " # relative to this file\n");
    }
    put_bodies(w);
    ROLES(w, s)
    {
        if (s->role == CT__DRAFT_UNUSED || s->role == CT__DRAFT_GRAPH) continue;
        if (!sources++) ct__text_put(&w->out, "\nsources:\n");
        ct__draft_put_source(w, s);
    }
    if (graphs)
        put_graphs(w);
    else {
        put_states(w);
        put_landmarks(w);
        ct__text_put(&w->out, first_sensor(w) ? "\nsensors:\n" : "\nsensors: {} # check: none was recognised\n");
        for (int others = 0; others < 2; others++)
            ROLES(w, s) if (type_of(s) && ct__draft_is_odometry(s) != others) put_sensor(w, s);
    }
    put_truth(w);
    ct__text_put(
        &w->out,
        "\n# split: {segment: 60, test: 1/3} cuts a recording into pieces of 60 s and tests with the last third\n");
    put_unused(w);
}

/* Nothing that could be imported: the reason of the first file. */
static ct_status check_any(const writer *w, ct_err *err)
{
    const ct__draft *d = w->d;
    ROLES(w, s) if (s->role != CT__DRAFT_UNUSED) return CT_OK;
    const int64_t more = d->sources + d->notes - 1;
    char others[64] = "";
    if (more > 0) snprintf(others, sizeof others, ", and %lld more", (long long)more);
    if (d->notes)
        return ct_fail(err, CT_E_EMPTY, "nothing to import was recognised: %.400s%s", d->note[0], others);
    const ct__draft_source *s = d->source;
    return ct_fail(err, CT_E_EMPTY,
                   "nothing to import was recognised: %.200s%s%.100s: %s%s%.300s%s; name its fields in a recipe by "
                   "hand: docs/import.md",
                   s->pattern, s->topic ? " " : "", s->topic ? s->topic : "", why_unused(s),
                   *columns_of(s) ? ": " : "", columns_of(s), others);
}

/* Says what is still wrong with it, in a comment. */
static ct_status note_mistake(ct__text *out, ct_err *err)
{
    ct_err why = {0};
    ct_recipe *recipe;
    if (out->failed) return ct__no_memory(err, "bytes of text", out->used);
    const ct_status status = ct_recipe_parse(out->bytes, "this recipe", NULL, &recipe, &why);
    ct_recipe_free(recipe);
    if (status == CT_E_MEMORY) return ct__no_memory(err, "recipes", 1);
    if (status != CT_OK) ct__text_printf(out, "\n# check: before it can be imported: %s\n", why.text);
    return CT_OK;
}

static void free_draft(ct__draft *d)
{
    free(d->source);
    free(d->note);
    ct__tree_free(d->pool);
}

ct_status ct_recipe_draft(const char *const path[], int32_t paths, char **text, ct_err *err)
{
    ct__draft d = {.err = err, .pool = ct__zalloc(1, sizeof *d.pool)};
    writer w = {.d = &d};
    ct__draft_group *group = NULL;
    int32_t groups = 0;
    *text = NULL;
    if (!d.pool) return ct__no_memory(err, "names", 1);
    if (paths < 1) free_draft(&d);
    if (paths < 1) return ct_fail(err, CT_E_ARGUMENT, "a recipe is drafted for one file or more, found %d", paths);
    ct_status status = ct__draft_groups(&d, path, paths, &group, &groups);
    for (int32_t i = 0; status == CT_OK && i < groups; i++) status = ct__draft_inspect(&d, &group[i]);
    if (status == CT_OK) ct__draft_clocks(&d);
    if (status == CT_OK) status = ct__draft_roles(&d);
    if (status == CT_OK) {
        put_all(&w);
        status = check_any(&w, err);
    }
    if (status == CT_OK) status = note_mistake(&w.out, err);
    if (status == CT_OK) status = ct__text_take(&w.out, text, err);
    ct__text_free(&w.out);
    free_draft(&d);
    return status;
}
