/* conventions.c: the order of quaternions, camera axes and headings in degrees, which are looked for before all else.
 *
 * What they spoil is not to be seen in the dataset: rotations in the plane are flattened, headings are wrapped. With a
 * recipe each alternative is imported, and the robust sigmas of all sensors at the truth are compared:
 *
 *     gain = sum over sensors of N sum_i log(sigma_i before / sigma_i after)
 *
 * An alternative is tried where residuals are as large as what is measured. It must gain FIRM nats, STRONG nats a
 * sample of one sensor, and make no other sensor worse. Without a recipe the truth's poses in space are changed. */
#include "doctor/doctor.h"
#include "recipe/recipe.h"

#include <math.h>
#include <stdio.h>

#define SAMPLES    1500
#define SENSORS    64
#define GROSS      0.5 /* residuals against measured values: something may be wrong */
#define UNIFORM    1.0 /* rad: headings that say nothing                            */
#define FIRM       100.0
#define STRONG     1.0 /* nats a sample                                             */
#define WORSE      0.3
#define SAME       0.02
#define SMALLEST   1e-6
#define DEGREES    57.29577951308232
#define LIST       64  /* corrections of one trial                                  */
#define QUATERNION 1 /* bits of an alternative */
#define CAMERA     2

typedef struct {
    char    name[64];
    int     loops, rows, relative;
    int32_t n;
    double  sigma[CT_ROWS_MAX];
    double  turn;        /* rad: sigma of its rotations    */
    double  share[2];    /* of lengths, of angles: residuals over measured values */
} tally;

typedef struct {
    int   count;
    tally sensor[SENSORS];
} tallies;

/* ---- Sigmas at the truth ----------------------------------------------------------------------- */

static void centre(int turns, int32_t n, double *r, double *room)
{
    double x = 0, y = 0;
    memcpy(room, r, (size_t)n * sizeof *r);
    for (int32_t k = 0; k < n; k++) x += cos(r[k]), y += sin(r[k]);
    const double at = turns ? atan2(y, x) : ct__median(n, room);
    for (int32_t k = 0; k < n; k++) r[k] = turns ? remainder(r[k] - at, 6.283185307179586) : r[k] - at;
}

static void summarise(const ct__sensor *s, int32_t n, double *r, double *w, double *room, tally *t)
{
    const int absolute = s->tied && s->ops->arity == 1;
    double    left[2] = {0, 0}, all[2] = {0, 0};
    for (int i = 0; i < s->rows; i++) {
        const int turns = ct__row_turns(s, i) != 0;
        if (absolute) centre(turns, n, r + (int64_t)i * n, room);
        if (absolute) centre(turns, n, w + (int64_t)i * n, room);
        t->sigma[i] = fmax(SMALLEST, ct__robust_sigma(n, r + (int64_t)i * n));
        left[turns] += pow(t->sigma[i], 2);
        all[turns] += pow(ct__robust_sigma(n, w + (int64_t)i * n), 2);
    }
    for (int i = 0; i < 2; i++) t->share[i] = sqrt(left[i] / fmax(SMALLEST * SMALLEST, all[i]));
    t->turn = sqrt(left[1]);
}

static ct_status measure(const ct__exam *e, const ct__sensor *s, tally *t, ct_err *err)
{
    const int32_t every = CT_MAX(1, s->samples / SAMPLES), most = s->samples / every + 1;
    const int64_t size = (int64_t)most * s->rows;
    double       *r = ct__zalloc(2 * size + most, sizeof *r), value[CT_ROWS_MAX], z[CT_ROWS_MAX] = {0};
    ct__fault     none;
    int32_t       n = 0;
    if (!r) return ct__no_memory(err, "samples", s->samples);
    ct__fault_none(s, &none);
    for (int pass = 0; pass < 2; pass++) { /* the number of samples, then columns of that length */
        const int32_t length = n;
        n = 0;
        for (int32_t k = 0; k < s->samples; k += every) {
            const ct__sample *q = &s->sample[k];
            if (!ct__sample_row(e, s, q, &none, value, NULL, NULL)) continue;
            if (s->measured) ct__value_of(s, ct_graph_factor(e->sequence[q->sequence].seq->graph, q->factor).z, z);
            for (int i = 0; pass && i < s->rows; i++) {
                r[(int64_t)i * length + n] = value[i];
                r[size + (int64_t)i * length + n] = z[i];
            }
            n++;
        }
    }
    *t = (tally){.loops = s->loops, .rows = s->rows, .relative = s->odometry || s->loops, .n = n};
    snprintf(t->name, sizeof t->name, "%s", s->name);
    if (n >= CT__SAMPLES_LEAST) summarise(s, n, r, r + size, r + 2 * size, t);
    free(r);
    return CT_OK;
}

