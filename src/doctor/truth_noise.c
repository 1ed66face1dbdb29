/* truth_noise.c: noise of the truth that is learned as noise of odometry.
 *
 * The truth of pose b has the error n_b, white from pose to pose. Errors of odometry over the steps before and after b
 * share it with opposite signs. In the frame of b,
 *
 *     e_k = n_b - ... ,   e_(k+1) = ... - n_b,     sigma^2 = -mean e_k e_(k+1)     for each axis,
 *
 * with the standard error of that mean, in which products up to LAGS apart depend on each other. Both axes of the plane
 * must show it, and alike. Ticks of wheels, whose remainder goes from one step to the next, do the same along the track
 * alone. Odometry that is the difference of noisy poses does it in all axes: nothing tells whose noise that is, so such
 * odometry is not asked, and how odometry is made only a recipe says. The noise must make SHARE of the variance of the
 * errors, 2 sigma^2 / var e. Noise of rotations is told of a truth whose positions have noise.
 *
 * Headings that are an estimate follow the noise across the track: then the size is that of the larger axis. */
#include "doctor/doctor.h"
#include "recipe/recipe.h"

#include <math.h>

#define SHARE   0.2
#define EACH    3.0 /* standard errors of each axis                       */
#define ALIKE   4.0 /* of the variances of two axes                       */
#define CLIP    4.0 /* sigmas                                             */
#define LAGS    3
#define AHEAD   16  /* samples in which the next step of a body is looked for */

typedef struct {
    double *product; /* of neighbouring errors, negative */
    int64_t count;
    double  mean, error, variance; /* variance: of errors */
} axis;

/* Is the truth's noise unknown, and the odometry not made of poses? */
static int applies(const ct__exam *e, const ct__sensor *s)
{
    const ct_recipe *recipe = e->options.recipe;
    char             name[64];
    if (!recipe || !s->odometry || !s->fit || s->copied || !s->placed || s->exact || !ct__is_pose(s->pose)) return 0;
    for (int32_t i = 0; i < e->sequences; i++)
        if (e->sequence[i].seq->truth_sigma[0] > 0) return 0;
    if (!ct__recipe_sensor_of(recipe, s->name, name)) return 0;
    for (int32_t i = 0; i < recipe->sensors; i++)
        if (!strcmp(recipe->sensor[i].name, name))
            return recipe->sensor[i].role[CT__ROLE_VELOCITY].count || recipe->sensor[i].role[CT__ROLE_INCREMENT].count;
    return 0;
}

/* The sample of the step that begins where that of sample k ends; -1: none. */
static int32_t find_next(const ct__exam *e, const ct__sensor *s, int32_t k)
{
    const ct_graph *g = e->sequence[s->sample[k].sequence].seq->graph;
    const int32_t   b = ct_graph_factor(g, s->sample[k].factor).var[1];
    for (int32_t n = k + 1; n < s->samples && n <= k + AHEAD; n++) {
        if (s->sample[n].sequence != s->sample[k].sequence) return -1;
        if (ct_graph_factor(g, s->sample[n].factor).var[0] == b) return n;
    }
    return -1;
}

/* out <- the translation of error n, which is in the frame of the end of its step, in that of its beginning. */
static void turn_back(const ct__exam *e, const ct__sensor *s, int32_t n, const double *v, double *out)
{
    const ct__exam_sequence *q = &e->sequence[s->sample[n].sequence];
    const ct_factor          f = ct_graph_factor(q->seq->graph, s->sample[n].factor);
    const double            *a = q->x + q->seq->graph->offset[f.var[0]], *b = q->x + q->seq->graph->offset[f.var[1]];
    if (s->pose == CT_SE2) {
        const double c = a[2] * b[2] + a[3] * b[3], sine = a[2] * b[3] - a[3] * b[2];
        out[0] = c * v[0] - sine * v[1];
        out[1] = sine * v[0] + c * v[1];
        return;
    }
    double world[3];
    ct_so3_act((ct_so3){b[3], b[4], b[5], b[6]}, v, world, NULL, NULL);
    ct_so3_act((ct_so3){-a[3], -a[4], -a[5], a[6]}, world, out, NULL, NULL);
}

static double clip(double u, double most) { return fmax(-most, fmin(most, u)); }

