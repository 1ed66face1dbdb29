/* convention_sigmas.c: errors of all sensors at the truth under one reading of the files, and what another one gains:
 *
 *     gain = sum over sensors of N sum_i log(sigma_i before / sigma_i after)
 *
 * with robust sigmas. An alternative must gain FIRM nats, STRONG nats a sample of one sensor, and make no other sensor
 * worse. Where angles of a sensor and those of the truth are both read in another unit, sigmas of its angles stay in
 * the unit that was measured: otherwise smaller angles would fit better by being smaller. Constant errors of absolute
 * values are left out: they are faults of frames. */
#include "doctor/conventions.h"

#include <math.h>
#include <stdio.h>

#define SAMPLES  1500
#define GROSS    0.5 /* residuals against measured values: something may be wrong */
#define FIRM     100.0
#define STRONG   1.0 /* nats a sample                                             */
#define WORSE    0.3
#define SAME     0.02
#define TURNED   0.3 /* rad: constant angles that differ                          */
#define SMALLEST 1e-6

int ct__convention_size(int bits)
{
    const int axes = bits & CT__READ_AXES, plain = bits & ~CT__READ_AXES;
    int       n = 0;
    for (int bit = 1; bit < CT__READ_END; bit <<= 1) n += (bits & bit) != 0;
    if (n > 2 || (axes & (axes - 1)) || plain == (CT__READ_QUATERNION | CT__READ_DEGREES)) return 0;
    return n;
}

/* ---- Sigmas at the truth ----------------------------------------------------------------------- */

/* Returns what was taken off. */
static double centre(int turns, int32_t n, double *r, double *room)
{
    double x = 0, y = 0;
    memcpy(room, r, (size_t)n * sizeof *r);
    for (int32_t k = 0; k < n; k++) x += cos(r[k]), y += sin(r[k]);
    const double at = turns ? atan2(y, x) : ct__median(n, room);
    for (int32_t k = 0; k < n; k++) r[k] = turns ? remainder(r[k] - at, 6.283185307179586) : r[k] - at;
    return at;
}

static void summarise(const ct__sensor *s, int32_t n, double *r, double *w, double *room, ct__tally *t)
{
    const int absolute = s->tied && s->ops->arity == 1;
    double    left[2] = {0, 0}, all[2] = {0, 0};
    for (int i = 0; i < s->rows; i++) {
        const int    turns = t->turns[i] = ct__row_turns(s, i) != 0;
        const double at = absolute ? centre(turns, n, r + (int64_t)i * n, room) : 0;
        if (turns) t->offset += fabs(at);
        if (absolute) (void)centre(turns, n, w + (int64_t)i * n, room);
        t->sigma[i] = fmax(SMALLEST, ct__robust_sigma(n, r + (int64_t)i * n));
        left[turns] += pow(t->sigma[i], 2);
        all[turns] += pow(ct__robust_sigma(n, w + (int64_t)i * n), 2);
    }
    for (int i = 0; i < 2; i++) t->share[i] = sqrt(left[i] / fmax(SMALLEST * SMALLEST, all[i]));
    for (int i = 0; i < 2; i++) t->size[i] = sqrt(left[i]);
}

static ct_status measure(const ct__exam *e, const ct__sensor *s, ct__tally *t, ct_err *err)
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
            if (q->rest || !ct__sample_row(e, s, q, &none, value, NULL, NULL)) continue;
            if (s->measured) ct__value_of(s, ct_graph_factor(e->sequence[q->sequence].seq->graph, q->factor).z, z);
            for (int i = 0; pass && i < s->rows; i++) {
                r[(int64_t)i * length + n] = value[i];
                r[size + (int64_t)i * length + n] = z[i];
            }
            n++;
        }
    }
    *t = (ct__tally){.loops = s->loops, .rows = s->rows, .relative = s->odometry || s->loops, .n = n};
    snprintf(t->name, sizeof t->name, "%s", s->name);
    if (n >= CT__SAMPLES_LEAST) summarise(s, n, r, r + size, r + 2 * size, t);
    free(r);
    return CT_OK;
}

ct_status ct__tally_exam(const ct__exam *e, ct__tallies *all, ct_err *err)
{
    all->count = 0;
    for (int32_t i = 0; i < e->sensors && all->count < CT__TALLIES; i++) {
        ct__tally *t = &all->sensor[all->count];
        CT_TRY(measure(e, &e->sensor[i], t, err));
        all->count += t->n >= CT__SAMPLES_LEAST;
    }
    return CT_OK;
}