static ct_status measure_all(const ct__exam *e, tallies *all, ct_err *err)
{
    all->count = 0;
    for (int32_t i = 0; i < e->sensors && all->count < SENSORS; i++) {
        tally *t = &all->sensor[all->count];
        CT_TRY(measure(e, &e->sensor[i], t, err));
        all->count += t->n >= CT__SAMPLES_LEAST;
    }
    return CT_OK;
}

static ct_status measure_dataset(const ct_dataset *d, const ct_doctor_options *o, tallies *all, ct_err *err)
{
    ct__exam  e = {.dataset = d, .options = *o, .out = ct__zalloc(1, sizeof *e.out)};
    ct_status status = e.out ? ct__exam_survey(&e, err) : ct__no_memory(err, "diagnoses", 1);
    if (status == CT_OK) status = measure_all(&e, all, err);
    ct__exam_free(&e);
    ct_diagnosis_free(e.out);
    return status;
}

static const tally *look_up(const tallies *all, const tally *t)
{
    for (int i = 0; i < all->count; i++)
        if (all->sensor[i].loops == t->loops && all->sensor[i].rows == t->rows &&
            !strcmp(all->sensor[i].name, t->name))
            return &all->sensor[i];
    return NULL;
}

/* Nats of `to` over `from`; 0: not enough, or a sensor is worse. */
static double gain_of(const tallies *from, const tallies *to)
{
    double sum = 0, most = 0;
    for (int i = 0; i < from->count; i++) {
        const tally *a = &from->sensor[i], *b = look_up(to, a);
        double       gain = 0;
        if (!b || b->n < a->n / 2) return 0;
        for (int k = 0; k < a->rows; k++) gain += log(a->sigma[k] / b->sigma[k]);
        if (gain < -WORSE) return 0;
        sum += a->n * gain;
        most = fmax(most, gain);
    }
    return sum > FIRM && most > STRONG ? sum : 0;
}

/* Are residuals of relative poses, or of one sensor, as large as what it measures? */
static int is_gross(const tallies *all, const char *model)
{
    for (int i = 0; i < all->count; i++) {
        const tally *t = &all->sensor[i];
        if (model ? strcmp(t->name, model) != 0 : !t->relative && !(t->turn > 0)) continue;
        if (t->share[0] > GROSS || t->share[1] > GROSS) return 1;
    }
    return 0;
}

/* ---- Findings ---------------------------------------------------------------------------------- */

/* Rotations of the sensor whose rotations gain most. */
static void turns_of(const tallies *from, const tallies *to, double value[2])
{
    double most = -INFINITY;
    value[0] = value[1] = 0;
    for (int i = 0; i < from->count; i++) {
        const tally *a = &from->sensor[i], *b = look_up(to, a);
        if (!b || !(a->turn > 0 && b->turn > 0) || !(a->turn / b->turn > most)) continue;
        most = a->turn / b->turn;
        value[0] = a->turn, value[1] = b->turn;
    }
}

/* picture (may be NULL): of rotations as they were. */
static ct_status report(ct__exam *e, const char *subject, int bits, const tallies *from, const tallies *to,
                        ct__picture *picture, ct_err *err)
{
    double value[2];
    turns_of(from, to, value);
    for (int bit = QUATERNION; bit <= CAMERA; bit <<= 1) {
        if (!(bits & bit)) continue;
        CT_TRY(ct__report(e, NULL, -1, bit == QUATERNION ? CT_FINDING_QUATERNION_ORDER : CT_FINDING_CAMERA_AXES, 2,
                          value, err));
        CT_TRY(ct_findings_add_subject(&e->out->findings, CT_SUBJECT_MODEL, -1, 0, subject, err));
        if (!picture) continue;
        ct__picture_level(picture, value[1]);
        CT_TRY(ct__picture_report(e, picture, "time (s)", "error of rotations as they are read (rad)", err));
    }
    return CT_OK;
}

/* ---- With a recipe ----------------------------------------------------------------------------- */