/* Products of all axes: the translations first, then one of rotation about the vertical. */
static void multiply(const ct__exam *e, const ct__sensor *s, axis out[4])
{
    const int first = s->pose == CT_SE2 ? 0 : 3, axes = s->pose == CT_SE2 ? 2 : 3, yaw = 2;
    for (int32_t k = 0; k < s->samples; k++) {
        const double *scale = s->fit->sigma[s->sample[k].model], *own = s->fit->e + (int64_t)k * s->rows;
        for (int i = 0; i < axes; i++) out[i].variance += pow(clip(own[first + i], CLIP * scale[first + i]), 2);
        out[3].variance += pow(clip(own[yaw], CLIP * scale[yaw]), 2);
        const int32_t n = find_next(e, s, k);
        if (n < 0) continue;
        const double *next = s->fit->e + (int64_t)n * s->rows;
        double        a[3] = {0}, b[3] = {0}, there[3];
        for (int i = 0; i < axes; i++) {
            a[i] = clip(own[first + i], CLIP * scale[first + i]);
            there[i] = clip(next[first + i], CLIP * scale[first + i]);
        }
        turn_back(e, s, n, there, b);
        for (int i = 0; i < axes; i++) out[i].product[out[i].count++] = -a[i] * b[i];
        out[3].product[out[3].count++] = -clip(own[yaw], CLIP * scale[yaw]) * clip(next[yaw], CLIP * scale[yaw]);
    }
    for (int i = 0; i < 4; i++) out[i].variance /= CT_MAX(1, s->samples);
}

static void average(axis *a)
{
    double sum = 0;
    for (int64_t k = 0; k < a->count; k++) sum += a->product[k];
    a->mean = sum / (double)CT_MAX(1, a->count);
    sum = 0;
    for (int l = 0; l <= LAGS; l++)
        for (int64_t k = l; k < a->count; k++)
            sum += (l ? 2 * (1 - l / (LAGS + 1.0)) : 1) * (a->product[k] - a->mean) * (a->product[k - l] - a->mean);
    a->error = sqrt(fmax(0, sum)) / (double)CT_MAX(1, a->count);
}

/* Do the two axes of the plane show noise, and alike? */
static int is_noise(const ct__exam *e, const axis *x, const axis *y)
{
    const double mean = x->mean + y->mean, error = hypot(x->error, y->error);
    if (!(x->mean > EACH * x->error && y->mean > EACH * y->error && mean > SHARE * (x->variance + y->variance) / 2))
        return 0;
    if (fmax(x->mean, y->mean) > ALIKE * fmin(x->mean, y->mean)) return 0;
    return erfc(mean / error / sqrt(2)) < e->alpha;
}

static ct_status report(ct__exam *e, const ct__sensor *s, const axis a[4], ct_err *err)
{
    const axis  *along = a[0].mean > a[1].mean ? &a[0] : &a[1];
    const double variance = s->estimated ? along->mean : (a[0].mean + a[1].mean) / 2, sigma = sqrt(variance);
    const double error = s->estimated ? along->error / (2 * sigma) : hypot(a[0].error, a[1].error) / (4 * sigma);
    const int    turns = !s->estimated && a[3].mean > EACH * a[3].error && a[3].mean > SHARE * a[3].variance / 2;
    const double turn = turns ? sqrt(a[3].mean) : 0;
    const double value[] = {sigma, error, turns ? turn : NAN, turns ? a[3].error / (2 * turn) : NAN,
                            fmin(100, 100 * 4 * variance / (a[0].variance + a[1].variance))};
    const double sigmas[] = {sigma, turn};
    CT_TRY(ct__report(e, s, -1, CT_FINDING_TRUTH_NOISE, 5, value, err));
    ct__picture p = {0};
    ct_status   status = CT_OK;
    for (int32_t k = 0; status == CT_OK && k < s->samples; k++) {
        const int32_t n = find_next(e, s, k);
        const int     row = s->pose == CT_SE2 ? 0 : 3;
        if (n < 0) continue;
        status = ct__picture_add(&p, s->fit->e[(int64_t)k * s->rows + row], s->fit->e[(int64_t)n * s->rows + row], err);
    }
    ct__picture_slope(&p, -variance / a[0].variance);
    if (status == CT_OK) status = ct__picture_report(e, &p, "error over a step (m)", "over the next step (m)", err);
    ct__picture_free(&p);
    if (status != CT_OK) return status;
    return ct__report_correction(e, NULL, -1, CT_CORRECT_SIGMA, 2, sigmas, error, err);
}

ct_status ct__find_truth_noise(ct__exam *e, ct_err *err)
{
    for (int32_t i = 0; i < e->sensors; i++) {
        const ct__sensor *s = &e->sensor[i];
        axis              a[4] = {{0}};
        if (!applies(e, s) || s->samples < CT__SAMPLES_LEAST) continue;
        double *room = ct__zalloc(4 * (int64_t)s->samples, sizeof *room);
        if (!room) return ct__no_memory(err, "samples", s->samples);
        for (int k = 0; k < 4; k++) a[k].product = room + (int64_t)k * s->samples;
        multiply(e, s, a);
        for (int k = 0; k < 4; k++) average(&a[k]);
        const int       found = is_noise(e, &a[0], &a[1]);
        const ct_status status = found ? report(e, s, a, err) : CT_OK;
        free(room);
        if (found || status != CT_OK) return status;
    }
    return CT_OK;
}