ct_status ct__tally_dataset(const ct_dataset *d, const ct_doctor_options *o, ct__tallies *all, ct_err *err)
{
    ct__exam  e = {.dataset = d, .options = *o, .out = ct__zalloc(1, sizeof *e.out)};
    ct_status status = e.out ? ct__exam_survey(&e, err) : ct__no_memory(err, "diagnoses", 1);
    if (status == CT_OK) status = ct__tally_exam(&e, all, err);
    ct__exam_free(&e);
    ct_diagnosis_free(e.out);
    return status;
}

/* ---- Comparison -------------------------------------------------------------------------------- */

static const ct__tally *look_up(const ct__tallies *all, const ct__tally *t)
{
    for (int i = 0; i < all->count; i++)
        if (all->sensor[i].loops == t->loops && all->sensor[i].rows == t->rows &&
            !strcmp(all->sensor[i].name, t->name))
            return &all->sensor[i];
    return NULL;
}

/* Nats a sample. */
static double gain_of(const ct__tally *a, const ct__tally *b)
{
    double gain = 0;
    for (int k = 0; k < a->rows; k++) gain += log(a->sigma[k] / b->sigma[k]);
    return gain;
}

void ct__tally_rescale(ct__tallies *all, const char *model, double factor)
{
    for (int i = 0; i < all->count; i++)
        for (int k = 0; k < all->sensor[i].rows && !strcmp(all->sensor[i].name, model); k++)
            if (all->sensor[i].turns[k]) all->sensor[i].sigma[k] *= factor;
}

int ct__tally_world_gains(const ct__tallies *from, const ct__tallies *to)
{
    for (int i = 0; i < from->count; i++) {
        const ct__tally *a = &from->sensor[i], *b = look_up(to, a);
        if (!a->relative && b && gain_of(a, b) > STRONG) return 1;
    }
    return 0;
}

double ct__tally_gain(const ct__tallies *from, const ct__tallies *to)
{
    double sum = 0, most = 0;
    for (int i = 0; i < from->count; i++) {
        const ct__tally *a = &from->sensor[i], *b = look_up(to, a);
        if (!b || b->n < a->n / 2) return 0;
        const double gain = gain_of(a, b);
        if (gain < -WORSE) return 0;
        sum += a->n * gain;
        most = fmax(most, gain);
    }
    return sum > FIRM && most > STRONG ? sum : 0;
}

int ct__tally_is_better(double gain, const ct__tallies *to, double best_gain, const ct__tallies *best)
{
    double mine = 0, other = 0;
    if (!(gain > 0)) return 0;
    if (!(best_gain > 0) || fabs(gain - best_gain) > SAME * best_gain) return gain > best_gain;
    for (int i = 0; i < to->count; i++) mine += to->sensor[i].offset;
    for (int i = 0; i < best->count; i++) other += best->sensor[i].offset;
    return mine < other - TURNED;
}

int ct__tally_is_gross(const ct__tallies *all, const char *model)
{
    for (int i = 0; i < all->count; i++) {
        const ct__tally *t = &all->sensor[i];
        if (model ? strcmp(t->name, model) != 0 : !t->relative && !(t->size[1] > 0)) continue;
        if (t->share[0] > GROSS || t->share[1] > GROSS) return 1;
    }
    return 0;
}

int ct__tally_turns_grossly(const ct__tallies *all, const char *model)
{
    for (int i = 0; i < all->count; i++) {
        const ct__tally *t = &all->sensor[i];
        if ((model ? !strcmp(t->name, model) : t->relative) && t->share[1] > GROSS) return 1;
    }
    return 0;
}

/* ---- Findings ---------------------------------------------------------------------------------- */

/* The sensor whose lengths or angles gain most; -1: none. */
static int find_most(const ct__tallies *from, const ct__tallies *to, int turns)
{
    double most = 0;
    int    found = -1;
    for (int i = 0; i < from->count; i++) {
        const ct__tally *a = &from->sensor[i], *b = look_up(to, a);
        if (!b || !(a->size[turns] > 0 && b->size[turns] > 0) || !(a->size[turns] / b->size[turns] > most)) continue;
        most = a->size[turns] / b->size[turns];
        found = i;
    }
    return found;
}