typedef struct {
    const ct_recipe         *recipe;
    const ct_doctor_options *options;
    tallies                  now, trial, best;
    ct_correction            list[LIST], taken[LIST]; /* of a trial; of the best one */
    int32_t                  count, takens;
    double                   gain;
    ct__exam                 e; /* its findings and corrections */
} search;

static void put(search *s, const char *sensor, ct_correction_kind kind, double value)
{
    if (s->count == LIST) return;
    ct_correction *c = &s->list[s->count++];
    *c = (ct_correction){.kind = kind, .count = 1, .value = {value}};
    snprintf(c->sensor, sizeof c->sensor, "%.63s", sensor);
}

/* *out <- the dataset under the corrections found and those of the list; NULL: the recipe does not allow them. */
static ct_status import_trial(search *s, ct_dataset **out, ct_err *err)
{
    ct_import_options options = ct_import_defaults();
    const ct__exam   *e = &s->e;
    const int32_t     all = e->out->corrections + s->count;
    ct_correction    *sum = ct__zalloc(all, sizeof *sum), *list = NULL;
    ct_recipe        *recipe = NULL;
    char             *text = NULL;
    int32_t           count = 0;
    if (!sum) return ct__no_memory(err, "corrections", all);
    for (int32_t i = 0; i < all; i++)
        sum[i] = i < e->out->corrections ? e->out->correction[i] : s->list[i - e->out->corrections];
    options.folder = s->options->folder;
    ct_status status = ct__compose_corrections(s->recipe, all, sum, &list, &count, err);
    if (status == CT_OK) status = ct_recipe_correct(s->recipe, list, count, &text, err);
    if (status == CT_OK) status = ct_recipe_parse(text, s->recipe->name, s->recipe->folder, &recipe, err);
    if (status == CT_OK) status = ct_recipe_dataset(recipe, &options, out, NULL, err);
    ct_recipe_free(recipe);
    free(text);
    free(list);
    free(sum);
    if (status == CT_OK || status == CT_E_MEMORY) return status;
    *out = NULL;
    return CT_OK;
}

/* Is the list better than the best so far? A trial that is as good does not take the place of an earlier one. */
static ct_status try_list(search *s, int *better, ct_err *err)
{
    ct_dataset *dataset = NULL;
    ct_status   status = import_trial(s, &dataset, err);
    *better = 0;
    if (status == CT_OK && dataset) {
        status = measure_dataset(dataset, s->options, &s->trial, err);
        const double gain = status == CT_OK ? gain_of(&s->now, &s->trial) : 0;
        if (gain > s->gain * (1 + SAME)) {
            *better = 1;
            s->gain = gain;
            s->best = s->trial;
            memcpy(s->taken, s->list, sizeof s->taken);
            s->takens = s->count;
        }
    }
    ct_dataset_free(dataset);
    return status;
}

static ct_status take_best(search *s, ct_err *err)
{
    for (int32_t i = 0; i < s->takens; i++) {
        const ct_correction *c = &s->taken[i];
        CT_TRY(ct__report_correction(&s->e, NULL, -1, c->kind, c->count, c->value, 0, err));
        s->e.out->correction[s->e.out->corrections - 1] = *c;
    }
    s->now = s->best;
    return CT_OK;
}

/* What may be read otherwise: the order of quaternions, the axes of poses in space. */
static int bits_of(const ct__list role[], ct__axes axes)
{
    const int quaternion = role[CT__ROLE_QUATERNION].count > 0;
    const int space = role[CT__ROLE_POSITION].count == 3 || role[CT__ROLE_MATRIX].count > 0;
    const int camera = space && axes == CT__AXES_BODY && (quaternion || role[CT__ROLE_MATRIX].count > 0);
    return (quaternion ? QUATERNION : 0) | (camera ? CAMERA : 0);
}

static void put_bits(search *s, const char *name, int bits)
{
    int first = 1;
    for (int32_t i = 0; i < s->recipe->corrections; i++) {
        const ct_correction *c = &s->recipe->correction[i];
        if (!strcmp(c->sensor, name) && c->kind == CT_CORRECT_QUATERNION && c->value[0] > 0) first = 0;
    }
    if (bits & QUATERNION) put(s, name, CT_CORRECT_QUATERNION, first);
    if (bits & CAMERA) put(s, name, CT_CORRECT_CAMERA, 1);
}

static const char *model_of(const ct__recipe_sensor *sensor)
{
    return sensor->noise.model ? sensor->noise.model : sensor->name;
}

/* The order of quaternions and camera axes of the truth (model NULL) or of a sensor. Of the truth also together with
 * all sensors of poses: files of one program have one convention, and the truth changed alone would not agree with
 * them. */
static ct_status try_pose(search *s, const char *name, const char *model, const ct__list role[], ct__axes axes,
                          ct_err *err)
{
    const ct_recipe *recipe = s->recipe;
    const int        all = bits_of(role, axes);
    int              bits = 0, together = 0, better;
    if (!all || !is_gross(&s->now, model)) return CT_OK;
    s->gain = 0;
    for (int with = 0; with <= !model; with++)
        for (int b = 1; b <= (QUATERNION | CAMERA); b++) {
            int others = 0;
            if (b & ~all) continue;
            s->count = 0;
            put_bits(s, name, b);
            for (int32_t i = 0; with && i < recipe->sensors; i++) {
                const int mine = b & bits_of(recipe->sensor[i].role, recipe->sensor[i].axes);
                put_bits(s, recipe->sensor[i].name, mine);
                others |= mine;
            }
            if (with && !others) continue;
            CT_TRY(try_list(s, &better, err));
            if (better) bits = b, together = with;
        }
    if (!bits) return CT_OK;
    CT_TRY(report(&s->e, model ? model : "truth", bits, &s->now, &s->best, NULL, err));
    for (int32_t i = 0; together && i < recipe->sensors; i++) {
        const int mine = bits & bits_of(recipe->sensor[i].role, recipe->sensor[i].axes);
        CT_TRY(report(&s->e, model_of(&recipe->sensor[i]), mine, &s->now, &s->best, NULL, err));
    }
    return take_best(s, err);
}

/* A heading in degrees, anticlockwise or clockwise. */
static ct_status try_heading(search *s, const ct__recipe_sensor *sensor, const char *model, ct_err *err)
{
    int spread = 0, better, sign = 0;
    for (int i = 0; i < s->now.count; i++)
        spread |= !strcmp(s->now.sensor[i].name, model) && s->now.sensor[i].turn > UNIFORM;
    if (sensor->type != CT__SENSOR_HEADING || !sensor->role[CT__ROLE_YAW].count || !spread) return CT_OK;
    s->gain = 0;
    for (int k = 1; k >= -1; k -= 2) {
        s->count = 0;
        if (k < 0) put(s, sensor->name, CT_CORRECT_AXES, -1);
        put(s, sensor->name, CT_CORRECT_SCALE, 1 / DEGREES);
        CT_TRY(try_list(s, &better, err));
        if (better) sign = k;
    }
    if (!sign) return CT_OK;
    const double unit[] = {DEGREES, 0, DEGREES}, axes[] = {-1, 0, 0};
    CT_TRY(ct__report(&s->e, NULL, -1, CT_FINDING_SENSOR_UNITS, 3, unit, err));
    CT_TRY(ct_findings_add_subject(&s->e.out->findings, CT_SUBJECT_MODEL, -1, 0, model, err));
    if (sign < 0) {
        CT_TRY(ct__report(&s->e, NULL, -1, CT_FINDING_SENSOR_AXES, 3, axes, err));
        CT_TRY(ct_findings_add_subject(&s->e.out->findings, CT_SUBJECT_MODEL, -1, 0, model, err));
    }
    return take_best(s, err);
}

static ct_status search_all(search *s, ct_err *err)
{
    const ct_recipe *recipe = s->recipe;
    if (recipe->truth.given) CT_TRY(try_pose(s, "truth", NULL, recipe->truth.role, recipe->truth.axes, err));
    for (int32_t i = 0; i < recipe->sensors; i++) {
        const ct__recipe_sensor *sensor = &recipe->sensor[i];
        const char              *model = model_of(sensor);
        CT_TRY(try_pose(s, sensor->name, model, sensor->role, sensor->axes, err));
        CT_TRY(try_heading(s, sensor, model, err));
    }
    return CT_OK;
}

ct_status ct__find_conventions(const ct_dataset *dataset, const ct_recipe *recipe, const ct_doctor_options *options,
                               ct_diagnosis **out, ct_err *err)
{
    search *s = ct__zalloc(1, sizeof *s);
    *out = NULL;
    if (!s) return ct__no_memory(err, "trials", 1);
    s->recipe = recipe;
    s->options = options;
    s->e.out = ct__zalloc(1, sizeof *s->e.out);
    ct_status status = s->e.out ? CT_OK : ct__no_memory(err, "diagnoses", 1);
    if (status == CT_OK) status = measure_dataset(dataset, options, &s->now, err);
    if (status == CT_OK) status = search_all(s, err);
    if (status == CT_OK) *out = s->e.out;
    else ct_diagnosis_free(s->e.out);
    free(s);
    return status;
}