/* Sizes of errors of a sensor in time, of angles or lengths. */
static ct_status draw(const ct__exam *e, const ct__tally *t, int turns, ct__picture *p, ct_err *err)
{
    const ct__sensor *s = NULL;
    double            r[CT_ROWS_MAX];
    ct__fault         none;
    for (int32_t i = 0; i < e->sensors; i++)
        if (!strcmp(t->name, e->sensor[i].name) && t->loops == e->sensor[i].loops && t->rows == e->sensor[i].rows)
            s = &e->sensor[i];
    if (!s) return CT_OK;
    ct__fault_none(s, &none);
    for (int32_t k = 0; k < s->samples; k++) {
        const ct__sample *q = &s->sample[k];
        double            square = 0;
        if (!ct__sample_row(e, s, q, &none, r, NULL, NULL)) continue;
        for (int i = 0; i < s->rows; i++)
            if ((ct__row_turns(s, i) != 0) == turns) square += r[i] * r[i];
        CT_TRY(ct__picture_add(p, q->t - e->sequence[q->sequence].t0, sqrt(square), err));
    }
    return CT_OK;
}

static ct_status show(ct__exam *out, const ct__exam *e, const ct__tallies *from, const ct__tallies *to, ct_err *err)
{
    const int angle = find_most(from, to, 1), length = find_most(from, to, 0);
    double    ratio[2] = {0, 0};
    char      label[64];
    if (length >= 0) ratio[0] = from->sensor[length].size[0] / look_up(to, &from->sensor[length])->size[0];
    if (angle >= 0) ratio[1] = from->sensor[angle].size[1] / look_up(to, &from->sensor[angle])->size[1];
    const int turns = ratio[1] >= ratio[0], best = turns ? angle : length;
    if (best < 0) return CT_OK;
    const ct__tally *t = &from->sensor[best];
    ct__picture      picture = {0};
    ct_status        status = draw(e, t, turns, &picture, err);
    ct__picture_level(&picture, look_up(to, t)->size[turns]);
    snprintf(label, sizeof label, "error of %s of %.24s (%s)", turns ? "angles" : "lengths", t->name,
             turns ? "rad" : "m");
    const int32_t before = out->out->evidences;
    if (status == CT_OK) status = ct__picture_report(out, &picture, "time (s)", label, err);
    if (status == CT_OK && out->out->evidences > before) out->out->evidence[before].of_reading = 1;
    ct__picture_free(&picture);
    return status;
}

static ct_finding_code code_of(int bit)
{
    switch (bit) {
    case CT__READ_QUATERNION: return CT_FINDING_QUATERNION_ORDER;
    case CT__READ_CAMERA: return CT_FINDING_CAMERA_AXES;
    case CT__READ_NED: return CT_FINDING_NED_AXES;
    case CT__READ_COMPASS: return CT_FINDING_COMPASS_HEADING;
    case CT__READ_CLOCKWISE: return CT_FINDING_SENSOR_AXES;
    case CT__READ_INVERSE: return CT_FINDING_INVERSE_POSES;
    default: return CT_FINDING_SENSOR_UNITS;
    }
}

ct_status ct__report_conventions(ct__exam *out, const ct__exam *e, const char *subject, int bits, int rows,
                                 const ct__tallies *from, const ct__tallies *to, ct_err *err)
{
    const double unit[4] = {CT__DEGREES, 0, CT__DEGREES}, plane[4] = {1, 2, -3}, heading[4] = {-1, 0, 0};
    const int    angle = find_most(from, to, 1), length = find_most(from, to, 0);
    double       size[4] = {0};
    if (angle >= 0) size[0] = from->sensor[angle].size[1], size[1] = look_up(to, &from->sensor[angle])->size[1];
    if (length >= 0) size[2] = from->sensor[length].size[0], size[3] = look_up(to, &from->sensor[length])->size[0];
    for (int bit = 1; bit < CT__READ_END; bit <<= 1) {
        if (!(bits & bit)) continue;
        const ct_finding_code code = code_of(bit);
        const double         *value = bit == CT__READ_DEGREES     ? unit
                                      : bit == CT__READ_CLOCKWISE ? (rows == 1 ? heading : plane)
                                                                  : size;
        const char           *of = bit == CT__READ_DEGREES && rows != 1 ? ".angles" : "";
        char                  name[128];
        int                   values = 0;
        while (ct_finding_get_info(code)->value[values]) values++;
        snprintf(name, sizeof name, "%.100s%s", subject, of);
        CT_TRY(ct__report(out, NULL, -1, code, CT_MIN(values, 4), value, err));
        CT_TRY(ct_findings_add_subject(&out->out->findings, CT_SUBJECT_MODEL, -1, 0, name, err));
        CT_TRY(show(out, e, from, to, err));
    }
    return CT_OK;
}