/* ---- Without a recipe -------------------------------------------------------------------------- */

/* Poses of moving bodies in space, as they are under the alternative. */
static int change_poses(ct__exam *e, int bits)
{
    const ct_se3 C = {0, 0, 0, -0.5, 0.5, -0.5, 0.5}; /* x = z_c, y = -x_c, z = -y_c */
    const ct_se3 back = ct_se3_inverse(C, NULL);
    int          changed = 0;
    for (int32_t i = 0; i < e->sequences; i++) {
        const ct_graph *g = e->sequence[i].seq->graph;
        for (int32_t v = 0; v < g->variables; v++) {
            ct_se3 T;
            if (g->kind[v] != CT_SE3 || !e->sequence[i].moving[v]) continue;
            memcpy(&T, e->sequence[i].x + g->offset[v], sizeof T);
            if (bits & QUATERNION) T = (ct_se3){T.x, T.y, T.z, T.qy, T.qz, T.qw, T.qx};
            if (bits & CAMERA) T = ct_se3_compose(ct_se3_compose(C, T, NULL, NULL), back, NULL, NULL);
            memcpy(e->sequence[i].x + g->offset[v], &T, sizeof T);
            changed = 1;
        }
    }
    return changed;
}

/* Back to what it was: three turns of the quaternion's entries, C x C^-1 twice more. */
static void restore_poses(ct__exam *e, int bits)
{
    for (int k = 0; (bits & CAMERA) && k < 2; k++) (void)change_poses(e, CAMERA);
    for (int k = 0; (bits & QUATERNION) && k < 3; k++) (void)change_poses(e, QUATERNION);
}

/* Lengths of the rotations in the residuals of the sensor whose rotations gain most. */
static ct_status draw_turns(const ct__exam *e, const tallies *from, const tallies *to, ct__picture *p, ct_err *err)
{
    const ct__sensor *best = NULL;
    double            most = 0, r[CT_ROWS_MAX];
    for (int32_t i = 0; i < e->sensors; i++)
        for (int k = 0; k < from->count; k++) {
            const tally *a = &from->sensor[k], *b = look_up(to, a);
            if (strcmp(a->name, e->sensor[i].name) || a->loops != e->sensor[i].loops || !b || !(b->turn > 0)) continue;
            if (a->turn / b->turn > most) most = a->turn / b->turn, best = &e->sensor[i];
        }
    for (int32_t k = 0; best && k < best->samples; k++) {
        const ct__sample *q = &best->sample[k];
        double            square = 0;
        ct__fault         none;
        ct__fault_none(best, &none);
        if (!ct__sample_row(e, best, q, &none, r, NULL, NULL)) continue;
        for (int i = 0; i < best->rows; i++)
            if (ct__row_turns(best, i)) square += r[i] * r[i];
        CT_TRY(ct__picture_add(p, q->t - e->sequence[q->sequence].t0, sqrt(square), err));
    }
    return CT_OK;
}

ct_status ct__change_conventions(ct__exam *e, ct_err *err)
{
    tallies  *t = ct__zalloc(3, sizeof *t); /* now, trial, best */
    ct_status status = t ? measure_all(e, &t[0], err) : ct__no_memory(err, "trials", 3);
    double    best = 0;
    int       bits = 0;
    for (int b = 1; status == CT_OK && is_gross(&t[0], NULL) && b <= (QUATERNION | CAMERA); b++) {
        if (!change_poses(e, b)) break;
        status = measure_all(e, &t[1], err);
        const double gain = gain_of(&t[0], &t[1]);
        if (gain > best * (1 + SAME)) best = gain, bits = b, t[2] = t[1];
        restore_poses(e, b);
    }
    if (status == CT_OK && bits) {
        ct__picture picture = {0};
        status = draw_turns(e, &t[0], &t[2], &picture, err);
        (void)change_poses(e, bits);
        if (status == CT_OK) status = report(e, "truth", bits, &t[0], &t[2], &picture, err);
        ct__picture_free(&picture);
    }
    free(t);
    return status;
}
